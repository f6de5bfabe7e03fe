//! Resource usage of this process.
#![expect(unsafe_code, reason = "getrusage has no safe interface here")]

/// Counters of `getrusage` for all threads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProcessUsage {
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
}

/// Returns the current counters; zeros where there is no `getrusage`.
#[cfg(unix)]
pub(crate) fn usage() -> ProcessUsage {
    // SAFETY: an all-zero `rusage` is a valid one, and the call fills it in and keeps no address.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    ProcessUsage {
        user_seconds: seconds(usage.ru_utime),
        system_seconds: seconds(usage.ru_stime),
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

#[cfg(not(unix))]
pub(crate) fn usage() -> ProcessUsage {
    ProcessUsage::default()
}
