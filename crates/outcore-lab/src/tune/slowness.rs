//! Time of a job on this machine, relative to the machine on which the table of predictions was measured.
//!
//! The table of the plan holds for jobs of all sizes on one machine. What differs between machines is the speed of
//! processor and memory, and how much further threads help. So a small job is run with all threads and compared with its
//! time on that machine; the plan multiplies by the ratio. Everything fits in memory, and files are small and warm: the
//! disk has no part in it.
//!
//! Cost: one run takes about 1.2 s of two cores, 100 MiB of disk and 300 MiB of memory.

use super::choose::figure_within;
use crate::workplace::Effort;
use outcore::Result;
use outcore::cluster::ClusterOptions;
use outcore::generate::{GenerateOptions, Model, NameKind, Planted, generate};
use outcore::input::InputOptions;
use outcore::io::{Figure, Files, Scratch};
use outcore::job::{self, JobOptions, Limits, Source};
use outcore::progress::{Event, Observer, notify};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::available_parallelism;

/// Size of the job: large enough that its data do not fit into the caches of a core.
const NODES: u64 = 200_000;
const EDGES: u64 = 2_000_000;
const MEMORY_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 16 << 20;

/// Core seconds that the job takes on the machine of the table: two cores of a virtual machine (AMD EPYC), at an hour at
/// which `plan` predicts jobs of 2 to 10 million edges best.
const USUAL_SECONDS: f64 = 2.3;

/// Maximum width of a figure's confidence interval, relative to its middle; a wider one has low confidence. A figure
/// known to a quarter still improves predictions on a machine that differs from the usual one by more.
const WIDTH: f64 = 0.5;

/// Observer that passes on only that something happens, and returns whether to continue.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn event(&self, _: Event<'_>) -> ControlFlow<()> {
        self.0.event(Event::Detail { text: "running a small job" })
    }
}

/// Runs a small job repeatedly, and returns its time relative to the usual one.
///
/// # Errors
/// `DiskFull`, `Io`; `Interrupted`. No file is left behind.
pub fn slowness(
    files: &Files,
    directory: &Path,
    effort: Effort,
    observer: &dyn Observer,
) -> Result<Figure> {
    let scratch = Scratch::create(files, directory, ".tune.outcore")?;
    let threads = available_parallelism().map_or(1, usize::from);
    let observer = &Quiet(observer);
    let input = scratch.path().join("edges.tsv");
    let options = GenerateOptions {
        model: Model::Planted(Planted::new(NODES, EDGES)),
        names: NameKind::String,
        weights: false,
        seed: 1,
        threads,
    };
    generate(files, &options, &input, None, observer)?;
    let memory_bytes = MEMORY_BYTES + threads as u64 * THREAD_BYTES;
    let limits = Limits { memory_bytes, threads };
    let paths = vec![input];
    let input = InputOptions { paths, ..InputOptions::default() };
    let options = JobOptions::new(input, limits, scratch.path().join("work"));
    let source = Source::Edges(Box::new(options));
    // Several starts would repeat the same work.
    let options = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
    let output = scratch.path().join("communities");
    let mut times = Vec::new();
    for run in 0..=runs(effort) {
        notify(observer, Event::Detail { text: "running a small job" })?;
        let report = job::cluster(files, &source, &options, &output, observer)?;
        // The first run brings the file and the program into memory.
        if run > 0 {
            times.push(report.seconds * threads as f64 / USUAL_SECONDS);
        }
    }
    Ok(figure_within(&times, WIDTH))
}

fn runs(effort: Effort) -> usize {
    match effort {
        Effort::Quick => 7,
        Effort::Default => 15,
        Effort::Full => 30,
    }
}
