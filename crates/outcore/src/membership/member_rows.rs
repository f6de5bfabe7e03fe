//! Rows that are sorted to read communities back: names with their places, communities with their nodes.

use crate::ids::Fingerprint;
use crate::sort::records;

records! {
    /// Node of the graph, or line of the file. Both are sorted by name only. Nodes are added first, so each precedes the
    /// lines that name it.
    pub(super) struct Named {
        pub(super) name: Fingerprint,
        /// Fingerprint of the community, or that of the empty name if this is a node.
        pub(super) community: Fingerprint,
        /// Index of the node, or line number.
        pub(super) place: u64,
    }

    /// Node with a number, by its code.
    pub(super) struct Numbered {
        pub(super) node: u64,
        pub(super) code: u64,
    }

    /// Node of a community.
    pub(super) struct Member {
        pub(super) community: Fingerprint,
        pub(super) node: u32,
    }
}

impl Named {
    pub(super) fn node(name: Fingerprint, index: u64) -> Self {
        Self { name, community: Fingerprint::default(), place: index }
    }

    pub(super) fn is_node(&self) -> bool {
        self.community == Fingerprint::default()
    }
}
