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
//! ```text
//!  s  strength of all nodes       s_c  of a community      in_c  the part of it inside      q_c = (s_c - in_c) / s
//!  modularity     sum in_c / s - r sum (s_c / s)^2                               (directed: s_c out times s_c in)
//!  of two kinds   sum in_c / s - r sum 4 a_c b_c / s^2          with a_c, b_c the strength of each kind (Barber 2007)
//!  code length    H(sum q_c) - 2 sum H(q_c) - sum H(p_v) + sum H(q_c + s_c / s)             with H(x) = x log2 x,
//!                                                                                     loops once in s, s_c and p_v
//!  CPM            sum in_c / 2 - r m n_c (n_c - 1) / 2            (directed: twice)  with m the mean arc weight
//!  conductance    (s_c - in_c) / min(s_c, s - s_c)
//! ```

use crate::finish::connect::NodeSums;
use crate::finish::tally::{by_chance, by_chance_of_kinds};
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
    /// Returns those of communities with so many nodes; those without nodes do not count.
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

/// Like [`quality_by`]; also returns the code length of the tree of modules that `levels` are, if there are several: the
/// labels of all nodes on each level, coarsest first. That takes another scan.
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
    let mut sums = QualitySums::new(graph, label_count);
    if let Some(kinds) = graph.open_kinds()? {
        sums.kinds = Some((kinds.read()?, vec![0.0; label_count]));
    }
    sums.scan(graph, labels, &pieces, observer)?;
    let disconnected_count = split_count(labels, &pieces.into_roots(), label_count);
    let quality = sums.quality(resolution, disconnected_count);
    let mut lengths = quality.code_length.zip(quality.code_length_undivided);
    let source = &mut BlockSource::new(graph, 0);
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

/// Sums over a scan.
struct QualitySums {
    /// Arc weight by community.
    strengths: Vec<f64>,
    inside: Vec<f64>,
    sizes: Vec<u32>,
    /// Arc weight by community of the arcs' other ends; empty if undirected.
    opposite: Vec<f64>,
    /// Like `strengths`, with loops counted once; empty if there are none, or if directed.
    visits: Vec<f64>,
    /// Kinds of the nodes, if there are two, and the arc weight of the second by community.
    kinds: Option<(KindBits, Vec<f64>)>,
    total: f64,
    /// Sum of `visits`, or of `strengths`.
    visit_total: f64,
    /// Unit of weight that keeps `node_information` in range.
    unit: f64,
    /// Sum of x log2 x over the strengths x of all nodes, loops counted once, in units.
    node_information: f64,
    mean_arc: f64,
}

impl QualitySums {
    fn new(graph: &Graph, label_count: usize) -> Self {
        let arcs_total = graph.weight_total();
        let has_loops = graph.loop_count() > 0 && !graph.is_directed();
        Self {
            strengths: vec![0.0; label_count],
            inside: vec![0.0; label_count],
            sizes: vec![0; label_count],
            opposite: vec![0.0; if graph.is_directed() { label_count } else { 0 }],
            visits: vec![0.0; if has_loops { label_count } else { 0 }],
            kinds: None,
            total: 0.0,
            visit_total: 0.0,
            unit: arcs_total,
            node_information: 0.0,
            mean_arc: arcs_total / graph.arc_count().max(1) as f64,
        }
    }

    fn scan(
        &mut self,
        graph: &Graph,
        labels: &[u32],
        pieces: &Pieces,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut source = BlockSource::new(graph, 0);
        let mut opposite = std::mem::take(&mut self.opposite);
        let mut arcs = 0;
        let tick = |block: &Block| {
            arcs += block.arc_count();
            notify(observer, Event::Advance { done: arcs })
        };
        let pieces = Some(pieces);
        Tally::for_each_node(&mut source, labels, pieces, &mut opposite, tick, |node, sums| {
            let label = labels[node as usize] as usize;
            self.add(label, &sums);
            if let Some((kinds, second)) = &mut self.kinds
                && kinds.is_second(node)
            {
                second[label] += sums.strength;
            }
        })?;
        self.opposite = opposite;
        Ok(())
    }

    fn add(&mut self, label: usize, of_node: &NodeSums) {
        let &NodeSums { strength, inside, visits, .. } = of_node;
        self.sizes[label] += 1;
        self.strengths[label] += strength;
        self.inside[label] += inside;
        if let Some(sum) = self.visits.get_mut(label) {
            *sum += visits;
        }
        self.total += strength;
        self.visit_total += visits;
        if self.unit == 0.0 {
            // The graph has only loops.
            self.unit = visits;
        }
        if visits > 0.0 {
            self.node_information += x_log_x(visits / self.unit);
        }
    }

    fn is_directed(&self) -> bool {
        !self.opposite.is_empty()
    }

    fn quality(self, resolution: f64, disconnected_count: u64) -> Quality {
        let undirected = !self.is_directed();
        let code_lengths = undirected.then(|| self.code_lengths());
        let conductances = if undirected { self.conductances() } else { None };
        let (modularity, coverage) = (self.modularity(resolution), self.coverage());
        let cpm = self.cpm(resolution);
        let two_mode_modularity = self.two_mode_modularity(resolution);
        Quality {
            resolution,
            modularity,
            two_mode_modularity,
            code_length: code_lengths.map(|(length, _)| length),
            code_length_undivided: code_lengths.map(|(_, undivided)| undivided),
            cpm,
            coverage,
            conductance_mean: conductances.map(|(mean, _)| mean),
            conductance_max: conductances.map(|(_, max)| max),
            sizes: CommunitySizes::of(self.sizes),
            disconnected_count,
        }
    }

    /// Returns the coverage; 1 if there is no weight.
    fn coverage(&self) -> f64 {
        if self.total > 0.0 { self.inside.iter().sum::<f64>() / self.total } else { 1.0 }
    }

    fn modularity(&self, resolution: f64) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let opposite = if self.is_directed() { &self.opposite } else { &self.strengths };
        self.coverage() - resolution * by_chance(&self.strengths, opposite, self.total)
    }

    /// Returns the modularity of two kinds of nodes. Directed edges lead from the first to the second, and then it is the
    /// modularity of directed graphs.
    fn two_mode_modularity(&self, resolution: f64) -> Option<f64> {
        let (_, second) = self.kinds.as_ref()?;
        if self.is_directed() || self.total <= 0.0 {
            return Some(self.modularity(resolution));
        }
        let expected = by_chance_of_kinds(&self.strengths, second, self.total);
        Some(self.coverage() - resolution * expected)
    }

    fn cpm(&self, resolution: f64) -> f64 {
        let of_pair = resolution * self.mean_arc;
        let ends = if self.is_directed() { 1.0 } else { 2.0 };
        let communities = self.inside.iter().zip(&self.sizes);
        let value = communities.map(|(&inside, &size)| {
            let size = f64::from(size);
            (inside - of_pair * size * (size - 1.0).max(0.0)) / ends
        });
        value.sum()
    }

    /// Returns the code length with these communities, and with one community.
    fn code_lengths(&self) -> (f64, f64) {
        if self.total <= 0.0 {
            return (0.0, 0.0);
        }
        let total = self.visit_total;
        let visits = if self.visits.is_empty() { &self.strengths } else { &self.visits };
        let scale = self.unit / total;
        // Sum of x log x of the strengths as fractions of the total, converted from `unit`.
        let nodes = scale * self.node_information + scale.log2();
        let (mut exits, mut exit_information, mut module_information) = (0.0, 0.0, 0.0);
        for ((&strength, &inside), &visits) in self.strengths.iter().zip(&self.inside).zip(visits) {
            let exit = ((strength - inside) / total).max(0.0);
            exits += exit;
            exit_information += x_log_x(exit);
            module_information += x_log_x(exit + visits / total);
        }
        let length = x_log_x(exits) - 2.0 * exit_information + module_information - nodes;
        (length.max(0.0), (0.0 - nodes).max(0.0))
    }

    /// Returns the mean and the maximum conductance.
    fn conductances(&self) -> Option<(f64, f64)> {
        let (mut sum, mut largest, mut count) = (0.0, 0.0f64, 0u64);
        for (&strength, &inside) in self.strengths.iter().zip(&self.inside) {
            let cut = (strength - inside).max(0.0);
            // Treats rounding errors as zero.
            let rest = self.total - strength;
            let smaller =
                if cut == 0.0 && rest <= 1e-12 * self.total { 0.0 } else { strength.min(rest) };
            if smaller > 0.0 {
                let conductance = (cut / smaller).min(1.0);
                sum += conductance;
                largest = largest.max(conductance);
                count += 1;
            }
        }
        (count > 0).then(|| (sum / count as f64, largest))
    }
}

fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
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
