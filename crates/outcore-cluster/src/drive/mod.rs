//! Procedures and their costs: label propagation in memory and on disk, local moving on several levels, components.

pub(crate) mod components;
pub(crate) mod contract;
pub(crate) mod cost;
pub(crate) mod gather;
pub(crate) mod groups;
pub(crate) mod intervals;
pub(crate) mod job;
pub(crate) mod memory;
pub(crate) mod multilevel;
mod need;
pub(crate) mod propagate;
pub(crate) mod run;
mod separate;
pub(crate) mod start;
mod swept;
