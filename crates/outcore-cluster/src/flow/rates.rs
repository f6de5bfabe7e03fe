//! Visit rates: the share of the steps of a random walk that end at each node.
//!
//! The walk follows an arc of its node with a probability in proportion to the weight, or, once in [`TELEPORTATION`]
//! steps and wherever no arc leaves, teleports (Brin and Page, "The anatomy of a large-scale hypertextual Web search
//! engine", 1998). If teleportation is not recorded, it lands in proportion to the weight of the arcs that leave a node,
//! and only decides how often nodes are visited: the flow that counts is that of a last step along arcs (Lambiotte and
//! Rosvall, "Ranking and clustering of nodes in networks with smart teleportation", 2012). If it is recorded, it lands in
//! proportion to the weight of the arcs that enter a node, and counts as flow. Both are Infomap's definitions.
//!
//! Landing is the same wherever a teleportation starts, so the rates are in proportion to z = b A z + v, with v the
//! distribution of landings, b the probability of following arcs, and no term for dead ends. Rows of a graph hold the
//! arcs that enter a node, so a scan computes z in place (Gauss-Seidel), block by block, with the nodes of a block in
//! parallel; scans go forward and backward in turn. Blocks depend on the graph alone, and sums are in the order of nodes
//! and arcs, so the rates do not depend on threads or memory. What is stored is y = z / (weight of the arcs that leave
//! the node): then an arc needs one number of its source, and in a network whose arcs all have their reverse the first
//! guess is right. A step that divides the last change by at least as much as the one before leads on beyond it
//! (over-relaxation), as long as that helps.
//!
//! Memory: 16 bytes a node. Time: 10 to 60 scans of about 5 ns per arc and core.

use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use outcore_graph::{ArcScratch, Block};
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};

/// Probability of a teleportation.
pub(crate) const TELEPORTATION: f64 = 0.15;
/// Probability of following an arc.
pub(crate) const FOLLOWING: f64 = 1.0 - TELEPORTATION;
/// Iterations end when a scan changes the rates by at most this share in sum; their error is then at most six times that.
const CONVERGED: f64 = 1e-13;
/// Maximum number of scans: the change shrinks to at most 0.85 of that of the scan before.
const MOST_SCANS: u32 = 250;
/// Largest exponent of y.
const EXPONENT_MAX: i32 = 900;

/// Whether teleportations count as flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Teleportation {
    /// They only decide how often nodes are visited.
    Unrecorded,
    /// They are steps like others.
    Recorded,
}

impl Teleportation {
    pub(crate) fn of(is_recorded: bool) -> Self {
        if is_recorded { Self::Recorded } else { Self::Unrecorded }
    }

    pub(crate) fn is_recorded(self) -> bool {
        self == Self::Recorded
    }
}

/// Visit rates of the nodes of a directed graph.
pub(crate) struct VisitRates {
    /// Visits of each node, relative to the weight of the arcs that leave it; 0 if none does.
    visits: Vec<f64>,
    /// Weight of the arcs that leave each node.
    strengths: Vec<f64>,
    teleportation: Teleportation,
    /// Unit of `visits`.
    unit: f64,
    /// Flow of an arc relative to its weight and the visits of its source.
    scale: f64,
}

/// Flow at a node, as shares of all visits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct FlowAt {
    /// Flow along arcs that enter it, and along those that leave it; a loop is in both.
    pub(crate) enters: f64,
    pub(crate) leaves: f64,
    /// Flow that teleports from it.
    pub(crate) teleports: f64,
    /// Visits.
    pub(crate) visits: f64,
}

impl VisitRates {
    /// Bytes of a node.
    pub(crate) const NODE_BYTES: u64 = 16;

    /// Finds the visit rates of a directed graph.
    ///
    /// # Errors
    /// Those of reading, and of `tick`, which is called for each block.
    pub(crate) fn find(
        source: &mut BlockSource<'_>,
        teleportation: Teleportation,
        mut tick: impl FnMut() -> Result<()>,
    ) -> Result<Self> {
        let strengths = leaving_strengths(source, &mut tick)?;
        let (total, least) = extremes(&strengths);
        // Visits relative to a tiny weight can be as large as the total weight over it.
        let exponent = match total > 0.0 {
            true => (libm::log2(total) - libm::log2(least)) as i32,
            false => 0,
        };
        let unit = libm::scalbn(1.0, (EXPONENT_MAX - exponent).min(0));
        let mut visits: Vec<f64> = reserve_large_pages(strengths.len());
        let first = unit / TELEPORTATION;
        visits.extend(strengths.iter().map(|&s| if s > 0.0 { first } else { 0.0 }));
        let mut rates = Self { visits, strengths, teleportation, unit, scale: 0.0 };
        if total > 0.0 {
            rates.iterate(source, tick)?;
            rates.normalize();
        }
        Ok(rates)
    }

    /// Returns the visits that make the weight of each arc its flow.
    pub(crate) fn of_weights(
        source: &mut BlockSource<'_>,
        mut tick: impl FnMut() -> Result<()>,
    ) -> Result<Self> {
        let strengths = leaving_strengths(source, &mut tick)?;
        let teleportation = Teleportation::Unrecorded;
        Ok(Self { visits: Vec::new(), strengths, teleportation, unit: 1.0, scale: 1.0 })
    }

    /// Scans the graph until the rates hardly change.
    fn iterate(
        &mut self,
        source: &mut BlockSource<'_>,
        mut tick: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let scratch = PerThread::new(ArcScratch::default);
        let blocks = source.graph().blocks().len();
        let mut pace = Pace::default();
        for scan in 0..MOST_SCANS {
            let is_back = scan % 2 == 1;
            let order = (0..blocks).map(|at| if is_back { blocks - 1 - at } else { at });
            let (mut change, mut total, mut new) = (0.0, 0.0, Vec::new());
            let relaxation = pace.relaxation;
            source.for_each(
                order,
                |_| true,
                |block| {
                    tick()?;
                    self.estimate(block, &scratch, &mut new)?;
                    let first = block.first_node() as usize;
                    for (node, &new) in (first..).zip(&new) {
                        let visits = &mut self.visits[node];
                        let next = (*visits + relaxation * (new - *visits)).max(0.0);
                        change += (next - *visits).abs() * self.strengths[node];
                        total += next * self.strengths[node];
                        *visits = next;
                    }
                    Ok(())
                },
            )?;
            if change <= CONVERGED * total {
                break;
            }
            pace.learn(change / total);
        }
        Ok(())
    }

    /// Fills `new` with the visits of the nodes of a block that follow from those of their neighbors.
    fn estimate(
        &self,
        block: &Block,
        scratch: &PerThread<ArcScratch>,
        new: &mut Vec<f64>,
    ) -> Result<()> {
        let first = block.first_node() as usize;
        new.clear();
        new.resize(block.node_count(), 0.0);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_chunks(new, piece, |begin, new| {
            scratch.with(|scratch| {
                for (local, new) in (begin..).zip(new) {
                    let leaving = self.strengths[first + local];
                    if leaving > 0.0 {
                        let (visits, weight) = self.arriving(block, local, scratch)?;
                        let own = block.self_loop(local);
                        // The loop's own part is solved for.
                        let landing = match self.teleportation {
                            Teleportation::Unrecorded => leaving,
                            Teleportation::Recorded => weight + own,
                        };
                        *new = (FOLLOWING * visits + self.unit * landing)
                            / (leaving - FOLLOWING * own);
                    }
                }
                Ok(())
            })
        })
    }

    /// Returns the sum over the arcs from other nodes that enter a node: of their weights times the visits of their
    /// sources, and of their weights.
    fn arriving(
        &self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
    ) -> Result<(f64, f64)> {
        let (mut visits, mut sum) = (0.0, 0.0);
        block.for_each_segment(local, scratch, |sources, codes| {
            if self.visits.is_empty() {
                f64::for_each(sources, codes, |_, weight| sum += weight);
                visits = sum;
                return;
            }
            sources.iter().for_each(|&source| prefetch(&self.visits, source as usize));
            f64::for_each(sources, codes, |source, weight| {
                visits += weight * self.visits[source as usize];
                sum += weight;
            });
        })?;
        Ok((visits, sum))
    }

    /// Sets the scale of flow, so that all visits are 1 in sum.
    fn normalize(&mut self) {
        let nodes = || self.visits.iter().zip(&self.strengths);
        let followed: f64 = nodes().map(|(visits, strength)| visits * strength).sum();
        let weight: f64 = self.strengths.iter().sum();
        self.scale = match self.teleportation {
            // The last step starts where arcs leave, and follows one of them.
            Teleportation::Unrecorded => 1.0 / followed,
            // What follows arcs, and what lands: all visits.
            Teleportation::Recorded => FOLLOWING / (FOLLOWING * followed + self.unit * weight),
        };
    }

    /// Saves the rates.
    pub(crate) fn save(&self, to: &mut StateWriter) -> Result<()> {
        let is_recorded = f64::from(u8::from(self.teleportation.is_recorded()));
        to.array([self.unit, self.scale, is_recorded].into_iter())?;
        to.array(self.visits.iter().copied())?;
        to.array(self.strengths.iter().copied())
    }

    /// Loads saved rates.
    pub(crate) fn load(from: &mut StateReader) -> Result<Self> {
        let [unit, scale, is_recorded] = from.few::<f64, 3>()?;
        let (visits, strengths) = (from.numbers()?, from.numbers()?);
        let teleportation = Teleportation::of(is_recorded != 0.0);
        Ok(Self { visits, strengths, teleportation, unit, scale })
    }

    /// Returns whether teleportations count as flow.
    pub(crate) fn teleportation(&self) -> Teleportation {
        self.teleportation
    }

    /// Returns the factor of the weights of the arcs that leave `node`.
    #[inline]
    pub(crate) fn per_weight(&self, node: u32) -> f64 {
        match self.visits.get(node as usize) {
            Some(visits) => visits * self.scale,
            None => self.scale,
        }
    }

    /// Returns the flow at a node of a block.
    pub(crate) fn at(
        &self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
    ) -> Result<FlowAt> {
        let node = block.first_node() + local as u32;
        let (arriving, weight) = self.arriving(block, local, scratch)?;
        let (own, leaving) = (block.self_loop(local), self.strengths[node as usize]);
        let leaves = leaving * self.per_weight(node);
        let enters = arriving * self.scale + own * self.per_weight(node);
        let (visits, teleports) = match self.teleportation {
            Teleportation::Unrecorded => (enters, 0.0),
            Teleportation::Recorded if leaving > 0.0 => {
                (leaves / FOLLOWING, leaves / FOLLOWING * TELEPORTATION)
            }
            Teleportation::Recorded => {
                let landing = self.unit * (weight + own) * self.scale / FOLLOWING;
                (enters + landing, enters + landing)
            }
        };
        Ok(FlowAt { enters, leaves, teleports, visits })
    }
}

/// Speed of the iteration, which decides how far a step goes.
#[derive(Debug)]
struct Pace {
    relaxation: f64,
    /// Change by the scan before, and the quotient of two changes.
    change: f64,
    shrinking: f64,
    /// Scans with this relaxation, and the best one so far.
    tried: u32,
    best: (f64, f64),
}

/// Steps to try, in turn, while they help.
const RELAXATIONS: [f64; 4] = [1.0, 1.1, 1.2, 1.3];
/// Scans with a relaxation before it is judged.
const TRIED_SCANS: u32 = 4;

impl Default for Pace {
    fn default() -> Self {
        let best = (1.0, f64::INFINITY);
        Self { relaxation: 1.0, change: f64::INFINITY, shrinking: 0.0, tried: 0, best }
    }
}

impl Pace {
    /// Learns the relative change of a scan.
    fn learn(&mut self, change: f64) {
        self.shrinking = change / self.change;
        self.change = change;
        self.tried += 1;
        if self.shrinking > 1.0 {
            // It diverges; with 1, it never does.
            self.settle(1.0);
        } else if self.tried >= TRIED_SCANS && self.tried < u32::MAX / 2 {
            let next = RELAXATIONS.iter().find(|&&next| next > self.relaxation);
            if self.shrinking < self.best.1 {
                self.best = (self.relaxation, self.shrinking);
                match next {
                    Some(&next) => (self.relaxation, self.tried) = (next, 0),
                    None => self.settle(self.relaxation),
                }
            } else {
                self.settle(self.best.0);
            }
        }
    }

    fn settle(&mut self, relaxation: f64) {
        (self.relaxation, self.tried) = (relaxation, u32::MAX / 2);
    }
}

/// Returns the weight of the arcs that leave each node, loops included.
fn leaving_strengths(
    source: &mut BlockSource<'_>,
    tick: &mut impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    let count = source.graph().node_count() as usize;
    let mut strengths: Vec<f64> = reserve_large_pages(count);
    strengths.resize(count, 0.0);
    let mut scratch = ArcScratch::default();
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            strengths[block.first_node() as usize + local] += block.self_loop(local);
            block.for_each_segment(local, &mut scratch, |sources, codes| {
                sources.iter().for_each(|&source| prefetch(&strengths, source as usize));
                f64::for_each(sources, codes, |source, weight| {
                    strengths[source as usize] += weight;
                });
            })?;
        }
        Ok(())
    })?;
    Ok(strengths)
}

/// Returns the sum, and the least positive number.
fn extremes(strengths: &[f64]) -> (f64, f64) {
    let positive = strengths.iter().copied().filter(|&strength| strength > 0.0);
    (strengths.iter().sum(), positive.fold(f64::MAX, f64::min))
}
