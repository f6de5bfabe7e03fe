//! What a job will need: the plan from a sample of its input, or from a size that is given.

use super::{JobOptions, Normalize, given, read};
use crate::cluster::{ClusterMemory, ClusterOptions, Method};
use crate::error::opt::{EDGES, NODES};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Duplicates;
use crate::ids::NODES_MAX;
use crate::input::{self, InputSample};
use crate::io::{Files, Tuning, Watch};
use crate::plan::{InputSize, Limits, MEMORY_MIN, NodeMemory, Plan};
use crate::present::{PresentOptions, memory_bytes_for};
use crate::units::format_count;

/// Edges from here on are more than anybody has, and numbers of bytes might overflow.
const EDGES_MAX: u64 = 1 << 44;
/// Bits of a weight of three digits, less what it shares with others.
const WEIGHT_BITS: f64 = 10.0;
/// Text of such a weight.
const WEIGHT_TEXT_BYTES: f64 = 6.0;
/// Edges of a sample from all over the input that make an estimate sound.
const SOUND_EDGES: u64 = 10_000;
/// What is read to sample a large input, and to see how it is written.
const SAMPLE_BYTES: u64 = (4 << 20) + (256 << 10);

/// A size that is given instead of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GivenSize {
    /// Nodes.
    pub node_count: u64,
    /// Edges.
    pub edge_count: u64,
    /// Mean length of a name; as long as numbers from 0 if not given.
    pub name_bytes: Option<f64>,
    /// Whether edges have weights.
    pub is_weighted: bool,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
}

impl GivenSize {
    /// The size of the input that it stands for: text, each edge once.
    ///
    /// # Errors
    /// `Usage` for sizes that no graph has; `TooManyNodes` for more nodes than can be numbered.
    pub fn input(&self) -> Result<InputSize> {
        self.check()?;
        let Self { node_count, edge_count, is_weighted, is_directed, has_self_scores, .. } = *self;
        let name_bytes = self.name_bytes.unwrap_or_else(|| mean_digits(node_count));
        let weight = if is_weighted { WEIGHT_TEXT_BYTES } else { 0.0 };
        let text_bytes = (edge_count as f64 * (2.0 * (name_bytes + 1.0) + weight)) as u64;
        Ok(InputSize {
            text_bytes,
            file_bytes: text_bytes,
            sample_bytes: (2 * text_bytes).min(SAMPLE_BYTES),
            edge_count,
            distinct_edge_count: edge_count,
            distinct_edge_count_at_least: edge_count,
            node_count,
            node_count_at_least: node_count,
            name_bytes,
            hub_edge_count: 0,
            is_directed,
            is_weighted,
            weight_bits: if is_weighted { WEIGHT_BITS } else { 0.0 },
            sums_fractions: false,
            has_self_scores,
        })
    }

    fn check(&self) -> Result<()> {
        let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
        let Self { node_count, edge_count, .. } = *self;
        let (nodes, edges) = (format_count(node_count), format_count(edge_count));
        if node_count == 0 || edge_count == 0 {
            return usage("a graph has at least one node and one edge".into());
        }
        if edge_count > EDGES_MAX {
            let most = format_count(EDGES_MAX);
            return usage(format!("{edges} edges are more than can be planned: at most {most}"));
        }
        if node_count > 2 * edge_count {
            let message =
                format!("{edges} edges cannot have {nodes} nodes: an edge has two at most");
            return Err(Error::new(ErrorKind::Usage, message)
                .hint(format_args!("use smaller {NODES}, or larger {EDGES}")));
        }
        if !self.name_bytes.is_none_or(|bytes| (1.0..=65_535.0).contains(&bytes)) {
            return usage("a name has 1 to 65,535 bytes".into());
        }
        if node_count > NODES_MAX {
            let most = format_count(NODES_MAX);
            return Err(Error::new(ErrorKind::TooManyNodes, format!("{nodes} nodes are too many"))
                .note(format!("a graph has at most {most} nodes: their indexes are 32-bit numbers"))
                .hint("cluster a part of the graph"));
        }
        Ok(())
    }
}

/// Mean number of digits of the numbers below `count`.
fn mean_digits(count: u64) -> f64 {
    let (mut sum, mut from, mut digits) = (0.0, 0, 1.0);
    let mut to: u64 = 10;
    while from < count {
        let end = to.min(count);
        sum += digits * (end - from) as f64;
        (from, to, digits) = (end, to.saturating_mul(10), digits + 1.0);
    }
    sum / count.max(1) as f64
}

/// Predicts memory, disk and time from a sample of the input, for a clustering of its graph if there is
/// to be one.
///
/// # Errors
/// `Usage` for options that cannot be used; bad input in the sample; `MemoryTooSmall`; `Io`.
pub fn plan(
    files: &Files,
    options: &JobOptions,
    clustering: Option<Clustering<'_>>,
) -> Result<Plan> {
    options.check_weights()?;
    if let Some(Clustering { options, .. }) = clustering {
        options.check()?;
        given::check(files, &options.propagation)?;
    }
    let _watch = Watch::begin(options.limits.memory_bytes.max(MEMORY_MIN))?;
    let plan = planned(files, options, clustering, &options.limits.allowed(files.tuning()))?;
    if plan.input.edge_count == 0 { Err(read::no_edges()) } else { Ok(plan) }
}

/// Samples the input and plans. Where the limit is too small for any job, the number to type is one that
/// does for this job.
pub(super) fn planned(
    files: &Files,
    options: &JobOptions,
    clustering: Option<Clustering<'_>>,
    tuning: &Tuning,
) -> Result<Plan> {
    let given = options.limits;
    let enough = JobOptions { limits: given.at_least(), ..options.clone() };
    let (sample, bytes) = sampled(files, &enough)?;
    let plan = plan_of(input_size(&sample, bytes, options)?, enough.limits, clustering, tuning);
    match (given.check(), plan) {
        (Ok(()), plan) => plan,
        (Err(too_small), Err(error)) if error.kind() == ErrorKind::MemoryTooSmall => {
            Err(error.texts().hint.into_iter().fold(too_small, Error::hint))
        }
        (Err(too_small), _) => Err(too_small),
    }
}

/// The same for a size that is given.
///
/// # Errors
/// As [`GivenSize::input`]; `MemoryTooSmall`.
pub fn plan_given(
    size: &GivenSize,
    limits: Limits,
    clustering: Option<Clustering<'_>>,
    tuning: Tuning,
) -> Result<Plan> {
    plan_of(size.input()?, limits, clustering, &limits.allowed(tuning))
}

/// A sample of the input, and the bytes that were read for it.
pub(super) fn sampled(files: &Files, options: &JobOptions) -> Result<(InputSample, u64)> {
    let before = files.counters().read_bytes();
    let sample = input::sample(files, &options.input, &options.limits)?;
    Ok((sample, files.counters().read_bytes() - before))
}

pub(super) fn input_size(
    sample: &InputSample,
    sample_bytes: u64,
    options: &JobOptions,
) -> Result<InputSize> {
    if let (Some(option), Some(path)) = (options.weight_option(), &sample.unweighted) {
        return Err(input::has_no_weights(path, &option));
    }
    let nodes = sample.nodes();
    // An estimate from many names, from all over the input or repeated, is trusted to a twentieth; else only
    // what was seen.
    let is_many = sample.is_spread && sample.sampled_edges >= SOUND_EDGES;
    let is_sound = sample.is_whole || sample.seen_twice >= 100 || is_many;
    let sound = if sample.is_whole { nodes } else { sample.nodes_of_edges_at_least() / 20 * 19 };
    let pairs = (nodes as f64).powi(2) / if options.input.directed { 1.0 } else { 2.0 };
    let distinct = sample.distinct_edges(options.input.directed).min(pairs as u64).max(1);
    // The beginning of a file says nothing about the share of a node in the rest.
    let is_alike = sample.is_whole || sample.is_spread;
    let alike = if is_alike { distinct } else { distinct.min(sample.sampled_edges) };
    // Weights that are divided by others have all their digits.
    let is_divided = options.normalize == Normalize::SelfScore;
    Ok(InputSize {
        text_bytes: sample.text_bytes,
        file_bytes: sample.total_bytes,
        sample_bytes,
        edge_count: sample.edges,
        distinct_edge_count: distinct,
        distinct_edge_count_at_least: sample.distinct_edges_at_least(options.input.directed),
        node_count: nodes,
        node_count_at_least: if is_sound { sound } else { sample.distinct_names },
        name_bytes: sample.name_bytes,
        hub_edge_count: (sample.hub_share * alike as f64) as u64,
        is_directed: options.input.directed,
        is_weighted: sample.is_weighted,
        weight_bits: if is_divided { sample.weight_bits.max(22.0) } else { sample.weight_bits },
        sums_fractions: sample.has_fractions && options.duplicates == Duplicates::Sum,
        has_self_scores: is_divided,
    })
}

pub(super) fn plan_of(
    size: InputSize,
    limits: Limits,
    clustering: Option<Clustering<'_>>,
    tuning: &Tuning,
) -> Result<Plan> {
    let clustering = clustering.map(|clustering| {
        let mut plan = clustering.options.plan(&size, &limits, tuning);
        clustering.add_presenting(&mut plan.nodes, &size, limits.threads);
        plan
    });
    Plan::new(size, limits, tuning, clustering.as_ref())
}

/// How a graph is clustered, and how the communities are presented.
#[derive(Debug, Clone, Copy)]
pub struct Clustering<'a> {
    /// How communities are found.
    pub options: &'a ClusterOptions,
    /// How they are written.
    pub present: &'a PresentOptions,
}

impl Clustering<'_> {
    /// Adds what the stages after the clustering take. An earlier result may have a community for each node.
    fn add_presenting(&self, nodes: &mut NodeMemory, size: &InputSize, threads: usize) {
        let Self { options, present } = *self;
        let results = options.result_count();
        let bytes = |nodes: u64, scan: ClusterMemory, earlier: u64| {
            let read = given::memory_bytes_for(nodes, options, present, threads);
            let is_presented = present.earlier.is_some() || present.looks_inside();
            let counts = (results, earlier);
            let told = || memory_bytes_for(nodes, &scan, present, options.levels, counts);
            read.max(if is_presented { told() } else { 0 })
        };
        let (least, most) = (size.graph_at_least(), size.graph_at_most());
        let scan = ClusterMemory::at_least(&least, Method::LabelPropagation, threads);
        nodes.presenting_bytes_at_least = bytes(least.node_count, scan, 0);
        let scan = ClusterMemory::expected(&most, Method::LabelPropagation, threads);
        nodes.presenting_bytes = bytes(most.node_count, scan, most.node_count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use crate::plan::StagePlan;
    use crate::units::GIB;
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

    #[test]
    fn sizes_that_no_graph_has_are_refused() {
        let refused = |nodes, edges| size(nodes, edges).input().unwrap_err();
        for (nodes, edges) in [(0, 1), (1, 0), (3, 1), (5, EDGES_MAX + 1), (u64::MAX, u64::MAX)] {
            assert_eq!(refused(nodes, edges).kind(), ErrorKind::Usage, "{nodes} {edges}");
        }
        let many = refused(5_000_000_000, 20_000_000_000);
        assert_eq!(many.kind(), ErrorKind::TooManyNodes);
        assert!(many.notes()[0].contains("4,290,000,000"));
        for bytes in [0.0, -1.0, f64::NAN, 1e9] {
            let named = GivenSize { name_bytes: Some(bytes), ..size(2, 1) };
            assert_eq!(named.input().unwrap_err().kind(), ErrorKind::Usage, "{bytes}");
        }
        assert!(size(2, 1).input().is_ok() && size(NODES_MAX, EDGES_MAX).input().is_ok());
    }

    #[test]
    fn names_are_as_long_as_numbers() {
        assert_eq!(mean_digits(10), 1.0);
        assert_eq!(mean_digits(100), 1.9);
        assert_eq!(mean_digits(1000), 2.89);
        assert!((mean_digits(NODES_MAX) - 9.74).abs() < 0.01);
    }

    /// An input is planned as its size is: the sample finds what is given.
    #[test]
    fn a_sample_leads_to_the_plan_of_its_size() {
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
            let given = plan_given(&size(nodes, edges), limits, Some(clustering), tuning).unwrap();
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
