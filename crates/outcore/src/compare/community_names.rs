//! Names of communities that are text, in a temporary file: the row in which a community first occurs, and its name.
//!
//! ```text
//!  u64 row | u32 length | name        in the order of rows
//! ```
//! A name may occur more than once: only a small table of recent names is kept in memory, to leave out most repetitions.

use crate::error::Result;
use crate::input::Fingerprint;
use crate::io::{BufferedReader, Files, Mode, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a transfer.
const BLOCK_BYTES: usize = 128 << 10;
/// Bytes before a name.
const HEAD_BYTES: usize = 12;
/// Binary logarithm of the number of recent names.
const RECENT_BITS: u32 = 16;

/// Writer of the names of a file's communities.
pub(super) struct NameWriter {
    writer: Writer,
    recent: Vec<Fingerprint>,
}

impl NameWriter {
    pub(super) fn create(files: &Files, path: &Path) -> Result<Self> {
        let writer = Writer::create_scratch(files, path, BLOCK_BYTES, 2)?;
        Ok(Self { writer, recent: vec![Fingerprint::default(); 1 << RECENT_BITS] })
    }

    /// Adds the community of a row, unless it occurred recently.
    pub(super) fn add(&mut self, row: u64, community: Fingerprint, name: &[u8]) -> Result<()> {
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let hash = (community.low ^ community.high.rotate_left(32)).wrapping_mul(SPREAD);
        let recent = &mut self.recent[(hash >> (u64::BITS - RECENT_BITS)) as usize];
        if std::mem::replace(recent, community) == community {
            return Ok(());
        }
        self.writer.write(&row.to_le_bytes())?;
        self.writer.write(&(name.len() as u32).to_le_bytes())?;
        self.writer.write(name)
    }

    pub(super) fn finish(self) -> Result<Names> {
        let (path, bytes) = (self.writer.path().to_path_buf(), self.writer.position());
        self.writer.finish()?;
        Ok(Names::Text { path, bytes })
    }
}

/// Names of the communities of a file, by label.
#[derive(Debug, Clone)]
pub(super) enum Names {
    /// The labels themselves.
    Numbers,
    /// Texts, in a file.
    Text { path: PathBuf, bytes: u64 },
}

impl Names {
    /// Returns the names of a few labels.
    pub(super) fn of(&self, files: &Files, labels: &[u64]) -> Result<BTreeMap<u64, Vec<u8>>> {
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let mut names = self.read(files)?;
        let name = |label| Ok((label, names.name(label)?.to_vec()));
        labels.into_iter().map(name).collect()
    }

    /// Returns a reader of names in ascending order of labels.
    pub(super) fn read(&self, files: &Files) -> Result<NameReader> {
        let reader = match self {
            Self::Numbers => None,
            Self::Text { path, bytes } => {
                Some(BufferedReader::new(files.open(path, Mode::Read)?, *bytes, BLOCK_BYTES))
            }
        };
        Ok(NameReader { reader, label: None, name: Vec::new() })
    }
}

/// Reader of names, by ascending labels.
pub(super) struct NameReader {
    reader: Option<BufferedReader>,
    label: Option<u64>,
    name: Vec<u8>,
}

impl NameReader {
    /// Returns the name of a label, which is at least the last one.
    pub(super) fn name(&mut self, label: u64) -> Result<&[u8]> {
        let Some(reader) = &mut self.reader else {
            self.name.clear();
            self.name.extend_from_slice(itoa::Buffer::new().format(label).as_bytes());
            return Ok(&self.name);
        };
        while self.label.is_none_or(|last| last < label) && reader.fill(HEAD_BYTES)? {
            let head = reader.take(HEAD_BYTES);
            let (row, length) = head.split_at(8);
            let row = u64::from_le_bytes(row.try_into().expect("eight bytes"));
            let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
            reader.fill(length)?;
            let name = reader.take(length);
            if row == label {
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            self.label = Some(row);
        }
        Ok(&self.name)
    }
}
