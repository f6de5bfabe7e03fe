//! Promises of whole jobs, on the simulated storage.

use outcore::cluster::ClusterOptions;
use outcore::graph::{Duplicates, Graph};
use outcore::input::InputOptions;
use outcore::io::Files;
use outcore::io::sim::{Fault, Sim};
use outcore::job::{self, JobOptions, Source};
use outcore::plan::Limits;
use outcore::progress::Silent;
use outcore::{ErrorKind, Result};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OUTPUT: &str = "/out/communities.tsv";
const GRAPH: &str = "/out/graph";
const MIB: u64 = 1 << 20;

/// Edges of 40 groups of 12 nodes, with weights, repeated edges, loops and a weight of 0.
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

fn options(threads: usize, memory_bytes: u64) -> JobOptions {
    JobOptions {
        input: InputOptions { paths: vec![PathBuf::from("/in/edges.tsv")], ..Default::default() },
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
        limits: Limits { memory_bytes, threads },
        work_dir: PathBuf::from("/work"),
    }
}

fn storage() -> Sim {
    let sim = Sim::new();
    sim.put("/in/edges.tsv", edges().as_bytes());
    sim
}

fn cluster(sim: &Sim, options: JobOptions) -> Result<job::Report> {
    let files = Files::new(Arc::new(sim.clone()));
    let source = Source::Edges(Box::new(options));
    job::cluster(&files, &source, &ClusterOptions::default(), Path::new(OUTPUT), &Silent)
}

fn build(sim: &Sim, options: &JobOptions) -> Result<job::Report> {
    job::build(&Files::new(Arc::new(sim.clone())), options, Path::new(GRAPH), &Silent)
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
        assert!(report.communities.unwrap().community_count > 1);
        results.push(sim.get(OUTPUT).unwrap());
        assert_eq!(sim.paths().len(), 2, "nothing else is left: {:?}", sim.paths());
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_graph_gives_what_its_edges_give() {
    let sim = storage();
    cluster(&sim, options(2, 128 * MIB)).unwrap();
    build(&sim, &options(2, 128 * MIB)).unwrap();
    let files = Files::new(Arc::new(sim.clone()));
    Graph::open(&files, Path::new(GRAPH)).unwrap().verify(&Silent).unwrap();
    let limits = Limits { memory_bytes: 96 * MIB, threads: 1 };
    let source = Source::Graph { path: PathBuf::from(GRAPH), limits };
    let other = Path::new("/out/other.tsv");
    job::cluster(&files, &source, &ClusterOptions::default(), other, &Silent).unwrap();
    assert_eq!(sim.get(OUTPUT), sim.get(other));
    let error = build(&sim, &options(2, 128 * MIB)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "a graph is not overwritten");
}

#[test]
fn a_fault_in_any_operation_of_a_job_is_an_error_and_leaves_nothing() {
    let whole = storage();
    cluster(&whole, options(2, 128 * MIB)).unwrap();
    let expected = whole.get(OUTPUT);
    for kind in [IoErrorKind::Other, IoErrorKind::StorageFull] {
        for at in 0.. {
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
                    assert_eq!(sim.paths(), [PathBuf::from("/in/edges.tsv")], "fault {at}");
                }
            }
            assert!(at < 10_000);
        }
    }
}

#[test]
fn every_policy_for_repeated_edges_is_a_graph_of_its_own() {
    let mut totals = Vec::new();
    for duplicates in [Duplicates::Sum, Duplicates::Max, Duplicates::Min, Duplicates::First] {
        let sim = Sim::new();
        sim.put("/in/edges.tsv", b"a b 3\nb a 5\na b 1\nb c 1\n");
        build(&sim, &JobOptions { duplicates, ..options(1, 96 * MIB) }).unwrap();
        let graph = Graph::open(&Files::new(Arc::new(sim)), Path::new(GRAPH)).unwrap();
        totals.push(graph.weight_total() / 2.0);
    }
    assert_eq!(totals, [10.0, 6.0, 2.0, 4.0]);
}

#[test]
fn a_limit_that_is_too_small_is_refused_before_any_work() {
    let sim = storage();
    let error = cluster(&sim, options(2, 10 * MIB)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    assert!(error.hint_text().unwrap().contains("--memory 96MiB"), "{:?}", error.hint_text());
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
