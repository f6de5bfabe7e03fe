//! Results in checkpoints: labels of sweeps while communities are separated, and communities that wait for others.
//! Files are verified when they are read: a damaged result is never used.

use crate::finish::closing::SweptLabels;
use crate::finish::communities::{Baselines, Communities, Measures};
use crate::finish::cuts::separate::{Separated, Separation};
use crate::finish::number::SizeCount;
use crate::finish::tree::TreeLength;
use crate::kernel::history::History;
use crate::store::hierarchy::{Grouping, Hierarchy};
use crate::store::saves::SAVED;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{Array, Column, Files};
use serde::{Deserialize, Serialize};
use std::iter::once;
use std::path::Path;

/// Result of sweeps, without its labels.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedResult {
    history: History,
    groupings: Vec<SavedGroups>,
    tree: Option<TreeLength>,
    /// Labels from each start.
    divisions: Vec<SavedGroups>,
    separation: Separation,
}

/// Grouping, by the name of its file.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedGroups {
    name: String,
    node_count: u64,
    group_count: u64,
    checksum: u64,
}

impl SavedGroups {
    pub(crate) fn new(grouping: &Grouping) -> Self {
        let Grouping { ref groups, group_count, checksum } = *grouping;
        let (name, node_count) = (name_of(&groups.path), groups.count);
        Self { name, node_count, group_count, checksum }
    }

    pub(crate) fn grouping(self, directory: &Path) -> Grouping {
        let Self { ref name, node_count, group_count, checksum } = self;
        let groups = Array::new(directory.join(name_of(Path::new(name))), node_count);
        Grouping { groups, group_count, checksum }
    }
}

/// Groupings of a hierarchy.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct SavedHierarchy {
    groupings: Vec<SavedGroups>,
    made: u64,
}

impl SavedHierarchy {
    pub(crate) fn new(kept: &Hierarchy) -> Self {
        let groupings = kept.groupings().iter().map(SavedGroups::new).collect();
        Self { groupings, made: kept.made() }
    }

    /// Restores the groupings, whose files are in this directory.
    ///
    /// # Errors
    /// `CorruptFile` if a file is damaged; `Io`.
    pub(crate) fn restore(self, kept: &mut Hierarchy, directory: &Path) -> Result<()> {
        let groupings = self.groupings.into_iter().map(|saved| saved.grouping(directory));
        kept.restore(groupings.collect(), self.made)
    }
}

/// Returns the name of a file or level; these names are chosen by this crate.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl SavedResult {
    pub(crate) fn new(found: &SweptLabels) -> Self {
        let saved = |files: &[Grouping]| files.iter().map(SavedGroups::new).collect();
        let (groupings, divisions) = (saved(&found.groupings), saved(&found.divisions));
        let (history, separation) = (found.history.clone(), found.separation.clone());
        Self { history, groupings, tree: found.tree.clone(), divisions, separation }
    }

    /// Saves the arrays of a result, and the files that it needs.
    pub(crate) fn save(found: &SweptLabels, to: &mut StateWriter) -> Result<()> {
        let files = found.groupings.iter().chain(&found.divisions).map(|kept| &kept.groups);
        files.for_each(|groups| to.need(&groups.path, groups.bytes()));
        to.array(found.labels.iter().copied())?;
        found.separation.save(to)
    }

    /// Returns the result for a graph of `nodes` nodes, with the files in this directory, which are read to verify them.
    ///
    /// # Errors
    /// `CorruptFile` if a file is damaged; `Io`.
    pub(crate) fn load(
        self,
        nodes: u64,
        files: &Files,
        directory: &Path,
        from: &mut StateReader,
    ) -> Result<SweptLabels> {
        let Self { mut history, groupings, tree, divisions, mut separation } = self;
        history.resume();
        let labels = from.numbers::<u32>()?;
        separation.load(from, nodes)?;
        if labels.len() as u64 != nodes {
            return Err(from.damaged());
        }
        let of_files = |saved: Vec<SavedGroups>| -> Result<Vec<Grouping>> {
            let found: Vec<_> = saved.into_iter().map(|saved| saved.grouping(directory)).collect();
            found.iter().try_for_each(|grouping| grouping.verify(files))?;
            Ok(found)
        };
        let (groupings, divisions) = (of_files(groupings)?, of_files(divisions)?);
        Ok(SweptLabels { labels, history, groupings, tree, divisions, separation })
    }
}

/// Result in a checkpoint. Its labels are saved like groups: numbers below a bound, with a checksum.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedCommunities {
    labels: SavedGroups,
    groupings: Vec<SavedGroups>,
    sizes: Vec<SizeCount>,
    split_count: u64,
    separated: Option<Separated>,
    measures: Measures,
    baselines: Baselines,
    tree: Option<TreeLength>,
    history: History,
}

impl SavedCommunities {
    pub(crate) fn new(labels: &Grouping, found: &Communities) -> Self {
        Self {
            labels: SavedGroups::new(labels),
            groupings: found.groupings.iter().map(SavedGroups::new).collect(),
            sizes: found.sizes.clone(),
            split_count: found.split_count,
            separated: found.separated,
            measures: found.measures,
            baselines: found.baselines,
            tree: found.tree.clone(),
            history: found.history.clone(),
        }
    }

    /// Returns the result, whose files are read to verify them.
    pub(crate) fn restore(self, files: &Files, directory: &Path) -> Result<Communities> {
        let labels = self.labels.grouping(directory);
        let groups = directory.join(SAVED);
        let groupings: Vec<_> =
            self.groupings.into_iter().map(|saved| saved.grouping(&groups)).collect();
        once(&labels).chain(&groupings).try_for_each(|kept| kept.verify(files))?;
        let mut history = self.history;
        history.resume();
        Ok(Communities {
            labels: Column::Disk(labels.groups),
            groupings,
            sizes: self.sizes,
            split_count: self.split_count,
            separated: self.separated,
            measures: self.measures,
            baselines: self.baselines,
            tree: self.tree,
            stability: None,
            history,
        })
    }
}
