//! Loops over nodes on the current thread pool, and per-thread memory.
//!
//! Small loops run on the calling thread: handing work to a pool costs some ten microseconds.

use outcore_io::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Arcs per piece of parallel work: some tens of microseconds.
pub const PIECE_ARCS: u64 = 8192;

/// One value per thread of the pool, such as a buffer for decoded arcs.
pub struct PerThread<T>(Vec<Mutex<T>>);

impl<T: Send> PerThread<T> {
    /// Creates one value per thread of the current pool.
    pub fn new(mut make: impl FnMut() -> T) -> Self {
        Self((0..rayon::current_num_threads()).map(|_| Mutex::new(make())).collect())
    }

    /// Calls `f` with the value of the current thread. `f` must not start parallel work itself.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let index = rayon::current_thread_index().unwrap_or(0) % self.0.len();
        f(&mut self.0[index].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `f` with the value of each thread, one after the other.
    pub fn for_each(&self, mut f: impl FnMut(&mut T)) {
        let values = self.0.iter();
        values.for_each(|value| f(&mut value.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// Returns the number of nodes per piece, for nodes of the mean degree `arcs / nodes`.
pub fn piece_nodes(nodes: usize, arcs: u64) -> usize {
    (nodes as u64 * PIECE_ARCS / (arcs + nodes as u64).max(1)).clamp(1, 4096) as usize
}

/// Calls `f` with the numbers `0..count` on the pool, in any order, and returns the sum of its results. Not
/// generic: the pool's code for a loop is large and would be compiled once per caller.
///
/// # Errors
/// One of the errors of `f`.
fn for_numbers(count: usize, f: &(dyn Fn(usize) -> Result<u64> + Sync)) -> Result<u64> {
    (0..count).into_par_iter().map(f).try_reduce(|| 0, |a, b| Ok(a + b))
}

/// Calls `f` with consecutive ranges of at most `piece` numbers that cover `0..count`.
///
/// # Errors
/// One of the errors of `f`.
pub fn for_ranges(
    count: usize,
    piece: usize,
    f: impl Fn(Range<usize>) -> Result<()> + Sync,
) -> Result<()> {
    let range = |i: usize| i * piece..((i + 1) * piece).min(count);
    let pieces = count.div_ceil(piece);
    if pieces <= 1 || rayon::current_num_threads() == 1 {
        return (0..pieces).try_for_each(|i| f(range(i)));
    }
    for_numbers(pieces, &|i| f(range(i)).map(|()| 0)).map(drop)
}

/// Calls `f` with pieces of `nodes` and the corresponding pieces of `values`, and returns the sum of its results.
///
/// # Errors
/// One of the errors of `f`.
pub fn for_pieces<T: Send>(
    nodes: &[u32],
    values: &mut [T],
    piece: usize,
    f: impl Fn(&[u32], &mut [T]) -> Result<u64> + Sync,
) -> Result<u64> {
    debug_assert_eq!(nodes.len(), values.len(), "one value for each node");
    if nodes.len() <= piece || rayon::current_num_threads() == 1 {
        return f(nodes, values);
    }
    let pieces = SlicePieces::of(values, piece);
    for_numbers(pieces.count(), &|i| {
        pieces.with(i, |values| f(&nodes[i * piece..i * piece + values.len()], values))
    })
}

/// Calls `f` with chunks of at most `chunk` values and the position of the first value.
///
/// # Errors
/// One of the errors of `f`.
pub fn for_chunks<T: Send>(
    values: &mut [T],
    chunk: usize,
    f: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    if values.len() <= chunk || rayon::current_num_threads() == 1 {
        return f(0, values);
    }
    let pieces = SlicePieces::of(values, chunk);
    let each = |i: usize| pieces.with(i, |values| f(i * chunk, values)).map(|()| 0);
    for_numbers(pieces.count(), &each).map(drop)
}

/// Pieces of a slice, each locked by one thread at a time.
struct SlicePieces<'a, T>(Vec<Mutex<&'a mut [T]>>);

impl<'a, T> SlicePieces<'a, T> {
    fn of(values: &'a mut [T], piece: usize) -> Self {
        Self(values.chunks_mut(piece).map(Mutex::new).collect())
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn with<R>(&self, i: usize, f: impl FnOnce(&mut [T]) -> R) -> R {
        f(&mut self.0[i].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
