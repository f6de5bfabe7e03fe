//! Threads for requests, and waiting for their results.

use outcore::io::Stop;
use outcore::{Error, Result};
use std::future::Future;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Threads that transfer bytes; more do not help below several GB/s.
const THREADS: usize = 2;
/// Threads that resolve host names.
const NAME_THREADS: usize = 4;
/// Maximum delay in handling a stop.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// Threads for requests, and the flag that ends all waits.
pub(crate) struct Waiting {
    /// Runtime; `None` only while it is dropped.
    runtime: Option<tokio::runtime::Runtime>,
    stop: Stop,
}

impl Waiting {
    pub(crate) fn new(stop: Stop) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(NAME_THREADS)
            .thread_name("outcore-remote")
            .enable_all()
            .build()
            .map_err(|error| Error::io("start threads for", Path::new("outcore"), error))?;
        Ok(Self { runtime: Some(runtime), stop })
    }

    fn runtime(&self) -> &tokio::runtime::Runtime {
        self.runtime.as_ref().expect("it exists until it is dropped")
    }

    /// Runs `work` in the background, until it is done or the returned handle aborts it.
    pub(crate) fn start(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::AbortHandle {
        self.runtime().spawn(work).abort_handle()
    }

    /// Returns `Interrupted` if waiting must stop.
    pub(crate) fn check(&self) -> Result<()> {
        if (self.stop)() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Waits for `work`.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver): (_, Receiver<T>) = channel();
        let task = self.start(async move {
            // The receiver may have stopped waiting.
            let _ = sender.send(work.await);
        });
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
                Err(RecvTimeoutError::Timeout) => {
                    self.check().inspect_err(|_| task.abort())?;
                }
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Otherwise the drop would wait for the lookup of a host name.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns the error for a request that ended without a result, although nothing canceled it.
pub(crate) fn ended() -> Error {
    Error::io("read", Path::new("the network"), std::io::ErrorKind::BrokenPipe.into())
}
