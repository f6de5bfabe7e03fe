//! When to move to a cluster: what is foretold for one machine, beside a model of `outcore.spark`.
//!
//! The model; its figures were measured on two cores of a virtual machine (`evals/spark`), and are rough:
//!
//! - *start*: 20 s whatever the size;
//! - *prepare*: 8 microseconds of a core for each row: numbering, joining, sorting, packing;
//! - *a round*: 0.3 s, and 0.1 s for each wave of tasks (parts divided by cores);
//! - *a sweep*: four rounds, and 100 nanoseconds of a core for each arc, all rounds together; what the engine
//!   does in other methods than label propagation is left out;
//! - *sweeps*: as often as the plan says that the graph is read;
//! - *close and write*: 2 microseconds of a core for each node.
//!
//! It takes networks and disks to keep up, and edges to be where the cluster reads them. A task needs 5 bytes for
//! each arc of its part, 8 for each node outside that it knows (as many as arcs at most), 12 for each of its nodes,
//! 0.31 for each node of the graph, and 300 MiB for Spark and Python.

use super::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::progress::Stage;
use crate::units::{MIB, format_bytes, format_seconds};

const START_SECONDS: f64 = 20.0;
const ROUND_SECONDS: f64 = 0.3;
const WAVE_SECONDS: f64 = 0.1;
const ROUNDS_A_SWEEP: f64 = 4.0;
const ROW_SECONDS: f64 = 8e-6;
const ARC_SECONDS: f64 = 100e-9;
const NODE_SECONDS: f64 = 2e-6;
/// Most nodes and arcs of a part, as `outcore.spark` divides a graph.
const PART_ARCS: u64 = 8 << 20;
/// Python and Spark in a task, beside the part.
const TASK_BYTES: u64 = 300 * MIB;
/// How much faster a cluster has to be to be worth its trouble.
const WORTH: f64 = 2.0;

/// What a cluster has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster {
    /// Workers.
    pub workers: u64,
    /// Cores of each.
    pub cores: u64,
    /// Memory of each.
    pub memory_bytes: u64,
}

/// What a plan says of this machine, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Here {
    /// Rows with an edge.
    pub edge_count: u64,
    /// Edges of the graph.
    pub distinct_edge_count: u64,
    /// Nodes.
    pub node_count: u64,
    /// How often the graph is read.
    pub pass_count: u64,
    /// Time.
    pub seconds: f64,
    /// The least limit of memory, and the limit.
    pub memory_bytes: [u64; 2],
    /// Room that the disk needs, and what is free, if that is known.
    pub disk_bytes: (u64, Option<u64>),
}

impl Here {
    /// What this plan says.
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

/// One machine beside a cluster.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SparkPlan {
    /// Time on this machine.
    pub local_seconds: f64,
    /// Time on the cluster.
    pub spark_seconds: f64,
    /// Parts of the graph there.
    pub part_count: u64,
    /// Memory of a task.
    pub task_bytes: u64,
    /// Memory of a worker with a task on each core.
    pub worker_bytes: u64,
    /// Whether to move there.
    pub moves: bool,
    /// Why, or why not.
    pub reasons: Vec<String>,
}

impl SparkPlan {
    /// Compares.
    ///
    /// # Errors
    /// `Usage` for a cluster without workers, cores or memory.
    pub fn new(here: &Here, cluster: &Cluster) -> Result<Self> {
        if cluster.workers.min(cluster.cores).min(cluster.memory_bytes) == 0 {
            let message = "a cluster has workers with cores and memory";
            return Err(Error::new(ErrorKind::Usage, message).hint("numbers are above 0"));
        }
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
        let worker_bytes = task_bytes.saturating_mul(cluster.cores);
        let mut reasons = reasons(here, spark_seconds);
        let fits = worker_bytes <= cluster.memory_bytes;
        let moves = fits && !reasons.is_empty();
        if !fits {
            let (needed, has) = (format_bytes(worker_bytes), format_bytes(cluster.memory_bytes));
            reasons = vec![format!("a worker has {has}, and its tasks need {needed}")];
        }
        let local_seconds = here.seconds;
        Ok(Self {
            local_seconds,
            spark_seconds,
            part_count,
            task_bytes,
            worker_bytes,
            moves,
            reasons,
        })
    }
}

/// Why to move.
fn reasons(here: &Here, spark_seconds: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    let [needed, limit] = here.memory_bytes;
    if needed > limit {
        let (needed, limit) = (format_bytes(needed), format_bytes(limit));
        reasons.push(format!("this job needs {needed} of memory here, and has {limit}"));
    }
    if let (needed, Some(free)) = here.disk_bytes
        && needed > free
    {
        let (needed, free) = (format_bytes(needed), format_bytes(free));
        reasons.push(format!("this job needs {needed} of disk here, and {free} are free"));
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
    fn what_one_machine_does_stays_there() {
        let cluster = Cluster { workers: 8, cores: 8, memory_bytes: 64 * GIB };
        let small = SparkPlan::new(&here(1_000_000), &cluster).unwrap();
        assert!(!small.moves && small.reasons.is_empty(), "{small:?}");
        let cramped = Here { memory_bytes: [8 * GIB, 4 * GIB], ..here(1_000_000) };
        let cramped = SparkPlan::new(&cramped, &cluster).unwrap();
        assert!(cramped.moves);
        assert_eq!(cramped.reasons, ["this job needs 8.00 GiB of memory here, and has 4.00 GiB"]);
        let full = Here { disk_bytes: (4 * GIB, Some(GIB)), ..here(1_000_000) };
        assert!(SparkPlan::new(&full, &cluster).unwrap().moves);
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
    fn numbers_of_any_size_are_an_answer_or_an_error() {
        let all = Cluster { workers: u64::MAX, cores: u64::MAX, memory_bytes: u64::MAX };
        let most = Here { distinct_edge_count: u64::MAX, node_count: u64::MAX, ..here(u64::MAX) };
        assert!(SparkPlan::new(&most, &all).is_ok());
        for none in [Cluster { workers: 0, ..all }, Cluster { cores: 0, ..all }] {
            assert_eq!(SparkPlan::new(&most, &none).unwrap_err().kind(), ErrorKind::Usage);
        }
    }
}
