//! Methods and options of a clustering.

pub(crate) mod connected;
pub(crate) mod options;
pub(crate) mod table;
pub(crate) mod thresholds;
