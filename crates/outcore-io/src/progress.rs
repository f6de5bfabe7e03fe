//! Progress and cancellation: the engine notifies an [`Observer`] of events and asks whether to continue.
//!
//! ```
//! use outcore_io::progress::{Event, Observer};
//! use std::ops::ControlFlow;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! /// Prints the summary of each stage, and stops the job on request.
//! struct Lines {
//!     stops: AtomicBool,
//! }
//!
//! impl Observer for Lines {
//!     fn event(&self, event: Event<'_>) -> ControlFlow<()> {
//!         if let Event::End { summary } = event {
//!             println!("{summary}");
//!         }
//!         match self.stops.load(Ordering::Relaxed) {
//!             true => ControlFlow::Break(()),
//!             false => ControlFlow::Continue(()),
//!         }
//!     }
//! }
//!
//! let lines = Lines { stops: AtomicBool::new(false) };
//! assert!(lines.event(Event::Advance { done: 7 }).is_continue());
//! lines.stops.store(true, Ordering::Relaxed);
//! assert!(lines.event(Event::Advance { done: 8 }).is_break());
//! ```

use crate::error::{Error, Result, Text};
use crate::io::check_memory;
use std::ops::ControlFlow;

/// Number of nodes between two progress reports, where each node takes little time.
pub const REPORT_NODES: u64 = 1 << 18;

/// Stage of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// Reads text and writes numbered arcs to sorted runs.
    Read,
    /// Merges runs into the graph file.
    Merge,
    /// Clusters the graph: labels to communities.
    Cluster,
    /// Matches a file of communities to labels of a graph's nodes.
    Match,
    /// Computes measures of labels.
    Score,
    /// Compares two results, community by community.
    Compare,
    /// Determines a representative of each community.
    Represent,
    /// Determines the groups inside communities, level by level.
    Levels,
    /// Writes the communities to the output.
    Write,
    /// Verifies the checksums of a graph.
    Verify,
    /// Generates an edge list.
    Generate,
    /// Runs an experiment of the laboratory.
    Measure,
}

impl Stage {
    /// Returns the name as shown and as stored in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Merge => "merge",
            Self::Cluster => "cluster",
            Self::Match => "match",
            Self::Score => "score",
            Self::Compare => "compare",
            Self::Represent => "represent",
            Self::Levels => "levels",
            Self::Write => "write",
            Self::Verify => "verify",
            Self::Generate => "generate",
            Self::Measure => "measure",
        }
    }
}

/// Event of a job, sent to an [`Observer`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins; `total` is the work in `unit`s, if known.
    Begin {
        /// Stage that begins.
        stage: Stage,
        /// Amount of work, if known.
        total: Option<u64>,
        /// Unit of the count: `bytes`, `arcs`, `nodes`.
        unit: &'static str,
    },
    /// Work done in the running stage so far.
    Advance {
        /// Work done, in the unit given at the beginning of the stage.
        done: u64,
    },
    /// The amount of work of the running stage has turned out to differ from the announced one, or is no
    /// longer known.
    Expect {
        /// New total, in the unit given at the beginning of the stage.
        total: Option<u64>,
    },
    /// Current activity of the stage, such as `sweep 3: 1,204 nodes changed`.
    Detail {
        /// One short phrase.
        text: &'a str,
    },
    /// The stage is done.
    End {
        /// One phrase that summarizes the stage.
        summary: &'a str,
    },
    /// How the input was interpreted, or another fact that the user should see although nothing is wrong.
    Notice {
        /// One line.
        text: &'a str,
    },
    /// Problem that the user should know about although the job continues.
    Warning {
        /// One sentence.
        text: &'a Text,
    },
}

/// Observer of progress; returning [`ControlFlow::Break`] stops the job with
/// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
///
/// Called from one thread at a time, at least every few hundred milliseconds of work.
pub trait Observer: Send + Sync {
    /// Receives `event` and returns whether to continue.
    fn event(&self, event: Event<'_>) -> ControlFlow<()>;
}

/// Observer that ignores all events and never stops a job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Passes `event` on and turns a stop into an error.
///
/// # Errors
/// `Interrupted` if the observer asks to stop; `MemoryTooSmall` if the job exceeds its memory limit.
pub fn notify(observer: &dyn Observer, event: Event<'_>) -> Result<()> {
    check_memory()?;
    match observer.event(event) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted()),
    }
}
