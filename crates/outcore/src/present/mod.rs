//! Presentation of communities: minimum size, numbers kept from an earlier result, representatives, levels.
//!
//! ```text
//!  earlier result --membership--> numbers of the nodes --.
//!                                                        v
//!  communities --min size--> large ones -------------> matched --> numbers by label
//!                                |
//!                                |--one scan--> the node with the most weight inside --> representatives
//!                                |--or a file of priorities--> the preferred node -----> representatives, nodes to keep
//!                                `--groups of each level--> groups inside communities --> levels
//! ```
//!
//! Nothing here changes which nodes are in a community of at least the minimum size. Memory is given by
//! [`PresentMemory`]; data per node or per pair of communities is sorted on disk.

mod earlier;
mod flow;
mod levels;
mod links;
mod matching;
mod memory;
mod nodes;
mod outline;
mod preferred;
pub(crate) mod presentation_rows;
mod representatives;
mod summary;
#[cfg(test)]
mod tests;
mod tree;

pub use earlier::Earlier;
pub(crate) use flow::{Flow, FlowPurpose};
pub(crate) use levels::{Levels, divide};
pub(crate) use matching::{Rows, Workbench, match_numbers};
pub(crate) use memory::{PresentMemory, reading_bytes};
pub(crate) use nodes::{NodeColumn, NodeValues, for_each_node, write_nodes};
pub use outline::{CommunityLink, CommunityReport, GroupsReport, LargestReport};
pub(crate) use outline::{GROUP_BYTES, Outline, describe_groups};
pub use preferred::Preference;
pub(crate) use preferred::Priorities;
pub(crate) use representatives::{
    Inside, write_chosen, write_heights, write_members, write_representatives,
};
pub(crate) use summary::Sums;
pub(crate) use tree::{
    ModuleRows, check_module_names, is_module_number, module_bytes, not_a_number, write_modules,
};

use crate::cluster::SizeCount;
use crate::error::opt::{DROP, HEIGHTS, KEEP, REPRESENTATIVES, SUMMARY};
use crate::error::{Opt, Result};
use crate::input::CommunityInput;
use crate::io::{Column, ColumnScan, Files};
use crate::membership::Membership;
use std::path::PathBuf;

/// Treatment of nodes in communities that are too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Small {
    /// Leave them out.
    #[default]
    Drop,
    /// Make each a community of its own.
    Singletons,
}

/// Output form of the levels below communities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LevelForm {
    /// One column per level after the community, coarsest first; groups are numbered over all nodes.
    #[default]
    Columns,
    /// A path such as `3:0:5` in place of the community; groups are numbered within their parent.
    Tree,
}

/// Content of a row of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RowForm {
    /// A node and its community.
    #[default]
    #[cfg_attr(feature = "clap", value(name = "node"))]
    Nodes,
    /// All nodes of a community, separated by tabs, as mcl writes; rows are in order of community numbers.
    #[cfg_attr(feature = "clap", value(name = "community"))]
    Communities,
    /// The representative of a community and one of its nodes, the representative itself first, as MMseqs2 writes.
    #[cfg_attr(feature = "clap", value(name = "pair"))]
    Pairs,
}

/// What is written beside a result: for each kind, its file, or the files of all results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SideFiles<T = Option<PathBuf>> {
    /// One representative per community.
    pub representatives: T,
    /// The nodes that represent their communities, or have none.
    pub keep: T,
    /// All other nodes.
    pub drop: T,
    /// A table of the communities.
    pub summary: T,
    /// The weights at which nodes join, for components.
    pub heights: T,
}

impl<T> SideFiles<T> {
    /// Returns all of them, with their options.
    pub(crate) fn each(&self) -> [(Opt, &T); 5] {
        let Self { representatives, keep, drop, summary, heights } = self;
        [
            (REPRESENTATIVES, representatives),
            (KEEP, keep),
            (DROP, drop),
            (SUMMARY, summary),
            (HEIGHTS, heights),
        ]
    }
}

/// Presentation options of communities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentOptions {
    /// Minimum size of a community that is not small.
    pub min_size: u32,
    /// Treatment of the nodes of small communities.
    pub small: Small,
    /// Earlier result whose numbers are kept: lines `node<TAB>number`.
    pub earlier: Option<PathBuf>,
    /// How the earlier result is read.
    pub communities: CommunityInput,
    /// Which node represents a community: by default, the one with the most weight to others in it.
    pub prefer: Option<Preference>,
    /// Files to write beside the result.
    pub sides: SideFiles,
    /// Whether the report describes the largest communities, if the memory suffices for it.
    pub outline: bool,
    /// Output form of levels, if they are written.
    pub levels: LevelForm,
    /// Content of a row.
    pub rows: RowForm,
    /// Whether to write the weight of each node's edges inside its community.
    pub member_weights: bool,
    /// Whether to write the flow of each node: the share of the steps of a random walk that end there.
    pub flow: bool,
    /// Whether text begins with a line of the names of its columns.
    pub output_header: bool,
}

impl PresentOptions {
    /// Returns what the outputs need.
    pub(crate) fn look(&self) -> Look {
        match self.shows_representatives() {
            _ if self.sides.summary.is_some() => Look::Communities,
            _ if self.member_weights => Look::Weights,
            true if self.prefer.is_some() => Look::Preferred,
            true => Look::Weights,
            false => Look::None,
        }
    }

    /// Returns whether an output names what represents a community.
    pub(crate) fn shows_representatives(&self) -> bool {
        let SideFiles { representatives, keep, drop, summary, .. } = &self.sides;
        let files = [representatives, keep, drop, summary];
        files.iter().any(|file| file.is_some()) || self.rows == RowForm::Pairs
    }

    /// Returns the file of priorities, if there is one.
    pub fn priorities(&self) -> Option<&PathBuf> {
        match &self.prefer {
            Some(Preference::File(path)) => Some(path),
            Some(Preference::First) | None => None,
        }
    }

    /// Returns the files to read after the edges.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.earlier.iter().chain(self.priorities())
    }
}

/// What a scan of the graph finds, with the labels in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// Nothing: there is no scan.
    None,
    /// Preferred nodes, which need no scan of the graph, but labels in memory.
    Preferred,
    /// Weights inside communities.
    Weights,
    /// Weights inside and between communities.
    Communities,
}

impl Default for PresentOptions {
    fn default() -> Self {
        Self {
            min_size: 1,
            small: Small::default(),
            earlier: None,
            communities: CommunityInput::default(),
            prefer: None,
            sides: SideFiles::default(),
            outline: false,
            levels: LevelForm::default(),
            rows: RowForm::default(),
            member_weights: false,
            flow: false,
            output_header: false,
        }
    }
}

/// Communities after presentation options are applied. Labels are dense, and the largest community is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Label of each node; in memory, [`Presented::NONE`] if the node is left out.
    labels: Column<u32>,
    /// Number of communities of each size, largest first.
    pub sizes: Vec<SizeCount>,
    /// Number of each label; empty if labels are the numbers.
    pub numbers: Vec<u64>,
    /// Number of communities that were too small.
    pub small_communities: u64,
    /// Number of nodes in small communities.
    pub small_nodes: u64,
    /// Treatment of the nodes of small communities.
    small: Small,
    /// First label of a small community, if labels are on disk.
    first_small: u64,
}

impl Presented {
    /// Label of a node that is left out.
    pub const NONE: u32 = Membership::NONE;

    /// Returns whether the labels are on disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        matches!(self.labels, Column::Disk(_))
    }

    /// Drops communities of fewer than `min_size` nodes, or turns them into singletons. `labels` are those of
    /// [`cluster`](crate::cluster::cluster): the largest community is 0.
    pub fn new(
        mut labels: Column<u32>,
        mut sizes: Vec<SizeCount>,
        min_size: u32,
        small: Small,
    ) -> Self {
        let large = sizes.iter().take_while(|size| size.size >= min_size).count();
        let (mut small_communities, mut small_nodes) = (0, 0);
        for SizeCount { size, count } in sizes.drain(large..) {
            small_communities += count;
            small_nodes += count * u64::from(size);
        }
        let first_small = sizes.iter().map(|size| size.count).sum();
        if small_nodes > 0 {
            if let Column::Memory(labels) = &mut labels {
                let mut relabel = Relabel::new(small, first_small);
                labels.iter_mut().for_each(|label| *label = relabel.label(*label));
            }
            if small == Small::Singletons {
                sizes.push(SizeCount { size: 1, count: small_nodes });
            }
        }
        let numbers = Vec::new();
        Self { labels, sizes, numbers, small_communities, small_nodes, small, first_small }
    }

    /// Returns communities whose labels have these numbers.
    pub(crate) fn numbered(labels: Vec<u32>, numbers: Vec<u64>) -> Self {
        Self { numbers, ..Self::new(Column::Memory(labels), Vec::new(), 1, Small::Drop) }
    }

    /// Returns the label of each node, [`Presented::NONE`] for nodes that are left out.
    ///
    /// # Panics
    /// Panics if labels are on disk. Options that look labels up require labels in memory.
    pub fn labels(&self) -> &[u32] {
        self.labels.in_memory().expect("labels that are looked up are in memory")
    }

    /// Starts a scan of the number of each node's community, in node order.
    ///
    /// # Errors
    /// `Io` with the path of the labels.
    pub fn scan(&self, files: &Files) -> Result<PresentedScan<'_>> {
        let is_relabeled = self.small_nodes > 0 && self.labels.in_memory().is_none();
        let relabel = is_relabeled.then(|| Relabel::new(self.small, self.first_small));
        Ok(PresentedScan { presented: self, labels: self.labels.scan(files)?, relabel })
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        self.labels.count()
    }

    /// Returns whether any nodes are left out.
    pub fn leaves_out(&self) -> bool {
        self.small_nodes > 0 && self.small == Small::Drop
    }

    /// Returns the number of communities after presentation.
    pub fn community_count(&self) -> u64 {
        self.sizes.iter().map(|size| size.count).sum()
    }

    /// Returns the number of a node's community, if it has one.
    #[inline]
    pub fn number(&self, node: usize) -> Option<u64> {
        let label = self.labels()[node];
        (label != Self::NONE).then(|| self.number_of(label))
    }

    #[inline]
    fn number_of(&self, label: u32) -> u64 {
        self.numbers.get(label as usize).copied().unwrap_or(u64::from(label))
    }

    /// Returns whether a file with a line per community could be mistaken for one with a row per node: most communities
    /// have as many nodes as the first, or the first has at most two, as a row has a node and its community.
    fn are_lines_doubtful(&self) -> bool {
        let numbers = self.numbers.iter().zip(0..);
        let first = numbers.min().map_or(0, |(_, label)| label);
        let size = representatives::BySize::new(self).of(first);
        let same = self.sizes.iter().filter(|found| found.size == size);
        let same: u64 = same.map(|found| found.count).sum();
        size <= 2 || 2 * same > self.community_count()
    }

    /// Returns the number of communities of more than one node, which have the smallest labels.
    fn shared_count(&self) -> usize {
        let shared = self.sizes.iter().filter(|size| size.size > 1);
        shared.map(|size| size.count as usize).sum()
    }
}

/// Relabeling of nodes, in node order, that removes small communities.
struct Relabel {
    small: Small,
    /// First label of a small community.
    first: u64,
    /// Label of the next node that becomes a community of its own.
    next: u32,
}

impl Relabel {
    fn new(small: Small, first: u64) -> Self {
        Self { small, first, next: first as u32 }
    }

    #[inline]
    fn label(&mut self, label: u32) -> u32 {
        if u64::from(label) < self.first {
            return label;
        }
        match self.small {
            Small::Drop => Presented::NONE,
            Small::Singletons => {
                self.next += 1;
                self.next - 1
            }
        }
    }
}

/// Scan of the number of each node's community, in node order.
pub struct PresentedScan<'a> {
    presented: &'a Presented,
    labels: ColumnScan<'a, u32>,
    relabel: Option<Relabel>,
}

impl PresentedScan<'_> {
    /// Returns the number of the next node's community, if it has one.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the labels.
    ///
    /// # Panics
    /// Panics after the last node.
    #[inline]
    pub fn next_number(&mut self) -> Result<Option<u64>> {
        Ok(self.next_label()?.map(|label| self.presented.number_of(label)))
    }

    /// Like [`PresentedScan::next_number`], for the label of the node.
    #[inline]
    pub(crate) fn next_label(&mut self) -> Result<Option<u32>> {
        let label = self.labels.next()?.expect("called at most once per node");
        let label = self.relabel.as_mut().map_or(label, |relabel| relabel.label(label));
        Ok((label != Presented::NONE).then_some(label))
    }
}
