//! Tests of lookups: against a map, for names that collide, and when the disk fails.

use super::*;
use crate::progress::Silent;
use outcore_testkit::sim::Sim;
use proptest::collection;
use proptest::prelude::*;
use std::sync::Arc;

const FILE: &str = "communities.tsv";

fn disk(text: &[u8]) -> (Sim, Files) {
    let sim = Sim::new();
    sim.put(FILE, text);
    let files = Files::new(Arc::new(sim.clone()));
    (sim, files)
}

fn built(files: &Files) -> Result<Lookup> {
    Lookup::build(files, Path::new(FILE), CommunityFormat::Auto, 2, &Silent)
}

proptest! {
    #[test]
    fn every_name_has_its_community(
        map in collection::hash_map("[a-z]{1,3}|[0-9]{1,40}", any::<u32>(), 1..500),
        others in collection::vec("[a-z]{1,3}|.{0,9}", 0..50),
    ) {
        let text: String =
            map.iter().map(|(name, community)| format!("{name}\t{community}\n")).collect();
        let (sim, files) = disk(text.as_bytes());
        let lookup = built(&files).unwrap();
        for name in map.keys().chain(&others) {
            let expected = map.get(name).map(|&community| u64::from(community));
            prop_assert_eq!(lookup.community(name.as_bytes()).unwrap(), expected);
        }
        prop_assert_eq!(sim.paths(), [Path::new(FILE)]);
    }
}

#[test]
fn names_with_the_same_hash_are_distinguished() {
    let (_, files) = disk(b"unused\t0\n");
    let names = ["b", "ab", "a longer name than the others", "c"];
    let seed = 7;
    let hash = xxh3_64_with_seed(b"c", seed);
    let directory = Path::new("scratch");
    files.create_directory(directory).unwrap();
    let names_path = directory.join("names");
    let mut writer = Writer::create_scratch(&files, &names_path, WRITE_BYTES, 1).unwrap();
    let mut sorter = RowSorter::new(&files, directory, SORT_BYTES, 1).unwrap();
    // More records than are read at a time, all with the hash of the last one.
    for at in 0..100 {
        let name = names[if at < 99 { at % 3 } else { 3 }];
        sorter.add(Place { hash, place: writer.position() }).unwrap();
        writer.write(&length(name.as_bytes())).unwrap();
        writer.write(&(at as u64).to_le_bytes()).unwrap();
        writer.write(name.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    let slots = directory.join("slots");
    let home_count = write_slots(&files, &slots, sorter.finish().unwrap(), &Silent).unwrap();
    let lookup = Lookup {
        names: files.open(&directory.join("names"), Mode::Read).unwrap(),
        slots: files.open(&slots, Mode::Read).unwrap(),
        home_count,
        seed,
        source: files.entry(Path::new(FILE)).unwrap(),
    };
    assert_eq!(lookup.community(b"c").unwrap(), Some(99));
    assert_eq!(lookup.community(b"d").unwrap(), None);
}

#[test]
fn a_changed_file_is_detected() {
    let (sim, files) = disk(b"a\t0\nb\t1\n");
    let lookup = built(&files).unwrap();
    assert!(lookup.is_of(&files, Path::new(FILE)));
    sim.put(FILE, b"a\t0\nb\t1\nc\t1\n");
    assert!(!lookup.is_of(&files, Path::new(FILE)));
    assert_eq!(built(&files).unwrap().community(b"c").unwrap(), Some(1));
}

#[test]
fn a_bad_line_or_a_full_disk_leaves_nothing() {
    let (sim, files) = disk(b"a\t0\nb\tmany\n");
    assert_eq!(built(&files).err().unwrap().place().unwrap().line, 2);
    assert_eq!(sim.paths(), [Path::new(FILE)]);
    sim.put(FILE, b"a\t0\nb\t1\n");
    let failed = (0..2000).step_by(10).filter(|&room| {
        sim.set_full_after(Some(room));
        let error = built(&files).err();
        sim.set_full_after(None);
        assert_eq!(sim.paths(), [Path::new(FILE)]);
        error.is_some_and(|error| error.kind() == ErrorKind::DiskFull)
    });
    assert!(failed.count() > 5);
}

#[test]
fn indexes_of_one_file_are_built_concurrently() {
    let (_, files) = disk(b"a\t0\n");
    let first = scratch_beside(&files, Path::new(FILE)).unwrap();
    assert_eq!(built(&files).unwrap().community(b"a").unwrap(), Some(0));
    drop(first);
}
