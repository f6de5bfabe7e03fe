//! What a job will need, before any work: a pure function of the input's size and the limits.
//!
//! Each module says what its own part costs; here the costs become the rows of a plan (`stages`), are held against
//! the limits (`limits`), and are compared with those of a cluster (`spark`). The limit covers what grows with the
//! job; [`SLACK_BYTES`] for the program itself, its stacks and its allocator come on top.

mod given;
mod limits;
mod spark;
mod stages;
#[cfg(test)]
mod tests;

use crate::budget::{Limits, SLACK_BYTES};
use crate::cluster::{ClusterCost, ClusterMemory, ClusterOptions, Method};
use crate::error::opt::WORK_DIR;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::GraphSize;
use crate::input::InputSize;
use crate::io::Tuning;
use crate::present::{self, PresentOptions};
use crate::progress::Stage;
use crate::units::{MIB, format_bytes};
use stages::Work;

pub use given::GivenSize;
pub use spark::{Cluster, Here, SparkPlan};

/// What the program itself is likely to take, and more for so many bytes of its work.
const PROGRAM_BYTES: u64 = 18 * MIB;
const PROGRAM_SHARE: u64 = 8;

/// One row of a plan.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct StagePlan {
    /// Which stage.
    pub stage: Stage,
    /// How often it goes through what it reads.
    pub pass_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Most memory that it is likely to take, the program itself ([`SLACK_BYTES`]) not counted.
    pub memory_bytes: u64,
    /// Most room that the job's files take on the disk meanwhile.
    pub disk_bytes: u64,
    /// Time on a machine like the one that the constants were measured on, but not less than the
    /// disk takes for the bytes, where its rates are known.
    pub seconds: f64,
}

/// What a job will need.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Plan {
    /// The input.
    pub input: InputSize,
    /// The limits.
    pub limits: Limits,
    /// The stages in order.
    pub stages: Vec<StagePlan>,
    /// Bytes that the job reads: those of all stages, and those of the sample.
    pub read_bytes: u64,
    /// Bytes that it writes.
    pub write_bytes: u64,
    /// The most memory that the process is likely to have, the program itself counted; never above the
    /// limit and [`SLACK_BYTES`].
    pub peak_memory_bytes: u64,
    /// What of it is for the program itself: its stacks, and what the allocator keeps.
    pub program_bytes: u64,
    /// Most room taken on the disk: runs, then graph, what the clustering keeps there, and the results.
    pub disk_bytes: u64,
    /// Most room taken if the disk has as much: runs then stay until the graph is whole, so that a job that
    /// is stopped in between can go on from them.
    pub disk_bytes_most: u64,
    /// Room that stays taken when only the graph is kept.
    pub graph_bytes: u64,
    /// Runs written by the sort; 0 if it stays in memory.
    pub run_count: u64,
    /// Time of all stages, and of the sample.
    pub seconds: f64,
    /// The least limit that this job can be done in, by the likely size.
    pub memory_bytes_min: u64,
    /// What of it is for the clustering, if the job is one; the rest of the limit keeps its graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_memory_bytes_min: Option<u64>,
}

/// How a graph is clustered, and how the communities are presented.
#[derive(Debug, Clone, Copy)]
pub struct Clustering<'a> {
    /// How communities are found.
    pub options: &'a ClusterOptions,
    /// How they are written.
    pub present: &'a PresentOptions,
}

impl Clustering<'_> {
    /// What the clustering and the stages after it take of the graph of an input. An earlier result may have a
    /// community for each node.
    fn cost(
        &self,
        input: &InputSize,
        work: &Work<'_>,
        limits: &Limits,
        tuning: &Tuning,
    ) -> Clustered {
        let Self { options, present } = *self;
        let results = options.result_count();
        let bytes = |nodes: u64, scan: ClusterMemory, earlier: u64| {
            let read = present::reading_bytes(nodes, options, present, limits.threads);
            let is_presented = present.earlier.is_some() || present.looks_inside();
            let counts = (results, earlier);
            let reported =
                || present::memory_bytes_for(nodes, &scan, present, options.levels, counts);
            read.max(if is_presented { reported() } else { 0 })
        };
        let (least, most) = (GraphSize::at_least(input), GraphSize::at_most(input));
        let scan = |size, of: fn(&GraphSize, Option<Method>, usize) -> ClusterMemory| {
            of(size, None, limits.threads)
        };
        let presenting_bytes_at_least =
            bytes(least.node_count, scan(&least, ClusterMemory::at_least), 0);
        let presenting_bytes =
            bytes(most.node_count, scan(&most, ClusterMemory::expected), most.node_count);
        let cost = options.cost(input, work.merge().memory_bytes, limits, tuning);
        Clustered { cost, presenting_bytes, presenting_bytes_at_least }
    }
}

/// What a clustering will need, and the stages after it.
struct Clustered {
    cost: ClusterCost,
    /// What the stages after the clustering take at most for the likely size, labels included.
    presenting_bytes: u64,
    /// What they take at least.
    presenting_bytes_at_least: u64,
}

impl Clustered {
    /// The least limit for the likely number of nodes.
    fn least_limit(&self) -> u64 {
        let presenting = self.presenting_bytes.max(self.presenting_bytes_at_least);
        self.cost.nodes.least_limit().max(presenting)
    }

    /// The least limit that any graph which the sample leaves open takes.
    fn certain_bytes(&self) -> u64 {
        self.cost.nodes.certain_bytes().max(self.presenting_bytes_at_least)
    }
}

impl Plan {
    /// Plans a job whose files are moved with `tuning`, and which may cluster the graph.
    ///
    /// # Errors
    /// `Usage` for options that cannot be used; `MemoryTooSmall` if the limit is too small beyond doubt.
    pub fn new(
        input: InputSize,
        limits: Limits,
        tuning: &Tuning,
        clustering: Option<Clustering<'_>>,
    ) -> Result<Self> {
        limits.check()?;
        clustering.map_or(Ok(()), |clustering| clustering.options.check())?;
        let work = Work::of(&input, &limits, tuning);
        let clustered = clustering.map(|wanted| wanted.cost(&input, &work, &limits, tuning));
        Self::of(&work, input, limits, clustered.as_ref())
    }

    fn of(
        work: &Work<'_>,
        input: InputSize,
        limits: Limits,
        clustered: Option<&Clustered>,
    ) -> Result<Self> {
        limits.check_size(&input, clustered)?;
        let least = clustered.map(Clustered::least_limit);
        let mut stages = vec![work.read(), work.merge()];
        if let Some(Clustered { cost, .. }) = clustered {
            stages.extend([work.cluster(cost), work.write(cost)]);
        }
        let sum = |of: fn(&StagePlan) -> u64| stages.iter().map(of).fold(0, u64::saturating_add);
        let most = |of: fn(&StagePlan) -> u64| stages.iter().map(of).max().unwrap_or(0);
        let memory_bytes = most(|row| row.memory_bytes);
        let program_bytes = (PROGRAM_BYTES + memory_bytes / PROGRAM_SHARE).min(SLACK_BYTES);
        Ok(Self {
            input,
            limits,
            read_bytes: sum(|row| row.read_bytes).saturating_add(input.sample_bytes),
            write_bytes: sum(|row| row.write_bytes),
            peak_memory_bytes: memory_bytes + program_bytes,
            program_bytes,
            disk_bytes: most(|row| row.disk_bytes),
            disk_bytes_most: most(|row| row.disk_bytes).max(work.kept_bytes()),
            graph_bytes: work.graph_bytes(),
            run_count: work.sorting.run_count,
            seconds: stages.iter().map(|row| row.seconds).sum::<f64>() + input.sample_seconds(),
            memory_bytes_min: limits
                .memory_bytes_for(input.node_count, input.has_self_scores)
                .max(least.unwrap_or(0)),
            cluster_memory_bytes_min: least,
            stages,
        })
    }

    /// Refuses a job whose files do not fit in `free_bytes`.
    ///
    /// # Errors
    /// `DiskTooSmall`.
    pub fn check_disk(&self, free_bytes: u64, directory: &std::path::Path) -> Result<()> {
        if self.disk_bytes <= free_bytes {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::DiskTooSmall,
            format!(
                "the job needs about {} in `{}`, but {} are free",
                format_bytes(self.disk_bytes),
                directory.display(),
                format_bytes(free_bytes)
            ),
        )
        .hint(format_args!("use {WORK_DIR} on a larger disk; `outcore plan` shows each stage")))
    }
}
