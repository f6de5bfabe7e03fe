//! Names added in bulk: those of a graph, which are distinct, in the order of their indexes.
//!
//! Nothing is looked up, and the tables have their final size from the start. Including reading and rewriting the name,
//! this takes about 150 ns, less than half the time of a new name of an edge.

use super::name::{EdgeChunk, NameRef};
use super::table::{Hasher, OVERFLOW, Spot, Table};
use super::{GROUP, NODES_MAX, NodeIndex, number, too_many_nodes};
use outcore_io::error::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Outcome of adding names.
#[derive(Debug, PartialEq, Eq)]
pub enum Added {
    /// All are added.
    All,
    /// A name occurs twice; the index cannot be used further.
    Repeated,
    /// No name was added; this number of bytes is needed.
    Needs(u64),
}

impl NodeIndex {
    /// Adds the names of `chunks`, none of which it has, if its tables stay within `room_bytes`. `expected` is the
    /// total number of names to be added.
    ///
    /// # Errors
    /// `TooManyNodes`.
    pub fn add_within(
        &mut self,
        chunks: &[EdgeChunk],
        expected: u64,
        room_bytes: u64,
    ) -> Result<Added> {
        let count = chunks.iter().map(|chunk| chunk.names.len() as u64).sum::<u64>();
        if self.node_count + count > NODES_MAX {
            return Err(too_many_nodes());
        }
        if let Err(bytes) = self.make_room(chunks, count, expected, room_bytes) {
            return Ok(Added::Needs(bytes));
        }
        let (first, hasher, is_repeated) = (self.node_count, &self.hasher, AtomicBool::new(false));
        self.shards.par_iter_mut().for_each(|shard| {
            let mut next = first as u32;
            for names in chunks.iter().flat_map(|chunk| chunk.names.chunks(GROUP)) {
                let mut spots = [Spot { shard: 0, place: 0 }; GROUP];
                for (name, spot) in names.iter().zip(&mut spots) {
                    *spot = hasher.spot(name.fingerprint);
                    shard.prefetch(*spot, hasher);
                }
                for (index, (name, spot)) in (next..).zip(names.iter().zip(&spots)) {
                    if spot.shard == shard.number {
                        let name = name.fingerprint;
                        let found = shard.find_or_insert(name, spot.place, index, hasher);
                        is_repeated.fetch_or(found != index, Relaxed);
                    }
                }
                next += names.len() as u32;
            }
        });
        self.node_count += count;
        Ok(if is_repeated.into_inner() { Added::Repeated } else { Added::All })
    }

    /// Selects the kind of table, and lets tables grow; if they could exceed `room_bytes`, returns the memory that they
    /// may need.
    fn make_room(
        &mut self,
        chunks: &[EdgeChunk],
        count: u64,
        expected: u64,
        room_bytes: u64,
    ) -> std::result::Result<(), u64> {
        let within = |bytes: u64| if bytes > room_bytes { Err(bytes) } else { Ok(()) };
        if self.hasher.numbers {
            let names = |chunk: &EdgeChunk| largest(&chunk.names);
            let largest = chunks.iter().map(names).try_fold(0, |a, b| Some(a.max(b?)));
            if let Some(largest) = largest.filter(|&largest| self.are_places(largest, count)) {
                return within(self.bytes_up_to(largest));
            }
            // Both tables exist at the same time.
            within(self.memory_bytes() + self.bytes_with(self.node_count as usize))?;
            self.hash_numbers(None);
        }
        // The names to be added may not be numbers.
        self.hashed.largest = None;
        within(self.bytes_with(count as usize))?;
        let rest = expected.saturating_sub(self.node_count) as usize;
        if self.bytes_with(rest) <= room_bytes {
            let hasher = &self.hasher;
            let share = rest / self.shards.len();
            self.shards.par_iter_mut().for_each(|shard| shard.table.reserve(share, hasher));
        }
        Ok(())
    }
}

/// Returns the largest of the names as a number; `None` if one is not a number.
fn largest(names: &[NameRef]) -> Option<u64> {
    names.iter().map(|name| number(name.fingerprint)).try_fold(0, |a, b| Some(a.max(b?)))
}

impl Table {
    fn reserve(&mut self, more: usize, hasher: &Hasher) {
        let homes = self.lines_with(more) - OVERFLOW;
        if homes > self.homes {
            self.grow_to(homes, hasher);
        }
    }
}
