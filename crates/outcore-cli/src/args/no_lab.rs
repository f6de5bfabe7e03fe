//! Replacement for `lab` in a command without the feature `lab`: takes any arguments.

use std::ffi::OsString;

/// Any arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Lab {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}
