//! Progress of a clustering: arcs scanned, relative to the expected arcs of all passes.
//!
//! The number of passes is not known in advance. The first estimate is that of the plan (`drive::expected`); it is refined after
//! each sweep, at each level, and at the closing. When a part of the work takes longer than expected, no total is
//! reported until the next estimate, since a share that stands still would be misleading.
//!
//! Arcs are counted where blocks are handed out, not in the workers that sweep them. The closing is the last step.

use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Observer of a clustering that forwards events and fills in the progress.
pub struct ClusterProgress<'a> {
    observer: &'a dyn Observer,
    /// Arcs of the blocks scanned so far, on all levels.
    scanned: AtomicU64,
    /// Locked while the observer is called, so that threads call it one at a time.
    expected: Mutex<ExpectedWork>,
}

/// Estimate of the total work.
#[derive(Clone, Copy)]
struct ExpectedWork {
    /// Upper bound of the progress at the end of the current part of the work.
    part_ends: u64,
    total: Option<u64>,
}

impl<'a> ClusterProgress<'a> {
    /// Starts the progress of work with `total` arcs.
    pub fn new(observer: &'a dyn Observer, total: Option<u64>) -> Self {
        let expected = ExpectedWork { part_ends: total.unwrap_or(u64::MAX), total };
        Self { observer, scanned: AtomicU64::new(0), expected: Mutex::new(expected) }
    }

    /// Records that blocks with `arcs` arcs have been scanned.
    pub fn go(&self, arcs: u64) {
        self.scanned.fetch_add(arcs, Relaxed);
    }

    /// Sets the estimate: `part` arcs for the part of the work that begins now (`None` if unknown), and `after` arcs
    /// for the rest.
    ///
    /// # Errors
    /// `Interrupted` if the observer asks to stop.
    pub fn expect(&self, part: Option<f64>, after: f64) -> Result<()> {
        // Locked first: parallel searches report progress meanwhile, and no total may lie below it.
        let mut expected = self.expected();
        let part_ends = self.scanned.load(Relaxed) + part.unwrap_or_default() as u64;
        let total = part.map(|_| part_ends + after as u64);
        let changed = expected.total != total;
        *expected = ExpectedWork { part_ends, total };
        if changed { notify(self.observer, Event::Expect { total }) } else { Ok(()) }
    }

    /// Reports the progress.
    fn advance(&self, expected: &mut ExpectedWork) -> ControlFlow<()> {
        let done = self.scanned.load(Relaxed);
        if expected.total.is_some() && done > expected.part_ends {
            expected.total = None;
            self.observer.event(Event::Expect { total: None })?;
        }
        self.observer.event(Event::Advance { done })
    }

    fn expected(&self) -> MutexGuard<'_, ExpectedWork> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for ClusterProgress<'_> {
    /// Replaces the position of an `Advance` event by the actual progress, which its sender need not know.
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let mut expected = self.expected();
        match event {
            Event::Advance { .. } => self.advance(&mut expected),
            event => self.observer.event(event),
        }
    }
}

/// Extrapolates the number of sweeps until at most `enough` nodes move, assuming that the number of moved nodes shrinks
/// by the same factor as in the last sweep; `None` if it does not shrink.
pub fn sweeps_left(before: u64, moved: u64, enough: f64) -> Option<f64> {
    if moved as f64 <= enough {
        return Some(0.0);
    }
    if moved >= before {
        return None;
    }
    let share = (moved as f64 / before as f64).ln();
    Some(((enough.max(1.0) / moved as f64).ln() / share).ceil().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>);

    impl Observer for Recorder {
        fn event(&self, event: Event<'_>) -> ControlFlow<()> {
            let text = match event {
                Event::Advance { done } => format!("{done}"),
                Event::Expect { total } => format!("of {total:?}"),
                _ => String::new(),
            };
            self.0.lock().unwrap().push(text);
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn late_work_has_no_total_until_the_next_estimate() {
        let recorder = Recorder::default();
        let pace = ClusterProgress::new(&recorder, Some(100));
        let go = |arcs| {
            pace.go(arcs);
            notify(&pace, Event::Advance { done: 7 }).unwrap();
        };
        go(10);
        pace.expect(Some(20.0), 70.0).unwrap();
        go(20);
        go(1);
        go(1);
        pace.expect(None, 0.0).unwrap();
        pace.expect(Some(8.0), 0.0).unwrap();
        go(8);
        let reported = ["10", "30", "of None", "31", "32", "of Some(40)", "40"];
        assert_eq!(*recorder.0.lock().unwrap(), reported);
    }

    /// Observer that checks each event against the last total and the last progress.
    #[derive(Default)]
    struct Checker(Mutex<(u64, Option<u64>)>);

    impl Observer for Checker {
        fn event(&self, event: Event<'_>) -> ControlFlow<()> {
            let (done, total) = &mut *self.0.lock().unwrap();
            match event {
                Event::Advance { done: now } => *done = now,
                Event::Expect { total: now } => *total = now,
                _ => {}
            }
            assert!(total.is_none_or(|total| *done <= total), "{done} of {total:?}");
            ControlFlow::Continue(())
        }
    }

    /// One thread estimates while others report progress, as in parallel searches.
    #[test]
    fn no_total_lies_below_the_progress() {
        let checker = Checker::default();
        let pace = ClusterProgress::new(&checker, None);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        pace.go(1);
                        notify(&pace, Event::Advance { done: 0 }).unwrap();
                    }
                });
            }
            (0..50_000).for_each(|_| pace.expect(Some(0.0), 0.0).unwrap());
        });
        assert_eq!(checker.0.lock().unwrap().0, 100_000);
    }

    #[test]
    fn remaining_sweeps_follow_from_the_last_one() {
        assert_eq!(sweeps_left(1000, 100, 1.0), Some(2.0));
        assert_eq!(sweeps_left(1000, 500, 100.0), Some(3.0));
        assert_eq!(sweeps_left(10, 1, 2.0), Some(0.0));
        assert_eq!(sweeps_left(10, 2, 0.0), Some(1.0));
        assert_eq!(sweeps_left(10, 10, 0.0), None);
    }
}
