//! Inputs that are wrong by mistake, or made to do harm: each gives the intended communities, or is refused with a
//! message that names the problem. No files are left behind, and memory stays within the limit.
//!
//! Messages are in `tests/catalogue.txt`; `CATALOGUE=overwrite cargo test -p outcore-cli --test it catalogue` updates
//! them.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]
#![expect(clippy::print_stdout, reason = "time and memory are worth a look")]

mod foreign;
mod hints;
mod lists;
mod packed;
mod tables;
mod text;
mod usage;

use crate::common::outcore;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
const LIMIT: [&str; 4] = ["-m", "64MiB", "--threads", "2"];
/// Limit plus the memory of the program itself. A build for tests holds about 20 MiB of its own code and data in
/// memory, like a release, and needs no more room.
const MEMORY_MAX: u64 = (64 + 32) * MIB;
/// Time limit of a run: one that takes longer is stopped, and the test fails.
const LONGEST: Duration = Duration::from_secs(60);

/// Expected outcome of an input.
enum Expected {
    /// Communities, as [`partition`] formats them.
    Finds(&'static str),
    /// Exit status, and a part of the message.
    Refuses(i32, &'static str),
    /// Damage that is detected; the place depends on the libraries that write and read the file.
    Damaged,
    /// Damage that may be in a name, where it cannot be detected: any outcome but a panic.
    Survives,
}

/// Input with its expected outcome.
struct Case {
    name: String,
    /// Creates the files, in a directory of its own.
    make: Box<dyn Fn(&Path)>,
    args: Vec<String>,
    expected: Expected,
    /// Files that it leaves in addition to the output.
    left: Vec<&'static str>,
}

/// Simplest edges of two communities.
const PLAIN: &str = "a\tb\t1\nb\tc\t2\nd\te\t1\n";
/// Communities of [`PLAIN`].
const FOUND: &str = "a b c|d e";

fn finds(partition: &'static str) -> Expected {
    Expected::Finds(partition)
}

/// Returns the outcome for bad input data.
fn bad(message: &'static str) -> Expected {
    Expected::Refuses(3, message)
}

/// A question about the meaning of the input.
fn asks(message: &'static str) -> Expected {
    Expected::Refuses(2, message)
}

impl Case {
    /// Creates a case that finds the components of one file.
    fn of(
        name: impl Into<String>,
        file: &'static str,
        bytes: impl AsRef<[u8]> + 'static,
        expected: Expected,
    ) -> Self {
        Self::made(
            name,
            file,
            move |directory| {
                std::fs::write(directory.join(file), &bytes).unwrap();
            },
            expected,
        )
    }

    /// Like [`Self::of`], for a file that `make` creates.
    fn made(
        name: impl Into<String>,
        file: &str,
        make: impl Fn(&Path) + 'static,
        expected: Expected,
    ) -> Self {
        let args = ["cluster", file, "-o", "out.tsv", "--method", "components"];
        let args = args.iter().chain(&LIMIT).map(|&arg| arg.to_owned()).collect();
        Self { name: name.into(), make: Box::new(make), args, expected, left: Vec::new() }
    }

    /// Creates a case of [`PLAIN`] with these additional arguments.
    fn with(name: impl Into<String>, args: &[&str], expected: Expected) -> Self {
        Self::of(name, "edges.tsv", PLAIN, expected).and(args)
    }

    /// Adds arguments.
    fn and(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// Replaces all arguments.
    fn alone(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|&arg| arg.to_owned()).collect();
        self
    }

    /// Adds files that it leaves in addition to the output.
    fn leaves(mut self, names: &[&'static str]) -> Self {
        self.left.extend(names);
        self
    }
}

/// Outcome of a run.
struct Run {
    status: Option<i32>,
    reported: String,
    peak_bytes: u64,
    took: Duration,
}

/// Runs the command until it ends, and samples its memory.
fn run(directory: &Path, args: &[&str]) -> Run {
    let begin = Instant::now();
    let path = directory.with_extension("stderr");
    let mut job = outcore(directory, args)
        .stdout(Stdio::null())
        .stderr(File::create(&path).unwrap())
        .spawn()
        .unwrap();
    let status_path = format!("/proc/{}/status", job.id());
    let mut peak_bytes = 0;
    let status = loop {
        peak_bytes = peak_resident(&status_path).unwrap_or(0).max(peak_bytes);
        if let Some(status) = job.try_wait().unwrap() {
            break status.code();
        }
        if begin.elapsed() > LONGEST {
            job.kill().unwrap();
            job.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut reported = Vec::new();
    File::open(&path).unwrap().read_to_end(&mut reported).unwrap();
    std::fs::remove_file(&path).unwrap();
    Run {
        status,
        reported: String::from_utf8_lossy(&reported).into_owned(),
        peak_bytes,
        took: begin.elapsed(),
    }
}

/// Returns the peak memory of a process so far; `None` after it has ended.
fn peak_resident(status_path: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status_path).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Returns all files below a directory, relative to it.
fn all_files(directory: &Path) -> BTreeSet<PathBuf> {
    let (mut found, mut left) = (BTreeSet::new(), vec![directory.to_path_buf()]);
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
            found.insert(entry.path().strip_prefix(directory).unwrap().to_path_buf());
        }
    }
    found
}

/// Formats the communities in a file: names separated by spaces, communities by bars, both sorted; characters other
/// than ASCII, and spaces and bars in names, are escaped.
fn partition(communities: &[u8]) -> String {
    let mut groups: BTreeMap<&[u8], Vec<String>> = BTreeMap::new();
    for line in communities.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let tab = line.iter().rposition(|&byte| byte == b'\t').unwrap();
        let name = match line[..tab].strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) {
            Some(name) => String::from_utf8_lossy(name).replace("\"\"", "\"").into_bytes(),
            None => line[..tab].to_vec(),
        };
        let shown = name.escape_ascii().to_string().replace(' ', "\\x20").replace('|', "\\x7c");
        groups.entry(&line[tab + 1..]).or_default().push(shown);
    }
    let mut groups: Vec<Vec<String>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups.iter().map(|group| group.join(" ")).collect::<Vec<_>>().join("|")
}

/// Returns the message of a refusal, without the lines about stages done before it.
fn message(reported: &str) -> String {
    // Without arguments it prints its usage.
    let is_begin = |line: &&str| line.starts_with("error") || line.starts_with("Usage");
    let mut lines = reported.lines().skip_while(|line| !is_begin(line));
    let mut text: String = lines.by_ref().map(|line| format!("{}\n", line.trim_end())).collect();
    for byte in ["byte ", "takes "] {
        // Libraries may change where damage is found, and how large windows are.
        if let Some((before, after)) = text.split_once(byte)
            && after.contains("of the compressed file")
        {
            let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
            text = format!("{before}{byte}[..]{rest}");
        }
    }
    text
}

/// Runs a case; returns the faults of its outcome, the message of a refusal, and the run.
fn try_case(case: &Case) -> (Vec<String>, Option<String>, Run) {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("job");
    std::fs::create_dir(&directory).unwrap();
    (case.make)(&directory);
    let before = all_files(&directory);
    let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
    let run = run(&directory, &args);
    let (mut faults, reported) = (Vec::new(), &run.reported);
    let mut may_be_left: Vec<PathBuf> = Vec::new();
    let mut refusal = None;
    match &case.expected {
        Expected::Finds(wanted) => {
            may_be_left.push("out.tsv".into());
            may_be_left.extend(case.left.iter().map(PathBuf::from));
            let found = std::fs::read(directory.join("out.tsv")).map(|found| partition(&found));
            if run.status != Some(0) || found.as_deref().unwrap_or_default() != *wanted {
                faults.push(format!("ends with {:?} and finds {found:?}: {reported}", run.status));
            }
        }
        Expected::Refuses(status, text) => {
            let message = message(reported);
            may_be_left.extend(case.left.iter().map(PathBuf::from));
            if run.status != Some(*status) || !reported.contains(text) {
                faults.push(format!("ends with {:?}: {reported}", run.status));
            }
            refusal = Some(format!("exit status {status}\n{message}"));
        }
        Expected::Damaged => {
            if !matches!(run.status, Some(3 | 4)) || !reported.contains("help: ") {
                faults.push(format!("ends with {:?}: {reported}", run.status));
            }
        }
        Expected::Survives => {
            may_be_left.push("out.tsv".into());
            if !matches!(run.status, Some(0 | 3 | 4)) {
                faults.push(format!("ends with {:?}: {reported}", run.status));
            }
        }
    }
    if reported.contains("panicked") || reported.contains("\u{1b}") {
        faults.push(format!("prints control characters or a panic: {reported}"));
    }
    if run.peak_bytes > MEMORY_MAX {
        faults.push(format!("takes {} MiB", run.peak_bytes / MIB));
    }
    let is_left = |path: &&PathBuf| !before.contains(*path) && !may_be_left.contains(path);
    let left: Vec<PathBuf> = all_files(&directory).iter().filter(is_left).cloned().collect();
    if !left.is_empty() {
        faults.push(format!("leaves {left:?}"));
    }
    (faults, refusal, run)
}

/// Runs the cases of a group, and compares their messages with the recorded ones.
fn check(group: &str, cases: &[Case]) {
    let mut faults = Vec::new();
    let mut reported = String::new();
    let (mut slowest, mut largest) = ((Duration::ZERO, ""), (0, ""));
    for case in cases {
        let (found, refusal, run) = try_case(case);
        faults.extend(found.iter().map(|fault| format!("{}: {fault}", case.name)));
        if let Some(refusal) = refusal {
            reported += &format!("## {}\n{refusal}\n", case.name);
        }
        slowest = slowest.max((run.took, &case.name));
        largest = largest.max((run.peak_bytes, &case.name));
    }
    let (count, peak) = (cases.len(), largest.0 / MIB);
    println!(
        "{group}: {count} cases; slowest {slowest:?}, peak memory {peak} MiB of {}",
        largest.1
    );
    faults.extend(compare(group, &reported));
    assert!(faults.is_empty(), "{group}:\n{}", faults.join("\n"));
}

/// Compares the messages of a group with its part of the snapshot, or updates that part.
fn compare(group: &str, reported: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogue.txt");
    let begin = format!("# {group}\n\n");
    let parts = |text: &str| -> BTreeMap<String, String> {
        let parts =
            text.split("\n# ").filter_map(|part| part.trim_start_matches("# ").split_once("\n\n"));
        parts.map(|(name, part)| (name.to_owned(), format!("{}\n", part.trim_end()))).collect()
    };
    if std::env::var_os("CATALOGUE").is_some_and(|value| value == "overwrite") {
        // Tests of other groups may be writing at the same time.
        let lock = File::open(path.parent().unwrap()).unwrap();
        lock.lock().unwrap();
        let mut all = parts(&std::fs::read_to_string(&path).unwrap_or_default());
        all.insert(group.to_owned(), reported.to_owned());
        let text: Vec<String> =
            all.iter().map(|(name, part)| format!("# {name}\n\n{}\n", part.trim_end())).collect();
        std::fs::write(&path, text.join("\n")).unwrap();
        return None;
    }
    let recorded = parts(&std::fs::read_to_string(&path).unwrap_or_default());
    let recorded = recorded.get(group).map(|part| part.trim_end()).unwrap_or_default();
    let (mut old, mut new) = (recorded.lines(), reported.trim_end().lines());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            (old, new) => {
                let hint = "`CATALOGUE=overwrite` updates the messages";
                return Some(format!("{begin}was recorded as {old:?}, is {new:?}; {hint}"));
            }
        }
    }
}

type Group = (&'static str, fn() -> Vec<Case>);

const GROUPS: [Group; 12] = [
    ("delimiters", text::delimiters),
    ("headers", text::headers),
    ("lines", text::lines),
    ("weights", text::weights),
    ("foreign text", foreign::texts),
    ("foreign binary", foreign::binaries),
    ("lists", lists::all),
    ("tables", tables::plain),
    ("damaged tables", tables::damaged),
    ("packed", packed::all),
    ("options", usage::options),
    ("files", usage::files),
];

macro_rules! groups {
    ($($test:ident $at:literal)*) => {$(
        #[test]
        fn $test() {
            let (name, cases) = GROUPS[$at];
            check(name, &cases());
        }
    )*};
}

groups! {
    delimiters_are_understood_or_refused 0
    headers_are_understood_or_refused 1
    lines_are_understood_or_refused 2
    weights_are_understood_or_refused 3
    texts_of_other_formats_are_refused_by_name 4
    binaries_of_other_formats_are_refused_by_name 5
    matrices_and_lists_are_understood_or_refused 6
    tables_are_understood_or_refused 7
    damaged_tables_are_refused 8
    packed_files_are_understood_or_refused 9
    options_are_understood_or_refused 10
    files_are_understood_or_refused 11
}

#[test]
fn the_catalogue_has_at_least_250_cases_with_distinct_names() {
    let mut names = BTreeSet::new();
    for (group, cases) in GROUPS {
        for case in cases() {
            assert!(
                names.insert((group, case.name.clone())),
                "{group}: {} occurs twice",
                case.name
            );
        }
    }
    println!("{} cases", names.len());
    assert!(names.len() >= 250, "{}", names.len());
}
