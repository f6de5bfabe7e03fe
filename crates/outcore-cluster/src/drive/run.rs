//! Entry points of a clustering: checks options, fits the memory, resumes checkpoints and runs the method.

use super::intervals;
use super::job::{ClusterJob, ScratchLimits};
use super::memory::{Fit, Shape, roomy};
use super::multilevel::{self, Starts};
use super::swept::SavedCommunities;
use crate::base::arcs::add_weights;
use crate::base::pace::ClusterProgress;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::finish::communities::{Communities, summary};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::{Holdings, NO_HOLDINGS};
use crate::methods::options::{ClusterOptions, Seeding};
use crate::methods::table::{LevelObjective, MethodOption, Procedure};
use crate::objectives::map_equation::{CodeLength, NoRule};
use crate::objectives::modularity::{Density, DriftDensity};
use crate::store::given::GivenLabels;
use crate::store::hierarchy::Grouping;
use crate::store::saves::{NOTICE, Of, SAVED, Saves};
use outcore_graph::{ArcScratch, Graph};
use outcore_io::Column;
use outcore_io::checkpoint::Journal;
use outcore_io::error::opt::{DIRECTED, FIXED, METHOD, RECORDED_TELEPORTATION};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::{Event, Observer, Stage, notify};
use outcore_io::units::format_count;
use std::iter::once;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
    cluster_from(graph, options, GivenLabels::default(), memory, scratch, observer)
}

/// Like [`cluster`], from given labels.
///
/// # Errors
/// Those of [`cluster`]; `Usage` for labels that do not fit.
pub fn cluster_from(
    graph: &Graph,
    options: &ClusterOptions,
    given: GivenLabels,
    memory: u64,
    scratch: &Path,
    observer: &dyn Observer,
) -> Result<Communities> {
    cluster_within(graph, options, given, memory, scratch, ScratchLimits::default(), observer)
}

/// Finds communities like [`cluster_from`], with labels in a file of `directory`, which must belong to this result
/// alone. Several results can thus wait on disk for each other, and a later call returns the result that it finds
/// there. Stability is not kept, since it is computed only where there is one result.
///
/// ```text
///  DIRECTORY/checkpoint, labels    the result, if it was found
///            sweeps/               the clustering (`store::saves`), and the groups of the result
/// ```
/// Cost: labels are written once and read twice. Memory: buffers. Disk: 4 bytes per node, and as much for each level of
/// groups.
///
/// # Errors
/// Those of [`cluster_from`].
pub fn cluster_kept(
    graph: &Graph,
    options: &ClusterOptions,
    given: GivenLabels,
    memory: u64,
    directory: &Path,
    observer: &dyn Observer,
) -> Result<Communities> {
    let (files, of) = (graph.files(), Of::new(graph, options, &given));
    files.create_directory(directory)?;
    let mut journal = Journal::new(files, vec![directory.to_path_buf()], Some(of), Duration::ZERO);
    if let Some((saved, from)) = journal.open::<SavedCommunities>(observer, NOTICE)? {
        from.finish()?;
        notify(observer, Event::Begin { stage: Stage::Cluster, total: None, unit: "arcs" })?;
        let found = saved.restore(files, directory)?;
        notify(observer, Event::End { summary: &summary(std::slice::from_ref(&found)) })?;
        return Ok(found);
    }
    let mut found = cluster_from(graph, options, given, memory, directory, observer)?;
    let labels = std::mem::replace(&mut found.labels, Column::Memory(Vec::new()));
    let labels = labels.into_array(files, &directory.join("labels"))?;
    let labels = Grouping::of_file(files, labels, found.community_count())?;
    let saved = SavedCommunities::new(&labels, &found);
    journal.save(|to| {
        let kept = once(&labels).chain(&found.groupings);
        kept.for_each(|kept| to.need(&kept.groups.path, kept.groups.bytes()));
        Ok(saved)
    })?;
    let others = files.list(&directory.join(SAVED)).unwrap_or_default().into_iter();
    let others = others.filter(|entry| !journal.needs(&entry.path));
    others.for_each(|entry| files.discard(&entry.path));
    Ok(Communities { labels: Column::Disk(labels.groups), ..found })
}

/// Refuses a graph that is too large, and options that do not fit it.
fn check(graph: &Graph, options: &ClusterOptions) -> Result<()> {
    options.check()?;
    if options.result_count() > 1 {
        let message = "several values of an option give several results, but one is expected";
        return Err(Error::new(ErrorKind::Usage, message).hint(
            "give one value, or cluster once with each of `ClusterOptions::of_each_result`",
        ));
    }
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
) -> Result<Communities> {
    check(graph, options)?;
    let scratch = &scratch.join(SAVED);
    let total = options.expected_arcs(graph.arc_count(), graph.is_directed());
    let pace = &ClusterProgress::new(observer, total);
    let threads = rayon::current_num_threads();
    let in_memory = memory.min(graph.files().cramped().label_bytes);
    let (shape, given_count) = (&Shape::of(graph), given.count());
    let (mut fit, mut needed) =
        Fit::within(in_memory, |fit| options.need(shape, given_count, threads, fit).total_bytes());
    let is_on_disk = in_memory < needed && intervals::serves(options, shape, given_count);
    if is_on_disk {
        (fit, needed) =
            Fit::within(memory, |fit| intervals::memory(shape, threads, fit).total_bytes());
    }
    let swept = match is_on_disk {
        true => needed,
        false => options.swept_need(shape, given_count, threads, fit).total_bytes(),
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
        let least = options.min_memory(graph, given_count, threads);
        return Err(job.too_little_memory(least.total_bytes()));
    }
    graph.files().create_directory(scratch)?;
    notify(observer, Event::Begin { stage: Stage::Cluster, total, unit: "arcs" })?;
    let view = options.view_of(graph)?;
    let (graph, seen) = (&graph.seen_as(&view), &options.in_unit_of(&view));
    (job.graph, job.options) = (graph, seen);
    let saves = &mut Saves::new(graph, options, &given, scratch);
    let found = match is_on_disk {
        true => job.propagate_on_disk(saves)?,
        false => job.run(given, saves)?,
    };
    notify(pace, Event::Advance { done: 0 })?;
    notify(observer, Event::End { summary: &summary(std::slice::from_ref(&found)) })?;
    Ok(found)
}

impl ClusterJob<'_> {
    fn run(&self, given: GivenLabels, saves: &mut Saves) -> Result<Communities> {
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
                    None => self.find_components(),
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
        Ok(())
    }

    /// Finds the communities of a multilevel method.
    fn find_on_levels(
        &self,
        objective: LevelObjective,
        given: GivenLabels,
        saves: &mut Saves,
    ) -> Result<Communities> {
        self.check_given(&given)?;
        // Half is for blocks, half for contractions and levels. Before these, decoded blocks may use most of both.
        let sweeps = &self.sweeping();
        let rest = sweeps.rest();
        let source = self.blocks(rest / 2);
        let source = &mut if given.initial.is_empty() { source.roomy(roomy(rest)) } else { source };
        let (start, none) = (self.usual_start(), Arc::<Holdings>::default());
        let mut outcome = match objective {
            LevelObjective::CodeLength => {
                let starts = Starts::new(sweeps, start, None);
                multilevel::find::<CodeLength>(sweeps, NoRule, starts, given, none, source, saves)?
            }
            LevelObjective::Density { null, by_mean_weight } => {
                let unit = if by_mean_weight { self.mean_weight(source)? } else { 1.0 };
                let rule = null(self.options.resolution() * unit);
                let starts = Starts::new(sweeps, start, Some(rule));
                if let Some(drifts) = self.drifts_of_kinds(rule, source)? {
                    type O = DriftDensity;
                    let drifts = drifts.into();
                    multilevel::find::<O>(sweeps, rule, starts, given, drifts, source, saves)?
                } else {
                    type O = Density;
                    multilevel::find::<O>(sweeps, rule, starts, given, none, source, saves)?
                }
            }
        };
        source.limit(self.rest() / 2);
        if self.options.finds_tree() {
            self.nest(source, &NO_HOLDINGS, &mut outcome)?;
        }
        self.finish(source, outcome, None, saves)
    }

    /// Returns the initial labels of the usual start.
    pub(super) fn usual_start(&self) -> Seeding {
        let seeds = self.options.method.takes(MethodOption::Seeding);
        if seeds { self.options.seeding } else { Seeding::Own }
    }
}
