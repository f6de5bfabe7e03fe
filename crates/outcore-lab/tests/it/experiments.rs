//! Every experiment runs from verified states, and its methods agree on the data they read or wrote.
#![expect(clippy::disallowed_methods, reason = "tests inspect the files left on the disk")]
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use outcore::progress::Silent;
use outcore_lab::experiments::positions::PositionParameters;
use outcore_lab::report::{Experiment, answers, tables};
use outcore_lab::{Effort, Workplace, experiments};

const TINY: PositionParameters = PositionParameters {
    bytes: (1 << 20) + 4096,
    count: 50,
    warm_count: 70,
    rounds: 2,
    seconds: 60.0,
};

/// Returns the number of operations in each row of a group.
fn operations(group: &str) -> u64 {
    if group == "warm" { 70 } else { 50 }
}

/// Runs an experiment in a new directory and checks that no files are left in it.
fn run(experiment: impl Fn(&Workplace<'_>) -> outcore::Result<Experiment>) -> Experiment {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let experiment = experiment(&workplace).unwrap();
    drop(workplace);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
    for table in tables(&experiment) {
        assert!(table.rows.iter().all(|cells| cells.len() == table.headings.len()));
    }
    for missing in &experiment.missing {
        assert!(!missing.reason.contains("checksum"), "{missing:?}");
    }
    crate::claims::are_decided(&experiment);
    experiment
}

/// Asserts that the experiment says what to use for its task in these circumstances.
pub(crate) fn is_answered(experiment: &Experiment, cases: &str) {
    let all = answers(std::slice::from_ref(experiment));
    let answer = all.iter().find(|answer| answer.experiment == experiment.name).unwrap();
    let found: Vec<&str> = answer.advice.iter().map(|advice| advice.when.as_str()).collect();
    // Files without direct I/O lack the last ones.
    assert!(!found.is_empty() && cases.starts_with(&found.join(", ")), "{found:?}");
}

/// Asserts that each of `names` has a row in the group or is listed as missing.
fn assert_complete(experiment: &Experiment, group: &str, names: &[String]) {
    for name in names {
        let full = format!("{name} ({group})");
        assert!(
            experiment.rows.iter().any(|row| row.group == group && row.name == *name)
                || experiment.missing.iter().any(|missing| missing.name == full),
            "no {full}: {:?}",
            experiment.missing
        );
    }
}

/// Returns every combination of one word from each list, in order.
fn product(lists: &[&[&str]]) -> Vec<String> {
    lists.iter().fold(vec![String::new()], |names, words| {
        let with = |name: &String, word: &&str| match name.as_str() {
            "" => (*word).to_owned(),
            _ => format!("{name}, {word}"),
        };
        names.iter().flat_map(|name| words.iter().map(move |word| with(name, word))).collect()
    })
}

const ORDERS: &[&str] = &["unsorted", "sorted"];
const BUFFERS: &[&str] = &["buffered", "unbuffered"];

#[test]
fn random_read() {
    let experiment = run(|workplace| experiments::random_read::run_with(workplace, &TINY));
    let mut names =
        product(&[&["fread"], ORDERS, BUFFERS, &["SEEK_SET", "SEEK_CUR"], &["rb", "rb+"]]);
    names.extend(product(&[&["pread", "mmap", "mmap MADV_RANDOM"], ORDERS]));
    names.push("scan, whole file".into());
    assert_eq!(names.len(), 16 + 6 + 1);
    assert_complete(&experiment, "warm", &names);
    names.extend(product(&[&["pread direct"], ORDERS]));
    names.extend(product(&[&["io_uring direct"], ORDERS, &["depth 1", "depth 16", "depth 64"]]));
    names.push("scan, whole file, io_uring direct".into());
    assert_complete(&experiment, "cold", &names);
    assert_eq!(experiment.rows[0].name, "fread, unsorted, buffered, SEEK_SET, rb");
    for row in &experiment.rows {
        assert!(row.samples.iter().all(|sample| sample.operations == operations(&row.group)));
    }
    is_answered(&experiment, "from the disk, in memory");
}

#[test]
fn random_update() {
    let experiment = run(|workplace| experiments::random_update::run_with(workplace, &TINY));
    let seeks: &[&str] = &["SEEK_SET", "SEEK_BOTH", "SEEK_CUR"];
    let mut names = product(&[&["fread+fwrite"], ORDERS, BUFFERS, seeks]);
    names.extend(product(&[&["pread+pwrite", "mmap"], ORDERS]));
    names.extend(["blocks of 4 KiB".to_owned(), "blocks of 1 MiB".to_owned()]);
    let reads = "fread alone, unsorted, buffered, SEEK_SET";
    names.push(reads.into());
    assert_eq!(names.len(), 12 + 4 + 2 + 1);
    for group in ["warm", "cold"] {
        assert_complete(&experiment, group, &names);
    }
    assert_eq!(experiment.rows[0].name, "fread+fwrite, unsorted, buffered, SEEK_SET");
    for row in &experiment.rows {
        for sample in &row.samples {
            assert_eq!(sample.sync_seconds.is_some(), row.name != reads);
            assert_eq!(sample.operations, operations(&row.group));
        }
    }
    is_answered(&experiment, "from the disk, in memory");
}

#[test]
fn a_slow_disk_gets_fewer_positions() {
    let slow = PositionParameters { seconds: 0.0, ..TINY };
    let experiment = run(|workplace| experiments::random_read::run_with(workplace, &slow));
    assert_eq!(experiment.parameters["reads, cold"], "32");
    assert!(experiment.notes.iter().any(|note| note.contains("fewer positions")));
    for row in experiment.rows.iter().filter(|row| row.group == "cold") {
        assert!(row.samples.iter().all(|sample| sample.operations == 32));
    }
}

#[test]
fn sequential_read() {
    use experiments::sequential_read::{SequentialReadParameters, run};
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let workplace = workplace.compile(true);
    let parameters = SequentialReadParameters { blocks: 2000, rounds: 2, probe_bytes: 1 << 20 };
    let experiment = run(&workplace, parameters).unwrap();
    let both = [
        "read, two calls per block",
        "fread",
        "fread, 4 KiB buffer",
        "fread, 32 MiB buffer",
        "ifstream (C++)",
        "mmap",
        "mmap, populated",
        "mmap, advised",
        "mmap, shared",
        "read 64 KiB",
        "read 1 MiB",
        "pread 1 MiB",
        "pread 1 MiB, 2 threads",
        "pread 1 MiB, 4 threads",
        "the engine's reader",
    ];
    let direct = [
        "pread 1 MiB, direct",
        "pread 4 MiB, direct",
        "pread 4 MiB, direct, large pages",
        "io_uring 1 MiB x 4, direct",
        "io_uring 2 MiB x 4, direct, large pages",
        "the engine's reader, direct",
    ];
    for name in both {
        has(&experiment, name, "warm", name);
        has(&experiment, name, "cold", name);
    }
    direct.iter().for_each(|name| has(&experiment, name, "cold", name));
    has(&experiment, "mmap, second pass", "warm", "mmap, second pass");
    has(&experiment, "read 1 MiB", "reclaimed", "read 1 MiB (reclaimed)");
    agrees(&experiment);
    assert!(experiment.finding.contains("engine"), "{}", experiment.finding);
    is_answered(&experiment, "from the disk, in memory");
    drop(workplace);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

/// Asserts that the row exists or is listed as missing. A failed compilation is not accepted as a reason.
fn has(experiment: &Experiment, name: &str, group: &str, missing_as: &str) {
    let row = experiment.rows.iter().any(|row| row.name == name && row.group == group);
    let reason = experiment.missing.iter().any(|missing| {
        missing.name.starts_with(missing_as) && !missing.reason.contains("does not compile")
    });
    assert!(row || reason, "{name}, {group}: {:?}", experiment.missing);
}

/// Asserts that no row was removed because of its checksum.
fn agrees(experiment: &Experiment) {
    crate::claims::are_decided(experiment);
    for missing in &experiment.missing {
        assert!(!missing.reason.contains("checksum"), "{missing:?}");
    }
    for row in &experiment.rows {
        assert!(row.samples.iter().all(|sample| sample.wall_seconds > 0.0), "{}", row.name);
    }
}

#[test]
fn transfer_size() {
    use experiments::transfer_size::{TransferSizeParameters, run};
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let workplace = workplace.compile(true);
    let sizes = vec![8, 1024, 4096, 64 << 10, 1 << 20];
    let parameters =
        TransferSizeParameters { sizes, file_bytes: 2 << 20, operations_max: 300, rounds: 2 };
    let experiment = run(&workplace, &parameters).unwrap();
    for series in [
        "read",
        "pread",
        "fread",
        "fread with 64 KiB",
        "fread_unlocked with 64 KiB",
        "Fortran sequential",
        "Fortran stream",
        "Fortran direct",
        "aio_read",
        "io_uring",
        "mmap and copy",
    ] {
        for size in ["8 B", "1 KiB", "4 KiB", "64 KiB", "1 MiB"] {
            has(&experiment, &format!("{series} {size}"), size, series);
        }
    }
    agrees(&experiment);
    assert_eq!(experiment.charts.len(), 1);
    assert_eq!(
        experiment.rows.iter().filter(|row| row.point.is_none()).count(),
        5,
        "the repetition of each size"
    );
    for word in ["`read` takes", "aio_read", "within 5 %"] {
        assert!(experiment.finding.contains(word), "{}", experiment.finding);
    }
    drop(workplace);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn programs_that_were_not_requested_are_missing() {
    use experiments::transfer_size::{TransferSizeParameters, run};
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workplace = Workplace::create(directory.path(), Effort::Quick, 1, &Silent).unwrap();
    let sizes = vec![64];
    let parameters =
        TransferSizeParameters { sizes, file_bytes: 1 << 20, operations_max: 10, rounds: 1 };
    let experiment = run(&workplace, &parameters).unwrap();
    let missing = experiment.missing.iter().filter(|missing| missing.reason.contains("--compile"));
    assert_eq!(missing.count(), 3, "{:?}", experiment.missing);
    assert!(experiment.notes.iter().all(|note| note.starts_with("Limit: ")));
}

#[test]
fn overlap() {
    use experiments::overlap::{OverlapParameters, run as overlap};
    let experiment =
        run(|workplace| overlap(workplace, OverlapParameters { bytes: 4 << 20, rounds: 2 }));
    let ways = ["read, then compute", "a second thread reads", "aio_read", "io_uring"];
    for name in ways.into_iter().chain(["mmap", "mmap, advised"]) {
        has(&experiment, name, "cold", name);
    }
    for way in ways {
        let name = format!("{way}, direct");
        has(&experiment, &name, "direct", &name);
    }
    for name in ["computing", "reading, cold", "reading, direct"] {
        has(&experiment, name, "alone", name);
    }
    agrees(&experiment);
    is_answered(&experiment, "through the page cache, past it");
}

#[test]
fn queue_depth() {
    use experiments::queue_depth::{QueueDepthParameters, run as queue_depth};
    let parameters =
        QueueDepthParameters { bytes: 1 << 20, reads: 40, depths: vec![1, 2, 64], rounds: 2 };
    let experiment = run(|workplace| queue_depth(workplace, &parameters));
    for (series, depths) in [
        ("io_uring", &[1, 2, 64][..]),
        ("threads with pread", &[1, 2]),
        ("two threads with io_uring", &[2, 64]),
    ] {
        for depth in depths {
            has(&experiment, &format!("{series}, {depth} at a time"), "", series);
        }
    }
    agrees(&experiment);
    for row in &experiment.rows {
        assert_eq!(row.times.as_ref().map(|times| times.operations()), Some(80), "{}", row.name);
    }
    assert!(experiment.rows.is_empty() || experiment.finding.contains("reads per second"));
}

#[test]
fn read_ahead() {
    use experiments::read_ahead::{ReadAheadParameters, run as read_ahead};
    let experiment =
        run(|workplace| read_ahead(workplace, ReadAheadParameters { bytes: 4 << 20, rounds: 2 }));
    for group in ["front to back", "every fourth block", "in random order"] {
        for advice in ["no advice", "sequential", "random", "each read announced"] {
            let there = cfg!(target_os = "linux") || advice == "no advice";
            assert!(!there || experiment.missing.is_empty(), "{:?}", experiment.missing);
            has(&experiment, advice, group, advice);
        }
    }
    agrees(&experiment);
    let bytes = |group: &str| {
        let row = experiment.rows.iter().find(|row| row.group == group).unwrap();
        row.samples[0].bytes
    };
    assert_eq!(bytes("front to back"), 4 << 20);
    assert_eq!(bytes("in random order"), 1 << 20);
    assert!(experiment.finding.contains("Read in random order, "), "{}", experiment.finding);
}

#[test]
fn cached_share() {
    use experiments::cached_share::{CachedShareParameters, run as cached_share};
    let missing = vec![0.0, 25.0, 100.0];
    let parameters = CachedShareParameters { bytes: 2 << 20, reads: 64, missing, rounds: 2 };
    let experiment = run(|workplace| cached_share(workplace, &parameters));
    for group in ["pages in random order", "1 MiB at a time, in order"] {
        for name in ["all in memory", "25 % not in memory", "nothing in memory"] {
            has(&experiment, name, group, name);
        }
    }
    agrees(&experiment);
    let read = |name: &str| experiment.row(name).and_then(|row| row.samples[0].read_bytes);
    if let (Some(all), Some(nothing)) = (read("all in memory"), read("nothing in memory")) {
        assert_eq!(all, 0, "what is in memory is not read from the disk");
        assert!(nothing >= 64 * 4096, "what is not, is");
    }
    assert!(experiment.finding.contains("For pages in random order"), "{}", experiment.finding);
}

#[test]
fn durable_append() {
    use experiments::durable_append::{DurableAppendParameters, run as durable_append};
    let experiment = run(|workplace| {
        durable_append(workplace, DurableAppendParameters { records: 10, rounds: 2 })
    });
    for name in [
        "append, fsync",
        "append, fdatasync",
        "append, O_DSYNC",
        "overwrite, fdatasync",
        "append, fdatasync after 4",
        "append, fdatasync after 16",
        "append, one fsync at the end",
    ] {
        assert!(experiment.row(name).is_some(), "{name}: {:?}", experiment.missing);
    }
    agrees(&experiment);
    let calls = |name: &str| experiment.row(name).and_then(|row| row.samples[0].system_calls);
    assert_eq!(calls("append, fsync"), Some(2 + 10 + 10));
    assert_eq!(calls("append, fdatasync after 4"), Some(2 + 10 + 3));
    is_answered(&experiment, "each at once, some at a time");
}
