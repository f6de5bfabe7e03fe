//! Bits, hashes, a logarithm, sums by label, threads, and how far a clustering is: what all rooms work with.

pub mod bits;
pub mod hash;
pub mod logarithm;
pub mod pace;
pub mod parallel;
pub mod table;
