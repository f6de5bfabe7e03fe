//! Rounds: every group has its repetition, runs that cannot begin are repeated, the order is new in each round, and what
//! ends them early keeps those before it.

use outcore::io::Files;
use outcore::progress::{Event, Observer, Silent};
use outcore::{Error, ErrorKind};
use outcore_lab::experiments::{LIST, Listed};
use outcore_lab::meter::Outcome;
use outcore_lab::report::LabReport;
use outcore_lab::rounds::{Ended, Measured, Method, run};
use outcore_lab::row::AGAIN;
use outcore_lab::state::{State, cached_share};
use outcore_lab::{Effort, LabOptions, Workplace};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

fn measured(seed: u64, methods: Vec<Method<'_>>, rounds: u32) -> Measured {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let workplace = Workplace::create(directory.path(), Effort::Quick, seed, &Silent);
    // How busy the machine is decides no test.
    let workplace = workplace.expect("no other laboratory runs there").repeat(false);
    run(&workplace, methods, rounds).expect("it runs")
}

fn method(name: &str) -> Method<'static> {
    Method::new(name, State::New, None, || Ok(Outcome::default()))
}

/// Returns a method that may begin at those of its attempts for which `may` holds.
fn sometimes<'a>(
    name: &'a str,
    attempts: &'a Cell<u32>,
    may: impl Fn(u32) -> bool + 'a,
) -> Method<'a> {
    // It takes long enough to run once per round.
    let work = || {
        std::thread::sleep(std::time::Duration::from_millis(11));
        Ok(Outcome::default())
    };
    Method::new(name, State::New, None, work).prove(move || {
        attempts.set(attempts.get() + 1);
        Ok(if may(attempts.get()) { Ok(()) } else { Err("not now".into()) })
    })
}

#[test]
fn every_group_has_the_repetition_of_its_first_row() {
    let methods = ["a", "b"].map(|group| method("x").group(group));
    let measured = measured(1, methods.into(), 4);
    let names: Vec<(&str, &str)> =
        measured.rows.iter().map(|row| (row.group.as_str(), row.name.as_str())).collect();
    assert_eq!(names, [("a", "x"), ("b", "x"), ("a", AGAIN), ("b", AGAIN)]);
    for row in &measured.rows {
        let rounds: Vec<u32> = row.samples.iter().map(|sample| sample.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3]);
    }
    assert_eq!(measured.canary_seconds.len(), 4);
}

#[test]
fn a_run_that_cannot_begin_is_tried_again_in_its_round() {
    let attempts = Cell::new(0);
    let sometimes = sometimes("sometimes", &attempts, |attempt| attempt % 2 == 0);
    let measured = measured(2, vec![method("first"), sometimes], 5);
    assert!(measured.missing.is_empty(), "{:?}", measured.missing);
    let row = measured.rows.iter().find(|row| row.name == "sometimes").expect("it has a row");
    let rounds: Vec<u32> = row.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4]);
}

#[test]
fn a_failed_round_is_made_up_for_and_its_row_stays() {
    let attempts = Cell::new(0);
    // All three attempts of the second round fail.
    let late = sometimes("late", &attempts, |attempt| !(2..=4).contains(&attempt));
    let measured = measured(3, vec![method("first"), method("other"), late], 4);
    assert!(measured.missing.is_empty(), "{:?}", measured.missing);
    let rounds = |name: &str| -> Vec<u32> {
        let row = measured.rows.iter().find(|row| row.name == name).expect("it has a row");
        row.samples.iter().map(|sample| sample.round).collect()
    };
    assert_eq!(rounds("late"), [0, 2, 3, 4], "an additional round replaces the second");
    assert_eq!(rounds("first"), [0, 1, 2, 3, 4], "with its baseline");
    assert_eq!(rounds("other"), [0, 1, 2, 3], "but without rows that lack nothing");
}

#[test]
fn a_warm_file_is_read_from_the_disk_again_in_each_round() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("file");
    Files::default().write(&path, &[1; 1 << 20]).unwrap();
    let found = RefCell::new(Vec::new());
    let work = || {
        // Long enough to run once per round, like its repetition.
        std::thread::sleep(std::time::Duration::from_millis(11));
        Ok(Outcome::default())
    };
    let warm = Method::new("x", State::Warm, Some(path.clone()), work).prepare(|| {
        found.borrow_mut().push(cached_share(&path)?);
        Ok(())
    });
    let rows = measured(1, vec![warm], 3).rows;
    assert_eq!(rows.len(), 2);
    let found = found.into_inner();
    let (cold, warm): (Vec<Option<f64>>, Vec<_>) =
        found.iter().copied().partition(|share| *share == Some(0.0));
    assert_eq!(cold.len(), 3, "{found:?}");
    assert!(warm.len() >= 3 && warm.iter().all(|share| *share == Some(1.0)), "{found:?}");
}

#[test]
fn an_error_keeps_the_rounds_before_it() {
    let failing_from = |round: u32| {
        let runs = Cell::new(0);
        let work = move || {
            runs.set(runs.get() + 1);
            std::thread::sleep(std::time::Duration::from_millis(11));
            // Once per round, like its repetition.
            if runs.get() > 2 * round {
                return Err(Error::new(ErrorKind::Io, "the disk is gone"));
            }
            Ok(Outcome::default())
        };
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
        let workplace = workplace.repeat(false);
        run(&workplace, vec![Method::new("x", State::New, None, work), method("y")], 6)
    };
    let kept = failing_from(3).unwrap();
    assert_eq!(kept.ended, Some(Ended { rounds: 3, of: 6 }));
    for row in &kept.rows {
        let rounds: Vec<u32> = row.samples.iter().map(|sample| sample.round).collect();
        assert_eq!(rounds, [0, 1, 2], "{}", row.name);
    }
    assert_eq!(kept.canary_seconds.len(), 3);
    assert_eq!(failing_from(0).unwrap_err().kind(), ErrorKind::Io);
}

/// Observer that stops after a number of runs.
struct Stopping(u64);

impl Observer for Stopping {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Advance { done } if done >= self.0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn an_interrupted_experiment_is_reported_with_its_whole_rounds() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = directory.path().to_path_buf();
    let options =
        LabOptions { directory: directory.clone(), effort: Effort::Quick, seed: 1, compile: false };
    let name = "durable-append";
    let listed: Vec<Listed> = LIST.iter().filter(|each| each.name == name).copied().collect();
    // Seven ways and a repetition.
    for (runs, rounds) in [(7, None), (8, Some(0)), (17, Some(2)), (50, Some(6))] {
        let mut last = None;
        let mut finished = |report: &LabReport| {
            last = Some(report.clone());
            Ok(())
        };
        let error = outcore_lab::run(&options, &listed, &Stopping(runs), &mut finished);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Interrupted);
        let left = Files::default().list(&directory).unwrap();
        assert!(left.is_empty(), "nothing is left behind");
        let reported = last.map(|report| report.experiments[0].clone());
        let rounds = rounds.filter(|&rounds| rounds > 0);
        assert_eq!(reported.as_ref().and_then(|each| each.ended).map(|each| each.rounds), rounds);
        let Some(experiment) = reported else { continue };
        assert_eq!(experiment.rows.len(), 8);
        assert!(experiment.rows.iter().all(|row| Some(row.samples.len() as u32) == rounds));
        let note = format!("It ended after {} of 12 rounds.", rounds.unwrap());
        assert!(experiment.notes.contains(&note), "{:?}", experiment.notes);
    }
}

#[test]
fn a_method_that_can_never_begin_is_missing_with_its_reason() {
    let attempts = Cell::new(0);
    let never = sometimes("never", &attempts, |_| false);
    let measured = measured(4, vec![method("first"), never], 6);
    assert_eq!(measured.missing.len(), 1);
    assert_eq!(measured.missing[0].reason, "not now");
    assert_eq!(attempts.get(), 3, "later rounds do not try it again");
}

#[test]
fn the_order_is_new_in_each_round_and_the_same_for_a_seed() {
    let order = |seed: u64| -> Vec<usize> {
        let made = RefCell::new(Vec::new());
        let methods = (0..9).map(|number| {
            let made = &made;
            method("x").prepare(move || {
                let mut made = made.borrow_mut();
                if made.last() != Some(&number) {
                    made.push(number);
                }
                Ok(())
            })
        });
        measured(seed, methods.collect(), 2);
        made.into_inner()
    };
    let (one, other) = (order(5), order(6));
    assert!(one.len() >= 17 && one[..9] != one[9..18.min(one.len())], "{one:?}");
    assert_ne!(one, other);
    assert_eq!(one, order(5));
}

#[test]
fn the_median_of_a_short_run_counts() {
    let runs = Cell::new(0);
    let spiking = Method::new("spiking", State::New, None, || {
        runs.set(runs.get() + 1);
        // Some runs are disturbed, never two of three.
        if runs.get() % 10 == 5 {
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        Ok(Outcome::default())
    });
    let measured = measured(7, vec![method("first"), spiking], 5);
    let row = measured.rows.iter().find(|row| row.name == "spiking").expect("it has a row");
    assert!(runs.get() >= 15, "{}", runs.get());
    let slow = row.samples.iter().filter(|sample| sample.wall_seconds > 0.02).count();
    assert_eq!(slow, 0, "{:?}", row.samples);
}
