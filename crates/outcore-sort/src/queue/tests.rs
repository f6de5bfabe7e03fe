//! Order, spilling and faults of the queue, with budgets of a few records.

use super::*;
use outcore_io::error::ErrorKind;
use outcore_testkit::sim::{Fault, Sim};
use proptest::prelude::*;

/// Record with a place, and a number that grows with each record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Numbered {
    place: u32,
    number: u32,
}

impl Record for Numbered {
    type Key = u64;

    fn key(&self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.number)
    }
    fn encode(records: &[Self], out: &mut Vec<u8>) {
        records.iter().for_each(|record| out.extend(record.key().to_le_bytes()));
    }
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (keys, rest) = bytes.as_chunks::<8>();
        out.extend(
            keys.iter()
                .map(|&key| u64::from_le_bytes(key))
                .map(|key| Self { place: (key >> 32) as u32, number: key as u32 }),
        );
        (keys.len() == count && rest.is_empty()).then_some(())
    }
}

impl Placed for Numbered {
    fn place(&self) -> u32 {
        self.place
    }
    fn first_key(place: u32) -> u64 {
        u64::from(place) << 32
    }
}

/// Step of a test: records are added this far ahead, or places are taken.
#[derive(Debug, Clone)]
enum Step {
    Add { ahead: u64, count: u32 },
    Take(u64),
}

fn steps() -> impl Strategy<Value = (u64, Vec<Step>)> {
    let places =
        prop_oneof![1u64..9, 1u64..5000, Just(1 << 11), Just((1 << 22) + 7), Just(1 << 32)];
    places.prop_flat_map(|places| {
        let ahead = prop_oneof![0..places.min(4), 0..places.min(3000), 0..places];
        let add = (ahead, prop_oneof![1u32..4, 1u32..600]);
        let step = prop_oneof![
            3 => add.prop_map(|(ahead, count)| Step::Add { ahead, count }),
            1 => (0..places.min(5000)).prop_map(Step::Take),
        ];
        (Just(places), prop::collection::vec(step, 0..60))
    })
}

/// Runs the steps, and then takes all that is left below a place not far ahead; returns what was added and taken.
fn run(
    sim: &Sim,
    places: u64,
    steps: &[Step],
    budget: u64,
) -> Result<(Vec<Numbered>, Vec<Numbered>, u64)> {
    let files = Files::new(Arc::new(sim.clone()));
    let mut queue = MonotoneQueue::new(&files, Path::new("/queue"), places, 40_000, budget);
    let (mut added, mut taken, mut number) = (Vec::new(), Vec::new(), 0);
    for step in steps {
        match *step {
            Step::Add { ahead, count } => {
                for _ in 0..count {
                    let place = queue.next_place() + ahead;
                    if place < places {
                        let record = Numbered { place: place as u32, number };
                        queue.push(record)?;
                        added.push(record);
                    }
                    number += 1;
                }
            }
            Step::Take(count) => {
                let end = queue.next_place() + count;
                while queue.take_below(end, &mut taken)? {}
            }
        }
    }
    // Far places are reached in steps that skip nothing.
    let last = added.iter().map(|record| u64::from(record.place) + 1).max().unwrap_or(0);
    if last < queue.next_place() + 300_000 {
        while queue.take_below(last, &mut taken)? {}
    }
    let end = queue.next_place();
    added.retain(|record| u64::from(record.place) < end);
    Ok((added, taken, queue.run_count()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn records_leave_by_place_in_the_order_of_their_arrival(
        (places, steps) in steps(),
        budget in prop_oneof![200u64..4000, 0u64..100_000, Just(u64::MAX / 8)],
    ) {
        let sim = Sim::new();
        let (mut added, taken, _) = run(&sim, places, &steps, budget).unwrap();
        added.sort_by_key(|record| record.place);
        prop_assert_eq!(taken, added);
        prop_assert_eq!(sim.paths(), Vec::<PathBuf>::new(), "runs are deleted");
    }
}

#[test]
fn a_fault_in_any_operation_is_an_error_and_leaves_no_wrong_order() {
    let step = |at: u64| [Step::Add { ahead: 1 + at * 370 % 9000, count: 20 }, Step::Take(at % 30)];
    let steps: Vec<Step> = (0..25).flat_map(step).collect();
    let (expected, taken, run_count) = run(&Sim::new(), 100_000, &steps, 1500).unwrap();
    assert!(run_count > 3 && taken.len() == expected.len());
    for at in 0.. {
        let sim = Sim::new();
        sim.set_fault(Some(Fault { at, forever: false, kind: std::io::ErrorKind::Other }));
        match run(&sim, 100_000, &steps, 1500) {
            Ok((_, found, _)) => {
                assert!(!sim.has_failed(), "fault {at} was swallowed");
                assert_eq!(found, taken);
                break;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
        }
    }
}
