//! Speed of the simulated storage, in virtual time.
//!
//! Requests overlap as if each open handle of a file always had one in flight, so that the time is
//! independent of thread scheduling.

use super::locked;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Duration of transfers in one direction: `latency_seconds + bytes / bytes_per_second(bytes)` each.
#[derive(Debug, Clone, Copy)]
pub struct Curve {
    /// Time before the first byte.
    pub latency_seconds: f64,
    /// Throughput by the size of a request.
    pub bytes_per_second: fn(usize) -> f64,
    /// Maximum number of requests served concurrently.
    pub depth: usize,
    /// Maximum total throughput.
    pub bytes_per_second_most: f64,
}

impl Curve {
    /// Returns the time between two completed requests of `bytes`, when each of `handles` has one in flight.
    pub fn seconds(&self, bytes: usize, handles: usize) -> f64 {
        let alone = self.latency_seconds + bytes as f64 / (self.bytes_per_second)(bytes);
        let shared = alone / handles.clamp(1, self.depth.max(1)) as f64;
        shared.max(bytes as f64 / self.bytes_per_second_most)
    }
}

/// Speed of the simulated storage.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Reads.
    pub read: Curve,
    /// Writes.
    pub write: Curve,
}

/// Virtual time, and the open handles that share it.
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

    /// Advances the time by the duration of a transfer.
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
