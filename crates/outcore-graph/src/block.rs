//! One block in memory: encoded, with a table of the position of each node.
//!
//! ```text
//!  plain block:
//!    +--------+---------+------------+-----------------------+---------+---------+------+------+---
//!    | scheme | largest | loop count | loops                 | degrees | lengths | arcs | arcs | ...
//!    +--------+---------+------------+-----------------------+---------+---------+------+------+---
//!     byte     varint    varint       (local gap varint,      list      list      node 0 node 1
//!                                     weight code u32)*                 in bytes
//!
//!  hub block (one node with more arcs than a plain block may hold); only its directory is in memory:
//!    +-----------+-----------+---     ---+----------+----------+-----+-----------+--------------------+
//!    | segment 0 | segment 1 |    ...    | weighted | has loop | 0 0 | loop code | (bytes u32,        |
//!    |           |           |           | byte     | byte     |     | u32       |  checksum u64)*    |
//!    +-----------+-----------+---     ---+----------+----------+-----+-----------+--------------------+
//!     scheme byte, then arcs              `------------------- directory ---------------------------'
//! ```
//!
//! `scheme` is a [`WeightScheme`]; `largest` is its largest integer, so that small ones can be decoded with a
//! look-up table. See `codec` for lists and arcs. Memory: the encoded bytes plus 8 bytes per node; loading
//! costs about 2 ns per node, decoding about 2 ns per arc of the requested nodes. A block that is scanned several times
//! can be kept decoded: 4 bytes per arc, 8 with weights, 6 if the weights are listed: decimals of three digits are a
//! thousand different values, and sums of repeated edges a few thousand.

use super::BLOCK_ARCS;
use super::codec::{Codes, Cursor, TABLE_LEN};
use super::index::{BlockEntry, get_u64};
use super::view::View;
use crate::pack::{PADDING, WeightScheme};
use crate::weight::Weight;
use outcore_io::error::{Error, Result};
use outcore_io::{ReadAhead, StoredFile, prefetch};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of arcs per segment.
pub const SEGMENT_ARCS: usize = 65_536;
/// Bytes of a hub's directory before its segments, and bytes per segment.
const HUB_HEADER_BYTES: usize = 8;
const HUB_SEGMENT_BYTES: usize = 12;
/// Bytes that a prefetch fetches.
const CACHE_LINE: usize = 64;
/// Maximum number of different weights in a block that lists them. A place in the list takes two bytes, and most
/// look-ups of a weight hit the first-level cache.
const MOST_LISTED: usize = 1 << 14;
/// Number of a hub's segments that are read ahead.
const HUB_DEPTH: usize = 2;

/// Memory to decode arcs into; one per thread, reused for every node. It grows to 512 KiB.
#[derive(Debug, Default)]
pub struct ArcScratch {
    targets: Vec<u32>,
    weights: Vec<u32>,
}

impl ArcScratch {
    #[inline]
    fn reserve(&mut self, count: usize) {
        if self.targets.len() < count {
            self.grow(count);
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let len = count.next_power_of_two().max(1024);
        self.targets = vec![0; len];
        self.weights = vec![0; len];
    }
}

/// Data of the graph that its blocks share.
pub(super) struct BlockContext {
    pub(super) file: Arc<StoredFile>,
    pub(super) entries: Vec<BlockEntry>,
    /// Upper bound of the targets, exclusive.
    pub(super) node_count: u64,
    pub(super) segment_arcs: usize,
    pub(super) block_arcs: u64,
    /// View that transforms arcs; `None` to leave them unchanged.
    pub(super) view: Option<View>,
}

impl BlockContext {
    /// Returns the context of the same file with another view.
    pub(super) fn with_view(&self, view: Option<View>) -> Self {
        Self { file: self.file.clone(), entries: self.entries.clone(), view, ..*self }
    }

    pub(super) fn is_hub(&self, entry: &BlockEntry) -> bool {
        entry.arc_count > self.block_arcs
    }

    /// Returns the offset and length of the bytes that [`Block::load`] takes.
    pub(super) fn range(&self, index: usize) -> Result<(u64, usize)> {
        let Some(entry) = self.entries.get(index) else {
            return Err(self.corrupt_block(index, "there is no such block"));
        };
        if !self.is_hub(entry) {
            return Ok((entry.offset, entry.bytes as usize));
        }
        let segments = entry.arc_count.div_ceil(self.segment_arcs as u64);
        let bytes = segments
            .checked_mul(HUB_SEGMENT_BYTES as u64)
            .and_then(|bytes| bytes.checked_add(HUB_HEADER_BYTES as u64))
            .filter(|&bytes| bytes <= entry.bytes && entry.node_count == 1)
            .ok_or_else(|| self.corrupt_block(index, "it is too short for its arcs"))?;
        Ok((entry.offset + entry.bytes - bytes, bytes as usize))
    }

    #[cold]
    pub(super) fn corrupt_block(&self, index: usize, message: &str) -> Error {
        Error::corrupt(self.file.path(), format!("block {index}: {message}"))
    }
}

/// Consecutive nodes with their arcs, encoded.
pub struct Block {
    shared: Arc<BlockContext>,
    index: usize,
    entry: BlockEntry,
    is_weighted: bool,
    /// Local node and weight code, ascending.
    loops: Vec<(u32, u32)>,
    body: BlockBody,
}

enum BlockBody {
    Plain(PlainBlock),
    Decoded(DecodedBlock),
    Hub(Vec<Segment>),
}

/// Arcs of a plain block after decoding.
struct DecodedBlock {
    /// Positions in `targets` where the arcs of each node begin, and where the last ones end.
    starts: Vec<u32>,
    targets: Vec<u32>,
    weights: DecodedWeights,
}

enum DecodedWeights {
    /// Weight codes; none if all weights are 1.
    Codes(Vec<u32>),
    /// A list of the different weight codes, and for each arc the place of its code in the list.
    Listed { list: Vec<u32>, places: Vec<u16> },
}

impl DecodedWeights {
    /// Lists the different codes; `None` if they are too many.
    fn listed(codes: &[u32]) -> Option<Self> {
        const SLOTS: usize = 4 * MOST_LISTED;
        // An empty slot holds a place beyond the list.
        let mut slots = vec![MOST_LISTED as u16; SLOTS];
        let (mut list, mut places) = (Vec::new(), Vec::with_capacity(codes.len()));
        for &code in codes {
            let mut slot = code.wrapping_mul(0x9E37_79B1) as usize >> (32 - SLOTS.ilog2());
            let place = loop {
                let place = slots[slot];
                match list.get(usize::from(place)) {
                    Some(&listed) if listed == code => break place,
                    Some(_) => slot = (slot + 1) % SLOTS,
                    None if list.len() == MOST_LISTED => return None,
                    None => {
                        slots[slot] = list.len() as u16;
                        list.push(code);
                        break slots[slot];
                    }
                }
            };
            places.push(place);
        }
        list.shrink_to_fit();
        Some(Self::Listed { list, places })
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Codes(codes) => 4 * codes.capacity(),
            Self::Listed { list, places } => 4 * list.capacity() + 2 * places.capacity(),
        }
    }
}

/// Writes the codes of weights to `codes`. Not generic, so that it is compiled once, like decoding.
fn look_up(list: &[u32], places: &[u16], codes: &mut [u32]) {
    for (code, &place) in codes.iter_mut().zip(places) {
        *code = list[usize::from(place)];
    }
}

struct PlainBlock {
    bytes: Vec<u8>,
    /// Positions in `bytes` where the arcs of each node begin, and where the last ones end.
    offsets: Vec<u32>,
    degrees: Vec<u32>,
    codes: Codes,
}

#[derive(Clone, Copy)]
struct Segment {
    offset: u64,
    bytes: u32,
    checksum: u64,
}

impl Block {
    /// Loads the bytes of a plain block, or the directory of a hub block.
    pub(super) fn load(shared: &Arc<BlockContext>, index: usize, bytes: &[u8]) -> Result<Self> {
        if xxh3_64(bytes) != shared.entries[index].checksum {
            return Err(shared.corrupt_block(index, "its checksum is wrong"));
        }
        Self::load_unchecked(shared, index, bytes)
    }

    /// Like [`Block::load`], but without verifying the checksum.
    pub(super) fn load_unchecked(
        shared: &Arc<BlockContext>,
        index: usize,
        bytes: &[u8],
    ) -> Result<Self> {
        let entry = shared.entries[index];
        let parts =
            if shared.is_hub(&entry) { load_hub(&entry, bytes) } else { load_plain(&entry, bytes) };
        let Some((is_weighted, loops, body)) = parts else {
            return Err(shared.corrupt_block(index, "its contents are inconsistent"));
        };
        Ok(Self { shared: shared.clone(), index, entry, is_weighted, loops, body })
    }

    /// Returns its number.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns its first node.
    pub fn first_node(&self) -> u32 {
        self.entry.first_node
    }

    /// Returns its number of nodes.
    pub fn node_count(&self) -> usize {
        self.entry.node_count as usize
    }

    /// Returns its number of arcs, loops not counted.
    pub fn arc_count(&self) -> u64 {
        self.entry.arc_count
    }

    /// Returns whether any arc has a weight other than 1, so that segments come with weight codes.
    pub fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    /// Returns the loops as local node and weight code, ascending.
    pub(super) fn loops(&self) -> &[(u32, u32)] {
        &self.loops
    }

    /// Returns the memory of the block.
    pub fn memory_bytes(&self) -> usize {
        let body = match &self.body {
            BlockBody::Plain(plain) => {
                let words = plain.offsets.capacity() + plain.degrees.capacity();
                plain.bytes.capacity() + 4 * words + plain.codes.memory_bytes()
            }
            BlockBody::Decoded(arcs) => {
                4 * (arcs.starts.capacity() + arcs.targets.capacity()) + arcs.weights.memory_bytes()
            }
            BlockBody::Hub(segments) => segments.capacity() * size_of::<Segment>(),
        };
        size_of::<Self>() + self.loops.capacity() * 8 + body
    }

    /// Returns the maximum memory of a block after [`decoded`](Self::decoded).
    pub fn decoded_bytes(entry: &BlockEntry, is_weighted: bool) -> u64 {
        let arcs =
            Self::decoded_arc_bytes(u64::from(entry.node_count), entry.arc_count, is_weighted);
        size_of::<Self>() as u64 + arcs
    }

    /// Upper bound on the memory of the decoded arcs and loops of `nodes` nodes.
    pub fn decoded_arc_bytes(nodes: u64, arcs: u64, is_weighted: bool) -> u64 {
        4 * (1 + u64::from(is_weighted)) * arcs + (4 + 8) * (nodes + 1)
    }

    /// Returns the maximum memory of a block of a weighted graph after [`decoded`](Self::decoded) with listed weights;
    /// that of the encoded block if it has too many different weights.
    pub fn listed_bytes(entry: &BlockEntry) -> u64 {
        let nodes = u64::from(entry.node_count);
        let encoded = entry.bytes + 20 * (nodes + 1) + 4 * TABLE_LEN as u64;
        size_of::<Self>() as u64 + Self::listed_arc_bytes(nodes, entry.arc_count).max(encoded)
    }

    /// Upper bound on the memory of the decoded arcs and loops of `nodes` nodes, with listed weights.
    pub fn listed_arc_bytes(nodes: u64, arcs: u64) -> u64 {
        let listed = MOST_LISTED as u64 * arcs.div_ceil(BLOCK_ARCS).max(1);
        6 * arcs + 4 * listed.min(arcs) + (4 + 8) * (nodes + 1)
    }

    /// Returns a plain block with all arcs decoded, and with its weights as a list or as codes. Returns `None` for
    /// other blocks, if a [`View`] changes arcs, and if there are too many different weights to list.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn decoded(&self, lists_weights: bool) -> Result<Option<Self>> {
        let (BlockBody::Plain(plain), None) = (&self.body, self.arc_view()) else {
            return Ok(None);
        };
        let arc_count = self.entry.arc_count as usize;
        let mut starts = Vec::with_capacity(plain.degrees.len() + 1);
        let mut targets = vec![0; arc_count];
        let mut weights = vec![0; if self.is_weighted { arc_count } else { 0 }];
        let mut start = 0;
        for (local, &degree) in plain.degrees.iter().enumerate() {
            starts.push(start as u32);
            let mut cursor = self.cursor(plain, local)?;
            let end = start + degree as usize;
            while start < end {
                let part = start..end.min(start + self.shared.segment_arcs);
                start = part.end;
                let weights = if self.is_weighted { &mut weights[part.clone()] } else { &mut [] };
                self.decode(plain, local, &mut cursor, &mut targets[part], weights)?;
            }
            self.check_end(&cursor)?;
        }
        starts.push(start as u32);
        let weights = match lists_weights && !weights.is_empty() {
            true => DecodedWeights::listed(&weights),
            false => Some(DecodedWeights::Codes(weights)),
        };
        let Some(weights) = weights else { return Ok(None) };
        let body = BlockBody::Decoded(DecodedBlock { starts, targets, weights });
        let &Self { index, entry, is_weighted, .. } = self;
        let (shared, loops) = (self.shared.clone(), self.loops.clone());
        Ok(Some(Self { shared, index, entry, is_weighted, loops, body }))
    }

    /// Returns the number of neighbors of the node `first_node() + local`, not counting the node itself.
    ///
    /// # Panics
    /// Panics if `local` is not below `node_count()`, like the other methods about a node.
    #[inline]
    pub fn degree(&self, local: usize) -> u64 {
        match &self.body {
            BlockBody::Plain(plain) => u64::from(plain.degrees[local]),
            BlockBody::Decoded(arcs) => u64::from(arcs.starts[local + 1] - arcs.starts[local]),
            BlockBody::Hub(_) => self.entry.arc_count,
        }
    }

    /// Returns the weight of the node's loop: 0 if it has none, half of it if the [`View`] counts loops once. The loop
    /// adds twice this value to the strength of its node.
    #[inline]
    pub fn self_loop(&self, local: usize) -> f64 {
        match (self.loop_code(local), &self.shared.view) {
            (None, _) => 0.0,
            (Some(code), None) => Weight::from_code(code).value(),
            (Some(code), Some(view)) => view.loop_of(code),
        }
    }

    /// Returns the weight of the node's loop, 0 if it has none, however often loops count.
    #[inline]
    pub fn loop_weight(&self, local: usize) -> f64 {
        match (self.loop_code(local), &self.shared.view) {
            (None, _) => 0.0,
            (Some(code), None) => Weight::from_code(code).value(),
            (Some(code), Some(view)) => view.weight_of(code),
        }
    }

    #[inline]
    fn loop_code(&self, local: usize) -> Option<u32> {
        if self.loops.is_empty() {
            return None;
        }
        let at = self.loops.binary_search_by_key(&local, |&(node, _)| node as usize).ok()?;
        Some(self.loops[at].1)
    }

    /// Returns the view, if it changes arcs.
    #[inline]
    fn arc_view(&self) -> Option<&View> {
        self.shared.view.as_ref().filter(|view| view.changes_arcs())
    }

    /// Passes the node's arcs to `f` in ascending target order, in segments of at most [`SEGMENT_ARCS`]: targets, and
    /// weight codes ([`Weight::code`]). There are no weight codes if all weights of the block are 1. A node without
    /// arcs has no segments; all segments but the last are full, unless a [`View`] omits arcs.
    ///
    /// # Errors
    /// `CorruptFile`; `Io` in a hub block, whose arcs are read from the file each time.
    #[inline]
    pub fn for_each_segment(
        &self,
        local: usize,
        scratch: &mut ArcScratch,
        mut f: impl FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        self.segments(local, scratch, &mut f)
    }

    /// Not generic, so that it is compiled once: most loops take little of a job's time.
    fn segments(
        &self,
        local: usize,
        scratch: &mut ArcScratch,
        f: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        self.for_each_segment_inline(local, scratch, f)
    }

    /// Like [`for_each_segment`](Self::for_each_segment), but compiled into the caller, so that sums stay in registers.
    /// For loops that take most of a job's time: each call adds 400 lines of LLVM code.
    #[inline]
    pub fn for_each_segment_inline(
        &self,
        local: usize,
        scratch: &mut ArcScratch,
        mut f: impl FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        match &self.body {
            BlockBody::Plain(plain) => self.plain_segments(plain, local, scratch, f),
            BlockBody::Decoded(arcs) => {
                self.decoded_segments(arcs, local, scratch, f);
                Ok(())
            }
            BlockBody::Hub(segments) => self.hub_segments(segments, scratch, &mut f),
        }
    }

    #[inline]
    fn decoded_segments(
        &self,
        arcs: &DecodedBlock,
        local: usize,
        scratch: &mut ArcScratch,
        mut f: impl FnMut(&[u32], &[u32]),
    ) {
        let (mut start, end) = (arcs.starts[local] as usize, arcs.starts[local + 1] as usize);
        while start < end {
            let part = start..end.min(start + self.shared.segment_arcs);
            start = part.end;
            let targets = &arcs.targets[part.clone()];
            let weights = match &arcs.weights {
                DecodedWeights::Codes(codes) if codes.is_empty() => &[],
                DecodedWeights::Codes(codes) => &codes[part],
                DecodedWeights::Listed { list, places } => {
                    scratch.reserve(targets.len());
                    let codes = &mut scratch.weights[..targets.len()];
                    look_up(list, &places[part], codes);
                    &*codes
                }
            };
            f(targets, weights);
        }
    }

    /// Returns the targets of a node's arcs, to prefetch their data; none if they are not decoded or there is no such
    /// node.
    #[inline]
    pub fn targets_ahead(&self, local: usize) -> &[u32] {
        match &self.body {
            BlockBody::Decoded(arcs) if local + 1 < arcs.starts.len() => {
                &arcs.targets[arcs.starts[local] as usize..arcs.starts[local + 1] as usize]
            }
            _ => &[],
        }
    }

    /// Prefetches the position of a node's arcs.
    #[inline]
    pub fn prefetch_place(&self, local: usize) {
        match &self.body {
            BlockBody::Plain(plain) => {
                prefetch(&plain.offsets, local);
                prefetch(&plain.degrees, local);
            }
            BlockBody::Decoded(arcs) => prefetch(&arcs.starts, local),
            BlockBody::Hub(_) => {}
        }
    }

    /// Prefetches the first arcs of a node, after [`prefetch_place`](Self::prefetch_place).
    #[inline]
    pub fn prefetch_arcs(&self, local: usize) {
        match &self.body {
            BlockBody::Plain(plain) => {
                let start = plain.offsets[local] as usize;
                prefetch(&plain.bytes, start);
                prefetch(&plain.bytes, start + CACHE_LINE);
            }
            BlockBody::Decoded(arcs) => {
                let start = arcs.starts[local] as usize;
                prefetch_both(&arcs.targets, start);
                match &arcs.weights {
                    DecodedWeights::Codes(codes) => prefetch_both(codes, start),
                    DecodedWeights::Listed { places, .. } => prefetch(places, start),
                }
            }
            BlockBody::Hub(_) => {}
        }
    }

    #[inline]
    fn plain_segments(
        &self,
        plain: &PlainBlock,
        local: usize,
        scratch: &mut ArcScratch,
        mut f: impl FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        let mut rest = plain.degrees[local] as usize;
        let mut cursor = self.cursor(plain, local)?;
        while rest > 0 {
            let count = rest.min(self.shared.segment_arcs);
            let (arcs, weights) = self.plain_segment(plain, local, count, &mut cursor, scratch)?;
            f(&scratch.targets[..arcs], &scratch.weights[..weights]);
            rest -= count;
        }
        self.check_end(&cursor)
    }

    /// Returns a cursor over the arcs of a node.
    #[inline]
    fn cursor<'a>(&self, plain: &'a PlainBlock, local: usize) -> Result<Cursor<'a>> {
        let (start, end) = (plain.offsets[local] as usize, plain.offsets[local + 1] as usize);
        Cursor::new(&plain.bytes, start, end).ok_or_else(|| self.corrupt())
    }

    #[inline]
    fn check_end(&self, cursor: &Cursor<'_>) -> Result<()> {
        if cursor.is_at_end() { Ok(()) } else { Err(self.corrupt()) }
    }

    /// Decodes the next arcs of a node, one for each of `targets`.
    #[inline]
    fn decode(
        &self,
        plain: &PlainBlock,
        local: usize,
        cursor: &mut Cursor<'_>,
        targets: &mut [u32],
        weights: &mut [u32],
    ) -> Result<()> {
        let node = self.entry.first_node + local as u32;
        cursor
            .arcs(node, self.shared.node_count, &plain.codes, targets, weights)
            .ok_or_else(|| self.corrupt())
    }

    /// Decodes the next `count` arcs of a node; returns the number of visible arcs and of their weights.
    fn plain_segment(
        &self,
        plain: &PlainBlock,
        local: usize,
        count: usize,
        cursor: &mut Cursor<'_>,
        scratch: &mut ArcScratch,
    ) -> Result<(usize, usize)> {
        scratch.reserve(count);
        let weighted = if self.is_weighted { count } else { 0 };
        let (targets, weights) = (&mut scratch.targets[..count], &mut scratch.weights[..weighted]);
        self.decode(plain, local, cursor, targets, weights)?;
        Ok(match self.arc_view() {
            None => (count, weighted),
            Some(view) => {
                let (targets, weights) = (&mut scratch.targets, &mut scratch.weights);
                view.apply(count, self.is_weighted, targets, weights)
            }
        })
    }

    #[cold]
    fn hub_segments(
        &self,
        segments: &[Segment],
        scratch: &mut ArcScratch,
        f: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        let ranges: Vec<_> =
            segments.iter().map(|segment| (segment.offset, segment.bytes as usize)).collect();
        let file = self.shared.file.clone();
        let mut ahead = ReadAhead::new(file, ranges.into_iter(), HUB_DEPTH);
        let mut padded = Vec::new();
        let mut rest = self.entry.arc_count;
        for segment in segments {
            let bytes = ahead.next_range()?.ok_or_else(|| self.corrupt())?;
            if xxh3_64(bytes) != segment.checksum {
                return Err(self.shared.corrupt_block(self.index, "a segment's checksum is wrong"));
            }
            padded.clear();
            padded.extend_from_slice(bytes);
            padded.extend_from_slice(&[0; PADDING]);
            let count = rest.min(self.shared.segment_arcs as u64) as usize;
            rest -= count as u64;
            self.hub_segment(&padded, count, scratch).ok_or_else(|| self.corrupt())?;
            let (targets, weights) = (&mut scratch.targets, &mut scratch.weights);
            let (count, weighted) = match self.arc_view() {
                Some(view) => view.apply(count, self.is_weighted, targets, weights),
                None => (count, if self.is_weighted { count } else { 0 }),
            };
            f(&targets[..count], &weights[..weighted]);
        }
        Ok(())
    }

    /// Decodes one segment of a hub: `count` arcs.
    fn hub_segment(&self, padded: &[u8], count: usize, scratch: &mut ArcScratch) -> Option<()> {
        let mut cursor = Cursor::new(padded, 0, padded.len() - PADDING)?;
        let scheme = WeightScheme::from_byte(cursor.byte()?)?;
        scratch.reserve(count);
        let targets = &mut scratch.targets[..count];
        let weights = &mut scratch.weights[..count];
        let stored = if scheme == WeightScheme::One {
            weights.fill(Weight::ONE.code());
            &mut []
        } else {
            weights
        };
        let (node, node_count) = (self.entry.first_node, self.shared.node_count);
        let codes = Codes::new(scheme, u64::MAX, count as u64);
        cursor.arcs(node, node_count, &codes, targets, stored)?;
        (cursor.is_at_end() && (self.is_weighted || scheme == WeightScheme::One)).then_some(())
    }

    #[cold]
    fn corrupt(&self) -> Error {
        self.shared.corrupt_block(self.index, "its contents are inconsistent")
    }
}

/// Prefetches two cache lines of `values`, from an index on.
#[inline]
fn prefetch_both(values: &[u32], index: usize) {
    prefetch(values, index);
    prefetch(values, index + CACHE_LINE / 4);
}

type Parts = (bool, Vec<(u32, u32)>, BlockBody);

fn load_plain(entry: &BlockEntry, stored: &[u8]) -> Option<Parts> {
    let mut bytes = Vec::with_capacity(stored.len() + PADDING);
    bytes.extend_from_slice(stored);
    bytes.extend_from_slice(&[0; PADDING]);
    let node_count = entry.node_count as usize;
    let mut cursor = Cursor::new(&bytes, 0, stored.len())?;
    let scheme = WeightScheme::from_byte(cursor.byte()?)?;
    let largest = cursor.varint()?;
    let loop_count = cursor.varint()?;
    if loop_count > u64::from(entry.node_count) {
        return None;
    }
    let mut loops = Vec::with_capacity(loop_count as usize);
    let mut next = 0u64;
    for _ in 0..loop_count {
        let local = next.checked_add(cursor.varint()?)?;
        if local >= u64::from(entry.node_count) {
            return None;
        }
        loops.push((local as u32, cursor.u32()?));
        next = local + 1;
    }
    let mut degrees = vec![0; node_count];
    cursor.list(&mut degrees)?;
    let mut offsets = vec![0; node_count + 1];
    cursor.list(&mut offsets[..node_count])?;
    let mut at = cursor.position() as u64;
    for slot in &mut offsets {
        let length = u64::from(*slot);
        *slot = u32::try_from(at).ok()?;
        at += length;
    }
    let arcs: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    if arcs != entry.arc_count || at != stored.len() as u64 {
        return None;
    }
    let codes = Codes::new(scheme, largest, entry.arc_count);
    let plain = PlainBlock { bytes, offsets, degrees, codes };
    Some((scheme != WeightScheme::One, loops, BlockBody::Plain(plain)))
}

fn load_hub(entry: &BlockEntry, directory: &[u8]) -> Option<Parts> {
    let (header, rest) = directory.split_at_checked(HUB_HEADER_BYTES)?;
    let is_weighted = header[0] != 0;
    let loops =
        if header[1] == 0 { Vec::new() } else { vec![(0, (get_u64(header, 0) >> 32) as u32)] };
    let mut offset = entry.offset;
    let mut segments = Vec::with_capacity(rest.len() / HUB_SEGMENT_BYTES);
    for segment in rest.chunks_exact(HUB_SEGMENT_BYTES) {
        let bytes = u32::from_le_bytes(segment[..4].try_into().expect("four bytes"));
        segments.push(Segment { offset, bytes, checksum: get_u64(segment, 4) });
        offset = offset.checked_add(u64::from(bytes))?;
    }
    let end = entry.offset + entry.bytes - directory.len() as u64;
    (offset == end).then_some((is_weighted, loops, BlockBody::Hub(segments)))
}
