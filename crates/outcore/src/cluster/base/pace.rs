//! How far a clustering is: arcs gone through, of those of all passes that it is expected to take.
//!
//! How many passes it takes nobody knows before; what is expected is that of the plan (`cost`), and is corrected
//! wherever more is known: after each sweep, at each level, at the closing. When a part of the work takes longer
//! than it was expected to, nothing is told of the whole any more until the next correction: a share that
//! stands still would tell nothing.

use crate::error::Result;
use crate::progress::{Event, Observer, notify};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Hears of a clustering, and passes on how far it is.
pub struct ClusterProgress<'a> {
    observer: &'a dyn Observer,
    /// Arcs of the blocks that have been gone through, on all levels.
    gone: AtomicU64,
    expected: Mutex<ExpectedWork>,
}

/// What is told of the whole.
#[derive(Clone, Copy)]
struct ExpectedWork {
    /// How far the part of the work that goes on now should reach at most.
    part_ends: u64,
    total: Option<u64>,
}

impl<'a> ClusterProgress<'a> {
    /// At the beginning of work of so many arcs.
    pub fn new(observer: &'a dyn Observer, total: Option<u64>) -> Self {
        let expected = ExpectedWork { part_ends: total.unwrap_or(u64::MAX), total };
        Self { observer, gone: AtomicU64::new(0), expected: Mutex::new(expected) }
    }

    /// Blocks of so many arcs have been gone through.
    pub fn go(&self, arcs: u64) {
        self.gone.fetch_add(arcs, Relaxed);
    }

    /// The part of the work that begins now is expected to take so many arcs, and `after` come after it; nobody
    /// knows if that is `None`.
    ///
    /// # Errors
    /// `Interrupted` if the observer asks to stop.
    pub fn expect(&self, part: Option<f64>, after: f64) -> Result<()> {
        let part_ends = self.gone.load(Relaxed) + part.unwrap_or_default() as u64;
        let total = part.map(|_| part_ends + after as u64);
        let changed = {
            let mut expected = self.expected();
            let changed = expected.total != total;
            *expected = ExpectedWork { part_ends, total };
            changed
        };
        if changed { notify(self.observer, Event::Expect { total }) } else { Ok(()) }
    }

    /// Tells how far it is.
    fn advance(&self) -> ControlFlow<()> {
        let done = self.gone.load(Relaxed);
        let is_late = {
            let mut expected = self.expected();
            let is_late = expected.total.is_some() && done > expected.part_ends;
            if is_late {
                expected.total = None;
            }
            is_late
        };
        if is_late {
            self.observer.event(Event::Expect { total: None })?;
        }
        self.observer.event(Event::Advance { done })
    }

    fn expected(&self) -> MutexGuard<'_, ExpectedWork> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for ClusterProgress<'_> {
    /// Whoever says that the work advances need not know how far it is.
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Advance { .. } => self.advance(),
            event => self.observer.event(event),
        }
    }
}

/// How many sweeps are left, if the nodes that move go on to become fewer as they did in the last one, until `enough`
/// or fewer do; `None` if they do not become fewer.
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
    struct Heard(Mutex<Vec<String>>);

    impl Observer for Heard {
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
    fn what_takes_longer_than_expected_has_no_end_until_one_is_known() {
        let heard = Heard::default();
        let pace = ClusterProgress::new(&heard, Some(100));
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
        assert_eq!(*heard.0.lock().unwrap(), reported);
    }

    #[test]
    fn sweeps_that_are_left_follow_from_the_last_one() {
        assert_eq!(sweeps_left(1000, 100, 1.0), Some(2.0));
        assert_eq!(sweeps_left(1000, 500, 100.0), Some(3.0));
        assert_eq!(sweeps_left(10, 1, 2.0), Some(0.0));
        assert_eq!(sweeps_left(10, 2, 0.0), Some(1.0));
        assert_eq!(sweeps_left(10, 10, 0.0), None);
    }
}
