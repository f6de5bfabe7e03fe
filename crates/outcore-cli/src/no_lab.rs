//! Stands in for `lab` in a command without the feature `lab`: takes any arguments, and says what is missing.

use crate::progress::Terminal;
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};

pub(crate) mod args {
    use std::ffi::OsString;

    /// Any arguments.
    #[derive(Debug, clap::Args)]
    pub(crate) struct Lab {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        _arguments: Vec<OsString>,
    }
}

pub(crate) fn lab(_files: &Files, _arguments: &args::Lab, _terminal: &Terminal) -> Result<()> {
    Err(Error::new(ErrorKind::Usage, "this outcore was built without the laboratory")
        .hint("build it with `--features lab`"))
}
