//! The groups of each level, kept in files until the communities are final.
//!
//! ```text
//!  nodes --0--> groups --1--> groups of these --2--> ...      (file k: for each node of level k its group)
//! ```
//!
//! On its way up, a method with several levels divides each level into groups, which are the nodes of
//! the next one. They wait on disk until that is solved: then every node takes what its group has. Another
//! cycle makes others: only those of the last one count, and that it is the last is known afterwards.
//! Disk: 4 bytes for each node of each level. Memory: buffers of less than 1 MiB.

use crate::error::Result;
use crate::io::{Files, WordReader, WordWriter};
use std::path::PathBuf;

/// The group of each node of a level, in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// A `u32` for each node, little-endian; there may be more behind.
    pub path: PathBuf,
    /// Nodes of the level.
    pub node_count: u64,
    /// Groups: nodes of the next level.
    pub group_count: u64,
}

impl Grouping {
    /// What cutting groups to fit the communities takes of the memory for a node, at most: its label;
    /// and for a group 8 bytes, or, where its nodes have parted, 12 for each of them but the first.
    pub(crate) const BYTES_A_NODE: u64 = 4 + 12;
}

/// Groupings from the graph up.
pub(super) struct Hierarchy {
    files: Files,
    directory: PathBuf,
    groupings: Vec<Grouping>,
    /// How many of them, from the graph up, others have too.
    shared: usize,
    made: u64,
}

impl Hierarchy {
    /// Keeps groupings in `directory`, on top of those that lead from the graph to the first level here.
    pub(super) fn new(files: &Files, directory: PathBuf, below: Vec<Grouping>) -> Result<Self> {
        files.create_directory(&directory)?;
        let shared = below.len();
        Ok(Self { files: files.clone(), directory, groupings: below, shared, made: 0 })
    }

    /// Another one on top of what is there now, with its own files in `directory`.
    pub(super) fn shared(&mut self, directory: PathBuf) -> Result<Self> {
        self.shared = self.groupings.len();
        Self::new(&self.files, directory, self.groupings.clone())
    }

    /// Forgets the groups of this level and of those above it: others take their place, or none.
    pub(super) fn forget_from(&mut self, level: u64) -> Result<()> {
        let first = (level as usize).min(self.groupings.len());
        let shared = self.shared;
        self.shared = shared.min(first);
        let own = self.groupings.drain(first..).skip(shared.saturating_sub(first));
        own.map(|grouping| self.files.remove(&grouping.path)).collect()
    }

    /// Keeps the groups of the nodes of a level, the one above those that are known.
    pub(super) fn keep(&mut self, groups: &[u32], group_count: usize) -> Result<()> {
        // What others have keeps its name.
        let path = self.directory.join(self.made.to_string());
        self.made += 1;
        let node_count = groups.len() as u64;
        let mut writer = WordWriter::create(&self.files, &path, node_count)?;
        groups.iter().try_for_each(|&group| writer.push(group))?;
        writer.finish()?;
        self.groupings.push(Grouping { path, node_count, group_count: group_count as u64 });
        Ok(())
    }

    /// What each node of a level takes of its group.
    pub(super) fn project(&self, level: u64, of_group: &[u32]) -> Result<Vec<u32>> {
        let Grouping { path, node_count, .. } = &self.groupings[level as usize];
        let mut groups = WordReader::open(&self.files, path, *node_count, u64::MAX)?;
        let mut of_node = Vec::with_capacity(*node_count as usize);
        while !groups.is_done() {
            of_node.extend(groups.next_block()?.iter().map(|&group| of_group[group as usize]));
        }
        Ok(of_node)
    }

    /// The groupings, whose files are the caller's from now on.
    pub(super) fn into_groupings(self) -> Vec<Grouping> {
        self.groupings
    }

    /// Removes all files but those that others have too.
    pub(super) fn remove(mut self) -> Result<()> {
        self.forget_from(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn what_a_later_cycle_does_not_make_again_is_gone() {
        let sim = Sim::new();
        let files = Files::new(Arc::new(sim.clone()));
        let mut first = Hierarchy::new(&files, "first".into(), Vec::new()).unwrap();
        first.keep(&[0, 1, 1, 0], 2).unwrap();
        let mut other = first.shared("other".into()).unwrap();
        for level in [1, 2, 3, 1] {
            other.forget_from(level).unwrap();
            other.keep(&vec![0; 5 - level as usize], 1).unwrap();
        }
        first.forget_from(0).unwrap();
        first.keep(&[1, 0, 0, 0], 2).unwrap();
        assert_eq!(sim.paths(), ["first/0", "first/1", "other/3"].map(PathBuf::from));
        assert_eq!(other.project(0, &[7, 9]).unwrap(), [7, 9, 9, 7]);
        assert_eq!(first.project(0, &[7, 9]).unwrap(), [9, 7, 7, 7]);
        first.remove().unwrap();
        assert_eq!(sim.paths(), ["first/0", "other/3"].map(PathBuf::from));
    }
}
