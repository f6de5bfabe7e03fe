//! Whole jobs on a disk that fails, becomes full, or loses its power, at every operation in turn: each
//! failure is an error, a result is absent or whole, and the same command then gives the same bytes and
//! leaves nothing else.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use crate::common::cramped::{CASES, Case, Contents, GRAPH, made};
use outcore::io::sim::{Fault, Sim};
use outcore::{Error, ErrorKind};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

/// What the job makes where nothing fails.
fn expected(case: &Case) -> Contents {
    let sim = case.storage();
    case.run(&sim).unwrap();
    made(&sim)
}

/// What ends with this is not finished, or is a job's own.
fn is_temporary(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains(".part") || text.contains(".outcore")
}

/// Each result is absent or whole; a graph is there in all its files or in none.
fn check_results(found: &Contents, expected: &Contents, what: &str) {
    for (path, bytes) in found.iter().filter(|(path, _)| !is_temporary(path)) {
        assert!(expected.get(path) == Some(bytes), "{what}: `{}` is not whole", path.display());
    }
    let graph = |all: &Contents| all.keys().filter(|path| path.starts_with("/out/graph")).count();
    assert!([0, graph(expected)].contains(&graph(found)), "{what}: {:?}", found.keys());
}

/// The same command once more, on a storage that works. If it `may_exist`, a graph that has its name
/// already is not made again.
fn check_again(case: &Case, sim: &Sim, expected: &Contents, may_exist: bool, what: &str) {
    match case.run(sim) {
        Ok(_) => {}
        Err(error) if may_exist && error.message().contains("`/out/graph` exists already") => {}
        Err(error) => panic!("{what}, then: {error}"),
    }
    let found = made(sim);
    assert!(found.keys().eq(expected.keys()), "{what}, then: {:?}", found.keys());
    assert!(found == *expected, "{what}, then: another result");
}

/// An error of the storage says which file it was.
fn check_error(error: &Error, what: &str) {
    let kinds = [ErrorKind::Io, ErrorKind::DiskFull];
    assert!(kinds.contains(&error.kind()), "{what}: {error}");
    assert!(error.message().contains("`/"), "{what}: {error}");
}

/// Fails every `by`th operation of each job, from one that depends on the job: what jobs have in common fails
/// in another place in each.
fn fail_operations(by: usize, forever: bool, kind: IoErrorKind) {
    for (first, case) in CASES.iter().enumerate() {
        let expected = expected(case);
        let mut count = 0;
        for at in (first % by..).step_by(by).map(|at| at as u64) {
            let what = format!("{}, operation {at} fails", case.name);
            let sim = case.storage();
            sim.track();
            sim.set_fault(Some(Fault { at, forever, kind }));
            let done = case.run(&sim);
            if !sim.has_failed() {
                done.unwrap();
                break;
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
        }
        assert!(count * by > 100, "{}: {count} operations", case.name);
        eprintln!("{}: {count} operations failed, {kind:?}, forever: {forever}", case.name);
    }
}

#[test]
fn a_fault_in_an_operation_is_an_error_and_the_next_run_does_all() {
    fail_operations(31, false, IoErrorKind::Other);
}

#[test]
fn a_disk_that_dies_is_an_error_and_the_next_run_does_all() {
    fail_operations(37, true, IoErrorKind::StorageFull);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_fault_in_every_single_operation() {
    fail_operations(1, false, IoErrorKind::Other);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_disk_that_dies_at_every_single_operation() {
    fail_operations(1, true, IoErrorKind::StorageFull);
}

/// The process that was at work is no more.
fn reboot(sim: &Sim) {
    for path in sim.paths().iter().filter(|path| path.ends_with("manifest.json")) {
        let manifest = String::from_utf8(sim.get(path).unwrap()).unwrap();
        let process = |space, number| format!("\"process\":{space}{number},");
        let (own, dead) = (std::process::id(), u32::MAX);
        let manifest = manifest.replace(&process("", own), &process("", dead));
        sim.put(path, manifest.replace(&process(" ", own), &process(" ", dead)).as_bytes());
    }
}

/// Runs the job until the power goes off after so many steps; gives whether it went off at all.
fn run_until(case: &Case, sim: &Sim, steps: u64, seed: u64, expected: &Contents) -> bool {
    let what = format!("{}, the power goes off after step {steps}, seed {seed}", case.name);
    sim.set_power_loss(Some(steps));
    let done = case.run(sim);
    let is_off = sim.is_off();
    sim.crash(seed);
    reboot(sim);
    let found = made(sim);
    check_results(&found, expected, &what);
    if done.is_ok() {
        let is_there = |path: &PathBuf| found.contains_key(path);
        assert!(expected.keys().all(is_there), "{what}: a result that was announced is lost");
    }
    is_off
}

/// Ends each job after every `by`th step, from one that depends on the job and the seed.
fn crash_at_steps(by: usize, seeds: std::ops::Range<usize>) {
    for (first, case) in CASES.iter().enumerate() {
        let expected = expected(case);
        let mut count = 0;
        for seed in seeds.clone() {
            for step in ((first + seed) % by..).step_by(by).map(|step| step as u64) {
                let what = format!("{}, a crash after step {step}, seed {seed}", case.name);
                let sim = case.storage();
                sim.track();
                if !run_until(case, &sim, step, seed as u64 + 1000 * step, &expected) {
                    break;
                }
                check_again(case, &sim, &expected, true, &what);
                count += 1;
            }
        }
        assert!(count * by > 100, "{}: {count} steps", case.name);
        eprintln!("{}: the power went off {count} times, with seeds {seeds:?}", case.name);
    }
}

#[test]
fn a_crash_leaves_whole_results_and_the_next_run_does_all() {
    crash_at_steps(83, 0..3);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_crash_after_every_single_step() {
    crash_at_steps(1, 0..4);
}

/// What a file can come to that nobody has looked after.
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

/// Stops each job somewhere, and damages one of the files that it has left: the next run does all of it.
#[test]
fn a_damaged_file_of_a_stopped_job_changes_nothing() {
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
        for _ in 0..28 {
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
                // The only file that said whose the directory is.
                let reported = done.map(drop).unwrap_err();
                assert!(
                    reported.message().ends_with("it is not a work directory of outcore"),
                    "{reported}"
                );
                continue;
            }
            let is_reported = |text: &String| text.starts_with("begins anew: ");
            from_scratch +=
                u32::from(done.is_ok_and(|report| report.warnings.iter().any(is_reported)));
            check_again(case, &sim, &expected, true, &what);
            tried += 1;
        }
    }
    eprintln!("{tried} damaged files, of which {from_scratch} made a job begin anew");
    assert!(tried > 150 && from_scratch > 20, "{tried} {from_scratch}");
}

/// Steps are drawn so that each crash comes somewhere in what the ones before have left to do.
#[test]
fn crashes_one_after_the_other_change_nothing_either() {
    for case in &CASES {
        let expected = expected(case);
        let sim = case.storage();
        sim.set_power_loss(None);
        case.run(&sim).unwrap();
        let most = sim.step_count();
        for seed in 0..5 {
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

/// Leaves room for so many bytes, and then for more by a share of it, until there is enough.
fn fill_disk(share: u64) {
    for case in &CASES {
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
fn a_full_disk_at_any_size_is_an_error_and_the_next_run_does_all() {
    fill_disk(6);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_full_disk_at_many_sizes() {
    fill_disk(40);
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
    let case = CASES.last().unwrap();
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
