//! Helpers for tests of the command on real files.
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) fn outcore(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outcore"));
    command.current_dir(directory).args(args).stdin(Stdio::null());
    // Servers of tests are not reached through the machine's proxy.
    command.env("NO_PROXY", "127.0.0.1");
    command
}

pub(crate) fn run(directory: &Path, args: &[&str]) -> Output {
    outcore(directory, args).output().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn listed(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[cfg(unix)]
pub(crate) fn kill(signal: &str, process: u32) {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
    assert!(sent.success());
}
