//! Shared parts of the experiments that write: removing, syncing and reading back the file.

use crate::random::Random;
use outcore::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

/// Returns a function that turns a failure into an error with the path.
pub(super) fn failed(verb: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| Error::io(verb, path, error)
}

/// Removes a file if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Makes the file durable; returns the seconds that it took.
pub(super) fn sync(path: &Path) -> Result<f64> {
    let start = Instant::now();
    let file = File::options().write(true).open(path).map_err(failed("open", path))?;
    file.sync_all().map_err(failed("sync", path))?;
    Ok(start.elapsed().as_secs_f64())
}

/// Sum over bytes that is independent of how they are cut into pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    sum: u64,
    word: u64,
    at: u32,
}

impl Sum {
    /// Adds bytes.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        while self.at > 0 && !bytes.is_empty() {
            self.byte(bytes[0]);
            bytes = &bytes[1..];
        }
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        for &byte in rest {
            self.byte(byte);
        }
    }

    fn byte(&mut self, byte: u8) {
        self.word |= u64::from(byte) << (8 * self.at);
        self.at += 1;
        if self.at == 8 {
            let word = std::mem::take(&mut self.word);
            self.at = 0;
            self.mix(word);
        }
    }

    fn mix(&mut self, word: u64) {
        self.sum = (self.sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    /// Returns the sum.
    pub(super) fn value(&self) -> u64 {
        let mut last = self.clone();
        last.mix(self.word ^ u64::from(self.at) << 56);
        last.sum
    }
}

/// Returns the sum of a whole file.
pub(super) fn sum_of(path: &Path) -> Result<u64> {
    let mut file = File::open(path).map_err(failed("open", path))?;
    let mut block = vec![0; 1 << 20];
    let mut sum = Sum::default();
    loop {
        let count = file.read(&mut block).map_err(failed("read", path))?;
        if count == 0 {
            return Ok(sum.value());
        }
        sum.add(&block[..count]);
    }
}

/// Returns the sum of a file's length and some of its pages; the choice of pages depends only on the length.
pub(super) fn sum_of_pages(path: &Path) -> Result<u64> {
    use std::os::unix::fs::FileExt;
    const PAGES: usize = 64;
    let file = File::open(path).map_err(failed("open", path))?;
    let bytes = file.metadata().map_err(failed("measure", path))?.len();
    let mut random = Random(bytes);
    let mut sum = Sum::default();
    sum.add(&bytes.to_le_bytes());
    let mut page = [0; 4096];
    for _ in 0..PAGES {
        let offset = random.below(bytes.div_ceil(4096).max(1)) * 4096;
        let count = (bytes - offset).min(4096) as usize;
        file.read_exact_at(&mut page[..count], offset).map_err(failed("read", path))?;
        sum.add(&page[..count]);
    }
    Ok(sum.value())
}
