//! Scores of communities: by their graph, and by comparison with other communities.
//!
//! [`quality()`] rates communities by their graph, in one scan. [`compare`] compares them with other communities of the
//! same nodes; it sorts pairs of labels and needs no graph.
//!
//! ```
//! use outcore_cluster::score::compare;
//!
//! // Labels of the same six nodes in two divisions, which differ in one node.
//! let agreement = compare(&[0, 0, 0, 1, 1, 1], &[5, 5, 5, 5, 2, 2]);
//! assert_eq!(agreement.node_count, 6);
//! assert_eq!(format!("{:.3}", agreement.nmi), "0.479");
//! // Of the six pairs that are together in the first, four are together in the second.
//! assert_eq!(agreement.pair_precision, 4.0 / 6.0);
//! ```

mod agreement;
mod connected;
mod quality;
#[cfg(test)]
mod tests;
mod visits;

pub use agreement::compare_bytes;
pub use agreement::{Agreement, SizeCounts, agreement_of, ami, ari, compare, nmi};
pub use connected::Connectedness;
pub use connected::{ScoreRoom, connectedness, connectedness_bytes};
pub use quality::quality_bytes;
pub use quality::tree_bytes;
pub use quality::{CommunitySizes, Quality, QualityRules};
pub use quality::{quality, quality_at, quality_by, quality_of_levels};
pub use visits::{Visited, visits, visits_bytes, walked};
