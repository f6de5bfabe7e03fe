//! Tuning of a simulated disk of known speed finds that speed and the best settings.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use outcore::error::ErrorKind;
use outcore::io::{Confidence, DiskProfile, Files, TransferProfile, Tuning};
use outcore::progress::{Event, Observer, Silent};
use outcore_lab::tune::{Clock, Tuned, rows, slowness, tune};
use outcore_lab::{Effort, Random};
use outcore_testkit::sim::{Curve, Sim, Speed};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Clock of a simulated disk; each interval is off by a relative error of up to `noise`.
struct Virtual {
    sim: Sim,
    noise: f64,
    /// Last time of the disk, last time reported here, and the source of errors.
    last: Mutex<(f64, f64, Random)>,
}

impl Clock for Virtual {
    fn seconds(&self) -> f64 {
        let (last, reported, random) = &mut *self.last.lock().unwrap();
        let now = self.sim.seconds();
        let error = random.below(2001) as f64 / 1000.0 - 1.0;
        *reported += (now - *last) * (1.0 + self.noise * error);
        *last = now;
        *reported
    }
}

fn tuned(speed: Speed, noise: f64, seed: u64) -> Tuned {
    tuned_with_time(speed, noise, seed).0
}

/// Tunes a simulated disk; returns the seconds that it was busy as well.
fn tuned_with_time(speed: Speed, noise: f64, seed: u64) -> (Tuned, f64) {
    let sim = Sim::new();
    sim.set_speed(speed);
    let files = Files::new(Arc::new(sim.clone()));
    let clock = Virtual { sim: sim.clone(), noise, last: Mutex::new((0.0, 0.0, Random(seed))) };
    let found = tune(&files, Path::new("/disk"), Effort::Quick, &clock, &Silent).unwrap();
    assert!(sim.paths().is_empty(), "nothing is left: {:?}", sim.paths());
    (found, sim.seconds())
}

fn curve(latency_seconds: f64, rate: fn(usize) -> f64, depth: usize, most: f64) -> Curve {
    Curve { latency_seconds, bytes_per_second: rate, depth, bytes_per_second_most: most }
}

fn hard_disk() -> Speed {
    let curve = curve(8e-3, |_| 1.5e8, 1, 1.5e8);
    Speed { read: curve, write: curve }
}

fn solid_state() -> Speed {
    let curve = |latency| curve(latency, |_| 5e8, 4, 5.5e8);
    Speed { read: curve(80e-6), write: curve(30e-6) }
}

fn fast() -> Speed {
    let curve = |rate, most| curve(20e-6, rate, 64, most);
    Speed { read: curve(|_| 1.2e9, 3e9), write: curve(|_| 0.9e9, 2e9) }
}

/// Returns a speed at which reads of 256 KiB and writes of 4 MiB are far faster than all others.
fn strange() -> Speed {
    let read = curve(50e-6, |bytes| if bytes == 256 << 10 { 2e9 } else { 4e8 }, 1, 2e9);
    let write = curve(50e-6, |bytes| if bytes == 4 << 20 { 2e9 } else { 4e8 }, 1, 2e9);
    Speed { read, write }
}

/// Returns the settings according to the rule: the fewest bytes in flight within 5 % of the best.
fn expected(curve: &Curve, default: usize) -> (usize, usize) {
    let rate = |block: usize, depth| block as f64 / curve.seconds(block, depth);
    let blocks = (0..8).map(|shift| (64 << 10) << shift);
    let all: Vec<(usize, usize)> = blocks
        .flat_map(|block| [1, 2, 4, 8].map(|depth| (block, depth)))
        .filter(|(block, depth)| block * depth <= 16 << 20)
        .collect();
    let best = all.iter().map(|&(block, depth)| rate(block, depth)).fold(0.0, f64::max);
    let good = all.iter().filter(|&&(block, depth)| rate(block, depth) >= 0.95 * best);
    let &(block, depth) = good.min_by_key(|(block, depth)| (block * depth, *depth)).unwrap();
    let gains = rate(block, depth) > 1.05 * rate(default, 1);
    if gains { (block, depth) } else { (default, 1) }
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.05, "{what}: {found}, not {expected}");
}

fn check(found: &TransferProfile, curve: &Curve, default: usize, is_line: bool) {
    let setting = (found.block_bytes, found.depth);
    assert_eq!(setting, expected(curve, default));
    assert_eq!(found.confidence, Confidence::Measured);
    let rate = found.bytes_per_second.unwrap().value;
    assert_near(rate, setting.0 as f64 / curve.seconds(setting.0, setting.1), "rate");
    if is_line {
        let latency = found.latency_seconds.unwrap().value;
        assert_near(latency, curve.latency_seconds, "latency");
        let stream = found.stream_bytes_per_second.unwrap().value;
        assert_near(stream, (curve.bytes_per_second)(1), "bandwidth");
    }
}

fn check_all(speed: Speed, noise: f64, is_line: bool) {
    let Tuned { profile, notes } = tuned(speed, noise, 3);
    let rows = rows(&profile);
    assert!(notes.is_empty(), "{notes:?}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    check(&profile.read, &speed.read, Tuning::READ_BYTES, is_line);
    check(&profile.write, &speed.write, Tuning::WRITE_BYTES, is_line);
    let random = profile.random_read.unwrap();
    assert_near(random.seconds_at_depth_1.value, speed.read.seconds(4096, 1), "random read");
}

#[test]
fn the_speed_of_a_hard_disk_is_recovered() {
    check_all(hard_disk(), 0.0, true);
    check_all(hard_disk(), 0.01, true);
}

/// Runs take as long on a slow disk as on a fast one, as long as they have two requests a thread.
#[test]
fn a_slow_disk_is_tuned_in_bounded_time() {
    let curve = curve(5e-4, |_| 5e7, 4, 1e8);
    let (_, seconds) = tuned_with_time(Speed { read: curve, write: curve }, 0.0, 3);
    assert!(seconds < 70.0, "{seconds}");
}

#[test]
fn the_speed_of_a_solid_state_disk_is_recovered() {
    check_all(solid_state(), 0.0, true);
}

#[test]
fn the_speed_of_a_disk_that_needs_many_requests_is_recovered() {
    check_all(fast(), 0.0, true);
}

#[test]
fn the_best_settings_of_a_strange_disk_are_found() {
    check_all(strange(), 0.0, false);
}

/// Two consecutive measurements agree or report that the machine is too noisy.
#[test]
fn confident_results_are_reproducible() {
    let settings = |profile: &DiskProfile| {
        [&profile.read, &profile.write]
            .map(|found| (found.confidence, found.block_bytes, found.depth))
    };
    let mut trusted = 0;
    for noise in [0.02, 0.1, 0.4] {
        let two = [1, 2].map(|seed| tuned(solid_state(), noise, seed));
        let [one, two] = [settings(&two[0].profile), settings(&two[1].profile)];
        for (one, two) in one.into_iter().zip(two) {
            let sure = one.0 == Confidence::Measured && two.0 == Confidence::Measured;
            trusted += u32::from(sure);
            assert!(!sure || one == two, "{noise}: {one:?} and {two:?}");
        }
    }
    assert!(trusted > 0);
}

#[test]
fn a_real_directory_is_measured_and_left_empty() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (files, clock) = (Files::default(), outcore_lab::tune::WallClock::default());
    let found = tune(&files, directory.path(), Effort::Quick, &clock, &Silent).unwrap();
    for row in &rows(&found.profile) {
        println!("{}", row.join(" | "));
    }
    assert_eq!(files.list(directory.path()).unwrap(), []);
    let path = directory.path().join("profile.json");
    found.profile.store(&files, &path).unwrap();
    assert_eq!(DiskProfile::load(&files, &path).unwrap(), found.profile);
}

/// Stops after a number of events.
struct StopAfter(AtomicU64);

impl Observer for StopAfter {
    fn event(&self, _: Event<'_>) -> ControlFlow<()> {
        let left = self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The time of a small job is positive and finite; nothing is left behind, also if it is interrupted.
#[test]
fn the_machine_is_measured_by_a_small_job() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let files = Files::default();
    let found = slowness(&files, directory.path(), Effort::Quick, &Silent).unwrap();
    println!("{found:?}");
    assert!(found.low > 0.0 && found.low <= found.value && found.value <= found.high);
    assert!(found.high.is_finite());
    for events in [0, 1, 10, 100] {
        let stop = StopAfter(AtomicU64::new(events));
        let error = slowness(&files, directory.path(), Effort::Quick, &stop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(files.list(directory.path()).unwrap(), []);
    }
}
