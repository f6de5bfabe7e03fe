//! Sections about the work: the stages with the predictions of the plan, the input, the job.

use super::facts;
use super::section::{Section, percent, small, table};
use maud::html;
use outcore::job::{InputReport, JobKind, Report, StageReport};
use outcore::units::{format_bytes, format_count, format_counted, format_seconds};
use outcore_page::chart::{self, Bar, BarAxis, BarRow, Drawing};
use outcore_page::facts;

const MIB: f64 = (1 << 20) as f64;

pub(crate) fn stages(report: &Report) -> Section {
    let (took, predicted) = (report.seconds, predicted_seconds(report));
    let short = match predicted {
        Some(seconds) => {
            format!("{} in total, {} predicted", format_seconds(took), format_seconds(seconds))
        }
        None => format!("{} in total", format_seconds(took)),
    };
    let what = match predicted {
        Some(_) => {
            "What each stage took; in gray, what the plan predicted from a sample of the input, before the work."
        }
        None => "What each stage took. Nothing was predicted: plans need edge lists in files.",
    };
    let columns: Vec<&Column> =
        COLUMNS.iter().filter(|(name, _)| predicted.is_some() || *name != PREDICTED).collect();
    let headings: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let row = |stage| columns.iter().map(|(_, of)| of(stage)).collect();
    let rows: Vec<Vec<String>> = report.stages.iter().map(row).collect();
    let body = html! {
        p { (what) }
        (table(&headings, &rows, &[headings.len() - 1]))
        p.faint { "Peak memory is the maximum that the process held during the stage." }
        (small(charts(report)))
    };
    Section { id: "stages", heading: "Stages", short, body }
}

/// Column of the table of stages.
type Column = (&'static str, fn(&StageReport) -> String);

const PREDICTED: &str = "predicted";
const COLUMNS: [Column; 10] = [
    ("stage", |stage| stage.stage.name().into()),
    ("time", |stage| format_seconds(stage.seconds)),
    (PREDICTED, |stage| stage.predicted_seconds.map(format_seconds).unwrap_or_default()),
    ("peak memory", |stage| if_known(stage.peak_memory_bytes)),
    (PREDICTED, |stage| if_known(stage.predicted_memory_bytes)),
    ("read", |stage| format_bytes(stage.read_bytes)),
    (PREDICTED, |stage| if_known(stage.predicted_read_bytes)),
    ("written", |stage| format_bytes(stage.write_bytes)),
    (PREDICTED, |stage| if_known(stage.predicted_write_bytes)),
    ("summary", |stage| stage.summary.clone()),
];

fn if_known(bytes: Option<u64>) -> String {
    bytes.map(format_bytes).unwrap_or_default()
}

fn predicted_seconds(report: &Report) -> Option<f64> {
    let all = report.stages.iter().filter_map(|stage| stage.predicted_seconds);
    all.reduce(|sum, seconds| sum + seconds)
}

/// Draws time, memory and bytes: measured values above predicted ones.
fn charts(report: &Report) -> Vec<Drawing> {
    let mebibytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / MIB);
    let of_bytes = |value: f64| format_bytes((value * MIB) as u64);
    let draw = |title: &str, words: &str, text: &dyn Fn(f64) -> String, of: Figures| {
        let rows: Vec<BarRow> =
            report.stages.iter().map(|stage| row(stage, of(stage), text)).collect();
        chart::bars(title, &rows, BarAxis::plain(words))
    };
    let time = |stage: &StageReport| (Some(stage.seconds), stage.predicted_seconds);
    let memory = |stage: &StageReport| {
        (mebibytes(stage.peak_memory_bytes), mebibytes(stage.predicted_memory_bytes))
    };
    let read = |stage: &StageReport| {
        (mebibytes(Some(stage.read_bytes)), mebibytes(stage.predicted_read_bytes))
    };
    let written = |stage: &StageReport| {
        (mebibytes(Some(stage.write_bytes)), mebibytes(stage.predicted_write_bytes))
    };
    let all = [
        draw("Time of the stages", "seconds", &format_seconds, &time),
        draw("Memory at the end of the stages", "MiB", &of_bytes, &memory),
        draw("Bytes read", "MiB", &of_bytes, &read),
        draw("Bytes written", "MiB", &of_bytes, &written),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the measured and the predicted value of a figure.
type Figures<'a> = &'a dyn Fn(&StageReport) -> (Option<f64>, Option<f64>);

fn row(
    stage: &StageReport,
    (measured, predicted): (Option<f64>, Option<f64>),
    text: &dyn Fn(f64) -> String,
) -> BarRow {
    let name = stage.stage.name();
    let bar = |class, how: &str, value: f64| {
        let text = text(value);
        Bar { class, value, whisker: None, reported: format!("{name}, {how}: {text}"), text }
    };
    let measured = measured.map(|value| bar("bar", "measured", value));
    let predicted = predicted.map(|value| bar("bar first", "predicted", value));
    BarRow { name: name.into(), bars: measured.into_iter().chain(predicted).collect() }
}

/// Counts the lines of the input, and those that became no edge of the graph.
pub(crate) fn input(report: &Report) -> Option<Section> {
    let input = report.input.as_ref()?;
    let short = match input.skipped_count {
        0 => format!("{}, none of them bad", format_counted(input.line_count, "line", "lines")),
        bad => format!(
            "{} of {} bad and skipped",
            format_count(bad),
            format_counted(input.line_count, "line", "lines")
        ),
    };
    let counted = counts(report, input).into_iter().filter(|(_, count)| *count > 0);
    let share = |count| percent(count, input.line_count.max(count));
    let lines = counted.map(|(name, count)| vec![name.into(), format_count(count), share(count)]);
    let named = nodes(input).into_iter().filter(|(_, count)| *count > 0);
    let nodes = named.map(|(name, count)| vec![name.into(), format_count(count)]);
    let body = html! {
        @if input.skipped_count > 0 { p.warning { (skipped(report, input)) } }
        (table(&["lines", "count", "of all"], &lines.collect::<Vec<_>>(), &[]))
        (table(&["nodes", "count"], &nodes.collect::<Vec<_>>(), &[]))
        @if !input.formats.is_empty() { p.faint { "Read as " (input.formats.join(" · ")) "." } }
    };
    Some(Section { id: "input", heading: "Input", short, body })
}

/// Returns the number of bad lines, and where to find them.
fn skipped(report: &Report, input: &InputReport) -> String {
    let saved = match &report.rejects {
        Some(path) => format!("They are saved in {path}, with the reason for each."),
        None => "They were not saved: --rejects FILE saves them.".into(),
    };
    let bad = format_counted(input.skipped_count, "line was", "lines were");
    format!("{bad} bad and skipped. {saved}")
}

fn counts(report: &Report, input: &InputReport) -> Vec<(&'static str, u64)> {
    let loops_kept = report.graph.as_ref().is_some_and(|graph| graph.loops_kept);
    vec![
        ("lines", input.line_count),
        ("with an edge", input.edge_count),
        ("comments", input.comment_count),
        ("bad, skipped", input.skipped_count),
        ("weight 0, left out", input.dropped.zero_weight_count),
        ("below the minimum weight, left out", input.dropped.below_min_count),
        ("above the maximum weight, left out", input.dropped.above_max_count),
        ("self scores", input.dropped.self_hit_count),
        ("loops dropped", if loops_kept { 0 } else { input.loop_count }),
    ]
}

fn nodes(input: &InputReport) -> Vec<(&'static str, u64)> {
    vec![
        ("named in the list of nodes", input.listed_count),
        ("named only there", input.listed_only_count),
        ("without a self score", input.no_self_hit_count),
        ("whose names were numbered on disk", input.names_on_disk_count),
    ]
}

/// Lists inputs, outputs, limits and options of the job.
pub(crate) fn job(report: &Report) -> Section {
    let result = if report.job == JobKind::Build { "graph" } else { "communities" };
    let outputs: Vec<String> = match report.results.as_slice() {
        [] => vec![report.output.clone()],
        all => all.iter().map(|result| result.output.clone()).collect(),
    };
    let program = format!("outcore {}", report.version);
    let mut given = vec![
        ("program", program),
        ("inputs", report.inputs.join(", ")),
        (result, outputs.join(", ")),
    ];
    given.extend(report.rejects.clone().map(|path| ("rejected lines", path)));
    given.push(("memory limit", format_bytes(report.limits.memory_bytes)));
    given.extend(report.peak_memory_bytes.map(|peak| ("peak memory", format_bytes(peak))));
    given.push(("threads", format_count(report.limits.threads as u64)));
    given.push(("read", format_bytes(report.read_bytes)));
    given.push(("written", format_bytes(report.write_bytes)));
    if let Some(graph) = &report.graph {
        let directed = if graph.is_directed { "directed" } else { "undirected" };
        let weighted = if graph.is_weighted { "weighted" } else { "all of weight 1" };
        given.push(("edges", format!("{directed}, {weighted}")));
        let word = serde_json::to_value(graph.duplicates).unwrap_or_default();
        let combined = format_counted(graph.combined_count, "arc", "arcs");
        let repeated = format!("{}; {combined} merged into others", word.as_str().unwrap_or("?"));
        given.push(("repeated edges", repeated));
        given.push(("graph on disk", format_bytes(graph.bytes)));
    }
    if let Some(found) = &report.communities {
        given.push(("method", found.options.method.name().into()));
        given.push(("options", facts::options(report, found)));
    }
    let short = facts::job(report);
    let body = facts(given.iter().map(|(name, value)| (*name, value.as_str())));
    Section { id: "job", heading: "The job", short, body }
}
