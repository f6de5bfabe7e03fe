//! Guarantees of a journal, on the simulated storage.

use outcore_io::checkpoint::*;
use outcore_io::progress::*;
use outcore_io::{Files, Storage};
use outcore_testkit::sim::Sim;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const DIRECTORY: &str = "/saved";

fn journal(sim: &Sim) -> Journal<()> {
    journal_of(&Files::new(Arc::new(sim.clone())))
}

fn journal_of(files: &Files) -> Journal<()> {
    Journal::new(files, vec![DIRECTORY.into()], Some(()), Duration::ZERO)
}

/// Saves a number, an array, and the need of a file.
fn save(journal: &mut Journal<()>, state: u64, need: &Path) {
    let saved = journal.save(|to| {
        to.need(need, 3);
        to.array((0..state as u32).map(u128::from))?;
        Ok(state)
    });
    assert_eq!(saved.unwrap(), Some(state));
}

/// Returns the state that another process finds.
fn found(sim: &Sim, observer: &dyn Observer) -> Option<(u64, Vec<u128>)> {
    let (state, mut from) = journal(sim).open(observer, "from scratch").unwrap()?;
    let numbers = from.numbers().unwrap();
    from.finish().unwrap();
    Some((state, numbers))
}

#[test]
fn files_of_a_checkpoint_remain_until_the_next_is_saved() {
    let sim = Sim::new();
    let [one, two] = ["one", "two"].map(|name| Path::new(DIRECTORY).join(name));
    sim.put(&one, b"one");
    sim.put(&two, b"two");
    sim.track();
    let files = Files::new(Arc::new(sim.clone()));
    let mut journal = journal_of(&files);
    save(&mut journal, 1, &one);
    files.discard(&one);
    assert!(sim.get(&one).is_some());
    save(&mut journal, 2, &two);
    assert!(sim.get(&one).is_none() && sim.get(&two).is_some());
    sim.crash(1);
    assert_eq!(found(&sim, &Silent), Some((2, vec![0, 1])));
    files.discard(&two);
    journal.withdraw().unwrap();
    sim.crash(1);
    assert!(found(&sim, &Silent).is_none() && !journal.is_there());
    // Another process may need the remaining file.
    sim.put(&two, b"two");
    save(&mut journal, 3, &two);
    files.discard(&two);
    drop(journal);
    assert!(sim.get(&two).is_some());
}

struct ReportedWarnings(Mutex<Vec<String>>);

impl Observer for ReportedWarnings {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Warning { text } = event {
            self.0.lock().unwrap().push(text.to_string());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_damaged_checkpoint_is_reported_and_not_used() {
    let sim = Sim::new();
    let path = Path::new(DIRECTORY).join(CHECKPOINT);
    let needed = Path::new(DIRECTORY).join("needed");
    sim.put(&needed, b"123");
    save(&mut journal(&sim), 5, &needed);
    let whole = sim.get(&path).unwrap();
    let reported = |reason: &str| {
        let observer = ReportedWarnings(Mutex::default());
        assert!(found(&sim, &observer).is_none(), "{reason}");
        let texts = observer.0.into_inner().unwrap();
        assert!(texts.len() == 1 && texts[0].starts_with("from scratch: `/saved/"), "{texts:?}");
        assert!(texts[0].contains(reason), "{texts:?}");
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        sim.put(&path, &bytes);
        reported("its checksum is wrong");
        sim.put(&path, &whole[..at]);
        reported("it");
    }
    sim.put(&path, &whole);
    sim.put(&needed, b"12");
    reported("it is truncated");
    sim.remove(&needed).unwrap();
    reported("it no longer exists");
    sim.put(&needed, b"1234");
    assert_eq!(found(&sim, &Silent), Some((5, (0..5).collect())));
}

#[test]
fn arrays_have_the_documented_bytes_however_they_are_added() {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    let (path, labels) = (Path::new("arrays"), 0..100_000u32);
    let mut expected = Vec::new();
    expected.extend(100_000u64.to_le_bytes());
    expected.extend(labels.clone().flat_map(u32::to_le_bytes));
    expected.extend(2u64.to_le_bytes());
    expected.extend([0.5, -1.0].into_iter().flat_map(f64::to_le_bytes));
    expected.extend(xxhash_rust::xxh3::xxh3_64(&expected).to_le_bytes());
    for part in [1, 70_000, 100_000] {
        let mut to = StateWriter::create(&files, path).unwrap();
        to.begin_array(100_000).unwrap();
        to.add(labels.clone().take(part)).unwrap();
        to.add(labels.clone().skip(part)).unwrap();
        to.array([0.5, -1.0].into_iter()).unwrap();
        to.finish().unwrap();
        assert_eq!(sim.get(path).as_deref(), Some(&expected[..]), "{part}");
    }
    let mut from = StateReader::open(&files, path).unwrap();
    assert!(from.numbers::<u32>().unwrap().into_iter().eq(labels));
    assert_eq!(from.few::<f64, 2>().unwrap(), [0.5, -1.0]);
    from.finish().unwrap();
    for (wrong, message) in [(0, "its numbers are inconsistent"), (9, "its checksum is wrong")] {
        let mut bytes = expected.clone();
        bytes[wrong] ^= 1;
        sim.put(path, &bytes);
        let mut from = StateReader::open(&files, path).unwrap();
        let read = from.numbers::<u32>().and_then(|_| from.few::<f64, 2>());
        let error = read.and_then(|_| from.finish()).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}
