//! Options of the messages that are printed while a command runs.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Message options")]
pub(crate) struct Messages {
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print the steps of each stage
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Show progress: a bar on a terminal, an occasional line elsewhere; `auto` waits a second
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Progress::Auto)]
    pub(crate) progress: Progress,
    /// Color messages; `auto` respects NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Applies the choice to everything printed from now on.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}
