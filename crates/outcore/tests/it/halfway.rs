//! Jobs that are interrupted in the middle of reading and resume from there, on the simulated storage, with state saved
//! after every batch.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{self, Names, Row};
use crate::common::{MIB, files_of, options, storage_of};
use arrow_array::RecordBatch;
use flate2::{Compression, write::GzEncoder};
use outcore::input::OnBadLine;
use outcore::io::{Cramped, Files};
use outcore::job::{self, JobOptions, Normalize, Report};
use outcore::progress::{Event, Observer};
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const REJECTS: &str = "/out/rejects.tsv";
const GRAPH: &str = "/out/graph";
const WORK: &str = "/disk/.graph.outcore";

/// Returns lines with weights, some of them loops, some bad.
fn lines(count: u64, seed: u64) -> String {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut text = String::new();
    for line in 0..count {
        let (source, target) = (next(3000 + line / 30), next(3000));
        let target = if line % 50 == 0 { source } else { target };
        text += &match line % 999 {
            998 => "alone\n".into(),
            _ => format!("node-{source}\tnode-number-{target:011}\t{}\n", next(9)),
        };
    }
    text
}

/// Inputs of a job.
struct Case {
    name: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    nodes: Option<&'static str>,
    /// Number of names that are numbered in memory.
    names: u64,
}

/// Returns the same edges as a table, where missing values are null.
fn rows(count: u64, seed: u64) -> RecordBatch {
    let text = lines(count, seed);
    let rows: Vec<Row> = text
        .lines()
        .map(|line| {
            let mut cells = line.split('\t').map(str::to_owned);
            let (source, target) = (cells.next(), cells.next());
            (source, target, cells.next().map(|weight| weight.parse().unwrap()))
        })
        .collect();
    tables::table(&rows, Names::Text, true)
}

fn cases() -> [Case; 5] {
    let text = lines(80_000, 7);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let several = vec![
        ("/in/a.tsv", lines(30_000, 1).trim_end().as_bytes().to_vec()),
        ("/in/b.tsv.gz", packed.finish().unwrap()),
        ("/in/c.tsv", lines(20_000, 3).into_bytes()),
    ];
    let nodes = (0..9000).map(|node| format!("node-{node}\n")).collect::<String>();
    let packed = vec![several[1].clone()];
    let several = [several, vec![("/in/nodes.txt", nodes.into_bytes())]].concat();
    let text = vec![("/in/a.tsv", text.into_bytes())];
    let listed: Vec<String> = (0..9000).map(|node| format!("node-{node}")).collect();
    let listed: Vec<Option<&str>> = listed.iter().map(|name| Some(name.as_str())).collect();
    let listed = [("node", tables::column(&listed, Names::Text))];
    let listed = RecordBatch::try_from_iter(listed).unwrap();
    let of_tables = vec![
        ("/in/a.parquet", tables::parquet(&rows(50_000, 5), 7000)),
        ("/in/b.arrows", tables::arrow(&rows(30_000, 6), 900, true, false)),
        ("/in/nodes.parquet", tables::parquet(&listed, 2000)),
    ];
    let (names, nodes) = (u64::MAX, Some("/in/nodes.txt"));
    [
        Case { name: "text", files: text.clone(), nodes: None, names },
        Case { name: "compressed", files: packed, nodes: None, names },
        Case { name: "several files", files: several.clone(), nodes, names },
        Case { name: "tables", files: of_tables, nodes: Some("/in/nodes.parquet"), names },
        Case { name: "names on disk", files: several, nodes, names: 5000 },
    ]
}

impl Case {
    fn storage(&self) -> Sim {
        let sim = Sim::new();
        self.files.iter().for_each(|(path, bytes)| sim.put(path, bytes));
        sim
    }

    fn options(&self) -> JobOptions {
        let mut options = options(2, 96 * MIB);
        let edges = self.files.iter().map(|(path, _)| *path);
        options.input.paths =
            edges.filter(|path| Some(*path) != self.nodes).map(PathBuf::from).collect();
        options.input.nodes = self.nodes.map(PathBuf::from);
        options.input.on_bad_line = OnBadLine::Skip;
        options.input.rejects = Some(REJECTS.into());
        options.keep_loops = false;
        options.normalize = Normalize::SelfScore;
        options
    }

    fn build(&self, sim: &Sim, options: &JobOptions, observer: &dyn Observer) -> Result<Report> {
        let files = files_of(sim).with_cramped(self.cramped());
        job::build(&files, options, Path::new(GRAPH), observer)
    }

    fn cramped(&self) -> Cramped {
        Cramped {
            chunk_bytes: 32 << 10,
            run_records: 30_000,
            names: self.names,
            read_save: Duration::ZERO,
            ..Cramped::NOT
        }
    }

    /// Runs the job until it is stopped after this many batches. Returns the error's description of what is kept.
    fn stop(&self, sim: &Sim, options: &JobOptions, batches: usize) -> String {
        let error = self.build(sim, options, &StopAfter::batches(batches)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
        error.kept_text().unwrap().to_owned()
    }
}

/// Returns all results.
fn results(sim: &Sim) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = sim.paths().into_iter().filter(|path| path.starts_with("/out"));
    paths.map(|path| (path.clone(), sim.get(&path).unwrap())).collect()
}

/// Observer that stops after this many batches, if not 0; progress up to the batch before is saved.
#[derive(Default)]
struct StopAfter {
    batches: usize,
    /// Bytes read after each batch.
    done: Mutex<Vec<u64>>,
    details: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl StopAfter {
    fn batches(batches: usize) -> Self {
        Self { batches, ..Self::default() }
    }
}

impl Observer for StopAfter {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Advance { done: bytes } => {
                let mut done = self.done.lock().unwrap();
                done.push(bytes);
                if done.len() == self.batches {
                    return ControlFlow::Break(());
                }
            }
            Event::Detail { text } => self.details.lock().unwrap().push(text.into()),
            Event::Warning { text } => self.warnings.lock().unwrap().push(text.to_string()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_job_stopped_after_any_batch_resumes_with_the_same_result_and_report() {
    for case in cases() {
        let (sim, all) = (case.storage(), StopAfter::default());
        let whole = case.build(&sim, &case.options(), &all).unwrap();
        let (expected, warnings) = (results(&sim), all.warnings.into_inner().unwrap());
        assert!(expected.len() == 4 && warnings.len() == 2, "{}: {warnings:?}", case.name);
        let on_disk = whole.input.as_ref().unwrap().names_on_disk_count;
        assert!(whole.sort.unwrap().run_count > 2 && (on_disk > 1000) == (case.names < u64::MAX));
        let mut tried = 0;
        for batches in (2..).step_by(7) {
            let (sim, first) = (case.storage(), StopAfter::batches(batches));
            let kept = match case.build(&sim, &case.options(), &first) {
                Err(error) => error.kept_text().unwrap().to_owned(),
                Ok(_) => break,
            };
            let what = format!("{}, stopped after batch {batches}: {kept}", case.name);
            if !kept.starts_with("the input read so far (") {
                break;
            }
            assert!(
                kept.contains(
                    "`, `/out/.graph.outcore/graph` and `/out/.rejects.tsv.outcore-part/part` ("
                ),
                "{what}"
            );
            let second = StopAfter::default();
            let report = case.build(&sim, &case.options(), &second).unwrap();
            let details = second.details.into_inner().unwrap();
            assert!(
                report.resumed && details[0].starts_with("resumes after "),
                "{what} {details:?}"
            );
            assert!(report.stages[0].summary.ends_with("reused from an earlier job"));
            assert_eq!(report.input, whole.input, "{what}");
            assert_eq!(second.warnings.into_inner().unwrap(), warnings, "{what}");
            assert!(results(&sim) == expected, "{what}: another result");
            assert_eq!(sim.paths().len(), case.files.len() + expected.len(), "{what}");
            // Names are read back, and so are the first blocks of files, to detect formats.
            let done = first.done.into_inner().unwrap()[batches - 2];
            let is_packed = details[0].ends_with("decompressed again");
            let most = whole.stages[0].read_bytes - if is_packed { 0 } else { done };
            // Arrow batches are read again and dropped.
            let is_bounded = on_disk == 0 && case.name != "tables";
            assert!(!is_bounded || report.stages[0].read_bytes < most + 900_000, "{what}");
            assert!(is_packed || case.name != "compressed", "{what}: {details:?}");
            tried += 1;
        }
        assert!(tried > 3, "{}: {tried}", case.name);
    }
}

#[test]
fn jobs_stopped_repeatedly_finish() {
    for case in cases() {
        let sim = case.storage();
        case.build(&sim, &case.options(), &StopAfter::default()).unwrap();
        let expected = results(&sim);
        let sim = case.storage();
        let mut stops = 0;
        // Data that is decompressed again is also reported as progress.
        while case.build(&sim, &case.options(), &StopAfter::batches(7 * (stops + 1))).is_err() {
            stops += 1;
        }
        assert!(stops > 1 && results(&sim) == expected, "{}: {stops} stops", case.name);
    }
}

#[test]
fn a_job_resumes_with_other_memory_and_threads() {
    let [case, ..] = cases();
    let sim = case.storage();
    case.build(&sim, &case.options(), &StopAfter::default()).unwrap();
    let expected = results(&sim);
    for (threads, memory_bytes) in [(1, 64 * MIB), (3, 300 * MIB)] {
        let sim = case.storage();
        case.stop(&sim, &case.options(), 9);
        let limits = options(threads, memory_bytes).limits;
        let report =
            case.build(&sim, &JobOptions { limits, ..case.options() }, &StopAfter::default());
        assert!(report.unwrap().resumed && results(&sim) == expected);
    }
}

/// Damage is detected by names and lengths immediately, or by checksums later; the job starts from scratch.
#[test]
fn damaged_or_missing_files_never_change_the_result() {
    let [text, .., on_disk] = cases();
    for (case, batches) in [(text, 8), (on_disk, 12)] {
        damage_each(&case, batches);
    }
}

/// Damages each file after `batches` batches were saved.
fn damage_each(case: &Case, batches: usize) {
    let whole = case.storage();
    case.build(&whole, &case.options(), &StopAfter::default()).unwrap();
    let expected = results(&whole);
    let stopped = || {
        let sim = case.storage();
        case.stop(&sim, &case.options(), batches + 1);
        sim
    };
    let (sim, manifest) = (stopped(), Path::new(WORK).join("manifest.json"));
    let text = String::from_utf8(sim.get(&manifest).unwrap()).unwrap();
    let result = format!("\"result\": \"{GRAPH}\"");
    assert!(text.contains(&result), "{text}");
    sim.put(&manifest, text.replace(&result, "\"result\": \"/out/grapf\"").as_bytes());
    let observer = StopAfter::default();
    assert!(!case.build(&sim, &case.options(), &observer).unwrap().resumed);
    let warnings = observer.warnings.into_inner().unwrap();
    assert_eq!(warnings[0], "starts from scratch: the manifest of the saved state is damaged");
    let paths = stopped().paths().into_iter();
    let (mut from_scratch, mut same) = (0, 0);
    for path in paths.filter(|path| !path.starts_with("/in")) {
        // Written later, or only to mark the owner of a directory.
        let is_other = path.ends_with("manifest.json") && path != manifest;
        let is_promised = !is_other && !path.ends_with("CACHEDIR.TAG");
        for is_cut in [true, false] {
            let (sim, what) = (stopped(), format!("`{}`, cut: {is_cut}", path.display()));
            let mut bytes = sim.get(&path).unwrap();
            let middle = bytes.len() / 3;
            bytes[middle] ^= 1;
            sim.put(&path, if is_cut { &bytes[..middle] } else { &bytes });
            let observer = StopAfter::default();
            let report = case.build(&sim, &case.options(), &observer).unwrap();
            let warnings = observer.warnings.into_inner().unwrap();
            let is_reported = |text: &String| text.starts_with("starts from scratch: ");
            assert_eq!(warnings.iter().any(is_reported), is_promised, "{what}: {warnings:?}");
            assert_eq!(report.warnings.iter().any(is_reported), is_promised, "{what}");
            assert!(report.resumed != is_promised, "{what}");
            from_scratch += u32::from(is_promised);
            same += u32::from(!is_promised);
            assert!(results(&sim) == expected, "{what}: another result");
        }
    }
    assert!(from_scratch > 16 && same == 10, "{from_scratch} {same}");
}

/// A bad line gives the same error at the same place, and nothing is kept: the same command would meet it again.
#[test]
fn a_bad_line_after_saved_progress_is_reported_at_its_place() {
    let mut case = cases().into_iter().nth(2).unwrap();
    for (_, bytes) in &mut case.files {
        let good = |line: &&[u8]| *line != b"alone";
        if let Ok(text) = std::str::from_utf8(bytes) {
            *bytes = text
                .as_bytes()
                .split(|&byte| byte == b'\n')
                .filter(good)
                .collect::<Vec<_>>()
                .join(&b'\n');
        }
    }
    case.names = 5000;
    case.files.remove(1);
    case.files[1].1.extend_from_slice(b"x\ty\t1\nx\ty\tz\n");
    let mut options = case.options();
    (options.input.on_bad_line, options.input.rejects) = (OnBadLine::Stop, None);
    let place = |sim: &Sim| {
        let error = case.build(sim, &options, &StopAfter::default()).unwrap_err();
        assert!(error.kept_text().is_none(), "{error}");
        assert_eq!(sim.paths().len(), case.files.len(), "{:?}", sim.paths());
        let place = error.place().unwrap();
        assert!(place.path == Path::new("/in/c.tsv") && place.text.ends_with('z'), "{place:?}");
        (place.line, place.byte)
    };
    let expected = place(&case.storage());
    for batches in [3, 8, 11] {
        let sim = case.storage();
        case.stop(&sim, &options, batches);
        assert_eq!(place(&sim), expected);
    }
}

#[test]
fn restart_and_changed_inputs_start_from_scratch() {
    let [case, ..] = cases();
    let sim = case.storage();
    case.stop(&sim, &case.options(), 9);
    let observer = StopAfter::default();
    let report =
        case.build(&sim, &JobOptions { restart: true, ..case.options() }, &observer).unwrap();
    assert!(!report.resumed && observer.details.into_inner().unwrap().is_empty());
    assert_eq!(sim.paths().len(), case.files.len() + 4);
    let sim = case.storage();
    case.stop(&sim, &case.options(), 9);
    sim.put("/in/a.tsv", &case.files[0].1);
    let observer = StopAfter::default();
    assert!(!case.build(&sim, &case.options(), &observer).unwrap().resumed);
    let warnings = observer.warnings.into_inner().unwrap();
    assert_eq!(warnings[0], "starts from scratch: `/in/a.tsv` has changed since");
    assert_eq!(sim.paths().len(), case.files.len() + 4);
}

/// Repeats the test on a file system, bypassing the page cache where possible.
#[test]
fn jobs_resume_on_a_real_disk() {
    let [text, .., on_disk] = cases();
    for case in [text, on_disk] {
        let directory = tempfile::tempdir().unwrap();
        let within = |path: &str| directory.path().join(path.trim_start_matches('/'));
        let files = Files::default().with_cramped(case.cramped());
        files.create_directory(&within("in")).unwrap();
        files.create_directory(&within("out")).unwrap();
        case.files.iter().for_each(|(path, bytes)| files.write(&within(path), bytes).unwrap());
        let mut options = case.options();
        options.work_dir = within("disk");
        let paths = options.input.paths.iter_mut().chain(&mut options.input.nodes);
        paths.chain(&mut options.input.rejects).for_each(|path| {
            *path = within(path.to_str().unwrap());
        });
        let results = || {
            let graph = files.list(&within(GRAPH)).unwrap();
            let mut paths: Vec<PathBuf> = graph.into_iter().map(|entry| entry.path).collect();
            paths.push(within(REJECTS));
            let read = paths.iter().map(|path| files.read(path).unwrap()).collect::<Vec<_>>();
            paths.iter().for_each(|path| files.remove(path).unwrap());
            files.remove_directory(&within(GRAPH)).unwrap();
            read
        };
        let build = |observer: &StopAfter| {
            job::build(&files, &options, &within(GRAPH), observer).map(|report| report.resumed)
        };
        assert!(!build(&StopAfter::default()).unwrap());
        let expected = results();
        for batches in [5, 9, 14] {
            assert!(build(&StopAfter::batches(batches)).unwrap_err().kept_text().is_some());
            assert!(build(&StopAfter::default()).unwrap());
            assert!(results() == expected, "{}, stopped after {batches}", case.name);
        }
        assert!(files.list(&within("out")).unwrap().is_empty());
    }
}

/// A different file with the same name, length and modification time is a different input.
#[test]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a check from outside")]
fn a_replaced_input_is_detected_whatever_its_length_and_time() {
    let [case, ..] = cases();
    let directory = tempfile::tempdir().unwrap();
    let edges = directory.path().join("edges.tsv");
    let text = std::str::from_utf8(&case.files[0].1).unwrap();
    let files = Files::default().with_cramped(case.cramped());
    files.write(&edges, text.as_bytes()).unwrap();
    let mut options = case.options();
    options.work_dir = directory.path().to_path_buf();
    options.input.paths = vec![edges.clone()];
    options.input.rejects = None;
    let graph = directory.path().join("graph");
    let build = |observer: &StopAfter| job::build(&files, &options, &graph, observer);
    assert!(build(&StopAfter::batches(9)).unwrap_err().kept_text().is_some());
    let before = std::fs::metadata(&edges).unwrap();
    let other = directory.path().join("other");
    files.write(&other, text.replace("node-1", "node-2").as_bytes()).unwrap();
    let file = std::fs::File::options().write(true).open(&other).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    std::fs::rename(&other, &edges).unwrap();
    let after = std::fs::metadata(&edges).unwrap();
    assert_eq!(
        (before.len(), before.modified().unwrap()),
        (after.len(), after.modified().unwrap())
    );
    let report = build(&StopAfter::default()).unwrap();
    assert!(!report.resumed, "the other file was not seen");
    let reported = format!("starts from scratch: `{}` has changed since", edges.display());
    assert_eq!(report.warnings[0], reported);
}

/// If the disk has no room, spilled names are removed as they are numbered, and no job can resume from them.
#[test]
fn spilled_names_are_consumed_if_the_disk_has_no_room() {
    /// Observer that fills the disk once reading has begun, and stops when names are numbered if asked to.
    struct Full<'a>(&'a Sim, bool);
    impl Observer for Full<'_> {
        fn event(&self, event: Event<'_>) -> ControlFlow<()> {
            match event {
                Event::Advance { .. } => self.0.set_room(Some(0)),
                Event::Detail { text: "numbering names on disk" } if self.1 => {
                    return ControlFlow::Break(());
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let [.., case] = cases();
    let sim = case.storage();
    case.build(&sim, &case.options(), &StopAfter::default()).unwrap();
    let expected = results(&sim);
    let sim = case.storage();
    let error = case.build(&sim, &case.options(), &Full(&sim, true)).unwrap_err();
    assert!(error.kept_text().is_none(), "{:?}", error.kept_text());
    assert_eq!(sim.paths().len(), case.files.len(), "{:?}", sim.paths());
    sim.set_room(None);
    case.build(&sim, &case.options(), &Full(&sim, false)).unwrap();
    assert!(results(&sim) == expected, "another result");
}

/// Data written to a stream cannot be withdrawn.
#[test]
fn nothing_is_kept_if_rejects_go_to_a_stream() {
    let [case, ..] = cases();
    let sim = storage_of(&lines(40_000, 5));
    let mut options = options(2, 96 * MIB);
    options.input.on_bad_line = OnBadLine::Skip;
    options.input.rejects = Some("-".into());
    let error = case.build(&sim, &options, &StopAfter::batches(9)).unwrap_err();
    assert!(error.kept_text().is_none(), "{:?}", error.kept_text());
    assert_eq!(sim.paths().len(), 2, "{:?}", sim.paths());
}
