//! Conversion of labels to communities: connected pieces, final numbers, measures.

pub(crate) mod closing;
pub(crate) mod communities;
pub mod connect;
pub(crate) mod cuts;
pub(crate) mod measures;
pub(crate) mod number;
pub mod portions;
pub(crate) mod stability;
pub(crate) mod tree;
pub(crate) mod windows;
