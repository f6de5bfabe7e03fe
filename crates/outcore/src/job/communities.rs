//! Stages from a graph to communities: given labels, clustering, presentation.

use super::context::{Clustered, Context};
use super::doubt::{doubts, not_compared};
use super::given;
use super::present::{self, Presenting, Targets};
use super::report::{CommunitiesReport, ResultReport, SizesReport};
use crate::budget::Limits;
use crate::cluster::{
    self, ClusterOptions, Communities, Dendrogram, Forest, ForestPlace, GivenLabels, MethodSpec,
    SAVED, SeveralValues, cluster_from, cluster_kept,
};
use crate::error::{Error, Result, Text};
use crate::graph::Graph;
use crate::io::Column;
use crate::output::check_names;
use crate::plan::{self, limits::note_less_memory};
use crate::present::reading_bytes;
use crate::progress::{Event, Stage, notify};
use crate::units::format_counted;
use std::path::Path;

/// Clusters the graph, or takes the components of a forest, and writes each result to its file. The graph of a forest
/// has no arcs.
pub(super) fn find_and_write(
    context: &mut Context<'_>,
    graph: &Graph,
    forest: Option<Forest>,
    options: &ClusterOptions,
    targets: &Targets<'_>,
) -> Result<Clustered> {
    check_names(graph, targets.all_outputs())?;
    targets.check_module_names(context, graph)?;
    // A forest takes memory until its components are found.
    let found = match forest {
        Some(forest) => Some(find_components(context, graph, Some(forest), options)?),
        None => None,
    };
    let mut presenting = Presenting::read(context, graph, targets, found.is_none())?;
    let given = given::read(context, graph, options, &targets.options.communities)?;
    let of_each = options.of_each_result();
    let (all, dendrogram) = match found {
        Some(found) => found,
        None if options.forest_ladder().is_some() => {
            find_components(context, graph, None, options)?
        }
        None => (find_each(context, graph, &of_each, given)?, None),
    };
    if let Some(dendrogram) = dendrogram {
        presenting.write_dendrogram(context, &dendrogram)?;
    }
    presenting.find_flow(context, options.recorded_teleportation)?;
    let resumed = all.iter().any(|found| found.history.resumed_sweeps > 0);
    let (mut results, mut columns, mut together) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (found, own)) in all.into_iter().zip(&of_each).enumerate() {
        let mut communities = CommunitiesReport::new(graph, own, &found);
        if let Some(text) = not_compared(own, &found) {
            notify(context.observer, Event::Notice { text: &text.to_string() })?;
        }
        for doubt in doubts(own, &found, giant(own.method.spec(), &communities.sizes)) {
            context.warn(format_args!("{doubt}{}", of_value(options, at)))?;
        }
        if !targets.columns.is_empty() {
            columns.push(present::column(&found, targets.options));
        }
        let output = targets.output(at);
        let waiting = presenting.present(context, at, found, &mut communities)?;
        together.extend(waiting.map(|presented| (presented, output)));
        results.push(ResultReport { output: output.display().to_string(), communities });
    }
    if !together.is_empty() {
        present::write_together(context, graph, &together, targets.options)?;
    }
    if !columns.is_empty() {
        present::write_columns(context, graph, &columns, targets)?;
    }
    Ok(Clustered { resumed, graph: Some(graph.summary()), results })
}

/// Finds the components at each threshold, and their dendrogram if it is wanted, by a forest or a scan of the graph.
fn find_components(
    context: &mut Context<'_>,
    graph: &Graph,
    forest: Option<Forest>,
    options: &ClusterOptions,
) -> Result<(Vec<Communities>, Option<Dendrogram>)> {
    context.stage(Stage::Cluster, |context| {
        match &forest {
            Some(_) => context.begin(Stage::Cluster, None, "nodes")?,
            None => context.begin(Stage::Cluster, Some(graph.arc_count()), "arcs")?,
        }
        let (files, scratch, observer) = (context.files, context.work.path(), context.observer);
        let forest = match forest {
            Some(forest) => forest,
            None => Forest::of_graph(graph, options, observer)?,
        };
        let memory = match forest.is_divided() {
            // The links in memory are freed for those of the ranges.
            true => context.memory_beside(forest.memory_bytes(), forest.divided_bytes()),
            false => {
                let least = options.min_memory(graph, 0, context.limits.threads);
                context.memory_for(least.total_bytes())
            }
        };
        let found = forest.find(options, ForestPlace { files, scratch, memory, observer })?;
        let summary = cluster::summary(&found.0);
        Ok((found, summary))
    })
}

/// Returns a warning if one community holds more than half of the nodes, which is rarely intended.
fn giant(spec: &MethodSpec, sizes: &SizesReport) -> Option<Text> {
    let is_giant = sizes.largest_share > 0.5 && sizes.largest_size > spec.giant_above;
    let (percent, advice) = (100.0 * sizes.largest_share, spec.giant);
    is_giant.then(|| {
        format_args!("one community holds {percent:.1} % of the nodes, more than half{}", advice())
            .into()
    })
}

/// Returns the option whose value the result has, as the end of a warning, if there are several results.
fn of_value(options: &ClusterOptions, at: usize) -> Text {
    options.several().map_or_else(Text::default, |SeveralValues { option, values, .. }| {
        format_args!(" (at {})", option.of(values[at])).into()
    })
}

/// Clusters the graph with the options of each result. Several results, and the given labels, stay on disk until all
/// results are found, so that a job that was stopped can use them.
fn find_each(
    context: &mut Context<'_>,
    graph: &Graph,
    of_each: &[ClusterOptions],
    given: GivenLabels,
) -> Result<Vec<Communities>> {
    if let [options] = of_each {
        return Ok(vec![find(context, graph, options, given, None)?]);
    }
    let (files, scratch) = (context.files, context.work.path().to_path_buf());
    let initial =
        Column::Memory(given.initial).into_array(files, &scratch.join("initial-labels"))?;
    let fixed = Column::Memory(given.fixed).into_array(files, &scratch.join("fixed-labels"))?;
    let kept = scratch.join(SAVED);
    files.create_directory(&kept)?;
    let mut all = Vec::new();
    for (at, options) in of_each.iter().enumerate() {
        let given =
            GivenLabels { initial: initial.read_all(files)?, fixed: fixed.read_all(files)? };
        let directory = kept.join(at.to_string());
        all.push(find(context, graph, options, given, Some(&directory))?);
    }
    Ok(all)
}

/// Clusters the graph; the result is kept in a directory if others follow.
fn find(
    context: &mut Context<'_>,
    graph: &Graph,
    options: &ClusterOptions,
    given: GivenLabels,
    kept: Option<&Path>,
) -> Result<Communities> {
    context.stage(Stage::Cluster, |context| {
        let least = options.min_memory(graph, given.count(), context.limits.threads);
        let memory = context.memory_for(least.total_bytes());
        let (scratch, observer) = (context.work.path(), context.observer);
        let found = match kept {
            Some(to) => cluster_kept(graph, options, given, memory, to, observer)?,
            None => cluster_from(graph, options, given, memory, scratch, observer)?,
        };
        let summary = cluster::summary(std::slice::from_ref(&found));
        let summary = format!("{summary}, modularity {:.4}", found.measures.modularity);
        Ok((found, summary))
    })
}

/// Refuses a graph that needs more memory than the limit, before anything is read for it. The suggested limit is enough
/// for all stages.
pub(super) fn check_graph(
    limits: Limits,
    graph: &Graph,
    options: &ClusterOptions,
    targets: &Targets<'_>,
) -> Result<()> {
    let given = options.files().count() as u64;
    let clustering = options.min_memory(graph, given, limits.threads).total_bytes();
    let nodes = graph.node_count();
    let read = reading_bytes(nodes, options, targets.options, limits.threads);
    let certain = clustering.max(read).max(targets.min_bytes(graph, 0, limits.threads));
    if certain <= limits.memory_bytes {
        return plan::check_limits(&limits);
    }
    // An earlier result has at most one community per node.
    let least = certain.max(targets.min_bytes(graph, nodes, limits.threads));
    let nodes = format_counted(nodes, "node", "nodes");
    let least = least.max(plan::at_least(&limits).memory_bytes);
    let error = Error::too_little_memory(limits.memory_bytes, " for this clustering", least)
        .note(format!("the graph has {nodes}"));
    Err(match options.with_less_memory() {
        Some(other) => {
            let needed = other.min_memory(graph, 0, limits.threads).total_bytes().max(read);
            let needed =
                needed.max(plan::at_least(&Limits { memory_bytes: 0, ..limits }).memory_bytes);
            note_less_memory(error, least, other.method, needed)
        }
        None => error,
    })
}
