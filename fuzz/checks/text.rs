//! Any lines with plain delimiters give the same edges and bad lines as a naive parser.
//!
//! The first byte selects columns and delimiter; the rest is the text. Of the characters that can begin a seed, `0`
//! selects tabs, `1` runs of spaces and `2` colons; `3` to `5` are the same with a weight in column 3, `6` to `8` with
//! one in column 4. A first line that is an edge keeps detection at the beginning of a file out of the way.

use outcore::graph::Weight;
use outcore::input::{
    Batch, BatchMemory, Column, Delimiter, EdgeFormat, EdgeReader, Header, InputOptions, OnBadLine,
};
use outcore::io::Files;
use outcore_testkit::sim::Sim;
use std::sync::Arc;

/// Source, target and the code of the weight.
type Edge = (Vec<u8>, Vec<u8>, u32);

/// Maximum length of the text; longer ones may have lines and names that are too long.
const TEXT_BYTES_MAX: usize = 60_000;

/// Returns the edges and the number of bad lines, by a naive parser.
fn naive(text: &[u8], delimiter: Delimiter, weight: Option<usize>) -> (Vec<Edge>, u64) {
    let (mut edges, mut bad) = (Vec::new(), 0);
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_blank =
            |&byte: &u8| (byte == b' ' || byte == b'\t') && Delimiter::Byte(byte) != delimiter;
        if line.iter().all(is_blank) || line.starts_with(b"#") {
            continue;
        }
        let fields: Vec<&[u8]> = match delimiter {
            Delimiter::Byte(delimiter) => line.split(|&byte| byte == delimiter).collect(),
            Delimiter::Spaces => {
                let words = line.split(|&byte| byte == b' ' || byte == b'\t');
                words.filter(|word| !word.is_empty()).collect()
            }
        };
        let code = match weight.map(|column| fields.get(column)) {
            None => Some(1),
            Some(field) => field.and_then(|field| weight_code(field)),
        };
        let names = [0, 1].map(|at| fields.get(at).map(|field| trimmed(field, delimiter)));
        match (names, code) {
            ([Some(source), Some(target)], Some(code))
                if !source.is_empty() && !target.is_empty() =>
            {
                edges.push((source, target, code));
            }
            _ => bad += 1,
        }
    }
    (edges, bad)
}

/// Removes the spaces around a name.
fn trimmed(field: &[u8], delimiter: Delimiter) -> Vec<u8> {
    let is_blank = |&&byte: &&u8| b" \t".contains(&byte) && Delimiter::Byte(byte) != delimiter;
    let from = field.iter().take_while(is_blank).count();
    let to = field.iter().rev().take_while(is_blank).count();
    field[from..field.len().saturating_sub(to).max(from)].to_vec()
}

fn weight_code(field: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(field.trim_ascii()).ok()?;
    let value: f64 = text.parse().ok()?;
    // A weight above 0 but too small for a number becomes the smallest number.
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_tiny = value == 0.0 && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    match value {
        _ if is_tiny && text.starts_with('-') => None,
        _ if is_tiny => Some(Weight::new(f64::from_bits(1)).code()),
        value if value >= 0.0 && value.is_finite() => {
            Some(if value == 0.0 { 0 } else { Weight::new(value).code() })
        }
        _ => None,
    }
}

fn read(text: &[u8], options: &InputOptions, memory: BatchMemory) -> (Vec<Edge>, u64) {
    let sim = Sim::new();
    sim.put("edges", text);
    let files = Files::new(Arc::new(sim));
    let mut reader = EdgeReader::open(&files, options, memory).expect("its first line is an edge");
    let (mut batch, mut edges) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch).expect("bad lines are skipped") {
        for chunk in &batch.chunks {
            for (index, names) in chunk.names.chunks_exact(2).enumerate() {
                let [source, target] = [0, 1].map(|end| chunk.name(&names[end]).to_vec());
                edges.push((source, target, chunk.weights.get(index).copied().unwrap_or(1)));
            }
        }
    }
    let summary = reader.finish().expect("there are no rejects to write");
    assert_eq!(summary.edges, edges.len() as u64);
    (edges, summary.skipped_lines)
}

/// Reads `bytes` in large and in tiny chunks.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&choice, rest)) = bytes.split_first() else { return };
    // Quotes and byte-order marks are tested apart.
    if rest.contains(&b'"') || rest.contains(&0xEF) {
        return;
    }
    let choice = usize::from(choice.wrapping_sub(b'0'));
    let delimiter = [Delimiter::Byte(b'\t'), Delimiter::Spaces, Delimiter::Byte(b':')][choice % 3];
    let weight = [None, Some(2), Some(3)][choice / 3 % 3];
    let between = if let Delimiter::Byte(byte) = delimiter { byte } else { b' ' };
    // Columns 1 to 4: two names and two weights.
    let mut text: Vec<u8> = [&b"a"[..], b"b", b"1", b"1"].join(&between);
    text.push(b'\n');
    text.extend(&rest[..rest.len().min(TEXT_BYTES_MAX)]);
    let columns = [Some(0), Some(1), weight].into_iter().flatten();
    let options = InputOptions {
        paths: vec!["edges".into()],
        delimiter: Some(delimiter),
        columns: Some(columns.map(|column| Column::Number(column as u32 + 1)).collect()),
        header: Header::No,
        comment: Some(b"#".to_vec()),
        // Names may hold carriage returns and zeros.
        format: EdgeFormat::Lines,
        on_bad_line: OnBadLine::Skip,
        ..InputOptions::default()
    };
    let expected = naive(&text, delimiter, weight);
    for memory in [
        BatchMemory { chunk_bytes: 1 << 16, chunks: 1 },
        BatchMemory { chunk_bytes: 32, chunks: 3 },
    ] {
        let found = read(&text, &options, memory);
        assert_eq!(found, expected, "{memory:?}");
    }
}
