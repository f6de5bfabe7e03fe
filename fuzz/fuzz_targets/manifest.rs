//! `cargo +nightly fuzz run manifest`. What must hold stands in `checks/manifest.rs`.
#![no_main]

#[path = "../checks/manifest.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
