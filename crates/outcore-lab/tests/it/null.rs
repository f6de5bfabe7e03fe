//! Verdicts on simulated machines: where nothing differs, a whole quick run hardly ever says so; where something does,
//! a run of default effort finds it.

use outcore_lab::claims::{CLAIMS, Deciding, Judgement, Rule};
use outcore_lab::meter::Sample;
use outcore_lab::report::Experiment;
use outcore_lab::rounds::Measured;
use outcore_lab::row::{AGAIN, Row};
use outcore_lab::state::State;
use outcore_lab::statistics::Interval;
use outcore_lab::{Effort, Random};
use std::collections::BTreeMap;

/// Noise of a machine.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Logarithms of times are normal with this standard deviation.
    Normal(f64),
    /// A fifth of the time the machine is disturbed, for eight runs on average, and takes 1.6 times as long.
    Bimodal,
    /// One run in ten takes up to five times as long.
    Spikes,
}

/// Simulated machine.
struct Machine {
    noise: Noise,
    random: Random,
    is_disturbed: bool,
}

impl Machine {
    fn new(noise: Noise, seed: u64) -> Self {
        Self { noise, random: Random(seed), is_disturbed: false }
    }

    fn uniform(&mut self) -> f64 {
        (self.random.below(1 << 53) + 1) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// Returns the factor of the next run.
    fn factor(&mut self) -> f64 {
        match self.noise {
            Noise::Normal(deviation) => (deviation * self.normal()).exp(),
            Noise::Bimodal => {
                let change = if self.is_disturbed { 1.0 / 8.0 } else { 1.0 / 32.0 };
                self.is_disturbed ^= self.uniform() < change;
                (0.02 * self.normal()).exp() * if self.is_disturbed { 1.6 } else { 1.0 }
            }
            Noise::Spikes => {
                let spike = if self.uniform() < 0.1 { 1.0 + 4.0 * self.uniform() } else { 1.0 };
                (0.02 * self.normal()).exp() * spike
            }
        }
    }

    /// Measures rows of a group and a name, and the repetition of the first row of each group, round by round in
    /// random order. The time of a row is `cost(name)`.
    fn measure(
        &mut self,
        names: &[(String, String)],
        rounds: u32,
        cost: impl Fn(&str) -> f64,
    ) -> Measured {
        let mut names = names.to_vec();
        let groups: Vec<String> = names.iter().map(|(group, _)| group.clone()).collect();
        let is_first = |at: &usize| !groups[..*at].contains(&groups[*at]);
        let again = (0..groups.len()).filter(is_first);
        names.extend(again.map(|at| (groups[at].clone(), AGAIN.to_owned())));
        let mut order: Vec<usize> = (0..names.len()).collect();
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); names.len()];
        for round in 0..rounds {
            let drift = (0.2 * self.normal()).exp();
            self.random.shuffle(&mut order);
            for &at in &order {
                let wall_seconds = drift * cost(&names[at].1) * self.factor();
                let (operations, bytes) = (1, 1);
                samples[at].push(Sample {
                    round,
                    wall_seconds,
                    operations,
                    bytes,
                    ..Sample::default()
                });
            }
        }
        let row = |((group, name), samples)| Row::new(name, group, State::Warm, samples);
        let rows = names.into_iter().zip(samples).map(row).collect();
        Measured { rows, ..Measured::default() }
    }
}

/// Returns the rows of each experiment: those that claims name, and others up to the number in a quick run.
fn rows() -> BTreeMap<&'static str, Vec<(String, String)>> {
    let counts = [
        ("random-read", 57),
        ("random-update", 43),
        ("sequential-read", 39),
        ("sequential-write", 12),
        ("transfer-size", 90),
        ("write-buffer", 44),
        ("sort", 13),
        ("overlap", 18),
        ("queue-depth", 12),
        ("read-ahead", 18),
        ("cached-share", 10),
        ("durable-append", 8),
    ];
    let mut rows: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for claim in CLAIMS {
        match claim.rows {
            Deciding::Rows(experiment, group, pairs) => {
                let names = rows.entry(experiment).or_default();
                names.extend(pairs.iter().flat_map(|(of, to)| {
                    [of, to].map(|name| (group.to_owned(), name.trim_end_matches('*').to_owned()))
                }));
            }
            Deciding::Words(experiment, group, begin, _) => {
                for order in ["unsorted", "sorted"] {
                    for buffer in ["buffered", "unbuffered"] {
                        for last in
                            ["SEEK_SET, rb", "SEEK_CUR, rb", "SEEK_SET, rb+", "SEEK_BOTH, rb"]
                        {
                            let name = format!("{begin}, {order}, {buffer}, {last}");
                            rows.entry(experiment).or_default().push((group.to_owned(), name));
                        }
                    }
                }
            }
        }
    }
    for (experiment, count) in counts {
        let names = rows.entry(experiment).or_default();
        names.sort();
        names.dedup();
        for number in names.len()..count {
            names.push((format!("group {}", number % 3), format!("row {number}")));
        }
    }
    rows
}

fn contains_one(rule: Rule) -> bool {
    rule.judge(Interval { middle: 1.0, low: 1.0, high: 1.0 }) == Judgement::Holds
}

/// Whether an experiment in which nothing differs says that something does.
fn is_wrong(experiment: &Experiment) -> bool {
    let of_claims = experiment.claims.iter().any(|judged| {
        let claim = CLAIMS.iter().find(|claim| claim.name == judged.name).expect("it is listed");
        match judged.judgement {
            Judgement::Holds => !contains_one(claim.rule),
            Judgement::Differs => contains_one(claim.rule),
            Judgement::CannotTell | Judgement::NotMeasured => false,
        }
    });
    of_claims || experiment.rows.iter().any(Row::differs) || !experiment.unequal().is_empty()
}

#[test]
fn whole_runs_without_differences_seldom_report_one() {
    const RUNS: u64 = 200;
    let rows = rows();
    let noises = [0.02, 0.1, 0.4].map(Noise::Normal);
    for noise in noises.into_iter().chain([Noise::Bimodal, Noise::Spikes]) {
        let wrong = (0..RUNS).filter(|&seed| {
            let mut machine = Machine::new(noise, seed);
            rows.iter().any(|(name, names)| {
                let measured = machine.measure(names, Effort::Quick.rounds(), |_| 1.0);
                is_wrong(&Experiment::new(name, "?", Vec::new(), measured))
            })
        });
        let wrong = wrong.count() as u64;
        println!("{noise:?}: {wrong} of {RUNS} runs report a difference");
        assert!(wrong * 20 <= RUNS, "{noise:?}: {wrong} of {RUNS} runs");
    }
}

/// Rows whose costs lie on and around the bound of what is negligible: two runs may leave different rows open, but if both
/// have a verdict, it is the same one.
#[test]
fn two_runs_do_not_contradict_each_other() {
    const RUNS: u64 = 100;
    const COSTS: [f64; 11] = [1.0, 0.5, 0.9, 0.97, 0.98, 0.99, 1.01, 1.02, 1.03, 1.1, 2.0];
    let name = |number: usize| (String::new(), format!("row {number}"));
    let names: Vec<(String, String)> = (0..COSTS.len()).map(name).collect();
    let cost = |name: &str| {
        let number = name.strip_prefix("row ").and_then(|number| number.parse::<usize>().ok());
        COSTS[number.unwrap_or(0)]
    };
    let noises = [0.001, 0.005, 0.02, 0.1, 0.4].map(Noise::Normal);
    for noise in noises.into_iter().chain([Noise::Bimodal, Noise::Spikes]) {
        let (mut decided, mut unlike) = (0, 0);
        for seed in 0..RUNS {
            let mut machine = Machine::new(noise, seed);
            let mut run = || {
                let measured = machine.measure(&names, Effort::Quick.rounds(), cost);
                let rows = Experiment::new("queue-depth", "?", Vec::new(), measured).rows;
                rows.iter().map(|row| row.ratio?.verdict()).collect::<Vec<_>>()
            };
            let (first, second) = (run(), run());
            for (one, two) in
                first.iter().zip(&second).filter_map(|(a, b)| a.as_ref().zip(b.as_ref()))
            {
                decided += 1;
                unlike += u64::from(one != two);
            }
        }
        println!("{noise:?}: {unlike} of {decided} verdicts change");
        assert!(unlike * 50 <= decided, "{noise:?}: {unlike} of {decided}");
        let is_quiet = matches!(noise, Noise::Normal(deviation) if deviation <= 0.02);
        assert!(!is_quiet || decided >= 4 * RUNS, "{noise:?}: {decided} verdicts in both runs");
    }
}

#[test]
fn a_difference_of_a_tenth_is_found_at_default_effort() {
    const RUNS: u64 = 200;
    // The largest experiment: the most comparisons, so the widest intervals.
    let name = |number: u32| (format!("group {}", number / 12), format!("row {number}"));
    let names: Vec<(String, String)> = (0..240).map(name).collect();
    let slower = |name: &str| if name == "row 5" { 1.1 } else { 1.0 };
    let found = (0..RUNS).filter(|&seed| {
        let mut machine = Machine::new(Noise::Normal(0.02), seed);
        let measured = machine.measure(&names, Effort::Default.rounds(), slower);
        let experiment = Experiment::new("transfer-size", "?", Vec::new(), measured);
        experiment.row("row 5").is_some_and(Row::differs)
    });
    let found = found.count() as u64;
    println!("{found} of {RUNS} runs find it");
    assert!(found * 10 >= RUNS * 8, "{found} of {RUNS} runs find it");
}
