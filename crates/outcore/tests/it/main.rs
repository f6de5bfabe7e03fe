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
mod report;
mod results;
mod resume;
mod tables;
mod understood;
mod weights;

/// Tests see what the engine allocates.
#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;
