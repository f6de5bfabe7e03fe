//! The interfaces that are measured, as the C library and the kernel have them. The only module with
//! `unsafe` code: each call keeps to what its manual page asks for.

pub mod aio;
pub(crate) mod cache;
pub mod map;
pub mod memory;
pub(crate) mod print;
pub(crate) mod process;
pub mod stdio;
pub(crate) mod system;
pub mod unlocked;
pub mod uring;
