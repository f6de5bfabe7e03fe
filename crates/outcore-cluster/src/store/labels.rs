//! Community of each node, in memory or, if memory is too small, in a file.

use outcore_io::error::Result;
use outcore_io::{Array, ArrayReader, Files};
use std::path::Path;

/// One number per node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Numbers in node order.
    Memory(Vec<u32>),
    /// Numbers in node order, in the directory for temporary files.
    Disk(Array<u32>),
}

impl Labels {
    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        match self {
            Self::Memory(labels) => labels.len() as u64,
            Self::Disk(labels) => labels.count,
        }
    }

    /// Returns all numbers if they are in memory.
    pub fn in_memory(&self) -> Option<&[u32]> {
        match self {
            Self::Memory(labels) => Some(labels),
            Self::Disk(_) => None,
        }
    }

    /// Scans the numbers in node order.
    ///
    /// # Errors
    /// `Io` with the path of the file.
    pub fn scan(&self, files: &Files) -> Result<LabelScan<'_>> {
        Ok(LabelScan(match self {
            Self::Memory(labels) => LabelSource::Memory(labels.iter()),
            Self::Disk(labels) => LabelSource::Disk(labels.read(files, u64::MAX)?),
        }))
    }

    /// Moves the numbers to the file `path`.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `CorruptFile` with the path of the file.
    pub fn into_disk(self, files: &Files, path: &Path) -> Result<Self> {
        let array = match self {
            Self::Memory(labels) => Array::write(files, path, labels.into_iter())?,
            Self::Disk(labels) => {
                let moved = labels.copy_to(files, path)?;
                files.discard(&labels.path);
                moved
            }
        };
        Ok(Self::Disk(array))
    }

    /// Reads all numbers into memory: 4 bytes per node.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    pub fn into_memory(self, files: &Files) -> Result<Vec<u32>> {
        match self {
            Self::Memory(labels) => Ok(labels),
            Self::Disk(labels) => labels.read_all(files),
        }
    }
}

/// Scan of labels in node order.
pub struct LabelScan<'a>(LabelSource<'a>);

enum LabelSource<'a> {
    Memory(std::slice::Iter<'a, u32>),
    Disk(ArrayReader<u32>),
}

impl LabelScan<'_> {
    /// Returns the next label, or `None` at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<u32>> {
        match &mut self.0 {
            LabelSource::Memory(labels) => Ok(labels.next().copied()),
            LabelSource::Disk(labels) => labels.next_number(),
        }
    }
}
