//! [`Pace`]: frequency of checkpoints in a long stage.

use std::time::{Duration, Instant};

/// Saving takes less than one part in this many of the running time.
const SHARE: u32 = 20;

/// Timer that decides when a checkpoint is due.
pub(super) struct Pace {
    least: Duration,
    pause: Duration,
    last: Instant,
}

impl Pace {
    /// Creates a timer with this minimum time between checkpoints.
    pub(super) fn new(least: Duration) -> Self {
        Self { least, pause: least, last: Instant::now() }
    }

    /// Whether a checkpoint is due.
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.pause
    }

    /// Records that a checkpoint was saved, from `begin` until now.
    pub(super) fn saved(&mut self, begin: Instant) {
        self.last = Instant::now();
        // Tests save at every opportunity.
        let share = if self.least.is_zero() { 0 } else { SHARE };
        self.pause = self.least.max(share * begin.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_saves_become_less_frequent() {
        let minute = Duration::from_secs(60);
        let mut pace = Pace::new(minute);
        assert!(!pace.is_due() && Pace::new(Duration::ZERO).is_due());
        for (seconds, pause) in [(0, 60.0), (2, 60.0), (30, 600.0)] {
            let Some(begin) = Instant::now().checked_sub(Duration::from_secs(seconds)) else {
                return;
            };
            pace.saved(begin);
            assert!((pace.pause.as_secs_f64() - pause).abs() < 10.0, "{seconds}: {:?}", pace.pause);
        }
        let mut always = Pace::new(Duration::ZERO);
        always.saved(Instant::now());
        assert!(always.is_due());
    }
}
