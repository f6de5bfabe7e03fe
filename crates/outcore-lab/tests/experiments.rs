//! Every experiment runs, from proved states, and its methods agree on what they read or wrote.

#![expect(clippy::disallowed_methods, reason = "the ban is for the engine")]

use outcore::progress::Silent;
use outcore_lab::{Effort, Workplace, experiments, table};

#[test]
fn random_read() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let experiment = experiments::random_read::run(&workplace).unwrap();
    assert!(!experiment.rows.is_empty(), "{:?}", experiment.missing);
    for table in table::tables(&experiment) {
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
    }
    drop(workplace);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}
