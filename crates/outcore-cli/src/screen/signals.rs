//! Ctrl-C and friends: the first signal asks the job to stop, the second ends the process at once.

use outcore::{Error, Result};
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal that came, if any; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on.
    pub(crate) fn catch(&self) -> Result<()> {
        let came = Arc::new(AtomicBool::new(false));
        // A file that becomes larger than the shell allows is an error of the write, not the end.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .map_err(|e| Error::io("catch signals for", Path::new("outcore"), e))?;
        for signal in caught() {
            // In this order: the shutdown sees the flag of an earlier signal only.
            flag::register_conditional_shutdown(signal, 128 + signal, came.clone())
                .and_then(|_| flag::register(signal, came.clone()))
                .and_then(|_| flag::register_usize(signal, self.number.clone(), signal as usize))
                .map_err(|e| Error::io("catch signals for", Path::new("outcore"), e))?;
        }
        Ok(())
    }

    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }

    /// 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM, as shells report them.
    pub(crate) fn exit_status(&self) -> u8 {
        let number = self.number.load(Ordering::Relaxed);
        128 + if number == 0 { SIGINT as u8 } else { number as u8 }
    }
}

/// The signals that end a job.
fn caught() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    // Under `nohup` the job goes on when the terminal is gone.
    #[cfg(unix)]
    if !outcore::io::is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}
