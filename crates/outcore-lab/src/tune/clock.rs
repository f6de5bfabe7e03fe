//! Clocks for tuning.

use std::time::Instant;

/// Source of time: the machine's clock or that of a simulated storage.
pub trait Clock: Sync {
    /// Returns the seconds since an arbitrary moment.
    fn seconds(&self) -> f64;
}

/// Clock of the machine.
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
