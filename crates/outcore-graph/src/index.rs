//! A file of blocks with an index at its end: the container format of `arcs` and of `names`.
//!
//! ```text
//!    0        8      12     16                      index_offset
//!    +--------+------+------+-------+---     ---+---+---------+---     ---+-----------------------+
//!    | magic  | ver- | 0    | block | block ...     | entry   | entry ... | trailer               |
//!    |        | sion |      |       |               | 40 B    |           | 32 B                  |
//!    +--------+------+------+-------+---     ---+---+---------+---     ---+-----------------------+
//!    entry:    first_node u32 | node_count u32 | arc_count u64 | offset u64 | bytes u64 | checksum u64
//!    trailer:  block_count u64 | index_offset u64 | checksum u64 | magic
//! ```
//!
//! The trailer's checksum (xxh3-64) covers header, entries and the trailer's two numbers; an entry's checksum covers
//! its block. All numbers are little-endian. Memory: 40 bytes per block. Stored graphs have this format: a change needs
//! a new [`VERSION`].

pub(super) use outcore_io::Sealed;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::{Files, Grows, StoredFile, Writer};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// Version of all files of a graph.
pub(super) const VERSION: u32 = 2;
pub(super) const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 40;
const TRAILER_BYTES: usize = 32;
/// Write buffers in flight, where the disk takes one request at a time.
const WRITE_BUFFERS: usize = 2;

/// Position and contents of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// First node.
    pub first_node: u32,
    /// Number of consecutive nodes.
    pub node_count: u32,
    /// Number of arcs of these nodes, loops not counted.
    pub arc_count: u64,
    /// Offset of the block in the file.
    pub offset: u64,
    /// Length of the block in the file.
    pub bytes: u64,
    /// xxh3-64 of its bytes; of a hub block, of its directory.
    pub checksum: u64,
}

impl BlockEntry {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.first_node.to_le_bytes());
        out.extend_from_slice(&self.node_count.to_le_bytes());
        for number in [self.arc_count, self.offset, self.bytes, self.checksum] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn get(bytes: &[u8]) -> Self {
        let nodes = get_u64(bytes, 0);
        Self {
            first_node: nodes as u32,
            node_count: (nodes >> 32) as u32,
            arc_count: get_u64(bytes, 8),
            offset: get_u64(bytes, 16),
            bytes: get_u64(bytes, 24),
            checksum: get_u64(bytes, 32),
        }
    }
}

/// Returns the number at `at`, which lies inside `bytes`.
pub(super) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn header(magic: [u8; 8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&magic);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header
}

fn index_checksum(magic: [u8; 8], entries: &[u8], numbers: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&header(magic));
    hash.update(entries);
    hash.update(numbers);
    hash.digest()
}

/// Writer of a file with an index.
pub(super) struct IndexedWriter {
    writer: Writer,
    magic: [u8; 8],
    entries: Vec<u8>,
    next_node: u64,
    block_offset: u64,
}

impl IndexedWriter {
    pub(super) fn create(files: &Files, path: &Path, magic: [u8; 8]) -> Result<Self> {
        let (block_bytes, buffers) = Self::buffers(files);
        let mut writer = Writer::create_own(files, path, block_bytes, buffers)?;
        writer.write(&header(magic))?;
        Ok(Self::new(writer, magic))
    }

    /// Resumes a file after its first `bytes`. Their blocks remain to be added with [`IndexedWriter::add_block`].
    pub(crate) fn resume(files: &Files, path: &Path, magic: [u8; 8], bytes: u64) -> Result<Self> {
        let (block_bytes, buffers) = Self::buffers(files);
        let writer = Writer::resume(files, path, Grows::Apart, bytes, block_bytes, buffers)?;
        Ok(Self::new(writer, magic))
    }

    fn buffers(files: &Files) -> (usize, usize) {
        let write = files.tuning().write;
        (write.block_bytes, write.buffers().min(WRITE_BUFFERS.max(write.depth)))
    }

    fn new(writer: Writer, magic: [u8; 8]) -> Self {
        let (entries, block_offset) = (Vec::new(), HEADER_BYTES as u64);
        Self { writer, magic, entries, next_node: 0, block_offset }
    }

    /// Returns the writer with another first node.
    pub(super) fn begun_at(self, first_node: u64) -> Self {
        Self { next_node: first_node, ..self }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Makes all written data durable; `begun` are the bytes of an unfinished block.
    pub(crate) fn checkpoint(&mut self, begun: &[u8]) -> Result<Sealed> {
        let bytes = self.writer.checkpoint()?.bytes;
        Ok(Sealed { bytes, checksum: self.checksum_so_far(begun) })
    }

    /// Returns a checksum of the checksums of all blocks and of the bytes of an unfinished block.
    pub(super) fn checksum_so_far(&self, begun: &[u8]) -> u64 {
        index_checksum(self.magic, &self.entries, begun)
    }

    /// Appends to the current block.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write(bytes)
    }

    /// Ends the block.
    pub(super) fn end_block(&mut self, nodes: u32, arcs: u64, checksum: u64) -> Result<()> {
        self.add_block(self.writer.position() - self.block_offset, nodes, arcs, checksum)
    }

    /// Adds a block of `bytes` after the existing ones.
    pub(super) fn add_block(
        &mut self,
        bytes: u64,
        nodes: u32,
        arcs: u64,
        checksum: u64,
    ) -> Result<()> {
        let first_node = u32::try_from(self.next_node).map_err(|_| too_many_nodes(self.path()))?;
        let offset = self.block_offset;
        self.block_offset += bytes;
        self.next_node += u64::from(nodes);
        BlockEntry { first_node, node_count: nodes, arc_count: arcs, offset, bytes, checksum }
            .put(&mut self.entries);
        Ok(())
    }

    /// Writes index and trailer, and finishes the file.
    pub(super) fn finish(mut self) -> Result<Sealed> {
        let mut trailer = Vec::with_capacity(TRAILER_BYTES);
        trailer.extend(((self.entries.len() / ENTRY_BYTES) as u64).to_le_bytes());
        trailer.extend(self.block_offset.to_le_bytes());
        let checksum = index_checksum(self.magic, &self.entries, &trailer);
        trailer.extend(checksum.to_le_bytes());
        trailer.extend(self.magic);
        self.writer.write(&self.entries)?;
        self.writer.write(&trailer)?;
        Ok(Sealed { bytes: self.writer.finish()?, checksum })
    }
}

pub(super) fn too_many_nodes(path: &Path) -> Error {
    Error::new(ErrorKind::TooManyNodes, format!("`{}` cannot hold more nodes", path.display()))
        .note("a graph has at most 4,294,967,296 nodes")
}

/// Creates the error of a file that another version of outcore has written.
pub(super) fn other_version(path: &Path, found: u32) -> Error {
    let path = path.display();
    let message =
        format!("`{path}` has version {found} of the format, and this program reads {VERSION}");
    Error::new(ErrorKind::CorruptFile, message).hint("build the graph again from its edges")
}

/// Reads and verifies the index.
pub(super) fn read_index(file: &StoredFile, magic: [u8; 8]) -> Result<(Vec<BlockEntry>, Sealed)> {
    let corrupt = |message: &str| Err(Error::corrupt(file.path(), message));
    let file_bytes = file.bytes()?;
    if file_bytes < (HEADER_BYTES + TRAILER_BYTES) as u64 {
        return corrupt("it is too short");
    }
    let found = file.read_range(0, HEADER_BYTES)?;
    if found[..8] != magic {
        return corrupt("it is another kind of file");
    }
    let version = u32::from_le_bytes(found[8..12].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(other_version(file.path(), version));
    }
    if found != header(magic) {
        return corrupt("its header is changed");
    }
    let trailer_offset = file_bytes - TRAILER_BYTES as u64;
    let trailer = file.read_range(trailer_offset, TRAILER_BYTES)?;
    let (count, index_offset) = (get_u64(&trailer, 0), get_u64(&trailer, 8));
    let fits = trailer[24..] == magic
        && index_offset >= HEADER_BYTES as u64
        && count
            .checked_mul(ENTRY_BYTES as u64)
            .and_then(|bytes| bytes.checked_add(index_offset))
            .is_some_and(|end| end == trailer_offset);
    if !fits {
        return corrupt("its end is missing or changed");
    }
    let bytes = file.read_range(index_offset, (trailer_offset - index_offset) as usize)?;
    let checksum = get_u64(&trailer, 16);
    if index_checksum(magic, &bytes, &trailer[..16]) != checksum {
        return corrupt("the checksum of its index is wrong");
    }
    let entries: Vec<_> = bytes.chunks_exact(ENTRY_BYTES).map(BlockEntry::get).collect();
    if !are_contiguous(&entries, index_offset) {
        return corrupt("its blocks are not contiguous");
    }
    Ok((entries, Sealed { bytes: file_bytes, checksum }))
}

fn are_contiguous(entries: &[BlockEntry], index_offset: u64) -> bool {
    let first_node = entries.first().map_or(0, |entry| entry.first_node);
    let (mut node, mut offset) = (u64::from(first_node), HEADER_BYTES as u64);
    for entry in entries {
        if u64::from(entry.first_node) != node || entry.offset != offset || entry.node_count == 0 {
            return false;
        }
        node += u64::from(entry.node_count);
        // No sum of checked parts of one file can overflow before it exceeds the file's length.
        match offset.checked_add(entry.bytes) {
            Some(end) if end <= index_offset => offset = end,
            _ => return false,
        }
    }
    offset == index_offset
}
