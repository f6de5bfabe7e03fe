//! Groups of each level, in files until the communities are final.
//!
//! ```text
//!  nodes --0--> groups --1--> groups of these --2--> ...      (file k: for each node of level k its group)
//! ```
//!
//! On its way up, a multilevel method divides each level into groups, which are the nodes of the next level. The groups
//! wait on disk until the next level is solved; then every node takes the community of its group. Each cycle replaces
//! the groups of the previous one, since the last cycle is known only afterwards. Disk: 4 bytes per node of each level.
//! Memory: buffers of less than 1 MiB.

use outcore_io::error::{Error, Result};
use outcore_io::{Array, Files, SCRATCH_HINT};
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// Group of each node of a level, in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// Group of each node.
    pub groups: Array<u32>,
    /// Number of groups: nodes of the next level.
    pub group_count: u64,
    /// xxh3-64 checksum of the numbers.
    pub checksum: u64,
}

impl Grouping {
    /// Upper bound of the memory per node for splitting groups to fit the communities: 4 bytes for the label,
    /// and per group 8 bytes, or, if its nodes are in several communities, 12 for each node but the first.
    pub const BYTES_A_NODE: u64 = 4 + 12;

    /// Creates the grouping of a file.
    ///
    /// # Errors
    /// `CorruptFile` if a number is too large; `Io`.
    pub(crate) fn of_file(files: &Files, groups: Array<u32>, group_count: u64) -> Result<Self> {
        let unverified = Self { groups, group_count, checksum: 0 };
        let checksum = unverified.read_checksum(files)?;
        Ok(Self { checksum, ..unverified })
    }

    /// Reads the file and compares its checksum.
    ///
    /// # Errors
    /// `CorruptFile` if the file is damaged; `Io`.
    pub(crate) fn verify(&self, files: &Files) -> Result<()> {
        match self.read_checksum(files)? == self.checksum {
            true => Ok(()),
            false => Err(self.damaged()),
        }
    }

    /// Returns the checksum of the file.
    fn read_checksum(&self, files: &Files) -> Result<u64> {
        let (mut hash, mut fits) = (Xxh3::new(), true);
        self.groups.for_each_block(files, |block| {
            fits &= block.iter().all(|&group| u64::from(group) < self.group_count);
            block.iter().for_each(|group| hash.update(&group.to_le_bytes()));
            Ok(())
        })?;
        if fits { Ok(hash.digest()) } else { Err(self.damaged()) }
    }

    fn damaged(&self) -> Error {
        Error::corrupt_of(&self.groups.path, "its checksum is wrong", SCRATCH_HINT)
    }
}

/// Groupings from the graph up.
pub(crate) struct Hierarchy {
    files: Files,
    /// Prefix of the file names.
    prefix: PathBuf,
    groupings: Vec<Grouping>,
    /// Number of groupings, from the graph up, that belong to another hierarchy.
    shared: usize,
    made: u64,
}

impl Hierarchy {
    /// Creates a hierarchy that writes groupings to files whose names begin with `prefix`, on top of those that
    /// lead from the graph to its first level.
    pub(crate) fn new(files: &Files, prefix: PathBuf, below: Vec<Grouping>) -> Self {
        let shared = below.len();
        Self { files: files.clone(), prefix, groupings: below, shared, made: 0 }
    }

    /// Returns a temporary hierarchy on top of this one, with its own files.
    pub(crate) fn lent(&self, prefix: PathBuf) -> Self {
        Self::new(&self.files, prefix, self.groupings.clone())
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Discards the groups of this level and of those above it. Returns the files that are no longer needed.
    pub(crate) fn forget_from(&mut self, level: u64) -> Vec<Array<u32>> {
        let first = (level as usize).min(self.groupings.len());
        let shared = self.shared;
        self.shared = shared.min(first);
        let own = self.groupings.drain(first..).skip(shared.saturating_sub(first));
        own.map(|grouping| grouping.groups).collect()
    }

    /// Writes the groups of the nodes of the next level.
    pub(crate) fn keep(&mut self, groups: &[u32], group_count: usize) -> Result<()> {
        // Numbers are never reused, since files that a checkpoint needs keep their names.
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!("-{}", self.made));
        self.made += 1;
        let (group_count, checksum) = (group_count as u64, checksum_of(groups));
        let groups = Array::write(&self.files, path.as_ref(), groups.iter().copied())?;
        self.groupings.push(Grouping { groups, group_count, checksum });
        Ok(())
    }

    /// Returns the groupings, from the graph up.
    pub(crate) fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    /// Returns the number of files created, which names the next one.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Restores the groupings of an earlier job and verifies their files.
    ///
    /// # Errors
    /// `CorruptFile` if a file is damaged; `Io`.
    pub(crate) fn restore(&mut self, groupings: Vec<Grouping>, made: u64) -> Result<()> {
        groupings.iter().try_for_each(|grouping| grouping.verify(&self.files))?;
        (self.groupings, self.made) = (groupings, made);
        Ok(())
    }

    /// Maps values of groups to the nodes of a level: each node takes the value of its group.
    pub(crate) fn project(&self, level: u64, of_group: &[u32]) -> Result<Vec<u32>> {
        let mut of_node = self.read(level as usize)?;
        of_node.iter_mut().for_each(|group| *group = of_group[*group as usize]);
        Ok(of_node)
    }

    /// Calls `visit` with the group of each node of a level.
    pub(crate) fn for_each(&self, level: u64, mut visit: impl FnMut(u32)) -> Result<()> {
        self.groupings[level as usize].groups.for_each_block(&self.files, |block| {
            block.iter().for_each(|&group| visit(group));
            Ok(())
        })
    }

    /// Reads back the groups of a level.
    pub(crate) fn read(&self, level: usize) -> Result<Vec<u32>> {
        self.groupings[level].groups.read_all(&self.files)
    }

    /// Returns the groupings and hands over their files to the caller.
    pub(crate) fn into_groupings(self) -> Vec<Grouping> {
        self.groupings
    }

    pub(crate) fn discard(self) {
        self.groupings.iter().for_each(|grouping| self.files.discard(&grouping.groups.path));
    }
}

fn checksum_of(numbers: &[u32]) -> u64 {
    let mut hash = Xxh3::new();
    numbers.iter().for_each(|number| hash.update(&number.to_le_bytes()));
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn a_later_cycle_replaces_the_files_of_earlier_ones() {
        let sim = Sim::new();
        let files = Files::new(Arc::new(sim.clone()));
        let remove = |groups: Vec<Array<u32>>| {
            groups.iter().for_each(|groups| files.remove(&groups.path).unwrap());
        };
        let mut first = Hierarchy::new(&files, "first".into(), Vec::new());
        first.keep(&[0, 1, 1, 0], 2).unwrap();
        let mut other = first.lent("other".into());
        for level in [1, 2, 3, 1] {
            remove(other.forget_from(level));
            other.keep(&vec![0; 5 - level as usize], 1).unwrap();
        }
        // Groups of the hierarchy below are not its own.
        assert_eq!(other.project(0, &[7, 9]).unwrap(), [7, 9, 9, 7]);
        remove(other.forget_from(0));
        assert_eq!(sim.paths(), ["first-0"].map(PathBuf::from));
        remove(first.forget_from(0));
        first.keep(&[1, 0, 0, 0], 2).unwrap();
        assert_eq!(sim.paths(), ["first-1"].map(PathBuf::from));
        assert_eq!(first.project(0, &[7, 9]).unwrap(), [9, 7, 7, 7]);
    }

    #[test]
    fn only_intact_groups_are_restored() {
        let sim = Sim::new();
        let files = Files::new(Arc::new(sim.clone()));
        let mut first = Hierarchy::new(&files, "first".into(), Vec::new());
        first.keep(&[0, 1, 1, 0], 2).unwrap();
        let mut second = Hierarchy::new(&files, "first".into(), Vec::new());
        second.restore(first.groupings().to_vec(), first.made()).unwrap();
        assert_eq!(second.project(0, &[7, 9]).unwrap(), [7, 9, 9, 7]);
        second.keep(&[0, 0], 1).unwrap();
        assert_eq!(sim.paths(), ["first-0", "first-1"].map(PathBuf::from));
        sim.put("first-0", &[1, 0, 0, 0].repeat(4));
        let error = second.restore(first.groupings().to_vec(), 1).unwrap_err();
        assert_eq!(error.kind(), outcore_io::error::ErrorKind::CorruptFile);
    }
}
