//! Texts of the page: title, summary, methods and options.

use outcore::cluster::PropagationOptions;
use outcore::graph::GraphSummary;
use outcore::job::{CommunitiesReport, JobKind, Report};
use outcore::units::{format_bytes, format_count, format_counted, format_seconds};
use outcore_page::shorten;
use std::path::Path;

/// Maximum number of names that are listed.
const NAMES_MAX: usize = 3;
/// Characters of a path in a sentence; the section about the job has all of them.
const NAME_MAX: usize = 80;

pub(super) fn title(report: &Report) -> String {
    let what = if report.job == JobKind::Build { "Graph" } else { "Communities" };
    format!("{what} of {}", names(&sources(report)))
}

/// Returns the inputs that are edges or a graph: not the files of labels to start from or to compare with.
fn sources(report: &Report) -> Vec<String> {
    let is_labels = |path: &String| {
        report.communities.iter().any(|found| {
            let earlier =
                found.described.compared.as_ref().is_some_and(|compared| compared.a.path == *path);
            earlier
                || found.options.initial.as_ref().is_some_and(|initial| initial == Path::new(path))
        })
    };
    report.inputs.iter().filter(|path| !is_labels(path)).cloned().collect()
}

/// Describes the job in a phrase.
pub(super) fn job(report: &Report) -> String {
    format!("{} of {}", report.job.name(), names(&sources(report)))
}

/// Joins the first of the names, and counts the others.
fn names(all: &[String]) -> String {
    let shown = all.iter().take(NAMES_MAX).cloned().map(name).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {} more", format_count(more as u64)),
    }
}

fn name(path: String) -> String {
    if path == "-" { "standard input".into() } else { shorten(&path, NAME_MAX) }
}

/// Summarizes the job in a few sentences.
pub(super) fn summary(report: &Report) -> String {
    let mut text = String::new();
    let graph = report.graph.as_ref().map(size);
    match (&report.input, graph) {
        (Some(input), Some(graph)) => {
            let lines = format_counted(input.edge_count, "line", "lines");
            text += &format!(
                "{lines} with an edge of {} gave a graph of {graph}.",
                names(&sources(report))
            );
        }
        (None, Some(graph)) => {
            text += &format!("{} is a graph of {graph}.", names(&sources(report)));
        }
        _ => {}
    }
    if let Some(found) = &report.communities {
        let counts = match report.results.as_slice() {
            [] => format_counted(found.sizes.community_count, "community", "communities"),
            all => {
                let each =
                    all.iter().map(|result| format_count(result.communities.sizes.community_count));
                format!("{} communities", each.collect::<Vec<_>>().join(", "))
            }
        };
        let with = options(report, found);
        text += &format!(" The method {} ({with}) found {counts}.", found.options.method.name());
    }
    let time = format_seconds(report.seconds);
    let limit = format_bytes(report.limits.memory_bytes);
    text += &match report.peak_memory_bytes {
        Some(peak) => format!(
            " It took {time} and {} of memory at most, with a limit of {limit}.",
            format_bytes(peak)
        ),
        None => format!(" It took {time}, with {limit} of memory as the limit."),
    };
    text.trim_start().to_owned()
}

pub(super) fn size(graph: &GraphSummary) -> String {
    let (nodes, edges) = (graph.node_count, graph.edge_count);
    let kind = if graph.is_directed { "directed edges" } else { "edges" };
    let edge = if graph.is_directed { "directed edge" } else { "edge" };
    let nodes = format_counted(nodes, "node", "nodes");
    let edges = format_counted(edges, edge, kind);
    match graph.loop_count {
        0 => format!("{nodes} and {edges}"),
        loops => format!("{nodes}, {edges} and {}", format_counted(loops, "loop", "loops")),
    }
}

/// Returns the option value that distinguishes a result from the others of its job.
pub(super) fn parameter(found: &CommunitiesReport) -> String {
    let (name, value) = value(found);
    format!("{name} {value}")
}

/// Returns the name and value of the option that can have several values.
fn value(found: &CommunitiesReport) -> (&'static str, f64) {
    let attenuation = found.options.propagation.iter().flat_map(|options| &options.attenuation);
    match found.options.resolution {
        Some(resolution) => ("resolution", resolution),
        None => ("attenuation", attenuation.copied().next().unwrap_or(0.0)),
    }
}

/// Lists the options that affect the results of a job.
pub(super) fn options(report: &Report, first: &CommunitiesReport) -> String {
    let (name, only) = value(first);
    let values: Vec<String> =
        report.results.iter().map(|result| value(&result.communities).1.to_string()).collect();
    let mut all = Vec::new();
    if !values.is_empty() {
        all.push(format!("{name} {}", values.join(", ")));
    } else if only != 0.0 {
        all.push(format!("{name} {only}"));
    }
    let most = first.options.max_size.map(|most| format_count(most.into()));
    all.extend(most.map(|most| format!("at most {most} nodes each")));
    all.extend(
        first.options.well_connected.map(|found| format!("well-connected by {}", found.bound)),
    );
    if first.options.min_weight > 0.0 {
        all.push(format!("without edges lighter than {}", first.options.min_weight));
    }
    all.extend(first.options.initial.iter().map(|path| format!("initial {}", path.display())));
    all.extend(first.options.propagation.iter().flat_map(changed));
    all.push(format!("seed {}", first.options.seed));
    all.join(", ")
}

/// Returns the options of label propagation that differ from their defaults, except for the attenuation.
fn changed(options: &PropagationOptions) -> Vec<String> {
    let fields = |options: &PropagationOptions| serde_json::to_value(options).unwrap_or_default();
    let (given, usual) = (fields(options), fields(&PropagationOptions::default()));
    let Some(given) = given.as_object() else { return Vec::new() };
    let differs = |name: &str, value| name != "attenuation" && usual.get(name) != Some(value);
    let differing = given.iter().filter(|(name, value)| differs(name.as_str(), *value));
    differing
        .map(|(name, value)| {
            let value = match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string().replace(['"', '[', ']', '{', '}'], "").replace(':', " "),
            };
            format!("{} {}", name.replace('_', " "), value.replace(',', ", "))
        })
        .collect()
}
