//! Compressed text for tests, in one piece or several.

use std::io::Write;

pub(crate) fn gzip(parts: &[&[u8]]) -> Vec<u8> {
    let pack = |part: &&[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    parts.iter().flat_map(pack).collect()
}

pub(crate) fn zstd(parts: &[&[u8]]) -> Vec<u8> {
    let pack = |part: &&[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    parts.iter().flat_map(pack).collect()
}

pub(crate) fn bzip2(parts: &[&[u8]]) -> Vec<u8> {
    let pack = |part: &&[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(9));
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    parts.iter().flat_map(pack).collect()
}

pub(crate) fn xz(parts: &[&[u8]]) -> Vec<u8> {
    let pack = |part: &&[u8]| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    parts.iter().flat_map(pack).collect()
}

/// Compresses `text` in blocks of `block` bytes like `bgzip`, with the empty block at the end.
pub(crate) fn bgzf(text: &[u8], block: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.chunks(block).chain([&b""[..]]) {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(part).unwrap();
        let data = encoder.finish().unwrap();
        out.extend([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0]);
        out.extend((data.len() as u16 + 25).to_le_bytes());
        out.extend(&data);
        let mut crc = flate2::Crc::new();
        crc.update(part);
        out.extend(crc.sum().to_le_bytes());
        out.extend((part.len() as u32).to_le_bytes());
    }
    out
}
