//! Files that a checkpoint needs. Whoever has used one up [discards](Files::discard) it, and need not know of
//! checkpoints: it goes at once, or with the last checkpoint that needs it (`checkpoint::Journal`).

use super::Files;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files that are held, and whether each has been discarded in the meantime.
#[derive(Default)]
pub(super) struct Held(Mutex<HashMap<PathBuf, bool>>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    /// Removes a file or a directory of ours that is used up, as soon as no checkpoint needs it. One that cannot
    /// be removed is in nobody's way: it goes with the job's directory.
    pub(crate) fn discard(&self, path: &Path) {
        if let Some(is_discarded) = self.held.lock().get_mut(path) {
            *is_discarded = true;
            return;
        }
        match self.entry(path) {
            Ok(entry) if entry.is_directory => self.remove_all(path),
            _ => _ = self.remove(path),
        }
    }

    /// Whether a checkpoint needs it.
    pub(crate) fn is_held(&self, path: &Path) -> bool {
        self.held.lock().contains_key(path)
    }

    /// Holds the files of a checkpoint in place of those of the one `before`, of which what was discarded goes.
    pub(crate) fn hold(&self, before: &[PathBuf], now: &[PathBuf]) {
        let mut held = self.held.lock();
        let now: HashSet<&PathBuf> = now.iter().collect();
        now.iter().for_each(|&path| _ = held.entry(path.clone()).or_default());
        let old = before.iter().filter(|path| !now.contains(path));
        let gone: Vec<&PathBuf> = old.filter(|path| held.remove(*path) == Some(true)).collect();
        drop(held);
        gone.into_iter().for_each(|path| self.discard(path));
    }

    /// Forgets the files of a checkpoint, which stay for another process.
    pub(crate) fn leave(&self, held: &[PathBuf]) {
        let mut all = self.held.lock();
        held.iter().for_each(|path| _ = all.remove(path));
    }
}
