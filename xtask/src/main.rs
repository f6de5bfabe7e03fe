//! Checks of this repository that no other tool makes: `cargo xtask tidy`, `cargo xtask licenses`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]
#![expect(clippy::disallowed_methods, reason = "the ban is for the engine")]

mod licenses;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
    let command = std::env::args().nth(1).unwrap_or_default();
    let (found, what) = match command.as_str() {
        "tidy" => (tidy::faults(root), "tidy"),
        "licenses" => (licenses::faults(root), "licenses"),
        _ => {
            eprintln!("Usage: cargo xtask tidy|licenses");
            return ExitCode::from(2);
        }
    };
    for fault in &found {
        eprintln!("{fault}");
    }
    if !found.is_empty() {
        eprintln!("{what}: {} faults", found.len());
        return ExitCode::FAILURE;
    }
    println!("{what}: no faults");
    ExitCode::SUCCESS
}
