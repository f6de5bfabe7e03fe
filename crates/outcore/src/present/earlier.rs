//! Earlier result, stored on disk while the new one is computed.
//!
//! ```text
//!  labels    u32 per node: a label, or none
//!  numbers   u64 per label
//! ```
//! Both files are little-endian, temporary, and read once, sequentially.

use crate::error::Result;
use crate::io::{BUFFERS, Files, Mode, Writer};
use crate::membership::Membership;
use std::path::{Path, PathBuf};

/// Bytes read or written at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// Earlier result: numbers of the communities of nodes.
pub struct Earlier {
    files: Files,
    directory: PathBuf,
    node_count: u64,
    community_count: u64,
    largest_number: Option<u64>,
}

impl Earlier {
    /// Stores an earlier result and its numbers on disk.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn set_aside(files: &Files, directory: &Path, earlier: &Membership) -> Result<Self> {
        files.create_directory(directory)?;
        let labels = earlier.labels.iter().map(|label| label.to_le_bytes());
        write(files, &directory.join("labels"), labels)?;
        let numbers = earlier.numbers.iter().map(|number| number.to_le_bytes());
        write(files, &directory.join("numbers"), numbers)?;
        Ok(Self {
            files: files.clone(),
            directory: directory.to_path_buf(),
            node_count: earlier.labels.len() as u64,
            community_count: earlier.community_count,
            largest_number: earlier.largest_number,
        })
    }

    /// Returns the number of communities with a node in the graph.
    pub fn community_count(&self) -> u64 {
        self.community_count
    }

    /// Returns the largest number of any community.
    pub fn largest_number(&self) -> Option<u64> {
        self.largest_number
    }

    /// Reads the number of each label.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers = Vec::with_capacity(self.community_count as usize);
        let path = self.directory.join("numbers");
        read(&self.files, &path, self.community_count, |bytes| {
            numbers.push(u64::from_le_bytes(bytes));
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Calls `visit` with the label of each node, in node order.
    pub(super) fn for_each_label(&self, mut visit: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let path = self.directory.join("labels");
        read(&self.files, &path, self.node_count, |bytes| visit(u32::from_le_bytes(bytes)))
    }
}

fn write<const N: usize>(
    files: &Files,
    path: &Path,
    values: impl Iterator<Item = [u8; N]>,
) -> Result<()> {
    let mut writer = Writer::create_scratch(files, path, BLOCK_BYTES, BUFFERS)?;
    for value in values {
        writer.write(&value)?;
    }
    writer.finish()?;
    Ok(())
}

fn read<const N: usize>(
    files: &Files,
    path: &Path,
    count: u64,
    mut visit: impl FnMut([u8; N]) -> Result<()>,
) -> Result<()> {
    let file = files.open(path, Mode::Read)?;
    let mut block = vec![0; BLOCK_BYTES];
    let (mut at, end) = (0, count * N as u64);
    while at < end {
        let bytes = (end - at).min(BLOCK_BYTES as u64) as usize;
        file.read_exact_at(at, &mut block[..bytes])?;
        block[..bytes].as_chunks::<N>().0.iter().try_for_each(|value| visit(*value))?;
        at += bytes as u64;
    }
    Ok(())
}
