//! Comparison of two results, without a graph: which nodes moved, and what became of each community.
//!
//! ```text
//!  A --side--> rows by name --.                        .--> sizes, agreement, fates, largest changes
//!                             +-join--> nodes by pair -+--> overlaps --write--> table of all overlaps
//!  B --side--> rows by name --'    of communities      `--> moved nodes --write--> table of moved nodes
//! ```
//! All of it is sorting and merging (Graefe, "Query evaluation techniques for large databases", 1993, 5.2), so memory does
//! not grow with the files: at most [`SORTS`] sorts at a time share the limit. Names and communities are
//! identified by their fingerprints; names of at most 15 bytes are their own. I/O: each file is read once, twice if its
//! communities are text or moved nodes are written; each row is written and read three times if the rows do not fit
//! in memory.
//!
//! # Fates
//! A size is the number of nodes that a community has in its file, |a ∩ b| the number of nodes that two communities share.
//! Each community `a` has exactly one fate, the first that applies:
//!
//! | fate of a | condition |
//! | --- | --- |
//! | alone | the other file names none of its nodes |
//! | unchanged | a community of the other file has exactly its nodes |
//! | continued | with a community b, more than half of their nodes together are shared: \|a ∩ b\| > \|a ∪ b\| / 2 |
//! | into one | a community holds more than half of its nodes: a was merged with others |
//! | into several | communities that have more than half of their own nodes from a hold more than half of it: a was split |
//! | mixed | anything else |
//!
//! No tie can occur: disjoint sets cannot both hold more than half. The same rules hold from B to A, where "into
//! one" is a part of a community that was split, and "into several" the result of a merge. The idea is that of MONIC (Spiliopoulou et al.,
//! "MONIC: modeling and monitoring cluster transitions", 2006).
//!
//! A node in both files stays if its two communities are each other's largest overlap; ties go to the community that comes
//! first. All others moved.

mod community_names;
mod comparison_rows;
mod join;
mod overlaps;
mod report;
mod run;
mod side;
mod write;

pub use report::{
    Change, CommunityName, CompareReport, Drawn, DrawnFlow, DrawnSide, Fate, FateCounts, Part,
    SideReport,
};

pub(crate) use run::{Comparison, compare_with};

use crate::budget::Limits;
use crate::error::{Error, Result};
use crate::input::{self, CommunityInput};
use crate::plan;
use crate::present::Workbench;
use crate::sort::{SORT_BYTES_MIN, SORT_FIXED_BYTES};
use crate::units::MIB;
use std::path::{Path, PathBuf};

/// No community.
const NONE: u64 = u64::MAX;
/// Number of sorts that exist at the same time, at most.
const SORTS: u64 = Workbench::SORTS;
/// Memory that a sort needs only while it takes records. One sort at a time does so, while the others are read.
const SHARED_BYTES: u64 = (SORTS - 1) * SORT_FIXED_BYTES;
/// Memory in addition to sorts and batches: buffers of readers and writers, rows of a table that is written.
const FIXED_BYTES: u64 = 16 * MIB;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// First file of communities; `-` is standard input.
    pub a: PathBuf,
    /// Second file of communities; `-` is standard input.
    pub b: PathBuf,
    /// How both files are read.
    pub input: CommunityInput,
    /// Where to write all overlaps, if anywhere.
    pub output: Option<PathBuf>,
    /// Where to write the nodes that moved, if anywhere.
    pub moved: Option<PathBuf>,
    /// Whether text begins with a line of the names of its columns.
    pub output_header: bool,
    /// Memory limit and number of threads.
    pub limits: Limits,
    /// Directory for temporary files.
    pub work_dir: PathBuf,
}

impl CompareOptions {
    /// Returns the first path that is written; standard output if there is none.
    pub(crate) fn result(&self) -> &Path {
        self.output.as_deref().or(self.moved.as_deref()).unwrap_or(Path::new("-"))
    }
}

/// Returns the smallest memory limit of a comparison.
pub fn memory_bytes_for(threads: usize) -> u64 {
    let limits = Limits { memory_bytes: 0, threads };
    let sorts = input::with_batch(&limits, SORTS * SORT_BYTES_MIN - SHARED_BYTES + FIXED_BYTES);
    sorts.max(plan::at_least(&limits).memory_bytes)
}

/// Returns the memory that the sorts share; `window_bytes` is that of decompression.
///
/// # Errors
/// `MemoryTooSmall`.
pub(crate) fn budget(limits: &Limits, window_bytes: u64) -> Result<u64> {
    let least = memory_bytes_for(limits.threads) + window_bytes;
    if limits.memory_bytes < least {
        let of_what = " to compare two results";
        return Err(Error::too_little_memory(limits.memory_bytes, of_what, least));
    }
    let rest = limits.memory_bytes - input::batch_memory_bytes(limits) - FIXED_BYTES;
    Ok(rest - window_bytes + SHARED_BYTES)
}
