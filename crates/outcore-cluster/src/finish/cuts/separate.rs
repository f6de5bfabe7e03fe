//! Replaces communities by their well-connected parts.
//!
//! A part is identified by its smallest node. The first round examines all communities. Parts of communities that are too
//! large to be examined further at once wait for the next round. Memory in addition to the labels: 8.6 bytes per node
//! for the next labels, the parts that wait and the nodes of a large community.

use super::CutMemory;
use super::edges::{Examined, InsideEdge, examine_inside};
use super::large::Large;
use super::split::{CommunityPiece, CutParts, Verdict, settle};
use crate::base::bits::Bits;
use crate::finish::connect::split_count;
use crate::kernel::cache::BlockSource;
use crate::methods::connected::WellConnected;
use crate::store::ranked::Ranked;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Counts of communities that were replaced by their parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Separated {
    /// Communities that were not well-connected.
    pub split_count: u64,
    /// Well-connected communities that they were split into, including single nodes.
    pub part_count: u64,
}

/// Progress of the separation of a result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Separation {
    /// Whether the first round, which examines all communities, is over.
    is_begun: bool,
    /// Parts to examine in the next round, in order.
    #[serde(skip)]
    waiting: Vec<WaitingPart>,
    counts: Separated,
}

/// Label of a part, and its floor: a cut of fewer edges separates it, whatever the bound.
type WaitingPart = (u32, u32);

/// Resources of a round.
pub(crate) struct CutRound<'a, 'g> {
    pub(crate) source: &'a mut BlockSource<'g>,
    /// Directory for the runs of a sort.
    pub(crate) directory: &'a Path,
    pub(crate) rule: WellConnected,
    pub(crate) room: CutMemory,
    /// Called for each block and batch.
    pub(crate) tick: &'a dyn Fn() -> Result<()>,
    /// Creates the error that examining a community needs this number of bytes.
    pub(crate) too_little: &'a dyn Fn(u64) -> Error,
}

impl Separation {
    /// Returns the additional bytes of a round, by the number of nodes.
    pub(crate) fn bytes(node_count: u64) -> u64 {
        let parts = node_count / 2 * size_of::<WaitingPart>() as u64;
        4 * node_count + parts + Ranked::bytes(node_count) + 3 * node_count.div_ceil(8)
    }

    /// Returns the counts, after the last round.
    pub(crate) fn counts(&self) -> Separated {
        self.counts
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_begun && self.waiting.is_empty()
    }

    /// Saves the waiting parts, which the serialized form omits.
    pub(crate) fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array(self.waiting.iter().map(|part| part.0))?;
        to.array(self.waiting.iter().map(|part| part.1))
    }

    /// Loads the waiting parts.
    pub(crate) fn load(&mut self, from: &mut StateReader, node_count: u64) -> Result<()> {
        let (labels, floors) = (from.numbers::<u32>()?, from.numbers::<u32>()?);
        let are_nodes = labels.iter().all(|&label| u64::from(label) < node_count);
        if labels.len() != floors.len() || !are_nodes || !labels.is_sorted() {
            return Err(from.damaged());
        }
        self.waiting = labels.into_iter().zip(floors).collect();
        Ok(())
    }

    /// Runs a round; changes nothing if it fails. The labels are nodes.
    ///
    /// # Errors
    /// `MemoryTooSmall` for a large community; those of reading and writing.
    pub(crate) fn advance(&mut self, labels: &mut Vec<u32>, round: CutRound<'_, '_>) -> Result<()> {
        let waiting = Bits::new(labels.len(), !self.is_begun);
        self.waiting.iter().for_each(|part| _ = waiting.set(part.0 as usize));
        let is_waiting = |label: u32| waiting.get(label as usize);
        let mut next: Vec<AtomicU32> = Vec::with_capacity(labels.len());
        let own = |(node, &label): (u32, &u32)| if is_waiting(label) { node } else { label };
        next.extend((0..).zip(&*labels).map(own).map(AtomicU32::new));
        let (rule, too_little) = (round.rule, round.too_little);
        let floors = &self.waiting;
        let mut examiner = Examiner { next: &next, floors, rule, too_little, waiting: Vec::new() };
        examine_inside(
            round,
            labels,
            is_waiting,
            |label| floor(floors, label),
            |communities| match communities {
                Examined::Together(edges) => {
                    examiner.settle_all(edges);
                    Ok(())
                }
                Examined::Alone(piece) => examiner.divide(piece),
            },
        )?;
        let mut waiting = examiner.waiting;
        waiting.sort_unstable();
        let next: Vec<u32> = next.into_iter().map(AtomicU32::into_inner).collect();
        self.count(labels, &next);
        *labels = next;
        (self.is_begun, self.waiting) = (true, waiting);
        Ok(())
    }

    /// Counts the communities that a round has split, and their parts.
    fn count(&mut self, labels: &[u32], next: &[u32]) {
        let roots = || (0..).zip(next).filter(|(node, root)| node == *root);
        if !self.is_begun {
            self.counts.split_count = split_count(labels, next, labels.len());
            self.counts.part_count = self.counts.split_count;
        }
        let before = Bits::new(labels.len(), false);
        labels.iter().for_each(|&label| _ = before.set(label as usize));
        self.counts.part_count += roots().count() as u64 - before.count(0..labels.len());
    }
}

/// Returns the floor of a part; 0 for a community.
fn floor(floors: &[WaitingPart], label: u32) -> u64 {
    floors.binary_search_by_key(&label, |part| part.0).map_or(0, |at| floors[at].1.into())
}

/// Labels sorted nodes with the first of them.
fn label(next: &[AtomicU32], nodes: &[u32]) {
    nodes.iter().for_each(|&node| next[node as usize].store(nodes[0], Relaxed));
}

/// Examination of communities.
struct Examiner<'a> {
    next: &'a [AtomicU32],
    floors: &'a [WaitingPart],
    rule: WellConnected,
    too_little: &'a dyn Fn(u64) -> Error,
    /// Parts for the next round.
    waiting: Vec<WaitingPart>,
}

impl Examiner<'_> {
    /// Applies the rule to whole communities.
    fn settle_all(&self, edges: &[InsideEdge]) {
        let communities: Vec<_> = edges.chunk_by(|a, b| a.source == b.source).collect();
        let &Self { next, floors, rule, .. } = self;
        communities.into_par_iter().for_each(|edges| {
            let piece = CommunityPiece::new(edges, floor(floors, edges[0].source));
            settle(piece, rule, |nodes| label(next, nodes));
        });
    }

    /// Applies the rule to a large community, or examines it once if not all of its edges are known.
    fn divide(&mut self, piece: CommunityPiece) -> Result<()> {
        if piece.is_complete() {
            settle(piece, self.rule, |nodes| label(self.next, nodes));
            return Ok(());
        }
        match piece.examine(self.rule) {
            Verdict::Keep => label(self.next, &piece.nodes),
            Verdict::Unknown(enough) => {
                let needed = Large::bytes(piece.nodes.len() as u64, enough);
                return Err((self.too_little)(needed));
            }
            Verdict::Divide(CutParts { of_node, count, floor }) => {
                // Parts are numbered by their first nodes.
                let (mut first, mut sizes) = (Vec::with_capacity(count), vec![0u32; count]);
                for (&node, &part) in piece.nodes.iter().zip(&of_node) {
                    if part as usize == first.len() {
                        first.push(node);
                    }
                    sizes[part as usize] += 1;
                    self.next[node as usize].store(first[part as usize], Relaxed);
                }
                let floor = u32::try_from(floor).unwrap_or(u32::MAX);
                let parts = first.into_iter().zip(sizes).filter(|(_, size)| *size > 1);
                self.waiting.extend(parts.map(|(label, _)| (label, floor)));
            }
        }
        Ok(())
    }
}
