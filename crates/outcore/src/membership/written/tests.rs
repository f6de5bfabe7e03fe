//! Tests of reading communities back: what the writers of `output` leave, in buffers of any size, and damaged files.

use super::*;
use crate::input::CommunityFormat::{Auto, Clusters, Pairs};
use crate::input::NAME_LIMIT;
use outcore_testkit::sim::Sim;
use proptest::collection;
use proptest::prelude::*;
use std::sync::Arc;

type Named = Vec<(Vec<u8>, u64)>;

fn disk(path: &str, text: &[u8]) -> (Sim, Files) {
    let sim = Sim::new();
    sim.put(path, text);
    let files = Files::new(Arc::new(sim.clone()));
    (sim, files)
}

fn read(files: &Files, path: &str, rows: CommunityFormat) -> Result<Named> {
    let mut written = WrittenFile::open(files, Path::new(path), rows)?;
    let mut all = Vec::new();
    while written.next_batch()? {
        all.extend(written.rows().map(|(name, community)| (name.to_vec(), community)));
    }
    Ok(all)
}

/// Writes a field as the engine does in tab-separated text, or as is usual in CSV.
fn put(name: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let breaks = |byte: &u8| [delimiter, b'\n', b'\r'].contains(byte);
    if !name.iter().any(breaks) && name.first() != Some(&b'"') {
        out.extend_from_slice(name);
        return;
    }
    out.push(b'"');
    for &byte in name {
        out.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    out.push(b'"');
}

/// Names of few different bytes, which contain everything that a reader could mistake.
fn names() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop::sample::select(b"ab\"\t\n\r,: 0\xC3\xFF".to_vec());
    // Each node has one row.
    collection::btree_set(collection::vec(byte, 1..6), 0..40)
        .prop_map(|names| names.into_iter().collect())
}

proptest! {
    #[test]
    fn nodes_are_read_back(names in names(), more in any::<bool>(), has_header in any::<bool>(), short in any::<bool>()) {
        for (path, delimiter) in [("c.tsv", b'\t'), ("c.csv", b',')] {
            let mut text = Vec::new();
            if has_header || more || delimiter == b',' {
                text.extend_from_slice(if delimiter == b',' { b"node,community" } else { b"node\tcommunity" });
                text.extend([delimiter, b'x'].into_iter().filter(|_| more).chain([b'\n']));
            }
            for (at, name) in names.iter().enumerate() {
                put(name, delimiter, &mut text);
                text.push(delimiter);
                text.extend_from_slice(at.to_string().as_bytes());
                text.extend([delimiter, b'2'].into_iter().filter(|_| more).chain([b'\n']));
            }
            let expected: Named = names.iter().cloned().zip(0..).collect();
            let (sim, files) = disk(path, &text);
            sim.set_short_transfers(short);
            prop_assert_eq!(read(&files, path, Auto).unwrap(), expected);
        }
    }

    #[test]
    fn lines_and_pairs_are_read_back(groups in collection::vec(collection::vec("[a-c\"\t\n]{1,4}", 1..6), 1..9)) {
        let (mut lines, mut pairs, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for (community, names) in groups.iter().enumerate() {
            // Each name is one of its community only, as in a partition.
            let names: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{name}{community}.{at}")).collect();
            for (at, name) in names.iter().enumerate() {
                if at > 0 {
                    lines.push(b'\t');
                }
                put(name.as_bytes(), b'\t', &mut lines);
                put(names[0].as_bytes(), b'\t', &mut pairs);
                pairs.push(b'\t');
                put(name.as_bytes(), b'\t', &mut pairs);
                pairs.push(b'\n');
                expected.push((name.as_bytes().to_vec(), community as u64));
            }
            lines.push(b'\n');
        }
        let (sim, files) = disk("lines", &lines);
        sim.put("pairs", &pairs);
        prop_assert_eq!(&read(&files, "lines", Clusters).unwrap(), &expected);
        prop_assert_eq!(&read(&files, "pairs", Pairs).unwrap(), &expected);
    }

    #[test]
    fn any_bytes_are_rows_or_an_error(text in collection::vec(any::<u8>(), 0..60), words in "[ab\"\t\n\r,0-9:{}]{0,40}") {
        for text in [&text[..], words.as_bytes()] {
            for path in ["c", "c.csv", "c.jsonl"] {
                let (_, files) = disk(path, text);
                for rows in [Auto, Clusters, Pairs] {
                    // Tables have their own tests.
                    if !TABLES.iter().any(|(magic, _)| text.starts_with(magic)) {
                        let _ = read(&files, path, rows);
                    }
                }
            }
        }
    }
}

#[test]
fn a_line_longer_than_the_buffer_is_read() {
    let names: Vec<String> = (0..400_000).map(|node| format!("node {node}")).collect();
    let text = names.join("\t") + "\n\"" + &"\n".repeat(65_000) + "\"\tlast\n";
    let (_, files) = disk("lines", text.as_bytes());
    let found = read(&files, "lines", Clusters).unwrap();
    assert_eq!(found.len(), names.len() + 2);
    assert!(
        found[..names.len()]
            .iter()
            .zip(&names)
            .all(|(row, name)| row.0 == name.as_bytes() && row.1 == 0)
    );
    assert_eq!(found[names.len()], (vec![b'\n'; 65_000], 1));
    assert_eq!(found[names.len() + 1], (b"last".to_vec(), 1));
}

#[test]
fn a_field_without_an_end_is_an_error_not_all_of_memory() {
    for (text, kind) in [
        (vec![b'a'; 3 << 20], ErrorKind::NameTooLong),
        (vec![b'"'; 3 << 20], ErrorKind::NameTooLong),
    ] {
        let (_, files) = disk("c", &text);
        assert_eq!(read(&files, "c", Auto).unwrap_err().kind(), kind);
    }
}

#[test]
fn groups_are_columns_after_the_community_or_named() {
    for (path, text, expected) in [
        ("c", &b"a\t0\t4\t9\nb\t0\t5\t8\n"[..], Some(vec![4, 5, 9, 8])),
        ("c", b"a\t0\t4\t9\t0.500\n", Some(vec![4, 9])),
        ("c", b"a\t0\t4\t0.500\n", None),
        ("c", b"a\t0\n", None),
        ("c.csv", b"node,weight,community,group1,group2\na,3,0,7,8\n", Some(vec![7, 8])),
        ("c.csv", b"node,community,group1,weight\na,0,1,3\n", None),
        (
            "c.jsonl",
            b"{\"node\":\"a\",\"community\":3,\"group1\":1,\"group2\":6}\n",
            Some(vec![1, 6]),
        ),
    ] {
        let (_, files) = disk(path, text);
        let level = |name| read_column::<u64>(&files, Path::new(path), name).unwrap();
        let groups = level("group1").zip(level("group2"));
        let groups = groups.map(|(one, two)| [one, two].concat());
        assert_eq!(groups, expected, "{}", text.escape_ascii());
    }
    let (_, files) = disk("c", b"a\t0\t1\t1\nb\t0\t1\tx\n");
    assert_eq!(read_column(&files, Path::new("c"), "group1").unwrap(), Some(vec![1, 1]));
    let error = read_column::<u64>(&files, Path::new("c"), "group2").unwrap_err();
    assert!(error.to_string().contains("`x`"), "{error}");
}

#[test]
fn stability_is_the_last_column_with_shares() {
    for (path, text, expected) in [
        ("c", &b"a\t0\t0.500\nb\t0\t1.000\n"[..], Some(vec![0.5, 1.0])),
        ("c", b"a\t0:1\t2.5\t0.125\n", Some(vec![0.125])),
        ("c", b"a\t0\t2.5\n", None),
        ("c", b"a\t0\n", None),
        ("c", b"", Some(Vec::new())),
        ("c.csv", b"node,community,stability,weight\na,0,0.5,3\n", Some(vec![0.5])),
        ("c.csv", b"node,community,weight\na,0,0.500\n", None),
        ("c.jsonl", b"{\"node\":\"a\",\"path\":\"3:1\",\"stability\":0.25}\n", Some(vec![0.25])),
    ] {
        let (_, files) = disk(path, text);
        let shares = read_column(&files, Path::new(path), "stability").unwrap();
        assert_eq!(shares, expected, "{}", text.escape_ascii());
    }
}

#[test]
fn the_longest_name_is_read_back_from_an_object() {
    let name = "\"".repeat(NAME_LIMIT);
    let text = format!("{{\"node\":{},\"community\":3}}\n", serde_json::to_string(&name).unwrap());
    let (_, files) = disk("c.jsonl", text.as_bytes());
    assert_eq!(read(&files, "c.jsonl", Auto).unwrap(), [(name.into_bytes(), 3)]);
}
