//! The measured interfaces of the C library and the kernel. The only module with `unsafe` code: each call follows the
//! requirements of its manual page.

pub mod aio;
pub(crate) mod cache;
pub(crate) mod direct;
pub mod map;
pub mod memory;
pub(crate) mod print;
pub(crate) mod process;
pub mod stdio;
pub(crate) mod system;
pub mod unlocked;
pub mod uring;
