//! Reasons to doubt communities: starts disagree or could not be compared, a single community would score just as well,
//! or chance would.

use crate::cluster::{ClusterOptions, Communities, LevelSpec, Method, MethodOption};
use crate::error::Text;
use crate::error::opt::{METHOD, STABILITY, TRIALS};
use crate::units::{format_count, format_counted};

/// Starts disagree if a smaller mean share of nodes stays with their communities.
const AGREE: f64 = 0.7;
/// Maximum ratio of a modularity to the expected one of a random graph at which it is no better: a search finds
/// somewhat more than expected.
const CHANCE: f64 = 1.05;
/// Maximum relative difference of code lengths that is due to rounding.
const ROUNDING: f64 = 1e-9;

/// Maximum difference of the numbers of communities of starts, as a share of the largest.
const COUNTS: f64 = 1.0 / 3.0;
/// Least modularity of a division worth a message.
const LEAST_MODULARITY: f64 = 0.1;
/// Number of starts that a message suggests.
const SUGGESTED_TRIALS: u32 = 5;

/// Returns the reasons to doubt a result, as phrases for the user. `giant` says that one community holds most nodes. If
/// it holds all of them, a comparison with another method may replace that phrase.
pub(crate) fn doubts(
    options: &ClusterOptions,
    found: &Communities,
    giant: Option<Text>,
) -> Vec<Text> {
    let chance = chance(options, found);
    let of_starts = of_starts(options, found, chance.is_some());
    if found.community_count() < 2 {
        return of_one_community(found).or(giant).into_iter().chain(of_starts).collect();
    }
    let mut all: Vec<Text> = giant.into_iter().chain(of_starts).collect();
    let lengths = found.measures.code_length.zip(found.baselines.undivided_length);
    if let Some((length, undivided)) = lengths
        && length >= undivided * (1.0 - ROUNDING)
        && options.max_size.is_none()
    {
        all.push(format_args!(
            "a single community would score just as well: {length:.4} bits per step, {undivided:.4} with one"
        ).into());
    }
    // Starts do not agree on communities that are there by chance. But a start that keeps all nodes together agrees
    // with any other, so the numbers of communities must be alike, too.
    let is_found_again = found.history.starts.agreement.is_some_and(|share| share >= AGREE)
        && !differ(&found.history.starts.community_counts);
    if let Some(chance) = chance.filter(|_| !is_found_again) {
        all.push(format_args!(
            "modularity is about that of a random graph with the same degrees: {chance:.3} is expected there, {:.3} was found",
            found.measures.modularity
        ).into());
    }
    all
}

/// Returns the modularity that is expected by chance, if that of the communities is no better.
fn chance(options: &ClusterOptions, found: &Communities) -> Option<f64> {
    // The expectation holds only for communities that maximize modularity or shorten the code at resolution 1.
    let is_density = options.method.levels().is_none_or(LevelSpec::by_mean_weight);
    let is_comparable = !is_density && options.resolution == [1.0];
    let is_by_chance = |chance: &f64| found.measures.modularity <= CHANCE * chance;
    found.baselines.chance_modularity.filter(is_by_chance).filter(|_| is_comparable)
}

/// Returns the reason to doubt that other starts would give the same communities, if any.
fn of_starts(options: &ClusterOptions, found: &Communities, by_chance: bool) -> Option<Text> {
    // Where communities are clear, starts that are somewhat worse have merged or divided some.
    let starts = &found.history.starts;
    let counts = if by_chance { &starts.community_counts } else { &starts.equal_counts };
    match starts.agreement {
        Some(share) if share < AGREE => Some(format_args!(
            "starts disagree: {:.1} % of the nodes stay with their communities from one start to another on average",
            100.0 * share
        ).into()),
        Some(_) => differ(counts).then(|| format_args!(
            "starts disagree on the number of communities: from {} to {}, which are merged in one start and apart in another",
            format_count(counts.iter().copied().min().unwrap_or(0)),
            format_count(counts.iter().copied().max().unwrap_or(0))
        ).into()),
        None if starts.count > 1 => starts.losses.iter().any(|&loss| loss > 0.0).then(|| {
            format_args!(
                "only one of {} found these communities: the others are more than 2 % worse",
                format_counted(starts.count.into(), "start", "starts")
            ).into()
        }),
        None => alone(options),
    }
}

/// Returns whether starts disagree on the number of communities.
fn differ(counts: &[u64]) -> bool {
    let (least, most) = (counts.iter().min(), counts.iter().max());
    least.zip(most).is_some_and(|(least, most)| (most - least) as f64 > COUNTS * *most as f64)
}

/// Says that there was only one start, if more were asked for.
fn alone(options: &ClusterOptions) -> Option<Text> {
    if options.initial.is_some()
        || !options.method.takes(MethodOption::Trials)
        || options.trials == Some(1)
    {
        return None;
    }
    Some(match (options.trials, options.stability) {
        (Some(trials), _) => format_args!(
            "{} had no effect: no level of the graph is smaller than the graph itself, so there was one start",
            TRIALS.of(trials)
        ).into(),
        (None, true) => format_args!(
            "{STABILITY} had no effect: no level of the graph is smaller than the graph itself, so there was one start"
        ).into(),
        (None, false) => return None,
    })
}

/// Says that the result was compared with no other start, unless that is doubted: no reason to doubt it.
pub(crate) fn not_compared(options: &ClusterOptions, found: &Communities) -> Option<Text> {
    let starts = &found.history.starts;
    let is_alone = starts.agreement.is_none() && starts.count <= 1 && !options.stability;
    let could_compare = options.method.takes(MethodOption::Trials) && options.initial.is_none();
    (is_alone && could_compare && options.trials.is_none()).then(|| format_args!(
        "one start, compared with no other: no level of the graph is so small that others cost little; {} tries them",
        TRIALS.of(SUGGESTED_TRIALS)
    ).into())
}

/// Says that modularity divides nodes that the map equation keeps together, if they are not divided by chance.
fn of_one_community(found: &Communities) -> Option<Text> {
    let (modularity, count) = found.history.starts.divided?;
    let by_chance =
        found.baselines.chance_modularity.map_or(LEAST_MODULARITY, |chance| CHANCE * chance);
    (count > 1 && modularity > by_chance.max(LEAST_MODULARITY)).then(|| format_args!(
        "all nodes are in one community, whose random walk no division describes more briefly; {} finds {} of modularity {modularity:.3}",
        METHOD.of(Method::of_modularity().name()),
        format_counted(count, "community", "communities"),
    ).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Method, SizeCount, Starts, cluster};
    use crate::progress::Silent;
    use outcore_testkit::{Edges, ring_of_cliques};
    use std::path::Path;

    /// Returns the first word of each doubt.
    fn doubted(edges: &Edges, options: &ClusterOptions) -> Vec<String> {
        let found =
            cluster(&edges.graph(), options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        let first = |text: Text| text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        doubts(options, &found, None).into_iter().map(first).collect()
    }

    /// Returns the same communities after another comparison of the starts.
    fn with(found: &Communities, change: impl FnOnce(&mut Starts)) -> Communities {
        let mut other = found.clone();
        change(&mut other.history.starts);
        other
    }

    /// Returns a graph without communities: each node has `degree` edges to others.
    fn random(nodes: u32, degree: u32) -> Edges {
        random_from(nodes, degree, 1)
    }

    fn random_from(nodes: u32, degree: u32, seed: u64) -> Edges {
        let mut next = seed;
        let mut below = |bound: u32| {
            next = next
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((next >> 33) % u64::from(bound)) as u32
        };
        let ends = (0..nodes * degree / 2).map(|_| (below(nodes), below(nodes)));
        let mut ends: Vec<_> =
            ends.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        ends.sort_unstable();
        ends.dedup();
        Edges::new(nodes, ends)
    }

    #[test]
    fn communities_of_a_random_graph_are_doubted() {
        for method in [Method::MapEquation, Method::Modularity] {
            let options = ClusterOptions { method, ..ClusterOptions::default() };
            for degree in [6, 10] {
                let doubts = doubted(&random(2000, degree), &options);
                let doubts: Vec<_> = doubts.iter().map(|text| text.trim_end_matches(':')).collect();
                assert_eq!(doubts, ["starts disagree", "modularity is"], "{method:?}, {degree}");
            }
        }
    }

    #[test]
    fn clear_communities_are_not_doubted() {
        for method in [Method::MapEquation, Method::Modularity] {
            let options = ClusterOptions { method, ..ClusterOptions::default() };
            for edges in
                [ring_of_cliques(300, 8), Edges::new(5001, (0..5000).map(|leaf| (leaf, 5000)))]
            {
                assert_eq!(doubted(&edges, &options), Vec::<String>::new());
            }
        }
    }

    /// Returns groups of `size` nodes, each with about `inside` edges inside and `outside` to any node.
    fn planted(groups: u32, size: u32, inside: u32, outside: u32) -> Edges {
        let mut random = random(groups * size, outside);
        for group in 0..groups {
            let own = random_from(size, inside, u64::from(group) + 2);
            let of_group =
                own.edges.iter().map(|&(a, b, w)| (a + group * size, b + group * size, w));
            random.edges.extend(of_group);
        }
        random
    }

    /// Starts agree on them, so they are no chance, although few edges are inside.
    #[test]
    fn large_equal_groups_are_not_those_of_a_random_graph() {
        let options = ClusterOptions {
            method: Method::Modularity,
            trials: Some(5),
            ..ClusterOptions::default()
        };
        let edges = planted(4, 500, 10, 14);
        let found =
            cluster(&edges.graph(), &options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        // As in sparse graphs, where the estimate for a random graph is as high.
        let mut found = found;
        found.baselines.chance_modularity = Some(found.measures.modularity);
        assert_eq!(doubts(&options, &found, None), Vec::<Text>::new());
        let merged = with(&found, |starts| starts.community_counts = vec![1, 4]);
        assert_eq!(
            doubts(&options, &merged, None).len(),
            2,
            "a start that keeps all together agrees"
        );
        let apart = with(&found, |starts| starts.agreement = Some(0.5));
        assert_eq!(doubts(&options, &apart, None).len(), 2);
    }

    #[test]
    fn starts_that_say_nothing_are_reported() {
        let options = ClusterOptions::default();
        let edges = ring_of_cliques(30, 5);
        let found =
            cluster(&edges.graph(), &options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        let first = |options: &ClusterOptions, found: Communities| {
            doubts(options, &found, None).into_iter().next().unwrap_or_default()
        };
        assert_eq!(first(&options, found.clone()), "");
        let counts = with(&found, |starts| starts.equal_counts = vec![30, 19, 30]);
        assert!(first(&options, counts).contains("from 19 to 30"));
        let worse = with(&found, |starts| {
            *starts = Starts { count: 2, losses: vec![0.0, 0.5], ..Starts::default() };
        });
        assert!(first(&options, worse).starts_with("only one of 2 starts"));
        let alone = with(&found, |starts| (starts.agreement, starts.count) = (None, 1));
        // One start is said, but is no reason to doubt.
        assert_eq!(first(&options, alone.clone()), "");
        assert!(not_compared(&options, &alone).unwrap().contains("--trials 5"));
        assert_eq!(not_compared(&options, &found), None);
        let asked = ClusterOptions { trials: Some(9), ..options.clone() };
        assert!(first(&asked, alone.clone()).starts_with("`--trials 9` had no effect"));
        let one = ClusterOptions { trials: Some(1), ..options.clone() };
        assert_eq!(not_compared(&one, &alone), None);
        assert_eq!(first(&one, alone), "");
        let mut together = with(&found, |starts| starts.divided = Some((0.4, 6)));
        together.sizes = vec![SizeCount { size: 150, count: 1 }];
        assert!(first(&options, together).contains("`--method modularity` finds 6 communities"));
    }

    #[test]
    fn communities_no_better_than_one_are_doubted() {
        let options = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
        let edges = ring_of_cliques(30, 5);
        let found =
            cluster(&edges.graph(), &options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        assert!(found.measures.code_length < found.baselines.undivided_length);
        assert!(doubts(&options, &found, None).is_empty());
        let mut worse = found;
        worse.measures.code_length = worse.baselines.undivided_length;
        assert!(doubts(&options, &worse, None)[0].starts_with("a single community would score"));
    }
}
