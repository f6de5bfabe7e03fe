//! Access to an open graph: blocks one by one, or read ahead of the caller.
//!
//! A scan has two threads: one reads ranges ([`ReadAhead`]), one verifies them and turns them into blocks.
//! Memory of a scan: `depth` blocks ready, `depth` ranges read, and the blocks that the caller holds.

use super::block::{Block, BlockContext, SEGMENT_ARCS};
use super::index::{BlockEntry, read_index};
use super::kinds::{Kinds, KindsSummary, NodeKinds};
use super::manifest::{
    EdgeRules, GraphManifest, GraphSummary, NameType, SUM_EXPONENT_MAX, too_heavy,
};
use super::names::{NameScan, Names};
use super::view::View;
use super::{ARCS_MAGIC, BLOCK_NODES, arcs_path, kinds_path, manifest_path, names_path};
use crossbeam_channel::{Receiver, bounded, unbounded};
use outcore_io::error::{Error, Result};
use outcore_io::{Files, Mode, ReadAhead};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Open graph.
pub struct Graph {
    files: Files,
    directory: PathBuf,
    manifest: GraphManifest,
    shared: Arc<BlockContext>,
    /// Bytes of `arcs` and `graph.json`.
    arc_bytes: u64,
    bytes_on_disk: u64,
}

impl Graph {
    /// Opens the graph in `directory`: reads the counts and the index of blocks.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn open(files: &Files, directory: &Path) -> Result<Self> {
        Self::open_with(files, directory, Mode::Read)
    }

    /// Opens the graph in `directory` so that arcs are read in `mode`: through the page cache for a graph
    /// that fits into it, bypassing it for a larger one.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub(crate) fn open_with(files: &Files, directory: &Path, mode: Mode) -> Result<Self> {
        let (manifest, manifest_bytes) = GraphManifest::read(files, &manifest_path(directory))?;
        let file = files.open(&arcs_path(directory), mode)?;
        let (entries, sealed) = read_index(&file, ARCS_MAGIC)?;
        let names = files.entry(&names_path(directory)).map_or(0, |entry| entry.bytes);
        let node_count: u64 = entries.iter().map(|entry| u64::from(entry.node_count)).sum();
        let arc_count =
            entries.iter().try_fold(0u64, |sum, entry| sum.checked_add(entry.arc_count));
        if !manifest.seals(sealed) {
            return Err(Error::corrupt(file.path(), "it belongs to another `graph.json`"));
        }
        let (first_node, targets) = manifest.part_of.unwrap_or((0, node_count));
        let fits = node_count == manifest.node_count
            && entries.first().is_none_or(|entry| u64::from(entry.first_node) == first_node)
            && first_node.checked_add(node_count).is_some_and(|end| end <= targets)
            && arc_count == Some(manifest.arc_count)
            && (1..=SEGMENT_ARCS as u64).contains(&manifest.segment_arcs)
            && entries.iter().all(|entry| u64::from(entry.node_count) <= BLOCK_NODES);
        if !fits {
            return Err(Error::corrupt(file.path(), "its index disagrees with `graph.json`"));
        }
        let shared = Arc::new(BlockContext {
            file: Arc::new(file),
            entries,
            node_count: targets,
            segment_arcs: manifest.segment_arcs as usize,
            block_arcs: manifest.block_arcs,
            view: None,
        });
        let arc_bytes = manifest_bytes + sealed.bytes;
        let kinds = manifest.kinds.as_ref().map_or(0, KindsSummary::bytes);
        let bytes_on_disk = arc_bytes + names + kinds;
        let directory = directory.to_path_buf();
        Ok(Self { files: files.clone(), directory, manifest, shared, arc_bytes, bytes_on_disk })
    }

    pub(super) fn manifest(&self) -> &GraphManifest {
        &self.manifest
    }

    pub(super) fn shared(&self) -> &Arc<BlockContext> {
        &self.shared
    }

    pub(super) fn with_shared(&self, shared: Arc<BlockContext>) -> Self {
        let (files, directory) = (self.files.clone(), self.directory.clone());
        Self { files, directory, shared, manifest: self.manifest.clone(), ..*self }
    }

    /// Returns this graph seen through `view`.
    #[must_use]
    pub fn seen_as(&self, view: &View) -> Self {
        let view = (!view.is_plain()).then_some(*view);
        self.with_shared(Arc::new(self.shared().with_view(view)))
    }

    /// Returns whether arcs are changed as they are decoded.
    pub fn has_view(&self) -> bool {
        self.shared.view.is_some_and(|view| view.changes_arcs())
    }

    /// Returns the storage that the graph is read from.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the checksum that identifies the graph: it covers counts, options, and the seal of the arcs.
    pub fn checksum(&self) -> &str {
        &self.manifest.checksum
    }

    /// Returns the directory of the graph.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the summary of its writer; a view does not change it.
    pub fn summary(&self) -> GraphSummary {
        self.manifest.summary(self.arc_bytes)
    }

    /// Returns the type of the names.
    pub fn name_type(&self) -> NameType {
        self.manifest.name_type
    }

    /// Returns how edges became arcs, if the job that wrote the graph has recorded it.
    pub fn rules(&self) -> Option<EdgeRules> {
        self.manifest.rules
    }

    /// Returns whether this is a part of a larger graph.
    pub fn is_part(&self) -> bool {
        self.manifest.part_of.is_some()
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        self.manifest.node_count
    }

    /// Returns the number of arcs, loops not counted: two per edge if undirected.
    pub fn arc_count(&self) -> u64 {
        self.manifest.arc_count
    }

    /// Returns the number of edges between different nodes.
    pub fn edge_count(&self) -> u64 {
        self.manifest.edge_count
    }

    /// Returns the number of nodes with a loop.
    pub fn loop_count(&self) -> u64 {
        self.manifest.loop_count
    }

    /// Returns whether an arc may lack its opposite.
    pub fn is_directed(&self) -> bool {
        self.manifest.directed
    }

    /// Returns whether any weight, of an arc or a loop, is not 1.
    pub fn is_weighted(&self) -> bool {
        self.manifest.weighted
    }

    /// Returns the sum of the arcs' weights in their order, loops not counted.
    pub fn weight_total(&self) -> f64 {
        let total = self.manifest.weight_total;
        self.shared.view.as_ref().map_or(total, |view| view.sum_of(total))
    }

    /// Returns the exponent of a power of two to multiply weights by. It brings the sum of all weights into the range
    /// from 2^-`most` to 2^`most`, so that products of sums stay in the range of `f64`; 0 for ordinary weights.
    ///
    /// # Errors
    /// `BadInput` if the sum is too large for `f64`, in a graph of a version that did not refuse to write it.
    pub fn shift_within(&self, most: i32) -> Result<i32> {
        let exponent = self.manifest.strength_exponent();
        if exponent > SUM_EXPONENT_MAX {
            return Err(too_heavy().note(format_args!("in `{}`", self.directory.display())));
        }
        Ok(exponent.clamp(-most, most) - exponent)
    }

    /// Returns the maximum number of arcs of a node, loops not counted.
    pub fn max_degree(&self) -> u64 {
        self.manifest.max_degree
    }

    /// Returns the bytes of all files of the graph.
    pub fn bytes_on_disk(&self) -> u64 {
        self.bytes_on_disk
    }

    /// Returns the bytes of `arcs` and `graph.json`.
    pub fn arc_bytes(&self) -> u64 {
        self.arc_bytes
    }

    /// Returns all blocks in node order.
    pub fn blocks(&self) -> &[BlockEntry] {
        &self.shared.entries
    }

    /// Returns whether a block is a single node whose arcs are streamed.
    #[cfg(test)]
    pub(super) fn is_hub_block(&self, block: usize) -> bool {
        self.shared.is_hub(&self.shared.entries[block])
    }

    /// Reads one block.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn read_block(&self, block: usize) -> Result<Block> {
        let (offset, bytes) = self.shared.range(block)?;
        Block::load(&self.shared, block, &self.shared.file.read_range(offset, bytes)?)
    }

    /// Reads the `wanted` blocks in the order given, at most `depth` of them ahead.
    pub fn scan(
        &self,
        wanted: impl IntoIterator<Item = usize, IntoIter: Send + 'static>,
        depth: usize,
    ) -> BlockScan {
        let depth = depth.max(1);
        let (to_caller, blocks) = bounded(depth);
        let shared = self.shared.clone();
        let wanted = wanted.into_iter();
        let thread = std::thread::spawn(move || {
            let (order, ordered) = unbounded();
            let (failed, failures) = bounded(1);
            let of_ranges = shared.clone();
            let ranges = wanted.map_while(move |index| {
                // The receiver is gone when the scan has been dropped.
                match of_ranges.range(index) {
                    Ok(range) => order.send(index).is_ok().then_some(range),
                    Err(error) => failed.send(error).map_or(None, |()| None),
                }
            });
            let mut ahead = ReadAhead::new(shared.file.clone(), ranges, depth);
            loop {
                let block = match ahead.next_range() {
                    Ok(Some(bytes)) => {
                        let index = ordered.recv().expect("sent before the range");
                        Block::load(&shared, index, bytes).map(Arc::new)
                    }
                    Ok(None) => match failures.try_recv() {
                        Ok(error) => Err(error),
                        Err(_) => return,
                    },
                    Err(error) => Err(error),
                };
                let is_last = block.is_err();
                if to_caller.send(block).is_err() || is_last {
                    return;
                }
            }
        });
        BlockScan { blocks: Some(blocks), thread: Some(thread) }
    }

    /// Opens the names.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn open_names(&self) -> Result<Names> {
        let names = Names::open(&self.files, &self.directory)?;
        if names.count() != self.node_count() {
            let message = format!("it has {} names for {} nodes", names.count(), self.node_count());
            return Err(Error::corrupt(&names_path(&self.directory), message));
        }
        Ok(names)
    }

    /// Reads all names in index order.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn names(&self) -> Result<NameScan> {
        Ok(self.open_names()?.scan())
    }

    /// Returns the kinds of nodes, if there are two.
    pub fn kinds(&self) -> Option<NodeKinds> {
        self.manifest.kinds.as_ref().map(KindsSummary::kinds)
    }

    /// Returns whether nodes are of two kinds.
    pub fn has_kinds(&self) -> bool {
        self.manifest.kinds.is_some()
    }

    /// Opens the kinds of the nodes, if there are two.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn open_kinds(&self) -> Result<Option<Kinds>> {
        let Some(recorded) = &self.manifest.kinds else { return Ok(None) };
        let found = recorded.open(&self.files, &self.directory)?;
        if found.count() != self.node_count() {
            let message = format!("it has {} kinds for {} nodes", found.count(), self.node_count());
            return Err(Error::corrupt(&kinds_path(&self.directory), message));
        }
        Ok(Some(found))
    }

    /// Returns whether the graph has names, which are optional.
    pub fn has_names(&self) -> bool {
        self.files.is_regular(&names_path(&self.directory))
    }
}

/// Scan of blocks, read ahead on threads.
pub struct BlockScan {
    blocks: Option<Receiver<Result<Arc<Block>>>>,
    thread: Option<JoinHandle<()>>,
}

impl BlockScan {
    /// Returns the next block, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    #[expect(clippy::should_implement_trait, reason = "an iterator would hide the errors")]
    pub fn next(&mut self) -> Result<Option<Arc<Block>>> {
        let Some(blocks) = &self.blocks else { return Ok(None) };
        if let Ok(block) = blocks.recv() {
            return block.map(Some);
        }
        self.blocks = None;
        // A panic in the thread is not the end of the blocks.
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => Ok(None),
        }
    }
}

impl Drop for BlockScan {
    fn drop(&mut self) {
        self.blocks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
