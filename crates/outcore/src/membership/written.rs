//! Reads communities back from a file that `output` has written, in any of its forms, without a graph.
//!
//! The reader is that of all inputs. Text is read by the exact rules of `output`, without guesses ([`Rows::Written`]);
//! tables by the names of their columns, and files of Infomap by their modules, which are counted from 1. Memory: a
//! batch. Cost: one pass on the reading thread, except for tables.
//!
//! ```
//! use outcore::input::CommunityFormat;
//! use outcore::io::Files;
//! use outcore::membership::WrittenFile;
//! # let temporary = tempfile::tempdir().expect("a directory");
//!
//! let (files, path) = (Files::default(), temporary.path().join("c.csv"));
//! files.write(&path, b"node,community,weight\n\"a,b\",0,2.5\nc,1,0\n")?;
//! let mut written = WrittenFile::open(&files, &path, CommunityFormat::Auto)?;
//! assert!(written.next_batch()?);
//! assert_eq!(written.rows().collect::<Vec<_>>(), [(&b"a,b"[..], 0), (b"c", 1)]);
//! assert!(!written.next_batch()?);
//! # Ok::<(), outcore::Error>(())
//! ```

#[cfg(test)]
mod tests;

use crate::error::opt::ROWS;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::NameType;
use crate::input::{
    Batch, BatchMemory, CHUNK_BYTES, Column, CommunityFormat, EdgeReader, InputOptions, Rows,
    community_number,
};
use crate::io::{Files, Mode};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// With the mark of a long name, so that codes differ only in `low`.
const CHUNKS: usize = 4;
/// First and last bytes of Parquet and of Arrow files. Both must match: the first node may be named `PAR1`.
const TABLES: [(&[u8], &[u8]); 2] = [(b"PAR1", b"PAR1"), (b"ARROW1\0\0", b"ARROW1")];

/// Open file of communities.
pub struct WrittenFile {
    reader: EdgeReader,
    batch: Batch,
    /// Communities of the nodes in the batch.
    numbers: Vec<u64>,
    /// Number of the first community.
    first: u64,
    path: PathBuf,
}

impl WrittenFile {
    /// Opens the file `path`. `rows` is the content of its lines: a node and its community, or what the first lines show
    /// ([`CommunityFormat::Auto`]); all nodes of a community ([`CommunityFormat::Clusters`]); the first node of a community
    /// and a node ([`CommunityFormat::Pairs`]).
    ///
    /// # Errors
    /// `Usage` for a table whose rows are not nodes; `MissingColumn` if the first line has no community; `Io`.
    pub fn open(files: &Files, path: &Path, rows: CommunityFormat) -> Result<Self> {
        let options = InputOptions { community_format: rows, ..InputOptions::default() };
        Self::open_with(files, path, options)
    }

    fn open_with(files: &Files, path: &Path, options: InputOptions) -> Result<Self> {
        let first = first_of_rows(files, path)?;
        let is_of_nodes = first.is_some() || is_named(path, &["jsonl", "ndjson"]);
        if options.community_format != CommunityFormat::Auto && is_of_nodes {
            let message = format!("`{}` has a row for each node", path.display());
            return Err(Error::usage(message).hint(format_args!("leave {ROWS} out")));
        }
        let rows = first.map_or(Rows::Written, |_| Rows::Memberships);
        let options = InputOptions { paths: vec![path.to_path_buf()], rows, ..options };
        let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks: CHUNKS };
        let reader = EdgeReader::open(files, &options, memory)?;
        let (first, path) = (first.unwrap_or(0), path.to_path_buf());
        Ok(Self { reader, batch: Batch::default(), numbers: Vec::new(), first, path })
    }

    /// Reads the next nodes; returns whether there are any.
    ///
    /// # Errors
    /// The earliest bad line; `CorruptFile`, `Io`.
    pub fn next_batch(&mut self) -> Result<bool> {
        self.numbers.clear();
        while self.numbers.is_empty() {
            if !self.reader.next_batch(&mut self.batch)? {
                return Ok(false);
            }
            for [_, text] in pairs(&self.batch) {
                let number = community_number(text).and_then(|at| at.checked_sub(self.first));
                self.numbers.push(number.ok_or_else(|| self.not_a_community(text))?);
            }
        }
        Ok(true)
    }

    /// Returns the names and communities that were read last, in the order of the file.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        let mut names = pairs(&self.batch).map(|[name, _]| name);
        self.numbers.iter().map(move |&number| (names.next().expect("each has one"), number))
    }

    /// Returns the type of the names: that of their column in a table.
    pub fn name_type(&self) -> NameType {
        self.reader.name_type()
    }

    /// Returns how many bytes of the file were read.
    pub fn done_bytes(&self) -> u64 {
        self.reader.done_bytes()
    }

    fn not_a_community(&self, text: &[u8]) -> Error {
        let (path, text) = (self.path.display(), String::from_utf8_lossy(text));
        let message = format!("`{path}` has `{text}` for the number of a community");
        Error::new(ErrorKind::BadInput, message).hint(match self.first {
            0 => "it must have the columns `node` and `community`, or `node` and `path`",
            _ => "modules of Infomap are numbers from 1",
        })
    }
}

/// Reads a column of numbers in text that `output` has written, in its order: `stability`, or the groups of a level below
/// the communities, `group1` and so on. Returns `None` if the file lacks it; columns of tables are not read.
///
/// # Errors
/// Those of reading communities.
pub fn read_column<T: std::str::FromStr>(
    files: &Files,
    path: &Path,
    name: &str,
) -> Result<Option<Vec<T>>> {
    if first_of_rows(files, path)?.is_some() {
        return Ok(None);
    }
    let columns = Some(vec![Column::Name(name.to_owned())]);
    let options = InputOptions { columns, ..InputOptions::default() };
    let mut written = match WrittenFile::open_with(files, path, options) {
        Err(error) if error.kind() == ErrorKind::MissingColumn => return Ok(None),
        written => written?,
    };
    let mut numbers = Vec::new();
    while written.reader.next_batch(&mut written.batch)? {
        for [_, text] in pairs(&written.batch) {
            let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            numbers.push(number.ok_or_else(|| written.not_a_community(text))?);
        }
    }
    Ok(Some(numbers))
}

/// Returns the texts of the rows in a batch.
fn pairs(batch: &Batch) -> impl Iterator<Item = [&[u8]; 2]> {
    batch.chunks.iter().flat_map(|chunk| {
        chunk.names.chunks_exact(2).map(|pair| [chunk.name(&pair[0]), chunk.name(&pair[1])])
    })
}

/// Returns the number of the first community in tables and files of Infomap, `None` for text.
fn first_of_rows(files: &Files, path: &Path) -> Result<Option<u64>> {
    let file = files.open(path, Mode::Read)?;
    let (mut head, mut tail) = ([0; 8], [0; 6]);
    let end = file.bytes()?.saturating_sub(tail.len() as u64);
    let (head_bytes, tail_bytes) = (file.read_at(0, &mut head)?, file.read_at(end, &mut tail)?);
    let is = |(first, last): &(&[u8], &[u8])| {
        head[..head_bytes].starts_with(first) && tail[..tail_bytes].ends_with(last)
    };
    let is_infomap = is_named(path, &["tree", "ftree", "clu"]);
    Ok((is_infomap || TABLES.iter().any(is)).then_some(u64::from(is_infomap)))
}

fn is_named(path: &Path, endings: &[&str]) -> bool {
    let is = |found: &OsStr| endings.iter().any(|ending| found.eq_ignore_ascii_case(ending));
    path.extension().is_some_and(is)
}
