//! The time, as tuning asks for it.

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
