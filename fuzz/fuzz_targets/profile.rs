//! `cargo +nightly fuzz run profile`. What must hold stands in `checks/profile.rs`.
#![no_main]

#[path = "../checks/profile.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
