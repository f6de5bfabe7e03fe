//! Adding edges to a graph: the graph as an input of a build, and what differs from a build without one.
//!
//! ```text
//!  names of the old graph --> index of names --> as without one: new edges are numbered, and sorted
//!  arcs of the old graph --.                                                              |
//!                          `--> merged with the new arcs (`graph::extend`) <--------------'
//! ```
//! Old names come first, so they keep their numbers, and the result is the graph of all edges. The old graph is read
//! twice, front to back, and never changed. A graph is refused if the result would depend on facts that it does not
//! record: its rules (`EdgeRules`) must be known, and equal to those of the new edges.
//!
//! The result cannot recover the unrounded sums of the old graph's repeated edges, nor which of its nodes had loops
//! that were dropped. Self scores cannot be recovered either, so graphs divided by them are refused. Old names fill the
//! index in bulk: they are distinct, and in the order of their numbers. Adding 1 % of 20 million edges takes 13 % of
//! the processor time of a build from all (`evals/ingest/append.py`).

use super::rules::{self, open_graph};
use crate::budget::Limits;
use crate::error::opt::APPEND;
use crate::error::{Error, Result};
use crate::graph::{self, Graph, GraphSummary, Names, NamesWriter};
use crate::ids::{Added, NodeIndex};
use crate::input::{CHUNK_BYTES, EdgeChunk, Fingerprint, NameRef};
use crate::io::{Files, Tuning};
use crate::job::resume::GraphFiles;
use crate::job::{AppendReport, JobOptions};
use crate::plan::{self, AppendSize};
use crate::sort::SORT_BYTES_MIN;

/// Graph that edges are added to.
pub(crate) struct Old {
    pub(crate) graph: Graph,
    pub(super) names: Names,
    pub(crate) files: GraphFiles,
}

impl Old {
    /// Opens the graph that `options` name, if they do, and refuses one that edges cannot be added to.
    pub(crate) fn open(files: &Files, options: &JobOptions) -> Result<Option<Self>> {
        let Some(path) = &options.append else { return Ok(None) };
        let graph = open_graph(files, path)?;
        rules::check(&graph, options)?;
        let names = graph.open_names()?;
        let identity = GraphFiles::new(files, graph.directory(), graph.checksum());
        let old = Self { files: identity, graph, names };
        plan::check_limits(&options.limits)?;
        old.merge_room(options.limits, &files.tuning())?;
        Ok(Some(old))
    }

    /// Adds the names of the graph to the index, and to `written`. If they do not fit in `room`, adds none, and returns
    /// the memory that they need.
    pub(super) fn add_to(
        &self,
        index: &mut NodeIndex,
        chunks: &[EdgeChunk],
        room: u64,
        written: &mut NamesWriter,
    ) -> Result<Option<u64>> {
        match index.add_within(chunks, self.names.count(), room)? {
            Added::Needs(bytes) => return Ok(Some(bytes)),
            Added::Repeated => return Err(self.corrupt_names()),
            Added::All => {}
        }
        for chunk in chunks {
            chunk.names.iter().try_for_each(|name| written.push(chunk.name(name)))?;
        }
        Ok(None)
    }

    pub(super) fn corrupt_names(&self) -> Error {
        Error::corrupt(&self.graph.directory().join("names"), "a name occurs twice")
    }

    /// Returns the memory for the sort while runs and the old graph are merged, and whether there is room to read
    /// blocks of the graph ahead.
    pub(crate) fn merge_room(&self, limits: Limits, tuning: &Tuning) -> Result<(u64, bool)> {
        let (ahead, least) = self.graph.extension_bytes();
        let beside = |bytes| graph::merge_bytes_beside(&limits, bytes, tuning);
        let room = beside(ahead).map(|rest| (rest, true));
        room.or_else(|| beside(least).map(|rest| (rest, false))).ok_or_else(|| {
            let least = self.memory_bytes_min(limits, tuning);
            let of_what = format_args!(" to add edges to `{}`", self.files.path);
            Error::too_little_memory(limits.memory_bytes, of_what, least)
                .note("a block of it must fit beside the one that is written")
        })
    }

    /// Returns the smallest limit for which there is memory to read the graph during the merge.
    fn memory_bytes_min(&self, limits: Limits, tuning: &Tuning) -> u64 {
        let writer = limits.memory_bytes - graph::merge_bytes(&limits, tuning);
        writer + SORT_BYTES_MIN + self.graph.extension_bytes().1
    }

    /// Returns its size, for a plan.
    pub(crate) fn size(&self, limits: Limits, tuning: &Tuning) -> AppendSize {
        let GraphSummary { node_count, edge_count, arc_count, is_weighted, .. } =
            self.graph.summary();
        let (ahead, least) = self.graph.extension_bytes();
        let reads_ahead = graph::merge_bytes_beside(&limits, ahead, tuning).is_some();
        AppendSize {
            node_count,
            edge_count,
            arc_count,
            arc_bytes: self.graph.arc_bytes(),
            names_bytes: self.names.sealed().bytes,
            is_weighted,
            block_bytes: if reads_ahead { ahead } else { least },
            memory_bytes_min: self.memory_bytes_min(limits, tuning),
        }
    }

    pub(crate) fn report(&self, graph: &GraphSummary) -> AppendReport {
        let old = self.graph.summary();
        AppendReport {
            graph: self.files.path.clone(),
            node_count: old.node_count,
            edge_count: old.edge_count,
            new_node_count: graph.node_count - old.node_count,
            new_edge_count: graph.edge_count.saturating_sub(old.edge_count),
        }
    }
}

impl JobOptions {
    /// Refuses to add edges in a job that writes no graph.
    pub(crate) fn refuse_append(&self) -> Result<()> {
        match &self.append {
            None => Ok(()),
            Some(path) => Err(Error::usage(format_args!(
                "{} is for `outcore build`",
                APPEND.of(path.display())
            ))
            .hint("add the edges with `outcore build`, and cluster its graph")),
        }
    }
}

/// Names of the old graph on their way to the index.
pub(super) struct NameBatch {
    chunks: Vec<EdgeChunk>,
    /// Index of the chunk being filled.
    at: usize,
}

impl NameBatch {
    pub(super) fn new(chunks: usize) -> Self {
        let count = chunks.max(1);
        let chunks = std::iter::repeat_with(EdgeChunk::default).take(count).collect();
        Self { chunks, at: 0 }
    }

    /// Adds a name; returns whether the batch is full.
    pub(super) fn push(&mut self, name: &[u8]) -> bool {
        let chunk = &mut self.chunks[self.at];
        let (offset, bytes) = (chunk.text.len() as u32, name.len() as u32);
        chunk.names.push(NameRef { fingerprint: Fingerprint::of(name), offset, bytes });
        chunk.text.extend_from_slice(name);
        if chunk.text.len() as u64 >= CHUNK_BYTES / 4 {
            self.at += 1;
        }
        self.at == self.chunks.len()
    }

    pub(super) fn chunks(&self) -> &[EdgeChunk] {
        &self.chunks
    }

    pub(super) fn clear(&mut self) {
        for chunk in &mut self.chunks {
            chunk.text.clear();
            chunk.names.clear();
        }
        self.at = 0;
    }
}
