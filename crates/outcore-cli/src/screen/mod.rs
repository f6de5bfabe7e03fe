//! The terminal: progress, results and errors; and the signals that end a job.

mod gauge;
pub(crate) mod print;
mod progress;
pub(crate) mod render;
mod signals;

pub use gauge::Gauge;
pub(crate) use progress::{Terminal, say, say_apart};
pub(crate) use signals::Signals;
