//! Names of a graph's nodes in index order.
//!
//! ```text
//!  block (about 256 KiB; `index` describes the file around it), for each name:
//!    +----------------------------+---------------+--------+
//!    | bytes shared with the name | bytes of rest | rest   |      the first name of a block shares 0
//!    | before: varint             | varint        |        |
//!    +----------------------------+---------------+--------+
//! ```
//!
//! Front coding (Witten, Moffat, Bell, "Managing Gigabytes", 1999, 4.1) without sorting: accessions and addresses come
//! in groups with common prefixes. Memory: two blocks and 40 bytes per block; reading and writing cost about 10 ns per
//! name. Names may contain any bytes. The arc count in the entry of a block is the number of names that are not UTF-8,
//! so that an output that cannot hold them is refused before the work. Older graphs count none. A change of the format
//! needs a new `VERSION` (`index`).

use super::index::{BlockEntry, HEADER_BYTES, IndexedWriter, read_index};
use super::kinds::{KindNames, KindsSummary, KindsWriter};
use super::{NAMES_MAGIC, kinds_path, names_path};
use crate::pack::{get_varint, put_varint};
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::{Error, Result};
use outcore_io::{Files, Grows, Mode, ReadAhead, SCRATCH_HINT, Sealed, StoredFile, Tuning};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Size at which a block ends.
const BLOCK_BYTES: usize = 256 << 10;
/// Number of blocks read ahead.
const DEPTH: usize = 4;

/// Summary of a written file of names.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NamesSummary {
    /// Number of names.
    pub name_count: u64,
    /// Total length of all names.
    pub name_bytes: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Checksum of its index, which includes the checksums of its blocks.
    pub checksum: u64,
    /// Summary of the file of kinds, if nodes are of two.
    pub kinds: Option<KindsSummary>,
}

impl NamesSummary {
    /// Returns length and checksum of the file.
    pub fn sealed(&self) -> Sealed {
        Sealed { bytes: self.bytes, checksum: self.checksum }
    }
}

/// Writer of the names of a graph's nodes; if dropped before [`NamesWriter::finish`], nothing remains except
/// what a checkpoint needs.
pub struct NamesWriter {
    file: IndexedWriter,
    block: Vec<u8>,
    /// Bytes of the block that are in the file.
    written: usize,
    block_count: u32,
    /// Number of names in the block that are not UTF-8.
    other_count: u64,
    previous: Vec<u8>,
    block_bytes: usize,
    summary: NamesSummary,
    /// Writer of the kinds, with which the names begin.
    kinds: Option<KindsWriter>,
}

/// The state is length and checksum of the file so far. On resume, each existing name is passed to the
/// function, and kinds are written anew from the names.
impl Checkpoint for NamesWriter {
    type State = Sealed;
    type Place<'a> =
        (&'a Files, &'a Path, Option<&'a KindNames>, &'a mut dyn FnMut(&[u8]) -> Result<()>);

    fn save(&mut self, to: &mut StateWriter) -> Result<Sealed> {
        let saved = self.checkpoint()?;
        to.need_growing(self.file.path(), Grows::Apart, saved.bytes);
        Ok(saved)
    }

    fn resume(
        state: &Sealed,
        _: &mut StateReader,
        (files, directory, kinds, each): Self::Place<'_>,
    ) -> Result<Self> {
        let kinds = kinds.map(|kinds| KindsWriter::create(files, directory, kinds)).transpose()?;
        Self::resume_with(files, directory, *state, BLOCK_BYTES, kinds, each)
    }
}

impl NamesWriter {
    /// Starts the names of the graph in `directory`, which is created if it does not exist.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn create(files: &Files, directory: &Path) -> Result<Self> {
        Self::create_with(files, directory, BLOCK_BYTES)
    }

    /// Like [`NamesWriter::create`], for nodes of two kinds, with which their names begin: writes these, too.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn create_of(files: &Files, directory: &Path, kinds: Option<&KindNames>) -> Result<Self> {
        let names = Self::create(files, directory)?;
        let kinds = kinds.map(|kinds| KindsWriter::create(files, directory, kinds)).transpose()?;
        Ok(Self { kinds, ..names })
    }

    pub(super) fn create_with(files: &Files, directory: &Path, block_bytes: usize) -> Result<Self> {
        files.create_directory(directory)?;
        let path = names_path(directory);
        let file = IndexedWriter::create(&of_small_buffers(files), &path, NAMES_MAGIC)?;
        Ok(Self::new(file, block_bytes))
    }

    fn new(file: IndexedWriter, block_bytes: usize) -> Self {
        Self {
            file,
            block: Vec::new(),
            written: 0,
            block_count: 0,
            other_count: 0,
            previous: Vec::new(),
            block_bytes,
            summary: NamesSummary {
                name_count: 0,
                name_bytes: 0,
                bytes: 0,
                checksum: 0,
                kinds: None,
            },
            kinds: None,
        }
    }

    /// Returns the current path of the names of `directory`, finished or not.
    pub fn path_now(files: &Files, directory: &Path) -> PathBuf {
        Grows::Apart.path_now(files, &names_path(directory))
    }

    /// Adds the files of `directory`, finished or not, to the needs of a checkpoint.
    pub fn need(
        to: &mut StateWriter,
        directory: &Path,
        saved: Sealed,
        kinds: Option<&KindsSummary>,
    ) {
        to.need_growing(&names_path(directory), Grows::Apart, saved.bytes);
        if let Some(kinds) = kinds {
            to.need_growing(&kinds_path(directory), Grows::Apart, kinds.bytes());
        }
    }

    /// Like [`Writer::checkpoint`](outcore_io::Writer::checkpoint).
    pub(super) fn checkpoint(&mut self) -> Result<Sealed> {
        self.write_block()?;
        self.file.checkpoint(&self.block)
    }

    pub(super) fn resume_with(
        files: &Files,
        directory: &Path,
        saved: Sealed,
        block_bytes: usize,
        kinds: Option<KindsWriter>,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Self> {
        let path = names_path(directory);
        let stored = files.open(&Self::path_now(files, directory), Mode::Read)?;
        let of_small = of_small_buffers(files);
        let file = IndexedWriter::resume(&of_small, &path, NAMES_MAGIC, saved.bytes)?;
        let mut names = Self { kinds, ..Self::new(file, block_bytes) };
        let (mut offset, mut bytes, mut at) = (HEADER_BYTES as u64, Vec::new(), 0);
        loop {
            let begin = at;
            if let Some(()) = next_name(&bytes, &mut at, &mut names.previous) {
                names.block.extend_from_slice(&bytes[begin..at]);
                names.written = names.block.len();
                each(&names.previous)?;
                names.count_name()?;
                continue;
            }
            bytes.drain(..begin);
            at = 0;
            let more = saved.bytes.saturating_sub(offset).min(BLOCK_BYTES as u64) as usize;
            // The block is longer than any name can be.
            if more == 0 || bytes.len() > BLOCK_BYTES {
                break;
            }
            bytes.extend(stored.read_range(offset, more)?);
            offset += more as u64;
        }
        if !bytes.is_empty() || names.file.checksum_so_far(&names.block) != saved.checksum {
            return Err(Error::corrupt_of(stored.path(), "its checksum is wrong", SCRATCH_HINT));
        }
        Ok(names)
    }

    /// Appends the next node's name.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn push(&mut self, name: &[u8]) -> Result<()> {
        let shared = self.previous.iter().zip(name).take_while(|(a, b)| a == b).count();
        put_varint(shared as u64, &mut self.block);
        put_varint((name.len() - shared) as u64, &mut self.block);
        self.block.extend_from_slice(&name[shared..]);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&name[shared..]);
        self.count_name()
    }

    /// Counts the name that was appended to the block, and ends the block if it is long enough.
    fn count_name(&mut self) -> Result<()> {
        self.block_count += 1;
        self.other_count += u64::from(std::str::from_utf8(&self.previous).is_err());
        self.summary.name_count += 1;
        self.summary.name_bytes += self.previous.len() as u64;
        if let Some(kinds) = &mut self.kinds {
            kinds.push_name(&self.previous)?;
        }
        if self.block.len() >= self.block_bytes { self.end_block() } else { Ok(()) }
    }

    /// Writes the part of the block that is not in the file yet.
    fn write_block(&mut self) -> Result<()> {
        self.file.write(&self.block[self.written..])?;
        self.written = self.block.len();
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        self.write_block()?;
        let bytes = self.block.len() as u64;
        self.file.add_block(bytes, self.block_count, self.other_count, xxh3_64(&self.block))?;
        self.block.clear();
        self.written = 0;
        (self.block_count, self.other_count) = (0, 0);
        self.previous.clear();
        Ok(())
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<NamesSummary> {
        if self.block_count > 0 {
            self.end_block()?;
        }
        let Sealed { bytes, checksum } = self.file.finish()?;
        let kinds = self.kinds.map(KindsWriter::finish).transpose()?;
        Ok(NamesSummary { bytes, checksum, kinds, ..self.summary })
    }
}

/// Reduces the write buffers: names are a small part of the concurrent output, which needs the memory more.
fn of_small_buffers(files: &Files) -> Files {
    let mut tuning = files.tuning();
    let small = Tuning::default().write;
    tuning.write.block_bytes = tuning.write.block_bytes.min(small.block_bytes);
    tuning.write.depth = small.depth;
    files.with_tuning(tuning)
}

/// Reader for the node names of a graph.
pub struct Names {
    file: Arc<StoredFile>,
    entries: Arc<Vec<BlockEntry>>,
    count: u64,
    sealed: Sealed,
}

impl Names {
    /// Opens the names in `directory`: reads their index.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn open(files: &Files, directory: &Path) -> Result<Self> {
        let file = files.open(&names_path(directory), Mode::Read)?;
        let (entries, sealed) = read_index(&file, NAMES_MAGIC)?;
        if entries.first().is_some_and(|entry| entry.first_node != 0) {
            return Err(Error::corrupt(file.path(), "its first names are missing"));
        }
        let count = entries.iter().map(|entry| u64::from(entry.node_count)).sum();
        Ok(Self { file: Arc::new(file), entries: Arc::new(entries), count, sealed })
    }

    /// Returns the number of names.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns length and checksum of the file.
    pub fn sealed(&self) -> Sealed {
        self.sealed
    }

    /// Returns one name, with a single read.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`Names::count`].
    pub fn name(&self, index: u32) -> Result<Vec<u8>> {
        assert!(u64::from(index) < self.count, "name {index} of {}", self.count);
        let block = self.entries.partition_point(|entry| entry.first_node <= index) - 1;
        let mut names = self.block(block)?;
        for _ in self.entries[block].first_node..=index {
            names.step().ok_or_else(|| corrupt(&self.file, block))?;
        }
        Ok(names.name)
    }

    /// Returns the first name that is not UTF-8, with a single read.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn first_other(&self) -> Result<Option<Vec<u8>>> {
        let Some(block) = self.entries.iter().position(|entry| entry.arc_count > 0) else {
            return Ok(None);
        };
        let mut names = self.block(block)?;
        while names.left > 0 {
            names.step().ok_or_else(|| corrupt(&self.file, block))?;
            if std::str::from_utf8(&names.name).is_err() {
                return Ok(Some(names.name));
            }
        }
        Err(corrupt(&self.file, block))
    }

    fn block(&self, block: usize) -> Result<BlockOfNames> {
        let entry = &self.entries[block];
        let bytes = self.file.read_range(entry.offset, entry.bytes as usize)?;
        let mut names = BlockOfNames::default();
        names.load(&self.file, block, entry, &bytes)?;
        Ok(names)
    }

    /// Reads all names in index order.
    pub fn scan(&self) -> NameScan {
        let of_ranges = self.entries.clone();
        let ranges = (0..of_ranges.len())
            .map(move |block| (of_ranges[block].offset, of_ranges[block].bytes as usize));
        NameScan {
            ahead: ReadAhead::new(self.file.clone(), ranges, DEPTH),
            file: self.file.clone(),
            entries: self.entries.clone(),
            next_block: 0,
            names: BlockOfNames::default(),
        }
    }
}

/// Scan of names in index order, read ahead.
pub struct NameScan {
    ahead: ReadAhead,
    file: Arc<StoredFile>,
    entries: Arc<Vec<BlockEntry>>,
    next_block: usize,
    names: BlockOfNames,
}

impl NameScan {
    /// Returns the next name, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn next_name(&mut self) -> Result<Option<&[u8]>> {
        while self.names.left == 0 {
            let Some(entry) = self.entries.get(self.next_block) else { return Ok(None) };
            let Some(bytes) = self.ahead.next_range()? else {
                return Err(corrupt(&self.file, self.next_block));
            };
            self.names.load(&self.file, self.next_block, entry, bytes)?;
            self.next_block += 1;
        }
        match self.names.step() {
            Some(()) => Ok(Some(&self.names.name)),
            None => Err(corrupt(&self.file, self.next_block - 1)),
        }
    }
}

fn corrupt(file: &StoredFile, block: usize) -> Error {
    Error::corrupt(file.path(), format!("block {block}: its contents are inconsistent"))
}

/// Block being decoded.
#[derive(Default)]
struct BlockOfNames {
    bytes: Vec<u8>,
    at: usize,
    left: u32,
    name: Vec<u8>,
}

impl BlockOfNames {
    fn load(
        &mut self,
        file: &StoredFile,
        block: usize,
        entry: &BlockEntry,
        bytes: &[u8],
    ) -> Result<()> {
        if xxh3_64(bytes) != entry.checksum {
            return Err(Error::corrupt(
                file.path(),
                format!("block {block}: its checksum is wrong"),
            ));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.at = 0;
        self.left = entry.node_count;
        self.name.clear();
        Ok(())
    }

    /// Decodes the next name of the block.
    fn step(&mut self) -> Option<()> {
        next_name(&self.bytes, &mut self.at, &mut self.name)?;
        self.left -= 1;
        // The last name ends where the block ends.
        (self.left > 0 || self.at == self.bytes.len()).then_some(())
    }
}

/// Decodes the name at `at` into `name`, which holds the previous one; `None`, with nothing decoded, if it is
/// incomplete.
fn next_name(bytes: &[u8], at: &mut usize, name: &mut Vec<u8>) -> Option<()> {
    let mut next = *at;
    let shared = get_varint(bytes, &mut next)?;
    let rest = get_varint(bytes, &mut next)?;
    if shared > name.len() as u64 || rest > (bytes.len() - next) as u64 {
        return None;
    }
    let end = next + rest as usize;
    name.truncate(shared as usize);
    name.extend_from_slice(&bytes[next..end]);
    *at = end;
    Some(())
}
