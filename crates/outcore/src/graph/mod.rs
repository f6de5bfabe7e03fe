//! The graph on disk: a directory with `graph.json`, `arcs` (compressed sparse rows) and `names`.

mod arc;
mod block;
mod names;
mod reader;
mod writer;

pub use arc::InputOrder;
pub use block::{ArcScratch, Block, BlockEntry, SEGMENT_ARCS};
pub use names::{NameScan, NamesSummary, NamesWriter};
pub use reader::{BlockScan, Graph};
pub use writer::{ArcRecord, Duplicates, GraphOptions, GraphSummary, GraphWriter};
