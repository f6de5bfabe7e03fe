//! Plan of a job from a sample of its input.

use super::given;
use super::read::{self, Old};
use super::{JobOptions, Normalize};
use crate::budget::MEMORY_MIN;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Duplicates;
use crate::input::{self, InputSample};
use crate::io::{Files, Tuning, Watch};
use crate::plan::{self, BestOrder, Clustering, InputSize, Plan};

/// Minimum number of edges for a reliable estimate, in a sample from all over the input.
const SOUND_EDGES: u64 = 10_000;

/// Predicts memory, disk space and time from a sample of the input, including a clustering of its graph
/// if one is given.
///
/// # Errors
/// `Usage` for options that cannot be used; bad input in the sample; `MemoryTooSmall`; `Io`.
pub fn plan(
    files: &Files,
    options: &JobOptions,
    clustering: Option<Clustering<'_>>,
) -> Result<Plan> {
    options.check_weights()?;
    if let Some(wanted @ Clustering { options: clustering, present }) = clustering {
        options.check_ladder(wanted.ladder().is_some())?;
        let options = clustering;
        options.check()?;
        present.communities.check()?;
        given::check_files(options, files)?;
    }
    let _watch = Watch::begin(options.limits.memory_bytes.max(MEMORY_MIN))?;
    let tuning = options.limits.allowed(files.tuning());
    let old = Old::open(&files.clone().with_tuning(tuning), options)?;
    let plan = planned(files, options, old.as_ref(), clustering, &tuning)?;
    if plan.input.edge_count == 0 && old.is_none() { Err(read::no_edges()) } else { Ok(plan) }
}

/// Samples the input and plans. If the limit is too small for any job, the suggested limit is enough for this job.
pub(crate) fn planned(
    files: &Files,
    options: &JobOptions,
    old: Option<&Old>,
    clustering: Option<Clustering<'_>>,
    tuning: &Tuning,
) -> Result<Plan> {
    let given = options.limits;
    let enough = JobOptions { limits: plan::at_least(&given), ..options.clone() };
    let before = files.counters().read_bytes();
    let sample = input::sample(files, &enough.input, &enough.limits)?;
    let bytes = files.counters().read_bytes() - before;
    let append = old.map(|old| old.size(enough.limits, tuning));
    let input = InputSize { append, ..input_size(&sample, bytes, options)? };
    let plan = Plan::new(input, enough.limits, tuning, clustering);
    match (plan::check_limits(&given), plan) {
        (Ok(()), plan) => plan,
        (Err(too_small), Err(error)) if error.kind() == ErrorKind::MemoryTooSmall => {
            Err(error.texts().hint.into_iter().fold(too_small, Error::hint))
        }
        (Err(too_small), _) => Err(too_small),
    }
}

fn input_size(sample: &InputSample, sample_bytes: u64, options: &JobOptions) -> Result<InputSize> {
    if let (Some(option), Some(path)) = (options.weight_option(), &sample.unweighted) {
        return Err(input::has_no_weights(path, &option));
    }
    let nodes = sample.nodes();
    // The estimate is trusted to within a twentieth if many edges are from all over the input, or many names repeat;
    // otherwise, only the names that were seen count.
    let is_many = sample.is_spread && sample.sampled.count >= SOUND_EDGES;
    let is_sound = sample.is_whole || sample.names.seen_twice >= 100 || is_many;
    let sound = if sample.is_whole { nodes } else { sample.nodes_of_edges_at_least() / 20 * 19 };
    let pairs = (nodes as f64).powi(2) / if options.input.directed { 1.0 } else { 2.0 };
    let directed = options.input.directed;
    let distinct_edges =
        |is_best| sample.distinct_edges(directed, is_best).min(pairs as u64).max(1);
    let distinct = distinct_edges(false);
    let [order, best] = sample.orders(directed);
    // Only where neighbors appear together may repeats be far from each other, and yet not in random places.
    let fewer = best.near_share * distinct.saturating_sub(distinct_edges(true)) as f64;
    let best = BestOrder { order: best, distinct_edge_count: distinct - fewer as u64 };
    // The beginning of a file says nothing about a node's share of the rest.
    let is_alike = sample.is_whole || sample.is_spread;
    let alike = if is_alike { distinct } else { distinct.min(sample.sampled.count) };
    // Quotients of weights use all digits.
    let is_divided = options.normalize == Normalize::SelfScore;
    Ok(InputSize {
        text_bytes: sample.text_bytes,
        file_bytes: sample.total_bytes,
        sample_bytes,
        edge_count: sample.edges,
        distinct_edge_count: distinct,
        distinct_edge_count_at_least: sample.distinct_edges_at_least(options.input.directed),
        node_count: nodes,
        node_count_at_least: if is_sound { sound } else { sample.names.distinct },
        name_bytes: sample.names.mean_bytes,
        hub_edge_count: (sample.sampled.hub_share * alike as f64) as u64,
        is_directed: options.input.directed,
        has_kinds: sample.has_kinds,
        is_weighted: sample.is_weighted,
        weight_bits: sample.sampled.weight_bits.max(if is_divided { 22.0 } else { 0.0 }),
        sums_fractions: sample.sampled.has_fractions && options.duplicates == Duplicates::Sum,
        has_self_scores: is_divided,
        order,
        best,
        append: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Limits;
    use crate::cluster::ClusterOptions;
    use crate::plan::{GivenSize, StagePlan};
    use crate::present::PresentOptions;
    use crate::units::GIB;
    use outcore_testkit::sim::Sim;
    use std::fmt::Write;
    use std::sync::Arc;

    fn size(node_count: u64, edge_count: u64) -> GivenSize {
        GivenSize {
            node_count,
            edge_count,
            name_bytes: None,
            is_weighted: false,
            is_directed: false,
            has_self_scores: false,
        }
    }

    /// The plan from a sample matches the plan from the known size of the input.
    #[test]
    fn the_plan_from_a_sample_matches_the_plan_from_the_size() {
        let (nodes, edges) = (60_000, 1_000_000);
        let (mut text, mut state) = (String::new(), 1u64);
        for _ in 0..edges {
            for end in ['\t', '\n'] {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let _ = write!(text, "{}{end}", (state >> 33) % nodes);
            }
        }
        let sim = Sim::new();
        sim.put("edges", text.as_bytes());
        let files = Files::new(Arc::new(sim));
        let input =
            crate::input::InputOptions { paths: vec!["edges".into()], ..Default::default() };
        for memory_bytes in [128 << 20, GIB] {
            let limits = Limits { memory_bytes, threads: 2 };
            let plain = JobOptions::new(input.clone(), limits, ".".into());
            let options = JobOptions { keep_loops: false, ..plain };
            let (found, present) = (ClusterOptions::default(), PresentOptions::default());
            let clustering = Clustering { options: &found, present: &present };
            let sampled = plan(&files, &options, Some(clustering)).unwrap();
            let tuning = files.tuning();
            let given = size(nodes, edges).input().unwrap();
            let given = Plan::new(given, limits, &tuning, Some(clustering)).unwrap();
            let is_close = |a: u64, b: u64| a.abs_diff(b) <= a / 20 + (1 << 16);
            let rows = sampled.stages.iter().zip(&given.stages);
            for (a, b) in rows {
                let same = |of: fn(&StagePlan) -> u64| is_close(of(a), of(b));
                assert!(same(|row| row.read_bytes) && same(|row| row.write_bytes), "{a:?} {b:?}");
                assert!(same(|row| row.memory_bytes) && same(|row| row.disk_bytes), "{a:?} {b:?}");
            }
            assert!(is_close(sampled.read_bytes, given.read_bytes));
        }
    }
}
