//! Reads edge lists on all cores: text and tables in, names and weights out, in file order.
//!
//! ```text
//!  files --reading thread--> decompressed text, cut at line ends --rayon--> names, weights --> caller
//!               ^                                                                                |
//!               `------------------------------- buffers come back ------------------------------'
//! ```
//!
//! Tables (Parquet, Arrow) and adjacency lists (METIS, mcl) arrive as parsed chunks: see `table` and `lists`. Lines are
//! split at one byte or at runs of spaces, as [`InputOptions`] specifies or `format` detects. `text::field` defines
//! valid names and weights. Memory: [`BatchMemory::total_bytes`]. Cost: about 20 ns of one core for a line of two short
//! names and a weight.
//!
//! ```
//! use outcore_input::{Batch, BatchMemory, EdgeReader, InputOptions};
//! use outcore_io::Files;
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let (files, path) = (Files::default(), directory.join("edges.tsv"));
//! files.write(&path, b"ada\tbea\t0.5\nbea\tcleo\t2\n")?;
//! let options = InputOptions { paths: vec![path], ..InputOptions::default() };
//! let memory = BatchMemory { chunk_bytes: 64 << 10, chunks: 2 };
//! let mut reader = EdgeReader::open(&files, &options, memory)?;
//! let (mut batch, mut edges) = (Batch::default(), Vec::new());
//! while reader.next_batch(&mut batch)? {
//!     for chunk in &batch.chunks {
//!         let names: Vec<_> = chunk.names.iter().map(|name| chunk.name(name)).collect();
//!         edges.extend(names.chunks(2).map(|ends| format!("{} - {}", text(ends[0]), text(ends[1]))));
//!     }
//! }
//! # fn text(name: &[u8]) -> &str { str::from_utf8(name).expect("the names above") }
//! assert_eq!(edges, ["ada - bea", "bea - cleo"]);
//! assert_eq!(reader.finish()?.lines, 2);
//! # Ok::<(), outcore_io::Error>(())
//! ```

#![cfg_attr(
    not(feature = "tables"),
    expect(dead_code, reason = "code used only by tables stays compiled")
)]

mod account;
mod catalog;
mod chunk;
mod cut;
mod decompress;
mod fault;
mod feed;
mod format;
mod layout;
pub mod lines;
mod lists;
mod memory;
mod open;
mod options;
mod reader;
mod sample;
mod sink;
mod source;
mod stream;
#[cfg(feature = "streams")]
mod table;
#[cfg(not(feature = "streams"))]
#[path = "table/none.rs"]
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use account::{InputState, InputSummary};
pub use catalog::{FormatRow, formats};
pub use format::column_names::choose_columns;
pub use lists::communities::{CLUSTERS_MARK, community_number, is_label};
pub use memory::*;
pub use open::{any_has_comments, examine};
pub use options::{
    BatchMemory, Column, CommunityFormat, CommunityInput, Delimiter, EdgeFormat, FileColumns,
    Header, InputOptions, LAST_LEVEL, NodeNaming, OnBadLine, Rows,
};
pub use options::{contradicts_ignore_weights, has_no_weights};
pub use outcore_graph::KindNames;
pub use outcore_graph::ids::{EdgeChunk, Fingerprint, NAME_LIMIT, NameRef};
pub use outcore_graph::weight::WeightTransform;
pub use reader::{Batch, EdgeReader};
pub use sample::{EdgeOrder, InputSample, Repeats, SampledEdges, SampledNames, sample};
pub use source::ColumnUse;
pub use stream::TableStream;
pub use table::silence_decoders;
