//! The R package's native half: runs the command's functions on a thread of their own, while R's thread receives events,
//! checks for interrupts and hands over data frames in parts. R converts arguments to those of the command, so that
//! options are defined only once. Users see `r/`.
//!
//! R is used only on R's own thread: here nothing calls back into R, so no error of R unwinds through these functions.

mod frame;
mod job;
mod results;

use savvy::{OwnedStringSexp, Sexp, StringSexp, savvy, savvy_err};

/// Counts what jobs allocate against their limits, but not what R allocates.
#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

/// Prepares the process. To be called once, when the package is loaded.
#[savvy]
fn prepare() -> savvy::Result<()> {
    // Otherwise the allocator would retain memory freed by threads that have ended.
    outcore::io::share_freed_memory();
    outcore::input::silence_decoders();
    Ok(())
}

/// Runs the command in this process, with its output to the terminal; returns its exit status.
#[savvy]
fn run(args: StringSexp) -> savvy::Result<Sexp> {
    let args = args.iter().map(std::ffi::OsString::from);
    savvy::OwnedIntegerSexp::try_from_scalar(i32::from(outcore_cli::status(args)))?.into()
}

/// Returns the options of a command, as in its `--help`, as JSON.
#[savvy]
fn options(command: &str) -> savvy::Result<Sexp> {
    let json = serde_json::to_string(&outcore_cli::surface::options(command));
    let json = json.map_err(|error| savvy_err!("{error}"))?;
    OwnedStringSexp::try_from_scalar(json)?.into()
}
