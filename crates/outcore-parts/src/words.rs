//! Arrays of 32-bit numbers as bytes: their count in 8 bytes, then the numbers, little-endian.

use super::damaged;
use outcore::Result;

/// What one part tells another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The part that tells it; of what is sent, the part it is for.
    pub part: u32,
    /// What is told.
    pub bytes: Vec<u8>,
}

/// Appends an array.
pub(super) fn put(words: &[u32], out: &mut Vec<u8>) {
    put_bytes(&bytes_of(words), out);
}

/// Appends a length and so many bytes.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Numbers as bytes that are nothing else.
pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Numbers from bytes that are nothing else.
///
/// # Errors
/// `CorruptFile` if they are no whole numbers.
pub fn numbers_of(bytes: &[u8]) -> Result<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(damaged("numbers are cut off"));
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Pairs of 64-bit numbers from bytes that are nothing else.
pub(super) fn pairs_of_f64(bytes: &[u8]) -> Result<Vec<[f64; 2]>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let (pairs, odd) = numbers.as_chunks::<2>();
    if !rest.is_empty() || !odd.is_empty() {
        return Err(damaged("sums are cut off"));
    }
    Ok(pairs.iter().map(|pair| pair.map(f64::from_le_bytes)).collect())
}

/// Reads arrays in their order.
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let cut_off = || damaged("it is cut off");
        let (count, rest) = self.0.split_first_chunk::<8>().ok_or_else(cut_off)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| cut_off())?;
        let (bytes, rest) = rest.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn next(&mut self) -> Result<Vec<u32>> {
        numbers_of(self.bytes()?)
    }

    /// An array of so many numbers.
    pub(super) fn exactly(&mut self, count: usize) -> Result<Vec<u32>> {
        let words = self.next()?;
        if words.len() == count { Ok(words) } else { Err(damaged("its length is wrong")) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
