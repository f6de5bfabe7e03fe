//! Checks that methods are named only in their table.

use super::{is_test, read, without_tests};
use std::path::Path;

/// Path of the table of methods, from the folder of crates.
const METHODS: &str = "outcore-cluster/src/methods/table.rs";

/// Returns the names of methods, as in the sources of the engine and the command.
pub(super) fn names(crates: &Path) -> Vec<String> {
    let text = read(&crates.join(METHODS));
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix("method: Method::"));
    rows.map(|row| format!("Method::{}", row.trim_end_matches(','))).collect()
}

/// Checks that no code outside of the table matches on a method.
pub(super) fn check(
    shown: &str,
    inside: &Path,
    text: &str,
    methods: &[String],
    found: &mut Vec<String>,
) {
    if is_test(inside) || inside.ends_with(METHODS) {
        return;
    }
    for (number, line) in without_tests(text) {
        for method in methods.iter().filter(|method| line.contains(method.as_str())) {
            found.push(format!("{shown}:{number}: `{method}` outside of its row in `{METHODS}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_only_in_their_table() {
        let checked = |file: &str, text: &str| {
            let mut found = Vec::new();
            check(file, Path::new(file), text, &["Method::Cpm".to_owned()], &mut found);
            found.len()
        };
        assert_eq!(checked("job/mod.rs", "if method == Method::Cpm {"), 1);
        assert_eq!(checked("job/mod.rs", "mod tests {\nMethod::Cpm"), 0);
        assert_eq!(checked("cluster/tests/levels.rs", "Method::Cpm"), 0);
        assert_eq!(checked("outcore-cluster/src/methods/table.rs", "Method::Cpm"), 0);
    }
}
