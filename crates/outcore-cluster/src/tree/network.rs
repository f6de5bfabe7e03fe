//! Network in memory: the links among some nodes or modules, with the flow of each.

use super::flow::{Flow, Walk};

/// Links are listed at both ends, without loops. The cut of a node includes links to nodes outside of the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Network {
    /// Positions where the links of each node begin, and the end of the last.
    pub(crate) starts: Vec<u32>,
    pub(crate) targets: Vec<u32>,
    pub(crate) weights: Vec<f64>,
    pub(crate) flows: Vec<Flow>,
}

impl Network {
    pub(crate) fn count(&self) -> usize {
        self.flows.len()
    }

    /// Returns the number of nodes and of listed links.
    pub(crate) fn size(&self) -> usize {
        self.flows.len() + self.targets.len()
    }

    #[inline]
    pub(crate) fn links(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let at = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
        self.targets[at.clone()].iter().copied().zip(self.weights[at].iter().copied())
    }

    /// Returns the neighbors of a node.
    #[inline]
    pub(crate) fn neighbors(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Returns the sum of all rates.
    pub(crate) fn rate(&self) -> f64 {
        self.flows.iter().map(|flow| flow.rate).sum()
    }

    /// Returns the network of some groups of nodes, which are numbered densely.
    pub(crate) fn contracted(&self, groups: &[u32], count: usize) -> Self {
        let members = Members::new(groups, count);
        let mut next = Self { starts: Vec::with_capacity(count + 1), ..Self::default() };
        next.starts.push(0);
        next.flows.reserve_exact(count);
        let (mut sums, mut met) = (vec![0.0; count], Vec::new());
        for group in 0..count as u32 {
            let (mut flow, mut inside) = (Flow::default(), 0.0);
            for &node in members.of(group) {
                flow += self.flows[node as usize];
                for (target, weight) in self.links(node) {
                    let to = groups[target as usize];
                    if to == group {
                        inside += weight;
                        continue;
                    }
                    let sum = &mut sums[to as usize];
                    if *sum == 0.0 {
                        met.push(to);
                    }
                    *sum += weight;
                }
            }
            // Both ends list a link.
            flow.cut -= inside;
            next.flows.push(flow);
            for to in met.drain(..) {
                next.targets.push(to);
                next.weights.push(std::mem::take(&mut sums[to as usize]));
            }
            next.starts.push(next.targets.len() as u32);
        }
        next
    }

    /// Multiplies all flows.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        for Flow { rate, cut, drift, teleport } in &mut self.flows {
            [rate, cut, drift, teleport].into_iter().for_each(|flow| *flow *= factor);
        }
    }

    /// Turns the nodes into modules, whose words have the rate of entering them.
    pub(crate) fn enter(&mut self, walk: &Walk) {
        self.flows.iter_mut().for_each(|flow| flow.rate = walk.boundary(flow).0);
    }

    /// Returns the part of the network among some nodes; `places` has the place of each node among the nodes of its part.
    pub(crate) fn part(&self, nodes: &[u32], of: &[u32], places: &[u32]) -> Self {
        let mut part = Self { starts: Vec::with_capacity(nodes.len() + 1), ..Self::default() };
        part.starts.push(0);
        part.flows.reserve_exact(nodes.len());
        for &node in nodes {
            let own = of[node as usize];
            for (target, weight) in self.links(node) {
                if of[target as usize] == own {
                    part.targets.push(places[target as usize]);
                    part.weights.push(weight);
                }
            }
            part.starts.push(part.targets.len() as u32);
            part.flows.push(self.flows[node as usize]);
        }
        part
    }

    /// Returns the flow of a module of all nodes.
    pub(crate) fn whole(&self) -> Flow {
        let mut flow = Flow::default();
        self.flows.iter().for_each(|&node| flow += node);
        flow.cut -= self.weights.iter().sum::<f64>();
        flow
    }

    /// Numbers the connected pieces of groups of nodes by their first nodes; returns their number.
    pub(crate) fn connect(&self, groups: &mut [u32]) -> usize {
        const UNSEEN: u32 = u32::MAX;
        let mut pieces = vec![UNSEEN; groups.len()];
        let (mut count, mut waiting) = (0, Vec::new());
        for first in 0..groups.len() {
            if pieces[first] != UNSEEN {
                continue;
            }
            pieces[first] = count;
            waiting.push(first as u32);
            while let Some(node) = waiting.pop() {
                for &target in self.neighbors(node) {
                    let is_same = groups[target as usize] == groups[node as usize];
                    if is_same && pieces[target as usize] == UNSEEN {
                        pieces[target as usize] = count;
                        waiting.push(target);
                    }
                }
            }
            count += 1;
        }
        groups.copy_from_slice(&pieces);
        count as usize
    }
}

/// Nodes by their groups.
pub(crate) struct Members {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Members {
    pub(crate) fn new(groups: &[u32], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        groups.iter().for_each(|&group| starts[group as usize] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut nodes = vec![0; groups.len()];
        for (node, &group) in groups.iter().enumerate().rev() {
            let start = &mut starts[group as usize];
            *start -= 1;
            nodes[*start as usize] = node as u32;
        }
        Self { starts, nodes }
    }

    /// Returns the nodes of a group, ascending.
    #[inline]
    pub(crate) fn of(&self, group: u32) -> &[u32] {
        &self.nodes[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// Returns the place of each node in its group.
    pub(crate) fn places(&self) -> Vec<u32> {
        let mut places = vec![0; self.nodes.len()];
        for at in self.starts.windows(2) {
            let nodes = &self.nodes[at[0] as usize..at[1] as usize];
            (0..).zip(nodes).for_each(|(place, &node)| places[node as usize] = place);
        }
        places
    }
}
