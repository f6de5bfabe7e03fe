//! Measures nanoseconds per line: `cargo run --release --example parse_bench [lines] [threads] [files]`.
//!
//! If files are given, reads those, and the number of lines is only a divisor. Otherwise, generates edge lists of
//! several layouts in files (in the page cache) and reads them through the public interface with the given number of
//! threads. The best of seven rounds counts. CPU time, on Linux, is that of all threads: reading (copying from the page
//! cache) and parsing. The checksum keeps the work from being optimized away.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use outcore::input::{Batch, BatchMemory, EdgeReader, InputOptions};
use outcore::io::Files;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default| arguments.next().map_or(default, |text| text.parse::<usize>().expect("a number"));
    let (lines, threads) = (number(2_000_000), number(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    println!("{lines} lines, {threads} threads, best of 7");
    let mut has_files = false;
    for file in arguments {
        has_files = true;
        measure(&file, Path::new(&file), lines, &pool);
    }
    if has_files {
        return;
    }
    for (name, line) in LAYOUTS {
        let mut text = String::new();
        let mut state = 1u64;
        for _ in 0..lines {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            line(&mut text, (state >> 33) as u32, (state >> 13) as u32);
        }
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("edges");
        Files::default().write(&path, text.as_bytes()).expect("a file");
        measure(name, &path, lines, &pool);
    }
}

/// Reads a file seven times and prints the best.
fn measure(name: &str, path: &Path, lines: usize, pool: &rayon::ThreadPool) {
    let (mut seconds, mut cpu, mut checksum) = (f64::MAX, f64::MAX, 0);
    for _ in 0..7 {
        let before = cpu_seconds();
        let (wall, sum) = pool.install(|| round(path));
        seconds = seconds.min(wall);
        cpu = cpu.min(cpu_seconds() - before);
        checksum = sum;
    }
    let bytes = Files::default().entry(path).expect("a file").bytes;
    println!(
        "{name:28} {:6.1} ns/line {:6.1} ns/line CPU {:6.0} MB/s  checksum {checksum:016x}",
        seconds * 1e9 / lines as f64,
        cpu * 1e9 / lines as f64,
        bytes as f64 / seconds / 1e6,
    );
}

type Line = fn(&mut String, u32, u32);

const LAYOUTS: [(&str, Line); 9] = [
    ("tab, 9+10 letters, 0.541", |text, a, b| {
        let _ = writeln!(text, "P{:08}\tQ{:09}\t0.{:03}", a % 100_000_000, b, b % 1000);
    }),
    ("tab, integers, none", |text, a, b| {
        let _ = writeln!(text, "{}\t{}", a % 4_000_000, b % 4_000_000);
    }),
    ("tab, mixed lengths, 5 digits", |text, a, b| {
        let _ = writeln!(text, "g{}\tg{}\t{}.{}", a >> (b % 24), b >> (a % 24), a % 99, b % 999);
    }),
    ("tab, 9+10 letters, 16 digits", |text, a, b| {
        let _ = writeln!(text, "P{:08}\tQ{:09}\t{}", a % 100_000_000, b, f64::from(b) / 3e9);
    }),
    ("tab, 24 letters, 0.541", |text, a, b| {
        let _ = writeln!(text, "protein_P{a:015}\tprotein_Q{b:015}\t0.{:03}", b % 1000);
    }),
    ("BLAST, 12 columns", |text, a, b| {
        let _ = writeln!(
            text,
            "P{:08}\tQ{:09}\t{}.{}\t{}\t2\t0\t1\t{}\t7\t{}\t1e-{}\t{}",
            a % 100_000_000,
            b,
            b % 100,
            a % 1000,
            a % 999,
            b % 999,
            a % 777,
            b % 180,
            a % 2000,
        );
    }),
    ("comma, some quotes", |text, a, b| {
        let _ = writeln!(text, "\"P{:08}\",Q{:09},0.{:03}", a % 100_000_000, b, b % 1000);
    }),
    ("single spaces", |text, a, b| {
        let _ = writeln!(text, "{} {} 0.{:03}", a % 4_000_000, b % 4_000_000, b % 1000);
    }),
    ("runs of spaces", |text, a, b| {
        let _ = writeln!(text, "{}  {} 0.{:03}", a % 4_000_000, b % 4_000_000, b % 1000);
    }),
];

/// Returns the user and system time of the process, to 10 ms; 0 if there is no `/proc`.
fn cpu_seconds() -> f64 {
    let mut text = String::new();
    let Ok(mut stat) = Files::default().open_stream(Path::new("/proc/self/stat")) else {
        return 0.0;
    };
    stat.read_to_string(&mut text).expect("text");
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap_or(0.0) / 100.0).sum()
}

fn round(path: &Path) -> (f64, u64) {
    let files = Files::default();
    let options = InputOptions { paths: vec![path.into()], ..InputOptions::default() };
    let memory = BatchMemory { chunk_bytes: 256 << 10, chunks: 2 * rayon::current_num_threads() };
    let start = Instant::now();
    let mut reader = EdgeReader::open(&files, &options, memory).expect("edges");
    let mut batch = Batch::default();
    let mut checksum = 0u64;
    while reader.next_batch(&mut batch).expect("edges") {
        for chunk in &batch.chunks {
            let last = chunk.names.last().expect("edges");
            checksum = checksum
                .rotate_left(7)
                .wrapping_add(last.fingerprint.low ^ last.fingerprint.high)
                .wrapping_add(chunk.names.len() as u64)
                .wrapping_add(u64::from(chunk.weights.last().copied().unwrap_or(1)));
        }
    }
    (start.elapsed().as_secs_f64(), checksum)
}
