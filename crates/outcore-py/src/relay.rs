//! Runs a job without the interpreter's lock, while the thread of the call checks for signals and calls the listener.

use crate::errors;
use outcore::progress::Observer;
use outcore::{ErrorKind, Result};
use outcore_bind::relay::{Events, Next, relay};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs `work` with an observer, and calls `listener` with its events. Sets `stop` when the listener or a signal stops
/// the job.
///
/// # Errors
/// The exception for the engine's error; that of the listener or the signal if it stopped the job.
pub(crate) fn drive<T: Send>(
    py: Python<'_>,
    listener: Option<&Py<PyAny>>,
    stop: Arc<AtomicBool>,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> PyResult<T> {
    let (observer, events) = relay(stop);
    let (done, stopped_by) = py.detach(move || {
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || observer.run(work));
            let stopped_by = listen(&events, listener);
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
fn listen(events: &Events, listener: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut stopped_by = None;
    let mut check = |outcome: PyResult<()>| {
        if let Err(raised) = outcome {
            events.stop();
            stopped_by.get_or_insert(raised);
        }
    };
    loop {
        match events.next() {
            Next::Ended => return stopped_by,
            Next::Message(message) => {
                if let Some(listener) = listener {
                    check(Python::attach(|py| listener.call1(py, message).map(drop)));
                }
            }
            Next::Quiet => {}
        }
        check(Python::attach(|py| py.check_signals()));
    }
}
