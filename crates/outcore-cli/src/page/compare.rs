//! The comparison of results as one HTML page: what changed, drawn, and in tables; of more than two, from each to the next.

use super::found::Found;
use super::section::{Section, for_each, percent, table};
use crate::compare::{Compared, FATES, Representatives, Step, named};
use crate::screen::print::json;
use maud::{Markup, html};
use outcore::Result;
use outcore::compare::{Change, CompareReport, Drawn, DrawnSide, Fate};
use outcore::job::CommunityReport;
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{self, Alluvial, AlluvialBlock, Drawing, Ribbon};
use outcore_page::{facts, interactive, shorten};
use std::collections::BTreeMap;

/// Name of the JSON inside the page.
const DATA: &str = "outcore-report";
/// Characters of a path in the title and above a drawing.
const TITLE_MAX: usize = 60;

/// Returns the page of a comparison.
///
/// # Errors
/// `Io` if the report cannot be written as JSON.
pub(crate) fn html(found: &Compared) -> Result<String> {
    let steps = found.steps();
    let [first, last] = [&steps[0], &steps[steps.len() - 1]];
    let title = format!("From {} to {}", short(&first.report.a.path), short(&last.report.b.path));
    let body = html! {
        section.report {
            h1 { (title) }
            @match steps {
                [step] => {
                    p.finding { (summary(&step.report)) }
                    p.faint { "A is " (step.report.a.path) ", B is " (step.report.b.path) }
                    @if let Some(drawing) = drawing_of(step) { (drawing) }
                    (tables(step, ""))
                }
                _ => { (several(steps)) }
            }
            p.faint { "outcore " (env!("CARGO_PKG_VERSION")) " · report of " code { "outcore compare" } }
        }
    };
    Ok(interactive(&title, body, DATA, &json(found)?))
}

/// Draws a comparison.
fn drawing_of(Step { report, representatives }: &Step) -> Option<Drawing> {
    drawing(report, representatives.as_ref().unwrap_or(&Representatives::default()))
}

/// Renders the tables of a comparison. The end of all identifiers tells them from others on the page.
fn tables(Step { report, representatives }: &Step, end: &str) -> Markup {
    let none = Representatives::default();
    html! {
        section.experiment id={ "fates" (end) } { h2 { "What became of the communities" } (fates(report)) }
        (changed(report, representatives.as_ref().unwrap_or(&none), end))
        section.experiment id={ "agreement" (end) } { h2 { "Agreement" } (agreement(report)) }
    }
}

/// Renders several comparisons: the main figures of all, then each.
fn several(steps: &[Step]) -> Markup {
    let row = |Step { report, .. }: &Step| {
        let CompareReport { a, b, node_count, moved_count, agreement, .. } = report;
        vec![
            format!("{} to {}", short(&a.path), short(&b.path)),
            format_count(a.community_count),
            format_count(b.community_count),
            format_count(*moved_count),
            percent(*moved_count, *node_count),
            format!("{:.4}", agreement.nmi),
            format!("{:.4}", agreement.ami),
            format!("{:.4}", agreement.ari),
        ]
    };
    let headings = [
        "from A to B",
        "communities of A",
        "of B",
        "nodes moved",
        "of those in both",
        "NMI",
        "AMI",
        "ARI",
    ];
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    let most = steps.iter().max_by(|one, other| share(one).total_cmp(&share(other)));
    html! {
        p.finding {
            (format_count(steps.len() as u64 + 1)) " results, each compared with the one before it."
            @if let Some(Step { report, .. }) = most {
                " Most nodes moved from " (short(&report.a.path)) " to " (short(&report.b.path)) ": "
                (percent(report.moved_count, report.node_count)) " of those in both."
            }
        }
        (table(&headings, &rows, &[]))
        @for (number, step) in (1..).zip(steps) {
            details.result open {
                summary { h2 { (short(&step.report.a.path)) " to " (short(&step.report.b.path)) } }
                p { (summary(&step.report)) }
                p.faint { "A is " (step.report.a.path) ", B is " (step.report.b.path) }
                @if let Some(drawing) = drawing_of(step) { (drawing) }
                details.part {
                    summary { h3 { "What became of the communities, and all figures" } }
                    (tables(step, &format!("-{number}")))
                }
            }
        }
    }
}

/// Returns the share of the nodes in both results that moved.
fn share(Step { report, .. }: &Step) -> f64 {
    report.moved_count as f64 / report.node_count.max(1) as f64
}

/// Compares results with an earlier one, if they were matched with it.
pub(super) fn section(all: &[Found<'_>]) -> Option<Section> {
    let first = all.iter().find_map(|found| found.communities.described.compared.as_ref())?;
    let body = for_each(all, |_, found| {
        let report = found.communities.described.compared.as_ref()?;
        let largest = found.communities.described.largest.iter().flat_map(|of| &of.communities);
        let known = |of: &CommunityReport| (of.community.to_string(), of.representative.clone());
        let names = Representatives { b: largest.map(known).collect(), ..Default::default() };
        Some(html! {
            p { (summary(report)) }
            @if let Some(drawing) = drawing(report, &names) { (drawing) }
            (fates(report))
        })
    });
    let short = format!("A is {}, B is this result; only nodes of the graph count", first.a.path);
    Some(Section { id: "earlier", heading: "What changed since the earlier result", short, body })
}

/// Shortens a path, which the page also shows in full.
fn short(path: &str) -> String {
    shorten(path, TITLE_MAX)
}

/// Says in a few sentences what changed.
fn summary(report: &CompareReport) -> String {
    let CompareReport { a, b, node_count, moved_count, agreement, .. } = report;
    let moved = match moved_count {
        0 => "no node moved".to_owned(),
        _ => format!(
            "{} of {} moved to another community ({})",
            format_count(*moved_count),
            format_counted(*node_count, "node", "nodes"),
            percent(*moved_count, *node_count)
        ),
    };
    let kept = format!(
        "{} of {} of A are unchanged in B and {} continued",
        format_count(a.fates.unchanged),
        format_counted(a.community_count, "community", "communities"),
        format_count(a.fates.continued),
    );
    let only = match (a.only_count, b.only_count) {
        (0, 0) => "Both have the same nodes".to_owned(),
        (of_a, of_b) => {
            format!("{} nodes are only in A, {} only in B", format_count(of_a), format_count(of_b))
        }
    };
    format!(
        "From A to B, {moved}: NMI {:.4}, AMI {:.4}, ARI {:.4}. {kept}. {only}.",
        agreement.nmi, agreement.ami, agreement.ari
    )
}

fn drawing(report: &CompareReport, names: &Representatives) -> Option<Drawing> {
    let Drawn { a, b, flows } = &report.drawn;
    let columns = [blocks(a, "A", &names.a), blocks(b, "B", &names.b)];
    let ribbons: Vec<Ribbon> = flows
        .iter()
        .map(|flow| Ribbon {
            left: flow.a,
            right: flow.b,
            size: flow.shared_count as f64,
            reported: format!(
                "{} from {} to {}",
                format_counted(flow.shared_count, "node", "nodes"),
                words(&a[flow.a], "A", &names.a),
                words(&b[flow.b], "B", &names.b)
            ),
        })
        .collect();
    let heads = [format!("A: {}", short(&report.a.path)), format!("B: {}", short(&report.b.path))];
    let described = format!(
        "The largest communities of A on the left and of B on the right; ribbons are the nodes they share. {}",
        summary(report)
    );
    let of = Alluvial {
        heads: [&heads[0], &heads[1]],
        columns: [&columns[0], &columns[1]],
        ribbons: &ribbons,
        described: &described,
    };
    chart::alluvial("Where the nodes of the largest communities went", &of)
}

/// Representatives of the communities of a result, by their names.
type Names = BTreeMap<String, String>;

fn blocks(all: &[DrawnSide], side: &str, names: &Names) -> Vec<AlluvialBlock> {
    let block = |of: &DrawnSide| AlluvialBlock {
        name: match &of.community {
            Some(name) => named(name, names),
            None => format!("{} more", format_count(of.community_count)),
        },
        figure: format_count(of.size),
        size: of.size as f64,
        is_rest: of.community.is_none(),
        reported: format!(
            "{}: {}",
            words(of, side, names),
            format_counted(of.size, "node", "nodes")
        ),
    };
    all.iter().map(block).collect()
}

fn words(of: &DrawnSide, side: &str, names: &Names) -> String {
    match &of.community {
        Some(name) => format!("community {} of {side}", named(name, names)),
        None => {
            let others = format_counted(of.community_count, "other community", "other communities");
            format!("{others} of {side}")
        }
    }
}

fn fates(report: &CompareReport) -> Markup {
    let rows = FATES.map(|(name, of_a, of_b)| {
        let (of_a, of_b) = (of_a(&report.a.fates), of_b(&report.b.fates));
        vec![name.to_owned(), format_count(of_a), format_count(of_b)]
    });
    html! {
        (table(&["communities", "of A", "of B"], &rows, &[]))
        p.faint {
            "Unchanged: the same nodes. Continued: more than half of the nodes of two communities together are in both. \
             Split: more than half of a community of A is in communities of B that mostly consist of its nodes; of \
             B, these parts are counted. Merged: more than half of a community of A is in a larger one of B; of B, the \
             larger ones are counted. Gone, new: none of its nodes is in the other file. Mixed: anything else."
        }
    }
}

/// Lists the communities that nodes left and joined.
fn changed(report: &CompareReport, names: &Representatives, end: &str) -> Markup {
    let left = rows(&report.left, Fate::of_a, [&names.a, &names.b]);
    let joined = rows(&report.joined, Fate::of_b, [&names.b, &names.a]);
    html! {
        @if !left.is_empty() {
            section.experiment id={ "left" (end) } {
                h2 { "Communities of A that most nodes left" }
                (table(&["community of A", "nodes", "left", "fate", "nodes in communities of B"], &left, &[3, 4]))
            }
        }
        @if !joined.is_empty() {
            section.experiment id={ "joined" (end) } {
                h2 { "Communities of B that most nodes joined" }
                (table(&["community of B", "nodes", "joined", "origin", "nodes in communities of A"], &joined, &[3, 4]))
                p.faint { "Nodes that joined come from another community than most nodes do." }
            }
        }
    }
}

fn rows(
    all: &[Change],
    fate: fn(Fate) -> &'static str,
    [own, other]: [&Names; 2],
) -> Vec<Vec<String>> {
    let row = |change: &Change| {
        let mut parts: Vec<String> = change
            .parts
            .iter()
            .map(|part| {
                format!("{} in {}", format_count(part.shared_count), named(&part.community, other))
            })
            .collect();
        let more = change.part_count - parts.len() as u64;
        if more > 0 {
            parts.push(format!("{} more", format_count(more)));
        }
        vec![
            named(&change.community, own),
            format_count(change.size),
            format_count(change.moved_count),
            fate(change.fate).to_owned(),
            parts.join(", "),
        ]
    };
    all.iter().map(row).collect()
}

fn agreement(report: &CompareReport) -> Markup {
    let of = &report.agreement;
    let rows = [
        ("nodes in both", format_count(report.node_count)),
        ("only in A", format_count(report.a.only_count)),
        ("only in B", format_count(report.b.only_count)),
        ("NMI", format!("{:.6}", of.nmi)),
        ("AMI", format!("{:.6}", of.ami)),
        ("ARI", format!("{:.6}", of.ari)),
        ("F1 of pairs", format!("{:.6}", of.pair_f1)),
        ("pairs of A that are together in B", format!("{:.6}", of.pair_precision)),
        ("pairs of B that are together in A", format!("{:.6}", of.pair_recall)),
        ("pairs of communities that share nodes", format_count(report.overlap_count)),
    ];
    facts(rows.iter().map(|(name, value)| (*name, value.as_str())))
}
