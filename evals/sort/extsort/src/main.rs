//! The sort eval's job done with the `extsort` crate: sort random records of 16 bytes within a memory limit, consume
//! them in order.
//!
//! ```text
//! extsort-sort --records N --memory-mib M --dir DIR [--seed S]
//! ```
//!
//! Prints one line of JSON: `{"seconds": .., "records": .., "checksum": ..}`. The time runs from the first record made
//! to the last one read back, as in the other programs of this eval. Fails when order, count or checksum is wrong.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use extsort::{ExternalSorter, Sortable};

const RECORD_BYTES: u64 = 16;
/// Held back from the limit for everything but the buffer of records.
const RESERVE_BYTES: u64 = 8 << 20;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    key: u64,
    value: u64,
}

impl Record {
    /// Added up over records, so that the sum does not depend on their order.
    fn digest(self) -> u64 {
        self.key.wrapping_mul(3).wrapping_add(self.value ^ (self.value >> 7))
    }
}

impl Sortable for Record {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        let mut bytes = [0; RECORD_BYTES as usize];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        writer.write_all(&bytes)
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        let mut key = [0; 8];
        let mut value = [0; 8];
        reader.read_exact(&mut key)?;
        reader.read_exact(&mut value)?;
        Ok(Self { key: u64::from_le_bytes(key), value: u64::from_le_bytes(value) })
    }
}

/// splitmix64 (Steele, Lea, Flood 2014; public domain reference by Vigna).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

struct Options {
    records: u64,
    memory_mib: u64,
    seed: u64,
    dir: PathBuf,
}

fn parse() -> Result<Options, String> {
    let (mut records, mut memory_mib, mut seed, mut dir) = (None, 512, 1, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{flag} {value}: {error}"));
        match flag.as_str() {
            "--records" => records = Some(number()?),
            "--memory-mib" => memory_mib = number()?,
            "--seed" => seed = number()?,
            "--dir" => dir = Some(PathBuf::from(&value)),
            _ => return Err(format!("unknown flag {flag}")),
        }
    }
    Ok(Options {
        records: records.ok_or("--records N is missing")?,
        memory_mib,
        seed,
        dir: dir.ok_or("--dir DIR is missing")?,
    })
}

fn run(options: Options) -> Result<String, String> {
    // The crate counts items, not bytes: fill the limit with one segment and a reserve.
    let segment = ((options.memory_mib << 20).saturating_sub(RESERVE_BYTES) / RECORD_BYTES).max(1);
    let start = Instant::now();
    let mut random = SplitMix64(options.seed);
    let mut pushed = 0u64;
    let records = (0..options.records).map(|_| {
        let record = Record { key: random.next(), value: random.next() };
        pushed = pushed.wrapping_add(record.digest());
        record
    });
    let sorted = ExternalSorter::new()
        .with_segment_size(segment as usize)
        .with_sort_dir(options.dir)
        .with_parallel_sort()
        .sort(records)
        .map_err(|error| error.to_string())?;

    let (mut count, mut checksum) = (0u64, 0u64);
    let mut previous = Record { key: 0, value: 0 };
    for record in sorted {
        let record = record.map_err(|error| error.to_string())?;
        if record < previous {
            return Err("records out of order".into());
        }
        previous = record;
        checksum = checksum.wrapping_add(record.digest());
        count += 1;
    }
    let seconds = start.elapsed().as_secs_f64();

    if count != options.records {
        return Err("records lost or gained".into());
    }
    if checksum != pushed {
        return Err("checksum differs".into());
    }
    Ok(format!("{{\"seconds\": {seconds:.6}, \"records\": {count}, \"checksum\": {checksum}}}"))
}

fn main() -> ExitCode {
    match parse().and_then(run) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("extsort-sort: {message}");
            ExitCode::FAILURE
        }
    }
}
