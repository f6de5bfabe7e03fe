//! The largest communities and the network of them, for the report.
//!
//! Cost: what [`Sums`](super::Sums) takes, for the arcs of the largest communities only, and a scan of the names. Memory:
//! a few hundred rows and names.

mod groups;

pub use groups::GroupsReport;
pub(crate) use groups::{GROUP_BYTES, describe_groups};

use super::Presented;
use crate::error::Result;
use crate::graph::Graph;

/// Number of communities in an outline.
const COMMUNITIES: u64 = 100;
/// Number of nodes that an outline names in each community.
const MEMBERS: usize = 12;

/// The largest communities of a result, and the network of them.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct LargestReport {
    /// Communities, largest first; at most 100.
    pub communities: Vec<CommunityReport>,
    /// Weights between these communities, each pair once: directions do not count.
    pub links: Vec<CommunityLink>,
    /// The groups inside these communities and inside these groups, if levels are written and the memory suffices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupsReport>,
}

/// A community.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CommunityReport {
    /// Its number.
    pub community: u64,
    /// Number of its nodes.
    pub size: u64,
    /// Name of the node with the largest weight inside.
    pub representative: String,
    /// Names of nodes with the largest weights inside, the representative first; at most 12.
    pub members: Vec<String>,
    /// Number of edges inside, without loops.
    pub inner_edges: u64,
    /// Weight of edges inside, with loops.
    pub inner_weight: f64,
    /// Weight of edges to other communities.
    pub outer_weight: f64,
    /// Share of the pairs of nodes that have an edge; `None` for one node.
    pub density: Option<f64>,
    /// Outer weight relative to the strength of the nodes inside or of all others, whichever is smaller; `None` if one of
    /// them has none.
    pub conductance: Option<f64>,
    /// Mean stability of its nodes, if it was computed.
    pub stability: Option<f64>,
    /// Number of the community to which the largest weight leads.
    pub neighbor: Option<u64>,
    /// Weight to that community.
    pub neighbor_weight: Option<f64>,
}

/// Weight of the edges between two communities.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CommunityLink {
    /// Number of the larger community.
    pub source: u64,
    /// Number of the other community.
    pub target: u64,
    /// Total weight.
    pub weight: f64,
}

/// Outline that is made during the scan that finds representatives.
pub(crate) struct Outline {
    /// Nodes of each community with the largest weights inside, largest first.
    members: Vec<Vec<(f64, u32)>>,
    found: LargestReport,
}

impl Outline {
    /// Prepares an outline of the first communities by label.
    pub(super) fn new(count: u32) -> Self {
        Self { members: vec![Vec::new(); count as usize], found: LargestReport::default() }
    }

    /// Returns the number of communities in the outline of a result.
    pub(crate) fn count_of(presented: &Presented) -> u32 {
        presented.community_count().min(COMMUNITIES) as u32
    }

    /// Returns the number of its communities.
    pub(super) fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// Adds a node with its weight to others in its community. Nodes come in order.
    pub(super) fn add_node(&mut self, node: u32, label: u32, others: f64) {
        let Some(members) = self.members.get_mut(label as usize) else { return };
        let at = members.partition_point(|&(weight, _)| weight >= others);
        if at < MEMBERS {
            members.truncate(MEMBERS - 1);
            members.insert(at, (others, node));
        }
    }

    /// Adds a community with this representative, and its weights to others by their labels, if it is one of the largest.
    pub(crate) fn push(
        &mut self,
        row: &CommunityReport,
        representative: &[u8],
        label: u32,
        links: &[(u32, f64)],
    ) {
        if label as usize >= self.members.len() {
            return;
        }
        let representative = String::from_utf8_lossy(representative).into_owned();
        self.found.communities.push(CommunityReport { representative, ..row.clone() });
        let later = links.iter().filter(|&&(target, _)| label < target);
        self.found.links.extend(later.map(|&(target, weight)| CommunityLink {
            source: u64::from(label),
            target: u64::from(target),
            weight,
        }));
    }

    /// Names the nodes, and numbers the communities as in the result.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub(crate) fn finish(self, graph: &Graph, presented: &Presented) -> Result<LargestReport> {
        let Self { members, mut found } = self;
        let mut wanted: Vec<(u32, usize, usize)> = Vec::new();
        for (label, members) in members.iter().enumerate() {
            found.communities[label].members = vec![String::new(); members.len()];
            wanted.extend(members.iter().enumerate().map(|(at, &(_, node))| (node, label, at)));
        }
        wanted.sort_unstable();
        let mut names = graph.names()?;
        let (mut node, mut name) = (0, names.next_name()?);
        for (of, label, at) in wanted {
            while node < of {
                (node, name) = (node + 1, names.next_name()?);
            }
            let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            found.communities[label].members[at] = name;
        }
        for link in &mut found.links {
            link.source = presented.number_of(link.source as u32);
            link.target = presented.number_of(link.target as u32);
        }
        Ok(found)
    }
}
