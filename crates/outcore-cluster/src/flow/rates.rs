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
//! arcs that enter a node, so a scan computes z in place (Gauss-Seidel): block by block, the pieces of a block in
//! parallel, the nodes of a piece one after the other. Blocks and pieces depend on the graph alone, and sums are in the
//! order of nodes and arcs, so the rates do not depend on threads or memory. What is stored is y = z / (weight of the
//! arcs that leave the node): then an arc needs one number of its source, and in a network whose arcs all have their
//! reverse the first guess is right. What changes slowly are the visits of whole groups of nodes, all at about the same
//! rate, so every eighth scan leads on to where a geometric series with the last rate would end (Kamvar, Haveliwala,
//! Manning and Golub, "Extrapolation methods for accelerating PageRank computations", 2003), as long as that helps.
//! Forward and backward scans in turn, and over-relaxation, took up to twice as many scans.
//!
//! Memory: 24 bytes a node, and 16 afterwards. Time: 20 to 80 scans of about 5 ns per arc and core.

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
const CONVERGED: f64 = 1e-12;
/// Maximum number of scans: each divides the error by 0.85 or less.
const MOST_SCANS: u32 = 400;
/// One scan in this number is extrapolated, if changes shrink at least by this factor.
const EXTRAPOLATED: u32 = 8;
const SHRINKING_MOST: f64 = 0.95;
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
    pub(crate) const NODE_BYTES: u64 = 24;

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
        let (mut last, mut helps, mut leapt_from) = (f64::INFINITY, true, None);
        for scan in 1..=MOST_SCANS {
            let leaps = helps && scan % EXTRAPOLATED == 0;
            let before = if leaps { self.visits.clone() } else { Vec::new() };
            let (change, total) = self.scan(source, &scratch, &mut tick)?;
            if change <= CONVERGED * total {
                break;
            }
            // A leap that leads away is the last one.
            helps = helps && leapt_from.take().is_none_or(|from| change < from);
            let shrinking = change / last;
            if leaps && shrinking < SHRINKING_MOST {
                let further = shrinking / (1.0 - shrinking);
                for (visits, before) in self.visits.iter_mut().zip(before) {
                    *visits = (*visits + further * (*visits - before)).max(0.0);
                }
                leapt_from = Some(change);
            }
            last = change;
        }
        Ok(())
    }

    /// Scans the graph once; returns the sum of the changes of all visits, and of the visits.
    fn scan(
        &mut self,
        source: &mut BlockSource<'_>,
        scratch: &PerThread<ArcScratch>,
        tick: &mut impl FnMut() -> Result<()>,
    ) -> Result<(f64, f64)> {
        let (mut change, mut total, mut new) = (0.0, 0.0, Vec::new());
        source.for_all(|block| {
            tick()?;
            self.estimate(block, scratch, &mut new)?;
            for (node, &new) in (block.first_node() as usize..).zip(&new) {
                let visits = std::mem::replace(&mut self.visits[node], new);
                change += (new - visits).abs() * self.strengths[node];
                total += new * self.strengths[node];
            }
            Ok(())
        })?;
        Ok((change, total))
    }

    /// Fills `new` with the visits of the nodes of a block that follow from those of their neighbors.
    fn estimate(
        &self,
        block: &Block,
        scratch: &PerThread<ArcScratch>,
        new: &mut Vec<f64>,
    ) -> Result<()> {
        new.clear();
        new.resize(block.node_count(), 0.0);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_chunks(new, piece, |begin, new| {
            scratch.with(|scratch| {
                let pieces = new.chunks_mut(piece).zip((begin..).step_by(piece));
                pieces.into_iter().try_for_each(|(new, begin)| {
                    (0..new.len()).try_for_each(|at| {
                        let (known, rest) = new.split_at_mut(at);
                        rest[0] = self.estimated(block, begin, known, scratch)?;
                        Ok(())
                    })
                })
            })
        })
    }

    /// Returns the visits of the node after those of a piece that begins at `begin` whose visits are `known`.
    fn estimated(
        &self,
        block: &Block,
        begin: usize,
        known: &[f64],
        scratch: &mut ArcScratch,
    ) -> Result<f64> {
        let (first, local) = (block.first_node() as usize + begin, begin + known.len());
        let leaving = self.strengths[first + known.len()];
        if leaving == 0.0 {
            return Ok(0.0);
        }
        let visits = |source: u32| {
            let before = known.get((source as usize).wrapping_sub(first));
            before.copied().unwrap_or(self.visits[source as usize])
        };
        let (arriving, weight) = self.arriving(block, local, visits, scratch)?;
        let own = block.self_loop(local);
        let landing = match self.teleportation {
            Teleportation::Unrecorded => leaving,
            Teleportation::Recorded => weight + own,
        };
        // The part of a loop is solved for.
        Ok((FOLLOWING * arriving + self.unit * landing) / (leaving - FOLLOWING * own))
    }

    /// Returns the sum over the arcs from other nodes that enter a node: of their weights times the `visits` of their
    /// sources, and of their weights.
    fn arriving(
        &self,
        block: &Block,
        local: usize,
        visits: impl Fn(u32) -> f64,
        scratch: &mut ArcScratch,
    ) -> Result<(f64, f64)> {
        let (mut arriving, mut sum) = (0.0, 0.0);
        block.for_each_segment(local, scratch, |sources, codes| {
            sources.iter().for_each(|&source| prefetch(&self.visits, source as usize));
            f64::for_each(sources, codes, |source, weight| {
                arriving += weight * visits(source);
                sum += weight;
            });
        })?;
        Ok((arriving, sum))
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
        let visits = |source: u32| self.visits.get(source as usize).copied().unwrap_or(1.0);
        let (arriving, weight) = self.arriving(block, local, visits, scratch)?;
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
