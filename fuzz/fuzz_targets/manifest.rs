//! `cargo +nightly fuzz run manifest`. The check is in `checks/manifest.rs`.
#![no_main]

#[path = "../checks/manifest.rs"]
mod check;
#[path = "../checks/bounded.rs"]
mod bounded;

#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded::run(check::check, bytes));
