//! An observer that stops a job.

use outcore::progress::{Event, Observer};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

/// Observer that stops at the event with this number.
pub(crate) struct StopAt(pub(crate) AtomicU32);

impl Observer for StopAt {
    fn event(&self, _event: Event<'_>) -> ControlFlow<()> {
        match self.0.fetch_sub(1, Ordering::Relaxed) {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
