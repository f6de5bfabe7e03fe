//! `cargo +nightly fuzz run table -- -detect_leaks=0`: the thread that reads a file may briefly outlive its reader. The
//! check is in `checks/table.rs`. Panics of libraries on damaged data are caught and become errors, so only panics of
//! the engine end the search.
#![no_main]

#[path = "../checks/table.rs"]
mod check;
#[path = "../checks/bounded.rs"]
mod bounded;

#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

libfuzzer_sys::fuzz_target!(
    init: outcore::input::silence_decoders(),
    |bytes: &[u8]| bounded::run(check::check, bytes)
);
