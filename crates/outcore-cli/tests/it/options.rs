//! An option is obeyed or refused: each one changes the bytes of a result, what is said of the
//! input, or the exit status, for every kind of input and every method. Options come from the definition of the command:
//! a new one fails here until it has a value to be tried with.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{run, stderr};
use crate::promises::parquet;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Two groups with a bridge, a repeated edge, a loop, and a comment of each mark.
const EDGES: &str =
    "a\tb\t1\nb\tc\t2\nc\ta\t3\na\tb\t2\nd\te\t1\ne\tf\t4\nf\td\t2\nc\td\t0.5\nf\tf\t9\ne\tg\t1\n";

/// Edges in every kind of input; the first is text. All but the matrices have the same nodes.
const INPUTS: [(&str, &str); 7] = [
    ("e.tsv", EDGES),
    (
        "e.net",
        "*Vertices 4\n1 \"a\"\n2 \"b\"\n3 \"c\"\n4 \"d\"\n*Edges\n1 2 1\n2 3 2\n3 1 3\n3 4 0.5\n4 4 2\n1 2 5\n",
    ),
    (
        "e.graphml",
        "<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/><graph edgedefault='undirected'>\
         <node id='a'/><node id='b'/><node id='c'/><edge source='a' target='b'><data key='w'>2</data></edge>\
         <edge source='b' target='c'><data key='w'>0.5</data></edge><edge source='c' target='c'/>\
         <edge source='a' target='b'/></graph></graphml>",
    ),
    (
        "e.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 2 1\n2 3 2\n3 1 3\n3 4 0.5\n4 4 1\n",
    ),
    ("e.metis", "4 4 001\n2 1 3 3\n1 1 3 2\n1 3 2 2 4 0.5\n3 0.5\n"),
    ("e.mci", "(mclmatrix\nbegin\n0 1:0.5 $\n1 0:0.5 2:2 $\n2 1:2 $\n3 $\n)\n"),
    ("e.lgl", "# a\nb 1\nc 2\n# b\nc 3\n# c\nd 0.5\n"),
];

/// Options, and what they are tried with. A path is that of a file that is read or written here.
const VALUES: &[(&str, &str)] = &[
    ("format", "smat"),
    ("columns", "2,1"),
    ("two-mode", ""),
    ("delimiter", ";"),
    ("comment", "a"),
    ("header", "yes"),
    ("ignore-weights", ""),
    ("weight-transform", "reciprocal"),
    ("rejects", "rejected.tsv"),
    ("duplicates", "min"),
    ("self-loops", "keep"),
    ("min-weight", "1.5"),
    ("max-weight", "1.5"),
    ("normalize", "self-score"),
    ("nodes", "nodes.txt"),
    ("method", "components"),
    ("resolution", "7.5"),
    ("max-size", "2"),
    ("well-connected", "=1"),
    ("initial", "c.tsv"),
    ("attenuation-rule", "change"),
    ("label-cutoff", "100"),
    ("fixed", "c.tsv"),
    ("like", "exolabel"),
    ("min-size", "4"),
    ("small", "singletons"),
    ("match", "c.tsv"),
    ("representatives", "representatives.tsv"),
    ("prefer", "first"),
    ("keep", "keep.txt"),
    ("drop", "drop.txt"),
    ("heights", "heights.tsv"),
    ("summary", "summary.tsv"),
    ("levels", "columns"),
    ("rows", "community"),
    ("member-weights", ""),
    ("flow", ""),
    ("output-header", ""),
    ("community-columns", "2,1"),
    ("community-format", "clusters"),
    ("recorded-teleportation", ""),
    ("stability", ""),
    ("report", "report.json"),
];

/// Options whose effect cannot show in the bytes of a small result, and why.
const UNSEEN: &[(&str, &str)] = &[
    ("inputs", "tried as the kinds of inputs"),
    ("output", "every run has one"),
    ("restart", "there is no saved progress here"),
    ("on-bad-line", "no line is bad here; the catalogue tries it"),
    ("names", "only four formats have labels; the tests of formats try them"),
    ("directed", "says what the edges are, whatever a method makes of it"),
    ("seed", "a small result is the same for many seeds"),
    ("seeding", "where to begin: a small result is the same"),
    ("cycles", "how long to search: a small result is the same"),
    ("trials", "how long to search: a small result is the same"),
    ("max-sweeps", "how long to search: a small result is the same"),
    ("tolerance", "how long to search: a small result is the same"),
    ("converge", "how long to search: a small result is the same"),
    ("attenuation", "what a label loses on its way: a small result may be the same"),
    ("max-visits", "how long to search: a small result is the same"),
    ("memory", "the result does not depend on it"),
    ("threads", "the result does not depend on it"),
    ("work-dir", "the result does not depend on it"),
    ("profile", "the result does not depend on it"),
    ("engine", "Spark is not here"),
    ("master", "Spark is not here"),
    ("task-rows", "Spark is not here"),
    ("parts", "Spark is not here"),
    ("spark-conf", "Spark is not here"),
    ("quiet", "what is printed, not what is found"),
    ("verbose", "what is printed, not what is found"),
    ("progress", "what is printed, not what is found"),
    ("color", "what is printed, not what is found"),
];

/// Options that may change nothing beside what they are tried with, and why.
const AGREEING: &[(&str, &str, &str)] = &[
    (
        "label-cutoff",
        "label-propagation",
        "no vote of a small graph is so weak after others are refused",
    ),
    ("like", "label-propagation", "the parameters of another program may find the same"),
    ("initial", "", "a good start leads to the same result"),
    ("match", "", "the numbers may be the same"),
    ("max-weight", "components", "the edges that are left may join the same nodes"),
    ("min-weight", "components", "the edges that are left may join the same nodes"),
    (
        "self-loops",
        "components",
        "a graph has other weights; without one, components join the nodes of every line",
    ),
    ("duplicates", "", "a small result may be the same; a graph has other weights"),
    ("weight-transform", "", "a small result may be the same; what is read is said"),
    ("well-connected", "", "communities may be well connected already"),
    ("fixed", "label-propagation", "labels that are fixed may be those that are found"),
    ("max-size", "", "communities may be small already"),
    ("min-size", "", "communities may be large already"),
    ("small", "", "communities may be large already"),
    ("levels", "", "there may be no level below the communities, which has no column then"),
    ("resolution", "", "communities may be as small already"),
    ("community-columns", "", "is about files of communities: refused without one"),
];

/// Pairs of options of which the second may change nothing beside the first, and why.
const ALIKE: &[(&str, &str, &str)] = &[
    ("columns", "ignore-weights", "two columns have no weight"),
    ("member-weights", "output-header", "text with more than two columns has a header"),
    ("flow", "output-header", "text with more than two columns has a header"),
    ("summary", "prefer", "the first node may have the most weight"),
];

fn made() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for (name, text) in INPUTS {
        fs::write(path.join(name), text).unwrap();
    }
    fs::write(path.join("e.parquet"), parquet(EDGES)).unwrap();
    fs::write(path.join("nodes.txt"), "a\nz\n").unwrap();
    fs::write(path.join("c.tsv"), "a\t1\nb\t1\nc\t2\nd\t2\n1\t1\n2\t2\n").unwrap();
    let built = run(path, &["build", "e.tsv", "--self-loops", "keep", "-o", "e.graph", "-q"]);
    assert!(built.status.success(), "{}", stderr(&built));
    directory
}

/// Runs `cluster`; returns its exit status, all that it wrote, and what it says without times and sizes.
fn outcome(base: &Path, input: &str, options: &[String]) -> (Option<i32>, String) {
    let before: BTreeSet<_> = fs::read_dir(base).unwrap().map(|one| one.unwrap().path()).collect();
    let mut args = vec!["cluster", input, "-o", "out.tsv", "-m", "128MiB", "-t", "1"];
    args.extend(options.iter().map(String::as_str));
    let done = run(base, &args);
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(base).unwrap() {
        let path = entry.unwrap().path();
        if before.contains(&path) {
            continue;
        }
        found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        // What a refused job keeps to resume from is a directory.
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
    }
    // A report has times.
    found
        .iter_mut()
        .filter(|(path, _)| path.ends_with("report.json"))
        .for_each(|(_, all)| all.clear());
    let said = stderr(&done);
    let said = said.lines().filter(|line| !line.starts_with("done in"));
    let said = said.map(|line| line.rsplit_once("  ").map_or(line, |(text, _)| text.trim_end()));
    (done.status.code(), format!("{found:?}\n{}", said.collect::<Vec<_>>().join("\n")))
}

fn typed(name: &str, value: &str) -> String {
    match value {
        "" => format!("--{name}"),
        value if value.starts_with('=') => format!("--{name}{value}"),
        value => format!("--{name}={value}"),
    }
}

#[test]
fn every_option_is_tried_or_has_a_reason() {
    let options = outcore_cli::surface::options("cluster");
    let of_command: BTreeSet<_> = options.iter().map(|option| option.name.as_str()).collect();
    let known = VALUES.iter().chain(UNSEEN).map(|(name, _)| *name);
    let known: BTreeSet<_> = known.collect();
    assert_eq!(of_command, known);
    assert!(UNSEEN.iter().all(|(_, why)| !why.is_empty()));
}

/// Returns whether an option did something beside others, whose outcome is given.
fn has_effect(
    base: &Path,
    input: &str,
    (others, without): (&[String], &(Option<i32>, String)),
    (name, value): (&str, &str),
) -> bool {
    let all: Vec<String> = others.iter().cloned().chain([typed(name, value)]).collect();
    // Beside a refused one, nothing can be told.
    without.0 != Some(0) || outcome(base, input, &all) != *without
}

fn may_agree(name: &str, method: &str) -> bool {
    AGREEING.iter().any(|(known, of, _)| *known == name && (of.is_empty() || *of == method))
}

fn check_alone(inputs: &[&str], methods: &[&str]) {
    let directory = made();
    let base = directory.path();
    let mut faults = Vec::new();
    for input in inputs {
        for method in methods {
            let of_method = vec![format!("--method={method}")];
            let without = outcome(base, input, &of_method);
            assert_eq!(without.0, Some(0), "{input}: {}", without.1);
            for &option in VALUES.iter().filter(|(name, _)| *name != "method") {
                let alone = (&of_method[..], &without);
                if !may_agree(option.0, method) && !has_effect(base, input, alone, option) {
                    faults.push(format!("{input}, {method}: {}", typed(option.0, option.1)));
                }
            }
        }
    }
    assert!(faults.is_empty(), "without effect:\n{}", faults.join("\n"));
}

#[test]
fn an_option_of_components_is_obeyed_or_refused() {
    let inputs: Vec<_> = INPUTS.iter().map(|(name, _)| *name).collect();
    check_alone(&[&inputs[..], &["e.parquet", "e.graph"]].concat(), &["components"]);
}

#[test]
fn an_option_of_sweeps_is_obeyed_or_refused() {
    check_alone(&["e.tsv", "e.graph"], &["label-propagation", "map-equation"]);
}

/// A sample of all pairs: which, depends on their places alone.
#[test]
fn an_option_beside_another_is_obeyed_or_refused() {
    let directory = made();
    let base = directory.path();
    let mut faults = Vec::new();
    for (at, &(first, one)) in VALUES.iter().enumerate().filter(|(_, (name, _))| *name != "method")
    {
        let others = vec!["--method=components".to_owned(), typed(first, one)];
        let without = outcome(base, "e.tsv", &others);
        for (to, &(second, other)) in VALUES.iter().enumerate() {
            let is_tried = (31 * at + 17 * to).is_multiple_of(7) && first != second;
            let are_alike = ALIKE.iter().any(|&(one, two, _)| (one, two) == (first, second));
            if !is_tried || second == "method" || may_agree(second, "components") || are_alike {
                continue;
            }
            if !has_effect(base, "e.tsv", (&others, &without), (second, other)) {
                faults.push(format!("{} {}", typed(first, one), typed(second, other)));
            }
        }
    }
    assert!(faults.is_empty(), "without effect:\n{}", faults.join("\n"));
}

/// Cases that were found, by name.
#[test]
fn options_without_effect_are_refused_by_name() {
    let directory = made();
    let base = directory.path();
    for (args, text) in [
        (
            &["cluster", "e.graph", "-o", "o", "--self-loops", "drop"][..],
            "`--self-loops` is for edge lists",
        ),
        (
            &["cluster", "e.graph", "-o", "o", "--duplicates", "sum"],
            "`--duplicates` is for edge lists",
        ),
        (
            &["cluster", "e.parquet", "-o", "o", "--comment", "x"],
            "`--comment` has no effect on Parquet",
        ),
        (&["build", "e.net", "-o", "o", "--comment", "x"], "`--comment` has no effect on Pajek"),
        (&["inspect", "e.parquet", "--delimiter", ","], "`--delimiter` has no effect on Parquet"),
        (&["inspect", "e.parquet", "--header", "no"], "`--header` has no effect on Parquet"),
        (&["plan", "e.tsv", "--build", "--resolution", "2"], "cannot be used with"),
        (&["plan", "e.tsv", "--build", "--seed", "2"], "cannot be used with"),
        (&["plan", "e.tsv", "--build", "--trials", "2"], "cannot be used with"),
        (
            &[
                "cluster",
                "e.tsv",
                "-o",
                "o",
                "--method",
                "label-propagation",
                "--attenuation-rule",
                "change",
            ],
            "`--attenuation-rule` has no effect without `--attenuation`",
        ),
        (
            &["cluster", "e.tsv", "-o", "o", "--method", "components", "--normalize", "self-score"],
            "`--normalize` has no effect on components",
        ),
        (
            &["cluster", "e.tsv", "-o", "o", "--method", "components", "--duplicates", "max"],
            "`--duplicates` has no effect on components",
        ),
        (&["cluster", "e.tsv", "-o", "o", "--small", "singletons"], "needs `--min-size <N>`"),
        (&["build", "e.tsv", "-o", "-"], "is a directory, not standard output"),
    ] {
        let done = run(base, args);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", stderr(&done));
        assert!(stderr(&done).contains(text), "{args:?}: {}", stderr(&done));
        assert!(stderr(&done).contains("help: "), "{args:?}: {}", stderr(&done));
        assert!(!base.join("o").exists() && !base.join("-").exists());
    }
}
