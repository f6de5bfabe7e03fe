//! What tests of whole jobs have in common: a simulated storage with edges, and plain options.

use outcore::graph::Duplicates;
use outcore::input::InputOptions;
use outcore::io::Files;
use outcore::io::sim::Sim;
use outcore::job::{JobOptions, Normalize};
use outcore::plan::Limits;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const MIB: u64 = 1 << 20;

/// A storage that holds these edges alone.
pub(crate) fn storage_of(edges: &str) -> Sim {
    let sim = Sim::new();
    sim.put("/in/edges.tsv", edges.as_bytes());
    sim
}

pub(crate) fn files_of(sim: &Sim) -> Files {
    Files::new(Arc::new(sim.clone()))
}

/// For the edges of [`storage_of`].
pub(crate) fn options(threads: usize, memory_bytes: u64) -> JobOptions {
    JobOptions {
        input: InputOptions { paths: vec![PathBuf::from("/in/edges.tsv")], ..Default::default() },
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
        min_weight: None,
        max_weight: None,
        normalize: Normalize::None,
        limits: Limits { memory_bytes, threads },
        work_dir: PathBuf::from("/disk"),
        restart: false,
    }
}
