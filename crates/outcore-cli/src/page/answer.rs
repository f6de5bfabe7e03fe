//! The answer in a few sentences: which communities there are, how sure they are, how good.

use super::facts;
use super::found::{Found, presentation};
use super::section::{percent, real};
use maud::{Markup, html};
use outcore::cluster::MethodOption;
use outcore::job::{CommunitiesReport, Report};
use outcore::units::{format_count, format_counted};

/// Returns the head of a page that says what was found. Without communities, the graph is the answer.
pub(super) fn answer(report: &Report, all: &[Found<'_>]) -> Markup {
    let Some(first) = all.first() else {
        return html! { p.finding { (facts::summary(report)) } };
    };
    html! {
        ul.finding {
            li { @if all.len() == 1 { (counted(report, first.communities)) } @else { (several(report, all)) } }
            li {
                strong { "How sure" } ": "
                @if all.len() > 1 { "at " (first.name) ", " }
                (sure(first.communities))
            }
            // Several results are compared in a table.
            @if all.len() == 1 { li { strong { "How good" } ": " (good(first.communities)) } }
        }
    }
}

fn several(report: &Report, all: &[Found<'_>]) -> Markup {
    let counts = all.iter().map(|found| {
        let count = found.communities.sizes.community_count;
        format!("{} at {}", format_counted(count, "community", "communities"), found.name)
    });
    let of = report.graph.as_ref().map(facts::size);
    html! {
        strong { (format_count(all.len() as u64)) " results" }
        @if let Some(of) = of { " for a graph of " (of) }
        ": " (counts.collect::<Vec<_>>().join("; ")) "."
    }
}

fn counted(report: &Report, found: &CommunitiesReport) -> Markup {
    let counted = format_counted(found.sizes.community_count, "community", "communities");
    let nodes = report.graph.as_ref().map_or(0, |graph| graph.node_count);
    let of = report.graph.as_ref().map(facts::size);
    let largest = format_counted(found.sizes.largest_size, "node", "nodes");
    let alone = match found.sizes.singleton_count {
        0 => "none is a single node".to_owned(),
        1 => "1 is a single node".to_owned(),
        many => format!("{} are single nodes", format_count(many)),
    };
    let groups = found.levels.group_counts.iter().map(|counts| {
        let counts = counts.iter().map(|&count| format_count(count)).collect::<Vec<_>>();
        format!(" Inside them are {} groups, level by level.", counts.join(", "))
    });
    html! {
        strong { (counted) }
        @if let Some(of) = of { " in a graph of " (of) }
        ". The largest has " (largest) " (" (percent(found.sizes.largest_size, nodes)) "), and " (alone) "."
        @for text in groups { (text) }
        @if let Some(presented) = &found.presented { " " (presentation(presented)) }
    }
}

/// Says how far the starts agree. The page shows doubts of the engine as warnings.
fn sure(found: &CommunitiesReport) -> String {
    match found.starts.agreement {
        Some(share) => format!(
            "{:.1} % of the nodes stay with their communities from one start to another, on average over {}.",
            100.0 * share,
            format_counted(found.starts.count.into(), "start", "starts")
        ),
        None if found.starts.count > 1 => format!(
            "only one of {} found these communities; the others are more than 2 % worse.",
            format_counted(found.starts.count.into(), "start", "starts")
        ),
        None if found.options.method.takes(MethodOption::Trials) => {
            "there was one start; --trials 5 compares several.".into()
        }
        None => "the method has one start, which nothing can be compared to.".into(),
    }
}

fn good(found: &CommunitiesReport) -> String {
    let CommunitiesReport { measures, baselines, .. } = found;
    let mut all = Vec::new();
    if let Some(bits) = measures.code_length {
        let undivided = baselines.undivided_length;
        let undivided = undivided.map(|bits| format!(", {} with all in one", real(bits)));
        let undivided = undivided.unwrap_or_default();
        all.push(format!("code length {} bits per step{undivided}", real(bits)));
    }
    let chance = baselines
        .chance_modularity
        .map(|by_chance| format!(", {by_chance:.3} in a random graph with the same degrees"));
    if let Some(modularity) = measures.known_modularity() {
        all.push(format!("modularity {modularity:.4}{}", chance.unwrap_or_default()));
    }
    all.push(format!("{:.1} % of the weight is inside communities", 100.0 * measures.coverage));
    all.join("; ") + "."
}
