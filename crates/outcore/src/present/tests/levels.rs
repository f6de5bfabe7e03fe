//! Compares levels below communities with their definition in memory, on generated groups.

use super::super::*;
use super::{bench, files, presented};
use crate::cluster::Grouping;
use crate::io::{Array, Files};
use crate::progress::Silent;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const NONE: u32 = Presented::NONE;

/// Returns the group of each node for each level, coarsest first, split to be nested and numbered by first appearance,
/// and the number of groups of each level.
fn columns(groupings: &[Vec<u32>], labels: &[u32]) -> (Vec<Vec<u32>>, Vec<u64>) {
    let mut followed: Vec<Vec<u32>> = Vec::new();
    for groups in groupings {
        followed.push(match followed.last() {
            None => groups.clone(),
            Some(below) => below.iter().map(|&group| groups[group as usize]).collect(),
        });
    }
    let mut nested: Vec<Vec<u32>> = vec![labels.to_vec()];
    let mut counts =
        vec![labels.iter().map(|&label| u64::from(label.wrapping_add(1))).max().unwrap_or(0)];
    for groups in followed.into_iter().rev() {
        let parents = &nested[nested.len() - 1];
        let mut numbers = HashMap::new();
        let mut column = Vec::new();
        for (&parent, group) in parents.iter().zip(groups) {
            let next = numbers.len() as u32;
            column.push(match parent {
                NONE => NONE,
                _ => *numbers.entry((parent, group)).or_insert(next),
            });
        }
        if numbers.len() as u64 > counts[counts.len() - 1] {
            counts.push(numbers.len() as u64);
            nested.push(column);
        }
    }
    nested.remove(0);
    counts.remove(0);
    (nested, counts)
}

/// Like [`columns`], but numbered within parents.
fn counted_inside(labels: &[u32], columns: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut parents = labels;
    let mut all = Vec::new();
    for column in columns {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let inside = |(&parent, &group): (&u32, &u32)| {
            let children = children.entry(parent).or_default();
            let known = children.iter().position(|&child| child == group);
            let at = known.unwrap_or_else(|| {
                children.push(group);
                children.len() - 1
            });
            if parent == NONE { NONE } else { at as u32 }
        };
        all.push(parents.iter().zip(column).map(inside).collect());
        parents = column;
    }
    all
}

fn write(files: &Files, groupings: &[Vec<u32>]) -> Vec<Grouping> {
    let each = groupings.iter().enumerate().map(|(level, groups)| {
        let path = Path::new("kept").join(level.to_string());
        let numbers = Array::write(files, &path, groups.iter().copied()).unwrap();
        let group_count = groups.iter().max().map_or(0, |&most| u64::from(most) + 1);
        Grouping { groups: numbers, group_count, checksum: 0 }
    });
    each.collect()
}

/// Returns the columns and group counts that [`divide`] produces.
fn divided(
    groupings: &[Vec<u32>],
    presented: &Presented,
    form: LevelForm,
) -> (Vec<Vec<u32>>, Vec<u64>) {
    let files = files();
    let kept = write(&files, groupings);
    let bench = bench(&files, 0);
    let levels = divide(&bench, &kept, presented, form).unwrap();
    let counts = levels.group_counts().to_vec();
    let mut lines = levels.lines(&bench).unwrap();
    let mut columns = vec![Vec::new(); counts.len()];
    let mut numbers = Vec::new();
    for _ in presented.labels() {
        numbers.clear();
        lines.next(&mut numbers).unwrap();
        assert_eq!(numbers.len(), counts.len());
        columns.iter_mut().zip(&numbers).for_each(|(column, &number)| column.push(number));
    }
    levels.remove(&bench);
    assert!(files.list(Path::new("scratch/levels")).unwrap_or_default().is_empty());
    assert!(
        kept.iter().all(|grouping| files.is_regular(&grouping.groups.path)),
        "others may need them"
    );
    (columns, counts)
}

/// Generates dense groups, each level grouping the one before, and communities that contain most groups.
fn some_levels() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<u32>)> {
    (1..400usize, prop::collection::vec(1..6u32, 0..5), any::<u64>(), 0..30u64).prop_map(
        |(count, shrinks, mut state, strays)| {
            let mut next = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % below
            };
            let (mut groupings, mut nodes) = (Vec::new(), count as u64);
            let mut labels: Vec<u32> = (0..count as u32).collect();
            for shrink in shrinks {
                let bound = nodes.div_ceil(u64::from(shrink));
                let mut groups: Vec<u32> = (0..nodes).map(|_| next(bound) as u32).collect();
                let mut used = groups.clone();
                used.sort_unstable();
                used.dedup();
                let dense = |group: &mut u32| *group = used.binary_search(group).unwrap() as u32;
                groups.iter_mut().for_each(dense);
                nodes = used.len() as u64;
                labels.iter_mut().for_each(|label| *label = groups[*label as usize]);
                groupings.push(groups);
            }
            let communities = 1 + next(20);
            for label in &mut labels {
                *label = match next(100) < strays {
                    true => next(communities) as u32,
                    false => (u64::from(*label) % communities) as u32,
                };
            }
            (groupings, labels)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn levels_match_their_definition(
        (groupings, labels) in some_levels(),
        min_size in 1..12u32,
        singletons in any::<bool>(),
    ) {
        let small = if singletons { Small::Singletons } else { Small::Drop };
        let presented = presented(&labels, min_size, small);
        let (expected, counts) = columns(&groupings, presented.labels());
        let mut parents = presented.labels();
        for column in &expected {
            let mut parent_of = HashMap::new();
            for (&parent, &group) in parents.iter().zip(column) {
                prop_assert_eq!(*parent_of.entry(group).or_insert(parent), parent, "nested");
            }
            parents = column;
        }
        let found = divided(&groupings, &presented, LevelForm::Columns);
        prop_assert_eq!(&found, &(expected.clone(), counts.clone()));
        let inside = counted_inside(presented.labels(), &expected);
        prop_assert_eq!(divided(&groupings, &presented, LevelForm::Tree), (inside, counts));
    }
}

#[test]
fn groups_are_split_where_their_nodes_are_in_different_communities() {
    // Groups {0,1} {2,3} {4} {5} below {0,1,2,3} {4} {5}; node 3 has moved to the community of 4 and 5.
    let groupings = [vec![0, 0, 1, 1, 2, 3], vec![0, 0, 1, 2]];
    let presented = presented(&[0, 0, 0, 1, 1, 1], 1, Small::Drop);
    let (columns, counts) = divided(&groupings, &presented, LevelForm::Columns);
    assert_eq!(columns, [vec![0, 0, 0, 1, 2, 3], vec![0, 0, 1, 2, 3, 4]]);
    assert_eq!(counts, [4, 5]);
    let (columns, _) = divided(&groupings, &presented, LevelForm::Tree);
    assert_eq!(columns, [vec![0, 0, 0, 0, 1, 2], vec![0, 0, 1, 0, 0, 0]]);
}

#[test]
fn levels_that_divide_nothing_are_left_out() {
    let nothing = (Vec::new(), Vec::new());
    for form in [LevelForm::Columns, LevelForm::Tree] {
        let two = presented(&[0, 1, 1], 1, Small::Drop);
        assert_eq!(divided(&[vec![0, 1, 1], vec![0, 1]], &two, form), nothing);
        assert_eq!(divided(&[], &presented(&[0, 0], 1, Small::Drop), form), nothing);
        assert_eq!(divided(&[], &presented(&[], 1, Small::Drop), form), nothing);
        let dropped = presented(&[0, 0, 1], 5, Small::Drop);
        assert_eq!(divided(&[vec![0, 1, 2]], &dropped, form), nothing);
    }
}

/// With more nodes than a block of any file has words.
#[test]
fn columns_of_many_blocks_are_read_in_parallel() {
    let count = 300_000u32;
    let groupings = [
        (0..count).map(|node| node / 3).collect(),
        (0..count / 3).map(|group| group / 5).collect(),
        (0..count / 15).map(|group| group / 2).collect::<Vec<u32>>(),
    ];
    let labels: Vec<u32> =
        (0..count).map(|node| (node / 60) ^ u32::from(node % 1000 == 7)).collect();
    let presented = presented(&labels, 1, Small::Drop);
    let expected = columns(&groupings, presented.labels());
    assert_eq!(expected.1.len(), 3);
    assert_eq!(divided(&groupings, &presented, LevelForm::Columns), expected);
}

/// Observer that stops at the event with this number.
struct StopAtEvent(std::sync::atomic::AtomicU32);

impl crate::progress::Observer for StopAtEvent {
    fn event(&self, _event: crate::progress::Event<'_>) -> std::ops::ControlFlow<()> {
        match self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) {
            0 => std::ops::ControlFlow::Break(()),
            _ => std::ops::ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_stop_is_obeyed() {
    let files = files();
    let kept = write(&files, &[vec![0, 0, 1, 1]]);
    let presented = presented(&[0, 0, 0, 1], 1, Small::Drop);
    for event in 0..3 {
        let bench = Workbench { observer: &StopAtEvent(event.into()), ..bench(&files, 0) };
        let error = divide(&bench, &kept, &presented, LevelForm::Columns).err().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::Interrupted);
    }
    let bench = Workbench { observer: &Silent, ..bench(&files, 0) };
    divide(&bench, &kept, &presented, LevelForm::Columns).unwrap();
}
