//! Inputs that somebody has got wrong, or has made to do harm: of each the communities are found that it means, or
//! it is refused with a message that says what it is. Nothing is left behind, and the memory is kept.
//!
//! Messages are in `tests/catalogue.txt`; `CATALOGUE=overwrite cargo test -p outcore-cli --test it catalogue` writes
//! them anew.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a look from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]
#![expect(clippy::print_stdout, reason = "how long and how much memory it takes is worth a look")]

mod foreign;
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
/// The limit and what the program takes beside it. A build for tests holds about 20 MiB of its own code and data in
/// memory, as a release does, and needs no more room.
const MEMORY_MOST: u64 = (64 + 32) * MIB;
/// Nothing takes so long; whatever does is stopped, and the test fails.
const LONGEST: Duration = Duration::from_secs(60);

/// What an input means.
enum Expected {
    /// Communities, as [`partition`] writes them.
    Finds(&'static str),
    /// An exit status, and a part of the message.
    Refuses(i32, &'static str),
    /// Damage that is seen: where, is as the libraries that wrote and read it are.
    Damaged,
    /// Damage that may be in a name, where nobody can tell: any end but a panic.
    Survives,
}

/// An input, and what it means.
struct Case {
    name: String,
    /// Makes the files, in a directory of its own.
    make: Box<dyn Fn(&Path)>,
    args: Vec<String>,
    expected: Expected,
    /// What it leaves beside the output.
    left: Vec<&'static str>,
}

/// Edges of two communities, as plain as they can be.
const PLAIN: &str = "a\tb\t1\nb\tc\t2\nd\te\t1\n";
/// The communities of [`PLAIN`].
const FOUND: &str = "a b c|d e";

fn finds(partition: &'static str) -> Expected {
    Expected::Finds(partition)
}

/// Bad input data.
fn bad(message: &'static str) -> Expected {
    Expected::Refuses(3, message)
}

impl Case {
    /// One file, whose components are asked for.
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

    /// The same, of a file that `make` makes.
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

    /// The plain file, and these further arguments.
    fn with(name: impl Into<String>, args: &[&str], expected: Expected) -> Self {
        Self::of(name, "edges.tsv", PLAIN, expected).and(args)
    }

    /// Further arguments.
    fn and(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// These arguments alone.
    fn alone(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|&arg| arg.to_owned()).collect();
        self
    }

    /// What it leaves beside the output.
    fn leaves(mut self, names: &[&'static str]) -> Self {
        self.left.extend(names);
        self
    }
}

/// How a run ended.
struct Run {
    status: Option<i32>,
    reported: String,
    peak_bytes: u64,
    took: Duration,
}

/// Runs the command until it ends, and looks at its memory all the while.
fn run(directory: &Path, args: &[&str]) -> Run {
    let begin = Instant::now();
    let path = directory.with_extension("told");
    let mut job = outcore(directory, args)
        .stdout(Stdio::null())
        .stderr(File::create(&path).unwrap())
        .spawn()
        .unwrap();
    let status_path = format!("/proc/{}/status", job.id());
    let mut peak_bytes = 0;
    let status = loop {
        peak_bytes = resident_most(&status_path).unwrap_or(0).max(peak_bytes);
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

/// The most memory that a process has had so far; none once it has ended.
fn resident_most(status_path: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status_path).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// All files below a directory, from there.
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

/// Communities in a text: names with a space between them, communities with a bar, all in their order; other
/// characters than those of ASCII escaped, and spaces and bars in names.
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

/// The message of a refusal, without the lines about stages that were done before it.
fn message(reported: &str) -> String {
    // Without arguments it tells how it is used.
    let is_begin = |line: &&str| line.starts_with("error") || line.starts_with("Usage");
    let mut lines = reported.lines().skip_while(|line| !is_begin(line));
    let mut text: String = lines.by_ref().map(|line| format!("{}\n", line.trim_end())).collect();
    for byte in ["byte ", "takes "] {
        // Where damage is found, and how large windows are, is the libraries' to change.
        if let Some((before, after)) = text.split_once(byte)
            && after.contains("of the compressed file")
        {
            let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
            text = format!("{before}{byte}[..]{rest}");
        }
    }
    text
}

/// Runs a case; gives what is wrong with how it ended, and the message of a refusal.
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
        faults.push(format!("tells what steers a terminal, or of a panic: {reported}"));
    }
    if run.peak_bytes > MEMORY_MOST {
        faults.push(format!("has had {} MiB", run.peak_bytes / MIB));
    }
    let is_left = |path: &&PathBuf| !before.contains(*path) && !may_be_left.contains(path);
    let left: Vec<PathBuf> = all_files(&directory).iter().filter(is_left).cloned().collect();
    if !left.is_empty() {
        faults.push(format!("leaves {left:?}"));
    }
    (faults, refusal, run)
}

/// Runs the cases of a group, and compares their messages with those that are recorded.
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
        "{group}: {count} cases; slowest {slowest:?}, most memory {peak} MiB of {}",
        largest.1
    );
    faults.extend(compare(group, &reported));
    assert!(faults.is_empty(), "{group}:\n{}", faults.join("\n"));
}

/// Compares the messages of a group with its part of the snapshot, or writes that.
fn compare(group: &str, reported: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogue.txt");
    let begin = format!("# {group}\n\n");
    let parts = |text: &str| -> BTreeMap<String, String> {
        let parts =
            text.split("\n# ").filter_map(|part| part.trim_start_matches("# ").split_once("\n\n"));
        parts.map(|(name, part)| (name.to_owned(), format!("{}\n", part.trim_end()))).collect()
    };
    if std::env::var_os("CATALOGUE").is_some_and(|value| value == "overwrite") {
        // Other groups may be writing theirs.
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
                let hint = "`CATALOGUE=overwrite` writes the messages anew";
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
fn the_catalogue_has_two_hundred_and_fifty_cases_with_names_of_their_own() {
    let mut names = BTreeSet::new();
    for (group, cases) in GROUPS {
        for case in cases() {
            assert!(
                names.insert((group, case.name.clone())),
                "{group}: {} is there twice",
                case.name
            );
        }
    }
    println!("{} cases", names.len());
    assert!(names.len() >= 250, "{}", names.len());
}
