//! The experiments, one a module: each gives its methods to [`crate::rounds`] and says what came out.

mod compare;
pub mod positions;
pub mod random_read;
pub mod random_update;
pub mod sequential_read;
pub mod sequential_write;
pub mod sort;
pub mod transfer_size;
pub mod write_buffer;
mod written;

use crate::report::Experiment;
use crate::workplace::Workplace;
use outcore::Result;

/// The unit of transfers.
const MIB: usize = 1 << 20;

type Run = fn(&Workplace<'_>) -> Result<Experiment>;

/// An experiment that can be run by its name.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// As on the command line and in reports.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Runs it.
    pub run: Run,
}

const fn listed(name: &'static str, about: &'static str, run: Run) -> Listed {
    Listed { name, about, run }
}

/// All experiments, in the order in which `all` runs them. A line here is a subcommand as well.
pub const LIST: &[Listed] = &[
    listed("random-read", "Reads of single records, sorted or not, in many ways", random_read::run),
    listed("random-update", "Updates of single records, sorted or not", random_update::run),
    listed("sequential-read", "Reads from front to back: calls, streams, maps, threads", |lab| {
        sequential_read::run(lab, sequential_read::SequentialReadParameters::of(lab.effort))
    }),
    listed("sequential-write", "Writes from front to back, until they are durable", |lab| {
        sequential_write::run(lab, sequential_write::SequentialWriteParameters::of(lab.effort))
    }),
    listed("transfer-size", "Transfers of 8 B to 4 MiB through each interface", |lab| {
        transfer_size::run(lab, &transfer_size::TransferSizeParameters::of(lab.effort))
    }),
    listed(
        "write-buffer",
        "A million formatted lines, by interface and size of the buffer",
        |lab| write_buffer::run(lab, write_buffer::WriteBufferParameters::of(lab.effort)),
    ),
    listed("sort", "Edges into the order of their sources: seeks, maps, merges", |lab| {
        sort::run(lab, sort::SortParameters::of(lab.effort))
    }),
];
