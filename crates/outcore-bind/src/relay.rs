//! Runs a job on a separate thread, while the caller's thread receives its events: a language handles signals and calls
//! its functions on the thread of the call, whatever threads the engine uses.
//!
//! The caller's thread alternates between [`Events::next`] and its own checks for signals. Nothing waits for it, except
//! that a full queue delays events other than progress.

use outcore::Result;
use outcore::progress::{Event, Observer};
use outcore_cli::surface::Gauge;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time in [`Events::next`], thus delay in handling a signal.
const POLL: Duration = Duration::from_millis(50);
/// Time between two messages about the progress of a stage.
const ADVANCE_EVERY: Duration = Duration::from_millis(100);
/// Capacity of the queue of messages. If it is full, messages about progress are dropped.
const WAITING: usize = 64;

/// Event of a job: kind, stage or text, work done, total work, unit.
///
/// Kinds are `begin`, `advance`, `expect`, `detail`, `end` and `warning`, whose text is a list of words and options as JSON,
/// and [`WANT`].
pub type Message = (&'static str, String, Option<u64>, Option<u64>, &'static str);

/// Kind of the event by which a job asks for the next part of its input.
pub const WANT: &str = "want";
/// Kind of the last event.
const ENDED: &str = "ended";

/// Next event of a job.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Message(Message),
    /// There was none for a while.
    Quiet,
    /// The job has ended.
    Ended,
}

/// Observer of a job that sends its events to [`Events`].
#[derive(Debug)]
pub struct Relay {
    stop: Arc<AtomicBool>,
    sender: SyncSender<Message>,
    /// Running stage, for the text that describes its progress.
    gauge: Mutex<Option<Gauge>>,
    advanced: Mutex<Instant>,
}

/// Events of a job, for the thread of the caller.
#[derive(Debug)]
pub struct Events {
    stop: Arc<AtomicBool>,
    receiver: Receiver<Message>,
    sender: SyncSender<Message>,
}

/// Creates the two ends for a job; `stop` becomes true when the caller stops it.
pub fn relay(stop: Arc<AtomicBool>) -> (Relay, Events) {
    let (sender, receiver) = sync_channel(WAITING);
    let (gauge, advanced) = (Mutex::default(), Mutex::new(Instant::now()));
    let events = Events { stop: Arc::clone(&stop), receiver, sender: sender.clone() };
    (Relay { stop, sender, gauge, advanced }, events)
}

/// Sends events of the input of a job: that it [wants](WANT) more.
#[derive(Debug, Clone)]
pub struct Wants(SyncSender<Message>);

impl Wants {
    /// Asks for the next part.
    pub fn ask(&self) {
        // There is no receiver after the caller has gone.
        drop(self.0.send((WANT, String::new(), None, None, "")));
    }
}

impl Events {
    /// Waits a short time for the next event.
    pub fn next(&self) -> Next {
        match self.receiver.recv_timeout(POLL) {
            Ok((ENDED, ..)) | Err(RecvTimeoutError::Disconnected) => Next::Ended,
            Ok(message) => Next::Message(message),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
        }
    }

    /// Asks the job to stop. It still sends events until it has ended.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Returns the sender for the input of the job.
    pub fn wants(&self) -> Wants {
        Wants(self.sender.clone())
    }
}

/// Sends the last event when dropped, however the job ends.
struct Ended<'a>(&'a Relay);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.send((ENDED, String::new(), None, None, ""));
    }
}

impl Relay {
    /// Runs a job.
    ///
    /// # Errors
    /// Those of the job.
    pub fn run<T>(&self, work: impl FnOnce(&dyn Observer) -> Result<T>) -> Result<T> {
        let _ended = Ended(self);
        work(self)
    }

    fn send(&self, message: Message) {
        match message.0 {
            // Another message will follow.
            "advance" => drop(self.sender.try_send(message)),
            // There is no receiver after the caller has gone.
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
            Event::Warning { text } => {
                let parts = serde_json::to_string(text).expect("texts are JSON");
                self.send(("warning", parts, None, None, ""));
            }
            _ => {}
        }
        if self.stop.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
