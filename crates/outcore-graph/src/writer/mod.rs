//! Writer of the arcs of a graph: merged records in, encoded blocks out.
//!
//! ```text
//!  push --combine--> raw block being filled --channel--> encoder thread --io::Writer--> arcs
//!                             ^                              |
//!                             `------ empty raw block -------'
//! ```
//!
//! The caller's thread compares adjacent records, adds weights and copies: about 4 ns per record. The encoder takes
//! about 5 ns per arc. Memory: [`GraphWriter::MEMORY_BYTES`], whatever the degrees: a node that outgrows a block is
//! handed over in parts and becomes a hub block. The bytes depend only on the arcs and the options, never on threads,
//! on memory or on how arcs are divided among calls.

mod combine;
mod encoder;
mod extend;

use super::arc::ArcRecord;
use super::index::{IndexedWriter, too_many_nodes};
use super::kinds::KindsSummary;
use super::manifest::{
    EdgeRules, GraphManifest, GraphOptions, GraphSummary, NameType, NodeNames, Recorded, too_heavy,
};
use super::{ARCS_MAGIC, BlockLimits, arcs_path, manifest_path};
use outcore_io::Files;
use outcore_io::error::Result;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use combine::Combiner;
use encoder::{EncodeWork, EncoderThread, RawBlock};
pub use extend::extend;

/// Writer of the arcs of a graph; if dropped before [`GraphWriter::finish`], nothing remains.
pub struct GraphWriter {
    files: Files,
    directory: PathBuf,
    options: GraphOptions,
    recorded: Recorded,
    limits: BlockLimits,
    /// Nodes whose arcs are written: all, or some of a larger graph.
    nodes: Range<u64>,
    combiner: Combiner,
    raw: RawBlock,
    current: CurrentNode,
    encoder: EncoderThread,
}

/// Node whose arcs are being added.
struct CurrentNode {
    number: u64,
    /// Beginning of its arcs in the raw block.
    start: usize,
    /// Whether some of its arcs have been handed over already.
    is_hub: bool,
}

impl GraphWriter {
    /// Maximum memory of the writer, not counting the index (40 bytes per block): two raw blocks, one
    /// encoded, and the buffers of the file.
    pub const MEMORY_BYTES: usize = 32 << 20;

    /// Starts a graph in `directory`, which is created if it does not exist.
    ///
    /// # Errors
    /// `TooManyNodes`, `Io`, `DiskFull`.
    pub fn create(files: &Files, directory: &Path, options: &GraphOptions) -> Result<Self> {
        Self::create_with(files, directory, options, BlockLimits::of(options.node_count))
    }

    /// Like [`GraphWriter::create`], with blocks of a few nodes and arcs, so that a graph of a few hundred
    /// bytes has every kind of block.
    ///
    /// # Errors
    /// Like [`GraphWriter::create`].
    #[cfg(feature = "sim")]
    pub fn create_tiny(files: &Files, directory: &Path, options: &GraphOptions) -> Result<Self> {
        Self::create_with(files, directory, options, BlockLimits::TINY)
    }

    pub(crate) fn create_with(
        files: &Files,
        directory: &Path,
        options: &GraphOptions,
        limits: BlockLimits,
    ) -> Result<Self> {
        Self::create_part(files, directory, options, 0..options.node_count, limits)
    }

    /// Like [`GraphWriter::create`], for only the arcs that leave `nodes`. This range must begin and end at block
    /// boundaries of the complete graph, so that the blocks are identical.
    ///
    /// # Errors
    /// Like [`GraphWriter::create`].
    pub fn create_part(
        files: &Files,
        directory: &Path,
        options: &GraphOptions,
        nodes: Range<u64>,
        limits: BlockLimits,
    ) -> Result<Self> {
        assert!(limits.block_arcs.is_multiple_of(limits.segment_arcs));
        if options.node_count > 1 << 32 {
            return Err(too_many_nodes(directory));
        }
        files.create_directory(directory)?;
        let file = IndexedWriter::create(files, &arcs_path(directory), ARCS_MAGIC)?;
        Ok(Self {
            files: files.clone(),
            directory: directory.to_path_buf(),
            options: options.clone(),
            recorded: Recorded::default(),
            limits,
            combiner: Combiner::new(options.duplicates),
            raw: RawBlock::default(),
            current: CurrentNode { number: nodes.start, start: 0, is_hub: false },
            encoder: EncoderThread::start(file, limits, nodes.start),
            nodes,
        })
    }

    /// Records how edges became arcs, and what names mean and are.
    #[must_use]
    pub fn recording(
        mut self,
        rules: EdgeRules,
        names: Option<NodeNames>,
        name_type: NameType,
    ) -> Self {
        (self.recorded.rules, self.recorded.names) = (Some(rules), names);
        self.recorded.name_type = name_type;
        self
    }

    /// Records the kinds of nodes, whose file is complete.
    #[must_use]
    pub fn of_kinds(mut self, kinds: Option<KindsSummary>) -> Self {
        self.recorded.kinds = kinds;
        self
    }

    /// Appends arcs in ascending order of (source, target), equal pairs adjacent: ascending by weight for
    /// [`Sum`](super::Duplicates::Sum), in order of appearance for [`First`](super::Duplicates::First).
    /// Expects both arcs of an undirected edge, and one of a loop.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    ///
    /// # Panics
    /// Panics if arcs are out of order or an index is not below the node count.
    pub fn push(&mut self, arcs: &[ArcRecord]) -> Result<()> {
        let count = self.options.node_count;
        for &arc in arcs {
            assert!(
                u64::from(arc.source.max(arc.target)) < count,
                "arc ({}, {}) in a graph of {count} nodes",
                arc.source,
                arc.target
            );
            let Some(before) = self.combiner.add(arc) else { continue };
            assert!(
                arc.pair() > before.pair(),
                "arc ({}, {}) comes after ({}, {})",
                arc.source,
                arc.target,
                before.source,
                before.target
            );
            self.emit(before)?;
        }
        Ok(())
    }

    /// Counts arcs that were combined with others before these were appended.
    pub fn count_combined(&mut self, count: u64) {
        self.recorded.combined_count += count;
    }

    /// Adds an arc that no later record changes.
    #[inline]
    fn emit(&mut self, arc: ArcRecord) -> Result<()> {
        let is_usual = u64::from(arc.source) == self.current.number
            && arc.source != arc.target
            && self.raw.targets.len() < self.limits.block_arcs;
        if !is_usual {
            return self.emit_slow(arc);
        }
        self.raw.targets.push(arc.target);
        self.raw.weights.push(arc.weight);
        Ok(())
    }

    #[inline(never)]
    fn emit_slow(&mut self, arc: ArcRecord) -> Result<()> {
        while self.current.number < u64::from(arc.source) {
            self.end_node()?;
        }
        if arc.source == arc.target {
            if self.options.keep_loops {
                self.raw.loops.push((self.raw.degrees.len() as u32, arc.weight));
            } else {
                self.recorded.dropped_loop_count += 1;
            }
            return Ok(());
        }
        while self.raw.targets.len() == self.limits.block_arcs {
            self.make_room()?;
        }
        self.raw.targets.push(arc.target);
        self.raw.weights.push(arc.weight);
        Ok(())
    }

    fn end_node(&mut self) -> Result<()> {
        self.current.number += 1;
        if std::mem::take(&mut self.current.is_hub) {
            return self.hand_over(|raw| EncodeWork::Hub { raw, is_last: true });
        }
        self.raw.degrees.push((self.raw.targets.len() - self.current.start) as u32);
        self.current.start = self.raw.targets.len();
        if self.raw.degrees.len() == self.limits.block_nodes {
            self.hand_over(EncodeWork::Block)?;
        }
        Ok(())
    }

    /// Makes room when the raw block is full in the middle of a node: ends the block before the node, or, if
    /// it is the first node, makes it a hub.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.raw.degrees.is_empty() {
            self.current.is_hub = true;
            return self.hand_over(|raw| EncodeWork::Hub { raw, is_last: false });
        }
        let local = self.raw.degrees.len() as u32;
        let start = self.current.start;
        let mut next = self.encoder.next_raw()?;
        next.targets.extend_from_slice(&self.raw.targets[start..]);
        next.weights.extend_from_slice(&self.raw.weights[start..]);
        if let Some((_, code)) = self.raw.loops.pop_if(|(node, _)| *node == local) {
            next.loops.push((0, code));
        }
        self.raw.targets.truncate(start);
        self.raw.weights.truncate(start);
        self.send(next, EncodeWork::Block)
    }

    fn hand_over(&mut self, work: impl FnOnce(RawBlock) -> EncodeWork) -> Result<()> {
        let next = self.encoder.next_raw()?;
        self.send(next, work)
    }

    fn send(&mut self, next: RawBlock, work: impl FnOnce(RawBlock) -> EncodeWork) -> Result<()> {
        let full = std::mem::replace(&mut self.raw, next);
        self.current.start = 0;
        self.encoder.send(work(full))
    }

    /// Finishes `arcs`, then writes `graph.json`.
    ///
    /// # Errors
    /// `BadInput` if the sum of all weights is too large for `f64`; `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<GraphSummary> {
        if let Some(last) = self.combiner.take() {
            self.emit(last)?;
        }
        while self.current.number < self.nodes.end {
            self.end_node()?;
        }
        if !self.raw.degrees.is_empty() {
            self.hand_over(EncodeWork::Block)?;
        }
        self.count_combined(self.combiner.combined_counts().0);
        let totals = self.encoder.finish()?;
        if totals.are_too_heavy() {
            return Err(too_heavy());
        }
        let announced = self.nodes.end - self.nodes.start;
        assert_eq!(totals.node_count, announced, "nodes written and announced");
        let manifest = GraphManifest::new(&self.options, &self.limits, &totals, self.recorded);
        let bytes = manifest.to_bytes();
        self.files.write_own(&manifest_path(&self.directory), &bytes)?;
        Ok(manifest.summary(totals.sealed.bytes + bytes.len() as u64))
    }
}
