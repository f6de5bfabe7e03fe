//! Numbers names that do not fit in memory: in shares on disk, each of which fits.
//!
//! ```text
//!  reading      refs    index of a known name, otherwise the share of the name        \  in the order
//!               shares  names, each in the share that its hash selects                /  of the input
//!  each share   names --table--> number inside the share, by first appearance; and its new names
//!  all refs     a share's next name, if new there, gets the next index --> map of the share; list of names
//!  each share   number inside the share --map--> index
//!  all refs     index, or the next one of the share
//! ```
//! Refs and shares are queues: the k-th ref to a share is its k-th name, so no positions are stored. Indexes are the
//! same as those of an index in memory, by first appearance. A share that does not fit is itself divided into refs and
//! shares, one level down. Frequent names stay in the full table in memory, so shares do not fill with them. The hash
//! is secret to the job, so no input can fill one share.
//!
//! Memory: the table of a share for each thread, or buffers. Disk: 4 bytes per end of an edge; for each unknown one 16
//! more (20 and the text of the name, if it is longer than 15 bytes), later 4 more. I/O: everything is written once and
//! read once or twice, front to back. What a checkpoint needs stays until the end, because another process may have to
//! resume from it.

use super::name::{EdgeChunk, Fingerprint, NameRef};
use super::queue::{Queue, QueueReader, QueueWriter, corrupt, put_name};
use super::table::{Hasher, Table, slot};
use super::{MISS, NODES_MAX, NodeIndex, mix, too_many_nodes};
use crate::weight::Weight;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{ARRAY_BLOCK_BYTES, Array, ArrayReader, ArrayWriter, Files, Sealed};
use outcore_sort::SORT_BYTES_MIN;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::iter::repeat;
use std::path::{Path, PathBuf};

/// First value of a ref that stands for a share instead of an index.
const SHARE: u32 = MISS - 255;
/// Number of shares of a level.
const SHARES: std::ops::RangeInclusive<u64> = 4..=32;
/// Number of shares into which a share that does not fit is divided.
const PARTS: usize = 8;
/// Maximum memory of buffers.
pub(crate) const BUFFER_BYTES: u64 = SORT_BYTES_MIN;
/// Minimum number of names that fit in a table.
const LEAST_NAMES: usize = 16;
/// Number of names moved at a time.
const PART_NAMES: usize = 4096;
/// Number of names between prefetching a slot and looking it up.
const AHEAD: usize = 8;
/// Number of names between two calls of `tick`.
const TICK: u64 = 1 << 16;
/// Bytes of a buffer; each share has a few buffers.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=256 << 10;

/// File names of refs and of weights.
const REFS: &str = "refs";
const WEIGHTS: &str = "weights";

fn share_path(directory: &Path, share: usize) -> PathBuf {
    directory.join(format!("share-{share}"))
}

/// Memory and threads for names.
#[derive(Debug, Clone, Copy)]
pub struct NameRoom {
    table_bytes: u64,
    buffer_bytes: u64,
    /// Number of shares that are numbered in parallel.
    threads: usize,
}

impl NameRoom {
    /// Creates the room for `bytes` of memory; while the input is read, at most [`BUFFER_BYTES`] of it is used.
    pub fn new(bytes: u64, threads: usize) -> Self {
        let buffer_bytes = (bytes / 8).min(BUFFER_BYTES);
        Self { table_bytes: bytes - buffer_bytes, buffer_bytes, threads: threads.max(1) }
    }

    /// Returns the maximum number of names of a table.
    fn max_names(self) -> usize {
        Table::names_in(self.table_bytes as usize / self.threads).max(LEAST_NAMES)
    }

    /// Returns a number of shares such that each is likely to fit; `name_count` is the number of names, if known.
    fn shares(self, name_count: Option<u64>) -> usize {
        let most = self.max_names() as u64;
        let shares = name_count.map_or(16, |count| (count + count / 4) / most + 1);
        // A multiple of the threads, so that all threads finish at about the same time.
        let shares = shares.next_multiple_of(self.threads as u64);
        shares.clamp(*SHARES.start(), *SHARES.end()) as usize
    }

    /// Returns the buffer size, assuming 12 buffers per share.
    fn block_bytes(self, shares: usize) -> usize {
        let bytes = self.buffer_bytes / (12 * shares as u64 + 12);
        bytes.clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end()).next_multiple_of(4096) as usize
    }

    fn of_one(self) -> Self {
        let threads = self.threads as u64;
        let (table_bytes, buffer_bytes) = (self.table_bytes / threads, self.buffer_bytes / threads);
        Self { table_bytes, buffer_bytes, threads: 1 }
    }
}

/// Parameters of all steps.
#[derive(Clone, Copy)]
struct SpillContext<'a> {
    files: &'a Files,
    hasher: &'a Hasher,
    room: NameRoom,
    tick: &'a (dyn Fn() -> Result<()> + Sync),
}

/// Names of a chunk on their way to their shares.
#[derive(Default)]
struct SpillPart {
    refs: Vec<u32>,
    records: Vec<Vec<u8>>,
    counts: Vec<u64>,
}

impl SpillPart {
    fn new(shares: usize) -> Self {
        Self { refs: Vec::new(), records: vec![Vec::new(); shares], counts: vec![0; shares] }
    }

    fn push(&mut self, share: usize, fingerprint: Fingerprint, name: &[u8]) {
        self.refs.push(SHARE + share as u32);
        put_name(fingerprint, name, &mut self.records[share]);
        self.counts[share] += 1;
    }
}

/// Refs and shares being written.
struct Shares {
    level: u32,
    refs: ArrayWriter<u32>,
    queues: Vec<QueueWriter>,
}

/// Refs and shares as written.
struct SpilledShares {
    level: u32,
    refs: Array<u32>,
    queues: Vec<Queue>,
}

impl Shares {
    fn create(setup: SpillContext<'_>, directory: &Path, level: u32, count: usize) -> Result<Self> {
        setup.files.create_directory(directory)?;
        let block_bytes = setup.room.block_bytes(count);
        let queue =
            |share| QueueWriter::create(setup.files, &share_path(directory, share), block_bytes);
        let refs =
            ArrayWriter::create_growing(setup.files, &directory.join(REFS), ARRAY_BLOCK_BYTES)?;
        let queues = (0..count).map(queue).collect::<Result<_>>()?;
        Ok(Self { level, refs, queues })
    }

    fn resume(setup: SpillContext<'_>, directory: &Path, state: &SpillState) -> Result<Self> {
        let block_bytes = setup.room.block_bytes(state.queues.len());
        let queue = |(share, &(saved, count))| {
            let path = share_path(directory, share);
            QueueWriter::resume(setup.files, &path, block_bytes, saved, count)
        };
        let refs = directory.join(REFS);
        let refs = ArrayWriter::resume(setup.files, &refs, ARRAY_BLOCK_BYTES, state.refs)?;
        let queues = state.queues.iter().enumerate().map(queue).collect::<Result<_>>()?;
        Ok(Self { level: 0, refs, queues })
    }

    /// Returns the share of a name.
    fn share_of(&self, hasher: &Hasher, name: Fingerprint) -> usize {
        let hash = mix(hasher.hash(name) ^ u64::from(self.level));
        ((u128::from(hash) * self.queues.len() as u128) >> 64) as usize
    }

    fn push(&mut self, part: &SpillPart) -> Result<()> {
        part.refs.iter().try_for_each(|&word| self.refs.push(word))?;
        let records = part.records.iter().zip(&part.counts);
        let mut queues = self.queues.iter_mut().zip(records);
        queues.try_for_each(|(queue, (records, &count))| queue.push(records, count))
    }

    fn finish(self) -> Result<SpilledShares> {
        let refs = self.refs.finish()?;
        let queues = self.queues.into_iter().map(QueueWriter::finish).collect::<Result<_>>()?;
        Ok(SpilledShares { level: self.level, refs, queues })
    }
}

/// Share whose names have numbers inside it.
struct NumberedShare {
    /// Number of each of its names, in the order of the refs.
    locals: Array<u32>,
    /// Names in the order of their numbers.
    names: Queue,
}

/// Numbers the names of a share, in memory if they fit.
fn number_share(
    setup: SpillContext<'_>,
    queue: Queue,
    directory: &Path,
    level: u32,
) -> Result<NumberedShare> {
    setup.files.create_directory(directory)?;
    let numbered = match number_in_table(setup, &queue, directory)? {
        Some(numbered) => numbered,
        None => number_in_parts(setup, &queue, directory, level + 1)?,
    };
    queue.discard(setup.files);
    Ok(numbered)
}

/// Numbers the names of a share in one table; returns `None` if they do not fit.
fn number_in_table(
    setup: SpillContext<'_>,
    queue: &Queue,
    directory: &Path,
) -> Result<Option<NumberedShare>> {
    let SpillContext { files, hasher, room, tick } = setup;
    let most = room.max_names() as u32;
    let mut table = Table::with_room(queue.count.min(u64::from(most)) as usize);
    let block_bytes = room.block_bytes(PARTS);
    let mut locals = ArrayWriter::create(files, &directory.join("locals"), queue.count)?;
    let mut names = QueueWriter::create(files, &directory.join("names"), block_bytes)?;
    let mut reader = queue.read(files, block_bytes)?;
    let (mut count, mut done, mut record) = (0, 0u64, Vec::new());
    loop {
        if let Some(fingerprint) = reader.guess(AHEAD) {
            table.prefetch(table.home(hasher.hash(fingerprint)));
        }
        let Some((fingerprint, name)) = reader.next()? else { break };
        let place = hasher.hash(fingerprint);
        let local = table.find_or_insert(slot(fingerprint, count), place, hasher);
        if local == count {
            if count == most {
                return Ok(None);
            }
            count += 1;
            record.clear();
            put_name(fingerprint, name, &mut record);
            names.push(&record, 1)?;
        }
        locals.push(local)?;
        done += 1;
        if done.is_multiple_of(TICK) {
            tick()?;
        }
    }
    Ok(Some(NumberedShare { locals: locals.finish()?, names: names.finish()? }))
}

/// Numbers the names of a share by dividing it into shares.
fn number_in_parts(
    setup: SpillContext<'_>,
    queue: &Queue,
    directory: &Path,
    level: u32,
) -> Result<NumberedShare> {
    let mut shares = Shares::create(setup, &directory.join("parts"), level, PARTS)?;
    let block_bytes = setup.room.block_bytes(PARTS);
    let mut reader = queue.read(setup.files, block_bytes)?;
    let mut part = SpillPart::new(PARTS);
    while let Some((fingerprint, name)) = reader.next()? {
        part.push(shares.share_of(setup.hasher, fingerprint), fingerprint, name);
        if part.refs.len() == PART_NAMES {
            shares.push(&part)?;
            part = SpillPart::new(PARTS);
            (setup.tick)()?;
        }
    }
    shares.push(&part)?;
    let mut names = QueueWriter::create(setup.files, &directory.join("names"), block_bytes)?;
    let mut record = Vec::new();
    let (mut indexes, _) = resolve(setup, shares.finish()?, 0, |_, fingerprint, name| {
        record.clear();
        put_name(fingerprint, name, &mut record);
        names.push(&record, 1)
    })?;
    let mut locals = ArrayWriter::create(setup.files, &directory.join("locals"), queue.count)?;
    (0..queue.count).try_for_each(|_| locals.push(indexes.next()?))?;
    let locals = locals.finish()?;
    indexes.discard(setup.files);
    Ok(NumberedShare { locals, names: names.finish()? })
}

/// Assigns an index to every name of the shares: new names get `first`, `first + 1`, ... in the order of the refs, and
/// are passed to `on_new` with their position in that order.
fn resolve(
    setup: SpillContext<'_>,
    written: SpilledShares,
    first: u32,
    mut on_new: impl FnMut(u64, Fingerprint, &[u8]) -> Result<()>,
) -> Result<(Indexes, u32)> {
    let SpilledShares { level, refs, queues } = written;
    let directory = refs.path.parent().expect("refs are in a directory");
    let (one, count) = (SpillContext { room: setup.room.of_one(), ..setup }, queues.len());
    let number = |(share, queue): (usize, Queue)| {
        number_share(one, queue, &directory.join(share.to_string()), level)
    };
    let queues = queues.into_iter().enumerate();
    let numbered: Vec<NumberedShare> = if setup.room.threads > 1 {
        queues.collect::<Vec<_>>().into_par_iter().map(number).collect::<Result<_>>()?
    } else {
        queues.map(number).collect::<Result<_>>()?
    };
    let block_bytes = setup.room.block_bytes(count);
    let mut ref_reader = refs.read(setup.files, u64::MAX)?;
    let open = |numbered| Share::open(setup.files, numbered, block_bytes);
    let mut shares: Vec<Share> = numbered.into_iter().map(open).collect::<Result<_>>()?;
    let mut next = first;
    for place in 0..refs.count {
        let Some(share) = ref_reader.number()?.checked_sub(SHARE) else { continue };
        if let Some((fingerprint, name)) = shares[share as usize].next_new(next)? {
            if u64::from(next) >= NODES_MAX {
                return Err(too_many_nodes());
            }
            on_new(place, fingerprint, name)?;
            next += 1;
        }
        if place.is_multiple_of(TICK) {
            (setup.tick)()?;
        }
    }
    let map = |share: Share| share.map(one);
    let shares: Vec<Array<u32>> = if setup.room.threads > 1 {
        shares.into_par_iter().map(map).collect::<Result<_>>()?
    } else {
        shares.into_iter().map(map).collect::<Result<_>>()?
    };
    let refs = refs.read(setup.files, u64::MAX)?;
    let open = |share: Array<u32>| share.read(setup.files, u64::MAX);
    let shares = shares.into_iter().map(open).collect::<Result<_>>()?;
    Ok((Indexes { refs, shares }, next))
}

/// Share whose names are numbered, while the new ones get their indexes.
struct Share {
    numbered: NumberedShare,
    locals: ArrayReader<u32>,
    names: QueueReader,
    map: ArrayWriter<u32>,
    known: u32,
}

impl Share {
    fn open(files: &Files, numbered: NumberedShare, block_bytes: usize) -> Result<Self> {
        let NumberedShare { locals, names } = &numbered;
        let map = locals.path.with_file_name("map");
        Ok(Self {
            locals: locals.read(files, u64::MAX)?,
            names: names.read(files, block_bytes)?,
            map: ArrayWriter::create(files, &map, names.count)?,
            numbered,
            known: 0,
        })
    }

    /// Advances to the next name. If it is new, gives it the index `index` and returns it.
    fn next_new(&mut self, index: u32) -> Result<Option<(Fingerprint, &[u8])>> {
        if self.locals.number()? != self.known {
            return Ok(None);
        }
        self.known += 1;
        self.map.push(index)?;
        self.names.next()
    }

    /// Converts its numbers to indexes.
    fn map(self, setup: SpillContext<'_>) -> Result<Array<u32>> {
        let files = setup.files;
        drop((self.locals, self.names));
        let NumberedShare { locals, names } = self.numbered;
        names.discard(files);
        let written = self.map.finish()?;
        let map = written.read_all(files)?;
        files.discard(&written.path);
        let path = locals.path.with_file_name("indexes");
        let mut indexes = ArrayWriter::create(files, &path, locals.count)?;
        let index = |&local: &u32| map.get(local as usize).ok_or_else(|| corrupt(&locals.path));
        locals.for_each_block(files, |block| {
            (setup.tick)()?;
            block.iter().try_for_each(|local| indexes.push(*index(local)?))
        })?;
        let indexes = indexes.finish()?;
        files.discard(&locals.path);
        Ok(indexes)
    }
}

/// Reader of the index of each ref, in order.
struct Indexes {
    refs: ArrayReader<u32>,
    shares: Vec<ArrayReader<u32>>,
}

impl Indexes {
    #[inline]
    fn next(&mut self) -> Result<u32> {
        let word = self.refs.number()?;
        match word.checked_sub(SHARE) {
            None => Ok(word),
            Some(share) => self.shares[share as usize].number(),
        }
    }

    fn discard(self, files: &Files) {
        self.shares.into_iter().for_each(|share| share.discard(files));
        self.refs.discard(files);
    }
}

/// Checkpoint of a [`Spill`] while the input is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpillState {
    /// Secret of the hash that assigns names to shares.
    secret: (u64, u64),
    refs: Sealed,
    weights: Sealed,
    /// Saved queues, and the number of names of each.
    queues: Vec<(Sealed, u64)>,
    /// Number of names before those of the edges.
    earlier: u64,
}

/// Full index, and the names that it does not have.
pub struct Spill {
    files: Files,
    index: NodeIndex,
    hasher: Hasher,
    shares: Shares,
    /// Weight code of each edge.
    weights: ArrayWriter<u32>,
    /// Number of names before those of the edges.
    earlier: u64,
}

/// On resume, the caller passes an index with the same names.
impl Checkpoint for Spill {
    type State = SpillState;
    type Place<'a> = (NodeIndex, &'a Files, &'a Path, NameRoom);

    fn save(&mut self, to: &mut StateWriter) -> Result<SpillState> {
        let Shares { refs, queues, .. } = &mut self.shares;
        let (refs, weights) = (refs.save(to)?, self.weights.save(to)?);
        let queues = queues.iter_mut().map(|queue| queue.save(to)).collect::<Result<_>>()?;
        let (secret, earlier) = ((self.hasher.low, self.hasher.high), self.earlier);
        Ok(SpillState { secret, refs, weights, queues, earlier })
    }

    fn resume(
        state: &SpillState,
        _: &mut StateReader,
        (index, files, directory, room): Self::Place<'_>,
    ) -> Result<Self> {
        let (low, high) = state.secret;
        let hasher = Hasher { low, high, shards: 1, numbers: false };
        let setup = SpillContext { files, hasher: &hasher, room, tick: &|| Ok(()) };
        let shares = Shares::resume(setup, directory, state)?;
        let weights = directory.join(WEIGHTS);
        let weights = ArrayWriter::resume(files, &weights, ARRAY_BLOCK_BYTES, state.weights)?;
        let (files, earlier) = (files.clone(), state.earlier);
        Ok(Self { files, index, hasher, shares, weights, earlier })
    }
}

impl Spill {
    /// Continues from `index`, with files below `directory`. `name_count` is the expected number of names.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn new(
        index: NodeIndex,
        files: &Files,
        directory: &Path,
        room: NameRoom,
        name_count: Option<u64>,
    ) -> Result<Self> {
        let Hasher { low, high, .. } = index.hasher;
        let hasher = Hasher { low, high, shards: 1, numbers: false };
        let setup = SpillContext { files, hasher: &hasher, room, tick: &|| Ok(()) };
        let rest = name_count.map(|count| count.saturating_sub(index.node_count()));
        let shares = Shares::create(setup, directory, 0, room.shares(rest))?;
        let weights =
            ArrayWriter::create_growing(files, &directory.join(WEIGHTS), ARRAY_BLOCK_BYTES)?;
        Ok(Self { files: files.clone(), index, hasher, shares, weights, earlier: 0 })
    }

    /// Returns whether a checkpoint needs the files.
    pub fn is_held(&self) -> bool {
        self.files.is_held(&self.weights.array().path)
    }

    /// Returns the number of edges so far.
    pub fn edge_count(&self) -> u64 {
        self.weights.array().count
    }

    /// Returns the index of the known names.
    pub fn index(&self) -> &NodeIndex {
        &self.index
    }

    /// Takes names that come before those of all edges; each occurs once.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn take_earlier(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        self.earlier += chunks.iter().map(|chunk| chunk.names.len() as u64).sum::<u64>();
        self.take_names(chunks)
    }

    /// Takes the names and weights of edges.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn take_edges(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        self.take_names(chunks)?;
        for chunk in chunks {
            let weights = chunk.weights.iter().copied().chain(repeat(Weight::ONE.code()));
            weights.take(chunk.edge_count()).try_for_each(|code| self.weights.push(code))?;
        }
        Ok(())
    }

    /// Takes the edges that have an end whose name is new, and returns the others of each chunk.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn take_new_edges(&mut self, chunks: &[EdgeChunk]) -> Result<Vec<KnownEdges>> {
        let parts: Vec<_> = chunks.par_iter().map(|chunk| self.new_edges(chunk)).collect();
        let mut all = Vec::with_capacity(parts.len());
        for (part, weights, known) in parts {
            self.shares.push(&part)?;
            weights.iter().try_for_each(|&code| self.weights.push(code))?;
            all.push(known);
        }
        Ok(all)
    }

    /// Divides the edges of a chunk into those with a new name, with their weights, and the others.
    fn new_edges(&self, chunk: &EdgeChunk) -> (SpillPart, Vec<u32>, KnownEdges) {
        let mut found = Vec::new();
        self.index.look_up_known(&chunk.names, &mut found);
        let mut part = SpillPart::new(self.shares.queues.len());
        let (mut weights, mut known) = (Vec::new(), KnownEdges::default());
        let (ends, indexes) = (chunk.names.as_chunks::<2>().0, found.as_chunks::<2>().0);
        for (at, (names, &indexes)) in ends.iter().zip(indexes).enumerate() {
            let weight = chunk.weights.get(at).copied().unwrap_or(Weight::ONE.code());
            if !indexes.contains(&MISS) {
                known.indexes.extend(indexes);
                known.weights.push(weight);
                continue;
            }
            names.iter().zip(indexes).for_each(|(name, index)| {
                self.put(chunk, name, index, &mut part);
            });
            weights.push(weight);
        }
        (part, weights, known)
    }

    /// Takes names. Those that belong to no edge must come last.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn take_names(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        let parts: Vec<SpillPart> = chunks.par_iter().map(|chunk| self.part(chunk)).collect();
        parts.iter().try_for_each(|part| self.shares.push(part))
    }

    fn part(&self, chunk: &EdgeChunk) -> SpillPart {
        let mut known = Vec::new();
        self.index.look_up_known(&chunk.names, &mut known);
        let mut part = SpillPart::new(self.shares.queues.len());
        for (name, index) in chunk.names.iter().zip(known) {
            self.put(chunk, name, index, &mut part);
        }
        part
    }

    fn put(&self, chunk: &EdgeChunk, name: &NameRef, index: u32, part: &mut SpillPart) {
        if index == MISS {
            let share = self.shares.share_of(&self.hasher, name.fingerprint);
            part.push(share, name.fingerprint, chunk.name(name));
        } else {
            part.refs.push(index);
        }
    }

    /// Numbers all names. Passes the new ones to `on_new` in the order of their indexes, with a flag whether they
    /// belong to an edge or come before those of the edges.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `CorruptFile`, `TooManyNodes`; those of `tick`, which is called regularly.
    pub fn finish(
        self,
        room: NameRoom,
        tick: &(dyn Fn() -> Result<()> + Sync),
        mut on_new: impl FnMut(bool, &[u8]) -> Result<()>,
    ) -> Result<SpilledEdges> {
        let first = self.index.node_count() as u32;
        drop(self.index);
        let weights = self.weights.finish()?;
        let setup = SpillContext { files: &self.files, hasher: &self.hasher, room, tick };
        let (written, earlier) = (self.shares.finish()?, self.earlier);
        let (of_edges, mut new_earlier) = (earlier + 2 * weights.count, 0);
        let (mut indexes, node_count) = resolve(setup, written, first, |place, _, name| {
            new_earlier += u64::from(place < earlier);
            on_new(place < of_edges, name)
        })?;
        for place in 0..earlier {
            indexes.next()?;
            if place.is_multiple_of(TICK) {
                tick()?;
            }
        }
        let (weights, node_count) = (weights.read(&self.files, u64::MAX)?, u64::from(node_count));
        let repeated_earlier = earlier - new_earlier;
        Ok(SpilledEdges { files: self.files, indexes, weights, node_count, repeated_earlier })
    }
}

/// Edges of a chunk whose names are known.
#[derive(Debug, Default)]
pub struct KnownEdges {
    /// Index of each end: source, target, source, target, ...
    pub indexes: Vec<u32>,
    /// Code of each weight.
    pub weights: Vec<u32>,
}

/// Edges with the indexes of their names, in the order of the input.
pub struct SpilledEdges {
    files: Files,
    indexes: Indexes,
    weights: ArrayReader<u32>,
    node_count: u64,
    repeated_earlier: u64,
}

impl SpilledEdges {
    /// Maximum memory to read the edges.
    pub const MEMORY_BYTES: u64 = (*SHARES.end() + 2) * 2 * ARRAY_BLOCK_BYTES as u64;

    /// Returns the number of all names.
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    /// Returns how many of the names before the edges repeat an earlier one.
    pub fn repeated_earlier(&self) -> u64 {
        self.repeated_earlier
    }

    /// Discards the files.
    pub fn discard(self) {
        self.weights.discard(&self.files);
        self.indexes.discard(&self.files);
    }

    /// Reads the next edges, at most `most`: two indexes each, and a weight code. Reads none at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub fn next(
        &mut self,
        most: usize,
        indexes: &mut Vec<u32>,
        weights: &mut Vec<u32>,
    ) -> Result<()> {
        indexes.clear();
        weights.clear();
        while weights.len() < most
            && let Some(code) = self.weights.next_number()?
        {
            weights.push(code);
            indexes.push(self.indexes.next()?);
            indexes.push(self.indexes.next()?);
        }
        Ok(())
    }
}
