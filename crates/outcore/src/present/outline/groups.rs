//! The groups inside the largest communities, and inside these groups: the largest of them, and the weights between them.
//!
//! ```text
//!  numbers of a level --count--> sizes, parents --choose--> the largest of each parent --scan of the graph--> outlines
//! ```
//! A group that has all nodes of its parent is not described: the groups inside it are those of the parent. A level takes
//! two passes over its numbers and a scan of the graph. Memory in addition to that of an outline: 4 bytes per node, and
//! [`GROUP_BYTES`] per group of two levels.

use super::{CommunityLink, CommunityReport, LargestReport, Outline};
use crate::cluster::SizeCount;
use crate::error::Result;
use crate::graph::Graph;
use crate::io::{ArrayReader, Column, Shares};
use crate::present::representatives::BySize;
use crate::present::{Inside, Levels, Presented, Small, Sums, Workbench};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bytes of memory per group of a level and of the level above it.
pub(crate) const GROUP_BYTES: u64 = 24;
/// Maximum number of groups of a parent.
const INSIDE: usize = 12;
/// Maximum number of groups of all levels.
const ALL: usize = 400;
/// Maximum number of members of a group.
const MEMBERS: usize = 6;
const NONE: u32 = Presented::NONE;

/// The largest groups inside a community or a group.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GroupsReport {
    /// Number of the community, and of each group on the way to the one that these are inside of.
    pub path: Vec<u64>,
    /// Number of all groups inside.
    pub group_count: u64,
    /// Groups, largest first; at most 12. Their numbers are those of the result; neighbors are only in the links.
    pub groups: Vec<CommunityReport>,
    /// Weights between these groups, each pair once: directions do not count.
    pub links: Vec<CommunityLink>,
}

/// Communities or groups that a level divides.
struct Parents {
    sizes: Vec<u32>,
    /// Place of each in the list of those that are described; [`NONE`] for others.
    places: Vec<u32>,
    /// Paths of those that are described.
    paths: Vec<Vec<u64>>,
}

/// Groups of a level.
struct Level {
    sizes: Vec<u32>,
    parents: Vec<u32>,
    /// Numbers as they are written.
    numbers: Vec<u32>,
}

/// Groups inside a parent that is described.
struct Family {
    /// Place of the parent.
    place: u32,
    group_count: u64,
    /// The largest of them, largest first.
    groups: Vec<u32>,
}

/// Describes the groups of all levels inside the communities of an outline.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn describe_groups(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    levels: &Levels,
    stability: Option<&Shares<u32>>,
) -> Result<Vec<GroupsReport>> {
    let (mut parents, mut described, mut room) = (Parents::of(presented), Vec::new(), ALL);
    let level_count = levels.group_counts().len();
    for at in 0..level_count {
        let level = Level::read(bench, presented, levels, at)?;
        let families = level.families(&parents, room / (level_count - at));
        let chosen = level.largest_first(&families);
        room -= chosen.len();
        if !chosen.is_empty() {
            let numbers = levels.numbers(bench, at)?;
            let outlined = level.outline(bench, graph, numbers, &chosen, stability)?;
            described.extend(level.reports(&families, &chosen, &outlined, &parents.paths));
        }
        parents = level.into_parents(&families, parents);
    }
    Ok(described)
}

impl Parents {
    fn of(presented: &Presented) -> Self {
        let (count, listed) = (presented.community_count() as u32, Outline::count_of(presented));
        let sizes = BySize::new(presented);
        Self {
            sizes: (0..count).map(|label| sizes.of(label)).collect(),
            places: (0..count).map(|label| if label < listed { label } else { NONE }).collect(),
            paths: (0..listed).map(|label| vec![presented.number_of(label)]).collect(),
        }
    }
}

impl Level {
    fn read(
        bench: &Workbench<'_>,
        presented: &Presented,
        levels: &Levels,
        at: usize,
    ) -> Result<Self> {
        let count = levels.group_counts()[at] as usize;
        let mut level =
            Self { sizes: vec![0; count], parents: vec![NONE; count], numbers: vec![NONE; count] };
        let mut above = at.checked_sub(1).map(|above| levels.numbers(bench, above)).transpose()?;
        let (mut groups, mut written) = (levels.numbers(bench, at)?, levels.written(bench, at)?);
        for &label in presented.labels() {
            let parent = above.as_mut().map_or(Ok(label), |above| above.number())?;
            let (group, number) = (groups.number()?, written.number()?);
            if group != NONE {
                let group = group as usize;
                level.sizes[group] += 1;
                (level.parents[group], level.numbers[group]) = (parent, number);
            }
        }
        Ok(level)
    }

    /// Returns the largest groups of each parent that is described and divided: of the first parents, for which there is
    /// room.
    fn families(&self, parents: &Parents, room: usize) -> Vec<Family> {
        let mut inside: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for group in 0..self.sizes.len() as u32 {
            if let Some(place) =
                self.place_of(group, parents).filter(|_| !self.is_whole(group, parents))
            {
                inside.entry(place).or_default().push(group);
            }
        }
        let mut used = 0;
        let families = inside.into_iter().map(|(place, mut groups)| {
            groups.sort_unstable_by_key(|&group| self.rank(group));
            let group_count = groups.len() as u64;
            groups.truncate(INSIDE);
            used += groups.len();
            (used <= room).then_some(Family { place, group_count, groups })
        });
        families.map_while(|family| family).collect()
    }

    /// Returns the place of the parent of a group, if it is described.
    fn place_of(&self, group: u32, parents: &Parents) -> Option<u32> {
        let place = parents.places[self.parents[group as usize] as usize];
        (place != NONE).then_some(place)
    }

    /// Returns whether a group has all nodes of its parent.
    fn is_whole(&self, group: u32, parents: &Parents) -> bool {
        self.sizes[group as usize] == parents.sizes[self.parents[group as usize] as usize]
    }

    fn rank(&self, group: u32) -> (Reverse<u32>, u32) {
        (Reverse(self.sizes[group as usize]), group)
    }

    /// Returns the groups of all families, largest first: the place of each is its label.
    fn largest_first(&self, families: &[Family]) -> Vec<u32> {
        let mut all: Vec<u32> =
            families.iter().flat_map(|family| &family.groups).copied().collect();
        all.sort_unstable_by_key(|&group| self.rank(group));
        all
    }

    /// Finds the outline of the groups that are chosen, as if they were communities with their labels for numbers.
    fn outline(
        &self,
        bench: &Workbench<'_>,
        graph: &Graph,
        mut numbers: ArrayReader<u32>,
        chosen: &[u32],
        stability: Option<&Shares<u32>>,
    ) -> Result<LargestReport> {
        let mut label_of = vec![NONE; self.sizes.len()];
        chosen.iter().zip(0..).for_each(|(&group, label)| label_of[group as usize] = label);
        let label = |group: u32| label_of.get(group as usize).copied().unwrap_or(NONE);
        let labels = (0..graph.node_count()).map(|_| numbers.number().map(label));
        let labels = labels.collect::<Result<Vec<u32>>>()?;
        let sizes: Vec<u32> = chosen.iter().map(|&group| self.sizes[group as usize]).collect();
        let sizes = sizes.chunk_by(|a, b| a == b);
        let sizes = sizes.map(|same| SizeCount { size: same[0], count: same.len() as u64 });
        let presented =
            Presented::new(Column::Memory(labels), sizes.collect(), 1, Small::default());
        let count = chosen.len() as u32;
        let mut sums = Sums::new(bench, graph, &presented, count, Some(count))?;
        let inside = Inside::of(bench, graph, &presented, false, Some(&mut sums))?;
        let stability = stability.map(|shares| shares.scan(bench.files)).transpose()?;
        let outline =
            sums.for_each_row(bench, graph, &presented, &inside, stability, |_, _| Ok(()))?;
        Ok(outline.unwrap_or_default())
    }

    /// Returns the report of each family.
    fn reports(
        &self,
        families: &[Family],
        chosen: &[u32],
        outlined: &LargestReport,
        paths: &[Vec<u64>],
    ) -> Vec<GroupsReport> {
        let label = |group: &u32| {
            let found = chosen.binary_search_by_key(&self.rank(*group), |&other| self.rank(other));
            found.expect("every group of a family is chosen")
        };
        let number = |label: u64| u64::from(self.numbers[chosen[label as usize] as usize]);
        let report = |family: &Family| {
            let labels: Vec<usize> = family.groups.iter().map(label).collect();
            let describe = |&label: &usize| {
                let mut found = outlined.communities[label].clone();
                found.members.truncate(MEMBERS);
                let community = number(found.community);
                CommunityReport { community, neighbor: None, neighbor_weight: None, ..found }
            };
            let is_inside = |link: &&CommunityLink| {
                [link.source, link.target].iter().all(|&end| labels.contains(&(end as usize)))
            };
            let links = outlined.links.iter().filter(is_inside).map(|link| CommunityLink {
                source: number(link.source),
                target: number(link.target),
                weight: link.weight,
            });
            GroupsReport {
                path: paths[family.place as usize].clone(),
                group_count: family.group_count,
                groups: labels.iter().map(describe).collect(),
                links: links.collect(),
            }
        };
        families.iter().map(report).collect()
    }

    /// Returns the groups as the parents of the next level.
    fn into_parents(self, families: &[Family], mut above: Parents) -> Parents {
        let whole = |group| self.place_of(group, &above).filter(|_| self.is_whole(group, &above));
        let mut places: Vec<u32> =
            (0..self.sizes.len() as u32).map(|group| whole(group).unwrap_or(NONE)).collect();
        for family in families {
            for &group in &family.groups {
                places[group as usize] = above.paths.len() as u32;
                let mut path = above.paths[family.place as usize].clone();
                path.push(self.numbers[group as usize].into());
                above.paths.push(path);
            }
        }
        Parents { sizes: self.sizes, places, paths: above.paths }
    }
}
