//! Reports as files, pages and comparisons: written reports can be read back, and names may contain anything.

use outcore::io::Files;
use outcore::progress::Silent;
use outcore_lab::meter::{Latencies, Sample};
use outcore_lab::report::busy::busy;
use outcore_lab::report::compare::compare;
use outcore_lab::report::{
    Answer, Chart, Column, Experiment, LabReport, SCHEMA, charts, export, page, stored, tables,
};
use outcore_lab::rounds::Measured;
use outcore_lab::row::{AGAIN, Missing, Row};
use outcore_lab::state::State;
use outcore_lab::statistics::Interval;
use outcore_lab::times::Times;
use outcore_lab::{Effort, Random, Workplace};
use std::collections::BTreeSet;
use std::path::Path;

const NASTY: &str = "<script>alert(1)</script> & \"quoted\" ]]> <!--";

/// Returns a row with runs of about `seconds` seconds.
fn row(name: &str, group: &str, seconds: f64, random: &mut Random) -> Row {
    let samples = (0..10).map(|round| {
        let wall_seconds = seconds * (1.0 + random.below(50) as f64 * 1e-3);
        let nanoseconds = wall_seconds * 1e5;
        let latencies = Some(Latencies {
            min: nanoseconds * 0.6,
            trimmed_mean: nanoseconds,
            median: nanoseconds * 0.9,
            p99: nanoseconds * 4.0,
            max: nanoseconds * 60.0,
        });
        let bytes = 1 << 30;
        let single: Vec<u32> =
            (1..=200u32).map(|at| (nanoseconds * f64::from(at) / 100.0) as u32).collect();
        let times = Times::of(&single);
        let operations = 10_000;
        Sample { round, wall_seconds, bytes, latencies, times, operations, ..Sample::default() }
    });
    Row::new(name.into(), group.into(), State::Warm, samples.collect())
}

fn experiment(name: &str, rows: Vec<Row>) -> Experiment {
    let missing = vec![Missing { name: NASTY.into(), reason: NASTY.into() }];
    let measured =
        Measured { rows, missing, canary_seconds: vec![1.0; 9], repeated: 3, ended: None };
    let columns = vec![Column::OperationMedian, Column::Wall, Column::Rate, Column::Ratio];
    let mut made = Experiment::new(name, NASTY, columns, measured).parameter("file", "1 GiB");
    made.finding = format!("Do this. {NASTY}");
    made.notes.push(NASTY.into());
    made
}

/// Returns a report with a chart of every kind.
fn report(factor: f64) -> LabReport {
    let random = &mut Random(factor.to_bits());
    let mut bars = Vec::new();
    for (group, slower) in [("warm", 1.0), ("cold", 90.0)] {
        let mut add = |name: &str, seconds: f64| {
            bars.push(row(name, group, seconds * slower * factor, random));
        };
        add("pread, unsorted", 0.010);
        add(&format!("mmap {NASTY}"), 0.004);
        add("io_uring, 32 at once, sorted and merged, registered buffers", 0.0007);
    }
    bars.push(row(AGAIN, "warm", 0.010 * factor, random));
    let mut lines = vec![row("fprintf", "", 0.1 * factor, random)];
    for (series, cost) in [("fmt", 1.0), ("std::ofstream", 1.1), ("Rust, write", 0.4)] {
        for power in 10..=20 {
            let seconds = cost * (0.02 + 10.0 / f64::from(1 << power)) * factor;
            let mut made = row(&format!("{series}, {}", 1 << power), "", seconds, random);
            made.point = Some((series.into(), f64::from(1 << power)));
            lines.push(made);
        }
    }
    let mut lines = experiment("write-buffer", lines);
    lines.charts = vec![Chart::Lines { x: "buffer size in bytes".into(), column: Column::Wall }];
    let mut bars = experiment("random-read", bars);
    bars.charts = vec![Chart::Bars { column: Column::Wall, logarithmic: true }];
    let facts = [("directory", "/mnt/data"), ("file system", "ext4"), ("processor", NASTY)];
    let mut report = LabReport {
        schema: SCHEMA,
        version: "0.1.0".into(),
        effort: Effort::Quick,
        seed: 7,
        environment: facts.map(|(name, value)| (name.into(), value.into())).into(),
        answers: Vec::new(),
        experiments: Vec::new(),
        claims: Vec::new(),
    };
    report.add(bars);
    report.add(lines);
    report
}

#[test]
fn json_and_page_return_the_same_report() {
    let one = report(1.0);
    let json = stored::json(&one).unwrap();
    assert_eq!(
        stored::parse(Path::new("x.json"), json.as_bytes()).unwrap(),
        std::slice::from_ref(&one)
    );
    let both = [one, report(1.5)];
    let html = page::html(&both);
    assert_eq!(stored::parse(Path::new("x.html"), html.as_bytes()).unwrap(), both);
    // A page with every kind of chart, for `evals/lab/page.py`.
    if let Some(path) = std::env::var_os("OUTCORE_LAB_PAGE") {
        let html = page::html(&[report(1.0)]);
        Files::default().write(Path::new(&path), html.as_bytes()).unwrap();
    }
}

#[test]
fn a_page_is_self_contained_and_runs_no_scripts() {
    let html = page::html(&[report(1.0)]);
    assert_eq!(html.matches("<script").count(), 1, "the data, which is not executed");
    assert!(!html.contains("alert(1)</script>") && !html.contains("<!--"));
    for door in ["http://", "https://", "@import", "url(", "src=", "onload", "onclick"] {
        assert!(!html.contains(door), "{door}");
    }
    let drawings: usize = report(1.0).experiments.iter().map(|each| charts(each).len()).sum();
    assert_eq!(
        drawings,
        (3 * 2 + 1) + (2 + 1),
        "bars, quantiles, distribution of two groups; lines, distribution; rounds of both"
    );
    assert_eq!(html.matches("<svg class=\"wide\"").count(), drawings);
    assert_eq!(html.matches("<svg class=\"narrow\"").count(), drawings);
    assert!(!html.contains("NaN") && !html.contains("\"inf"), "coordinates are numbers");
    let mut without = report(1.0);
    without.claims.clear();
    for html in [html, page::html(&[without])] {
        let links: Vec<&str> = html.split("href=\"#").skip(1).collect();
        assert!(!links.is_empty());
        for link in links {
            let target = link.split('"').next().unwrap();
            assert!(html.contains(&format!("id=\"{target}\"")), "no target for {target}");
        }
    }
}

/// Splits a line of CSV into its cells.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("there is one").push(letter),
        }
    }
    cells
}

#[test]
fn exports_have_every_row() {
    let both = [report(1.0), report(1.5)];
    let rows: Vec<&Row> =
        both.iter().flat_map(|one| &one.experiments).flat_map(|each| &each.rows).collect();
    let text = export::csv(&both);
    let mut lines = text.lines();
    let headings = cells(lines.next().unwrap());
    let at = |name: &str| headings.iter().position(|heading| heading == name).unwrap();
    let lines: Vec<Vec<String>> = lines.map(cells).collect();
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!(line.len(), headings.len());
        assert_eq!(line[at("method")], row.name.replace('"', ""));
        assert_eq!(line[at("wall")].parse::<f64>().ok(), Column::Wall.value(row));
        assert_eq!(line[at("ratio")].parse::<f64>().ok(), row.ratio.map(|ratio| ratio.middle));
        assert_eq!(line[at("p99.9")].parse::<f64>().ok(), Column::OperationP999.value(row));
    }
    assert_eq!((lines[0][0].as_str(), lines.last().unwrap()[0].as_str()), ("1", "2"));
    let text = export::markdown(&both);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    let claims = both.iter().map(|one| 2 + one.claims.len()).sum::<usize>();
    let advice = |answer: &Answer| answer.advice.len().max(1);
    let answers: usize = both.iter().flat_map(|one| &one.answers).map(advice).sum();
    let tables: usize =
        both.iter().flat_map(|one| &one.experiments).map(|each| tables(each).len()).sum();
    assert_eq!(lines.len(), rows.len() + 2 * tables + claims + answers + 2 * both.len());
    let tags = |tag: &str| text.matches(tag).count();
    assert!(tags("<script") > 0 && tags("<script") == tags("\\<script"), "no markup");
}

#[test]
fn a_page_of_several_reports_compares_their_judgements() {
    let html = page::html(&[report(1.0), report(1.5)]);
    assert!(html.contains("File I/O of 2 reports"));
    assert!(html.contains("1: /mnt/data") && html.contains("2: /mnt/data"));
    assert!(html.contains("href=\"#r1\"") && html.contains("id=\"r1\""));
    assert!(!page::html(&[report(1.0)]).contains("File I/O of 1 reports"));
}

#[test]
fn a_page_begins_with_the_state_of_the_machine_and_the_answers() {
    let quiet = report(1.0);
    assert_eq!(busy(&quiet), None);
    let html = page::html(std::slice::from_ref(&quiet));
    assert!(html.contains("<h1>File I/O in <code>/mnt/data</code></h1>"));
    let order = ["class=\"cards\"", "class=\"folding\"", "<details", "<svg"];
    let places = order.map(|part| html.find(part).expect(part));
    assert!(places.is_sorted(), "{places:?}");
    assert!(html.contains("outcore lab sort</code> measures it"), "what is not measured says how");
    for (fact, value, part) in [
        ("pressure before", "cpu 96.00 %, io 0.10 %", "waited for cpu 96.00 % of"),
        ("processor time stolen by the host", "12.5 %", "gave 12.5 %"),
    ] {
        let mut loaded = quiet.clone();
        loaded.environment.insert(fact.into(), value.into());
        let warning = busy(&loaded).expect(fact);
        assert!(warning.contains(part), "{warning}");
        let html = page::html(&[loaded]);
        let [warned, cards] = ["class=\"warning\"", order[0]].map(|part| html.find(part).unwrap());
        assert!(warned < cards && html.contains(part));
    }
    let mut slow = quiet.clone();
    slow.experiments[0].canary_seconds[3..6].fill(2.0);
    assert!(busy(&slow).unwrap().contains("in 3 of 18 rounds"), "{:?}", busy(&slow));
    let mut unequal = quiet;
    for control in &mut unequal.experiments[0].controls {
        control.ratio = Some(Interval { middle: 2.0, low: 1.9, high: 2.1 });
    }
    assert!(busy(&unequal).unwrap().contains("differ in random-read"), "{:?}", busy(&unequal));
}

#[test]
fn groups_that_are_sizes_share_a_chart() {
    let random = &mut Random(1);
    let mut rows = Vec::new();
    for size in [8, 64, 512] {
        for (name, seconds) in [("read", 0.2), ("fread", 0.1)] {
            let mut made = row(&format!("{name} {size}"), &format!("{size} B"), seconds, random);
            made.point = Some((name.into(), f64::from(size)));
            rows.push(made);
        }
    }
    let mut sizes = experiment("transfer-size", rows);
    sizes.charts = vec![Chart::Lines { x: "transfer size".into(), column: Column::Rate }];
    let drawn = charts(&sizes);
    assert_eq!(drawn.len(), 3, "lines, distribution, rounds");
    let wide = &drawn[0].wide.0;
    assert_eq!(wide.matches("<polyline").count(), 2, "a line for each method");
    assert!(wide.contains("Rate in MB/s, by transfer size and method"), "{wide}");
    // Where groups have several sizes, each has its own chart.
    for row in sizes.rows.iter_mut().filter(|row| row.group == "64 B") {
        row.group = "8 B".into();
    }
    assert_eq!(charts(&sizes).len(), 5);
}

#[test]
fn a_chart_shows_each_round_of_the_first_rows_and_of_a_fixed_piece_of_work() {
    let mut experiment = report(1.0).experiments.swap_remove(0);
    let drawn = |experiment: &Experiment| charts(experiment).pop().unwrap().wide.0;
    let svg = drawn(&experiment);
    let groups: BTreeSet<&String> = experiment.rows.iter().map(|row| &row.group).collect();
    assert_eq!(svg.matches("<polyline").count(), 1 + groups.len(), "{svg}");
    assert!(svg.contains("a fixed piece of work, round 9: 1.00x"), "{svg}");
    // A round in which something else used the machine.
    experiment.canary_seconds[3] *= 2.5;
    assert!(drawn(&experiment).contains("a fixed piece of work, round 4: 2.50x"));
}

#[test]
fn values_on_a_logarithmic_axis_are_points() {
    let drawn = charts(&report(1.0).experiments[0]);
    assert!(!drawn[0].wide.0.contains("<rect") && drawn[0].wide.0.contains("<circle class=\"bar"));
}

#[test]
fn charts_tolerate_any_measurement() {
    let random = &mut Random(1);
    let mut zero = row("nothing", "", 0.0, random);
    zero.point = Some(("nothing".into(), 0.0));
    let empty = Row::new("no runs".into(), String::new(), State::New, Vec::new());
    for chart in [
        Chart::Bars { column: Column::Wall, logarithmic: true },
        Chart::Bars { column: Column::Rate, logarithmic: true },
        Chart::Bars { column: Column::Sync, logarithmic: false },
        Chart::Lines { x: "bytes".into(), column: Column::Wall },
    ] {
        let mut odd = experiment("odd", vec![zero.clone(), empty.clone()]);
        odd.charts = vec![chart];
        for drawing in charts(&odd) {
            assert!(!drawing.wide.0.contains("NaN") && !drawing.narrow.0.contains("inf"));
        }
    }
}

#[test]
fn damaged_reports_are_errors_with_their_path() {
    let json = stored::json(&report(1.0)).unwrap();
    let html = page::html(&[report(1.0)]);
    let later = json.replacen("\"schema\": 4", "\"schema\": 5", 1);
    let cut_page = html.replace("id=\"outcore-lab\"", "");
    for bytes in [
        b"\xff\xfe".as_slice(),
        b"",
        b"{}",
        b"[]",
        b"{\"schema\": 4}",
        &json.as_bytes()[..json.len() / 2],
        &html.as_bytes()[..html.len() / 2],
        cut_page.as_bytes(),
        later.as_bytes(),
    ] {
        let error = stored::parse(Path::new("x.json"), bytes).unwrap_err();
        assert_eq!(error.kind().name(), "corrupt-file");
        assert!(error.message().contains("x.json") && error.hint_text().is_some());
        assert!(!error.hint_text().unwrap().contains("graph"), "the hint is about reports");
    }
}

#[test]
fn comparisons_distinguish_noise_from_change() {
    let (first, again, slower) = (report(1.0), report(1.0 + 1e-9), report(1.5));
    let same = compare(&first, &again, None);
    let rows = || same.experiments.iter().flat_map(|each| &each.rows);
    assert_eq!(rows().count(), 6 + 34);
    assert!(rows().all(|row| row.ratio.is_some() && !row.differs), "noise alone differs");
    assert!(same.differences.is_empty());
    let other = compare(&first, &slower, None);
    for row in other.experiments.iter().flat_map(|each| &each.rows) {
        assert!(row.differs && (1.35..1.65).contains(&row.ratio.unwrap().middle), "{row:?}");
    }
}

#[test]
fn machines_of_different_speed_are_compared_by_operation_and_by_any_figure() {
    let (first, mut second) = (report(1.0), report(1.0));
    for row in second.experiments.iter_mut().flat_map(|each| &mut each.rows) {
        for sample in &mut row.samples {
            // Half of the operations, in the same time.
            sample.operations /= 2;
            sample.sync_seconds = Some(0.0);
        }
    }
    second.experiments[0].parameters.insert("reads".into(), "5,000".into());
    let rate = |by| compare(&first, &second, by).experiments[0].rows[0].clone();
    let by_operation = rate(None);
    assert!(by_operation.differs && (1.9..2.1).contains(&by_operation.ratio.unwrap().middle));
    assert!((999.0..1060.0).contains(&by_operation.first), "nanoseconds: {}", by_operation.first);
    assert!(!rate(Some(Column::Wall)).differs);
    assert_eq!(rate(Some(Column::Faults)).ratio, None, "no ratio of zeros");
    let compared = compare(&first, &second, Some(Column::Sync));
    assert!(compared.experiments[0].rows.is_empty(), "the first report has no syncs");
    assert_eq!(compared.experiments[0].unlike, ["reads is none and 5,000"]);
}

#[test]
fn comparisons_list_what_is_in_one_report_only_and_what_is_unlike() {
    let (first, mut second) = (report(1.0), report(1.0));
    second.experiments[0].rows[0].name = "another".into();
    second.experiments[1].parameters.insert("file".into(), "2 GiB".into());
    second.environment.insert("file system".into(), "xfs".into());
    second.environment.insert("load average before".into(), "9".into());
    let compared = compare(&first, &second, None);
    assert_eq!(compared.experiments[0].only_first, ["pread, unsorted (warm)"]);
    assert_eq!(compared.experiments[0].only_second, ["another (warm)"]);
    assert_eq!(compared.experiments[1].unlike, ["file is 1 GiB and 2 GiB"]);
    assert!(!compared.experiments[1].rows.is_empty());
    let names: Vec<&str> = compared.differences.iter().map(|each| each.name.as_str()).collect();
    assert_eq!(names, ["file system"]);
    second.experiments.remove(0);
    assert_eq!(compare(&first, &second, None).only_first, ["random-read"]);
    assert_eq!(compare(&second, &first, None).only_second, ["random-read"]);
}

#[test]
fn a_disk_that_is_too_small_is_refused_before_writing() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let error = workplace.make_file("huge", 1 << 60).unwrap_err();
    assert_eq!(error.kind().name(), "disk-too-small");
    assert!(error.hint_text().unwrap().contains("--dir"));
}
