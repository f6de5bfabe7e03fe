//! Progress and cancellation: the engine tells an [`Observer`] what it does and asks whether to go on.
//!
//! ```
//! use outcore::progress::{Event, Observer};
//! use std::ops::ControlFlow;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! /// Prints what each stage has done, and stops the job once it is told to.
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

use crate::error::{Error, Result};
use crate::io::check_memory;
use std::ops::ControlFlow;

/// Nodes between two reports of progress where each takes little time.
pub(crate) const REPORT_NODES: u64 = 1 << 18;

/// A step of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// Text to numbered arcs in sorted runs.
    Read,
    /// Runs to the graph file.
    Merge,
    /// Labels to communities.
    Cluster,
    /// A file of communities to labels of a graph's nodes.
    Match,
    /// Labels to measures.
    Score,
    /// A node that stands for each community.
    Represent,
    /// The groups inside communities, level by level.
    Levels,
    /// Communities to the output.
    Write,
    /// Checksums of a graph.
    Verify,
    /// A generated edge list.
    Generate,
    /// An experiment of the laboratory.
    Measure,
}

impl Stage {
    /// The name as shown and as stored in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Merge => "merge",
            Self::Cluster => "cluster",
            Self::Match => "match",
            Self::Score => "score",
            Self::Represent => "represent",
            Self::Levels => "levels",
            Self::Write => "write",
            Self::Verify => "verify",
            Self::Generate => "generate",
            Self::Measure => "measure",
        }
    }
}

/// What an [`Observer`] is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins; `total` is the work in `unit`s, when it is known.
    Begin {
        /// Which stage.
        stage: Stage,
        /// Amount of work, if known.
        total: Option<u64>,
        /// What is counted: `bytes`, `arcs`, `nodes`.
        unit: &'static str,
    },
    /// Work done in the running stage so far.
    Advance {
        /// In the unit given at the stage's begin.
        done: u64,
    },
    /// The work of the running stage has turned out to be another than was told, or nobody knows any more.
    Expect {
        /// In the unit given at the stage's begin.
        total: Option<u64>,
    },
    /// What the stage is at now, such as `sweep 3: 1,204 nodes changed`.
    Detail {
        /// One short phrase.
        text: &'a str,
    },
    /// The stage is done.
    End {
        /// One phrase that sums the stage up.
        summary: &'a str,
    },
    /// How the input was understood, or another fact that the user should see though nothing is wrong.
    Notice {
        /// One line.
        text: &'a str,
    },
    /// Something the user should know although the job goes on.
    Warning {
        /// One sentence.
        text: &'a str,
    },
}

/// Hears of progress; returning [`ControlFlow::Break`] stops the job with
/// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
///
/// Called from one thread at a time, at least every few hundred milliseconds of work.
pub trait Observer: Send + Sync {
    /// Hears `event` and says whether to go on.
    fn event(&self, event: Event<'_>) -> ControlFlow<()>;
}

/// An observer that hears nothing and never stops.
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
/// `Interrupted` if the observer asks to stop; `MemoryTooSmall` if the job holds more than its limit.
pub fn notify(observer: &dyn Observer, event: Event<'_>) -> Result<()> {
    check_memory()?;
    match observer.event(event) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted()),
    }
}
