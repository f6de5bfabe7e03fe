//! Adjacency lists to parsed chunks: METIS graphs, and matrices of mcl.
//!
//! Both formats list the neighbors of one node after the other, so an undirected edge appears twice, once at each of
//! its nodes. It is taken from the node with the smaller number. The entries at the other node must be the same edges:
//! both sides are counted and hashed, and a difference is an error, as half an edge would otherwise be silently lost or
//! doubled. With directions, every entry is an arc. A node without neighbors gets a loop of weight 0, which is not an
//! edge but makes it a node.
//!
//! A line may be as long as a file, so words are read one by one, on the reading thread: about 20 ns each. Memory: that
//! of [`chunks`](super::chunks), and 64 KiB. A wrong word changes the meaning of all that follow, so none is ever
//! skipped; nor can a job resume in the middle of such a file.

mod mcl;
mod metis;
mod words;

use super::NameRef;
use super::decompress::Input;
use super::fault::Origin;
use super::options::{EdgeFormat, InputOptions, Rows};
use super::taker::{ROW_BYTES, SAMPLED_CHUNK_BYTES, SampleTaker, Taker};
use super::text::chunk::ParsedChunk;
use super::text::field::{self, Fingerprint};
use super::text::transform::WeightTransform;
use crate::error::opt::DIRECTED;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Files;
use crate::units::format_count;
use std::path::Path;
use words::Words;
use xxhash_rust::xxh3::xxh3_64;

/// File of adjacency lists.
#[derive(Debug, Clone)]
pub(crate) struct ListFormat {
    kind: ListKind,
    directed: bool,
    ignore_weights: bool,
    transform: WeightTransform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListKind {
    Metis(metis::MetisHeader),
    Mcl,
}

/// Returns the kind of a file of adjacency lists, if its first bytes or its name reveal it.
pub(crate) fn known(path: &Path, head: &[u8]) -> Option<&'static str> {
    match () {
        () if mcl::begins_matrix(head) => Some("a matrix of mcl"),
        () if metis::is_name(path) => Some("a METIS graph by its name"),
        () => None,
    }
}

impl ListFormat {
    /// Detects the format of `path` if it holds adjacency lists: from `--format`; otherwise a matrix of mcl by its
    /// first bytes, a METIS graph by its name.
    ///
    /// # Errors
    /// `BadInput` for a header that cannot be read.
    pub(crate) fn detect(
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
    ) -> Result<Option<Self>> {
        if options.rows != Rows::Edges {
            return Ok(None);
        }
        let kind = match options.format {
            EdgeFormat::Lines => return Ok(None),
            EdgeFormat::Mcl => ListKind::Mcl,
            EdgeFormat::Metis => ListKind::Metis(metis::peek_header(input, path)?),
            EdgeFormat::Auto if mcl::is_matrix(input)? => ListKind::Mcl,
            EdgeFormat::Auto if metis::is_name(path) => {
                ListKind::Metis(metis::peek_header(input, path)?)
            }
            EdgeFormat::Auto => return Ok(None),
        };
        Ok(Some(Self {
            kind,
            directed: options.directed,
            ignore_weights: options.ignore_weights,
            transform: options.weight_transform,
        }))
    }

    /// Returns whether edges have weights: always, unless they are ignored, since nodes without neighbors need one.
    pub(crate) fn is_weighted(&self) -> bool {
        !self.ignore_weights
    }

    /// Returns the name of the format.
    pub(crate) fn kind(&self) -> &'static str {
        match self.kind {
            ListKind::Metis(_) => "METIS",
            ListKind::Mcl => "mcl matrix",
        }
    }

    /// Describes how the file was understood.
    pub(crate) fn describe(&self) -> String {
        let (kind, has_weights, has_more) = match self.kind {
            ListKind::Metis(header) => ("METIS", header.has_weights, header.skipped > 0),
            ListKind::Mcl => ("mcl matrix", true, false),
        };
        let entries =
            if self.directed { "each entry an arc" } else { "each edge in both its lists" };
        let weights = match (has_weights && !self.ignore_weights, self.transform) {
            (false, _) => "no weights".into(),
            (true, WeightTransform::None) => "weights".into(),
            (true, transform) => format!("weight = {}(weight)", transform.name()),
        };
        let ignored = [(has_weights && self.ignore_weights, "weights"), (has_more, "node weights")];
        let ignored = ignored.iter().filter(|(is_given, _)| *is_given).map(|(_, what)| *what);
        let ignored = ignored.collect::<Vec<_>>().join(", ");
        let unused = if ignored.is_empty() { ignored } else { format!("; {ignored} unused") };
        format!("{kind}, nodes by number, {entries}, {weights}{unused}")
    }

    /// Reads edges from the beginning of a file of `bytes` until the sample has enough of them. Returns the estimated
    /// number of all edges, or `None` if the sample has all of them.
    pub(crate) fn first_edges(
        &self,
        files: &Files,
        path: &Path,
        bytes: u64,
        mut sample: SampleTaker<'_>,
    ) -> Result<Option<f64>> {
        let task = ListTask {
            format: self.clone(),
            file: 0,
            chunk_bytes: SAMPLED_CHUNK_BYTES,
            done_bytes: 0,
        };
        let read = task.read(path, Input::open(files, path, 1)?, &mut sample)?;
        if read.is_whole {
            return Ok(None);
        }
        let all = match self.kind {
            ListKind::Metis(header) if self.directed => 2.0 * header.edges as f64,
            ListKind::Metis(header) => header.edges as f64,
            ListKind::Mcl => {
                let entries = read.entries as f64 * bytes as f64 / read.consumed.max(1) as f64;
                if self.directed { entries } else { entries / 2.0 }
            }
        };
        Ok(Some(all))
    }
}

/// Task of reading a file.
pub(crate) struct ListTask {
    pub(crate) format: ListFormat,
    /// Index of the file.
    pub(crate) file: usize,
    /// Bytes of a chunk of text.
    pub(crate) chunk_bytes: usize,
    /// Bytes of the files before this one.
    pub(crate) done_bytes: u64,
}

impl ListTask {
    /// Reads the file to its end, or until no more edges are wanted.
    ///
    /// # Errors
    /// `BadInput`, `BadWeight` with the place; `Io` and `BadCompression` with the path.
    pub(crate) fn read(
        &self,
        path: &Path,
        input: Input,
        taker: &mut (dyn Taker + Send),
    ) -> Result<Read> {
        let mut words = Words::new(input, path);
        let mut edges = ListEdges::new(self, taker);
        let is_whole = match self.format.kind {
            ListKind::Metis(header) => metis::read(&mut words, &mut edges, header)?,
            ListKind::Mcl => mcl::read(&mut words, &mut edges)?,
        };
        let is_whole = is_whole && edges.hand_over(words.consumed());
        if is_whole && !self.format.directed {
            edges.both.check(path)?;
        }
        Ok(Read { is_whole, entries: edges.entries, consumed: words.consumed() })
    }
}

/// Weight, and its start in its word.
#[derive(Clone, Copy)]
struct WeightText<'a> {
    text: &'a [u8],
    from: usize,
}

/// Result of reading a file.
pub(crate) struct Read {
    /// Whether the file was read to its end.
    pub(crate) is_whole: bool,
    entries: u64,
    /// Bytes of the file, as stored.
    pub(crate) consumed: u64,
}

/// Converter of list entries to edges.
struct ListEdges<'a> {
    task: &'a ListTask,
    taker: &'a mut (dyn Taker + Send),
    chunk: ParsedChunk,
    most_edges: usize,
    /// Node whose neighbors are read, and its name in the chunk once it is written.
    node: u64,
    node_name: Option<NameRef>,
    entries: u64,
    both: Both,
}

impl<'a> ListEdges<'a> {
    fn new(task: &'a ListTask, taker: &'a mut (dyn Taker + Send)) -> Self {
        let chunk = cleared(taker.spare(), task.file);
        Self {
            task,
            taker,
            chunk,
            most_edges: (task.chunk_bytes / ROW_BYTES).max(1),
            node: 0,
            node_name: None,
            entries: 0,
            both: Both::default(),
        }
    }

    /// Starts the neighbors of `node`.
    fn begin(&mut self, node: u64) {
        (self.node, self.node_name) = (node, None);
    }

    /// Adds an entry, whose weight is 1 if it has none. Returns `false` if no more edges are wanted.
    fn push(&mut self, words: &Words, target: u64, weight: Option<WeightText<'_>>) -> Result<bool> {
        let format = &self.task.format;
        let (text, from) = weight.map_or((&b"1"[..], 0), |weight| (weight.text, weight.from));
        let code = field::weight_value(text)
            .and_then(|value| format.transform.code(value))
            .map_err(|problem| words.error_of(problem, from))?;
        self.entries += 1;
        if format.directed || self.both.is_to_be_taken(self.node, target, code) {
            return Ok(self.add(target, code, words.consumed()));
        }
        Ok(true)
    }

    /// Ends the list of a node without neighbors.
    fn push_alone(&mut self, words: &Words) -> bool {
        self.add(self.node, 0, words.consumed())
    }

    fn add(&mut self, target: u64, code: u32, consumed: u64) -> bool {
        let source = match self.node_name {
            Some(name) => name,
            None => *self.node_name.insert(name_of(self.node, &mut self.chunk.text)),
        };
        let target = match target == self.node {
            true => source,
            false => name_of(target, &mut self.chunk.text),
        };
        self.chunk.names.extend_from_slice(&[source, target]);
        if !self.task.format.ignore_weights {
            self.chunk.weights.push(code);
        }
        self.chunk.names.len() < 2 * self.most_edges || self.hand_over(consumed)
    }

    /// Passes on the chunk, unless it is empty.
    fn hand_over(&mut self, consumed: u64) -> bool {
        if self.chunk.names.is_empty() {
            return true;
        }
        self.node_name = None;
        let spare = cleared(self.taker.spare(), self.task.file);
        let mut chunk = std::mem::replace(&mut self.chunk, spare);
        chunk.lines = chunk.names.len() as u64 / 2;
        chunk.used = chunk.text.len();
        chunk.done_bytes = self.task.done_bytes + consumed;
        self.taker.take(chunk)
    }
}

/// Returns an empty chunk for the edges of a file.
fn cleared(mut chunk: ParsedChunk, file: usize) -> ParsedChunk {
    let ParsedChunk { text, names, weights, faults, cells, .. } = &mut chunk;
    text.clear();
    names.clear();
    weights.clear();
    faults.clear();
    cells.clear();
    chunk.origin = Origin { file, byte: 0, line: 1 };
    (chunk.next, chunk.is_parsed, chunk.is_node_list) = (None, true, false);
    chunk
}

/// Appends the digits of a number.
fn name_of(number: u64, text: &mut Vec<u8>) -> NameRef {
    let offset = text.len() as u32;
    let fingerprint = match Fingerprint::of_number(number) {
        Some((fingerprint, digits, len)) => {
            text.extend_from_slice(&digits[..len]);
            fingerprint
        }
        None => {
            text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            Fingerprint::of(&text[offset as usize..])
        }
    };
    NameRef { fingerprint, offset, bytes: text.len() as u32 - offset }
}

/// Comparison of the two entries of each edge.
#[derive(Debug, Default)]
struct Both {
    first: u64,
    second: u64,
    loops: u64,
    /// Hashes of the entries at first nodes minus those of the entries at second nodes.
    difference: u64,
}

impl Both {
    /// Returns whether the edge from `node` to `other` is taken from `node`.
    #[inline]
    fn is_to_be_taken(&mut self, node: u64, other: u64, code: u32) -> bool {
        if node == other {
            self.loops += 1;
            return true;
        }
        let is_first = node < other;
        let mut edge = [0; 20];
        edge[..8].copy_from_slice(&node.min(other).to_le_bytes());
        edge[8..16].copy_from_slice(&node.max(other).to_le_bytes());
        edge[16..].copy_from_slice(&code.to_le_bytes());
        let hash = xxh3_64(&edge);
        if is_first {
            self.first += 1;
            self.difference = self.difference.wrapping_add(hash);
        } else {
            self.second += 1;
            self.difference = self.difference.wrapping_sub(hash);
        }
        is_first
    }

    /// # Errors
    /// `BadInput` unless both sides have the same edges.
    fn check(&self, path: &Path) -> Result<()> {
        if self.first == self.second && self.difference == 0 {
            return Ok(());
        }
        let path = path.display();
        let message = format!("`{path}`: some edges differ between the lists of their two nodes");
        let [first, second] = [self.first, self.second].map(format_count);
        Err(Error::new(ErrorKind::BadInput, message)
            .note(format!(
                "its lists have {first} neighbors with larger numbers, {second} with smaller ones"
            ))
            .hint(format_args!("use {DIRECTED} to read every entry as an arc, or write each edge into the lists of both its nodes, with the same weight")))
    }
}
