//! Small jobs that take the code paths of large ones: several runs and merge passes, names and levels on disk, blocks
//! read again by every scan.

use super::{MIB, files_of, options, storage_of};
use flate2::{Compression, write::GzEncoder};
use outcore::Result;
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method};
use outcore::compare::CompareOptions;
use outcore::input::{CommunityInput, OnBadLine};
use outcore::io::{Cramped, Files, Transfer, Tuning};
use outcore::job::{self, ExportOptions, JobOptions, Normalize, Source};
use outcore::present::{LevelForm, Preference, PresentOptions, SideFiles, Small};
use outcore::progress::{Event, Observer, Silent};
use outcore_testkit::sim::Sim;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Edges in parts: one is text, one is compressed, and one does not end with a line end.
const SEVERAL: [&str; 3] = ["/in/first.tsv", "/in/second.tsv.gz", "/in/third.tsv"];
const NODES: &str = "/in/nodes.txt";
/// The same edges, between nodes of two kinds.
const OF_KINDS: &str = "/in/kinds.tsv";
const EARLIER: &str = "/in/earlier.tsv";
const LATER: &str = "/in/later.tsv";
const OUTPUT: &str = "/out/communities.tsv";
const FLOW_TREE: &str = "/out/communities.ftree";
const REPRESENTATIVES: &str = "/out/representatives.tsv";
const KEEP: &str = "/out/keep.txt";
const DROP: &str = "/out/drop.txt";
const HEIGHTS: &str = "/out/heights.tsv";
const SUMMARY: &str = "/out/summary.tsv";
const OVERLAPS: &str = "/out/overlaps.tsv";
const MOVED: &str = "/out/moved.csv";
const EXPORT: &str = "/out/export.graphml";
const EXPORTED_NODES: &str = "/out/nodes.csv";
const REJECTS: &str = "/out/rejects.tsv";
/// A graph that exists from the start.
pub(crate) const GRAPH: &str = "/in/graph";
const NEW_GRAPH: &str = "/out/graph";
const NODE_COUNT: u64 = 640;
const LIMITS: Limits = Limits { memory_bytes: 96 * MIB, threads: 2 };

/// All files below a directory and their bytes.
pub(crate) type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Warnings of a job.
type Warnings = Vec<String>;

/// A job on given files.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    run: fn(&Files, &dyn Observer) -> Result<Warnings>,
}

pub(crate) const CASES: [Case; 18] = [
    Case { name: "build", run: build },
    Case { name: "build, saved after every batch", run: build_saving_often },
    Case { name: "build of several files, saved after every batch", run: build_of_several },
    Case { name: "build by adding edges to a graph", run: append },
    Case { name: "build of two kinds of nodes", run: build_of_kinds },
    Case { name: "cluster by label propagation", run: propagate },
    Case { name: "cluster by the map equation", run: map_equation },
    Case { name: "cluster with levels at two resolutions", run: levels },
    Case { name: "cluster by directed flow to a tree with links", run: flow_tree },
    Case { name: "cluster matched with an earlier result", run: matched },
    Case { name: "export with communities", run: export },
    Case { name: "compare two results", run: compare },
    Case { name: "components at three thresholds, saved after every batch", run: entities },
    Case { name: "components of nodes beyond memory", run: divided_entities },
    Case { name: "components of a graph, with heights", run: graph_entities },
    Case { name: "cluster a graph at two thresholds", run: thresholds },
    Case { name: "cluster from an earlier result", run: updated },
    Case { name: "cluster a graph", run: graph },
];

impl Case {
    /// Creates a storage with the inputs of the job.
    pub(crate) fn storage(&self) -> Sim {
        static INPUTS: OnceLock<Contents> = OnceLock::new();
        let sim = Sim::new();
        for (path, bytes) in INPUTS.get_or_init(inputs) {
            sim.put(path, bytes);
        }
        sim
    }

    pub(crate) fn run(&self, sim: &Sim) -> Result<Warnings> {
        (self.run)(&files(sim), &Stages(sim))
    }
}

/// Observer that names the stages of a job for the steps of the storage.
struct Stages<'a>(&'a Sim);

impl Observer for Stages<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Begin { stage, .. } => self.0.begin_stage(stage.name()),
            Event::End { .. } => self.0.begin_stage(""),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns the files that the job has written or left behind.
pub(crate) fn made(sim: &Sim) -> Contents {
    let paths = sim.paths().into_iter().filter(|path| !path.starts_with("/in"));
    paths.map(|path| (path.clone(), sim.get(&path).expect("listed above"))).collect()
}

fn files(sim: &Sim) -> Files {
    let small =
        |depth| Transfer { block_bytes: 4096, depth, direct: false, bytes_per_second: None };
    let tuning =
        Tuning { read: small(1), write: small(2), merge_read_bytes: 4096, ..Tuning::default() };
    files_of(sim).with_tuning(tuning).with_cramped(CRAMPED)
}

const CRAMPED: Cramped = Cramped {
    chunk_bytes: 3000,
    run_records: 350,
    fan_in: 2,
    waiting_records: 600,
    names: 200,
    kept_bytes: 3000,
    label_bytes: 0,
    level_arcs: 100,
    tree_size: 0,
    sums_bytes: 0,
    community_edges: 0,
    sweep_save: Duration::ZERO,
    ..Cramped::NOT
};

/// Creates groups of 8 nodes in groups of 64; most edges are inside the small groups.
fn inputs() -> Contents {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let name = |node: u64| match node % 2 {
        0 => format!("n{node}"),
        _ => format!("protein-{node}.with.a.long.name"),
    };
    let (mut edges, mut earlier, mut later) = (String::new(), String::new(), String::new());
    for node in 0..NODE_COUNT {
        for _ in 0..3 {
            let reach = [8, 8, 8, 8, 8, 8, 64, 64, 64, NODE_COUNT][next(10) as usize];
            let other = (node / reach * reach + next(reach)).min(NODE_COUNT - 1);
            let weight = next(1000);
            writeln!(edges, "{}\t{}\t0.{weight:03}", name(node), name(other)).expect("memory");
        }
        if node % 100 == 99 {
            edges += "alone\n";
        }
        writeln!(earlier, "{}\t{}", name(node), 10_000 + node / 16).expect("memory");
        writeln!(later, "{}\t{}", name(node), (node + 3) / 24).expect("memory");
    }
    let sim = storage_of(&edges);
    let files = files(&sim);
    job::build(&files, &plain(), Path::new(GRAPH), &Silent).expect("the simulated storage works");
    let third = edges.len() / 3;
    let (first, rest) = edges.as_bytes().split_at(edges[..third].rfind('\n').expect("lines") + 1);
    let ends = edges[first.len()..2 * third].rfind('\n').expect("lines") + 1;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&rest[..ends]).expect("memory");
    let packed = packed.finish().expect("memory");
    for (path, bytes) in SEVERAL.iter().zip([first, &packed, rest[ends..].trim_ascii_end()]) {
        sim.put(path, bytes);
    }
    let nodes = (NODE_COUNT - 50..NODE_COUNT + 50).map(|node| name(node) + "\n");
    sim.put(NODES, nodes.collect::<String>().as_bytes());
    sim.put(OF_KINDS, format!("user_id\titem_id\tweight\n{edges}").as_bytes());
    sim.put(EARLIER, earlier.as_bytes());
    sim.put(LATER, later.as_bytes());
    assert!(sim.paths().iter().all(|path| path.starts_with("/in")), "{:?}", sim.paths());
    sim.paths().into_iter().map(|path| (path.clone(), sim.get(&path).expect("listed"))).collect()
}

fn plain() -> JobOptions {
    let mut options = options(2, 96 * MIB);
    options.input.on_bad_line = OnBadLine::Skip;
    options
}

fn build(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    build_with(files, plain(), observer)
}

fn build_with(files: &Files, mut options: JobOptions, observer: &dyn Observer) -> Result<Warnings> {
    options.input.nodes = Some(NODES.into());
    options.input.rejects = Some(REJECTS.into());
    let report = job::build(files, &options, Path::new(NEW_GRAPH), observer)?;
    let input = report.input.as_ref();
    assert!(input.is_some_and(|input| input.names_on_disk_count > 100), "names are on disk");
    // A job that resumes from a complete graph does not sort.
    let sort = report.sort;
    let is_merged = sort.is_some_and(|sort| sort.run_count >= 4 && sort.pass_count > 1);
    assert!(is_merged || sort.is_none() && report.resumed, "{sort:?}");
    Ok(report.warnings)
}

/// Spills names to disk late; all temporary files are next to the graph, as by default.
fn build_saving_often(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let cramped = Cramped { names: 400, read_save: Duration::ZERO, ..CRAMPED };
    build_with(
        &files.with_cramped(cramped),
        JobOptions { work_dir: "/out".into(), ..plain() },
        observer,
    )
}

fn build_of_several(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let cramped = Cramped { names: u64::MAX, read_save: Duration::ZERO, ..CRAMPED };
    let mut options = plain();
    options.input.paths = SEVERAL.map(PathBuf::from).to_vec();
    options.input.rejects = Some(REJECTS.into());
    options.keep_loops = false;
    options.normalize = Normalize::SelfScore;
    Ok(job::build(&files.with_cramped(cramped), &options, Path::new(NEW_GRAPH), observer)?.warnings)
}

/// Spills names of the old graph to disk.
fn append(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let cramped = Cramped { names: 400, run_records: 75, read_save: Duration::ZERO, ..CRAMPED };
    let mut options = JobOptions { append: Some(GRAPH.into()), work_dir: "/out".into(), ..plain() };
    options.input.paths = vec![SEVERAL[2].into()];
    options.input.rejects = Some(REJECTS.into());
    Ok(job::build(&files.with_cramped(cramped), &options, Path::new(NEW_GRAPH), observer)?.warnings)
}

/// Spills names of two kinds to disk, late.
fn build_of_kinds(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let cramped = Cramped { names: 400, read_save: Duration::ZERO, ..CRAMPED };
    let mut options = JobOptions { work_dir: "/out".into(), ..plain() };
    options.input.paths = vec![OF_KINDS.into()];
    options.input.rejects = Some(REJECTS.into());
    let report =
        job::build(&files.with_cramped(cramped), &options, Path::new(NEW_GRAPH), observer)?;
    let input = report.input.as_ref();
    assert!(input.is_some_and(|input| input.names_on_disk_count > 100), "names are on disk");
    Ok(report.warnings)
}

fn cluster(
    files: &Files,
    method: &ClusterOptions,
    reported: &PresentOptions,
    observer: &dyn Observer,
) -> Result<Warnings> {
    let source = Source::Edges(Box::new(plain()));
    let output = Path::new(OUTPUT);
    Ok(job::cluster_and_present(files, &source, method, reported, output, observer)?.warnings)
}

fn propagate(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let method = ClusterOptions { method: Method::LabelPropagation, ..ClusterOptions::default() };
    cluster(files, &method, &PresentOptions::default(), observer)
}

fn map_equation(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let method = ClusterOptions { cycles: 2, trials: Some(1), ..ClusterOptions::default() };
    cluster(files, &method, &PresentOptions::default(), observer)
}

fn levels(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let resolution = vec![0.5, 3.0];
    let method = Method::Modularity;
    let (levels, trials) = (true, Some(1));
    let method = ClusterOptions { method, resolution, levels, trials, ..ClusterOptions::default() };
    let reported = PresentOptions { levels: LevelForm::Tree, ..PresentOptions::default() };
    cluster(files, &method, &reported, observer)
}

/// Visit rates, the network of flow, the tree in parts, and sorts of links by module.
fn flow_tree(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let mut options = plain();
    options.input.directed = true;
    let source = Source::Edges(Box::new(options));
    let method = ClusterOptions { cycles: 1, trials: Some(1), levels: true, ..Default::default() };
    let reported = PresentOptions::default();
    let output = Path::new(FLOW_TREE);
    let report = job::cluster_and_present(files, &source, &method, &reported, output, observer)?;
    let tree = report.communities.as_ref().and_then(|found| found.levels.tree.as_ref());
    assert!(tree.is_some_and(|tree| tree.depth > 1), "{tree:?}");
    Ok(report.warnings)
}

fn matched(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let (method, initial) = (Method::LabelPropagation, Some(EARLIER.into()));
    let method = ClusterOptions { method, initial, ..ClusterOptions::default() };
    let reported = PresentOptions {
        min_size: 5,
        small: Small::Singletons,
        earlier: Some(EARLIER.into()),
        sides: SideFiles {
            representatives: Some(REPRESENTATIVES.into()),
            summary: Some(SUMMARY.into()),
            ..Default::default()
        },
        ..PresentOptions::default()
    };
    cluster(files, &method, &reported, observer)
}

fn export(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let options = ExportOptions {
        graph: GRAPH.into(),
        output: EXPORT.into(),
        format: None,
        nodes: Some(EXPORTED_NODES.into()),
        communities: Some(EARLIER.into()),
        members: Vec::new(),
        quotient: false,
        input: CommunityInput::default(),
        limits: LIMITS,
        work_dir: "/disk".into(),
    };
    job::export(files, &options, observer).map(|_| Warnings::new())
}

fn compare(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let options = CompareOptions {
        a: EARLIER.into(),
        b: LATER.into(),
        input: CommunityInput::default(),
        output: Some(OVERLAPS.into()),
        moved: Some(MOVED.into()),
        output_header: false,
        limits: LIMITS,
        work_dir: "/disk".into(),
    };
    job::compare(files, &options, observer).map(|_| Warnings::new())
}

/// The earlier communities are two groups each. Further starts and cycles would only repeat operations.
fn updated(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let (initial, trials) = (Some(EARLIER.into()), Some(2));
    let method = ClusterOptions { initial, trials, cycles: 1, ..ClusterOptions::default() };
    cluster(files, &method, &PresentOptions::default(), observer)
}

/// Spills names to disk late, and chooses a node of each component.
fn entities(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    entities_with(files, Cramped { names: 400, read_save: Duration::ZERO, ..CRAMPED }, observer)
}

/// The nodes are in five ranges.
fn divided_entities(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    entities_with(files, Cramped { names: 300, forest_nodes: 150, ..CRAMPED }, observer)
}

fn entities_with(files: &Files, cramped: Cramped, observer: &dyn Observer) -> Result<Warnings> {
    let (method, thresholds) = (Method::Components, vec![0.9, 0.3, 0.7]);
    let found = ClusterOptions { method, thresholds, ..ClusterOptions::default() };
    let reported = PresentOptions {
        prefer: Some(Preference::File(EARLIER.into())),
        sides: SideFiles {
            representatives: Some(REPRESENTATIVES.into()),
            keep: Some(KEEP.into()),
            drop: Some(DROP.into()),
            ..Default::default()
        },
        ..PresentOptions::default()
    };
    let options = JobOptions { min_weight: Some(0.3), work_dir: "/out".into(), ..plain() };
    let (files, output) = (&files.with_cramped(cramped), Path::new(OUTPUT));
    let source = Source::Edges(Box::new(options));
    let report = job::cluster_and_present(files, &source, &found, &reported, output, observer)?;
    let input = report.input.as_ref();
    assert!(input.is_some_and(|input| input.names_on_disk_count > 100), "names are on disk");
    assert!(report.sort.is_none(), "no arcs are sorted");
    Ok(report.warnings)
}

fn thresholds(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let (path, work_dir) = (PathBuf::from(GRAPH), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits: LIMITS, work_dir, restart: false };
    let (method, thresholds) = (Method::LabelPropagation, vec![0.9, 0.3]);
    let found = ClusterOptions { method, thresholds, ..ClusterOptions::default() };
    Ok(job::cluster(files, &source, &found, Path::new(OUTPUT), observer)?.warnings)
}

/// Writes all thresholds as columns of one file.
fn graph_entities(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let (path, work_dir) = (PathBuf::from(GRAPH), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits: LIMITS, work_dir, restart: false };
    let (method, thresholds) = (Method::Components, vec![0.9, 0.5]);
    let found = ClusterOptions {
        method,
        thresholds,
        heights: true,
        levels: true,
        min_weight: 0.5,
        ..ClusterOptions::default()
    };
    let reported = PresentOptions {
        sides: SideFiles { heights: Some(HEIGHTS.into()), ..Default::default() },
        ..PresentOptions::default()
    };
    let output = Path::new(OUTPUT);
    Ok(job::cluster_and_present(files, &source, &found, &reported, output, observer)?.warnings)
}

fn graph(files: &Files, observer: &dyn Observer) -> Result<Warnings> {
    let (path, work_dir) = (PathBuf::from(GRAPH), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits: LIMITS, work_dir, restart: false };
    let method = ClusterOptions { trials: Some(2), cycles: 1, ..ClusterOptions::default() };
    Ok(job::cluster(files, &source, &method, Path::new(OUTPUT), observer)?.warnings)
}
