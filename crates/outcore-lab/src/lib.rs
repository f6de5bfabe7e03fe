//! The laboratory: the experiments on file I/O that programmers quote, repeated on the user's own disk.
//!
//! ```text
//!  experiment --methods--> rounds --rows--> report --> table (terminal), page (HTML), compare
//!                            |                 `-----> tune --> disk profile of the engine
//!                          state, meter
//! ```
//! An experiment is a list of methods that do the same work. `rounds` runs them in random order,
//! round by round, each from a file state that is proved (`state`), and measures what the operating
//! system tells about each run (`meter`). What a row may say is decided by `statistics`. Beside the
//! engine's `io`, this crate alone knows the operating system; `unsafe` code stands in `api` only.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what is measured here are the doors to files themselves"
)]

pub mod api;
mod engine;
pub mod environment;
pub mod experiments;
pub mod foreign;
mod laboratory;
pub mod meter;
mod random;
pub mod report;
pub mod rounds;
pub mod row;
pub mod state;
pub mod statistics;
pub mod tune;
mod workplace;

pub use laboratory::{LabOptions, run};
pub use random::Random;
pub use workplace::{Effort, Workplace};
