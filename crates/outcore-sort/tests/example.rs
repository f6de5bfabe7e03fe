//! Runs the example.
#![expect(clippy::unwrap_used, reason = "this is a test")]

#[path = "../examples/sort_file.rs"]
mod sort_file;

#[test]
fn the_example_sorts_a_file_larger_than_its_memory() {
    sort_file::main().unwrap();
}
