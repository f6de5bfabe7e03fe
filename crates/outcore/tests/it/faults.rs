//! Whole jobs on a disk that fails, becomes full, or loses power. Each failure is an error, a result is absent or
//! complete, and the same command then produces the same bytes and leaves nothing else.
//!
//! `make test` tries one operation of each kind (stage, verb, name of the file) in the first job that has it;
//! `make test-long` tries every operation of every job.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use crate::common::cramped::{CASES, Case, Contents, GRAPH, made};
use outcore::{Error, ErrorKind};
use outcore_testkit::sim::{Fault, Sim, Step, Verb};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind as IoErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the files that the job writes if nothing fails.
fn expected(case: &Case) -> Contents {
    let sim = case.storage();
    case.run(&sim).unwrap();
    made(&sim)
}

/// Returns whether a file is unfinished or belongs to a job.
fn is_temporary(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains(".part") || text.contains(".outcore")
}

/// Checks that each result is absent or complete, and that all files of a graph exist or none.
fn check_results(found: &Contents, expected: &Contents, what: &str) {
    for (path, bytes) in found.iter().filter(|(path, _)| !is_temporary(path)) {
        assert!(expected.get(path) == Some(bytes), "{what}: `{}` is not complete", path.display());
    }
    let graph = |all: &Contents| all.keys().filter(|path| path.starts_with("/out/graph")).count();
    assert!([0, graph(expected)].contains(&graph(found)), "{what}: {:?}", found.keys());
}

/// Runs the same command once more, on a storage that works. If `may_exist`, the graph may already be in place.
fn check_again(case: &Case, sim: &Sim, expected: &Contents, may_exist: bool, what: &str) {
    match case.run(sim) {
        Ok(_) => {}
        Err(error) if may_exist && error.message().contains("`/out/graph` already exists") => {}
        Err(error) => panic!("{what}, then: {error}"),
    }
    let found = made(sim);
    assert!(found.keys().eq(expected.keys()), "{what}, then: {:?}", found.keys());
    let others: Vec<_> = found.iter().filter(|(path, bytes)| expected[*path] != **bytes).collect();
    assert!(others.is_empty(), "{what}, then another: {others:?}");
}

/// Checks that an error of the storage names the file.
fn check_error(error: &Error, what: &str) {
    let kinds = [ErrorKind::Io, ErrorKind::DiskFull];
    assert!(kinds.contains(&error.kind()), "{what}: {error}");
    assert!(error.message().contains("`/"), "{what}: {error}");
}

/// Which steps of the jobs are tried.
#[derive(Clone, Copy)]
enum Places {
    /// Every single one: hours.
    All,
    /// Of each kind (stage, verb and name of the file), one step in the first job that has the kind, drawn by this seed.
    Kinds(u64),
}

/// Steps of one kind in a job.
type Kind = Vec<Step>;

/// Returns for each job the kinds of steps that no earlier job has. Jobs with few steps come first.
fn new_kinds() -> &'static [Vec<Kind>] {
    static KINDS: OnceLock<Vec<Vec<Kind>>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut seen = BTreeSet::new();
        let of_job = |case: &Case| {
            let sim = case.storage();
            sim.track();
            sim.record();
            case.run(&sim).unwrap();
            let mut kinds: BTreeMap<_, Kind> = BTreeMap::new();
            for step in sim.steps() {
                let name = step.path.file_name().unwrap_or_default().to_string_lossy();
                let name = name.replace(|c: char| c.is_ascii_digit(), "");
                kinds.entry((step.stage.clone(), step.verb, name)).or_default().push(step);
            }
            kinds.retain(|kind, _| seen.insert(kind.clone()));
            kinds.into_values().collect()
        };
        CASES.iter().map(of_job).collect()
    })
}

/// Returns whether a step changes the storage: after others, a crash or a disk that dies leaves what it would before.
fn changes(step: &Step) -> bool {
    !matches!(step.verb, Verb::Open | Verb::Read | Verb::Lock)
}

/// Calls `try_at` with the numbers of the steps to try, which `number` gives; it returns false after the last step of the
/// job. Checks that nearly all drawn steps were reached: threads may change the number of the last ones.
fn for_places(
    job: usize,
    places: Places,
    number: impl Fn(&Step) -> Option<u64>,
    mut try_at: impl FnMut(u64) -> bool,
) {
    let Places::Kinds(seed) = places else {
        let count = (0..).take_while(|&at| try_at(at)).count();
        return assert!(count > 100, "{}: {count} steps", CASES[job].name);
    };
    let (mut drawn_count, mut reached) = (0, 0);
    for (at, kind) in new_kinds()[job].iter().enumerate() {
        let numbers: Vec<u64> = kind.iter().filter_map(&number).collect();
        if !numbers.is_empty() {
            let drawn = mixed(seed ^ (at as u64) << 32) % numbers.len() as u64;
            drawn_count += 1;
            reached += usize::from(try_at(numbers[drawn as usize]));
        }
    }
    assert!(10 * reached >= 9 * drawn_count, "{}: {reached} of {drawn_count}", CASES[job].name);
}

/// Returns a number without order (the finalizer of SplitMix64).
fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// Fails operations of each job, one at a time.
fn fail_operations(jobs: Range<usize>, places: Places, forever: bool, kind: IoErrorKind) {
    for job in jobs {
        let case = &CASES[job];
        let expected = expected(case);
        let mut count = 0;
        let number = |step: &Step| step.operation.filter(|_| !forever || changes(step));
        for_places(job, places, number, |at| {
            let what = format!("{}, operation {at} fails", case.name);
            let sim = case.storage();
            sim.track();
            sim.set_fault(Some(Fault { at, forever, kind }));
            let done = case.run(&sim);
            if !sim.has_failed() {
                done.unwrap();
                return false;
            }
            count += 1;
            check_results(&made(&sim), &expected, &what);
            sim.set_fault(None);
            match done {
                Ok(_) => assert!(made(&sim) == expected, "{what}"),
                Err(error) => {
                    check_error(&error, &what);
                    check_again(case, &sim, &expected, forever, &what);
                }
            }
            true
        });
        eprintln!("{}: {count} operations failed, {kind:?}, forever: {forever}", case.name);
    }
}

/// Number of the jobs that have few steps; those after them update a clustering, and cluster a graph.
const SHORT_JOBS: usize = 16;
const ALL_JOBS: Range<usize> = 0..CASES.len();
const LONG_JOBS: Range<usize> = SHORT_JOBS..CASES.len();

#[test]
fn a_fault_in_an_operation_is_an_error_and_the_next_run_completes_the_job() {
    fail_operations(0..SHORT_JOBS, Places::Kinds(1), false, IoErrorKind::Other);
}

#[test]
fn a_fault_in_an_operation_of_a_long_job_is_an_error_and_the_next_run_completes_it() {
    fail_operations(LONG_JOBS, Places::Kinds(1), false, IoErrorKind::Other);
}

#[test]
fn a_disk_that_dies_is_an_error_and_the_next_run_completes_the_job() {
    fail_operations(0..SHORT_JOBS, Places::Kinds(2), true, IoErrorKind::StorageFull);
}

#[test]
fn a_disk_that_dies_during_a_long_job_is_an_error_and_the_next_run_completes_it() {
    fail_operations(LONG_JOBS, Places::Kinds(2), true, IoErrorKind::StorageFull);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_fault_in_every_single_operation() {
    fail_operations(ALL_JOBS, Places::All, false, IoErrorKind::Other);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_disk_that_dies_at_every_single_operation() {
    fail_operations(ALL_JOBS, Places::All, true, IoErrorKind::StorageFull);
}

/// Replaces the process in manifests with one that does not run, as after a reboot.
fn reboot(sim: &Sim) {
    for path in sim.paths().iter().filter(|path| path.ends_with("manifest.json")) {
        let manifest = String::from_utf8(sim.get(path).unwrap()).unwrap();
        let process = |space, number| format!("\"process\":{space}{number},");
        let (own, dead) = (std::process::id(), u32::MAX);
        let manifest = manifest.replace(&process("", own), &process("", dead));
        sim.put(path, manifest.replace(&process(" ", own), &process(" ", dead)).as_bytes());
    }
}

/// Runs the job until the power fails after `steps` steps. Returns whether it failed at all.
fn run_until(case: &Case, sim: &Sim, steps: u64, seed: u64, expected: &Contents) -> bool {
    let what = format!("{}, the power fails after step {steps}, seed {seed}", case.name);
    sim.set_power_loss(Some(steps));
    let done = case.run(sim);
    let is_off = sim.is_off();
    sim.crash(seed);
    reboot(sim);
    let found = made(sim);
    check_results(&found, expected, &what);
    if done.is_ok() {
        let is_there = |path: &PathBuf| found.contains_key(path);
        assert!(expected.keys().all(is_there), "{what}: the result of a finished job is lost");
    }
    is_off
}

/// Ends each of some jobs after steps, one at a time.
fn crash_at_steps(jobs: Range<usize>, places: Places, seeds: Range<u64>) {
    for job in jobs {
        let case = &CASES[job];
        let expected = expected(case);
        let mut count = 0;
        for seed in seeds.clone() {
            let number = |step: &Step| changes(step).then_some(step.step);
            for_places(job, places, number, |step| {
                let what = format!("{}, a crash after step {step}, seed {seed}", case.name);
                let sim = case.storage();
                sim.track();
                if !run_until(case, &sim, step, seed + 1000 * step, &expected) {
                    return false;
                }
                check_again(case, &sim, &expected, true, &what);
                count += 1;
                true
            });
        }
        eprintln!("{}: the power failed {count} times, with seeds {seeds:?}", case.name);
    }
}

#[test]
fn a_crash_leaves_complete_results_and_the_next_run_completes_the_job() {
    crash_at_steps(0..SHORT_JOBS, Places::Kinds(3), 0..1);
}

#[test]
fn a_crash_of_a_long_job_leaves_complete_results_and_the_next_run_completes_it() {
    crash_at_steps(LONG_JOBS, Places::Kinds(3), 0..1);
}

/// A seed at a time, so that they run beside each other.
mod a_crash_after_every_single_step {
    use super::{ALL_JOBS, Places, crash_at_steps};

    #[test]
    #[ignore = "takes hours: `make test-long`"]
    fn with_seed_0() {
        crash_at_steps(ALL_JOBS, Places::All, 0..1);
    }

    #[test]
    #[ignore = "takes hours: `make test-long`"]
    fn with_seed_1() {
        crash_at_steps(ALL_JOBS, Places::All, 1..2);
    }

    #[test]
    #[ignore = "takes hours: `make test-long`"]
    fn with_seed_2() {
        crash_at_steps(ALL_JOBS, Places::All, 2..3);
    }

    #[test]
    #[ignore = "takes hours: `make test-long`"]
    fn with_seed_3() {
        crash_at_steps(ALL_JOBS, Places::All, 3..4);
    }
}

/// Damages a file in one of several ways.
fn damage(sim: &Sim, path: &Path, draw: u64) {
    let mut bytes = sim.get(path).unwrap();
    let at = (draw / 7) as usize % bytes.len().max(1);
    match draw % 7 {
        0 => bytes.clear(),
        1 => bytes.truncate(at),
        2 => bytes.fill(0),
        3 => bytes.extend_from_slice(b"something else"),
        4 => bytes = b"{}".to_vec(),
        _ if bytes.is_empty() => bytes.push(1),
        _ => bytes[at] ^= 1 << (draw % 8),
    }
    sim.put(path, &bytes);
}

/// Stops each job at some steps and damages one of the files left behind; the next run completes the job.
fn damage_files(of_short: usize, of_long: usize) {
    let (mut tried, mut from_scratch) = (0, 0);
    for (first, case) in CASES.iter().enumerate() {
        let expected = expected(case);
        let sim = case.storage();
        sim.set_power_loss(None);
        case.run(&sim).unwrap();
        let most = sim.step_count();
        let mut state = 7 + first as u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..if first < SHORT_JOBS { of_short } else { of_long } {
            let sim = case.storage();
            sim.track();
            let step = next(most);
            run_until(case, &sim, step, next(1000), &expected);
            let of_the_job = |path: &PathBuf| path.to_string_lossy().contains(".outcore");
            let left: Vec<_> = sim.paths().into_iter().filter(of_the_job).collect();
            if left.is_empty() {
                continue;
            }
            let path = &left[next(left.len() as u64) as usize];
            damage(&sim, path, next(1 << 30));
            let what = format!("{}, step {step}, `{}` damaged", case.name, path.display());
            let done = case.run(&sim);
            if path.ends_with("CACHEDIR.TAG")
                && !left.contains(&path.with_file_name("manifest.json"))
            {
                // The only file that identified the owner of the directory.
                let reported = done.map(drop).unwrap_err();
                assert!(
                    reported.message().ends_with("it is not a work directory of outcore"),
                    "{reported}"
                );
                continue;
            }
            let is_reported = |text: &String| text.starts_with("starts from scratch: ");
            from_scratch += u32::from(done.is_ok_and(|warnings| warnings.iter().any(is_reported)));
            check_again(case, &sim, &expected, true, &what);
            tried += 1;
        }
    }
    eprintln!("{tried} damaged files, of which {from_scratch} made a job start from scratch");
    assert!(tried > 10 * of_short && from_scratch as usize > of_short, "{tried} {from_scratch}");
}

#[test]
fn a_damaged_file_of_a_stopped_job_changes_nothing() {
    damage_files(6, 2);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn many_damaged_files_of_stopped_jobs_change_nothing() {
    damage_files(100, 100);
}

/// Steps are drawn at random, so that crashes also hit the work that earlier crashes left unfinished.
fn crash_repeatedly(of_short: u64, of_long: u64) {
    for (job, case) in CASES.iter().enumerate() {
        let expected = expected(case);
        let sim = case.storage();
        sim.set_power_loss(None);
        case.run(&sim).unwrap();
        let most = sim.step_count();
        for seed in 0..if job < SHORT_JOBS { of_short } else { of_long } {
            let sim = case.storage();
            sim.track();
            let mut state: u64 = seed;
            for crash in 0..6 {
                state = (state + crash).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                run_until(case, &sim, (state >> 33) % most, state, &expected);
            }
            check_again(
                case,
                &sim,
                &expected,
                true,
                &format!("{}, six crashes, seed {seed}", case.name),
            );
        }
    }
}

#[test]
fn repeated_crashes_change_nothing() {
    crash_repeatedly(3, 1);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn many_repeated_crashes_change_nothing() {
    crash_repeatedly(20, 20);
}

/// Limits the disk to a number of bytes that grows by a fraction of itself, until it is enough.
fn fill_disk(of_short: u64, of_long: u64) {
    for (job, case) in CASES.iter().enumerate() {
        let share = if job < SHORT_JOBS { of_short } else { of_long };
        let expected = expected(case);
        let (mut room, mut tries) = (0, 0);
        loop {
            let what = format!("{}, room for {room} bytes", case.name);
            let sim = case.storage();
            sim.track();
            sim.set_full_after(Some(room));
            let done = case.run(&sim);
            check_results(&made(&sim), &expected, &what);
            sim.set_full_after(None);
            match done {
                Ok(_) => break assert!(made(&sim) == expected, "{what}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::DiskFull, "{what}: {error}");
                    check_error(&error, &what);
                    assert!(error.hint_text().is_some(), "{what}: {error}");
                    check_again(case, &sim, &expected, false, &what);
                }
            }
            (room, tries) = (room + 256 + room / share, tries + 1);
        }
        assert!(tries > share, "{}: {tries} sizes", case.name);
        eprintln!("{}: full at {tries} sizes up to {room} bytes", case.name);
    }
}

#[test]
fn a_full_disk_at_any_size_is_an_error_and_the_next_run_completes_the_job() {
    fill_disk(3, 2);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_full_disk_at_many_sizes() {
    fill_disk(40, 40);
}

#[test]
fn interrupted_and_short_transfers_change_no_byte() {
    for case in &CASES {
        let expected = expected(case);
        for (short, interrupts) in
            [(true, None), (false, Some(1)), (true, Some(2)), (true, Some(3))]
        {
            let sim = case.storage();
            sim.set_short_transfers(short);
            sim.set_interrupts(interrupts);
            case.run(&sim).unwrap();
            assert!(made(&sim) == expected, "{}: {short} {interrupts:?}", case.name);
        }
    }
}

/// Flips one bit in every `by`th byte of each file of a graph.
fn flip_bits(by: usize) {
    let on_graph = |case: &&Case| case.name == "cluster a graph at two thresholds";
    let case = CASES.iter().find(on_graph).unwrap();
    let expected = expected(case);
    let paths = case.storage().paths();
    let (mut errors, mut same) = (0, 0);
    for (first, path) in paths.iter().filter(|path| path.starts_with(GRAPH)).enumerate() {
        for at in (first..case.storage().get(path).unwrap().len()).step_by(by) {
            let sim = case.storage();
            sim.damage(path, at, 1 << (at % 8));
            let what = format!("byte {at} of `{}`", path.display());
            match case.run(&sim) {
                Ok(_) => {
                    same += 1;
                    assert!(made(&sim) == expected, "{what}: another result");
                }
                Err(error) => {
                    errors += 1;
                    assert_eq!(error.kind(), ErrorKind::CorruptFile, "{what}: {error}");
                    assert!(error.message().contains(GRAPH), "{what}: {error}");
                    assert!(error.hint_text().is_some(), "{what}: {error}");
                    check_results(&made(&sim), &expected, &what);
                }
            }
        }
    }
    assert!(errors > 9 * same, "{errors} errors, {same} the same");
    eprintln!("a flipped bit at {} places: {errors} errors, {same} the same result", errors + same);
}

#[test]
fn a_flipped_bit_in_a_graph_is_an_error_or_changes_nothing() {
    flip_bits(97);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_flipped_bit_in_every_single_byte() {
    flip_bits(1);
}

/// The sample has the kinds of operations of all stages, and is small.
#[test]
fn the_sample_visits_each_stage_and_verb() {
    let kinds: Vec<&Kind> = new_kinds().iter().flatten().collect();
    let stages: BTreeSet<_> = kinds.iter().map(|kind| &kind[0].stage).collect();
    let verbs: BTreeSet<_> = kinds.iter().map(|kind| kind[0].verb).collect();
    let counts: Vec<usize> = new_kinds().iter().map(Vec::len).collect();
    eprintln!("{counts:?} kinds, {stages:?}");
    assert!(verbs.len() == 10 && stages.len() >= 9, "{verbs:?} in {stages:?}");
    assert!((300..1000).contains(&kinds.len()), "{} kinds", kinds.len());
}
