//! Prediction of the resources of a job, before any work: a pure function of the input's size and the limits.
//!
//! The rooms state their least memory and the bytes of their files for a size (`size`). Here, one table of times turns
//! these into the rows of a plan (`forecast`), which are checked against the limits (`limits`), and compared with those of
//! a Spark cluster (`spark`). The limit covers everything that grows with the job; [`SLACK_BYTES`] for the program itself,
//! its stacks and its allocator are added.

mod flow;
mod forecast;
mod given;
mod joined;
pub(crate) mod limits;
mod size;
mod spark;
#[cfg(test)]
mod tests;

use crate::budget::{Limits, SLACK_BYTES};
use crate::cluster::{ClusterMemory, ClusterOptions, Ladder};
use crate::error::opt::WORK_DIR;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Tuning;
use crate::present::{self, Look, PresentMemory, PresentOptions};
use crate::progress::Stage;
use crate::units::{MIB, format_bytes};
use forecast::{ClusterForecast, Forecast};
pub(crate) use limits::too_small_for_nodes;
pub use limits::{at_least, check_limits, too_small};
use limits::{check_size, memory_bytes_for, note_less_memory};

pub use given::GivenSize;
pub use size::{AppendSize, BestOrder, InputSize};
pub use spark::{Cluster, Here, SparkPlan};

/// Expected memory of the program itself.
const PROGRAM_BYTES: u64 = 18 * MIB;
/// One further byte for the program is expected per this many bytes of the job's memory.
const PROGRAM_SHARE: u64 = 8;

/// Row of a plan: one stage.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct StagePlan {
    /// The stage.
    pub stage: Stage,
    /// Number of passes over the input.
    pub pass_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Expected peak memory, without the program itself ([`SLACK_BYTES`]).
    pub memory_bytes: u64,
    /// Peak disk space of the job's files during the stage.
    pub disk_bytes: u64,
    /// Time in seconds: on this machine if its profile has its speed, otherwise on a machine like that of the table. At
    /// least the time for disk transfers, if the rates of the disk are known.
    pub seconds: f64,
}

/// Predicted resources of a job.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Plan {
    /// Size of the input.
    pub input: InputSize,
    /// Limits of memory and threads.
    pub limits: Limits,
    /// Stages in order.
    pub stages: Vec<StagePlan>,
    /// Bytes read by all stages, and for the sample.
    pub read_bytes: u64,
    /// Bytes written by all stages.
    pub write_bytes: u64,
    /// Expected peak memory of the process, including the program itself; at most the limit plus [`SLACK_BYTES`].
    pub peak_memory_bytes: u64,
    /// Part of the peak memory for the program itself: stacks, and memory that the allocator retains.
    pub program_bytes: u64,
    /// Peak disk space: runs, then the graph, files of the clustering, and results.
    pub disk_bytes: u64,
    /// The same if the lines have the best order that agrees with what is known of them: neighbors together.
    pub disk_bytes_least: u64,
    /// Peak disk space if the disk has enough: runs are then kept until the graph is complete, so that an interrupted
    /// job can resume from them.
    pub disk_bytes_most: u64,
    /// Disk space of the graph alone.
    pub graph_bytes: u64,
    /// Number of runs written by the sort; 0 if it stays in memory.
    pub run_count: u64,
    /// Time in seconds of all stages and of the sample.
    pub seconds: f64,
    /// Minimum memory limit for this job, at its expected size.
    pub memory_bytes_min: u64,
    /// Number of starts of the clustering, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial_count: Option<u64>,
    /// Minimum memory limit for the clustering, if the job has one; the rest of the limit caches the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_memory_bytes_min: Option<u64>,
}

/// Options of a clustering and of its presentation.
#[derive(Debug, Clone, Copy)]
pub struct Clustering<'a> {
    /// Options for finding communities.
    pub options: &'a ClusterOptions,
    /// Options for presenting them.
    pub present: &'a PresentOptions,
}

impl Clustering<'_> {
    /// Returns the thresholds of components, if nothing else is wanted of edges: they are found without a graph.
    pub(crate) fn ladder(&self) -> Option<Ladder> {
        let Self { options, present } = *self;
        // A minimum weight in the options applies after repeated edges are merged.
        let is_plain = options.method.finds_components()
            && options.well_connected.is_none()
            && options.min_weight == 0.0
            && !present.flow;
        let needs_weights = present.look() > Look::Preferred;
        (is_plain && !needs_weights).then(|| options.forest_ladder().unwrap_or(Ladder::One))
    }

    /// Returns the forecast of the clustering and of the stages after it. Assumes that an earlier result has up to one
    /// community per node.
    fn forecast(&self, job: &Forecast<'_>, input: &InputSize, threads: usize) -> Clustered {
        let Self { options, present } = *self;
        let bytes = |nodes: u64, scan: ClusterMemory, earlier: u64| {
            let read = present::reading_bytes(nodes, options, present, threads);
            let memory = PresentMemory {
                options: present,
                levels: options.levels,
                nodes,
                is_directed: input.is_directed,
                scan,
            };
            read.max(memory.least_bytes(earlier))
        };
        let (least, most) = (input.smallest_graph(), input.largest_graph());
        let presenting_bytes_at_least =
            bytes(least.node_count, ClusterMemory::at_least(&least, None, threads), 0);
        let scan = ClusterMemory::expected(&most, None, threads);
        let presenting_bytes = bytes(most.node_count, scan, most.node_count);
        let found = job.cluster(options);
        Clustered { found, write: job.write(options), presenting_bytes, presenting_bytes_at_least }
    }
}

/// Forecast of a clustering and of the stages after it.
struct Clustered {
    found: ClusterForecast,
    write: StagePlan,
    /// Upper bound on the memory of the stages after the clustering at the expected size, labels included.
    presenting_bytes: u64,
    /// Lower bound on that memory.
    presenting_bytes_at_least: u64,
}

impl Clustered {
    /// Returns the minimum limit for the expected number of nodes.
    fn min_limit(&self) -> u64 {
        let presenting = self.presenting_bytes.max(self.presenting_bytes_at_least);
        self.found.nodes.min_limit().max(presenting)
    }

    /// Returns the minimum limit for the smallest graph that is consistent with the sample.
    fn certain_bytes(&self) -> u64 {
        self.found.nodes.certain_bytes().max(self.presenting_bytes_at_least)
    }
}

/// Returns the rows of a plan.
fn stages(job: &Forecast<'_>, clustered: Option<&Clustered>) -> Vec<StagePlan> {
    let mut stages = vec![job.read()];
    stages.extend(job.builds_graph().then(|| job.merge()));
    stages.extend(clustered.iter().flat_map(|own| [own.found.row, own.write]));
    stages
}

fn peak_disk_bytes(stages: &[StagePlan]) -> u64 {
    stages.iter().map(|row| row.disk_bytes).max().unwrap_or(0)
}

impl Plan {
    /// Plans a job that does I/O with `tuning`, and clusters the graph if `clustering` is given.
    ///
    /// # Errors
    /// `Usage` for invalid options; `MemoryTooSmall` if the limit is certainly too small.
    pub fn new(
        input: InputSize,
        limits: Limits,
        tuning: &Tuning,
        clustering: Option<Clustering<'_>>,
    ) -> Result<Self> {
        check_limits(&limits)?;
        clustering.map_or(Ok(()), |clustering| clustering.options.check())?;
        let ladder = clustering.and_then(|clustering| clustering.ladder());
        let job = Forecast::new(&input, &limits, tuning, ladder.as_ref());
        let forecast = |wanted: Clustering<'_>| wanted.forecast(&job, &input, limits.threads);
        let clustered = clustering.map(forecast);
        let best = {
            let input = &input.at_best();
            let job = Forecast::new(input, &limits, tuning, ladder.as_ref());
            let found = clustering.map(|wanted| wanted.forecast(&job, input, limits.threads));
            peak_disk_bytes(&stages(&job, found.as_ref()))
        };
        Self::of(&job, input, limits, clustered.as_ref(), best).map_err(|error| {
            let too_large = |own: &&Clustered| own.certain_bytes() > limits.memory_bytes;
            let Some(own) = clustered.as_ref().filter(too_large) else { return error };
            let other = clustering.and_then(|wanted| {
                let options = &wanted.options.with_less_memory()?;
                let least = forecast(Clustering { options, ..wanted }).min_limit();
                let read = memory_bytes_for(&limits, input.node_count, input.has_self_scores);
                Some((options.method, least.max(read)))
            });
            match other {
                Some((method, bytes)) => note_less_memory(error, own.min_limit(), method, bytes),
                None => error,
            }
        })
    }

    fn of(
        job: &Forecast<'_>,
        input: InputSize,
        limits: Limits,
        clustered: Option<&Clustered>,
        disk_bytes_at_best: u64,
    ) -> Result<Self> {
        check_size(&limits, &input, clustered)?;
        let least = clustered.map(Clustered::min_limit);
        let stages = stages(job, clustered);
        let sum = |of: fn(&StagePlan) -> u64| stages.iter().map(of).fold(0, u64::saturating_add);
        let memory_bytes = stages.iter().map(|row| row.memory_bytes).max().unwrap_or(0);
        let disk_bytes = peak_disk_bytes(&stages);
        let program_bytes = (PROGRAM_BYTES + memory_bytes / PROGRAM_SHARE).min(SLACK_BYTES);
        Ok(Self {
            input,
            limits,
            read_bytes: sum(|row| row.read_bytes).saturating_add(input.sample_bytes),
            write_bytes: sum(|row| row.write_bytes),
            peak_memory_bytes: memory_bytes + program_bytes,
            program_bytes,
            disk_bytes,
            disk_bytes_least: disk_bytes_at_best.min(disk_bytes),
            disk_bytes_most: disk_bytes.max(job.kept_bytes()),
            graph_bytes: job.graph_bytes(),
            run_count: job.sorting.run_count,
            seconds: stages.iter().map(|row| row.seconds).sum::<f64>() + job.sample_seconds(),
            memory_bytes_min: memory_bytes_for(&limits, input.node_count, input.has_self_scores)
                .max(input.append.map_or(0, |old| old.memory_bytes_min))
                .max(least.unwrap_or(0)),
            trial_count: clustered.map(|own| own.found.trial_count).filter(|&count| count > 1),
            cluster_memory_bytes_min: least,
            stages,
        })
    }

    /// Refuses a job whose files do not fit in `free_bytes`, even if its lines have the best order.
    ///
    /// # Errors
    /// `DiskTooSmall`.
    pub fn check_disk(&self, free_bytes: u64, directory: &std::path::Path) -> Result<()> {
        // Other orders of the lines take more, but what the best one takes is estimated, too.
        let least_bytes = self.disk_bytes_least / 4 * 3;
        if least_bytes <= free_bytes {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::DiskTooSmall,
            format!(
                "the job needs at least {} in `{}`, but {} are free",
                format_bytes(least_bytes),
                directory.display(),
                format_bytes(free_bytes)
            ),
        )
        .hint(format_args!("use {WORK_DIR} on a larger disk; `outcore plan` shows each stage")))
    }
}
