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

mod encoder;
mod extend;

use super::arc::ArcRecord;
use super::index::{IndexedWriter, too_many_nodes};
use super::kinds::KindsSummary;
use super::manifest::{
    BlockTotals, EdgeRules, GraphManifest, GraphOptions, GraphSummary, NodeNames, too_heavy,
};
use super::{ARCS_MAGIC, BlockLimits, arcs_path, manifest_path};
use crate::weight::Weight;
use crossbeam_channel::{Receiver, Sender, bounded};
use outcore_io::Files;
use outcore_io::error::{Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use encoder::{BlockEncoder, EncodeWork, RawBlock};
pub use extend::extend;

/// Writer of the arcs of a graph; if dropped before [`GraphWriter::finish`], nothing remains.
pub struct GraphWriter {
    files: Files,
    directory: PathBuf,
    options: GraphOptions,
    rules: Option<EdgeRules>,
    names: Option<NodeNames>,
    kinds: Option<KindsSummary>,
    limits: BlockLimits,
    /// Nodes whose arcs are written: all, or some of a larger graph.
    nodes: Range<u64>,
    /// Pending record, whose duplicates may follow, and the sum of its weights so far.
    pending: Option<ArcRecord>,
    pending_sum: f64,
    raw: RawBlock,
    /// Current node, the beginning of its arcs in `raw`, and whether it is a hub, some of whose arcs have
    /// been handed over already.
    node: u64,
    node_start: usize,
    is_hub: bool,
    dropped_loop_count: u64,
    combined_count: u64,
    to_encoder: Option<Sender<EncodeWork>>,
    empty: Receiver<RawBlock>,
    encoder: Option<JoinHandle<Result<BlockTotals>>>,
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
        let (to_encoder, work) = bounded(1);
        let (give_back, empty) = bounded(2);
        give_back.send(RawBlock::default()).expect("the channel has room");
        let first_node = nodes.start;
        let encoder = std::thread::spawn(move || {
            let mut encoder = BlockEncoder::new(file, limits, first_node);
            for work in work {
                let mut raw = match work {
                    EncodeWork::Block(raw) => encoder.block(raw)?,
                    EncodeWork::Hub { raw, is_last } => encoder.hub(raw, is_last)?,
                    EncodeWork::Finish => return encoder.finish(),
                };
                raw.clear();
                // The writer may have been dropped already; then the block is not needed.
                let _ = give_back.send(raw);
            }
            Err(Error::interrupted())
        });
        Ok(Self {
            files: files.clone(),
            directory: directory.to_path_buf(),
            options: options.clone(),
            rules: None,
            names: None,
            kinds: None,
            limits,
            pending: None,
            pending_sum: 0.0,
            raw: RawBlock::default(),
            node: first_node,
            nodes,
            node_start: 0,
            is_hub: false,
            dropped_loop_count: 0,
            combined_count: 0,
            to_encoder: Some(to_encoder),
            empty,
            encoder: Some(encoder),
        })
    }

    /// Records how edges became arcs, and what names mean.
    #[must_use]
    pub fn recording(mut self, rules: EdgeRules, names: Option<NodeNames>) -> Self {
        (self.rules, self.names) = (Some(rules), names);
        self
    }

    /// Records the kinds of nodes, whose file is complete.
    #[must_use]
    pub fn of_kinds(mut self, kinds: Option<KindsSummary>) -> Self {
        self.kinds = kinds;
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
        for &arc in arcs {
            let Some(pending) = self.pending else {
                self.begin(arc);
                continue;
            };
            if arc.pair() == pending.pair() {
                self.combine(pending, arc);
                continue;
            }
            assert!(
                arc.pair() > pending.pair(),
                "arc ({}, {}) comes after ({}, {})",
                arc.source,
                arc.target,
                pending.source,
                pending.target
            );
            self.emit(pending)?;
            self.begin(arc);
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, arc: ArcRecord) {
        let count = self.options.node_count;
        assert!(
            u64::from(arc.source.max(arc.target)) < count,
            "arc ({}, {}) in a graph of {count} nodes",
            arc.source,
            arc.target
        );
        self.pending = Some(arc);
        self.pending_sum = Weight::from_code(arc.weight).value();
    }

    fn combine(&mut self, mut pending: ArcRecord, arc: ArcRecord) {
        self.combined_count += 1;
        let (rule, sum) = (self.options.duplicates, &mut self.pending_sum);
        pending.weight = rule.combine(pending.weight, sum, arc.weight);
        self.pending = Some(pending);
    }

    /// Adds an arc that no later record changes.
    #[inline]
    fn emit(&mut self, arc: ArcRecord) -> Result<()> {
        let is_usual = u64::from(arc.source) == self.node
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
        while self.node < u64::from(arc.source) {
            self.end_node()?;
        }
        if arc.source == arc.target {
            if self.options.keep_loops {
                self.raw.loops.push((self.raw.degrees.len() as u32, arc.weight));
            } else {
                self.dropped_loop_count += 1;
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
        self.node += 1;
        if self.is_hub {
            self.is_hub = false;
            return self.hand_over(|raw| EncodeWork::Hub { raw, is_last: true });
        }
        self.raw.degrees.push((self.raw.targets.len() - self.node_start) as u32);
        self.node_start = self.raw.targets.len();
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
            self.is_hub = true;
            return self.hand_over(|raw| EncodeWork::Hub { raw, is_last: false });
        }
        let local = self.raw.degrees.len() as u32;
        let start = self.node_start;
        let mut next = self.next_raw()?;
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
        let next = self.next_raw()?;
        self.send(next, work)
    }

    fn next_raw(&mut self) -> Result<RawBlock> {
        match self.empty.recv() {
            Ok(raw) => Ok(raw),
            Err(_) => Err(self.failure()),
        }
    }

    fn send(&mut self, next: RawBlock, work: impl FnOnce(RawBlock) -> EncodeWork) -> Result<()> {
        let full = std::mem::replace(&mut self.raw, next);
        self.node_start = 0;
        let sent = self.to_encoder.as_ref().is_some_and(|encoder| encoder.send(work(full)).is_ok());
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    /// Returns the error that ended the encoder.
    fn failure(&mut self) -> Error {
        self.to_encoder = None;
        match self.encoder.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            _ => {
                let path = arcs_path(&self.directory);
                Error::io("write", &path, std::io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    /// Finishes `arcs`, then writes `graph.json`.
    ///
    /// # Errors
    /// `BadInput` if the sum of all weights is too large for `f64`; `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<GraphSummary> {
        if let Some(pending) = self.pending.take() {
            self.emit(pending)?;
        }
        while self.node < self.nodes.end {
            self.end_node()?;
        }
        if !self.raw.degrees.is_empty() {
            self.hand_over(EncodeWork::Block)?;
        }
        let sent =
            self.to_encoder.take().is_some_and(|encoder| encoder.send(EncodeWork::Finish).is_ok());
        let totals = match self.encoder.take().map(JoinHandle::join) {
            Some(Ok(result)) if sent || result.is_err() => result?,
            _ => return Err(self.failure()),
        };
        if totals.are_too_heavy() {
            return Err(too_heavy());
        }
        let announced = self.nodes.end - self.nodes.start;
        assert_eq!(totals.node_count, announced, "nodes written and announced");
        let manifest = GraphManifest::new(
            &self.options,
            &self.limits,
            &totals,
            self.combined_count,
            self.dropped_loop_count,
        );
        let manifest = manifest.of(self.rules, self.names, self.kinds.take());
        let bytes = manifest.to_bytes();
        self.files.write_own(&manifest_path(&self.directory), &bytes)?;
        Ok(manifest.summary(totals.sealed.bytes + bytes.len() as u64))
    }
}

impl Drop for GraphWriter {
    fn drop(&mut self) {
        self.to_encoder = None;
        if let Some(encoder) = self.encoder.take() {
            // Dropped before the end: the caller already has an error, or was stopped.
            let _ = encoder.join();
        }
    }
}
