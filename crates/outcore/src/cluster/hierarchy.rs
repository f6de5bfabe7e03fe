//! The groups of each level, kept in files until the communities are final.
//!
//! ```text
//!  nodes --0--> groups --1--> groups of these --2--> ...      (file k: for each node of level k its group)
//! ```
//!
//! On its way up, a method with several levels divides each level into groups, which are the nodes of
//! the next one. Another cycle makes others: only those of the last one count, and that it is the last
//! is known afterwards. Disk: 4 bytes for each node of each level. Memory: buffers of less than 1 MiB,
//! while the arrays of a sweep or a contraction are not there.

use crate::error::Result;
use crate::io::{Files, WordWriter};
use std::path::{Path, PathBuf};

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
    /// What cutting groups to fit the communities takes of the memory for a node, at most, beside its
    /// label: 8 bytes for a group, or, where its nodes have parted, 12 for each of them but the first.
    pub(crate) const BYTES_A_NODE: u64 = 12;
}

/// Groupings from the graph up.
pub(super) struct Hierarchy {
    /// Where they go; `None` if nobody asks for them.
    place: Option<(Files, PathBuf)>,
    groupings: Vec<Grouping>,
}

impl Hierarchy {
    /// Keeps nothing.
    pub(super) fn none() -> Self {
        Self { place: None, groupings: Vec::new() }
    }

    /// Keeps groupings in `directory`.
    pub(super) fn create(files: &Files, directory: &Path) -> Result<Self> {
        files.create_directory(directory)?;
        let place = Some((files.clone(), directory.to_path_buf()));
        Ok(Self { place, groupings: Vec::new() })
    }

    /// Forgets the groups of this level and of those above it: others take their place, or none.
    pub(super) fn forget_from(&mut self, level: u64) -> Result<()> {
        let Some((files, _)) = &self.place else { return Ok(()) };
        let first = (level as usize).min(self.groupings.len());
        self.groupings.drain(first..).try_for_each(|grouping| files.remove(&grouping.path))
    }

    /// Keeps the groups of the nodes of a level, the one above those that are known.
    pub(super) fn keep(&mut self, groups: &[u32], group_count: usize) -> Result<()> {
        let Some((files, directory)) = &self.place else { return Ok(()) };
        let path = directory.join(self.groupings.len().to_string());
        let node_count = groups.len() as u64;
        let mut writer = WordWriter::create(files, &path, node_count)?;
        groups.iter().try_for_each(|&group| writer.push(group))?;
        writer.finish()?;
        self.groupings.push(Grouping { path, node_count, group_count: group_count as u64 });
        Ok(())
    }

    pub(super) fn into_groupings(self) -> Vec<Grouping> {
        self.groupings
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
        let mut kept = Hierarchy::create(&files, Path::new("kept")).unwrap();
        for level in [0, 1, 2, 3, 1] {
            kept.forget_from(level).unwrap();
            kept.keep(&vec![0; 5 - level as usize], 1).unwrap();
        }
        assert_eq!(sim.paths(), ["kept/0", "kept/1"].map(PathBuf::from));
        let grouping =
            |path: &str, node_count| Grouping { path: path.into(), node_count, group_count: 1 };
        assert_eq!(kept.into_groupings(), [grouping("kept/0", 5), grouping("kept/1", 4)]);
    }

    #[test]
    fn nothing_is_kept_unasked() {
        let mut none = Hierarchy::none();
        none.forget_from(0).unwrap();
        none.keep(&[0, 0], 1).unwrap();
        assert!(none.into_groupings().is_empty());
    }
}
