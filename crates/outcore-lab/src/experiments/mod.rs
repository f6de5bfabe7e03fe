//! The experiments, one per module: each passes its methods to [`crate::rounds`] and summarizes the result.

pub mod cached_share;
mod compare;
pub mod durable_append;
pub mod overlap;
pub mod positions;
pub mod queue_depth;
pub mod random_read;
pub mod random_update;
pub mod read_ahead;
pub mod sequential_read;
pub mod sequential_write;
pub mod sort;
pub mod transfer_size;
pub mod write_buffer;
mod written;

use crate::report::Experiment;
use crate::statistics::FAMILIES;
use crate::workplace::Workplace;
use outcore::Result;

/// Unit of transfers.
const MIB: usize = 1 << 20;

type Run = fn(&Workplace<'_>) -> Result<Experiment>;

/// Experiment that can be run by its name.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Function that runs it.
    pub run: Run,
}

const fn listed(name: &'static str, about: &'static str, run: Run) -> Listed {
    Listed { name, about, run }
}

/// All experiments, in the order in which `all` runs them. Each is also a subcommand.
pub const LIST: &[Listed] = &[
    listed("random-read", "Random reads of records, sorted and unsorted", random_read::run),
    listed("random-update", "Random updates of records, sorted and unsorted", random_update::run),
    listed("sequential-read", "Sequential reads: calls, streams, mappings, threads", |lab| {
        sequential_read::run(lab, sequential_read::SequentialReadParameters::of(lab.effort))
    }),
    listed("sequential-write", "Sequential writes until the data is durable", |lab| {
        sequential_write::run(lab, sequential_write::SequentialWriteParameters::of(lab.effort))
    }),
    listed("transfer-size", "Transfers of 8 B to 4 MiB through each interface", |lab| {
        transfer_size::run(lab, &transfer_size::TransferSizeParameters::of(lab.effort))
    }),
    listed(
        "write-buffer",
        "Writing a million formatted lines, by interface and buffer size",
        |lab| write_buffer::run(lab, write_buffer::WriteBufferParameters::of(lab.effort)),
    ),
    listed("sort", "Sorting edges by source: seeks, mappings, merges", |lab| {
        sort::run(lab, sort::SortParameters::of(lab.effort))
    }),
    listed("overlap", "Reading while computing: threads, POSIX and io_uring, mappings", |lab| {
        overlap::run(lab, overlap::OverlapParameters::of(lab.effort))
    }),
    listed("queue-depth", "Rate and latency by the number of reads at a time", |lab| {
        queue_depth::run(lab, &queue_depth::QueueDepthParameters::of(lab.effort))
    }),
    listed("read-ahead", "Reading ahead, and advice on it, by the order of reads", |lab| {
        read_ahead::run(lab, read_ahead::ReadAheadParameters::of(lab.effort))
    }),
    listed("cached-share", "Reads of a file of which a part is not in memory", |lab| {
        cached_share::run(lab, &cached_share::CachedShareParameters::of(lab.effort))
    }),
    listed("durable-append", "Appending records that survive a loss of power", |lab| {
        durable_append::run(lab, durable_append::DurableAppendParameters::of(lab.effort))
    }),
];

// Each experiment is a family of comparisons.
const _: () = assert!(LIST.len() == FAMILIES);
