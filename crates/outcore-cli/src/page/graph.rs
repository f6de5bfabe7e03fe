//! Sections about the graph: distributions of degrees and weights.

use super::section::{Section, charts, percent};
use maud::{Markup, html};
use outcore::graph::{Bin, GraphSummary};
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{self, Around, Upright};

/// Maximum number of columns; more are merged.
const COLUMNS_MAX: i32 = 40;

pub(super) fn degrees(graph: &GraphSummary) -> Section {
    let mean = graph.arc_count as f64 / graph.node_count.max(1) as f64;
    let most = format_count(graph.max_degree);
    let kind = if graph.is_directed { "edges that point to it" } else { "edges" };
    let short =
        format!("a node has {} {kind} on average, and {most} at most", magnitude(round(mean)));
    let body = match graph.degrees.is_empty() {
        true => unknown(),
        false => drawn_degrees(graph),
    };
    Section { id: "degrees", heading: "Degrees", short, body }
}

fn unknown() -> Markup {
    html! {
        p.faint { "This graph was built by a version that did not count this: rebuild it to see this section." }
    }
}

fn drawn_degrees(graph: &GraphSummary) -> Markup {
    let columns = columns(&graph.degrees, graph.node_count, "degree", "node", "nodes");
    let x = if graph.is_directed { "edges that point to a node" } else { "edges of a node" };
    let around = Around { x, y: "nodes", logarithmic: true, legend: &[] };
    let what = if graph.is_directed { "edges point to them" } else { "edges they have" };
    let alone = graph.degrees.iter().find(|bin| bin.at_least == 0).map_or(0, |bin| bin.count);
    html! {
        p {
            "Nodes by how many " (what) ", not counting loops; a column extends to the next number."
        }
        @if alone > 0 { p { (format_counted(alone, "node is", "nodes are")) " without any." } }
        (charts(chart::columns("Degrees of the nodes", &columns, around)))
    }
}

fn round(value: f64) -> f64 {
    if value < 100.0 { (value * 10.0).round() / 10.0 } else { value.round() }
}

/// Returns columns from the first bin to the last, including empty ones between them. A bin of 0 comes first.
pub(super) fn columns(
    bins: &[Bin<u64>],
    whole: u64,
    what: &str,
    one: &str,
    many: &str,
) -> Vec<Upright> {
    let zeros = bins.iter().filter(|bin| bin.at_least == 0);
    let powers = || bins.iter().filter_map(|bin| bin.at_least.checked_ilog2());
    let (first, last) = (powers().min().unwrap_or(1), powers().max().unwrap_or(0));
    let between = (first..=last).map(|power| {
        let count = bins.iter().find(|bin| bin.at_least == 1 << power).map_or(0, |bin| bin.count);
        (1u64 << power, count)
    });
    let all = zeros.map(|bin| (0, bin.count)).chain(between);
    all.map(|(least, count)| {
        let most = (2 * u128::from(least)).saturating_sub(1) as u64;
        let range = match most.saturating_sub(least) {
            0 => format_count(least),
            _ => format!("{} to {}", format_count(least), format_count(most)),
        };
        let counted = format_counted(count, one, many);
        Upright {
            class: "bar".into(),
            value: count as f64,
            label: format_count(least),
            reported: format!("{what} {range}: {counted} ({})", percent(count, whole)),
        }
    })
    .collect()
}

pub(super) fn weights(graph: &GraphSummary) -> Section {
    let edges = graph.edge_count;
    let mean = graph.weight_total / graph.arc_count.max(1) as f64;
    let short = match (graph.is_weighted, edges) {
        (_, 0) => "no edge joins two nodes".into(),
        (false, _) => "every edge has weight 1".to_owned(),
        (true, _) => format!("{} on average", magnitude(mean)),
    };
    let body = match (graph.is_weighted, edges) {
        (_, 0) => html! { p { "No edge joins two nodes." } },
        _ if graph.weights.is_empty() => unknown(),
        (false, _) => html! { p { "Every edge has weight 1." } },
        (true, _) => drawn_weights(graph),
    };
    Section { id: "weights", heading: "Weights", short, body }
}

fn drawn_weights(graph: &GraphSummary) -> Markup {
    // Both arcs of an undirected edge have its weight.
    let ends = if graph.is_directed { 1 } else { 2 };
    let columns = weight_columns(&graph.weights, ends, graph.edge_count);
    let around = Around { x: "weight", y: "edges", logarithmic: false, legend: &[] };
    html! {
        p {
            "Edges by their weight in the graph, transformed and summed, not counting loops; a column \
             extends to the next number."
        }
        (charts(chart::columns("Weights of the edges", &columns, around)))
    }
}

/// Returns at most about [`COLUMNS_MAX`] columns, each spanning the number of powers of two that this requires.
fn weight_columns(bins: &[Bin<f64>], ends: u64, edges: u64) -> Vec<Upright> {
    // Weights below all powers of two are counted with the smallest.
    let power =
        |bin: &Bin<f64>| if bin.at_least > 0.0 { bin.at_least.log2() as i32 } else { -1023 };
    let first = bins.iter().map(power).min().unwrap_or(0);
    let last = bins.iter().map(power).max().unwrap_or(0);
    let width = (last - first) / COLUMNS_MAX + 1;
    let first = first.div_euclid(width) * width;
    let starts = (first..=last).step_by(width as usize);
    starts
        .map(|start| {
            let inside = bins.iter().filter(|bin| (start..start + width).contains(&power(bin)));
            let count = inside.map(|bin| bin.count).sum::<u64>() / ends;
            let (low, high) = (2f64.powi(start), 2f64.powi(start + width));
            let counted = format_counted(count, "edge", "edges");
            let share = percent(count, edges);
            Upright {
                class: "bar".into(),
                value: count as f64,
                label: magnitude(low),
                reported: format!(
                    "weight {} to {}: {counted} ({share})",
                    magnitude(low),
                    magnitude(high)
                ),
            }
        })
        .collect()
}

/// Formats a number of any magnitude with few digits.
fn magnitude(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
