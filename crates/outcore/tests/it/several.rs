//! Several values of an option give the results of jobs with one of them, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options, storage_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, METHODS, Method, MethodOption, PropagationOptions};
use outcore::io::{Cramped, Files};
use outcore::job::{self, Report, Source, outputs};
use outcore::present::PresentOptions;
use outcore::progress::{Event, Observer, Silent, Stage};
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const OUTPUT: &str = "/out/communities.tsv";
const EARLIER: &str = "/in/earlier.tsv";
const GRAPH: &str = "/out/graph";
const THREADS: [usize; 2] = [1, 2];
const LIMITS: [u64; 2] = [64 * MIB, 256 * MIB];

/// Creates groups of 8 nodes in groups of 64; weights depend on the distance.
fn storage(is_directed: bool) -> Sim {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let (mut edges, mut earlier) = (String::new(), String::new());
    for node in 0..600 {
        for _ in 0..5 {
            let reach = [8, 8, 8, 64, 600][next(5) as usize];
            let other = (node / reach * reach + next(reach)).min(599);
            edges += &format!("n{node}\tn{other}\t0.{}\n", 1 + next(9));
        }
        earlier += &format!("n{node}\t{}\n", node / 16);
    }
    let sim = storage_of(&edges);
    sim.put(EARLIER, earlier.as_bytes());
    let mut options = options(2, 64 * MIB);
    options.input.directed = is_directed;
    job::build(&files_of(&sim), &options, Path::new(GRAPH), &Silent).unwrap();
    sim
}

/// Returns a clustering for each option that takes several values, with every method that takes it.
fn forms() -> Vec<ClusterOptions> {
    let of = |method| ClusterOptions { method, ..ClusterOptions::default() };
    let mut all = Vec::new();
    for method in METHODS.iter().map(|spec| spec.method) {
        if method.takes(MethodOption::Resolution) {
            let resolution = vec![0.3, 2.0, 1.0];
            all.push(ClusterOptions { resolution: resolution.clone(), ..of(method) });
            let bound = Some("1".parse().unwrap());
            let limited =
                ClusterOptions { max_size: Some(40), well_connected: bound, ..of(method) };
            all.push(ClusterOptions { resolution, levels: true, trials: Some(2), ..limited });
        }
        if method.takes(MethodOption::Propagation) {
            let propagation =
                PropagationOptions { attenuation: vec![0.0, 0.4, 0.1], ..Default::default() };
            let plain = ClusterOptions { propagation, ..of(method) };
            all.push(ClusterOptions { initial: Some(EARLIER.into()), ..plain.clone() });
            all.push(plain);
        }
        if method != Method::Components {
            let resolution = vec![method.default_resolution().unwrap_or(0.5)];
            all.push(ClusterOptions { thresholds: vec![0.2, 0.6], resolution, ..of(method) });
        }
    }
    all
}

fn run(
    files: &Files,
    limits: Limits,
    found: &ClusterOptions,
    observer: &dyn Observer,
) -> Result<Report> {
    let (path, work_dir) = (PathBuf::from(GRAPH), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits, work_dir, restart: false };
    let present = PresentOptions { min_size: 2, ..PresentOptions::default() };
    job::cluster_and_present(files, &source, found, &present, Path::new(OUTPUT), observer)
}

#[test]
fn each_of_several_values_gives_the_result_of_that_value_alone() {
    for is_directed in [false, true] {
        let sim = storage(is_directed);
        let files = files_of(&sim);
        for several in forms() {
            let paths = outputs(&files, Path::new(OUTPUT), &several).unwrap();
            let mut expected = Vec::new();
            for own in several.of_each_result() {
                let limits = Limits { memory_bytes: LIMITS[1], threads: 2 };
                run(&files, limits, &own, &Silent).unwrap();
                expected.push(sim.get(OUTPUT).unwrap());
            }
            for (threads, memory_bytes) in THREADS.into_iter().zip(LIMITS) {
                let limits = Limits { memory_bytes, threads };
                let report = run(&files, limits, &several, &Silent).unwrap();
                assert_eq!(report.results.len(), expected.len());
                for (path, expected) in paths.iter().zip(&expected) {
                    let found = sim.get(path).unwrap();
                    assert!(&found == expected, "{several:?}: {}", path.display());
                }
            }
        }
    }
}

/// Counts the sweeps of each clustering, and stops in the second after a number of events.
#[derive(Default)]
struct StopInSecond {
    after: Option<usize>,
    sweeps: Mutex<Vec<usize>>,
    events: Mutex<usize>,
}

impl Observer for StopInSecond {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let mut sweeps = self.sweeps.lock().unwrap();
        match event {
            Event::Begin { stage: Stage::Cluster, .. } => sweeps.push(0),
            Event::Detail { text } if text.contains("changed") => {
                *sweeps.last_mut().unwrap() += 1;
            }
            _ => {}
        }
        let mut events = self.events.lock().unwrap();
        *events += usize::from(sweeps.len() == 2);
        match self.after.is_some_and(|after| *events > after) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_job_that_is_stopped_at_a_later_value_keeps_the_results_before_it() {
    let limits = Limits { memory_bytes: 128 * MIB, threads: 2 };
    for several in forms().into_iter().filter(|found| found.trials.is_none()) {
        let sim = storage(false);
        let files = files_of(&sim);
        let cramped = Cramped { sweep_save: Duration::ZERO, level_arcs: 0, ..files.cramped() };
        let files = files.with_cramped(cramped);
        let paths = outputs(&files, Path::new(OUTPUT), &several).unwrap();
        let all = || paths.iter().map(|path| sim.get(path)).collect::<Vec<_>>();
        run(&files, limits, &several, &Silent).unwrap();
        let expected = all();
        for after in [0, 3, 12] {
            paths.iter().for_each(|path| files.remove(path).unwrap());
            let stopped = StopInSecond { after: Some(after), ..StopInSecond::default() };
            let error = run(&files, limits, &several, &stopped).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Interrupted);
            assert!(error.kept_text().is_some(), "{several:?}");
            let resumed = StopInSecond::default();
            let report = run(&files, limits, &several, &resumed).unwrap();
            let sweeps = resumed.sweeps.into_inner().unwrap();
            assert_eq!((sweeps[0], report.resumed), (0, true), "{several:?}");
            let is_begun_again = |text: &String| text.contains("from scratch");
            assert!(!report.warnings.iter().any(is_begun_again), "{:?}", report.warnings);
            assert!(all() == expected, "{several:?} after {after} events");
        }
    }
}
