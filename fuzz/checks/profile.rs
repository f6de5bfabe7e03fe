//! Any bytes are a disk profile with valid settings, or an error, and never a panic.

use outcore::ErrorKind;
use outcore::budget::Limits;
use outcore::io::{DiskProfile, Files, ValidIf};
use outcore_testkit::sim::Sim;
use std::path::Path;
use std::sync::Arc;

/// Loads `bytes` as a profile, and reads everything from it that a job reads.
pub(crate) fn check(bytes: &[u8]) {
    let sim = Sim::new();
    sim.put("profile", bytes);
    let files = Files::new(Arc::new(sim));
    let profile = match DiskProfile::load(&files, Path::new("profile")) {
        Ok(profile) => profile,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}");
            assert!(error.hint_text().is_some());
            return;
        }
    };
    let tuning = profile.tuning();
    for transfer in [tuning.read, tuning.write] {
        assert!((4096..=256 << 20).contains(&transfer.block_bytes), "{tuning:?}");
        assert!((1..=64).contains(&transfer.depth), "{tuning:?}");
        assert!(transfer.bytes_per_second.is_none_or(|rate| rate > 0.0), "{tuning:?}");
    }
    let limits = Limits { memory_bytes: 96 << 20, threads: 2 };
    let allowed = limits.allowed(tuning).write;
    assert!(allowed.block_bytes * allowed.depth <= 64 << 20, "{allowed:?}");
    let seconds = tuning.seconds(1 << 30, 1 << 30);
    assert!(seconds.is_none_or(|seconds| seconds >= 0.0), "{seconds:?}");
    let now = ValidIf::now(&files, Path::new("."));
    assert!(profile.valid_if.broken_by(&now).is_none(), "a simulated disk has no identity");
    if let Some(device) = &profile.valid_if.device {
        assert!(!device.id().contains(['/', '.']), "{}", device.id());
    }
    // Storing and loading it again changes nothing.
    profile.store(&files, Path::new("again")).expect("the simulated storage works");
    let again = DiskProfile::load(&files, Path::new("again")).expect("stored above");
    assert_eq!(again.tuning(), tuning);
}
