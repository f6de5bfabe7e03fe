//! Lookup of the communities of single nodes in an index of the result.

use crate::relay::drive;
use outcore::Result;
use outcore::input::CommunityFormat;
use outcore::io::Files;
use outcore::membership::Lookup as Index;
use outcore::progress::Observer;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// File of communities, with an index that the first lookup builds.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct Lookup {
    files: Files,
    path: PathBuf,
    rows: CommunityFormat,
    index: Mutex<Option<Index>>,
}

#[pymethods]
impl Lookup {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, rows: &str) -> PyResult<Self> {
        let rows = crate::errors::detached(py, || outcore_bind::results::rows_of(rows))?;
        Ok(Self { files: Files::default(), path, rows, index: Mutex::default() })
    }

    /// Returns the community of the node with this name, if there is one. The first call builds the index, as does the
    /// first after the file was rewritten.
    fn community(&self, py: Python<'_>, name: &[u8]) -> PyResult<Option<u64>> {
        let known = crate::errors::detached(py, || match &*self.index() {
            Some(index) if index.is_of(&self.files, &self.path) => index.community(name).map(Some),
            _ => Ok(None),
        })?;
        match known {
            Some(community) => Ok(community),
            None => drive(py, None, Arc::default(), |observer| self.build(name, observer)),
        }
    }
}

impl Lookup {
    fn index(&self) -> MutexGuard<'_, Option<Index>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds the index, unless another thread has done so in the meantime; returns the community of `name`.
    fn build(&self, name: &[u8], observer: &dyn Observer) -> Result<Option<u64>> {
        let mut index = self.index();
        let path: &Path = &self.path;
        let index = match index.take().filter(|index| index.is_of(&self.files, path)) {
            Some(built) => index.insert(built),
            None => {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                index.insert(Index::build(&self.files, path, self.rows, threads, observer)?)
            }
        };
        index.community(name)
    }
}
