//! Tree of modules by the hierarchical map equation, from communities on one level; see `tree`.
//!
//! ```text
//!  communities --a small graph--> searched in memory as a whole, also from the communities
//!       |--contract--> graph of communities --in memory--> modules of communities
//!       `--links inside each, sorted by community--> each divided in memory, in parallel
//! ```
//!
//! What is divided in memory has a fixed maximum size, so the tree does not depend on the memory limit: a graph, a graph
//! of communities or a community beyond it stays as it is, which is reported. A module is kept only if it shortens the
//! code, and the tree as a whole only if it is not longer than the communities.
//!
//! Cost: three scans, of which one contracts the graph, until that turns out too large, and one sorts the links inside
//! communities (16 bytes each, about 5 on disk). If communities are joined, another one measures the modules above them; what
//! is inside a community is measured where it is found. Memory: [`tree_bytes`] and [`final_bytes`].

mod levels;
mod links;
mod parts;
mod read;

use super::job::ClusterJob;
use crate::finish::closing::SweptLabels;
use crate::finish::communities::Communities;
use crate::finish::tree::{GraphFlow, Links, TreeLength, codebooks_of};
use crate::flow::rates::VisitRates;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::store::hierarchy::Hierarchy;
use crate::tree::{ModuleTree, SUM_BYTES, Search, find};
use levels::{keep_levels, tree_of};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::units::{MIB, format_counted};
use outcore_sort::SORT_BYTES_MIN;
use read::read_network;

/// Maximum number of nodes and arcs of a network in memory.
pub(crate) const TREE_SIZE: u64 = 1 << 20;

/// Bytes of a search, per node and arc.
const NODE_BYTES: u64 = 256;
const ARC_BYTES: u64 = 48;

/// Bytes per node while communities are divided: labels, strengths, loops, members, and the cuts, or the parents and
/// depths, of as many communities as nodes.
const PART_BYTES: u64 = 36;
/// Bytes per node while final communities are measured, beside the sums of modules, of which there are at most as many
/// as nodes.
const FINAL_BYTES: u64 = 24;

/// Returns the memory of a search for the tree of a graph whose nodes hold `held_bytes` each.
pub(crate) fn tree_bytes(nodes: u64, arcs: u64, held_bytes: u64) -> u64 {
    (PART_BYTES + held_bytes) * nodes + search_bytes(nodes, arcs)
}

/// Returns the memory for measuring the tree of final communities; nodes of a directed graph are visited at given rates.
pub(crate) fn final_bytes(nodes: u64, directed: bool) -> u64 {
    let rates = if directed { VisitRates::NODE_BYTES } else { 0 };
    (FINAL_BYTES + SUM_BYTES + rates) * nodes
}

/// Returns the memory of a search in memory, by the number of nodes and arcs of the graph, and of the sort of links.
fn search_bytes(nodes: u64, arcs: u64) -> u64 {
    let small = NODE_BYTES * nodes + ARC_BYTES * arcs + MIB;
    // A connected network has about as many arcs as nodes, or more.
    let most = (NODE_BYTES + ARC_BYTES) * TREE_SIZE / 2;
    small.min(most + SORT_BYTES_MIN)
}

impl ClusterJob<'_> {
    fn detail(&self, text: &str) -> Result<()> {
        notify(self.observer, Event::Detail { text })
    }

    /// Replaces communities by the modules at the top of the best tree that is found, with the levels below as their
    /// groupings. Nodes hold `holdings`.
    pub(crate) fn nest(
        &self,
        source: &mut BlockSource<'_>,
        holdings: &Holdings,
        outcome: &mut SweptLabels,
    ) -> Result<()> {
        let labels = std::mem::take(&mut outcome.labels);
        let (nodes, arcs) = (self.graph.node_count(), self.graph.arc_count());
        let most = self.limits.tree_size.min(self.graph.files().cramped().tree_size);
        let is_small = nodes + arcs <= most && self.most().is_none();
        let (tree, length) = match is_small {
            true => self.nest_whole(source, holdings, labels)?,
            false => self.nest_parts(source, holdings, labels)?,
        };
        let mut kept = Hierarchy::new(self.graph.files(), self.scratch.join("tree"), Vec::new());
        outcome.labels = keep_levels(tree, &mut kept)?;
        outcome.groupings = kept.into_groupings();
        outcome.tree = Some(length);
        Ok(())
    }

    /// Finds the tree of a graph that fits in memory.
    fn nest_whole(
        &self,
        source: &mut BlockSource<'_>,
        holdings: &Holdings,
        mut labels: Vec<u32>,
    ) -> Result<(ModuleTree, TreeLength)> {
        self.detail("searching for modules of modules")?;
        let (net, walk) = read_network(source, holdings, || self.tick())?;
        let (count, seed) = (net.connect(&mut labels), self.options.seed);
        let search = Search { net: &net, walk: &walk, outer: 0.0, seed, is_thorough: true };
        let tree = find(&search, Some(&labels)).unwrap_or_else(|| {
            let mut undivided = vec![0; labels.len()];
            let count = net.connect(&mut undivided);
            ModuleTree::flat(undivided, count)
        });
        drop(net);
        let flat = ModuleTree::flat(labels, count);
        let flow = &Links::new(holdings);
        let [of_tree, of_flat] = [&tree, &flat].map(|tree| self.measure(source, tree, flow));
        let (of_tree, of_flat) = (of_tree?, of_flat?);
        Ok(if of_tree.code_length <= of_flat.code_length {
            (tree, of_tree)
        } else {
            (flat, of_flat)
        })
    }

    /// Returns the exact code length of a tree.
    fn measure(
        &self,
        source: &mut BlockSource<'_>,
        tree: &ModuleTree,
        flow: &impl GraphFlow,
    ) -> Result<TreeLength> {
        Ok(TreeLength::new(&codebooks_of(source, tree, flow, || self.tick())?))
    }

    /// Measures the tree of final communities again: their modules may have been split, or the flow been rounded.
    pub(crate) fn measure_final(
        &self,
        source: &mut BlockSource<'_>,
        found: &Communities,
        flow: &impl GraphFlow,
    ) -> Result<TreeLength> {
        let tree = tree_of(self.graph.files(), found)?;
        self.measure(source, &tree, flow)
    }

    fn tick(&self) -> Result<()> {
        notify(self.observer, Event::Advance { done: 0 })
    }

    /// Reports what is too large to be divided.
    fn report_undivided(&self, count: u64) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let communities = format_counted(count, "community has", "communities have");
        self.detail(&format!("{communities} too many edges to be divided further"))
    }
}
