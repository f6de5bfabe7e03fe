//! Guarantees about comparing two results, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of};
use outcore::ErrorKind;
use outcore::budget::Limits;
use outcore::cluster::ClusterOptions;
use outcore::compare::{CommunityName, CompareOptions, CompareReport, FateCounts};
use outcore::input::{CommunityFormat, CommunityInput};
use outcore::io::{Cramped, Files};
use outcore::job::{self, Source};
use outcore::present::{PresentOptions, Small};
use outcore::progress::Silent;
use outcore_testkit::one_of;
use outcore_testkit::sim::{Fault, Sim};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

const A: &str = "/in/a.tsv";
const B: &str = "/in/b.tsv";
const OVERLAPS: &str = "/out/overlaps.tsv";
const MOVED: &str = "/out/moved.tsv";

fn options(threads: usize, memory: u64) -> CompareOptions {
    CompareOptions {
        a: A.into(),
        b: B.into(),
        input: CommunityInput::of_result(),
        output: Some(OVERLAPS.into()),
        moved: Some(MOVED.into()),
        output_header: false,
        limits: Limits { memory_bytes: memory * MIB, threads },
        work_dir: "/disk".into(),
    }
}

fn cramped(files: &Files) -> Files {
    let bounds =
        Cramped { chunk_bytes: 700, run_records: 10, sort_records: 20, fan_in: 2, ..Cramped::NOT };
    files.with_cramped(bounds)
}

fn compare(a: &str, b: &str) -> outcore::Result<CompareReport> {
    let sim = Sim::new();
    sim.put(A, a.as_bytes());
    sim.put(B, b.as_bytes());
    job::compare(&files_of(&sim), &options(2, 96), &Silent)
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// Returns names that are short, long, quoted, and nearly equal.
fn node(at: u64) -> String {
    match at % 7 {
        0 => format!("n{at}"),
        1 => format!("a name that is longer than a fingerprint, number {at}"),
        2 => format!("{at},\"x\" y"),
        3 => format!("\"{at}\""),
        4 => format!("a\tb {at}"),
        5 => format!("#ä{at} \u{202e}{{}}"),
        _ => "z".repeat(14 + at as usize / 7),
    }
}

/// Result in a file: nodes with their communities.
type Division = Vec<(String, String)>;

/// Divides some nodes, with a few changes from `earlier`.
fn divide(
    random: &mut Random,
    nodes: u64,
    names: fn(u64) -> String,
    earlier: &Division,
) -> Division {
    let communities = 1 + random.below(12);
    let known: HashMap<&String, &String> = earlier.iter().map(|(node, of)| (node, of)).collect();
    let (kept, named) = (random.below(10), 5 + random.below(6));
    let mut all = Division::new();
    for at in 0..nodes {
        let name = node(at);
        if random.below(10) >= named {
            continue;
        }
        let community = match known.get(&name) {
            Some(community) if random.below(10) < kept => (*community).clone(),
            _ => names(random.below(communities) * random.below(communities) / communities),
        };
        all.push((name, community));
    }
    if all.is_empty() {
        all.push((node(0), names(0)));
    }
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at as u64 + 1) as usize);
    }
    all
}

fn quoted(name: &str) -> String {
    match name.contains('\t') || name.starts_with(['"', '#']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

fn text(division: &Division) -> String {
    let line = |(node, of): &(String, String)| format!("{}\t{}\n", quoted(node), quoted(of));
    division.iter().map(line).collect()
}

/// Communities by definition, each with its nodes, in the order that the report gives them.
fn sets(division: &Division) -> (Vec<String>, HashMap<String, BTreeSet<String>>) {
    let mut order: Vec<String> = Vec::new();
    let mut sets: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (node, of) in division {
        if !sets.contains_key(of) {
            order.push(of.clone());
        }
        sets.entry(of.clone()).or_default().insert(node.clone());
    }
    if order.iter().all(|of| of.parse::<u64>().is_ok()) {
        order.sort_by_key(|of| of.parse::<u64>().unwrap());
    }
    (order, sets)
}

/// All pairs that share nodes, computed from the definition.
struct Naive {
    a: (Vec<String>, HashMap<String, BTreeSet<String>>),
    b: (Vec<String>, HashMap<String, BTreeSet<String>>),
    shared: HashMap<(String, String), u64>,
}

impl Naive {
    fn new(a: &Division, b: &Division) -> Self {
        let (a, b) = (sets(a), sets(b));
        let mut shared = HashMap::new();
        for (one, nodes) in &a.1 {
            for (other, others) in &b.1 {
                let count = nodes.intersection(others).count() as u64;
                if count > 0 {
                    shared.insert((one.clone(), other.clone()), count);
                }
            }
        }
        Self { a, b, shared }
    }

    fn of(&self, a: &str, b: &str) -> u64 {
        self.shared.get(&(a.to_owned(), b.to_owned())).copied().unwrap_or(0)
    }

    fn overlaps(&self) -> String {
        let mut text = String::new();
        for a in &self.a.0 {
            let mut of_a: Vec<(&String, u64)> =
                self.b.0.iter().map(|b| (b, self.of(a, b))).filter(|(_, n)| *n > 0).collect();
            of_a.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            for (b, n) in of_a {
                let sizes = [self.a.1[a].len(), self.b.1[b].len()];
                let union = self.a.1[a].union(&self.b.1[b]).count();
                let jaccard: f64 = format!("{:.5e}", n as f64 / union as f64).parse().unwrap();
                let (a, b) = (quoted(a), quoted(b));
                text += &format!("{a}\t{b}\t{n}\t{}\t{}\t{jaccard}\n", sizes[0], sizes[1]);
            }
        }
        text
    }

    /// Returns the nodes that moved, in the order of A.
    fn moved(&self, a: &Division, b: &Division) -> String {
        let to: BTreeMap<&String, &String> = b.iter().map(|(node, of)| (node, of)).collect();
        let largest = |order: &[String], of: &dyn Fn(&str) -> u64| {
            let mut best = (0, String::new());
            for other in order {
                if of(other) > best.0 {
                    best = (of(other), other.clone());
                }
            }
            best.1
        };
        let mut text = String::new();
        for (node, of) in a {
            let Some(&to) = to.get(node) else { continue };
            let stays = largest(&self.b.0, &|b| self.of(of, b)) == *to
                && largest(&self.a.0, &|a| self.of(a, to)) == *of;
            if !stays {
                text += &format!("{}\t{}\t{}\n", quoted(node), quoted(of), quoted(to));
            }
        }
        text
    }

    fn fates(&self, is_a: bool) -> FateCounts {
        let (own, other) = if is_a { (&self.a, &self.b) } else { (&self.b, &self.a) };
        let mut counts = FateCounts::default();
        for nodes in own.1.values() {
            let common = |set: &BTreeSet<String>| nodes.intersection(set).count();
            let union = |set: &BTreeSet<String>| nodes.union(set).count();
            let sets: Vec<&BTreeSet<String>> =
                other.1.values().filter(|set| common(set) > 0).collect();
            let parts = sets.iter().filter(|set| 2 * common(set) > set.len());
            let gathered: usize = parts.map(|set| common(set)).sum();
            *match () {
                () if sets.is_empty() => &mut counts.alone,
                () if sets.contains(&nodes) => &mut counts.unchanged,
                () if sets.iter().any(|set| 2 * common(set) > union(set)) => &mut counts.continued,
                () if sets.iter().any(|set| 2 * common(set) > nodes.len()) => &mut counts.into_one,
                () if 2 * gathered > nodes.len() => &mut counts.into_several,
                () => &mut counts.mixed,
            } += 1;
        }
        counts
    }
}

#[test]
fn comparisons_equal_those_by_definition() {
    let named: [fn(u64) -> String; 4] = [
        |at| (3 * at).to_string(),
        |at| at.to_string(),
        |at| format!("family of an accession like sp|P{at:05}|PROTEIN_HUMAN"),
        |at| if at % 2 == 0 { format!("\"{at}\" x") } else { format!("{at}") },
    ];
    let mut fates = FateCounts::default();
    for seed in 0..300 {
        let mut random = Random(seed);
        let nodes = 1 + random.below(60) * random.below(4);
        let [of_a, of_b] = [(); 2].map(|()| named[random.below(4) as usize]);
        let a = divide(&mut random, nodes, of_a, &Division::new());
        let earlier = if random.below(3) > 0 { a.clone() } else { Division::new() };
        let b = divide(&mut random, nodes, of_b, &earlier);
        let naive = Naive::new(&a, &b);
        let sim = Sim::new();
        sim.put(A, text(&a).as_bytes());
        sim.put(B, text(&b).as_bytes());
        let files = files_of(&sim);
        let files = if seed % 2 == 0 { files } else { cramped(&files) };
        let found = job::compare(&files, &options(1 + seed as usize % 3, 96), &Silent);
        if naive.shared.is_empty() {
            let error = found.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadInput);
            assert!(error.message().ends_with("have no node in common"), "{error}");
            continue;
        }
        let found = found.unwrap();
        let written = |path| String::from_utf8(sim.get(path).unwrap()).unwrap();
        assert_eq!(written(OVERLAPS), naive.overlaps(), "seed {seed}");
        let moved = naive.moved(&a, &b);
        assert_eq!(written(MOVED), moved, "seed {seed}");
        assert_eq!(found.moved_count, moved.lines().count() as u64);
        assert_eq!(found.node_count, naive.shared.values().sum::<u64>());
        assert_eq!(found.overlap_count, naive.shared.len() as u64);
        assert_eq!((found.a.node_count, found.b.node_count), (a.len() as u64, b.len() as u64));
        assert_eq!((found.a.fates, found.b.fates), (naive.fates(true), naive.fates(false)));
        assert_eq!(found.agreement, agreement(&a, &b));
        check_report(&found, &naive);
        let sums = [&mut fates.unchanged, &mut fates.continued, &mut fates.into_one];
        let of = found.a.fates;
        sums.into_iter().zip([of.unchanged, of.continued, of.into_one]).for_each(|(s, n)| *s += n);
        fates.into_several += of.into_several;
        fates.mixed += of.mixed;
        fates.alone += of.alone;
        assert_eq!(sim.paths().len(), 4, "nothing else is left: {:?}", sim.paths());
    }
    let FateCounts { unchanged, continued, into_one, into_several, mixed, alone } = fates;
    for count in [unchanged, continued, into_one, into_several, mixed, alone] {
        assert!(count > 20, "{fates:?}");
    }
}

/// Returns the agreement by the measures that scores use, of labels in memory.
fn agreement(a: &Division, b: &Division) -> outcore::score::Agreement {
    let to: HashMap<&String, &String> = b.iter().map(|(node, of)| (node, of)).collect();
    let both = || a.iter().filter_map(|(node, of)| Some((of, *to.get(node)?)));
    let labels = |all: Vec<&String>| -> Vec<u32> {
        let sorted: BTreeSet<&String> = all.iter().copied().collect();
        let place = |of: &String| sorted.iter().position(|known| *known == of).unwrap() as u32;
        all.into_iter().map(place).collect()
    };
    let (one, other) = both().unzip();
    outcore::score::compare(&labels(one), &labels(other))
}

fn check_report(found: &CompareReport, naive: &Naive) {
    let left: u64 = found.left.iter().map(|change| change.moved_count).sum();
    assert_eq!(left, found.moved_count, "there are few communities");
    for change in &found.left {
        let name = change.community.to_string();
        assert_eq!(change.size, naive.a.1[&name].len() as u64);
        for part in &change.parts {
            assert_eq!(part.shared_count, naive.of(&name, &part.community.to_string()));
        }
    }
    for change in &found.joined {
        let name = change.community.to_string();
        assert_eq!(change.size, naive.b.1[&name].len() as u64);
        let most = change.parts.iter().map(|part| part.shared_count).max().unwrap();
        assert_eq!(change.moved_count, change.shared_count - most);
    }
    let flows: u64 = found.drawn.flows.iter().map(|flow| flow.shared_count).sum();
    assert_eq!(flows, found.node_count);
    for flow in &found.drawn.flows {
        let name = |of: &Option<CommunityName>| of.as_ref().unwrap().to_string();
        let (a, b) = (&found.drawn.a[flow.a].community, &found.drawn.b[flow.b].community);
        assert_eq!(flow.shared_count, naive.of(&name(a), &name(b)));
    }
    assert!(found.drawn.a.is_sorted_by(|one, other| one.size >= other.size));
}

#[test]
fn a_result_agrees_with_itself_exactly() {
    let mut random = Random(5);
    let a = divide(&mut random, 200, |at| format!("c{at}"), &Division::new());
    let mut shuffled = a.clone();
    shuffled.reverse();
    let found = compare(&text(&a), &text(&shuffled)).unwrap();
    let of = found.agreement;
    assert_eq!([of.nmi, of.ami, of.ari, of.pair_f1], [1.0; 4]);
    assert_eq!((found.moved_count, found.left.len(), found.joined.len()), (0, 0, 0));
    assert_eq!(found.a.fates.unchanged, found.a.community_count);
}

#[test]
fn large_files_are_compared_with_little_memory_and_the_same_bytes() {
    let mut random = Random(1);
    let (mut a, mut b) = (String::new(), String::new());
    for at in 0..40_000u64 {
        let community = random.below(9_000);
        a += &format!("{}\t{community}\n", quoted(&node(at)));
        let to = if random.below(4) == 0 { random.below(9_000) } else { community };
        b += &format!("{}\tcommunity with a long name {to}\n", quoted(&node(at + 500)));
    }
    let mut results = Vec::new();
    for (threads, memory, is_cramped) in [(1, 96, false), (3, 500, false), (2, 96, true)] {
        let sim = Sim::new();
        sim.put(A, a.as_bytes());
        sim.put(B, b.as_bytes());
        let files = files_of(&sim);
        let bounds = Cramped { run_records: 900, sort_records: 2000, fan_in: 3, ..Cramped::NOT };
        let files = if is_cramped { files.with_cramped(bounds) } else { files };
        let found = job::compare(&files, &options(threads, memory), &Silent).unwrap();
        let json = serde_json::to_string(&found).unwrap();
        results.push((json, sim.get(OVERLAPS).unwrap(), sim.get(MOVED).unwrap()));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    let drawn: serde_json::Value = serde_json::from_str(&results[0].0).unwrap();
    assert_eq!(drawn["drawn"]["a"].as_array().unwrap().len(), 41, "40 and the others");
}

#[test]
fn a_job_compares_with_the_earlier_result_as_two_files_are_compared() {
    let mut random = Random(5);
    let (mut edges, mut earlier) = (String::new(), String::new());
    for node in 0..300 {
        for _ in 0..3 {
            edges += &format!("n{node}\tn{}\n", node / 10 * 10 + random.below(11));
        }
        if node % 29 != 0 {
            earlier += &format!("n{node}\t{}\n", 50 - node / 14);
        }
    }
    // A community that is too small.
    edges += "x\ty\n";
    earlier += "x\t60\ny\t60\n";
    let sim = Sim::new();
    sim.put("/in/edges.tsv", edges.as_bytes());
    sim.put(A, earlier.as_bytes());
    let files = files_of(&sim);
    for small in [Small::Singletons, Small::Drop] {
        let presented = PresentOptions {
            earlier: Some(A.into()),
            min_size: 5,
            small,
            outline: true,
            ..PresentOptions::default()
        };
        let source = Source::Edges(Box::new(crate::common::options(2, 96 * MIB)));
        let (method, to) = (ClusterOptions::default(), Path::new("/out/b.tsv"));
        let report =
            job::cluster_and_present(&files, &source, &method, &presented, to, &Silent).unwrap();
        let found = report.communities.as_ref().unwrap().described.compared.as_ref().unwrap();
        let options = CompareOptions { b: to.into(), output: None, moved: None, ..options(2, 96) };
        let expected = job::compare(&files_of(&sim), &options, &Silent).unwrap();
        let json = |report| serde_json::to_value::<&CompareReport>(report).unwrap();
        assert_eq!(json(found), json(&expected));
        assert!(found.moved_count > 10 && found.b.community_count > 10, "{found:?}");
        assert_eq!(found.a.only_count > 0, small == Small::Drop);
    }
}

#[test]
fn what_cannot_be_compared_is_named() {
    let error = compare("a\t1\nb\t2\n", "c\t1\nd\t2\n").unwrap_err();
    assert_eq!(error.message(), format!("`{A}` and `{B}` have no node in common").as_str());
    assert_eq!(error.notes()[0], format!("`{A}` names 2 nodes, `{B}` 2 nodes").as_str());
    for (name, long) in
        [("b", "b"), ("a name of more than 15 bytes", "a name of more than 15 bytes")]
    {
        let twice = format!("a\t1\n{name}\tx\nc\tx\n{name}\ty\n{name}\tz\n");
        for (a, b, path) in [(twice.as_str(), "a\t1\n", A), ("a\t1\n", twice.as_str(), B)] {
            let error = compare(a, b).unwrap_err();
            let message = format!("`{path}` gives node `{long}` two communities");
            assert_eq!((error.kind(), error.message().to_string()), (ErrorKind::BadInput, message));
            assert_eq!(error.notes()[0], "lines 2 and 4 name it");
        }
    }
    // The same line twice is not a contradiction.
    assert_eq!(compare("a\t1\na\t1\nb\t2\n", "a\t1\nb\t1\n").unwrap().a.node_count, 2);
    let too_small = |memory_bytes| {
        let limits = Limits { memory_bytes, threads: 2 };
        let options = CompareOptions { limits, ..options(2, 0) };
        job::compare(&files_of(&Sim::new()), &options, &Silent).unwrap_err()
    };
    let error = too_small(40 * MIB);
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    let hint = error.hint_text().unwrap().to_string();
    let number = hint.split("--memory ").nth(1).unwrap().split('`').next().unwrap();
    let bytes = outcore::units::parse_bytes(number).unwrap();
    assert_eq!(too_small(bytes).kind(), ErrorKind::Io, "the limit is enough; files are absent");
}

#[test]
fn outputs_replace_no_input_and_no_other_output() {
    let sim = Sim::new();
    sim.put(A, b"a\t1\n");
    sim.put(B, b"a\t1\n");
    for (output, moved) in [(A, MOVED), (OVERLAPS, B), (OVERLAPS, OVERLAPS), ("/out/x.xlsx", MOVED)]
    {
        let options = CompareOptions {
            output: Some(output.into()),
            moved: Some(moved.into()),
            ..options(1, 96)
        };
        let error = job::compare(&files_of(&sim), &options, &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{output} {moved}");
    }
    assert_eq!(sim.paths().len(), 2);
}

#[test]
fn other_forms_of_files_are_compared() {
    let sim = Sim::new();
    sim.put("/in/pairs", b"r\tr\nr\tb\ns\ts\nr\tc\n");
    sim.put("/in/clusters", b"r b c\ns\n");
    sim.put(
        "/in/objects.jsonl",
        b"{\"node\":\"r\",\"community\":4}\n{\"node\":\"b\",\"community\":4}\n",
    );
    let input = CommunityInput { format: CommunityFormat::Auto, ..CommunityInput::default() };
    for (a, b, fates) in [
        ("/in/pairs", "/in/clusters", (2, 0)),
        ("/in/clusters", "/in/objects.jsonl", (0, 1)),
        ("/in/objects.jsonl", "/in/pairs", (0, 1)),
    ] {
        let options =
            CompareOptions { a: a.into(), b: b.into(), input: input.clone(), ..options(2, 96) };
        let found = job::compare(&files_of(&sim), &options, &Silent).unwrap();
        assert_eq!((found.a.fates.unchanged, found.a.fates.continued), fates, "{a} {b}");
    }
}

#[test]
fn a_failure_at_any_operation_leaves_nothing_behind() {
    let mut random = Random(3);
    let a = divide(&mut random, 150, |at| format!("c{at}"), &Division::new());
    let b = divide(&mut random, 150, |at| at.to_string(), &Division::new());
    for at in (0..40_000).step_by(7 * usize::from(one_of::<u16>(3))) {
        let sim = Sim::new();
        sim.put(A, text(&a).as_bytes());
        sim.put(B, text(&b).as_bytes());
        sim.set_fault(Some(Fault { at, forever: true, kind: IoErrorKind::StorageFull }));
        match job::compare(&cramped(&files_of(&sim)), &options(1, 96), &Silent) {
            Ok(_) => return assert!(at > 100),
            Err(error) => assert_eq!(error.kind(), ErrorKind::DiskFull, "fault {at}"),
        }
        let known = [A, B, OVERLAPS].map(Path::new);
        let left = sim.paths();
        assert!(left.iter().all(|path| known.contains(&path.as_path())), "fault {at}: {left:?}");
    }
    panic!("the job never ends");
}
