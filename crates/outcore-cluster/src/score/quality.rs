//! Quality of communities by their graph, from one scan.
//!
//! The scan yields each node's strength and the part of it that is inside its community; all measures follow from sums
//! by community. Memory in addition to the labels: 4 bytes per node, to find communities that are not connected, and 20
//! per community (directed, or with loops: 28); for nodes of two kinds also a bit per node, and 8 bytes per community. A
//! loop of weight w adds 2w to the strength of its node and to the part inside (directed: w). A random walk that is at
//! the node takes it with probability w / strength, as in Infomap: for the code length, it adds w. The code length of a
//! directed graph follows from its visit rates (`flow`): 24 bytes per node, 40 per community, and the scans that they
//! take.
//!
//! The constant Potts model is sum in_c / 2 - r m n_c (n_c - 1) / 2 (directed: twice), with m the mean arc weight and n_c
//! the number of nodes; the other measures are defined in `finish::measures`.

use crate::base::logarithm::plogp;
use crate::finish::connect::NodeSums;
use crate::finish::measures::{self, CommunityFlow, conductance};
use crate::finish::tree::{Links, MODULE_BYTES, TreeLength, codebooks_of};
use crate::flow::length::{self, code_lengths};
use crate::flow::rates::{Teleportation, VisitRates};
use crate::kernel::holdings::NO_HOLDINGS;
use crate::tree::ModuleTree;
use crate::{BlockSource, ClusterMemory, Pieces, Tally, split_count};
use outcore_graph::{Block, Graph, KindBits, LoopWeight, View};
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};

/// Quality of communities by their graph.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Quality {
    /// Resolution of `modularity` and `cpm`.
    pub resolution: f64,
    /// Modularity (Newman and Girvan, "Finding and evaluating community structure in networks", 2004;
    /// with a resolution: Reichardt and Bornholdt, "Statistical mechanics of community detection",
    /// 2006; directed: Leicht and Newman, "Community structure in directed networks", 2008).
    pub modularity: f64,
    /// Modularity of a graph of two kinds of nodes, whose null model has edges between kinds only (Barber, "Modularity
    /// and community detection in bipartite networks", 2007). Absent if nodes are of one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_mode_modularity: Option<f64>,
    /// Code length of the two-level map equation in bits per step of a random walk (Rosvall, Axelsson and Bergstrom,
    /// "The map equation", 2009). Smaller is better. On a directed graph, the walk teleports once in about seven steps and
    /// at dead ends.
    pub code_length: Option<f64>,
    /// Code length with all nodes in one community.
    pub code_length_undivided: Option<f64>,
    /// Value of the constant Potts model (Traag, Van Dooren and Nesterov, "Narrow scope for resolution-limit-free
    /// community detection", 2011): weight inside communities, minus the weight if every pair of nodes in them had
    /// `resolution` times the mean weight of the graph's arcs. In units of weight; a loop counts as weight, but not as
    /// a pair.
    pub cpm: f64,
    /// Fraction of the total weight that is inside communities.
    pub coverage: f64,
    /// Mean conductance of the communities: the fraction of the arc weight at a community, or at the rest of the graph
    /// if that is smaller, that crosses the boundary. It is undefined for communities with no weight on one of the two
    /// sides. `None` if it is undefined for all communities, and for directed graphs.
    pub conductance_mean: Option<f64>,
    /// Maximum conductance of a community.
    pub conductance_max: Option<f64>,
    /// Number and sizes of the communities.
    #[serde(flatten)]
    pub sizes: CommunitySizes,
    /// Number of communities that are not connected.
    pub disconnected_count: u64,
}

/// Number and sizes of communities.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct CommunitySizes {
    /// Number of communities.
    pub community_count: u64,
    /// Number of nodes in the largest community.
    pub largest: u64,
    /// Fraction of all nodes in the largest community.
    pub largest_share: f64,
    /// Median community size.
    pub median: f64,
    /// Number of communities of one node.
    pub singleton_count: u64,
}

impl CommunitySizes {
    /// Returns the sizes of communities with these numbers of nodes; those without nodes do not count.
    fn of(mut sizes: Vec<u32>) -> Self {
        sizes.retain(|&size| size > 0);
        let nodes: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let largest = sizes.iter().copied().max().map_or(0, u64::from);
        Self {
            community_count: sizes.len() as u64,
            largest,
            largest_share: largest as f64 / nodes.max(1) as f64,
            singleton_count: sizes.iter().filter(|&&size| size == 1).count() as u64,
            median: median(&mut sizes),
        }
    }
}

/// Rules of measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QualityRules {
    /// Resolution of modularity and CPM.
    pub resolution: f64,
    /// Whether teleportation counts as flow in the code length of a directed graph.
    pub recorded_teleportation: bool,
}

impl Default for QualityRules {
    fn default() -> Self {
        Self { resolution: 1.0, recorded_teleportation: false }
    }
}

/// Like [`quality_at`], with resolution 1.
///
/// # Errors
/// Those of reading; `Interrupted`.
///
/// # Panics
/// Panics unless there is exactly one label per node.
pub fn quality(graph: &Graph, labels: &[u32], observer: &dyn Observer) -> Result<Quality> {
    quality_at(graph, labels, 1.0, observer)
}

/// Rates communities by one scan; `labels` has the community of each node. Labels should be dense, as memory grows with
/// the largest label.
///
/// # Errors
/// Those of reading; `BadInput` if the sum of all weights is too large for `f64`; `Interrupted`.
///
/// # Panics
/// Panics unless there is exactly one label per node.
pub fn quality_at(
    graph: &Graph,
    labels: &[u32],
    resolution: f64,
    observer: &dyn Observer,
) -> Result<Quality> {
    let rules = QualityRules { resolution, ..QualityRules::default() };
    quality_by(graph, labels, rules, observer)
}

/// Like [`quality_at`], by all rules. The code length of a directed graph takes further scans, for visit rates.
///
/// # Errors
/// Those of [`quality_at`].
///
/// # Panics
/// Panics unless there is exactly one label per node.
pub fn quality_by(
    graph: &Graph,
    labels: &[u32],
    rules: QualityRules,
    observer: &dyn Observer,
) -> Result<Quality> {
    quality_of_levels(graph, labels, &[], rules, observer).map(|(quality, _)| quality)
}

/// Like [`quality_by`]; also returns the code length of the tree of modules, if there are several `levels`: the labels
/// of all nodes on each level, coarsest first. That takes another scan.
///
/// # Errors
/// Those of [`quality_at`].
///
/// # Panics
/// Panics unless there is exactly one label per node.
pub fn quality_of_levels(
    graph: &Graph,
    labels: &[u32],
    levels: &[Vec<u32>],
    rules: QualityRules,
    observer: &dyn Observer,
) -> Result<(Quality, Option<TreeLength>)> {
    let QualityRules { resolution, recorded_teleportation } = rules;
    assert_eq!(labels.len() as u64, graph.node_count(), "a label for each node");
    let label_count = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let pieces = Pieces::new(labels.len(), graph.is_directed());
    let shift = graph.shift_within(View::PRODUCT_EXPONENT_MAX)?;
    let has_loops = graph.loop_count() > 0 && !graph.is_directed();
    let loops = if has_loops { LoopWeight::Once } else { LoopWeight::Twice };
    let graph = &graph.seen_as(&View::default().shifted(shift).with_loops(loops));
    let mut arcs = 0;
    let tick = |block: &Block| {
        arcs += block.arc_count();
        notify(observer, Event::Advance { done: arcs })
    };
    let kinds = graph.open_kinds()?.map(|kinds| kinds.read()).transpose()?;
    let tally = Tally::new(label_count, graph.is_directed()).of_kinds(kinds);
    let mut sums = QualitySums::new(graph, label_count);
    let source = &mut BlockSource::new(graph, 0);
    let tally = tally.scan(source, labels, Some(&pieces), tick, |node, of_node| {
        sums.add(labels[node as usize] as usize, of_node);
    })?;
    let disconnected_count = split_count(labels, &pieces.into_roots(), label_count);
    let quality = sums.quality(&tally, resolution, disconnected_count);
    let mut lengths = quality.code_length.zip(quality.code_length_undivided);
    drop(tally);
    let tick = || notify(observer, Event::Advance { done: graph.arc_count() });
    let tree = (levels.len() > 1).then(|| ModuleTree::of_levels(levels));
    let books = match tree {
        tree if graph.is_directed() => {
            let teleportation = Teleportation::of(recorded_teleportation);
            let rates = VisitRates::find(source, teleportation, tick)?;
            lengths = Some(code_lengths(source, labels, &rates, |_| tick())?);
            tree.map(|tree| codebooks_of(source, &tree, &rates, tick))
        }
        Some(tree) => Some(codebooks_of(source, &tree, &Links::new(&NO_HOLDINGS), tick)),
        None => None,
    };
    let tree = books.transpose()?.map(|books| TreeLength::new(&books));
    let (code_length, code_length_undivided) = lengths.unzip();
    // The only measure in units of weight.
    let cpm = libm::scalbn(quality.cpm, -shift).clamp(f64::MIN, f64::MAX);
    Ok((Quality { cpm, code_length, code_length_undivided, ..quality }, tree))
}

/// Returns the memory of [`quality_of_levels`] for a tree of at most `module_count` modules, in addition to the labels.
pub fn tree_bytes(graph: &Graph, module_count: u64, threads: usize) -> u64 {
    let cluster = ClusterMemory::of_scans(graph, threads);
    let rates = if graph.is_directed() { VisitRates::NODE_BYTES } else { 0 };
    let of_nodes = (4 + rates) * graph.node_count();
    of_nodes + MODULE_BYTES * module_count + cluster.scratch_bytes + cluster.block_bytes
}

/// Returns the memory of [`quality`] in addition to the labels.
pub fn quality_bytes(graph: &Graph, label_count: u64, threads: usize) -> u64 {
    let cluster = ClusterMemory::of_scans(graph, threads);
    let label = if graph.is_directed() || graph.loop_count() > 0 { 28 } else { 20 };
    let kinds = match graph.has_kinds() {
        true => KindBits::bytes_of(graph.node_count()) + 8 * label_count,
        false => 0,
    };
    let rated = 4 * graph.node_count() + (label + 1) * label_count + kinds;
    let flow = match graph.is_directed() {
        true => VisitRates::NODE_BYTES * graph.node_count() + length::COMMUNITY_BYTES * label_count,
        false => 0,
    };
    rated.max(flow) + cluster.scratch_bytes + cluster.block_bytes
}

/// Sums over a scan, besides those of [`Tally`].
struct QualitySums {
    /// Arc weight inside each community.
    inside: Vec<f64>,
    sizes: Vec<u32>,
    /// Like the arc weight, with loops counted once; empty if there are none, or if directed.
    visits: Vec<f64>,
    /// Sum of `visits`, or of the arc weight.
    visit_total: f64,
    /// Unit of weight that keeps `node_information` in range.
    unit: f64,
    /// Sum of x log2 x over the strengths x of all nodes, loops counted once, in units.
    node_information: f64,
    mean_arc: f64,
    is_directed: bool,
}

impl QualitySums {
    fn new(graph: &Graph, label_count: usize) -> Self {
        let arcs_total = graph.weight_total();
        let has_loops = graph.loop_count() > 0 && !graph.is_directed();
        Self {
            is_directed: graph.is_directed(),
            inside: vec![0.0; label_count],
            sizes: vec![0; label_count],
            visits: vec![0.0; if has_loops { label_count } else { 0 }],
            visit_total: 0.0,
            unit: arcs_total,
            node_information: 0.0,
            mean_arc: arcs_total / graph.arc_count().max(1) as f64,
        }
    }

    fn add(&mut self, label: usize, &NodeSums { inside, visits, .. }: &NodeSums) {
        self.sizes[label] += 1;
        self.inside[label] += inside;
        if let Some(sum) = self.visits.get_mut(label) {
            *sum += visits;
        }
        self.visit_total += visits;
        if self.unit == 0.0 {
            // The graph has only loops.
            self.unit = visits;
        }
        if visits > 0.0 {
            self.node_information += plogp(visits / self.unit);
        }
    }

    fn quality(self, tally: &Tally, resolution: f64, disconnected_count: u64) -> Quality {
        let undirected = !self.is_directed;
        let code_lengths = undirected.then(|| self.code_lengths(tally));
        let conductances = if undirected { self.conductances(tally) } else { None };
        Quality {
            resolution,
            modularity: tally.modularity(resolution),
            two_mode_modularity: tally.two_mode_modularity(resolution),
            code_length: code_lengths.map(|(length, _)| length),
            code_length_undivided: code_lengths.map(|(_, undivided)| undivided),
            cpm: self.cpm(resolution),
            coverage: tally.coverage(),
            conductance_mean: conductances.map(|(mean, _)| mean),
            conductance_max: conductances.map(|(_, max)| max),
            sizes: CommunitySizes::of(self.sizes),
            disconnected_count,
        }
    }

    fn cpm(&self, resolution: f64) -> f64 {
        let of_pair = resolution * self.mean_arc;
        let ends = if self.is_directed { 1.0 } else { 2.0 };
        let communities = self.inside.iter().zip(&self.sizes);
        let value = communities.map(|(&inside, &size)| {
            let size = f64::from(size);
            (inside - of_pair * size * (size - 1.0).max(0.0)) / ends
        });
        value.sum()
    }

    /// Returns the code length with these communities, and with one community.
    fn code_lengths(&self, tally: &Tally) -> (f64, f64) {
        if tally.total() <= 0.0 {
            return (0.0, 0.0);
        }
        let (total, strengths) = (self.visit_total, tally.strengths());
        let visits = if self.visits.is_empty() { strengths } else { &self.visits };
        let scale = self.unit / total;
        // Sum of x log x of the visits as shares of the total, converted from `unit`.
        let of_nodes = scale * self.node_information + scale.log2();
        let flows =
            strengths.iter().zip(&self.inside).zip(visits).map(|((&all, &inside), &visits)| {
                let exit = ((all - inside) / total).max(0.0);
                CommunityFlow { enters: exit, leaves: exit, visits: visits / total }
            });
        measures::code_lengths(flows, of_nodes)
    }

    /// Returns the mean and the maximum conductance of the communities that have one.
    fn conductances(&self, tally: &Tally) -> Option<(f64, f64)> {
        let sums = tally.strengths().iter().zip(&self.inside);
        let (mut sum, mut largest, mut count) = (0.0, 0.0f64, 0u64);
        for of_one in sums.filter_map(|(&strength, &inside)| {
            conductance((strength - inside).max(0.0), strength, tally.total())
        }) {
            sum += of_one;
            largest = largest.max(of_one);
            count += 1;
        }
        (count > 0).then(|| (sum / count as f64, largest))
    }
}

/// Returns the median, 0 for an empty slice. Reorders the values.
fn median(sizes: &mut [u32]) -> f64 {
    if sizes.is_empty() {
        return 0.0;
    }
    let middle = sizes.len() / 2;
    let is_odd = sizes.len() % 2 == 1;
    let (below, &mut upper, _) = sizes.select_nth_unstable(middle);
    let lower = if is_odd { upper } else { below.iter().copied().max().unwrap_or(upper) };
    (f64::from(lower) + f64::from(upper)) / 2.0
}
