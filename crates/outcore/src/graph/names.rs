//! Names.
use crate::error::Result;
use crate::io::Files;
use std::path::Path;

/// What [`NamesWriter::finish`] wrote.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NamesSummary {
    /// Names.
    pub name_count: u64,
    /// Length of all names together.
    pub name_bytes: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// Writes the names of a graph's nodes.
pub struct NamesWriter(());

impl NamesWriter {
    /// Starts the names of the graph in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn create(files: &Files, directory: &Path) -> Result<Self> {
        let _ = (files, directory);
        todo!()
    }
    /// Appends the next node's name.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn push(&mut self, name: &[u8]) -> Result<()> {
        let _ = name;
        todo!()
    }
    /// Completes the file.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(self) -> Result<NamesSummary> {
        todo!()
    }
}

/// Names in index order, read ahead.
pub struct NameScan(());

impl NameScan {
    /// The next name, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn next_name(&mut self) -> Result<Option<&[u8]>> {
        todo!()
    }
}
