//! The laboratory: well-known experiments on file I/O, repeated on the user's own disk.
//!
//! ```text
//!  experiment --methods--> rounds --rows--> report --> table (terminal), page (HTML), compare
//!                            |       |
//!                     state, meter   statistics, claims        tune --> disk profile of the engine
//! ```
//! An experiment is a list of methods that do the same work. `rounds` runs them in random order, round by round, each
//! from a verified file state (`state`), and records what the operating system reports about each run (`meter`).
//! `statistics` decides which rows differ, and `claims` which well-known claims hold here. Apart from the engine's
//! `io`, only this crate depends on the operating system; `unsafe` code is confined to `api`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the interfaces to files themselves are measured here"
)]

pub mod api;
pub mod claims;
pub mod counters;
mod engine;
pub mod environment;
pub mod experiments;
pub mod foreign;
mod laboratory;
pub mod meter;
mod number;
mod random;
pub mod report;
pub mod rounds;
pub mod row;
pub mod state;
pub mod statistics;
pub mod times;
pub mod tune;
mod workplace;

pub use laboratory::{LabOptions, run};
pub use random::Random;
pub use workplace::{Effort, Workplace};
