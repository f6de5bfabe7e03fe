//! Ctrl-C and other signals: the first asks the job to stop, the second ends the process immediately.

use outcore::{Error, Result};
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signal received, if any; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on.
    pub(crate) fn catch(&self) -> Result<()> {
        let came = Arc::new(AtomicBool::new(false));
        // A file larger than the shell allows is an error of the write, and does not end the process.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .map_err(|e| Error::io("catch signals for", Path::new("outcore"), e))?;
        for signal in caught() {
            // In this order, so that the shutdown sees only the flag of an earlier signal.
            flag::register_conditional_shutdown(signal, 128 + signal, came.clone())
                .and_then(|_| flag::register(signal, came.clone()))
                .and_then(|_| flag::register_usize(signal, self.number.clone(), signal as usize))
                .map_err(|e| Error::io("catch signals for", Path::new("outcore"), e))?;
        }
        Ok(())
    }

    /// Returns whether a signal was received.
    pub(crate) fn came(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }

    /// Returns the exit status as shells report it: 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM.
    pub(crate) fn exit_status(&self) -> u8 {
        let number = self.number.load(Ordering::Relaxed);
        128 + if number == 0 { SIGINT as u8 } else { number as u8 }
    }
}

/// Returns the signals that end a job.
fn caught() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    // Under `nohup` the job continues after the terminal is closed.
    #[cfg(unix)]
    if !outcore::io::is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}
