//! The settings of transfers, and how many buffers of a limit writers may take.

use super::ALIGNMENT;
use crate::budget::Limits;
use crate::units::MIB;
use serde::{Deserialize, Serialize};

/// Buffers of the writer of runs, where the disk takes one request at a time.
const RUN_WRITE_BUFFERS: usize = 4;
/// Memory of a writer's buffers that costs count in; larger ones come out of the sort's.
pub(crate) const WRITER_BYTES: u64 = 6 * MIB;
/// A writer's buffers take this share of the memory at most, if that is more.
const WRITER_SHARE: u64 = 64;

/// How bytes are moved one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes of one request.
    pub block_bytes: usize,
    /// Requests on their way at the same time.
    pub depth: usize,
    /// Past the page cache, where the file system can.
    pub direct: bool,
    /// The rate with these settings, if it has been measured.
    pub bytes_per_second: Option<f64>,
}

impl Transfer {
    /// Buffers of the writer of runs, beside the one that is filled.
    pub fn buffers(&self) -> usize {
        // Large blocks need fewer buffers to keep the disk busy.
        let few = (WRITER_BYTES as usize / self.block_bytes).saturating_sub(1);
        few.clamp(1, RUN_WRITE_BUFFERS).max(self.depth)
    }

    /// Memory of a writer's buffers.
    fn writer_bytes(&self) -> u64 {
        (self.buffers() as u64 + 1) * self.block_bytes as u64
    }

    /// What a writer's buffers take beyond what costs count in for them.
    pub(crate) fn excess_bytes(&self) -> u64 {
        self.writer_bytes().saturating_sub(WRITER_BYTES)
    }
}

/// How the engine moves bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Reading ahead, and runs.
    pub read: Transfer,
    /// Writing runs and graphs.
    pub write: Transfer,
    /// What a merge reads of a run at once, at least.
    pub merge_read_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        let transfer =
            |block_bytes| Transfer { block_bytes, depth: 1, direct: true, bytes_per_second: None };
        Self {
            read: transfer(Self::READ_BYTES),
            write: transfer(Self::WRITE_BYTES),
            merge_read_bytes: Self::READ_BYTES,
        }
    }
}

impl Tuning {
    /// What is read at once where nothing is known of the disk.
    pub const READ_BYTES: usize = 512 << 10;
    /// What is written at once where nothing is known of the disk.
    pub const WRITE_BYTES: usize = 2 << 20;

    /// The same with every size and depth in the range that files and memory can do with.
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
        }
    }

    /// Seconds that the disk takes for so many bytes, if both rates are known.
    pub fn seconds(&self, read_bytes: u64, write_bytes: u64) -> Option<f64> {
        let (read, write) = (self.read.bytes_per_second?, self.write.bytes_per_second?);
        Some(read_bytes as f64 / read + write_bytes as f64 / write)
    }
}

fn block(bytes: usize) -> usize {
    bytes.clamp(4 << 10, 64 << 20).next_multiple_of(ALIGNMENT)
}

impl Limits {
    /// The settings of transfers that these limits allow: buffers of a writer are cut to what is
    /// counted for them, or a small share of the memory, first in number, then in size.
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
        // Reads ahead are of blocks of the graph, whose number does not depend on these.
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
    fn odd_numbers_become_possible_ones() {
        let mut tuning = Tuning::default();
        tuning.read.block_bytes = 1;
        tuning.write.depth = 0;
        tuning.merge_read_bytes = usize::MAX;
        let sane = tuning.sane();
        assert_eq!((sane.read.block_bytes, sane.write.depth), (4096, 1));
        assert_eq!(sane.merge_read_bytes, 64 << 20);
    }
}
