//! Checks of this repository that no other tool makes: `cargo xtask tidy`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]
#![expect(clippy::disallowed_methods, reason = "the ban is for the engine")]

mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
    let command = std::env::args().nth(1);
    if command.as_deref() != Some("tidy") {
        eprintln!("Usage: cargo xtask tidy");
        return ExitCode::from(2);
    }
    let found = tidy::faults(root);
    for fault in &found {
        eprintln!("{fault}");
    }
    if !found.is_empty() {
        eprintln!("tidy: {} faults", found.len());
        return ExitCode::FAILURE;
    }
    println!("tidy: no faults");
    ExitCode::SUCCESS
}
