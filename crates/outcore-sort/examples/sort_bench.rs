//! Sorts random 16-byte records within a memory limit and checks the result, as `evals/sort` does with other sorters
//! too. Prints one line of JSON.
//!
//! `sort_bench --records 100000000 --memory 512MiB --dir DIR [--threads 2] [--seed 1]`
#![expect(clippy::print_stdout, reason = "a program")]

use outcore_io::units::parse_bytes;
use outcore_io::{Files, Scratch};
use outcore_sort::{Pair, Sorter};
use std::path::PathBuf;
use std::time::Instant;

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut records, mut memory, mut directory) = (1u64 << 20, 512 << 20, PathBuf::from("."));
    let (mut threads, mut seed) = (2usize, 1u64);
    let mut args = std::env::args().skip(1);
    while let (Some(flag), Some(value)) = (args.next(), args.next()) {
        match flag.as_str() {
            "--records" => records = value.parse()?,
            "--memory" => memory = parse_bytes(&value)?,
            "--dir" => directory = PathBuf::from(value),
            "--threads" => threads = value.parse()?,
            "--seed" => seed = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let files = Files::default();
    let scratch = Scratch::create(&files, &directory, "sort-bench")?;
    let start = Instant::now();
    let mut sorter = Sorter::<Pair>::new(&files, scratch.path(), memory, threads)?;
    let (mut state, mut sum_in) = (seed, 0u64);
    let mut left = records;
    while left > 0 {
        let count = left.min(16 << 10) as usize;
        for pair in sorter.space(count)? {
            *pair = Pair { key: splitmix(&mut state), value: splitmix(&mut state) };
            sum_in = sum_in.wrapping_add(pair.key ^ pair.value.rotate_left(32));
        }
        sorter.commit(count);
        left -= count as u64;
    }
    let formed = start.elapsed().as_secs_f64();
    let mut sorted = sorter.finish()?;
    let summary = sorted.summary();
    let (mut count, mut last, mut sum_out) = (0u64, 0u64, 0u64);
    while let Some(block) = sorted.next_block()? {
        for pair in block {
            assert!(pair.key >= last, "records are in order");
            last = pair.key;
            sum_out = sum_out.wrapping_add(pair.key ^ pair.value.rotate_left(32));
        }
        count += block.len() as u64;
    }
    assert_eq!((count, sum_out), (records, sum_in), "no record is lost or changed");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"records\":{records},\"seconds\":{seconds:.3},\"run_formation_seconds\":{formed:.3},\"runs\":{},\"fan_in\":{},\"passes\":{},\"checksum\":\"{sum_out:016x}\"}}",
        summary.run_count, summary.fan_in, summary.pass_count
    );
    Ok(())
}
