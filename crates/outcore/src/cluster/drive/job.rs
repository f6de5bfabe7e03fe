//! A clustering under way: what everything that runs sweeps sees.

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

/// Bounds of scratch memory; tests lower them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScratchLimits {
    pub(crate) large_degree: u64,
    pub(crate) most_labels: u64,
}

impl Default for ScratchLimits {
    fn default() -> Self {
        Self { large_degree: LARGE_DEGREE, most_labels: MOST_LABELS }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ClusterJob<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) options: &'a ClusterOptions,
    pub(crate) limits: ScratchLimits,
    pub(crate) memory: u64,
    pub(crate) fit: Fit,
    /// What is needed of it; the rest keeps blocks.
    pub(crate) needed: u64,
    /// A directory for temporary files.
    pub(crate) scratch: &'a Path,
    pub(crate) observer: &'a ClusterProgress<'a>,
}

impl ClusterJob<'_> {
    /// The blocks of the graph, of which so many bytes are kept.
    pub(crate) fn blocks(&self, kept_bytes: u64) -> BlockSource<'_> {
        let source = BlockSource::new(self.graph, kept_bytes).reading_ahead(self.fit.ahead);
        source.paced(self.observer)
    }

    /// Memory beyond what is needed.
    pub(crate) fn rest(&self) -> u64 {
        self.memory - self.needed
    }

    /// The most nodes of a community, if there can be more.
    pub(crate) fn most(&self) -> Option<u32> {
        self.options.max_size.filter(|&most| u64::from(most) < self.graph.node_count())
    }

    pub(crate) fn too_little_memory(&self, needed: u64) -> Error {
        let message = format!(
            "clustering needs {} of memory, and {} are given",
            format_bytes(needed),
            format_bytes(self.memory)
        );
        Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format_args!("use {}, or fewer {THREADS}", MEMORY.of(size_to_type(needed))))
    }

    /// Strengths are known when pieces are connected, the communities to which they belong only
    /// afterwards: they are remembered if there is memory, else added up in another scan. It is set
    /// aside from the start, since memory given back is not always to be had again.
    pub(crate) fn strength_bytes(&self) -> u64 {
        let rest = self.rest();
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || rest < bytes { 0 } else { bytes }
    }

    /// Corrects what is expected of label propagation after so many sweeps; see [`ClusterOptions::expected_sweeps`].
    pub(crate) fn expect_sweeps(&self, sweeps: u32, moved: (u64, u64), enough: f64) -> Result<()> {
        let arcs = self.graph.arc_count() as f64;
        let (left, after) = self.options.expected_sweeps(sweeps, moved, enough);
        self.observer.expect(left.map(|left| left * arcs), after * arcs)
    }

    pub(crate) fn report_resumed(&self, sweeps: u32) -> Result<()> {
        let sweeps = format_counted(sweeps.into(), "sweep", "sweeps");
        let text = format!("going on after {sweeps} of a run that was stopped");
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
            // Several levels have taken more than that before.
            is_remembered: levels.is_some() || self.strength_bytes() > 0,
            counts_cuts: levels.is_some_and(LevelSpec::has_code_length),
        };
        finish.all::<S>(source, outcomes, held)
    }
}
