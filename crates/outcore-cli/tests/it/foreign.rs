//! A directory full of files, links and directories of other users, under every name that the command ever
//! uses: after any job, however it ends, they are unchanged.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::outcore;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Names next to results; the results themselves are meant to be written.
const NAMES: [&str; 24] = [
    "out.tsv.part",
    ".out.tsv.part",
    ".out.tsv.outcore",
    ".out.tsv.outcore-part",
    "x.graph.part",
    ".x.graph.outcore",
    ".x.graph.outcore-part",
    "rejects.tsv.part",
    ".rejects.tsv.outcore",
    ".rejects.tsv.outcore-part",
    "report.json.part",
    ".report.json.outcore-part",
    "chosen.tsv.part",
    ".chosen.tsv.outcore-part",
    "made.tsv.part",
    ".made.tsv.outcore-part",
    "manifest.json",
    "manifest.json.part",
    "lock",
    "part",
    "graph",
    "runs",
    "sweeps",
    "names",
];

const JOBS: [&[&str]; 4] = [
    &[
        "cluster",
        "edges.tsv",
        "-o",
        "out.tsv",
        "--on-bad-line",
        "skip",
        "--rejects",
        "rejects.tsv",
        "--report",
        "report.json",
        "--representatives",
        "chosen.tsv",
        "--summary",
        "summary.tsv",
    ],
    &["build", "edges.tsv", "-o", "x.graph", "--on-bad-line", "skip", "--rejects", "rejects.tsv"],
    &["cluster", "edges.tsv", "-o", "out.tsv", "--on-bad-line", "skip", "--work-dir", "work"],
    &["generate", "planted", "--nodes", "2000", "--edges", "9000", "-o", "made.tsv"],
];

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % count
    }
}

/// State of a path: the target of a link, the inode and contents of a file, or a directory.
#[derive(Debug, PartialEq)]
enum Found {
    Link(PathBuf),
    File(u64, Vec<u8>),
    Directory,
}

/// Returns the state of everything below these paths.
fn found(paths: &[PathBuf]) -> BTreeMap<PathBuf, Found> {
    let mut all = BTreeMap::new();
    let mut left = paths.to_vec();
    while let Some(path) = left.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let found = if metadata.is_symlink() {
            Found::Link(fs::read_link(&path).unwrap())
        } else if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Found::Directory
        } else {
            Found::File(metadata.ino(), fs::read(&path).unwrap())
        };
        all.insert(path, found);
    }
    all
}

/// Creates something of another user at `path`.
fn put(path: &Path, victim: &Path, kind: u64) {
    match kind {
        0 => fs::write(path, "of the user").unwrap(),
        1 => fs::hard_link(victim.join("precious"), path).unwrap(),
        2 => symlink(victim.join("precious"), path).unwrap(),
        3 => symlink(victim, path).unwrap(),
        4 => symlink("nowhere", path).unwrap(),
        _ => {
            fs::create_dir_all(path.join("graph")).unwrap();
            for name in ["manifest.json", "lock", "part", "graph/arcs", "CACHEDIR.TAG"] {
                fs::write(path.join(name), format!("{name} of the user")).unwrap();
            }
        }
    }
}

#[test]
fn foreign_files_are_left_alone_however_a_job_ends() {
    let edges: String = (0..40_000u64)
        .map(|edge| match edge % 5000 {
            4999 => "alone\n".into(),
            _ => format!("{}\t{}\n", edge * edge % 7919, edge % 3001),
        })
        .collect();
    let mut random = Random(20);
    let (mut done, mut failed) = (0, 0);
    for round in 0..72 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let victim = path.join("victim");
        fs::create_dir(&victim).unwrap();
        for name in ["precious", "manifest.json", "part"] {
            fs::write(victim.join(name), "precious").unwrap();
        }
        fs::write(path.join("edges.tsv"), &edges).unwrap();
        let mut foreign = vec![victim.clone(), path.join("edges.tsv")];
        // From one name to nearly all of them.
        let share = 1 + random.below(12);
        for name in NAMES {
            if random.below(share) == 0 {
                put(&path.join(name), &victim, random.below(6));
                foreign.push(path.join(name));
            }
        }
        let before = found(&foreign);
        let args = JOBS[round % JOBS.len()];
        for end in 0..3 {
            let mut job = outcore(path, args);
            job.args(["-q", "-t", "2"]).stderr(Stdio::null());
            let mut job = job.spawn().unwrap();
            if end < 2 {
                std::thread::sleep(Duration::from_millis(random.below(60)));
                job.kill().unwrap();
            }
            match job.wait().unwrap().success() {
                true => done += 1,
                false => failed += 1,
            }
            let after = found(&foreign);
            let what = format!("round {round}, run {end} of {args:?}");
            assert!(before == after, "{what}: {before:?} became {after:?}");
        }
    }
    assert!(done > 20 && failed > 20, "{done} jobs succeeded, {failed} failed");
}
