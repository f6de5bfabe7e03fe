//! Checks of this repository that no other tool does: `cargo xtask tidy`, `cargo xtask api`; `cargo xtask budget` lists what
//! has a budget.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]
#![expect(clippy::disallowed_methods, reason = "the ban is for the engine")]

mod api;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let found = match arguments[..] {
        ["tidy"] => tidy::faults(root),
        ["budget"] => {
            tidy::budget::list(root).iter().for_each(|line| println!("{line}"));
            return ExitCode::SUCCESS;
        }
        ["api"] => api::faults(root),
        ["api", "--write"] => api::write(root),
        _ => {
            eprintln!("Usage: cargo xtask tidy | budget | api [--write]");
            return ExitCode::from(2);
        }
    };
    for fault in &found {
        eprintln!("{fault}");
    }
    if !found.is_empty() {
        eprintln!("{}: {} faults", arguments[0], found.len());
        return ExitCode::FAILURE;
    }
    println!("{}: no faults", arguments[0]);
    ExitCode::SUCCESS
}
