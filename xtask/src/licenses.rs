//! Every dependency must be under one of the licenses that the project may be shipped with.

use std::path::Path;
use std::process::Command;

const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
    // In the manner of BSD, with four clauses none of which is about advertising.
    "bzip2-1.0.6",
    // For data, without conditions on what is made with them: certificates, on systems that keep none.
    "CDLA-Permissive-2.0",
];

/// One line for each package that has no license of the list.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output();
    let text = match output {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => return vec![String::from_utf8_lossy(&output.stderr).into_owned()],
        Err(error) => return vec![format!("cannot run cargo: {error}")],
    };
    let metadata: serde_json::Value = match serde_json::from_slice(&text) {
        Ok(metadata) => metadata,
        Err(error) => return vec![format!("cannot read `cargo metadata`: {error}")],
    };
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages.iter().filter_map(fault).collect()
}

fn fault(package: &serde_json::Value) -> Option<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let license = package["license"].as_str().unwrap_or_default();
    match is_allowed(license) {
        Some(true) => None,
        Some(false) => Some(format!("{name}: license `{license}` is not one of the allowed")),
        None => Some(format!("{name}: `{license}` is not a license expression")),
    }
}

fn is_allowed(license: &str) -> Option<bool> {
    let expression = spdx::Expression::parse_mode(license, spdx::ParseMode::LAX).ok()?;
    Some(
        expression
            .evaluate(|needed| needed.license.id().is_some_and(|id| ALLOWED.contains(&id.name))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        for license in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND ISC"] {
            assert_eq!(is_allowed(license), Some(true), "{license}");
        }
        for license in ["GPL-3.0", "MIT AND GPL-3.0"] {
            assert_eq!(is_allowed(license), Some(false), "{license}");
        }
        assert_eq!(is_allowed(""), None);
    }
}
