//! Words of other programs, and what they are called here: newcomers type what they know.
//!
//! Words are compared by their letters and digits, so `resolution_parameter`, `--resolution-parameter` and
//! `ResolutionParameter` are the same. A single letter keeps its case, since `-i` and `-I` are different options.

use outcore::cluster::METHODS as OURS;
use outcore::error::opt::{
    COLUMNS, DELIMITER, DIRECTED, IGNORE_WEIGHTS, INITIAL, LEVELS, LIKE, MAX_SIZE, MAX_SWEEPS,
    MEMORY, METHOD, MIN_SIZE, MIN_WEIGHT, OUTPUT, QUIET, RECORDED_TELEPORTATION, RESOLUTION, SEED,
    SELF_LOOPS, THREADS, TRIALS, TWO_MODE, WEIGHT_TRANSFORM, WELL_CONNECTED, WORK_DIR,
};
use outcore::error::{Opt, Text};

/// Option of ours, with a value or another option.
type Ours = fn() -> Opt;

/// Methods: their usual names, what they are, and ours. Of several names that fit, the first counts.
const METHODS: &[(&[&str], &str, Ours)] = &[
    (
        &[
            "Leiden",
            "Louvain",
            "multilevel",
            "PLM",
            "fast greedy",
            "CNM",
            "leading eigenvector",
            "ModularityVertexPartition",
            "RBConfigurationVertexPartition",
        ],
        "optimizes modularity",
        || METHOD.of("modularity"),
    ),
    (&["Infomap"], "minimizes the map equation", || METHOD.of("map-equation")),
    (
        &["mcl", "Markov clustering", "walktrap"],
        "follows random walks, which the map equation describes in the fewest bits",
        || METHOD.of("map-equation"),
    ),
    (&["LPA", "PLP", "labelprop"], "is label propagation", || METHOD.of(PROPAGATION)),
    (&["ExoLabel"], "is label propagation with settings of its own", || {
        METHOD.of(PROPAGATION).with(LIKE.of("exolabel"))
    }),
    (&["CPMVertexPartition", "constant Potts", "Potts"], "is the constant Potts model", || {
        METHOD.of("cpm").with(RESOLUTION.of("X"))
    }),
    (&["connected components", "weak components", "WCC", "CC"], "has a shorter name", || {
        METHOD.of(COMPONENTS)
    }),
    (
        &["single linkage", "single link"],
        "joins whatever is similar enough, as components do with a threshold",
        || METHOD.of(COMPONENTS).with(MIN_WEIGHT.of("W")),
    ),
];

const PROPAGATION: &str = "label-propagation";
const COMPONENTS: &str = "components";

/// Options: their names elsewhere, ours, and how it is used; `{}` stands for ours.
const OPTIONS: &[(&str, Ours, &str)] = &[
    ("algorithm algo objective objective-function clustering", || METHOD, "use {}"),
    ("resolution-parameter resolution-param res gamma", || RESOLUTION, "use {}"),
    (
        "I inflation",
        || METHOD.of("cpm").with(RESOLUTION.of("0.5")),
        "no method has an inflation; with {}, a larger number gives smaller communities",
    ),
    ("N num-trials n-trials restarts n-starts nstart", || TRIALS, "use {}"),
    (
        "n-iterations iterations n-iter max-iter max-iterations maximum-iterations core-loop-limit core-level-limit \
         tune-iteration-limit M L T",
        || MAX_SWEEPS,
        "sweeps end by themselves; to limit their number use {}",
    ),
    ("random-seed random-state rng-seed rng s", || SEED, "use {}"),
    (
        "weights weight weight-column edge-weights edge-attr abc",
        || COLUMNS.of("SOURCE,TARGET,WEIGHT"),
        "weights are used if the file has them; to name their column use {}",
    ),
    ("unweighted no-weights ignore-edge-weights", || IGNORE_WEIGHTS, "use {}"),
    ("undirected u", || DIRECTED, "leave it out: edges are undirected unless {} is given"),
    ("two-level 2", || LEVELS, "leave it out: communities are on one level unless {} is given"),
    ("tree ftree hierarchy F fast-hierarchical-solution", || LEVELS.of("tree"), "use {}"),
    (
        "clu clu-level",
        || OUTPUT.of("communities.clu"),
        "the ending of the name selects the format: use {}",
    ),
    ("bipartite skip-adjust-bipartite-flow", || TWO_MODE, "use {}"),
    (
        "markov-time variable-markov-time preferred-number-of-modules",
        || METHOD.of("modularity").with(RESOLUTION.of("0.5")),
        "the map equation finds the sizes of communities itself; for larger or smaller ones use {}",
    ),
    (
        "teleportation-probability p e",
        || RECORDED_TELEPORTATION,
        "a walk teleports with probability 0.15; to count its jumps use {}",
    ),
    ("silent", || QUIET, "use {}"),
    ("include-self-links k keep-loops", || SELF_LOOPS.of("keep"), "use {}"),
    ("abc-log", || WEIGHT_TRANSFORM.of("log"), "use {}"),
    ("abc-neg-log abc-neg-log10", || WEIGHT_TRANSFORM.of("neglog10"), "use {}"),
    (
        "force-connected",
        || WELL_CONNECTED,
        "communities are connected; to split those that few edges hold together use {}",
    ),
    ("initial-membership cluster-data init", || INITIAL, "use {}"),
    ("max-comm-size max-cluster-size max-community-size", || MAX_SIZE, "use {}"),
    ("min-comm-size min-cluster-size min-community-size", || MIN_SIZE, "use {}"),
    ("cutoff threshold min-score min-similarity weight-threshold", || MIN_WEIGHT, "use {}"),
    ("no-self-links no-loops discard-loops", || SELF_LOOPS.of("drop"), "use {}"),
    ("flow-model", || DIRECTED, "edges have no direction unless {} is given"),
    ("sep separator delim field-separator", || DELIMITER, "use {}"),
    ("cpus cores jobs j n-jobs num-threads nthreads processors te", || THREADS, "use {}"),
    ("mem ram max-memory memory-limit", || MEMORY, "use {}"),
    ("tmp tmpdir temp-dir tempfile-dir scratch", || WORK_DIR, "use {}"),
    ("out outfile output-file out-name result", || OUTPUT, "use {}"),
];

/// Returns what to use in place of a method of another program, or of one of ours in another spelling.
pub(super) fn method(typed: &str) -> Option<Text> {
    let is_it = |name: &&str| plain(name) == plain(typed);
    if let Some(ours) = OURS.iter().map(|spec| spec.name).find(is_it) {
        return Some(format_args!("it is spelled {}", METHOD.of(ours)).into());
    }
    let named = |(names, what, ours): &(&[&str], &str, Ours)| {
        let name = names.iter().copied().find(is_it)?;
        Some(format_args!("{name} {what}: {}", ours()).into())
    };
    METHODS.iter().find_map(named)
}

/// Returns our option in place of one of another program, and how to use it.
pub(super) fn option(typed: &str) -> Option<(Opt, Text)> {
    let typed = plain(typed);
    let is_it = |names: &str| names.split(' ').any(|name| plain(name) == typed);
    let (_, ours, how) = OPTIONS.iter().find(|(names, ..)| is_it(names))?;
    let (ours, (before, after)) = (ours(), how.split_once("{}")?);
    let text = Text::from(format_args!("{before}{ours}{after}"));
    Some((ours, text))
}

/// Returns the letters and digits of a word, in lower case unless it is only one.
pub(super) fn plain(word: &str) -> String {
    let letters: String = word.chars().filter(|letter| letter.is_alphanumeric()).collect();
    if letters.chars().count() > 1 { letters.to_lowercase() } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn rows_lead_to_methods_and_options_that_exist() {
        let mut seen = BTreeSet::new();
        for (names, _, ours) in METHODS {
            let ours = ours();
            assert!(OURS.iter().any(|spec| Some(spec.name) == ours.value.as_deref()), "{ours}");
            for name in *names {
                assert!(seen.insert(plain(name)), "{name} is in two rows");
                assert!(method(name).unwrap().ends_with(&ours.to_string()), "{name}");
            }
        }
        let mut cli = Cli::command();
        cli.build();
        let cluster = cli.find_subcommand("cluster").unwrap();
        let known: Vec<_> = cluster.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let mut seen = BTreeSet::new();
        for (names, ours, _) in OPTIONS {
            assert!(ours().all().all(|option| known.contains(&&*option.name)), "{names}");
            for name in names.split(' ') {
                assert!(seen.insert(plain(name)), "{name} is in two rows");
                assert!(!known.contains(&name), "{name} is one of ours");
                assert!(option(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn words_are_compared_by_their_letters() {
        for typed in ["leiden", "Leiden", "LEIDEN"] {
            let hint = "Leiden optimizes modularity: `--method modularity`";
            assert_eq!(method(typed).unwrap(), hint);
        }
        assert_eq!(method("map_equation").unwrap(), "it is spelled `--method map-equation`");
        assert_eq!(option("--resolution_parameter").unwrap().1, "use `--resolution`");
        assert_eq!(option("--Num-Trials").unwrap().1, "use `--trials`");
        assert!(option("-I").unwrap().1.contains("inflation") && option("-i").is_none());
        assert!(option("--clu").unwrap().1.ends_with("use `--output communities.clu`"));
        assert!(method("kmeans").is_none() && option("--attenuate").is_none());
    }
}
