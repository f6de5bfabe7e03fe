//! Well-connected communities: none can be divided by cutting a few edges.
//!
//! ```text
//!  labels --edges--> edges inside each community, sorted --split--> well-connected parts --> labels
//!                                   `--large--> subset that preserves every small cut ----'
//! ```
//!
//! A community is well-connected if its smallest edge cut, without weights and directions, has more edges than a bound
//! that grows with its number of nodes (Park, Tabatabaee, Ramavarapu et al., "Well-connectedness and community detection",
//! 2024). [`separate`] replaces the others by their well-connected parts, and [`rate`] counts those that are
//! well-connected, and those that one edge holds together.
//!
//! Cost: one scan and one sort of the edges inside communities; a community is examined in memory, in time that is
//! usually linear in its edges, at most once for each value of its cuts up to the bound. A community larger than
//! the memory takes a scan for each of these.

mod bridges;
pub(crate) mod edges;
mod flows;
mod large;
mod multigraph;
mod order;
pub(crate) mod rate;
pub(crate) mod separate;
mod sets;
mod split;

use edges::{InsideEdge, ends};
use outcore_io::Files;
use outcore_io::error::opt::MEMORY;
use outcore_io::error::{Error, ErrorKind};
use outcore_io::units::{MIB, format_bytes, size_to_type};
use outcore_sort::SORT_BYTES_MIN;
use split::CommunityPiece;

/// Bytes per edge of a community under examination, in the worst case of two nodes per edge.
const EDGE_BYTES: u64 = 256;
/// Bytes per edge in a small graph: a record to sort, and its examination.
const SMALL_EDGE_BYTES: u64 = 36 + EDGE_BYTES;
/// Minimum memory for the examination of communities.
const EXAMINED_BYTES: u64 = 8 * MIB;

/// Memory for edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CutMemory {
    sort_bytes: u64,
    /// Bytes for communities in memory.
    examined_bytes: u64,
}

impl CutMemory {
    pub(crate) fn sort_bytes(self) -> u64 {
        self.sort_bytes
    }

    /// Returns the minimum memory for a graph, by its number of arcs.
    pub(crate) fn min_bytes(arcs: u64) -> u64 {
        let small = SMALL_EDGE_BYTES.saturating_mul(arcs).saturating_add(MIB);
        small.min(SORT_BYTES_MIN + EXAMINED_BYTES)
    }

    /// Divides `bytes`, which are at least the minimum, between the sort and the examination.
    pub(crate) fn within(bytes: u64) -> Self {
        // A small graph does not fill it.
        let spare = bytes.saturating_sub(SORT_BYTES_MIN + EXAMINED_BYTES);
        let sort_bytes = SORT_BYTES_MIN + spare / 3;
        Self { sort_bytes, examined_bytes: EXAMINED_BYTES + spare - spare / 3 }
    }

    /// Returns the total memory with which a community gets `examined_bytes`.
    pub(crate) fn bytes_for(examined_bytes: u64) -> u64 {
        let spare = examined_bytes.saturating_sub(EXAMINED_BYTES);
        SORT_BYTES_MIN + EXAMINED_BYTES + spare + spare.div_ceil(2)
    }

    /// Returns the error for a community whose examination needs more than `given` bytes, with the limit to suggest.
    pub(crate) fn too_little(given: u64, needed: u64, least: u64) -> Error {
        let message = format!(
            "a community is too large to examine: that needs {} of memory, but the limit is {}",
            format_bytes(needed),
            format_bytes(given)
        );
        Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))))
    }

    fn edges_at_once(self, files: &Files) -> usize {
        ((self.examined_bytes / EDGE_BYTES) as usize).min(files.cramped().community_edges)
    }
}

impl CommunityPiece {
    /// Creates the piece of a community's edges, which are sorted.
    fn new(edges: &[InsideEdge], floor: u64) -> Self {
        let mut nodes: Vec<u32> = edges.iter().flat_map(ends).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let span = (last - first) as usize + 1;
        let edges = if span <= 4 * edges.len() {
            let mut places = vec![0; span];
            (0..).zip(&nodes).for_each(|(place, &node)| places[(node - first) as usize] = place);
            let place = |node: u32| places[(node - first) as usize];
            edges.iter().map(|edge| ends(edge).map(place)).collect()
        } else {
            let place = |node: u32| nodes.binary_search(&node).expect("it is an end of an edge");
            edges.iter().map(|edge| ends(edge).map(|node| place(node) as u32)).collect()
        };
        Self { nodes, edges, floor, known: u64::MAX }
    }
}
