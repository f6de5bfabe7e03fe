//! Promises of the README about the command: no partial output, signals, pipes, its examples.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{kill, listed, outcore, run, stderr};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Creates a directory with bad input of every kind.
fn bad_inputs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/bad-input.in");
    for path in listed(&fixtures).iter().filter(|path| path.is_file()) {
        std::fs::copy(path, directory.path().join(path.file_name().unwrap())).unwrap();
    }
    std::fs::remove_file(directory.path().join("named.csv")).unwrap();
    let long = format!("a\tb\t1\n{}\tc\t1\n", "x".repeat(70_000));
    std::fs::write(directory.path().join("long-name.tsv"), long).unwrap();
    directory
}

#[test]
fn bad_input_leaves_nothing_behind() {
    let directory = bad_inputs();
    let before = listed(directory.path());
    assert!(before.len() > 8);
    for input in &before {
        let input = input.file_name().unwrap().to_str().unwrap();
        for args in [["cluster", input, "-o", "out.tsv"], ["build", input, "-o", "out.graph"]] {
            let output = run(directory.path(), &args);
            assert_eq!(output.status.code(), Some(3), "{args:?}: {}", stderr(&output));
            assert!(output.stdout.is_empty());
            let reported = stderr(&output);
            assert!(reported.lines().any(|line| line.starts_with("error[")), "{reported}");
            assert_eq!(listed(directory.path()), before, "{args:?}");
        }
    }
}

#[test]
fn a_failed_job_leaves_the_old_output_unchanged() {
    let directory = bad_inputs();
    std::fs::write(directory.path().join("out.tsv"), "old").unwrap();
    let output = run(directory.path(), &["cluster", "negative.tsv", "-o", "out.tsv"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(std::fs::read(directory.path().join("out.tsv")).unwrap(), b"old");
}

#[test]
fn names_that_are_too_long_are_named_without_flooding_the_terminal() {
    let directory = bad_inputs();
    let output = run(directory.path(), &["cluster", "long-name.tsv", "-o", "out.tsv"]);
    let text = stderr(&output);
    assert!(text.contains("\nerror[name-too-long]"), "{text}");
    assert!(text.contains("long-name.tsv:2:1"), "{text}");
    assert!(text.len() < 2000, "{}", text.len());
}

/// Endless job: edges of few nodes through a pipe.
struct Endless {
    directory: TempDir,
    source: Child,
    job: Child,
}

impl Endless {
    fn start(command: &str, output: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let size = ["generate", "planted", "--nodes", "1000", "--edges", "100000000000"];
        let mut source = outcore(directory.path(), &size)
            .args(["-q", "-t", "1", "-o", "-"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let job = outcore(directory.path(), &[command, "-", "-o", output])
            .args(["--progress", "always", "-m", "256MiB", "-t", "1"])
            .stdin(source.stdout.take().unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { directory, source, job }
    }

    /// Sends `signal` after the first line of progress; returns the exit status, all messages, and the files left.
    fn stop(mut self, signal: &str) -> (Option<i32>, String, Vec<PathBuf>) {
        let mut messages = BufReader::new(self.job.stderr.take().unwrap());
        let mut text = String::new();
        messages.read_line(&mut text).unwrap();
        kill(signal, self.job.id());
        messages.read_to_string(&mut text).unwrap();
        let status = self.job.wait().unwrap();
        self.source.kill().unwrap();
        self.source.wait().unwrap();
        (status.code(), text, listed(self.directory.path()))
    }
}

/// Clustering needs more memory than reading: a level is sorted and written.
fn check_memory_of_plans(methods: &[&[&str]]) {
    let directory = tempfile::tempdir().unwrap();
    let sizes = ["--nodes", "100000", "--edges", "1000000"];
    let generate = [&["generate", "planted"][..], &sizes[..], &["-o", "edges.tsv"]].concat();
    assert!(run(directory.path(), &generate).status.success());
    for method in methods {
        let options = [&["edges.tsv", "--threads", "2", "--method"][..], method].concat();
        let plan = run(directory.path(), &[&["plan", "--json"], &options[..]].concat());
        let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
        let min_mib = plan["memory_bytes_min"].as_u64().unwrap().div_ceil(1 << 20);
        let cluster = |mib: u64| {
            let memory = format!("{mib}MiB");
            let args = [&["cluster", "-o", "out.tsv", "--memory", &memory][..], &options].concat();
            let output = run(directory.path(), &args);
            (output.status.code(), stderr(&output))
        };
        let (status, reported) = cluster(min_mib);
        assert_eq!(status, Some(0), "{reported}");
        let (status, reported) = cluster(64);
        assert_eq!(status, Some(4), "{reported}");
        assert!(reported.contains(&format!("`--memory {min_mib}MiB`")), "{min_mib}: {reported}");
    }
}

#[test]
fn the_memory_that_a_plan_names_suffices_and_less_is_refused_with_it() {
    check_memory_of_plans(&[&["map-equation"]]);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn the_memory_that_a_plan_names_suffices_for_other_methods() {
    check_memory_of_plans(&[&["modularity"], &["cpm", "--resolution", "0.05"]]);
}

/// With millions of nodes, names and labels do not fit in the smallest memory limit.
#[test]
fn little_memory_changes_no_community() {
    let directory = tempfile::tempdir().unwrap();
    let sizes = ["--nodes", "7000000", "--edges", "4500000", "--weights"];
    let generate = [&["generate", "planted"][..], &sizes[..], &["-o", "edges.tsv"]].concat();
    assert!(run(directory.path(), &generate).status.success());
    let cluster = |memory: &str, output: &str| {
        let method = ["--method", "label-propagation", "--threads", "2", "--memory", memory];
        let args = [&["cluster", "edges.tsv", "-o", output][..], &method[..]].concat();
        let reported = stderr(&run(directory.path(), &args));
        (std::fs::read(directory.path().join(output)).unwrap(), reported)
    };
    let (expected, reported) = cluster("2GiB", "much.tsv");
    assert!(!reported.contains("spilled to disk"), "{reported}");
    assert!(!reported.contains("labels on disk"), "{reported}");
    let (found, reported) = cluster("64MiB", "little.tsv");
    assert!(reported.contains("names spilled to disk"), "{reported}");
    assert!(reported.contains("labels on disk"), "{reported}");
    assert!(found == expected, "{reported}");
}

#[test]
fn the_first_signal_stops_the_job_and_cleans_up() {
    for (signal, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        for (command, output) in [("cluster", "out.tsv"), ("build", "out.graph")] {
            let (code, text, left) = Endless::start(command, output).stop(signal);
            assert_eq!(code, Some(status), "{text}");
            assert!(text.contains("interrupted while reading"), "{text}");
            let note = format!("temporary files are removed, and `{output}` is unchanged");
            assert!(text.contains(&note), "{text}");
            assert_eq!(left, Vec::<PathBuf>::new(), "{command} {signal}");
        }
    }
}

/// A pipe that is never written to or read from does not keep a job from being stopped.
#[test]
fn a_signal_stops_a_job_that_waits_for_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert!(Command::new("mkfifo").current_dir(path).arg("pipe").status().unwrap().success());
    std::fs::write(path.join("edges.tsv"), "a\tb\n".repeat(100_000)).unwrap();
    let (mut never_written, silent) =
        std::io::pipe().map(|(read, write)| (Some(read), write)).unwrap();
    for (args, signal, status) in [
        (["cluster", "-", "-o", "out.tsv"], "-INT", 130),
        (["cluster", "pipe", "-o", "out.tsv"], "-TERM", 143),
        (["cluster", "edges.tsv", "-o", "pipe"], "-HUP", 129),
    ] {
        let mut job = outcore(path, &args);
        job.stderr(Stdio::piped());
        if args[1] == "-" {
            job.stdin(never_written.take().unwrap());
        }
        let mut job = job.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        assert!(job.try_wait().unwrap().is_none(), "{args:?} waits");
        let begin = Instant::now();
        kill(signal, job.id());
        let done = job.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{args:?}: {}", stderr(&done));
        assert!(begin.elapsed() < Duration::from_secs(10), "{args:?}: it took effect late");
        assert_eq!(listed(path), ["edges.tsv", "pipe"].map(|name| path.join(name)), "{args:?}");
    }
    drop(silent);
}

/// Under `nohup` the terminal may be closed.
#[test]
fn a_job_that_ignores_sighup_continues() {
    let directory = tempfile::tempdir().unwrap();
    let command = "trap '' HUP; exec \"$0\" cluster - -o out.tsv -q";
    let mut job = Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_outcore")])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    kill("-HUP", job.id());
    std::thread::sleep(Duration::from_millis(200));
    job.stdin.take().unwrap().write_all(b"a\tb\n").unwrap();
    assert!(job.wait().unwrap().success());
    assert_eq!(std::fs::read(directory.path().join("out.tsv")).unwrap(), b"a\t0\nb\t0\n");
}

#[test]
fn leftovers_of_a_killed_job_are_shown_by_inspect_and_removed_by_the_next() {
    let mut killed = Endless::start("cluster", "out.tsv");
    let path = killed.directory.path().to_path_buf();
    let mut messages = BufReader::new(killed.job.stderr.take().unwrap());
    messages.read_line(&mut String::new()).unwrap();
    let reported = run(&path, &["inspect", ".out.tsv.outcore"]);
    let running = format!("process         {}, running\nresult          out.tsv", killed.job.id());
    assert!(String::from_utf8_lossy(&reported.stdout).contains(&running), "{reported:?}");
    std::fs::write(path.join("edges.tsv"), "a\tb\n").unwrap();
    let refused = run(&path, &["cluster", "edges.tsv", "-o", "out.tsv"]);
    let in_use = format!("in use by process {}", killed.job.id());
    assert!(stderr(&refused).contains(&in_use), "{}", stderr(&refused));
    killed.job.kill().unwrap();
    killed.job.wait().unwrap();
    killed.source.kill().unwrap();
    killed.source.wait().unwrap();
    let reported = run(&path, &["inspect", ".out.tsv.outcore", "--json"]);
    assert!(
        String::from_utf8_lossy(&reported.stdout).contains("\"is_running\": false"),
        "{reported:?}"
    );
    let done = run(&path, &["cluster", "edges.tsv", "-o", "out.tsv"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_eq!(listed(&path), [path.join("edges.tsv"), path.join("out.tsv")]);
}

/// A job that is killed repeatedly, each time a little later, and finally completes gives the same result.
#[test]
fn a_killed_job_resumes_from_its_graph() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let size = ["--nodes", "30000", "--edges", "300000", "--seed", "3", "-o", "edges.tsv"];
    assert!(run(path, &[&["generate", "planted"], &size[..]].concat()).status.success());
    const KILLED: [&str; 8] =
        ["cluster", "edges.tsv", "-o", "killed.tsv", "--report", "r.json", "-t", "2"];
    let begin = Instant::now();
    assert!(run(path, &KILLED).status.success());
    let total = begin.elapsed();
    let expected = std::fs::read(path.join("killed.tsv")).unwrap();
    let left = path.join(".killed.tsv.outcore");
    let resumed = || {
        let done = run(path, &KILLED);
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(std::fs::read(path.join("killed.tsv")).unwrap() == expected, "different result");
        assert!(!left.exists());
        std::fs::read_to_string(path.join("r.json")).unwrap().contains("\"resumed\": true")
    };
    let mut count = 0;
    for part in 1..12 {
        let mut job = outcore(path, &KILLED).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(total * part / 12);
        job.kill().unwrap();
        job.wait().unwrap();
        count += u32::from(part % 3 == 0 && resumed());
    }
    let mut tries = 0;
    let leave_graph = |tries: &mut u32| loop {
        let mut job = outcore(path, &KILLED).stderr(Stdio::null()).spawn().unwrap();
        let is_merged = || {
            let manifest = std::fs::read_to_string(left.join("manifest.json"));
            manifest.is_ok_and(|manifest| manifest.contains("\"merge\""))
        };
        while job.try_wait().unwrap().is_none() && !is_merged() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = job.kill();
        job.wait().unwrap();
        if is_merged() {
            return;
        }
        *tries += 1;
        assert!(*tries < 100, "the job always ends before it can be killed");
    };
    leave_graph(&mut tries);
    assert!(resumed(), "{count} resumed before");
    // A job with other options of the clustering resumes from the same graph; one with other edges or `--restart`
    // does not.
    leave_graph(&mut tries);
    let other = run(path, &[&KILLED[..], &["--seed", "7"]].concat());
    assert!(stderr(&other).contains("of an earlier job"), "{}", stderr(&other));
    for (args, text) in
        [(vec!["--restart"], None), (vec!["--ignore-weights"], None), (vec![], Some("x\ty\n"))]
    {
        leave_graph(&mut tries);
        if let Some(text) = text {
            let edges = path.join("edges.tsv");
            let mut all = std::fs::read_to_string(&edges).unwrap();
            all += text;
            std::fs::write(edges, all).unwrap();
        }
        let from_scratch = run(path, &[&KILLED[..], &args].concat());
        assert!(from_scratch.status.success(), "{}", stderr(&from_scratch));
        assert!(
            !stderr(&from_scratch).contains("of an earlier job"),
            "{args:?}: {}",
            stderr(&from_scratch)
        );
        assert!(!left.exists());
    }
}

/// Generates enough edges that the sort writes runs with 96 MiB.
fn many_edges(directory: &Path) {
    let size = ["--nodes", "20000", "--edges", "2500000", "--seed", "3", "-o", "edges.tsv"];
    assert!(run(directory, &[&["generate", "planted"], &size[..]].concat()).status.success());
}

/// Starts the command repeatedly until `signal` stops it after its manifest or checkpoint contains `words`; returns
/// its messages.
fn stop_when(directory: &Path, args: &[&str], words: &str, signal: &str) -> String {
    let name = format!(".{}.outcore", args[3]);
    let work = directory.join(name);
    let holds = |name| {
        let bytes = std::fs::read(work.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(words)
    };
    let has_words = || holds("manifest.json") || holds("checkpoint");
    for _ in 0..100 {
        let mut job = outcore(directory, args).stderr(Stdio::piped()).spawn().unwrap();
        while job.try_wait().unwrap().is_none() && !has_words() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill").args([signal, &job.id().to_string()]).status();
        let ended = job.wait_with_output().unwrap();
        if has_words() {
            return stderr(&ended);
        }
        for result in listed(directory) {
            let is_result = result.file_name() == Some(args[3].as_ref());
            if is_result && result.is_dir() {
                std::fs::remove_dir_all(result).unwrap();
            }
        }
    }
    panic!("the job always ends before it can be stopped");
}

/// Returns the files of a directory, with their contents.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = listed(directory).into_iter();
    paths.map(|path| (path.file_name().unwrap().into(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn a_job_that_was_stopped_reports_its_saved_state_and_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    many_edges(path);
    let cluster =
        ["cluster", "edges.tsv", "-o", "out.tsv", "-m", "96MiB", "--method", "label-propagation"];
    assert!(run(path, &cluster).status.success());
    let expected = std::fs::read(path.join("out.tsv")).unwrap();
    std::fs::write(path.join("out.tsv"), "old").unwrap();
    for (words, what, reported) in [
        ("\"state\":{\"runs\":{", "the runs", "reused the runs of an earlier job"),
        ("\"merge\"", "the graph", "reused the graph of an earlier job"),
    ] {
        let text = stop_when(path, &cluster, words, "-INT");
        // It may have reached the next stage in the meantime.
        let is_next = text.contains("kept: the graph of 1 file in `./.out.tsv.outcore` (");
        assert!(is_next || text.contains(&format!("kept: {what} of 1 file")), "{text}");
        assert!(text.starts_with("interrupted") || text.contains("\ninterrupted"), "{text}");
        assert!(text.contains("note: `out.tsv` is unchanged"), "{text}");
        assert_eq!(std::fs::read(path.join("out.tsv")).unwrap(), b"old");
        let shown = run(path, &["inspect", ".out.tsv.outcore"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(
            shown.contains("run the same command again; it removes this directory at its end"),
            "{shown}"
        );
        let done = run(path, &cluster);
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(is_next || stderr(&done).contains(reported), "{}", stderr(&done));
        assert!(std::fs::read(path.join("out.tsv")).unwrap() == expected, "different result");
        assert!(!path.join(".out.tsv.outcore").exists());
        std::fs::write(path.join("out.tsv"), "old").unwrap();
    }
}

#[test]
fn a_killed_build_resumes_from_its_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    many_edges(path);
    let build = ["build", "edges.tsv", "-o", "out.graph", "-m", "96MiB", "-t", "2"];
    assert!(run(path, &build).status.success());
    let graph = path.join("out.graph");
    let expected = contents(&graph);
    std::fs::remove_dir_all(&graph).unwrap();
    let mut resumed = 0;
    for _ in 0..3 {
        stop_when(path, &build, "\"state\":{\"runs\":{", "-KILL");
        let done = run(path, &build);
        assert!(done.status.success(), "{}", stderr(&done));
        resumed += u32::from(stderr(&done).contains("of an earlier job"));
        assert!(contents(&graph) == expected, "different graph");
        std::fs::remove_dir_all(&graph).unwrap();
        assert_eq!(listed(path), [path.join("edges.tsv")]);
    }
    assert!(resumed > 0);
    // The runs exist, but are not wanted.
    stop_when(path, &build, "\"state\":{\"runs\":{", "-KILL");
    let from_scratch = run(path, &[&build[..], &["--restart"]].concat());
    assert!(
        from_scratch.status.success() && !stderr(&from_scratch).contains("of an earlier job"),
        "{}",
        stderr(&from_scratch)
    );
    let again = run(path, &["cluster", "out.graph", "-o", "out.tsv", "--restart"]);
    assert!(again.status.success(), "{}", stderr(&again));
}

/// Of several jobs that start at the same time for one result, only one has the directory at any time.
#[test]
fn only_one_of_many_jobs_has_the_work_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let size = ["--nodes", "3000", "--edges", "30000", "--seed", "3", "-o", "edges.tsv"];
    assert!(run(path, &[&["generate", "planted"], &size[..]].concat()).status.success());
    let args = ["cluster", "edges.tsv", "-o", "out.tsv", "-t", "1"];
    assert!(run(path, &args).status.success());
    let expected = std::fs::read(path.join("out.tsv")).unwrap();
    let mut refused = 0;
    for round in 0..24 {
        if round % 2 == 1 {
            // A directory left by a dead process.
            let left = path.join(".out.tsv.outcore");
            std::fs::create_dir(&left).unwrap();
            let manifest =
                r#"{"format":"outcore work directory","version":1,"process":4294967295}"#;
            std::fs::write(left.join("manifest.json"), manifest).unwrap();
        }
        let jobs: Vec<Child> =
            (0..4).map(|_| outcore(path, &args).stderr(Stdio::piped()).spawn().unwrap()).collect();
        let ended: Vec<Output> =
            jobs.into_iter().map(|job| job.wait_with_output().unwrap()).collect();
        assert!(ended.iter().any(|job| job.status.success()));
        for job in ended.iter().filter(|job| !job.status.success()) {
            assert_eq!(job.status.code(), Some(2), "{}", stderr(job));
            assert!(stderr(job).contains("is in use by"), "{}", stderr(job));
            refused += 1;
        }
        assert!(std::fs::read(path.join("out.tsv")).unwrap() == expected, "different result");
        assert_eq!(listed(path), [path.join("edges.tsv"), path.join("out.tsv")]);
    }
    assert!(refused > 0, "never two at a time");
}

#[test]
fn the_second_signal_ends_the_process_immediately() {
    let directory = tempfile::tempdir().unwrap();
    // Nothing is ever written to the pipe, so the job does not check for signals by itself.
    let mut job = outcore(directory.path(), &["cluster", "-", "-o", "out.tsv"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        assert!(begin.elapsed() < Duration::from_secs(60), "the job is still running");
        std::thread::sleep(Duration::from_millis(100));
        match job.try_wait().unwrap() {
            Some(status) => break status,
            None => kill("-TERM", job.id()),
        }
    };
    use std::os::unix::process::ExitStatusExt;
    // The first signal may arrive before the handlers are installed.
    assert!(status.code() == Some(143) || status.signal() == Some(15), "{status}");
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let size = ["generate", "planted", "--nodes", "1000", "--edges", "100000000000", "-o", "-"];
    let mut child = outcore(directory.path(), &size)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 1000];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn generating_stops_and_cleans_up_too() {
    let directory = tempfile::tempdir().unwrap();
    let size = ["generate", "planted", "--nodes", "1000", "--edges", "100000000000"];
    let mut child = outcore(directory.path(), &size)
        .args(["-o", "edges.tsv", "--truth", "truth.tsv", "--progress", "always", "-t", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    messages.read_line(&mut text).unwrap();
    kill("-INT", child.id());
    messages.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("interrupted while generating"), "{text}");
    assert_eq!(listed(directory.path()), Vec::<PathBuf>::new());
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(directory.path(), &["completions", shell]);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("ignore-weights"), "{shell}");
    }
    let page = run(directory.path(), &["man"]);
    assert!(String::from_utf8(page.stdout).unwrap().contains(".TH outcore"));
}

/// Runs each line of the README's section on use on small files.
#[test]
fn the_examples_of_the_readme_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let section = readme.split("## Use\n").nth(1).unwrap();
    let block = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let made = ["generate", "planted", "--nodes", "2000", "--edges", "20000", "--weights"];
    let into = ["-o", "edges.tsv", "--truth", "truth.tsv"];
    let edges = outcore(directory.path(), &made).args(into).output().unwrap();
    assert!(edges.status.success(), "{}", stderr(&edges));
    let edges = std::fs::read_to_string(directory.path().join("edges.tsv")).unwrap();
    let hits: String = edges
        .lines()
        .map(|line| {
            let (pair, weight) = line.rsplit_once('\t').unwrap();
            format!("{pair}\t99.1\t320\t1\t0\t1\t320\t1\t320\t1e-9\t{weight}\n")
        })
        .collect();
    zip(directory.path(), "hits.m8.gz", hits.as_bytes());
    zip(directory.path(), "edges.tsv.gz", edges.as_bytes());
    std::fs::create_dir(directory.path().join("edges")).unwrap();
    std::fs::write(directory.path().join("edges/0.parquet"), parquet(&edges)).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_outcore")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let lines: Vec<&str> = block.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 7, "{lines:?}");
    for line in lines {
        // The test machine may have less memory than the examples ask for, but they do not need it.
        let output = Command::new("sh")
            .args(["-ec", line])
            .env("PATH", &path)
            .current_dir(directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}\n{}", stderr(&output));
    }
    let communities = std::fs::read_to_string(directory.path().join("communities.tsv")).unwrap();
    assert_eq!(communities.lines().count(), 2000);
}

/// Converts lines of edges to a table with the columns in the README.
pub(crate) fn parquet(edges: &str) -> Vec<u8> {
    let column = |at: usize| edges.lines().map(move |line| line.split('\t').nth(at).unwrap());
    let names = |at| Arc::new(StringArray::from_iter_values(column(at)));
    let weights = column(2).map(|weight| weight.parse::<f64>().unwrap());
    let columns: [(&str, ArrayRef); 3] = [
        ("from", names(0)),
        ("to", names(1)),
        ("strength", Arc::new(Float64Array::from_iter_values(weights))),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.into_inner().unwrap()
}

fn zip(directory: &Path, name: &str, bytes: &[u8]) {
    let file = std::fs::File::create(directory.join(name)).unwrap();
    let mut child = Command::new("gzip").stdin(Stdio::piped()).stdout(file).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(child.wait().unwrap().success());
}
