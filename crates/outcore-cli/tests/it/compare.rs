//! The page of a comparison: the answer first, complete, self-contained, and safe with hostile names.
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{run, stderr};
use crate::report::check;
use std::fmt::Write;
use std::path::Path;

fn page(directory: &Path, a: &str, b: &str) -> String {
    std::fs::write(directory.join("a.tsv"), a).unwrap();
    std::fs::write(directory.join("b.tsv"), b).unwrap();
    let args = ["compare", "a.tsv", "b.tsv", "--community-columns", "1,2", "-q"];
    let output = run(directory, &[&args[..], &["--report", "report.html"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let page = std::fs::read_to_string(directory.join("report.html")).unwrap();
    check(&page);
    page
}

#[test]
fn the_page_of_a_comparison_begins_with_the_answer_and_a_drawing() {
    let directory = tempfile::tempdir().unwrap();
    let (mut a, mut b) = (String::new(), String::new());
    for node in 0..4000 {
        let _ = writeln!(a, "n{node}\t{}", node % 97);
        let to = if node % 10 == 0 { node % 13 } else { node % 97 };
        let _ = writeln!(b, "n{node}\tfamily {to}");
    }
    let page = page(directory.path(), &a, &b);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("moved to another community") < at("<svg"));
    assert!(at("<svg") < at("What became of the communities"));
    assert!(page.contains("57 more") && page.contains("<desc>The largest communities"));
    assert!(page.contains("community 3 of A to community family 3 of B"));
    assert!(page.len() < 1 << 20, "{}", page.len());
}

#[test]
fn hostile_names_stay_text_in_the_page_of_a_comparison() {
    let directory = tempfile::tempdir().unwrap();
    let name = "<script>alert(1)</script>&\"'\u{202e}</svg>";
    let quoted = name.replace('"', "\"\"");
    let (mut a, mut b) = (String::new(), String::new());
    for node in 0..60 {
        let _ = writeln!(a, "n{node}\t\"{quoted}{}\"", node % 3);
        let _ = writeln!(b, "n{node}\t\"{}{quoted}\"", node % 4);
    }
    let page = page(directory.path(), &a, &b);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let same = self::page(directory.path(), &a, &a);
    assert!(same.contains("no node moved") && !same.contains("most nodes left"));
}
