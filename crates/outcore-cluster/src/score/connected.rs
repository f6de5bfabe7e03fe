//! Share of communities that are well-connected: more edges than a bound must be cut to divide them; and number of those
//! that one edge holds together.
//!
//! Cost: a scan, and a sort of the edges inside communities. Memory in addition to the labels: 4 bytes per community, a
//! fifth of a byte per node, and room for the edges of a community.

use crate::{BlockSource, ClusterMemory, CutMemory, CutRound, WellConnected, rate};
use outcore_graph::Graph;
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};
use std::path::Path;

/// Counts of communities that are well-connected, or that one edge holds together. Communities of one node do not count.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Connectedness {
    /// Bound that the smallest edge cut exceeds (Park, Tabatabaee, Ramavarapu et al., "Well-connectedness and community
    /// detection", 2024).
    pub bound: WellConnected,
    /// Number of communities of more than one node.
    pub community_count: u64,
    /// Number of those that are well-connected.
    pub well_connected_count: u64,
    /// Share of these communities that are well-connected; 1 if there are none.
    pub community_share: f64,
    /// Share of the nodes of these communities that are in well-connected ones; 1 if there are none.
    pub node_share: f64,
    /// Number of communities that one edge holds together: its removal leaves two parts of at least two nodes each. It
    /// does not depend on the bound.
    pub bridged_count: u64,
}

/// Memory limit, and directory for temporary files.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRoom<'a> {
    /// Memory of the sort.
    pub memory_bytes: u64,
    /// Directory for its runs.
    pub scratch: &'a Path,
}

/// Counts the well-connected and the bridged communities of dense labels.
///
/// # Errors
/// `MemoryTooSmall` for a large community; those of reading and writing; `Interrupted`.
pub fn connectedness(
    graph: &Graph,
    labels: &[u32],
    bound: WellConnected,
    room: ScoreRoom<'_>,
    observer: &dyn Observer,
) -> Result<Connectedness> {
    let label_count = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let mut sizes = vec![0u32; label_count];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let threads = rayon::current_num_threads();
    let held = 4 * labels.len() as u64 + beside_room_bytes(graph, label_count as u64, threads);
    let least = CutMemory::min_bytes(graph.arc_count());
    let round = CutRound {
        source: &mut BlockSource::new(graph, 0),
        directory: room.scratch,
        rule: bound,
        room: CutMemory::within(room.memory_bytes.saturating_sub(held).max(least)),
        tick: &|| notify(observer, Event::Advance { done: 0 }),
        too_little: &|bytes| {
            let needed = held + CutMemory::bytes_for(bytes);
            CutMemory::too_little(room.memory_bytes, needed, needed)
        },
    };
    let found = rate(labels, &sizes, round)?;
    let several = || sizes.iter().filter(|&&size| size > 1);
    let (community_count, nodes) =
        (several().count() as u64, several().map(|&s| u64::from(s)).sum());
    let share = |part: u64, whole: u64| if whole > 0 { part as f64 / whole as f64 } else { 1.0 };
    Ok(Connectedness {
        bound,
        community_count,
        well_connected_count: found.communities,
        community_share: share(found.communities, community_count),
        node_share: share(found.nodes, nodes),
        bridged_count: found.bridged,
    })
}

/// Returns the memory of [`connectedness`] in addition to the labels.
pub fn connectedness_bytes(graph: &Graph, label_count: u64, threads: usize) -> u64 {
    beside_room_bytes(graph, label_count, threads) + CutMemory::min_bytes(graph.arc_count())
}

fn beside_room_bytes(graph: &Graph, label_count: u64, threads: usize) -> u64 {
    4 * label_count + graph.node_count() / 4 + ClusterMemory::of_scans(graph, threads).fixed_bytes()
}
