//! Section about the convergence of sweeps. However many there were, it fits on a screen: the table scrolls by itself.

use super::found::Found;
use super::section::{Section, charts, percent, small, table};
use maud::{Markup, html};
use outcore::cluster::Sweep;
use outcore::job::Report;
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{self, Around, Drawing, Upright};

/// Maximum number of sweeps that are drawn.
const DRAWN_MAX: usize = 200;
/// Number of colors in the style sheet.
const COLORS: u64 = 8;

pub(super) fn section(report: &Report, all: &[Found<'_>]) -> Section {
    let counts = all.iter().map(|found| u64::from(found.communities.sweeps.count));
    let most = counts.max().unwrap_or(0);
    let have_converged = all.iter().all(|found| found.communities.converged);
    let short = match (most, have_converged) {
        (0, _) => "the method needs no sweeps".to_owned(),
        (_, true) => format!("{}, until few nodes moved", format_counted(most, "sweep", "sweeps")),
        (_, false) => format_counted(most, "sweep", "sweeps"),
    };
    let stopped = if report.resumed { ", with those of the run that was stopped" } else { "" };
    let short = format!("{short}{}{stopped}", unlisted(all));
    let body = match most {
        0 => html! {
            p { "Components take one pass over the edges: nothing converges." }
        },
        _ => body(all),
    };
    Section { id: "sweeps", heading: "Convergence", short, body }
}

fn body(all: &[Found<'_>]) -> Markup {
    let drawings = all.iter().filter_map(drawing);
    html! {
        p {
            "Nodes of a level are groups of the one below; refining sweeps move them inside communities."
        }
        @match all {
            [found] => {
                div.low { (charts(drawings)) }
                div.box tabindex="0" { (table(&HEADINGS, &rows(&found.communities.sweeps.first), &[])) }
            }
            _ => { div class="box high" tabindex="0" { (small(drawings)) } }
        }
    }
}

/// Says how many sweeps are listed if there were more.
fn unlisted(all: &[Found<'_>]) -> String {
    let listed = |found: &&Found<'_>| found.communities.sweeps.first.len() as u64;
    let is_cut = |found: &&Found<'_>| u64::from(found.communities.sweeps.count) > listed(found);
    match all.iter().filter(is_cut).map(|found| listed(&found)).max() {
        Some(most) => format!(", of which the first {} are listed", format_count(most)),
        None => String::new(),
    }
}

fn drawing(found: &Found<'_>) -> Option<Drawing> {
    let all = &found.communities.sweeps.first;
    let has_levels = all.iter().any(|sweep| sweep.level > 0 || sweep.refines);
    let drawn = (1..).zip(all.iter().take(DRAWN_MAX));
    let columns: Vec<Upright> = drawn.map(|(number, sweep)| column(number, sweep)).collect();
    let mut levels: Vec<u64> = all.iter().map(|sweep| sweep.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let name = |level: u64| match level {
        0 => "the graph".into(),
        level => format!("level {level}"),
    };
    let mut legend: Vec<(String, String)> =
        levels.into_iter().take(COLORS as usize).map(|of| (color(of), name(of))).collect();
    if has_levels {
        legend.push(("f0 lighter".into(), "refining".into()));
    }
    let of = if found.name.is_empty() { String::new() } else { format!(", {}", found.name) };
    let beyond = match all.len() > DRAWN_MAX {
        true => {
            format!(
                ", the first {DRAWN_MAX} of {}",
                format_count(found.communities.sweeps.count.into())
            )
        }
        false => String::new(),
    };
    let legend = if has_levels { legend.as_slice() } else { &[] };
    let around = Around { x: "sweep", y: "nodes that moved, %", logarithmic: false, legend };
    chart::columns(&format!("Nodes that moved{of}{beyond}"), &columns, around)
}

fn color(level: u64) -> String {
    format!("f{}", level % COLORS)
}

fn column(number: usize, sweep: &Sweep) -> Upright {
    let &Sweep { level, refines, node_count, moved_count, .. } = sweep;
    let lighter = if refines { " lighter" } else { "" };
    let refining = if refines { ", refining" } else { "" };
    Upright {
        class: format!("{}{lighter}", color(level)),
        value: 100.0 * moved_count as f64 / node_count.max(1) as f64,
        label: number.to_string(),
        reported: format!(
            "sweep {number}, level {level}{refining}: {} of {}",
            format_count(moved_count),
            format_counted(node_count, "node", "nodes")
        ),
    }
}

const HEADINGS: [&str; 6] =
    ["sweeps", "level", "cycle", "nodes", "moved in the first", "moved in the last"];

/// Returns one row for each sequence of consecutive sweeps of one kind.
fn rows(all: &[Sweep]) -> Vec<Vec<String>> {
    let kind = |sweep: &Sweep| (sweep.cycle, sweep.level, sweep.refines);
    let mut number = 1;
    let mut rows = Vec::new();
    for part in all.chunk_by(|a, b| kind(a) == kind(b)) {
        let (first, last) = (part[0], part[part.len() - 1]);
        let end = number + part.len() - 1;
        let sweeps = if end > number { format!("{number} to {end}") } else { number.to_string() };
        let moved = |sweep: Sweep| {
            let share = percent(sweep.moved_count, sweep.node_count);
            format!("{} ({share})", format_count(sweep.moved_count))
        };
        let refining = if first.refines { ", refining" } else { "" };
        rows.push(vec![
            sweeps,
            format!("{}{refining}", first.level),
            first.cycle.to_string(),
            format_count(first.node_count),
            moved(first),
            moved(last),
        ]);
        number = end + 1;
    }
    rows
}
