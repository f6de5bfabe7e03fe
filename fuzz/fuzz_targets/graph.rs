//! `cargo +nightly fuzz run graph`. What must hold stands in `checks/graph.rs`.
#![no_main]

#[path = "../checks/graph.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
