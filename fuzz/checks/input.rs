//! Any bytes give the same edges, the same counts and the same first error when read with large and with tiny chunks,
//! and never a panic.
//!
//! The first byte selects options; the rest is the file, text or compressed. Of the characters that can begin a seed,
//! `0` detects the delimiter, `1` selects spaces and `2` commas; `` ` ``, `a` and `b` do the same, but skip bad lines.
//! `3` to `;` repeat `0` to `2` three times, with logarithms, logarithms of E-values, and reciprocals of the weights.

use outcore::input::{
    Batch, BatchMemory, Column, Delimiter, EdgeReader, Fingerprint, InputOptions, OnBadLine,
    WeightTransform,
};
use outcore::io::Files;
use outcore_testkit::sim::Sim;
use std::sync::Arc;

type Outcome = Result<(Vec<(Vec<u8>, u32)>, String), String>;

fn read(bytes: &[u8], options: &InputOptions, memory: BatchMemory) -> Outcome {
    let sim = Sim::new();
    sim.put("edges", bytes);
    let files = Files::new(Arc::new(sim));
    let reported = |error: outcore::Error| format!("{error} {:?}", error.notes());
    let mut reader = EdgeReader::open(&files, options, memory).map_err(reported)?;
    let (mut batch, mut names) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch).map_err(reported)? {
        for chunk in &batch.chunks {
            let ends = if chunk.is_node_list { chunk.names.len() } else { 2 * chunk.edge_count() };
            assert_eq!(chunk.names.len(), ends);
            for (index, name) in chunk.names.iter().enumerate() {
                assert_eq!(name.fingerprint, Fingerprint::of(chunk.name(name)));
                let weight = chunk.weights.get(index / 2).copied().unwrap_or(1);
                names.push((chunk.name(name).to_vec(), weight));
            }
        }
    }
    let summary = reader.finish().map_err(reported)?;
    Ok((names, format!("{summary:?}")))
}

/// Reads `bytes` with large and with tiny chunks.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let delimiters = [None, Some(Delimiter::Spaces), Some(Delimiter::Byte(b','))];
    let transforms = [
        WeightTransform::None,
        WeightTransform::Log,
        WeightTransform::NegLog10,
        WeightTransform::Reciprocal,
    ];
    let swapped = vec![Column::Number(2), Column::Number(1)];
    let options = InputOptions {
        paths: vec!["edges".into()],
        delimiter: delimiters[usize::from(choice) % 3],
        on_bad_line: if choice & 64 == 0 { OnBadLine::Stop } else { OnBadLine::Skip },
        weight_transform: transforms[usize::from(choice) / 3 % 4],
        columns: (choice & 128 != 0).then_some(swapped),
        ..InputOptions::default()
    };
    let large = read(bytes, &options, BatchMemory { chunk_bytes: 1 << 16, chunks: 1 });
    let tiny = read(bytes, &options, BatchMemory { chunk_bytes: 32, chunks: 3 });
    assert_eq!(large, tiny);
}
