//! Converts arguments about edge lists, their place and format, to the engine's options.

use crate::args::{self, Input, Reading};
use outcore::error::Opt;
use outcore::error::opt::{
    COLUMNS, COMMENT, DELIMITER, DIRECTED, DUPLICATES, FORMAT, HEADER, IGNORE_WEIGHTS, MAX_WEIGHT,
    MIN_WEIGHT, NODES, NORMALIZE, ON_BAD_LINE, REJECTS, SELF_LOOPS, TWO_MODE, WEIGHT_TRANSFORM,
};
use outcore::graph::Duplicates;
use outcore::input::{EdgeFormat, Header, InputOptions, OnBadLine, WeightTransform};
use outcore::io::Files;
use outcore::job::Normalize;
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
        comment: reading.comment.as_ref().map(|comment| comment.as_bytes().to_vec()),
        header: reading.header,
        ignore_weights: reading.ignore_weights,
        weight_transform: reading.weight_transform,
        ..InputOptions::default()
    }
}

/// Refuses options for reading edges where the input is a graph; none is ignored silently.
pub(crate) fn refuse_for_graph(input: &Input, reads_communities: bool, graph: &Path) -> Result<()> {
    let given = [
        // Files of communities can contain comments.
        (input.reading.comment.is_some() && !reads_communities, COMMENT),
        (input.directed, DIRECTED),
        (input.normalize != Normalize::None, NORMALIZE),
        (input.nodes.is_some(), NODES),
    ];
    let given = given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
    let mut of_lines = Input { min_weight: None, ..input.clone() };
    of_lines.reading.comment = None;
    match given_for_lines(&of_lines).or(given) {
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
pub(crate) fn given_for_lines(input: &Input) -> Option<Opt> {
    let given = [
        (input.on_bad_line != OnBadLine::Stop, ON_BAD_LINE),
        (input.rejects.is_some(), REJECTS),
        (input.duplicates != Duplicates::Sum, DUPLICATES),
        (input.self_loops != args::SelfLoops::Drop, SELF_LOOPS),
        (input.min_weight.is_some(), MIN_WEIGHT),
        (input.max_weight.is_some(), MAX_WEIGHT),
    ];
    let first = given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
    given_for_reading(&input.reading).or(first)
}

/// Returns the first option given that controls how a file of edges is read.
pub(crate) fn given_for_reading(reading: &Reading) -> Option<Opt> {
    let given = [
        (reading.format != EdgeFormat::Auto, FORMAT),
        (reading.columns.is_some(), COLUMNS),
        (reading.two_mode, TWO_MODE),
        (reading.delimiter.is_some(), DELIMITER),
        (reading.comment.is_some(), COMMENT),
        (reading.header != Header::Auto, HEADER),
        (reading.ignore_weights, IGNORE_WEIGHTS),
        (reading.weight_transform != WeightTransform::None, WEIGHT_TRANSFORM),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
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
