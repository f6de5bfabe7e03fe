//! `cargo +nightly fuzz run compressed -- -detect_leaks=0`: the thread that reads a file may briefly outlive its
//! reader. The check is in `checks/compressed.rs`.
#![no_main]

#[path = "../checks/compressed.rs"]
mod check;
#[path = "../checks/bounded.rs"]
mod bounded;

#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded::run(check::check, bytes));
