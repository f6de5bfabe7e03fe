//! What a job of a size reads, writes, keeps and takes: the model behind [`Plan`].

use super::{
    ARC_BYTES, CLUSTER_BYTES_A_NODE, INDEX_BYTES_A_NODE, InputSize, Limits, NodeMemory,
    RUN_BUFFERS, RUN_BYTES, RUNS_OF_A_SIZE, SEGMENT_BYTES, SEGMENTS, SORT_BYTES_MIN, score_bytes,
};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Tuning;
use crate::progress::Stage;
use crate::units::{MIB, format_bytes};

/// One row of a plan.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct StagePlan {
    /// Which stage.
    pub stage: Stage,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Most memory.
    pub memory_bytes: u64,
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
    /// Most room taken on the disk: runs, then graph, and the names.
    pub disk_bytes: u64,
    /// Most room taken if the disk has as much: runs then stay until the graph is whole, so that a job that
    /// is stopped in between can go on from them.
    pub disk_bytes_most: u64,
    /// Room that stays taken when only the graph is kept.
    pub graph_bytes: u64,
    /// Runs written by the sort; 0 if it stays in memory.
    pub run_count: u64,
    /// The least limit that this job can be done in, by the likely size.
    pub memory_bytes_min: u64,
    /// What of it is for the clustering, if the job is one; the rest of the limit keeps its graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_memory_bytes_min: Option<u64>,
}

/// What names that have no room in memory cost on the disk; see `ids::spill`.
#[derive(Debug, Clone, Copy, Default)]
struct SpilledNames {
    read_bytes: f64,
    write_bytes: f64,
    disk_bytes: f64,
    nanoseconds: f64,
}

impl SpilledNames {
    /// Nodes are expected to be met as if edges were drawn at random.
    fn of(input: &InputSize, limits: &Limits) -> Self {
        let (nodes, ends) = (input.node_count as f64, 2.0 * input.edge_count as f64);
        let known = limits.names_in_memory(input.has_self_scores);
        if nodes <= known {
            return Self::default();
        }
        let before = (-(1.0 - known / nodes).ln() * nodes).min(ends);
        let after = ends - before;
        let unknown = after * (1.0 - known / nodes);
        let new = nodes - known;
        // Names of more than 15 bytes go with their text.
        let name = 16.0 + if input.name_bytes > 15.0 { 4.0 + input.name_bytes } else { 0.0 };
        let (refs, weights) = (4.0 * after, 2.0 * after);
        let written_once = refs + weights + unknown * (name + 4.0 + 4.0) + new * (name + 4.0);
        Self {
            read_bytes: written_once + refs + unknown * 4.0,
            write_bytes: written_once,
            disk_bytes: refs + weights + unknown * (name + 4.0),
            nanoseconds: after * 15.0 + unknown * 60.0 + new * 60.0,
        }
    }
}

impl Plan {
    /// Plans a job whose files are moved with `tuning`, and which may cluster the graph.
    ///
    /// # Errors
    /// `MemoryTooSmall` if the limit is too small beyond doubt.
    pub fn new(
        input: InputSize,
        limits: Limits,
        tuning: &Tuning,
        clustering: Option<NodeMemory>,
    ) -> Result<Self> {
        limits.check()?;
        limits.check_size(&input, clustering)?;
        let scores = input.has_self_scores;
        let threads = limits.threads as f64;
        let arcs = 2 * input.edge_count;
        let node_bits = f64::from(64 - input.node_count.leading_zeros());
        let weight_bytes = if input.is_weighted { 1.5 } else { 0.0 };
        // Source and weight in a few bits, the target in full; then gaps instead of targets.
        let run_bytes = (arcs as f64 * (0.5 + node_bits / 8.0 + weight_bytes)) as u64;
        let degree = arcs as f64 / input.node_count.max(1) as f64;
        let gap_bits = (node_bits - degree.max(1.0).log2() + 2.0).max(1.0);
        let arcs_bytes =
            (arcs as f64 * (0.2 + gap_bits / 8.0 + weight_bytes)) as u64 + 3 * input.node_count;
        let names_bytes = (input.node_count as f64 * (input.name_bytes + 1.1)) as u64;
        let spilled = SpilledNames::of(&input, &limits);
        let known = (input.node_count as f64).min(limits.names_in_memory(scores));
        let index = (known * INDEX_BYTES_A_NODE) as u64 + score_bytes(input.node_count, scores);
        let sort = limits.sort_bytes(index).unwrap_or(SORT_BYTES_MIN);
        let run_count = run_count(arcs * ARC_BYTES, sort.saturating_sub(12 * MIB) / RUN_BUFFERS);
        let spills = run_count > 0;
        let run_bytes = if spills { run_bytes } else { 0 };
        let sweeps = 5.0;
        let node_bytes = clustering
            .map_or(input.node_count * CLUSTER_BYTES_A_NODE, |nodes| nodes.bytes_in_memory);
        let cluster_memory = limits.clustering_bytes(node_bytes) + arcs_bytes;
        let cluster_memory = limits.memory_bytes.min(cluster_memory);
        let cluster_least = limits.clustering_bytes(clustering.map_or(0, |nodes| nodes.bytes));
        let scans = if cluster_memory < limits.memory_bytes { 1.0 } else { sweeps + 2.0 };
        let stage = |stage, read_bytes, write_bytes, memory_bytes, nanoseconds: f64| {
            // Stages compute while they read and write: the slower of both decides.
            let disk_seconds = tuning.seconds(read_bytes, write_bytes);
            let seconds = (nanoseconds / threads * 1e-9).max(disk_seconds.unwrap_or(0.0));
            StagePlan { stage, read_bytes, write_bytes, memory_bytes, seconds }
        };
        let edges = input.edge_count as f64;
        let read_memory =
            (limits.batch_memory_bytes() + index + RUN_BUFFERS * (ARC_BYTES * arcs).min(RUN_BYTES))
                .min(limits.memory_bytes);
        let stages = vec![
            stage(
                Stage::Read,
                input.file_bytes + spilled.read_bytes as u64,
                run_bytes + names_bytes + spilled.write_bytes as u64,
                read_memory,
                edges * 110.0 + spilled.nanoseconds,
            ),
            stage(Stage::Merge, run_bytes, arcs_bytes, limits.memory_bytes, edges * 80.0),
            stage(
                Stage::Cluster,
                (arcs_bytes as f64 * scans) as u64,
                0,
                cluster_memory,
                edges * 2.0 * sweeps * 28.0,
            ),
            stage(
                Stage::Write,
                names_bytes,
                names_bytes + 7 * input.node_count,
                8 * MIB + 4 * input.node_count,
                input.node_count as f64 * 40.0,
            ),
        ];
        let reading = run_bytes + spilled.disk_bytes as u64;
        Ok(Self {
            input,
            limits,
            stages,
            disk_bytes: names_bytes
                + merge_disk_bytes(run_bytes, run_count, arcs_bytes).max(reading),
            disk_bytes_most: names_bytes + (run_bytes + arcs_bytes).max(reading),
            graph_bytes: arcs_bytes + names_bytes,
            run_count,
            memory_bytes_min: limits
                .memory_bytes_for(input.node_count, scores)
                .max(clustering.map_or(0, |_| cluster_least)),
            cluster_memory_bytes_min: clustering.map(|_| cluster_least),
        })
    }

    /// The time of all stages.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
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
        .hint("use `--work-dir` on a larger disk; `outcore plan` shows each stage"))
    }
}

/// Most room that runs and graph take while one is merged into the other: a segment of a run is
/// deleted only when all of it has been merged.
fn merge_disk_bytes(run_bytes: u64, run_count: u64, arcs_bytes: u64) -> u64 {
    let behind = (run_count * SEGMENT_BYTES).max(run_bytes / SEGMENTS).min(run_bytes);
    let share = behind as f64 / run_bytes.max(1) as f64;
    (run_bytes + (share * arcs_bytes as f64) as u64).max(arcs_bytes + behind)
}

/// Runs of a sort of `bytes`, of which a run may take `most_bytes`; 0 if one run is all.
fn run_count(bytes: u64, most_bytes: u64) -> u64 {
    let most = most_bytes.max(MIB);
    let mut size = RUN_BYTES.min(most);
    if bytes <= size {
        return 0;
    }
    let (mut left, mut runs) = (bytes, 0);
    while size < most && left > RUNS_OF_A_SIZE * size {
        left -= RUNS_OF_A_SIZE * size;
        runs += RUNS_OF_A_SIZE;
        size = (2 * size).min(most);
    }
    runs + left.div_ceil(size)
}

#[cfg(test)]
mod tests {
    use super::super::MEMORY_MIN;
    use super::super::tests::input;
    use super::*;
    use crate::units::{GIB, size_to_type};

    /// A graph of any size is built in any memory; the less there is, the more goes over the disk.
    #[test]
    fn names_without_room_cost_disk_instead() {
        let mut before = 0;
        for memory_bytes in [64 * GIB, 4 * GIB, 512 * MIB, MEMORY_MIN] {
            let limits = Limits { memory_bytes, threads: 2 };
            let plan =
                Plan::new(input(200_000_000, 1_000_000_000), limits, &Tuning::default(), None);
            let read = plan.unwrap().stages[0];
            assert!(read.write_bytes > before, "{memory_bytes}");
            before = read.write_bytes;
        }
    }

    #[test]
    fn a_clustering_is_planned_and_refused_with_a_number_that_does() {
        let input = InputSize { node_count_at_least: 9_000_000, ..input(10_000_000, 50_000_000) };
        let limits = |memory_bytes| Limits { memory_bytes, threads: 2 };
        for bytes_a_node in [36, 500] {
            let of = |nodes: u64| nodes * bytes_a_node;
            let (bytes, bytes_at_least) = (of(input.node_count), of(input.node_count_at_least));
            let nodes = Some(NodeMemory { bytes, bytes_at_least, bytes_in_memory: bytes });
            let plan = |memory| Plan::new(input, limits(memory), &Tuning::default(), nodes);
            let wide = plan(64 * GIB).unwrap();
            let least = wide.memory_bytes_min;
            assert!(least >= wide.cluster_memory_bytes_min.unwrap() && least > bytes);
            assert_eq!(Some(least), wide.cluster_memory_bytes_min);
            assert!(wide.stages[2].memory_bytes > bytes);
            let error = plan(MEMORY_MIN).unwrap_err();
            let typed = format!("use `--memory {}` or more", size_to_type(least));
            assert_eq!(error.hint_text(), Some(&typed[..]), "{bytes_a_node}");
            plan(least.next_multiple_of(MIB)).unwrap();
        }
    }

    #[test]
    fn runs_double_after_every_so_many() {
        assert_eq!(run_count(RUN_BYTES, GIB), 0);
        assert_eq!(run_count(10 * RUN_BYTES, GIB), 10);
        assert_eq!(run_count(80 * RUN_BYTES, GIB), 72);
        assert_eq!(run_count(100 * RUN_BYTES, RUN_BYTES / 2), 200);
    }

    #[test]
    fn the_largest_graphs_fit_in_what_the_plan_says() {
        let limits = Limits { memory_bytes: 64 * GIB, threads: 8 };
        let input = input(2_000_000_000, 20_000_000_000);
        let plan = Plan::new(input, limits, &Tuning::default(), None).unwrap();
        assert!(plan.disk_bytes < 16 * 20_000_000_000);
        assert!(plan.run_count < 1000);
    }

    #[test]
    fn a_slow_disk_decides_about_the_time() {
        let limits = Limits { memory_bytes: GIB, threads: 8 };
        let input = input(1_000_000, 100_000_000);
        let mut tuning = Tuning::default();
        tuning.read.bytes_per_second = Some(1e8);
        tuning.write.bytes_per_second = Some(5e7);
        let plan = Plan::new(input, limits, &tuning, None).unwrap();
        let read = plan.stages[0];
        assert_eq!(read.seconds, read.read_bytes as f64 / 1e8 + read.write_bytes as f64 / 5e7);
        let unknown = Plan::new(input, limits, &Tuning::default(), None).unwrap();
        assert!(unknown.stages[0].seconds < read.seconds);
    }
}
