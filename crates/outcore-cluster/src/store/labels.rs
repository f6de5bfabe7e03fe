//! Community of each node, in memory or, if memory is too small, in a file.

use outcore_io::error::Result;
use outcore_io::{Files, WordReader};
use std::path::PathBuf;

/// One number per node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Numbers in node order.
    Memory(Vec<u32>),
    /// File in the directory for temporary files, 4 bytes per node, in node order.
    Disk {
        /// Path of the file.
        path: PathBuf,
        /// Number of nodes.
        node_count: u64,
    },
}

impl Labels {
    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        match self {
            Self::Memory(labels) => labels.len() as u64,
            Self::Disk { node_count, .. } => *node_count,
        }
    }

    /// Returns all numbers if they are in memory.
    pub fn in_memory(&self) -> Option<&[u32]> {
        match self {
            Self::Memory(labels) => Some(labels),
            Self::Disk { .. } => None,
        }
    }

    /// Scans the numbers in node order.
    ///
    /// # Errors
    /// `Io` with the path of the file.
    pub fn scan(&self, files: &Files) -> Result<LabelScan<'_>> {
        Ok(LabelScan(match self {
            Self::Memory(labels) => LabelSource::Memory(labels.iter()),
            Self::Disk { path, node_count } => {
                let reader = WordReader::open(files, path, *node_count, u64::MAX)?;
                LabelSource::Disk { reader, left: *node_count }
            }
        }))
    }

    /// Reads all numbers into memory: 4 bytes per node.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    pub fn into_memory(self, files: &Files) -> Result<Vec<u32>> {
        let Self::Memory(labels) = self else {
            let mut labels = Vec::with_capacity(self.node_count() as usize);
            let mut scan = self.scan(files)?;
            while let Some(label) = scan.next()? {
                labels.push(label);
            }
            return Ok(labels);
        };
        Ok(labels)
    }
}

/// Scan of labels in node order.
pub struct LabelScan<'a>(LabelSource<'a>);

enum LabelSource<'a> {
    Memory(std::slice::Iter<'a, u32>),
    Disk { reader: WordReader, left: u64 },
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
            LabelSource::Disk { left: 0, .. } => Ok(None),
            LabelSource::Disk { reader, left } => {
                *left -= 1;
                reader.word().map(Some)
            }
        }
    }
}
