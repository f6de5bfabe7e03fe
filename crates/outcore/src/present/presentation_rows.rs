//! Rows that are sorted to present communities: nodes by pair of communities, pairs by number of shared nodes, links
//! by the children of modules, and names of nodes by community.
//!
//! Names are sorted in pieces of a fixed size, so that long ones do not take memory. Sorting is stable, so the pieces of
//! a name stay in order.

use super::matching::Workbench;
use crate::error::Result;
use crate::graph::Graph;
use crate::progress::{Event, REPORT_NODES, notify};
use crate::sort::{Field, RowSorter, SortedRows, records};
use std::cmp::Reverse;

/// Maximum bytes of a name in one record.
const PIECE_BYTES: usize = 15;

records! {
    /// Node with its new and its earlier community, in the halves of a number.
    pub(super) struct SharedNode {
        pub(super) pair: u64,
    }

    /// Pair of communities, sorted by the number of shared nodes, most first, then by the number of the earlier
    /// community.
    pub(super) struct Overlap {
        /// Number of nodes that they share.
        pub(super) shared: Reverse<u64>,
        /// Number of the earlier community.
        pub(super) number: u64,
        /// Labels of the new and of the earlier community.
        pub(super) labels: [u32; 2],
    }

    /// Link between two children of the module of a section.
    pub(super) struct Link {
        pub(super) section: u64,
        /// Numbers of the children.
        pub(super) ends: [u32; 2],
        /// Visits that follow it.
        pub(super) visits: f64,
    }

    /// Name of a node, or a piece of it, in its place among others.
    pub(crate) struct NamePiece {
        /// Number of the community, or another number that comes first in the order.
        pub(crate) number: u64,
        /// Position in the community.
        pub(crate) order: u64,
        /// Value to write for the node.
        pub(crate) value: f64,
        piece: Piece,
    }
}

impl NamePiece {
    /// Returns a place for a name.
    pub(crate) fn at(number: u64, order: u64, value: f64) -> Self {
        Self { number, order, value, piece: Piece::default() }
    }

    /// Adds a name at this place to a sort.
    pub(crate) fn add(self, name: &[u8], sorter: &mut RowSorter<Self>) -> Result<()> {
        let mut rest = name;
        loop {
            let (bytes, later) = rest.split_at(rest.len().min(PIECE_BYTES));
            let mut piece = Piece::default();
            piece.0[0] = (bytes.len() as u8) << 1 | u8::from(later.is_empty());
            piece.0[1..=bytes.len()].copy_from_slice(bytes);
            sorter.add(Self { piece, ..self })?;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
        }
    }
}

/// Some bytes of a name, after a byte with twice their number, plus 1 if they end the name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Piece([u8; PIECE_BYTES + 1]);

impl Piece {
    fn bytes(&self) -> &[u8] {
        &self.0[1..][..usize::from(self.0[0] >> 1)]
    }

    fn is_last(&self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl Field for Piece {
    const WORDS: usize = 2;

    /// Short names are small numbers.
    fn word(self, index: usize) -> u64 {
        self.0.as_chunks().0.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn of_words(words: &[u64]) -> Self {
        let mut piece = Self::default();
        let places = piece.0.as_chunks_mut().0.iter_mut();
        places.zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        piece
    }
}

/// Reader of sorted names.
pub(crate) struct SortedNames {
    sorted: SortedRows<NamePiece>,
    name: Vec<u8>,
}

impl SortedNames {
    /// Starts reading.
    ///
    /// # Errors
    /// Those of the sort.
    pub(crate) fn new(sorter: RowSorter<NamePiece>) -> Result<Self> {
        Ok(Self { sorted: sorter.finish()?, name: Vec::new() })
    }

    /// Returns the next name and its place.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub(crate) fn next(&mut self) -> Result<Option<(NamePiece, &[u8])>> {
        self.name.clear();
        while let Some(name) = self.sorted.next_row()? {
            self.name.extend_from_slice(name.piece.bytes());
            if name.piece.is_last() {
                return Ok(Some((name, &self.name)));
            }
        }
        Ok(None)
    }
}

/// Sorts the names of nodes by their `places`, if they have one, in a share of the budget for one of `sorts` sorts.
/// Progress is always reported as `done`, as there is no measure of it.
pub(super) fn sort_names(
    bench: &Workbench<'_>,
    graph: &Graph,
    places: impl Iterator<Item = Result<Option<NamePiece>>>,
    done: u64,
    sorts: u64,
) -> Result<SortedNames> {
    let mut sorter = bench.rows(sorts)?;
    let mut names = graph.names()?;
    for (node, place) in (0u64..).zip(places) {
        let place = place?;
        let Some(name) = names.next_name()? else { break };
        place.map_or(Ok(()), |place| place.add(name, &mut sorter))?;
        if node.is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done })?;
        }
    }
    SortedNames::new(sorter)
}

/// Passes sorted names to `take`.
pub(super) fn for_each_name(
    bench: &Workbench<'_>,
    mut names: SortedNames,
    done: u64,
    mut take: impl FnMut(&NamePiece, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut count = 0u64;
    while let Some((place, name)) = names.next()? {
        take(&place, name)?;
        if count.is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done })?;
        }
        count += 1;
    }
    Ok(())
}
