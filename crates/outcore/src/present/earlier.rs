//! Earlier result, stored on disk while the new one is computed.
//!
//! ```text
//!  labels    u32 per node: a label, or none
//!  numbers   u64 per label
//! ```
//! Both are temporary, and read once, front to back.

use crate::error::Result;
use crate::io::{Array, Files};
use crate::membership::Membership;
use std::path::Path;

/// Earlier result: numbers of the communities of nodes.
pub struct Earlier {
    files: Files,
    labels: Array<u32>,
    numbers: Array<u64>,
    largest_number: Option<u64>,
}

impl Earlier {
    /// Stores an earlier result and its numbers on disk.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn set_aside(files: &Files, directory: &Path, earlier: &Membership) -> Result<Self> {
        files.create_directory(directory)?;
        let labels = earlier.labels.iter().copied();
        let numbers = earlier.numbers.iter().copied();
        Ok(Self {
            files: files.clone(),
            labels: Array::write(files, &directory.join("labels"), labels)?,
            numbers: Array::write(files, &directory.join("numbers"), numbers)?,
            largest_number: earlier.largest_number,
        })
    }

    /// Returns the number of communities with a node in the graph.
    pub fn community_count(&self) -> u64 {
        self.numbers.count
    }

    /// Returns the largest number of any community.
    pub fn largest_number(&self) -> Option<u64> {
        self.largest_number
    }

    /// Reads the number of each label.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        self.numbers.read_all(&self.files)
    }

    /// Calls `visit` with the label of each node, in node order.
    pub(crate) fn for_each_label(&self, mut visit: impl FnMut(u32) -> Result<()>) -> Result<()> {
        self.labels
            .for_each_block(&self.files, |block| block.iter().try_for_each(|&label| visit(label)))
    }
}
