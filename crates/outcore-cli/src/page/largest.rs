//! The table of the largest communities, with the figures of each.

use super::found::Found;
use super::section::{Section, for_each, percent, real};
use maud::{Markup, html};
use outcore::job::{CommunityReport, LargestReport, Report};
use outcore::units::{format_count, format_counted};
use outcore_page::{Records, shorten};

/// Number of rows.
const ROWS_MAX: usize = 50;
/// Characters of a name in the table.
const IN_TABLE: usize = 40;

/// Returns the identifier of a community's card: of community `number` in the list of result `at`.
pub(super) fn key(at: usize, number: usize) -> String {
    format!("r{at}c{number}")
}

/// Returns a name with at most `most` characters, or a visible text in its place if it has nothing to see.
pub(super) fn name(text: &str, most: usize) -> String {
    let text = shorten(text, most);
    if text.trim().is_empty() { "(no visible name)".into() } else { text }
}

pub(super) fn section(report: &Report, all: &[Found<'_>]) -> Option<Section> {
    let known = all.iter().find_map(|found| found.communities.described.largest.as_ref())?;
    let rows = known.communities.len().min(ROWS_MAX);
    let all_in = match &all[0].communities.described.summary {
        Some(path) => format!("all are in {path}"),
        None => "--summary FILE writes all".into(),
    };
    let short = match (all.len(), rows as u64) {
        (1, rows) if rows < all[0].communities.sizes.community_count => format!(
            "the {rows} largest of {}; {all_in}",
            format_count(all[0].communities.sizes.community_count)
        ),
        (1, _) => "all communities".into(),
        _ => format!("the {rows} largest of each result; {all_in}"),
    };
    let nodes = report.graph.as_ref().map_or(0, |graph| graph.node_count);
    let body = for_each(all, |at, found| {
        let largest = found.communities.described.largest.as_ref()?;
        Some(html! { (table(at, largest, nodes)) })
    });
    let body = html! { (body) (meanings()) };
    Some(Section { id: "largest", heading: "The largest communities", short, body })
}

fn table(at: usize, largest: &LargestReport, nodes: u64) -> Markup {
    let has_stability = largest.communities.iter().any(|each| each.stability.is_some());
    let columns: Vec<&str> = [
        "community",
        "representative",
        "nodes",
        "of all",
        "weight inside",
        "weight outside",
        "density",
        "conductance",
        "stability",
        "largest neighbor",
        "weight to it",
    ]
    .into_iter()
    .filter(|heading| has_stability || *heading != "stability")
    .collect();
    let row = |(number, each): (usize, &CommunityReport)| {
        let cells = cells(key(at, number), each, nodes);
        let shown = cells.into_iter().enumerate().filter(|(at, _)| has_stability || *at != 8);
        shown.map(|(_, cell)| cell).collect()
    };
    let listed = largest.communities.iter().take(ROWS_MAX).enumerate();
    let rows: Vec<Vec<Markup>> = listed.map(row).collect();
    html! { (Records { headings: &columns, rows: &rows, words: &[1], sortable: true }) }
}

fn cells(key: String, each: &CommunityReport, nodes: u64) -> [Markup; 11] {
    let text = |words: String| html! { (words) };
    let known = |value: Option<f64>| text(value.map(share).unwrap_or_default());
    let neighbor = each.neighbor.map(|number| number.to_string());
    [
        html! { a href={ "#" (key) } { (each.community) } },
        html! { bdi { (name(&each.representative, IN_TABLE)) } },
        text(format_count(each.size)),
        text(percent(each.size, nodes)),
        text(real(each.inner_weight)),
        text(real(each.outer_weight)),
        known(each.density),
        known(each.conductance),
        known(each.stability),
        text(neighbor.unwrap_or_default()),
        text(each.neighbor_weight.map(real).unwrap_or_default()),
    ]
}

/// Formats a share from 0 to 1.
fn share(value: f64) -> String {
    if value > 0.0 && value < 0.001 { real(value) } else { format!("{value:.3}") }
}

/// Returns the figures of a community with their names, as far as they are known.
pub(super) fn figures(each: &CommunityReport, nodes: u64) -> Vec<(&'static str, String)> {
    let size =
        format!("{} ({})", format_counted(each.size, "node", "nodes"), percent(each.size, nodes));
    let shares = [
        ("density", each.density),
        ("conductance", each.conductance),
        ("stability", each.stability),
    ];
    let known = shares.into_iter().filter_map(|(what, value)| Some((what, share(value?))));
    [
        ("size", size),
        ("edges inside", format_count(each.inner_edges)),
        ("weight inside", real(each.inner_weight)),
        ("weight outside", real(each.outer_weight)),
    ]
    .into_iter()
    .chain(known)
    .collect()
}

fn meanings() -> Markup {
    html! {
        p.faint {
            "The representative is the node with the largest weight inside its community. Density is the share of pairs \
             of nodes that have an edge; conductance the share of the weight at its nodes that leads outside, 0 if \
             nothing does; stability the share of starts in which its nodes stay together."
        }
    }
}
