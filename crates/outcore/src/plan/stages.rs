//! Rows of a plan, each combined from the costs of its stage's parts.
//!
//! Bytes follow from the formats of runs, graph and names. Times are for the machine that the constants were measured
//! on (two cores of a server) unless the profile has factors for this one, or for the disk if that is slower.
//! `evals/plan` compares predictions with measurements.

use super::StagePlan;
use super::limits::{score_bytes, score_bytes_a_node};
use crate::budget::Limits;
use crate::cluster::ClusterCost;
use crate::graph::{self, ARC_BYTES, GraphSize};
use crate::ids::NamesCost;
use crate::input::{self, AppendSize, InputSize};
use crate::io::{Tuning, WRITER_BYTES};
use crate::output::OutputCost;
use crate::progress::Stage;
use crate::sort::{Records, SORT_BYTES_MIN, Sorting, merge_disk_bytes};
use crate::units::KIB;

/// Bytes of manifests, headers, block indexes, and rounding by file systems.
const SMALL_FILES_BYTES: u64 = 64 * KIB;
/// Nanoseconds to start a stage, and to sync its files when it ends.
const STAGE: f64 = 3e6;

/// Sizes shared by the stages.
pub(super) struct Work<'a> {
    input: &'a InputSize,
    limits: &'a Limits,
    tuning: &'a Tuning,
    graph: GraphSize,
    names_bytes: u64,
    names: NamesCost,
    pub(super) sorting: Sorting,
    /// Bytes of all runs; 0 if there are none.
    run_bytes: u64,
    /// Memory of self scores.
    score_bytes: u64,
}

impl<'a> Work<'a> {
    pub(super) fn of(input: &'a InputSize, limits: &'a Limits, tuning: &'a Tuning) -> Self {
        let scores = input.has_self_scores;
        let score_bytes = score_bytes(input.node_count, scores);
        let names = NamesCost::of(input, input::read_bytes(limits), score_bytes_a_node(scores));
        let forming = |held_bytes: u64| {
            input::sort_bytes(limits, held_bytes + score_bytes).unwrap_or(SORT_BYTES_MIN)
        };
        let beside = score_bytes + input.append.map_or(0, |old| old.block_bytes);
        let merging = graph::merge_bytes_beside(limits, beside, tuning).unwrap_or(SORT_BYTES_MIN);
        let (count, batch) = (input.record_count(), input::batch_records(input, limits));
        let records = Records { count, bytes: ARC_BYTES, at_once: batch, kept: batch };
        let phases = names
            .phases
            .map(|(share, held_bytes)| ((count as f64 * share).ceil() as u64, forming(held_bytes)));
        let sorting = Sorting::of_phases(records, &phases, merging, limits.threads, tuning);
        let run_bytes = if sorting.run_count > 0 { input.run_bytes(sorting.run_count) } else { 0 };
        let (graph, names_bytes) = (GraphSize::of(input), input.names_bytes());
        Self { input, limits, tuning, graph, names_bytes, names, sorting, run_bytes, score_bytes }
    }

    /// Returns the size of the graph that edges are added to; all zeros if there is none.
    fn old(&self) -> AppendSize {
        self.input.append.unwrap_or_default()
    }

    pub(super) fn graph_bytes(&self) -> u64 {
        self.graph.bytes + self.names_bytes
    }

    /// Returns the disk space of the graph, all runs, and the runs written by merge passes.
    pub(super) fn kept_bytes(&self) -> u64 {
        let passes = if self.sorting.pass_count > 1 { 2 } else { 1 };
        self.graph_bytes() + passes * self.run_bytes + SMALL_FILES_BYTES
    }

    /// Returns `row` with its time, which is at least the time it has already, its memory capped at the limit, and its
    /// small files added.
    fn row(&self, row: StagePlan, nanoseconds: f64) -> StagePlan {
        // Stages compute while they read and write, so the slower of the two decides.
        let disk_seconds = self.tuning.seconds(row.read_bytes, row.write_bytes).unwrap_or(0.0);
        let factors = self.tuning.factors;
        let factor = match row.stage {
            Stage::Merge => factors.merge,
            Stage::Cluster => factors.cluster,
            _ => factors.read,
        };
        let seconds = factor * nanoseconds * 1e-9 / self.limits.threads.max(1) as f64;
        StagePlan {
            memory_bytes: row.memory_bytes.min(self.limits.memory_bytes),
            disk_bytes: row.disk_bytes + SMALL_FILES_BYTES,
            seconds: seconds.max(disk_seconds).max(row.seconds) + STAGE * 1e-9,
            ..row
        }
    }

    pub(super) fn read(&self) -> StagePlan {
        let (input, names) = (self.input, &self.names);
        let writer = WRITER_BYTES.min(self.names_bytes + 2 * self.run_bytes);
        let index = names.index_bytes + self.score_bytes;
        let mut memory = index + self.sorting.forming_bytes + writer;
        if names.spilled_bytes > 0 {
            memory = self.limits.memory_bytes;
        }
        let row = StagePlan {
            stage: Stage::Read,
            pass_count: 1,
            read_bytes: input.file_bytes + names.read_bytes as u64 + self.old().names_bytes,
            write_bytes: self.run_bytes + self.names_bytes + names.write_bytes as u64,
            memory_bytes: memory.saturating_add(input::batch_bytes(input, self.limits)),
            disk_bytes: self.names_bytes + self.run_bytes + names.disk_bytes as u64,
            seconds: input::decompress_seconds(input),
        };
        self.row(row, input::read_nanoseconds(input) + names.nanoseconds)
    }

    pub(super) fn merge(&self) -> StagePlan {
        let sorting = &self.sorting;
        let runs = self.run_bytes as f64;
        // Passes before the last write their output while their input still exists.
        let again = (runs * (sorting.written - 1.0).max(0.0)) as u64;
        let row = StagePlan {
            stage: Stage::Merge,
            pass_count: sorting.pass_count.max(1),
            read_bytes: (runs * sorting.read) as u64 + self.old().arc_bytes,
            write_bytes: self.graph.bytes + again,
            memory_bytes: sorting.merging_bytes
                + self.graph.writer_bytes()
                + self.score_bytes
                + self.old().block_bytes,
            disk_bytes: self.names_bytes
                + merge_disk_bytes(self.run_bytes, sorting.run_count, self.graph.bytes),
            seconds: 0.0,
        };
        self.row(row, self.input.merge_nanoseconds(sorting.written))
    }

    pub(super) fn cluster(&self, cost: &ClusterCost) -> StagePlan {
        let row = StagePlan {
            stage: Stage::Cluster,
            pass_count: cost.scan_count,
            read_bytes: cost.read_bytes,
            write_bytes: cost.write_bytes,
            memory_bytes: cost.memory_bytes,
            disk_bytes: self.graph_bytes() + cost.disk_bytes,
            seconds: 0.0,
        };
        self.row(row, cost.nanoseconds)
    }

    pub(super) fn write(&self, cost: &ClusterCost) -> StagePlan {
        let results = cost.result_count;
        let output = OutputCost::of(self.input, self.names_bytes, results, cost.has_levels);
        let row = StagePlan {
            stage: Stage::Write,
            pass_count: results,
            read_bytes: output.read_bytes,
            write_bytes: output.write_bytes,
            memory_bytes: output.memory_bytes,
            disk_bytes: self.graph_bytes() + output.disk_bytes,
            seconds: 0.0,
        };
        self.row(row, output.nanoseconds)
    }
}
