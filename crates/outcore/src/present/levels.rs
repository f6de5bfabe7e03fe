//! The levels below the communities: groups inside communities, groups inside these, and so on.
//!
//! ```text
//!  groups of each level --follow--> the group of each node, for each level
//!                                        |
//!                communities as told --split--> the same, nested and numbered, coarsest first --> lines
//! ```
//!
//! A method with several levels divides each one into groups, which are kept in files. Most groups lie
//! inside a community, but some nodes have moved since: a group is cut where its nodes have parted, and
//! so each level divides the one before it. Groups are numbered by first appearance; levels that divide
//! nothing are left out.
//!
//! Memory beside the labels: 4 bytes for each node of the level above the graph to follow groups. To
//! split them 8 bytes a group, and 12 for each node that is not with the first one of its group: at most
//! 12 a node. Disk: 8 bytes for each node and level. I/O, front to back: 4 bytes for each node and level
//! are written up to three times and read up to ten times.

use super::matching::Workbench;
use super::{LevelForm, Presented};
use crate::cluster::Grouping;
use crate::error::Result;
use crate::io::{WordReader, WordWriter};
use crate::progress::{Event, notify};
use std::path::{Path, PathBuf};

const NONE: u32 = Presented::NONE;
/// Words that all columns together hold in memory while lines are written.
const LINE_WORDS: u64 = 1 << 17;

/// The levels below communities, coarsest first.
pub(crate) struct Levels {
    directory: PathBuf,
    /// For each level a file with a number for each node.
    columns: Vec<PathBuf>,
    node_count: u64,
    group_counts: Vec<u64>,
    form: LevelForm,
}

impl Levels {
    /// How many groups each level has.
    pub(crate) fn group_counts(&self) -> &[u64] {
        &self.group_counts
    }

    /// What stands between a group and what it divides.
    pub(crate) fn separator(&self) -> u8 {
        match self.form {
            LevelForm::Columns => b'\t',
            LevelForm::Tree => b':',
        }
    }

    /// The numbers of the nodes, one node after the other.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn lines(&self, bench: &Workbench<'_>) -> Result<LevelColumns> {
        let block = LINE_WORDS / self.columns.len().max(1) as u64;
        let open = |path: &PathBuf| WordReader::open(bench.files, path, self.node_count, block);
        let readers = self.columns.iter().map(open).collect::<Result<_>>()?;
        Ok(LevelColumns { readers, blocks: vec![Vec::new(); self.columns.len()], next: 0 })
    }

    /// Removes the files.
    pub(crate) fn remove(self, bench: &Workbench<'_>) {
        bench.files.remove_all(&self.directory);
    }
}

/// Columns, read side by side.
pub(crate) struct LevelColumns {
    readers: Vec<WordReader>,
    blocks: Vec<Vec<u32>>,
    /// The next node's place in the blocks.
    next: usize,
}

impl LevelColumns {
    /// Appends the numbers of the next node.
    ///
    /// # Errors
    /// `Io`.
    #[inline]
    pub(crate) fn next(&mut self, numbers: &mut Vec<u32>) -> Result<()> {
        if self.blocks.first().is_some_and(|block| block.len() == self.next) {
            for (reader, block) in self.readers.iter_mut().zip(&mut self.blocks) {
                block.clear();
                block.extend_from_slice(reader.next_block()?);
            }
            self.next = 0;
        }
        numbers.extend(self.blocks.iter().map(|block| block[self.next]));
        self.next += 1;
        Ok(())
    }
}

/// Divides communities by the groups of all levels. Nodes that are left out are in no group.
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
    let node_count = presented.labels().len() as u64;
    let mut divider = Divider { bench, directory: &directory, labels: presented.labels(), done: 0 };
    let groups = divider.follow(groupings)?;
    let (mut columns, mut group_counts) = (Vec::new(), Vec::new());
    let mut parents = Parents { path: None, count: presented.community_count() };
    for (path, grouping) in groups.iter().zip(groupings).rev() {
        let name = columns.len();
        let split = divider.split(&parents, path, grouping.group_count, name)?;
        if *path != grouping.path {
            bench.files.remove(path)?;
        }
        let Some(children) = split else { continue };
        group_counts.push(children.count);
        columns.extend(match form {
            LevelForm::Columns => children.path.clone(),
            LevelForm::Tree => Some(divider.count_inside(&parents, &children, name)?),
        });
        parents = children;
    }
    Ok(Levels { directory, columns, node_count, group_counts, form })
}

/// The groups that the next level divides.
struct Parents {
    /// A file with a number for each node; if `None`, they are the communities.
    path: Option<PathBuf>,
    count: u64,
}

struct Divider<'a> {
    bench: &'a Workbench<'a>,
    directory: &'a Path,
    labels: &'a [u32],
    /// Numbers read.
    done: u64,
}

impl Divider<'_> {
    /// For each level a file with the group of each node of the graph, finest first.
    fn follow(&mut self, groupings: &[Grouping]) -> Result<Vec<PathBuf>> {
        let mut followed: Vec<PathBuf> = Vec::new();
        for (level, grouping) in groupings.iter().enumerate() {
            let Some(below) = followed.last() else {
                followed.push(grouping.path.clone());
                continue;
            };
            let mut groups = Vec::with_capacity(grouping.node_count as usize);
            self.for_each_block(&grouping.path, grouping.node_count, |block| {
                groups.extend_from_slice(block);
                Ok(())
            })?;
            let path = self.directory.join(format!("groups-{level}"));
            let count = self.labels.len() as u64;
            let mut writer = WordWriter::create(self.bench.files, &path, count)?;
            self.for_each_block(below, count, |block| {
                block.iter().try_for_each(|&node| writer.push(groups[node as usize]))
            })?;
            writer.finish()?;
            followed.push(path);
        }
        Ok(followed)
    }

    /// Cuts groups where they are not inside one parent, and numbers them; `None` if that divides no
    /// parent.
    fn split(
        &mut self,
        parents: &Parents,
        groups: &Path,
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
        let path = self.directory.join(format!("numbers-{name}"));
        let mut writer = WordWriter::create(self.bench.files, &path, self.labels.len() as u64)?;
        self.for_each_pair(parents, groups, |parent, group| {
            writer.push(numbers.of(parent, group))
        })?;
        writer.finish()?;
        Ok(Some(Parents { path: Some(path), count }))
    }

    /// A file with each node's group as it is counted inside its parent.
    fn count_inside(
        &mut self,
        parents: &Parents,
        children: &Parents,
        name: usize,
    ) -> Result<PathBuf> {
        let path = self.directory.join(format!("inside-{name}"));
        let Some(numbers) = &children.path else { return Ok(path) };
        let mut counts = vec![0; parents.count as usize];
        let mut inside: Vec<u32> = Vec::with_capacity(children.count as usize);
        let mut writer = WordWriter::create(self.bench.files, &path, self.labels.len() as u64)?;
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
        writer.finish()?;
        Ok(path)
    }

    /// Calls `visit` with each node's parent and its group.
    fn for_each_pair(
        &mut self,
        parents: &Parents,
        groups: &Path,
        mut visit: impl FnMut(u32, u32) -> Result<()>,
    ) -> Result<()> {
        let (files, labels) = (self.bench.files, self.labels);
        let count = labels.len() as u64;
        let mut reader = match &parents.path {
            Some(path) => Some(WordReader::open(files, path, count, u64::MAX)?),
            None => None,
        };
        let mut at = 0;
        self.for_each_block(groups, count, |block| {
            let parents = match &mut reader {
                Some(reader) => reader.next_block()?,
                None => &labels[at..at + block.len()],
            };
            at += block.len();
            parents.iter().zip(block).try_for_each(|(&parent, &group)| visit(parent, group))
        })
    }

    /// Calls `visit` with the `count` numbers of a file, block by block.
    fn for_each_block(
        &mut self,
        path: &Path,
        count: u64,
        mut visit: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = WordReader::open(self.bench.files, path, count, u64::MAX)?;
        while !reader.is_done() {
            let block = reader.next_block()?;
            visit(block)?;
            self.done += block.len() as u64;
            notify(self.bench.observer, Event::Advance { done: self.done })?;
        }
        Ok(())
    }
}

/// Groups on the way to their numbers.
struct GroupNumbers {
    /// The parent in which each group was met first, and its number there.
    first: Vec<u32>,
    numbers: Vec<u32>,
    /// Other parents in which groups are met, with the group, ascending; and their numbers.
    cuts: Vec<(u32, u32)>,
    cut_numbers: Vec<u32>,
    next: u32,
}

impl GroupNumbers {
    fn new(first: Vec<u32>, cuts: Vec<(u32, u32)>) -> Self {
        let (numbers, cut_numbers) = (vec![NONE; first.len()], vec![NONE; cuts.len()]);
        Self { first, numbers, cuts, cut_numbers, next: 0 }
    }

    /// The number of a group in a parent, the next one if it is met for the first time.
    fn of(&mut self, parent: u32, group: u32) -> u32 {
        if parent == NONE {
            return NONE;
        }
        let number = if self.first[group as usize] == parent {
            &mut self.numbers[group as usize]
        } else {
            let at = self.cuts.binary_search(&(parent, group)).expect("it was collected before");
            &mut self.cut_numbers[at]
        };
        if *number == NONE {
            *number = self.next;
            self.next += 1;
        }
        *number
    }
}
