//! Progress of a stage, as text for terminals and notebooks.

use outcore::progress::{Event, Stage};
use outcore::units::{format_bytes, format_short};
use std::time::{Duration, Instant};

/// Minimum measured time of work before the remaining time is shown.
const KNOWN_AFTER: Duration = Duration::from_secs(2);
/// Minimum measured share of the work before the remaining time is shown.
const KNOWN_SHARE: f64 = 0.01;

/// Progress of the running stage.
#[derive(Debug)]
pub struct Gauge {
    pub(crate) stage: Stage,
    pub(crate) total: Option<u64>,
    unit: &'static str,
    pub(crate) began: Instant,
    /// Time of the first advance, and the work done by then, possibly by an earlier job.
    first: Option<(Instant, u64)>,
    pub(crate) done: u64,
    pub(crate) detail: String,
}

impl Gauge {
    /// Updates the running stage with an event.
    pub fn observe(running: &mut Option<Self>, event: &Event<'_>) {
        match (event, running) {
            (&Event::Begin { stage, total, unit }, running) => {
                let (began, detail) = (Instant::now(), String::new());
                *running = Some(Self { stage, total, unit, began, first: None, done: 0, detail });
            }
            (Event::End { .. }, running) => *running = None,
            (&Event::Advance { done }, Some(gauge)) => {
                gauge.done = done;
                gauge.first.get_or_insert((Instant::now(), done));
            }
            (&Event::Expect { total }, Some(gauge)) => gauge.total = total,
            (Event::Detail { text }, Some(gauge)) => (*text).clone_into(&mut gauge.detail),
            _ => {}
        }
    }

    /// Returns a text such as `12.3 GiB of 31.4 GiB, 450 MiB/s, about 45s left`, without the parts that are unknown.
    pub fn text(&self) -> String {
        let is_bytes = self.unit == "bytes";
        let amount = |count: f64| {
            if is_bytes { format_bytes(count as u64) } else { format_short(count) }
        };
        let mut text = amount(self.done as f64);
        if let Some(total) = self.total {
            text += &format!(" of {}", amount(total as f64));
        }
        if !is_bytes {
            text += &format!(" {}", self.unit);
        }
        let (since, before) = self.first.unwrap_or((self.began, 0));
        let (seconds, done) = (since.elapsed(), self.done.saturating_sub(before));
        if done > 0 {
            text += &format!(", {}/s", amount(done as f64 / seconds.as_secs_f64().max(1e-3)));
        }
        if let Some(left) =
            seconds_left(seconds, done, self.total.map(|total| total - before.min(total)))
        {
            text += &format!(", about {} left", format_left(left));
        }
        text
    }

    /// Like [`Self::text`], followed by the current step of the stage.
    pub(crate) fn text_with_detail(&self) -> String {
        let comma = if self.detail.is_empty() { "" } else { ", " };
        format!("{}{comma}{}", self.text(), self.detail)
    }
}

/// Returns the remaining time of `total` work, of which `done` took `passed`; `None` if too little is known.
fn seconds_left(passed: Duration, done: u64, total: Option<u64>) -> Option<f64> {
    let (done, total) = (done as f64, total? as f64);
    let is_known = passed >= KNOWN_AFTER && done > 0.0 && done >= KNOWN_SHARE * total;
    is_known.then(|| (total - done).max(0.0) / done * passed.as_secs_f64())
}

/// Formats an estimated time, rounded to its likely precision: `45s`, `3m`, `2h 10m`.
fn format_left(seconds: f64) -> String {
    if seconds < 55.0 {
        return format!("{}s", 5 * (seconds / 5.0).ceil().max(1.0) as u64);
    }
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        0..10 => format!("{minutes}m"),
        10..60 => format!("{}m", (minutes + 2) / 5 * 5),
        _ => format!("{}h {:02}m", minutes / 60, minutes % 60 / 10 * 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_is_shown_if_it_can_be_estimated() {
        let second = Duration::from_secs(1);
        assert_eq!(seconds_left(30 * second, 300, Some(400)), Some(10.0));
        assert_eq!(seconds_left(30 * second, 300, None), None);
        assert_eq!(seconds_left(30 * second, 3, Some(400)), None);
        assert_eq!(seconds_left(second, 300, Some(400)), None);
        for (seconds, text) in [
            (0.0, "5s"),
            (41.0, "45s"),
            (59.0, "1m"),
            (200.0, "3m"),
            (1450.0, "25m"),
            (3599.0, "1h 00m"),
            (8000.0, "2h 10m"),
        ] {
            assert_eq!(format_left(seconds), text);
        }
    }

    #[test]
    fn unknown_values_are_not_shown() {
        let mut running = None;
        let mut observe = |event: Event<'_>| {
            Gauge::observe(&mut running, &event);
            running.as_ref().map(Gauge::text_with_detail)
        };
        let begin = Event::Begin { stage: Stage::Cluster, total: Some(4_560_000), unit: "arcs" };
        assert_eq!(observe(begin).unwrap(), "0 of 4.56 M arcs");
        assert_eq!(observe(Event::Advance { done: 12_345 }).unwrap(), "12.3 k of 4.56 M arcs");
        assert_eq!(observe(Event::Expect { total: None }).unwrap(), "12.3 k arcs");
        assert_eq!(observe(Event::Detail { text: "sweep 3" }).unwrap(), "12.3 k arcs, sweep 3");
        assert_eq!(observe(Event::End { summary: "" }), None);
    }
}
