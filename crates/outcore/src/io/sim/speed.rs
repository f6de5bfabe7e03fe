//! How fast the simulated storage is, in virtual time.
//!
//! Requests overlap as if each open handle of a file had one on its way all the time; so the time does
//! not depend on how threads are scheduled.

use super::locked;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How long transfers take one way: `latency_seconds + bytes / bytes_per_second(bytes)` each.
#[derive(Debug, Clone, Copy)]
pub struct Curve {
    /// Time before the first byte.
    pub latency_seconds: f64,
    /// The rate of a request of so many bytes.
    pub bytes_per_second: fn(usize) -> f64,
    /// Most requests that are served at the same time.
    pub depth: usize,
    /// Most that all of them get together.
    pub bytes_per_second_most: f64,
}

impl Curve {
    /// Time between two requests of `bytes` done, when `handles` have one on their way each.
    pub fn seconds(&self, bytes: usize, handles: usize) -> f64 {
        let alone = self.latency_seconds + bytes as f64 / (self.bytes_per_second)(bytes);
        let shared = alone / handles.clamp(1, self.depth.max(1)) as f64;
        shared.max(bytes as f64 / self.bytes_per_second_most)
    }
}

/// How fast the simulated storage is.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Reads.
    pub read: Curve,
    /// Writes.
    pub write: Curve,
}

/// Virtual time, and who shares it.
#[derive(Default)]
pub(super) struct Clock {
    speed: Mutex<Option<Speed>>,
    seconds: Mutex<f64>,
    handles: Mutex<BTreeMap<PathBuf, usize>>,
}

impl Clock {
    pub(super) fn set_speed(&self, speed: Speed) {
        *locked(&self.speed) = Some(speed);
    }

    pub(super) fn has_speed(&self) -> bool {
        locked(&self.speed).is_some()
    }

    pub(super) fn seconds(&self) -> f64 {
        *locked(&self.seconds)
    }

    /// Lets the time pass that a transfer takes.
    pub(super) fn pass(&self, path: &Path, curve: impl Fn(&Speed) -> Curve, bytes: usize) {
        if let Some(speed) = &*locked(&self.speed) {
            let handles = locked(&self.handles).get(path).copied().unwrap_or(1);
            *locked(&self.seconds) += curve(speed).seconds(bytes, handles);
        }
    }

    pub(super) fn opened(&self, path: &Path) {
        *locked(&self.handles).entry(path.to_path_buf()).or_default() += 1;
    }

    pub(super) fn closed(&self, path: &Path) {
        let mut handles = locked(&self.handles);
        if let Some(count) = handles.get_mut(path) {
            *count -= 1;
            if *count == 0 {
                handles.remove(path);
            }
        }
    }
}
