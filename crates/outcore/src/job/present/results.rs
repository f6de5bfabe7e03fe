//! Writing of results: each to a file of its own, one by one or together, or all as columns of one.

use super::{bench, sort_budget};
use crate::cluster::{Communities, Stability};
use crate::error::Result;
use crate::graph::Graph;
use crate::io::Files;
use crate::job::context::Context;
use crate::job::present::Targets;
use crate::output::{ModuleForm, NodeOutput, is_table, modules_by, write_paths};
use crate::present::{
    Flow, Inside, Levels, ModuleRows, PresentOptions, Presented, RowForm, Workbench, module_bytes,
    write_members, write_modules,
};
use crate::progress::{Event, Observer, REPORT_NODES, Stage};
use crate::units::{format_bytes, format_counted};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::slice::from_ref;
use std::sync::{Mutex, PoisonError};

/// What is written of the nodes, besides their communities.
pub(crate) struct OfNodes<'a> {
    pub(crate) inside: &'a Inside,
    pub(crate) stability: Option<&'a Stability>,
    pub(crate) flow: Option<&'a Flow>,
    pub(crate) levels: Option<Levels>,
    /// Code length of the communities, or of their tree, as they were found.
    pub(crate) code_length: Option<f64>,
}

/// Writes a file of Infomap.
fn write_infomap(
    context: &Context<'_>,
    graph: &Graph,
    presented: &Presented,
    (levels, of_nodes): (Option<&Levels>, &OfNodes<'_>),
    (form, output): (ModuleForm, &Path),
) -> Result<u64> {
    let flow = of_nodes.flow.expect("it was found for this output");
    let counts = levels.map_or(&[][..], Levels::group_counts);
    let modules = presented.community_count() + counts.iter().sum::<u64>();
    let bytes = module_bytes(form, graph, modules, context.limits.threads);
    let labels = 4 * presented.node_count();
    let budget = sort_budget(context, labels + bytes, Workbench::BUDGET_MIN);
    let code_length = of_nodes.code_length.filter(|_| presented.small_nodes == 0);
    let rows = ModuleRows { presented, levels, flow, code_length };
    write_modules(&bench(context, budget), graph, &rows, (form, output))
}

impl OfNodes<'_> {
    /// Returns whether there is nothing else to write.
    fn is_empty(&self) -> bool {
        let Self { inside, stability, flow, levels, .. } = self;
        inside.weights.is_empty() && stability.is_none() && flow.is_none() && levels.is_none()
    }
}

/// Writes a result, or returns it if it can be written [together](write_together) with others.
pub(crate) fn write(
    context: &mut Context<'_>,
    graph: &Graph,
    presented: Presented,
    mut of_nodes: OfNodes<'_>,
    (options, output): (&PresentOptions, &Path),
) -> Result<Option<Presented>> {
    let PresentOptions { rows, output_header: has_header, .. } = *options;
    let is_text = rows == RowForm::Nodes && modules_by(output).is_none() && !is_table(output);
    if presented.is_on_disk() && is_text && of_nodes.is_empty() {
        return Ok(Some(presented));
    }
    let (presented, levels) = (&presented, of_nodes.levels.take());
    let inside = of_nodes.inside;
    context.stage(Stage::Write, |context| {
        if let Some(form) = modules_by(output) {
            context.begin(Stage::Write, Some(presented.node_count()), "nodes")?;
            let given = (levels.as_ref(), &of_nodes);
            let bytes = write_infomap(context, graph, presented, given, (form, output))?;
            if let Some(levels) = levels {
                levels.remove(&bench(context, 0));
            }
            return Ok(((), format!("{} written{}", format_bytes(bytes), left_out(presented))));
        }
        if rows != RowForm::Nodes {
            context.begin(Stage::Write, Some(presented.node_count()), "nodes")?;
            let budget = sort_budget(context, 0, Workbench::BUDGET_MIN);
            let bench = &bench(context, budget);
            let has_header = has_header && rows == RowForm::Pairs;
            let to = (output, has_header);
            let bytes = write_members(bench, graph, presented, inside, rows, to)?;
            return Ok(((), format!("{} written{}", format_bytes(bytes), left_out(presented))));
        }
        let mut names = graph.names()?;
        let each = |write: &mut dyn FnMut(&[u8]) -> Result<()>| {
            while let Some(name) = names.next_name()? {
                write(name)?;
            }
            Ok(())
        };
        let bench = bench(context, 0);
        let mut lines = match &levels {
            Some(levels) => Some(levels.lines(&bench)?),
            None => None,
        };
        let mut numbers = presented.scan(context.files)?;
        let nodes = NodeOutput {
            count: presented.node_count(),
            number: || numbers.next_number(),
            weights: &inside.weights,
            flow: of_nodes
                .flow
                .filter(|_| options.flow)
                .map(|flow| flow.scan(context.files))
                .transpose()?,
            stability: of_nodes
                .stability
                .map(|stability| stability.scan(context.files))
                .transpose()?,
            kinds: graph.open_kinds()?.map(|kinds| (kinds.scan(), kinds.names().clone())),
            groups: |groups: &mut Vec<u32>| match &mut lines {
                Some(lines) => lines.next(groups),
                None => Ok(()),
            },
            group_count: levels.as_ref().map_or(0, |levels| levels.group_counts().len()),
            column_names: &[],
            has_header,
        };
        let separator = levels.as_ref().map_or(b'\t', Levels::separator);
        let bytes = write_paths(context.files, each, nodes, separator, output, context.observer)?;
        if let Some(levels) = levels {
            levels.remove(&bench);
        }
        Ok(((), format!("{} written{}", format_bytes(bytes), left_out(presented))))
    })?;
    Ok(None)
}

/// Returns a result as a column: its labels stay where they are.
pub(crate) fn column(found: &Communities, options: &PresentOptions) -> Presented {
    let (labels, sizes) = (found.labels.clone(), found.sizes.clone());
    Presented::new(labels, sizes, options.min_size, options.small)
}

/// Writes all results as columns of one file.
pub(crate) fn write_columns(
    context: &mut Context<'_>,
    graph: &Graph,
    columns: &[Presented],
    targets: &Targets<'_>,
) -> Result<()> {
    context.stage(Stage::Write, |context| {
        let to = (targets.options.output_header, targets.outputs[0].as_path());
        let named = (columns, &targets.columns[..]);
        let bytes = write_numbers(context.files, graph, named, to, context.observer)?;
        Ok(((), format!("{} written", format_bytes(bytes))))
    })
}

/// Writes results without anything else of the nodes, each to its file, on all threads.
pub(crate) fn write_together(
    context: &mut Context<'_>,
    graph: &Graph,
    results: &[(Presented, &Path)],
    options: &PresentOptions,
) -> Result<()> {
    context.stage(Stage::Write, |context| {
        let nodes: u64 = results.iter().map(|(presented, _)| presented.node_count()).sum();
        context.begin(Stage::Write, Some(nodes), "nodes")?;
        let observer = Together { observer: context.observer, done: Mutex::new(0) };
        let write = |(presented, output): &(Presented, &Path)| {
            let to = (options.output_header, *output);
            write_numbers(context.files, graph, (from_ref(presented), &[]), to, &observer)
        };
        let all: Vec<Result<u64>> = results.par_iter().map(write).collect();
        let bytes = all.into_iter().sum::<Result<u64>>()?;
        let left_out: String = results.iter().map(|(presented, _)| left_out(presented)).collect();
        let files = format_counted(results.len() as u64, "file", "files");
        Ok(((), format!("{files}, {} written{left_out}", format_bytes(bytes))))
    })
}

/// Progress of results that are written at the same time.
struct Together<'a> {
    observer: &'a dyn Observer,
    /// Nodes written of all results.
    done: Mutex<u64>,
}

impl Observer for Together<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begin { .. } => ControlFlow::Continue(()),
            Event::Advance { .. } => {
                *done += REPORT_NODES;
                self.observer.event(Event::Advance { done: *done })
            }
            event => self.observer.event(event),
        }
    }
}

/// Writes the numbers of each node's communities in results, which are the columns of `names`, if they have names.
fn write_numbers(
    files: &Files,
    graph: &Graph,
    (columns, names): (&[Presented], &[String]),
    (has_header, output): (bool, &Path),
    observer: &dyn Observer,
) -> Result<u64> {
    let (first, others) = columns.split_first().expect("a job has a result");
    let mut of_nodes = graph.names()?;
    let each = |write: &mut dyn FnMut(&[u8]) -> Result<()>| {
        while let Some(name) = of_nodes.next_name()? {
            write(name)?;
        }
        Ok(())
    };
    let mut numbers = first.scan(files)?;
    let mut scans = Vec::new();
    for column in others {
        scans.push(column.scan(files)?);
    }
    let nodes = NodeOutput {
        count: first.node_count(),
        number: || numbers.next_number(),
        weights: &[],
        flow: None,
        stability: None,
        kinds: graph.open_kinds()?.map(|kinds| (kinds.scan(), kinds.names().clone())),
        groups: |groups: &mut Vec<u32>| {
            for scan in &mut scans {
                groups.extend(scan.next_label()?);
            }
            Ok(())
        },
        group_count: others.len(),
        column_names: names,
        has_header,
    };
    write_paths(files, each, nodes, b'\t', output, observer)
}

/// Returns a phrase about small communities to append to a summary.
fn left_out(presented: &Presented) -> String {
    if presented.small_nodes == 0 {
        return String::new();
    }
    let nodes = format_counted(presented.small_nodes, "node", "nodes");
    let communities =
        format_counted(presented.small_communities, "small community", "small communities");
    let fate = if presented.leaves_out() { "left out" } else { "turned into singletons" };
    format!("; {communities} of {nodes} {fate}")
}
