//! Pieces of a file that are a sample of it: its beginning, or places spread over it.

use crate::chunk::{Origin, PADDING, ParsedChunk};
use crate::decompress::Input;
use crate::source::FileSample;
use outcore_graph::ids::EdgeChunk;
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

/// Returns pieces from the beginning of a compressed file of `bytes`, and what they say about the complete file.
pub(crate) fn first_pieces(
    input: &mut Input,
    bytes: u64,
    pieces: u64,
) -> Result<(Vec<ParsedChunk>, FileSample)> {
    let mut text = vec![0; PIECE_BYTES * pieces.clamp(1, PIECES) as usize];
    let filled = input.fill(&mut text)?;
    let is_whole = filled < text.len();
    text.truncate(filled);
    // The decompressor has read ahead of the text, but at most its buffer.
    let ratio = filled as f64 / input.consumed().max(1) as f64;
    end_with_line(&mut text, is_whole);
    let text_bytes = if is_whole { text.len() as f64 } else { bytes as f64 * ratio };
    let (mut found, mut from) = (Vec::new(), 0);
    while from < text.len() {
        let last = (from + PIECE_BYTES).min(text.len()) - 1;
        let to = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at + 1);
        found.push(piece(text[from..to].to_vec(), from as u64));
        from = to;
    }
    Ok((found, FileSample { text_bytes, is_whole, is_spread: is_whole, ..FileSample::default() }))
}

/// Returns where one of several pieces of `length` begins: at a random place in its share of `all`, because equally
/// spaced pieces of a file that repeats itself would all be alike. Shares are at least as large as pieces. The first
/// piece is at the beginning.
pub(crate) fn place(piece: u64, pieces: u64, length: u64, all: u64) -> u64 {
    let share = all / pieces;
    let random = if piece == 0 { 0 } else { xxh3_64(&piece.to_le_bytes()) };
    piece * share + random % (share - length + 1)
}

/// Returns pieces spread over a plain file of `bytes`, or all of it if it is small.
pub(crate) fn spread_pieces(
    files: &Files,
    path: &Path,
    bytes: u64,
    pieces: u64,
) -> Result<(Vec<ParsedChunk>, FileSample)> {
    let file = files.open(path, Mode::Read)?;
    let is_whole = bytes <= pieces.max(1) * PIECE_BYTES as u64;
    let (count, length) = if is_whole { (1, bytes) } else { (pieces, PIECE_BYTES as u64) };
    let mut found = Vec::new();
    for at in 0..count {
        let mut start = place(at, count, length, bytes);
        let mut text = vec![0; length as usize];
        file.read_exact_at(start, &mut text)?;
        if start > 0 {
            // The text before the first line end is part of a line.
            let Some(at) = memchr::memchr(b'\n', &text) else { continue };
            text.drain(..=at);
            start += at as u64 + 1;
        }
        end_with_line(&mut text, is_whole);
        found.push(piece(text, start));
    }
    let text_bytes = bytes as f64;
    Ok((found, FileSample { text_bytes, is_whole, is_spread: true, ..FileSample::default() }))
}

/// Removes the last line, unless it ends the file.
fn end_with_line(text: &mut Vec<u8>, is_whole: bool) {
    if !is_whole {
        text.truncate(memchr::memrchr(b'\n', text).map_or(0, |at| at + 1));
    } else if text.last().is_some_and(|&byte| byte != b'\n') {
        text.push(b'\n');
    }
}

/// Returns a piece of text from byte `start` of a file.
fn piece(mut text: Vec<u8>, start: u64) -> ParsedChunk {
    let used = text.len();
    text.resize(used + PADDING, 0);
    let edges = EdgeChunk { text, ..EdgeChunk::default() };
    let origin = Origin { file: 0, byte: start, line: 1 };
    ParsedChunk { edges, used, origin, ..ParsedChunk::default() }
}
