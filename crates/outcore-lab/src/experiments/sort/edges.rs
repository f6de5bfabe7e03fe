//! Edges to be sorted, and the sum over the rows of any correct result.

use super::super::written::failed;
use crate::meter::Outcome;
use crate::random::Random;
use outcore::io::Writer;
use outcore::{Result, io::Files};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of an edge in the list: source, target, weight.
pub(super) const EDGE_BYTES: usize = 12;
/// Bytes of an edge in the rows, where the source is implied.
pub(super) const ENTRY_BYTES: usize = 8;

/// Returns the outcome of a method that sorts the edges, without its checksum.
pub(super) fn outcome(input: &SortInput, bytes: u64, sync_seconds: Option<f64>) -> Outcome {
    Outcome { operations: input.edges as u64, bytes, sync_seconds, ..Outcome::default() }
}

/// Weighted edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) weight: u32,
}

impl Edge {
    pub(super) fn to_bytes(self) -> [u8; EDGE_BYTES] {
        let mut bytes = [0; EDGE_BYTES];
        bytes[..4].copy_from_slice(&self.source.to_le_bytes());
        bytes[4..].copy_from_slice(&self.entry());
        bytes
    }

    pub(super) fn of(bytes: &[u8; EDGE_BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self { source: word(0), target: word(4), weight: word(8) }
    }

    /// Returns the bytes that are written into the row of the source.
    pub(super) fn entry(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&self.target.to_le_bytes());
        bytes[4..].copy_from_slice(&self.weight.to_le_bytes());
        bytes
    }
}

/// Reader of the edges of an input list through a buffer.
pub(super) struct EdgeReader<R> {
    inner: BufReader<R>,
}

impl<R: Read> EdgeReader<R> {
    pub(super) fn new(inner: R, buffer_bytes: usize) -> Self {
        Self { inner: BufReader::with_capacity(buffer_bytes, inner) }
    }

    /// Reads the next edge; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<Option<Edge>> {
        let mut bytes = [0; EDGE_BYTES];
        match self.inner.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(Edge::of(&bytes))),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Appends up to `count` edges to `edges`.
    pub(super) fn take(&mut self, count: usize, edges: &mut Vec<Edge>) -> io::Result<()> {
        for _ in 0..count {
            let Some(edge) = self.next()? else { break };
            edges.push(edge);
        }
        Ok(())
    }
}

/// Edge list on disk with its properties.
pub(super) struct SortInput {
    /// File of the edges, in random order.
    pub(super) list: PathBuf,
    /// File of the number of the first entry of each node's row, as 64-bit numbers; one more at the end.
    pub(super) offsets: PathBuf,
    /// File of the result.
    pub(super) rows: PathBuf,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    /// The same offsets in memory.
    pub(super) first: Vec<u64>,
    /// Expected sum over the rows.
    expected: u64,
}

impl SortInput {
    /// Writes a list of `edges` edges between `nodes` nodes; `path_of` returns the path for a name.
    pub(super) fn make(
        files: &Files,
        path_of: impl Fn(&str) -> PathBuf,
        (nodes, edges): (usize, usize),
        seed: u64,
    ) -> Result<Self> {
        let list = path_of(&format!("edges-{edges}"));
        let (mut random, mut degrees, mut sums) =
            (Random(seed), vec![0u64; nodes], vec![0u64; nodes]);
        let mut writer = Writer::create(files, &list, 1 << 20, 2)?;
        for _ in 0..edges {
            let mut below = |end: usize| random.below(end as u64) as u32;
            let (source, target) = (below(nodes), below(nodes));
            let edge = Edge { source, target, weight: below(1 << 20) };
            degrees[source as usize] += 1;
            let sum = &mut sums[source as usize];
            *sum = sum.wrapping_add(mixed(edge.entry()));
            writer.write(&edge.to_bytes())?;
        }
        writer.finish()?;
        let mut first = Vec::with_capacity(nodes + 1);
        let mut begin = 0;
        for degree in degrees {
            first.push(begin);
            begin += degree;
        }
        first.push(begin);
        let offsets = path_of(&format!("offsets-{edges}"));
        let bytes: Vec<u8> = first.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        files.write(&offsets, &bytes)?;
        let rows = path_of(&format!("rows-{edges}"));
        let expected = sums.into_iter().fold(0, joined);
        Ok(Self { list, offsets, rows, nodes, edges, first, expected })
    }

    /// Returns the paths of the files that may exist.
    pub(super) fn paths(&self) -> [&Path; 3] {
        [&self.list, &self.offsets, &self.rows]
    }

    /// Returns zero if the file of rows contains for each node its own edges, in any order within the row.
    pub(super) fn difference(&self) -> Result<u64> {
        let path: &Path = &self.rows;
        let file = File::open(path).map_err(failed("open", path))?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let mut found = 0;
        for row in self.first.windows(2) {
            let mut sum = 0u64;
            for _ in row[0]..row[1] {
                let mut entry = [0; ENTRY_BYTES];
                reader.read_exact(&mut entry).map_err(failed("read", path))?;
                sum = sum.wrapping_add(mixed(entry));
            }
            found = joined(found, sum);
        }
        let rest = reader.read(&mut [0]).map_err(failed("read", path))? as u64;
        Ok(found.wrapping_sub(self.expected) | rest)
    }
}

fn mixed(entry: [u8; ENTRY_BYTES]) -> u64 {
    Random(u64::from_le_bytes(entry)).word()
}

fn joined(all: u64, row: u64) -> u64 {
    (all ^ row).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
}
