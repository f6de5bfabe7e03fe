//! Where numbered edges go: their arcs to the sort, or their ends to a forest, if only components are wanted.
//!
//! The forest grows with the names, at 4 to 8 bytes per node; nothing of an edge is kept beyond its batch, unless its nodes
//! have no room in memory. Each thread takes pieces of edges and drops those whose ends are joined already; the others
//! are joined in input order.

use super::halfway::EdgeCounts;
use super::weights::{Side, Thresholds};
use crate::checkpoint::{Checkpoint, StateReader, StateWriter};
use crate::cluster::{Forest, ForestState, JoinPlace, Ladder};
use crate::error::Result;
use crate::graph::ArcRecord;
use crate::input::EdgeChunk;
use crate::io::Files;
use crate::job::{JobOptions, Normalize};
use crate::sort::{Record, SortState, Sorter};
use crate::weight::Weight;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// Number of edges processed in one piece to sort their arcs.
const PIECE_EDGES: usize = 1 << 14;
/// Number of edges processed in one piece to join their ends, where threads wait for each other more often.
const JOINED_EDGES: usize = 1 << 12;

/// Where numbered edges go.
pub(crate) enum Sink<R: Record> {
    Sort(Box<Sorter<R>>),
    Join(Forest),
}

/// Saved state of a sink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SinkState {
    Runs(SortState),
    Forest(ForestState),
}

impl SinkState {
    /// Returns the memory that grows with the number of nodes.
    pub(super) fn node_bytes(&self) -> u64 {
        match self {
            Self::Runs(_) => 0,
            Self::Forest(state) => state.memory_bytes(),
        }
    }
}

/// Where runs are written, the budget of the sort, and the memory for names, nodes and the sort.
#[derive(Clone, Copy)]
pub(super) struct SinkPlace<'a> {
    pub(super) files: &'a Files,
    pub(super) runs: &'a Path,
    pub(super) sort_bytes: u64,
    pub(super) room_bytes: u64,
    pub(super) threads: usize,
}

impl<'a> SinkPlace<'a> {
    /// Returns the place of a forest of these thresholds.
    pub(super) fn of_forest(self, ladder: &Ladder) -> JoinPlace<'a> {
        let Self { files, runs, sort_bytes, room_bytes, threads } = self;
        JoinPlace {
            files,
            runs,
            node_bytes: Forest::link_bytes(room_bytes, ladder),
            sort_bytes,
            threads,
        }
    }

    fn sorter<R: Record>(self) -> Result<Sorter<R>> {
        Sorter::with_directory(self.files, self.runs, self.sort_bytes, self.threads)
    }
}

impl<R: Record + From<ArcRecord>> Sink<R> {
    pub(super) fn create(ladder: Option<&Ladder>, place: SinkPlace<'_>) -> Result<Self> {
        match ladder {
            Some(ladder) => Forest::create(ladder.clone(), place.of_forest(ladder)).map(Self::Join),
            None => Ok(Self::Sort(Box::new(place.sorter()?))),
        }
    }

    pub(super) fn save(&mut self, to: &mut StateWriter) -> Result<SinkState> {
        match self {
            Self::Sort(sorter) => sorter.save(to).map(SinkState::Runs),
            Self::Join(forest) => forest.save(to).map(SinkState::Forest),
        }
    }

    pub(super) fn resume(
        state: &SinkState,
        from: &mut StateReader,
        place: SinkPlace<'_>,
    ) -> Result<Self> {
        match state {
            SinkState::Runs(state) => {
                Ok(Self::Sort(Box::new(Sorter::resume(state, from, place.sorter()?)?)))
            }
            SinkState::Forest(state) => {
                Forest::resume(state, from, place.of_forest(state.ladder())).map(Self::Join)
            }
        }
    }

    /// Returns whether edges must come in the order of the input.
    pub(super) fn keeps_order(&self) -> bool {
        matches!(self, Self::Sort(_))
    }

    pub(super) fn set_budget(&mut self, bytes: u64) -> Result<()> {
        match self {
            Self::Sort(sorter) => sorter.set_budget(bytes),
            Self::Join(forest) => forest.beyond().map_or(Ok(()), |sorter| sorter.set_budget(bytes)),
        }
    }

    /// Gives back the memory of the sort.
    pub(super) fn set_aside(&mut self) -> Result<()> {
        match self {
            Self::Sort(sorter) => sorter.set_aside(),
            Self::Join(forest) => forest.beyond().map_or(Ok(()), |sorter| sorter.set_aside()),
        }
    }

    /// Writes what is collected in memory to a run, so that the state can be saved.
    pub(super) fn write_collected(&mut self) -> Result<()> {
        match self {
            Self::Sort(sorter) => sorter.write_collected(),
            Self::Join(forest) => forest.beyond().map_or(Ok(()), |sorter| sorter.write_collected()),
        }
    }

    /// Returns the memory that grows with the number of nodes.
    pub(super) fn node_bytes(&self) -> u64 {
        match self {
            Self::Sort(_) => 0,
            Self::Join(forest) => forest.memory_bytes(),
        }
    }

    pub(super) fn grow(&mut self, node_count: u64) {
        if let Self::Join(forest) = self {
            forest.grow(node_count);
        }
    }

    /// Takes the edges of all chunks, in input order.
    pub(super) fn take(
        &mut self,
        chunks: &[EdgeChunk],
        indexes: &[Vec<u32>],
        options: &JobOptions,
    ) -> Result<EdgeCounts> {
        let (indexes, thresholds) = (&indexes[..chunks.len()], Thresholds::new(options));
        let edges = Numbered { chunks, indexes, options, thresholds };
        let mut counts = EdgeCounts::default();
        match self {
            Self::Sort(sorter) => {
                let pieces = pieces(indexes, PIECE_EDGES);
                // The smallest sort has no room for all short lines of a batch at the same time.
                let at_once = (sorter.max_at_once() / PIECE_EDGES).max(1);
                for pieces in pieces.chunks(at_once) {
                    let lens: Vec<usize> = pieces.iter().map(|piece| piece.edges.len()).collect();
                    let each = sorter.push_parts(&lens, |part, out| {
                        let mut filled = 0;
                        let counts = edges.read(&pieces[part], |edge| {
                            out[filled] = sorted_arc(edge, options.input.directed).into();
                            filled += 1;
                        });
                        Ok((filled, counts))
                    })?;
                    counts = each.into_iter().fold(counts, EdgeCounts::plus);
                }
            }
            Self::Join(forest) => {
                let at_once = 16 * rayon::current_num_threads();
                for pieces in pieces(indexes, JOINED_EDGES).chunks(at_once) {
                    let unjoined = |piece: &Piece| {
                        let mut unjoined = Vec::with_capacity(piece.edges.len());
                        let counts = edges.read(piece, |edge| unjoined.push(edge));
                        forest.drop_joined(&mut unjoined);
                        (unjoined, counts)
                    };
                    let all: Vec<_> = pieces.par_iter().map(unjoined).collect();
                    for (unjoined, counted) in all {
                        forest.join(&unjoined)?;
                        counts = counts.plus(counted);
                    }
                }
            }
        }
        Ok(counts)
    }
}

/// Chunk and some of its edges.
struct Piece {
    chunk: usize,
    edges: Range<usize>,
}

/// Divides the edges of chunks into pieces of at most `most` edges.
fn pieces(indexes: &[Vec<u32>], most: usize) -> Vec<Piece> {
    let chunks = indexes.iter().enumerate();
    let pieces = chunks.flat_map(|(chunk, indexes)| {
        let count = indexes.len() / 2;
        let begins = (0..count).step_by(most);
        begins.map(move |begin| Piece { chunk, edges: begin..count.min(begin + most) })
    });
    pieces.collect()
}

/// Edges with the indexes of their ends.
struct Numbered<'a> {
    chunks: &'a [EdgeChunk],
    indexes: &'a [Vec<u32>],
    options: &'a JobOptions,
    thresholds: Thresholds,
}

impl Numbered<'_> {
    /// Passes the edges that count to `each`, and returns the counts of the others.
    fn read(&self, piece: &Piece, mut each: impl FnMut(ArcRecord)) -> EdgeCounts {
        let Range { start, end } = piece.edges;
        let weights = self.chunks[piece.chunk].weights.get(start..end).unwrap_or_default();
        let (edges, _) = self.indexes[piece.chunk][2 * start..2 * end].as_chunks::<2>();
        let mut counts = EdgeCounts::default();
        let has_self_hits = self.options.normalize == Normalize::SelfScore;
        for (edge, &[source, target]) in edges.iter().enumerate() {
            let weight = weights.get(edge).copied().unwrap_or(Weight::ONE.code());
            let is_loop = source == target;
            match self.thresholds.side(weight) {
                Side::Zero => counts.zero_loops += u64::from(is_loop),
                _ if is_loop && has_self_hits => counts.self_hits += 1,
                Side::Below => counts.below += 1,
                Side::Above => counts.above += 1,
                Side::Inside => {
                    counts.loops += u64::from(is_loop);
                    counts.weighted += u64::from(weight != Weight::ONE.code());
                    each(ArcRecord { source, target, weight });
                }
            }
        }
        counts
    }
}

/// Returns the arc as which an edge is sorted. A directed edge becomes an arc of the node that it points to, since labels
/// flow along edges; an undirected one an arc of the node that was numbered first.
#[inline]
fn sorted_arc(edge: ArcRecord, is_directed: bool) -> ArcRecord {
    let ArcRecord { source, target, weight } = edge;
    let (source, target) = match is_directed {
        true => (target, source),
        false => (source.min(target), source.max(target)),
    };
    ArcRecord { source, target, weight }
}
