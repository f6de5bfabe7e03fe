//! Conversion of sorted arcs to parts.
//!
//! Arcs arrive in any number of pieces, each sorted by source and target. [`Chunks`] combines repeated arcs and packs
//! them: a chunk holds the arcs of consecutive nodes; the arcs of its first and last node may extend into other chunks.
//! From the degrees, [`Cutter`] determines where the engine's blocks begin and lets parts begin at some of them;
//! [`cut`] cuts chunks at the bounds of parts, and [`PartWriter`] writes a part from the resulting chunks. The arcs of
//! a hub are in many chunks but in one part.

use super::damaged;
use super::words::{Words, put, put_bytes};
use outcore_graph::Weight;
use outcore_graph::{ArcRecord, BlockLimits, Duplicates, GraphOptions, GraphWriter};
use outcore_io::Result;
use outcore_io::{Files, Ram};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Number of arcs in a full chunk.
const CHUNK_ARCS: usize = 1 << 16;

/// Arcs of consecutive nodes.
#[derive(Debug, Default, Clone, PartialEq)]
struct Chunk {
    first_node: u32,
    /// Number of arcs of each node, loops not counted.
    degrees: Vec<u32>,
    targets: Vec<u32>,
    /// Codes of weights; empty if all are 1.
    codes: Vec<u32>,
    /// Pairs of a node with a loop and the code of its weight.
    loops: Vec<u32>,
}

impl Chunk {
    fn to_bytes(&self) -> Vec<u8> {
        let is_one = self.codes.iter().all(|&code| code == Weight::ONE.code());
        let mut out = Vec::new();
        put(&[self.first_node], &mut out);
        put(&self.degrees, &mut out);
        put(&self.targets, &mut out);
        put(if is_one { &[] } else { &self.codes }, &mut out);
        put(&self.loops, &mut out);
        out
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Words(bytes);
        let first_node = from.exactly(1)?[0];
        let (degrees, targets, codes) = (from.next()?, from.next()?, from.next()?);
        let loops = from.next()?;
        let arcs: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
        let fits = arcs == targets.len() as u64
            && (codes.is_empty() || codes.len() == targets.len())
            && loops.len().is_multiple_of(2)
            && u64::from(first_node) + degrees.len() as u64 <= 1 << 32;
        if !fits {
            return Err(damaged("arcs are inconsistent"));
        }
        Ok(Self { first_node, degrees, targets, codes, loops })
    }

    /// Returns the part of the chunk that belongs to `nodes`.
    fn of_nodes(&self, nodes: Range<u32>) -> Self {
        let first = self.first_node;
        let local = |node: u32| (node.saturating_sub(first) as usize).min(self.degrees.len());
        let (begin, end) = (local(nodes.start), local(nodes.end));
        let arcs_before = |local: usize| self.degrees[..local].iter().map(|&d| d as usize).sum();
        let arcs: Range<usize> = arcs_before(begin)..arcs_before(end);
        let codes = if self.codes.is_empty() { &[] } else { &self.codes[arcs.clone()] };
        let loops = self.loops.as_chunks::<2>().0.iter().filter(|[node, _]| nodes.contains(node));
        Self {
            first_node: first + begin as u32,
            degrees: self.degrees[begin..end].to_vec(),
            targets: self.targets[arcs].to_vec(),
            codes: codes.to_vec(),
            loops: loops.flatten().copied().collect(),
        }
    }
}

/// Packer of sorted arcs into chunks.
pub struct Chunks {
    duplicates: Duplicates,
    keeps_loops: bool,
    /// Minimum code of a weight; lighter arcs are left out.
    min_code: u32,
    /// Pending arc, whose duplicates may follow, and the sum of its weights so far.
    pending: Option<(ArcRecord, f64)>,
    chunk: Chunk,
    combined_count: u64,
    dropped_loop_count: u64,
}

impl Chunks {
    /// Creates a packer that combines repeated arcs by a rule and leaves out arcs of weight 0 or lighter than
    /// `min_weight`.
    pub fn new(duplicates: Duplicates, keeps_loops: bool, min_weight: f64) -> Self {
        Self {
            duplicates,
            keeps_loops,
            min_code: if min_weight > 0.0 { Weight::new(min_weight).code() } else { 1 },
            pending: None,
            chunk: Chunk::default(),
            combined_count: 0,
            dropped_loop_count: 0,
        }
    }

    /// Adds arcs, each a source, a target and a weight, in ascending order of source and target, equal ones in the
    /// order that [`GraphWriter::push`] requires. Returns the chunks that are full.
    ///
    /// # Errors
    /// `CorruptFile` if arcs are out of order, or a weight is negative or not finite.
    pub fn push(
        &mut self,
        arcs: impl IntoIterator<Item = (u32, u32, f64)>,
    ) -> Result<Vec<Vec<u8>>> {
        let mut full = Vec::new();
        for (source, target, weight) in arcs {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(damaged("a weight is negative, or not finite"));
            }
            let code = if weight > 0.0 { Weight::new(weight).code() } else { 0 };
            if code < self.min_code {
                continue;
            }
            let arc = ArcRecord { source, target, weight: code };
            let key = |arc: ArcRecord| (arc.source, arc.target);
            match &mut self.pending {
                Some((pending, sum)) if key(*pending) == key(arc) => {
                    pending.weight = self.duplicates.combine(pending.weight, sum, arc.weight);
                    self.combined_count += 1;
                }
                Some((pending, _)) if key(*pending) > key(arc) => {
                    return Err(damaged("arcs are not sorted"));
                }
                _ => {
                    self.emit();
                    if self.is_full(source) {
                        full.push(std::mem::take(&mut self.chunk).to_bytes());
                    }
                    self.pending = Some((arc, Weight::from_code(arc.weight).value()));
                }
            }
        }
        Ok(full)
    }

    /// Returns whether the node `next` belongs to a new chunk: the chunk has enough arcs, or the node is far away.
    fn is_full(&self, next: u32) -> bool {
        let chunk = &self.chunk;
        let nodes = next.saturating_sub(chunk.first_node) as usize;
        !chunk.degrees.is_empty()
            && (chunk.targets.len() + chunk.loops.len() >= CHUNK_ARCS || nodes > 4 * CHUNK_ARCS)
    }

    fn emit(&mut self) {
        let Some((arc, _)) = self.pending.take() else { return };
        let chunk = &mut self.chunk;
        if chunk.degrees.is_empty() {
            chunk.first_node = arc.source;
        }
        chunk.degrees.resize((arc.source - chunk.first_node) as usize + 1, 0);
        if arc.source != arc.target {
            *chunk.degrees.last_mut().expect("there is a node") += 1;
            chunk.targets.push(arc.target);
            chunk.codes.push(arc.weight);
        } else if self.keeps_loops {
            chunk.loops.extend([arc.source, arc.weight]);
        } else {
            self.dropped_loop_count += 1;
        }
    }

    /// Returns the last chunk, the number of arcs combined with earlier ones, and the number of dropped loops.
    pub fn finish(mut self) -> (Option<Vec<u8>>, u64, u64) {
        self.emit();
        let last = (!self.chunk.degrees.is_empty()).then(|| self.chunk.to_bytes());
        (last, self.combined_count, self.dropped_loop_count)
    }
}

/// Finder of the bounds of parts: determines where the engine's blocks begin and lets parts begin at some of them.
pub struct Cutter {
    limits: BlockLimits,
    part_arcs: u64,
    /// Current node, whose degree may be incomplete.
    node: u32,
    /// Number of arcs of the current node so far.
    degree: u64,
    /// Number of nodes in the block so far.
    block_nodes: usize,
    /// Number of arcs in the block so far.
    block_arcs: u64,
    /// Number of nodes and arcs in the part before the block.
    arcs: u64,
    bounds: Vec<u32>,
}

impl Cutter {
    /// Creates a cutter for a graph of `node_count` nodes and parts of about `part_arcs` nodes and arcs together.
    pub fn new(node_count: u32, part_arcs: u64) -> Self {
        Self::with(BlockLimits::of(node_count.into()), part_arcs)
    }

    pub(super) fn with(limits: BlockLimits, part_arcs: u64) -> Self {
        let (node, degree, block_nodes, block_arcs, arcs) = (0, 0, 0, 0, 0);
        Self { limits, part_arcs, node, degree, block_nodes, block_arcs, arcs, bounds: vec![0] }
    }

    /// Adds the degrees of consecutive nodes, the first of which may be the last one added before. Nodes that are
    /// never added have no arcs.
    ///
    /// # Errors
    /// `CorruptFile` if a node comes before those already added.
    pub fn add(&mut self, first_node: u32, degrees: &[u32]) -> Result<()> {
        for (node, &degree) in (first_node..).zip(degrees) {
            if node < self.node {
                return Err(damaged("degrees are not in the order of nodes"));
            }
            self.close_before(node);
            self.degree += u64::from(degree);
        }
        Ok(())
    }

    /// Closes all nodes before `node`.
    fn close_before(&mut self, node: u32) {
        while self.node < node {
            self.close();
            (self.node, self.degree) = (self.node + 1, 0);
        }
    }

    /// Assigns the current node, whose degree is complete, to a block.
    fn close(&mut self) {
        let max_arcs = self.limits.block_arcs as u64;
        if self.block_nodes > 0 && self.block_arcs + self.degree > max_arcs {
            self.end_block(self.node);
        }
        self.block_nodes += 1;
        self.block_arcs += self.degree;
        if self.block_nodes == self.limits.block_nodes || self.degree > max_arcs {
            self.end_block(self.node + 1);
        }
    }

    fn end_block(&mut self, next: u32) {
        self.arcs += self.block_arcs + self.block_nodes as u64;
        (self.block_nodes, self.block_arcs) = (0, 0);
        if self.arcs >= self.part_arcs {
            self.bounds.push(next);
            self.arcs = 0;
        }
    }

    /// Returns the first nodes of all parts, followed by the number of nodes.
    ///
    /// # Errors
    /// `CorruptFile` if more nodes were added.
    pub fn finish(mut self, node_count: u32) -> Result<Vec<u32>> {
        if self.node >= node_count {
            return Err(damaged("there are more nodes than were counted"));
        }
        self.close_before(node_count);
        if self.bounds.last() != Some(&node_count) {
            self.bounds.push(node_count);
        }
        Ok(self.bounds)
    }
}

/// Cuts a chunk at the bounds of parts: returns each part that it has nodes of, with that part's piece of the chunk.
///
/// # Errors
/// `CorruptFile`.
pub fn cut(chunk: &[u8], bounds: &[u32]) -> Result<Vec<(u32, Vec<u8>)>> {
    let whole = Chunk::from_bytes(chunk)?;
    let end = whole.first_node + whole.degrees.len() as u32;
    let parts = bounds.windows(2).zip(0..);
    let parts = parts.skip_while(|(bounds, _)| bounds[1] <= whole.first_node);
    let cut = parts
        .take_while(|(bounds, _)| bounds[0] < end)
        .map(|(bounds, part)| (part, whole.of_nodes(bounds[0]..bounds[1])));
    Ok(cut.map(|(part, chunk)| (part, chunk.to_bytes())).collect())
}

/// Writer of a part from its chunks.
pub struct PartWriter {
    files: Files,
    writer: GraphWriter,
    nodes: Range<u32>,
    next: (u32, u32),
}

impl PartWriter {
    /// Creates a writer of the part with the nodes `nodes`.
    ///
    /// # Errors
    /// None of the disk: all files are in memory.
    pub fn new(nodes: Range<u32>, node_count: u32) -> Result<Self> {
        Self::with(nodes, node_count, BlockLimits::of(node_count.into()))
    }

    pub(super) fn with(nodes: Range<u32>, node_count: u32, limits: BlockLimits) -> Result<Self> {
        let files = Files::new(Arc::new(Ram::default()));
        let options = GraphOptions {
            node_count: node_count.into(),
            directed: false,
            // Repeated arcs are combined already.
            duplicates: Duplicates::First,
            keep_loops: true,
        };
        let range = nodes.start.into()..nodes.end.into();
        let directory = Path::new("part");
        let writer = GraphWriter::create_part(&files, directory, &options, range, limits)?;
        let next = (nodes.start, 0);
        Ok(Self { files, writer, nodes, next })
    }

    /// Adds the next chunk.
    ///
    /// # Errors
    /// `CorruptFile` if it has arcs of other nodes, or comes before an earlier chunk.
    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        let chunk = Chunk::from_bytes(chunk)?;
        let mut records = Vec::with_capacity(chunk.targets.len() + chunk.loops.len() / 2);
        let one = Weight::ONE.code();
        let mut loops = chunk.loops.as_chunks::<2>().0.iter().peekable();
        let mut arcs = 0..;
        for (source, &degree) in (chunk.first_node..).zip(&chunk.degrees) {
            let own = loops.next_if(|[node, _]| *node == source);
            let mut own = own.map(|&[node, weight]| ArcRecord { source, target: node, weight });
            for at in arcs.by_ref().take(degree as usize) {
                let (target, weight) =
                    (chunk.targets[at], chunk.codes.get(at).copied().unwrap_or(one));
                if let Some(own) = own.take_if(|own| own.target < target) {
                    records.push(own);
                }
                records.push(ArcRecord { source, target, weight });
            }
            records.extend(own);
        }
        for arc in &records {
            let key = (arc.source, arc.target);
            if !self.nodes.contains(&arc.source) || key < self.next {
                return Err(damaged("a part has arcs of other parts, or unsorted arcs"));
            }
            self.next = (arc.source, arc.target.saturating_add(1));
        }
        self.writer.push(&records)
    }

    /// Returns the part, for [`Part::open`](super::Part::open).
    ///
    /// # Errors
    /// Like [`PartWriter::new`].
    pub fn finish(self) -> Result<Vec<u8>> {
        self.writer.finish()?;
        let mut out = Vec::new();
        for name in ["graph.json", "arcs"] {
            put_bytes(&self.files.read(&Path::new("part").join(name))?, &mut out);
        }
        Ok(out)
    }
}

/// Returns the first node of a chunk and the degrees of its nodes within the chunk, for [`Cutter::add`].
///
/// # Errors
/// `CorruptFile`.
pub fn degrees_of(chunk: &[u8]) -> Result<(u32, Vec<u32>)> {
    let chunk = Chunk::from_bytes(chunk)?;
    Ok((chunk.first_node, chunk.degrees))
}
