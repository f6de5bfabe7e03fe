//! Pages of reports with communities that are made by hand: as many, as large and with such names as jobs may have.
#![expect(clippy::disallowed_methods, reason = "the files of a test")]

use super::html;
use crate::compare::{Compared, Representatives, Step};
use outcore::Job;
use outcore::budget::Limits;
use outcore::cluster::Sweep;
use outcore::compare::{CompareOptions, CompareReport};
use outcore::input::CommunityInput;
use outcore::io::Files;
use outcore::job::{self, CommunityLink, CommunityReport, GroupsReport, LargestReport, Report};
use outcore::progress::Silent;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Runs a job on a ring of groups of five nodes.
fn report(directory: &Path) -> Report {
    let mut text = String::new();
    for group in 0..12 {
        for (a, b) in (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))) {
            let _ = writeln!(text, "n{} n{}", 5 * group + a, 5 * group + b);
        }
        let _ = writeln!(text, "n{} n{}", 5 * group, 5 * ((group + 1) % 12) + 1);
    }
    let edges = directory.join("edges.tsv");
    std::fs::write(&edges, text).expect("a disk");
    Job::new(edges).memory(128 << 20).cluster(directory.join("c.tsv")).expect("a job")
}

fn compared([a, b]: &[PathBuf; 2], work_dir: &Path) -> CompareReport {
    let options = CompareOptions {
        a: a.clone(),
        b: b.clone(),
        input: CommunityInput::default(),
        output: None,
        moved: None,
        output_header: false,
        limits: Limits { memory_bytes: 128 << 20, threads: 1 },
        work_dir: work_dir.to_owned(),
    };
    job::compare(&Files::default(), &options, &Silent).expect("a comparison")
}

fn page_of(largest: Option<LargestReport>) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut report = report(directory.path());
    let found = report.communities.as_mut().expect("communities");
    if let Some(first) = largest.as_ref().and_then(|largest| largest.communities.first()) {
        found.sizes.largest_size = first.size;
        found.sizes.community_count = 1234;
        let sizes = largest.iter().flat_map(|largest| &largest.communities).map(|each| each.size);
        found.sizes.largest_sizes = sizes.take(10).collect();
    }
    found.described.largest = largest;
    html(&report).expect("a page")
}

/// Returns communities whose sizes follow a power law, each with these names of its nodes.
fn power_law(count: u64, name: impl Fn(u64, u64) -> String) -> LargestReport {
    let communities: Vec<CommunityReport> = (0..count)
        .map(|community| {
            let size = 900_000 / (community + 1) / (1 + community / 9) + 1;
            let members: Vec<String> =
                (0..size.min(12)).map(|node| name(community, node)).collect();
            CommunityReport {
                community,
                size,
                representative: members[0].clone(),
                members,
                inner_edges: 4 * size,
                inner_weight: 3.125 * size as f64,
                outer_weight: 0.77 * size as f64,
                density: Some(8.0 / size as f64),
                conductance: Some(0.19 + 0.005 * community as f64),
                stability: Some(1.0 - (community * 37 % 50) as f64 / 100.0),
                neighbor: Some(community / 2),
                neighbor_weight: Some(0.3 * size as f64),
            }
        })
        .collect();
    let pairs =
        (0..count).flat_map(|source| (source + 1..count).map(move |target| (source, target)));
    let links =
        pairs.filter(|(a, b)| (a * 7 + b * 13) % 5 < 2 || b / 3 == *a).map(|(source, target)| {
            let near = if target / 3 == source { 40.0 } else { 1.0 };
            let weight = near * 1e5 / ((source + 1) * (target + 1)) as f64;
            CommunityLink { source, target, weight }
        });
    LargestReport { communities, links: links.collect(), groups: Vec::new() }
}

/// Adds `count` groups to each of the first communities, and two groups to the first of each.
fn with_groups(mut largest: LargestReport, count: u64) -> LargestReport {
    for community in 0..largest.communities.len() as u64 {
        let LargestReport { communities, links, .. } = power_law(count, name);
        let inside = |path, group_count, groups: Vec<CommunityReport>, links| GroupsReport {
            path,
            group_count,
            groups,
            links,
        };
        let nested = communities[..2].to_vec();
        largest.groups.push(inside(vec![community], 2 * count, communities, links));
        largest.groups.push(inside(vec![community, 0], 2, nested, Vec::new()));
    }
    largest
}

/// Returns the identifiers to which links of a page lead, and fails unless each exists once.
fn targets(page: &str) -> Vec<&str> {
    let all = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
    let all: Vec<&str> = all.collect();
    for target in &all {
        assert_eq!(page.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
    }
    all
}

fn name(community: u64, node: u64) -> String {
    match (community + node) % 4 {
        0 => format!("RPL{}", community + node),
        1 => format!("sp|P{:05}|KINASE_{node}_HUMAN", 31 * community),
        2 => format!("https://example.org/wiki/A_rather_long_title_of_page_{community}_{node}"),
        _ => format!("Überwachung {community}, 名前 {node}"),
    }
}

/// Writes the page for `evals/lab/page.py` into the folder `OUTCORE_PAGES`, if it is set.
fn keep(file: &str, page: &str) {
    if let Some(folder) = std::env::var_os("OUTCORE_PAGES") {
        std::fs::write(Path::new(&folder).join(file), page).expect("a folder");
    }
}

#[test]
fn a_page_begins_with_its_communities() {
    let page = page_of(Some(power_law(100, name)));
    keep("hundred.html", &page);
    let order = [
        "<h1>",
        "1,234 communities",
        "How sure",
        "How good",
        "Network of communities",
        "aria-label=\"Communities and the weights between them\"",
        "The largest communities",
        "Community sizes",
        "How it was made",
        "Convergence",
        "Stages",
        "The job",
    ];
    let places: Vec<Option<usize>> = order.iter().map(|words| page.find(words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("<article class=\"card\"").count(), 100);
    assert_eq!(page.matches("<tr><td class=\"words\" data-label=\"community\">").count(), 50);
    assert!(page.contains("Of 2,020 lines, 176 are drawn: the two largest"), "few lines");
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    // The bars have the numbers of the communities.
    assert!(page.contains(">0: RPL0</text>") && !page.contains(">1.</text>"));
    assert!(!targets(&page).is_empty());
}

#[test]
fn communities_lead_to_the_groups_inside_and_back() {
    let page = page_of(Some(with_groups(power_law(100, name), 12)));
    keep("levels-inside.html", &page);
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
    let targets = targets(&page);
    let sections = page.matches("<section class=\"within\"").count();
    // 28 communities with 12 groups, and 2 in the first of these; there is no room for another twelve.
    assert_eq!(sections, 56);
    for at in 0..sections {
        let section = format!("r0g{at}");
        assert_eq!(targets.iter().filter(|target| **target == section).count(), 1, "{section}");
    }
    assert!(page.contains("<a class=\"into\" href=\"#r0g0\">Go inside: 24 groups</a>"));
    assert!(
        page.contains("The 12 largest of 24 groups inside.")
            && page.contains("All 2 groups inside.")
    );
    assert!(page.contains("aria-label=\"Groups of group 3:0 and the weights between them\""));
    let trail = "<nav class=\"trail\" aria-label=\"Levels\"><a href=\"#r0c3\"><bdi>All communities</bdi></a> › \
                 <a href=\"#r0g6c0\"><bdi>Community 3: ";
    assert!(page.contains(trail), "the way back from a group inside the fourth community");
    assert!(page.contains("for its members and neighbors, and once more for the groups inside."));
    let plain = page_of(Some(power_law(100, name)));
    assert!(!plain.contains("class=\"within\"") && !plain.contains("Go inside"));
}

#[test]
fn several_results_share_the_room_for_groups() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut report = report(directory.path());
    let found = report.communities.as_mut().expect("communities");
    found.described.largest = Some(with_groups(power_law(100, name), 12));
    let communities = report.communities.clone().expect("communities");
    let result = |at| outcore::job::ResultReport {
        output: format!("c.{at}.tsv"),
        communities: communities.clone(),
    };
    report.results = (0..4).map(result).collect();
    let page = html(&report).expect("a page");
    keep("several-levels.html", &page);
    targets(&page);
    assert!(page.contains("id=\"r2g17\"") && !page.contains("id=\"r2g30\""));
    assert!(page.contains("data-result=\"c.2.tsv\""));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn names_on_cards_are_found_in_full() {
    let long = |community: u64, node: u64| match node % 3 {
        0 => format!("{}{community}", "a/rather/long/name/".repeat(5)),
        1 => format!("short {community} {node}"),
        _ => format!("{}{community}", "too long to be in the page twice ".repeat(20)),
    };
    let page = page_of(Some(power_law(3, long)));
    let whole = format!("data-name=\"{}2\"", "a/rather/long/name/".repeat(5));
    assert!(page.contains(&whole));
    assert!(page.contains("<bdi class=\"node\">short 2 1</bdi>"));
    assert!(!page.contains("data-name=\"too long"));
    assert!(
        page.contains("data-number=\"2\"") && page.contains("class=\"search\" role=\"search\"")
    );
}

#[test]
fn communities_without_figures_have_a_page() {
    let page = page_of(None);
    keep("plain.html", &page);
    assert!(page.contains("<strong>12 communities</strong> in a graph of 60 nodes and 132 edges"));
    assert!(!page.contains("class=\"network\"") && !page.contains("<article"));
    assert!(page.contains(">0</text>") && page.contains(">9</text>"), "numbers as in the file");
    let few = |count| power_law(count, name);
    for count in [1, 2, 3] {
        let page = page_of(Some(few(count)));
        assert_eq!(page.matches("<article class=\"card\"").count(), count as usize);
    }
    assert!(!page_of(Some(LargestReport::default())).contains("<article"));
}

#[test]
fn names_of_communities_are_text() {
    let hostile = |community: u64, node: u64| match (community + node) % 8 {
        0 => "<script>alert(1)</script>".to_owned(),
        1 => "\" onmouseover=\"alert(2)".to_owned(),
        2 => String::new(),
        3 => "x".repeat(65_536),
        4 => "</svg><!-- 'quoted' &amp; ]]>".to_owned(),
        5 => "שלום 名前 \u{202e}gnp.exe\u{200b}".to_owned(),
        6 => "\u{0}\u{1b}[31m\n\t".to_owned(),
        _ => "<".repeat(65_536),
    };
    let page = page_of(Some(power_law(100, hostile)));
    keep("hostile.html", &page);
    for raw in ["<script>alert", "</svg><!--", "\" onmouseover=\"", "\u{202e}", "\u{1b}", "\u{0}"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    assert_eq!(page.matches("<script").count(), 2, "the data, and the page's own");
    assert!(page.contains("(no visible name)"));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn convergence_with_many_levels_has_a_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut report = report(directory.path());
    report.resumed = true;
    let found = report.communities.as_mut().expect("communities");
    let sweep = |number: u64| Sweep {
        cycle: (number / 200) as u32,
        level: number / 10 % 10,
        refines: number % 10 > 6,
        node_count: 1_000_000 >> (number / 10 % 10),
        moved_count: 400_000 >> (number / 10 % 10 + number % 10),
    };
    found.sweeps.first = (0..600).map(sweep).collect();
    found.sweeps.count = 12_345;
    let page = html(&report).expect("a page");
    // `evals/lab/page.py` measures the height of the section.
    keep("levels.html", &page);
    let short = "of which the first 600 are listed, with those of the run that was stopped";
    assert!(page.contains(short) && page.contains("the first 200 of 12,345"));
    assert!(page.contains(">level 7</text>") && page.contains(">refining</text>"));
}

#[test]
fn files_of_earlier_communities_are_no_sources_of_the_graph() {
    let directory = tempfile::tempdir().expect("a directory");
    report(directory.path());
    let earlier = directory.path().join("c.tsv");
    let job = Job::new(directory.path().join("edges.tsv")).memory(128 << 20);
    let job = job.present(|present| {
        present.earlier = Some(earlier);
        present.outline = true;
    });
    let report = job.cluster(directory.path().join("d.tsv")).expect("a job");
    let page = html(&report).expect("a page");
    keep("earlier.html", &page);
    assert!(page.contains("edges.tsv</h1>") && !page.contains("c.tsv</h1>"));
    assert!(page.contains("What changed since the earlier result"));
    assert!(page.contains("12 communities keep the number of an earlier result."));
    assert!(!page.contains("of fewer than"), "nothing was left out");
}

#[test]
fn long_paths_of_compared_files_are_shown_in_full_once() {
    let directory = tempfile::tempdir().expect("a directory");
    report(directory.path());
    let paths = ["a", "b"].map(|name| directory.path().join(format!("{}.tsv", name.repeat(200))));
    for path in &paths {
        std::fs::copy(directory.path().join("c.tsv"), path).expect("a disk");
    }
    let report = compared(&paths, directory.path());
    let found = Compared::Two(Box::new(Step { report, representatives: None }));
    let page = super::compare::html(&found).expect("a page");
    keep("compare-long.html", &page);
    let title = page.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next());
    assert!(title.expect("a title").chars().count() < 140);
    for letter in ["a", "b"] {
        let text = page.split("<script").next().unwrap_or_default();
        assert_eq!(
            text.matches(&letter.repeat(200)).count(),
            1,
            "in the sentence on what A and B are"
        );
    }
}

#[test]
fn each_of_several_results_is_compared_with_the_one_before_it() {
    let directory = tempfile::tempdir().expect("a directory");
    report(directory.path());
    let text = std::fs::read_to_string(directory.path().join("c.tsv")).expect("a result");
    let [first, second, third] =
        ["first.tsv", "second.tsv", "third.tsv"].map(|name| directory.path().join(name));
    // The second has the nodes of two communities in one, the third as the first.
    std::fs::write(&first, &text).expect("a disk");
    std::fs::write(&second, text.replace("\t1\n", "\t0\n")).expect("a disk");
    std::fs::write(&third, &text).expect("a disk");
    let names = || (0..12).map(|at| (at.to_string(), format!("<node {at}>"))).collect();
    let step = |pair: [&PathBuf; 2]| Step {
        report: compared(&pair.map(PathBuf::clone), directory.path()),
        representatives: Some(Representatives { a: names(), b: names() }),
    };
    let found = Compared::Several {
        schema: 1,
        kind: "compare-several",
        comparisons: vec![step([&first, &second]), step([&second, &third])],
    };
    let page = super::compare::html(&found).expect("a page");
    keep("compare-three.html", &page);
    targets(&page);
    assert!(page.contains("3 results, each compared with the one before it."));
    assert_eq!(page.matches("<svg class=\"wide alluvial\"").count(), 2);
    assert_eq!(page.matches("<details class=\"result\" open>").count(), 2);
    for id in ["fates-1", "fates-2", "left-1", "left-2", "agreement-2"] {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(
        page.contains(">0: &lt;node 0&gt; · 10</text>"),
        "communities have their representatives"
    );
    assert!(page.contains("5 in 1: &lt;node 1&gt;"), "and so have parts");
}

#[test]
fn several_results_have_their_own_drawings() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut report = report(directory.path());
    let found = report.communities.as_mut().expect("communities");
    found.options.resolution = Some(1.0);
    found.described.largest = Some(power_law(100, name));
    let results = [1.0, 2.0, 3.0, 4.0, 5.0].map(|resolution| {
        let mut communities = report.communities.clone().expect("communities");
        communities.options.resolution = Some(resolution);
        outcore::job::ResultReport { output: format!("c.{resolution}.tsv"), communities }
    });
    report.results = results.into();
    let page = html(&report).expect("a page");
    keep("several.html", &page);
    assert_eq!(page.matches("<details class=\"result\"").count(), 2 * 3);
    assert_eq!(page.matches("<details class=\"result\" open>").count(), 2);
    assert!(page.contains("The other 2 are compared above."));
    assert!(page.contains("id=\"r2c99\"") && !page.contains("id=\"r3c0\""));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}
