//! What the files of every format have in common: how they were understood, their edges, their bad lines, a sample.
//!
//! ```text
//!  open --first bytes--> text | table | list: EdgeSource --read--> chunks --parse, in parallel--> names, weights, faults
//! ```
//!
//! Calls go through the trait once per file or per chunk, never per line. Memory and cost are those of the sources.

use crate::chunk::{BadLine, Origin, ParsedChunk, Problem};
use crate::decompress::Input;
use crate::fault::row_place;
use crate::options::{Delimiter, InputOptions, Rows};
use crate::sink::{Count, Progress, Sink};
use crate::text::set_kinds;
use outcore_graph::NameType;
use outcore_io::Files;
use outcore_io::error::{Error, Place, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Format of one file, and what it holds.
pub(crate) trait EdgeSource: Send + Sync {
    /// Returns what is known before reading.
    fn facts(&self) -> SourceFacts;

    /// Returns the prefixes of names of sources and targets, if they are nodes of two kinds.
    fn kinds(&self) -> Option<&[String; 2]> {
        None
    }

    /// Returns the uses of the columns; none if the file is not lines or rows.
    fn uses(
        &self,
        _files: &Files,
        _path: &Path,
        _: &mut Input,
        _: &InputOptions,
    ) -> Result<Vec<ColumnUse>> {
        Ok(Vec::new())
    }

    /// Reads the file, which may be open already; returns its bytes, as stored.
    fn read(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress<u64>;

    /// Completes a chunk that was read. With `stop`, parsing ends at the first bad line.
    fn parse(&self, chunk: &mut ParsedChunk, _weighted: bool, _stop: bool) {
        if let Some(kinds) = self.kinds() {
            set_kinds(chunk, kinds);
        }
    }

    /// Returns what is wrong with a line or a row, in one clause.
    fn reason(&self, problem: Problem) -> String {
        problem.reason(Rows::Edges)
    }

    /// Returns the place of a bad line or row.
    fn place(&self, bad: &BadLine<'_>) -> Place {
        row_place(bad, bad.line, 1)
    }

    /// Returns the error for a bad line or row.
    fn error(&self, bad: &BadLine<'_>) -> Error {
        let problem = bad.fault.problem;
        Error::new(problem.kind(), self.reason(problem)).at(self.place(bad))
    }

    /// Passes a sample of the edges to `sample.count`.
    fn sample(&self, _: SampleTask<'_>) -> Result<FileSample> {
        Ok(FileSample { is_whole: true, is_spread: true, ..FileSample::default() })
    }
}

/// What is known of a file before it is read.
#[derive(Default)]
pub(crate) struct SourceFacts {
    /// Name of the format.
    pub(crate) name: &'static str,
    /// How the file was understood; `None` if another source describes it.
    pub(crate) description: Option<String>,
    /// Whether edges have weights; `None` if there are no edges.
    pub(crate) is_weighted: Option<bool>,
    /// Whether lines are split, and columns can be chosen, so that the options about these have an effect.
    pub(crate) has_lines: bool,
    pub(crate) has_columns: bool,
    /// Whether the ends of edges may be two kinds of nodes.
    pub(crate) may_be_two_mode: bool,
    /// Whether lines that begin with a prefix of the user's are skipped.
    pub(crate) has_comments: bool,
    /// Separator of columns in lines of edges.
    pub(crate) delimiter: Option<Delimiter>,
    /// Whether no other reader can resume in the middle.
    pub(crate) is_one_pass: bool,
    /// Memory that decoding holds besides chunks, unless it is only the window of decompression.
    pub(crate) held_bytes: Option<u64>,
    /// Comments before the first edge.
    pub(crate) comments: u64,
    /// Number of edges and bad lines that the file declares.
    pub(crate) entries: Option<u64>,
    /// Nodes that the file numbers from 1, by kind.
    pub(crate) nodes: Vec<NumberedNodes>,
    /// Whether it holds hits of a search, with scores as weights.
    pub(crate) is_search: bool,
    /// Whether nodes may have labels that are their names.
    pub(crate) has_labels: bool,
    /// Whether nodes have paths, from the module at the top down.
    pub(crate) has_paths: bool,
    /// Type of the names.
    pub(crate) name_type: NameType,
}

/// One file, as found when the reader was opened.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    pub(crate) facts: SourceFacts,
    pub(crate) source: Arc<dyn EdgeSource>,
    /// Command that unpacks the file, if it is compressed.
    pub(crate) unpacker: Option<&'static str>,
    pub(crate) window_bytes: u64,
}

impl OpenFile {
    pub(crate) fn new(path: &Path, source: Arc<dyn EdgeSource>) -> Self {
        let facts = source.facts();
        let window_bytes = facts.held_bytes.unwrap_or(0);
        Self { path: path.into(), facts, source, unpacker: None, window_bytes }
    }
}

/// File to read, and how.
#[derive(Clone, Copy)]
pub(crate) struct ReadTask<'a> {
    pub(crate) files: &'a Files,
    pub(crate) path: &'a Path,
    /// Place at which reading starts.
    pub(crate) begin: Origin,
    /// Bytes of a chunk of text.
    pub(crate) chunk_bytes: usize,
    pub(crate) workers: usize,
    /// Bytes of the files before this one.
    pub(crate) done_bytes: u64,
    /// Whether reading ends at the first bad row of a table.
    pub(crate) stop: bool,
    /// Whether only a sample is wanted, which prefers edges to nodes without edges.
    pub(crate) is_sample: bool,
}

impl ReadTask<'_> {
    /// Returns the open file.
    pub(crate) fn opened(&self, input: Option<Input>) -> Result<Input> {
        input.map_or_else(|| Input::open(self.files, self.path, self.workers), Ok)
    }
}

/// File to sample.
pub(crate) struct SampleTask<'a> {
    pub(crate) files: &'a Files,
    pub(crate) path: &'a Path,
    /// The file, of which nothing was read yet.
    pub(crate) input: Input,
    /// Bytes of the file, as stored.
    pub(crate) bytes: u64,
    /// Number of pieces that are wanted.
    pub(crate) pieces: u64,
    /// Whether all files before were sampled completely.
    pub(crate) is_whole: bool,
    pub(crate) count: Count<'a>,
}

impl<'a> SampleTask<'a> {
    /// Returns the task of reading chunks for the sample from row `row` on.
    pub(crate) fn read(&self, row: u64) -> ReadTask<'a> {
        ReadTask {
            files: self.files,
            path: self.path,
            begin: Origin { file: 0, byte: row, line: row + 1 },
            chunk_bytes: SAMPLED_CHUNK_BYTES,
            workers: 1,
            done_bytes: 0,
            stop: false,
            is_sample: true,
        }
    }
}

/// Bytes of a chunk in a sample.
const SAMPLED_CHUNK_BYTES: usize = 256 << 10;

/// What a sample says of the complete file.
#[derive(Default)]
pub(crate) struct FileSample {
    /// Bytes of its text.
    pub(crate) text_bytes: f64,
    /// Whether the sample is the complete file.
    pub(crate) is_whole: bool,
    /// Whether the sample is spread over the file.
    pub(crate) is_spread: bool,
    /// Number of rows of a matrix, plus that of its columns if these are other nodes.
    pub(crate) matrix_nodes: u64,
    /// Nodes that a list declares, of which the sample has only some.
    pub(crate) declared_nodes: u64,
}

/// Nodes that a file numbers from 1, whether or not edges have them.
#[derive(Debug, Clone)]
pub(crate) struct NumberedNodes {
    pub(crate) count: u64,
    /// What their names begin with.
    pub(crate) kind: String,
}

/// Column of a file of edges, and what it is used for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ColumnUse {
    /// Number, from 1.
    pub number: u64,
    /// Name in the header; empty without one.
    pub name: String,
    /// First values, or the type in a table.
    pub values: String,
    /// `source`, `target`, `weight`, or empty if it is not used.
    pub role: &'static str,
    /// Why it is used so.
    pub why: String,
}
