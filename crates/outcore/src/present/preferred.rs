//! The preferred node of each community: the one of highest priority, or the first in the input.
//!
//! Among nodes of equal priority, the smallest name is preferred, so that the choice does not depend on the order of the
//! input. Names are compared seven bytes at a time: a scan of the names finds the smallest next piece of each community,
//! and those that begin otherwise drop out in the next scan. Memory in addition to the labels: 20 bytes per community of
//! more than one node, and 1/8 byte per node. Time: two scans of the priorities, and one of the names for every seven
//! bytes that do not tell nodes of one community apart.

use super::Presented;
use super::matching::Workbench;
use crate::cluster::base::bits::Bits;
use crate::error::Result;
use crate::graph::Graph;
use crate::io::Array;
use crate::progress::{Event, REPORT_NODES, notify};
use std::path::PathBuf;

/// Bytes of a name that are compared in one scan.
const PIECE_BYTES: usize = 7;

/// Which node of a community is preferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preference {
    /// The first in the input.
    First,
    /// The one with the largest number in a file of lines `node<TAB>number`.
    File(PathBuf),
}

/// Priorities of nodes.
pub(crate) enum Priorities {
    /// Those that come first in the input.
    First,
    /// Code of each node's number, in a file.
    Codes(Array<u64>),
}

impl Priorities {
    /// Returns an upper bound of the memory to find preferred nodes, in addition to the labels.
    pub(super) fn bytes(nodes: u64) -> u64 {
        20 * (nodes / 2) + nodes.div_ceil(8)
    }

    /// Returns the preferred node of each community of more than one node.
    pub(crate) fn preferred(
        &self,
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &Presented,
    ) -> Result<Vec<u32>> {
        let (labels, count) = (presented.labels(), presented.shared_count());
        let mut preferred = vec![u32::MAX; count];
        let Self::Codes(codes) = self else {
            for (node, &label) in labels.iter().enumerate().rev() {
                if let Some(first) = preferred.get_mut(label as usize) {
                    *first = node as u32;
                }
            }
            return Ok(preferred);
        };
        let mut largest = vec![0; count];
        let mut labels_of = labels.iter();
        codes.for_each_block(bench.files, |block| {
            for (code, &label) in block.iter().zip(&mut labels_of) {
                if let Some(largest) = largest.get_mut(label as usize) {
                    *largest = (*largest).max(*code);
                }
            }
            notify(bench.observer, Event::Advance { done: 0 })
        })?;
        let (tied, mut node) = (Bits::new(labels.len(), false), 0);
        codes.for_each_block(bench.files, |block| {
            for &code in block {
                if largest.get(labels[node] as usize) == Some(&code) {
                    tied.set(node);
                }
                node += 1;
            }
            Ok(())
        })?;
        let mut comparison =
            Comparison { labels, tied, before: largest, least: vec![0; count], preferred };
        let mut part = 0;
        while comparison.scan(bench, graph, part)? > count {
            std::mem::swap(&mut comparison.before, &mut comparison.least);
            part += 1;
        }
        Ok(comparison.preferred)
    }
}

/// Comparison of the names of nodes with equal priorities.
struct Comparison<'a> {
    labels: &'a [u32],
    /// Nodes that may be preferred.
    tied: Bits,
    /// For each community, the smallest piece of a name in the scan before this one, and in this one.
    before: Vec<u64>,
    least: Vec<u64>,
    /// Last node that is left in each community.
    preferred: Vec<u32>,
}

impl Comparison<'_> {
    /// Finds, for each community, the smallest piece number `part` of the names of its tied nodes. Leaves out the nodes
    /// whose previous piece is not the smallest. Returns the number of nodes that are left.
    fn scan(&mut self, bench: &Workbench<'_>, graph: &Graph, part: usize) -> Result<usize> {
        self.least.fill(u64::MAX);
        let mut names = graph.names()?;
        let mut left = 0;
        for (node, &label) in self.labels.iter().enumerate() {
            let Some(name) = names.next_name()? else { break };
            if (node as u64).is_multiple_of(REPORT_NODES) {
                notify(bench.observer, Event::Advance { done: 0 })?;
            }
            if !self.tied.get(node) {
                continue;
            }
            let label = label as usize;
            if part > 0 && piece(name, part - 1) != self.before[label] {
                self.tied.clear(node);
                continue;
            }
            left += 1;
            self.preferred[label] = node as u32;
            self.least[label] = self.least[label].min(piece(name, part));
        }
        Ok(left)
    }
}

/// Returns a piece of a name as a number: its bytes, then how many there are.
fn piece(name: &[u8], part: usize) -> u64 {
    let rest = name.get(part * PIECE_BYTES..).unwrap_or_default();
    let rest = &rest[..rest.len().min(PIECE_BYTES)];
    let mut bytes = [0; 8];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes[PIECE_BYTES] = rest.len() as u8;
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_the_order_of_names() {
        let names: [&[u8]; 7] = [b"", b"a", b"a\0", b"ab", b"abcdefg", b"abcdefgh", b"b"];
        let pieces = |name: &[u8]| [piece(name, 0), piece(name, 1)];
        assert!(names.is_sorted_by(|a, b| pieces(a) < pieces(b)));
    }
}
