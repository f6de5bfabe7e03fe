//! The state of a file before it is read, brought about and proved: a figure without it means little.

use outcore::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// Where the bytes of a file are when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// All in the page cache.
    Warm,
    /// None in the page cache; the memory to hold them has been used before.
    Cold,
    /// None in the page cache, nor will any be: direct I/O.
    Direct,
    /// None in the page cache, and memory that the host of a virtual machine has taken back: its
    /// first touch is slow.
    Reclaimed,
    /// The file is made by the run.
    New,
}

impl State {
    /// The name as shown.
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

/// How often a file is read to have all of it in the page cache.
const ATTEMPTS: usize = 4;

/// Brings `path` into `state`, and proves it.
///
/// # Errors
/// `Io`; the inner `Err` is the reason why the state could not be reached or proved here.
pub fn bring(path: &Path, state: State) -> Result<std::result::Result<(), String>> {
    match state {
        State::New => Ok(Ok(())),
        State::Warm => {
            let mut cached = None;
            // Systems take pages back now and then with memory to spare: seen for one read in 70.
            for _ in 0..ATTEMPTS {
                warm(path)?;
                cached = cached_share(path)?;
                if cached.is_none_or(|share| share >= 1.0) {
                    break;
                }
            }
            Ok(expect(cached, |share| share >= 1.0, "not all of the file stays in the page cache"))
        }
        State::Cold | State::Direct | State::Reclaimed => {
            drop_cached(path)?;
            let mut cached = cached_share(path)?;
            // Pages that are still being read ahead stay; a moment later they go too.
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
        None => Err("this system does not tell which pages are in memory".into()),
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io("open", path, e))
}

/// Reads the whole file once, so that the page cache has it.
fn warm(path: &Path) -> Result<()> {
    use std::io::Read;
    let mut file = open(path)?;
    let mut block = vec![0; 1 << 20];
    while file.read(&mut block).map_err(|e| Error::io("read", path, e))? > 0 {}
    Ok(())
}

/// Has the file written back and its pages dropped; needs no privilege.
pub(crate) fn drop_cached(path: &Path) -> Result<()> {
    let file = open(path)?;
    file.sync_all().map_err(|e| Error::io("sync", path, e))?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(|e| Error::io("drop from memory", path, e.into()))?;
    Ok(())
}

/// The share of the file's pages that are in the page cache, if the system tells.
///
/// # Errors
/// `Io`.
pub fn cached_share(path: &Path) -> Result<Option<f64>> {
    let file = open(path)?;
    let bytes = file.metadata().map_err(|e| Error::io("measure", path, e))?.len();
    Ok(crate::api::cache::cached_pages(&file, bytes)
        .map(|(cached, pages)| if pages == 0 { 0.0 } else { cached as f64 / pages as f64 }))
}
