//! Entry points of a clustering: checks options, fits the memory, resumes checkpoints and runs the method.

use super::intervals;
use super::job::{ClusterJob, ScratchLimits};
use super::memory::{Fit, roomy};
use super::multilevel::{self, Starts};
use crate::base::arcs::add_weights;
use crate::base::pace::ClusterProgress;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::finish::closing::SweptLabels;
use crate::finish::communities::{Communities, summary};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::{Holdings, NO_HOLDINGS};
use crate::methods::options::{ClusterOptions, Seeding};
use crate::methods::table::{LevelObjective, MethodOption, Procedure};
use crate::objectives::map_equation::CodeLength;
use crate::objectives::modularity::{Density, DriftDensity};
use crate::store::given::GivenLabels;
use crate::store::saves::{SAVED, Saves};
use outcore_graph::{ArcScratch, Graph};
use outcore_io::error::opt::{
    DIRECTED, FIXED, INITIAL, METHOD, RECORDED_TELEPORTATION, RESOLUTION,
};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::{Event, Observer, Stage, notify};
use outcore_io::units::format_count;
use std::path::Path;
use std::sync::Arc;

/// Finds the communities of a graph within `memory` bytes, on the current thread pool. The directory `sweeps` in
/// `scratch` belongs to it: a checkpoint that an earlier call has left there is resumed or removed.
///
/// # Errors
/// `Usage` for invalid options, or options that give more than one result; `MemoryTooSmall` before any work;
/// `CorruptFile`, `Io`; `Interrupted` if the observer asks to stop.
pub fn cluster(
    graph: &Graph,
    options: &ClusterOptions,
    memory: u64,
    scratch: &Path,
    observer: &dyn Observer,
) -> Result<Communities> {
    options.check()?;
    if options.result_count() > 1 {
        let message = "several values of an option give several results, but one is expected";
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("give one value, or use `cluster_from` for all results"));
    }
    let mut all = cluster_from(graph, options, GivenLabels::default(), memory, scratch, observer)?;
    Ok(all.remove(0))
}

/// Like [`cluster`], from given labels, and for every value of a list among the options.
///
/// # Errors
/// Those of [`cluster`]; `Usage` for invalid options.
pub fn cluster_from(
    graph: &Graph,
    options: &ClusterOptions,
    given: GivenLabels,
    memory: u64,
    scratch: &Path,
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    cluster_within(graph, options, given, memory, scratch, ScratchLimits::default(), observer)
}

/// Refuses a graph that is too large, and options that do not fit it.
fn check(graph: &Graph, options: &ClusterOptions) -> Result<()> {
    options.check()?;
    if graph.node_count() > u64::from(u32::MAX) {
        let message = format!("{} nodes are too many", format_count(graph.node_count()));
        return Err(Error::new(ErrorKind::TooManyNodes, message)
            .note("communities can be found among at most 4,294,967,295 nodes"));
    }
    if graph.is_directed() && !options.method.takes(MethodOption::Directed) {
        let path = graph.directory().display();
        let message = format!("`{path}` has directed edges, which this method cannot use");
        return Err(Error::new(ErrorKind::Usage, message).hint(format_args!(
            "use {}, or build the graph without {DIRECTED}",
            METHOD.of("label-propagation")
        )));
    }
    if options.recorded_teleportation && !graph.is_directed() {
        let path = graph.directory().display();
        let message =
            format_args!("{RECORDED_TELEPORTATION} has no effect: `{path}` has undirected edges");
        return Err(Error::usage(message)
            .hint(format_args!("leave it out, or build the graph with {DIRECTED}")));
    }
    Ok(())
}

pub(crate) fn cluster_within(
    graph: &Graph,
    options: &ClusterOptions,
    given: GivenLabels,
    memory: u64,
    scratch: &Path,
    limits: ScratchLimits,
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    check(graph, options)?;
    let scratch = &scratch.join(SAVED);
    let total = options.expected_arcs(graph.arc_count(), graph.is_directed());
    let pace = &ClusterProgress::new(observer, total);
    let threads = rayon::current_num_threads();
    let in_memory = memory.min(graph.files().cramped().label_bytes);
    let (mut fit, mut needed) = Fit::within(in_memory, |fit| {
        options.memory_in(graph, given.count(), threads, fit).total_bytes()
    });
    let is_on_disk = in_memory < needed && intervals::serves(options, graph, given.count());
    if is_on_disk {
        (fit, needed) =
            Fit::within(memory, |fit| intervals::memory(graph, threads, fit).total_bytes());
    }
    let swept = match is_on_disk {
        true => needed,
        false => options.swept_memory(graph, given.count(), threads, fit).total_bytes(),
    };
    let limits = ScratchLimits { max_labels: limits.max_labels.min(fit.max_labels), ..limits };
    let flow_bytes = options.flow_bytes(graph.is_directed(), graph.has_kinds());
    let mut job = ClusterJob {
        graph,
        options,
        limits,
        memory,
        fit,
        needed,
        swept: swept.min(needed),
        flow_bytes,
        scratch,
        observer: pace,
    };
    if memory < job.needed {
        let least = options.min_memory(graph, given.count(), threads);
        return Err(job.too_little_memory(least.total_bytes()));
    }
    graph.files().create_directory(scratch)?;
    notify(observer, Event::Begin { stage: Stage::Cluster, total, unit: "arcs" })?;
    let view = options.view_of(graph)?;
    let (graph, seen) = (&graph.seen_as(&view), &options.in_unit_of(&view));
    (job.graph, job.options) = (graph, seen);
    let saves = &mut Saves::new(graph, options, &given, scratch);
    let all = match is_on_disk {
        true => vec![job.propagate_on_disk(saves)?],
        false => job.run(given, saves)?,
    };
    notify(pace, Event::Advance { done: 0 })?;
    notify(observer, Event::End { summary: &summary(&all) })?;
    Ok(all)
}

impl ClusterJob<'_> {
    fn run(&self, given: GivenLabels, saves: &mut Saves) -> Result<Vec<Communities>> {
        if let Some(found) = self.finish_saved(saves)? {
            return Ok(found);
        }
        match &self.options.method.spec().run {
            Procedure::Levels(levels) if self.graph.is_directed() => {
                self.find_directed(levels.objective, given, saves)
            }
            Procedure::Levels(levels) => self.find_on_levels(levels.objective, given, saves),
            Procedure::Propagation => self.propagate(given, saves),
            Procedure::Components => {
                // Components save no checkpoint; any existing one belongs to another clustering.
                saves.open::<()>(self.observer)?;
                match self.options.well_connected {
                    Some(_) => self.find_well_connected(saves),
                    None if self.options.forest_ladder().is_some() => self.find_by_forest(),
                    None => Ok(vec![self.find_components()?]),
                }
            }
        }
    }

    /// Returns the mean weight of an arc: stored in the graph, or found by a scan if light arcs are ignored.
    pub(super) fn mean_weight(&self, source: &mut BlockSource<'_>) -> Result<f64> {
        if self.options.min_weight == 0.0 {
            return Ok(self.graph.weight_total() / self.graph.arc_count().max(1) as f64);
        }
        let scratch = PerThread::new(ArcScratch::default);
        let (mut total, mut arcs) = (0.0, 0);
        let mut nodes = Vec::new();
        source.for_all(|block| {
            notify(self.observer, Event::Advance { done: 0 })?;
            nodes.clear();
            nodes.resize(block.node_count(), (0.0, 0));
            let piece = piece_nodes(block.node_count(), block.arc_count());
            for_chunks(&mut nodes, piece, |begin, nodes| {
                scratch.with(|scratch| {
                    for (local, node) in (begin..).zip(nodes) {
                        let (sum, count) = node;
                        block.for_each_segment(local, scratch, |targets, codes| {
                            *count += targets.len() as u64;
                            add_weights(sum, targets, codes);
                        })?;
                    }
                    Ok(())
                })
            })?;
            for (sum, count) in &nodes {
                total += sum;
                arcs += count;
            }
            Ok(())
        })?;
        Ok(total / arcs.max(1) as f64)
    }

    /// Refuses given labels that a multilevel method cannot use.
    pub(super) fn check_given(&self, given: &GivenLabels) -> Result<()> {
        if !given.fixed.is_empty() {
            let message = format_args!("{FIXED} is only for label propagation");
            return Err(Error::usage(message).hint(format_args!("leave {FIXED} out")));
        }
        if !given.initial.is_empty() && self.options.resolution.len() > 1 {
            let message = format_args!("{INITIAL} takes one value of {RESOLUTION}");
            return Err(Error::usage(message).hint(format_args!("give one value to {RESOLUTION}")));
        }
        Ok(())
    }

    /// Finds the communities of a multilevel method at each resolution.
    fn find_on_levels(
        &self,
        objective: LevelObjective,
        given: GivenLabels,
        saves: &mut Saves,
    ) -> Result<Vec<Communities>> {
        self.check_given(&given)?;
        // The other half is for contractions and the levels above; until then, decoded blocks may take most of it.
        let sweeps = &self.sweeping();
        let rest = sweeps.rest();
        let source = self.blocks(rest / 2);
        let source = &mut if given.initial.is_empty() { source.roomy(roomy(rest)) } else { source };
        let (start, resolutions) = (self.usual_start(), self.resolutions());
        let none = Arc::<Holdings>::default();
        let outcomes = match objective {
            LevelObjective::CodeLength => {
                let starts = Starts::new(sweeps, start, None);
                multilevel::find::<CodeLength>(sweeps, &[()], starts, given, none, source, saves)?
            }
            LevelObjective::Density { null, by_mean_weight } => {
                let unit = if by_mean_weight { self.mean_weight(source)? } else { 1.0 };
                let rules: Vec<_> = resolutions.iter().map(|r| null(r * unit)).collect();
                let starts = Starts::new(sweeps, start, Some(rules[0]));
                match self.drifts_of_kinds(rules[0], source)? {
                    Some(drifts) => multilevel::find::<DriftDensity>(
                        sweeps,
                        &rules,
                        starts,
                        given,
                        drifts.into(),
                        source,
                        saves,
                    )?,
                    None => multilevel::find::<Density>(
                        sweeps, &rules, starts, given, none, source, saves,
                    )?,
                }
            }
        };
        let mut outcomes = self.in_order(outcomes);
        source.limit(self.rest() / 2);
        if self.options.finds_tree() {
            outcomes.iter_mut().try_for_each(|outcome| self.nest(source, &NO_HOLDINGS, outcome))?;
        }
        self.finish_all(source, outcomes, None, saves)
    }

    /// Returns the initial labels of the usual start.
    pub(super) fn usual_start(&self) -> Seeding {
        let seeds = self.options.method.takes(MethodOption::Seeding);
        if seeds { self.options.seeding } else { Seeding::Own }
    }

    /// Returns the positions of the resolutions among the options, the largest resolution first: its groups are the
    /// smallest, and the others are built from them.
    fn resolution_order(&self) -> Vec<usize> {
        let given = &self.options.resolution;
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by(|&a, &b| given[b].total_cmp(&given[a]));
        order
    }

    /// Returns the resolutions in the order in which they are solved.
    pub(super) fn resolutions(&self) -> Vec<f64> {
        self.resolution_order().into_iter().map(|at| self.options.resolution[at]).collect()
    }

    /// Returns the outcomes of resolutions in the order of the options.
    pub(super) fn in_order(&self, outcomes: Vec<SweptLabels>) -> Vec<SweptLabels> {
        let order = self.resolution_order().into_iter();
        let mut outcomes: Vec<(usize, SweptLabels)> = order.zip(outcomes).collect();
        outcomes.sort_by_key(|&(at, _)| at);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }
}
