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
//! Memory: 24 bytes a node, and 16 afterwards. Time: 20 to 80 scans of 5 ns per arc and core, or of 30 ns if the
//! numbers do not fit into the processor's caches.

use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::rows::{RowPart, RowsAhead};
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

    /// Returns rates by which the flow of each arc is its weight, as modularity needs; no walk takes place.
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
        let rows = PerThread::new(RowsAhead::default);
        let (mut last, mut helps, mut leapt_from) = (f64::INFINITY, true, None);
        for scan in 1..=MOST_SCANS {
            let leaps = helps && scan % EXTRAPOLATED == 0;
            let before = if leaps { self.visits.clone() } else { Vec::new() };
            let (change, total) = self.scan(source, &rows, &mut tick)?;
            if change <= CONVERGED * total {
                break;
            }
            // An extrapolation after which the change is larger is the last one.
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
        rows: &PerThread<RowsAhead>,
        tick: &mut impl FnMut() -> Result<()>,
    ) -> Result<(f64, f64)> {
        let (mut change, mut total, mut new) = (0.0, 0.0, Vec::new());
        source.for_all(|block| {
            tick()?;
            self.estimate(block, rows, &mut new)?;
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
        rows: &PerThread<RowsAhead>,
        new: &mut Vec<f64>,
    ) -> Result<()> {
        new.clear();
        new.resize(block.node_count(), 0.0);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_chunks(new, piece, |begin, new| {
            rows.with(|rows| {
                let pieces = new.chunks_mut(piece).zip((begin..).step_by(piece));
                pieces
                    .into_iter()
                    .try_for_each(|(new, begin)| self.estimate_piece(block, begin, new, rows))
            })
        })
    }

    /// Fills `new` with the visits of the nodes of a piece that begins at `begin`, one after the other.
    fn estimate_piece(
        &self,
        block: &Block,
        begin: usize,
        new: &mut [f64],
        rows: &mut RowsAhead,
    ) -> Result<()> {
        let first = block.first_node() as usize + begin;
        let mut arrivals = Arrivals::default();
        rows.for_each(
            block,
            begin..begin + new.len(),
            |_, sources: &[u32]| self.fetch(sources),
            |row| {
                let known = &new[..row.local - begin];
                arrivals.add(&row, |source| {
                    let before = known.get((source as usize).wrapping_sub(first));
                    before.copied().unwrap_or(self.visits[source as usize])
                });
                if row.ends {
                    let arrived = std::mem::take(&mut arrivals);
                    new[row.local - begin] = self.estimated(block, row.local, arrived);
                }
                Ok(())
            },
        )
    }

    /// Returns the visits of a node, given what arrives there.
    fn estimated(&self, block: &Block, local: usize, arrived: Arrivals) -> f64 {
        let leaving = self.strengths[block.first_node() as usize + local];
        if leaving == 0.0 {
            return 0.0;
        }
        let own = block.self_loop(local);
        let landing = match self.teleportation {
            Teleportation::Unrecorded => leaving,
            Teleportation::Recorded => arrived.weight + own,
        };
        // The visits that a loop brings back are solved for.
        (FOLLOWING * arrived.visits + self.unit * landing) / (leaving - FOLLOWING * own)
    }

    /// Fetches what is needed of the sources of arcs.
    #[inline]
    pub(crate) fn fetch(&self, sources: &[u32]) {
        sources.iter().for_each(|&source| prefetch(&self.visits, source as usize));
    }

    /// Sets the scale of flow, so that all visits are 1 in sum.
    fn normalize(&mut self) {
        let nodes = || self.visits.iter().zip(&self.strengths);
        let followed: f64 = nodes().map(|(visits, strength)| visits * strength).sum();
        let weight: f64 = self.strengths.iter().sum();
        self.scale = match self.teleportation {
            // The last step starts where arcs leave, and follows one of them.
            Teleportation::Unrecorded => 1.0 / followed,
            // All visits: those along arcs, and those by teleportation.
            Teleportation::Recorded => FOLLOWING / (FOLLOWING * followed + self.unit * weight),
        };
    }

    pub(crate) fn save(&self, to: &mut StateWriter) -> Result<()> {
        let is_recorded = f64::from(u8::from(self.teleportation.is_recorded()));
        to.array([self.unit, self.scale, is_recorded].into_iter())?;
        to.array(self.visits.iter().copied())?;
        to.array(self.strengths.iter().copied())
    }

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

    /// Fills `found` with the result of `of` for each node of a block, given the flow at the node and its number in the
    /// block.
    ///
    /// # Errors
    /// Those of decoding.
    pub(crate) fn at_nodes<T: Default + Send>(
        &self,
        block: &Block,
        rows: &PerThread<RowsAhead>,
        found: &mut Vec<T>,
        of: impl Fn(usize, FlowAt) -> T + Sync,
    ) -> Result<()> {
        found.clear();
        found.resize_with(block.node_count(), T::default);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_chunks(found, piece, |begin, found| {
            let mut arrivals = Arrivals::default();
            rows.with(|rows| {
                rows.for_each(
                    block,
                    begin..begin + found.len(),
                    |_, sources: &[u32]| self.fetch(sources),
                    |row| {
                        arrivals.add(&row, |source| self.relative(source));
                        if row.ends {
                            let arrived = std::mem::take(&mut arrivals);
                            found[row.local - begin] =
                                of(row.local, self.at(block, row.local, arrived));
                        }
                        Ok(())
                    },
                )
            })
        })
    }

    /// Returns the visits of a node, relative to the weight of the arcs that leave it.
    #[inline]
    pub(crate) fn relative(&self, node: u32) -> f64 {
        self.visits.get(node as usize).copied().unwrap_or(1.0)
    }

    /// Returns the flow at a node of a block, given what arrives there.
    pub(crate) fn at(&self, block: &Block, local: usize, arrived: Arrivals) -> FlowAt {
        let node = block.first_node() + local as u32;
        let (own, leaving) = (block.self_loop(local), self.strengths[node as usize]);
        let leaves = leaving * self.per_weight(node);
        let enters = arrived.visits * self.scale + own * self.per_weight(node);
        let (visits, teleports) = match self.teleportation {
            Teleportation::Unrecorded => (enters, 0.0),
            Teleportation::Recorded if leaving > 0.0 => {
                (leaves / FOLLOWING, leaves / FOLLOWING * TELEPORTATION)
            }
            Teleportation::Recorded => {
                let landing = self.unit * (arrived.weight + own) * self.scale / FOLLOWING;
                (enters + landing, enters + landing)
            }
        };
        FlowAt { enters, leaves, teleports, visits }
    }
}

/// Sums over the arcs from other nodes that enter a node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrivals {
    /// Weights times the visits of their sources.
    visits: f64,
    weight: f64,
}

impl Arrivals {
    /// Adds a part of the node's row, given the visits of a source.
    #[inline]
    pub(crate) fn add(&mut self, row: &RowPart<'_>, visits: impl Fn(u32) -> f64) {
        f64::for_each(row.targets, row.codes, |source, weight| {
            self.add_arc(weight, visits(source))
        });
    }

    /// Adds an arc.
    #[inline]
    pub(crate) fn add_arc(&mut self, weight: f64, visits: f64) {
        self.visits += weight * visits;
        self.weight += weight;
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
            block.for_each_segment_inline(local, &mut scratch, |sources, codes| {
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
