//! Compressed text, in any number of pieces, is read like plain text. Damaged, it gives an error or a prefix of its
//! edges, never other edges and never a panic.
//!
//! The first byte chooses the format (`0` gzip, `1` zstd, `2` BGZF, `3` BGZF and gzip alternating), the second the
//! number of pieces, the third the number of damages, up to 3. Each damage takes four bytes: kind (cut off or flip),
//! place (two bytes) and bits. The rest is the text.

use flate2::{Compression, Crc, write::DeflateEncoder, write::GzEncoder};
use outcore::ErrorKind;
use outcore::input::{
    Batch, BatchMemory, Column, Delimiter, EdgeFormat, EdgeReader, Header, InputOptions, OnBadLine,
};
use outcore::io::Files;
use outcore_testkit::sim::Sim;
use std::io::Write;
use std::sync::Arc;

const IN_MEMORY: &str = "memory can be written";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect(IN_MEMORY);
    encoder.include_checksum(true).expect("the library supports checksums");
    encoder.write_all(text).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// Returns one block, without the empty block at the end of a file.
fn bgzf(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text).expect(IN_MEMORY);
    let data = encoder.finish().expect(IN_MEMORY);
    let mut crc = Crc::new();
    crc.update(text);
    let mut out = vec![0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0];
    out.extend((data.len() as u16 + 25).to_le_bytes());
    out.extend(&data);
    out.extend(crc.sum().to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out
}

/// Returns the names of all edges.
fn read(bytes: &[u8], chunk_bytes: usize) -> outcore::Result<Vec<Vec<u8>>> {
    let options = InputOptions {
        paths: vec!["edges".into()],
        delimiter: Some(Delimiter::Byte(b'\t')),
        columns: Some(vec![Column::Number(1), Column::Number(2)]),
        header: Header::No,
        // Names may hold carriage returns and zeros.
        format: EdgeFormat::Lines,
        on_bad_line: OnBadLine::Skip,
        ..InputOptions::default()
    };
    let sim = Sim::new();
    sim.put("edges", bytes);
    let files = Files::new(Arc::new(sim));
    let mut reader = EdgeReader::open(&files, &options, BatchMemory { chunk_bytes, chunks: 2 })?;
    let (mut batch, mut names) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            names.extend(chunk.names.iter().map(|name| chunk.name(name).to_vec()));
        }
    }
    reader.finish()?;
    Ok(names)
}

/// Compresses, damages and reads text as `bytes` specifies.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&[kind, pieces, damages], rest)) = bytes.split_first_chunk() else { return };
    let count = usize::from(damages) % 4;
    let Some((script, text)) = rest.split_at_checked(4 * count) else { return };
    // A fixed first line keeps detection at the beginning of a file out of the way.
    let text = [b"a\tb\n", &text[..text.len().min(40_000)]].concat();
    let piece_bytes = text.len().div_ceil(1 + usize::from(pieces) % 5);
    let mut packed = Vec::new();
    for (number, piece) in text.chunks(piece_bytes).enumerate() {
        packed.extend(match (kind % 4, number % 3) {
            (0, _) | (3, 1) => gzip(piece),
            (1, _) => zstd(piece),
            _ => bgzf(piece),
        });
    }
    if kind % 4 >= 2 {
        packed.extend(bgzf(b""));
    }
    let whole = packed.clone();
    for &[how, low, high, bits] in script.as_chunks::<4>().0 {
        let at = usize::from(u16::from_le_bytes([low, high])) % packed.len().max(1);
        match how % 4 {
            0 => packed.truncate(at),
            _ => packed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits),
        }
    }
    let expected = read(&text, 1 << 16).expect("its first line is an edge");
    for chunk_bytes in [1 << 16, 64] {
        match read(&packed, chunk_bytes) {
            Ok(found) if packed == whole => assert_eq!(found, expected),
            // The last line may be cut off anywhere.
            Ok(found) => {
                let is_text = !packed.starts_with(&whole[..whole.len().min(4)]);
                let kept = found.len().saturating_sub(2);
                assert!(is_text || expected.starts_with(&found[..kept]), "other edges");
            }
            Err(error) => {
                assert_ne!(packed, whole, "{error}");
                let kinds = [ErrorKind::BadCompression, ErrorKind::BadInput];
                assert!(kinds.contains(&error.kind()), "{error}");
            }
        }
    }
}
