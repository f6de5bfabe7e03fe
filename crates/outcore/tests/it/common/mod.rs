//! Common parts of tests of whole jobs: a simulated storage with edges, and default options.

pub(crate) mod cramped;
pub(crate) mod stop;
pub(crate) mod tables;
pub(crate) mod warnings;

use outcore::budget::Limits;
use outcore::input::InputOptions;
use outcore::io::Files;
use outcore::job::JobOptions;
use outcore_testkit::sim::Sim;
use std::sync::Arc;

pub(crate) const MIB: u64 = 1 << 20;

/// Creates a storage that contains only these edges.
pub(crate) fn storage_of(edges: &str) -> Sim {
    let sim = Sim::new();
    sim.put("/in/edges.tsv", edges.as_bytes());
    sim
}

pub(crate) fn files_of(sim: &Sim) -> Files {
    Files::new(Arc::new(sim.clone()))
}

/// Returns options for the edges of [`storage_of`].
pub(crate) fn options(threads: usize, memory_bytes: u64) -> JobOptions {
    let input = InputOptions { paths: vec!["/in/edges.tsv".into()], ..Default::default() };
    let plain = JobOptions::new(input, Limits { memory_bytes, threads }, "/disk".into());
    JobOptions { keep_loops: true, ..plain }
}
