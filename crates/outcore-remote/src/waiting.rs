//! Threads of their own for requests, and waiting for what they bring.

use outcore::io::Stop;
use outcore::{Error, Result};
use std::future::Future;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Threads that move bytes; more are of no use below some GB/s.
const THREADS: usize = 2;
/// Threads that ask for the numbers of hosts' names.
const NAME_THREADS: usize = 4;
/// How long a stop may wait for an answer.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// The threads, and whether anybody still wants to wait.
pub(crate) struct Waiting {
    /// There until it is dropped.
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
        self.runtime.as_ref().expect("it is there until it is dropped")
    }

    /// Lets `work` go on by itself, until it is done or what is given back is aborted.
    pub(crate) fn start(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::AbortHandle {
        self.runtime().spawn(work).abort_handle()
    }

    /// `Interrupted` if nobody wants to wait any more.
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
            // Nobody may be waiting any more.
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
        // A name that is being looked up would be waited for otherwise.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The error for a request that was given up by nobody.
pub(crate) fn ended() -> Error {
    Error::io("read", Path::new("the network"), std::io::ErrorKind::BrokenPipe.into())
}
