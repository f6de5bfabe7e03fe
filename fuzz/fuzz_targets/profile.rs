//! `cargo +nightly fuzz run profile`. The check is in `checks/profile.rs`.
#![no_main]

#[path = "../checks/profile.rs"]
mod check;
#[path = "../checks/bounded.rs"]
mod bounded;

#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded::run(check::check, bytes));
