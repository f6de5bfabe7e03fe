//! Checks of the fuzz targets without a fuzzer, on their corpora and on mutations of these.
//!
//! `CONTRIBUTING.md` describes how to find more inputs.
#![expect(clippy::disallowed_methods, reason = "a check from outside")]
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "../../../../fuzz/checks/bounded.rs"]
mod bounded;
#[path = "../../../../fuzz/checks/compressed.rs"]
mod compressed;
#[path = "../../../../fuzz/checks/graph.rs"]
mod graph;
#[path = "../../../../fuzz/checks/input.rs"]
mod input;
#[path = "../../../../fuzz/checks/manifest.rs"]
mod manifest;
#[path = "../../../../fuzz/checks/profile.rs"]
mod profile;
#[path = "../../../../fuzz/checks/table.rs"]
mod table;
#[path = "../../../../fuzz/checks/text.rs"]
mod text;

use std::path::Path;

/// Pieces of text with a special meaning.
const PIECES: [&[u8]; 16] = [
    b"\t",
    b",",
    b" ",
    b"\n",
    b"\r\n",
    b"\"",
    b"#",
    b"%",
    b"-",
    b".",
    b"e",
    b"0",
    b"inf",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
];

struct Seed {
    name: String,
    bytes: Vec<u8>,
}

/// Returns the corpus of `target`, sorted by name.
fn corpus(target: &str) -> Vec<Seed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut seeds: Vec<_> = entries
        .map(|entry| Seed {
            name: entry.file_name().to_string_lossy().into_owned(),
            bytes: std::fs::read(entry.path()).unwrap(),
        })
        .collect();
    seeds.sort_by(|a, b| a.name.cmp(&b.name));
    seeds
}

/// Guard that prints the bytes if the check panics.
struct Blame<'a>(&'a str, &'a [u8]);

impl Drop for Blame<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with `{}`, as is or changed to: {}", self.0, self.1.escape_ascii());
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((value ^ value >> 31) % end.max(1) as u64) as usize
    }

    /// Changes `bytes` in one place, perhaps with a part of `other`.
    fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(16)).min(bytes.len());
        match self.below(8) {
            0 | 1 if at < end => bytes[at] ^= 1 << self.below(8),
            2 if at < end => bytes[at] = self.below(256) as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            6 => drop(bytes.splice(at..end, other.iter().copied().skip(self.below(other.len())))),
            _ => drop(bytes.splice(at..at, PIECES[self.below(PIECES.len())].iter().copied())),
        }
    }
}

/// Checks each seed, and `count` mutations of it.
fn replay(target: &str, count: usize, check: fn(&[u8])) {
    let seeds = corpus(target);
    assert!(seeds.len() > 20, "{} seeds for {target}", seeds.len());
    let mut random = Random(1);
    for seed in &seeds {
        let reported = Blame(&seed.name, &seed.bytes);
        bounded::run(check, &seed.bytes);
        drop(reported);
        for _ in (0..count).step_by(outcore_testkit::one_of::<u16>(3).into()) {
            let mut bytes = seed.bytes.clone();
            for _ in 0..=random.below(4) {
                let other = random.below(seeds.len());
                random.mutate(&mut bytes, &seeds[other].bytes);
            }
            let _blame = Blame(&seed.name, &bytes);
            bounded::run(check, &bytes);
        }
    }
}

#[test]
fn any_input_gives_the_same_result_in_large_and_in_tiny_chunks() {
    replay("input", 60, input::check);
}

#[test]
fn any_damage_to_a_graph_is_detected_without_a_panic() {
    replay("graph", 100, graph::check);
}

#[test]
fn any_lines_give_the_same_edges_as_a_naive_parser() {
    replay("text", 100, text::check);
}

#[test]
fn compressed_text_gives_the_text_or_an_error() {
    replay("compressed", 60, compressed::check);
}

#[test]
fn any_manifest_lets_the_next_job_succeed_or_is_refused() {
    replay("manifest", 10, manifest::check);
}

#[test]
fn any_table_and_any_list_gives_edges_or_an_error() {
    outcore::input::silence_decoders();
    replay("table", 60, table::check);
}

#[test]
fn any_profile_has_valid_settings_or_is_refused() {
    replay("profile", 200, profile::check);
}
