//! Closing of a clustering: a single scan splits the communities and computes the sums for their modularity. Sums are
//! added in node order, so that their rounding depends neither on threads nor on blocks.

use super::communities::Communities;
use super::connect::{Closing, Pieces, block_sums, split_count};
use super::cuts::separate::Separation;
use super::measures::{CommunityFlow, Tally, code_lengths};
use super::number::number;
use super::stability::stays;
use super::tree::TreeLength;
use crate::base::bits::Bits;
use crate::base::logarithm::plogp;
use crate::base::pace::ClusterProgress;
use crate::base::parallel::PerThread;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::store::hierarchy::Grouping;
use outcore_graph::Graph;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::{Array, Column, Shares};
use std::path::Path;

/// Labels after the last sweep.
pub(crate) struct SweptLabels {
    /// Label of each node; labels are nodes.
    pub(crate) labels: Vec<u32>,
    pub(crate) history: History,
    /// Groups of the levels that led to the labels, if requested.
    pub(crate) groupings: Vec<Grouping>,
    /// Code length of the tree of these groups, if it was sought.
    pub(crate) tree: Option<TreeLength>,
    /// Labels from each start, if requested.
    pub(crate) divisions: Vec<Grouping>,
    /// Separation of communities that are not well-connected.
    pub(crate) separation: Separation,
}

impl SweptLabels {
    /// Creates a result without groups, with communities that have not been separated.
    pub(crate) fn new(labels: Vec<u32>, history: History) -> Self {
        let (groupings, divisions) = (Vec::new(), Vec::new());
        Self {
            labels,
            history,
            groupings,
            tree: None,
            divisions,
            separation: Separation::default(),
        }
    }
}

/// Conversion of labels to communities.
pub(crate) struct Finish<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) observer: &'a ClusterProgress<'a>,
    /// Whether memory suffices for the strengths of all nodes.
    pub(crate) is_remembered: bool,
    /// Directory for temporary files.
    pub(crate) scratch: &'a Path,
    /// Whether to compute the code length of the map equation.
    pub(crate) counts_cuts: bool,
    /// Whether to compute the modularity expected by chance, for which all degrees must be in memory.
    pub(crate) expects_chance: bool,
    /// Whether to compute the modularity of two kinds of nodes, if there are two: takes a bit per node.
    pub(crate) rates_kinds: bool,
}

/// Sums of a scan of the graph.
struct Scanned {
    /// Weight inside the communities.
    inside: f64,
    /// Strength of each node, if it is remembered.
    strengths: Option<Vec<f64>>,
    /// Weight of each node's edges to other communities, if it is counted.
    cuts: Option<Vec<f64>>,
}

impl Finish<'_> {
    /// Scans the graph: joins the nodes of each community by paths inside it, and sums weights.
    fn scan(
        &self,
        source: &mut BlockSource<'_>,
        outcome: &SweptLabels,
    ) -> Result<(Pieces, Scanned)> {
        let (count, directed) = (self.graph.node_count() as usize, self.graph.is_directed());
        let pieces = Pieces::new(count, directed);
        let mut inside = 0.0;
        let mut strengths = self.is_remembered.then(|| Vec::with_capacity(count));
        let mut cuts = self.counts_cuts.then(|| Vec::with_capacity(count));
        let (scratch, mut sums) = (PerThread::new(Closing::default), Vec::new());
        source.for_all(|block| {
            notify(self.observer, Event::Advance { done: outcome.history.arcs })?;
            let (labels, pieces) = (&outcome.labels[..], Some(&pieces));
            block_sums(block, directed, labels, pieces, &scratch, &mut sums)?;
            // One by one, in node order, so that rounding does not depend on blocks.
            sums.iter().for_each(|s| inside += s.inside_at_later);
            if let Some(strengths) = &mut strengths {
                strengths.extend(sums.iter().map(|s| s.visits));
            }
            if let Some(cuts) = &mut cuts {
                cuts.extend(sums.iter().map(|s| s.cut));
            }
            Ok(())
        })?;
        Ok((pieces, Scanned { inside, strengths, cuts }))
    }

    /// Splits, numbers and rates the communities. `held` nodes with the same label stay together even if no
    /// path inside their community joins them.
    pub(crate) fn close(
        &self,
        source: &mut BlockSource<'_>,
        outcome: SweptLabels,
        held: Option<&Bits>,
    ) -> Result<Communities> {
        notify(self.observer, Event::Detail { text: "splitting and counting communities" })?;
        let scans = if self.is_rated() { 1 } else { 2 };
        self.observer.expect(Some((scans * self.graph.arc_count()) as f64), 0.0)?;
        let (pieces, scanned) = self.scan(source, &outcome)?;
        // The communities are numbered before they are rated: freeing the pieces makes room for the sums.
        let mut numbered = Numbered::new(outcome, pieces, held);
        self.rate(source, &mut numbered, scanned)?;
        numbered.found.history.sweeps.scans += source.scans();
        self.with_stability(numbered)
    }

    /// Returns whether the sums of the first scan suffice for the modularity. They do not if loops count once, as for a
    /// random walk: modularity counts them twice, and takes another scan.
    fn is_rated(&self) -> bool {
        self.is_remembered && !(self.counts_cuts && self.graph.loop_count() > 0)
    }

    /// Computes the measures of the communities.
    fn rate(
        &self,
        source: &mut BlockSource<'_>,
        numbered: &mut Numbered,
        scanned: Scanned,
    ) -> Result<()> {
        let Numbered { found, labels, .. } = numbered;
        let directed = self.graph.is_directed();
        let count = if directed { found.community_count() } else { found.shared_count() };
        let kinds = if self.rates_kinds { self.graph.open_kinds()? } else { None };
        let kinds = kinds.map(|kinds| kinds.read()).transpose()?;
        let mut tally = Tally::new(count as usize, directed).of_kinds(kinds);
        let Scanned { inside, strengths, cuts } = scanned;
        if let Some(strengths) = strengths {
            if self.is_rated() {
                tally.add_inside(inside);
                let nodes = (0..).zip(&*labels).zip(&strengths);
                nodes.for_each(|((node, &label), &strength)| tally.add(node, label, strength));
            }
            if let Some(cuts) = cuts {
                let count = found.community_count() as usize;
                let (length, undivided) = lengths_of(count, labels, &strengths, &cuts);
                found.measures.code_length = Some(length);
                found.baselines.undivided_length = Some(undivided);
            }
            if self.expects_chance && !self.graph.is_weighted() {
                found.baselines.chance_modularity = chance(&strengths);
            }
        }
        if !self.is_rated() {
            let done = found.history.arcs;
            let tick = |_: &_| notify(self.observer, Event::Advance { done });
            tally = tally.scan(source, labels, None, tick, |_, _| {})?;
        }
        found.measures.modularity = tally.modularity(1.0);
        found.measures.two_mode_modularity = tally.two_mode_modularity(1.0);
        found.measures.coverage = tally.coverage();
        Ok(())
    }

    /// Counts the divisions in which each node stays with its community, if there are any, and discards them.
    fn with_stability(&self, rated: Numbered) -> Result<Communities> {
        let Numbered { mut found, labels, divisions } = rated;
        if !divisions.is_empty() {
            notify(self.observer, Event::Detail { text: "comparing the starts" })?;
            let files = self.graph.files();
            let counts = stays(files, &labels, &divisions)?.into_iter().map(u32::from);
            let parts = Array::write(files, &self.scratch.join("stability"), counts)?;
            let (parts, whole) = (Column::Disk(parts), divisions.len() as f64);
            found.stability = Some(Shares { parts, whole });
            divisions.iter().for_each(|division| files.discard(&division.groups.path));
        }
        Ok(Communities { labels: Column::Memory(labels), ..found })
    }
}

/// Communities with their final numbers.
struct Numbered {
    /// The communities, without labels.
    found: Communities,
    labels: Vec<u32>,
    /// Labels from each start, if requested.
    divisions: Vec<Grouping>,
}

impl Numbered {
    fn new(outcome: SweptLabels, pieces: Pieces, held: Option<&Bits>) -> Self {
        let SweptLabels { mut labels, history, groupings, tree, divisions, separation } = outcome;
        if let Some(held) = held {
            // The label of held nodes is the first of them.
            held.for_each(0..labels.len(), |node| pieces.connect(node as u32, labels[node]));
        }
        let mut roots = pieces.into_roots();
        let split_count = split_count(&labels, &roots, labels.len());
        let sizes = number(&mut roots, &mut labels);
        let separated = separation.is_done().then(|| separation.counts());
        // A split changes the tree, so its length is not valid any more.
        let tree = tree.filter(|_| split_count == 0 && separated.is_none());
        let found = Communities::new(Column::Memory(Vec::new()), sizes, history);
        let found = Communities { groupings, split_count, separated, tree, ..found };
        Self { found, labels: roots, divisions }
    }
}

/// Returns the code length of the map equation for `count` communities, and that of all nodes together. Pieces of a split
/// community have no arcs between them, so the cuts of nodes remain valid.
fn lengths_of(count: usize, labels: &[u32], strengths: &[f64], cuts: &[f64]) -> (f64, f64) {
    let mut communities = vec![(0.0, 0.0); count];
    for ((&label, &strength), &cut) in labels.iter().zip(strengths).zip(cuts) {
        let (visits, of_community): &mut (f64, f64) = &mut communities[label as usize];
        *visits += strength;
        *of_community += cut;
    }
    let total: f64 = strengths.iter().sum();
    if total <= 0.0 {
        return (0.0, 0.0);
    }
    let of_nodes: f64 = strengths.iter().map(|&strength| plogp(strength / total)).sum();
    let flow = |(visits, cut): (f64, f64)| CommunityFlow {
        enters: cut / total,
        leaves: cut / total,
        visits: visits / total,
    };
    code_lengths(communities.into_iter().map(flow), of_nodes)
}

/// Returns the modularity that can be found in a random graph with these degrees: about 0.97 times the mean of their
/// roots, over their mean (Reichardt and Bornholdt, "When are networks truly modular?", 2006). That holds for large
/// degrees; the correction for small ones is fitted to random graphs of 1,000 to 20,000 nodes with mean degrees of 5 to
/// 40, equal and Pareto-distributed, and is within 6 % of the modularity found there. `None` for smaller and sparser
/// graphs.
fn chance(degrees: &[f64]) -> Option<f64> {
    const LEAST_NODES: usize = 1000;
    const LEAST_DEGREE: f64 = 4.0;
    let (count, sum) = (degrees.len(), degrees.iter().sum::<f64>());
    let holds = count >= LEAST_NODES && sum >= LEAST_DEGREE * count as f64;
    let factor = 0.91 + 1.04 * count as f64 / sum;
    holds.then(|| factor * degrees.iter().map(|degree| degree.sqrt()).sum::<f64>() / sum)
}
