//! Tells nodes of two kinds apart by what their names begin with.

use crate::chunk::{PADDING, ParsedChunk};
use outcore_graph::ids::{EdgeChunk, Fingerprint, NameRef};

/// Puts the kind of each node before its name, for sources and targets of two kinds. The names are written after the
/// text.
pub(crate) fn set_kinds(chunk: &mut ParsedChunk, kinds: &[String; 2]) {
    let ParsedChunk { edges: EdgeChunk { text, names, .. }, used, .. } = chunk;
    text.truncate(*used);
    let mut last = [(NameRef::default(), NameRef::default()); 2];
    for pair in names.chunks_exact_mut(2) {
        for ((name, kind), (before, after)) in pair.iter_mut().zip(kinds).zip(&mut last) {
            // Rows that are grouped by source repeat its name.
            if name.fingerprint != before.fingerprint {
                *before = *name;
                let from = text.len();
                text.extend_from_slice(kind.as_bytes());
                text.extend_from_within(name.offset as usize..(name.offset + name.bytes) as usize);
                let bytes = (text.len() - from) as u32;
                let fingerprint = Fingerprint::of(&text[from..]);
                *after = NameRef { fingerprint, offset: from as u32, bytes };
            }
            *name = *after;
        }
    }
    *used = text.len();
    text.resize(*used + PADDING, 0);
}
