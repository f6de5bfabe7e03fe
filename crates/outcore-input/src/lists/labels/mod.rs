//! Labels of nodes as their names: those that a file declares before its first edge, if each node has one of its own.
//!
//! ```text
//!  nodes --id, label--> table --first edge--> unique? --> names of nodes and of the ends of edges
//! ```
//!
//! Ends of edges are ids, so the labels of all nodes are in memory while the file is read: at most [`NODES_MAX`] nodes
//! with [`TEXT_MAX`] bytes of labels, whatever the memory limit, so that names do not depend on it; larger files have
//! numbers. The file is examined up to its first edge
//! before it is read, so what the names are is known, and said, before any work. Memory, which the plan counts: 100 bytes
//! per node and twice its label, at most 42 MiB; uniqueness is a sort of 32 bytes per node in that room. Cost: 50 ns for
//! each end of an edge.

use super::words::Words;
use crate::NAME_LIMIT;
use crate::fault::escaped;
use outcore_graph::ids::Fingerprint;
use outcore_io::error::opt::NAMES;
use outcore_io::error::{Error, Result};
use outcore_io::units::format_count;
use std::collections::HashMap;

/// Maximum number of nodes whose labels are names.
const NODES_MAX: usize = 1 << 18;
/// Maximum number of bytes of their labels.
const TEXT_MAX: usize = 8 << 20;
/// Memory of a node in the table, besides its label.
const NODE_BYTES: u64 = 100;

/// What the labels of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LabelVerdict {
    /// There are none.
    None,
    /// Each node has one of its own; the table takes this memory.
    Unique { bytes: u64 },
    /// This node has none, but others have.
    Missing(String),
    /// This is the label of several nodes.
    Twice(String),
    /// There are more than are kept.
    TooMany,
    /// The text that was examined ends before the first edge.
    Unknown,
}

impl LabelVerdict {
    /// Returns why labels are no names, unless there are none.
    pub(super) fn reason(&self) -> Option<String> {
        Some(match self {
            Self::None | Self::Unique { .. } | Self::Unknown => return None,
            Self::Missing(id) => format!("`{id}` has no label that can be its name"),
            Self::Twice(label) => format!("`{label}` is the label of several"),
            Self::TooMany => format!("more than {} have labels", format_count(NODES_MAX as u64)),
        })
    }
}

/// Labels by the ids of their nodes, in the order of the file.
#[derive(Default)]
pub(super) struct Labels {
    text: Vec<u8>,
    /// Where each label ends.
    ends: Vec<u32>,
    /// Places of the nodes.
    places: HashMap<u128, u32>,
    /// First id without a label, and first id or label that occurs again.
    missing: Option<Vec<u8>>,
    again: Option<Vec<u8>>,
    has_some: bool,
    is_full: bool,
    /// Number of nodes that the file declares, if all must have labels.
    pub(super) declared_count: Option<u64>,
    /// Whether reading ends at the first edge.
    pub(super) ends_at_edges: bool,
    /// What they are, once the first edge is reached.
    pub(super) verdict: Option<LabelVerdict>,
}

fn key(id: &[u8]) -> u128 {
    Fingerprint::of(id).into()
}

impl Labels {
    /// Adds a node.
    pub(super) fn add(&mut self, id: &[u8], label: Option<&[u8]>) {
        let is_name =
            |label: &&[u8]| (1..=NAME_LIMIT).contains(&label.len()) && !label.contains(&b'\n');
        let label = label.filter(is_name);
        self.has_some |= label.is_some();
        let is_full = self.ends.len() >= NODES_MAX || self.text.len() >= TEXT_MAX;
        if self.is_full || is_full {
            self.is_full = true;
            return;
        }
        match label {
            Some(label) => self.text.extend_from_slice(label),
            None => drop(self.missing.get_or_insert_with(|| id.to_vec())),
        }
        let place = self.ends.len() as u32;
        self.ends.push(self.text.len() as u32);
        if self.places.insert(key(id), place).is_some() {
            self.again.get_or_insert_with(|| id.to_vec());
        }
    }

    /// Returns whether no further node could make the labels names.
    pub(super) fn is_decided(&self) -> bool {
        self.is_full || self.has_some && (self.missing.is_some() || self.again.is_some())
    }

    /// Decides what the labels are, now that all nodes are known.
    pub(super) fn complete(&mut self) -> LabelVerdict {
        let verdict = self.judged();
        self.verdict = Some(verdict.clone());
        verdict
    }

    fn judged(&self) -> LabelVerdict {
        let shown = |text: &[u8]| escaped(text, 40);
        if !self.has_some {
            return LabelVerdict::None;
        }
        if self.is_full {
            return LabelVerdict::TooMany;
        }
        if let Some(id) = &self.missing {
            return LabelVerdict::Missing(shown(id));
        }
        if let Some(id) = &self.again {
            return LabelVerdict::Twice(shown(id));
        }
        if let Some(id) =
            (1..=self.declared_count.unwrap_or(0)).find(|id| !self.has(id.to_string().as_bytes()))
        {
            return LabelVerdict::Missing(id.to_string());
        }
        let mut keys: Vec<(u128, u32)> =
            (0..self.ends.len() as u32).map(|place| (key(self.at(place)), place)).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|two| two[0].0 == two[1].0) {
            Some(two) => LabelVerdict::Twice(shown(self.at(two[0].1))),
            None => {
                let (nodes, text) = (self.ends.len() as u64, self.text.len() as u64);
                LabelVerdict::Unique { bytes: NODE_BYTES * nodes + 2 * text }
            }
        }
    }

    /// Returns the number of nodes.
    pub(super) fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the label at a place.
    pub(super) fn at(&self, place: u32) -> &[u8] {
        let end = |place: u32| self.ends[place as usize] as usize;
        &self.text[place.checked_sub(1).map_or(0, end)..end(place)]
    }

    fn has(&self, id: &[u8]) -> bool {
        self.places.contains_key(&key(id))
    }

    /// Returns the label of a node.
    ///
    /// # Errors
    /// `BadInput` at the last word for a node that was not declared.
    pub(super) fn of(&self, id: &[u8], words: &Words) -> Result<&[u8]> {
        match self.places.get(&key(id)) {
            Some(&place) => Ok(self.at(place)),
            None => Err(undeclared(id, words)),
        }
    }
}

/// Returns the error for a node that is not declared before the first edge.
pub(super) fn undeclared(id: &[u8], words: &Words) -> Error {
    let message =
        format!("`{}` is no node that is declared before the first edge", escaped(id, 40));
    let expected = "expected a node with a label";
    words.error(&message, expected).hint(format_args!("or use {}", NAMES.of("numbers")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(nodes: &[(&str, &str)], count: Option<u64>) -> LabelVerdict {
        let mut labels = Labels::default();
        for (id, label) in nodes {
            labels.add(id.as_bytes(), Some(label.as_bytes()));
        }
        labels.declared_count = count;
        labels.complete()
    }

    #[test]
    fn labels_are_names_if_each_node_has_one_of_its_own() {
        let long = "a label of more than fifteen bytes";
        for (nodes, count, expected) in [
            (&[("1", "a"), ("2", long)][..], Some(2), LabelVerdict::Unique { bytes: 270 }),
            (&[], Some(3), LabelVerdict::None),
            (&[("1", ""), ("2", "")], None, LabelVerdict::None),
            (&[("1", "a"), ("2", "")], None, LabelVerdict::Missing("2".into())),
            (&[("1", "a"), ("3", "b")], Some(3), LabelVerdict::Missing("2".into())),
            (&[("1", "a"), ("2", "a")], None, LabelVerdict::Twice("a".into())),
            (&[("1", long), ("2", long)], None, LabelVerdict::Twice(long.into())),
            (&[("1", "a"), ("1", "b")], None, LabelVerdict::Twice("1".into())),
        ] {
            assert_eq!(verdict(nodes, count), expected, "{nodes:?}");
        }
    }

    #[test]
    fn a_table_stays_small() {
        for count in [NODES_MAX, NODES_MAX + 1, 2 * NODES_MAX] {
            let mut labels = Labels::default();
            for id in 0..count {
                labels.add(id.to_string().as_bytes(), Some(format!("n{id}").as_bytes()));
            }
            let is_unique = matches!(labels.complete(), LabelVerdict::Unique { .. });
            assert_eq!((is_unique, labels.ends.len()), (count == NODES_MAX, NODES_MAX));
        }
    }
}
