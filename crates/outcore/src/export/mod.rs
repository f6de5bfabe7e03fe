//! Exports a graph to a file that other programs read, whole or as the graph of some of its communities.
//!
//! ```text
//!  graph --names--> head with the nodes ---------------.
//!      `---scan---> pieces --threads--> text in order --+--> file
//!  communities --> labels of the nodes --> the graph inside some (`part`), or between all (`quotient`), as a graph
//! ```
//!
//! Undirected edges are written once, by the node with the smaller index (in a symmetric matrix, the larger); rows come
//! in the order of the graph, so the bytes depend on the graph alone. Weights have the fewest digits that are read back
//! as the same weight ([`weight`]). The graph of some communities, or of all as nodes, is written to the work directory
//! like one from edges, so each format has one writer.
//!
//! Memory: 2.5 MiB per thread, the blocks of a scan, and the rest for names ([`name_table`]). Time: about 100 ns per edge and
//! core for text with names in memory.

mod edge_text;
mod edges;
mod format;
mod name_table;
mod nodes;
mod ordered;
mod part;
mod piece;
mod quotient;
mod weight;

pub use crate::output::format::ExportFormat;
pub(crate) use nodes::{NetworkNodes, NodeData};
pub(crate) use part::{Part, write_part};
pub(crate) use quotient::{
    COMMUNITY_BYTES, MODULE_BYTES, NamedCommunities, Quotient, write_quotient,
};
pub use weight::shortest_weight;

use crate::cluster::ClusterMemory;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::io::Files;
use crate::output::{RowWriter, Sink};
use crate::progress::{Observer, Silent};
use crate::units::MIB;
use edges::Edges;
use name_table::NameForm;
use nodes::Nodes;
use ordered::{Ordered, PIECE_BYTES};
use std::cell::Cell;
use std::path::Path;

/// Memory of a thread that formats: its text, up to twice as long while it grows, and the arcs of a row.
const THREAD_BYTES: u64 = 2 * PIECE_BYTES as u64 + MIB / 2;
/// Memory of the output, of tables that are encoded, and of a scan of names.
const OUTPUT_BYTES: u64 = 16 * MIB;
/// Minimum memory for names.
const NAME_BYTES_LEAST: u64 = 4 * MIB;

/// Where a graph is written to, and with what.
pub(crate) struct Target<'a> {
    pub(crate) format: ExportFormat,
    pub(crate) output: &'a Path,
    /// File of nodes, if there is one.
    pub(crate) nodes: Option<&'a Path>,
    pub(crate) data: NodeData<'a>,
    pub(crate) memory_bytes: u64,
    pub(crate) threads: usize,
}

/// Returns the memory for names if `memory_bytes` may be used in all, and the number of threads, which is smaller if
/// memory is scarce; `None` if it is too little.
fn shares(graph: &Graph, memory_bytes: u64, threads: usize) -> Option<(u64, usize)> {
    let scan = ClusterMemory::of_scans(graph, 1);
    let fixed = scan.scratch_bytes + scan.block_bytes + OUTPUT_BYTES;
    let left = memory_bytes.checked_sub(fixed + NAME_BYTES_LEAST)?;
    let threads = (left / 2 / THREAD_BYTES).clamp(1, threads.max(1) as u64);
    let names = (left + NAME_BYTES_LEAST).checked_sub(threads * THREAD_BYTES)?;
    (names >= NAME_BYTES_LEAST).then_some((names, threads as usize))
}

/// Returns the least memory for writing a graph.
pub(crate) fn least_bytes(graph: &Graph) -> u64 {
    let scan = ClusterMemory::of_scans(graph, 1);
    scan.scratch_bytes + scan.block_bytes + OUTPUT_BYTES + NAME_BYTES_LEAST + 2 * THREAD_BYTES
}

/// What was written.
pub(crate) struct Exported {
    /// Length of the output.
    pub(crate) bytes: u64,
    /// Number of nodes with neither an arc in their row nor a loop.
    pub(crate) lone_count: u64,
}

/// Writes a graph.
///
/// # Errors
/// `BadInput` for a name or weight that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
///
/// # Panics
/// If the memory is less than [`least_bytes`].
pub(crate) fn write(
    files: &Files,
    graph: &Graph,
    target: &Target<'_>,
    observer: &dyn Observer,
) -> Result<Exported> {
    let &Target { format, output, nodes, data, memory_bytes, threads } = target;
    let (name_bytes, threads) =
        shares(graph, memory_bytes, threads).expect("the memory was checked");
    let of_nodes = Nodes { files, graph, data, observer };
    let list = nodes.map(|path| of_nodes.write_list(path)).transpose()?;
    let lone_count = Cell::new(0);
    let edges = Edges { graph, format, output, name_bytes, threads, observer, lone_count };
    let bytes = match format.rows().filter(|rows| rows.is_of_library()) {
        Some(rows) => edges.write_rows(files, rows)?,
        None => {
            let (text, mut sink) = (format.text(), Sink::create(files, output)?);
            let form = NameForm { encoding: text.encoding, output };
            of_nodes.begin(format, form, &mut sink)?;
            let ordered = Ordered::new(sink);
            edges.write(&ordered)?;
            let mut sink = ordered.into_sink();
            sink.write(text.end.as_bytes())?;
            sink.finish()?
        }
    };
    list.map(RowWriter::finish).transpose()?;
    Ok(Exported { bytes, lone_count: edges.lone_count.get() })
}

/// Function that takes the names of source and target, and the weight of an edge.
pub type TakeEdge<'a> = dyn FnMut([&[u8]; 2], f64) -> Result<()> + 'a;

/// Calls `take` with the names and the weight of each edge of a graph: once if edges have no direction, source and target
/// otherwise. A node without an edge (in a directed graph: without one from another node) is a loop of weight 0. At most
/// `memory_bytes` are used.
///
/// # Errors
/// Those of `take`; `BadInput` for a name that is not UTF-8; `MemoryTooSmall`, `CorruptFile`, `Io`.
pub fn for_each_edge(graph: &Graph, memory_bytes: u64, take: &mut TakeEdge<'_>) -> Result<()> {
    let Some((name_bytes, threads)) = shares(graph, memory_bytes, 1) else {
        let least = least_bytes(graph);
        return Err(Error::too_little_memory(memory_bytes, " to read edges", least));
    };
    let (format, output, observer) = (ExportFormat::Arrow, Path::new("edges"), &Silent);
    let lone_count = Cell::new(0);
    let edges = Edges { graph, format, output, name_bytes, threads, observer, lone_count };
    edges.for_each_edge(true, take)
}
