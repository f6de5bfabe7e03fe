//! Runs the methods of an experiment round by round, in random order, each from a verified state.
//!
//! Interleaving spreads disturbances of the machine evenly over all methods, and a new random order each round makes
//! runs of equal cost exchangeable, on which [`crate::statistics`] relies. Groups, whose rows are compared, take turns
//! as a whole, so that compared runs lie close in time and a file seldom changes its state. The first method of each
//! group runs twice per round: the two rows do the same, so any difference between them is noise.
//!
//! A run is repeated if the machine disturbed it. The judge is a canary, a fixed piece of work before and after the
//! run, never the time of the run itself: leaving out slow runs would make noisy methods look fast. A run that cannot
//! begin in its state is put off, first to the end of its round and then to an additional round. A short run is made
//! three times in each round, and the median counts: one interrupt may take as long as the run.
//!
//! Cost: two canaries of about a tenth of a millisecond per run; at most a fifth of the runs are repeated.

use crate::meter::{Outcome, Sample, measure};
use crate::random::Random;
use crate::row::{AGAIN, Missing, Row};
use crate::state::{State, bring, drop_cached};
use crate::statistics::median;
use crate::workplace::Workplace;
use outcore::Result;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Maximum number of attempts of a run in a round.
const TRIES: u32 = 3;
/// Maximum number of additional rounds for runs that were left out.
const ADDITIONAL: u32 = 3;
/// Ratio of a canary to the baseline from which on the machine counts as disturbed.
pub(crate) const DISTURBED: f64 = 1.5;
/// Maximum seconds of a run that is repeated at once, if the machine was disturbed.
const REPEATED_SECONDS: f64 = 0.25;

/// One way to do the work.
pub struct Method<'a> {
    /// Name in the table, unique in its group.
    pub name: String,
    /// Table that it belongs to, if the experiment has several.
    pub group: String,
    /// State that a run begins in.
    pub state: State,
    /// File that is brought into the state; `None` if the run creates its files.
    pub file: Option<PathBuf>,
    /// Unmeasured work before each run, such as removing the files of the previous run.
    pub prepare: Box<dyn FnMut() -> Result<()> + 'a>,
    /// Check that a run may begin, made after `prepare` and after the file has its state; the inner `Err` is the
    /// reason why it may not, and the method then has no row.
    pub prove: Box<dyn FnMut() -> Result<std::result::Result<(), String>> + 'a>,
    /// The run. It must use what it reads: its checksum is compared with that of the others.
    pub run: Box<dyn FnMut() -> Result<Outcome> + 'a>,
    /// Unmeasured work after each run that returns its checksum, such as reading back what it wrote; `None` keeps
    /// the checksum of the run itself.
    pub check: Box<dyn FnMut() -> Result<Option<u64>> + 'a>,
}

impl<'a> Method<'a> {
    /// Creates a method without preparation in the group "".
    pub fn new(
        name: impl Into<String>,
        state: State,
        file: Option<PathBuf>,
        run: impl FnMut() -> Result<Outcome> + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            group: String::new(),
            state,
            file,
            prepare: Box::new(|| Ok(())),
            prove: Box::new(|| Ok(Ok(()))),
            run: Box::new(run),
            check: Box::new(|| Ok(None)),
        }
    }

    /// Assigns the method to a group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// Returns the name, followed by the group if it is in one.
    pub fn full_name(&self) -> String {
        match self.group.as_str() {
            "" => self.name.clone(),
            group => format!("{} ({group})", self.name),
        }
    }

    /// Sets the unmeasured work before each run.
    #[must_use]
    pub fn prepare(mut self, prepare: impl FnMut() -> Result<()> + 'a) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Sets the check before each run.
    #[must_use]
    pub fn prove(
        mut self,
        prove: impl FnMut() -> Result<std::result::Result<(), String>> + 'a,
    ) -> Self {
        self.prove = Box::new(prove);
        self
    }

    /// Sets the unmeasured work that returns the checksum after each run.
    #[must_use]
    pub fn check(mut self, mut check: impl FnMut() -> Result<u64> + 'a) -> Self {
        self.check = Box::new(move || check().map(Some));
        self
    }
}

/// Maximum seconds of a short run, in its first round; the median of three short runs counts.
const SHORT_SECONDS: f64 = 0.01;

/// Measurements of an experiment.
#[derive(Debug, Default)]
pub struct Measured {
    /// Row of each method, then the repetition of the first row of each group.
    pub rows: Vec<Row>,
    /// Methods without a row, with the reasons.
    pub missing: Vec<Missing>,
    /// Time of a fixed piece of work, its median in each round: it shows how steady the machine was.
    pub canary_seconds: Vec<f64>,
    /// Number of runs that were repeated because the machine was disturbed.
    pub repeated: u64,
    /// Rounds that were finished, if an error or an interruption ended the others.
    pub ended: Option<Ended>,
}

/// Rounds of an experiment that ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Number of finished rounds, at least one.
    pub rounds: u32,
    /// Number of rounds that were intended.
    pub of: u32,
}

/// Runs all methods `rounds` times. The first method of a group is its baseline. If an error or an interruption ends it
/// after at least one round, the measurements of whole rounds are returned, and the laboratory ends once they are
/// reported.
///
/// # Errors
/// The first error of a method, or `Interrupted`, in the first round.
pub fn run(workplace: &Workplace<'_>, methods: Vec<Method<'_>>, rounds: u32) -> Result<Measured> {
    if workplace.has_ended() {
        return Ok(Measured::default());
    }
    let mut rotation = Rotation::new(workplace, methods, rounds);
    workplace.begin(u64::from(rounds) * rotation.turns.len() as u64)?;
    for round in 0..rounds + ADDITIONAL {
        let turns = match round < rounds {
            true => (0..rotation.turns.len()).collect(),
            false => rotation.lacking(rounds as usize),
        };
        if turns.is_empty() {
            break;
        }
        match rotation.round(round, turns) {
            Ok(()) => {}
            Err(error) if round == 0 => return Err(error),
            Err(error) => {
                workplace.end(error);
                let ended = Ended { rounds: round.min(rounds), of: rounds };
                return Ok(Measured { ended: Some(ended), ..rotation.measured(round) });
            }
        }
    }
    Ok(rotation.measured(rounds + ADDITIONAL))
}

/// Row in the making: a method, or the repetition of one.
struct Turn {
    method: usize,
    is_again: bool,
    samples: Vec<Sample>,
    /// Why the method cannot run here: it has failed in its first round.
    reason: Option<String>,
}

/// Methods with their turns, and the canary.
struct Rotation<'w, 'm> {
    workplace: &'w Workplace<'w>,
    methods: Vec<Method<'m>>,
    turns: Vec<Turn>,
    random: Random,
    canary: Canary,
    canary_seconds: Vec<f64>,
    /// Number of runs so far, without repetitions.
    done: u64,
}

impl<'w, 'm> Rotation<'w, 'm> {
    fn new(workplace: &'w Workplace<'w>, methods: Vec<Method<'m>>, rounds: u32) -> Self {
        let turn = |method, is_again| Turn { method, is_again, samples: Vec::new(), reason: None };
        let is_first =
            |&at: &usize| methods[..at].iter().all(|each| each.group != methods[at].group);
        let all = (0..methods.len()).map(|at| turn(at, false));
        let again = (0..methods.len()).filter(is_first).map(|at| turn(at, true));
        let turns: Vec<Turn> = all.chain(again).collect();
        let most = if workplace.repeats { u64::from(rounds) * turns.len() as u64 / 5 } else { 0 };
        let canary = Canary::new(most);
        let random = Random(workplace.seed);
        Self { workplace, methods, turns, random, canary, canary_seconds: Vec::new(), done: 0 }
    }

    /// Runs `turns` in random order; a run that cannot begin is tried again after the others.
    fn round(&mut self, round: u32, turns: Vec<usize>) -> Result<()> {
        self.forget_cached(&turns)?;
        let begin = self.canary.seconds.len();
        let order = self.order(turns);
        let mut queue: VecDeque<(usize, u32)> = order.into_iter().map(|turn| (turn, 1)).collect();
        while let Some((at, tries)) = queue.pop_front() {
            if self.turns[at].reason.is_none() {
                match self.sample(round, at)? {
                    Ok(sample) => self.turns[at].samples.push(sample),
                    Err(_) if tries < TRIES => {
                        queue.push_back((at, tries + 1));
                        continue;
                    }
                    Err(reason) if self.turns[at].samples.is_empty() => {
                        self.turns[at].reason = Some(reason);
                    }
                    Err(_) => {}
                }
            }
            self.done += 1;
            self.workplace.advance(self.done)?;
        }
        self.canary_seconds.push(median(&self.canary.seconds[begin..]));
        Ok(())
    }

    /// Drops the files of warm runs from the page cache, so that they get other memory in each round: the place of
    /// their pages may change times by a tenth, and would otherwise be fixed within a report and differ between
    /// reports.
    fn forget_cached(&self, turns: &[usize]) -> Result<()> {
        let methods = turns.iter().map(|&turn| &self.methods[self.turns[turn].method]);
        let warm = methods.filter(|method| method.state == State::Warm);
        let files: BTreeSet<&PathBuf> = warm.filter_map(|method| method.file.as_ref()).collect();
        files.into_iter().try_for_each(|file| drop_cached(file))
    }

    /// Puts the groups in random order, and the turns within each.
    fn order(&mut self, mut turns: Vec<usize>) -> Vec<usize> {
        self.random.shuffle(&mut turns);
        let group = |turn: &usize| &self.methods[self.turns[*turn].method].group;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for turn in turns {
            match groups.iter_mut().find(|each| group(&each[0]) == group(&turn)) {
                Some(each) => each.push(turn),
                None => groups.push(vec![turn]),
            }
        }
        groups.concat()
    }

    /// Makes the run of a round: once, or three times if it is short.
    fn sample(&mut self, round: u32, at: usize) -> Result<std::result::Result<Sample, String>> {
        let method = self.turns[at].method;
        let mut runs = vec![match self.steady(round, method)? {
            Ok(sample) => sample,
            Err(reason) => return Ok(Err(reason)),
        }];
        // The first round decides how often a method runs in every round, since compared samples must be alike.
        let first = self.turns.iter().find(|turn| turn.method == method);
        let first = first.and_then(|turn| turn.samples.first()).unwrap_or(&runs[0]);
        if first.wall_seconds < SHORT_SECONDS {
            for _ in 0..2 {
                runs.extend(self.steady(round, method)?.ok());
            }
        }
        runs.sort_by(|a, b| a.wall_seconds.total_cmp(&b.wall_seconds));
        Ok(Ok(runs.swap_remove(runs.len() / 2)))
    }

    /// Runs a method, again if the machine was disturbed meanwhile.
    fn steady(&mut self, round: u32, number: usize) -> Result<std::result::Result<Sample, String>> {
        for _ in 1..TRIES {
            let (before, tried) = self.attempt(round, number)?;
            let Ok(sample) = tried else { return Ok(tried) };
            let disturbed = self.canary.shows_disturbance(before);
            if !disturbed || sample.wall_seconds > REPEATED_SECONDS || !self.canary.may_repeat() {
                return Ok(Ok(sample));
            }
        }
        Ok(self.attempt(round, number)?.1)
    }

    /// Brings the file into its state and runs a method; returns the canary before the run as well.
    fn attempt(
        &mut self,
        round: u32,
        number: usize,
    ) -> Result<(f64, std::result::Result<Sample, String>)> {
        let method = &mut self.methods[number];
        self.workplace.detail(&method.name)?;
        (method.prepare)()?;
        let mut brought = match &method.file {
            Some(path) => bring(path, method.state)?,
            None => Ok(()),
        };
        if brought.is_ok() {
            brought = (method.prove)()?;
        }
        let before = self.canary.measure();
        if let Err(reason) = brought {
            return Ok((before, Err(reason)));
        }
        let mut sample = measure(round, &mut method.run)?;
        self.canary.measure();
        if let Some(checksum) = (method.check)()? {
            sample.checksum = checksum;
        }
        Ok((before, Ok(sample)))
    }

    /// Returns the turns that have fewer than `rounds` samples, and the first ones of their groups.
    fn lacking(&self, rounds: usize) -> Vec<usize> {
        let lacks = |turn: &Turn| turn.reason.is_none() && turn.samples.len() < rounds;
        let group = |turn: &Turn| &self.methods[turn.method].group;
        let groups: Vec<&String> =
            self.turns.iter().filter(|turn| lacks(turn)).map(group).collect();
        let mut seen = Vec::new();
        let chosen = self.turns.iter().enumerate().filter(|(_, turn)| {
            let is_first = !seen.contains(&group(turn));
            seen.push(group(turn));
            lacks(turn) || (is_first && groups.contains(&group(turn)))
        });
        chosen.map(|(at, _)| at).collect()
    }

    /// Returns the runs of the rounds before `end`.
    fn measured(self, end: u32) -> Measured {
        let Self { methods, turns, canary, canary_seconds, .. } = self;
        let mut measured =
            Measured { canary_seconds, repeated: canary.repeated, ..Measured::default() };
        for Turn { method, is_again, mut samples, reason } in turns {
            samples.retain(|sample| sample.round < end);
            let method = &methods[method];
            let name = if is_again { AGAIN.to_owned() } else { method.name.clone() };
            match reason {
                None => {
                    let group = method.group.clone();
                    measured.rows.push(Row::new(name, group, method.state, samples));
                }
                Some(reason) if !is_again => {
                    measured.missing.push(Missing { name: method.full_name(), reason });
                }
                Some(_) => {}
            }
        }
        measured
    }
}

/// Fixed piece of work whose time shows when something else uses the machine.
struct Canary {
    seconds: Vec<f64>,
    /// Number of runs that may still be repeated.
    left: u64,
    repeated: u64,
}

impl Canary {
    /// Window of canary runs used as the baseline.
    const USUAL: usize = 63;

    fn new(left: u64) -> Self {
        Self { seconds: Vec::new(), left, repeated: 0 }
    }

    /// Measures the seconds that the work takes.
    fn measure(&mut self) -> f64 {
        let start = Instant::now();
        let mut block = vec![1u64; 1 << 15];
        for step in 0..8u64 {
            for value in &mut block {
                *value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(step);
            }
        }
        black_box(&block);
        let seconds = start.elapsed().as_secs_f64();
        self.seconds.push(seconds);
        seconds
    }

    /// Returns whether the machine was disturbed before or after the last run.
    fn shows_disturbance(&self, before: f64) -> bool {
        let from = self.seconds.len().saturating_sub(Self::USUAL);
        let usual = median(&self.seconds[from..]);
        let after = self.seconds.last().copied().unwrap_or(before);
        before.max(after) > DISTURBED * usual
    }

    /// Returns whether one more repetition is allowed, and counts it.
    fn may_repeat(&mut self) -> bool {
        let may = self.left > 0;
        if may {
            self.left -= 1;
            self.repeated += 1;
        }
        may
    }
}
