//! Reads a number for each node, such as its priority: lines `node<TAB>number`, in any order.
//!
//! Like communities, but the numbers are sorted back into the order of the nodes, into a file. Memory: the budgets of
//! two sorts, whatever the number of nodes.

use super::member_rows::Numbered;
use super::{MembershipJob, MembershipOptions, memory_bytes_for};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::input::{EdgeChunk, Fingerprint, InputOptions, NameRef};
use crate::io::{Array, ArrayWriter, Files};
use crate::progress::{Event, Observer, Stage, notify};
use crate::units::format_count;
use std::path::Path;

/// Numbers of nodes.
pub(crate) struct NodeNumbers {
    /// Code of each node's number.
    pub(crate) codes: Array<u64>,
    /// Number of nodes with a number.
    pub(crate) named: u64,
    /// Number of names that the graph does not have.
    pub(crate) unknown: u64,
}

/// Reads the numbers of the nodes of `graph` from the file `path` as `input` says, and writes a code for each node to
/// `to`: a larger one for a larger number ([`number_of`]), and 0 for a node without one.
///
/// # Errors
/// The earliest bad line; `BadInput` if a node has two numbers; `CorruptFile`, `Io`, `DiskFull`, `MemoryTooSmall`, `Interrupted`.
pub(crate) fn read_numbers(
    files: &Files,
    input: InputOptions,
    graph: &Graph,
    options: &MembershipOptions,
    observer: &dyn Observer,
    to: &Path,
) -> Result<NodeNumbers> {
    let what = ["number", "numbers"];
    let path = &input.paths[0].clone();
    let job = MembershipJob { what, input, node_bytes: 0, files, path, graph, options, observer };
    let reader = job.open()?;
    let budget = job.sort_bytes(reader.window_bytes())?;
    notify(observer, Event::Begin { stage: Stage::Match, total: None, unit: "names" })?;
    if options.is_described {
        super::report(&reader, observer)?;
    }
    let value = |chunk: &EdgeChunk, number: &NameRef, line| {
        code(chunk.name(number)).ok_or_else(|| not_a_number(path, line, chunk.name(number)))
    };
    let sorted = job.collect(reader, budget, value)?;
    let mut sorter = job.sorter(budget)?;
    let joined = job.join(sorted, |line, node| {
        sorter.add(Numbered { node: node.into(), code: line.community.low })
    })?;
    let mut writer = ArrayWriter::create(files, to, graph.node_count())?;
    let mut next = 0;
    job.for_each(sorter.finish()?, |&Numbered { node, code }| {
        (next..node).try_for_each(|_| writer.push(0))?;
        next = node + 1;
        writer.push(code)
    })?;
    (next..graph.node_count()).try_for_each(|_| writer.push(0))?;
    Ok(NodeNumbers { codes: writer.finish()?, named: joined.named, unknown: joined.unknown })
}

/// Returns the number of a code; `None` for 0, the code of none.
pub(crate) fn number_of(code: u64) -> Option<f64> {
    let bits = if code >> 63 == 1 { code & !(1 << 63) } else { !code };
    (code > 0).then(|| f64::from_bits(bits))
}

/// Returns the least memory limit to read numbers.
pub(crate) fn numbers_bytes(threads: usize) -> u64 {
    memory_bytes_for(0, 0, threads)
}

/// Returns the code of a number in the form of a fingerprint; `None` if the text is not a number. Codes are in the
/// order of the numbers, and above 0.
fn code(text: &[u8]) -> Option<Fingerprint> {
    let number: f64 = str::from_utf8(text).ok()?.trim().parse().ok()?;
    if number.is_nan() {
        return None;
    }
    // Turns -0 into 0. The highest bit of positive numbers is set, and negative ones are reversed.
    let bits = (number + 0.0).to_bits();
    let low = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    // Turns -0 into 0. The codes of positive numbers have the highest bit set, and those of negative numbers have all
    // bits inverted.
    Some(Fingerprint { low, high: 0xFF << 56 })
}

fn not_a_number(path: &Path, line: u64, text: &[u8]) -> Error {
    let (path, line) = (path.display(), format_count(line));
    let text = String::from_utf8_lossy(text);
    let message = format!("`{path}`, line {line}: `{text}` is not a number");
    Error::new(ErrorKind::BadInput, message)
        .hint("each line names a node and its number, such as a length or a date as seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_the_order_of_numbers() {
        let all = [
            "-inf",
            "-1e300",
            "-2",
            "-1.5",
            "-0.0001",
            "0",
            "1e-300",
            "0.5",
            "3",
            "2000000000",
            "2000000001",
            "inf",
        ];
        let codes: Vec<u64> = all.iter().map(|text| code(text.as_bytes()).unwrap().low).collect();
        assert!(codes.is_sorted_by(|a, b| a < b) && codes[0] > 0, "{codes:?}");
        assert_eq!(code(b"-0"), code(b"0"));
        for (text, code) in all.iter().zip(codes) {
            assert_eq!(number_of(code), text.parse().ok(), "{text}");
        }
        assert_eq!(number_of(0), None);
        for text in ["", "x", "NaN", "1,5", "0x1"] {
            assert_eq!(code(text.as_bytes()), None, "{text}");
        }
    }
}
