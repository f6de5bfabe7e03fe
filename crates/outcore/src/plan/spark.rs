//! Advice on when to move to a Spark cluster: compares the plan for one machine with a model of `outcore.spark`.
//!
//! Up to 100 million rows go to the engine in one task: 10 s, 2 core microseconds per row, and the time of the engine here;
//! the task needs the memory of the engine, and 150 MiB. The model of a divided graph, with rough figures measured on two
//! cores of a virtual machine (`evals/spark`):
//!
//! - *start*: 20 s, independent of size;
//! - *prepare*: 8 core microseconds per row for numbering, joining, sorting and packing;
//! - *round*: 0.4 s, and 0.1 s per wave of tasks (parts divided by cores);
//! - *sweep*: four rounds, and 100 core nanoseconds per arc for all rounds together; further work of the engine
//!   in methods other than label propagation is ignored;
//! - *number of sweeps*: the number of passes over the graph in the plan;
//! - *close and write*: 2 core microseconds per node.
//!
//! The model assumes that networks and disks keep up, and that the edges are where the cluster can read them. A task
//! needs 5 bytes per arc of its part, 8 per adjacent node outside the part (at most one per arc), 12 per node of the
//! part, 0.31 per node of the graph, and 300 MiB for Spark and Python.

use super::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::progress::Stage;
use crate::units::{MIB, format_bytes, format_seconds};

/// Largest number of rows that one task takes by default.
const TASK_ROWS: u64 = 100_000_000;
const TASK_START_SECONDS: f64 = 10.0;
const TASK_ROW_SECONDS: f64 = 2e-6;
/// Memory of Python in the task of the engine.
const ENGINE_TASK_BYTES: u64 = 150 * MIB;
const START_SECONDS: f64 = 20.0;
const ROUND_SECONDS: f64 = 0.4;
const WAVE_SECONDS: f64 = 0.1;
const ROUNDS_A_SWEEP: f64 = 4.0;
const ROW_SECONDS: f64 = 8e-6;
const ARC_SECONDS: f64 = 100e-9;
const NODE_SECONDS: f64 = 2e-6;
/// Maximum nodes and arcs of a part, as `outcore.spark` divides a graph.
const PART_ARCS: u64 = 8 << 20;
/// Memory of Python and Spark in a task, in addition to the part.
const TASK_BYTES: u64 = 300 * MIB;
/// Speedup from which a cluster is worth its trouble.
const WORTH: f64 = 2.0;

/// Resources of a Spark cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster {
    /// Number of workers.
    pub workers: u64,
    /// Cores per worker.
    pub cores: u64,
    /// Memory per worker.
    pub memory_bytes: u64,
}

/// Plan for this machine, as far as the comparison needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Here {
    /// Number of rows with an edge.
    pub edge_count: u64,
    /// Number of edges of the graph.
    pub distinct_edge_count: u64,
    /// Number of nodes.
    pub node_count: u64,
    /// Number of passes over the graph.
    pub pass_count: u64,
    /// Time in seconds.
    pub seconds: f64,
    /// Minimum memory limit, and the limit given.
    pub memory_bytes: [u64; 2],
    /// Disk space needed, and free disk space if known.
    pub disk_bytes: (u64, Option<u64>),
}

impl Here {
    /// Extracts the figures of a plan.
    pub fn of(plan: &Plan, free_disk: Option<u64>) -> Self {
        let clustering = plan.stages.iter().find(|stage| stage.stage == Stage::Cluster);
        Self {
            edge_count: plan.input.edge_count,
            distinct_edge_count: plan.input.distinct_edge_count,
            node_count: plan.input.node_count,
            pass_count: clustering.map_or(1, |stage| stage.pass_count),
            seconds: plan.seconds,
            memory_bytes: [plan.memory_bytes_min, plan.limits.memory_bytes],
            disk_bytes: (plan.disk_bytes, free_disk),
        }
    }
}

/// Comparison of one machine with a Spark cluster.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SparkPlan {
    /// Time in seconds on this machine.
    pub local_seconds: f64,
    /// Time in seconds on the cluster.
    pub spark_seconds: f64,
    /// Number of parts of the graph on the cluster.
    pub part_count: u64,
    /// Memory of a task.
    pub task_bytes: u64,
    /// Memory of a worker that runs one task per core.
    pub worker_bytes: u64,
    /// Whether to move to the cluster.
    pub moves: bool,
    /// Reasons for or against moving.
    pub reasons: Vec<String>,
}

impl SparkPlan {
    /// Compares the plan for this machine with the model of the cluster.
    ///
    /// # Errors
    /// `Usage` for a cluster without workers, cores or memory.
    pub fn new(here: &Here, cluster: &Cluster) -> Result<Self> {
        if cluster.workers.min(cluster.cores).min(cluster.memory_bytes) == 0 {
            let message = "a cluster needs workers with cores and memory";
            return Err(Error::new(ErrorKind::Usage, message).hint("use numbers above 0"));
        }
        let found = match here.edge_count <= TASK_ROWS {
            true => Self::one_task(here),
            false => Self::divided(here, cluster),
        };
        Ok(found.advised(here, cluster))
    }

    /// Models the engine in one task.
    fn one_task(here: &Here) -> Self {
        let rows = here.edge_count as f64 * TASK_ROW_SECONDS;
        let task_bytes = here.memory_bytes[0].saturating_add(ENGINE_TASK_BYTES);
        Self {
            local_seconds: here.seconds,
            spark_seconds: TASK_START_SECONDS + rows + here.seconds,
            part_count: 1,
            task_bytes,
            worker_bytes: task_bytes,
            moves: false,
            reasons: Vec::new(),
        }
    }

    /// Models a graph in parts.
    fn divided(here: &Here, cluster: &Cluster) -> Self {
        let cores = cluster.workers.saturating_mul(cluster.cores);
        let edges = match here.distinct_edge_count {
            0 => here.edge_count,
            edges => edges,
        };
        let (arcs, nodes) = (edges.saturating_mul(2), here.node_count);
        let part_count = cores.max(arcs.saturating_add(nodes).div_ceil(PART_ARCS)).max(1);
        let round = ROUND_SECONDS + WAVE_SECONDS * part_count.div_ceil(cores) as f64;
        let of_core = |seconds: f64| seconds / cores as f64;
        let sweep = ROUNDS_A_SWEEP * round + of_core(arcs as f64 * ARC_SECONDS);
        let rows = here.edge_count as f64 * ROW_SECONDS + nodes as f64 * NODE_SECONDS;
        let spark_seconds = START_SECONDS + of_core(rows) + here.pass_count.max(1) as f64 * sweep;
        let of_part = (13 * u128::from(arcs) + 12 * u128::from(nodes)) / u128::from(part_count);
        let of_graph = 31 * u128::from(nodes) / 100;
        let task_bytes = TASK_BYTES.saturating_add((of_part + of_graph) as u64);
        Self {
            local_seconds: here.seconds,
            spark_seconds,
            part_count,
            task_bytes,
            worker_bytes: task_bytes.saturating_mul(cluster.cores),
            moves: false,
            reasons: Vec::new(),
        }
    }

    /// Adds whether to move, and why.
    fn advised(mut self, here: &Here, cluster: &Cluster) -> Self {
        self.reasons = reasons(here, self.spark_seconds);
        let fits = self.worker_bytes <= cluster.memory_bytes;
        self.moves = fits && !self.reasons.is_empty();
        if !fits {
            let (needed, has) =
                (format_bytes(self.worker_bytes), format_bytes(cluster.memory_bytes));
            self.reasons = vec![format!("a worker has {has}, but its tasks need {needed}")];
        }
        self
    }
}

fn reasons(here: &Here, spark_seconds: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    let [needed, limit] = here.memory_bytes;
    if needed > limit {
        let (needed, limit) = (format_bytes(needed), format_bytes(limit));
        reasons.push(format!("this job needs {needed} of memory here, but has {limit}"));
    }
    if let (needed, Some(free)) = here.disk_bytes
        && needed > free
    {
        let (needed, free) = (format_bytes(needed), format_bytes(free));
        reasons.push(format!("this job needs {needed} of disk here, but {free} are free"));
    }
    if here.seconds > WORTH * spark_seconds {
        let (there, here) = (format_seconds(spark_seconds), format_seconds(here.seconds));
        reasons.push(format!("the cluster takes about {there} instead of {here}"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn here(edge_count: u64) -> Here {
        Here {
            edge_count,
            distinct_edge_count: edge_count,
            node_count: edge_count / 10,
            pass_count: 10,
            seconds: edge_count as f64 * 1e-6,
            memory_bytes: [GIB, 4 * GIB],
            disk_bytes: (GIB, Some(2 * GIB)),
        }
    }

    #[test]
    fn jobs_that_fit_on_one_machine_stay_there() {
        let cluster = Cluster { workers: 8, cores: 8, memory_bytes: 64 * GIB };
        let small = SparkPlan::new(&here(1_000_000), &cluster).unwrap();
        assert!(!small.moves && small.reasons.is_empty(), "{small:?}");
        let cramped = Here { memory_bytes: [8 * GIB, 4 * GIB], ..here(1_000_000) };
        let cramped = SparkPlan::new(&cramped, &cluster).unwrap();
        assert!(cramped.moves);
        assert_eq!(cramped.reasons, ["this job needs 8.00 GiB of memory here, but has 4.00 GiB"]);
        let full = Here { disk_bytes: (4 * GIB, Some(GIB)), ..here(1_000_000) };
        assert!(SparkPlan::new(&full, &cluster).unwrap().moves);
    }

    #[test]
    fn one_task_takes_what_the_engine_takes_here() {
        let cluster = Cluster { workers: 8, cores: 8, memory_bytes: 64 * GIB };
        let most = SparkPlan::new(&here(TASK_ROWS), &cluster).unwrap();
        assert_eq!((most.part_count, most.task_bytes), (1, GIB + ENGINE_TASK_BYTES));
        assert!(most.spark_seconds > most.local_seconds);
        assert!(SparkPlan::new(&here(TASK_ROWS + 1), &cluster).unwrap().part_count > 1);
    }

    #[test]
    fn large_graphs_move_if_workers_can_hold_them() {
        let large = Here { seconds: 36_000.0, ..here(20_000_000_000) };
        let cluster = Cluster { workers: 50, cores: 16, memory_bytes: 128 * GIB };
        let plan = SparkPlan::new(&large, &cluster).unwrap();
        assert!(plan.moves && plan.spark_seconds < 36_000.0, "{plan:?}");
        let poor = Cluster { memory_bytes: GIB, ..cluster };
        let poor = SparkPlan::new(&large, &poor).unwrap();
        assert!(!poor.moves && poor.reasons[0].starts_with("a worker has 1.00 GiB"), "{poor:?}");
        let more = Cluster { workers: 500, ..cluster };
        assert!(SparkPlan::new(&large, &more).unwrap().spark_seconds < plan.spark_seconds);
    }

    #[test]
    fn numbers_of_any_size_give_an_answer_or_an_error() {
        let all = Cluster { workers: u64::MAX, cores: u64::MAX, memory_bytes: u64::MAX };
        let most = Here { distinct_edge_count: u64::MAX, node_count: u64::MAX, ..here(u64::MAX) };
        assert!(SparkPlan::new(&most, &all).is_ok());
        for none in [Cluster { workers: 0, ..all }, Cluster { cores: 0, ..all }] {
            assert_eq!(SparkPlan::new(&most, &none).unwrap_err().kind(), ErrorKind::Usage);
        }
    }
}
