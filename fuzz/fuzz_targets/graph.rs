//! `cargo +nightly fuzz run graph`. The check is in `checks/graph.rs`.
#![no_main]

#[path = "../checks/graph.rs"]
mod check;
#[path = "../checks/bounded.rs"]
mod bounded;

#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded::run(check::check, bytes));
