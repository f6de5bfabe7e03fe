//! Smallest cut of a network by flows, for networks whose orderings join few nodes: ladders, meshes, and others whose
//! nodes have few edges more than the cut.
//!
//! Nodes join a root one after the other. A node joins if `least` disjoint paths lead from it to the root; otherwise,
//! what it reaches beside its paths is one side of a smaller cut. If all nodes join, no cut is smaller: the first node
//! to join on its far side would have needed `least` disjoint paths across it. The order is pseudorandom, so a search
//! that sees `s` nodes has met the root with high probability once `s` is a few times `n / i` for a root of `i` nodes,
//! in any graph: all searches take time `least * m log n`, not the product of nodes and edges. (Paths: Ford and
//! Fulkerson, "Maximal flow through a network", 1956.)
//!
//! Memory: 16 bytes per end of an edge, and 26 per node.

use super::multigraph::{Link, Multigraph};
use crate::base::hash::mix;

/// Flows from one node at a time to the root.
pub(super) struct Flows<'n> {
    net: &'n Multigraph,
    /// Reverse link of each link, and its flow.
    reverse: Vec<usize>,
    flow: Vec<i64>,
    /// Links with a flow.
    used: Vec<usize>,
    is_root: Vec<bool>,
    /// Last search that saw each node, and the link that led to it.
    seen: Vec<u32>,
    by: Vec<usize>,
    search: u32,
    /// Nodes seen by this search.
    queue: Vec<u32>,
}

impl<'n> Flows<'n> {
    /// Creates flows in a network with sorted links.
    pub(super) fn new(net: &'n Multigraph) -> Self {
        let count = net.count();
        let mut next: Vec<usize> = (0..count as u32).map(|node| net.range(node).start).collect();
        let mut reverse = Vec::new();
        for node in 0..count as u32 {
            for &Link { to, .. } in net.links(node) {
                // The links of `to` lead to smaller nodes first.
                reverse.push(next[to as usize]);
                next[to as usize] += 1;
            }
        }
        let (flow, seen, by) = (vec![0; reverse.len()], vec![0; count], vec![0; count]);
        let (used, is_root, queue) = (Vec::new(), vec![false; count], Vec::new());
        Self { net, reverse, flow, used, is_root, seen, by, search: 0, queue }
    }

    /// Returns the nodes in a pseudorandom order.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.net.count() as u32).collect();
        nodes.sort_unstable_by_key(|&node| mix(node.into()));
        nodes
    }

    pub(super) fn join_root(&mut self, node: u32) {
        self.is_root[node as usize] = true;
    }

    /// Returns the number of disjoint paths from a node to the root, up to `least`. If there are fewer,
    /// [`side`](Self::side) has the nodes on its side of the cut.
    pub(super) fn paths(&mut self, node: u32, least: u64, gone: &[bool]) -> u64 {
        let mut found = 0;
        while found < least {
            match self.find_root(node, gone) {
                Some(end) => found += self.push(node, end, least - found),
                None => break,
            }
        }
        for link in self.used.drain(..) {
            self.flow[link] = 0;
        }
        found
    }

    /// Returns the nodes that the last search has seen, in order.
    pub(super) fn side(&mut self) -> &[u32] {
        self.queue.sort_unstable();
        &self.queue
    }

    /// Searches for the root breadth first, along links with residual capacity; returns the node of the root that it
    /// meets.
    fn find_root(&mut self, from: u32, gone: &[bool]) -> Option<u32> {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.seen.fill(0);
            self.search = 1;
        }
        self.queue.clear();
        self.queue.push(from);
        self.seen[from as usize] = self.search;
        let mut at = 0;
        while let Some(&node) = self.queue.get(at) {
            at += 1;
            for (link, &Link { to, count }) in self.net.range(node).zip(self.net.links(node)) {
                if self.seen[to as usize] == self.search
                    || self.flow[link] >= i64::from(count)
                    || self.net.is_gone(gone, to)
                {
                    continue;
                }
                self.seen[to as usize] = self.search;
                self.by[to as usize] = link;
                if self.is_root[to as usize] {
                    return Some(to);
                }
                self.queue.push(to);
            }
        }
        None
    }

    /// Augments the flow along the path that the last search found, by its residual capacity and at most `most`.
    fn push(&mut self, from: u32, end: u32, most: u64) -> u64 {
        let mut room = most as i64;
        let mut node = end;
        while node != from {
            let link = self.by[node as usize];
            room = room.min(i64::from(self.net.count_of(link)) - self.flow[link]);
            node = self.net.target(self.reverse[link]);
        }
        let mut node = end;
        while node != from {
            let link = self.by[node as usize];
            let back = self.reverse[link];
            self.flow[link] += room;
            self.flow[back] -= room;
            self.used.extend([link, back]);
            node = self.net.target(back);
        }
        room as u64
    }
}
