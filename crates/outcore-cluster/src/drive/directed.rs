//! Methods with several levels on directed graphs.
//!
//! ```text
//!  directed graph --rates--> undirected graph of flow, drifts --levels, as always--> labels
//!        `-----------------------------------------------------------finish------------'
//! ```
//!
//! The sweeps see the graph of flow (`flow`); pieces, numbers and measures of the communities are those of the directed
//! graph itself. A clustering that resumes makes the same graph of flow again: that takes less time than the sweeps, and
//! less disk than keeping it for a checkpoint. Visit rates wait on disk for the code length of the result.
//!
//! Memory: 24 bytes a node for rates before the sweeps, and after them; 8 for drifts (16 with recorded teleportation)
//! during the sweeps, as much for those of the groups, and for those of the communities. Disk: the graph of flow, its
//! runs, and 16 bytes a node.

use super::job::ClusterJob;
use super::memory::{ClusterMemory, Fit, Shape, roomy};
use super::multilevel::{self, Starts};
use crate::finish::closing::SweptLabels;
use crate::finish::communities::Communities;
use crate::flow::flow_graph::{self, NetworkPlace, Purpose};
use crate::flow::length::code_lengths;
use crate::flow::rates::{Teleportation, VisitRates};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::{Drift, Holdings, NodeFlow};
use crate::kernel::objective::Sums;
use crate::methods::table::{LevelObjective, LevelSpec};
use crate::objectives::map_equation::NoRule;
use crate::objectives::map_equation::directed::DirectedCodeLength;
use crate::objectives::modularity::{Density, DriftDensity, Null};
use crate::store::given::GivenLabels;
use crate::store::saves::Saves;
use outcore_graph::Graph;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use std::path::PathBuf;
use std::sync::Arc;

impl ClusterJob<'_> {
    /// Finds the communities of a directed graph by a method with several levels.
    pub(super) fn find_directed(
        &self,
        objective: LevelObjective,
        given: GivenLabels,
        saves: &mut Saves,
    ) -> Result<Communities> {
        self.check_given(&given)?;
        // Removes the files of an earlier process, before others are made.
        saves.find(self.observer)?;
        let source = &mut self.blocks(self.rest());
        let (network, holdings) = self.network(objective, source)?;
        let holdings = Arc::new(holdings);
        let mean = match objective {
            LevelObjective::Density { by_mean_weight: true, .. } => self.mean_weight(source)?,
            LevelObjective::CodeLength | LevelObjective::Density { .. } => 1.0,
        };
        source.forget();
        let job = self.on_network(&network)?;
        let arcs = network.arc_count() as f64;
        if let Some((part, after)) = self.options.expected_on_level(0, arcs, arcs, 0) {
            self.observer.expect(Some(part), after)?;
        }
        let rest = job.rest();
        let blocks = job.blocks(rest / 2);
        let blocks = &mut if given.initial.is_empty() { blocks.roomy(roomy(rest)) } else { blocks };
        let held = holdings.clone();
        let mut outcome = job.search(objective, mean, given, held, blocks, saves)?;
        if self.options.finds_tree() {
            let job = ClusterJob { needed: self.needed.max(job.needed), ..job };
            blocks.limit(job.rest() / 2);
            job.nest(blocks, &holdings, &mut outcome)?;
        }
        drop(holdings);
        source.count_from(source.scans() + blocks.scans());
        let directory = network.directory().to_path_buf();
        drop(network);
        self.graph.files().discard(&directory);
        self.finish(source, outcome, None, saves)
    }

    /// Finds communities of the flow graph. `mean` is its mean edge weight, which only a null model of counts uses.
    fn search(
        &self,
        objective: LevelObjective,
        mean: f64,
        given: GivenLabels,
        held: Arc<Holdings>,
        blocks: &mut BlockSource<'_>,
        saves: &mut Saves,
    ) -> Result<SweptLabels> {
        match objective {
            LevelObjective::CodeLength => {
                let starts = Starts::new(self, self.usual_start(), None);
                if self.options.recorded_teleportation {
                    type O = DirectedCodeLength<NodeFlow>;
                    multilevel::find::<O>(self, NoRule, starts, given, held, blocks, saves)
                } else {
                    type O = DirectedCodeLength<Drift>;
                    multilevel::find::<O>(self, NoRule, starts, given, held, blocks, saves)
                }
            }
            LevelObjective::Density { null, .. } => {
                // The null model expects the weight of both directions between a pair of nodes.
                let unit = if let Null::Count(_) = null(1.0) { 2.0 * mean } else { 1.0 };
                let null = null(self.options.resolution() * unit);
                let starts = Starts::new(self, self.usual_start(), Some(null));
                if let Null::Count(_) = null {
                    type O = Density;
                    multilevel::find::<O>(self, null, starts, given, held, blocks, saves)
                } else {
                    type O = DriftDensity;
                    multilevel::find::<O>(self, null, starts, given, held, blocks, saves)
                }
            }
        }
    }

    /// Writes the graph of flow that the sweeps see, and returns it with what its nodes hold.
    fn network(
        &self,
        objective: LevelObjective,
        source: &mut BlockSource<'_>,
    ) -> Result<(Graph, Holdings)> {
        let files = self.graph.files();
        let tick = || notify(self.observer, Event::Advance { done: 0 });
        let purpose = match objective {
            LevelObjective::CodeLength => Purpose::Flow,
            LevelObjective::Density { by_mean_weight: true, .. } => Purpose::Weights,
            LevelObjective::Density { .. } => Purpose::Drifts,
        };
        let rates = match purpose {
            Purpose::Flow => {
                let rates = self.rates(source)?;
                let mut to = StateWriter::create(files, &self.rates_path())?;
                rates.save(&mut to)?;
                to.finish()?;
                rates
            }
            Purpose::Drifts | Purpose::Weights => VisitRates::of_weights(source, tick)?,
        };
        notify(self.observer, Event::Detail { text: "writing the graph of flow" })?;
        let spare = self.rest().saturating_sub(source.kept_bytes());
        let place = NetworkPlace {
            files,
            directory: &self.scratch.join("network"),
            scratch: self.scratch,
            sort_bytes: ClusterMemory::SORT_BYTES + spare / 2,
        };
        flow_graph::write(source, &rates, purpose, &place, tick)
    }

    fn rates(&self, source: &mut BlockSource<'_>) -> Result<VisitRates> {
        notify(self.observer, Event::Detail { text: "finding how often a walk visits each node" })?;
        let tick = || notify(self.observer, Event::Advance { done: 0 });
        VisitRates::find(source, Teleportation::of(self.options.recorded_teleportation), tick)
    }

    fn rates_path(&self) -> PathBuf {
        self.scratch.join("rates")
    }

    /// Returns the job of sweeping the graph of flow.
    fn on_network<'b>(&self, network: &'b Graph) -> Result<ClusterJob<'b>>
    where
        Self: 'b,
    {
        let threads = rayon::current_num_threads();
        let others = self.beside_bytes() * network.node_count();
        let (shape, method) = (&Shape::of(network), Some(self.options.method));
        let (fit, needed) = Fit::within(self.memory.saturating_sub(others), |fit| {
            ClusterMemory::new(shape, method, threads, fit).total_bytes()
        });
        let needed = needed + others;
        if self.memory < needed {
            return Err(self.too_little_memory(needed));
        }
        let mut limits = self.limits;
        limits.max_labels = limits.max_labels.min(fit.max_labels);
        Ok(ClusterJob { graph: network, fit, needed, limits, ..*self })
    }

    /// Computes the code length of communities of the directed graph, and of their tree, if the map equation was the
    /// objective.
    pub(super) fn with_code_lengths(
        &self,
        source: &mut BlockSource<'_>,
        mut found: Communities,
    ) -> Result<Communities> {
        let has_length = self.options.method.levels().is_some_and(LevelSpec::has_code_length);
        if !self.graph.is_directed() || !has_length {
            return Ok(found);
        }
        let (files, path) = (self.graph.files(), self.rates_path());
        // A job that was stopped after its sweeps has removed the rates.
        let rates = if files.is_regular(&path) {
            let mut from = StateReader::open(files, &path)?;
            let rates = VisitRates::load(&mut from)?;
            from.finish()?;
            rates
        } else {
            self.observer.expect(None, 0.0)?;
            self.rates(source)?
        };
        self.observer.expect(Some(self.graph.arc_count() as f64), 0.0)?;
        if let Some(labels) = found.labels.in_memory() {
            let tick = |_: &_| notify(self.observer, Event::Advance { done: found.history.arcs });
            let (length, undivided) = code_lengths(source, labels, &rates, tick)?;
            found.measures.code_length = Some(length);
            found.baselines.undivided_length = Some(undivided);
            if self.options.finds_tree() {
                found.tree = Some(self.measure_final(source, &found, &rates)?);
            }
        }
        files.discard(&path);
        Ok(found)
    }

    /// Returns the bytes per node for the objective of a directed graph and for limited sizes, beside those of the method.
    pub(super) fn beside_bytes(&self) -> u64 {
        self.options.size_bytes() + self.flow_bytes
    }
}

/// Additional bytes per node that an objective of directed graphs takes, compared with `Undirected`: the drift of the
/// node, of its group, and of the group's community.
pub(crate) const fn flow_bytes<O: Sums, Undirected: Sums>() -> u64 {
    let drift = O::COMMUNITY_BYTES - Undirected::COMMUNITY_BYTES;
    3 * drift
}
