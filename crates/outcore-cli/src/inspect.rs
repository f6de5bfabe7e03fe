//! `outcore inspect`.

mod node;

use crate::args::Inspect;
use crate::jobs::input::reading_options;
use crate::screen::print::json;
use outcore::error::opt::VERIFY;
use outcore::graph::Graph;
use outcore::input::{ColumnUse, examine};
use outcore::io::{Confidence, DiskProfile, Files, Mode, TransferProfile};
use outcore::job::{InputFile, JobManifest};
use outcore::progress::Observer;
use outcore::units::{format_bytes, format_count};
use outcore::{Error, ErrorKind, Result};
use std::path::Path;

/// Maximum number of inputs of a job that are listed; `--json` has all of them.
const INPUTS_SHOWN: usize = 8;

/// What to do with a directory whose process has ended.
const AGAIN: &str = "run the same command again; it removes this directory at its end";

/// Description of a work directory, as `--json` prints it.
#[derive(serde::Serialize)]
struct WorkDirectory<'a> {
    schema: u32,
    kind: &'static str,
    path: &'a Path,
    /// Whether the job's process is still running.
    is_running: bool,
    manifest: &'a JobManifest,
}

/// Description of a graph, as `--json` prints it.
#[derive(serde::Serialize)]
struct Description<'a> {
    schema: u32,
    kind: &'static str,
    path: &'a Path,
    node_count: u64,
    edge_count: u64,
    arc_count: u64,
    loop_count: u64,
    degree_max: u64,
    weight_total: f64,
    is_directed: bool,
    is_weighted: bool,
    block_count: usize,
    disk_bytes: u64,
    /// Whether the checksums have been compared.
    verified: bool,
}

/// Description of a file of edges, as `--json` prints it.
#[derive(serde::Serialize)]
struct EdgesFile<'a> {
    schema: u32,
    kind: &'static str,
    path: &'a Path,
    understood: String,
    columns: Vec<ColumnUse>,
}

/// Returns the description of a file of edges, a graph, a work directory, a profile or a node of a result, as text or as
/// JSON.
pub(crate) fn inspect(
    files: &Files,
    arguments: &Inspect,
    observer: &dyn Observer,
) -> Result<String> {
    let path = &arguments.path;
    if let Some(node) = &arguments.node {
        return node::inspect_node(files, arguments, node, observer);
    }
    let is_directory = files.entry(path)?.is_directory;
    if !is_directory && files.is_regular(path) && begins_with_a_brace(files, path)? {
        return inspect_profile(files, arguments);
    }
    if !is_directory {
        return inspect_edges(files, arguments);
    }
    if let Some(option) = arguments.reading.given.first() {
        let message =
            format_args!("{option} is for files of edges, but `{}` is a directory", path.display());
        return Err(Error::usage(message).hint("leave it out"));
    }
    if files.entry(&path.join("graph.json")).is_err() {
        return match JobManifest::read(files, path)? {
            Some(manifest) => inspect_work_directory(&manifest, arguments),
            None => Err(Error::new(
                ErrorKind::Usage,
                format!("`{}` is neither a graph nor a work directory", path.display()),
            )
            .hint("`outcore build EDGES -o GRAPH` makes a graph from an edge list")),
        };
    }
    let graph = Graph::open(files, path)?;
    if arguments.verify {
        graph.verify(observer)?;
    }
    let description = Description {
        schema: 1,
        kind: "graph",
        path,
        node_count: graph.node_count(),
        edge_count: graph.edge_count(),
        arc_count: graph.arc_count(),
        loop_count: graph.loop_count(),
        degree_max: graph.max_degree(),
        weight_total: graph.weight_total(),
        is_directed: graph.is_directed(),
        is_weighted: graph.is_weighted(),
        block_count: graph.blocks().len(),
        disk_bytes: graph.bytes_on_disk(),
        verified: arguments.verify,
    };
    if arguments.json {
        return json(&description);
    }
    Ok(table(&description))
}

/// Returns what the columns of a file of edges are used for.
fn inspect_edges(files: &Files, arguments: &Inspect) -> Result<String> {
    let path = &arguments.path;
    refuse_verify(arguments)?;
    let (understood, columns) = examine(files, path, &reading_options(&arguments.reading))?;
    if arguments.json {
        let kind = "edges";
        return json(&EdgesFile { schema: 1, kind, path, understood, columns });
    }
    let text = |column: &ColumnUse| {
        let ColumnUse { number, name, values, role, why, .. } = column;
        let role = if role.is_empty() { "-" } else { role };
        [number.to_string(), name.clone(), values.clone(), role.to_owned(), why.clone()]
    };
    let mut rows: Vec<[String; 5]> = columns.iter().map(text).collect();
    if rows.is_empty() {
        return Ok(format!("{understood}\n"));
    }
    rows.insert(0, ["column", "name", "values", "use", "why"].map(str::to_owned));
    Ok(format!("{understood}\n{}", aligned(&rows)))
}

/// Returns rows with columns of equal width.
fn aligned(rows: &[[String; 5]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn inspect_work_directory(manifest: &JobManifest, arguments: &Inspect) -> Result<String> {
    let path = &arguments.path;
    refuse_verify(arguments)?;
    let is_running = manifest.owner.is_running();
    if arguments.json {
        let kind = "work-directory";
        let description = WorkDirectory { schema: 1, kind, path, is_running, manifest };
        return json(&description);
    }
    Ok(work_table(path, manifest, is_running))
}

fn work_table(path: &Path, manifest: &JobManifest, is_running: bool) -> String {
    let mut text = format!("work directory  {}\n", path.display());
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    let process = manifest.owner.process();
    row("job", manifest.job.name());
    match (is_running, process) {
        (true, _) => row("process", &format!("{process}, running")),
        (false, 0) => row("process", "none"),
        (false, _) => row("process", &format!("{process}, ended before its job was done")),
    }
    if !is_running {
        row("to resume", AGAIN);
    }
    if !manifest.result.is_empty() {
        row("result", &manifest.result);
    }
    for (index, input) in manifest.inputs.iter().take(INPUTS_SHOWN).enumerate() {
        row(if index == 0 { "inputs" } else { "" }, &input_and_size(input));
    }
    if let Some(more) = manifest.inputs.len().checked_sub(INPUTS_SHOWN).filter(|&more| more > 0) {
        row("", &format!("and {more} more (--json)"));
    }
    let stages: Vec<_> = manifest.stages_done.iter().map(|stage| stage.name()).collect();
    row("stages done", &if stages.is_empty() { "none".into() } else { stages.join(", ") });
    text
}

fn input_and_size(input: &InputFile) -> String {
    match input.bytes {
        Some(bytes) => format!("{} ({})", input.path, format_bytes(bytes)),
        None => input.path.clone(),
    }
}

fn refuse_verify(arguments: &Inspect) -> Result<()> {
    if !arguments.verify {
        return Ok(());
    }
    let path = arguments.path.display();
    Err(Error::usage(format_args!("{VERIFY} is for graphs, but `{path}` is not one")))
}

/// Returns whether a file begins with a brace, and so may be JSON.
fn begins_with_a_brace(files: &Files, path: &Path) -> Result<bool> {
    let mut first = [0];
    Ok(files.open(path, Mode::Read)?.read_at(0, &mut first)? == 1 && first == *b"{")
}

fn inspect_profile(files: &Files, arguments: &Inspect) -> Result<String> {
    refuse_verify(arguments)?;
    let profile = DiskProfile::load(files, &arguments.path)?;
    if arguments.json {
        return json(&profile);
    }
    let unknown = || "unknown".to_owned();
    let device = profile.valid_if.device.as_ref();
    let device = device.map(|device| device.source.clone().unwrap_or_else(|| device.id()));
    let mut text = format!("profile         {}\n", arguments.path.display());
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    row("device", &device.unwrap_or_else(unknown));
    row("kernel", &profile.valid_if.kernel.clone().unwrap_or_else(unknown));
    row("date", &profile.date.clone().unwrap_or_else(unknown));
    row("read", &transfer(&profile.read));
    row("write", &transfer(&profile.write));
    if let Some(random) = &profile.random_read {
        row("random read", &format!("{:.1} us", random.seconds_at_depth_1.value * 1e6));
    }
    if let Some(figure) = &profile.derived.merge_read_bytes {
        row("merge reads", &format_bytes(figure.value as u64));
    }
    if let Some(figure) = &profile.slowness {
        let unused = match figure.confidence {
            Confidence::Measured => String::new(),
            low => format!(" ({}, not used)", low.name()),
        };
        row("time of a job", &format!("{:.2}x of the usual{unused}", figure.value));
    }
    Ok(text)
}

/// Returns a text such as `1.00 MiB x 4, direct, 3.2 GiB/s (measured)`.
fn transfer(found: &TransferProfile) -> String {
    let access = if found.direct { "direct" } else { "buffered" };
    let rate = found
        .bytes_per_second
        .map_or_else(String::new, |rate| format!(", {}/s", format_bytes(rate.value as u64)));
    let (block, depth) = (format_bytes(found.block_bytes as u64), found.depth);
    format!("{block} x {depth}, {access}{rate} ({})", found.confidence.name())
}

fn table(graph: &Description<'_>) -> String {
    let kind = match (graph.is_directed, graph.is_weighted) {
        (false, false) => "undirected, all weights 1",
        (false, true) => "undirected, weighted",
        (true, false) => "directed, all weights 1",
        (true, true) => "directed, weighted",
    };
    let edge_weight = graph.weight_total / if graph.is_directed { 1.0 } else { 2.0 };
    let mut text = format!("graph           {}\n", graph.path.display());
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    row("kind", kind);
    row("nodes", &format_count(graph.node_count));
    row("edges", &format_count(graph.edge_count));
    row("loops", &format_count(graph.loop_count));
    row("largest degree", &format_count(graph.degree_max));
    row("sum of weights", &seven_digits(edge_weight));
    row("blocks", &format_count(graph.block_count as u64));
    row("disk", &format_bytes(graph.disk_bytes));
    row("checksums", if graph.verified { "all match" } else { "not compared (--verify)" });
    text
}

/// Formats a value with seven digits. Weights are stored with seven; more would be noise.
pub(crate) fn seven_digits(value: f64) -> String {
    format!("{value:.6e}")
        .parse()
        .map_or_else(|_| value.to_string(), |short: f64| short.to_string())
}
