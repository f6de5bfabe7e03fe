//! What is printed while a command runs, and how.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Message options")]
pub(crate) struct Messages {
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print what each stage is at
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Show progress: a bar on a terminal, a line now and then elsewhere; `auto` waits a second
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Progress::Auto)]
    pub(crate) progress: Progress,
    /// Color messages; `auto` follows NO_COLOR and CLICOLOR_FORCE
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
    /// Holds for everything printed from now on.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}
