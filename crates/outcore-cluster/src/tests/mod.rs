//! Tests of clustering, on generated graphs in simulated storage.

mod components;
mod connected;
mod directed;
pub(crate) mod kinds;
pub(crate) mod levels;
pub(crate) mod merges;
mod nested;
pub(crate) mod oracle;
pub(crate) mod oracle_levels;
mod propagation;
mod saves;
pub(crate) mod shapes;
pub(crate) mod walk;
mod warm;

use crate::finish::closing::SweptLabels;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::objectives::label_propagation::DRAWN_SWEEPS;
use crate::score::quality;
use crate::store::saves::Saves;
use oracle::Oracle;
use outcore_graph::weight::Weight;
use outcore_io::Files;
use outcore_io::progress::Silent;
use outcore_testkit::cases;
pub(crate) use outcore_testkit::{Edges, cliques, ring_of_cliques, some_edges};
use prelude::*;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

/// Items that most of these tests use, in addition to the public ones.
mod prelude {
    pub(crate) use crate::base::pace::ClusterProgress;
    pub(crate) use crate::drive::job::{ClusterJob, ScratchLimits, SizeClass};
    pub(crate) use crate::drive::memory::Fit;
    pub(crate) use crate::drive::run::cluster_within;
    pub(crate) use crate::tests::Specified;
    pub(crate) use crate::*;
    pub(crate) use outcore_graph::Graph;
    pub(crate) use outcore_io::error::{ErrorKind, Result};
    pub(crate) use outcore_io::progress::{Event, Observer};
}

pub(crate) fn size_classes() -> impl Strategy<Value = SizeClass> {
    prop_oneof![Just(SizeClass::Small), Just(SizeClass::Medium), Just(SizeClass::Large)]
}

/// Returns limits that put every graph of a test into this class, and that let all searches run in parallel.
pub(crate) fn as_size(size: SizeClass) -> ScratchLimits {
    let (small_size, medium_size) = match size {
        SizeClass::Small => (u64::MAX, u64::MAX),
        SizeClass::Medium => (0, u64::MAX),
        SizeClass::Large => (0, 0),
    };
    ScratchLimits { small_size, medium_size, parallel_arcs: 0, ..ScratchLimits::default() }
}

/// Conversion of edges to the input of the oracle.
pub(crate) trait Specified {
    fn oracle(&self, graph: &Graph, options: &ClusterOptions) -> Oracle;
    fn oracle_from(&self, graph: &Graph, options: &ClusterOptions, given: GivenLabels) -> Oracle;
}

impl Specified for Edges {
    fn oracle(&self, graph: &Graph, options: &ClusterOptions) -> Oracle {
        self.oracle_from(graph, options, GivenLabels::default())
    }

    fn oracle_from(&self, graph: &Graph, options: &ClusterOptions, given: GivenLabels) -> Oracle {
        let mut arcs = vec![Vec::new(); self.node_count as usize];
        for ((a, b), weight) in self.arcs().into_iter().filter(|((a, b), _)| a != b) {
            arcs[a as usize].push((b, Weight::from_code(weight).value()));
        }
        let block = |entry: &outcore_graph::BlockEntry| {
            entry.first_node as usize..(entry.first_node + entry.node_count) as usize
        };
        let blocks = graph.blocks().iter().map(block).collect();
        Oracle {
            arcs,
            blocks,
            directed: self.directed,
            options: options.clone(),
            given,
            start: Vec::new(),
        }
    }
}

impl Communities {
    /// Returns the same with another number of scans, which depends on memory.
    pub(crate) fn with_scans(mut self, scans: u64) -> Self {
        self.history.sweeps.scans = scans;
        self
    }

    /// Returns the labels, which must be in memory.
    pub(crate) fn labels(&self) -> &[u32] {
        self.labels.in_memory().unwrap()
    }
}

pub(crate) const PLENTY: u64 = 1 << 30;

/// Returns options of plain label propagation.
pub(crate) fn plain() -> ClusterOptions {
    ClusterOptions { method: Method::LabelPropagation, seed: 1, ..ClusterOptions::default() }
}

pub(crate) fn scratch() -> &'static Path {
    Path::new("scratch")
}

pub(crate) static POOLS: LazyLock<Vec<rayon::ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    [1, 2, 7].map(pool).into()
});

pub(crate) fn find(edges: &Edges, options: &ClusterOptions) -> Communities {
    POOLS[1].install(|| cluster(&edges.graph(), options, PLENTY, scratch(), &Silent)).unwrap()
}

pub(crate) fn converge(seed: u64) -> ClusterOptions {
    ClusterOptions { seed, tolerance: 0.0, ..plain() }
}

/// Generates limits on the size of communities.
pub(crate) fn max_sizes() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![3 => Just(None), 2 => (1..30u32).prop_map(Some), 1 => Just(Some(1000))]
}

proptest! {
    #![proptest_config(cases(300))]

    /// The oracle on one thread and the engine on many give the same labels, sweeps and visits, for any cache and
    /// table size.
    #[test]
    fn the_engine_matches_the_oracle(
        edges in some_edges(),
        seed in 0..1000u64,
        tolerance in prop_oneof![Just(0.0), Just(0.001), Just(0.05)],
        max_size in max_sizes(),
    ) {
        let graph = edges.graph();
        let options = ClusterOptions { seed, tolerance, max_size, ..plain() };
        let expected = edges.oracle(&graph, &options).cluster();
        let tiny = ScratchLimits { large_degree: 3, max_labels: 2, ..ScratchLimits::default() };
        let mut first: Option<Communities> = None;
        for (pool, spare, limits) in [
            (0, 0, ScratchLimits::default()),
            (1, PLENTY, ScratchLimits::default()),
            (2, 3000, ScratchLimits::default()),
            (2, 0, tiny),
        ] {
            let found = POOLS[pool].install(|| {
                let threads = rayon::current_num_threads();
                let needed = options.memory(&graph, 0, threads).total_bytes();
                let (given, memory) = (GivenLabels::default(), needed + spare);
                cluster_within(&graph, &options, given, memory, scratch(), limits, &Silent).unwrap()
            });
            prop_assert_eq!((found.history.sweeps.count, found.history.arcs), (expected.1, expected.2));
            prop_assert_eq!(found.labels(), &expected.0);
            // Without memory for the strengths, the graph is scanned once more.
            let found = found.with_scans(0);
            if let Some(first) = &first {
                prop_assert_eq!(first, &found);
            }
            first = Some(found);
        }
        let found = first.unwrap();
        prop_assert!(max_size.is_none_or(|most| found.largest() <= u64::from(most)));
        let rated = quality(&graph, found.labels(), &Silent).unwrap();
        prop_assert_eq!(rated.disconnected_count, 0);
        prop_assert_eq!(rated.sizes.community_count, found.community_count());
        prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-12);
        prop_assert!((rated.coverage - found.measures.coverage).abs() < 1e-12);
        let by_definition = modularity_by_definition(&edges, found.labels());
        prop_assert!((rated.modularity - by_definition).abs() < 1e-9, "{} {}", rated.modularity, by_definition);
    }

    /// Holds even if rounding breaks ties.
    #[test]
    fn any_unit_of_weight_gives_the_same_communities(edges in some_edges(), seed in 0..1000u64) {
        let options = converge(seed);
        let expected = find(&edges, &options).labels;
        for factor in [1e-12, 0.3, 7.0, 1e12] {
            prop_assert_eq!(&find(&edges.scaled(factor), &options).labels, &expected);
        }
    }
}

pub(crate) fn modularity_by_definition(edges: &Edges, labels: &[u32]) -> f64 {
    let count = labels.len();
    let (mut from, mut to, mut inside, mut total) = (vec![0.0; count], vec![0.0; count], 0.0, 0.0);
    for ((a, b), weight) in edges.arcs() {
        let times = if a == b && !edges.directed { 2.0 } else { 1.0 };
        let weight = times * Weight::from_code(weight).value();
        let (a, b) = (labels[a as usize] as usize, labels[b as usize] as usize);
        from[a] += weight;
        to[b] += weight;
        total += weight;
        inside += if a == b { weight } else { 0.0 };
    }
    let chance: f64 = from.iter().zip(&to).map(|(a, b)| a / total * b / total).sum();
    if total > 0.0 { inside / total - chance } else { 0.0 }
}

#[test]
fn known_answers_are_found() {
    for seed in 1..=3 {
        let options = converge(seed);
        let star = Edges::new(5001, (0..5000).map(|leaf| (leaf, 5000)));
        let complete = cliques(1, 300);
        let sides = Edges::new(600, (0..300).flat_map(|a| (300..600).map(move |b| (a, b))));
        for (name, edges) in [("star", star), ("complete", complete), ("bipartite", sides)] {
            let found = find(&edges, &options);
            assert_eq!((found.community_count(), found.history.last_moved), (1, 0), "{name}");
            assert!(
                found.history.sweeps.count <= 15,
                "{name}: {} sweeps",
                found.history.sweeps.count
            );
            assert!(
                found.measures.modularity.abs() < 1e-12,
                "{name}: {}",
                found.measures.modularity
            );
        }
        let pairs = find(&Edges::new(10_000, (0..5000).map(|i| (2 * i, 2 * i + 1))), &options);
        assert_eq!(pairs.sizes, [SizeCount { size: 2, count: 5000 }]);
        assert!(pairs.labels().chunks(2).zip(0..).all(|(pair, i)| pair == [i, i]));

        let mut bridged = cliques(2, 50);
        bridged.edges.push((0, 50, 1.0));
        let two = find(&bridged, &options);
        assert_eq!(two.labels(), [vec![0; 50], vec![1; 50]].concat());
        assert!(
            (two.measures.modularity - (0.5 - 1.0 / 2451.0)).abs() < 1e-12,
            "{}",
            two.measures.modularity
        );

        let ring = find(&ring_of_cliques(30, 5), &options);
        assert!(ring.community_count() >= 28, "{:?}", ring.sizes);
        assert!(ring.labels().chunks(5).all(|clique| clique.iter().all(|l| *l == clique[0])));
        let isolated = find(&Edges::new(300, []), &options);
        assert_eq!(
            (
                isolated.singleton_count(),
                isolated.measures.modularity,
                isolated.history.sweeps.count
            ),
            (300, 0.0, 1)
        );
    }
    let empty = find(&Edges::new(0, []), &converge(1));
    assert_eq!((empty.community_count(), empty.largest()), (0, 0));
}

/// Covers graphs on which moving all nodes at the same time never ends: a path, a cycle, a grid, a ring of cliques.
#[test]
fn sweeps_end_where_simultaneous_moves_do_not() {
    let path = |order: fn(u32) -> u32| {
        Edges::new(10_000, (0..9999).map(move |i| (order(i), order(i + 1))))
    };
    let grid = (0..10_000u32).flat_map(|i| {
        [(i, i + 1), (i, i + 100)]
            .into_iter()
            .filter(move |&(i, j)| j < 10_000 && (j != i + 1 || j % 100 != 0))
    });
    for (edges, most) in [
        (path(|i| i), 8),
        (path(|i| i * 7919 % 10_000), 8),
        (Edges::new(10_000, (0..10_000).map(|i| (i, (i + 1) % 10_000))), 8),
        (Edges::new(10_000, grid), 15),
        (ring_of_cliques(1000, 10), 15),
    ] {
        let found = find(&edges, &converge(1));
        assert_eq!(found.history.last_moved, 0);
        // Nodes that draw among equal labels may move in vain.
        let most = DRAWN_SWEEPS + most;
        assert!(found.history.sweeps.count <= most, "{} sweeps", found.history.sweeps.count);
        assert!(found.largest() < 200, "{}", found.largest());
    }
}

/// The outer two of three cliques share a label, but no edge connects them.
#[test]
fn a_community_in_two_pieces_becomes_two() {
    let edges = cliques(3, 4);
    let graph = edges.graph();
    let options = plain();
    let job = ClusterJob {
        graph: &graph,
        options: &options,
        limits: ScratchLimits::default(),
        memory: 0,
        fit: Fit::ROOMY,
        needed: 0,
        swept: 0,
        flow_bytes: 0,
        scratch: scratch(),
        observer: &ClusterProgress::new(&Silent, None),
    };
    let labels = vec![0, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0, 0];
    let mut source = BlockSource::new(&graph, 0);
    let outcome = SweptLabels::new(labels, History::default());
    let saves = &mut Saves::new(&graph, &options, &GivenLabels::default(), scratch());
    let found = job.finish(&mut source, outcome, None, saves).unwrap();
    assert_eq!(found.split_count, 1);
    assert_eq!(found.labels(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(
        quality(&graph, &[0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0], &Silent).unwrap().disconnected_count,
        1
    );
}

/// The hub has more labels than the table holds.
#[test]
fn a_hub_with_more_labels_than_the_table_is_summed_in_shares() {
    let leaves = 3000u32;
    let mut edges = Edges::new(leaves + 1, (1..=leaves).map(|leaf| (0, leaf)));
    edges.edges.extend((1..leaves).step_by(3).map(|leaf| (leaf, leaf + 1, 2.5)));
    let graph = edges.graph();
    let options = converge(3);
    let expected = edges.oracle(&graph, &options).cluster().0;
    for max_labels in [200, 700, 1 << 20] {
        let limits = ScratchLimits { large_degree: 16, max_labels, ..ScratchLimits::default() };
        let given = GivenLabels::default();
        let found = cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent);
        let found = found.unwrap();
        assert_eq!(found.labels(), expected, "{max_labels}");
    }
}

#[test]
fn too_little_memory_is_refused_before_work() {
    let graph = cliques(3, 4).graph();
    let options = plain();
    let needed = options.min_memory(&graph, 0, rayon::current_num_threads()).total_bytes();
    let error = cluster(&graph, &options, needed - 1, scratch(), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    assert!(cluster(&graph, &options, needed, scratch(), &Silent).is_ok());
}

/// Stops at the n-th event, for every n.
#[test]
fn an_observer_can_stop_a_clustering_at_any_event() {
    struct Impatient(std::sync::atomic::AtomicI32);
    impl Observer for Impatient {
        fn event(&self, _: Event<'_>) -> ControlFlow<()> {
            let left = self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let graph = ring_of_cliques(100, 5).graph();
    let options = plain();
    for patience in 0.. {
        let observer = Impatient(patience.into());
        match cluster(&graph, &options, PLENTY, scratch(), &observer) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
            Ok(found) => {
                assert_eq!(found.largest(), 5);
                break;
            }
        }
        assert!(patience < 1000, "never done");
    }
}

/// Observer that records the reported progress and total.
#[derive(Default)]
struct ReportedProgress(std::sync::Mutex<(u64, Option<u64>)>);

impl Observer for ReportedProgress {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let (done, total) = &mut *self.0.lock().unwrap();
        match event {
            Event::Begin { total: found, .. } | Event::Expect { total: found } => *total = found,
            Event::Advance { done: found } => {
                assert!(found >= *done, "progress never decreases");
                *done = found;
            }
            _ => {}
        }
        assert!(total.is_none_or(|total| *done <= total), "{done} of {total:?}");
        ControlFlow::Continue(())
    }
}

proptest! {
    #[test]
    fn progress_ends_exactly_at_its_total(
        edges in some_edges(),
        method in prop_oneof![
            Just(Method::MapEquation),
            Just(Method::Modularity),
            Just(Method::Cpm),
            Just(Method::LabelPropagation),
            Just(Method::Components),
        ],
    ) {
        let options = ClusterOptions { method, ..plain() };
        let (graph, reported) = (edges.graph(), ReportedProgress::default());
        cluster(&graph, &options, PLENTY, scratch(), &reported).unwrap();
        let (done, total) = reported.0.into_inner().unwrap();
        prop_assert_eq!(Some(done), total);
    }
}

/// Reads a gzipped file with two columns of numbers.
fn two_columns(name: &str) -> Option<Vec<(u32, u32)>> {
    let directory = std::env::var_os("OUTCORE_GRAPHS")?;
    let packed = Files::default().read(&Path::new(&directory).join(name)).unwrap();
    let mut text = String::new();
    let mut reader = flate2::read::MultiGzDecoder::new(&packed[..]);
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    let number = |word: Option<&str>| word.unwrap().parse().unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_ascii_whitespace());
    Some(words.map(|mut words| (number(words.next()), number(words.next()))).collect())
}

/// Uses LFR benchmark graphs from the directory named by `OUTCORE_GRAPHS`; without it, nothing is tested.
#[test]
fn planted_communities_are_found() {
    for (name, least) in [
        ("lfr_n10000_mu0.3", 0.999),
        ("lfr_n10000_mu0.5", 0.995),
        ("lfr_n10000_mu0.6", 0.99),
        ("lfr_n100000_mu0.5", 0.998),
    ] {
        let Some(edges) = two_columns(&format!("{name}.tsv.gz")) else { return };
        let truth = two_columns(&format!("{name}.truth.tsv.gz")).unwrap();
        let first = truth.iter().map(|&(node, _)| node).min().unwrap();
        let mut communities = vec![0; truth.len()];
        truth.iter().for_each(|&(node, label)| communities[(node - first) as usize] = label);
        let edges = edges.into_iter().map(|(a, b)| (a - first, b - first));
        let edges = Edges::new(truth.len() as u32, edges);
        for seed in 1..=3 {
            let found = find(&edges, &ClusterOptions { seed, ..plain() });
            let nmi = crate::score::nmi(found.labels(), &communities);
            println!("{name} seed {seed}: NMI {nmi:.4}, {} sweeps", found.history.sweeps.count);
            assert!(
                nmi >= least,
                "{name} seed {seed}: NMI {nmi}, {} sweeps",
                found.history.sweeps.count
            );
            assert!(
                found.history.sweeps.count <= 15,
                "{name} seed {seed}: {} sweeps",
                found.history.sweeps.count
            );
        }
    }
}
