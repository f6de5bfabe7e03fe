//! Shared basics: bits, hashes, a logarithm, sums by label and of arcs, parallel loops, and the progress of a clustering.

pub mod arcs;
pub mod bits;
pub mod hash;
pub mod logarithm;
pub mod pace;
pub mod parallel;
pub mod rows;
pub mod table;
