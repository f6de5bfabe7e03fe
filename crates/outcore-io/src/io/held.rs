//! Files that checkpoints need. A stage that has finished with a file [discards](super::Files::discard) it
//! without knowing about checkpoints: the file is removed immediately, or with the last checkpoint that needs
//! it (`checkpoint::Journal`).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held files, and whether each has been discarded in the meantime.
#[derive(Default)]
pub(super) struct Held(Mutex<HashMap<PathBuf, bool>>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a file as discarded if it is held; returns whether it is.
    pub(super) fn discard(&self, path: &Path) -> bool {
        self.lock().get_mut(path).map(|is_discarded| *is_discarded = true).is_some()
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.lock().contains_key(path)
    }

    /// Holds the files `now` instead of the files `before`; returns the released files that were discarded.
    pub(super) fn replace<'a>(&self, before: &'a [PathBuf], now: &[PathBuf]) -> Vec<&'a PathBuf> {
        let mut held = self.lock();
        let now: HashSet<&PathBuf> = now.iter().collect();
        now.iter().for_each(|&path| _ = held.entry(path.clone()).or_default());
        let old = before.iter().filter(|path| !now.contains(path));
        old.filter(|path| held.remove(*path) == Some(true)).collect()
    }

    /// Stops tracking files without removing them.
    pub(super) fn leave(&self, held: &[PathBuf]) {
        let mut all = self.lock();
        held.iter().for_each(|path| _ = all.remove(path));
    }
}
