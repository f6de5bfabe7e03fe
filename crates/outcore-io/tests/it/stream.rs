//! Tests of resumed writers.

use outcore_io::error::ErrorKind;
use outcore_io::{Files, Grows, Scratch, Sealed, Transfer, Tuning, Writer};
use outcore_testkit::sim::Sim;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes `bytes` in odd pieces.
fn write(writer: &mut Writer, bytes: &[u8]) {
    bytes.chunks(1009).for_each(|piece| writer.write(piece).unwrap());
}

/// A file that a checkpoint needs survives a power loss, and another writer resumes it there, whatever was
/// written since; also when bypassing the page cache.
#[test]
fn a_durable_file_is_resumed_by_another_writer() {
    let bytes: Vec<u8> = (0..60_000u32).flat_map(u32::to_le_bytes).collect();
    let directory = tempfile::tempdir().unwrap();
    for count in [0, 1, 4095, 4096, 8192, 70_001, 131_072] {
        let sim = Sim::new();
        let of_sim = Files::new(Arc::new(sim.clone()));
        let on_disk = (Files::default(), directory.path().join("file"));
        for (files, path) in [(of_sim, PathBuf::from("/d/file")), on_disk] {
            let mut tuning = Tuning::default();
            tuning.write = Transfer { direct: true, depth: 2, ..tuning.write };
            let files = files.with_tuning(tuning);
            sim.track();
            let mut writer = Writer::create(&files, &path, 8192, 2).unwrap().hashed();
            write(&mut writer, &bytes[..count / 2]);
            assert_eq!(writer.checkpoint().unwrap().bytes, count as u64 / 2);
            files.hold(&[], &[Grows::Beside.path(&path)]);
            write(&mut writer, &bytes[count / 2..count]);
            let kept = writer.checkpoint().unwrap();
            assert_eq!(kept.bytes, count as u64);
            write(&mut writer, &vec![7; 50_000 + count % 7]);
            match count % 2 {
                0 => drop(writer),
                _ => drop(writer.finish().unwrap()),
            }
            sim.crash(count as u64);
            let writer = Writer::resume(&files, &path, Grows::Beside, kept.bytes, 8192, 2).unwrap();
            let other = Sealed { checksum: kept.checksum ^ 1, ..kept };
            let error = writer.checked(other).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::CorruptFile);
            let writer = Writer::resume(&files, &path, Grows::Beside, kept.bytes, 8192, 2).unwrap();
            let mut writer = writer.checked(kept).unwrap();
            write(&mut writer, &bytes[count..]);
            assert_eq!(writer.checkpoint().unwrap().checksum, xxhash_rust::xxh3::xxh3_64(&bytes));
            assert_eq!(writer.finish().unwrap(), bytes.len() as u64);
            assert!(files.read(&path).unwrap() == bytes, "{count} bytes were saved");
            assert!(files.entry(&Scratch::path_beside(&path)).is_err());
        }
    }
}

#[test]
fn a_dropped_writer_leaves_nothing_unless_a_checkpoint_needs_it() {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    let mut writer = Writer::create(&files, Path::new("/file"), 8192, 2).unwrap();
    write(&mut writer, &[1; 20_000]);
    drop(writer);
    assert!(sim.paths().is_empty());
    let mut writer = Writer::create(&files, Path::new("/file"), 8192, 2).unwrap();
    writer.checkpoint().unwrap();
    files.hold(&[], &[Grows::Beside.path(Path::new("/file"))]);
    drop(writer);
    let kept: Vec<_> = ["CACHEDIR.TAG", "manifest.json", "part"]
        .map(|name| Path::new("/.file.outcore-part").join(name))
        .into();
    assert_eq!(sim.paths(), kept);
    let resumed = Writer::resume(&files, Path::new("/file"), Grows::Beside, 5000, 8192, 2);
    let error = resumed.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::CorruptFile);
    Writer::discard(&files, Path::new("/file"));
    assert!(sim.paths().is_empty());
}
