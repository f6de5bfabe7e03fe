//! Runs the example.

#[path = "../examples/sort_file.rs"]
mod sort_file;

#[test]
fn the_example_sorts_a_file_larger_than_its_memory() {
    sort_file::main().unwrap();
}
