//! Default output about the input: the detected formats of its files, and counts of their edges.

use super::append::Old;
use crate::error::opt::REPORT;
use crate::error::{Result, Text};
use crate::graph::{Duplicates, GraphSummary};
use crate::job::InputReport;
use crate::progress::{Event, Observer, notify};
use crate::sort::SortSummary;
use crate::units::{format_count, format_counted};

/// Maximum number of lines about files.
const LINES: usize = 4;

/// Reports the detected formats of the files, one line for each; if there are many, only the first ones.
pub(super) fn report_formats(observer: &dyn Observer, formats: &[String]) -> Result<()> {
    let shown = if formats.len() > LINES { LINES - 1 } else { formats.len() };
    let notice = |text: &str| notify(observer, Event::Notice { text });
    formats[..shown].iter().try_for_each(|text| notice(text))?;
    match formats.len() - shown {
        0 => Ok(()),
        more => notice(&format!("and files of {more} more formats: {REPORT} lists them all")),
    }
}

/// Reports again the formats and warnings of the input, which an earlier job has read.
pub(super) fn report_again(
    observer: &dyn Observer,
    input: &InputReport,
    warnings: &[Text],
) -> Result<()> {
    report_formats(observer, &input.formats)?;
    warnings.iter().try_for_each(|text| notify(observer, Event::Warning { text }))
}

/// Summarizes the read stage: counts of edges and nodes, and of edges that are not in the graph.
pub(crate) fn of_read(input: &InputReport, node_count: u64, old: Option<&Old>) -> String {
    let known = old.map_or(0, |old| old.graph.node_count());
    let whose = old.map_or("", |old| &old.files.path);
    let edges = |count| format_counted(count, "edge", "edges");
    let dropped = &input.dropped;
    let by_weight = dropped.below_min_count + dropped.above_max_count;
    let names = format_counted(input.names_on_disk_count, "name", "names");
    // A loop of weight 0 has no effect; adjacency lists have one for a node without neighbors.
    let zero = dropped.zero_weight_count.saturating_sub(dropped.zero_weight_loop_count);
    let self_hits = dropped.self_hit_count;
    let parts = [
        (1, edges(input.edge_count)),
        (1, format_counted(node_count, "node", "nodes")),
        (input.comment_count, format_counted(input.comment_count, "comment", "comments")),
        (known, format!("{} of them from `{whose}`", format_count(known))),
        (input.names_on_disk_count, format!("{names} spilled to disk")),
        (zero, format!("{} of weight 0 dropped", edges(zero))),
        (by_weight, format!("{} dropped by weight", edges(by_weight))),
        (self_hits, format_counted(self_hits, "self hit", "self hits")),
    ];
    join(parts)
}

/// Summarizes the merge: how the arcs were sorted, and how repeated edges and loops were treated. Counts are of input
/// edges if `input` counts loops, and exclude those of `old`, which was merged too.
pub(crate) fn of_merge(
    sort: SortSummary,
    input: &InputReport,
    graph: &GraphSummary,
    old: Option<&GraphSummary>,
) -> String {
    let new = |of: fn(&GraphSummary) -> u64| of(graph).saturating_sub(old.map_or(0, of));
    let runs = format_counted(sort.run_count, "run", "runs");
    let passes = format_counted(sort.pass_count, "merge pass", "merge passes");
    let sorted = match sort.run_count {
        0 => "sorted in memory".into(),
        _ => format!("{runs}, {passes}"),
    };
    let loops = input.loop_count;
    let repeated_loops =
        loops.saturating_sub(new(|graph| graph.loop_count + graph.dropped_loop_count));
    let repeated_arcs = new(|graph| graph.combined_count).saturating_sub(repeated_loops);
    let repeated = if graph.is_directed { repeated_arcs } else { repeated_arcs / 2 };
    // A dropped loop does not also count as a repeated edge.
    let repeated = repeated + if graph.loops_kept { repeated_loops } else { 0 };
    let how = match graph.duplicates {
        Duplicates::Sum => "summed",
        Duplicates::Max => "(largest weight)",
        Duplicates::Min => "(smallest weight)",
        Duplicates::First => "(first weight)",
    };
    let repeated_edges = format_counted(repeated, "repeated edge", "repeated edges");
    let kept = new(|graph| graph.loop_count);
    let (dropped, retained) = if graph.loops_kept { (0, kept) } else { (loops, 0) };
    join([
        (1, sorted),
        (repeated, format!("{repeated_edges} {how}")),
        (dropped, format!("{} dropped", format_counted(dropped, "loop", "loops"))),
        (retained, format!("{} retained", format_counted(retained, "loop", "loops"))),
    ])
}

/// Joins the phrases whose counts are not 0.
fn join<const N: usize>(parts: [(u64, String); N]) -> String {
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    parts.collect::<Vec<_>>().join(", ")
}
