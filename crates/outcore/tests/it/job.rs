//! Guarantees of whole jobs, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options, storage_of};
use outcore::budget::Limits;
use outcore::cluster::ClusterOptions;
use outcore::graph::{Duplicates, Graph};
use outcore::io::{Cramped, Files, Storage, Transfer, Tuning};
use outcore::job::{self, JobKind, JobManifest, JobOptions, Source};
use outcore::progress::{Event, Observer, Silent, Stage};
use outcore::{ErrorKind, Result};
use outcore_testkit::one_of;
use outcore_testkit::sim::{Fault, Sim};
use std::io::ErrorKind as IoErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const OUTPUT: &str = "/out/communities.tsv";
const GRAPH: &str = "/out/graph";

/// Returns edges of 40 groups of 12 nodes, with weights, repeated edges, loops and weights of 0.
fn edges() -> String {
    let mut text = String::new();
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..3000 {
        let group = next(40);
        let inside = next(10) > 0;
        let (a, b) = (group * 12 + next(12), if inside { group } else { next(40) } * 12 + next(12));
        let weight = if next(100) == 0 { 0 } else { next(1000) };
        text += &format!("protein-{a}.with.a.long.name\tP{b}\t0.{weight:03}\n");
        text += &format!("P{a}\tprotein-{a}.with.a.long.name\t1\n");
    }
    text
}

fn storage() -> Sim {
    storage_of(&edges())
}

/// The default method from one start, for tests of everything around it.
fn one_start() -> ClusterOptions {
    ClusterOptions { trials: Some(1), ..ClusterOptions::default() }
}

fn cluster(sim: &Sim, options: JobOptions) -> Result<job::Report> {
    let files = files_of(sim);
    let source = Source::Edges(Box::new(options));
    job::cluster(&files, &source, &one_start(), Path::new(OUTPUT), &Silent)
}

fn build(sim: &Sim, options: &JobOptions) -> Result<job::Report> {
    job::build(&files_of(sim), options, Path::new(GRAPH), &Silent)
}

#[test]
fn threads_and_memory_and_short_transfers_change_no_byte() {
    let mut results = Vec::new();
    for (threads, memory, short) in
        [(1, 96, false), (2, 200, false), (7, 1024, false), (3, 128, true)]
    {
        let sim = storage();
        sim.set_short_transfers(short);
        let report = cluster(&sim, options(threads, memory * MIB)).unwrap();
        assert!(report.communities.unwrap().sizes.community_count > 1);
        results.push(sim.get(OUTPUT).unwrap());
        assert_eq!(sim.paths().len(), 2, "nothing else is left: {:?}", sim.paths());
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The smallest sort has no room for all short lines of a batch at the same time.
#[test]
fn a_batch_of_more_edges_than_the_sort_has_room_for_is_sorted() {
    let text: String =
        (0..300_000u32).map(|edge| format!("{}\t{}\n", edge % 7, edge % 9)).collect();
    let graph = |cramped: Cramped| {
        let sim = storage_of(&text);
        let files = files_of(&sim).with_cramped(cramped);
        job::build(&files, &options(2, 200 * MIB), Path::new(GRAPH), &Silent).unwrap();
        ["arcs", "names", "graph.json"].map(|name| sim.get(Path::new(GRAPH).join(name)).unwrap())
    };
    assert!(graph(Cramped { sort_records: 40_000, ..Cramped::NOT }) == graph(Cramped::NOT));
}

/// Returns unusual I/O settings.
fn odd_tunings() -> [Tuning; 3] {
    let odd = |block_bytes, depth, direct| {
        let rate = Some(1e6);
        let transfer = Transfer { block_bytes, depth, direct, bytes_per_second: rate };
        Tuning {
            read: transfer,
            write: transfer,
            merge_read_bytes: 3 * block_bytes,
            ..Tuning::default()
        }
    };
    [odd(1, 1, false), odd(12_345, 7, true), odd(64 << 20, 64, false)]
}

#[test]
fn disk_profiles_change_no_byte() {
    let sim = storage();
    cluster(&sim, options(2, 128 * MIB)).unwrap();
    let expected = sim.get(OUTPUT);
    for tuning in odd_tunings() {
        let sim = storage();
        let files = files_of(&sim).with_tuning(tuning);
        let source = Source::Edges(Box::new(options(2, 128 * MIB)));
        let (clustering, output) = (one_start(), Path::new(OUTPUT));
        let report = job::cluster(&files, &source, &clustering, output, &Silent).unwrap();
        assert!(report.stages.iter().all(|stage| stage.predicted_seconds > Some(0.0)));
        assert_eq!(sim.get(OUTPUT), expected);
    }
}

#[test]
fn a_fault_is_an_error_with_concurrent_requests() {
    let expected = {
        let sim = storage();
        cluster(&sim, options(2, 128 * MIB)).unwrap();
        sim.get(OUTPUT)
    };
    for at in 0..40 {
        let sim = storage();
        sim.set_fault(Some(Fault { at, forever: true, kind: IoErrorKind::StorageFull }));
        let files = files_of(&sim).with_tuning(odd_tunings()[1]);
        let source = Source::Edges(Box::new(options(2, 128 * MIB)));
        let (clustering, output) = (one_start(), Path::new(OUTPUT));
        match job::cluster(&files, &source, &clustering, output, &Silent) {
            Ok(_) => assert_eq!(sim.get(OUTPUT), expected, "fault {at}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::DiskFull, "fault {at}");
                let is_kept = error.kept_text().is_some();
                assert_eq!(sim.paths() != [PathBuf::from("/in/edges.tsv")], is_kept, "{at}");
            }
        }
    }
}

#[test]
fn a_graph_gives_the_same_result_as_its_edges() {
    let sim = storage();
    cluster(&sim, options(2, 128 * MIB)).unwrap();
    build(&sim, &options(2, 128 * MIB)).unwrap();
    let files = files_of(&sim);
    Graph::open(&files, Path::new(GRAPH)).unwrap().verify(&Silent).unwrap();
    let limits = Limits { memory_bytes: 64 * MIB, threads: 1 };
    let work_dir = PathBuf::from("/work");
    let source = Source::Graph { path: PathBuf::from(GRAPH), limits, work_dir, restart: false };
    let other = Path::new("/out/other.tsv");
    job::cluster(&files, &source, &one_start(), other, &Silent).unwrap();
    assert_eq!(sim.get(OUTPUT), sim.get(other));
    let error = build(&sim, &options(2, 128 * MIB)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "a graph is not overwritten");
}

#[test]
fn a_fault_in_any_operation_is_an_error_after_which_the_same_command_works() {
    let whole = storage();
    cluster(&whole, options(2, 128 * MIB)).unwrap();
    let expected = whole.get(OUTPUT);
    for kind in [IoErrorKind::Other, IoErrorKind::StorageFull] {
        for at in (0..).step_by(usize::from(one_of::<u16>(3))) {
            let sim = storage();
            sim.set_fault(Some(Fault { at, forever: false, kind }));
            match cluster(&sim, options(2, 128 * MIB)) {
                Ok(_) => {
                    assert_eq!(sim.get(OUTPUT), expected, "fault {at}");
                    if !sim.has_failed() {
                        break;
                    }
                }
                Err(error) => {
                    let kinds = [ErrorKind::Io, ErrorKind::DiskFull];
                    assert!(kinds.contains(&error.kind()), "fault {at}: {error}");
                    let is_kept = error.kept_text().is_some();
                    assert_eq!(sim.paths() != [PathBuf::from("/in/edges.tsv")], is_kept, "{at}");
                    sim.set_fault(None);
                    let report = cluster(&sim, options(2, 128 * MIB)).unwrap();
                    assert_eq!(sim.get(OUTPUT), expected, "fault {at}");
                    assert!(report.resumed == is_kept && sim.paths().len() == 2, "fault {at}");
                }
            }
            assert!(at < 10_000);
        }
    }
}

#[test]
fn each_policy_for_repeated_edges_gives_its_own_graph() {
    let mut totals = Vec::new();
    for duplicates in [Duplicates::Sum, Duplicates::Max, Duplicates::Min, Duplicates::First] {
        let sim = Sim::new();
        sim.put("/in/edges.tsv", b"a b 3\nb a 5\na b 1\nb c 1\n");
        build(&sim, &JobOptions { duplicates, ..options(1, 64 * MIB) }).unwrap();
        let graph = Graph::open(&Files::new(Arc::new(sim)), Path::new(GRAPH)).unwrap();
        totals.push(graph.weight_total() / 2.0);
    }
    assert_eq!(totals, [10.0, 6.0, 2.0, 4.0]);
}

/// With three million names, nearly all of which occur once, in memory and spilled to disk.
#[test]
fn names_beyond_memory_give_the_same_graph() {
    // On a real disk: the contents of a simulated one would count as memory.
    let root = tempfile::tempdir().unwrap();
    let files = Files::default();
    let mut text = String::new();
    for i in 0..1_500_000u32 {
        let spread = i.wrapping_mul(2_654_435_761);
        let target = if i % 10 == 0 { 7 } else { spread };
        text += &format!("node-{i}\tanother node of a longer name {target}\n");
    }
    let (edges, nodes) = (root.path().join("edges.tsv"), root.path().join("nodes"));
    files.write(&edges, text.as_bytes()).unwrap();
    files.write(&nodes, b"listed\n").unwrap();
    drop(text);
    let mut graphs = Vec::new();
    for (run, (threads, memory)) in [(2, 1024), (2, 96), (1, 96)].into_iter().enumerate() {
        let mut options = options(threads, memory * MIB);
        options.input.paths = vec![edges.clone()];
        options.input.nodes = Some(nodes.clone());
        options.work_dir = root.path().to_path_buf();
        let graph = root.path().join(format!("{run}.graph"));
        let input = job::build(&files, &options, &graph, &Silent).unwrap().input.unwrap();
        assert_eq!(input.names_on_disk_count > 0, memory == 96, "{memory} MiB");
        assert_eq!((input.edge_count, input.listed_only_count), (1_500_000, 1));
        let made = files.list(&graph).unwrap().into_iter();
        let content =
            |path: PathBuf| (files.read(&path).unwrap(), path.file_name().unwrap().to_owned());
        let mut contents: Vec<_> = made.map(|entry| content(entry.path)).collect();
        contents.sort();
        graphs.push(contents);
    }
    assert!(graphs[0].len() > 2);
    assert!(graphs.iter().all(|graph| *graph == graphs[0]), "a graph differs");
}

#[test]
fn a_limit_that_is_too_small_is_refused_before_any_work() {
    let sim = storage();
    let error = cluster(&sim, options(2, 10 * MIB)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    assert!(error.hint_text().unwrap().contains("--memory 64MiB"), "{:?}", error.hint_text());
    assert_eq!(sim.paths().len(), 1);
}

#[test]
fn weights_of_any_scale_give_the_same_communities() {
    let plain = edges();
    let mut results = Vec::new();
    for exponent in ["", "e-12", "e12", "e-200"] {
        let sim = Sim::new();
        let text = plain.replace('\n', &format!("{exponent}\n"));
        sim.put("/in/edges.tsv", text.as_bytes());
        cluster(&sim, options(2, 128 * MIB)).unwrap();
        results.push(sim.get(OUTPUT).unwrap());
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

const WORK: &str = "/disk/.communities.tsv.outcore";

/// Observer that reads the manifest as each stage begins.
struct Reader<'a> {
    sim: &'a Sim,
    directory: &'static str,
    seen: Mutex<Vec<(Stage, JobManifest)>>,
}

impl<'a> Reader<'a> {
    fn new(sim: &'a Sim, directory: &'static str) -> Self {
        Self { sim, directory, seen: Mutex::default() }
    }
}

impl Observer for Reader<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Begin { stage, .. } = event {
            let files = files_of(self.sim);
            let manifest = JobManifest::read(&files, Path::new(self.directory)).unwrap().unwrap();
            self.seen.lock().unwrap().push((stage, manifest));
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn the_manifest_names_the_job_and_the_finished_stages() {
    use Stage::{Cluster, Merge, Read, Write};
    let sim = storage();
    let mut with_a_pipe = options(2, 128 * MIB);
    with_a_pipe.input.paths.push(PathBuf::from("-"));
    sim.put("-", b"a b 1\n");
    let files = files_of(&sim);
    let reader = Reader::new(&sim, WORK);
    let source = Source::Edges(Box::new(with_a_pipe));
    let output = Path::new(OUTPUT);
    job::cluster(&files, &source, &one_start(), output, &reader).unwrap();
    let seen = reader.seen.into_inner().unwrap();
    let stages = seen.iter().map(|(stage, manifest)| (*stage, &manifest.stages_done[..]));
    let expected: [(Stage, &[Stage]); 4] = [
        (Read, &[]),
        (Merge, &[Read]),
        (Cluster, &[Read, Merge]),
        (Write, &[Read, Merge, Cluster]),
    ];
    assert!(stages.eq(expected), "{seen:?}");
    let (_, first) = &seen[0];
    assert_eq!((first.job, first.result.as_str()), (JobKind::Cluster, OUTPUT));
    assert_eq!(first.owner.process(), std::process::id());
    assert!(first.owner.is_running());
    let inputs: Vec<_> =
        first.inputs.iter().map(|input| (input.path.as_str(), input.bytes)).collect();
    assert_eq!(inputs, [("/in/edges.tsv", Some(edges().len() as u64)), ("-", Some(6))]);

    let reader = Reader::new(&sim, "/disk/.graph.outcore");
    job::build(&files, &options(2, 128 * MIB), Path::new(GRAPH), &reader).unwrap();
    let seen = reader.seen.into_inner().unwrap();
    assert_eq!((seen.len(), seen[1].1.job), (2, JobKind::Build));
}

/// Creates a work directory with a manifest, a run and part of a graph, as a killed job leaves it.
fn left_behind(manifest: Option<&str>) -> Sim {
    let sim = storage();
    let files = files_of(&sim);
    for directory in [Path::new("/disk"), Path::new(WORK), &Path::new(WORK).join("graph")] {
        files.create_directory(directory).unwrap();
    }
    for name in ["run-0.0", "graph/names.part"] {
        sim.put(Path::new(WORK).join(name), b"left");
    }
    if let Some(manifest) = manifest {
        sim.put(Path::new(WORK).join("manifest.json"), manifest.as_bytes());
    }
    sim
}

fn manifest_of(process: u32, more: &str) -> String {
    format!("{{\"format\":\"outcore work directory\",\"version\":1,\"process\":{process}{more}}}")
}

#[test]
fn files_of_a_dead_process_are_removed() {
    let own = std::process::id();
    for (process, more) in [
        (u32::MAX, ""),
        (i32::MAX as u32, ""),
        (0, ""),
        // Another process had this process number.
        (own, ",\"process_start\":0"),
        // A running process that no longer holds the lock.
        (own, ""),
        // Fields of a later version.
        (u32::MAX, ",\"process_start\":5,\"job\":\"embroider\",\"threads\":[1]"),
    ] {
        let manifest = manifest_of(process, more);
        let later = manifest.replace("\"version\":1", "\"version\":2");
        for manifest in [manifest, later] {
            let sim = left_behind(Some(&manifest));
            cluster(&sim, options(2, 128 * MIB)).unwrap();
            assert_eq!(sim.paths(), ["/in/edges.tsv", OUTPUT].map(PathBuf::from), "{manifest}");
        }
    }
}

/// A job leaves this if it is killed before its manifest exists, or while the directory is being removed.
#[test]
fn an_empty_directory_is_used() {
    for name in [None, Some("manifest.json.part")] {
        let sim = storage();
        let files = files_of(&sim);
        files.create_directory(Path::new(WORK)).unwrap();
        if let Some(name) = name {
            sim.put(Path::new(WORK).join(name), b"{");
        }
        cluster(&sim, options(2, 128 * MIB)).unwrap();
        assert_eq!(sim.paths().len(), 2);
    }
}

#[test]
fn no_other_directory_is_removed() {
    let own = std::process::id();
    for (manifest, kind, message) in [
        (Some(manifest_of(own, "")), ErrorKind::Usage, format!("is in use by process {own}")),
        // Process 1 always exists, and signaling it is not permitted.
        (Some(manifest_of(1, "")), ErrorKind::Usage, "is in use by process 1".into()),
        (None, ErrorKind::Usage, "is in the way".into()),
        (Some(String::new()), ErrorKind::CorruptFile, "does not say whose".into()),
        (Some(manifest_of(7, "")[..40].into()), ErrorKind::CorruptFile, "does not say".into()),
        (Some("{\"name\":\"another program's\"}".into()), ErrorKind::CorruptFile, "not say".into()),
        (
            Some(manifest_of(u32::MAX, "").replace("outcore work", "other")),
            ErrorKind::CorruptFile,
            "not say".into(),
        ),
    ] {
        let sim = left_behind(manifest.as_deref());
        let before = sim.paths();
        // Held by the named process, or by any other.
        let _lock = sim.lock(&Path::new(WORK).join("lock")).unwrap();
        let error = cluster(&sim, options(2, 128 * MIB)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(&message), "{error}");
        assert!(error.hint_text().unwrap().contains("remove ") || message.contains("in use"));
        assert_eq!(sim.paths(), before, "{error}");
    }
    let sim = storage();
    sim.put(WORK, b"a file");
    let error = cluster(&sim, options(2, 128 * MIB)).unwrap_err();
    assert!(error.message().contains("is in the way"), "{error}");
    assert_eq!(sim.get(WORK).unwrap(), b"a file");
}

#[test]
fn a_manifest_of_another_format_is_an_error() {
    let directory = Path::new(WORK);
    for (manifest, message) in [
        (manifest_of(7, "").replace("\"version\":1", "\"version\":2"), "another version"),
        (manifest_of(7, ",\"inputs\":5"), "its fields are changed"),
        ("[]".into(), "does not say whose"),
    ] {
        let files = Files::new(Arc::new(left_behind(Some(&manifest))));
        let error = JobManifest::read(&files, directory).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptFile);
        assert!(error.message().contains(message), "{error}");
    }
    // Such a directory need not belong to a job.
    let files = Files::new(Arc::new(left_behind(Some(&manifest_of(7, "")))));
    assert_eq!(JobManifest::read(&files, directory).unwrap().unwrap().job, JobKind::Other);
    let files = Files::new(Arc::new(left_behind(None)));
    assert!(JobManifest::read(&files, directory).unwrap().is_none());
}

/// On a real disk, where a link may point outside the directory.
#[cfg(unix)]
#[test]
fn targets_of_links_are_not_removed() {
    let root = tempfile::tempdir().unwrap();
    let files = Files::default();
    let (outside, work) = (root.path().join("outside"), root.path().join(".out.tsv.outcore"));
    for directory in [&outside, &work] {
        files.create_directory(directory).unwrap();
    }
    files.write(&outside.join("kept"), b"kept").unwrap();
    files.write(&work.join("manifest.json"), manifest_of(u32::MAX, "").as_bytes()).unwrap();
    files.write(&root.path().join("edges.tsv"), b"a b\nb c\n").unwrap();
    for (target, link) in [(outside.as_path(), "directory"), (Path::new("nowhere"), "dangling")] {
        std::os::unix::fs::symlink(target, work.join(link)).unwrap();
    }
    let mut options = options(1, 64 * MIB);
    options.input.paths = vec![root.path().join("edges.tsv")];
    options.work_dir = root.path().to_path_buf();
    let source = Source::Edges(Box::new(options));
    let output = root.path().join("out.tsv");
    job::cluster(&files, &source, &one_start(), &output, &Silent).unwrap();
    assert!(files.entry(&work).is_err());
    assert_eq!(files.read(&outside.join("kept")).unwrap(), b"kept");
}
