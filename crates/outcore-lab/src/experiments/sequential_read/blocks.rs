//! File of the experiment, and the sum over it.
//!
//! The file is a sequence of 32-bit numbers: the number of blocks, then for each block its length, 512, and that many
//! random numbers. The sum adds the numbers at even places in their blocks and twice the numbers at odd places, modulo
//! 2^32. Since all blocks have the same length, the place of a number in the file determines its role, and parts of a
//! file can be summed in any order.

use crate::random::Random;
use crate::workplace::Workplace;
use outcore::io::Writer;
use outcore::{Error, Result};
use std::path::{Path, PathBuf};

/// Number of numbers in a block.
pub(super) const NUMBERS: usize = 512;
/// Bytes of a block: its length and its numbers.
pub(super) const BLOCK_BYTES: usize = WORD * (1 + NUMBERS);
/// Bytes of a number.
pub(super) const WORD: usize = 4;

/// Returns the bytes of a file of `blocks` blocks.
pub(super) fn file_bytes(blocks: u32) -> u64 {
    WORD as u64 + u64::from(blocks) * BLOCK_BYTES as u64
}

/// Writes the file.
///
/// # Errors
/// `DiskTooSmall`, `DiskFull`, `Io`; `Interrupted`.
pub(super) fn make(workplace: &Workplace<'_>, name: &str, blocks: u32) -> Result<PathBuf> {
    workplace.require(file_bytes(blocks))?;
    let path = workplace.path(name);
    let mut writer = Writer::create(workplace.files(), &path, 1 << 20, 4)?;
    let mut random = Random(workplace.seed ^ 2);
    writer.write(&blocks.to_le_bytes())?;
    let mut block = [0u8; BLOCK_BYTES];
    block[..WORD].copy_from_slice(&(NUMBERS as u32).to_le_bytes());
    for number in 0..blocks {
        if number % 1024 == 0 {
            workplace.detail("writing the file")?;
        }
        for pair in block[WORD..].chunks_exact_mut(2 * WORD) {
            pair.copy_from_slice(&random.word().to_le_bytes());
        }
        writer.write(&block)?;
    }
    writer.finish()?;
    Ok(path)
}

/// Running sum of a part of a file that arrives in pieces of any length.
#[derive(Debug, Default)]
pub(super) struct Summer {
    /// Place of the next number in the file.
    place: u64,
    /// Number of numbers seen.
    seen: u64,
    /// Beginning of a number that two pieces share.
    carry: [u8; WORD],
    carried: usize,
    even: u32,
    odd: u32,
    damaged: bool,
}

impl Summer {
    /// Starts a part that begins at `offset`, a multiple of four.
    pub(super) fn at(offset: u64) -> Self {
        Self { place: offset / WORD as u64, ..Self::default() }
    }

    /// Adds the next piece.
    #[inline]
    pub(super) fn feed(&mut self, mut piece: &[u8]) {
        if self.carried > 0 {
            let count = piece.len().min(WORD - self.carried);
            self.carry[self.carried..self.carried + count].copy_from_slice(&piece[..count]);
            self.carried += count;
            piece = &piece[count..];
            if self.carried < WORD {
                return;
            }
            self.carried = 0;
            let carry = self.carry;
            self.numbers(&carry);
        }
        let (whole, rest) = piece.split_at(piece.len() / WORD * WORD);
        self.numbers(whole);
        self.carry[..rest.len()].copy_from_slice(rest);
        self.carried = rest.len();
    }

    /// Adds whole numbers.
    #[inline]
    fn numbers(&mut self, mut bytes: &[u8]) {
        self.seen += (bytes.len() / WORD) as u64;
        while !bytes.is_empty() {
            // The first number of the file is the number of blocks: it is treated as the end of a block.
            let within = (self.place + NUMBERS as u64) as usize % (NUMBERS + 1);
            let count = if within == 0 {
                self.damaged |= number(bytes) != NUMBERS as u32;
                1
            } else if self.place == 0 {
                1
            } else {
                let count = (NUMBERS + 1 - within).min(bytes.len() / WORD);
                let (first, second) = sums(&bytes[..count * WORD]);
                let begins_even = within % 2 == 1;
                let (even, odd) = if begins_even { (first, second) } else { (second, first) };
                self.even = self.even.wrapping_add(even);
                self.odd = self.odd.wrapping_add(odd);
                count
            };
            self.place += count as u64;
            bytes = &bytes[count * WORD..];
        }
    }

    /// Adds the sum of another part.
    pub(super) fn merge(&mut self, other: &Self) {
        self.seen += other.seen;
        self.even = self.even.wrapping_add(other.even);
        self.odd = self.odd.wrapping_add(other.odd);
        self.damaged |= other.damaged || other.carried > 0;
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// `CorruptFile` if a part of the file was not seen, or a block has the wrong length.
    pub(super) fn finish(&self, path: &Path, blocks: u32) -> Result<u64> {
        let whole = self.carried == 0 && self.seen * WORD as u64 == file_bytes(blocks);
        if self.damaged || !whole {
            return Err(Error::corrupt(path, "its blocks are not those that were written"));
        }
        Ok(u64::from(self.even.wrapping_add(self.odd.wrapping_mul(2))))
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..WORD].try_into().expect("four bytes"))
}

/// Returns the sums of the numbers at even and at odd places in `bytes`.
#[inline]
fn sums(bytes: &[u8]) -> (u32, u32) {
    let mut lanes = [0u32; 16];
    let (rows, rest) = bytes.as_chunks::<64>();
    for row in rows {
        for (lane, bytes) in lanes.iter_mut().zip(row.as_chunks::<WORD>().0) {
            *lane = lane.wrapping_add(u32::from_le_bytes(*bytes));
        }
    }
    for (lane, bytes) in lanes.iter_mut().zip(rest.as_chunks::<WORD>().0) {
        *lane = lane.wrapping_add(u32::from_le_bytes(*bytes));
    }
    let of =
        |first: usize| lanes.iter().skip(first).step_by(2).fold(0, |a: u32, &b| a.wrapping_add(b));
    (of(0), of(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u32 = 5;

    fn file() -> (Vec<u8>, u64) {
        let mut random = Random(3);
        let mut bytes = BLOCKS.to_le_bytes().to_vec();
        let (mut even, mut odd) = (0u32, 0u32);
        for _ in 0..BLOCKS {
            bytes.extend((NUMBERS as u32).to_le_bytes());
            for place in 0..NUMBERS {
                let number = random.word() as u32;
                bytes.extend(number.to_le_bytes());
                let sum = if place % 2 == 0 { &mut even } else { &mut odd };
                *sum = sum.wrapping_add(number);
            }
        }
        (bytes, u64::from(even.wrapping_add(odd.wrapping_mul(2))))
    }

    #[test]
    fn the_sum_is_independent_of_how_the_file_is_cut() {
        let (bytes, sum) = file();
        assert_eq!(bytes.len() as u64, file_bytes(BLOCKS));
        let path = Path::new("x");
        for piece in [1, 2, 3, 4, 5, 7, 63, 64, 2047, 2052, 4096, 5000, bytes.len()] {
            let mut summer = Summer::default();
            bytes.chunks(piece).for_each(|piece| summer.feed(piece));
            assert_eq!(summer.finish(path, BLOCKS).unwrap(), sum, "pieces of {piece}");
            let mut whole = Summer::default();
            let piece = piece.next_multiple_of(WORD);
            for (index, bytes) in bytes.chunks(piece).enumerate().collect::<Vec<_>>().iter().rev() {
                let mut part = Summer::at((index * piece) as u64);
                part.feed(bytes);
                whole.merge(&part);
            }
            assert_eq!(whole.finish(path, BLOCKS).unwrap(), sum, "parts of {piece}");
        }
    }

    #[test]
    fn missing_and_damaged_blocks_are_detected() {
        let (mut bytes, _) = file();
        let check = |bytes: &[u8]| {
            let mut summer = Summer::default();
            summer.feed(bytes);
            summer.finish(Path::new("x"), BLOCKS)
        };
        assert!(check(&bytes[..bytes.len() - 4]).is_err());
        assert!(check(&bytes[..bytes.len() - 1]).is_err());
        bytes[4] ^= 1;
        assert!(check(&bytes).is_err());
    }
}
