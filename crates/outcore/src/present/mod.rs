//! How communities are told: small ones left out, numbers that stay, a node that stands for each.
//!
//! ```text
//!  earlier result --membership--> numbers of the nodes --.
//!                                                        v
//!  communities --min size--> kept ones --------------> matched --> numbers by label
//!                                |
//!                                |--one scan--> the node with the most weight inside --> representatives
//!                                `--groups of each level--> groups inside communities --> levels
//! ```
//!
//! Nothing here changes which nodes are together. Memory beside the labels: [`memory_bytes_for`]; what
//! belongs to nodes or pairs of communities is sorted on disk.

mod earlier;
#[cfg(test)]
mod level_tests;
mod levels;
mod matching;
mod record;
mod representatives;
#[cfg(test)]
mod tests;

pub use earlier::Earlier;
pub(crate) use levels::{Levels, divide};
pub(crate) use matching::{Workbench, match_numbers};
pub(crate) use representatives::{Inside, write_members, write_representatives};

use crate::cluster::{ClusterMemory, ClusterOptions, Grouping, LabelScan, Labels, SizeCount};
use crate::error::Result;
use crate::io::Files;
use crate::membership::{self, Membership};
use crate::sort::Sorter;
use record::{NamePiece, Overlap, SharedNode};
use std::path::PathBuf;

/// What becomes of nodes in communities that are too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Small {
    /// They are left out.
    #[default]
    Drop,
    /// Each becomes a community of its own.
    Singletons,
}

/// How the levels below communities are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LevelForm {
    /// A column for each level, after the community, coarsest first; groups are counted over all nodes.
    #[default]
    Columns,
    /// A path such as `3:0:5`, in place of the community; groups are counted inside the one before.
    Tree,
}

/// What a row of the result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RowForm {
    /// A node and its community.
    #[default]
    #[cfg_attr(feature = "clap", value(name = "node"))]
    Nodes,
    /// All nodes of a community, with tabs between them, as mcl writes; in order of the numbers.
    #[cfg_attr(feature = "clap", value(name = "community"))]
    Communities,
    /// The node that stands for a community and a node of it, itself first, as MMseqs2 writes.
    #[cfg_attr(feature = "clap", value(name = "pair"))]
    Pairs,
}

/// How communities are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentOptions {
    /// Communities of fewer nodes are too small.
    pub min_size: u32,
    /// What becomes of their nodes.
    pub small: Small,
    /// An earlier result, whose numbers are kept: lines `node<TAB>number`.
    pub earlier: Option<PathBuf>,
    /// Lines of it that begin with this mean nothing; empty for none.
    pub comment: Vec<u8>,
    /// Where to write one node for each community.
    pub representatives: Option<PathBuf>,
    /// How levels are written, if they are kept.
    pub levels: LevelForm,
    /// What a row is.
    pub rows: RowForm,
    /// Whether the weight of each node's edges inside its community is written.
    pub member_weights: bool,
}

impl PresentOptions {
    /// Whether the graph is scanned for what weighs inside communities; labels are looked up for that.
    pub(crate) fn looks_inside(&self) -> bool {
        self.representatives.is_some() || self.rows == RowForm::Pairs || self.member_weights
    }
}

impl Default for PresentOptions {
    fn default() -> Self {
        Self {
            min_size: 1,
            small: Small::default(),
            earlier: None,
            comment: b"#".to_vec(),
            representatives: None,
            levels: LevelForm::default(),
            rows: RowForm::default(),
            member_weights: false,
        }
    }
}

/// Communities as they are told. Labels are dense, the largest community is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Every node's label; in memory, [`Presented::NONE`] if it is left out.
    labels: Labels,
    /// How many communities there are of each size, largest first.
    pub sizes: Vec<SizeCount>,
    /// The number of each label; empty if labels are numbers.
    pub numbers: Vec<u64>,
    /// Communities that were too small.
    pub small_communities: u64,
    /// Nodes in them.
    pub small_nodes: u64,
    /// What becomes of these.
    small: Small,
    /// Labels from this one on are those of small communities, if labels are on disk.
    first_small: u64,
}

impl Presented {
    /// The label of a node that is left out.
    pub const NONE: u32 = Membership::NONE;

    /// Leaves out communities of fewer than `min_size` nodes, or takes them apart. `labels` are those
    /// of [`cluster`](crate::cluster::cluster): the largest community is 0.
    pub fn new(mut labels: Labels, mut sizes: Vec<SizeCount>, min_size: u32, small: Small) -> Self {
        let large = sizes.iter().take_while(|size| size.size >= min_size).count();
        let (mut small_communities, mut small_nodes) = (0, 0);
        for SizeCount { size, count } in sizes.drain(large..) {
            small_communities += count;
            small_nodes += count * u64::from(size);
        }
        let first_small = sizes.iter().map(|size| size.count).sum();
        if small_nodes > 0 {
            if let Labels::Memory(labels) = &mut labels {
                let mut retold = Retold::new(small, first_small);
                labels.iter_mut().for_each(|label| *label = retold.label(*label));
            }
            if small == Small::Singletons {
                sizes.push(SizeCount { size: 1, count: small_nodes });
            }
        }
        let numbers = Vec::new();
        Self { labels, sizes, numbers, small_communities, small_nodes, small, first_small }
    }

    /// Every node's label, or [`Presented::NONE`] if it is left out.
    ///
    /// # Panics
    /// If labels are on disk: what looks them up is asked for only with labels in memory.
    pub fn labels(&self) -> &[u32] {
        self.labels.in_memory().expect("labels that are looked up are in memory")
    }

    /// The number of each node's community, in the order of the nodes.
    ///
    /// # Errors
    /// `Io` with the path of the labels.
    pub fn scan(&self, files: &Files) -> Result<PresentedScan<'_>> {
        let is_retold = self.small_nodes > 0 && self.labels.in_memory().is_none();
        let retold = is_retold.then(|| Retold::new(self.small, self.first_small));
        Ok(PresentedScan { presented: self, labels: self.labels.scan(files)?, retold })
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> u64 {
        self.labels.node_count()
    }

    /// Whether nodes are left out.
    pub fn leaves_out(&self) -> bool {
        self.small_nodes > 0 && self.small == Small::Drop
    }

    /// Communities that are told.
    pub fn community_count(&self) -> u64 {
        self.sizes.iter().map(|size| size.count).sum()
    }

    /// The number of a node's community, if it has one.
    #[inline]
    pub fn number(&self, node: usize) -> Option<u64> {
        let label = self.labels()[node];
        (label != Self::NONE).then(|| self.number_of(label))
    }

    #[inline]
    fn number_of(&self, label: u32) -> u64 {
        self.numbers.get(label as usize).copied().unwrap_or(u64::from(label))
    }

    /// Communities of more than one node: they have the first labels.
    fn shared_count(&self) -> usize {
        let shared = self.sizes.iter().filter(|size| size.size > 1);
        shared.map(|size| size.count as usize).sum()
    }
}

/// Labels, in the order of the nodes, without small communities.
struct Retold {
    small: Small,
    /// Labels from this one on are those of small communities.
    first: u64,
    /// The label of the next node that becomes a community of its own.
    next: u32,
}

impl Retold {
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

/// The number of each node's community, in the order of the nodes.
pub struct PresentedScan<'a> {
    presented: &'a Presented,
    labels: LabelScan<'a>,
    retold: Option<Retold>,
}

impl PresentedScan<'_> {
    /// The number of the next node's community, if it has one.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the labels.
    ///
    /// # Panics
    /// After the last node.
    #[inline]
    pub fn next_number(&mut self) -> Result<Option<u64>> {
        let label = self.labels.next()?.expect("no more is asked for than there are nodes");
        let label = self.retold.as_mut().map_or(label, |retold| retold.label(label));
        Ok((label != Presented::NONE).then(|| self.presented.number_of(label)))
    }
}

/// Returns the memory that all this takes at most, the labels of all results included, if so many
/// communities of an earlier result have a node in the graph, and with or without levels. `scan` is what
/// a scan of the graph takes.
pub(crate) fn memory_bytes_for(
    nodes: u64,
    scan: &ClusterMemory,
    options: &PresentOptions,
    levels: bool,
    (result_count, earlier_count): (u64, u64),
) -> u64 {
    let matched = u64::from(options.earlier.is_some());
    let labels = result_count * 4 * nodes + matched * 8 * nodes;
    let sorts = Sorter::<SharedNode>::BUDGET_MIN + Sorter::<Overlap>::BUDGET_MIN;
    let matching = matched * (matching::earlier_bytes(earlier_count) + sorts);
    let representatives = match options.looks_inside() {
        false => 0,
        true => {
            let scan = scan.scratch_bytes + scan.block_bytes;
            // At most every second node stands for others.
            let weights = u64::from(options.member_weights) * 8 * nodes;
            let strongest = representatives::LABEL_BYTES * nodes / 2;
            scan.max(Sorter::<NamePiece>::BUDGET_MIN) + strongest + weights
        }
    };
    let levels = u64::from(levels) * (Grouping::BYTES_A_NODE - 4) * nodes;
    labels + matching.max(representatives).max(levels)
}

/// Returns the least limit for reading an earlier result and the labels that nodes are given; 0 without any.
pub(crate) fn reading_bytes(
    nodes: u64,
    options: &ClusterOptions,
    present: &PresentOptions,
    threads: usize,
) -> u64 {
    let given = options.propagation.files().count() as u64;
    if given == 0 && present.earlier.is_none() {
        return 0;
    }
    membership::memory_bytes_for(nodes, given.saturating_sub(1) * 4 * nodes, threads)
}
