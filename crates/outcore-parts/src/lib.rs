//! Graph in parts that another system stores on many machines and processes one at a time: the engine's own label
//! propagation, local moving, components and contraction, as functions of bytes that exchange messages.
//!
//! ```text
//!  sorted arcs --chunks--> degrees --Cutter--> bounds of parts, at boundaries of blocks
//!                    `---> parts: consecutive blocks each, with their arcs
//!  each part: begin -> round, round, ...  (labels; until no part has to sweep again)     propagate
//!                   -> tally -> share -> shift, ...  (labels, by other methods)             moving
//!                   -> roots -> links -> settle -> number  (connected pieces, sums)      closing
//!                   -> contract  (edges between communities)
//! ```
//!
//! Label propagation returns the engine's result. The engine sweeps blocks in order, and each block sees the moves of
//! the blocks before it. Parts are instead swept in parallel, as if no part before them moved a node, and swept again
//! where one did: parts send each other their moves, and a part that receives moves from a part before it sweeps again
//! from the labels before the sweep. When no part has to sweep again, every part has seen the moves of the parts before
//! it: the result is that of the sequential order, reached in at most as many rounds as there are parts, since each
//! round makes at least one more part correct. (Discrete event simulation calls this optimistic: Jefferson, "Virtual
//! Time", 1985.)
//!
//! Memory of a part: its encoded arcs (about 2 to 5 bytes each), 12 bytes per node of the part, 8 bytes per node
//! outside to which it has an arc, the messages received, and 0.31 bytes per node of the graph. Cost per round: like
//! `sweep`, about 10 ns per visited arc.

mod chunk;
mod closing;
mod moving;
mod propagate;
#[cfg(test)]
mod tests;
// The test oracle of the engine, which refers to its modules through its own crate.
#[cfg(test)]
#[path = "../../outcore-cluster/src/tests/oracle_levels/mod.rs"]
#[expect(dead_code, reason = "the tests of the engine use the rest")]
mod oracle_levels;
#[cfg(test)]
use outcore_cluster::{Method, Seeding, base, kernel};
/// What the oracle takes from inside the engine, and a single sweep does not need.
#[cfg(test)]
#[expect(dead_code, reason = "only sweeps are compared")]
mod merges {
    use super::Method;

    pub(crate) type Node = (u32, f64, Vec<(u32, f64)>);

    pub(crate) struct Objective {
        pub(crate) method: Method,
        pub(crate) resolution: f64,
        pub(crate) most: Option<u32>,
    }

    pub(crate) fn may_merge(_: Objective, _: &[Node], _: &[u32], _: f64) -> Option<bool> {
        Some(true)
    }

    pub(crate) fn merged(_: &[Node]) -> Option<Vec<u32>> {
        None
    }

    pub(crate) fn dissolved(_: Objective, _: &[Node], _: &mut [u32]) -> bool {
        false
    }
}
mod words;

pub use chunk::{Chunks, Cutter, PartWriter, cut, degrees_of};
pub use closing::{CommunitySums, Labeled, forest};
pub use moving::{Aim, Shift, Shifted, Totals};
pub use propagate::{RoundCounts, Rounds};
pub use words::{Message, bytes_of, numbers_of};

#[cfg(doc)]
use outcore_cluster::LevelSpec;
use outcore_cluster::base::bits::Bits;
use outcore_cluster::kernel::cache::BlockSource;
use outcore_cluster::store::ranked::Ranked;
use outcore_graph::{ArcScratch, Block, Graph, LoopWeight, View};
use outcore_io::{Error, ErrorKind, Result};
use outcore_io::{Files, Ram};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use words::Words;

/// Part of a graph: the arcs that leave consecutive nodes.
pub struct Part {
    graph: Graph,
    /// First nodes of all parts, followed by the number of nodes.
    bounds: Vec<u32>,
    /// Index of the part among all parts.
    index: usize,
    /// How often loops count.
    loops: LoopWeight,
}

impl Part {
    /// Opens a part that [`PartWriter`] has written. `bounds` are the first nodes of all parts, followed by the number
    /// of nodes.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn open(bytes: &[u8], bounds: Vec<u32>, index: usize) -> Result<Self> {
        let mut from = Words(bytes);
        let files = Files::new(Arc::new(Ram::default()));
        let directory = Path::new("part");
        for name in ["graph.json", "arcs"] {
            files.write_own(&directory.join(name), from.bytes()?)?;
        }
        let graph = Graph::open(&files, directory)?;
        let part = Self { graph, bounds, index, loops: LoopWeight::default() };
        let entries = part.graph.blocks();
        let first = entries.first().map_or(0, |entry| entry.first_node);
        let fits = part.bounds.get(index) == Some(&first)
            && part.bounds.is_sorted()
            && part
                .bounds
                .get(index + 1)
                .is_some_and(|&end| u64::from(end) == u64::from(first) + part.graph.node_count());
        if fits { Ok(part) } else { Err(damaged("a part does not match the bounds of parts")) }
    }

    /// Sets how often loops count in moves and in the graph of communities: [`LevelSpec::loops`] of the method.
    #[must_use]
    pub fn with_loops(mut self, loops: LoopWeight) -> Self {
        self.loops = loops;
        self.graph = self.graph.seen_as(&View::default().with_loops(loops));
        self
    }

    /// Returns the number of its arcs, loops not counted.
    pub fn arc_count(&self) -> u64 {
        self.graph.arc_count()
    }

    /// Returns its nodes.
    pub fn nodes(&self) -> Range<u32> {
        self.bounds[self.index]..self.bounds[self.index + 1]
    }

    fn node_count(&self) -> u32 {
        *self.bounds.last().expect("there is a part")
    }

    /// Returns the part that a node belongs to.
    fn owner(&self, node: u32) -> usize {
        self.bounds.partition_point(|&bound| bound <= node) - 1
    }

    /// Calls `visit` with each of its blocks whose nodes `wants` selects.
    fn for_blocks(
        &self,
        wants: impl Fn(Range<usize>) -> bool,
        visit: impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let count = self.graph.blocks().len();
        BlockSource::new(&self.graph, 0).for_each(
            0..count,
            |entry| {
                let first = entry.first_node as usize;
                wants(first..first + entry.node_count as usize)
            },
            visit,
        )
    }

    /// Calls `visit(node, part, targets)` with each of its nodes that `wants` selects, in order, and consecutive
    /// targets of the node's arcs that all belong to one part.
    fn for_owners(
        &self,
        wants: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, usize, &[u32]),
    ) -> Result<()> {
        let mut scratch = ArcScratch::default();
        self.for_blocks(
            |nodes| nodes.into_iter().any(|node| wants(node as u32)),
            |block| {
                for local in 0..block.node_count() {
                    let node = block.first_node() + local as u32;
                    if !wants(node) {
                        continue;
                    }
                    block.for_each_segment(local, &mut scratch, |mut targets, _| {
                        while let Some(&first) = targets.first() {
                            let part = self.owner(first);
                            let end = self.bounds[part + 1];
                            let (of_part, rest) =
                                targets.split_at(targets.partition_point(|&t| t < end));
                            visit(node, part, of_part);
                            targets = rest;
                        }
                    })?;
                }
                Ok(())
            },
        )
    }

    /// Returns the nodes outside to which it has an arc, ascending.
    fn outside(&self) -> Result<Vec<u32>> {
        let found = Bits::new(self.node_count() as usize, false);
        self.for_owners(
            |_| true,
            |_, part, targets| {
                if part != self.index {
                    targets.iter().for_each(|&target| _ = found.set(target as usize));
                }
            },
        )?;
        let mut outside = Vec::new();
        found.for_each(0..self.node_count() as usize, |node| outside.push(node as u32));
        Ok(outside)
    }
}

/// Places of nodes in a sorted list.
struct Places(Ranked);

impl Places {
    fn new(nodes: &[u32], node_count: u32) -> Result<Self> {
        let mut ranked = Ranked::new(node_count as usize);
        ranked.refill(|members| {
            nodes.iter().for_each(|&node| members.insert(node));
            Ok(())
        })?;
        Ok(Self(ranked))
    }

    #[inline]
    fn of(&self, node: u32) -> usize {
        self.0.rank(node)
    }

    fn contains(&self, node: u32) -> bool {
        self.0.contains(node)
    }
}

/// Runs the work of one part on a single thread: the other threads of the machine work on other parts.
///
/// # Errors
/// Those of `work`.
pub fn on_one_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    static POOL: LazyLock<Option<rayon::ThreadPool>> =
        LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(1).build().ok());
    match &*POOL {
        // Work that is already on this thread must not wait for it.
        Some(pool) if pool.current_thread_index().is_none() => pool.install(work),
        _ => work(),
    }
}

fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::CorruptFile,
        format!("the input of a part of the graph is damaged: {what}"),
    )
}
