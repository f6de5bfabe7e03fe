//! Integration tests of the engine in one program: whole jobs, nearly all on the simulated storage.

mod append;
mod columns;
mod common;
mod communities;
mod compare;
mod entities;
mod export;
mod faults;
mod flow_tree;
mod formats;
mod fuzz_corpus;
mod halfway;
mod infomap;
mod job;
mod kinds;
mod labels;
mod levels;
mod lists;
mod memory;
mod options;
mod report;
mod results;
mod resume;
mod round_trip;
mod several;
mod summary;
mod tables;
mod understood;
mod weights;

/// Allocator that lets tests measure what the engine allocates.
#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;
