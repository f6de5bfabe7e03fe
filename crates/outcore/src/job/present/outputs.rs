//! Output paths: the given file or, for several results, one file each, with a name derived from it.

use crate::cluster::{ClusterOptions, SeveralValues};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Files;
use std::path::{Path, PathBuf};

/// Returns the file of each result: `output` itself if there is only one; otherwise, `output` with the value of the
/// threshold, attenuation or resolution before its extension, such as `communities.0.5.tsv` for `communities.tsv`.
///
/// # Errors
/// `Usage` if several results would go to one stream.
pub fn outputs(files: &Files, output: &Path, options: &ClusterOptions) -> Result<Vec<PathBuf>> {
    let Some(SeveralValues { values, .. }) = options.several() else {
        return Ok(vec![output.to_path_buf()]);
    };
    let is_stream = output == Path::new("-") || files.entry(output).is_ok_and(|e| !e.is_directory);
    if is_stream && !files.is_regular(output) {
        let message = format!("{} results cannot go to one stream", values.len());
        return Err(Error::new(ErrorKind::Usage, message).hint(
            "use `-o communities.tsv`: each is written to its own file, such as `communities.0.5.tsv`",
        ));
    }
    Ok(values.iter().map(|value| with_value(output, *value)).collect())
}

/// Returns a threshold, attenuation or resolution for a name of a file or column: as typed, in few letters.
pub(super) fn value_text(value: f64) -> String {
    match value == 0.0 || (1e-5..1e15).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

fn with_value(output: &Path, value: f64) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", value_text(value)));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::PropagationOptions;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn the_value_comes_before_the_extension() {
        let files = Files::new(Arc::new(Sim::new()));
        let options = |attenuation| {
            let propagation = PropagationOptions { attenuation, ..PropagationOptions::default() };
            ClusterOptions { propagation, ..ClusterOptions::default() }
        };
        let several = options(vec![0.0, 0.5, 1.0]);
        let names = |output: &str| outputs(&files, Path::new(output), &several).unwrap();
        assert_eq!(names("a/b.tsv"), ["a/b.0.tsv", "a/b.0.5.tsv", "a/b.1.tsv"].map(PathBuf::from));
        assert_eq!(names("b"), ["b.0", "b.0.5", "b.1"].map(PathBuf::from));
        let extreme = options(vec![1e-300, -2.5e-7, 1e300, 1e-5, 123_456.75]);
        let named = outputs(&files, Path::new("c.tsv"), &extreme).unwrap();
        let expected =
            ["c.1e-300.tsv", "c.-2.5e-7.tsv", "c.1e300.tsv", "c.0.00001.tsv", "c.123456.75.tsv"];
        assert_eq!(named, expected.map(PathBuf::from));
        assert!(outputs(&files, Path::new("-"), &several).is_err());
        let one = outputs(&files, Path::new("-"), &options(vec![0.5])).unwrap();
        assert_eq!(one, [PathBuf::from("-")]);
    }
}
