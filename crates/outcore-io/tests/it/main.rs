//! Guarantees of files, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod array;
mod checkpoint;
mod stream;
