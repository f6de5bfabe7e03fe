//! The page of a job: complete, self-contained, and safe with hostile names.
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{listed, run, stderr};
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// Elements without an end tag.
const VOID: [&str; 2] = ["meta", "link"];
/// The script of every page.
const SCRIPT: &str = include_str!("../../../outcore-page/src/script.js");

/// Returns weighted edges of groups of 8 nodes in a ring.
fn edges(groups: u32) -> String {
    let mut text = String::new();
    for group in 0..groups {
        for (a, b) in (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b))) {
            let weight = f64::from(1 + (a * b * group) % 90) / 10.0;
            let _ = writeln!(text, "n{}\tn{}\t{weight}", 8 * group + a, 8 * group + b);
        }
        let _ = writeln!(text, "n{}\tn{}\t0.5", 8 * group, 8 * ((group + 1) % groups) + 3);
    }
    text
}

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("edges.tsv"), edges(40)).unwrap();
    directory
}

/// Runs a job with `--report report.html`, and returns the page after [`check`].
fn page(directory: &Path, args: &[&str]) -> String {
    let output = run(directory, &[args, &["--report", "report.html", "-q"]].concat());
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    let page = std::fs::read_to_string(directory.join("report.html")).unwrap();
    check(&page);
    page
}

/// Fails unless every element is closed where it should be, attributes are quoted, nothing is fetched, nothing runs but
/// the page's own script, and no coordinate is missing.
pub(crate) fn check(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap();
    while let Some(begin) = rest.find('<') {
        assert!(!rest[..begin].contains('>'), "{:?}", &rest[..begin]);
        let end = rest.find('>').unwrap();
        let tag = &rest[begin + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let name = tag.split(' ').next().unwrap();
        assert!(name.chars().all(|mark| mark.is_ascii_alphanumeric()), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let attributes = tag.split('"').step_by(2).skip(1).map(str::trim);
        let named = |each: &str| each.is_empty() || each.ends_with('=') || each == "open";
        assert!(attributes.clone().all(named), "{tag}");
        assert!(attributes.clone().all(|name| !name.starts_with("on") && name != "src="), "{tag}");
        if tag == "script" {
            let (script, after) = rest.split_once("</script>").unwrap();
            assert_eq!(script, SCRIPT);
            rest = after;
        } else if name == "script" {
            assert_eq!(tag, "script type=\"application/json\" id=\"outcore-report\"");
            let (json, after) = rest.split_once("</script>").unwrap();
            let report: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(report["schema"], 1);
            rest = after;
        } else if name == "style" {
            rest = rest.split_once("</style>").unwrap().1;
        } else if !is_closed && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(page.matches("<script>").count() <= 1);
    assert_eq!(page.matches("<script ").count(), 1);
    let page = page.replace(SCRIPT, "");
    for door in ["http:", "https:", "@import", "url(", "javascript:", "<iframe", "<!--"] {
        assert!(!page.contains(door), "{door}");
    }
    let page = page.replace(SCRIPT, "");
    assert!(!page.contains("NaN") && !page.contains("=\"inf") && !page.contains(">inf"));
}

fn headings(page: &str) -> Vec<&str> {
    page.split("<h2>").skip(1).map(|part| part.split_once("</h2>").unwrap().0).collect()
}

const ALL: [&str; 11] = [
    "Network of communities",
    "The largest communities",
    "Community sizes",
    "How it was made",
    "Quality",
    "Convergence",
    "Stages",
    "Input",
    "Degrees",
    "Weights",
    "The job",
];

#[test]
fn a_page_has_all_sections_and_the_json_of_the_report() {
    let directory = directory();
    let path = directory.path();
    let html = page(path, &["cluster", "edges.tsv", "-o", "c.tsv"]);
    assert_eq!(headings(&html), ALL);
    for words in [
        "<strong>41 communities</strong> in a graph of 320 nodes and 1,160 edges. The largest has 9 nodes (2.8 %)",
        "of the nodes stay with their communities from one start to another, on average over ",
        "<figcaption>Communities and the weights between them</figcaption>",
        "<h3>Community 0: <bdi class=\"node\">n",
        "1,160 lines with an edge of edges.tsv gave a graph of 320 nodes and 1,160 edges.",
        "The method map-equation (seed 0) found",
        "of memory at most, with a limit of",
        "<figcaption>Time of the stages</figcaption>",
        "<figcaption>Memory at the end of the stages</figcaption>",
        "<figcaption>Bytes read</figcaption>",
        "<figcaption>Nodes that moved, the first 200 of ",
        "<figcaption>Communities by size</figcaption>",
        "<figcaption>The ten largest communities</figcaption>",
        "<figcaption>Degrees of the nodes</figcaption>",
        "<figcaption>Weights of the edges</figcaption>",
        "code length in bits",
        "read, predicted: ",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert_eq!(html.matches("<svg class=\"wide\"").count(), 9);
    assert_eq!(html.matches("<svg class=\"narrow\"").count(), 9);
    assert_eq!(html.matches("<svg class=\"wide network\"").count(), 1);
    assert_eq!(html.matches("<article class=\"card\"").count(), 41);
    // The same command without a page reports the same counts.
    let args = ["cluster", "edges.tsv", "-o", "c.tsv", "--report", "report.JSON", "-q"];
    assert!(run(path, &args).status.success());
    let json = std::fs::read(path.join("report.JSON")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let inside = html.split_once("id=\"outcore-report\">").unwrap().1;
    let inside = inside.split_once("</script>").unwrap().0;
    let inside: serde_json::Value = serde_json::from_str(inside).unwrap();
    assert_eq!(inside["communities"], json["communities"]);
    assert_eq!(inside["graph"], json["graph"]);
    assert_eq!(json["graph"]["degrees"].as_array().unwrap().len(), 2, "7 to 9 edges per node");
}

#[test]
fn a_graph_that_is_built_and_clustered_has_its_pages() {
    let directory = directory();
    let path = directory.path();
    let html = page(path, &["build", "edges.tsv", "-o", "e.graph"]);
    assert_eq!(
        headings(&html),
        ["Degrees", "Weights", "How it was made", "Stages", "Input", "The job"]
    );
    assert!(html.contains("<h1>Graph of edges.tsv</h1>"));
    let html = page(path, &["cluster", "e.graph", "-o", "c.tsv", "--method", "label-propagation"]);
    let without_input: Vec<&str> = ALL.into_iter().filter(|name| *name != "Input").collect();
    assert_eq!(headings(&html), without_input);
    assert!(html.contains("Nothing was predicted") && html.contains("converged"));
    assert!(!html.contains("predicted</th>"));
    let html = page(path, &["cluster", "e.graph", "-o", "c.tsv", "--method", "components"]);
    assert!(html.contains("nothing converges") && html.contains("found 1 community."));
}

#[test]
fn several_results_are_compared() {
    let directory = directory();
    let path = directory.path();
    for args in [
        ["--method", "modularity", "--resolution", "0.1,1,40"],
        ["--method", "label-propagation", "--attenuation", "0,0.1,0.5"],
    ] {
        let html = page(path, &[&["cluster", "edges.tsv", "-o", "c.tsv"], &args[..]].concat());
        let name = args[2].trim_start_matches('-');
        assert!(headings(&html).contains(&"Results"));
        for value in args[3].split(',') {
            assert!(
                html.contains(&format!("data-label=\"result\">{name} {value}</td>")),
                "{name} {value}"
            );
            assert!(html.contains(&format!("data-label=\"file\">c.{value}.tsv</td>")));
            let caption = format!("<figcaption>Nodes that moved, {name} {value}");
            // With several starts, there may be more sweeps than are drawn.
            let ends = ["<", ", the first "];
            assert!(ends.into_iter().any(|end| html.contains(&format!("{caption}{end}"))));
        }
        assert!(html.contains(&format!("({name} {}, seed 0)", args[3].replace(',', ", "))));
        assert_eq!(html.matches("<polyline").count(), 2 * 3, "one line each, wide and narrow");
    }
}

#[test]
fn small_and_odd_graphs_have_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let keep = ["--self-loops", "keep"];
    for (name, text, more, words) in [
        ("one.tsv", "a a 2\n", &keep[..], "1 node, 0 edges and 1 loop"),
        ("loops.tsv", "a a\nb b\nc c\n", &keep, "3 nodes, 0 edges and 3 loops"),
        ("pair.tsv", "a b\n", &[], "2 nodes and 1 edge."),
        ("far.tsv", "a b 1e-300\nb c 1e300\nc d 1\n", &[], "3e299 on average"),
        (
            "arcs.tsv",
            "a b\nc b\n",
            &["--directed", "--method", "label-propagation"],
            "2 directed edges",
        ),
    ] {
        std::fs::write(path.join(name), text).unwrap();
        let html = page(path, &[&["cluster", name, "-o", "c.tsv"], more].concat());
        assert!(html.contains(words), "{name}: {words}");
        assert_eq!(headings(&html), ALL, "{name}");
    }
}

#[test]
fn rejected_lines_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("edges.tsv"), "a b 1\nb\nb c x\nc a 0\n").unwrap();
    let skip = ["cluster", "edges.tsv", "-o", "c.tsv", "--on-bad-line", "skip"];
    let html = page(path, &skip);
    assert!(html.contains("2 lines were bad and skipped. They were not saved"));
    assert!(html.contains("2 of 4 lines bad and skipped"));
    assert!(html.contains(">weight 0, left out</td><td data-label=\"count\">1</td>"));
    let html = page(path, &[&skip[..], &["--rejects", "bad.tsv"]].concat());
    assert!(html.contains("They are saved in bad.tsv, with the reason for each."));
}

/// Names that would run or fetch something if they were not escaped.
#[cfg(unix)]
#[test]
fn hostile_names_stay_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let name = "a <script>alert(1)<script> & \"q\" 'x' -->\u{1}.tsv";
    std::fs::write(path.join(name), "<script>\tb\t1\nb\tc\t1\nc\td\t1\n\n<b>only\n").unwrap();
    let reject = ["--on-bad-line", "skip", "--rejects", "<img onerror=x>.txt"];
    let output = ["-o", "<svg onload=alert(2)>.tsv"];
    let html = page(path, &[&["cluster", name], &output[..], &reject].concat());
    for raw in ["<script>alert", "<img", "<svg onload", "<b>"] {
        assert!(!html.contains(raw), "{raw}");
    }
    assert!(html.contains("a &lt;script&gt;alert(1)&lt;script&gt; &amp; &quot;q&quot; 'x'"));
    assert!(html.contains("&lt;svg onload=alert(2)&gt;.tsv"));
}

/// A page that cannot be written is refused before the work, and a page is never written in part.
#[test]
fn a_page_is_an_output_like_any_other() {
    let directory = directory();
    let path = directory.path();
    let args = ["cluster", "edges.tsv", "-o", "c.tsv", "--report", "no/such/report.html"];
    let output = run(path, &args);
    assert!(!output.status.success() && !path.join("c.tsv").exists());
    let html = page(path, &["cluster", "edges.tsv", "-o", "c.tsv"]);
    assert!(html.ends_with("</body>\n</html>\n"));
    assert_eq!(listed(path).len(), 3, "edges, communities, page");
}
