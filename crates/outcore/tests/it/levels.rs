//! Guarantees about levels below communities, in whole jobs on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::stop::StopAt;
use crate::common::{MIB, files_of, options, storage_of};
use outcore::cluster::{ClusterOptions, METHODS, Method};
use outcore::compare::CompareOptions;
use outcore::input::{CommunityInput, LAST_LEVEL};
use outcore::job::{self, Limits, Source};
use outcore::present::{LevelForm, PresentOptions, Small};
use outcore::progress::{Observer, Silent};
use outcore::{ErrorKind, Result};
use outcore_testkit::one_of;
use outcore_testkit::sim::{Fault, Sim};
use std::collections::HashMap;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

const OUTPUT: &str = "/out/communities.tsv";
const EARLIER: &str = "/in/earlier.tsv";

/// Creates groups of 8 nodes in groups of 64 in groups of 512; most edges are inside the small groups.
fn storage(nodes: u64) -> Sim {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let (mut edges, mut earlier) = (String::new(), String::new());
    for node in 0..nodes {
        for _ in 0..6 {
            let reach = match next(100) {
                0..70 => 8,
                70..90 => 64,
                90..98 => 512,
                _ => nodes,
            };
            let other = (node / reach * reach + next(reach)).min(nodes - 1);
            edges += &format!("n{node}\tn{other}\n");
        }
        earlier += &format!("n{node}\t{}\n", 10_000 + node / 16);
    }
    let sim = storage_of(&edges);
    sim.put(EARLIER, earlier.as_bytes());
    sim
}

fn with_levels(method: Method) -> ClusterOptions {
    ClusterOptions { method, levels: true, trials: Some(1), ..ClusterOptions::default() }
}

fn run(
    sim: &Sim,
    (threads, memory_bytes): (usize, u64),
    clustering: &ClusterOptions,
    present: &PresentOptions,
    observer: &dyn Observer,
) -> Result<job::Report> {
    let files = files_of(sim);
    let source = Source::Edges(Box::new(options(threads, memory_bytes)));
    let output = Path::new(OUTPUT);
    job::cluster_and_present(&files, &source, clustering, present, output, observer)
}

fn text(sim: &Sim, path: &str) -> String {
    String::from_utf8(sim.get(path).unwrap()).unwrap()
}

/// Returns the name and the numbers of each line.
fn rows(text: &str, form: LevelForm) -> Vec<(&str, Vec<u64>)> {
    let separator = if form == LevelForm::Columns { '\t' } else { ':' };
    text.lines()
        .filter(|line| !line.starts_with("node\t"))
        .map(|line| {
            let (name, numbers) = line.split_once('\t').unwrap();
            (name, numbers.split(separator).map(|number| number.parse().unwrap()).collect())
        })
        .collect()
}

/// Checks that each column divides the one before. Returns the number of groups of each column.
fn nested(rows: &[(&str, Vec<u64>)]) -> Vec<u64> {
    let depth = rows[0].1.len();
    let mut counts = Vec::new();
    for level in 0..depth {
        let mut parents = HashMap::new();
        for (name, numbers) in rows {
            let parent = level.checked_sub(1).map(|above| numbers[above]);
            assert_eq!(*parents.entry(numbers[level]).or_insert(parent), parent, "{name}");
        }
        counts.push(parents.len() as u64);
    }
    assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
    counts
}

fn present(levels: LevelForm, min_size: u32, small: Small, matched: bool) -> PresentOptions {
    let earlier = matched.then(|| PathBuf::from(EARLIER));
    PresentOptions { levels, min_size, small, earlier, ..PresentOptions::default() }
}

/// With enough arcs that the first levels are on disk.
#[test]
fn threads_and_memory_and_short_transfers_change_no_byte_of_the_levels() {
    let mut results = Vec::new();
    for (threads, memory, short) in
        [(1, 96, false), (2, 1024, false), (7, 200, false), (2, 96, true)]
    {
        let sim = storage(30_000);
        sim.set_short_transfers(short);
        let (clustering, plain) = (with_levels(Method::MapEquation), PresentOptions::default());
        let limits = (threads, memory * MIB);
        let report = run(&sim, limits, &clustering, &plain, &Silent).unwrap().communities.unwrap();
        assert_eq!(sim.paths().len(), 3, "nothing else is left: {:?}", sim.paths());
        let text = text(&sim, OUTPUT);
        let counts = nested(&rows(&text, LevelForm::Columns));
        assert!(counts.len() > 2, "{counts:?}");
        assert_eq!(counts[0], report.sizes.community_count);
        assert_eq!(report.levels.group_counts.unwrap(), counts[1..]);
        results.push(text);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn communities_are_the_same_with_and_without_levels() {
    for (min_size, small) in [(1, Small::Drop), (30, Small::Drop), (30, Small::Singletons)] {
        for matched in [false, true] {
            let all = METHODS.iter().map(|spec| spec.method);
            // The levels of the map equation are a tree of its own.
            let grouped =
                |method: &Method| method.is_multilevel() && *method != Method::MapEquation;
            for method in all.filter(grouped) {
                let sim = storage(3000);
                let resolution = vec![method.default_resolution().unwrap_or(0.02)];
                let kept = ClusterOptions { resolution, ..with_levels(method) };
                let plain = ClusterOptions { levels: false, ..kept.clone() };
                let reported = |form| present(form, min_size, small, matched);
                let limits = (2, 128 * MIB);
                let columns = LevelForm::Columns;
                let report = run(&sim, limits, &plain, &reported(columns), &Silent).unwrap();
                assert!(report.communities.unwrap().levels.group_counts.is_none());
                let expected = text(&sim, OUTPUT);
                run(&sim, limits, &kept, &reported(columns), &Silent).unwrap();
                let found = text(&sim, OUTPUT);
                let first_two = |line: &str| {
                    let end = line.match_indices('\t').nth(1).map_or(line.len(), |(at, _)| at);
                    format!("{}\n", &line[..end])
                };
                let lines = found.lines().filter(|line| !line.starts_with("node\t"));
                assert_eq!(lines.map(first_two).collect::<String>(), expected);
                let by_column = rows(&found, columns);
                nested(&by_column);

                run(&sim, limits, &kept, &reported(LevelForm::Tree), &Silent).unwrap();
                let tree = text(&sim, OUTPUT);
                check_tree(&rows(&tree, LevelForm::Tree), &by_column);
            }
        }
    }
}

/// Checks that paths match the columns, with numbers counted from 0 within each parent.
fn check_tree(tree: &[(&str, Vec<u64>)], columns: &[(&str, Vec<u64>)]) {
    assert_eq!(tree.len(), columns.len());
    let mut known: HashMap<&[u64], u64> = HashMap::new();
    let mut children: HashMap<&[u64], u64> = HashMap::new();
    for ((name, path), (same, numbers)) in tree.iter().zip(columns) {
        assert_eq!((name, path[0], path.len()), (same, numbers[0], numbers.len()));
        for end in 2..=path.len() {
            let number = *known.entry(&numbers[..end]).or_insert_with(|| {
                let next = children.entry(&numbers[..end - 1]).or_default();
                *next += 1;
                *next - 1
            });
            assert_eq!(path[end - 1], number, "{name}");
        }
    }
}

#[test]
fn each_of_several_resolutions_has_its_levels() {
    let sim = storage(3000);
    let reported = PresentOptions::default();
    let resolution = vec![0.3, 1.0, 5.0];
    let several = ClusterOptions { resolution, ..with_levels(Method::Modularity) };
    let report = run(&sim, (2, 128 * MIB), &several, &reported, &Silent).unwrap();
    let mut all = Vec::new();
    for (result, value) in report.results.iter().zip(["0.3", "1", "5"]) {
        let found = text(&sim, &format!("/out/communities.{value}.tsv"));
        let counts = nested(&rows(&found, LevelForm::Columns));
        assert_eq!(result.communities.levels.group_counts.as_ref().unwrap()[..], counts[1..]);
        all.push(found);
    }
    for (value, found) in several.resolution.iter().zip(all) {
        let one = ClusterOptions { resolution: vec![*value], ..several.clone() };
        run(&sim, (1, 256 * MIB), &one, &reported, &Silent).unwrap();
        assert_eq!(text(&sim, OUTPUT), found);
    }
}

#[test]
fn levels_can_be_written_to_standard_output() {
    let sim = storage(1000);
    let files = files_of(&sim);
    let source = Source::Edges(Box::new(options(2, 128 * MIB)));
    let clustering = with_levels(Method::MapEquation);
    job::cluster(&files, &source, &clustering, Path::new("-"), &Silent).unwrap();
    run(&sim, (2, 128 * MIB), &clustering, &PresentOptions::default(), &Silent).unwrap();
    assert_eq!(sim.get("-"), sim.get(OUTPUT));
}

#[test]
fn a_fault_at_any_time_leaves_only_what_the_next_run_resumes_from() {
    let limits = (2, 128 * MIB);
    let clustering = ClusterOptions { cycles: 2, ..with_levels(Method::MapEquation) };
    let reported = present(LevelForm::Tree, 2, Small::Drop, true);
    let expected = {
        let sim = storage(300);
        run(&sim, limits, &clustering, &reported, &Silent).unwrap();
        sim.get(OUTPUT)
    };
    for at in (0..).step_by(usize::from(one_of::<u16>(3))) {
        let sim = storage(300);
        sim.set_fault(Some(Fault { at, forever: false, kind: IoErrorKind::StorageFull }));
        match run(&sim, limits, &clustering, &reported, &Silent) {
            Ok(_) => {
                assert_eq!(sim.get(OUTPUT), expected, "fault {at}");
                if !sim.has_failed() {
                    return assert!(at > 40);
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::DiskFull, "fault {at}");
                if error.kept_text().is_some() {
                    sim.set_fault(None);
                    let report = run(&sim, limits, &clustering, &reported, &Silent).unwrap();
                    assert!(report.resumed && sim.get(OUTPUT) == expected, "{at}");
                    continue;
                }
                assert_eq!(sim.paths(), [EARLIER, "/in/edges.tsv"].map(PathBuf::from), "{at}");
            }
        }
    }
}

#[test]
fn a_stop_at_any_event_is_obeyed() {
    let clustering = with_levels(Method::MapEquation);
    for event in 0.. {
        let sim = storage(300);
        let reported = present(LevelForm::Columns, 1, Small::Drop, false);
        match run(&sim, (2, 128 * MIB), &clustering, &reported, &StopAt(event.into())) {
            Ok(_) => return assert!(event > 20),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Interrupted);
                // At the last event, the result is already in place.
                let left = sim.paths().into_iter().filter(|path| path.starts_with("/disk"));
                assert_eq!(left.count() > 0, error.kept_text().is_some(), "event {event}");
            }
        }
    }
}

#[test]
fn methods_without_levels_are_refused_before_any_work() {
    for method in [Method::LabelPropagation, Method::Components] {
        let sim = storage(300);
        let reported = PresentOptions::default();
        let error =
            run(&sim, (2, 128 * MIB), &with_levels(method), &reported, &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.hint_text().unwrap().contains("map-equation"));
        assert_eq!(sim.paths().len(), 2);
    }
}

/// Returns how many nodes are in other communities in the file `b` of one level than on a level of `a`.
fn moved(sim: &Sim, a: &str, level: Option<u32>, b: &str) -> u64 {
    let options = CompareOptions {
        a: a.into(),
        b: b.into(),
        input: CommunityInput { level, ..CommunityInput::default() },
        output: None,
        moved: None,
        output_header: false,
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: "/disk".into(),
    };
    job::compare(&files_of(sim), &options, &Silent).unwrap().moved_count
}

#[test]
fn every_level_of_a_result_is_read_back() {
    let sim = storage(3000);
    for method in [Method::Modularity, Method::MapEquation] {
        let clustering = with_levels(method);
        let write = |form, to: &str| {
            let present = present(form, 1, Small::Drop, false);
            run(&sim, (2, 128 * MIB), &clustering, &present, &Silent).unwrap();
            let written = text(&sim, OUTPUT);
            sim.put(to, written.as_bytes());
            written
        };
        let columns = write(LevelForm::Columns, "/in/columns.tsv");
        write(LevelForm::Tree, "/in/paths.tsv");
        let columns = rows(&columns, LevelForm::Columns);
        let levels = columns[0].1.len() as u32;
        assert!(levels > 1);
        for (level, at) in [(None, 1), (Some(LAST_LEVEL), levels)]
            .into_iter()
            .chain((1..=levels).map(|level| (Some(level), level)))
        {
            let of = |(name, numbers): &(&str, Vec<u64>)| {
                format!("{name}\t{}\n", numbers[at as usize - 1])
            };
            sim.put("/in/level.tsv", columns.iter().map(of).collect::<String>().as_bytes());
            assert_eq!(moved(&sim, "/in/paths.tsv", level, "/in/level.tsv"), 0, "{level:?}");
        }
    }
}

#[test]
fn a_level_without_effect_is_refused() {
    let sim = Sim::new();
    sim.put("/in/a.tsv", b"a\t0\nb\t1\n");
    let input = CommunityInput { level: Some(2), ..CommunityInput::default() };
    let options = CompareOptions {
        a: "/in/a.tsv".into(),
        b: "/in/a.tsv".into(),
        input,
        output: None,
        moved: None,
        output_header: false,
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: "/disk".into(),
    };
    let error = job::compare(&files_of(&sim), &options, &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("`--level` has no effect"), "{error}");
}

/// Returns the numbers of the community and the groups of each node of a result.
fn by_columns(sim: &Sim, form: LevelForm) -> HashMap<String, Vec<u64>> {
    let text = String::from_utf8(sim.get(OUTPUT).unwrap()).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with("node\t"));
    let numbers = |row: &str| match form {
        LevelForm::Columns => row.split('\t').map(|number| number.parse().unwrap()).collect(),
        LevelForm::Tree => row.split(':').map(|number| number.parse().unwrap()).collect(),
    };
    rows.map(|row| row.split_once('\t').unwrap())
        .map(|(node, row)| (node.into(), numbers(row)))
        .collect()
}

/// Checks the groups inside `nodes`, which have the path `path` and are whole at `level`, and those inside these. Returns
/// the number of groups that were checked.
fn check_inside(
    found: &[job::GroupsReport],
    edges: &[(String, String)],
    numbers: &HashMap<String, Vec<u64>>,
    (nodes, path, level): (&[&String], &[u64], usize),
) -> usize {
    let depth = numbers.values().next().map_or(0, Vec::len);
    let families = (level + 1..depth).map(|below| {
        let mut groups: HashMap<u64, Vec<&String>> = HashMap::new();
        nodes.iter().for_each(|node| groups.entry(numbers[*node][below]).or_default().push(node));
        (below, groups)
    });
    let inside = found.iter().find(|inside| inside.path == path);
    let Some((below, groups)) = families.into_iter().find(|(_, groups)| groups.len() > 1) else {
        assert!(inside.is_none(), "{path:?} is not divided");
        return 0;
    };
    let inside = inside.unwrap_or_else(|| panic!("{path:?} is divided"));
    assert_eq!(inside.group_count, groups.len() as u64);
    assert_eq!(inside.groups.len(), groups.len().min(12));
    assert!(inside.groups.is_sorted_by(|a, b| a.size >= b.size), "{path:?}");
    let least = inside.groups.last().unwrap().size as usize;
    let is_listed = |number: &u64| inside.groups.iter().any(|group| group.community == *number);
    assert!(groups.iter().all(|(number, nodes)| is_listed(number) || nodes.len() <= least));
    let of = |node: &String| nodes.contains(&node).then(|| numbers[node][below]);
    let mut weights: HashMap<(u64, u64), f64> = HashMap::new();
    for (one, other) in edges.iter().filter_map(|(a, b)| Some((of(a)?, of(b)?))) {
        if one != other && is_listed(&one) && is_listed(&other) {
            *weights.entry((one.min(other), one.max(other))).or_default() += 1.0;
        }
    }
    let links = inside
        .links
        .iter()
        .map(|link| ((link.source.min(link.target), link.source.max(link.target)), link.weight));
    assert_eq!(links.collect::<HashMap<_, _>>(), weights, "{path:?}");
    let each = inside.groups.iter().map(|group| {
        let own = &groups[&group.community];
        assert_eq!(group.size, own.len() as u64, "{path:?}");
        assert!(own.contains(&&group.representative) && group.members[0] == group.representative);
        assert!(group.members.iter().all(|member| own.contains(&member)));
        let path = [path, &[group.community]].concat();
        1 + check_inside(found, edges, numbers, (own, &path, below))
    });
    each.sum()
}

#[test]
fn the_groups_of_the_outline_are_those_of_the_result() {
    for form in [LevelForm::Columns, LevelForm::Tree] {
        let sim = storage(1024);
        let present = PresentOptions { outline: true, levels: form, ..PresentOptions::default() };
        let clustering = with_levels(Method::Modularity);
        let report = run(&sim, (2, 256 * MIB), &clustering, &present, &Silent).unwrap();
        let largest = report.communities.unwrap().described.largest.unwrap();
        let text = String::from_utf8(sim.get("/in/edges.tsv").unwrap()).unwrap();
        // Repeated edges are summed.
        let ends = text.lines().map(|line| line.split_once('\t').unwrap());
        let edges: Vec<(String, String)> =
            ends.map(|(one, other)| (one.to_owned(), other.to_owned())).collect();
        let numbers = by_columns(&sim, form);
        let mut count = 0;
        for community in &largest.communities {
            let number = community.community;
            let nodes: Vec<&String> =
                numbers.iter().filter(|(_, of)| of[0] == number).map(|(node, _)| node).collect();
            count += check_inside(&largest.groups, &edges, &numbers, (&nodes, &[number], 0));
        }
        let listed: usize = largest.groups.iter().map(|inside| inside.groups.len()).sum();
        assert!(count > 20 && count == listed && listed <= 400, "{count} of {listed}");
        // Threads and memory do not matter; without levels there are no groups.
        let again = run(&storage(1024), (1, 128 * MIB), &clustering, &present, &Silent).unwrap();
        assert_eq!(again.communities.unwrap().described.largest.unwrap(), largest);
        let plain = ClusterOptions { levels: false, ..clustering };
        let plain = run(&storage(1024), (2, 256 * MIB), &plain, &present, &Silent).unwrap();
        assert!(plain.communities.unwrap().described.largest.unwrap().groups.is_empty());
    }
}
