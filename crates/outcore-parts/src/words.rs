//! Arrays of 32-bit numbers as bytes: their count in 8 bytes, then the numbers, little-endian.

use super::damaged;
use outcore_io::Result;

/// Message from one part to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Sender of a received message; recipient of a message to be sent.
    pub part: u32,
    /// Content of the message.
    pub bytes: Vec<u8>,
}

/// Appends an array.
pub(super) fn put(words: &[u32], out: &mut Vec<u8>) {
    put_bytes(&bytes_of(words), out);
}

/// Appends the length of `bytes`, then `bytes`.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Returns numbers as bytes, without their count.
pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Reads numbers from bytes without a count.
///
/// # Errors
/// `CorruptFile` if the last number is incomplete.
pub fn numbers_of(bytes: &[u8]) -> Result<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(damaged("numbers are truncated"));
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Reads pairs of 64-bit floating-point numbers from bytes without a count.
pub(super) fn pairs_of_f64(bytes: &[u8]) -> Result<Vec<[f64; 2]>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let (pairs, odd) = numbers.as_chunks::<2>();
    if !rest.is_empty() || !odd.is_empty() {
        return Err(damaged("sums are truncated"));
    }
    Ok(pairs.iter().map(|pair| pair.map(f64::from_le_bytes)).collect())
}

/// Reader of consecutive arrays.
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let truncated = || damaged("it is truncated");
        let (count, rest) = self.0.split_first_chunk::<8>().ok_or_else(truncated)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| truncated())?;
        let (bytes, rest) = rest.split_at_checked(count).ok_or_else(truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn next(&mut self) -> Result<Vec<u32>> {
        numbers_of(self.bytes()?)
    }

    /// Reads an array of exactly `count` numbers.
    pub(super) fn exactly(&mut self, count: usize) -> Result<Vec<u32>> {
        let words = self.next()?;
        if words.len() == count { Ok(words) } else { Err(damaged("its length is wrong")) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
