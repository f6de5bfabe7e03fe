//! Objects behind `s3://`, `https://` and `http://` as files of the engine, to be read and never written.
//!
//! ```text
//!  engine --positioned reads--> Remote --path is a file's--> Disk
//!                                 |
//!                                 `--an object's--> ahead: ranges on their way, several at a time, in order
//!                                                     `--> object --conditional GET of a range--> server
//! ```
//! An object is known by length, tag (ETag) and time of the last change as they are when it is first looked at.
//! Every later request carries these as a condition and every answer is compared with them, so bytes of two
//! contents never meet: a change is an error. The look is a GET of the first byte, not a HEAD: it shows that the
//! server sends ranges, and it is what a presigned address allows.
//!
//! **Secrets stay here.** `Remote::admit` takes an address as the user wrote it and gives the name by which
//! the engine, its messages, reports and manifests know the object: without user, password and query. Only
//! what was admitted is ever asked for; to everything else that looks like an address nothing is there.
//!
//! Memory: at most `HELD_BYTES` for an open object, which the engine counts. Cost: a copy of each byte; a
//! request for up to 4 MiB, up to 5 MiB of them on their way for each place that is read. Failed requests are
//! repeated with growing pauses by the library (`object_store`), for seconds at the first look and for three
//! minutes later; while anybody waits, `stop` is asked 20 times a second.
//!
//! Without the feature `client`, the crate only tells addresses from paths.

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
