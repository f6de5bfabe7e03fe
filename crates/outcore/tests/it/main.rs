//! Tests of the engine from outside, in one program: whole jobs, nearly all on the simulated storage.

mod common;
mod faults;
mod fuzz_corpus;
mod halfway;
mod job;
mod labels;
mod levels;
mod lists;
mod memory;
mod options;
mod report;
mod results;
mod resume;
mod tables;
mod understood;
mod weights;

/// The example is a test too: programs of their own would be linked anew.
#[path = "../../examples/sort_file.rs"]
mod sort_file;

#[test]
fn the_example_sorts_a_file_larger_than_its_memory() {
    sort_file::main().unwrap();
}

/// Tests see what the engine allocates.
#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;
