//! The `outcore` command.
fn main() {}
