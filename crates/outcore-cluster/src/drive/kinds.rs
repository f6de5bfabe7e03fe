//! Two kinds of nodes in modularity (Barber, "Modularity and community detection in bipartite networks", 2007).
//!
//! Every edge leads from a node of one kind to a node of the other, and the null model says so: the weight expected
//! between two nodes of different kinds is the product of their strengths over the weight of all edges, and none is
//! expected within a kind. That is the modularity of the directed graph in which all edges have the same direction. So the
//! sweeps see the graph as it is, and the drift of a node is its strength, negative for nodes of the second kind
//! (`objectives::modularity`). Memory: 24 bytes per node, as for directed edges. Cost: one scan.

use super::job::ClusterJob;
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::objectives::modularity::Null;
use outcore_graph::ArcScratch;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};

impl ClusterJob<'_> {
    /// Returns the drifts of all nodes, if they are of two kinds and the null model is that of modularity.
    pub(super) fn drifts_of_kinds(
        &self,
        null: Null,
        source: &mut BlockSource<'_>,
    ) -> Result<Option<Holdings>> {
        if !matches!(null, Null::Strength(_)) {
            return Ok(None);
        }
        let Some(kinds) = self.graph.open_kinds()? else { return Ok(None) };
        notify(self.observer, Event::Detail { text: "adding up the weight at each node" })?;
        let mut kinds = kinds.scan();
        let mut drifts = Vec::with_capacity(self.graph.node_count() as usize);
        let mut scratch = ArcScratch::default();
        source.for_all(|block| {
            notify(self.observer, Event::Advance { done: 0 })?;
            for local in 0..block.node_count() {
                let mut strength = 2.0 * block.self_loop(local);
                block.for_each_segment(local, &mut scratch, |targets, codes| {
                    f64::for_each(targets, codes, |_, weight| strength += weight);
                })?;
                let is_second = kinds.next_kind()? == Some(true);
                drifts.push(if is_second { -strength } else { strength });
            }
            Ok(())
        })?;
        Ok(Some(Holdings { drifts, ..Holdings::default() }))
    }
}
