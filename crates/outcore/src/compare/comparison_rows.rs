//! Rows that are sorted to compare two results: rows by name, rows by community, nodes by pair of communities, pairs of
//! communities by either side.

use crate::input::Fingerprint;
use crate::sort::records;
use std::cmp::Reverse;

records! {
    /// Node of one file, sorted by name.
    pub(super) struct Row {
        pub(super) name: Fingerprint,
        /// Label of the community; see [`side`](super::side).
        pub(super) label: u64,
        /// Index of the row in its file.
        pub(super) row: u64,
    }

    /// Node of one file whose communities are text, sorted by community.
    pub(super) struct Line {
        pub(super) community: Fingerprint,
        pub(super) name: Fingerprint,
        pub(super) row: u64,
    }

    /// Node with its communities in both files, of which one may be [`NONE`](super::NONE).
    pub(super) struct Shared {
        pub(super) a: u64,
        pub(super) b: u64,
        /// Row of the node in the file that moved nodes are named by.
        pub(super) row: u64,
    }

    /// Node that moved, sorted by its row.
    pub(super) struct Moved {
        pub(super) row: u64,
        pub(super) a: u64,
        pub(super) b: u64,
    }

    /// Row of a table that names a community, sorted by its label.
    pub(super) struct Named {
        pub(super) label: u64,
        pub(super) row: u64,
    }

    /// Pair of communities, sorted by the community of B, with the number of nodes that they share and the size of the
    /// community of A. Nodes that only B has are shared with [`NONE`](super::NONE).
    pub(super) struct ByB {
        pub(super) b: u64,
        pub(super) a: u64,
        pub(super) shared: u64,
        pub(super) size_a: u64,
    }

    /// Pair of communities that share nodes, sorted by the community of A, then by the number of shared nodes, most
    /// first.
    pub(super) struct Overlap {
        pub(super) a: u64,
        pub(super) shared: Reverse<u64>,
        pub(super) b: u64,
        pub(super) size_a: u64,
        pub(super) size_b: u64,
        /// Whether no other community of A shares more nodes with `b`, or as many and comes earlier.
        pub(super) is_best_of_b: bool,
    }
}

impl Overlap {
    pub(super) fn jaccard(&self) -> f64 {
        let Reverse(shared) = self.shared;
        shared as f64 / (self.size_a + self.size_b - shared) as f64
    }
}
