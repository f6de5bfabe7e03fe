//! Writing of results: each to a file of its own, one by one or together, or all as columns of one.

use super::{bench, sort_budget};
use crate::cluster::Communities;
use crate::error::Result;
use crate::graph::Graph;
use crate::io::{Files, Shares};
use crate::job::context::Context;
use crate::job::present::Targets;
use crate::output::{ModuleForm, RowFile};
use crate::present::{
    Flow, Inside, Levels, ModuleRows, NodeColumn, NodeValues, PresentOptions, Presented, RowForm,
    Workbench, module_bytes, write_members, write_modules, write_nodes,
};
use crate::progress::{Event, REPORT_NODES, Stage, notify};
use crate::units::{format_bytes, format_counted};
use rayon::prelude::*;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What is written of the nodes, besides their communities.
pub(crate) struct OfNodes<'a> {
    pub(crate) inside: &'a Inside,
    pub(crate) stability: Option<&'a Shares<u32>>,
    pub(crate) flow: Option<&'a Flow>,
    pub(crate) levels: Option<Levels>,
    /// Code length of the communities, or of their tree, as they were found.
    pub(crate) code_length: Option<f64>,
}

impl<'a> OfNodes<'a> {
    /// Returns whether there is nothing else to write.
    fn is_empty(&self) -> bool {
        let Self { inside, stability, flow, levels, .. } = self;
        inside.weights.is_empty() && stability.is_none() && flow.is_none() && levels.is_none()
    }

    fn columns(
        &self,
        context: &Context<'_>,
        graph: &Graph,
        presented: &'a Presented,
        file: RowFile<'_>,
    ) -> Result<Vec<NodeColumn<'a>>> {
        let (files, mut columns, mut inside) = (context.files, Vec::new(), Vec::new());
        // In text, a path replaces the community, with which it begins.
        if file.format.is_table() || !self.levels.as_ref().is_some_and(Levels::are_paths) {
            columns.push(NodeColumn::new("community", NodeValues::Number(presented.scan(files)?)));
        }
        if let Some(levels) = &self.levels {
            inside = levels.node_columns(&bench(context, 0), presented)?;
        }
        let (mut others, weights) = (Vec::new(), &self.inside.weights);
        if !weights.is_empty() {
            others.push(NodeColumn::new("weight", NodeValues::Weight(weights.iter())));
        }
        if let Some(flow) = self.flow {
            others.push(NodeColumn::new("flow", NodeValues::Flow(flow.scan(files)?)));
        }
        if let Some(stability) = self.stability {
            let stability = NodeValues::Stability(stability.scan(files)?);
            others.push(NodeColumn::new("stability", stability));
        }
        in_order(graph, columns, inside, others, file)
    }
}

/// Returns all columns in the order of a file. The columns `inside` follow the first ones in text, and come last in a
/// table. The kind of each node is a column if there are two kinds. But text without names of columns has only a node,
/// whose name begins with the kind, and its community.
fn in_order<'a>(
    graph: &Graph,
    mut columns: Vec<NodeColumn<'a>>,
    mut inside: Vec<NodeColumn<'a>>,
    others: Vec<NodeColumn<'a>>,
    file: RowFile<'_>,
) -> Result<Vec<NodeColumn<'a>>> {
    let is_table = file.format.is_table();
    if !is_table {
        columns.append(&mut inside);
    }
    columns.extend(others);
    if is_table || file.has_header || columns.len() > 1 {
        columns.extend(NodeColumn::kind(graph)?);
    }
    columns.append(&mut inside);
    Ok(columns)
}

/// Writes a result, or returns it if it can be written [together](write_together) with others.
pub(crate) fn write(
    context: &mut Context<'_>,
    graph: &Graph,
    presented: Presented,
    mut of_nodes: OfNodes<'_>,
    options: &PresentOptions,
    output: &Path,
) -> Result<Option<Presented>> {
    let (form, rows) = (ModuleForm::of(output), options.rows);
    let file = RowFile::new(output, options.output_header);
    let is_text = rows == RowForm::Nodes && form.is_none() && !file.format.is_table();
    if presented.is_on_disk() && is_text && of_nodes.is_empty() {
        return Ok(Some(presented));
    }
    let presented = &presented;
    context.stage(Stage::Write, |context| {
        context.begin(Stage::Write, Some(presented.node_count()), "nodes")?;
        let bytes = match (form, rows) {
            (Some(form), _) => write_infomap(context, graph, presented, &of_nodes, form, output)?,
            (None, RowForm::Nodes) => {
                of_nodes.flow = of_nodes.flow.filter(|_| options.flow);
                let columns = of_nodes.columns(context, graph, presented, file)?;
                write_rows(context.files, graph, columns, file, &tick(context))?
            }
            (None, rows) => {
                let bench = bench(context, sort_budget(context, 0, Workbench::BUDGET_MIN));
                write_members(&bench, graph, presented, of_nodes.inside, rows, file)?
            }
        };
        if let Some(levels) = of_nodes.levels.take() {
            levels.remove(&bench(context, 0));
        }
        Ok(((), format!("{} written{}", format_bytes(bytes), left_out(presented))))
    })?;
    Ok(None)
}

fn write_infomap(
    context: &Context<'_>,
    graph: &Graph,
    presented: &Presented,
    of_nodes: &OfNodes<'_>,
    form: ModuleForm,
    output: &Path,
) -> Result<u64> {
    let rows = ModuleRows {
        presented,
        levels: of_nodes.levels.as_ref(),
        flow: of_nodes.flow.expect("it was found for this output"),
        code_length: of_nodes.code_length.filter(|_| presented.small_nodes == 0),
    };
    let bytes = module_bytes(form, graph, rows.module_count(), context.limits.threads);
    let labels = 4 * presented.node_count();
    let budget = sort_budget(context, labels + bytes, Workbench::BUDGET_MIN);
    write_modules(&bench(context, budget), graph, &rows, form, output)
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
        context.begin(Stage::Write, Some(graph.node_count()), "nodes")?;
        let file = RowFile::new(&targets.outputs[0], targets.options.output_header);
        let named = columns.iter().zip(targets.columns.iter().map(String::as_str));
        let bytes = write_numbers(context.files, graph, named, file, &tick(context))?;
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
        let (done, observer) = (Mutex::new(0), context.observer);
        let tick = |_| {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += REPORT_NODES;
            notify(observer, Event::Advance { done: *done })
        };
        let write = |(presented, output): &(Presented, &Path)| {
            let file = RowFile::new(output, options.output_header);
            write_numbers(context.files, graph, [(presented, "community")], file, &tick)
        };
        let all: Vec<Result<u64>> = results.par_iter().map(write).collect();
        let bytes = all.into_iter().sum::<Result<u64>>()?;
        let left_out: String = results.iter().map(|(presented, _)| left_out(presented)).collect();
        let files = format_counted(results.len() as u64, "file", "files");
        Ok(((), format!("{files}, {} written{left_out}", format_bytes(bytes))))
    })
}

/// Writes the numbers of each node's communities in results, as columns with these names.
fn write_numbers<'a>(
    files: &Files,
    graph: &Graph,
    results: impl IntoIterator<Item = (&'a Presented, &'a str)>,
    file: RowFile<'_>,
    tick: &dyn Fn(u64) -> Result<()>,
) -> Result<u64> {
    let mut first = Vec::new();
    for (result, name) in results {
        first.push(NodeColumn::new(name, NodeValues::Number(result.scan(files)?)));
    }
    // A job has a result.
    let further = first.split_off(1).into_iter().map(NodeColumn::optional).collect();
    let columns = in_order(graph, first, further, Vec::new(), file)?;
    write_rows(files, graph, columns, file, tick)
}

/// Writes a row for each node. Returns the length of the file in bytes.
fn write_rows(
    files: &Files,
    graph: &Graph,
    columns: Vec<NodeColumn<'_>>,
    file: RowFile<'_>,
    tick: &dyn Fn(u64) -> Result<()>,
) -> Result<u64> {
    write_nodes(files, graph, Some(graph.names()?), columns, file, tick)?.finish()
}

/// Returns a function that reports the progress of a file.
fn tick(context: &Context<'_>) -> impl Fn(u64) -> Result<()> {
    let observer = context.observer;
    move |done| notify(observer, Event::Advance { done })
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
