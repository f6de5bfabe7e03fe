//! Runs a check with bounded memory: any bytes take at most the minimum limit of a job and its slack.

use outcore::budget::{MEMORY_MIN, SLACK_BYTES};
use outcore::io::Meter;

/// Runs `check` on `bytes`.
pub(crate) fn run(check: fn(&[u8]), bytes: &[u8]) {
    let before = Meter::held_bytes();
    assert!(before > 0, "the meter is not the allocator of this program");
    Meter::reset_peak();
    check(bytes);
    let peak = Meter::peak_bytes().saturating_sub(before);
    assert!(peak <= MEMORY_MIN + SLACK_BYTES, "it took {peak} bytes");
}
