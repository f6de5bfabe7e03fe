//! From swept labels to communities: separates those that are not well-connected, if requested, and closes.
//!
//! If a large community turns out to need more memory than available, the results of the sweeps are saved, so that the
//! same command resumes there with more memory.

use super::job::ClusterJob;
use super::memory::{Fit, Shape};
use super::swept::SavedResult;
use crate::base::bits::Bits;
use crate::finish::closing::{Finish, SweptLabels};
use crate::finish::communities::Communities;
use crate::finish::cuts::CutMemory;
use crate::finish::cuts::separate::{CutRound, Separation};
use crate::finish::tree::Links;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::NO_HOLDINGS;
use crate::methods::connected::WellConnected;
use crate::methods::table::LevelSpec;
use crate::store::saves::Saves;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::{Event, notify};
use outcore_io::units::MIB;
use serde::{Deserialize, Serialize};

/// Result of the sweeps in a checkpoint.
#[derive(Serialize, Deserialize)]
struct SavedSwept {
    swept: SavedResult,
    scans: u64,
}

/// Upper bound of a job's memory beside its clustering: the program, and memory that the allocator has not returned.
const BESIDE_BYTES: u64 = 32 * MIB;

/// Key that only these checkpoints have.
const SWEPT: &str = "swept";

impl ClusterJob<'_> {
    /// Separates, splits, numbers and rates communities; see [`Finish::close`].
    pub(crate) fn finish(
        &self,
        source: &mut BlockSource<'_>,
        mut outcome: SweptLabels,
        held: Option<&Bits>,
        saves: &mut Saves,
    ) -> Result<Communities> {
        if let Some(rule) = self.options.well_connected {
            self.separate(source, &mut outcome, rule, saves)?;
        }
        let (levels, is_directed) = (self.options.method.levels(), self.graph.is_directed());
        let rates_kinds = self.graph.has_kinds() && levels.is_some_and(LevelSpec::is_modularity);
        let finish = Finish {
            graph: self.graph,
            observer: self.observer,
            scratch: self.scratch,
            // The sweeps of multilevel methods take more memory than the strengths, so there is room for these.
            is_remembered: levels.is_some() && !is_directed || self.strength_bytes() > 0,
            // The estimate holds for graphs with one kind of nodes.
            expects_chance: levels.is_some() && !is_directed && !rates_kinds,
            counts_cuts: levels.is_some_and(LevelSpec::has_code_length) && !is_directed,
            rates_kinds,
        };
        let found = finish.close(source, outcome, held)?;
        let mut found = self.with_code_lengths(source, found)?;
        if self.options.finds_tree() && found.tree.is_none() {
            let flow = &Links::new(&NO_HOLDINGS);
            found.tree = Some(self.measure_final(source, &found, flow)?);
        }
        Ok(found)
    }

    /// Returns the communities of an earlier job that was stopped after its sweeps.
    pub(crate) fn finish_saved(&self, saves: &mut Saves) -> Result<Option<Communities>> {
        if self.options.well_connected.is_none() {
            return Ok(None);
        }
        let Some((saved, mut from)) = saves.open_with::<SavedSwept>(SWEPT, self.observer)? else {
            return Ok(None);
        };
        let (nodes, files) = (self.graph.node_count(), self.graph.files());
        let outcome = saved.swept.load(nodes, files, self.scratch, &mut from)?;
        from.finish()?;
        self.report_resumed(outcome.history.sweeps.count)?;
        let source = &mut self.blocks(self.cache_bytes().min(self.rest() / 2));
        source.count_from(saved.scans);
        self.finish(source, outcome, None, saves).map(Some)
    }

    fn separate(
        &self,
        source: &mut BlockSource<'_>,
        outcome: &mut SweptLabels,
        rule: WellConnected,
        saves: &mut Saves,
    ) -> Result<()> {
        let text = "splitting communities that are not well-connected";
        notify(self.observer, Event::Detail { text })?;
        let done = outcome.history.arcs;
        while !outcome.separation.is_done() {
            if saves.is_due() {
                self.save_swept(source, outcome, saves)?;
            }
            let arcs = self.graph.arc_count() as f64;
            self.observer.expect(Some(arcs), arcs)?;
            let room_bytes = self.room_bytes(source);
            let round = CutRound {
                source,
                directory: self.scratch,
                rule,
                room: CutMemory::within(room_bytes),
                tick: &|| notify(self.observer, Event::Advance { done }),
                too_little: &|bytes| self.too_little_for_a_community(bytes),
            };
            match outcome.separation.advance(&mut outcome.labels, round) {
                Err(error) if error.kind() == ErrorKind::MemoryTooSmall => {
                    if source.budget() == 0 {
                        self.save_swept(source, outcome, saves)?;
                        return Err(error);
                    }
                    // Tries again with the memory of the cached blocks.
                    source.forget();
                }
                advanced => advanced?,
            }
        }
        Ok(())
    }

    fn save_swept(
        &self,
        source: &BlockSource<'_>,
        outcome: &SweptLabels,
        saves: &mut Saves,
    ) -> Result<()> {
        let saved = SavedSwept { swept: SavedResult::new(outcome), scans: source.scans() };
        saves.save(&saved, self.observer, |to| SavedResult::save(outcome, to))
    }

    /// Returns the memory for edges inside communities: all but the labels, scans and the cache.
    fn room_bytes(&self, source: &BlockSource<'_>) -> u64 {
        let used = self.bytes_beside_room(self.fit) + source.max_kept_bytes();
        self.memory.saturating_sub(used).max(CutMemory::min_bytes(self.graph.arc_count()))
    }

    fn bytes_beside_room(&self, fit: Fit) -> u64 {
        let nodes = self.graph.node_count();
        let threads = rayon::current_num_threads();
        let fixed = self.options.need(&Shape::of(self.graph), 0, threads, fit).fixed_bytes();
        let labels = 4 * nodes + Separation::bytes(nodes);
        fixed - CutMemory::min_bytes(self.graph.arc_count()) + labels
    }

    /// Error: a community needs this number of bytes to be examined.
    fn too_little_for_a_community(&self, examined_bytes: u64) -> Error {
        let needed = self.bytes_beside_room(Fit::ROOMY) + CutMemory::bytes_for(examined_bytes);
        // Part of a job's limit is in use when its clustering begins.
        CutMemory::too_little(self.memory, needed, needed + BESIDE_BYTES)
    }
}
