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
use crate::io::{WordReader, WordWriter};
use crate::progress::{Event, notify};
use std::path::{Path, PathBuf};

const NONE: u32 = Presented::NONE;
/// Words held in memory by all columns together while lines are written.
const LINE_WORDS: u64 = 1 << 17;

/// Levels below communities, coarsest first.
pub(crate) struct Levels {
    directory: PathBuf,
    /// File for each level, with a number for each node.
    columns: Vec<PathBuf>,
    node_count: u64,
    group_counts: Vec<u64>,
    form: LevelForm,
}

impl Levels {
    /// Returns the number of groups of each level.
    pub(crate) fn group_counts(&self) -> &[u64] {
        &self.group_counts
    }

    /// Returns the separator between a group and its parent.
    pub(crate) fn separator(&self) -> u8 {
        match self.form {
            LevelForm::Columns => b'\t',
            LevelForm::Tree => b':',
        }
    }

    /// Opens the numbers of the nodes, to be read node by node.
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

/// Columns of group numbers, read in parallel.
pub(crate) struct LevelColumns {
    readers: Vec<WordReader>,
    blocks: Vec<Vec<u32>>,
    /// Position of the next node in the blocks.
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

/// Groups or communities that the next level divides.
struct Parents {
    /// File with a number for each node; `None` for the communities themselves.
    path: Option<PathBuf>,
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
    /// Writes, for each level, a file with the group of each node of the graph. Returns the paths, finest level first.
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

    /// Splits groups at the bounds of their parents, and numbers them. Returns `None` if no parent is divided.
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

    /// Writes a file with each node's group, numbered within its parent.
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
