//! Saved state of interrupted jobs, and how the next job resumes from it, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::stop::StopAt;
use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, options, storage_of};
use outcore::cluster::{ClusterOptions, Method, WellConnected};
use outcore::io::{Cramped, Files, Storage};
use outcore::job::{self, JobOptions, Normalize, Report, Source};
use outcore::progress::{Event, Observer, Silent, Stage};
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::{Fault, Sim};
use std::io::ErrorKind as IoErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const INPUT: &str = "/in/edges.tsv";
const OUTPUT: &str = "/out/communities.tsv";
const GRAPH: &str = "/out/graph";
const WORK: &str = "/disk/.communities.tsv.outcore";

/// Creates a few edges, which are sorted in memory.
fn few() -> Sim {
    storage_of(&(0..500).map(|i| format!("n{} n{}\n", i * i % 97, i % 89)).collect::<String>())
}

/// Creates edges that the sort divides into several runs in 96 MiB, with some self hits and one bad line.
fn many() -> Sim {
    let mut text = String::with_capacity(20 << 20);
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for line in 0..1_600_000u32 {
        let source = next(5000);
        let target =
            if line % 100 == 0 && source % 3 > 0 { source } else { source / 50 * 50 + next(50) };
        text += &format!("{source} {target} {}\n", 1 + next(9));
    }
    storage_of(&(text + "bad\n"))
}

/// Returns options for [`many`].
fn spilling() -> JobOptions {
    let mut options = options(2, 96 * MIB);
    options.keep_loops = false;
    options.normalize = Normalize::SelfScore;
    options.input.on_bad_line = outcore::input::OnBadLine::Skip;
    options
}

/// Returns the files of jobs, with several runs of [`many`] lines.
fn files(sim: &Sim) -> Files {
    files_of(sim).with_cramped(Cramped { run_records: 400_000, ..Cramped::NOT })
}

fn cluster(sim: &Sim, options: &JobOptions, observer: &dyn Observer) -> Result<Report> {
    let source = Source::Edges(Box::new(options.clone()));
    // With a minimum weight of merged edges, components need the graph.
    let (method, min_weight) = (Method::Components, 1e-300);
    let clustering = ClusterOptions { method, min_weight, ..ClusterOptions::default() };
    job::cluster(&files(sim), &source, &clustering, Path::new(OUTPUT), observer)
}

fn build(sim: &Sim, options: &JobOptions, observer: &dyn Observer) -> Result<Report> {
    job::build(&files(sim), options, Path::new(GRAPH), observer)
}

type Run = fn(&Sim, &JobOptions, &dyn Observer) -> Result<Report>;

/// Returns all results.
fn results(sim: &Sim) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = sim.paths().into_iter().filter(|path| path.starts_with("/out"));
    paths.map(|path| (path.clone(), sim.get(&path).unwrap())).collect()
}

/// Observer that stops the job when the stage begins.
struct StopIn(Stage);

impl Observer for StopIn {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Begin { stage, .. } if stage == self.0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Runs the job until it is stopped in the stage. Returns the error's description of what is kept.
fn stop_in(run: Run, sim: &Sim, options: &JobOptions, stage: Stage) -> String {
    let error = run(sim, options, &StopIn(stage)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    error.kept_text().unwrap().to_owned()
}

/// Returns storage with settings that save every sweep and put all levels on disk.
fn saving(sim: &Sim) -> Files {
    let cramped =
        Cramped { sweep_save: Duration::ZERO, level_arcs: 0, sums_bytes: 0, ..Cramped::NOT };
    files_of(sim).with_cramped(cramped)
}

fn cluster_graph(
    sim: &Sim,
    bound: Option<WellConnected>,
    restart: bool,
    observer: &dyn Observer,
) -> Result<Report> {
    let limits = options(2, 128 * MIB).limits;
    let (path, work_dir) = (PathBuf::from(GRAPH), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits, work_dir, restart };
    let method =
        ClusterOptions { trials: Some(1), well_connected: bound, ..ClusterOptions::default() };
    job::cluster(&saving(sim), &source, &method, Path::new(OUTPUT), observer)
}

#[test]
fn the_clustering_of_a_graph_stopped_at_any_event_resumes_from_its_sweeps() {
    resumes_from_its_sweeps(None);
}

#[test]
fn a_clustering_with_well_connected_communities_resumes_like_others() {
    resumes_from_its_sweeps(Some("log2".parse().unwrap()));
}

fn resumes_from_its_sweeps(bound: Option<WellConnected>) {
    let built = || {
        let sim = few();
        build(&sim, &options(2, 128 * MIB), &Silent).unwrap();
        sim
    };
    let sim = built();
    cluster_graph(&sim, bound, false, &Silent).unwrap();
    let expected = results(&sim);
    let mut resumed = 0;
    for event in 0.. {
        let sim = built();
        let Err(error) = cluster_graph(&sim, bound, false, &StopAt(event.into())) else {
            return assert!(resumed > 3, "{resumed}");
        };
        let kept = error.kept_text();
        let text = "the sweeps so far in `/disk/.communities.tsv.outcore`";
        assert!(kept.is_none_or(|kept| kept.starts_with(text)), "{kept:?}");
        assert_eq!(sim.paths().iter().any(|path| path.starts_with("/disk")), kept.is_some());
        let restart = event % 5 == 4;
        let report = cluster_graph(&sim, bound, restart, &Silent).unwrap();
        assert_eq!(report.resumed, kept.is_some() && !restart, "event {event}");
        assert_eq!(results(&sim), expected, "event {event}");
        assert!(!sim.paths().iter().any(|path| path.starts_with("/disk")), "{:?}", sim.paths());
        resumed += u32::from(report.resumed);
    }
}

/// The job resumes from the graph and from the sweeps, and from the graph alone if the sweeps do not match.
#[test]
fn the_clustering_of_edges_resumes_from_the_graph_and_from_its_sweeps() {
    let run = |sim: &Sim, seed: u64, observer: &dyn Observer| {
        let source = Source::Edges(Box::new(options(2, 128 * MIB)));
        let method = ClusterOptions { seed, trials: Some(1), ..ClusterOptions::default() };
        job::cluster(&saving(sim), &source, &method, Path::new(OUTPUT), observer)
    };
    let sim = few();
    run(&sim, 1, &Silent).unwrap();
    let expected = results(&sim);
    let mut both = 0;
    for event in 0.. {
        let sim = few();
        let Err(error) = run(&sim, 1, &StopAt(event.into())) else { break };
        let kept = error.kept_text().unwrap_or_default();
        if !kept.starts_with("the graph of 1 file and the sweeps so far in") {
            continue;
        }
        both += 1;
        let seed = 1 + both % 2;
        let observer = Warnings::default();
        let report = run(&sim, seed, &observer).unwrap();
        let warned =
            observer.into_texts().iter().any(|text| text.contains("belong to other options"));
        assert_eq!((report.resumed, warned), (true, seed == 2), "event {event}");
        if seed == 2 {
            let whole = few();
            run(&whole, 2, &Silent).unwrap();
            assert_eq!(results(&sim), results(&whole), "event {event}");
        } else {
            assert_eq!(results(&sim), expected, "event {event}");
            let clustered = report.stages.iter().find(|row| row.stage == Stage::Cluster).unwrap();
            assert!(clustered.summary.contains("from a stopped run"), "{}", clustered.summary);
        }
    }
    assert!(both > 3, "{both}");
}

/// Builds a graph that is complete but not yet renamed into place. Returns the error's description of what is kept.
fn build_without_name(sim: &Sim, options: &JobOptions) -> String {
    let whole = few();
    whole.track();
    build(&whole, options, &Silent).unwrap();
    // The last operations clean up; the one before them renames the graph.
    for at in (0..whole.operation_count()).rev() {
        sim.set_fault(Some(Fault { at, forever: false, kind: IoErrorKind::Other }));
        let done = build(sim, options, &Silent);
        sim.set_fault(None);
        match done {
            Err(error) if error.kept_text().is_some_and(|kept| kept.starts_with("the graph")) => {
                return error.kept_text().unwrap().to_owned();
            }
            Err(_) => {}
            Ok(_) => files_of(sim).remove_all(Path::new(GRAPH)),
        }
    }
    panic!("no fault hit the operation that renames the graph");
}

#[test]
fn a_graph_that_another_job_replaced_is_not_reused() {
    let mine = options(2, 128 * MIB);
    let mut others = mine.clone();
    (others.work_dir, others.input.directed) = ("/other".into(), true);
    let expected = |options| {
        let sim = few();
        build(&sim, options, &Silent).unwrap();
        results(&sim)
    };
    let sim = few();
    build_without_name(&sim, &mine);
    assert!(build(&sim, &mine, &Silent).unwrap().resumed);
    assert_eq!(results(&sim), expected(&mine));
    let sim = few();
    build_without_name(&sim, &mine);
    build_without_name(&sim, &others);
    let observer = Warnings::default();
    assert!(!build(&sim, &mine, &observer).unwrap().resumed);
    let texts = observer.into_texts();
    assert!(texts.iter().any(|text| text.contains("is now a different graph")), "{texts:?}");
    assert_eq!(results(&sim), expected(&mine));
}

#[test]
fn a_job_stopped_at_any_event_resumes_from_its_saved_state() {
    let expected = {
        let sim = few();
        cluster(&sim, &options(2, 128 * MIB), &Silent).unwrap();
        results(&sim)
    };
    let mut resumed = 0;
    for event in 0.. {
        let sim = few();
        let Err(error) = cluster(&sim, &options(2, 128 * MIB), &StopAt(event.into())) else {
            return assert!(resumed > 3, "{resumed}");
        };
        let is_kept = error.kept_text().is_some();
        assert_eq!(sim.paths().iter().any(|path| path.starts_with("/disk")), is_kept, "{event}");
        let report = cluster(&sim, &options(2, 128 * MIB), &Silent).unwrap();
        assert_eq!((report.resumed, results(&sim)), (is_kept, expected.clone()), "event {event}");
        assert!(report.input.is_some_and(|input| input.edge_count == 500), "event {event}");
        assert_eq!(sim.paths().len(), 2, "{:?}", sim.paths());
        resumed += u32::from(report.resumed);
    }
}

#[test]
fn a_job_resumes_from_its_runs_with_the_same_report_and_warnings() {
    for run in [cluster as Run, build] {
        let sim = many();
        let all = Warnings::default();
        let whole = run(&sim, &spilling(), &all).unwrap();
        let expected = results(&sim);
        assert!(whole.sort.unwrap().run_count > 2, "{:?}", whole.sort);
        let all = all.into_texts();
        assert!(all.len() > 1, "{all:?}");
        for (path, _) in &expected {
            files_of(&sim).remove(path).unwrap();
        }
        let _ = sim.remove_directory(Path::new(GRAPH));
        let kept = stop_in(run, &sim, &spilling(), Stage::Merge);
        assert!(kept.starts_with("the runs of 1 file in `/disk/."), "{kept}");
        assert!(kept.ends_with("resumes from there, `--restart` starts from scratch"), "{kept}");
        let again = Warnings::default();
        let report =
            run(&sim, &JobOptions { limits: options(1, 200 * MIB).limits, ..spilling() }, &again);
        let report = report.unwrap();
        assert!(report.resumed && report.input == whole.input);
        assert_eq!(report.sort.unwrap().record_count, whole.sort.unwrap().record_count);
        assert_eq!(again.into_texts(), all);
        assert!(results(&sim) == expected, "another result");
        assert_eq!(sim.paths().len(), 1 + expected.len(), "{:?}", sim.paths());
    }
}

#[test]
fn a_fault_in_the_merge_keeps_the_runs() {
    let sim = many();
    let whole = build(&sim, &spilling(), &Silent).unwrap();
    let expected = results(&sim);
    for (path, _) in &expected {
        files_of(&sim).remove(path).unwrap();
    }
    sim.remove_directory(Path::new(GRAPH)).unwrap();
    assert!(whole.graph.is_some());
    stop_in(build, &sim, &spilling(), Stage::Merge);
    let mut faults = 0;
    for at in (2..).step_by(13) {
        sim.set_fault(Some(Fault { at, forever: true, kind: IoErrorKind::StorageFull }));
        let ended = build(&sim, &spilling(), &Silent);
        if !sim.has_failed() {
            assert!(ended.unwrap().resumed);
            break;
        }
        let error = ended.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DiskFull);
        sim.set_fault(None);
        faults += 1;
    }
    assert!(faults > 5);
    assert!(results(&sim) == expected, "another result");
}

/// Observer that checks whether runs are saved for the next job as the merge begins, on a disk with this much room.
struct AtMerge<'a> {
    sim: &'a Sim,
    room: Option<u64>,
    is_promised: AtomicBool,
}

impl Observer for AtMerge<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::End { .. } => self.sim.set_room(self.room),
            Event::Begin { stage: Stage::Merge, .. } => {
                self.sim.set_room(None);
                let checkpoint = self.sim.get(Path::new(WORK).join("checkpoint"));
                let text = checkpoint.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let has_runs = text.is_some_and(|text| text.contains("\"state\":{\"runs\":{"));
                self.is_promised.store(has_runs, Ordering::Relaxed);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Without room for both, runs are consumed to make room for the graph, and are not saved for the next job.
#[test]
fn runs_are_consumed_if_the_disk_has_no_room_for_both() {
    let mut found = Vec::new();
    for (room, is_promised) in [(None, true), (Some(MIB), false)] {
        let sim = many();
        let observer = AtMerge { sim: &sim, room, is_promised: AtomicBool::new(false) };
        let report = cluster(&sim, &spilling(), &observer).unwrap();
        assert!(report.sort.unwrap().run_count > 2);
        assert_eq!(observer.is_promised.into_inner(), is_promised, "{room:?}");
        assert_eq!(sim.paths().len(), 2);
        found.push(sim.get(OUTPUT));
    }
    assert!(found[0].is_some() && found[0] == found[1]);
}

/// Replaces a part of the checkpoint's text with another of the same length, and updates the checksum.
fn change_checkpoint(sim: &Sim, from: &str, to: &str) {
    let path = Path::new(WORK).join("checkpoint");
    let mut bytes = sim.get(&path).unwrap();
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
    assert_eq!(from.len(), to.len());
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    let (all, checksum) = bytes.split_last_chunk_mut::<8>().unwrap();
    *checksum = xxhash_rust::xxh3::xxh3_64(all).to_le_bytes();
    sim.put(&path, &bytes);
}

#[test]
fn a_job_with_changed_inputs_or_options_starts_from_scratch_and_says_why() {
    type Change = fn(&Sim, &mut JobOptions);
    let manifest = Path::new(WORK).join("manifest.json");
    let cases: [(Change, &str); 6] = [
        (|sim, _| sim.put(INPUT, b"a b\n"), "`/in/edges.tsv` has changed since"),
        // The same bytes, but written again.
        (|sim, _| sim.put(INPUT, &sim.get(INPUT).unwrap()), "`/in/edges.tsv` has changed since"),
        (|_, options| options.input.directed = true, "the saved state belongs to other options"),
        (
            |sim, options| {
                sim.put("/in/more.tsv", b"a b\n");
                options.input.paths.push("/in/more.tsv".into());
            },
            "the saved state belongs to other input files",
        ),
        (
            |sim, _| {
                let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
                let other = format!("\"version\":\"{:0<1$}\"", "0.0.", version.len() - 12);
                change_checkpoint(sim, &version, &other);
            },
            "the saved state was written by version 0.0.0",
        ),
        (
            |sim, options| {
                options.input.paths.push("-".into());
                sim.put("-", b"a b\n");
            },
            "the saved state belongs to other input files",
        ),
    ];
    for (change, why) in cases {
        let sim = few();
        let kept = stop_in(cluster, &sim, &options(2, 128 * MIB), Stage::Cluster);
        assert!(kept.starts_with("the graph of 1 file in"), "{kept}");
        let mut changed = options(2, 128 * MIB);
        change(&sim, &mut changed);
        let warnings = Warnings::default();
        let report = cluster(&sim, &changed, &warnings).unwrap();
        assert!(!report.resumed);
        assert!(warnings.into_texts().contains(&format!("starts from scratch: {why}")), "{why}");
        assert!(sim.get(&manifest).is_none());
    }
    let sim = few();
    stop_in(cluster, &sim, &options(2, 128 * MIB), Stage::Cluster);
    let report = cluster(&sim, &JobOptions { restart: true, ..options(2, 128 * MIB) }, &Silent);
    assert!(!report.unwrap().resumed);
    // The graph does not depend on the limits.
    stop_in(cluster, &sim, &options(2, 128 * MIB), Stage::Cluster);
    assert!(cluster(&sim, &options(1, 96 * MIB), &Silent).unwrap().resumed);
}

#[test]
fn damaged_runs_never_change_the_result() {
    let runs = Path::new(WORK).join("runs");
    let whole = many();
    cluster(&whole, &spilling(), &Silent).unwrap();
    let cut = |sim: &Sim, path: &Path| {
        let bytes = sim.get(path).unwrap();
        sim.put(path, &bytes[..bytes.len() / 2]);
    };
    let flip = |sim: &Sim, path: &Path| {
        let mut bytes = sim.get(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        sim.put(path, &bytes);
    };
    let sim = many();
    let stop = |sim: &Sim| stop_in(cluster, sim, &spilling(), Stage::Merge);
    stop(&sim);
    // Damage detected by names and lengths: the job starts from scratch.
    for name in ["run-0.0", "../checkpoint", "../graph/names", "../manifest.json"] {
        let path = if let Some(name) = name.strip_prefix("../") {
            Path::new(WORK).join(name)
        } else {
            runs.join(name)
        };
        if name.contains("manifest") {
            let text = String::from_utf8(sim.get(&path).unwrap()).unwrap();
            assert!(text.contains("\"read\""));
            sim.put(&path, text.replace("\"read\"", "\"merge\"").as_bytes());
        } else {
            cut(&sim, &path);
        }
        let warnings = Warnings::default();
        let error = cluster(&sim, &spilling(), &StopIn(Stage::Merge).and(&warnings)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        let texts = warnings.into_texts();
        assert!(
            texts.iter().any(|text| text.starts_with("starts from scratch: ")),
            "{name}: {texts:?}"
        );
    }
    // Damage of runs detected only by checksums is found late: the job then starts from scratch.
    for name in ["run-1.0", "../checkpoint"] {
        flip(
            &sim,
            &match name.strip_prefix("../") {
                Some(name) => Path::new(WORK).join(name),
                None => runs.join(name),
            },
        );
        let report = cluster(&sim, &spilling(), &Silent).unwrap();
        let warning = &report.warnings[0];
        assert!(
            warning.starts_with("starts from scratch: `/disk/.comm") && !report.resumed,
            "{warning}"
        );
        assert_eq!(sim.get(OUTPUT), whole.get(OUTPUT), "{name}");
        assert_eq!(sim.paths().len(), 2, "{:?}", sim.paths());
        stop(&sim);
    }
}

/// Observer that also notifies another observer.
struct Both<'a>(StopIn, &'a Warnings);

impl StopIn {
    fn and(self, other: &Warnings) -> Both<'_> {
        Both(self, other)
    }
}

impl Observer for Both<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let _ = self.1.event(event.clone());
        self.0.event(event)
    }
}

/// Observer that runs an action as the stage begins.
struct During<F>(Stage, F);

impl<F: Fn() + Send + Sync> Observer for During<F> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if matches!(event, Event::Begin { stage, .. } if stage == self.0) {
            self.1();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn an_input_that_changes_while_it_is_read_is_an_error() {
    for (text, note) in [("a b\n", "and now has 4 bytes"), ("", "and now has 0 bytes")] {
        let sim = few();
        let before = sim.get(INPUT).unwrap();
        let change = During(Stage::Read, || sim.put(INPUT, text.as_bytes()));
        let error = cluster(&sim, &options(2, 128 * MIB), &change).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InputChanged, "{error}");
        assert!(error.message().contains(INPUT), "{error}");
        assert!(error.notes()[0].ends_with(note), "{:?}", error.notes());
        assert!(error.notes()[0].contains(&format!("{}", before.len() % 1000)));
        assert_eq!(sim.paths().len(), 1);
    }
    // Same length, during reading and after the end of reading.
    let sim = few();
    let again = || sim.put(INPUT, &sim.get(INPUT).unwrap());
    let error = build(&sim, &options(2, 128 * MIB), &During(Stage::Read, again)).unwrap_err();
    assert!(error.notes()[0].contains("it still has "), "{:?}", error.notes());
    build(&sim, &options(2, 128 * MIB), &During(Stage::Merge, again)).unwrap();
}

#[test]
fn a_second_job_in_the_same_directory_is_refused_and_the_first_continues() {
    let sim = few();
    let refused = AtomicBool::new(false);
    let second = || {
        let error = cluster(&sim, &options(1, 96 * MIB), &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let by = format!("is in use by process {}", std::process::id());
        assert!(error.message().contains(&by), "{error}");
        refused.store(true, Ordering::Relaxed);
    };
    cluster(&sim, &options(2, 128 * MIB), &During(Stage::Cluster, second)).unwrap();
    assert!(refused.into_inner());
    assert_eq!(sim.paths().len(), 2);
}

/// A result on standard output has no name by which the next job could find the saved state.
#[test]
fn nothing_is_kept_for_standard_output() {
    let sim = few();
    let source = Source::Edges(Box::new(options(2, 128 * MIB)));
    let error = job::cluster(
        &files_of(&sim),
        &source,
        &ClusterOptions::default(),
        Path::new("-"),
        &StopIn(Stage::Cluster),
    );
    assert!(error.unwrap_err().kept_text().is_none());
    assert_eq!(sim.paths().len(), 1);
}
