//! Sections about the communities found: sizes, quality, and a comparison of several results.

use super::largest::name;
use super::section::{Section, charts, percent, small, table};
use super::{facts, graph};
use maud::{Markup, html};
use outcore::cluster::MethodOption;
use outcore::job::SizesReport;
use outcore::job::{CommunitiesReport, CommunityReport, PresentReport, Report, ResultReport};
use outcore::present::Small;
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{
    self, Around, Axes, Bar, BarAxis, BarRow, Drawing, Marks, Point, Series,
};

/// Characters of a representative beside a bar.
const REPRESENTATIVE: usize = 24;

/// Result of a job.
pub(super) struct Found<'a> {
    /// Option value that distinguishes it from the other results; empty if there is only one.
    pub(super) name: String,
    pub(super) output: &'a str,
    pub(super) communities: &'a CommunitiesReport,
}

/// Returns the results of a job.
pub(super) fn results(report: &Report) -> Vec<Found<'_>> {
    if report.results.is_empty() {
        let one = |communities| Found { name: String::new(), output: &report.output, communities };
        return report.communities.iter().map(one).collect();
    }
    let all = report.results.iter();
    all.map(|ResultReport { output, communities }| Found {
        name: facts::parameter(communities),
        output,
        communities,
    })
    .collect()
}

/// Compares all results in a table and in small charts.
pub(super) fn comparison(all: &[Found<'_>]) -> Section {
    let short =
        format!("{} of the same graph", format_counted(all.len() as u64, "result", "results"));
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let headings = [
        "result",
        "communities",
        "of one node",
        "largest",
        "modularity",
        "coverage",
        "sweeps",
        "file",
    ];
    let bars =
        |title: &str, words: &str, text: fn(f64) -> String, of: fn(&CommunitiesReport) -> f64| {
            let rows: Vec<BarRow> =
                all.iter().map(|found| bar(&found.name, of(found.communities), text)).collect();
            chart::bars(title, &rows, BarAxis::plain(words))
        };
    let count = |value: f64| format_count(value as u64);
    let share = |value: f64| format!("{value:.3}");
    let charts = [
        bars("Communities", "count", count, |found| found.sizes.community_count as f64),
        bars("Largest community", "nodes", count, |found| found.sizes.largest_size as f64),
        // Modularity can be negative, but bars cannot.
        bars("Modularity", "modularity", share, |found| {
            found.measures.known_modularity().unwrap_or(0.0).max(0.0)
        }),
        bars("Coverage", "share of the weight inside", share, |found| found.measures.coverage),
    ];
    let body = html! { (table(&headings, &rows, &[7])) (small(charts.into_iter().flatten())) };
    Section { id: "results", heading: "Results", short, body }
}

fn row(found: &Found<'_>) -> Vec<String> {
    let CommunitiesReport { sizes, measures, sweeps, .. } = found.communities;
    let &SizesReport { community_count, singleton_count, largest_size, .. } = sizes;
    vec![
        found.name.clone(),
        format_count(community_count),
        format_count(singleton_count),
        format_count(largest_size),
        measures.known_modularity().map(|known| format!("{known:.4}")).unwrap_or_default(),
        format!("{:.4}", measures.coverage),
        format_count(sweeps.count.into()),
        found.output.to_owned(),
    ]
}

fn bar(name: &str, value: f64, text: fn(f64) -> String) -> BarRow {
    let text = text(value);
    let reported = format!("{name}: {text}");
    BarRow {
        name: name.into(),
        bars: vec![Bar { class: "bar", value, whisker: None, text, reported }],
    }
}

/// Shows the sizes of communities: of one result as columns, of several as lines.
pub(super) fn sizes(report: &Report, all: &[Found<'_>]) -> Section {
    let nodes = report.graph.as_ref().map_or(0, |graph| graph.node_count);
    let first = all[0].communities;
    let short = match all.len() {
        1 => format!(
            "the largest has {} ({}), and {} of one node",
            format_counted(first.sizes.largest_size, "node", "nodes"),
            percent(first.sizes.largest_size, nodes),
            format_counted(first.sizes.singleton_count, "community is", "communities are"),
        ),
        _ => {
            let largest: Vec<_> =
                all.iter().map(|f| format_count(f.communities.sizes.largest_size)).collect();
            format!("the largest have {} nodes", largest.join(", "))
        }
    };
    let body = html! {
        p { "Communities by size, as found; both axes are logarithmic." }
        @match all {
            [_] => { (sizes_of_one(first, nodes)) }
            _ => { (sizes_of_several(all)) }
        }
    };
    Section { id: "sizes", heading: "Community sizes", short, body }
}

fn sizes_of_several(all: &[Found<'_>]) -> Markup {
    let rows = all.iter().map(|found| vec![found.name.clone(), largest(found.communities)]);
    html! {
        (charts(size_lines(all)))
        (table(&["result", "the ten largest"], &rows.collect::<Vec<_>>(), &[1]))
    }
}

fn sizes_of_one(found: &CommunitiesReport, nodes: u64) -> Markup {
    let columns = graph::columns(
        &found.sizes.bins,
        found.sizes.community_count,
        "size",
        "community",
        "communities",
    );
    let around =
        Around { x: "nodes of a community", y: "communities", logarithmic: true, legend: &[] };
    let rows: Vec<BarRow> = largest_named(found)
        .into_iter()
        .zip(&found.sizes.largest_sizes)
        .map(|(name, &size)| {
            let text = format_count(size);
            let reported = format!("{text} nodes, {}", percent(size, nodes));
            let bar = Bar { class: "bar", value: size as f64, whisker: None, text, reported };
            BarRow { name, bars: vec![bar] }
        })
        .collect();
    let charts = [
        chart::columns("Communities by size", &columns, around),
        chart::bars("The ten largest communities", &rows, BarAxis::plain("nodes")),
    ];
    html! {
        (small(charts.into_iter().flatten()))
    }
}

/// Returns the names of the ten largest communities: their numbers in the output and their representatives, as far as
/// they are known.
fn largest_named(found: &CommunitiesReport) -> Vec<String> {
    let listed = found.described.largest.iter().flat_map(|largest| &largest.communities);
    let listed: Vec<&CommunityReport> = listed.take(found.sizes.largest_sizes.len()).collect();
    let is_same = listed.iter().map(|each| each.size).eq(found.sizes.largest_sizes.iter().copied());
    if is_same {
        let numbered = |each: &&CommunityReport| {
            format!("{}: {}", each.community, name(&each.representative, REPRESENTATIVE))
        };
        return listed.iter().map(numbered).collect();
    }
    let presented = found.presented.as_ref();
    let is_renumbered = presented.is_some_and(|presented| presented.kept_number_count.is_some());
    let min_size = presented.map_or(0, |presented| u64::from(presented.min_size));
    let each = (0u64..).zip(&found.sizes.largest_sizes);
    each.map(|(number, &size)| match () {
        () if size < min_size => "too small".into(),
        // Numbers of an earlier result are only in the output.
        () if is_renumbered => format!("no. {} by size", number + 1),
        () => number.to_string(),
    })
    .collect()
}

fn largest(found: &CommunitiesReport) -> String {
    found.sizes.largest_sizes.iter().map(|&size| format_count(size)).collect::<Vec<_>>().join(", ")
}

fn size_lines(all: &[Found<'_>]) -> Option<Drawing> {
    let series = all.iter().map(|found| {
        let points = found.communities.sizes.bins.iter().map(|bin| {
            let counted = format_counted(bin.count, "community", "communities");
            let from = format_count(bin.at_least);
            Point {
                x: bin.at_least as f64,
                at: (bin.count as f64).into(),
                reported: format!("{}, {from} nodes or more: {counted}", found.name),
            }
        });
        Series { name: found.name.clone(), points: points.collect() }
    });
    let axes = Axes {
        x: "nodes of a community, by powers of two",
        marks: Marks::Points,
        y: "communities, logarithmic",
        logarithmic: true,
        uprights: &[],
    };
    chart::lines("Communities by size", &series.collect::<Vec<_>>(), &[], axes)
}

/// Says how the output differs from what was found; nothing if it does not.
pub(super) fn presentation(presented: &PresentReport) -> String {
    let mut all = Vec::new();
    if presented.small_community_count > 0 || presented.min_size > 1 {
        let written =
            format_counted(presented.written_community_count, "community is", "communities are");
        let small = format_counted(presented.small_community_count, "community", "communities");
        let fate = match presented.small {
            Small::Drop => "left out",
            Small::Singletons => "split into single nodes",
        };
        let least = presented.min_size;
        all.push(format!("{written} in the output; {small} of fewer than {least} nodes {fate}."));
    }
    if let Some(kept) = presented.kept_number_count {
        let kept = format_counted(kept, "community keeps", "communities keep");
        all.push(format!("{kept} the number of an earlier result."));
    }
    all.join(" ")
}

pub(super) fn quality(all: &[Found<'_>]) -> Section {
    let first = all[0].communities;
    let each = all.iter().filter_map(|found| found.communities.measures.known_modularity());
    let each = each.map(|modularity| format!("{modularity:.4}")).collect::<Vec<_>>();
    let short = match (&each[..], first.measures.code_length) {
        ([], _) => "components".to_owned(),
        ([modularity], Some(bits)) => {
            format!("modularity {modularity}, code length {bits:.4} bits")
        }
        (each, _) => format!("modularity {}", each.join(", ")),
    };
    type Measure = (&'static str, fn(&CommunitiesReport) -> String);
    let measures: [Measure; 15] = [
        ("modularity", |found| {
            found
                .measures
                .known_modularity()
                .map(|modularity| format!("{modularity:.6}"))
                .unwrap_or_default()
        }),
        ("coverage", |found| format!("{:.6}", found.measures.coverage)),
        ("code length in bits", |found| {
            found.measures.code_length.map(|bits| format!("{bits:.6}")).unwrap_or_default()
        }),
        ("communities", |found| format_count(found.sizes.community_count)),
        ("communities of one node", |found| format_count(found.sizes.singleton_count)),
        ("split, as not connected", |found| format_count(found.split_count)),
        ("split, as not well-connected", |found| {
            found
                .options
                .well_connected
                .map(|w| format_count(w.counts.split_count))
                .unwrap_or_default()
        }),
        ("well-connected parts of these", |found| {
            found
                .options
                .well_connected
                .map(|w| format_count(w.counts.part_count))
                .unwrap_or_default()
        }),
        ("sweeps", |found| format_count(found.sweeps.count.into())),
        ("scans of the edges", |found| format_count(found.sweeps.scans)),
        ("arcs visited by sweeps", |found| format_count(found.visited_arc_count)),
        ("levels above the graph", |found| format_count(found.levels.level_count)),
        ("cycles over the levels", |found| format_count(found.sweeps.cycles.into())),
        ("starts", |found| format_count(found.starts.count.into())),
        ("converged", |found| match found.options.method.takes(MethodOption::Tolerance) {
            true => (if found.converged { "yes" } else { "no" }).into(),
            // The other methods have their own stopping rules.
            false => String::new(),
        }),
    ];
    let rows = measures.iter().filter_map(|(name, of)| {
        let values: Vec<String> = all.iter().map(|found| of(found.communities)).collect();
        let is_reported = values.iter().any(|value| !value.is_empty());
        is_reported.then(|| std::iter::once((*name).to_owned()).chain(values).collect())
    });
    let names =
        all.iter().map(|found| if found.name.is_empty() { "value" } else { found.name.as_str() });
    let headings: Vec<&str> = std::iter::once("measure").chain(names).collect();
    let rows: Vec<Vec<String>> = rows.collect();
    let body = html! {
        p {
            "Modularity is for resolution 1; coverage is the share of the weight inside communities."
        }
        (table(&headings, &rows, &[]))
    };
    Section { id: "quality", heading: "Quality", short, body }
}
