//! What every part of the engine stands on: files, streams, checkpoints, errors, and the limits of a job.
//!
//! Every file is opened here, through one trait ([`Storage`]) that tests replace by a simulation. Nothing here knows
//! what the bytes mean.

pub mod budget;
pub mod checkpoint;
pub mod error;
mod io;
pub mod parallel;
pub mod progress;
pub mod units;

pub use error::{Error, ErrorKind, Place, Result};
pub use io::*;
