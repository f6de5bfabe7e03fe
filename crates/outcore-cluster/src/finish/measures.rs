//! Measures of communities, each written once: pure functions of sums by community.
//!
//! ```text
//!  s  strength of all nodes       s_c  of a community      in  the part of s inside communities
//!  modularity     in / s - r sum (s_c / s)^2                                     (directed: s_c out times s_c in)
//!  of two kinds   in / s - r sum 4 a_c b_c / s^2                with a_c, b_c the strength of each kind (Barber 2007)
//!  code length    H(sum enters) + sum H(leaves + visits) - H(enters) - H(leaves) - sum H(visits of a node)
//!                                                         by the flow of communities, with H(x) = x log2 x
//!  conductance    (s_c - in_c) / min(s_c, s - s_c)
//! ```

use super::connect::{Closing, NodeSums, Pieces, scan_communities};
use crate::base::logarithm::plogp;
use crate::base::parallel::PerThread;
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use outcore_graph::{ArcScratch, Block, KindBits};
use outcore_io::error::Result;

/// Strengths of communities, added up in node order.
pub struct Tally {
    /// Strength of each community. In undirected graphs, communities beyond these have one node and are added to
    /// the totals immediately.
    strengths: Vec<f64>,
    /// Weight of the incoming arcs of each community; only in directed graphs.
    opposite: Vec<f64>,
    /// Kinds of the nodes, if there are two and their modularity is wanted, and the strength of the second kind in each
    /// community of `strengths`.
    kinds: Option<(KindBits, Vec<f64>)>,
    totals: WeightTotals,
}

/// Weight totals of a graph, apart from the sums of its communities.
#[derive(Default)]
pub(crate) struct WeightTotals {
    /// Sum of the squared strengths of single nodes, in units of `unit` squared, which keeps it in range.
    single_squares: f64,
    unit: f64,
    total: f64,
    inside: f64,
}

impl WeightTotals {
    /// Adds the strength of the next node, which may be its whole community.
    #[inline]
    pub(crate) fn add(&mut self, is_single: bool, strength: f64) {
        self.total += strength;
        if is_single && strength > 0.0 {
            if self.unit == 0.0 {
                self.unit = strength;
            }
            self.single_squares += (strength / self.unit).powi(2);
        }
    }

    #[inline]
    pub(crate) fn add_inside(&mut self, weight: f64) {
        self.inside += weight;
    }

    /// Returns the share of the total weight.
    pub(crate) fn share(&self, strength: f64) -> f64 {
        strength / self.total
    }

    /// Returns the coverage; see [`Tally::coverage`].
    pub(crate) fn coverage(&self) -> f64 {
        if self.total > 0.0 { self.inside / self.total } else { 1.0 }
    }

    /// Returns the modularity, where `expected` is the share that chance would put inside communities of several nodes.
    pub(crate) fn modularity(&self, resolution: f64, expected: f64) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let singles = self.single_squares * self.share(self.unit).powi(2);
        self.coverage() - resolution * expected - resolution * singles
    }
}

impl Tally {
    /// Creates sums for communities of which `0..shared` may have more than one node: 8 bytes each. In directed
    /// graphs `shared` must include all of them: 16 bytes each.
    pub(crate) fn new(shared: usize, directed: bool) -> Self {
        Self {
            strengths: vec![0.0; shared],
            opposite: vec![0.0; if directed { shared } else { 0 }],
            kinds: None,
            totals: WeightTotals::default(),
        }
    }

    /// Counts the strength of the second kind of nodes, if there are two: a bit per node, and 8 bytes per community of
    /// several.
    pub(crate) fn of_kinds(mut self, kinds: Option<KindBits>) -> Self {
        let count = self.strengths.len();
        self.kinds = kinds.map(|kinds| (kinds, vec![0.0; count]));
        self
    }

    /// Adds a whole graph in a scan, like [`for_each_node`](Self::for_each_node).
    ///
    /// # Errors
    /// Those of reading and of `tick`, which is called for each block.
    pub(crate) fn scan(
        mut self,
        source: &mut BlockSource<'_>,
        labels: &[u32],
        pieces: Option<&Pieces>,
        tick: impl FnMut(&Block) -> Result<()>,
        mut visit: impl FnMut(u32, &NodeSums),
    ) -> Result<Self> {
        let mut opposite = std::mem::take(&mut self.opposite);
        Self::for_each_node(source, labels, pieces, &mut opposite, tick, |node, sums| {
            self.add(node, labels[node as usize], sums.strength);
            self.add_inside(sums.inside_at_later);
            visit(node, &sums);
        })?;
        Ok(Self { opposite, ..self })
    }

    /// Passes the contribution of each node to its community to `visit`, in node order. Connects neighbors with the
    /// same label in `pieces`, and adds the weight of incoming arcs to `opposite`, by label, if that is not empty.
    ///
    /// # Errors
    /// Those of reading and of `tick`, which is called for each block.
    pub fn for_each_node(
        source: &mut BlockSource<'_>,
        labels: &[u32],
        pieces: Option<&Pieces>,
        opposite: &mut [f64],
        mut tick: impl FnMut(&Block) -> Result<()>,
        visit: impl FnMut(u32, NodeSums),
    ) -> Result<()> {
        let scratch = PerThread::new(Closing::default);
        let count_opposite = |block: &Block| {
            tick(block)?;
            if opposite.is_empty() {
                return Ok(());
            }
            scratch.with(|closing| add_opposite(block, labels, opposite, &mut closing.rows.arcs))
        };
        scan_communities(source, labels, pieces, &scratch, count_opposite, visit)
    }

    /// Adds the strength of the next node.
    #[inline]
    pub(crate) fn add(&mut self, node: u32, community: u32, strength: f64) {
        let sum = self.strengths.get_mut(community as usize);
        self.totals.add(sum.is_none(), strength);
        if let Some(sum) = sum {
            *sum += strength;
        }
        if let Some((kinds, second)) = &mut self.kinds
            && let Some(sum) = second.get_mut(community as usize)
            && kinds.is_second(node)
        {
            *sum += strength;
        }
    }

    #[inline]
    pub(crate) fn add_inside(&mut self, weight: f64) {
        self.totals.add_inside(weight);
    }

    /// Returns the share of the weight inside communities; 1 without any weight.
    pub(crate) fn coverage(&self) -> f64 {
        self.totals.coverage()
    }

    /// Returns the modularity (Newman and Girvan, "Finding and evaluating community structure in networks",
    /// 2004; with a resolution: Reichardt and Bornholdt, "Statistical mechanics of community detection", 2006; directed:
    /// Leicht and Newman, "Community structure in directed networks", 2008): the share of the weight inside communities,
    /// minus `resolution` times the share that chance would put there.
    pub(crate) fn modularity(&self, resolution: f64) -> f64 {
        let opposite = if self.opposite.is_empty() { &self.strengths } else { &self.opposite };
        let ends = self.strengths.iter().zip(opposite);
        let expected: f64 = ends.map(|(&a, &b)| self.totals.share(a) * self.totals.share(b)).sum();
        self.totals.modularity(resolution, expected)
    }

    /// Returns the modularity of two kinds of nodes, if these were counted: edges by chance join nodes of different kinds
    /// only (Barber, "Modularity and community detection in bipartite networks", 2007).
    pub(crate) fn two_mode_modularity(&self, resolution: f64) -> Option<f64> {
        let (_, second) = self.kinds.as_ref()?;
        if !self.opposite.is_empty() {
            // All edges lead from one kind to the other, so the null model is that of directed edges.
            return Some(self.modularity(resolution));
        }
        let share = |strength| self.totals.share(strength);
        let of_one = |(&all, &second): (&f64, &f64)| 4.0 * share(all - second) * share(second);
        let expected: f64 = self.strengths.iter().zip(second).map(of_one).sum();
        // A single node has no edge by chance.
        let known = self.totals.total > 0.0;
        Some(if known { self.coverage() - resolution * expected } else { 0.0 })
    }

    /// Returns the strength of each community.
    pub(crate) fn strengths(&self) -> &[f64] {
        &self.strengths
    }

    /// Returns the strength of all nodes.
    pub(crate) fn total(&self) -> f64 {
        self.totals.total
    }
}

/// Flow of a community, as a share of that of all nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommunityFlow {
    pub(crate) enters: f64,
    pub(crate) leaves: f64,
    pub(crate) visits: f64,
}

/// Returns the code length of the two-level map equation with these communities, and with all nodes in one (Rosvall,
/// Axelsson and Bergstrom, "The map equation", 2009); `of_nodes` is the sum of x log2 x of the visits of nodes.
pub(crate) fn code_lengths(
    communities: impl IntoIterator<Item = CommunityFlow>,
    of_nodes: f64,
) -> (f64, f64) {
    let (mut entering, mut books) = (0.0, 0.0);
    for CommunityFlow { enters, leaves, visits } in communities {
        entering += enters;
        books += plogp(leaves + visits) - (plogp(enters) + plogp(leaves));
    }
    ((plogp(entering) + books - of_nodes).max(0.0), (0.0 - of_nodes).max(0.0))
}

/// Returns the conductance of a community: its `cut` as a share of its `strength`, or of that of all other nodes if they
/// have less. `None` if one of the two sides has no weight, up to rounding.
pub fn conductance(cut: f64, strength: f64, total: f64) -> Option<f64> {
    let rest = total - strength;
    let is_whole = cut == 0.0 && rest <= 1e-12 * total;
    let smaller = if is_whole { 0.0 } else { strength.min(rest) };
    (smaller > 0.0).then(|| (cut / smaller).min(1.0))
}

fn add_opposite(
    block: &Block,
    labels: &[u32],
    opposite: &mut [f64],
    scratch: &mut ArcScratch,
) -> Result<()> {
    for local in 0..block.node_count() {
        let node = block.first_node() as usize + local;
        opposite[labels[node] as usize] += block.loop_weight(local);
        block.for_each_segment(local, scratch, |targets, codes| {
            f64::for_each(targets, codes, |target, weight| {
                opposite[labels[target as usize] as usize] += weight;
            });
        })?;
    }
    Ok(())
}
