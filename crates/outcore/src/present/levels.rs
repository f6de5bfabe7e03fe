//! Levels below communities: groups inside communities, groups inside these groups, and so on.
//!
//! ```text
//!  groups of each level --follow--> the group of each node, for each level
//!                                        |
//!                communities, presented --split--> nested, numbered groups, coarsest first --> lines
//! ```
//!
//! A method with several levels divides each level into groups and writes them to files. Most groups lie inside a
//! community, but some nodes have moved since. A group is split where its nodes are in different parents, so that each
//! level divides the one before it. Groups are numbered by first appearance; levels that divide nothing are left out.
//!
//! Memory in addition to the labels: 4 bytes per node of the level above the graph to follow groups; 8 bytes per group
//! to split them, and 12 per node that is not in the same parent as the first node of its group, together at most 12
//! per node. Disk: 8 bytes per node and level. Sequential I/O: 4 bytes per node and level are written up to three times
//! and read up to ten times.

use super::matching::Workbench;
use super::{LevelForm, Presented};
use crate::cluster::Grouping;
use crate::error::Result;
use crate::io::{Array, ArrayReader, ArrayWriter};
use crate::progress::{Event, notify};
use std::path::{Path, PathBuf};

const NONE: u32 = Presented::NONE;
/// Numbers held in memory by all columns together while lines are written.
const LINE_NUMBERS: u64 = 1 << 17;

/// Levels below communities, coarsest first.
pub(crate) struct Levels {
    directory: PathBuf,
    /// Number of each node, for each level, as it is written.
    columns: Vec<Array<u32>>,
    /// Number of each node's group among all groups of a level.
    numbers: Vec<Array<u32>>,
    group_counts: Vec<u64>,
    form: LevelForm,
}

impl Levels {
    /// Returns the number of groups of each level.
    pub(crate) fn group_counts(&self) -> &[u64] {
        &self.group_counts
    }

    /// Returns whether community and groups are written as one path.
    pub(crate) fn are_paths(&self) -> bool {
        self.form == LevelForm::Tree
    }

    /// Opens the numbers of the nodes, to be read node by node.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn lines(&self, bench: &Workbench<'_>) -> Result<LevelColumns> {
        let block = LINE_NUMBERS / self.columns.len().max(1) as u64;
        let open = |column: &Array<u32>| column.read(bench.files, block);
        self.columns.iter().map(open).collect::<Result<_>>().map(LevelColumns)
    }

    /// Opens the numbers of the nodes' groups among all groups of a level.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(super) fn numbers(&self, bench: &Workbench<'_>, at: usize) -> Result<ArrayReader<u32>> {
        self.numbers[at].read(bench.files, LINE_NUMBERS)
    }

    /// Opens the numbers of the nodes' groups in a level, as they are written.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(super) fn written(&self, bench: &Workbench<'_>, at: usize) -> Result<ArrayReader<u32>> {
        self.columns[at].read(bench.files, LINE_NUMBERS)
    }

    pub(crate) fn remove(self, bench: &Workbench<'_>) {
        bench.files.remove_all(&self.directory);
    }
}

/// Columns of group numbers, read in parallel.
pub(crate) struct LevelColumns(pub(super) Vec<ArrayReader<u32>>);

impl LevelColumns {
    /// Appends the numbers of the next node.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    #[inline]
    pub(crate) fn next(&mut self, numbers: &mut Vec<u32>) -> Result<()> {
        self.0.iter_mut().try_for_each(|column| {
            numbers.push(column.number()?);
            Ok(())
        })
    }
}

/// Divides communities by the groups of all levels. Nodes that are left out are not in any group.
///
/// # Errors
/// `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn divide(
    bench: &Workbench<'_>,
    groupings: &[Grouping],
    presented: &Presented,
    form: LevelForm,
) -> Result<Levels> {
    let directory = bench.scratch.join("levels");
    bench.files.create_directory(&directory)?;
    let mut divider = Divider { bench, directory: &directory, labels: presented.labels(), done: 0 };
    let groups = divider.follow(groupings)?;
    let (mut columns, mut numbers, mut group_counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut parents = Parents { numbers: None, count: presented.community_count() };
    for (groups, grouping) in groups.iter().zip(groupings).rev() {
        let name = columns.len();
        let split = divider.split(&parents, groups, grouping.group_count, name)?;
        if *groups != grouping.groups {
            bench.files.remove(&groups.path)?;
        }
        let Some(children) = split else { continue };
        group_counts.push(children.count);
        numbers.extend(children.numbers.clone());
        columns.extend(match form {
            LevelForm::Columns => children.numbers.clone(),
            LevelForm::Tree => Some(divider.count_inside(&parents, &children, name)?),
        });
        parents = children;
    }
    Ok(Levels { directory, columns, numbers, group_counts, form })
}

/// Groups or communities that the next level divides.
struct Parents {
    /// Number of each node; `None` for the communities themselves.
    numbers: Option<Array<u32>>,
    count: u64,
}

struct Divider<'a> {
    bench: &'a Workbench<'a>,
    directory: &'a Path,
    labels: &'a [u32],
    /// Count of numbers read, for progress.
    done: u64,
}

impl Divider<'_> {
    /// Writes the group of each node of the graph, for each level. Returns them, finest level first.
    fn follow(&mut self, groupings: &[Grouping]) -> Result<Vec<Array<u32>>> {
        let mut followed: Vec<Array<u32>> = Vec::new();
        for (level, grouping) in groupings.iter().enumerate() {
            let Some(below) = followed.last() else {
                followed.push(grouping.groups.clone());
                continue;
            };
            let mut groups = Vec::with_capacity(grouping.groups.count as usize);
            self.for_each_block(&grouping.groups, |block| {
                groups.extend_from_slice(block);
                Ok(())
            })?;
            let mut writer = self.create(&format!("groups-{level}"))?;
            self.for_each_block(below, |block| {
                block.iter().try_for_each(|&node| writer.push(groups[node as usize]))
            })?;
            followed.push(writer.finish()?);
        }
        Ok(followed)
    }

    /// Creates an array with a number for each node.
    fn create(&self, name: &str) -> Result<ArrayWriter<u32>> {
        let count = self.labels.len() as u64;
        ArrayWriter::create(self.bench.files, &self.directory.join(name), count)
    }

    /// Splits groups at the bounds of their parents, and numbers them. Returns `None` if no parent is divided.
    fn split(
        &mut self,
        parents: &Parents,
        groups: &Array<u32>,
        group_count: u64,
        name: usize,
    ) -> Result<Option<Parents>> {
        let (mut first, mut moved) = (vec![NONE; group_count as usize], 0);
        self.for_each_pair(parents, groups, |parent, group| {
            let first = &mut first[group as usize];
            if *first == NONE {
                *first = parent;
            }
            moved += usize::from(*first != parent && parent != NONE);
            Ok(())
        })?;
        let mut cuts = Vec::with_capacity(moved);
        if moved > 0 {
            self.for_each_pair(parents, groups, |parent, group| {
                if first[group as usize] != parent && parent != NONE {
                    cuts.push((parent, group));
                }
                Ok(())
            })?;
            cuts.sort_unstable();
            cuts.dedup();
        }
        let whole = first.iter().filter(|&&parent| parent != NONE).count();
        let count = (whole + cuts.len()) as u64;
        if count == parents.count {
            return Ok(None);
        }
        let mut numbers = GroupNumbers::new(first, cuts);
        let mut writer = self.create(&format!("numbers-{name}"))?;
        self.for_each_pair(parents, groups, |parent, group| {
            writer.push(numbers.of(parent, group))
        })?;
        Ok(Some(Parents { numbers: Some(writer.finish()?), count }))
    }

    /// Writes each node's group, numbered within its parent.
    fn count_inside(
        &mut self,
        parents: &Parents,
        children: &Parents,
        name: usize,
    ) -> Result<Array<u32>> {
        let numbers = children.numbers.as_ref().expect("groups are not the communities");
        let mut counts = vec![0; parents.count as usize];
        let mut inside: Vec<u32> = Vec::with_capacity(children.count as usize);
        let mut writer = self.create(&format!("inside-{name}"))?;
        self.for_each_pair(parents, numbers, |parent, number| {
            if parent == NONE {
                return writer.push(NONE);
            }
            // Numbers are given by first appearance.
            if number as usize == inside.len() {
                let count: &mut u32 = &mut counts[parent as usize];
                inside.push(*count);
                *count += 1;
            }
            writer.push(inside[number as usize])
        })?;
        writer.finish()
    }

    /// Calls `visit` with each node's parent and its group.
    fn for_each_pair(
        &mut self,
        parents: &Parents,
        groups: &Array<u32>,
        mut visit: impl FnMut(u32, u32) -> Result<()>,
    ) -> Result<()> {
        let (files, labels) = (self.bench.files, self.labels);
        let numbers = parents.numbers.as_ref();
        let mut reader = numbers.map(|numbers| numbers.read(files, u64::MAX)).transpose()?;
        let mut at = 0;
        self.for_each_block(groups, |block| {
            let parents = match &mut reader {
                Some(reader) => reader.next_block()?,
                None => &labels[at..at + block.len()],
            };
            at += block.len();
            parents.iter().zip(block).try_for_each(|(&parent, &group)| visit(parent, group))
        })
    }

    /// Calls `visit` with the numbers of an array, block by block.
    fn for_each_block(
        &mut self,
        numbers: &Array<u32>,
        mut visit: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        numbers.for_each_block(self.bench.files, |block| {
            visit(block)?;
            self.done += block.len() as u64;
            notify(self.bench.observer, Event::Advance { done: self.done })
        })
    }
}

/// Assignment of numbers to groups.
struct GroupNumbers {
    /// Parent in which each group occurs first, and the group's number there.
    first: Vec<u32>,
    numbers: Vec<u32>,
    /// Further pairs of a parent and a group that occurs in it, ascending, and their numbers.
    cuts: Vec<(u32, u32)>,
    cut_numbers: Vec<u32>,
    next: u32,
}

impl GroupNumbers {
    fn new(first: Vec<u32>, cuts: Vec<(u32, u32)>) -> Self {
        let (numbers, cut_numbers) = (vec![NONE; first.len()], vec![NONE; cuts.len()]);
        Self { first, numbers, cuts, cut_numbers, next: 0 }
    }

    /// Returns the number of a group in a parent, assigning the next number on first occurrence.
    fn of(&mut self, parent: u32, group: u32) -> u32 {
        if parent == NONE {
            return NONE;
        }
        let number = if self.first[group as usize] == parent {
            &mut self.numbers[group as usize]
        } else {
            let at = self.cuts.binary_search(&(parent, group)).expect("collected above");
            &mut self.cut_numbers[at]
        };
        if *number == NONE {
            *number = self.next;
            self.next += 1;
        }
        *number
    }
}
