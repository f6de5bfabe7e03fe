//! Nodes of a network that no small cut separates, found in one pass over the edges.
//!
//! - A maximum adjacency ordering visits next a node with the most edges to those visited. When an edge brings a node
//!   to `least` such edges, its two ends have `least` disjoint paths between them (Nagamochi, Ono and Ibaraki,
//!   "Implementing an efficient minimum cut algorithm", 1994). Nodes with at least that many edges may be visited in
//!   any order among each other (Henzinger, Noe, Schulz and Strash, "Practical minimum cut algorithms", 2018), so
//!   buckets suffice. The last node of an ordering has all its edges before it, so at least two nodes are joined
//!   if each has `least` edges.
//! - Where that joins few, as on ladders and other graphs whose nodes have hardly more edges than `least`, pairs of
//!   neighbors are joined that some smallest cut leaves together: one of the two has half of its edges to the
//!   other, or both have half of theirs within a triangle (Padberg and Rinaldi, "An efficient algorithm for the
//!   minimum capacity cut problem", 1990, tests 2 and 4). No node is in two pairs, so each pair is still right
//!   after the others are joined.
//!
//! Cost: linear in edges and nodes for both. Memory: at most 4 bytes per end of an edge, and 12 per node.

use super::network::{Link, Network};
use super::sets::Sets;

/// Pairs are looked for if the ordering joined less than one of so many nodes.
const FEW: usize = 8;

/// Joins nodes that no cut of fewer than `least` edges separates, or that some such cut leaves together if there is any.
/// All nodes that are not `gone` should have at least `least` edges. Returns the number of joins.
pub(super) fn join_tight(net: &Network, least: u64, gone: &[bool], sets: &mut Sets) -> usize {
    let joined = join_by_order(net, least, gone, sets);
    if joined >= net.count().div_ceil(FEW) {
        return joined;
    }
    joined + join_pairs(net, gone, sets)
}

fn is_gone(gone: &[bool], node: u32) -> bool {
    gone.get(node as usize).copied().unwrap_or(false)
}

/// Nodes by their number of edges to those visited, up to `least`.
struct Buckets {
    waiting: Vec<Vec<u32>>,
    top: usize,
}

impl Buckets {
    fn push(&mut self, node: u32, edges: u64) {
        let edges = edges as usize;
        if self.waiting.len() <= edges {
            self.waiting.resize(edges + 1, Vec::new());
        }
        self.waiting[edges].push(node);
        self.top = self.top.max(edges);
    }

    /// Returns a node with the most edges when it was pushed, and their number.
    fn pop(&mut self) -> Option<(u32, u64)> {
        loop {
            if let Some(node) = self.waiting.get_mut(self.top)?.pop() {
                return Some((node, self.top as u64));
            }
            self.top = self.top.checked_sub(1)?;
        }
    }
}

fn join_by_order(net: &Network, least: u64, gone: &[bool], sets: &mut Sets) -> usize {
    const VISITED: u64 = u64::MAX;
    let mut edges = vec![0u64; net.count()];
    let mut buckets = Buckets { waiting: Vec::new(), top: 0 };
    let mut joined = 0;
    for first in 0..net.count() as u32 {
        if edges[first as usize] == VISITED || is_gone(gone, first) {
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
                if met == VISITED || is_gone(gone, to) {
                    continue;
                }
                let now = (met + u64::from(count)).min(least);
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

fn join_pairs(net: &Network, gone: &[bool], sets: &mut Sets) -> usize {
    let count = net.count();
    let mut is_done: Vec<bool> = (0..count as u32).map(|node| is_gone(gone, node)).collect();
    // Edges to the neighbors of one node.
    let mut to_neighbor = vec![0u32; count];
    let mut joined = 0;
    for node in 0..count as u32 {
        if is_done[node as usize] {
            continue;
        }
        is_done[node as usize] = true;
        net.links(node).iter().for_each(|link| to_neighbor[link.to as usize] = link.count);
        let partner = net.links(node).iter().find(|link| {
            // Every node is looked at once as a neighbor, so all of this is linear.
            !std::mem::replace(&mut is_done[link.to as usize], true)
                && are_paired(net, node, **link, &to_neighbor, gone)
        });
        if let Some(link) = partner {
            joined += usize::from(sets.join(node, link.to));
        }
        net.links(node).iter().for_each(|link| to_neighbor[link.to as usize] = 0);
    }
    joined
}

/// Returns whether some smallest cut leaves a node and its neighbor together, unless it cuts off a single node.
fn are_paired(
    net: &Network,
    node: u32,
    Link { to, count }: Link,
    to_neighbor: &[u32],
    gone: &[bool],
) -> bool {
    let (degree, degree_there, count) = (net.degree(node), net.degree(to), u64::from(count));
    if 2 * count >= degree.min(degree_there) {
        return true;
    }
    net.links(to).iter().any(|third| {
        let here = u64::from(to_neighbor[third.to as usize]);
        here > 0
            && !is_gone(gone, third.to)
            && 2 * (count + here) >= degree
            && 2 * (count + u64::from(third.count)) >= degree_there
    })
}
