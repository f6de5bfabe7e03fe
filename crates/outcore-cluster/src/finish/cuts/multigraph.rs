//! Multigraph of a community in memory, whose nodes are contracted until a small cut is found or no node is left.
//!
//! Memory: 8 bytes per end of an edge, 28 per node.

use super::sets::Sets;

/// Marker of an absent number.
pub(super) const NONE: u32 = u32::MAX;

/// Neighbor, and the number of edges to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) to: u32,
    pub(super) count: u32,
}

/// Multigraph without loops.
pub(super) struct Multigraph {
    starts: Vec<usize>,
    links: Vec<Link>,
    /// Edges of each node.
    degrees: Vec<u64>,
    /// Edges of each node, including those to nodes that have been left out.
    whole: Vec<u64>,
    /// For each node, a node of the community that it contains.
    members: Vec<u32>,
}

impl Multigraph {
    /// Creates the network of a community with the nodes `0..count`.
    pub(super) fn new(count: usize, edges: &[[u32; 2]]) -> Self {
        let mut starts = vec![0usize; count + 1];
        edges.iter().flatten().for_each(|&node| starts[node as usize] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let degrees: Vec<u64> = starts.windows(2).map(|at| (at[1] - at[0]) as u64).collect();
        let mut next = starts.clone();
        let mut links = vec![Link { to: 0, count: 1 }; 2 * edges.len()];
        for &[a, b] in edges {
            for (from, to) in [(a, b), (b, a)] {
                links[next[from as usize]].to = to;
                next[from as usize] += 1;
            }
        }
        Self {
            starts,
            links,
            whole: degrees.clone(),
            degrees,
            members: (0..count as u32).collect(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    #[inline]
    pub(super) fn links(&self, node: u32) -> &[Link] {
        &self.links[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    #[inline]
    pub(super) fn degree(&self, node: u32) -> u64 {
        self.degrees[node as usize]
    }

    /// Returns the places of the links of a node.
    pub(super) fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    /// Returns the node that a link leads to.
    pub(super) fn target(&self, link: usize) -> u32 {
        self.links[link].to
    }

    /// Returns the number of edges of a link.
    pub(super) fn count_of(&self, link: usize) -> u32 {
        self.links[link].count
    }

    /// Sorts the links of each node by their targets.
    pub(super) fn sort_links(&mut self) {
        for at in 0..self.count() {
            let links = &mut self.links[self.starts[at]..self.starts[at + 1]];
            links.sort_unstable_by_key(|link| link.to);
        }
    }

    /// Returns whether a node is marked in `gone`; an empty slice marks none.
    #[inline]
    pub(super) fn is_gone(&self, gone: &[bool], node: u32) -> bool {
        gone.get(node as usize).copied().unwrap_or(false)
    }

    pub(super) fn min_degree(&self) -> u64 {
        self.degrees.iter().copied().min().unwrap_or(0)
    }

    /// Returns the network with the nodes of each set joined; nodes that are `gone` are left out, and `members`
    /// records what was joined.
    pub(super) fn contracted(
        &self,
        sets: &mut Sets,
        gone: &[bool],
        mut members: Option<&mut Sets>,
    ) -> Self {
        let mut numbers = vec![NONE; self.count()];
        let mut sizes: Vec<usize> = Vec::new();
        let mut of_node = vec![NONE; self.count()];
        let mut next = Self::empty();
        for node in (0..self.count()).filter(|&node| !self.is_gone(gone, node as u32)) {
            let root = sets.find(node as u32) as usize;
            if numbers[root] == NONE {
                numbers[root] = next.members.len() as u32;
                next.members.push(self.members[node]);
                next.whole.push(0);
                sizes.push(0);
            }
            let number = numbers[root];
            of_node[node] = number;
            sizes[number as usize] += 1;
            next.whole[number as usize] += self.whole[node];
            if let Some(members) = &mut members {
                members.join(next.members[number as usize], self.members[node]);
            }
        }
        drop(numbers);
        let nodes = by_number(&of_node, &sizes);
        let mut places = vec![usize::MAX; next.members.len()];
        let mut nodes = nodes.into_iter();
        for (number, size) in sizes.into_iter().enumerate() {
            let start = next.links.len();
            let mut degree = 0;
            for node in nodes.by_ref().take(size) {
                for &Link { to, count } in self.links(node) {
                    let to = of_node[to as usize];
                    if to == NONE {
                        continue;
                    }
                    if to as usize == number {
                        next.whole[number] -= u64::from(count);
                        continue;
                    }
                    degree += u64::from(count);
                    let place = places[to as usize];
                    if place != usize::MAX && place >= start {
                        let link = &mut next.links[place];
                        link.count = link.count.saturating_add(count);
                    } else {
                        places[to as usize] = next.links.len();
                        next.links.push(Link { to, count });
                    }
                }
            }
            next.degrees.push(degree);
            next.starts.push(next.links.len());
        }
        next
    }

    fn empty() -> Self {
        let (links, degrees, whole) = (Vec::new(), Vec::new(), Vec::new());
        Self { starts: vec![0], links, degrees, whole, members: Vec::new() }
    }

    /// Peels off nodes with fewer than `least` edges, one after the other, and marks them in `gone`; returns their
    /// number. A node whose `whole` edges reach `known` stays: not all of its edges are in the network.
    pub(super) fn peel(&mut self, least: u64, known: u64, gone: &mut [bool]) -> usize {
        let nodes = 0..self.count() as u32;
        let is_loose =
            |net: &Self, node: u32| net.degree(node) < least && net.whole[node as usize] < known;
        let mut waiting: Vec<u32> = nodes.filter(|&node| is_loose(self, node)).collect();
        waiting.retain(|&node| !std::mem::replace(&mut gone[node as usize], true));
        let mut count = 0;
        while let Some(node) = waiting.pop() {
            count += 1;
            for at in self.starts[node as usize]..self.starts[node as usize + 1] {
                let Link { to, count } = self.links[at];
                if gone[to as usize] {
                    continue;
                }
                self.degrees[to as usize] -= u64::from(count);
                if is_loose(self, to) {
                    gone[to as usize] = true;
                    waiting.push(to);
                }
            }
        }
        count
    }

    /// Returns the number of edges that lead out of a set of nodes, including those to nodes that have been left out.
    pub(super) fn whole_edges(&self, side: &[u32]) -> u64 {
        let is_inside = |node: &u32| side.binary_search(node).is_ok();
        let inside = |node: &u32| -> u64 {
            let links = self.links(*node).iter().filter(|link| is_inside(&link.to));
            links.map(|link| u64::from(link.count)).sum()
        };
        side.iter().map(|node| self.whole[*node as usize] - inside(node)).sum()
    }

    /// Joins some nodes in `members`.
    pub(super) fn join_members(&self, nodes: impl Iterator<Item = u32>, members: &mut Sets) {
        let mut nodes = nodes.map(|node| self.members[node as usize]);
        let Some(first) = nodes.next() else { return };
        nodes.for_each(|member| {
            members.join(first, member);
        });
    }
}

/// Groups nodes by their numbers; each number has the given count of nodes.
fn by_number(of_node: &[u32], sizes: &[usize]) -> Vec<u32> {
    let mut next = Vec::with_capacity(sizes.len());
    let mut sum = 0;
    for size in sizes {
        next.push(sum);
        sum += size;
    }
    let mut nodes = vec![0; sum];
    for (node, &number) in of_node.iter().enumerate().filter(|(_, number)| **number != NONE) {
        let place = &mut next[number as usize];
        nodes[*place] = node as u32;
        *place += 1;
    }
    nodes
}
