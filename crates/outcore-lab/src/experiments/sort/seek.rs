//! Methods that place each edge directly, without sorting all edges.

use super::super::written::{failed, sync};
use super::edges::{ENTRY_BYTES, Edge, EdgeReader, SortInput, outcome};
use crate::api::map::{Map, Sharing};
use crate::api::stdio::{Buffering, Stream, Whence};
use crate::meter::Outcome;
use outcore::Result;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Number of edges that are reordered in memory before they are written.
const BATCH: usize = 40_000;
/// Bytes per read of the list.
const READ_BYTES: usize = 1 << 20;

fn create(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    options.open(path).map_err(failed("create", path))
}

fn list(input: &SortInput) -> Result<EdgeReader<File>> {
    let file = File::open(&input.list).map_err(failed("open", &input.list))?;
    Ok(EdgeReader::new(file, READ_BYTES))
}

/// Passes all edges to `each` in batches, each sorted by source if `sorted`.
fn batches(
    input: &SortInput,
    batch: usize,
    sorted: bool,
    mut each: impl FnMut(&[Edge]) -> io::Result<()>,
) -> Result<()> {
    let mut reader = list(input)?;
    let mut edges = Vec::with_capacity(batch);
    loop {
        edges.clear();
        reader.take(batch, &mut edges).map_err(failed("read", &input.list))?;
        if edges.is_empty() {
            return Ok(());
        }
        if sorted {
            edges.sort_by_key(|edge| edge.source);
        }
        each(&edges).map_err(failed("write", &input.rows))?;
    }
}

/// For each edge, seeks to the offset of the source and reads it, then seeks to the place of the edge and writes it.
pub(super) fn seek_and_write(input: &SortInput, sorted: bool) -> Result<Outcome> {
    let mut offsets = File::open(&input.offsets).map_err(failed("open", &input.offsets))?;
    let mut rows = create(&input.rows)?;
    let mut filled = vec![0u32; input.nodes];
    batches(input, BATCH, sorted, |edges| {
        for edge in edges {
            let mut first = [0; 8];
            offsets.seek(SeekFrom::Start(8 * u64::from(edge.source)))?;
            offsets.read_exact(&mut first)?;
            let filled = &mut filled[edge.source as usize];
            let place = u64::from_le_bytes(first) + u64::from(*filled);
            *filled += 1;
            rows.seek(SeekFrom::Start(place * ENTRY_BYTES as u64))?;
            rows.write_all(&edge.entry())?;
        }
        Ok(())
    })?;
    drop(rows);
    let moved = input.edges * (super::edges::EDGE_BYTES + 8 + ENTRY_BYTES);
    let calls = 4 * input.edges as u64;
    Ok(Outcome {
        system_calls: Some(calls),
        ..outcome(input, moved as u64, Some(sync(&input.rows)?))
    })
}

/// Like [`seek_and_write`], in input order, with buffered streams of the C library.
pub(super) fn streams(input: &SortInput) -> Result<Outcome> {
    let mut offsets = Stream::open(&input.offsets, "rb", Buffering::Default)?;
    let mut rows = Stream::open(&input.rows, "wb", Buffering::Default)?;
    let mut filled = vec![0u32; input.nodes];
    let mut reader = list(input)?;
    while let Some(edge) = reader.next().map_err(failed("read", &input.list))? {
        let mut first = [0; 8];
        offsets.seek(Whence::Start, 8 * i64::from(edge.source))?;
        offsets.read_exact(&mut first)?;
        let filled = &mut filled[edge.source as usize];
        let place = u64::from_le_bytes(first) + u64::from(*filled);
        *filled += 1;
        rows.seek(Whence::Start, (place * ENTRY_BYTES as u64) as i64)?;
        rows.write(&edge.entry())?;
    }
    rows.close()?;
    let moved = input.edges * (super::edges::EDGE_BYTES + 8 + ENTRY_BYTES);
    Ok(outcome(input, moved as u64, Some(sync(&input.rows)?)))
}

/// Writes large batches sorted by source, adjacent edges in one piece; offsets in memory.
pub(super) fn batched(input: &SortInput, batch: usize) -> Result<Outcome> {
    let rows = create(&input.rows)?;
    let mut next = input.first.clone();
    let (mut piece, mut calls) = (Vec::new(), 0);
    batches(input, batch, true, |edges| {
        let (mut begin, mut end) = (0, 0);
        for edge in edges {
            let place = &mut next[edge.source as usize];
            if *place != end && !piece.is_empty() {
                rows.write_all_at(&piece, begin * ENTRY_BYTES as u64)?;
                calls += 1;
                piece.clear();
            }
            if piece.is_empty() {
                begin = *place;
            }
            piece.extend_from_slice(&edge.entry());
            *place += 1;
            end = *place;
        }
        calls += 1;
        rows.write_all_at(&std::mem::take(&mut piece), begin * ENTRY_BYTES as u64)
    })?;
    drop(rows);
    let moved = (input.edges * (super::edges::EDGE_BYTES + ENTRY_BYTES)) as u64;
    let sync_seconds = Some(sync(&input.rows)?);
    Ok(Outcome { system_calls: Some(calls), ..outcome(input, moved, sync_seconds) })
}

/// Stores every edge to its place in a mapping of the file; offsets in memory.
pub(super) fn mapped(input: &SortInput) -> Result<Outcome> {
    let rows = create(&input.rows)?;
    let bytes = (input.edges * ENTRY_BYTES) as u64;
    // Reserves room on the disk for every page: a store must not fail.
    #[cfg(target_os = "linux")]
    rustix::fs::fallocate(&rows, rustix::fs::FallocateFlags::empty(), 0, bytes)
        .map_err(|e| failed("reserve", &input.rows)(e.into()))?;
    #[cfg(not(target_os = "linux"))]
    rows.write_all_at(&vec![0; bytes as usize], 0).map_err(failed("write", &input.rows))?;
    let mut map = Map::open(&input.rows, Sharing::SharedWrite, false, &[])?;
    let (entries, _) = map.bytes_mut().unwrap_or_default().as_chunks_mut::<ENTRY_BYTES>();
    let mut next = input.first.clone();
    let mut reader = list(input)?;
    while let Some(edge) = reader.next().map_err(failed("read", &input.list))? {
        let place = &mut next[edge.source as usize];
        entries[*place as usize] = edge.entry();
        *place += 1;
    }
    drop(map);
    let moved = (input.edges * (super::edges::EDGE_BYTES + ENTRY_BYTES)) as u64;
    Ok(outcome(input, moved, Some(sync(&input.rows)?)))
}
