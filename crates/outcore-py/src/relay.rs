//! A job on a thread of its own, while the caller's thread listens: Python handles signals and calls back on
//! the thread that called, whatever threads the engine has.

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

/// How long a signal may wait for an answer.
const POLL: Duration = Duration::from_millis(50);
/// Time between two messages of how far a stage is.
const ADVANCE_EVERY: Duration = Duration::from_millis(100);
/// Messages that may wait. How far a stage is is left out if they do.
const WAITING: usize = 64;

/// An event for the listener: what, of which stage or with what text, and how far.
type Message = (&'static str, String, Option<u64>, Option<u64>, &'static str);

/// The last event.
const ENDED: &str = "ended";

/// Tells that the job has ended, however that may have been.
struct Ended<'a>(&'a Relay);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.send((ENDED, String::new(), None, None, ""));
    }
}

/// Hears what the engine tells and passes it on.
pub(crate) struct Relay {
    stop: Arc<AtomicBool>,
    sender: SyncSender<Message>,
    /// The stage that runs, for the words that are shown of it.
    gauge: Mutex<Option<Gauge>>,
    advanced: Mutex<Instant>,
}

impl Relay {
    /// Runs `work` with an observer; calls `listener` with what that hears. `stop` is set when one of them
    /// wishes to stop.
    ///
    /// # Errors
    /// The exception of the engine's error; that of the listener, or of a signal, if it stopped the job.
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
            // All was done by the time that somebody wished to stop.
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

    /// Calls back until the job has ended; gives the exception that stopped it.
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
            // Another one follows.
            "advance" => drop(self.sender.try_send(message)),
            // Nobody listens any more once the job has ended.
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
