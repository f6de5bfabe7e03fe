//! Replacement for `lab` in a command without the feature `lab`: returns an error that names the feature.

use crate::args::lab::Lab;
use crate::screen::Terminal;
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};

pub(crate) fn lab(_files: &Files, _arguments: &Lab, _terminal: &Terminal) -> Result<()> {
    Err(Error::new(ErrorKind::Usage, "this outcore was built without the laboratory")
        .hint("build it with `--features lab`"))
}
