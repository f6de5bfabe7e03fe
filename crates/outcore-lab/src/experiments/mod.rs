//! The experiments, one a module: each gives its methods to [`crate::rounds`] and says what came out.

pub mod positions;
pub mod random_read;
pub mod random_update;
