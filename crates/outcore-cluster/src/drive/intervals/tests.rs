//! Labels on disk give the same results as labels in memory, for any number of intervals.

use super::*;
use crate::base::pace::ClusterProgress;
use crate::drive::job::ScratchLimits;
use crate::drive::run::cluster_within;
use crate::finish::communities::Communities;
use crate::methods::table::Method;
use crate::store::given::GivenLabels;
use crate::tests::{PLENTY, POOLS, some_edges};
use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore_io::Column;
use outcore_io::error::ErrorKind;
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use outcore_testkit::sim::{Fault, Sim};
use proptest::prelude::*;
use std::io;
use std::sync::Arc;

fn plain() -> ClusterOptions {
    ClusterOptions { method: Method::LabelPropagation, seed: 1, ..ClusterOptions::default() }
}

fn scratch() -> &'static Path {
    Path::new("scratch")
}

/// Runs with labels on disk, and `spare` bytes beyond the minimum.
fn on_disk(
    graph: &Graph,
    options: &ClusterOptions,
    limits: ScratchLimits,
    spare: u64,
) -> Result<Communities> {
    let threads = rayon::current_num_threads();
    let least = options.memory(graph, 0, threads).total_bytes();
    let on_disk = memory(&Shape::of(graph), threads, Fit::LEAST).total_bytes() + spare;
    // The graphs are so small that labels in memory may need less than the fixed memory.
    let job = ClusterJob {
        graph: &graph.seen_as(&options.view()),
        options,
        limits,
        memory: on_disk,
        fit: Fit::LEAST,
        needed: on_disk.min(least),
        swept: on_disk.min(least),
        flow_bytes: 0,
        scratch: scratch(),
        observer: &ClusterProgress::new(&Silent, None),
    };
    let saves = &mut Saves::new(job.graph, job.options, &GivenLabels::default(), job.scratch);
    job.propagate_on_disk(saves)
}

/// Returns the result with labels in memory, without the fields that may differ.
fn in_memory(graph: &Graph, found: Communities) -> Communities {
    let labels = Column::Memory(found.labels.into_memory(graph.files()).unwrap());
    Communities { labels, ..found }.with_scans(0)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn labels_on_disk_change_nothing(
        edges in some_edges().prop_filter("undirected", |edges| !edges.directed),
        seed in 0..1000u64,
        tolerance in prop_oneof![Just(0.0), Just(0.001)],
        own in any::<bool>(),
        cutoff in prop_oneof![Just(0.0), Just(1.0)],
        min_weight in prop_oneof![3 => Just(0.0), 1 => Just(0.25)],
    ) {
        let graph = edges.graph();
        let mut options = ClusterOptions { seed, tolerance, min_weight, ..plain() };
        options.propagation.label_cutoff = cutoff;
        options.seeding = if own { Seeding::Own } else { Seeding::Star };
        prop_assert!(serves(&options, &Shape::of(&graph), 0));
        let expected = POOLS[1].install(|| {
            let (given, limits) = (GivenLabels::default(), ScratchLimits::default());
            cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent)
        }).unwrap();
        let expected = expected.with_scans(0);
        let tiny = ScratchLimits { large_degree: 3, max_labels: 2, ..ScratchLimits::default() };
        for (pool, spare, limits) in [
            (0, 0, ScratchLimits::default()),
            (1, 3000, tiny),
            (2, 20_000, ScratchLimits::default()),
        ] {
            let found = POOLS[pool].install(|| on_disk(&graph, &options, limits, spare)).unwrap();
            prop_assert_eq!(&in_memory(&graph, found), &expected);
        }
    }
}

/// Creates a graph of many blocks with arcs to near and far nodes.
fn many_blocks(files: &Files, nodes: u32) -> Graph {
    let mut records = Vec::new();
    for node in 0..nodes {
        let hash = crate::base::hash::mix(u64::from(node));
        let mut targets: Vec<u32> = (1..4).map(|step| (node + step) % nodes).collect();
        if node % 5 == 0 {
            targets.push((hash % u64::from(nodes)) as u32);
        }
        for target in targets.into_iter().filter(|&target| target != node) {
            records.push(ArcRecord { source: node, target, weight: Weight::ONE.code() });
            records.push(ArcRecord { source: target, target: node, weight: Weight::ONE.code() });
        }
    }
    records.sort_by_key(|arc| (arc.source, arc.target));
    let options = GraphOptions {
        node_count: nodes.into(),
        directed: false,
        duplicates: Duplicates::Max,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(files, Path::new("graph"), &options).unwrap();
    writer.push(&records).unwrap();
    writer.finish().unwrap();
    Graph::open(files, Path::new("graph")).unwrap()
}

/// Covers columns of several chunks, sets with empty parts, and windows over communities.
#[test]
fn many_intervals_and_windows_give_the_same_result() {
    let files = Files::new(Arc::new(Sim::new()));
    let graph = many_blocks(&files, 300_000);
    assert!(graph.blocks().len() > 4, "{}", graph.blocks().len());
    let options = plain();
    let (given, limits) = (GivenLabels::default(), ScratchLimits::default());
    let expected = cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent);
    let expected = expected.unwrap().with_scans(0);
    for spare in [0, 1 << 20] {
        let found = POOLS[1].install(|| on_disk(&graph, &options, limits, spare)).unwrap();
        assert_eq!(in_memory(&graph, found), expected, "{spare}");
    }
}

/// A path that passes through all intervals repeatedly is one piece.
#[test]
fn pieces_join_across_intervals() {
    let files = Files::new(Arc::new(Sim::new()));
    let graph = many_blocks(&files, 200_000);
    let mut options = plain();
    // With one label for all, the pieces are the components.
    options.tolerance = 1.0;
    options.min_weight = 0.0;
    let found =
        POOLS[1].install(|| on_disk(&graph, &options, ScratchLimits::default(), 0)).unwrap();
    assert!(found.split_count < found.community_count());
    let labels = found.labels.into_memory(&files).unwrap();
    let quality = crate::score::quality(&graph, &labels, &Silent).unwrap();
    assert_eq!(quality.disconnected_count, 0);
}

#[test]
fn every_fault_is_an_error_with_a_path() {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    let graph = many_blocks(&files, 3000);
    let run = || POOLS[0].install(|| on_disk(&graph, &plain(), ScratchLimits::default(), 0));
    let expected = in_memory(&graph, run().unwrap());
    for at in 0.. {
        sim.set_fault(Some(Fault { at, forever: false, kind: io::ErrorKind::Other }));
        let found = run();
        let has_failed = sim.has_failed();
        sim.set_fault(None);
        match found {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{at}: {error}");
                assert!(error.to_string().contains('`'), "{at}: {error}");
            }
            Ok(found) => {
                assert!(!has_failed, "{at}");
                assert_eq!(in_memory(&graph, found), expected);
                break;
            }
        }
    }
    // Also with transfers of a few bytes each.
    sim.set_short_transfers(true);
    assert_eq!(in_memory(&graph, run().unwrap()), expected);
}
