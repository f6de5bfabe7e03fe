//! No output replaces an input or another output: every option that takes a path, with every other one, for the same file
//! under all kinds of names. Options come from the definition of the command, so that none is forgotten.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{outcore, run, stderr};
use outcore::io::{DiskProfile, Files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Use of a path by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Reads a file, which has this name here.
    Reads(&'static str),
    /// Reads a graph.
    ReadsGraph(&'static str),
    /// Writes a file.
    Writes,
    /// Writes a graph.
    WritesGraph,
    /// Has temporary files in a directory.
    WorksIn,
}
use Use::{Reads, ReadsGraph, WorksIn, Writes, WritesGraph};

/// Option that takes a path, or argument without an option: its name, its use, and what else it needs.
struct PathOption {
    name: &'static str,
    is_positional: bool,
    of: Use,
    needs: &'static [&'static str],
}

const fn option(name: &'static str, of: Use) -> PathOption {
    PathOption { name, is_positional: false, of, needs: &[] }
}

const fn needing(name: &'static str, of: Use, needs: &'static [&'static str]) -> PathOption {
    PathOption { name, is_positional: false, of, needs }
}

const fn argument(name: &'static str, of: Use) -> PathOption {
    PathOption { name, is_positional: true, of, needs: &[] }
}

/// Command with what it always needs, and all its paths; the first `required` ones must be given.
struct Job {
    command: &'static str,
    always: &'static [&'static str],
    required: usize,
    paths: &'static [PathOption],
    /// Options for paths that cannot be given here.
    left_out: &'static [&'static str],
}

const SKIP: &[&str] = &["--on-bad-line", "skip"];
const PROPAGATE: &[&str] = &["--method", "label-propagation"];
const COMPONENTS: &[&str] = &["-q", "-m", "128MiB", "-t", "1", "--method", "components"];
const QUICK: &[&str] = &["-q", "-m", "128MiB", "-t", "1"];

const JOBS: &[Job] = &[
    Job {
        command: "cluster",
        always: QUICK,
        required: 2,
        paths: &[
            argument("inputs", Reads("edges.tsv")),
            option("output", Writes),
            option("report", Writes),
            needing("rejects", Writes, SKIP),
            option("representatives", Writes),
            option("summary", Writes),
            option("nodes", Reads("nodes.txt")),
            option("initial", Reads("initial.tsv")),
            option("match", Reads("match.tsv")),
            needing("fixed", Reads("fixed.tsv"), PROPAGATE),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &["prefer", "keep", "drop", "heights"],
    },
    Job {
        command: "cluster",
        always: COMPONENTS,
        required: 2,
        paths: &[
            argument("inputs", Reads("edges.tsv")),
            option("output", Writes),
            option("report", Writes),
            needing("prefer", Reads("prefer.tsv"), &["--rows", "pair"]),
            option("keep", Writes),
            option("drop", Writes),
            option("heights", Writes),
            option("work-dir", WorksIn),
        ],
        left_out: &[
            "rejects",
            "representatives",
            "summary",
            "nodes",
            "initial",
            "match",
            "fixed",
            "profile",
        ],
    },
    Job {
        command: "cluster",
        always: QUICK,
        required: 2,
        paths: &[
            argument("inputs", ReadsGraph("in.graph")),
            option("output", Writes),
            option("report", Writes),
            option("representatives", Writes),
            option("summary", Writes),
            option("initial", Reads("initial.tsv")),
            option("match", Reads("match.tsv")),
            needing("fixed", Reads("fixed.tsv"), PROPAGATE),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &["rejects", "nodes", "prefer", "keep", "drop", "heights"],
    },
    Job {
        command: "build",
        always: QUICK,
        required: 2,
        paths: &[
            argument("edges", Reads("edges.tsv")),
            option("output", WritesGraph),
            option("append", ReadsGraph("in.graph")),
            option("report", Writes),
            needing("rejects", Writes, SKIP),
            option("nodes", Reads("nodes.txt")),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &[],
    },
    Job {
        command: "score",
        always: QUICK,
        required: 2,
        paths: &[
            argument("graph", ReadsGraph("in.graph")),
            argument("communities", Reads("initial.tsv")),
            option("against", Reads("match.tsv")),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &[],
    },
    Job {
        command: "export",
        always: QUICK,
        required: 2,
        paths: &[
            argument("graph", ReadsGraph("in.graph")),
            option("output", Writes),
            option("nodes", Writes),
            needing("communities", Reads("initial.tsv"), &["--quotient"]),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &[],
    },
    Job {
        command: "compare",
        always: QUICK,
        required: 2,
        paths: &[
            argument("a", Reads("initial.tsv")),
            argument("b", Reads("match.tsv")),
            option("output", Writes),
            option("moved", Writes),
            option("report", Writes),
            needing("representatives", Reads("prefer.tsv"), &["--representatives", "fixed.tsv"]),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &["more"],
    },
    Job {
        command: "compare",
        always: QUICK,
        required: 3,
        paths: &[
            argument("a", Reads("initial.tsv")),
            argument("b", Reads("match.tsv")),
            argument("more", Reads("fixed.tsv")),
            option("report", Writes),
            option("profile", Reads("profile.json")),
            option("work-dir", WorksIn),
        ],
        left_out: &["output", "moved", "representatives"],
    },
    Job {
        command: "generate planted",
        always: &["--nodes", "100", "--edges", "500", "-q"],
        required: 1,
        paths: &[option("output", Writes), option("truth", Writes)],
        left_out: &[],
    },
    Job {
        command: "lab report",
        always: &["-q"],
        required: 1,
        paths: &[argument("reports", Reads("lab.json")), option("html", Writes)],
        left_out: &[],
    },
];

#[test]
fn every_option_that_takes_a_path_is_known() {
    for job in JOBS {
        let options = outcore_cli::surface::options(job.command);
        let of_command = options.into_iter().filter(|option| option.takes_path);
        let of_command: BTreeSet<String> = of_command.map(|option| option.name).collect();
        let known = job.paths.iter().map(|path| path.name).chain(job.left_out.iter().copied());
        let known: BTreeSet<String> = known.map(str::to_owned).collect();
        assert_eq!(of_command, known, "{}", job.command);
    }
}

const EDGES: &str = "a\tb\t1\nb\tc\t2\nd\te\t1\n";

/// Creates all files that are read.
fn made() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("work")).unwrap();
    fs::write(path.join("edges.tsv"), EDGES).unwrap();
    fs::write(path.join("nodes.txt"), "a\nz\n").unwrap();
    for name in ["initial.tsv", "match.tsv", "fixed.tsv", "prefer.tsv"] {
        fs::write(path.join(name), "a\t7\nb\t7\nc\t7\nd\t9\ne\t9\n").unwrap();
    }
    DiskProfile::default().store(&Files::default(), &path.join("profile.json")).unwrap();
    fs::write(path.join("lab.json"), "{}").unwrap();
    assert!(run(path, &["build", "edges.tsv", "-o", "in.graph", "-q"]).status.success());
    symlink(".", path.join("linked")).unwrap();
    directory
}

/// Copies a directory with its files and links.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
        let to = to.join(entry.file_name().unwrap());
        if kind.is_dir() {
            copy(&entry, &to);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&entry).unwrap(), to).unwrap();
        } else {
            fs::copy(&entry, to).unwrap();
        }
    }
}

/// Returns the bytes of each file below a directory, and where each link leads.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![directory.to_path_buf()]);
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let (entry, kind) =
                entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            let name = entry.strip_prefix(directory).unwrap().to_path_buf();
            if kind.is_dir() {
                found.insert(name, Vec::new());
                left.push(entry);
            } else if kind.is_symlink() {
                let target = fs::read_link(&entry).unwrap();
                found.insert(name, target.into_os_string().into_encoded_bytes());
            } else {
                found.insert(name, fs::read(&entry).unwrap());
            }
        }
    }
    found
}

impl Use {
    fn writes(self) -> bool {
        !matches!(self, Reads(_) | ReadsGraph(_))
    }
}

/// Two paths for the same file, or for one inside the other.
struct Same {
    one: String,
    other: String,
}

/// Returns the ways to name the file of one option in another one, and creates links for them.
fn ways(directory: &Path, one: Use, other: Use) -> Vec<Same> {
    let same = |one: &str, other: &str| Same { one: one.to_owned(), other: other.to_owned() };
    let name = match (one, other) {
        (Reads(name) | ReadsGraph(name), _) | (_, Reads(name) | ReadsGraph(name)) => name,
        _ => "new",
    };
    symlink(name, directory.join("soft")).unwrap();
    let before = ["", "./", "linked/", "work/../", "linked/work/.././"];
    let mut all: Vec<Same> = before.map(|before| same(name, &format!("{before}{name}"))).into();
    all.push(same(name, "soft"));
    all.push(same("soft", name));
    if fs::hard_link(directory.join(name), directory.join("hard")).is_ok() {
        all.push(same(name, "hard"));
    }
    if let (ReadsGraph(graph), true) = (one, other.writes()) {
        for file in ["graph.json", "arcs", "names"] {
            let link = format!("hard-{file}");
            fs::hard_link(directory.join(graph).join(file), directory.join(&link)).unwrap();
            all.push(same(graph, &link));
            all.push(same(graph, &format!("{graph}/{file}")));
            all.push(same(graph, &format!("linked/{graph}/../{graph}/{file}")));
        }
        symlink(Path::new(graph).join("arcs"), directory.join("soft-arcs")).unwrap();
        all.push(same(graph, "soft-arcs"));
        all.push(same(graph, &format!("{graph}/new")));
        all.push(same("soft", &format!("linked/{graph}/new")));
    }
    all
}

/// Returns the arguments of a job with these two paths.
fn arguments(job: &Job, paths: [(&PathOption, &str); 2]) -> Vec<String> {
    let mut all: Vec<String> = job.command.split(' ').map(str::to_owned).collect();
    all.extend(job.always.iter().map(|&arg| arg.to_owned()));
    for (at, option) in job.paths.iter().enumerate() {
        let given = paths.iter().find(|(other, _)| other.name == option.name);
        let value = match (given, option.of) {
            (Some((_, path)), _) => (*path).to_owned(),
            (None, _) if at >= job.required => continue,
            (None, Reads(name) | ReadsGraph(name)) => name.to_owned(),
            (None, _) => "result".to_owned(),
        };
        if !option.is_positional {
            all.push(format!("--{}", option.name));
        }
        all.push(value);
        all.extend(option.needs.iter().map(|&arg| arg.to_owned()));
    }
    all
}

/// Runs a job on two options of the same file: nothing changes, or nothing is lost.
fn check(base: &Path, job: &Job, one: &PathOption, other: &PathOption) -> usize {
    let temporary = tempfile::tempdir().unwrap();
    let (pristine, directory) = (temporary.path().join("0"), temporary.path().join("1"));
    copy(base, &pristine);
    let ways = ways(&pristine, one.of, other.of);
    let count = ways.len();
    for Same { one: path, other: way } in ways {
        copy(&pristine, &directory);
        // Copies of hard links are files of their own.
        for file in ["hard", "hard-arcs", "hard-names", "hard-graph.json"] {
            relink(&directory, file, one.of, other.of);
        }
        let args = arguments(job, [(one, &path), (other, &way)]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let before = contents(&directory);
        let output = run(&directory, &args);
        let after = contents(&directory);
        let (status, reported) = (output.status.code(), stderr(&output));
        let writes = one.of.writes() || other.of.writes();
        if status != Some(0) {
            assert_eq!(after, before, "{args:?}: {reported}");
            // A link to nothing is no directory either.
            let is_link = [one, other].map(|option| option.of == WorksIn) != [false; 2]
                && [&path, &way].iter().any(|name| *name == "soft");
            assert!(!writes || is_link || status == Some(2), "{args:?}: {status:?} {reported}");
        } else {
            let is_match = (one.name, other.name) == ("output", "match");
            let kept = |name: &Path| {
                let is_result = name == Path::new(&path) || name == Path::new(&way);
                is_result && (is_match || one.of.writes() && other.of.writes())
            };
            for (name, bytes) in before.iter().filter(|(name, _)| !kept(name)) {
                assert_eq!(after.get(name), Some(bytes), "{args:?} {name:?}: {reported}");
            }
            assert!(!writes || is_match || has_both(&directory, &path, &way), "{args:?}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }
    count
}

/// Links a file again under a second name.
fn relink(directory: &Path, name: &str, one: Use, other: Use) {
    let path = directory.join(name);
    if !path.exists() {
        return;
    }
    let target = match (name.strip_prefix("hard-"), one, other) {
        (Some(file), ReadsGraph(graph), _) => Path::new(graph).join(file),
        (None, Reads(file), _) | (None, _, Reads(file)) => file.into(),
        _ => return,
    };
    fs::remove_file(&path).unwrap();
    fs::hard_link(directory.join(target), path).unwrap();
}

/// Whether two outputs exist and differ.
fn has_both(directory: &Path, one: &str, other: &str) -> bool {
    let read = |name: &str| fs::read(directory.join(name)).unwrap_or_default();
    !read(one).is_empty() && !read(other).is_empty() && read(one) != read(other)
}

#[test]
fn no_output_replaces_an_input_or_another_output() {
    let base = made();
    let count: usize = std::thread::scope(|scope| {
        let checked = |job: &'static Job| {
            let base = base.path();
            scope.spawn(move || {
                let mut count = 0;
                for (at, one) in job.paths.iter().enumerate() {
                    for other in &job.paths[at + 1..] {
                        // The one that reads comes first: its file exists.
                        let (one, other) = match one.of.writes() && !other.of.writes() {
                            true if other.name != "match" => (other, one),
                            _ => (one, other),
                        };
                        count += check(base, job, one, other);
                    }
                }
                count
            })
        };
        let threads: Vec<_> = JOBS.iter().map(checked).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(count > 1000, "{count}");
}

#[test]
fn streams_are_the_files_behind_them() {
    let base = made();
    let path = base.path();
    let refused = |args: &[&str], input: Option<&str>, output: Option<&str>, text: &str| {
        let mut command = outcore(path, args);
        if let Some(name) = input {
            command.stdin(File::open(path.join(name)).unwrap());
        }
        if let Some(name) = output {
            command
                .stdout(File::options().append(true).create(true).open(path.join(name)).unwrap());
        }
        let before = contents(path);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", stderr(&done));
        assert!(stderr(&done).contains(text), "{args:?}: {}", stderr(&done));
        assert_eq!(contents(path), before);
    };
    let edges = Some("edges.tsv");
    refused(&["cluster", "-", "-o", "edges.tsv"], edges, None, "is both an input and `--output`");
    refused(&["cluster", "edges.tsv", "-o", "-"], None, edges, "is both an input and `--output`");
    fs::write(path.join("log"), "").unwrap();
    let report = ["cluster", "edges.tsv", "-o", "-", "--report", "log"];
    refused(&report, None, Some("log"), "is both `--output` and `--report`");
    for option in ["--report", "--representatives", "--summary", "--rejects"] {
        let args = ["cluster", "edges.tsv", "-o", "-", "--on-bad-line", "skip", option, "-"];
        let text = format!("`-` is both `--output` and `{option}`");
        refused(&args, None, None, &text);
    }
    let nowhere = ["cluster", "edges.tsv", "-o", "/dev/null", "--report", "/dev/null"];
    let done = run(path, &nowhere);
    assert!(done.status.success(), "{}", stderr(&done));
}

#[test]
fn files_that_a_job_derives_are_outputs_too() {
    let base = made();
    let path = base.path();
    fs::create_dir(path.join(".out.tsv.outcore")).unwrap();
    fs::write(path.join(".out.tsv.outcore/edges.tsv"), EDGES).unwrap();
    fs::write(path.join("out.0.5.tsv"), EDGES).unwrap();
    fs::create_dir(path.join("folder")).unwrap();
    fs::write(path.join("folder/edges.tsv"), EDGES).unwrap();
    let before = contents(path);
    let several = ["--method", "modularity", "--resolution", "0.5,1"];
    for (args, text) in [
        (vec!["edges.tsv", "--report", "out.1.tsv"], "`out.1.tsv` is both"),
        (vec!["out.0.5.tsv"], "`out.0.5.tsv` is both an input"),
        (vec!["edges.tsv", "--representatives", "out.tsv"], "`out.0.5.tsv` is both"),
        (vec![".out.tsv.outcore/edges.tsv"], "uses for temporary files"),
        (vec!["edges.tsv", "--report", ".out.tsv.outcore/r.json"], "uses for temporary files"),
        (vec!["edges.tsv", "--report", "out.0.5.tsv/r.json"], "is inside `out.0.5.tsv`"),
        (vec!["edges.tsv", "-w", "out.1.tsv/work"], "is inside `out.1.tsv`"),
    ] {
        let all = [&["cluster", "-o", "out.tsv"], &args[..], &several].concat();
        let done = run(path, &all);
        assert_eq!(done.status.code(), Some(2), "{all:?}: {}", stderr(&done));
        assert!(stderr(&done).contains(text), "{all:?}: {}", stderr(&done));
        assert_eq!(contents(path), before);
    }
    for (args, text) in [
        (["folder/edges.tsv", "-o", "folder"], "is inside `folder`, which is `--output`"),
        (["edges.tsv", "-o", "in.graph/new"], "is inside"),
    ] {
        let done = run(path, &[&["build"], &args[..]].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", stderr(&done));
        assert!(stderr(&done).contains(text), "{args:?}: {}", stderr(&done));
        assert_eq!(contents(path), before);
    }
}

/// What a command prints must not change what it reads.
#[test]
fn answers_are_not_appended_to_inputs() {
    let base = made();
    let path = base.path();
    let (a, b) = ("initial.tsv", "match.tsv");
    let arcs = fs::read_dir(path.join("in.graph")).unwrap().map(|one| one.unwrap().path());
    let in_graph: Vec<PathBuf> = arcs.map(|one| one.strip_prefix(path).unwrap().into()).collect();
    let mut cases: Vec<(Vec<&str>, PathBuf)> = vec![
        (vec!["compare", a, b], a.into()),
        (vec!["compare", a, b, "--json"], b.into()),
        (vec!["compare", a, b, "fixed.tsv"], "fixed.tsv".into()),
        (vec!["compare", a, b, "--representatives", "fixed.tsv,prefer.tsv"], "prefer.tsv".into()),
        (vec!["inspect", a, "--node", "a"], a.into()),
        (vec!["inspect", a, "--node", "a", "--representatives", b], b.into()),
        (vec!["compare", a, b, "-o", "-"], b.into()),
        (vec!["compare", a, b, "-o", "log"], "log".into()),
        (vec!["score", "in.graph", a], a.into()),
        (vec!["score", "in.graph", a, "--against", b], b.into()),
        (vec!["inspect", "edges.tsv"], "edges.tsv".into()),
        (vec!["plan", "edges.tsv"], "edges.tsv".into()),
        (vec!["plan", "edges.tsv", "--nodes", "nodes.txt"], "nodes.txt".into()),
        (vec!["cluster", "edges.tsv", "--match", b, "-o", "-"], b.into()),
        (vec!["export", "in.graph", "--communities", a, "-o", "-"], a.into()),
    ];
    for file in in_graph {
        cases.push((vec!["score", "in.graph", a], file.clone()));
        cases.push((vec!["inspect", "in.graph"], file));
    }
    fs::write(path.join("log"), "").unwrap();
    for (args, name) in cases {
        let before = contents(path);
        let out = File::options().append(true).open(path.join(&name)).unwrap();
        let done = outcore(path, &args).stdout(out).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{args:?} >> {name:?}: {}", stderr(&done));
        assert!(stderr(&done).contains("help: "), "{args:?}: {}", stderr(&done));
        assert_eq!(contents(path), before, "{args:?} >> {name:?}");
    }
}

/// Runs a line of a shell in which `outcore` is the command.
fn shell(directory: &Path, line: &str) -> std::process::Output {
    let quoted = format!("outcore() {{ {} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_outcore"));
    std::process::Command::new("bash")
        .arg("-c")
        .arg(quoted)
        .current_dir(directory)
        .output()
        .unwrap()
}

#[test]
fn closed_standard_output_is_an_error() {
    let base = made();
    let path = base.path();
    for line in [
        "outcore cluster edges.tsv -o - >&-",
        "outcore export in.graph -o - >&-",
        "outcore generate planted --nodes 20 --edges 40 -o - >&-",
        "outcore compare initial.tsv match.tsv >&-",
        "outcore score in.graph initial.tsv >&-",
        "outcore inspect in.graph >&-",
        "outcore plan edges.tsv >&-",
        "outcore formats >&-",
    ] {
        let before = contents(path);
        let done = shell(path, line);
        assert_eq!(done.status.code(), Some(2), "{line}: {}", stderr(&done));
        assert!(stderr(&done).contains("is closed"), "{line}: {}", stderr(&done));
        assert_eq!(contents(path), before, "{line}");
    }
    for line in ["outcore cluster edges.tsv -o found.tsv >&-", "outcore formats >/dev/null"] {
        let done = shell(path, line);
        assert_eq!(done.status.code(), Some(0), "{line}: {}", stderr(&done));
    }
}

#[test]
fn too_few_files_are_named_and_leave_nothing() {
    let base = made();
    let path = base.path();
    let before = contents(path);
    let mut refused = 0;
    for limit in 4..16 {
        for command in ["cluster edges.tsv", "build edges.tsv", "export in.graph --format text"] {
            let done = shell(
                path,
                &format!("ulimit -n {limit}; outcore {command} -o found.x -t 1 --color never"),
            );
            if done.status.success() {
                let _ = fs::remove_file(path.join("found.x"))
                    .or_else(|_| fs::remove_dir_all(path.join("found.x")));
                continue;
            }
            // The loader itself needs some.
            if stderr(&done).contains("error while loading") {
                continue;
            }
            refused += 1;
            assert!(stderr(&done).contains("ulimit -n"), "{limit}, {command}: {}", stderr(&done));
            // What was done is kept, and said.
            if stderr(&done).contains("= kept: ") {
                let _ = fs::remove_dir_all(path.join(".found.x.outcore"));
            }
            assert_eq!(contents(path), before, "{limit}, {command}");
        }
    }
    assert!(refused > 0);
}
