//! What the modules for other languages share. Each language passes the command's arguments to
//! [`outcore_cli::surface`], so that options are defined only once, and adds its own syntax, objects and exceptions.
//!
//! [`relay`] runs a job on a thread of its own and hands its events to the thread of the call, [`facts`] describes an
//! error so that a language can raise its own, and [`results`] reads files of communities.

pub mod facts;
pub mod relay;
pub mod results;
