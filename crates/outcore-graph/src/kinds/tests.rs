//! Writes and reads kinds through names that begin with them, and damages their file.

use super::*;
use crate::{Duplicates, Graph, GraphOptions, GraphWriter, NamesWriter};
use outcore_io::progress::Silent;
use outcore_testkit::sim::Sim;

const PATH: &str = "graph";

fn names() -> KindNames {
    KindNames(["user".into(), "item".into()])
}

fn written(files: &Files, kinds: &[bool]) -> Graph {
    let options = GraphOptions {
        node_count: kinds.len() as u64,
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let directory = Path::new(PATH);
    let writer = GraphWriter::create(files, directory, &options).unwrap();
    let mut writer_of_names = NamesWriter::create_of(files, directory, Some(&names())).unwrap();
    for (node, &is_second) in kinds.iter().enumerate() {
        let kind = if is_second { "item" } else { "user" };
        writer_of_names.push(format!("{kind}:{node}").as_bytes()).unwrap();
    }
    let kinds = writer_of_names.finish().unwrap().kinds;
    writer.of_kinds(kinds).finish().unwrap();
    Graph::open(files, directory).unwrap()
}

fn read(graph: &Graph) -> Result<Vec<bool>> {
    let mut scan = graph.open_kinds()?.unwrap().scan();
    let mut found = Vec::new();
    while let Some(is_second) = scan.next_kind()? {
        found.push(is_second);
    }
    Ok(found)
}

#[test]
fn kinds_are_those_of_the_names() {
    // More nodes than a block has.
    for count in [0, 1, 8, 9, 1000, (1 << 18) + 3] {
        let files = Files::new(Arc::new(Sim::new()));
        let kinds: Vec<bool> = (0..count).map(|node: u32| node.is_multiple_of(3)).collect();
        let graph = written(&files, &kinds);
        assert_eq!(read(&graph).unwrap(), kinds);
        let bits = graph.open_kinds().unwrap().unwrap().read().unwrap();
        assert!((0..count).all(|node| bits.is_second(node) == kinds[node as usize]));
        let second = kinds.iter().filter(|&&is_second| is_second).count() as u64;
        let found = graph.kinds().unwrap();
        assert_eq!(found.names, ["user", "item"]);
        assert_eq!(found.counts, [u64::from(count) - second, second]);
        graph.verify(&Silent).unwrap();
    }
}

#[test]
fn a_name_of_neither_kind_is_refused() {
    let files = Files::new(Arc::new(Sim::new()));
    let mut writer = KindsWriter::create(&files, Path::new(PATH), &names()).unwrap();
    for name in ["7", "users:7", "", "item"] {
        let error = writer.push_name(name.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
    }
    writer.push_name(b"item:7").unwrap();
}

#[test]
fn any_damage_to_kinds_is_found() {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    let kinds: Vec<bool> = (0..77).map(|node: u32| node.is_multiple_of(3)).collect();
    let graph = written(&files, &kinds);
    let path = Path::new(PATH).join("kinds");
    let intact = files.read(&path).unwrap();
    for at in 0..intact.len() {
        let mut damaged = intact.clone();
        damaged[at] ^= 1 << (at % 8);
        files.write(&path, &damaged).unwrap();
        assert!(read(&graph).is_err(), "byte {at}");
        assert!(graph.verify(&Silent).is_err(), "byte {at}");
    }
    for end in 0..intact.len() {
        files.write(&path, &intact[..end]).unwrap();
        assert!(read(&graph).is_err(), "{end} bytes");
    }
    // Kinds of another graph of as many nodes.
    let other: Vec<bool> = kinds.iter().map(|kind| !kind).collect();
    let another = Files::new(Arc::new(Sim::new()));
    written(&another, &other);
    files.write(&path, &another.read(&path).unwrap()).unwrap();
    assert!(read(&graph).is_err());
}
