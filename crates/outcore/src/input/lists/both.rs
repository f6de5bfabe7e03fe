//! Comparison of the two entries of each edge, in lists that have every undirected edge at both its nodes.

use crate::error::opt::DIRECTED;
use crate::error::{Error, ErrorKind, Result};
use crate::units::format_count;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Number and hash of the entries on both sides.
#[derive(Debug, Default)]
pub(super) struct Both {
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) loops: u64,
    /// Hashes of the entries at first nodes minus those of the entries at second nodes.
    difference: u64,
}

impl Both {
    /// Returns whether the edge from `node` to `other` is taken from `node`.
    #[inline]
    pub(super) fn is_to_be_taken(&mut self, node: u64, other: u64, code: u32) -> bool {
        if node == other {
            self.loops += 1;
            return true;
        }
        let is_first = node < other;
        let mut edge = [0; 20];
        edge[..8].copy_from_slice(&node.min(other).to_le_bytes());
        edge[8..16].copy_from_slice(&node.max(other).to_le_bytes());
        edge[16..].copy_from_slice(&code.to_le_bytes());
        let hash = xxh3_64(&edge);
        if is_first {
            self.first += 1;
            self.difference = self.difference.wrapping_add(hash);
        } else {
            self.second += 1;
            self.difference = self.difference.wrapping_sub(hash);
        }
        is_first
    }

    /// Returns whether there are entries.
    pub(super) fn has_some(&self) -> bool {
        self.first + self.second + self.loops > 0
    }

    /// # Errors
    /// `BadInput` unless both sides have the same edges.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        if self.first == self.second && self.difference == 0 {
            return Ok(());
        }
        let path = path.display();
        let message = format!("`{path}`: some edges differ between the lists of their two nodes");
        let [first, second] = [self.first, self.second].map(format_count);
        Err(Error::new(ErrorKind::BadInput, message)
            .note(format!(
                "its lists have {first} neighbors with larger numbers, {second} with smaller ones"
            ))
            .hint(format_args!("use {DIRECTED} to read every entry as an arc, or write each edge into the lists of both its nodes, with the same weight")))
    }
}
