//! Compressed files: damaged, truncated, compressed twice, or much larger than they look.

use super::{Case, Expected, FOUND, PLAIN, bad, finds};
use std::io::Write;
use std::path::Path;

#[derive(Clone, Copy, PartialEq)]
enum Packer {
    Gzip,
    Bgzf,
    Bzip2,
    Xz,
    Zstd,
}

const ALL: [(Packer, &str, &str); 5] = [
    (Packer::Gzip, "gzip", "edges.tsv.gz"),
    (Packer::Bgzf, "bgzip", "edges.tsv.bgz"),
    (Packer::Bzip2, "bzip2", "edges.tsv.bz2"),
    (Packer::Xz, "xz", "edges.tsv.xz"),
    (Packer::Zstd, "zstd", "edges.tsv.zst"),
];

impl Packer {
    fn pack(self, text: &[u8]) -> Vec<u8> {
        self.pack_times(text, 1)
    }

    /// Compresses a text repeated `times` times, without holding all of it in memory.
    fn pack_times(self, text: &[u8], times: usize) -> Vec<u8> {
        fn fill(mut into: impl Write, text: &[u8], times: usize) {
            (0..times).for_each(|_| into.write_all(text).unwrap());
        }
        match self {
            Self::Gzip => {
                let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
                fill(&mut to, text, times);
                to.finish().unwrap()
            }
            Self::Bgzf => bgzf(text, times, true),
            Self::Bzip2 => {
                let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(9));
                fill(&mut to, text, times);
                to.finish().unwrap()
            }
            Self::Xz => {
                let mut to = liblzma::write::XzEncoder::new(Vec::new(), 1);
                fill(&mut to, text, times);
                to.finish().unwrap()
            }
            Self::Zstd => {
                let mut to = zstd::Encoder::new(Vec::new(), 3).unwrap();
                to.include_checksum(true).unwrap();
                fill(&mut to, text, times);
                to.finish().unwrap()
            }
        }
    }
}

/// Returns the blocks that `bgzip` writes for a text, repeated `times` times, with or without the empty block at the
/// end.
fn bgzf(text: &[u8], times: usize, has_end: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let parts = text.chunks(32 << 10).filter(|part| !part.is_empty());
    let all = std::iter::repeat_n(parts, times).flatten();
    for part in all.chain(has_end.then_some(&b""[..])) {
        let level = flate2::Compression::new(6);
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), level);
        packer.write_all(part).unwrap();
        let data = packer.finish().unwrap();
        out.extend([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0]);
        out.extend((data.len() as u16 + 25).to_le_bytes());
        out.extend(&data);
        let mut sum = flate2::Crc::new();
        sum.update(part);
        out.extend(sum.sum().to_le_bytes());
        out.extend((part.len() as u32).to_le_bytes());
    }
    out
}

/// Returns enough edges for several blocks.
fn many() -> Vec<u8> {
    (0..20_000u32)
        .flat_map(|at| format!("n{at}\tn{}\t1\n", at * 7919 % 5003).into_bytes())
        .collect()
}

fn flipped(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes[at] ^= 1;
    bytes
}

/// Returns the cases that apply to every kind of compression.
fn of_each(packer: Packer, name: &str, file: &'static str) -> Vec<Case> {
    let case = |what: &str, bytes: Vec<u8>, expected: Expected| {
        Case::of(format!("{name}: {what}"), file, bytes, expected)
    };
    let made = |what: &str, text: &[u8], times, expected| {
        let text = text.to_vec();
        let make = move |directory: &Path| {
            std::fs::write(directory.join(file), packer.pack_times(&text, times)).unwrap();
        };
        Case::made(format!("{name}: {what}"), file, make, expected)
    };
    let damaged = |what: &str, bytes: Vec<u8>| case(what, bytes, bad("is damaged"));
    let (small, large) = (packer.pack(PLAIN.as_bytes()), many());
    let large = packer.pack(&large);
    let half = PLAIN.len() / 2;
    let parts = [packer.pack(&PLAIN.as_bytes()[..half]), packer.pack(&PLAIN.as_bytes()[half..])];
    let twice = |outer: Packer| outer.pack(&small);
    let empty = packer.pack(b"");
    let tail = || [&small[..], b"x\ty\t1\n"].concat();
    vec![
        case("whole", small.clone(), finds(FOUND)),
        case("several parts, cut within a line", parts.concat(), finds(FOUND)),
        case("empty part first", [&empty[..], &small].concat(), finds(FOUND)),
        case("empty", empty.clone(), bad("the input holds no edges")),
        damaged("cut in the middle", large[..large.len() / 2].to_vec()),
        damaged("cut by one byte", large[..large.len() - 1].to_vec()),
        damaged("cut after twelve bytes", large[..12].to_vec()),
        damaged("flipped in the middle", flipped(large.clone(), large.len() / 2)),
        damaged("flipped near the end", flipped(small.clone(), small.len() - 6)),
        damaged("text at the end", tail()),
        case("packed twice", twice(packer), bad("is compressed twice")),
        case("packed twice, with gzip outside", twice(Packer::Gzip), bad("is compressed twice")),
        case("page of HTML", packer.pack(b"<html>\n<body>\n"), bad("is an HTML page")),
        made("one line of 256 MiB", &[b'x'; 1 << 20], 256, bad("one long line")),
        made("a thousandfold", &b"a\tb\t1\n".repeat(1 << 10), 4 << 10, finds("a b")),
        Case::of(format!("{name}: named as text"), "edges.tsv", small.clone(), finds(FOUND)),
    ]
}

/// Returns a frame of zstd that asks for a window of 2 to this power.
fn window(exponent: u8) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, (exponent - 10) << 3];
    frame.extend(&((PLAIN.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(PLAIN.as_bytes());
    frame
}

fn xz_of(preset: u32) -> Vec<u8> {
    let mut to = liblzma::write::XzEncoder::new(Vec::new(), preset);
    to.write_all(PLAIN.as_bytes()).unwrap();
    to.finish().unwrap()
}

fn others() -> Vec<Case> {
    let of = |name: &str, file: &'static str, bytes: Vec<u8>, expected| {
        Case::of(name, file, bytes, expected)
    };
    let plain = PLAIN.as_bytes();
    let (gzip, bgzip) = (Packer::Gzip.pack(plain), bgzf(plain, 1, true));
    let zstd = Packer::Zstd.pack(plain);
    let mut named = vec![0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3];
    named.extend(b"\x1b[31mname\0");
    named.extend(&gzip[10..]);
    let too_little = |bytes: Vec<u8>, name: &str, file| {
        of(name, file, bytes, Expected::Refuses(4, "is too little memory for this input"))
    };
    let hole = {
        let mut bytes = bgzf(&many(), 1, true);
        let middle = bytes.len() / 2;
        bytes.drain(middle..middle + 100);
        bytes
    };
    vec![
        of("text named as gzip", "edges.tsv.gz", plain.to_vec(), finds(FOUND)),
        of("nothing named as gzip", "edges.tsv.gz", Vec::new(), bad("the input holds no edges")),
        of("HTML named as gzip", "edges.tsv.gz", b"<html>\n<p>\n".to_vec(), bad("is an HTML page")),
        of("gzip: zeros at the end", "edges.tsv.gz", [&gzip[..], &[0; 512]].concat(), finds(FOUND)),
        of("gzip: escapes in its name", "edges.tsv.gz", named, finds(FOUND)),
        of("gzip: first bytes", "edges.tsv.gz", gzip[..3].to_vec(), bad("is damaged")),
        of(
            "gzip: tables",
            "edges.csv.gz",
            Packer::Gzip.pack(b"PAR1xxxxPAR1"),
            bad("is Parquet, which is read from its end"),
        ),
        of("bgzip: no end", "edges.bgz", bgzf(&many(), 1, false), bad("without the end mark")),
        of("bgzip: a hole", "edges.bgz", hole, bad("is damaged")),
        of(
            "bgzip: gzip at the end",
            "edges.bgz",
            [&bgzip[..], &Packer::Gzip.pack(b"c\td\t1\n")].concat(),
            finds("a b c d e"),
        ),
        of("xz: zeros at the end", "edges.xz", [xz_of(1), vec![0; 512]].concat(), finds(FOUND)),
        too_little(xz_of(9), "xz: window of 64 MiB", "edges.xz"),
        of("xz: window of 256 KiB", "edges.xz", xz_of(0), finds(FOUND)),
        of("zstd: window of 8 MiB", "edges.zst", window(23), finds(FOUND)),
        too_little(window(28), "zstd: window of 256 MiB", "edges.zst"),
        too_little(window(31), "zstd: window of 2 GiB", "edges.zst"),
        of("zstd: window above the maximum", "edges.zst", window(40), bad("the maximum of zstd")),
        of(
            "zstd: larger window later",
            "edges.zst",
            [zstd.clone(), window(28)].concat(),
            Expected::Refuses(4, "a later part of"),
        ),
        of(
            "zstd: part to be skipped first",
            "edges.zst",
            [&b"\x50\x2A\x4D\x18\x04\0\0\0abcd"[..], &zstd].concat(),
            finds(FOUND),
        ),
        of(
            "zstd: claims of its length",
            "edges.zst",
            b"\x28\xB5\x2F\xFD\xE0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F".to_vec(),
            bad("the maximum of zstd"),
        ),
    ]
}

pub(super) fn all() -> Vec<Case> {
    let each = ALL.iter().flat_map(|&(packer, name, file)| of_each(packer, name, file));
    // For gzip itself, this is the same case as `packed twice`.
    each.filter(|case| case.name != "gzip: packed twice, with gzip outside")
        .chain(others())
        .collect()
}
