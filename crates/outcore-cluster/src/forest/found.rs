//! Components at each threshold, from a forest.

use super::{Dendrogram, Forest, number_components};
use crate::finish::communities::Communities;
use crate::methods::options::ClusterOptions;
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};
use outcore_io::{Array, ArrayWriter, Column, Files};
use outcore_sort::{SORT_BYTES_MIN, Sorter};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::AtomicU32;

/// Nodes whose components are found at a time.
const PART_NODES: usize = 1 << 18;

/// Where components go, and the memory to find them.
#[derive(Clone, Copy)]
pub struct ForestPlace<'a> {
    /// Storage.
    pub files: &'a Files,
    /// Directory for files of several results.
    pub scratch: &'a Path,
    /// Memory in bytes.
    pub memory: u64,
    /// Receiver of progress.
    pub observer: &'a dyn Observer,
}

impl Forest {
    /// Bytes per node for numbering the components of a threshold, rounded up.
    pub const NUMBERED_BYTES: u64 = 5;

    /// Finds the components at each threshold of the options, and their dendrogram, if heights are wanted. The labels of
    /// one result are in memory; those of several are on disk, and each thread numbers one at a time, if memory allows.
    /// All are on disk if the nodes do not fit in memory.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `Interrupted`; `MemoryTooSmall` for the sort of a dendrogram.
    pub fn find(
        self,
        options: &ClusterOptions,
        place: ForestPlace<'_>,
    ) -> Result<(Vec<Communities>, Option<Dendrogram>)> {
        let ForestPlace { files, scratch, memory, observer } = place;
        let codes = options.threshold_codes();
        if self.is_divided() {
            return Ok((self.find_divided(&codes, place)?, None));
        }
        if let ([_], false) = (&codes[..], options.heights) {
            let (labels, sizes) = number_components(self.into_roots());
            return Ok((vec![Communities::of_components(Column::Memory(labels), sizes)], None));
        }
        let done = self.node_count();
        let mut all = Vec::new();
        for (at, code) in (0..).zip(codes) {
            let path = scratch.join(format!("components-{at}"));
            all.push(self.set_aside_roots(files, code, &path)?);
            notify(observer, Event::Advance { done })?;
        }
        let dendrogram = match options.heights {
            true => {
                let least = Self::DENDROGRAM_BYTES * self.node_count();
                let budget = memory.saturating_sub(least).max(SORT_BYTES_MIN);
                let threads = rayon::current_num_threads();
                let sorter = Sorter::new(files, scratch, budget, threads)?;
                self.into_dendrogram(sorter, || notify(observer, Event::Advance { done }))?
            }
            false => {
                drop(self);
                None
            }
        };
        let mut found = Vec::new();
        let most = memory / (Self::NUMBERED_BYTES * done).max(1);
        for some in all.chunks(most.clamp(1, rayon::current_num_threads() as u64) as usize) {
            let numbered: Vec<_> = some.par_iter().map(|roots| number(files, roots)).collect();
            for components in numbered {
                found.push(components?);
                notify(observer, Event::Advance { done })?;
            }
        }
        Ok((found, dendrogram))
    }

    /// Writes for each node one that stands for its component at a threshold.
    fn set_aside_roots(&self, files: &Files, code: u32, path: &Path) -> Result<Array<u32>> {
        let count = self.node_count();
        let mut writer = ArrayWriter::create(files, path, count)?;
        let mut roots = Vec::new();
        for first in (0..count as usize).step_by(PART_NODES) {
            let nodes = first..(first + PART_NODES).min(count as usize);
            roots.clear();
            self.put_roots(code, nodes, &mut roots);
            roots.iter().try_for_each(|&root| writer.push(root))?;
        }
        writer.finish()
    }
}

/// Numbers components whose roots are on disk; the labels replace them.
fn number(files: &Files, roots: &Array<u32>) -> Result<Communities> {
    let words = roots.read_all(files)?.into_iter().map(AtomicU32::new);
    let (labels, sizes) = number_components(words.collect());
    let labels = Array::write(files, &roots.path, labels.into_iter())?;
    Ok(Communities::of_components(Column::Disk(labels), sizes))
}
