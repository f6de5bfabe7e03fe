//! The experiments, one a module: each gives its methods to [`crate::rounds`] and says what came out.

pub mod positions;
pub mod random_read;
pub mod random_update;

use crate::Workplace;
use crate::report::Experiment;
use outcore::Result;

/// An experiment that can be run by its name.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// As on the command line and in reports.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Workplace<'_>) -> Result<Experiment>,
}

const fn listed(
    name: &'static str,
    about: &'static str,
    run: fn(&Workplace<'_>) -> Result<Experiment>,
) -> Listed {
    Listed { name, about, run }
}

/// All experiments, in the order in which `all` runs them. A line here is a subcommand as well.
pub const LIST: &[Listed] = &[listed(
    "random-read",
    "Random reads: sorted or not, buffers, ways to seek",
    random_read::run,
)];
