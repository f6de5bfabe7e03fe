//! Messages while a job runs, all on standard error: a bar on a terminal, an occasional line
//! elsewhere, one line for each finished stage, warnings and errors.

use super::gauge::Gauge;
use super::render::{self, printable};
use super::signals::Signals;
use crate::args::{Messages, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use outcore::Error;
use outcore::progress::{Event, Observer, Stage};
use outcore::units::format_seconds;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Jobs shorter than this show no progress.
const QUIET_START: Duration = Duration::from_secs(1);
/// Time between two lines of progress where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Like [`LINE_EVERY`], with `--progress always`.
const LINE_EVERY_ALWAYS: Duration = Duration::from_secs(1);

/// Observer that writes events to the terminal, and stops the job after a signal.
pub(crate) struct Terminal {
    quiet: bool,
    verbose: bool,
    progress: Progress,
    is_terminal: bool,
    signals: Signals,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    running: Option<Gauge>,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl Terminal {
    pub(crate) fn new(messages: &Messages, signals: Signals) -> Self {
        let now = Instant::now();
        Self {
            quiet: messages.quiet,
            verbose: messages.verbose,
            progress: if messages.quiet { Progress::Never } else { messages.progress },
            is_terminal: std::io::stderr().is_terminal(),
            signals,
            started: now,
            state: Mutex::new(State { running: None, bar: None, last_line: now }),
        }
    }

    #[cfg(feature = "lab")]
    /// Returns whether the user asked for everything.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the last line of a job.
    pub(crate) fn done(&self, facts: &[String]) {
        if self.quiet {
            return;
        }
        let time = format_seconds(self.started.elapsed().as_secs_f64());
        let facts: String = facts.iter().map(|fact| format!(" · {}", printable(fact))).collect();
        say(&format!("done in {time}{facts}"));
    }

    /// Prints an error.
    pub(crate) fn error(&self, error: &Error) {
        self.state().clear_bar();
        say(&render::error(error));
    }

    /// Prints what the job was doing when it was interrupted, and what remains of it.
    pub(crate) fn interrupted(&self, error: &Error) {
        let mut state = self.state();
        state.clear_bar();
        let place = state.running.as_ref().map_or_else(String::new, |running| {
            let detail = if running.detail.is_empty() { "" } else { ", " };
            format!(" while {}{detail}{}", doing(running.stage), running.detail)
        });
        let kept = error.kept_text().map(|kept| render::fact("kept", kept)).unwrap_or_default();
        let notes: String = error.notes().iter().map(|note| render::fact("note", note)).collect();
        say(&format!("interrupted{place}{kept}{notes}"));
    }

    fn show(&self, state: &mut State) {
        let is_early = self.progress == Progress::Auto && self.started.elapsed() < QUIET_START;
        if is_early || self.progress == Progress::Never {
            return;
        }
        let Some(running) = &state.running else { return };
        if self.is_terminal {
            let bar = state.bar.get_or_insert_with(|| bar(running));
            if let Some(total) = running.total {
                bar.set_length(total);
            }
            bar.set_position(running.done);
            bar.set_message(running.text_with_detail());
            return;
        }
        let every = if self.progress == Progress::Always { LINE_EVERY_ALWAYS } else { LINE_EVERY };
        if state.last_line.elapsed() >= every {
            say(&format!("{}: {}", running.stage.name(), running.text_with_detail()));
            state.last_line = Instant::now();
        }
    }
}

impl Observer for Terminal {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let mut state = self.state();
        match &event {
            Event::Begin { .. } => {
                state.clear_bar();
                Gauge::observe(&mut state.running, &event);
            }
            Event::Advance { .. } => {
                Gauge::observe(&mut state.running, &event);
                self.show(&mut state);
            }
            Event::Expect { total } => {
                // A bar becomes a spinner if the total is no longer known, and vice versa.
                if state.running.as_ref().is_some_and(|r| r.total.is_some() != total.is_some()) {
                    state.clear_bar();
                }
                Gauge::observe(&mut state.running, &event);
            }
            Event::Detail { text } => {
                let text = printable(text);
                if self.verbose && state.running.as_ref().is_some_and(|r| r.detail != text) {
                    state.say_above_bar(&format!("  {text}"));
                }
                Gauge::observe(&mut state.running, &Event::Detail { text: &text });
                self.show(&mut state);
            }
            Event::End { summary } => {
                state.clear_bar();
                if let Some(running) = state.running.take()
                    && !self.quiet
                {
                    let time = format_seconds(running.began.elapsed().as_secs_f64());
                    let summary = printable(summary);
                    say(&format!(" {:<9} {summary:<60} {time:>7}", running.stage.name()));
                }
            }
            Event::Notice { text } if !self.quiet => state.say_above_bar(&printable(text)),
            Event::Warning { text } if !self.quiet => {
                let style = anstyle::AnsiColor::Yellow.on_default().bold();
                let text = printable(text);
                state.say_above_bar(&format!("{style}warning{style:#}: {text}"));
            }
            _ => {}
        }
        if self.signals.came() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl State {
    fn clear_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn say_above_bar(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }
}

fn bar(running: &Gauge) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(running.total, target);
    let template = match running.total {
        Some(_) => " {prefix:<9} [{bar:24}] {wide_msg}",
        None => " {prefix:<9} {spinner} {wide_msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(running.stage.name());
    bar
}

fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading",
        Stage::Merge => "merging",
        Stage::Cluster => "clustering",
        Stage::Match => "reading communities",
        Stage::Score => "scoring",
        Stage::Compare => "comparing",
        Stage::Represent => "choosing representatives",
        Stage::Levels => "dividing communities",
        Stage::Write => "writing",
        Stage::Verify => "verifying",
        Stage::Generate => "generating",
        Stage::Measure => "measuring",
        _ => "working",
    }
}

/// Prints a line to standard error; there is nowhere to report it if that is closed.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a line below a bar that may be shown.
pub(crate) fn say_apart(text: &str) {
    let below = if std::io::stderr().is_terminal() { "\n" } else { "" };
    say(&format!("{below}{text}"));
}
