//! `cluster`, `build`, `plan` and `inspect`.

use crate::args;
use crate::progress::Terminal;
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

pub(crate) fn cluster(files: &Files, arguments: &args::Cluster, terminal: &Terminal) -> Result<()> {
    let _ = (expand(files, &arguments.inputs)?, arguments.resources.memory.bytes(), terminal);
    Err(Error::new(ErrorKind::Usage, "not there yet"))
}

pub(crate) fn build(files: &Files, arguments: &args::Build, terminal: &Terminal) -> Result<()> {
    let _ = (files, arguments, terminal);
    Err(Error::new(ErrorKind::Usage, "not there yet"))
}

pub(crate) fn plan(files: &Files, arguments: &args::Plan) -> Result<()> {
    let _ = (files, arguments);
    Err(Error::new(ErrorKind::Usage, "not there yet"))
}

pub(crate) fn inspect(files: &Files, arguments: &args::Inspect, terminal: &Terminal) -> Result<()> {
    let _ = (files, arguments, terminal);
    Err(Error::new(ErrorKind::Usage, "not there yet"))
}

/// Says of an interrupted job what is left of it.
pub(crate) fn kept(error: Error, output: &Path) -> Error {
    if error.kind() != ErrorKind::Interrupted || output == Path::new("-") {
        return error;
    }
    error.note(format!(
        "temporary files are removed, and `{}` is as it was before",
        output.display()
    ))
}

/// The files that `paths` name: a path with `*`, `?` or `[` that is not itself a file is a pattern.
fn expand(files: &Files, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut expanded = Vec::new();
    for path in paths {
        let text = path.to_string_lossy();
        if !text.contains(['*', '?', '[']) || files.entry(path).is_ok() {
            expanded.push(path.clone());
            continue;
        }
        let matches = glob::glob(&text).map_err(|error| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a pattern: {}", error.msg))
        })?;
        let before = expanded.len();
        for found in matches {
            let found = found.map_err(|e| {
                let path = e.path().to_path_buf();
                Error::io("open", &path, e.into())
            })?;
            if files.is_regular(&found) {
                expanded.push(found);
            }
        }
        if expanded.len() == before {
            return Err(Error::new(ErrorKind::Io, format!("no file matches `{text}`")));
        }
    }
    Ok(expanded)
}
