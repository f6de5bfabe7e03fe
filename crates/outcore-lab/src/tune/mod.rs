//! Measures a disk through the engine's own `io`, and writes down what follows as a disk profile.

use crate::Effort;
use outcore::Result;
use outcore::io::{DiskProfile, Files};
use outcore::progress::Observer;
use std::path::Path;
use std::time::Instant;

/// Tells the time: the machine's, or that of a simulated storage.
pub trait Clock: Sync {
    /// Seconds since some moment.
    fn seconds(&self) -> f64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct WallClock(Instant);

impl Default for WallClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for WallClock {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The profile, to be stored with [`DiskProfile::store`].
    pub profile: DiskProfile,
    /// What to print: headings first, then a line of cells for each setting.
    pub rows: Vec<Vec<String>>,
    /// What a reader must know, such as that the machine was too noisy.
    pub notes: Vec<String>,
}

/// Measures the disk of `directory`.
///
/// # Errors
/// `DiskTooSmall`, `DiskFull`, `Io`; `Interrupted`. No file is left.
pub fn tune(
    _files: &Files,
    _directory: &Path,
    _effort: Effort,
    _clock: &dyn Clock,
    _observer: &dyn Observer,
) -> Result<Tuned> {
    Ok(Tuned { profile: DiskProfile::default(), rows: Vec::new(), notes: Vec::new() })
}
