//! Report of a comparison.

use crate::score::Agreement;
use crate::units::{format_count, format_counted};
use std::fmt;

/// Report of a comparison.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CompareReport {
    /// Version of this schema.
    pub schema: u32,
    /// Kind of report: `compare`.
    pub kind: &'static str,
    /// First file.
    pub a: SideReport,
    /// Second file.
    pub b: SideReport,
    /// Number of nodes in both files.
    pub node_count: u64,
    /// Number of these that moved to another community.
    pub moved_count: u64,
    /// Number of pairs of communities that share a node.
    pub overlap_count: u64,
    /// Agreement over the nodes in both files.
    pub agreement: Agreement,
    /// Communities of A that most nodes left, most first.
    pub left: Vec<Change>,
    /// Communities of B that most nodes joined, most first.
    pub joined: Vec<Change>,
    /// The largest communities of both files, and the nodes that they share.
    pub drawn: Drawn,
    /// Peak resident memory of the process, if the system reports it.
    #[serde(skip)]
    pub peak_memory_bytes: Option<u64>,
}

impl CompareReport {
    /// Returns the main figures in a phrase.
    pub(crate) fn summary(&self) -> String {
        summary(self.moved_count, self.node_count, &self.agreement)
    }
}

/// Returns the main figures of a comparison in a phrase.
pub(super) fn summary(moved: u64, both: u64, agreement: &Agreement) -> String {
    let (moved, both) = (format_count(moved), format_counted(both, "node", "nodes"));
    format!("{moved} of {both} moved, NMI {:.4}", agreement.nmi)
}

/// What the report says of one file.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SideReport {
    /// Path as the user typed it; bytes that are not Unicode are replaced.
    pub path: String,
    /// Number of nodes in the file.
    pub node_count: u64,
    /// Number of nodes that only this file names.
    pub only_count: u64,
    /// Number of communities.
    pub community_count: u64,
    /// Number of communities by their fate.
    pub fates: FateCounts,
}

/// What became of a community of A, or where a community of B comes from; see the [rules](crate::compare).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// The other file names none of its nodes.
    Alone,
    /// A community of the other file has exactly its nodes.
    Unchanged,
    /// It shares with one community more than half of the nodes that either of the two has.
    Continued,
    /// More than half of it is in one larger community.
    IntoOne,
    /// More than half of it is in communities that mostly consist of its nodes.
    IntoSeveral,
    /// Anything else.
    Mixed,
}

/// Number of communities with each fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct FateCounts {
    /// [`Fate::Unchanged`]
    pub unchanged: u64,
    /// [`Fate::Continued`]
    pub continued: u64,
    /// [`Fate::IntoOne`]
    pub into_one: u64,
    /// [`Fate::IntoSeveral`]
    pub into_several: u64,
    /// [`Fate::Mixed`]
    pub mixed: u64,
    /// [`Fate::Alone`]
    pub alone: u64,
}

impl FateCounts {
    pub(super) fn add(&mut self, fate: Fate) {
        *match fate {
            Fate::Alone => &mut self.alone,
            Fate::Unchanged => &mut self.unchanged,
            Fate::Continued => &mut self.continued,
            Fate::IntoOne => &mut self.into_one,
            Fate::IntoSeveral => &mut self.into_several,
            Fate::Mixed => &mut self.mixed,
        } += 1;
    }

    /// Returns the number of all communities.
    pub fn all(&self) -> u64 {
        let Self { unchanged, continued, into_one, into_several, mixed, alone } = self;
        unchanged + continued + into_one + into_several + mixed + alone
    }
}

/// Name of a community in its file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum CommunityName {
    /// All communities of the file are numbers.
    Number(u64),
    /// Bytes that are not Unicode are replaced.
    Text(String),
}

impl fmt::Display for CommunityName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Community whose nodes moved.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// The community.
    pub community: CommunityName,
    /// Number of its nodes.
    pub size: u64,
    /// Number of its nodes that are in the other file.
    pub shared_count: u64,
    /// Number of nodes that left it, or joined it.
    pub moved_count: u64,
    /// What became of it, or where it comes from.
    pub fate: Fate,
    /// Communities of the other file that have most of its nodes, most first.
    pub parts: Vec<Part>,
    /// Number of communities of the other file that have its nodes.
    pub part_count: u64,
}

/// Part of a community.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Part {
    /// Community of the other file.
    pub community: CommunityName,
    /// Number of nodes that the two share.
    pub shared_count: u64,
}

/// The largest communities of both files, for a drawing.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Drawn {
    /// Communities of A, largest first; the last one is all others, if there are any.
    pub a: Vec<DrawnSide>,
    /// Communities of B, in the same form.
    pub b: Vec<DrawnSide>,
    /// Pairs that share nodes.
    pub flows: Vec<DrawnFlow>,
}

/// Community in a drawing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DrawnSide {
    /// The community; absent for all others.
    pub community: Option<CommunityName>,
    /// Number of communities: 1, or the number of all others.
    pub community_count: u64,
    /// Number of nodes.
    pub size: u64,
}

/// Nodes that two communities in a drawing share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct DrawnFlow {
    /// Place of the community in [`Drawn::a`].
    pub a: usize,
    /// Place of the community in [`Drawn::b`].
    pub b: usize,
    /// Number of nodes.
    pub shared_count: u64,
}
