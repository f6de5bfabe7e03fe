//! How good communities are: by the graph they come from, and by other communities.
//!
//! By the graph: [`quality()`], one scan. By other communities of the same nodes: [`compare`], which
//! sorts the pairs of labels and needs no graph.

mod agreement;
mod quality;
#[cfg(test)]
mod tests;

pub use agreement::{Agreement, ami, ari, compare, compare_bytes, nmi};
pub use quality::{Quality, quality, quality_at, quality_bytes};
