//! Smallest cut of a community, and its parts that no cut of that size divides.
//!
//! - [`min_cut`] joins nodes that no cut smaller than the best known one separates, until one is left; the smallest
//!   degree met on the way is the cut (Nagamochi, Ono and Ibaraki, 1994; see `order`).
//!   Where an ordering joins few nodes, the rest is done by `flows`.
//! - [`divide`] takes out nodes with fewer than `least` edges, one after the other, joins the others likewise, and repeats
//!   that on the joined network. Every node taken out is a part: fewer than `least` edges lead out of it (Zhou et al.,
//!   "Finding maximal k-edge-connected subgraphs from a large graph", 2012; Chang et al., "Efficiently computing
//!   k-edge connected components via graph decomposition", 2013). Parts have lost edges and are examined again.
//! - [`settle`] applies the rule: a community whose smallest cut `c` is at most the bound for its size is replaced by its
//!   maximal parts that no cut of up to `c` edges divides, and so on for each of them.
//!
//! These parts are unique, so the result does not depend on the order of the nodes, or on which cuts are found.

use super::flows::Flows;
use super::multigraph::{Multigraph, NONE};
use super::order::join_by_order;
use super::sets::Sets;
use crate::methods::connected::WellConnected;

/// Flows take over if an ordering joins less than one node in this number.
const FEW: usize = 8;

/// Community, or part of one, with its edges inside.
pub(super) struct CommunityPiece {
    /// Nodes of the graph, by their number in the edges.
    pub(super) nodes: Vec<u32>,
    pub(super) edges: Vec<[u32; 2]>,
    /// A cut of fewer edges separates the piece, whatever the bound.
    pub(super) floor: u64,
    /// A node with this number of edges here may have more in the graph.
    pub(super) known: u64,
}

/// Parts of a piece.
pub(super) struct CutParts {
    /// Number of the part of each node, in the order of their first nodes.
    pub(super) of_node: Vec<u32>,
    pub(super) count: usize,
    /// Floor of the parts in the next round.
    pub(super) floor: u64,
}

/// Examination of a piece.
pub(super) enum Verdict {
    /// The piece is well-connected.
    Keep,
    Divide(CutParts),
    /// Too few edges are known to decide: this number per node is needed.
    Unknown(u64),
}

impl CutParts {
    /// Numbers the parts, each given by one of its nodes.
    fn new(mut of_node: Vec<u32>, floor: u64) -> Self {
        let mut numbers = vec![NONE; of_node.len()];
        let mut count = 0;
        for part in &mut of_node {
            let number = &mut numbers[*part as usize];
            if *number == NONE {
                *number = count;
                count += 1;
            }
            *part = *number;
        }
        Self { of_node, count: count as usize, floor }
    }
}

impl CommunityPiece {
    /// Returns whether all edges are known.
    pub(super) fn is_complete(&self) -> bool {
        self.known == u64::MAX
    }

    /// Examines the piece by the rule.
    pub(super) fn examine(&self, rule: WellConnected) -> Verdict {
        let count = self.nodes.len();
        let enough = self.floor.max(rule.bound(count as u64).saturating_add(1));
        let found = min_cut(Multigraph::new(count, &self.edges), enough.min(self.known));
        if found >= enough {
            return Verdict::Keep;
        }
        if found >= self.known {
            return Verdict::Unknown(enough);
        }
        let floor = self.floor.max(found + 1);
        let net = Multigraph::new(count, &self.edges);
        let of_node = divide(net, floor.min(self.known), self.known);
        Verdict::Divide(CutParts::new(of_node, floor))
    }

    /// Returns the parts of more than one node, each with its edges inside.
    fn into_parts(self, parts: &CutParts) -> impl Iterator<Item = Self> {
        let mut pieces: Vec<Self> = (0..parts.count)
            .map(|_| Self { nodes: Vec::new(), edges: Vec::new(), floor: parts.floor, ..self })
            .collect();
        let mut places = vec![0; self.nodes.len()];
        for ((&node, &part), place) in self.nodes.iter().zip(&parts.of_node).zip(&mut places) {
            let nodes = &mut pieces[part as usize].nodes;
            *place = nodes.len() as u32;
            nodes.push(node);
        }
        for [a, b] in self.edges.into_iter().map(|edge| edge.map(|node| node as usize)) {
            if parts.of_node[a] == parts.of_node[b] {
                pieces[parts.of_node[a] as usize].edges.push([places[a], places[b]]);
            }
        }
        pieces.into_iter().filter(|piece| piece.nodes.len() > 1)
    }
}

/// Applies the rule to a community whose edges are all known; passes the nodes of each part of more than one node.
pub(super) fn settle(piece: CommunityPiece, rule: WellConnected, mut keep: impl FnMut(&[u32])) {
    let mut waiting = vec![piece];
    while let Some(piece) = waiting.pop() {
        match piece.examine(rule) {
            Verdict::Keep | Verdict::Unknown(_) => keep(&piece.nodes),
            Verdict::Divide(parts) => waiting.extend(piece.into_parts(&parts)),
        }
    }
}

/// Returns the number of edges of the smallest cut, but at most `bound`.
pub(super) fn min_cut(mut net: Multigraph, bound: u64) -> u64 {
    let mut least = bound;
    while net.count() > 1 {
        least = least.min(net.min_degree());
        if least == 0 {
            break;
        }
        let mut sets = Sets::new(net.count());
        if join_by_order(&net, least, &[], &mut sets) < net.count().div_ceil(FEW) {
            return least_by_flows(net, least);
        }
        net = net.contracted(&mut sets, &[], None);
    }
    least
}

/// Like [`min_cut`], for a network whose nodes have at least `bound` edges.
fn least_by_flows(mut net: Multigraph, bound: u64) -> u64 {
    net.sort_links();
    let mut flows = Flows::new(&net);
    let mut nodes = flows.order().into_iter();
    nodes.by_ref().take(1).for_each(|root| flows.join_root(root));
    nodes.fold(bound, |least, node| {
        let least = flows.paths(node, least, &[]);
        flows.join_root(node);
        least
    })
}

/// Divides a network by cuts of fewer than `least` edges, of which there must be at least one. Returns for each node a
/// node that represents its part.
fn divide(mut net: Multigraph, least: u64, known: u64) -> Vec<u32> {
    let mut members = Sets::new(net.count());
    let mut of_node: Vec<u32> = (0..net.count() as u32).collect();
    loop {
        let mut gone = vec![false; net.count()];
        let taken = net.peel(least, known, &mut gone);
        if taken == net.count() {
            break;
        }
        let mut sets = Sets::new(net.count());
        if join_by_order(&net, least, &gone, &mut sets) < (net.count() - taken).div_ceil(FEW) {
            divide_by_flows(net, least, known, &mut gone, &mut members);
            break;
        }
        net = net.contracted(&mut sets, &gone, Some(&mut members));
    }
    of_node.iter_mut().for_each(|node| *node = members.find(*node));
    of_node
}

/// Like [`divide`], for nodes that are not `gone`; joins the nodes of each part in `members`.
fn divide_by_flows(
    mut net: Multigraph,
    least: u64,
    known: u64,
    gone: &mut [bool],
    members: &mut Sets,
) {
    net.sort_links();
    let mut flows = Flows::new(&net);
    let mut has_root = false;
    for node in flows.order() {
        if gone[node as usize] {
            continue;
        }
        if has_root && flows.paths(node, least, gone) < least {
            let side = flows.side();
            // Nodes with more edges than are known may belong to either side, so none is separated here.
            if net.whole_edges(side) < known {
                net.join_members(side.iter().copied(), members);
                side.iter().for_each(|&node| gone[node as usize] = true);
                continue;
            }
        }
        has_root = true;
        flows.join_root(node);
    }
    let rest = (0..net.count() as u32).filter(|&node| !gone[node as usize]);
    net.join_members(rest, members);
}

#[cfg(test)]
mod tests;
