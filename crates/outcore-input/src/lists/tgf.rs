//! TGF (Trivial Graph Format): a line per node, with a label that is not read; a line `#`; a line per edge, with its
//! source, its target and a label. If the label of the first edge is a number, it is a weight, and every edge must have
//! one. Source: the manual of yEd.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::Words;
use crate::text::number::parsed;

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    loop {
        if !words.next_line(None)? {
            return words.fail("file has no edges", "expected a line `#` before them");
        }
        if words.word() == b"#" {
            words.end_line()?;
            break;
        }
        edges.begin(words.word());
        edges.push_alone(words)?;
        words.skip_line()?;
    }
    let mut target = Vec::new();
    // Whether labels are text.
    let mut are_text = None;
    while words.next_line(None)? {
        edges.begin(words.word());
        words.require("edge has one node", "expected another one")?;
        words.copy_to(&mut target);
        words.rest()?;
        let is_number = parsed::<f64>(words.word()).is_some();
        let is_text = !words.word().is_empty() && !is_number;
        let weight = if *are_text.get_or_insert(is_text) {
            None
        } else {
            edges.require_alike(words, is_number)?;
            is_number.then(|| WeightText::of(words))
        };
        edges.push(words, &target[..], weight)?;
    }
    Ok(())
}
