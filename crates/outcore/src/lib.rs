//! Finds communities in graphs larger than memory, inside a memory limit, by sequential I/O only.
//!
//! ```text
//!  files, stdin        work directory                                              file, stdout
//!    bytes --input--> edges --ids--> arcs --sort--> runs --merge--> graph --cluster--> labels --output--> communities
//!                       |                                             |
//!                       `--> rejects                                  `--> score
//!  plan: sizes every arrow          io: carries every arrow
//! ```
//!
//! A module imports only from those to its left:
//! `error units budget | io | pack weight | progress | checkpoint | sort | input | ids | graph | membership | cluster score | output generate | present | plan | job`.
//! The engine never prints, never reads the environment, and never exits.

#![cfg_attr(
    not(feature = "tables"),
    expect(dead_code, reason = "what only tables need is left in place")
)]

pub mod budget;
mod checkpoint;
pub mod cluster;
pub mod error;
pub mod generate;
pub mod graph;
pub mod ids;
pub mod input;
pub mod io;
pub mod job;
pub mod membership;
pub mod output;
pub mod pack;
pub mod plan;
pub mod present;
pub mod progress;
pub mod score;
pub mod sort;
pub mod units;
pub mod weight;

pub use error::{Error, ErrorKind, Result};
