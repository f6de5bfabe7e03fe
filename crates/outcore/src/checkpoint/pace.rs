//! [`Pace`]: how often a long stage saves a checkpoint.

use std::time::{Duration, Instant};

/// Saving takes less than one part of so many of the time.
const SHARE: u32 = 20;

/// Tells when it is time to save again.
pub(super) struct Pace {
    least: Duration,
    pause: Duration,
    last: Instant,
}

impl Pace {
    /// With at least so much time between one checkpoint and the next.
    pub(super) fn new(least: Duration) -> Self {
        Self { least, pause: least, last: Instant::now() }
    }

    /// Whether it is time.
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.pause
    }

    /// Learns that one was saved, from `begin` until now.
    pub(super) fn saved(&mut self, begin: Instant) {
        self.last = Instant::now();
        // Tests save all the time.
        let share = if self.least.is_zero() { 0 } else { SHARE };
        self.pause = self.least.max(share * begin.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_saved_less_often() {
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
