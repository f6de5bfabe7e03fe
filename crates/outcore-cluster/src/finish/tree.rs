//! Exact code length of a tree of modules on a graph, from one scan.
//!
//! Memory: 4 bytes per node for its leaf module, 60 bytes per module, and 8 per node of a block and level. Time: a step
//! per arc and level that its ends do not share. Sums are added up in node order, so they do not depend on threads.

use crate::base::logarithm::{log2, plogp};
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use crate::tree::{Codebooks, Flow, LOOP_ENDS, ModuleTree, NONE, NodeFlow, TreeSums, Walk};
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use serde::{Deserialize, Serialize};

/// Level of a tree: its modules, and the code length if all that is below them is joined.
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
        let level = |cut: crate::tree::CutLength| LevelLength {
            module_count: cut.count,
            code_length: cut.length.max(0.0),
        };
        Self {
            code_length: books.length().max(0.0),
            depth: books.depth(),
            levels: books.cuts().into_iter().map(level).collect(),
        }
    }
}

/// Links of a node: its strength, and the part of it inside the module at each depth of its branch.
struct BranchSums {
    strength: f64,
    loops: f64,
}

/// Scans a graph; returns the codebooks of a tree over its nodes. `flow` has the direction of the flow of each node.
///
/// # Errors
/// Those of reading and of `tick`.
pub(crate) fn codebooks_of<S: Sum>(
    source: &mut BlockSource<'_>,
    tree: &ModuleTree,
    walk: &Walk,
    flow: impl Fn(u32) -> NodeFlow,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Codebooks> {
    let mut sums = TreeSums::new(&tree.parents);
    let stride = sums.depths().iter().copied().max().unwrap_or(0) as usize;
    let scratch = PerThread::new(ArcScratch::default);
    let (mut nodes, mut inside): (Vec<BranchSums>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut total, mut of_nodes, mut unit) = (0.0, 0.0, 0.0);
    source.for_all(|block| {
        tick()?;
        let count = block.node_count();
        nodes.clear();
        nodes.resize_with(count, || BranchSums { strength: 0.0, loops: 0.0 });
        inside.clear();
        inside.resize(count * stride, 0.0);
        let piece = piece_nodes(count, block.arc_count());
        let mut parts: Vec<(&mut [BranchSums], &mut [f64])> =
            nodes.chunks_mut(piece).zip(inside.chunks_mut((piece * stride).max(1))).collect();
        for_chunks(&mut parts, 1, |at, parts| {
            scratch.with(|scratch| {
                let each = parts.iter_mut().flat_map(|(nodes, inside)| {
                    nodes.iter_mut().zip(inside.chunks_mut(stride.max(1)))
                });
                for (local, (node, inside)) in (at * piece..).zip(each) {
                    add_links::<S>(block, local, tree, &sums, (node, inside), scratch)?;
                }
                Ok(())
            })
        })?;
        drop(parts);
        for (at, node) in nodes.iter().enumerate() {
            let id = block.first_node() + at as u32;
            let NodeFlow { drift, teleport } = flow(id);
            let strength = node.strength + LOOP_ENDS * node.loops;
            let leaf = tree.leaves[id as usize];
            let rate = walk.visits(strength, drift, teleport);
            total += strength;
            if unit == 0.0 {
                unit = rate;
            }
            if unit > 0.0 {
                of_nodes += plogp(rate / unit);
            }
            sums.add(leaf, Flow { rate, cut: node.strength, drift, teleport });
            let mut module = leaf;
            let depth = sums.depths()[leaf as usize] as usize;
            for &weight in inside[at * stride..at * stride + depth].iter().rev() {
                if weight != 0.0 {
                    sums.add_inside(module, weight);
                }
                module = tree.parents[module as usize];
            }
        }
        Ok(())
    })?;
    // Strengths count both ends of a link, in units of weight.
    let scale = if total > 0.0 { 2.0 / total } else { 0.0 };
    let rate = scale * unit;
    let of_rates = |rates: f64| if rate > 0.0 { rate * of_nodes + rates * log2(rate) } else { 0.0 };
    Ok(sums.scaled(scale, of_rates).close(walk, 0.0))
}

/// Adds up the arcs of a node by the depth of the lowest module that holds both ends.
fn add_links<S: Sum>(
    block: &Block,
    local: usize,
    tree: &ModuleTree,
    sums: &TreeSums<'_>,
    (node, inside): (&mut BranchSums, &mut [f64]),
    scratch: &mut ArcScratch,
) -> Result<()> {
    let leaf = tree.leaves[block.first_node() as usize + local];
    node.loops = block.self_loop(local);
    let mut strength = S::default();
    block.for_each_segment(local, scratch, |targets, codes| {
        S::for_each(targets, codes, |target, weight: S| {
            strength += weight;
            let module = sums.lowest_common(leaf, tree.leaves[target as usize]);
            if module != NONE {
                inside[sums.depths()[module as usize] as usize - 1] += weight.value();
            }
        });
    })?;
    node.strength = strength.value();
    Ok(())
}
