//! The levels below the communities: groups inside communities, groups inside these, and so on.
//!
//! On its way up, a method with several levels divides each level into groups. These are kept, and
//! when the communities are final every group is cut where nodes have gone to different ones. So levels are
//! nested. Memory: 4 bytes a node and level, and 8 bytes a group for one level at a time.

use std::collections::HashMap;

/// Groups of a level, with numbers by first appearance.
struct Numbers {
    /// For each group the first parent it was met in, and its number there.
    first: Vec<Option<(u32, u32)>>,
    /// Groups that were cut.
    others: HashMap<(u32, u32), u32>,
    next: u32,
}

impl Numbers {
    fn new(groups: usize) -> Self {
        Self { first: vec![None; groups], others: HashMap::new(), next: 0 }
    }

    fn of(&mut self, parent: u32, group: u32) -> u32 {
        let next = self.next;
        let number = match &mut self.first[group as usize] {
            Some((first, number)) if *first == parent => return *number,
            Some(_) => *self.others.entry((parent, group)).or_insert(next),
            slot @ None => {
                *slot = Some((parent, next));
                next
            }
        };
        self.next += u32::from(number == next);
        number
    }
}

/// The group of every node for each level below the communities `labels`, coarsest first. `groups` has
/// the group of each node of a level in the next one up, from the graph on. Levels that divide nothing
/// are left out.
pub(super) fn levels(groups: Vec<Vec<u32>>, labels: &[u32]) -> Vec<Vec<u32>> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for level in groups {
        columns.push(match columns.last() {
            None => level,
            Some(below) => below.iter().map(|&group| level[group as usize]).collect(),
        });
    }
    columns.reverse();
    let mut count = labels.iter().max().map_or(0, |&label| label + 1);
    let mut nested: Vec<Vec<u32>> = Vec::new();
    for mut column in columns {
        let groups = column.iter().max().map_or(0, |&group| group as usize + 1);
        let mut numbers = Numbers::new(groups);
        let parents = nested.last().map_or(labels, Vec::as_slice);
        for (group, &parent) in column.iter_mut().zip(parents) {
            *group = numbers.of(parent, *group);
        }
        if numbers.next > count {
            count = numbers.next;
            nested.push(column);
        }
    }
    nested
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_nested_and_divide() {
        // Six nodes, groups {0,1} {2,3} {4} {5} below {0,1,2,3} {4} {5}; node 3 has gone to 4's community.
        let groups = vec![vec![0, 0, 1, 1, 2, 3], vec![0, 0, 1, 2]];
        let labels = [0, 0, 0, 1, 1, 1];
        let levels = levels(groups, &labels);
        assert_eq!(levels, [vec![0, 0, 0, 1, 2, 3], vec![0, 0, 1, 2, 3, 4]]);
    }

    #[test]
    fn what_divides_nothing_is_left_out() {
        assert_eq!(levels(vec![vec![0, 1, 1], vec![0, 1]], &[0, 1, 1]), Vec::<Vec<u32>>::new());
        assert_eq!(levels(Vec::new(), &[0, 0]), Vec::<Vec<u32>>::new());
    }
}
