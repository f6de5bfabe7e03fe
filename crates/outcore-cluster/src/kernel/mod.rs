//! Sweeps: blocks are read, nodes elect labels, moves are committed in order.

pub mod admission;
pub mod cache;
pub(crate) mod history;
pub mod holdings;
pub mod nodes;
pub mod objective;
pub(crate) mod propose;
pub mod seeding;
pub mod sweep;
pub(crate) mod votes;
