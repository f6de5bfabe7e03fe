//! A disk that is full, too small for a file, or read-only: a clear error, no loss of data, and the same command
//! succeeds after the cause is fixed.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use crate::common::{listed, outcore, run, stderr};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Small disk, if this process may mount one.
struct Disk(TempDir);

impl Disk {
    fn new(options: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(directory.path());
        match mount.output() {
            Ok(done) if done.status.success() => Some(Self(directory)),
            _ => {
                eprintln!("skipped: a small disk cannot be mounted here");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(self.path()).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// Edges whose names take megabytes, and the expected result.
struct Inputs {
    directory: TempDir,
    edges: PathBuf,
    expected: Vec<u8>,
}

impl Inputs {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let edges = directory.path().join("edges.tsv");
        let mut text = String::new();
        for node in 0..20_000 {
            let tail = "x".repeat(100);
            writeln!(text, "{node}-{tail}\t{}-{tail}\t{}", node / 10 * 10, node % 7 + 1).unwrap();
        }
        std::fs::write(&edges, text).unwrap();
        let done = run(directory.path(), &["cluster", "edges.tsv", "-o", "out.tsv"]);
        assert!(done.status.success(), "{}", stderr(&done));
        let expected = std::fs::read(directory.path().join("out.tsv")).unwrap();
        Self { directory, edges, expected }
    }

    /// Clusters the edges from a pipe, so that their size is not known in advance.
    fn cluster(&self, output: &Path, prefix: &str) -> Output {
        let script = format!("{prefix} exec \"$0\" cluster - -o \"$1\" -q < \"$2\"");
        Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_outcore")])
            .args([output, &self.edges])
            .current_dir(self.directory.path())
            .output()
            .unwrap()
    }

    fn check(&self, done: &Output, output: &Path) {
        assert!(done.status.success(), "{}", stderr(done));
        assert!(std::fs::read(output).unwrap() == self.expected, "different result");
    }
}

#[test]
fn a_disk_that_fills_up_loses_no_data() {
    let Some(disk) = Disk::new("size=2m") else { return };
    let (inputs, output) = (Inputs::new(), disk.path().join("out.tsv"));
    std::fs::write(&output, "old").unwrap();
    let full = inputs.cluster(&output, "");
    let reported = stderr(&full);
    assert_eq!(full.status.code(), Some(4), "{reported}");
    assert!(reported.starts_with("error[disk-full]: cannot write `"), "{reported}");
    assert!(
        reported.contains("help: free space, or use `--work-dir` on a larger disk"),
        "{reported}"
    );
    assert_eq!(std::fs::read(&output).unwrap(), b"old");
    disk.remount("size=200m");
    inputs.check(&inputs.cluster(&output, ""), &output);
    assert_eq!(listed(disk.path()), [output]);
}

#[test]
fn a_disk_known_to_be_too_small_is_refused_before_the_work() {
    let Some(disk) = Disk::new("size=2m") else { return };
    let inputs = Inputs::new();
    let output = disk.path().join("out.tsv");
    let args = ["cluster", "edges.tsv", "-q", "-o"];
    let mut command = outcore(inputs.directory.path(), &args);
    let small = command.arg(&output).output().unwrap();
    let reported = stderr(&small);
    assert_eq!(small.status.code(), Some(4), "{reported}");
    assert!(reported.starts_with("error[disk-too-small]"), "{reported}");
    assert_eq!(listed(disk.path()).len(), 0);
    disk.remount("size=200m");
    inputs.check(&command.output().unwrap(), &output);
}

#[test]
fn a_file_larger_than_the_shell_allows_is_an_error() {
    let inputs = Inputs::new();
    let output = inputs.directory.path().join("limited.tsv");
    // In units of 512 or 1024 bytes.
    let limited = inputs.cluster(&output, "ulimit -f 1000;");
    let reported = stderr(&limited);
    assert_eq!(limited.status.code(), Some(1), "{:?}: {reported}", limited.status);
    assert!(reported.starts_with("error[io]: cannot write `"), "{reported}");
    assert!(reported.contains("file too large") && reported.contains("ulimit -f"), "{reported}");
    assert!(!output.exists());
    inputs.check(&inputs.cluster(&output, ""), &output);
    assert_eq!(listed(inputs.directory.path()).len(), 3);
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let Some(disk) = Disk::new("size=100m") else { return };
    let (inputs, output) = (Inputs::new(), disk.path().join("out.tsv"));
    std::fs::write(&output, "old").unwrap();
    disk.remount("ro");
    let refused = inputs.cluster(&output, "");
    let reported = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{reported}");
    assert!(
        reported.contains("cannot create `") && reported.contains("read-only file"),
        "{reported}"
    );
    assert_eq!(std::fs::read(&output).unwrap(), b"old");
    disk.remount("rw");
    inputs.check(&inputs.cluster(&output, ""), &output);
    assert_eq!(listed(disk.path()), [output]);
}
