//! Objects behind `s3://`, `https://` and `http://` as read-only files of the engine.
//!
//! ```text
//!  engine --positioned reads--> Remote --path of a file--> Disk
//!                                 |
//!                                 `--address of an object--> ahead: several requests for ranges in flight
//!                                                              `--> object --conditional GET of a range--> server
//! ```
//! An object is identified by its length, tag (ETag) and modification time at the first look. Every later request
//! carries these as a condition, and every response is compared with them, so bytes of two versions are never mixed:
//! a change is an error. The first look is a GET of the first byte, not a HEAD: it shows that the server sends ranges,
//! and a presigned address allows it.
//!
//! **Secrets stay in this crate.** `Remote::admit` takes an address as the user wrote it and returns the name that the
//! engine uses for the object, in messages, reports and manifests too: without user, password and query. Only admitted
//! objects are ever requested; for any other address there is no object.
//!
//! Memory: at most `HELD_BYTES` per open object, which the engine counts. Cost: a copy of each byte; requests of up to
//! 4 MiB, up to 5 MiB of them in flight for each place that is read. The library (`object_store`) repeats failed
//! requests with growing pauses, for seconds at the first look and for three minutes later; during any wait, `stop` is
//! checked 20 times a second.
//!
//! Without the feature `client`, the crate only distinguishes addresses from paths.

mod address;
#[cfg(feature = "client")]
mod ahead;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod failure;
#[cfg(feature = "client")]
mod object;
#[cfg(feature = "client")]
mod object_address;
#[cfg(feature = "client")]
mod remote;
#[cfg(feature = "client")]
mod waiting;

pub use address::{is_address, is_squeezed, shown};
#[cfg(feature = "client")]
pub use ahead::HELD_BYTES;
#[cfg(feature = "client")]
pub use remote::Remote;
