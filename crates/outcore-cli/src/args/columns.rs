//! Files that are given with their columns, as `FILE:COLUMN,...`: lists of nodes, numbers of nodes, communities.
//!
//! A name that is a file is one, whatever its colons. Otherwise, what is after the last colon names columns if what is
//! before it is a file or an address.

use super::{Command, Communities, Input, Present};
use outcore::error::Text;
use outcore::error::opt::{NODES, PREFER};
use outcore::input::{Column, FileColumns, Rows};
use outcore::io::Files;
use outcore::{Error, Result};
use outcore_remote::is_address;
use std::path::{Path, PathBuf};

/// Columns of the files of a command that were given with some, in the order of [`files_of`].
pub(crate) struct GivenColumns(Vec<Option<Vec<Column>>>);

impl GivenColumns {
    /// Takes the columns from the names of files.
    ///
    /// # Errors
    /// `Usage` for too many or too few columns.
    pub(crate) fn take(command: &mut Command) -> Result<Self> {
        let taken = files_of(command).into_iter().map(|(rows, path)| take_columns(rows, path));
        taken.collect::<Result<_>>().map(Self)
    }

    /// Stores the columns with the options of reading, by the names that the files have by now.
    pub(crate) fn store(self, command: &mut Command) {
        let files = files_of(command).into_iter().map(|(rows, path)| (rows, path.clone()));
        let files: Vec<(Rows, PathBuf)> = files.collect();
        let (input, communities) = readings_of(command);
        let (mut input, mut communities) = (input, communities);
        for ((rows, path), columns) in files.into_iter().zip(self.0) {
            let Some(columns) = columns else { continue };
            match (rows, &mut input, &mut communities) {
                (Rows::Nodes, Some(input), _) => input.node_column = columns.into_iter().next(),
                (_, _, Some(communities)) => {
                    communities.of_files.push(FileColumns { path, rows, columns });
                }
                _ => unreachable!("a command with such files has options of reading them"),
            }
        }
    }
}

/// Returns the columns after a file, and leaves the file.
fn take_columns(rows: Rows, path: &mut PathBuf) -> Result<Option<Vec<Column>>> {
    let Some((file, columns)) = path.to_str().and_then(|text| text.rsplit_once(':')) else {
        return Ok(None);
    };
    let is_file = |path: &Path| path == Path::new("-") || Files::default().entry(path).is_ok();
    let are_columns = match is_address(path) {
        true => is_address(Path::new(file)) && !columns.contains(['/', '=', '&']),
        false => !is_file(path) && is_file(Path::new(file)),
    };
    if !are_columns || columns.is_empty() {
        return Ok(None);
    }
    let Ok(found) =
        columns.split(',').map(str::parse).collect::<std::result::Result<Vec<Column>, _>>();
    let (count, what): (usize, Text) = match rows {
        Rows::Nodes => (1, NODES.of(format_args!("{file}:COLUMN")).into()),
        Rows::Numbers => (2, PREFER.of(format_args!("{file}:NODE,NUMBER")).into()),
        _ => (2, format!("`{file}:NODE,COMMUNITY`").into()),
    };
    if found.len() != count {
        let message =
            format!("`{columns}` is not {count} {}", if count == 1 { "column" } else { "columns" });
        return Err(
            Error::usage(message).hint(format_args!("use {what}, by name or number from 1"))
        );
    }
    *path = file.into();
    Ok(Some(found))
}

/// Returns the files of a command that may be given with columns, and what is in their rows.
fn files_of(command: &mut Command) -> Vec<(Rows, &mut PathBuf)> {
    let (nodes, mut numbers, communities): (Option<&mut PathBuf>, _, Vec<&mut PathBuf>) =
        match command {
            Command::Cluster(of) => of_clustering(
                &mut of.input,
                &mut of.present,
                of.method.initial.iter_mut().chain(of.labels.files_mut()),
            ),
            Command::Plan(of) => of_clustering(
                &mut of.input,
                &mut of.present,
                of.method.initial.iter_mut().chain(of.labels.files_mut()),
            ),
            Command::Build(of) => (of.input.nodes.as_mut(), None, Vec::new()),
            Command::Score(of) => {
                (None, None, std::iter::once(&mut of.communities).chain(&mut of.against).collect())
            }
            Command::Compare(of) => {
                (None, None, [&mut of.a, &mut of.b].into_iter().chain(&mut of.more).collect())
            }
            Command::Export(of) => (None, None, of.communities.iter_mut().collect()),
            _ => (None, None, Vec::new()),
        };
    numbers = numbers.filter(|path| path.as_os_str() != "first");
    let with = |rows: Rows| move |path| (rows, path);
    let all = nodes
        .into_iter()
        .map(with(Rows::Nodes))
        .chain(numbers.into_iter().map(with(Rows::Numbers)));
    all.chain(communities.into_iter().map(with(Rows::Memberships))).collect()
}

/// Returns the list of nodes, their numbers, and the files of communities, of which the method takes `given`.
fn of_clustering<'c>(
    input: &'c mut Input,
    present: &'c mut Present,
    given: impl Iterator<Item = &'c mut PathBuf>,
) -> (Option<&'c mut PathBuf>, Option<&'c mut PathBuf>, Vec<&'c mut PathBuf>) {
    let communities = given.chain(&mut present.earlier).collect();
    (input.nodes.as_mut(), present.prefer.as_mut(), communities)
}

/// Returns the options of reading lists of nodes, and files of communities or numbers.
fn readings_of(command: &mut Command) -> (Option<&mut Input>, Option<&mut Communities>) {
    match command {
        Command::Cluster(of) => (Some(&mut of.input), Some(&mut of.read)),
        Command::Plan(of) => (Some(&mut of.input), Some(&mut of.read)),
        Command::Build(of) => (Some(&mut of.input), None),
        Command::Score(of) => (None, Some(&mut of.read)),
        Command::Compare(of) => (None, Some(&mut of.read)),
        Command::Export(of) => (None, Some(&mut of.read)),
        _ => (None, None),
    }
}
