//! Names of nodes as a format writes them, looked up by index: those of all nodes, or of the nodes of some edges.
//!
//! ```text
//!  names --scan--> encoded once --> groups of 4096 names: bytes, and where each name ends
//! ```
//!
//! A name is encoded (quoted, escaped) once, however many edges it has. Memory: the encoded bytes and 4 more per name;
//! of some nodes, 8 per name. All names are kept if they fit. Otherwise the edges are written in portions, each after a
//! scan of the names in which those of its nodes are kept (a block nested loop join; Graefe, "Query evaluation
//! techniques for large databases", 1993, 5.1). A scan takes about 10 ns per name and a portion has an edge for each 30
//! bytes of memory, so one scan is a small part of writing a portion unless names are many times larger than memory; a
//! sort of the edges by target and another by source would write each edge twice with its names.

use crate::error::Result;
use crate::graph::Graph;
use crate::output::Encoding;
use std::hint::black_box;
use std::path::Path;

/// Names in a group.
const GROUP: usize = 1 << 12;
/// Names that are loaded at a time.
const LOADED: usize = 64;
/// Average number of nodes that share a place in the directory of some nodes.
const SHARED: usize = 8;

/// How the names of an output are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameForm<'a> {
    pub(super) encoding: Encoding,
    pub(super) output: &'a Path,
}

impl NameForm<'_> {
    /// Appends a name.
    ///
    /// # Errors
    /// `BadInput` for a name that the output cannot hold.
    pub(super) fn put(self, name: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.encoding.put(name, self.output, out)
    }
}

/// Names, looked up by the index of a node.
pub(super) struct NameTable {
    places: Places,
    /// Bytes of the names of each group.
    groups: Vec<Box<[u8]>>,
    /// Where each name ends in its group.
    ends: Vec<u32>,
}

/// Which nodes have names.
enum Places {
    /// No names: nodes are numbers, counted from this one.
    Numbers(u64),
    All,
    Some(SomeNodes),
}

/// Nodes in ascending order, and a directory: where the nodes of each range of indexes begin.
struct SomeNodes {
    nodes: Vec<u32>,
    starts: Vec<u32>,
    shift: u32,
}

impl SomeNodes {
    fn new(nodes: Vec<u32>) -> Self {
        let most = nodes.last().copied().unwrap_or(0);
        let ranges = (nodes.len() / SHARED).max(1) as u64;
        let mut shift = 0;
        while (u64::from(most) >> shift) >= ranges {
            shift += 1;
        }
        let count = (u64::from(most) >> shift) as usize + 2;
        let mut starts = Vec::with_capacity(count);
        let mut at = 0;
        for range in 0..count as u64 {
            at += nodes[at..].iter().take_while(|&&node| u64::from(node) >> shift < range).count();
            starts.push(at as u32);
        }
        Self { nodes, starts, shift }
    }

    /// Returns the position of a node, which must be one of them.
    #[inline]
    fn position(&self, node: u32) -> usize {
        let range = (u64::from(node) >> self.shift) as usize;
        let (from, to) = (self.starts[range] as usize, self.starts[range + 1] as usize);
        from + self.nodes[from..to].partition_point(|&other| other < node)
    }
}

impl NameTable {
    /// Returns a table without names: nodes are numbers from `first`.
    pub(super) fn numbers(first: u64) -> Self {
        Self { places: Places::Numbers(first), groups: Vec::new(), ends: Vec::new() }
    }

    /// Reads the names of all nodes, or of `some` in ascending order; `None` if they take more than `limit` bytes.
    ///
    /// # Errors
    /// Those of the encoding; `CorruptFile`, `Io`.
    pub(super) fn read(
        graph: &Graph,
        some: Option<Vec<u32>>,
        form: NameForm<'_>,
        limit: u64,
    ) -> Result<Option<Self>> {
        let count = some.as_ref().map_or(graph.node_count(), |nodes| nodes.len() as u64);
        if count > graph.files().cramped().names {
            return Ok(None);
        }
        // The directory of some nodes has a place of 4 bytes for about eight of them.
        let each = if some.is_some() { 9 } else { 4 };
        let mut left = match limit.checked_sub(each * count) {
            Some(left) => left,
            None => return Ok(None),
        };
        let places = some.map_or(Places::All, |nodes| Places::Some(SomeNodes::new(nodes)));
        let mut ends = Vec::with_capacity(count as usize);
        let (mut groups, mut group) = (Vec::new(), Vec::new());
        let mut names = graph.names()?;
        let mut node = 0;
        while ends.len() < count as usize {
            let Some(name) = names.next_name()? else { break };
            let is_wanted = match &places {
                Places::Some(some) => some.nodes[ends.len()] == node,
                _ => true,
            };
            node += 1;
            if !is_wanted {
                continue;
            }
            let before = group.len();
            form.put(name, &mut group)?;
            let Some(rest) = left.checked_sub((group.len() - before) as u64) else {
                return Ok(None);
            };
            left = rest;
            ends.push(group.len() as u32);
            if ends.len().is_multiple_of(GROUP) {
                groups.push(std::mem::take(&mut group).into_boxed_slice());
            }
        }
        groups.push(group.into_boxed_slice());
        Ok(Some(Self { places, groups, ends }))
    }

    /// Returns the number of the first node, if nodes are numbers.
    pub(super) fn first_number(&self) -> Option<u64> {
        match self.places {
            Places::Numbers(first) => Some(first),
            _ => None,
        }
    }

    /// Loads the names of the next nodes of `nodes` into the cache before they are used one by one. Loading them
    /// together saves time, since each alone would wait for memory twice.
    #[inline]
    pub(super) fn load(&self, nodes: &[u32], at: usize) {
        if at.is_multiple_of(LOADED) && self.first_number().is_none() {
            let next = &nodes[at..nodes.len().min(at + LOADED)];
            let first = |&node: &u32| self.name(node).first().copied().unwrap_or(0);
            black_box(next.iter().map(first).fold(0, u8::wrapping_add));
        }
    }

    /// Returns the encoded name of a node.
    #[inline]
    pub(super) fn name(&self, node: u32) -> &[u8] {
        let at = match &self.places {
            Places::Numbers(_) => return &[],
            Places::All => node as usize,
            Places::Some(some) => some.position(node),
        };
        let from = if at.is_multiple_of(GROUP) { 0 } else { self.ends[at - 1] as usize };
        &self.groups[at / GROUP][from..self.ends[at] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nodes_are_found(nodes in prop::collection::btree_set(prop_oneof![0u32..300, any::<u32>()], 1..200)) {
            let nodes: Vec<u32> = nodes.into_iter().collect();
            let some = SomeNodes::new(nodes.clone());
            for (at, &node) in nodes.iter().enumerate() {
                prop_assert_eq!(some.position(node), at);
            }
            prop_assert!(some.starts.len() <= nodes.len() / SHARED + 3);
        }
    }
}
