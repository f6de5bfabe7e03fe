//! Pieces of a file that are a sample of it: its beginning, or places spread over it.

use crate::decompress::Input;
use outcore_io::error::Result;
use outcore_io::{Files, Mode};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of text in one piece.
pub(crate) const PIECE_BYTES: usize = 256 << 10;
/// Rows of a table in one piece.
pub(crate) const PIECE_ROWS: u64 = 8192;
/// Number of pieces of all files together, which limits the sample to 4 MiB.
pub(crate) const PIECES: u64 = 16;

/// Piece of text that ends with a line end, and its start in the file.
pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    pub(crate) start: u64,
}

/// Returns the first text of a compressed file and the ratio of text to compressed bytes; `None` if that is the
/// complete text.
pub(crate) fn first_piece(input: &mut Input, pieces: u64) -> Result<(Vec<Piece>, Option<f64>)> {
    let mut text = vec![0; PIECE_BYTES * pieces.clamp(1, PIECES) as usize];
    let filled = input.fill(&mut text)?;
    let is_whole = filled < text.len();
    text.truncate(filled);
    // The decompressor has read ahead of the text, but at most its buffer.
    let ratio = filled as f64 / input.consumed().max(1) as f64;
    let Piece { mut text, mut start } = whole_lines(text, 0, is_whole);
    let mut found = Vec::new();
    while !text.is_empty() {
        let end = memchr::memchr(b'\n', &text[text.len().min(PIECE_BYTES) - 1..]);
        let end = end.map_or(text.len(), |end| end + text.len().min(PIECE_BYTES));
        let rest = text.split_off(end);
        let next = start + text.len() as u64;
        found.push(Piece { text: std::mem::replace(&mut text, rest), start });
        start = next;
    }
    Ok((found, (!is_whole).then_some(ratio)))
}

/// Returns where one of several pieces of `length` begins: at a random place in its share of `all`, because equally
/// spaced pieces of a file that repeats itself would all be alike. Shares are at least as large as pieces. The first
/// piece is at the beginning.
pub(crate) fn place(piece: u64, pieces: u64, length: u64, all: u64) -> u64 {
    let share = all / pieces;
    let random = if piece == 0 { 0 } else { xxh3_64(&piece.to_le_bytes()) };
    piece * share + random % (share - length + 1)
}

/// Returns pieces spread over a plain file, and whether they are the complete file.
pub(crate) fn spread_pieces(
    files: &Files,
    path: &Path,
    bytes: u64,
    pieces: u64,
) -> Result<(Vec<Piece>, bool)> {
    let file = files.open(path, Mode::Read)?;
    if bytes <= pieces.max(1) * PIECE_BYTES as u64 {
        let mut text = vec![0; bytes as usize];
        file.read_exact_at(0, &mut text)?;
        return Ok((vec![whole_lines(text, 0, true)], true));
    }
    let mut found = Vec::new();
    for piece in 0..pieces {
        let offset = place(piece, pieces, PIECE_BYTES as u64, bytes);
        let mut text = vec![0; PIECE_BYTES];
        file.read_exact_at(offset, &mut text)?;
        if offset == 0 {
            found.push(whole_lines(text, 0, false));
        } else if let Some(at) = memchr::memchr(b'\n', &text) {
            // The text before the first line end is part of a line.
            text.drain(..=at);
            found.push(whole_lines(text, offset + at as u64 + 1, false));
        }
    }
    Ok((found, pieces == 0 && bytes == 0))
}

/// Removes the last line, unless it ends the file.
fn whole_lines(mut text: Vec<u8>, start: u64, is_whole: bool) -> Piece {
    if !is_whole {
        text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1));
    } else if text.last().is_some_and(|&byte| byte != b'\n') {
        text.push(b'\n');
    }
    Piece { text, start }
}
