//! How good communities are: by the graph they come from, and by other communities.
//!
//! By the graph: [`quality()`], one scan. By other communities of the same nodes: [`compare`], which
//! sorts the pairs of labels and needs no graph.
//!
//! ```
//! use outcore::score::compare;
//!
//! // Labels of the same six nodes, in two divisions: one node has changed sides.
//! let agreement = compare(&[0, 0, 0, 1, 1, 1], &[5, 5, 5, 5, 2, 2]);
//! assert_eq!(agreement.node_count, 6);
//! assert_eq!(format!("{:.3}", agreement.nmi), "0.479");
//! // Of the six pairs that the first puts together, four are together in the second.
//! assert_eq!(agreement.pair_precision, 4.0 / 6.0);
//! ```

mod agreement;
mod quality;
#[cfg(test)]
mod tests;

pub(crate) use agreement::compare_bytes;
pub use agreement::{Agreement, ami, ari, compare, nmi};
pub(crate) use quality::quality_bytes;
pub use quality::{Quality, quality, quality_at};
