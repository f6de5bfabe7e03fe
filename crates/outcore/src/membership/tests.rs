//! Tests of reading communities: against a map, for any order of lines, memory, threads and damage.

use super::*;
use crate::graph::{ArcRecord, Duplicates, GraphOptions, GraphWriter, NamesWriter};
use crate::progress::Silent;
use crate::units::MIB;
use crate::weight::Weight;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

const FILE: &str = "communities.tsv";

/// Creates a graph of these names, and a file of communities.
fn disk(names: &[&[u8]], text: &[u8]) -> (Sim, Files) {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    let directory = Path::new("graph");
    let mut writer = NamesWriter::create(&files, directory).unwrap();
    names.iter().for_each(|name| writer.push(name).unwrap());
    writer.finish().unwrap();
    let options = GraphOptions {
        node_count: names.len() as u64,
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: false,
    };
    let weight = Weight::ONE.code();
    let mut graph = GraphWriter::create(&files, directory, &options).unwrap();
    let last = names.len() as u32 - 1;
    let arc = |source, target| ArcRecord { source, target, weight };
    if last > 0 {
        graph.push(&[arc(0, last), arc(last, 0)]).unwrap();
    }
    graph.finish().unwrap();
    files.create_directory(Path::new("scratch")).unwrap();
    sim.put(FILE, text);
    (sim, files)
}

fn options(numbered: bool) -> MembershipOptions {
    MembershipOptions {
        input: CommunityInput::default(),
        numbered,
        is_described: true,
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        held_bytes: 0,
        scratch: "scratch".into(),
    }
}

fn read_with(files: &Files, options: &MembershipOptions) -> Result<Membership> {
    let graph = Graph::open(files, Path::new("graph"))?;
    read(files, Path::new(FILE), &graph, options, &Silent)
}

fn found(names: &[&str], text: &str) -> Result<Membership> {
    let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    read_with(&disk(&names, text.as_bytes()).1, &options(false))
}

const NONE: u32 = Membership::NONE;

#[test]
fn labels_are_dense_in_node_order_for_any_order_of_lines() {
    let expected = found(&["a", "b", "c", "d"], "a\tx\nb\ty\nc\tx\nd\tz\n").unwrap();
    assert_eq!(expected.labels, [0, 1, 0, 2]);
    assert_eq!((expected.community_count, expected.named, expected.unknown), (3, 4, 0));
    assert_eq!(found(&["a", "b", "c", "d"], "d\tz\nc\tx\nb\ty\na\tx\nb\ty\n").unwrap(), expected);
}

#[test]
fn files_of_other_programs_are_read() {
    for text in [
        "# comment\nnode\tcommunity\nlong name of a node\t1\nb\t2\n",
        "name,cluster\nlong name of a node,1,more,columns\n\"b\",2\n",
        "\u{feff}% comment\r\nlong name of a node;red\r\n\r\nb;blue\r\n",
        "b\tlong name of a community\nlong name of a node\tother long name of one",
    ] {
        let found = found(&["long name of a node", "b", "c"], text).unwrap();
        assert_eq!((found.labels.as_slice(), found.unnamed()), ([0, 1, NONE].as_slice(), 1));
        assert_eq!((found.named, found.unknown, found.community_count), (2, 0, 2), "{text}");
    }
    let packed = zstd::encode_all(&b"a\t7\nb\t7\n"[..], 1).unwrap();
    let labels = read_with(&disk(&[b"a", b"b"], &packed).1, &options(false)).unwrap().labels;
    assert_eq!(labels, [0, 0]);
}

#[test]
fn quoted_names_are_read_as_they_were_before_writing() {
    let names: [&[u8]; 4] = [b"a\tb", b"5\"", b"\"x\"", b"\r"];
    // As `output` writes them.
    let text = b"\"a\tb\"\t0\n5\"\t1\n\"\"\"x\"\"\"\t0\n\"\r\"\t2\n";
    let files = disk(&names, text).1;
    let found = read_with(&files, &options(true)).unwrap();
    assert_eq!((found.labels, found.numbers), (vec![0, 1, 0, 2], vec![0, 1, 2]));
}

#[test]
fn names_that_the_graph_lacks_are_counted_once() {
    let text = "x\t1\na\t1\nx\t2\nanother name that is long\t1\nx\t1\n";
    let membership = found(&["a", "b"], text).unwrap();
    assert_eq!((membership.named, membership.unknown), (1, 2));
    let error = found(&["a"], "x\t1\ny\t1\n").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert_eq!(error.message(), "`communities.tsv` names no node of the graph");
    assert_eq!(error.notes(), ["none of its 2 names is a node of the graph"]);
    assert_eq!(found(&["a"], "# 1\n").unwrap_err().message(), "`communities.tsv` names no nodes");
}

#[test]
fn the_earliest_contradiction_is_reported_with_both_lines() {
    let text = "# first\nb\t1\na\t1\n\nc\t1\na\t2\nb\t1\nb\t3\nc\t4\nx\t1\nx\t2\n";
    let error = found(&["a", "b", "c"], text).unwrap_err();
    assert_eq!(error.message(), "`communities.tsv` gives node `a` two communities");
    assert_eq!(error.notes(), ["lines 3 and 6 name it"]);
}

#[test]
fn bad_lines_are_reported_in_terms_of_communities() {
    let error = found(&["a"], "a\t1\nb\n").unwrap_err();
    assert_eq!(error.message(), "line has 1 column, but the community is column 2");
    assert_eq!(error.place().unwrap().line, 2);
    assert!(error.hint_text().unwrap().starts_with("lines are `node<TAB>community`"));
    assert_eq!(found(&["a"], "a\t1\n\t2\n").unwrap_err().message(), "node has no name");
    assert_eq!(found(&["a"], "a\t1\nb\t\n").unwrap_err().message(), "community has no name");
}

#[test]
fn community_numbers_are_kept_and_anything_else_is_refused() {
    let numbered =
        |text: &str| read_with(&disk(&[b"a", b"b", b"c"], text.as_bytes()).1, &options(true));
    let found = numbered("vertex\twhatever\nc\t3\na\t123456789012345\nb\t0\n").unwrap();
    assert_eq!((found.labels, found.numbers), (vec![0, 1, 2], vec![123_456_789_012_345, 0, 3]));
    let found = numbered("a\t3\nx\t7\nx\t9\nb\t4\n").unwrap();
    assert_eq!((found.numbers, found.largest_number), (vec![3, 4], Some(9)));
    for (text, line) in [("a\t1\nb\t01\n", 2), ("a\t1\nb\t1.5\n", 2), ("a\tx\nb\ty\n", 1)] {
        let error = numbered(text).unwrap_err();
        assert_eq!(error.message(), "community is not a number", "{text}");
        assert_eq!(error.place().unwrap().line, line, "{text}");
    }
    assert!(numbered("a\t1\nb\t1234567890123456\n").is_err());
}

#[test]
fn too_little_memory_is_refused_with_the_number_that_is_enough() {
    let files = disk(&[b"a"], b"a\t1\n").1;
    for (held_bytes, threads) in [(0, 1), (0, 64), (300 * MIB, 2), (9000 * MIB, 64)] {
        let mut options = MembershipOptions { held_bytes, ..options(false) };
        options.limits = Limits { memory_bytes: held_bytes, threads };
        let error = read_with(&files, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
        let hint = error.hint_text().unwrap();
        let least = hint.split(['`', ' ']).find(|word| word.ends_with("MiB")).unwrap();
        options.limits.memory_bytes = crate::units::parse_bytes(least).unwrap();
        assert_eq!(read_with(&files, &options).unwrap().named, 1);
    }
}

/// Larger than the smallest sort: the result is the same through runs and in memory, with any threads.
#[test]
fn memory_and_threads_change_nothing() {
    let count = 150_000u32;
    let names: Vec<String> = (0..count).map(|i| format!("node number {i}")).collect();
    let borrowed: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let line = |i: u32| {
        let i = (u64::from(i) * 7919 % u64::from(count)) as u32;
        format!("node number {i}\t{}\n", i / 3)
    };
    let text: String = (0..count).map(line).collect();
    let files = disk(&borrowed, text.as_bytes()).1;
    let expected: Vec<u32> = (0..count).map(|i| i / 3).collect();
    let least = memory_bytes_for(count.into(), 0, 1);
    for (memory_bytes, threads) in [(least + 16 * MIB, 1), (least + 16 * MIB, 3), (1 << 30, 2)] {
        let limits = Limits { memory_bytes, threads };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = MembershipOptions { limits, ..options(true) };
        let written = files.counters().write_bytes();
        let found = pool.install(|| read_with(&files, &options)).unwrap();
        assert_eq!(found.labels, expected);
        assert_eq!(found.numbers.len(), 50_000);
        let spilled = files.counters().write_bytes() > written;
        assert_eq!(spilled, memory_bytes < 1 << 30, "{memory_bytes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn labels_are_those_of_a_map(
        count in 1usize..40,
        lines in prop::collection::vec((0usize..60, 0u64..9), 1..80),
    ) {
        let name = |i: usize| if i.is_multiple_of(2) { format!("{i}") } else { format!("name {i} beyond fifteen") };
        let mut map = HashMap::new();
        let kept: Vec<_> = lines
            .into_iter()
            .filter(|&(node, community)| *map.entry(node).or_insert(community) == community)
            .collect();
        let names: Vec<String> = (0..count).map(name).collect();
        let borrowed: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let text: String = kept.iter().map(|&(i, c)| format!("{}\t{c}\n", name(i))).collect();
        let found = read_with(&disk(&borrowed, text.as_bytes()).1, &options(true));
        let known = map.keys().filter(|&&node| node < count).count();
        if known == 0 {
            prop_assert_eq!(found.unwrap_err().kind(), ErrorKind::BadInput);
            return Ok(());
        }
        let found = found.unwrap();
        prop_assert_eq!((found.named, found.unknown), (known as u64, (map.len() - known) as u64));
        let mut next = 0;
        for (node, &label) in found.labels.iter().enumerate() {
            match map.get(&node) {
                None => prop_assert_eq!(label, NONE),
                Some(&number) => {
                    prop_assert!(label <= next, "dense, in order of appearance");
                    next += u32::from(label == next);
                    prop_assert_eq!(found.numbers[label as usize], number);
                }
            }
        }
        prop_assert_eq!(u64::from(next), found.community_count);
    }
}
