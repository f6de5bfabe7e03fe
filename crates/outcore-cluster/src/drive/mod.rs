//! Procedures and their costs: label propagation in memory and on disk, local moving on several levels, components.

pub(crate) mod components;
pub(crate) mod contract;
pub(crate) mod directed;
pub(crate) mod expected;
pub(crate) mod gather;
pub(crate) mod groups;
pub(crate) mod initial_labels;
pub(crate) mod intervals;
pub(crate) mod job;
mod kinds;
pub(crate) mod memory;
pub(crate) mod multilevel;
pub(crate) mod need;
mod nested;
pub(crate) mod propagate;
pub(crate) mod run;
mod separate;
mod swept;
