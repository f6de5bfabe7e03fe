//! The experiments that write: no row is missing, each writes new files, and all write the same bytes.
#![expect(clippy::disallowed_methods, reason = "tests inspect the files left on the disk")]

use outcore::progress::Silent;
use outcore_lab::report::tables;
use outcore_lab::{Effort, Workplace, experiments};

/// Asserts what holds for every experiment: complete tables, no wrong checksum, and no missing methods except those
/// that `may_miss` names.
fn check(experiment: &outcore_lab::report::Experiment, may_miss: &[&str]) {
    assert!(!experiment.rows.is_empty());
    crate::claims::are_decided(experiment);
    for missing in &experiment.missing {
        assert!(!missing.reason.contains("checksum"), "{missing:?}");
        assert!(may_miss.iter().any(|part| missing.name.contains(part)), "{missing:?}");
    }
    for table in tables(experiment) {
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
    }
}

fn with_workplace(compile: bool, work: impl FnOnce(&Workplace<'_>)) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent);
    let workplace = workplace.expect("no other laboratory runs there").compile(compile);
    work(&workplace);
    drop(workplace);
    let left = std::fs::read_dir(directory.path()).expect("the directory still exists").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn sequential_write() {
    use experiments::sequential_write::{SequentialWriteParameters, run};
    with_workplace(false, |workplace| {
        let experiment =
            run(workplace, SequentialWriteParameters { bytes: 5 << 20, rounds: 2 }).unwrap();
        check(&experiment, &["direct", "RWF_DONTCACHE", "preallocated"]);
        assert!(!experiment.finding.is_empty());
        assert_eq!(experiment.rows.len() + experiment.missing.len(), 12);
    });
}

#[test]
fn sort() {
    use experiments::sort::{SortParameters, run};
    with_workplace(false, |workplace| {
        let parameters =
            SortParameters { edges: 130_000, seek_edges: 1_000, budget_bytes: 32 << 20, rounds: 2 };
        let experiment = run(workplace, parameters).unwrap();
        check(&experiment, &[]);
        crate::experiments::is_answered(&experiment, "larger than memory, in memory");
        assert_eq!(experiment.rows.len(), 12);
    });
}

#[test]
fn write_buffer() {
    use experiments::write_buffer::{WriteBufferParameters, run};
    let parameters = WriteBufferParameters { lines: 3_000, unbuffered_lines: 100, rounds: 2 };
    with_workplace(false, |workplace| {
        let experiment = run(workplace, parameters).unwrap();
        check(&experiment, &["{fmt}", "ofstream"]);
        crate::experiments::is_answered(&experiment, "strings, numbers");
        assert_eq!(experiment.missing.len(), 6);
    });
    with_workplace(true, |workplace| {
        check(&run(workplace, parameters).unwrap(), &["{fmt}", "ofstream"]);
    });
}
