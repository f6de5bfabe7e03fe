//! Runs the methods of an experiment round by round, in random order, each from a verified state.
//!
//! Interleaving spreads disturbances of the machine evenly over all methods. The first method, the baseline, runs
//! twice per round: the ratio of its second run to its first shows the effect of noise alone.

use crate::meter::{Outcome, Sample, measure};
use crate::random::Random;
use crate::row::{AGAIN, Missing, Row};
use crate::state::{State, bring};
use crate::workplace::Workplace;
use outcore::Result;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// One way to do the work.
pub struct Method<'a> {
    /// Name in the table, unique in its group.
    pub name: String,
    /// Table of the experiment that it belongs to, where there are several.
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

/// Measurements of an experiment.
#[derive(Debug, Default)]
pub struct Measured {
    /// Row of each method whose state was verified in every round; the baseline first, its repetition last.
    pub rows: Vec<Row>,
    /// Methods without a row, with the reasons.
    pub missing: Vec<Missing>,
    /// Time of a fixed piece of work before each round: it shows how steady the machine was.
    pub canary_seconds: Vec<f64>,
}

/// Runs all methods `rounds` times. `methods[0]` is the baseline.
///
/// # Errors
/// The first error of a method; `Interrupted`.
pub fn run(
    workplace: &Workplace<'_>,
    mut methods: Vec<Method<'_>>,
    rounds: u32,
) -> Result<Measured> {
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); methods.len() + 1];
    let mut reasons: Vec<Option<String>> = vec![None; methods.len()];
    let mut order: Vec<usize> = (0..=methods.len()).collect();
    let mut random = Random(workplace.seed);
    let mut canary_seconds = Vec::new();
    workplace.begin(u64::from(rounds) * order.len() as u64)?;
    for round in 0..rounds {
        canary_seconds.push(canary());
        random.shuffle(&mut order);
        for (done, &slot) in order.iter().enumerate() {
            // The last slot is the baseline again.
            let number = if slot == methods.len() { 0 } else { slot };
            let method = &mut methods[number];
            workplace.detail(&method.name)?;
            if reasons[number].is_none() {
                (method.prepare)()?;
                let mut brought = match &method.file {
                    Some(path) => bring(path, method.state)?,
                    None => Ok(()),
                };
                if brought.is_ok() {
                    brought = (method.prove)()?;
                }
                match brought {
                    Ok(()) => {
                        let mut sample = measure(round, &mut method.run)?;
                        if let Some(checksum) = (method.check)()? {
                            sample.checksum = checksum;
                        }
                        samples[slot].push(sample);
                    }
                    Err(reason) => reasons[number] = Some(reason),
                }
            }
            workplace.advance(u64::from(round) * order.len() as u64 + done as u64 + 1)?;
        }
    }
    let mut measured = Measured { canary_seconds, ..Measured::default() };
    let again = samples.pop().expect("the baseline's repetition");
    let has_baseline = reasons.first().is_some_and(Option::is_none);
    for ((method, samples), reason) in methods.into_iter().zip(samples).zip(reasons) {
        match reason {
            Some(reason) => measured.missing.push(Missing { name: method.full_name(), reason }),
            None => measured.rows.push(Row::new(method.name, method.group, method.state, samples)),
        }
    }
    if let Some(first) = measured.rows.first().filter(|_| has_baseline) {
        let row = Row::new(AGAIN.into(), first.group.clone(), first.state, again);
        measured.rows.push(row);
    }
    Ok(measured)
}

/// Measures the seconds that a fixed piece of work in cache and memory takes.
fn canary() -> f64 {
    let start = Instant::now();
    let mut block = vec![1u64; 1 << 17];
    for step in 0..16u64 {
        for value in &mut block {
            *value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(step);
        }
    }
    black_box(&block);
    start.elapsed().as_secs_f64()
}
