//! Edges, nodes and memberships of lists to parsed chunks.
//!
//! A reader calls [`ListEdges::begin`] with the first name, then [`ListEdges::push`] once for each second one; a name
//! that begins several edges is written into the chunk once. A node without edges gets a loop of weight 0, which is
//! not an edge but makes it a node.

use super::labels::{LabelVerdict, Labels, undeclared};
use super::words::Words;
use crate::chunk::{Origin, ParsedChunk, Problem};
use crate::fault::escaped;
use crate::options::{InputOptions, Rows};
pub(super) use crate::sink::Progress;
use crate::sink::{Halt, ROW_BYTES, Sink};
use crate::source::ReadTask;
use crate::text::{field, is_short_number};
use crate::{NAME_LIMIT, NameRef};
use outcore_graph::ids::{EdgeChunk, Fingerprint};
use outcore_io::error::opt::DIRECTED;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::format_count;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of nodes that a file may declare: indexes have 32 bits.
const NODES_LIMIT: u64 = u32::MAX as u64;
/// Nodes without edges that a sample takes; others are only counted.
const SAMPLED_NODES: u64 = 1 << 12;
/// Nodes after which a sample ends even without any edge.
const SAMPLED_NODES_LIMIT: u64 = 1 << 22;
/// Largest number of a community: it has 15 digits.
const COMMUNITY_MAX: u64 = 999_999_999_999_999;

/// Name of a node or a community.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Number(u64),
    Text(&'a [u8]),
}

impl From<u64> for Name<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a [u8]> for Name<'a> {
    fn from(text: &'a [u8]) -> Self {
        Self::Text(text)
    }
}

/// Weight, and its start in the word that is read.
#[derive(Clone, Copy)]
pub(super) struct WeightText<'a> {
    pub(super) text: &'a [u8],
    pub(super) from: usize,
}

impl<'a> WeightText<'a> {
    /// Returns the last word, all of which is the weight.
    pub(super) fn of(words: &'a Words) -> Self {
        Self { text: words.word(), from: 0 }
    }
}

/// Header of a METIS graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MetisHeader {
    pub(super) nodes: u64,
    pub(super) edges: u64,
    /// Whether each neighbor is followed by the weight of its edge.
    pub(super) has_weights: bool,
    /// Numbers of a node before its neighbors: its size and weights.
    pub(super) skipped: u64,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct EntryTally {
    pub(super) entries: u64,
    /// Number of edges that the file declares.
    pub(super) declared_edges: Option<u64>,
    /// Bytes of the file before the first entry.
    pub(super) edges_from: u64,
    /// Nodes that need no edge.
    pub(super) nodes: u64,
    /// Whether a sample left out some of the nodes that need no edge.
    pub(super) has_left_out: bool,
    pub(super) has_weights: bool,
    /// Whether the first edge has a weight; in such a file, all edges must be like it.
    are_weighted: Option<bool>,
}

/// First name of the next edges.
#[derive(Default)]
pub(super) struct FirstName {
    text: Vec<u8>,
    /// The number that is the name, if it is not text.
    number: Option<u64>,
    /// Where the name is in the chunk, once it is written there.
    written: Option<NameRef>,
    /// Whether it has no edge yet.
    pub(super) is_alone: bool,
}

/// Converter of entries to edges.
pub(super) struct ListEdges<'a> {
    pub(super) options: &'a InputOptions,
    /// Header of a METIS graph.
    pub(super) metis: Option<MetisHeader>,
    task: &'a ReadTask<'a>,
    sink: Sink<'a>,
    chunk: ParsedChunk,
    pub(super) first: FirstName,
    /// Whether entries are edges without direction. In a directed graph, each then becomes two arcs.
    pub(super) undirected: bool,
    /// Nodes up to this number are of the first kind, others of the second; `None` if there is one kind.
    pub(super) first_kind: Option<u64>,
    /// Nodes that were declared, if edges may end only at these.
    pub(super) declared: Option<Declared>,
    /// Labels of the nodes before the first edge, if these may be names.
    pub(super) labels: Option<Labels>,
    pub(super) tally: EntryTally,
    pub(super) both: Both,
}

impl FirstName {
    fn is_text(&self, text: &[u8]) -> bool {
        self.number.is_none() && self.text == text
    }
}

impl<'a> ListEdges<'a> {
    pub(super) fn new(
        options: &'a InputOptions,
        metis: Option<MetisHeader>,
        task: &'a ReadTask<'a>,
        sink: Sink<'a>,
    ) -> Self {
        let chunk = cleared(sink.spare(), task.begin.file);
        Self {
            options,
            metis,
            task,
            sink,
            chunk,
            first: FirstName::default(),
            undirected: false,
            first_kind: None,
            declared: None,
            labels: None,
            tally: EntryTally::default(),
            both: Both::default(),
        }
    }

    /// Sets the first name of the next edges.
    pub(super) fn begin<'n>(&mut self, name: impl Into<Name<'n>>) {
        self.first.is_alone = true;
        match name.into() {
            Name::Text(text) if self.first.is_text(text) => return,
            Name::Text(text) => {
                self.first.text.clear();
                self.first.text.extend_from_slice(text);
                self.first.number = None;
            }
            Name::Number(number) => self.first.number = Some(number),
        }
        self.first.written = None;
    }

    /// Adds the edge, or the membership, from the first name to `target`. A missing weight is 1.
    ///
    /// # Errors
    /// `BadWeight`, `EmptyName` and the like at the word that was read last.
    pub(super) fn push<'n>(
        &mut self,
        words: &Words,
        target: impl Into<Name<'n>>,
        weight: Option<WeightText<'_>>,
    ) -> Progress {
        self.reach_edges(words)?;
        let code = self.code(words, weight)?;
        self.count(words);
        let [source, target] = self.names(words, target.into())?;
        if let Some(declared) = self.declared.as_mut().filter(|_| self.labels.is_none()) {
            let edges = &self.chunk.edges;
            declared.require(words, [source, target].map(|name| edges.name(&name)));
        }
        self.add(source, target, code);
        if self.options.rows != Rows::Edges {
            self.chunk.edges.row_lines.push(words.line());
        }
        if self.undirected && self.options.directed && source.fingerprint != target.fingerprint {
            self.add(target, source, code);
        }
        self.hand_over_if_full(words)
    }

    /// Adds a row of a result as it is, without fingerprints: nothing is sorted by these names.
    pub(super) fn push_row(&mut self, words: &Words, name: &[u8], value: &[u8]) -> Progress {
        let EdgeChunk { text, names, .. } = &mut self.chunk.edges;
        for part in [name, value] {
            let (offset, bytes) = (text.len() as u32, part.len() as u32);
            text.extend_from_slice(part);
            names.push(NameRef { fingerprint: Fingerprint::default(), offset, bytes });
        }
        self.hand_over_if_full(words)
    }

    /// Adds an entry of an adjacency list, which has each edge twice: once for each of its nodes.
    pub(super) fn push_listed(
        &mut self,
        words: &Words,
        target: u64,
        weight: Option<WeightText<'_>>,
    ) -> Progress {
        let code = self.code(words, weight)?;
        self.count(words);
        let node = self.first.number.unwrap_or_default();
        if self.options.directed || self.both.is_to_be_taken(node, target, code) {
            let [source, target] = self.names(words, target.into())?;
            self.add(source, target, code);
        }
        self.hand_over_if_full(words)
    }

    /// Adds a node that the file declares, with its label if it has one.
    pub(super) fn declare<'n>(
        &mut self,
        words: &Words,
        id: impl Into<Name<'n>>,
        label: Option<&[u8]>,
    ) -> Progress {
        let id = id.into();
        let Some(labels) = &mut self.labels else {
            self.begin(id);
            return self.push_alone(words);
        };
        let mut digits = itoa::Buffer::new();
        let (number, id) = match id {
            Name::Number(number) => (Some(number), digits.format(number).as_bytes()),
            Name::Text(text) => (None, text),
        };
        if labels.verdict.is_some() {
            return Err(undeclared(id, words).into());
        }
        // Equal labels of two kinds are two names.
        let of_kind = label.zip(self.first_kind.zip(number)).map(|(label, (first, number))| {
            [KINDS_OF_NUMBERS[usize::from(number > first)].as_bytes(), label].concat()
        });
        labels.add(id, of_kind.as_deref().or(label));
        if labels.ends_at_edges && labels.is_decided() {
            labels.complete();
            return Err(Halt::Unwanted);
        }
        Ok(())
    }

    /// Adds the nodes that have labels, unless they were added: the first edge follows, or the end.
    pub(super) fn reach_edges(&mut self, words: &Words) -> Progress {
        let Some(mut labels) = self.labels.take_if(|labels| labels.verdict.is_none()) else {
            return Ok(());
        };
        let first = std::mem::take(&mut self.first);
        let is_unique = matches!(labels.complete(), LabelVerdict::Unique { .. });
        if labels.ends_at_edges {
            self.labels = Some(labels);
            return Err(Halt::Unwanted);
        }
        if !is_unique {
            return words.fail("labels changed while they were read", "expected the same labels");
        }
        for place in 0..labels.count() {
            self.begin(labels.at(place));
            self.push_alone(words)?;
        }
        (self.labels, self.first) = (Some(labels), first);
        self.first.written = None;
        Ok(())
    }

    /// Adds the first name as a node, whether or not it has edges.
    pub(super) fn push_alone(&mut self, words: &Words) -> Progress {
        self.tally.nodes += 1;
        if let Some(declared) = &mut self.declared {
            declared.add(&self.first.text);
        }
        if self.task.is_sample && self.tally.nodes > SAMPLED_NODES {
            self.tally.has_left_out = true;
            let is_enough = self.tally.nodes >= SAMPLED_NODES_LIMIT && self.tally.entries == 0;
            return if is_enough { Err(Halt::Unwanted) } else { Ok(()) };
        }
        self.chunk.alone += 1;
        let source = self.source_name(words)?;
        self.add(source, source, 0);
        self.hand_over_if_full(words)
    }

    /// Adds the first name as a node if it has no edge yet.
    pub(super) fn push_if_alone(&mut self, words: &Words) -> Progress {
        if self.first.is_alone { self.push_alone(words) } else { Ok(()) }
    }

    /// Adds the nodes of these numbers, which the last word declares.
    pub(super) fn push_declared(
        &mut self,
        words: &Words,
        numbers: std::ops::Range<u64>,
    ) -> Progress {
        let count = numbers.end - numbers.start;
        if count > NODES_LIMIT {
            return words.fail("file has too many nodes", "expected at most 4,294,967,295");
        }
        if self.task.is_sample && count > SAMPLED_NODES {
            (self.tally.nodes, self.tally.has_left_out) = (count, true);
            return Ok(());
        }
        for number in numbers {
            self.begin(number);
            self.push_alone(words)?;
        }
        Ok(())
    }

    /// Checks a weight that is read before its edge is complete, so that an error points to its word.
    pub(super) fn check_weight(&mut self, words: &Words, weight: WeightText<'_>) -> Result<()> {
        self.code(words, Some(weight)).map(drop)
    }

    /// Returns an error unless all edges have weights, or none has; the first edge decides which.
    pub(super) fn require_alike(&mut self, words: &Words, has_weight: bool) -> Result<()> {
        match (*self.tally.are_weighted.get_or_insert(has_weight), has_weight) {
            (true, false) => words.fail("weight is missing", "expected one, as in the first edge"),
            (false, true) => words.fail("edge has a weight", "expected none, as in the first edge"),
            _ => Ok(()),
        }
    }

    /// Returns an error unless there are as many entries as the file declares.
    pub(super) fn check_declared(&self, words: &Words, allows_double: bool) -> Result<()> {
        let (found, declared) = (self.tally.entries, self.tally.declared_edges.unwrap_or(0));
        let is_double =
            found.checked_mul(2) == Some(declared) || declared.checked_mul(2) == Some(found);
        if found == declared || allows_double && is_double {
            return Ok(());
        }
        let [found, declared] = [found, declared].map(format_count);
        let path = words.path().display();
        let message = format!("`{path}` declares {declared} edges, but has {found}");
        Err(Error::new(ErrorKind::BadInput, message)
            .hint("fetch the file again if it is cut off, or correct the number that it declares"))
    }

    fn code(&mut self, words: &Words, weight: Option<WeightText<'_>>) -> Result<u32> {
        if self.options.rows != Rows::Edges {
            return Ok(0);
        }
        self.tally.has_weights |= weight.is_some();
        let weight = weight.filter(|_| !self.options.ignore_weights);
        let (text, from) = weight.map_or((&b"1"[..], 0), |weight| (weight.text, weight.from));
        field::weight_value(text)
            .and_then(|value| {
                self.options.weight_transform.code(value).ok_or(Problem::DistanceZero)
            })
            .map_err(|problem| words.error_of(problem, from))
    }

    fn count(&mut self, words: &Words) {
        self.first.is_alone = false;
        if self.tally.entries == 0 {
            self.tally.edges_from = words.consumed();
        }
        self.tally.entries += 1;
    }

    fn source_name(&mut self, words: &Words) -> Result<NameRef> {
        if let Some(name) = self.first.written {
            return Ok(name);
        }
        if self.chunk.edges.names.is_empty() {
            self.chunk.origin.line = words.line();
        }
        let text = &mut self.chunk.edges.text;
        let name = match (&self.labels, self.first.number) {
            (Some(labels), Some(number)) => {
                written(labels.of(itoa::Buffer::new().format(number).as_bytes(), words)?, text)
            }
            (Some(labels), None) => written(labels.of(&self.first.text, words)?, text),
            (None, Some(number)) => written_number(number, self.first_kind, text),
            (None, None) => {
                check(words, &self.first.text, Problem::EmptySource)?;
                written(&self.first.text, text)
            }
        };
        Ok(*self.first.written.insert(name))
    }

    /// Returns the first name and `target`, written into the chunk.
    fn names(&mut self, words: &Words, target: Name<'_>) -> Result<[NameRef; 2]> {
        let source = self.source_name(words)?;
        let is_numbered = self.options.rows == Rows::NumberedMemberships;
        let target = match target {
            Name::Number(number) if is_numbered && number > COMMUNITY_MAX => {
                return Err(words.error_of(Problem::CommunityNotNumber, 0));
            }
            Name::Number(number) if self.first.number == Some(number) => source,
            Name::Text(text) if self.first.is_text(text) => source,
            Name::Number(number) => match &self.labels {
                Some(labels) => {
                    let label = labels.of(itoa::Buffer::new().format(number).as_bytes(), words)?;
                    written(label, &mut self.chunk.edges.text)
                }
                None => written_number(number, self.first_kind, &mut self.chunk.edges.text),
            },
            Name::Text(text) if let Some(labels) = &self.labels => {
                written(labels.of(text, words)?, &mut self.chunk.edges.text)
            }
            Name::Text(text) => {
                check(words, text, Problem::EmptyTarget)?;
                if is_numbered && !is_short_number(text) {
                    return Err(words.error_of(Problem::CommunityNotNumber, 0));
                }
                written(text, &mut self.chunk.edges.text)
            }
        };
        Ok([source, target])
    }

    fn add(&mut self, source: NameRef, target: NameRef, code: u32) {
        self.chunk.edges.names.extend_from_slice(&[source, target]);
        if self.options.rows == Rows::Edges {
            self.chunk.edges.weights.push(code);
        }
    }

    fn hand_over_if_full(&mut self, words: &Words) -> Progress {
        let has_room =
            self.chunk.edges.names.len() < 2 * (self.task.chunk_bytes / ROW_BYTES).max(1);
        // A vector that grows may have twice the capacity.
        if has_room && self.chunk.edges.text.len() < self.task.chunk_bytes / 2 {
            return Ok(());
        }
        self.hand_over(words.consumed())
    }

    /// Passes on the chunk, unless it is empty.
    pub(super) fn hand_over(&mut self, consumed: u64) -> Progress {
        if self.chunk.edges.names.is_empty() {
            return Ok(());
        }
        self.first.written = None;
        let spare = cleared(self.sink.spare(), self.task.begin.file);
        let mut chunk = std::mem::replace(&mut self.chunk, spare);
        chunk.lines = chunk.edges.names.len() as u64 / 2 - chunk.alone;
        chunk.used = chunk.edges.text.len();
        chunk.done_bytes = self.task.done_bytes + consumed;
        self.sink.take(chunk)
    }
}

/// Returns an empty chunk for the edges of a file.
fn cleared(mut chunk: ParsedChunk, file: usize) -> ParsedChunk {
    chunk.edges.clear();
    chunk.faults.clear();
    chunk.origin = Origin { file, byte: 0, line: 1 };
    (chunk.next, chunk.alone) = (None, 0);
    chunk
}

/// Returns an error unless `name` is valid; `empty` is the problem of an empty one.
fn check(words: &Words, name: &[u8], empty: Problem) -> Result<()> {
    match () {
        () if name.is_empty() => Err(words.error_of(empty, 0)),
        () if name.len() > NAME_LIMIT => Err(words.error_of(Problem::NameTooLong, 0)),
        () if name.contains(&b'\n') => Err(words.error_of(Problem::LineEndInName, 0)),
        () => Ok(()),
    }
}

fn written(name: &[u8], text: &mut Vec<u8>) -> NameRef {
    let offset = text.len() as u32;
    text.extend_from_slice(name);
    NameRef { fingerprint: Fingerprint::of(name), offset, bytes: name.len() as u32 }
}

/// Prefixes of the names of the first and the second kind.
pub(super) const KINDS_OF_NUMBERS: [&str; 2] = ["row:", "column:"];

/// Appends the digits of a number, after the prefix of its kind if there are two kinds.
fn written_number(number: u64, first_kind: Option<u64>, text: &mut Vec<u8>) -> NameRef {
    if let Some(first) = first_kind {
        let kind = KINDS_OF_NUMBERS[usize::from(number > first)];
        return written(format!("{kind}{number}").as_bytes(), text);
    }
    let Some((fingerprint, digits, len)) = Fingerprint::of_number(number) else {
        return written(itoa::Buffer::new().format(number).as_bytes(), text);
    };
    let offset = text.len() as u32;
    text.extend_from_slice(&digits[..len]);
    NameRef { fingerprint, offset, bytes: len as u32 }
}

/// Nodes that a file declares, as bits at positions given by their hashes (Bloom, 1970). An end whose bits are not all
/// set was certainly not declared. Memory: 256 KiB, so that few undeclared ends go unnoticed among many nodes.
pub(super) struct Declared {
    bits: Vec<u64>,
    /// Ends that were not declared before their edges, and the errors if they never are.
    missing: Vec<(u64, Error)>,
    has_some: bool,
}

impl Default for Declared {
    fn default() -> Self {
        Self { bits: vec![0; 1 << 15], missing: Vec::new(), has_some: false }
    }
}

impl Declared {
    /// Maximum number of ends that are remembered. In a file with more, edges come before their nodes, and nothing is
    /// checked.
    const MISSING_LIMIT: usize = 1000;

    /// Returns the places of the bits of a hash.
    fn places(hash: u64) -> [(usize, u64); 2] {
        [hash, hash >> 32].map(|half| ((half >> 6) as usize & 0x7FFF, 1 << (half & 63)))
    }

    fn add(&mut self, name: &[u8]) {
        let hash = xxh3_64(name);
        Self::places(hash).into_iter().for_each(|(at, bit)| self.bits[at] |= bit);
        self.has_some = true;
        if self.missing.len() < Self::MISSING_LIMIT {
            self.missing.retain(|(other, _)| *other != hash);
        }
    }

    fn require(&mut self, words: &Words, ends: [&[u8]; 2]) {
        for name in ends {
            let hash = xxh3_64(name);
            let is_known = Self::places(hash).iter().all(|&(at, bit)| self.bits[at] & bit != 0);
            if !is_known && self.missing.len() < Self::MISSING_LIMIT {
                let message = format!("edge ends at `{}`, which is no node", escaped(name, 40));
                self.missing
                    .push((hash, words.error(&message, "expected a node that the file declares")));
            }
        }
    }

    /// Returns the error of the first end that was never declared, in a file that declares nodes.
    pub(super) fn check(&mut self) -> Result<()> {
        let is_checked = self.has_some && self.missing.len() < Self::MISSING_LIMIT;
        match is_checked && !self.missing.is_empty() {
            true => Err(self.missing.swap_remove(0).1),
            false => Ok(()),
        }
    }
}

/// Numbers and hashes of the two entries that each edge has, to compare them.
#[derive(Debug, Default)]
pub(super) struct Both {
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) loops: u64,
    /// Hashes of the entries at first nodes minus those of the entries at second nodes.
    difference: u64,
}

impl Both {
    /// Returns whether this entry, rather than the opposite one, is taken as the edge.
    #[inline]
    pub(super) fn is_to_be_taken(&mut self, node: u64, other: u64, code: u32) -> bool {
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

    /// Returns whether there are entries.
    pub(super) fn has_some(&self) -> bool {
        self.first + self.second + self.loops > 0
    }

    /// # Errors
    /// `BadInput` unless both sides have the same edges.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
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
