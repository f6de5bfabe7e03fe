//! Runs a job on a separate thread, while the caller's thread receives its events: Python handles signals and calls
//! the listener on the thread of the call, whatever threads the engine uses.
//!
//! The calling thread waits without the interpreter's lock, checks for signals every 50 ms, and makes the callbacks.
//! Nothing waits for Python.

use crate::errors;
use outcore::progress::{Event, Observer};
use outcore::{ErrorKind, Result};
use outcore_cli::surface::Gauge;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum delay in handling a signal.
const POLL: Duration = Duration::from_millis(50);
/// Time between two messages about the progress of a stage.
const ADVANCE_EVERY: Duration = Duration::from_millis(100);
/// Capacity of the queue of messages. If it is full, messages about progress are dropped.
const WAITING: usize = 64;

/// Event for the listener: kind, stage or text, work done, total work, unit.
type Message = (&'static str, String, Option<u64>, Option<u64>, &'static str);

/// Kind of the last event.
const ENDED: &str = "ended";

/// Sends the last event when dropped, however the job ends.
struct Ended<'a>(&'a Relay);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.send((ENDED, String::new(), None, None, ""));
    }
}

/// Observer that forwards events to the listener.
pub(crate) struct Relay {
    stop: Arc<AtomicBool>,
    sender: SyncSender<Message>,
    /// Running stage, for the text that describes its progress.
    gauge: Mutex<Option<Gauge>>,
    advanced: Mutex<Instant>,
}

impl Relay {
    /// Runs `work` with an observer, and calls `listener` with its events. Sets `stop` when the listener or a signal
    /// stops the job.
    ///
    /// # Errors
    /// The exception for the engine's error; that of the listener or the signal if it stopped the job.
    pub(crate) fn drive<T: Send>(
        py: Python<'_>,
        listener: Option<Py<PyAny>>,
        stop: Arc<AtomicBool>,
        work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
    ) -> PyResult<T> {
        let (sender, receiver) = sync_channel(WAITING);
        let (gauge, advanced) = (Mutex::default(), Mutex::new(Instant::now()));
        let relay = Self { stop, sender, gauge, advanced };
        let (done, stopped_by) = py.detach(move || {
            std::thread::scope(|scope| {
                let relay = &relay;
                let worker = scope.spawn(move || {
                    let _ended = Ended(relay);
                    work(relay)
                });
                let stopped_by = relay.listen(&receiver, listener.as_ref());
                (worker.join(), stopped_by)
            })
        });
        let done = match done {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        match (done, stopped_by) {
            (Ok(done), None) => Ok(done),
            // The job completed before it could be stopped.
            (Ok(_), Some(raised)) => Err(raised),
            (Err(error), Some(raised)) if error.kind() == ErrorKind::Interrupted => {
                let interrupted = errors::raised(py, &error);
                if !raised.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                    return Err(raised);
                }
                interrupted.set_cause(py, None);
                Err(interrupted)
            }
            (Err(error), _) => Err(errors::raised(py, &error)),
        }
    }

    /// Calls the listener until the job has ended; returns the exception that stopped the job, if any.
    fn listen(&self, receiver: &Receiver<Message>, listener: Option<&Py<PyAny>>) -> Option<PyErr> {
        let mut stopped_by = None;
        let mut check = |outcome: PyResult<()>| {
            if let Err(raised) = outcome {
                self.stop.store(true, Relaxed);
                stopped_by.get_or_insert(raised);
            }
        };
        loop {
            match receiver.recv_timeout(POLL) {
                Ok((ENDED, ..)) => break,
                Ok(message) => {
                    if let Some(listener) = listener {
                        check(Python::attach(|py| listener.call1(py, message).map(drop)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            check(Python::attach(|py| py.check_signals()));
        }
        stopped_by
    }

    fn send(&self, message: Message) {
        match message.0 {
            // Another message will follow.
            "advance" => drop(self.sender.try_send(message)),
            // There is no receiver after the job has ended.
            _ => drop(self.sender.send(message)),
        }
    }

    fn is_time(&self) -> bool {
        let mut advanced = self.advanced.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = advanced.elapsed() >= ADVANCE_EVERY;
        if is_time {
            *advanced = Instant::now();
        }
        is_time
    }
}

impl Observer for Relay {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let mut gauge = self.gauge.lock().unwrap_or_else(PoisonError::into_inner);
        Gauge::observe(&mut gauge, &event);
        let shown = || gauge.as_ref().map(Gauge::text).unwrap_or_default();
        match event {
            Event::Begin { stage, total, unit } => {
                self.send(("begin", stage.name().into(), Some(0), total, unit));
            }
            Event::Advance { done } if self.is_time() => {
                self.send(("advance", shown(), Some(done), None, ""));
            }
            Event::Expect { total } => self.send(("expect", String::new(), None, total, "")),
            Event::Detail { text } => self.send(("detail", text.into(), None, None, "")),
            Event::End { summary } => self.send(("end", summary.into(), None, None, "")),
            Event::Warning { text } => self.send(("warning", text.into(), None, None, "")),
            _ => {}
        }
        if self.stop.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
