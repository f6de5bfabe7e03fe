//! Adapts parsed edges to the context of the whole file: removes indexes that are not rows of a matrix, and headers
//! repeated where files were concatenated.

use super::InputFormat;
use crate::chunk::{LineFault, ParsedChunk, Problem};
use crate::text::field::splat;
use crate::text::number;
use outcore_graph::ids::{EdgeChunk, Fingerprint, NameRef};

/// Removes invalid edges from a parsed chunk. With `stop`, only the first bad line is reported.
pub(crate) fn check(chunk: &mut ParsedChunk, format: &InputFormat, stop: bool) {
    if let Some(size) = format.matrix {
        leave_out(chunk, stop, |text, pair| {
            let has = size.has([of(text, &pair[0]), of(text, &pair[1])]);
            pair.iter().zip(has).find(|(_, has)| !has).map(|(name, _)| (Problem::NoRow, *name))
        });
    }
    if let Some(whole) = format.whole {
        let problem = |text: &[u8], pair: &[NameRef]| {
            pair.iter().zip(whole).find_map(|(name, whole)| {
                Some((no_name(text, name, whole, format.has_header)?, *name))
            })
        };
        // This is rare.
        if chunk
            .edges
            .names
            .chunks_exact(2)
            .any(|pair| may_be_none(&pair[0], whole[0]) || may_be_none(&pair[1], whole[1]))
        {
            leave_out(chunk, stop, problem);
        }
    }
    if let Some(header) = format.header {
        let is_header =
            |pair: &[NameRef]| pair[0].fingerprint == header[0] && pair[1].fingerprint == header[1];
        // This is rare.
        if chunk.edges.names.chunks_exact(2).any(is_header) {
            leave_out(chunk, stop, |_, pair| {
                is_header(pair).then_some((Problem::HeaderAgain, pair[0]))
            });
        }
    }
}

/// Returns what is wrong with a text that is not a name in this column.
fn no_name(text: &[u8], name: &NameRef, whole: bool, has_header: bool) -> Option<Problem> {
    if !may_be_none(name, whole) {
        return None;
    }
    let name = of(text, name);
    let is_fraction = || (whole && number::is_fraction(name)).then_some(Problem::FractionName);
    if number::is_missing_name(name, has_header) {
        Some(Problem::MissingName)
    } else {
        is_fraction()
    }
}

/// Returns whether a name may be invalid, judging by its fingerprint. Whole numbers have only digits there, and words
/// for missing values are short and begin with `n`, `N` or `<`; a hash may have any bytes.
#[inline]
fn may_be_none(name: &NameRef, whole: bool) -> bool {
    const MARKS: u64 = splat(b' ');
    let Fingerprint { low, high } = name.fingerprint;
    if whole {
        // A digit is 0x30 to 0x39, points and signs are 0x2B to 0x2E, letters are above.
        let has_other = |word: u64| word & !(word << 1) & MARKS | word & (MARKS << 1);
        return has_other(low) | has_other(high & (u64::MAX >> 8)) != 0;
    }
    high < 5 << 56 && matches!(low as u8 | b' ', b'n' | b'<')
}

fn of<'a>(text: &'a [u8], name: &NameRef) -> &'a [u8] {
    &text[name.offset as usize..][..name.bytes as usize]
}

/// Removes the edges for which `problem` returns a problem and the name at fault.
fn leave_out(
    chunk: &mut ParsedChunk,
    stop: bool,
    problem: impl Fn(&[u8], &[NameRef]) -> Option<(Problem, NameRef)>,
) {
    let ParsedChunk { edges, used, faults, .. } = chunk;
    let EdgeChunk { text, names, weights, .. } = edges;
    let text = &text[..*used];
    let mut kept = 0;
    for edge in 0..names.len() / 2 {
        let pair = 2 * edge..2 * edge + 2;
        if let Some((problem, name)) = problem(text, &names[pair.clone()]) {
            faults.push(fault_at(text, problem, &name));
            continue;
        }
        names.copy_within(pair, 2 * kept);
        if let Some(&weight) = weights.get(edge) {
            weights[kept] = weight;
        }
        kept += 1;
    }
    names.truncate(2 * kept);
    weights.truncate(kept);
    faults.sort_by_key(|fault| fault.line_start);
    if stop {
        faults.truncate(1);
    }
}

pub(crate) fn fault_at(text: &[u8], problem: Problem, name: &NameRef) -> LineFault {
    let (start, end) = (name.offset as usize, (name.offset + name.bytes) as usize);
    let line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
    let line_end = memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |len| end + len);
    let line_end = if text[..line_end].ends_with(b"\r") { line_end - 1 } else { line_end };
    LineFault::new(problem, line_start..line_end.max(end), start..end)
}
