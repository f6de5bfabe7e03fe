//! `outcore lab`: interruptions, saved reports, and profiles that jobs find.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]

use crate::common::{kill, listed, outcore, run, stderr};
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Maximum number of lines of a report without `--verbose`.
const SCREEN: usize = 60;

#[test]
fn measuring_stops_and_cleans_up_too() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["lab", "all", "--full", "--progress", "always", "-o", "report.json"];
    let mut child = outcore(directory.path(), &args).stderr(Stdio::piped()).spawn().unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    let begin = Instant::now();
    let inside = directory.path().join(".lab.outcore");
    // The first file marks the owner; the second is for measuring.
    while !inside.is_dir() || listed(&inside).len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no files are made");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill("-INT", child.id());
    messages.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("interrupted") && text.contains("are removed"), "{text}");
    assert_eq!(listed(directory.path()), Vec::<PathBuf>::new());
}

#[test]
fn finished_experiments_survive_an_interruption() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["lab", "all", "--quick", "--progress", "never", "-o", "report.json"];
    let child = outcore(directory.path(), &args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let report = directory.path().join("report.json");
    while !report.exists() {
        assert!(begin.elapsed() < Duration::from_secs(300), "no experiment ends");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 12 experiments"), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let answered = text.contains("read records at random, times as fast as `fread, unsorted,");
    assert!(answered && text.contains("known claims"), "{text}");
    assert!(
        text.contains("update records: not measured, use `outcore lab random-update`"),
        "{text}"
    );
    assert_eq!(listed(directory.path()), [report], "only the report is left");
    let shown = run(directory.path(), &["lab", "report", "report.json"]);
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), text);
}

/// Starts all experiments, interrupts them after `moment`, and checks that what was finished is kept and shown, and that
/// nothing else is left. Returns the number of finished experiments, and of finished rounds of the next.
fn interrupted_after(moment: Duration) -> (usize, usize) {
    let directory = tempfile::tempdir().expect("a directory");
    let args = ["lab", "all", "--quick", "--progress", "never", "-o", "report.json"];
    let mut command = outcore(directory.path(), &args);
    let child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs");
    std::thread::sleep(moment);
    kill("-INT", child.id());
    let output = child.wait_with_output().expect("it ends");
    let reported = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{moment:?}: {reported}");
    let report = directory.path().join("report.json");
    if !report.exists() {
        assert_eq!(listed(directory.path()), Vec::<PathBuf>::new(), "{moment:?}: {reported}");
        return (0, 0);
    }
    assert_eq!(listed(directory.path()), [report], "{moment:?}: only the report is left");
    let shown = run(directory.path(), &["lab", "report", "report.json"]);
    assert!(shown.status.success(), "{moment:?}: {}", stderr(&shown));
    assert_eq!(shown.stdout, output.stdout, "{moment:?}");
    let before = |words: &str| {
        let number = reported.split(words).next()?.rsplit(' ').next()?;
        number.parse().ok().filter(|_| reported.contains(words))
    };
    let kept = before(" of 12 experiments");
    (kept.unwrap_or_else(|| panic!("{moment:?}: {reported}")), before(" of 12 rounds").unwrap_or(0))
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn interruptions_at_any_moment_keep_what_is_finished() {
    let seconds = [0.1, 0.7, 2.0, 5.0, 9.0, 14.0, 20.0, 27.0, 35.0, 50.0];
    let kept = seconds.map(|seconds| interrupted_after(Duration::from_secs_f64(seconds)));
    println!("{kept:?} experiments were kept, and rounds of the next");
    assert!(kept[9].0 > 0, "none was finished in {} seconds", seconds[9]);
    assert!(kept.iter().any(|(_, rounds)| *rounds > 0), "rounds of an experiment are kept");
}

#[test]
fn a_saved_report_is_shown_again_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let files = ["-o", "report.json", "--html", "page.html"];
    let measured = outcore(directory.path(), &["lab", "random-read", "--quick", "-q"])
        .args(files)
        .output()
        .unwrap();
    assert!(measured.status.success(), "{}", stderr(&measured));
    assert_eq!(listed(directory.path()).len(), 2, "only the two files");
    let first = String::from_utf8(measured.stdout.clone()).unwrap();
    assert!(first.lines().count() <= SCREEN, "the answers fit on a screen: {first}");
    let absolute = directory.path().canonicalize().unwrap();
    assert!(first.contains(&format!(" in `{}` (", absolute.display())), "{first}");
    let rows = run(directory.path(), &["lab", "report", "--verbose", "report.json"]);
    let rows = String::from_utf8(rows.stdout).unwrap();
    assert!(rows.starts_with(first.split("\n`--verbose`").next().unwrap().trim_end()), "{rows}");
    assert!(rows.contains("\n  fread, unsorted, buffered, SEEK_SET, rb  "), "{rows}");
    for file in ["report.json", "page.html"] {
        let shown = run(directory.path(), &["lab", "report", file]);
        assert_eq!(shown.stdout, measured.stdout, "{file}");
        assert!(!shown.stdout.contains(&0x1b), "no colors in a pipe");
        let json = run(directory.path(), &["lab", "report", "--json", file]);
        assert_eq!(json.stdout, std::fs::read(directory.path().join("report.json")).unwrap());
    }
    let csv = run(directory.path(), &["lab", "report", "--csv", "report.json", "page.html"]);
    let lines = String::from_utf8(csv.stdout).unwrap();
    assert!(lines.starts_with("report,directory,experiment,group,method,state,rounds,"), "{lines}");
    assert!(lines.lines().count() > 50 && lines.contains(",random-read,warm,"), "{lines}");
    assert!(lines.contains(&format!("\r\n2,{},random-read,", absolute.display())), "{lines}");
    let markdown = run(directory.path(), &["lab", "report", "--markdown", "report.json"]);
    let page = String::from_utf8(markdown.stdout).unwrap();
    assert!(page.contains("\n| fread, unsorted, buffered, SEEK\\_SET, rb | warm | "), "{page}");
    let both = run(directory.path(), &["lab", "report", "--csv", "--json", "report.json"]);
    assert_eq!(both.status.code(), Some(2), "one format at a time");
    let compared = run(directory.path(), &["lab", "compare", "report.json", "page.html"]);
    let text = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.status.success() && (text.contains("= (") || text.contains("? (")), "{text}");
    let truth = std::fs::read(directory.path().join("report.json")).unwrap();
    std::fs::write(directory.path().join("cut.json"), &truth[..truth.len() / 2]).unwrap();
    let cut = run(directory.path(), &["lab", "report", "cut.json"]);
    assert_eq!(cut.status.code(), Some(3));
    assert!(stderr(&cut).starts_with("error[corrupt-file]"), "{}", stderr(&cut));
}

#[test]
fn a_tuned_disk_is_found_by_jobs_and_changes_no_result() {
    let directory = tempfile::tempdir().unwrap();
    let at = |args: &[&str]| {
        let mut command = outcore(directory.path(), args);
        let output = command.env("XDG_CONFIG_HOME", directory.path().join("config")).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        output
    };
    let tuned = at(&["lab", "tune", "--quick"]);
    let table = String::from_utf8(tuned.stdout.clone()).unwrap();
    assert!(table.contains("read rate") && stderr(&tuned).contains("the profile is in"), "{table}");
    assert_eq!(listed(directory.path()), [directory.path().join("config")], "nothing else is left");
    let profiles = listed(&directory.path().join("config/outcore/profiles"));
    let [profile] = &profiles[..] else { panic!("{profiles:?}") };
    let shown = at(&["inspect", &profile.to_string_lossy()]);
    assert!(shown.stdout.starts_with(b"profile "), "{shown:?}");
    std::fs::write(directory.path().join("edges.tsv"), "a\tb\t1\nc\td\t2\n").unwrap();
    let job = |more: &[&str]| at(&[&["cluster", "edges.tsv", "-o", "-"], more].concat());
    let by_stored = job(&[]);
    assert!(!stderr(&by_stored).contains("warning"), "{}", stderr(&by_stored));
    assert_eq!(by_stored.stdout, job(&["--profile", "none"]).stdout);
    std::fs::write(profile, "{").unwrap();
    let damaged = job(&[]);
    assert!(stderr(&damaged).contains("is not used"), "{}", stderr(&damaged));
    assert_eq!(damaged.stdout, by_stored.stdout);
}
