//! Files made to do harm: the command refuses them, or reads them within its memory limit, and touches nothing else.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{listed, outcore, run, stderr};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::io::{Read, Write};
use std::os::unix::fs::{chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const EDGES: &str = "a\tb\t1\nb\tc\t2\n";
const MIB: u64 = 1 << 20;
/// The smallest limit.
const LIMIT: [&str; 2] = ["-m", "96MiB"];
/// Limit plus the memory of the program itself; a build for tests is larger than a release.
const MEMORY_MAX: u64 = (96 + 48) * MIB;

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("edges.tsv"), EDGES).unwrap();
    directory
}

/// Runs the command, and checks that it fails with this status and a message that contains `text`.
fn refused(directory: &Path, args: &[&str], status: i32, text: &str) {
    let output = run(directory, args);
    let reported = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {reported}");
    assert!(reported.contains(text), "{args:?}: {reported}");
}

#[test]
fn a_result_never_overwrites_an_input() {
    let directory = directory();
    let path = directory.path();
    symlink("edges.tsv", path.join("link.tsv")).unwrap();
    std::fs::hard_link(path.join("edges.tsv"), path.join("hard.tsv")).unwrap();
    let full = path.join("edges.tsv").display().to_string();
    let (output, rejects) = (["-o", "out.tsv"], ["--on-bad-line", "skip"]);
    for name in ["edges.tsv", "./edges.tsv", "link.tsv", "hard.tsv", &full] {
        let before = listed(path);
        for args in [
            vec!["cluster", "edges.tsv", "-o", name],
            vec!["cluster", name, "-o", "edges.tsv"],
            [&["cluster", "edges.tsv", "--report", name], &output[..]].concat(),
            [&["cluster", "edges.tsv", "--representatives", name], &output[..]].concat(),
            [&["cluster", "edges.tsv", "--rejects", name], &output[..], &rejects].concat(),
            [&["build", "edges.tsv", "--rejects", name], &output[..], &rejects].concat(),
            [&["build", "edges.tsv", "--report", name], &output[..]].concat(),
            vec!["cluster", "hard.tsv", "--nodes", "edges.tsv", "-o", name],
        ] {
            refused(path, &args, 2, "is both an input and");
            assert_eq!(std::fs::read_to_string(path.join("edges.tsv")).unwrap(), EDGES);
        }
        assert_eq!(listed(path), before);
    }
    assert!(run(path, &["build", "edges.tsv", "-o", "graph"]).status.success());
    refused(path, &["cluster", "graph", "-o", "graph/arcs"], 2, "is both an input and");
    assert!(run(path, &["inspect", "graph", "--verify"]).status.success());
}

#[test]
fn two_outputs_never_share_a_path() {
    let directory = directory();
    let path = directory.path();
    for args in [
        ["-o", "w", "--work-dir", "w"],
        ["-o", "w", "--report", "w"],
        ["-o", "w", "--representatives", "w"],
    ] {
        refused(path, &[&["cluster", "edges.tsv"], &args[..]].concat(), 2, "`w` is both");
    }
    refused(path, &["build", "edges.tsv", "-o", "w", "--work-dir", "w"], 2, "`w` is both");
    assert_eq!(listed(path).len(), 1);
}

#[test]
fn special_files_are_read_or_refused() {
    let directory = directory();
    let path = directory.path();
    let _socket = UnixListener::bind(path.join("socket")).unwrap();
    let before = listed(path);
    for (input, status, text) in [
        (".", 1, "is a directory"),
        ("socket", 1, "cannot open `socket`"),
        ("/dev/null", 3, "no edges"),
        ("/dev/zero", 3, "/dev/zero"),
    ] {
        for command in ["cluster", "build"] {
            refused(path, &[command, input, "-o", "out"], status, text);
            assert_eq!(listed(path), before, "{command} {input}");
        }
    }
    refused(path, &["cluster", "edges.tsv", "-o", "socket"], 1, "socket");
    refused(path, &["cluster", "edges.tsv", "-o", "/dev/full"], 4, "/dev/full");
    assert_eq!(listed(path), before);
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    let job = outcore(path, &["cluster", "pipe", "-o", "piped.tsv"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::write(path.join("pipe"), EDGES).unwrap();
    let done = job.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(run(path, &["cluster", "edges.tsv", "-o", "out.tsv"]).status.success());
    let read = |name| std::fs::read(path.join(name)).unwrap();
    assert_eq!(read("piped.tsv"), read("out.tsv"));
}

/// Returns a zstd frame of blocks of 128 KiB, each of which is one repeated byte: 4 bytes in the file.
fn repeated(byte: u8, blocks: u32) -> Vec<u8> {
    // Magic, no options, a window of 128 KiB.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3];
    for block in 1..=blocks {
        let header = (128u32 << 10) << 3 | 1 << 1 | u32::from(block == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(byte);
    }
    frame
}

/// Returns a zstd frame with this text in one block, uncompressed.
fn stored(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3];
    frame.extend(&((text.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(text);
    frame
}

/// Returns the peak memory of the job of `report`.
fn peak_bytes(report: &Path) -> u64 {
    let text = std::fs::read_to_string(report).unwrap();
    let rest = text.split("\"peak_memory_bytes\": ").nth(1).unwrap();
    rest.split([',', '\n']).next().unwrap().parse().unwrap()
}

#[test]
fn a_gigabyte_line_is_named_or_skipped_within_the_memory_limit() {
    let directory = directory();
    let path = directory.path();
    let bomb = [stored(b"a\tb\t1\n"), repeated(b'x', 8 << 10), stored(b"\nb\tc\t2\n")].concat();
    assert!(bomb.len() < 100_000);
    std::fs::write(path.join("bomb.zst"), bomb).unwrap();
    refused(path, &["cluster", "bomb.zst", "-o", "out.tsv"], 3, "bomb.zst:2:1");
    let args = ["cluster", "bomb.zst", "-o", "out.tsv", "--on-bad-line", "skip"];
    let more = ["--rejects", "rejects.tsv", "--report", "report.json"];
    let done = run(path, &[&args[..], &more, &LIMIT].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    let out = std::fs::read_to_string(path.join("out.tsv")).unwrap();
    assert_eq!(out, "a\t0\nb\t0\nc\t0\n");
    let peak = peak_bytes(&path.join("report.json"));
    assert!(peak < MEMORY_MAX, "{peak} bytes");
    // The rejects describe the line, and do not contain it.
    let rejects = std::fs::metadata(path.join("rejects.tsv")).unwrap().len();
    assert!(rejects < 4 * MIB, "{rejects} bytes");
}

#[test]
fn a_file_that_expands_a_thousandfold_is_read_within_the_memory_limit() {
    let directory = directory();
    let path = directory.path();
    // Names of nearly 64 KiB: few lines in many bytes, which pack well.
    let name = |letter: &str| letter.repeat(60_000);
    let line = format!("{}\t{}\n", name("a"), name("b"));
    let file = std::fs::File::create(path.join("bomb.gz")).unwrap();
    let mut gzip =
        Command::new("gzip").arg("-9").stdin(Stdio::piped()).stdout(file).spawn().unwrap();
    let mut text = gzip.stdin.take().unwrap();
    for _ in 0..3000 {
        text.write_all(line.as_bytes()).unwrap();
    }
    drop(text);
    assert!(gzip.wait().unwrap().success());
    assert!(std::fs::metadata(path.join("bomb.gz")).unwrap().len() < MIB);
    let args = ["cluster", "bomb.gz", "-o", "out.tsv", "--report", "report.json"];
    let done = run(path, &[&args[..], &LIMIT].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    let peak = peak_bytes(&path.join("report.json"));
    assert!(peak < MEMORY_MAX, "{peak} bytes");
}

/// A table of a few kilobytes whose dictionary expands to gigabytes of rows, and one with a page of gigabytes.
#[test]
fn small_tables_of_long_names_are_planned_and_read_within_the_memory_limit() {
    let directory = directory();
    let path = directory.path();
    let name = |row: u32| format!("{:02}{}", row % 16, "y".repeat(65_000));
    let names = StringArray::from_iter_values((0..2000).map(name));
    let others = StringArray::from_iter_values((0..2000).map(|row| format!("{}", row % 7)));
    let columns: [(&str, ArrayRef); 2] =
        [("source", Arc::new(names)), ("target", Arc::new(others))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for (file, page_bytes, is_dictionary) in
        [("dictionary.parquet", 2 << 20, true), ("page.parquet", 1 << 30, false)]
    {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(is_dictionary)
            .set_dictionary_page_size_limit(2 << 20)
            .set_data_page_size_limit(page_bytes)
            .set_write_batch_size(page_bytes.min(1 << 20))
            .build();
        let to = std::fs::File::create(path.join(file)).unwrap();
        let mut writer = ArrowWriter::try_new(to, batch.schema(), Some(properties)).unwrap();
        let times = if is_dictionary { 10 } else { 2 };
        (0..times).for_each(|_| writer.write(&batch).unwrap());
        writer.close().unwrap();
        let output = ["cluster", file, "-o", "out.tsv", "--report", "report.json"];
        let done = run(path, &[&output[..], &LIMIT].concat());
        if is_dictionary {
            assert!(std::fs::metadata(path.join(file)).unwrap().len() < 2 * MIB);
            assert!(done.status.success(), "{}", stderr(&done));
            let peak = peak_bytes(&path.join("report.json"));
            assert!(peak < MEMORY_MAX, "{peak} bytes");
        } else {
            let reported = stderr(&done);
            assert_eq!(done.status.code(), Some(4), "{reported}");
            assert!(reported.contains("fetching and decompressing it takes"), "{reported}");
        }
        let plan = run(path, &[&["plan", file], &LIMIT[..]].concat());
        assert_eq!(plan.status.code(), done.status.code(), "{}", stderr(&plan));
    }
}

/// Names of 64 KiB, half a gigabyte of them, to every form of result.
#[test]
fn long_names_are_written_within_the_memory_limit() {
    let directory = directory();
    let path = directory.path();
    let mut text = String::new();
    for name in 0..4000 {
        text += &format!("{name:05}{}\thub\n", "x".repeat(65_000));
    }
    std::fs::write(path.join("long.tsv"), text).unwrap();
    for result in ["out.tsv", "out.parquet", "out.arrow", "out.jsonl"] {
        let args = ["cluster", "long.tsv", "-o", result, "--report", "report.json"];
        let done = run(path, &[&args[..], &LIMIT].concat());
        assert!(done.status.success(), "{result}: {}", stderr(&done));
        let peak = peak_bytes(&path.join("report.json"));
        assert!(peak < MEMORY_MAX, "{result}: {peak} bytes");
    }
}

/// A star is refused before anything is read, with a limit that is sufficient and is not exceeded.
#[test]
fn a_star_is_refused_before_the_work_with_a_limit_that_suffices() {
    let directory = directory();
    let path = directory.path();
    let text: String = (0..1_500_000).map(|leaf| format!("hub\t{leaf}\n")).collect();
    std::fs::write(path.join("star.tsv"), text).unwrap();
    for method in ["map-equation", "modularity"] {
        let args = ["cluster", "star.tsv", "-o", "out.tsv", "-t", "2", "--method", method];
        let output = run(path, &[&args[..], &["-m", "64MiB"]].concat());
        let reported = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{reported}");
        assert!(!reported.contains("kept"), "it was read before: {reported}");
        let number = reported.split("--memory ").nth(1).unwrap();
        let number = number.split(['`', ' ']).next().unwrap();
        let more = ["-m", number, "--report", "report.json"];
        let done = run(path, &[&args[..], &more].concat());
        assert!(done.status.success(), "{}", stderr(&done));
        let little = std::fs::read(path.join("out.tsv")).unwrap();
        let done = run(path, &[&args[..], &["-m", "2GiB"]].concat());
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(std::fs::read(path.join("out.tsv")).unwrap() == little, "{method}");
        let limit = number.trim_end_matches("MiB").parse::<u64>().unwrap() * MIB;
        let peak = peak_bytes(&path.join("report.json"));
        assert!(peak < limit + 48 * MIB, "{method}: {peak} bytes of {limit}");
    }
}

/// If the shell limits the address space, the job fails with an error before its work, or succeeds.
#[test]
fn little_address_space_is_an_error_and_no_panic() {
    let directory = directory();
    let path = directory.path();
    let within = |kib: u32, arguments: &str| {
        let command = format!("ulimit -v {kib}; exec \"$0\" {arguments}");
        let mut command_line = Command::new("sh");
        command_line.args(["-c", &command, env!("CARGO_BIN_EXE_outcore")]).current_dir(path);
        command_line.output().unwrap()
    };
    // The program itself takes most of the smallest space in which it can start.
    let mut starts = (50_000..150_000).step_by(1000);
    let least = starts.find(|&kib| within(kib, "--version").status.success()).unwrap();
    let mut ends = [0, 0];
    for kib in [least, 100_000, 150_000, 200_000, 300_000, 500_000, 2_000_000] {
        let output = within(kib, "cluster edges.tsv -o out.tsv -m 128MiB -t 2");
        let reported = stderr(&output);
        assert!(
            !reported.contains("panicked") && !reported.contains("allocation of"),
            "{kib}: {reported}"
        );
        match output.status.code() {
            Some(0) => ends[0] += 1,
            Some(1 | 4) => {
                assert!(reported.contains("ulimit -v"), "{kib}: {reported}");
                ends[1] += 1;
            }
            // Too little even for the program itself.
            other => assert!(kib < 100_000, "{kib}: {other:?} {reported}"),
        }
    }
    assert!(ends[0] > 0 && ends[1] > 1, "{ends:?}");
}

#[test]
fn a_frame_that_asks_for_gigabytes_of_memory_is_refused() {
    let directory = directory();
    let path = directory.path();
    let mut frame = stored(EDGES.as_bytes());
    for exponent in [18, 21] {
        // Windows of 256 MiB and 2 GiB.
        frame[5] = exponent << 3;
        std::fs::write(path.join("window.zst"), &frame).unwrap();
        let output = run(path, &[&["cluster", "window.zst", "-o", "out.tsv"], &LIMIT[..]].concat());
        let reported = stderr(&output);
        assert!([3, 4].map(Some).contains(&output.status.code()), "{reported}");
        assert!(reported.contains("help: "), "{reported}");
    }
}

/// Returns the peak resident memory of a process so far.
fn peak_resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn an_endless_stream_stays_within_the_memory_limit_and_can_be_stopped() {
    let directory = directory();
    let mut source =
        Command::new("yes").arg("some-name other-name").stdout(Stdio::piped()).spawn().unwrap();
    let mut job = outcore(directory.path(), &["cluster", "-", "-o", "out.tsv", "-t", "2", "-q"])
        .args(LIMIT)
        .stdin(source.stdout.take().unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(4));
    let peak = peak_resident(job.id());
    assert!(job.try_wait().unwrap().is_none(), "the job runs as long as the stream");
    let begin = Instant::now();
    let sent = Command::new("kill").args(["-INT", &job.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = job.wait().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "it took effect late");
    source.kill().unwrap();
    source.wait().unwrap();
    let mut reported = String::new();
    job.stderr.take().unwrap().read_to_string(&mut reported).unwrap();
    assert_eq!(status.code(), Some(130), "{reported}");
    assert!(peak < MEMORY_MAX, "{peak} bytes");
    assert_eq!(listed(directory.path()), [directory.path().join("edges.tsv")]);
}

/// Manifest of a job whose process is dead.
const LEFT: &str = "{\"format\":\"outcore work directory\",\"version\":1,\"process\":4294967295}";

/// An attacker who can write to the directory has prepared the names that the job will use.
#[test]
fn the_target_of_a_prepared_link_is_neither_written_nor_removed() {
    let directory = directory();
    let (path, victim) = (directory.path(), tempfile::tempdir().unwrap());
    let precious = victim.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::fs::write(victim.path().join("manifest.json"), LEFT).unwrap();
    let untouched = listed(victim.path());
    for (link, target, text) in [
        (".out.tsv.outcore", victim.path(), "is a link or belongs to another user"),
        (".out.tsv.outcore-part", victim.path(), "is a link or belongs to another user"),
    ] {
        symlink(target, path.join(link)).unwrap();
        let output = run(path, &["cluster", "edges.tsv", "-o", "out.tsv"]);
        let reported = stderr(&output);
        assert!(!output.status.success() && reported.contains(text), "{link}: {reported}");
        assert_eq!(listed(victim.path()), untouched, "{link}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious", "{link}");
        assert!(path.join(link).is_symlink(), "{link}");
        std::fs::remove_file(path.join(link)).unwrap();
    }
    // A work directory given by the user may be a link.
    std::fs::create_dir(victim.path().join("work")).unwrap();
    symlink(victim.path().join("work"), path.join("work")).unwrap();
    let done = run(path, &["cluster", "edges.tsv", "-o", "out.tsv", "--work-dir", "work"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_eq!(listed(&victim.path().join("work")).len(), 0);
    // A result that was a link becomes a file; its target is unchanged.
    std::fs::remove_file(path.join("out.tsv")).unwrap();
    symlink(&precious, path.join("out.tsv")).unwrap();
    let done = run(path, &["cluster", "edges.tsv", "-o", "out.tsv"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert!(!path.join("out.tsv").is_symlink());
}

/// A graph is built in the job's own directory, never under a name that the user could have chosen.
#[test]
fn a_users_file_called_graph_part_is_left_alone() {
    for work in [&[][..], &["--work-dir", "work"]] {
        let (directory, victim) = (directory(), tempfile::tempdir().unwrap());
        let path = directory.path();
        std::fs::write(victim.path().join("precious"), "precious").unwrap();
        symlink(victim.path(), path.join("one.graph.part")).unwrap();
        let own = path.join("two.graph.part");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("names"), "of the user").unwrap();
        for graph in ["one.graph", "two.graph"] {
            let args = ["build", "edges.tsv", "-o", graph];
            let done = run(path, &[&args[..], work].concat());
            assert!(done.status.success(), "{}", stderr(&done));
            assert!(path.join(graph).join("graph.json").is_file());
        }
        assert_eq!(listed(victim.path()), [victim.path().join("precious")]);
        assert_eq!(std::fs::read_to_string(own.join("names")).unwrap(), "of the user");
    }
}

#[test]
fn a_directory_prepared_by_another_user_is_not_used() {
    let directory = directory();
    let path = directory.path();
    let prepared = path.join(".out.tsv.outcore");
    std::fs::create_dir(&prepared).unwrap();
    std::fs::write(prepared.join("manifest.json"), LEFT).unwrap();
    if chown(&prepared, Some(65534), Some(65534)).is_err() {
        return eprintln!("skipped: only root can give a directory to another user");
    }
    let reason = "is a link or belongs to another user";
    refused(path, &["cluster", "edges.tsv", "-o", "out.tsv"], 2, reason);
    assert_eq!(listed(&prepared), [prepared.join("manifest.json")]);
    chown(&prepared, Some(0), Some(0)).unwrap();
    let done = run(path, &["cluster", "edges.tsv", "-o", "out.tsv"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(!prepared.exists());
}

#[test]
fn facts_about_a_file_cannot_control_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let name = "\u{1b}[2J\u{202e}e.csv";
    let header = "source,target,weight,\u{1b}]0;x\u{7}\u{202e}";
    std::fs::write(path.join(name), format!("{header}\na,b,1,x\na,b,1,y\n")).unwrap();
    let output = run(path, &["cluster", name, "-o", "out.tsv"]);
    let reported = stderr(&output);
    assert!(output.status.success(), "{reported}");
    let line = concat!(
        r"\x1b[2J\u{202e}e.csv: comma, header, source -> target, weight = weight; ",
        r"`\x1b]0;x\x07\u{202e}` unused"
    );
    assert_eq!(reported.lines().next().unwrap(), line);
    assert!(reported.contains("1 repeated edge summed"), "{reported}");
    let quiet = run(path, &["cluster", name, "-o", "out.tsv", "-q"]);
    assert_eq!(stderr(&quiet), "");
}
