//! State of a file before it is read, established and verified: without a known state, a figure means little.

use outcore::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// Location of a file's bytes when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// All in the page cache.
    Warm,
    /// None in the page cache; the memory that will hold them has been used before.
    Cold,
    /// None in the page cache, before or after the run: direct I/O.
    Direct,
    /// None in the page cache, and the memory has been reclaimed by the host of a virtual machine: the first touch
    /// of a page is slow.
    Reclaimed,
    /// The run creates the file.
    New,
}

impl State {
    /// Returns the displayed name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::Direct => "direct",
            Self::Reclaimed => "reclaimed",
            Self::New => "new",
        }
    }
}

/// Maximum number of reads to get all of a file into the page cache.
const ATTEMPTS: usize = 4;

/// Brings `path` into `state` and verifies it.
///
/// # Errors
/// `Io`; the inner `Err` is the reason why the state could not be reached or verified here.
pub fn bring(path: &Path, state: State) -> Result<std::result::Result<(), String>> {
    match state {
        State::New => Ok(Ok(())),
        State::Warm => {
            let mut cached = cached_share(path)?;
            // Systems occasionally evict pages even with free memory: seen for one read in 70.
            for _ in 0..ATTEMPTS {
                if cached.is_some_and(|share| share >= 1.0) {
                    break;
                }
                warm(path)?;
                cached = cached_share(path)?;
            }
            Ok(expect(cached, |share| share >= 1.0, "not all of the file stays in the page cache"))
        }
        State::Cold | State::Direct | State::Reclaimed => {
            drop_cached(path)?;
            let mut cached = cached_share(path)?;
            // Pages that are still being read ahead cannot be dropped; a moment later they can.
            for _ in 0..10 {
                if cached.is_none_or(|share| share <= 0.0) {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
                drop_cached(path)?;
                cached = cached_share(path)?;
            }
            let reason = "the file system keeps the file's pages in memory";
            Ok(expect(cached, |share| share <= 0.0, reason))
        }
    }
}

fn expect(
    cached: Option<f64>,
    holds: impl Fn(f64) -> bool,
    reason: &str,
) -> std::result::Result<(), String> {
    match cached {
        Some(share) if holds(share) => Ok(()),
        Some(_) => Err(reason.into()),
        None => Err("this system does not report which pages are in memory".into()),
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io("open", path, e))
}

/// Reads the whole file once, so that the page cache holds it.
fn warm(path: &Path) -> Result<()> {
    use std::io::Read;
    let mut file = open(path)?;
    let mut block = vec![0; 1 << 20];
    while file.read(&mut block).map_err(|e| Error::io("read", path, e))? > 0 {}
    Ok(())
}

/// Writes the file back and drops its pages from the page cache; needs no privilege.
pub(crate) fn drop_cached(path: &Path) -> Result<()> {
    let file = open(path)?;
    file.sync_all().map_err(|e| Error::io("sync", path, e))?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(|e| Error::io("drop from memory", path, e.into()))?;
    Ok(())
}

/// Returns the share of the file's pages that are in the page cache; `None` if the system does not report it.
///
/// # Errors
/// `Io`.
pub fn cached_share(path: &Path) -> Result<Option<f64>> {
    let file = open(path)?;
    let bytes = file.metadata().map_err(|e| Error::io("measure", path, e))?.len();
    Ok(crate::api::cache::cached_pages(&file, bytes)
        .map(|(cached, pages)| if pages == 0 { 0.0 } else { cached as f64 / pages as f64 }))
}
