//! Bits, hashes, a logarithm, sums by label, threads, and how far a clustering is: what all rooms work with.

pub(crate) mod bits;
pub(crate) mod hash;
pub(crate) mod logarithm;
pub(crate) mod pace;
pub(crate) mod parallel;
pub(crate) mod table;
