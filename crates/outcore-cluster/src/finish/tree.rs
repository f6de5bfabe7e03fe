//! Exact code length of a tree of modules on a graph, from one scan.
//!
//! Memory: 4 bytes per node for its leaf module, [`MODULE_BYTES`], and 8 per node of a block and level. Time: a step per
//! arc and level that its ends do not share. Sums are added up in node order, so they do not depend on threads.

use crate::base::logarithm::{log2, plogp};
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::table::Sum;
use crate::flow::rates::{Arrivals, VisitRates};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::tree::{Codebooks, CutLength, Flow, LOOP_ENDS, ModuleTree, NONE, TreeSums, Walk};
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes per module, including those for creating the tree from labels.
pub(crate) const MODULE_BYTES: u64 = 128;

/// Level of a tree: its modules, and the code length of the tree without the levels below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelLength {
    /// Number of modules at this depth.
    pub module_count: u64,
    /// Bits per step of a random walk.
    pub code_length: f64,
}

/// Code length of a tree by the hierarchical map equation (Rosvall and Bergstrom 2011).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeLength {
    /// Bits per step of a random walk.
    pub code_length: f64,
    /// Number of levels of modules on the longest branch.
    pub depth: u32,
    /// Levels, coarsest first.
    pub levels: Vec<LevelLength>,
}

impl TreeLength {
    /// Returns the length of these codebooks.
    pub(crate) fn new(books: &Codebooks) -> Self {
        Self::of_cuts(&books.cuts())
    }

    /// Returns the length of a tree with these cuts, one per level.
    pub(crate) fn of_cuts(cuts: &[CutLength]) -> Self {
        let level = |cut: &CutLength| LevelLength {
            module_count: cut.count,
            code_length: cut.length.max(0.0),
        };
        let levels: Vec<LevelLength> = cuts.iter().map(level).collect();
        let code_length = levels.last().map_or(0.0, |level| level.code_length);
        Self { code_length, depth: levels.len() as u32, levels }
    }
}

/// Flow of the nodes and arcs of a graph.
pub(crate) trait GraphFlow: Sync {
    /// Returns the flow of a node of a block, and passes the flow of each of its arcs to `each`, with the other end. A
    /// link is passed at both of its ends, or twice at one of them.
    ///
    /// # Errors
    /// Those of decoding.
    fn visit(
        &self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
        each: impl FnMut(u32, f64),
    ) -> Result<Flow>;
}

/// Flow of an undirected graph, in units of weight. Its nodes have drifts if it is the graph of flow of a directed one.
pub(crate) struct Links<'h> {
    holdings: &'h Holdings,
    walk: Walk,
}

impl<'h> Links<'h> {
    pub(crate) fn new(holdings: &'h Holdings) -> Self {
        Self { holdings, walk: Walk::of(holdings) }
    }
}

impl GraphFlow for Links<'_> {
    fn visit(
        &self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
        mut each: impl FnMut(u32, f64),
    ) -> Result<Flow> {
        let mut cut = 0.0;
        block.for_each_segment(local, scratch, |targets, codes| {
            f64::for_each(targets, codes, |target, weight| {
                cut += weight;
                each(target, weight);
            });
        })?;
        let node = block.first_node() as usize + local;
        let loops = LOOP_ENDS * block.self_loop(local);
        Ok(self.walk.flow_of(cut, loops, self.holdings.flow(node)))
    }
}

impl GraphFlow for VisitRates {
    fn visit(
        &self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
        mut each: impl FnMut(u32, f64),
    ) -> Result<Flow> {
        let mut arrivals = Arrivals::default();
        block.for_each_segment(local, scratch, |sources, codes| {
            f64::for_each(sources, codes, |source, weight| {
                arrivals.add_arc(weight, self.relative(source));
                each(source, 2.0 * weight * self.per_weight(source));
            });
        })?;
        let at = self.at(block, local, arrivals);
        let own = block.self_loop(local) * self.per_weight(block.first_node() + local as u32);
        Ok(Flow {
            rate: at.visits,
            cut: (at.enters - own) + (at.leaves - own),
            drift: at.leaves - at.enters,
            teleport: at.teleports,
        })
    }
}

/// Scans a graph; returns the codebooks of a tree over its nodes.
///
/// # Errors
/// Those of reading and of `tick`.
pub(crate) fn codebooks_of(
    source: &mut BlockSource<'_>,
    tree: &ModuleTree,
    flow: &impl GraphFlow,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Codebooks> {
    let mut sums = TreeSums::new(&tree.parents);
    let stride = sums.depths().iter().copied().max().unwrap_or(0) as usize;
    let scratch = PerThread::new(ArcScratch::default);
    let (mut nodes, mut inside): (Vec<Flow>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut of_nodes, mut unit, mut teleport) = (0.0, 0.0, 0.0);
    source.for_all(|block| {
        tick()?;
        let count = block.node_count();
        nodes.clear();
        nodes.resize(count, Flow::default());
        inside.clear();
        inside.resize(count * stride, 0.0);
        let piece = piece_nodes(count, block.arc_count());
        let mut parts: Vec<(&mut [Flow], &mut [f64])> =
            nodes.chunks_mut(piece).zip(inside.chunks_mut((piece * stride).max(1))).collect();
        for_chunks(&mut parts, 1, |at, parts| {
            scratch.with(|scratch| {
                let each = parts.iter_mut().flat_map(|(nodes, inside)| {
                    nodes.iter_mut().zip(inside.chunks_mut(stride.max(1)))
                });
                for (local, (node, inside)) in (at * piece..).zip(each) {
                    let leaf = tree.leaves[block.first_node() as usize + local];
                    *node = flow.visit(block, local, scratch, |target, flow| {
                        let module = sums.lowest_common(leaf, tree.leaves[target as usize]);
                        if module != NONE {
                            inside[sums.depths()[module as usize] as usize - 1] += flow;
                        }
                    })?;
                }
                Ok(())
            })
        })?;
        drop(parts);
        for (at, &node) in nodes.iter().enumerate() {
            let leaf = tree.leaves[block.first_node() as usize + at];
            if unit == 0.0 {
                unit = node.rate;
            }
            if unit > 0.0 {
                of_nodes += plogp(node.rate / unit);
            }
            teleport += node.teleport;
            sums.add(leaf, node);
            let mut module = leaf;
            let depth = sums.depths()[leaf as usize] as usize;
            for &flow in inside[at * stride..at * stride + depth].iter().rev() {
                if flow != 0.0 {
                    sums.add_inside(module, flow);
                }
                module = tree.parents[module as usize];
            }
        }
        Ok(())
    })?;
    let total = sums.rate();
    let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
    let rate = scale * unit;
    let of_rates = |rates: f64| if rate > 0.0 { rate * of_nodes + rates * log2(rate) } else { 0.0 };
    let walk = Walk { teleport: scale * teleport };
    Ok(sums.scaled(scale, of_rates).close(&walk, 0.0))
}
