//! Context of a running clustering, shared by all code that runs sweeps. Memory may decide what is cached and what runs
//! in parallel, never a result; size classes follow from the graph alone.

use super::memory::Fit;
use super::nested::TREE_SIZE;
use crate::base::pace::ClusterProgress;
use crate::kernel::cache::BlockSource;
use crate::kernel::sweep::{LARGE_DEGREE, MOST_LABELS};
use crate::methods::options::ClusterOptions;
use outcore_graph::Graph;
use outcore_io::error::opt::{MEMORY, THREADS};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::{Event, notify};
use outcore_io::units::{format_bytes, format_counted, size_to_type};
use std::path::Path;

/// Maximum number of nodes and arcs of a small graph.
const SMALL_SIZE: u64 = 1 << 15;
/// Maximum number of nodes and arcs of a graph of medium size: a million edges.
const MEDIUM_SIZE: u64 = 3 << 20;
/// Number of arcs of a level below which a search takes less time than starting a thread.
const PARALLEL_ARCS: u64 = 1 << 12;

/// Limits of working memory and of size classes; tests change them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScratchLimits {
    pub(crate) large_degree: u64,
    pub(crate) max_labels: u64,
    /// Maximum number of nodes and arcs of a small graph, and of one of medium size.
    pub(crate) small_size: u64,
    pub(crate) medium_size: u64,
    /// Minimum number of arcs of a level whose searches run in parallel.
    pub(crate) parallel_arcs: u64,
    /// Maximum number of nodes and arcs of a graph whose tree is sought as a whole, and of other networks in memory.
    pub(crate) tree_size: u64,
    pub(crate) part_size: u64,
}

/// Class of a graph by its size, which determines the number of starts; independent of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeClass {
    /// Every start is tried on the graph itself.
    Small,
    /// Some starts are tried on the graph itself.
    Medium,
    /// No start is tried on the graph itself, since each of its scans takes long.
    Large,
}

impl Default for ScratchLimits {
    fn default() -> Self {
        Self {
            large_degree: LARGE_DEGREE,
            max_labels: MOST_LABELS,
            small_size: SMALL_SIZE,
            medium_size: MEDIUM_SIZE,
            parallel_arcs: PARALLEL_ARCS,
            tree_size: TREE_SIZE,
            part_size: TREE_SIZE,
        }
    }
}

impl ScratchLimits {
    /// Returns the number of parallel searches on a level with `arcs` arcs, if memory allows `most`.
    pub(crate) fn width(&self, tasks: usize, threads: usize, arcs: u64, most: u64) -> usize {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if arcs < self.parallel_arcs { 1 } else { tasks.min(threads).min(most).max(1) }
    }

    pub(crate) fn size_class(&self, nodes: u64, arcs: u64) -> SizeClass {
        match nodes.saturating_add(arcs) {
            size if size <= self.small_size => SizeClass::Small,
            size if size <= self.medium_size => SizeClass::Medium,
            _ => SizeClass::Large,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ClusterJob<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) options: &'a ClusterOptions,
    pub(crate) limits: ScratchLimits,
    pub(crate) memory: u64,
    pub(crate) fit: Fit,
    /// Required part of `memory`; the rest caches blocks.
    pub(crate) needed: u64,
    /// Memory required until the sweeps end, at most `needed`.
    pub(crate) swept: u64,
    /// Bytes per node of a directed graph for the flow of nodes, groups and communities.
    pub(crate) flow_bytes: u64,
    /// Directory for temporary files.
    pub(crate) scratch: &'a Path,
    pub(crate) observer: &'a ClusterProgress<'a>,
}

impl ClusterJob<'_> {
    /// Returns the blocks of the graph; up to `kept_bytes` bytes of them are cached.
    pub(crate) fn blocks(&self, kept_bytes: u64) -> BlockSource<'_> {
        let source = BlockSource::new(self.graph, kept_bytes).reading_ahead(self.fit.ahead);
        source.paced(self.observer)
    }

    /// Returns the job with the memory that it needs until the sweeps end.
    pub(super) fn sweeping(&self) -> Self {
        Self { needed: self.swept, ..*self }
    }

    /// Returns the memory beyond the required part.
    pub(crate) fn rest(&self) -> u64 {
        self.memory - self.needed
    }

    pub(crate) fn size_class(&self) -> SizeClass {
        self.limits.size_class(self.graph.node_count(), self.graph.arc_count())
    }

    /// Returns the maximum size of a community; `None` if the graph does not have more nodes.
    pub(crate) fn most(&self) -> Option<u32> {
        self.options.max_size.filter(|&most| u64::from(most) < self.graph.node_count())
    }

    pub(crate) fn too_little_memory(&self, needed: u64) -> Error {
        let message = format!(
            "clustering needs {} of memory, but the limit is {}",
            format_bytes(needed),
            format_bytes(self.memory)
        );
        Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format_args!("use {}, or fewer {THREADS}", MEMORY.of(size_to_type(needed))))
    }

    /// Returns the memory reserved for the strengths of nodes. They are known when pieces are connected, but their
    /// communities only afterwards. They are stored if memory allows, and otherwise computed in another scan. The
    /// memory is reserved from the start, since freed memory is not always available again.
    pub(crate) fn strength_bytes(&self) -> u64 {
        let rest = self.rest();
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || rest < bytes { 0 } else { bytes }
    }

    /// Returns the memory for cached blocks in label propagation.
    pub(crate) fn cache_bytes(&self) -> u64 {
        let bytes = self.rest() - self.strength_bytes();
        // The other half is for the edges inside communities.
        if self.options.well_connected.is_some() { bytes / 2 } else { bytes }
    }

    /// Corrects the estimate of label propagation after `sweeps` sweeps; see [`ClusterOptions::expected_sweeps`].
    pub(crate) fn expect_sweeps(
        &self,
        sweeps: u32,
        before: u64,
        moved: u64,
        enough: f64,
    ) -> Result<()> {
        let arcs = self.graph.arc_count() as f64;
        let (left, after) = self.options.expected_sweeps(sweeps, before, moved, enough);
        self.observer.expect(left.map(|left| left * arcs), after * arcs)
    }

    pub(crate) fn report_resumed(&self, sweeps: u32) -> Result<()> {
        let sweeps = format_counted(sweeps.into(), "sweep", "sweeps");
        let text = format!("resuming after {sweeps} of a stopped run");
        notify(self.observer, Event::Detail { text: &text })
    }
}
