//! A sweep: blocks are read, nodes elect labels, moves are committed in order.

pub(crate) mod cache;
pub(crate) mod history;
pub(crate) mod nodes;
pub(crate) mod objective;
pub(crate) mod propose;
pub(crate) mod seeding;
pub(crate) mod sweep;
pub(crate) mod votes;
