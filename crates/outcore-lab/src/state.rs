//! State of a file before it is read, established and verified: without a known state, a figure means little.

use crate::api::direct::open_to_read;
use crate::api::memory::PAGE;
use outcore::io::AlignedBuffer;
use outcore::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::ops::Range;
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
    /// Parts of it in the page cache; the name of the row says how much.
    Parts,
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
            Self::Parts => "parts",
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
        // The experiment brings the parts that it wants.
        State::Parts | State::New => Ok(Ok(())),
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

/// Returns the reason why direct reads do not leave the page cache empty here; `None` if they do. Some file systems accept
/// the flag but ignore it.
///
/// # Errors
/// `Io`.
pub(crate) fn direct_obstacle(path: &Path) -> Result<Option<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Some("this system has no O_DIRECT".into()));
    }
    let reason = Ok(Some("the file system has no direct I/O".into()));
    drop_cached(path)?;
    let mut page = AlignedBuffer::new(PAGE);
    let read = open_to_read(path, true)
        .and_then(|file| std::os::unix::fs::FileExt::read_at(&file, page.bytes_mut(), 0));
    match read {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => return reason,
        Err(e) => return Err(Error::io("read", path, e)),
    }
    if cached_share(path)? == Some(0.0) { Ok(None) } else { reason }
}

/// Drops the file from the page cache, then reads its `wanted` parts, which are in order and disjoint, and verifies
/// that about this share is in memory.
///
/// # Errors
/// `Io`; the inner `Err` is the reason why the state could not be reached or verified here.
pub(crate) fn bring_parts(
    path: &Path,
    wanted: &[Range<u64>],
) -> Result<std::result::Result<(), String>> {
    if let Err(reason) = bring(path, State::Cold)? {
        return Ok(Err(reason));
    }
    let file = open(path)?;
    // Without this advice, the system reads more than it is asked for.
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)
        .map_err(|e| Error::io("advise on", path, e.into()))?;
    let mut block = vec![0; 1 << 20];
    let mut kept = 0;
    for range in wanted {
        kept += range.end - range.start;
        for offset in range.clone().step_by(block.len()) {
            let count = block.len().min((range.end - offset) as usize);
            std::os::unix::fs::FileExt::read_exact_at(&file, &mut block[..count], offset)
                .map_err(|e| Error::io("read", path, e))?;
        }
    }
    let bytes = file.metadata().map_err(|e| Error::io("measure", path, e))?.len();
    let share = kept as f64 / bytes as f64;
    let reason = "other parts of the file are in memory than those that were read";
    Ok(expect(cached_share(path)?, |found| (found - share).abs() < 1e-3, reason))
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
