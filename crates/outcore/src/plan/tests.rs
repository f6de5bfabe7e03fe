//! Properties of plans, for inputs, limits and clusterings of any size.

use super::*;
use crate::budget::MEMORY_MIN;
use crate::cluster::{METHODS, Method, WellConnected};
use crate::graph;
use crate::input::EdgeOrder;
use crate::units::{GIB, size_to_type};
use proptest::prelude::*;

fn input(node_count: u64, edge_count: u64) -> InputSize {
    InputSize {
        text_bytes: 36 * edge_count,
        file_bytes: 36 * edge_count,
        sample_bytes: 4 * MIB,
        edge_count,
        distinct_edge_count: edge_count,
        distinct_edge_count_at_least: edge_count,
        node_count,
        node_count_at_least: node_count,
        name_bytes: 13.0,
        hub_edge_count: 0,
        is_directed: false,
        has_kinds: false,
        is_weighted: true,
        weight_bits: 10.0,
        sums_fractions: false,
        has_self_scores: false,
        order: EdgeOrder::RANDOM,
        best: BestOrder { order: EdgeOrder::GROUPED, distinct_edge_count: edge_count },
        append: None,
    }
}

#[test]
fn a_limit_that_is_too_small_is_refused_with_a_limit_that_works() {
    for nodes in [50_000_000, 100_000_000, 2_000_000_000] {
        for threads in [1, 2, 7, 64] {
            let tight = Limits { memory_bytes: 128 * MIB, threads };
            let scored = InputSize { has_self_scores: true, ..input(nodes, 10 * nodes) };
            let error = Plan::new(scored, tight, &Tuning::default(), None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
            let needed = memory_bytes_for(&tight, nodes, true).next_multiple_of(MIB);
            let limits = Limits { memory_bytes: needed, threads };
            if check_limits(&limits).is_ok() {
                Plan::new(scored, limits, &Tuning::default(), None).unwrap();
            }
        }
    }
}

#[test]
fn the_minimum_limit_counts_self_scores_and_leaves_room_to_merge() {
    for nodes in [1_000_000, 100_000_000, 2_000_000_000] {
        let limits = Limits { memory_bytes: MEMORY_MIN, threads: 4 };
        let needed = memory_bytes_for(&limits, nodes, true);
        let scores = limits::score_bytes(nodes, true);
        assert!(needed >= memory_bytes_for(&limits, nodes, false));
        assert!(
            nodes < 10_000_000 || needed > memory_bytes_for(&limits, nodes, false) + scores / 2
        );
        let limits = Limits { memory_bytes: needed, ..limits };
        assert!(
            graph::merge_bytes_beside(&limits, scores, &Tuning::default()).is_some(),
            "{nodes}"
        );
    }
    let limits = Limits { memory_bytes: MEMORY_MIN, threads: 4 };
    assert!(graph::merge_bytes_beside(&limits, 30 * MIB, &Tuning::default()).is_none());
    let scored = InputSize { has_self_scores: true, ..input(100_000_000, 1_000_000_000) };
    let error = Plan::new(scored, limits, &Tuning::default(), None).unwrap_err();
    assert!(error.notes()[0].ends_with("self scores take 4.125 bytes a node"), "{error:?}");
}

/// Most runs are formed beside a full index if names barely spill, so they are as small as if none did.
#[test]
fn names_that_barely_spill_save_no_disk() {
    let [fit, spill] =
        [6_600_000, 7_000_000].map(|nodes| build(nodes, nodes / 10 * 13, 229_689_600));
    let read_again = |plan: &Plan| plan.stages[0].read_bytes - plan.input.file_bytes;
    assert!(read_again(&fit) == 0 && read_again(&spill) > 0);
    assert!(spill.disk_bytes > fit.disk_bytes);
}

fn build(nodes: u64, edges: u64, memory_bytes: u64) -> Plan {
    let limits = Limits { memory_bytes, threads: 4 };
    Plan::new(input(nodes, edges), limits, &Tuning::default(), None).unwrap()
}

proptest! {
    /// Nothing overflows up to a trillion edges, and larger inputs cost more.
    #[test]
    fn larger_inputs_cost_more(
        edge_bits in 0.0..40.0,
        node_share in 0.0..1.0,
        memory_bits in 0.0..14.0,
    ) {
        let size = |share: f64| {
            let edges = f64::exp2(edge_bits * share);
            (f64::powf(2.0 * edges, node_share).min(4e9) as u64, edges as u64)
        };
        let memory = (MEMORY_MIN as f64 * f64::exp2(memory_bits)) as u64;
        let mut before: Option<Plan> = None;
        for share in [0.5, 0.8, 0.99, 1.0] {
            let (nodes, edges) = size(share);
            let plan = build(nodes, edges, memory);
            prop_assert!(plan.seconds.is_finite() && plan.read_bytes < 1 << 60);
            prop_assert!(plan.peak_memory_bytes <= memory + SLACK_BYTES);
            if let Some(before) = before {
                prop_assert!(plan.disk_bytes >= before.disk_bytes);
                prop_assert!(plan.graph_bytes >= before.graph_bytes);
                prop_assert!(plan.write_bytes >= before.write_bytes);
                prop_assert!(plan.seconds >= before.seconds);
                prop_assert!(plan.memory_bytes_min >= before.memory_bytes_min);
            }
            before = Some(plan);
        }
    }

    /// More nodes with the same edges mean a larger graph, more names and more memory. Time may only be saved where
    /// names spill to disk instead of taking the sort's memory, which can save a merge pass.
    #[test]
    fn more_nodes_cost_more(edges in 1_000_u64..1 << 36, more in 0.0..1.0) {
        let nodes = (edges / 100).clamp(1, 1 << 30);
        let few = build(nodes, edges, GIB);
        let many = build(nodes + (nodes as f64 * 3.0 * more) as u64, edges, GIB);
        prop_assert!(many.graph_bytes >= few.graph_bytes);
        prop_assert!(many.disk_bytes >= few.disk_bytes);
        let [of_few, of_many] = [&few, &many].map(|plan| plan.stages[1].pass_count);
        prop_assert!(many.seconds >= few.seconds || of_many < of_few);
    }

    /// More memory never means more writing.
    #[test]
    fn memory_saves_writing(nodes in 1_u64..1 << 31, degree in 1_u64..100, bits in 0.0..8.0) {
        let edges = nodes * degree;
        let little = build(nodes, edges, MEMORY_MIN);
        let much = build(nodes, edges, (MEMORY_MIN as f64 * f64::exp2(bits)) as u64);
        prop_assert!(much.write_bytes as f64 <= little.write_bytes as f64 * 1.02);
        prop_assert!(much.disk_bytes as f64 <= little.disk_bytes as f64 * 1.02);
    }
}

#[test]
fn repeated_edges_mean_a_smaller_graph_from_the_same_runs() {
    let all = input(1_000_000, 100_000_000);
    let half = InputSize { distinct_edge_count: 50_000_000, ..all };
    let limits = Limits { memory_bytes: GIB, threads: 2 };
    let plan = |input| Plan::new(input, limits, &Tuning::default(), None).unwrap();
    let (all, half) = (plan(all), plan(half));
    assert!(half.graph_bytes < all.graph_bytes / 3 * 2);
    assert_eq!(half.stages[0], all.stages[0]);
    assert_eq!(half.run_count, all.run_count);
}

/// A graph of any size can be built in any memory; the less memory, the more disk I/O.
#[test]
fn names_that_do_not_fit_in_memory_cost_disk_instead() {
    let mut before = 0;
    for memory_bytes in [64 * GIB, 4 * GIB, 512 * MIB, MEMORY_MIN] {
        let limits = Limits { memory_bytes, threads: 2 };
        let plan = Plan::new(input(200_000_000, 1_000_000_000), limits, &Tuning::default(), None);
        let read = plan.unwrap().stages[0];
        assert!(read.write_bytes > before, "{memory_bytes}");
        before = read.write_bytes;
    }
}

#[test]
fn a_clustering_is_planned_or_refused_with_a_limit_that_works() {
    let input = InputSize { node_count_at_least: 9_000_000, ..input(10_000_000, 50_000_000) };
    let mut refused = 0;
    for spec in &METHODS {
        let options = ClusterOptions { method: spec.method, ..ClusterOptions::default() };
        let present = PresentOptions::default();
        let plan = |memory_bytes| {
            let clustering = Clustering { options: &options, present: &present };
            let limits = Limits { memory_bytes, threads: 2 };
            Plan::new(input, limits, &Tuning::default(), Some(clustering))
        };
        let wide = plan(64 * GIB).unwrap();
        let least = wide.memory_bytes_min;
        assert!(least >= wide.cluster_memory_bytes_min.unwrap());
        if let Err(error) = plan(2 * MEMORY_MIN) {
            let typed = format!("use `--memory {}` or more", size_to_type(least));
            assert_eq!(error.hint_text(), Some(&typed[..]), "{}", spec.name);
            refused += 1;
        }
        plan(least.next_multiple_of(MIB)).unwrap();
    }
    assert_eq!(refused, 3);
}

#[test]
fn plans_of_the_largest_graphs_stay_within_bounds() {
    let limits = Limits { memory_bytes: 64 * GIB, threads: 8 };
    let input = input(2_000_000_000, 20_000_000_000);
    let plan = Plan::new(input, limits, &Tuning::default(), None).unwrap();
    assert!(plan.disk_bytes < 16 * 20_000_000_000);
    assert!(plan.run_count < 1000);
}

#[test]
fn a_slow_disk_determines_the_time() {
    let limits = Limits { memory_bytes: GIB, threads: 8 };
    let input = input(1_000_000, 100_000_000);
    let mut tuning = Tuning::default();
    tuning.read.bytes_per_second = Some(1e8);
    tuning.write.bytes_per_second = Some(5e7);
    let plan = Plan::new(input, limits, &tuning, None).unwrap();
    let read = plan.stages[0];
    let disk_seconds = read.read_bytes as f64 / 1e8 + read.write_bytes as f64 / 5e7;
    assert!((read.seconds - disk_seconds).abs() < 0.1);
    let unknown = Plan::new(input, limits, &Tuning::default(), None).unwrap();
    assert!(unknown.stages[0].seconds < read.seconds);
}

/// The speed of the machine scales the time of each stage, and nothing else.
#[test]
fn a_slower_machine_takes_longer() {
    let input = input(1_000_000, 10_000_000);
    let limits = Limits { memory_bytes: GIB, threads: 2 };
    let (options, present) = (ClusterOptions::default(), PresentOptions::default());
    let plan = |slowness| {
        let tuning = Tuning { slowness, ..Tuning::default() };
        let clustering = Clustering { options: &options, present: &present };
        Plan::new(input, limits, &tuning, Some(clustering)).unwrap()
    };
    let (usual, slower) = (plan(1.0), plan(3.0));
    let sync = 3e-3;
    for (slower, usual) in slower.stages.iter().zip(&usual.stages) {
        let ratio = (slower.seconds - sync) / (usual.seconds - sync);
        assert!((ratio - 3.0).abs() < 1e-6, "{:?}: {ratio}", slower.stage);
        assert_eq!(StagePlan { seconds: usual.seconds, ..*slower }, *usual);
    }
}

fn plain(node_count: u64, edge_count: u64) -> InputSize {
    InputSize {
        text_bytes: 20 * edge_count,
        file_bytes: 20 * edge_count,
        sample_bytes: 0,
        edge_count,
        distinct_edge_count: edge_count,
        distinct_edge_count_at_least: edge_count,
        node_count,
        node_count_at_least: node_count,
        name_bytes: 8.0,
        hub_edge_count: 0,
        is_directed: false,
        has_kinds: false,
        is_weighted: false,
        weight_bits: 0.0,
        sums_fractions: false,
        has_self_scores: false,
        order: EdgeOrder::RANDOM,
        best: BestOrder { order: EdgeOrder::GROUPED, distinct_edge_count: edge_count },
        append: None,
    }
}

fn clustered(method: Method, input: &InputSize, memory_bytes: u64) -> ClusterForecast {
    let options = ClusterOptions { method, ..ClusterOptions::default() };
    found(&options, input, memory_bytes)
}

fn found(options: &ClusterOptions, input: &InputSize, memory_bytes: u64) -> ClusterForecast {
    let (limits, tuning) = (Limits { memory_bytes, threads: 2 }, Tuning::default());
    Forecast::new(input, &limits, &tuning, None).cluster(options)
}

proptest! {
    /// With more memory, more of the graph stays in memory and less is read, except for the blocks at the ends of
    /// ranges, which are larger then and read twice.
    #[test]
    fn memory_saves_reading(
        method in 0..METHODS.len(),
        nodes in 1_000_u64..1 << 31,
        degree in 1_u64..100,
    ) {
        let input = plain(nodes, nodes * degree);
        let mut before = u64::MAX;
        for memory in [2 * MEMORY_MIN, GIB, 8 * GIB, 64 * GIB, 1 << 50] {
            let plan = clustered(METHODS[method].method, &input, memory).row;
            prop_assert!(plan.read_bytes as f64 <= before as f64 * 1.4, "{memory}");
            before = plan.read_bytes;
        }
        // With enough memory, every edge is read once.
        let graph = input.graph().bytes;
        prop_assert!(before >= graph);
        prop_assert!(METHODS[method].method.is_multilevel() || before == graph);
    }

    /// Larger graphs mean more work with the same starts, never more starts, and nothing overflows up to a trillion
    /// edges.
    #[test]
    fn larger_graphs_cost_more(
        method in 0..METHODS.len(),
        edge_bits in 10.0..40.0,
        degree in 1.0..100.0_f64,
    ) {
        let size = |bits: f64| {
            let (edges, degree): (f64, f64) = (bits.exp2(), degree);
            let nodes: f64 = edges / degree;
            plain(nodes.clamp(1.0, 4e9) as u64, edges as u64)
        };
        for memory in [MEMORY_MIN, 16 * GIB] {
            let method = METHODS[method].method;
            let options = ClusterOptions { method, ..ClusterOptions::default() };
            let starts = |size: &InputSize| options.starts(&size.graph());
            let (smaller, larger) = (size(edge_bits - 1.0), size(edge_bits));
            let less = clustered(method, &smaller, memory);
            let more = clustered(method, &larger, memory);
            prop_assert!(more.trial_count <= less.trial_count);
            let (more, less) = (more.row, less.row);
            prop_assert!(more.disk_bytes >= less.disk_bytes);
            prop_assert!(starts(&larger).on_graph <= starts(&smaller).on_graph);
            if starts(&larger) == starts(&smaller) {
                prop_assert!(more.read_bytes >= less.read_bytes);
                prop_assert!(more.write_bytes >= less.write_bytes);
                prop_assert!(more.seconds >= less.seconds);
            }
            prop_assert!(more.read_bytes < 1 << 60 && more.seconds.is_finite());
        }
    }
}

/// A billion pairs of a hundred million nodes: the edges are read once, and each threshold has a file.
#[test]
fn each_threshold_costs_a_pass_over_the_nodes() {
    let (input, tuning) = (plain(100_000_000, 1_000_000_000), Tuning::default());
    let limits = Limits { memory_bytes: GIB, threads: 2 };
    let stages = |thresholds: Vec<f64>| {
        let method = Method::Components;
        let options = ClusterOptions { method, thresholds, ..ClusterOptions::default() };
        let ladder = options.forest_ladder().unwrap_or(Ladder::One);
        let job = Forecast::new(&input, &limits, &tuning, Some(&ladder));
        [job.read(), job.cluster(&options).row, job.write(&options)]
    };
    let one = stages(Vec::new());
    let ten = stages((1..=10).map(f64::from).collect());
    // A forest of several thresholds leaves less memory for names.
    assert!(ten[0].read_bytes as f64 <= 1.02 * one[0].read_bytes as f64);
    assert_eq!((ten[1].pass_count, ten[1].write_bytes), (10, 80 * input.node_count));
    assert_eq!(ten[2].write_bytes, 10 * one[2].write_bytes);
    assert!(ten[2].disk_bytes > one[2].disk_bytes + 40 * input.node_count);
    assert!(ten.iter().all(|stage| stage.memory_bytes <= GIB));
}

/// Nodes that do not fit in memory are joined in ranges: the limit holds, and edges take disk.
#[test]
fn components_of_nodes_beyond_memory_are_planned() {
    let (nodes, edges) = (1_000_000_000, 10_000_000_000);
    let plan = |memory_bytes: u64, options: &ClusterOptions| {
        let present = PresentOptions::default();
        let clustering = Clustering { options, present: &present };
        let limits = Limits { memory_bytes, threads: 2 };
        Plan::new(plain(nodes, edges), limits, &Tuning::default(), Some(clustering))
    };
    let one = ClusterOptions { method: Method::Components, ..ClusterOptions::default() };
    let two = ClusterOptions { thresholds: vec![0.5, 0.9], ..one.clone() };
    let (roomy, tight) = (plan(32 * GIB, &one).unwrap(), plan(2 * GIB, &one).unwrap());
    assert_eq!((roomy.run_count, roomy.stages.len()), (0, 3));
    assert!(tight.run_count > 0 && tight.peak_memory_bytes <= 2 * GIB + SLACK_BYTES);
    // The least that an edge takes in runs, and the most that it and the nodes take.
    let [cluster, of_roomy] = [&tight, &roomy].map(|plan| plan.stages[1].disk_bytes);
    assert!(cluster > of_roomy + 4 * edges && cluster < of_roomy + 22 * edges + 20 * nodes);
    assert!(tight.seconds > roomy.seconds);
    assert!(plan(2 * GIB, &two).unwrap().disk_bytes > tight.disk_bytes);
    let least = tight.memory_bytes_min;
    let at_least = plan(least.next_multiple_of(MIB), &one);
    assert!(least < GIB && at_least.is_ok(), "{least} {at_least:?}");
    let heights = ClusterOptions { heights: true, ..one };
    assert_eq!(plan(2 * GIB, &heights).unwrap_err().kind(), ErrorKind::MemoryTooSmall);
}

#[test]
fn fewer_starts_are_tried_as_graphs_grow() {
    let options = ClusterOptions::default();
    let starts = |edges: u64| {
        let starts = options.starts(&plain(1000, edges).graph());
        (1 + starts.on_graph + starts.on_level, starts.on_level)
    };
    assert_eq!(starts(10_000), (10, 0));
    assert_eq!(starts(250_000), (8, 3));
    assert_eq!(starts(1_000_000), (5, 3));
    assert_eq!(starts(10_000_000), (5, 4));
}

#[test]
fn every_method_has_its_own_costs() {
    let input = plain(10_000_000, 100_000_000);
    let of = |method| clustered(method, &input, 2 * GIB).row;
    let propagation = of(Method::LabelPropagation);
    assert_eq!((propagation.pass_count, propagation.write_bytes), (10, 0));
    assert_eq!(of(Method::Components).pass_count, 2);
    let slowest_first = [
        Method::Cpm,
        Method::MapEquation,
        Method::Modularity,
        Method::LabelPropagation,
        Method::Components,
    ];
    assert!(slowest_first.is_sorted_by(|a, b| of(*a).seconds > of(*b).seconds));
    for method in [Method::MapEquation, Method::Modularity] {
        let levels = of(method);
        assert!(levels.write_bytes > input.graph().bytes / 2);
        assert!(levels.seconds > 2.0 * propagation.seconds);
        assert!(levels.disk_bytes > propagation.disk_bytes);
    }
}

#[test]
fn well_connected_communities_take_a_scan_a_sort_and_labels_in_memory() {
    let input = plain(10_000_000, 100_000_000);
    for spec in &METHODS {
        let plan = |well_connected| {
            let options =
                ClusterOptions { method: spec.method, well_connected, ..ClusterOptions::default() };
            found(&options, &input, GIB)
        };
        let (without, with) = (plan(None), plan(Some(WellConnected::default())));
        assert_eq!(with.row.pass_count, without.row.pass_count + 1);
        // The edges inside communities do not fit in memory.
        let runs = 80_000_000 * 3;
        assert!(with.row.write_bytes > without.row.write_bytes + runs);
        assert!(with.row.disk_bytes > runs && with.row.memory_bytes <= GIB);
        assert!(with.row.read_bytes > without.row.read_bytes + runs);
        let (with, without) = (with.nodes, without.nodes);
        assert!(with.fixed_bytes > without.fixed_bytes);
        assert!(with.bytes >= 12 * input.node_count && with.bytes >= without.bytes);
    }
}

#[test]
fn the_largest_jobs_can_be_planned() {
    for (nodes, edges) in [(2_000_000_000, 20_000_000_000), (3_500_000_000, 128_000_000_000)] {
        let input = plain(nodes, edges);
        let limits = Limits { memory_bytes: 256 * GIB, threads: 16 };
        let (options, present) = (ClusterOptions::default(), PresentOptions::default());
        let clustering = Clustering { options: &options, present: &present };
        let plan = Plan::new(input, limits, &Tuning::default(), Some(clustering)).unwrap();
        assert!(plan.peak_memory_bytes <= 257 * GIB);
        assert!(plan.disk_bytes < 24 * edges && plan.read_bytes > 20 * edges);
    }
}

/// A list in random order takes more disk space than one in which neighbors are together: only what the least does not
/// allow is refused.
#[test]
fn a_job_is_refused_for_its_least_disk_space() {
    let limits = Limits { memory_bytes: GIB, threads: 2 };
    let given = plain(20_000_000, 1_000_000_000);
    let plan = Plan::new(given, limits, &Tuning::default(), None).unwrap();
    assert!(plan.disk_bytes_least < plan.disk_bytes / 2, "{plan:?}");
    assert!(plan.disk_bytes <= plan.disk_bytes_most);
    assert!(plan.check_disk(plan.disk_bytes_least, ".".as_ref()).is_ok());
    let refused = plan.check_disk(plan.disk_bytes_least / 2, ".".as_ref()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DiskTooSmall);
}
