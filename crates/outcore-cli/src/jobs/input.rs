//! Converts arguments about edge lists, their place and format, to the engine's options.

use crate::args::{Input, Reading};
use outcore::error::Opt;
use outcore::error::opt::{COMMENT, DIRECTED, MIN_WEIGHT, NODES, NORMALIZE, ON_BAD_LINE, REJECTS};
use outcore::input::{InputOptions, OnBadLine};
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};
use outcore_remote::is_address;
use std::path::{Path, PathBuf};

pub(crate) fn options(paths: Vec<PathBuf>, input: &Input) -> Result<InputOptions> {
    if input.rejects.is_some() && input.on_bad_line == OnBadLine::Stop {
        return Err(Error::usage(format_args!("{REJECTS} is for skipped lines"))
            .hint(format_args!("add {}", ON_BAD_LINE.of("skip"))));
    }
    Ok(InputOptions {
        paths,
        nodes: input.nodes.clone(),
        node_column: input.node_column.clone(),
        directed: input.directed,
        on_bad_line: input.on_bad_line,
        rejects: input.rejects.clone(),
        ..reading_options(&input.reading)
    })
}

pub(crate) fn reading_options(reading: &Reading) -> InputOptions {
    InputOptions {
        format: reading.format,
        columns: reading.columns.clone(),
        delimiter: reading.delimiter,
        two_mode: reading.two_mode,
        names: reading.names,
        comment: reading.comment.as_ref().map(|comment| comment.as_bytes().to_vec()),
        header: reading.header,
        ignore_weights: reading.ignore_weights,
        weight_transform: reading.weight_transform,
        ..InputOptions::default()
    }
}

/// Refuses options for reading edges where the input is a graph; none is ignored silently.
pub(crate) fn refuse_for_graph(input: &Input, reads_communities: bool, graph: &Path) -> Result<()> {
    // A graph has a threshold, too, and files of communities can contain comments.
    let applies = |option: &Opt| *option == MIN_WEIGHT || *option == COMMENT && reads_communities;
    match input.reading.given.iter().find(|option| !applies(option)) {
        None => Ok(()),
        Some(option) => {
            let graph = graph.display();
            let message = format_args!("{option} is for edge lists, but `{graph}` is a graph");
            Err(Error::usage(message).hint("give it to `outcore build`"))
        }
    }
}

/// Refuses several thresholds for a graph, which has one.
pub(crate) fn refuse_thresholds(input: &Input) -> Result<()> {
    if input.min_weight.as_ref().is_none_or(|values| values.len() < 2) {
        return Ok(());
    }
    Err(Error::usage(format_args!("{MIN_WEIGHT} takes one value for a graph"))
        .hint("`outcore cluster` takes several, of edges or of a graph"))
}

/// Returns the first option given that controls how lines of edge lists are read, or which edges count.
pub(crate) fn given_for_lines(input: &Input) -> Option<&Opt> {
    // Several thresholds give several results, whatever the lines are.
    let is_several = input.min_weight.as_ref().is_some_and(|values| values.len() > 1);
    let applies = |option: &Opt| {
        [DIRECTED, NORMALIZE, NODES].contains(option) || *option == MIN_WEIGHT && is_several
    };
    input.reading.given.iter().find(|option| !applies(option))
}

/// Patterns do not match hidden files, as in shells.
const VISIBLE: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: true,
};

/// Returns the files that `paths` name. A path with `*`, `?` or `[` that is not itself a file is a pattern.
pub(crate) fn expand(files: &Files, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut expanded = Vec::new();
    for path in paths {
        let text = path.to_string_lossy();
        // Patterns in addresses have already been expanded.
        let is_plain = is_address(path) || !text.contains(['*', '?', '[']);
        if is_plain || files.entry(path).is_ok() {
            expanded.push(path.clone());
            continue;
        }
        let matches = glob::glob_with(&text, VISIBLE).map_err(|error| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a pattern: {}", error.msg))
                .hint("`[*]` stands for a `*` in a name, `[?]` for `?`, and `[[]` for `[`")
        })?;
        let before = expanded.len();
        for found in matches {
            let found = found.map_err(|error| {
                let path = error.path().to_path_buf();
                Error::io("open", &path, error.into())
            })?;
            if files.is_regular(&found) {
                expanded.push(found);
            }
        }
        if expanded.len() == before {
            return Err(Error::new(ErrorKind::Io, format!("no file matches `{text}`"))
                .hint("`*` stands for any letters but `/`; hidden files do not match"));
        }
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_the_shell_did_not_expand_are_expanded() {
        let directory = tempfile::tempdir().unwrap();
        let files = Files::default();
        for name in ["b.tsv", "a.tsv", "a.txt", "[x].tsv"] {
            files.write(&directory.path().join(name), b"1\t2\n").unwrap();
        }
        let expanded = |pattern: &str| expand(&files, &[directory.path().join(pattern)]);
        let names = |paths: Vec<PathBuf>| -> Vec<String> {
            paths.iter().map(|p| p.file_name().unwrap().to_string_lossy().into()).collect()
        };
        assert_eq!(names(expanded("?.tsv").unwrap()), ["a.tsv", "b.tsv"]);
        assert_eq!(names(expanded("[x].tsv").unwrap()), ["[x].tsv"]);
        assert!(expanded("*.gz").is_err());
        assert_eq!(expand(&files, &["-".into()]).unwrap(), [PathBuf::from("-")]);
    }
}
