//! A stopped clustering resumes from its sweeps and gives the same result.

use super::prelude::*;
use super::warm::disturbed;
use crate::drive::run::cluster_kept;
use crate::store::saves::SAVED;
use crate::tests::{Edges, PLENTY, POOLS, as_size, plain, scratch, size_classes, some_edges};
use outcore_io::checkpoint::CHECKPOINT;
use outcore_io::progress::Silent;
use outcore_io::{Column, Cramped, Files, Shares};
use outcore_testkit::cases;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Observer that stops after a number of events, and records warnings.
struct StopAt {
    left: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

impl StopAt {
    fn new(events: u64) -> Self {
        Self { left: AtomicU64::new(events), warnings: Mutex::default() }
    }

    fn warnings(self) -> Vec<String> {
        self.warnings.into_inner().unwrap()
    }
}

impl Observer for StopAt {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Warning { text } = event {
            self.warnings.lock().unwrap().push(text.to_string());
        }
        let before = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if before.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Returns the same graph, for clusterings that save after every sweep and have all levels on disk.
fn saving(graph: &Graph) -> Graph {
    let cramped = Cramped {
        sweep_save: Duration::ZERO,
        level_arcs: 0,
        community_edges: 9,
        ..graph.files().cramped()
    };
    Graph::open(&graph.files().with_cramped(cramped), graph.directory()).unwrap()
}

fn with_labels_on_disk(graph: &Graph) -> Graph {
    let cramped = Cramped { label_bytes: 0, ..graph.files().cramped() };
    Graph::open(&graph.files().with_cramped(cramped), graph.directory()).unwrap()
}

/// Returns options for all variants of a clustering.
fn forms() -> Vec<ClusterOptions> {
    let of = |method| ClusterOptions { method, trials: Some(1), ..ClusterOptions::default() };
    let bound = |text: &str| Some(text.parse().unwrap());
    let coarse = ClusterOptions { resolution: vec![0.5], ..of(Method::Modularity) };
    let cpm = ClusterOptions { resolution: vec![0.1], max_sweeps: Some(4), ..of(Method::Cpm) };
    let mut attenuated = plain();
    attenuated.propagation.attenuation = vec![0.05];
    let mut visits = plain();
    visits.propagation.max_visits = Visits::Most(3);
    visits.propagation.label_cutoff = 0.5;
    vec![
        of(Method::MapEquation),
        ClusterOptions { levels: true, max_size: Some(20), ..of(Method::MapEquation) },
        ClusterOptions { levels: true, trials: Some(3), ..of(Method::MapEquation) },
        ClusterOptions { levels: true, well_connected: bound("1"), ..of(Method::MapEquation) },
        of(Method::Modularity),
        ClusterOptions { levels: true, ..coarse.clone() },
        coarse.clone(),
        cpm,
        plain(),
        ClusterOptions { max_size: Some(9), tolerance: 0.0, ..plain() },
        attenuated,
        visits,
        ClusterOptions { trials: Some(4), ..of(Method::MapEquation) },
        ClusterOptions { trials: Some(3), levels: true, ..of(Method::Cpm) },
        ClusterOptions { trials: Some(8), stability: true, ..of(Method::Modularity) },
        ClusterOptions {
            well_connected: bound("1"),
            levels: true,
            trials: Some(3),
            stability: true,
            ..of(Method::Modularity)
        },
        ClusterOptions { well_connected: bound("log2"), tolerance: 0.0, ..plain() },
        ClusterOptions { well_connected: bound("0.3n"), ..coarse },
    ]
}

/// Returns the relevant fields of a result, and the content of the files of groupings.
fn reported(graph: &Graph, found: Communities) -> (Communities, Vec<Vec<u8>>) {
    let labels = Column::Memory(found.labels.into_memory(graph.files()).unwrap());
    let read = |grouping: &Grouping| {
        let bytes = graph.files().read(&grouping.groups.path).unwrap();
        bytes[..grouping.groups.bytes() as usize].to_vec()
    };
    let mut groups: Vec<_> = found.groupings.iter().map(read).collect();
    if let Some(Shares { parts, .. }) = &found.stability {
        let counts = parts.clone().into_memory(graph.files()).unwrap();
        groups.push(counts.into_iter().flat_map(u32::to_le_bytes).collect());
    }
    // The number of scans depends on memory.
    let history = History { resumed_sweeps: 0, ..found.history.clone() };
    (Communities { labels, history, ..found }.with_scans(0), groups)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_stopped_clustering_resumes_to_the_same_result(
        edges in some_edges(),
        form in 0..forms().len(),
        size in size_classes(),
        seed in 0..1000u64,
        stops in prop::collection::vec(0..60u64, 1..6),
        on_disk in any::<[bool; 6]>(),
        from_given in any::<bool>(),
        records in any::<bool>(),
    ) {
        let recorded_teleportation = records && edges.directed && forms()[form].method == Method::MapEquation;
        let form = forms()[form].clone();
        let options = ClusterOptions { seed, recorded_teleportation, ..form };
        let graph = edges.graph();
        // Several starts on the graph, or on a level.
        let limits = as_size(size);
        let takes = options.method.is_multilevel()
            && !options.levels
            && !options.stability;
        let given = if from_given && takes { disturbed(&edges, &options) } else { GivenLabels::default() };
        let find = |graph: &Graph, memory: u64, observer: &dyn Observer| {
            let given = given.clone();
            cluster_within(graph, &options, given, memory, scratch(), limits, observer)
        };
        let expected = POOLS[1].install(|| find(&graph, PLENTY, &Silent));
        let expected = reported(&graph, expected.unwrap());
        let graph = saving(&graph);
        let run = |at: usize, observer: &dyn Observer| {
            let graph = if on_disk[at] { &with_labels_on_disk(&graph) } else { &graph };
            POOLS[at % 3].install(|| {
                let threads = rayon::current_num_threads();
                // From ample memory down to the minimum.
                let least = options.memory(graph, 0, threads).total_bytes();
                let memory = if at.is_multiple_of(2) || on_disk[at] { PLENTY } else { least };
                find(graph, memory, observer)
            })
        };
        let mut saved = 0;
        for (at, &stop) in stops.iter().enumerate() {
            let observer = StopAt::new(stop);
            if let Err(error) = run(at, &observer) {
                prop_assert_eq!(error.kind(), ErrorKind::Interrupted);
            }
            let warnings = observer.warnings();
            prop_assert!(warnings.iter().all(|text| text.contains("initial communities")), "{warnings:?}");
            let is_saved = graph.files().is_regular(&scratch().join(SAVED).join(CHECKPOINT));
            // A run that gets less far does not lose the checkpoint.
            prop_assert!(is_saved || saved == 0);
            saved += u32::from(is_saved);
        }
        let found = run(5, &Silent).unwrap();
        prop_assert_eq!(saved > 0, found.history.resumed_sweeps > 0);
        prop_assert_eq!(reported(&graph, found), expected);
    }
}

/// Returns edges whose communities take several sweeps and levels.
fn edges() -> Edges {
    let mut next = 1u32;
    let mut below = |bound| {
        next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (next >> 8) % bound
    };
    let pairs = (0..6000u32).map(|edge| {
        let node = edge % 1500;
        let reach = [10, 10, 10, 100, 1500][below(5) as usize];
        (node, node / reach * reach + below(reach))
    });
    Edges::new(1500, pairs.collect::<Vec<_>>())
}

/// Stops a clustering after `events` events, and returns the graph.
fn stopped(options: &ClusterOptions, events: u64) -> Graph {
    let graph = saving(&edges().graph());
    let stop = &StopAt::new(events);
    let stopped =
        cluster_from(&graph, options, GivenLabels::default(), PLENTY, scratch(), stop).unwrap_err();
    assert_eq!(stopped.kind(), ErrorKind::Interrupted);
    graph
}

/// Resumes a clustering; returns the number of resumed sweeps, and the warnings.
fn resume(graph: &Graph, options: &ClusterOptions) -> Result<(u32, Vec<String>)> {
    let observer = StopAt::new(u64::MAX);
    let given = GivenLabels::default();
    let found = cluster_from(graph, options, given, PLENTY, scratch(), &observer)?;
    let whole = cluster(&edges().graph(), options, PLENTY, scratch(), &Silent)?;
    let resumed = found.history.resumed_sweeps;
    assert_eq!(reported(graph, found), reported(graph, whole));
    Ok((resumed, observer.warnings()))
}

fn files_in(files: &Files) -> Vec<PathBuf> {
    files.list(&scratch().join(SAVED)).unwrap().into_iter().map(|entry| entry.path).collect()
}

#[test]
fn foreign_or_damaged_checkpoints_are_not_used() {
    let options = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
    let graph = || stopped(&options, 50);
    let (resumed, warnings) = resume(&graph(), &options).unwrap();
    assert!(resumed > 3 && warnings.is_empty(), "{resumed} {warnings:?}");
    let starts_from_scratch = |graph: &Graph, options: &ClusterOptions, reason: &str| {
        let (resumed, warnings) = resume(graph, options).unwrap();
        assert_eq!(resumed, 0, "{reason}");
        let [warning] = &warnings[..] else { panic!("{reason}: {warnings:?}") };
        assert!(
            warning.starts_with("sweeps start from scratch: ") && warning.contains(reason),
            "{warning}"
        );
    };
    let other = ClusterOptions { seed: 2, ..options.clone() };
    starts_from_scratch(&graph(), &other, "the saved sweeps belong to other options");
    let components = ClusterOptions { method: Method::Components, trials: None, ..options.clone() };
    starts_from_scratch(&graph(), &components, "to other options");
    // Every byte is covered by a checksum.
    let state = scratch().join(SAVED).join(CHECKPOINT);
    let whole = graph().files().read(&state).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        let graph = graph();
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        graph.files().write(&state, &bytes).unwrap();
        starts_from_scratch(&graph, &options, "`scratch/sweeps/checkpoint`");
    }
    for bytes in [0, 5, whole.len() - 1] {
        let graph = graph();
        graph.files().write(&state, &whole[..bytes]).unwrap();
        starts_from_scratch(&graph, &options, "`scratch/sweeps/checkpoint`");
    }
}

/// Levels and groups must be unchanged.
#[test]
fn files_that_a_checkpoint_needs_are_verified() {
    let options = ClusterOptions { levels: true, trials: Some(1), ..ClusterOptions::default() };
    let events = (20..400).find(|&events| {
        let needed = files_in(stopped(&options, events).files());
        needed.iter().any(|path| path.to_string_lossy().contains("level-1-2"))
    });
    let events = events.expect("there are levels") + 8;
    let needed: Vec<PathBuf> = files_in(stopped(&options, events).files());
    let is_of = |path: &&PathBuf, what: &str| path.to_string_lossy().contains(what);
    let groups = needed.iter().find(|path| is_of(path, "groups-0-0")).unwrap();
    let level = needed.iter().find(|path| is_of(path, "level-1-")).unwrap();
    assert!(resume(&stopped(&options, events), &options).unwrap().0 > 0);
    let graph = stopped(&options, events);
    graph.files().remove(groups).unwrap();
    let (resumed, warnings) = resume(&graph, &options).unwrap();
    assert!(resumed == 0 && warnings[0].contains("it no longer exists"), "{warnings:?}");
    let graph = stopped(&options, events);
    let mut bytes = graph.files().read(groups).unwrap();
    bytes[0] ^= 1;
    graph.files().write(groups, &bytes).unwrap();
    let error = resume(&graph, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}");
    let graph = stopped(&options, events);
    graph.files().write(&level.join("graph.json"), b"{}").unwrap();
    let error = resume(&graph, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}");
}

#[test]
fn a_short_clustering_saves_nothing() {
    let graph = edges().graph();
    let before = graph.files().counters().write_bytes();
    let options = plain();
    // Files of others in the directory are left alone.
    graph.files().write(&scratch().join("labels"), b"").unwrap();
    let before = before.max(graph.files().counters().write_bytes());
    cluster(&graph, &options, PLENTY, scratch(), &Silent).unwrap();
    assert!(graph.files().is_regular(&scratch().join("labels")));
    assert_eq!(graph.files().counters().write_bytes(), before);
}

/// A result that is kept is found again, unless its files or the options are others.
#[test]
fn a_kept_result_is_not_found_twice() {
    let options = ClusterOptions { levels: true, trials: Some(1), ..ClusterOptions::default() };
    let directory = &scratch().join("first");
    let find = |graph: &Graph, options: &ClusterOptions| {
        let observer = StopAt::new(u64::MAX);
        let given = GivenLabels::default();
        let found = cluster_kept(graph, options, given, PLENTY, directory, &observer);
        (found, observer.left.into_inner(), observer.warnings.into_inner().unwrap())
    };
    let graph = edges().graph();
    let (first, events, _) = find(&graph, &options);
    let first = first.unwrap();
    let sweeps = first.history.sweeps.count;
    // Files have other paths.
    let content = |found: Communities| {
        let (found, groups) = reported(&graph, found);
        (Communities { groupings: Vec::new(), ..found }, groups)
    };
    let expected = content(cluster(&graph, &options, PLENTY, scratch(), &Silent).unwrap());
    assert!(content(first) == expected);
    let (again, fewer, warnings) = find(&graph, &options);
    let again = again.unwrap();
    assert_eq!((again.history.resumed_sweeps, warnings.len()), (sweeps, 0));
    assert!(u64::MAX - fewer < 4 && u64::MAX - events > 10, "only the beginning and the end");
    assert!(content(again.clone()) == expected);
    let other = ClusterOptions { seed: 2, ..options.clone() };
    let (other, _, warnings) = find(&graph, &other);
    assert!(other.is_ok() && warnings[0].contains("to other options"), "{warnings:?}");
    find(&graph, &options).0.unwrap();
    let Column::Disk(labels) = &again.labels else { panic!("labels are kept in a file") };
    let mut bytes = graph.files().read(&labels.path).unwrap();
    bytes[0] ^= 1;
    graph.files().write(&labels.path, &bytes).unwrap();
    assert_eq!(find(&graph, &options).0.unwrap_err().kind(), ErrorKind::CorruptFile);
}
