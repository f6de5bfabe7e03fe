//! Guarantees of the graph, each tested against a model or against damage.

use super::*;
use crate::weight::Weight;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::Silent;
use outcore_io::{Files, Mode};
use outcore_testkit::sim::{Fault, Sim};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMITS: BlockLimits = BlockLimits { block_nodes: 5, block_arcs: 8, segment_arcs: 4 };
const PATH: &str = "graph";

/// Contents of a graph: arcs and loops with their codes, and names.
#[derive(Debug, Clone, PartialEq, Default)]
struct GraphContent {
    arcs: Vec<(u32, u32, u32)>,
    loops: Vec<(u32, f64)>,
    names: Vec<Vec<u8>>,
}

fn sim() -> (Sim, Files) {
    let sim = Sim::new();
    (sim.clone(), Files::new(Arc::new(sim)))
}

fn options(node_count: u64, directed: bool, duplicates: Duplicates) -> GraphOptions {
    GraphOptions { node_count, directed, duplicates, keep_loops: true }
}

fn record(source: u32, target: u32, weight: f64) -> ArcRecord {
    ArcRecord { source, target, weight: Weight::new(weight).code() }
}

fn write(
    files: &Files,
    options: &GraphOptions,
    limits: BlockLimits,
    arcs: &[ArcRecord],
    slice: usize,
) -> Result<GraphSummary> {
    let mut writer = GraphWriter::create_with(files, Path::new(PATH), options, limits)?;
    for part in arcs.chunks(slice) {
        writer.push(part)?;
    }
    writer.finish()
}

fn write_names(files: &Files, names: &[Vec<u8>], block_bytes: usize) -> Result<NamesSummary> {
    let mut writer = NamesWriter::create_with(files, Path::new(PATH), block_bytes)?;
    for name in names {
        writer.push(name)?;
    }
    writer.finish()
}

/// Returns whether the bins of degrees and weights match `arcs`, counted one by one.
fn is_distributed(summary: &GraphSummary, arcs: &[(u32, u32, u32)]) -> bool {
    let degree = |node: u32| arcs.iter().filter(|arc| arc.0 == node).count() as u64;
    let degrees: Vec<u64> = (0..summary.node_count as u32).map(degree).collect();
    let holds = |bin: &Bin<u64>, degree: u64| match bin.at_least {
        0 => degree == 0,
        least => (least..2 * least).contains(&degree),
    };
    let weighs = |bin: &Bin<f64>, code: u32| {
        let weight = Weight::from_code(code).value();
        // Twice the largest power is infinite.
        (bin.at_least..2.0 * bin.at_least).contains(&weight)
            || bin.at_least == 0.0 && weight < f64::MIN_POSITIVE
    };
    let are_right = summary.degrees.iter().all(|bin| {
        bin.count > 0 && bin.count == degrees.iter().filter(|&&d| holds(bin, d)).count() as u64
    });
    are_right
        && summary.degrees.iter().map(|bin| bin.count).sum::<u64>() == summary.node_count
        && summary.weights.iter().map(|bin| bin.count).sum::<u64>() == summary.arc_count
        && summary.weights.iter().all(|bin| {
            bin.count > 0
                && bin.count == arcs.iter().filter(|arc| weighs(bin, arc.2)).count() as u64
        })
}

/// Reads and verifies everything, and checks the properties of the blocks.
fn read(files: &Files) -> Result<GraphContent> {
    let graph = Graph::open(files, Path::new(PATH))?;
    let mut content = GraphContent::default();
    let mut scratch = ArcScratch::default();
    let mut scan = graph.scan(0..graph.blocks().len(), 2);
    let mut next_node = 0u64;
    while let Some(block) = scan.next()? {
        assert_eq!(u64::from(block.first_node()), next_node);
        next_node += block.node_count() as u64;
        let mut arc_count = 0;
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            let mut degree = 0;
            block.for_each_segment(local, &mut scratch, |targets, weights| {
                assert!(!targets.is_empty() && targets.len() <= SEGMENT_ARCS);
                assert_eq!(weights.len(), if block.is_weighted() { targets.len() } else { 0 });
                degree += targets.len() as u64;
                for (at, &target) in targets.iter().enumerate() {
                    let code = weights.get(at).copied().unwrap_or(Weight::ONE.code());
                    content.arcs.push((node, target, code));
                }
            })?;
            assert_eq!(block.degree(local), degree);
            arc_count += degree;
            let loop_weight = block.self_loop(local);
            if loop_weight > 0.0 {
                content.loops.push((node, loop_weight));
            }
        }
        assert_eq!(block.arc_count(), arc_count);
    }
    assert_eq!(next_node, graph.node_count());
    assert_eq!(content.arcs.len() as u64, graph.arc_count());
    assert_eq!(content.loops.len() as u64, graph.loop_count());
    if graph.has_names() {
        let mut names = graph.names()?;
        while let Some(name) = names.next_name()? {
            content.names.push(name.to_vec());
        }
    }
    graph.verify(&Silent)?;
    Ok(content)
}

/// Combines sorted records in the way that the writer must.
fn model(records: &[ArcRecord], duplicates: Duplicates) -> GraphContent {
    let mut groups = BTreeMap::<(u32, u32), Vec<u32>>::new();
    for record in records {
        groups.entry((record.source, record.target)).or_default().push(record.weight);
    }
    let mut content = GraphContent::default();
    for ((source, target), codes) in groups {
        let values = codes.iter().map(|&code| Weight::from_code(code).value());
        let weight = match duplicates {
            Duplicates::Sum => Weight::new(values.sum::<f64>().min(f64::MAX)),
            Duplicates::Max => Weight::new(values.fold(0.0, f64::max)),
            Duplicates::Min => Weight::new(values.fold(f64::MAX, f64::min)),
            Duplicates::First => Weight::from_code(codes[0]),
        };
        if source == target {
            content.loops.push((source, weight.value()));
        } else {
            content.arcs.push((source, target, weight.code()));
        }
    }
    content
}

/// Adds opposite arcs if undirected, and sorts like the sorter.
fn records(edges: &[(u32, u32, f64)], options: &GraphOptions) -> Vec<ArcRecord> {
    let mut arcs = Vec::new();
    for &(source, target, weight) in edges {
        arcs.push(record(source, target, weight));
        if !options.directed && source != target {
            arcs.push(record(target, source, weight));
        }
    }
    // Stable: equal pairs stay in order of appearance.
    arcs.sort_by_key(|arc| (arc.source, arc.target));
    if options.duplicates == Duplicates::Sum {
        arcs.sort_by_key(|arc| (arc.source, arc.target, arc.weight));
    }
    arcs
}

fn any_weight() -> impl Strategy<Value = BoxedStrategy<f64>> {
    prop_oneof![
        Just(Just(1.0).boxed()),
        Just((1u32..100).prop_map(f64::from).boxed()),
        Just((1u32..1000).prop_map(|digits| f64::from(digits) / 1000.0).boxed()),
        Just((1u32..2_000_000_000).prop_map(|digits| f64::from(digits) / 7.0).boxed()),
        Just(prop_oneof![Just(1.0), Just(0.5), Just(1e-300), Just(1e300), Just(1e305)].boxed()),
    ]
}

fn any_graph() -> impl Strategy<Value = (GraphOptions, Vec<(u32, u32, f64)>)> {
    let duplicates = prop_oneof![
        Just(Duplicates::Sum),
        Just(Duplicates::Max),
        Just(Duplicates::Min),
        Just(Duplicates::First)
    ];
    (1u64..40, any::<bool>(), duplicates, any_weight(), 0u64..20, 0usize..120).prop_flat_map(
        |(nodes, directed, duplicates, weight, empty, edges)| {
            // Some nodes have most of the arcs, and the last ones none.
            let node = prop_oneof![0..nodes as u32, 0..(nodes as u32).div_ceil(8)];
            let edges = prop::collection::vec((node.clone(), node, weight), 0..=edges);
            (Just(options(nodes + empty, directed, duplicates)), edges)
        },
    )
}

fn any_names() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let name = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..10),
        (0u32..2000).prop_map(|number| format!("accession_{number}").into_bytes()),
        prop::collection::vec(Just(b'x'), 0..400),
    ];
    prop::collection::vec(name, 0..60)
}

/// Returns the segments of a node.
fn segments(block: &Block, local: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut all = Vec::new();
    let add = |targets: &[u32], codes: &[u32]| all.push((targets.to_vec(), codes.to_vec()));
    block.for_each_segment(local, &mut ArcScratch::default(), add).unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_written_graph_is_read_back((options, edges) in any_graph(), slice in 1usize..50, short: bool) {
        let arcs = records(&edges, &options);
        let (sim, files) = sim();
        sim.set_short_transfers(short);
        let summary = write(&files, &options, LIMITS, &arcs, slice).unwrap();
        let expected = model(&arcs, options.duplicates);
        prop_assert_eq!(read(&files).unwrap(), expected.clone());
        let graph = Graph::open(&files, Path::new(PATH)).unwrap();
        let mut total = 0.0;
        expected.arcs.iter().for_each(|arc| total += Weight::from_code(arc.2).value());
        let kept = expected.arcs.len() + expected.loops.len();
        prop_assert_eq!(summary.arc_count, expected.arcs.len() as u64);
        prop_assert_eq!(summary.combined_count, (arcs.len() - kept) as u64);
        prop_assert_eq!(summary.weight_total, total.min(f64::MAX));
        prop_assert_eq!(summary.bytes, graph.bytes_on_disk());
        prop_assert_eq!(&graph.summary(), &summary);
        prop_assert!(is_distributed(&summary, &expected.arcs));
        let rows: Vec<Row> =
            graph.rows(0..options.node_count as u32).collect::<Result<_>>().unwrap();
        let degrees: Vec<u64> = graph.degrees().collect::<Result<_>>().unwrap();
        prop_assert!(degrees.into_iter().eq(rows.iter().map(|row| row.neighbors.len() as u64)));
        let code = |weight: f64| Weight::new(weight).code();
        let arcs_of = |row: &Row| {
            let node = row.node;
            row.neighbors.clone().into_iter().map(move |(target, w)| (node, target, code(w)))
        };
        prop_assert!(rows.iter().flat_map(arcs_of).eq(expected.arcs.iter().copied()));
        let loops = rows.iter().filter(|row| row.self_loop > 0.0);
        prop_assert!(
            loops.map(|row| (row.node, row.self_loop)).eq(expected.loops.iter().copied())
        );
        let is_other = |weight: f64| weight != 1.0;
        let is_weighted = expected.arcs.iter().any(|arc| is_other(Weight::from_code(arc.2).value()))
            || expected.loops.iter().any(|&(_, weight)| is_other(weight));
        prop_assert_eq!(graph.is_weighted(), is_weighted);
        for index in 0..graph.blocks().len() {
            let block = graph.read_block(index).unwrap();
            let decoded = block.decoded(false).unwrap();
            prop_assert_eq!(decoded.is_none(), graph.is_hub_block(index));
            let Some(decoded) = decoded else { continue };
            let most = Block::decoded_bytes(&graph.blocks()[index], graph.is_weighted());
            prop_assert!(decoded.memory_bytes() as u64 <= most);
            let listed = block.decoded(true).unwrap().expect("a small block has few weights");
            let most = Block::listed_bytes(&graph.blocks()[index]);
            prop_assert!(listed.memory_bytes() as u64 <= most);
            prop_assert!(block.memory_bytes() as u64 <= most);
            for local in 0..block.node_count() {
                prop_assert_eq!(decoded.degree(local), block.degree(local));
                prop_assert_eq!(decoded.self_loop(local), block.self_loop(local));
                prop_assert_eq!(segments(&decoded, local), segments(&block, local));
                prop_assert_eq!(segments(&listed, local), segments(&block, local));
            }
        }
    }

    #[test]
    fn slices_and_transfers_do_not_change_the_file((options, edges) in any_graph(), slice in 1usize..50) {
        let arcs = records(&edges, &options);
        let (one, files) = sim();
        write(&files, &options, LIMITS, &arcs, usize::MAX).unwrap();
        let (other, files) = sim();
        other.set_short_transfers(true);
        write(&files, &options, LIMITS, &arcs, slice).unwrap();
        for file in [arcs_path(Path::new(PATH)), manifest_path(Path::new(PATH))] {
            prop_assert_eq!(one.get(&file), other.get(&file));
        }
    }

    #[test]
    fn blocks_follow_the_limits((options, edges) in any_graph()) {
        let arcs = records(&edges, &options);
        let (_, files) = sim();
        write(&files, &options, LIMITS, &arcs, 7).unwrap();
        let mut degrees = vec![0u64; options.node_count as usize];
        for (source, _, _) in model(&arcs, options.duplicates).arcs {
            degrees[source as usize] += 1;
        }
        let mut expected = vec![];
        let (mut nodes, mut arcs) = (0u32, 0u64);
        for degree in degrees {
            let is_full = nodes as usize == LIMITS.block_nodes
                || nodes > 0 && arcs + degree > LIMITS.block_arcs as u64;
            if is_full {
                expected.push((nodes, arcs));
                (nodes, arcs) = (0, 0);
            }
            nodes += 1;
            arcs += degree;
        }
        expected.push((nodes, arcs));
        let graph = Graph::open(&files, Path::new(PATH)).unwrap();
        let found: Vec<_> =
            graph.blocks().iter().map(|entry| (entry.node_count, entry.arc_count)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn names_round_trip(names in any_names(), block_bytes in 1usize..2000) {
        let (_, files) = sim();
        let summary = write_names(&files, &names, block_bytes).unwrap();
        prop_assert_eq!(summary.name_count, names.len() as u64);
        prop_assert_eq!(summary.name_bytes, names.iter().map(Vec::len).sum::<usize>() as u64);
        let stored = Names::open(&files, Path::new(PATH)).unwrap();
        let mut scan = stored.scan();
        for name in &names {
            prop_assert_eq!(scan.next_name().unwrap(), Some(&name[..]));
        }
        prop_assert_eq!(scan.next_name().unwrap(), None);
        for (index, name) in names.iter().enumerate() {
            prop_assert_eq!(&stored.name(index as u32).unwrap(), name);
        }
        let other = names.iter().find(|name| std::str::from_utf8(name).is_err());
        prop_assert_eq!(stored.first_other().unwrap(), other.cloned());
    }
}

/// Groups of 64 arcs, look-up tables, and weights that do not fit their block's scheme.
#[test]
fn a_dense_graph_with_a_few_odd_weights_round_trips() {
    let limits = BlockLimits { block_nodes: 77, block_arcs: 16_384, segment_arcs: 512 };
    for odd_share in [0, 1, 50, 1000] {
        for digits in [1, 10, 1000, 100_000] {
            let options = options(150, false, Duplicates::Sum);
            let weight = |a: u32, b: u32| {
                let seed = (a * 150 + b).wrapping_mul(2_654_435_761) >> 8;
                let digit = f64::from(seed % digits + 1) / f64::from(digits);
                if seed % 1000 < odd_share { digit * 1e-12 } else { digit }
            };
            let pairs = (0..150).flat_map(|a| (a..150).map(move |b| (a, b)));
            let edges: Vec<_> = pairs
                .filter(|&(a, b)| a < 40 || b % 9 == 0)
                .map(|(a, b)| (a, b, weight(a, b)))
                .collect();
            let arcs = records(&edges, &options);
            for limits in [limits, BlockLimits { block_arcs: 1024, ..limits }, BlockLimits::of(150)]
            {
                let (_, files) = sim();
                write(&files, &options, limits, &arcs, 1000).unwrap();
                assert_eq!(read(&files).unwrap(), model(&arcs, Duplicates::Sum));
            }
        }
    }
}

/// A weight that does not fit its block's scheme costs its group the short form, not the block.
#[test]
fn odd_weights_cost_only_their_groups() {
    let size = |odd: u32| {
        let mut arcs: Vec<_> = (0..2000u32)
            .flat_map(|source| (1..21).map(move |step| (source, (source + step * 97) % 2000)))
            .map(|(source, target)| {
                let seed = (source * 2000 + target).wrapping_mul(2_654_435_761) >> 8;
                let scale = if seed % 1000 < odd { 1e-9 } else { 1e-3 };
                record(source, target, f64::from(seed % 999 + 1) * scale)
            })
            .collect();
        arcs.sort_by_key(|arc| (arc.source, arc.target));
        let (_, files) = sim();
        let options = options(2000, true, Duplicates::Sum);
        write(&files, &options, BlockLimits::of(2000), &arcs, 1000).unwrap().bytes
    };
    let (none, few) = (size(0), size(5));
    // Gaps of 7 bits, weights of 10, and less than four bits for everything else.
    assert!(none < 40_000 * 21 / 8, "{none} bytes");
    assert!(few < none * 5 / 4, "{few} and {none} bytes");
}

#[test]
fn an_empty_graph_and_one_without_arcs_can_be_read() {
    for node_count in [0, 1, 7] {
        let (_, files) = sim();
        let options = options(node_count, false, Duplicates::Sum);
        let summary = write(&files, &options, LIMITS, &[], 1).unwrap();
        assert_eq!((summary.node_count, summary.arc_count), (node_count, 0));
        assert_eq!(read(&files).unwrap(), GraphContent::default());
    }
}

#[test]
fn loops_are_dropped_if_not_wanted() {
    let (_, files) = sim();
    let options = GraphOptions { keep_loops: false, ..options(3, true, Duplicates::Sum) };
    let arcs = [record(0, 0, 2.0), record(0, 0, 3.0), record(1, 2, 1.0), record(2, 2, 1.0)];
    let summary = write(&files, &options, LIMITS, &arcs, 9).unwrap();
    assert_eq!((summary.loop_count, summary.dropped_loop_count), (0, 2));
    assert!(!Graph::open(&files, Path::new(PATH)).unwrap().is_weighted());
    assert_eq!(read(&files).unwrap().loops, []);
}

#[test]
fn too_many_nodes_are_refused() {
    let (_, files) = sim();
    let options = options((1 << 32) + 1, true, Duplicates::Sum);
    let error = GraphWriter::create(&files, Path::new(PATH), &options).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TooManyNodes);
}

#[test]
#[should_panic(expected = "arc (0, 1) comes after (0, 2)")]
fn arcs_out_of_order_panic() {
    let (_, files) = sim();
    let arcs = [record(0, 2, 1.0), record(0, 1, 1.0)];
    let _ = write(&files, &options(3, true, Duplicates::Sum), LIMITS, &arcs, 9);
}

#[test]
fn a_missing_opposite_arc_is_found() {
    for arcs in [
        vec![record(0, 1, 1.0), record(1, 2, 1.0)],
        vec![record(0, 1, 1.0), record(1, 0, 2.0)],
        vec![record(0, 1, 1.0)],
    ] {
        let (_, files) = sim();
        write(&files, &options(3, false, Duplicates::Sum), LIMITS, &arcs, 9).unwrap();
        let graph = Graph::open(&files, Path::new(PATH)).unwrap();
        assert_eq!(graph.verify(&Silent).unwrap_err().kind(), ErrorKind::CorruptFile);
    }
}

/// Uses the real limits, with a hub, bypassing the page cache, on a real disk.
#[test]
fn a_hub_beyond_the_real_limit_is_streamed() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files::default();
    let leaf_count = (1 << 20) + 70_000u32;
    let options = options(u64::from(leaf_count) + 1, false, Duplicates::Sum);
    let hub = 5;
    let others = || (0..=leaf_count).filter(|&node| node != hub);
    let code = |node: u32| f64::from(node % 1000 + 1) / 100.0;
    let mut writer = GraphWriter::create(&files, directory.path(), &options).unwrap();
    for node in 0..=leaf_count {
        let arcs: Vec<_> = if node == hub {
            others().map(|target| record(hub, target, code(target))).collect()
        } else {
            vec![record(node, hub, code(node))]
        };
        writer.push(&arcs).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!(summary.max_degree, u64::from(leaf_count));
    for mode in [Mode::Read, Mode::ReadDirect] {
        let graph = Graph::open_with(&files, directory.path(), mode).unwrap();
        assert!(graph.is_hub_block(1));
        let block = graph.read_block(1).unwrap();
        assert!(block.memory_bytes() < 1000);
        let mut targets = Vec::new();
        let mut segments = 0;
        let mut scratch = ArcScratch::default();
        block
            .for_each_segment(0, &mut scratch, |part, weights| {
                segments += 1;
                targets.extend_from_slice(part);
                for (&target, &weight) in part.iter().zip(weights) {
                    assert_eq!(weight, Weight::new(code(target)).code());
                }
            })
            .unwrap();
        assert_eq!(segments, leaf_count.div_ceil(SEGMENT_ARCS as u32));
        assert!(targets.into_iter().eq(others()));
        graph.verify(&Silent).unwrap();
    }
}

#[test]
fn a_scan_returns_the_wanted_blocks_in_order() {
    let (_, files) = small_graph();
    let graph = Graph::open(&files, Path::new(PATH)).unwrap();
    let last = graph.blocks().len() - 1;
    let wanted = [last, 0, last, 1];
    let mut scan = graph.scan(wanted, 1);
    for index in wanted {
        assert_eq!(scan.next().unwrap().unwrap().index(), index);
    }
    assert!(scan.next().unwrap().is_none());
    assert!(scan.next().unwrap().is_none());
    // An unfinished scan ends, too.
    drop(graph.scan((0..1000).map(move |number| number % last), 3));
    let mut beyond = graph.scan([0, last + 1], 3);
    assert!(beyond.next().is_ok());
    assert_eq!(beyond.next().err().unwrap().kind(), ErrorKind::CorruptFile);
}

/// A graph of hubs, loops, empty nodes, weights of two kinds and names, in few bytes.
fn small_graph() -> (Sim, Files) {
    let (sim, files) = sim();
    let options = options(12, false, Duplicates::Sum);
    let mut edges: Vec<_> = (1..11).map(|node| (0, node, f64::from(node) / 10.0)).collect();
    edges.extend([(3, 3, 2.5), (0, 0, 1.0), (4, 7, 1.0), (7, 9, 3.0), (9, 10, 1e-9)]);
    write(&files, &options, LIMITS, &records(&edges, &options), 9).unwrap();
    let names: Vec<_> = (0..12).map(|node| format!("n{node}").into_bytes()).collect();
    write_names(&files, &names, 20).unwrap();
    (sim, files)
}

fn assert_same_or_corrupt(result: Result<GraphContent>, expected: &GraphContent, damage: &str) {
    match result {
        Ok(content) => assert_eq!(&content, expected, "{damage}"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::CorruptFile, "{damage}: {error}"),
    }
}

#[test]
fn damage_is_detected() {
    let (sim, files) = small_graph();
    let expected = read(&files).unwrap();
    assert_eq!(expected.names.len(), 12);
    let mut seed = 1u32;
    for path in sim.paths() {
        let bytes = sim.get(&path).unwrap();
        for at in 0..bytes.len() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for flip in [1 << (seed >> 29), 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                sim.put(&path, &damaged);
                assert_same_or_corrupt(read(&files), &expected, &format!("{path:?} {at} {flip}"));
            }
            sim.put(&path, &bytes[..at]);
            let result = read(&files);
            assert!(result.is_err() || path.ends_with("graph.json"), "{path:?} cut at {at}");
            assert_same_or_corrupt(result, &expected, &format!("{path:?} cut at {at}"));
        }
        sim.put(&path, &[&bytes[..], b"more"].concat());
        assert_same_or_corrupt(read(&files), &expected, "longer");
        sim.put(&path, &bytes);
    }
    // Files swapped with each other, and the arcs of another graph.
    let paths = sim.paths();
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let (a, b) = (sim.get(&paths[one]).unwrap(), sim.get(&paths[other]).unwrap());
        sim.put(&paths[one], &b);
        let error = read(&files).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}");
        sim.put(&paths[one], &a);
    }
}

/// Bytes with correct checksums that no writer has produced must not cause a panic.
#[test]
fn invalid_contents_with_correct_checksums_do_not_panic() {
    let (sim, files) = small_graph();
    let path = arcs_path(Path::new(PATH));
    let bytes = sim.get(&path).unwrap();
    let graph = Graph::open(&files, Path::new(PATH)).unwrap();
    let entries = graph.blocks().to_vec();
    let mut scratch = ArcScratch::default();
    for (index, entry) in entries.iter().enumerate() {
        let body = &bytes[entry.offset as usize..(entry.offset + entry.bytes) as usize];
        for at in 0..body.len() {
            for flip in 1..=255 {
                let mut damaged = body.to_vec();
                damaged[at] ^= flip;
                let start = if graph.is_hub_block(index) { hub_directory(entry) } else { 0 };
                let loaded = Block::load_unchecked(graph.shared(), index, &damaged[start..]);
                let Ok(block) = loaded else { continue };
                for local in 0..block.node_count() {
                    let _ = block.for_each_segment(local, &mut scratch, |targets, _| {
                        assert!(targets.iter().all(|&target| u64::from(target) < 12));
                    });
                }
            }
        }
    }
}

fn hub_directory(entry: &BlockEntry) -> usize {
    let segments = entry.arc_count.div_ceil(LIMITS.segment_arcs as u64);
    (entry.bytes - 8 - 12 * segments) as usize
}

#[test]
fn every_fault_is_an_error_and_leaves_no_complete_file() {
    let build = |files: &Files| -> Result<()> {
        let options = options(9, true, Duplicates::Sum);
        let arcs: Vec<_> = (1..9).map(|node| record(0, node, 1.0)).collect();
        write_names(files, &vec![b"name".to_vec(); 9], 10)?;
        write(files, &options, LIMITS, &arcs, 3)?;
        read(files).map(drop)
    };
    let (sim, files) = sim();
    sim.set_fault(None);
    build(&files).unwrap();
    let operations = sim.operation_count();
    assert!(operations > 20);
    for at in 0..operations {
        for forever in [false, true] {
            let (sim, files) = self::sim();
            sim.set_fault(Some(Fault { at, forever, kind: std::io::ErrorKind::StorageFull }));
            let result = build(&files);
            assert_eq!(result.is_err(), sim.has_failed(), "operation {at} of {operations}");
            if let Err(error) = result {
                assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}");
            }
            sim.set_fault(None);
            let parts =
                sim.paths().into_iter().filter(|path| path.extension() == Some("part".as_ref()));
            assert_eq!(parts.count(), 0, "operation {at} of {operations}");
        }
    }
}

#[test]
fn a_dropped_writer_leaves_nothing() {
    let (sim, files) = sim();
    let options = options(9, true, Duplicates::Sum);
    let mut writer = GraphWriter::create(&files, Path::new(PATH), &options).unwrap();
    writer.push(&[record(0, 1, 1.0)]).unwrap();
    drop(writer);
    drop(NamesWriter::create(&files, Path::new(PATH)).unwrap());
    assert_eq!(sim.paths(), Vec::<PathBuf>::new());
}

#[test]
fn an_error_names_the_file() {
    let (sim, files) = small_graph();
    let path = arcs_path(Path::new(PATH));
    let mut bytes = sim.get(&path).unwrap();
    bytes[20] ^= 1;
    sim.put(&path, &bytes);
    let error: Error = read(&files).unwrap_err();
    assert_eq!(error.message(), "`graph/arcs` is damaged: block 0: a segment's checksum is wrong");
}

/// Saved after any number of names, and resumed after more, or all, of the names were written.
#[test]
fn resumed_names_produce_the_same_file() {
    let names: Vec<Vec<u8>> =
        (0..400).map(|i| format!("n{}", i * i % 977 * 1001).into_bytes()).collect();
    let whole = sim();
    let summary = write_names(&whole.1, &names, 500).unwrap();
    let path = Path::new(PATH).join("names");
    let (mut ends, mut errors) = (0, 0);
    for count in (0..names.len()).step_by(7) {
        for more in [0, 60, names.len()] {
            let (sim, files) = self::sim();
            let mut writer = NamesWriter::create_with(&files, Path::new(PATH), 500).unwrap();
            names[..count / 2].iter().for_each(|name| writer.push(name).unwrap());
            writer.checkpoint().unwrap();
            files.hold(&[], &[NamesWriter::path_now(&files, Path::new(PATH))]);
            names[count / 2..count].iter().for_each(|name| writer.push(name).unwrap());
            let kept = writer.checkpoint().unwrap();
            names[count..].iter().take(more).for_each(|name| writer.push(name).unwrap());
            if more == names.len() {
                assert_eq!(writer.finish().unwrap(), summary);
                ends += 1;
            } else {
                drop(writer);
            }
            let mut again = Vec::new();
            let reopen = |again: &mut Vec<Vec<u8>>| {
                NamesWriter::resume_with(&files, Path::new(PATH), kept, 500, None, &mut |name| {
                    again.push(name.to_vec());
                    Ok(())
                })
            };
            let at = count * 5;
            let kept_path = NamesWriter::path_now(&files, Path::new(PATH));
            if (16..kept.bytes as usize).contains(&at) {
                sim.damage(&kept_path, at, 4);
                let error = reopen(&mut Vec::new()).err().unwrap();
                assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}");
                let kept_path = NamesWriter::path_now(&files, Path::new(PATH));
                sim.damage(&kept_path, at, 4);
                errors += 1;
            }
            let mut writer = reopen(&mut again).unwrap();
            assert!(again == names[..count], "{count} {more}");
            names[count..].iter().for_each(|name| writer.push(name).unwrap());
            assert_eq!(writer.finish().unwrap(), summary, "{count} {more}");
            assert!(sim.get(&path) == whole.0.get(&path) && sim.paths().len() == 1);
        }
    }
    assert!(ends > 50 && errors > 50, "{ends} {errors}");
}
