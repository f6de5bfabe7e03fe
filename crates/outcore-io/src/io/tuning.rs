//! Settings of transfers, the buffers that writers may use within the limits, and the speed of the machine for
//! predictions.

use super::ALIGNMENT;
use crate::budget::Limits;
use crate::units::MIB;
use serde::{Deserialize, Serialize};

/// Number of buffers of the run writer, where the disk takes one request at a time.
const RUN_WRITE_BUFFERS: usize = 4;
/// Memory that cost estimates reserve for a writer's buffers; anything beyond it is taken from the sort's memory.
pub const WRITER_BYTES: u64 = 6 * MIB;
/// A writer's buffers may take this fraction of the memory limit (1/64), if that is more than [`WRITER_BYTES`].
const WRITER_SHARE: u64 = 64;

/// Settings of transfers in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes per request.
    pub block_bytes: usize,
    /// Concurrent requests.
    pub depth: usize,
    /// Whether to bypass the page cache, where the file system supports it.
    pub direct: bool,
    /// Measured throughput with these settings, if there is a measurement.
    pub bytes_per_second: Option<f64>,
}

impl Transfer {
    /// Returns the number of buffers of the run writer, not counting the one being filled.
    pub fn buffers(&self) -> usize {
        // Large blocks need fewer buffers to keep the disk busy.
        let few = (WRITER_BYTES as usize / self.block_bytes).saturating_sub(1);
        few.clamp(1, RUN_WRITE_BUFFERS).max(self.depth)
    }

    /// Returns the memory of a writer's buffers.
    fn writer_bytes(&self) -> u64 {
        (self.buffers() as u64 + 1) * self.block_bytes as u64
    }

    /// Returns the memory of a writer's buffers beyond the [`WRITER_BYTES`] that cost estimates reserve.
    pub fn excess_bytes(&self) -> u64 {
        self.writer_bytes().saturating_sub(WRITER_BYTES)
    }
}

/// Transfer settings of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Reading ahead, and reading runs.
    pub read: Transfer,
    /// Writing runs and graphs.
    pub write: Transfer,
    /// Minimum bytes that a merge reads from a run per request.
    pub merge_read_bytes: usize,
    /// Time of a job on this machine, relative to the machine on which the table of predictions was measured.
    #[serde(default = "usual")]
    pub slowness: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::of(Self::READ_BYTES, Self::WRITE_BYTES)
    }
}

impl Tuning {
    /// Bytes per read request when nothing is known of the disk.
    pub const READ_BYTES: usize = 512 << 10;
    /// Bytes per write request when nothing is known of the disk.
    pub const WRITE_BYTES: usize = 2 << 20;
    /// Settings of small files in memory.
    pub(crate) const MEMORY: Self = Self::of(64 << 10, 64 << 10);

    /// Returns the settings for requests of these sizes, one at a time.
    const fn of(read_bytes: usize, write_bytes: usize) -> Self {
        const fn transfer(block_bytes: usize) -> Transfer {
            Transfer { block_bytes, depth: 1, direct: true, bytes_per_second: None }
        }
        let (read, write) = (transfer(read_bytes), transfer(write_bytes));
        Self { read, write, merge_read_bytes: read_bytes, slowness: 1.0 }
    }

    /// Returns these settings with every size and depth clamped to the range that files and memory support.
    #[must_use]
    pub(crate) fn sane(self) -> Self {
        let transfer = |transfer: Transfer| Transfer {
            block_bytes: block(transfer.block_bytes),
            depth: transfer.depth.clamp(1, 64),
            bytes_per_second: transfer.bytes_per_second.filter(|rate| *rate > 0.0),
            ..transfer
        };
        Self {
            read: transfer(self.read),
            write: transfer(self.write),
            merge_read_bytes: block(self.merge_read_bytes),
            slowness: if self.slowness.is_finite() {
                self.slowness.clamp(0.01, 100.0)
            } else {
                1.0
            },
        }
    }

    /// Returns the seconds that the disk needs for these transfers, if both rates are known.
    pub fn seconds(&self, read_bytes: u64, write_bytes: u64) -> Option<f64> {
        let (read, write) = (self.read.bytes_per_second?, self.write.bytes_per_second?);
        Some(read_bytes as f64 / read + write_bytes as f64 / write)
    }
}

fn usual() -> f64 {
    1.0
}

fn block(bytes: usize) -> usize {
    bytes.clamp(4 << 10, 64 << 20).next_multiple_of(ALIGNMENT)
}

impl Limits {
    /// Returns the transfer settings that these limits allow: a writer's buffers are reduced to the memory
    /// reserved for them, or to a small share of the limit, first in number, then in size.
    pub fn allowed(&self, tuning: Tuning) -> Tuning {
        let mut tuning = tuning.sane();
        let most = WRITER_BYTES.max(self.memory_bytes / WRITER_SHARE);
        let write = &mut tuning.write;
        while write.writer_bytes() > most && write.depth > 1 {
            write.depth -= 1;
        }
        while write.writer_bytes() > most {
            write.block_bytes /= 2;
        }
        // Blocks of the graph are read ahead, too; how many of them does not depend on these settings.
        tuning.read.depth = tuning.read.depth.min(4 * self.threads.max(2));
        tuning.sane()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::MEMORY_MIN;
    use crate::units::GIB;

    #[test]
    fn limits_hold_for_any_tuning() {
        for memory_bytes in [MEMORY_MIN, GIB, 64 * GIB] {
            let limits = Limits { memory_bytes, threads: 4 };
            for (block, depth) in [(4096, 64), (1 << 20, 1), (3 << 20, 7), (64 << 20, 64)] {
                let mut tuning = Tuning::default();
                tuning.write.block_bytes = block;
                tuning.write.depth = depth;
                let allowed = limits.allowed(tuning).write;
                assert!(allowed.writer_bytes() <= WRITER_BYTES.max(memory_bytes / WRITER_SHARE));
                assert!(allowed.writer_bytes() - allowed.excess_bytes() <= WRITER_BYTES);
            }
            assert_eq!(limits.allowed(Tuning::default()), Tuning::default());
        }
    }

    #[test]
    fn out_of_range_settings_are_clamped() {
        let mut tuning = Tuning::default();
        tuning.read.block_bytes = 1;
        tuning.write.depth = 0;
        tuning.merge_read_bytes = usize::MAX;
        tuning.slowness = 0.0;
        let sane = tuning.sane();
        assert_eq!((sane.read.block_bytes, sane.write.depth), (4096, 1));
        assert_eq!(sane.merge_read_bytes, 64 << 20);
        assert_eq!(sane.slowness, 0.01);
        assert_eq!(Tuning { slowness: f64::NAN, ..tuning }.sane().slowness, 1.0);
    }
}
