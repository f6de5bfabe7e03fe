//! Context of a running clustering, shared by all code that runs sweeps.

use super::memory::Fit;
use crate::cluster::base::bits::Bits;
use crate::cluster::base::pace::ClusterProgress;
use crate::cluster::base::table::Sum;
use crate::cluster::finish::closing::{Finish, SweptLabels};
use crate::cluster::finish::communities::Communities;
use crate::cluster::kernel::cache::BlockSource;
use crate::cluster::kernel::sweep::{LARGE_DEGREE, MOST_LABELS};
use crate::cluster::methods::options::ClusterOptions;
use crate::cluster::methods::table::LevelSpec;
use crate::error::opt::{MEMORY, THREADS};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::progress::{Event, notify};
use crate::units::{format_bytes, format_counted, size_to_type};
use std::path::Path;

/// Nodes and arcs of a graph that is small enough to start on it several times.
const START_SIZE: u64 = 1 << 14;
/// Arcs of a graph of which all given communities are examined for parts.
const EXAMINED_ARCS: u64 = 1 << 21;

/// Bounds of working memory and of small graphs; tests lower them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScratchLimits {
    pub(crate) large_degree: u64,
    pub(crate) most_labels: u64,
    /// Nodes and arcs of a graph that is small enough for several starts.
    pub(crate) start_size: u64,
    /// Arcs of a graph of which all given communities are examined for parts.
    pub(crate) examined_arcs: u64,
}

impl Default for ScratchLimits {
    fn default() -> Self {
        Self {
            large_degree: LARGE_DEGREE,
            most_labels: MOST_LABELS,
            start_size: START_SIZE,
            examined_arcs: EXAMINED_ARCS,
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
    /// Directory for temporary files.
    pub(crate) scratch: &'a Path,
    pub(crate) observer: &'a ClusterProgress<'a>,
}

impl ClusterJob<'_> {
    /// Returns the blocks of the graph, of which `kept_bytes` bytes are cached.
    pub(crate) fn blocks(&self, kept_bytes: u64) -> BlockSource<'_> {
        let source = BlockSource::new(self.graph, kept_bytes).reading_ahead(self.fit.ahead);
        source.paced(self.observer)
    }

    /// Returns the memory beyond the required part.
    pub(crate) fn rest(&self) -> u64 {
        self.memory - self.needed
    }

    /// Returns whether the graph is small enough for several starts.
    pub(crate) fn is_small(&self) -> bool {
        let size = self.graph.node_count().saturating_add(self.graph.arc_count());
        size <= self.limits.start_size
    }

    /// Returns the maximum size of a community, if the graph has more nodes.
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

    /// Returns the memory reserved for the strengths of nodes. Strengths are known when pieces are connected, but
    /// their communities only afterwards: they are stored if memory allows, and otherwise computed in another
    /// scan. The memory is reserved from the start, since freed memory is not always available again.
    pub(crate) fn strength_bytes(&self) -> u64 {
        let rest = self.rest();
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || rest < bytes { 0 } else { bytes }
    }

    /// Corrects the estimate of label propagation after `sweeps` sweeps; see [`ClusterOptions::expected_sweeps`].
    pub(crate) fn expect_sweeps(&self, sweeps: u32, moved: (u64, u64), enough: f64) -> Result<()> {
        let arcs = self.graph.arc_count() as f64;
        let (left, after) = self.options.expected_sweeps(sweeps, moved, enough);
        self.observer.expect(left.map(|left| left * arcs), after * arcs)
    }

    pub(crate) fn report_resumed(&self, sweeps: u32) -> Result<()> {
        let sweeps = format_counted(sweeps.into(), "sweep", "sweeps");
        let text = format!("resuming after {sweeps} of a stopped run");
        notify(self.observer, Event::Detail { text: &text })
    }

    /// Splits, numbers and rates communities; see [`Finish::all`].
    pub(crate) fn finish_all<S: Sum>(
        &self,
        source: &mut BlockSource<'_>,
        outcomes: Vec<SweptLabels>,
        held: Option<&Bits>,
    ) -> Result<Vec<Communities>> {
        let levels = self.options.method.levels();
        let finish = Finish {
            graph: self.graph,
            observer: self.observer,
            // Multilevel methods have used more memory than that before.
            is_remembered: levels.is_some() || self.strength_bytes() > 0,
            counts_cuts: levels.is_some_and(LevelSpec::has_code_length),
        };
        finish.all::<S>(source, outcomes, held)
    }
}
