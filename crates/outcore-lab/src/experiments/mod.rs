//! The experiments, one a module: each gives its methods to [`crate::rounds`] and says what came out.

pub mod random_read;
pub mod sequential_write;
pub mod sort;
pub mod write_buffer;
mod written;
