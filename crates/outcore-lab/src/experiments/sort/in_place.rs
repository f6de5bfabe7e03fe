//! Merge sort within one file: merged blocks take the place of blocks that have been read, and are then moved into order.
//!
//! The file is a sequence of slots of the same size. A merge reads the slots of each run in order; a slot is free once its
//! bytes are in memory, and the next merged block goes into any free one. So the file never grows, and each pass ends with a
//! permutation of its blocks, cycle by cycle: one more read and write of most bytes, but at random positions. The
//! last pass writes shorter entries, and cuts off what is left of the file.
//!
//! Cost: a pass takes a buffer of one slot per run, and eight bytes per slot.

use super::super::written::{failed, sync};
use super::edges::{EDGE_BYTES, ENTRY_BYTES, EdgeReader, SortInput, outcome};
use super::external::{form, merge};
use crate::meter::Outcome;
use outcore::Result;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Edges of a slot: a divisor of the length of a run, so that runs begin with a slot.
const SLOT_EDGES: usize = 5_000;
const SLOT_BYTES: usize = SLOT_EDGES * EDGE_BYTES;

/// Sorts with runs of `run_edges` edges, a multiple of the edges of a slot, merged `fan_in` at a time within the file of the
/// result.
pub(super) fn merge_sort(input: &SortInput, run_edges: usize, fan_in: usize) -> Result<Outcome> {
    assert!(run_edges.is_multiple_of(SLOT_EDGES), "runs begin with a slot");
    let path = &input.rows;
    let mut ends = form(input, run_edges, path.clone())?.ends;
    let opened = File::options().read(true).write(true).open(path);
    let file = opened.map_err(failed("open", path))?;
    let mut moved = (2 * EDGE_BYTES * input.edges) as u64;
    loop {
        let is_last = ends.len() <= fan_in;
        let merged = pass(&file, &mut ends, fan_in, is_last).map_err(failed("merge", path))?;
        moved += merged;
        if is_last {
            break;
        }
    }
    file.set_len((input.edges * ENTRY_BYTES) as u64).map_err(failed("shorten", path))?;
    drop(file);
    Ok(outcome(input, moved, Some(sync(path)?)))
}

/// Merges `fan_in` runs at a time, as entries if it is the last pass; returns the bytes read and written.
fn pass(file: &File, ends: &mut Vec<u64>, fan_in: usize, is_last: bool) -> io::Result<u64> {
    let (mut merged, mut moved, mut begin) = (Vec::new(), 0, 0);
    for runs in ends.chunks(fan_in) {
        moved += merge_runs(file, begin, runs, is_last)?;
        begin = runs[runs.len() - 1];
        merged.push(begin);
    }
    *ends = merged;
    Ok(moved)
}

/// Merges adjacent runs, the first of which begins at the edge `begin`; returns the bytes read and written.
fn merge_runs(file: &File, begin: u64, ends: &[u64], is_last: bool) -> io::Result<u64> {
    let free = RefCell::new(Vec::new());
    let mut at = begin;
    let lane = |&end: &u64| {
        let bytes = at * EDGE_BYTES as u64..end * EDGE_BYTES as u64;
        at = end;
        EdgeReader::new(Lane { file, bytes, free: &free }, SLOT_BYTES)
    };
    let lanes = ends.iter().map(lane).collect();
    let first = begin / SLOT_EDGES as u64;
    let mut blocks = Blocks { file, first, free: &free, block: Vec::new(), slots: Vec::new() };
    merge(
        lanes,
        |edge| {
            if is_last { blocks.add(&edge.entry()) } else { blocks.add(&edge.to_bytes()) }
        },
    )?;
    let edges = ends[ends.len() - 1] - begin;
    let written = edges * if is_last { ENTRY_BYTES } else { EDGE_BYTES } as u64;
    Ok(edges * EDGE_BYTES as u64 + written + blocks.finish()?)
}

/// Reader of a run that frees the slots it has read.
struct Lane<'a> {
    file: &'a File,
    bytes: Range<u64>,
    free: &'a RefCell<Vec<u64>>,
}

impl Read for Lane<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let slot = self.bytes.start / SLOT_BYTES as u64;
        let end = ((slot + 1) * SLOT_BYTES as u64).min(self.bytes.end);
        let count = into.len().min((end - self.bytes.start) as usize);
        let read = self.file.read_at(&mut into[..count], self.bytes.start)?;
        self.bytes.start += read as u64;
        if read > 0 && self.bytes.start == end {
            self.free.borrow_mut().push(slot);
        }
        Ok(read)
    }
}

/// Merged blocks, each in the slot that was free when it was full.
struct Blocks<'a> {
    file: &'a File,
    /// Slot that the first block belongs into.
    first: u64,
    free: &'a RefCell<Vec<u64>>,
    block: Vec<u8>,
    /// Slot of each block, relative to the first.
    slots: Vec<u64>,
}

impl Blocks<'_> {
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.block.len() + bytes.len() > SLOT_BYTES {
            self.write()?;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        // Some slot is free: one has been read for each full block, and one more for each run that is being merged.
        let slot = self.free.borrow_mut().pop().expect("more slots are read than blocks written");
        self.file.write_all_at(&self.block, slot * SLOT_BYTES as u64)?;
        self.slots.push(slot - self.first);
        self.block.clear();
        Ok(())
    }

    /// Moves each block to its own slot; returns the bytes read and written.
    fn finish(mut self) -> io::Result<u64> {
        if !self.block.is_empty() {
            self.write()?;
        }
        let Self { file, first, mut slots, .. } = self;
        let position = |slot: u64| (first + slot) * SLOT_BYTES as u64;
        let count = slots.len() as u64;
        let mut holds = vec![false; slots.len()];
        slots.iter().filter(|&&slot| slot < count).for_each(|&slot| holds[slot as usize] = true);
        // Chains that begin with a slot without a block, before cycles, which need memory for one block.
        let mut starts: Vec<u64> = (0..count).collect();
        starts.sort_by_key(|&slot| holds[slot as usize]);
        let (mut held, mut block, mut moved) = (vec![0; SLOT_BYTES], vec![0; SLOT_BYTES], 0);
        for start in starts {
            if slots[start as usize] == start {
                continue;
            }
            if holds[start as usize] {
                read_slot(file, position(start), &mut held)?;
            }
            let mut place = start;
            while place < count {
                let from = std::mem::replace(&mut slots[place as usize], place);
                moved += 2 * SLOT_BYTES as u64;
                if from == start {
                    file.write_all_at(&held, position(place))?;
                    break;
                }
                read_slot(file, position(from), &mut block)?;
                file.write_all_at(&block, position(place))?;
                place = from;
            }
        }
        Ok(moved)
    }
}

/// Reads a slot; the last one of a file may be shorter.
fn read_slot(file: &File, at: u64, block: &mut [u8]) -> io::Result<()> {
    let mut read = 0;
    while read < block.len() {
        match file.read_at(&mut block[read..], at + read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore::io::Files;

    #[test]
    fn edges_are_sorted_within_the_file_for_any_number_of_runs_and_passes() {
        let directory = tempfile::tempdir().unwrap();
        for (number, (edges, fan_in)) in
            [(1, 64), (9_999, 2), (10_000, 2), (57_123, 2), (200_001, 3), (103_456, 64)]
                .into_iter()
                .enumerate()
        {
            let path_of = |name: &str| directory.path().join(format!("{number}-{name}"));
            let size = (edges / 20 + 1, edges);
            let input = SortInput::make(&Files::default(), path_of, size, 7).unwrap();
            let sorted = merge_sort(&input, 2 * SLOT_EDGES, fan_in).unwrap();
            assert_eq!(input.difference().unwrap(), 0, "{edges} edges, {fan_in} runs at a time");
            assert!(sorted.bytes >= (edges * (3 * EDGE_BYTES + ENTRY_BYTES)) as u64);
        }
    }

    /// Swapped, rotated, in order, and beyond the last block.
    #[test]
    fn blocks_move_to_their_slots() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for slots in [vec![1, 0], vec![2, 0, 1, 3], vec![5, 0, 2, 1], vec![0], vec![3, 4]] {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(true);
            let file = options.open(&path).unwrap();
            let free = RefCell::new(Vec::new());
            let mut blocks =
                Blocks { file: &file, first: 1, free: &free, block: Vec::new(), slots: Vec::new() };
            for (number, slot) in (1..).zip(&slots) {
                free.borrow_mut().push(slot + 1);
                blocks.block = vec![number; SLOT_BYTES];
                blocks.write().unwrap();
            }
            blocks.finish().unwrap();
            let found = std::fs::read(&path).unwrap();
            for (number, block) in (1..=slots.len() as u8).zip(found.chunks(SLOT_BYTES).skip(1)) {
                assert!(block.iter().all(|&byte| byte == number), "{slots:?}");
            }
        }
    }
}
