//! Directory of a sort's runs. Names of runs begin at 0 in every sort, so each sort has a directory of its
//! own: it is created under a free name, or passed in.
//!
//! Only the sort of a resumable job is given a directory: one inside the directory that the job's lock protects.

use outcore_io::Files;
use outcore_io::error::Result;
use std::path::{Path, PathBuf};

/// Directory shared by its runs. The last run removes it, unless the caller passed it in.
pub(super) struct RunDirectory {
    files: Files,
    path: PathBuf,
    is_made: bool,
}

impl RunDirectory {
    /// Creates a directory in `parent`.
    pub(super) fn create(files: &Files, parent: &Path) -> Result<Self> {
        let path = files.create_numbered_directory(parent, "sort")?;
        Ok(Self { files: files.clone(), path, is_made: true })
    }

    /// Wraps a directory that belongs to the sort already.
    pub(super) fn given(files: &Files, path: &Path) -> Self {
        Self { files: files.clone(), path: path.to_path_buf(), is_made: false }
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the path of a segment of the run of this number.
    pub(super) fn segment(&self, run: u64, segment: usize) -> PathBuf {
        segment_path(&self.path, run, segment)
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if self.is_made {
            self.files.remove_all(&self.path);
        }
    }
}

/// Returns the path of a segment of the run of this number in `directory`.
pub(super) fn segment_path(directory: &Path, run: u64, segment: usize) -> PathBuf {
    directory.join(format!("run-{run}.{segment}"))
}
