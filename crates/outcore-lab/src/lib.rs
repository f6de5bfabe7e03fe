//! The laboratory: the experiments on file I/O that programmers quote, repeated on the user's own disk.
//!
//! ```text
//!  experiment --methods--> rounds --samples--> report --> table (terminal), page (HTML), compare
//!                            |                    `-----> tune --> disk profile of the engine
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
pub mod chart;
pub mod compare;
mod engine;
pub mod environment;
pub mod experiments;
pub mod foreign;
mod laboratory;
pub mod meter;
pub mod page;
pub mod report;
pub mod rounds;
pub mod state;
pub mod statistics;
pub mod stored;
pub mod table;
pub mod tune;
mod workplace;

pub use laboratory::{LabOptions, run};
pub use workplace::Workplace;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// All experiments in less than 90 seconds.
    Quick,
    /// Enough for intervals: some minutes.
    Default,
    /// Files larger than caches, many rounds: some tens of minutes.
    Full,
}

/// A source of numbers that is the same everywhere (splitmix64; Steele, Lea, Flood, 2014).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(end)) >> 64) as u64
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}
