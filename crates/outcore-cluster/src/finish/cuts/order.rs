//! Nodes of a network that no small cut separates, found in one pass over the edges.
//!
//! A maximum adjacency ordering visits next a node with the most edges to those visited. When an edge brings a node to
//! `least` such edges, its two ends have `least` disjoint paths between them (Nagamochi, Ono and Ibaraki, "Implementing
//! an efficient minimum cut algorithm", 1994). Nodes with at least that many edges may be visited in any order among
//! each other (Henzinger, Noe, Schulz and Strash, "Practical minimum cut algorithms", 2018), so buckets suffice. The
//! last node of an ordering has all its edges before it, so at least two nodes are joined if each has `least` edges.
//!
//! Cost: linear in edges and nodes. Memory: at most 4 bytes per end of an edge, and 8 per node.

use super::multigraph::{Link, Multigraph};
use super::sets::Sets;

/// Nodes by their number of edges to those visited, up to `least`.
struct Buckets {
    waiting: Vec<Vec<u32>>,
    top: usize,
}

impl Buckets {
    fn push(&mut self, node: u32, edges: u32) {
        let edges = edges as usize;
        if self.waiting.len() <= edges {
            self.waiting.resize(edges + 1, Vec::new());
        }
        self.waiting[edges].push(node);
        self.top = self.top.max(edges);
    }

    /// Returns a node with the most edges when it was pushed, and their number.
    fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            if let Some(node) = self.waiting.get_mut(self.top)?.pop() {
                return Some((node, self.top as u32));
            }
            self.top = self.top.checked_sub(1)?;
        }
    }
}

/// Joins nodes that no cut of fewer than `least` edges separates. All nodes that are not `gone` should have at least
/// `least` edges. Returns the number of joins, at least one.
pub(super) fn join_by_order(net: &Multigraph, least: u64, gone: &[bool], sets: &mut Sets) -> usize {
    const VISITED: u32 = u32::MAX;
    let least = u32::try_from(least).map_or(VISITED - 1, |least| least.min(VISITED - 1));
    let mut edges = vec![0u32; net.count()];
    let mut buckets = Buckets { waiting: Vec::new(), top: 0 };
    let mut joined = 0;
    for first in 0..net.count() as u32 {
        if edges[first as usize] == VISITED || net.is_gone(gone, first) {
            continue;
        }
        buckets.push(first, 0);
        while let Some((node, pushed)) = buckets.pop() {
            // It has been pushed again with more edges.
            if edges[node as usize] != pushed {
                continue;
            }
            edges[node as usize] = VISITED;
            for &Link { to, count } in net.links(node) {
                let met = edges[to as usize];
                if met == VISITED || net.is_gone(gone, to) {
                    continue;
                }
                let now = met.saturating_add(count).min(least);
                if now == least {
                    joined += usize::from(sets.join(node, to));
                }
                if now > met {
                    edges[to as usize] = now;
                    buckets.push(to, now);
                }
            }
        }
    }
    joined
}
