//! Any bytes read as a table or as adjacency lists give edges or an error, the same with large and with tiny chunks and
//! in whatever order threads decode them, and never a panic that leaves the engine.
//!
//! The first byte selects the format: `0` detects it from the first bytes (Parquet, Arrow IPC, an mcl matrix, text),
//! `1` is a METIS graph, `2` a directed METIS graph, `3` a directed matrix; `4` to `7` are the same, skipping bad rows,
//! and `8` to `?` ignore weights. The rest is the file.

use outcore::ErrorKind;
use outcore::input::{
    Batch, BatchMemory, EdgeFormat, EdgeReader, Fingerprint, InputOptions, OnBadLine,
};
use outcore::io::Files;
use outcore_testkit::sim::Sim;
use std::sync::Arc;

type Outcome = Result<(Vec<(Vec<u8>, u32)>, String), outcore::Error>;

/// Maximum memory for decoding.
const MOST_BYTES: u64 = 24 << 20;
/// Maximum number of names compared.
const MOST_NAMES: usize = 1 << 17;

fn read(bytes: &[u8], options: &InputOptions, chunk_bytes: usize) -> Outcome {
    let sim = Sim::new();
    sim.put("edges", bytes);
    let files = Files::new(Arc::new(sim));
    let mut reader = EdgeReader::open(&files, options, BatchMemory { chunk_bytes, chunks: 2 })?;
    if reader.window_bytes() > MOST_BYTES {
        // As a job does before it reads on.
        return Err(outcore::Error::new(ErrorKind::MemoryTooSmall, "too large").hint("more memory"));
    }
    let (mut batch, mut names) = (Batch::default(), Vec::new());
    while names.len() < MOST_NAMES && reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            assert_eq!(chunk.names.len(), 2 * chunk.edge_count());
            for (index, name) in chunk.names.iter().enumerate() {
                assert_eq!(name.fingerprint, Fingerprint::of(chunk.name(name)));
                let weight = chunk.weights.get(index / 2).copied().unwrap_or(1);
                names.push((chunk.name(name).to_vec(), weight));
            }
        }
    }
    let is_whole = names.len() < MOST_NAMES;
    names.truncate(MOST_NAMES);
    let summary = if is_whole { format!("{:?}", reader.finish()?) } else { String::new() };
    Ok((names, summary))
}

/// Reads `bytes` with large and with tiny chunks.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let formats = [EdgeFormat::Auto, EdgeFormat::Metis, EdgeFormat::Metis, EdgeFormat::Mcl];
    let options = InputOptions {
        paths: vec!["edges".into()],
        format: formats[usize::from(choice) % 4],
        directed: choice % 4 >= 2,
        on_bad_line: if choice & 4 == 0 { OnBadLine::Stop } else { OnBadLine::Skip },
        ignore_weights: choice & 8 != 0,
        ..InputOptions::default()
    };
    let (large, tiny) = (read(bytes, &options, 1 << 20), read(bytes, &options, 200));
    match (large, tiny) {
        (Ok(large), Ok(tiny)) => assert!(large == tiny),
        (Err(large), Err(tiny)) => {
            for error in [large, tiny] {
                assert!(error.hint_text().is_some(), "{error} without a hint");
            }
        }
        // Smaller chunks leave less room for pages of Parquet.
        (Ok(_), Err(error)) if error.kind() == ErrorKind::MemoryTooSmall => {}
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("only once: {error}"),
    }
}
