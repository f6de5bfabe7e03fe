//! Whether something else used the machine while it was measured: the first thing to know about any figure.
//!
//! The system reports how long processes waited, and a virtual machine how much time its host gave to others; the canary
//! of [`crate::rounds`] and rows that do the same show what neither reports. What the laboratory itself causes does not
//! count: its reads and writes make processes wait for the disk, so that pressure counts only before the run.

use super::experiment::LabReport;
use crate::environment::STOLEN;
use crate::rounds::DISTURBED;
use crate::statistics::quantile;

/// Percentage of ten seconds in which some process waited, above which the machine counts as busy.
const PRESSURE: f64 = 20.0;
/// Percentage of the time stolen by the host above which it counts as busy.
const STOLEN_PERCENT: f64 = 5.0;
/// Share of slow rounds above which it counts as busy.
const SLOW_ROUNDS: f64 = 0.1;

/// Describes why the machine counts as busy; `None` if it was quiet.
pub fn busy(report: &LabReport) -> Option<String> {
    let reasons = [pressure(report), stolen(report), slow_rounds(report), unequal(report)];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "The machine was busy: {}. What is unsure may become sure on a quiet one.",
            reasons.join("; ")
        )
    })
}

/// Returns the percentage in a fact, such as `96.00` of `cpu 96.00 %`.
fn percentage(fact: &str) -> Option<f64> {
    fact.strip_suffix(" %")?.rsplit(' ').next()?.parse().ok()
}

fn pressure(report: &LabReport) -> Option<String> {
    let facts = report.fact("pressure before").split(", ");
    let high = facts.filter(|fact| percentage(fact).is_some_and(|share| share > PRESSURE));
    let high: Vec<&str> = high.collect();
    let text = || format!("before the run, processes waited for {} of the time", high.join(", "));
    (!high.is_empty()).then(text)
}

fn stolen(report: &LabReport) -> Option<String> {
    let share = report.fact(STOLEN);
    let is_high = percentage(share).is_some_and(|share| share > STOLEN_PERCENT);
    is_high.then(|| format!("the host gave {share} of the processors to others"))
}

/// Compares the canary in each round with the fast rounds of all experiments.
fn slow_rounds(report: &LabReport) -> Option<String> {
    let seconds = report.experiments.iter().flat_map(|each| &each.canary_seconds);
    let seconds: Vec<f64> = seconds.copied().collect();
    let usual = quantile(&seconds, 0.1);
    let slow = seconds.iter().filter(|&&round| round > DISTURBED * usual).count();
    (slow as f64 > SLOW_ROUNDS * seconds.len() as f64).then(|| {
        format!(
            "in {slow} of {} rounds, a fixed piece of work took {DISTURBED}x its time",
            seconds.len()
        )
    })
}

fn unequal(report: &LabReport) -> Option<String> {
    let names = report.experiments.iter().filter(|each| !each.unequal().is_empty());
    let names: Vec<&str> = names.map(|each| each.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("rows that do the same differ in {}", names.join(", ")))
}
