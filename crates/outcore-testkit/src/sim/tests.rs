use super::*;
use outcore_io::Files;
use outcore_io::error::ErrorKind;
use std::collections::BTreeSet;

fn at(path: &str) -> &Path {
    Path::new(path)
}

fn written(sim: &Sim, path: &str, bytes: &[u8]) -> Box<dyn File> {
    let file = sim.open(at(path), Mode::Create).unwrap();
    assert_eq!(file.write_at(0, bytes).unwrap(), bytes.len());
    file
}

/// Creates a storage with a durable directory.
fn tracked() -> Sim {
    let sim = Sim::new();
    sim.create_directory(at("/d")).unwrap();
    sim.track();
    sim
}

/// Returns the state after a power loss, for many seeds.
fn after_crashes(make: impl Fn() -> Sim) -> Vec<Sim> {
    let crash = |seed| {
        let sim = make();
        sim.crash(seed);
        sim
    };
    (0..400).map(crash).collect()
}

#[test]
fn synced_data_survives_a_power_loss() {
    for sim in after_crashes(|| {
        let sim = tracked();
        sim.put("/d/there", b"before");
        let file = written(&sim, "/d/new.part", &[7; 2000]);
        file.sync().unwrap();
        sim.publish(at("/d/new.part"), at("/d/new")).unwrap();
        sim
    }) {
        assert_eq!(sim.paths(), ["/d/new", "/d/there"].map(PathBuf::from));
        assert_eq!(sim.get("/d/new").unwrap(), [7; 2000]);
        assert_eq!(sim.get("/d/there").unwrap(), b"before");
    }
}

#[test]
fn unsynced_data_survives_is_lost_or_is_torn_at_sectors() {
    let (mut kept, mut lost, mut cut, mut holes, mut second_alone) = (0, 0, 0, 0, 0);
    for sim in after_crashes(|| {
        let sim = tracked();
        // The first write begins and ends inside a sector.
        let file = written(&sim, "/d/file", &[0; 5000]);
        file.sync().unwrap();
        sim.publish(at("/d/file"), at("/d/file")).unwrap();
        file.write_at(100, &[1; 1900]).unwrap();
        file.write_at(2000, &[2; 3000]).unwrap();
        sim
    }) {
        let bytes = sim.get("/d/file").unwrap();
        assert_eq!(bytes.len(), 5000);
        // Each sector, on either side of the beginning of the second write, has uniform content.
        for (begin, end, value) in [(100, 512, 1), (512, 1024, 1), (1536, 2000, 1), (2000, 2048, 2)]
        {
            let part = &bytes[begin..end];
            assert!(part.iter().all(|&byte| byte == part[0]), "{begin}..{end}");
            assert!(part[0] == 0 || part[0] == value);
        }
        assert!(bytes[..100].iter().all(|&byte| byte == 0));
        let sectors = [100, 512, 1024, 1536].map(|begin| bytes[begin] == 1);
        let second = bytes[2048..].iter().filter(|&&byte| byte == 2).count();
        kept += u32::from(sectors == [true; 4] && second == 2952);
        lost += u32::from(sectors == [false; 4] && second == 0);
        cut += u32::from(sectors == [true, true, false, false]);
        holes += u32::from(sectors == [true, false, true, false]);
        second_alone += u32::from(sectors == [false; 4] && second == 2952);
    }
    for count in [kept, lost, cut, holes, second_alone] {
        assert!(count > 0, "{kept} {lost} {cut} {holes} {second_alone}");
    }
    assert!(kept < 300 && lost < 300, "{kept} {lost}");
}

#[test]
fn a_prefix_of_directory_changes_survives() {
    let mut seen = BTreeSet::new();
    for sim in after_crashes(|| {
        let sim = tracked();
        sim.put("/d/old", b"");
        for name in ["/d/a", "/d/b"] {
            written(&sim, name, b"x");
        }
        sim.remove(at("/d/old")).unwrap();
        // A rename without publication: nothing is synced.
        sim.tree().rename(at("/d/a"), at("/d/c")).unwrap();
        sim
    }) {
        let names: Vec<_> = sim
            .paths()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        seen.insert(names.join(" "));
    }
    assert_eq!(Vec::from_iter(seen), ["a b", "a b old", "a old", "b c", "old"]);
}

#[test]
fn a_recreated_directory_has_none_of_the_old_entries() {
    for sim in after_crashes(|| {
        let sim = tracked();
        sim.put("/d/inner/left", b"");
        sim.remove(at("/d/inner/left")).unwrap();
        sim.remove_directory(at("/d/inner")).unwrap();
        sim.create_directory(at("/d/inner")).unwrap();
        let file = written(&sim, "/d/inner/new", b"");
        file.sync().unwrap();
        // Both entries are durable, the file's and that of its directory.
        sim.publish(at("/d/inner/new"), at("/d/inner/new")).unwrap();
        sim
    }) {
        assert_eq!(sim.paths(), [PathBuf::from("/d/inner/new")]);
    }
}

#[test]
fn operations_fail_without_power_and_work_again_after_the_crash() {
    for steps in 0..9 {
        let sim = tracked();
        sim.put("/d/there", b"1");
        sim.set_power_loss(Some(steps));
        let work = || -> io::Result<()> {
            let file = sim.open(at("/d/file"), Mode::Create)?;
            file.write_at(0, b"2")?;
            file.sync()?;
            sim.publish(at("/d/file"), at("/d/named"))?;
            sim.remove(at("/d/there"))?;
            sim.create_directory(at("/d/e"))
        };
        assert_eq!(work().is_ok(), steps > 7, "{steps}");
        assert_eq!(sim.is_off(), steps <= 7);
        if sim.is_off() {
            assert!(sim.open(at("/d/there"), Mode::Read).is_err());
            assert!(sim.remove(at("/d/there")).is_err());
            assert!(sim.entry(at("/d")).is_err() && sim.list(at("/d")).is_err());
        }
        sim.crash(steps);
        let named = sim.get("/d/named");
        assert!(named.is_none() || named.as_deref() == Some(b"2"));
        assert!(named.is_some() || steps < 5, "a published file is missing");
        assert!(sim.entry(at("/d/e")).is_ok() || steps < 8, "a created directory is missing");
        assert!(sim.list(at("/d")).is_ok());
        written(&sim, "/d/after", b"3");
    }
}

#[test]
fn data_lost_in_a_failed_sync_stays_lost_after_the_next_sync() {
    let mut lost = 0;
    for at_write in 0..40 {
        let sim = tracked();
        let file = written(&sim, "/d/file", &vec![1; 512 * (at_write + 1)]);
        sim.set_fault(Some(Fault { at: 0, forever: false, kind: io::ErrorKind::Other }));
        file.sync().unwrap_err();
        let left = sim.get("/d/file").unwrap();
        file.sync().unwrap();
        assert_eq!(sim.get("/d/file").unwrap(), left);
        lost += u32::from(left != vec![1; 512 * (at_write + 1)]);
    }
    assert!(lost > 10 && lost < 40, "{lost}");
}

#[test]
fn a_full_disk_takes_what_fits_and_frees_space_on_removal() {
    let sim = Sim::new();
    sim.put("/in", &[0; 100]);
    sim.put("/old", &[0; 50]);
    sim.set_full_after(Some(1000));
    let file = written(&sim, "/a", &[1; 900]);
    assert_eq!(file.write_at(900, &[1; 300]).unwrap(), 100);
    let full = file.write_at(1000, &[1]).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    // Existing bytes can still be overwritten and truncated.
    assert_eq!(file.write_at(500, &[2; 500]).unwrap(), 500);
    let create = |path| sim.open(at(path), Mode::Create).map(drop).map_err(|e| e.kind());
    assert_eq!(create("/b"), Err(io::ErrorKind::StorageFull));
    let files = Files::new(Arc::new(sim.clone()));
    assert_eq!(files.write(at("/b"), b"1").unwrap_err().kind(), ErrorKind::DiskFull);
    sim.remove(at("/old")).unwrap();
    written(&sim, "/b", &[3; 50]);
    file.set_bytes(10).unwrap();
    written(&sim, "/c", &[3; 990]);
    assert_eq!(create("/d"), Err(io::ErrorKind::StorageFull));
    sim.set_full_after(None);
    written(&sim, "/d", &[3; 10_000]);
}

#[test]
fn interrupted_and_short_transfers_complete() {
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect();
    let mut counts = BTreeSet::new();
    for seed in 0..4 {
        let sim = Sim::new();
        sim.set_interrupts(Some(seed));
        sim.set_short_transfers(true);
        let files = Files::new(Arc::new(sim.clone()));
        files.write(at("/file"), &bytes).unwrap();
        assert_eq!(files.read(at("/file")).unwrap(), bytes);
        sim.set_interrupts(None);
        assert_eq!(files.read(at("/file")).unwrap(), bytes);
        let file = sim.open(at("/file"), Mode::Read).unwrap();
        counts.insert(file.read_at(0, &mut [0; 10_000]).unwrap());
    }
    assert!(counts.iter().all(|&count| count < 4097), "{counts:?}");
    assert!(counts.iter().any(|&count| count % 512 != 0), "{counts:?}");
}

#[test]
fn damage_flips_only_the_given_bits() {
    let sim = Sim::new();
    sim.put("/file", &[0b1010; 10]);
    sim.damage("/file", 3, 0b11);
    let mut expected = [0b1010; 10];
    expected[3] = 0b1001;
    assert_eq!(sim.get("/file").unwrap(), expected);
}

#[test]
fn a_fault_in_a_publication_comes_before_or_after_the_new_name() {
    for (fault, names) in [(0, "/from"), (1, "/to")] {
        let sim = Sim::new();
        sim.put("/from", b"");
        sim.track();
        sim.set_fault(Some(Fault { at: fault, forever: false, kind: io::ErrorKind::Other }));
        sim.publish(at("/from"), at("/to")).unwrap_err();
        assert_eq!(sim.paths(), [PathBuf::from(names)]);
    }
}
