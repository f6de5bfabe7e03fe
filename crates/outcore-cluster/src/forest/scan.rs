//! Forest of a graph, by one scan.

use super::Forest;
use crate::base::parallel::piece_nodes;
use crate::kernel::cache::BlockSource;
use crate::methods::options::ClusterOptions;
use crate::methods::thresholds::Ladder;
use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, ArcScratch, Block, Graph};
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};
use rayon::prelude::*;

impl Forest {
    /// Joins the nodes of a graph, by the edges that count. Memory: the forest, and a block of the graph with its arcs.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`, `Interrupted`.
    pub fn of_graph(
        graph: &Graph,
        options: &ClusterOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (graph, nodes) = (&graph.seen_as(&options.view()), graph.node_count());
        let ladder = options.forest_ladder().unwrap_or(Ladder::One);
        let mut forest = Self::new(ladder.clone(), nodes * ladder.bytes_a_node());
        forest.grow(nodes);
        let (mut source, mut arcs) = (BlockSource::new(graph, 0), 0);
        source.for_all(|block| {
            notify(observer, Event::Advance { done: arcs })?;
            arcs += block.arc_count();
            let piece = piece_nodes(block.node_count(), block.arc_count());
            let locals: Vec<usize> = (0..block.node_count()).collect();
            let unjoined = |locals: &[usize]| -> Result<Vec<ArcRecord>> {
                let mut edges = Vec::new();
                let mut scratch = ArcScratch::default();
                for &local in locals {
                    put_edges(block, local, graph.is_directed(), &mut scratch, &mut edges)?;
                }
                forest.drop_joined(&mut edges);
                Ok(edges)
            };
            let all: Result<Vec<_>> = locals.par_chunks(piece).map(unjoined).collect();
            all?.iter().try_for_each(|edges| forest.join(edges))
        })?;
        Ok(forest)
    }
}

/// Appends the edges of a node, each once: in an undirected graph, at its later end.
fn put_edges(
    block: &Block,
    local: usize,
    is_directed: bool,
    scratch: &mut ArcScratch,
    edges: &mut Vec<ArcRecord>,
) -> Result<()> {
    let source = block.first_node() + local as u32;
    block.for_each_segment(local, scratch, |targets, codes| {
        let before = targets.partition_point(|&target| target < source);
        let count = if is_directed { targets.len() } else { before };
        edges.extend((0..count).map(|at| {
            let weight = codes.get(at).copied().unwrap_or(Weight::ONE.code());
            ArcRecord { source, target: targets[at], weight }
        }));
    })
}
