//! Levels of a tree as groupings in files, and back.

use crate::finish::communities::Communities;
use crate::store::hierarchy::Hierarchy;
use crate::tree::{ModuleTree, NONE};
use outcore_io::Files;
use outcore_io::error::Result;

/// Keeps the levels below the top as groupings, finest first; returns the labels of the modules at the top, each its
/// smallest node. A branch that ends above the finest level repeats its leaf there.
pub(super) fn keep_levels(tree: ModuleTree, kept: &mut Hierarchy) -> Result<Vec<u32>> {
    let depths = tree.depths();
    let ModuleTree { parents, leaves } = tree;
    let (mut tops, mut first) = (vec![NONE; parents.len()], vec![NONE; parents.len()]);
    for (module, &parent) in parents.iter().enumerate() {
        tops[module] = if parent == NONE { module as u32 } else { tops[parent as usize] };
    }
    for (node, &leaf) in (0..).zip(&leaves) {
        let first = &mut first[tops[leaf as usize] as usize];
        *first = (*first).min(node);
    }
    let label = |leaf: u32| first[tops[leaf as usize] as usize];
    let most = depths.iter().copied().max().unwrap_or(0);
    if most > 1 {
        // Modules of the present level, and their numbers.
        let mut present: Vec<u32> = (0..parents.len() as u32).collect();
        let mut is_leaf = vec![false; parents.len()];
        leaves.iter().for_each(|&leaf| is_leaf[leaf as usize] = true);
        present.retain(|&module| is_leaf[module as usize]);
        let mut numbers = vec![NONE; parents.len()];
        (0..).zip(&present).for_each(|(number, &module)| numbers[module as usize] = number);
        let of_nodes: Vec<u32> = leaves.iter().map(|&leaf| numbers[leaf as usize]).collect();
        kept.keep(&of_nodes, present.len())?;
        drop(of_nodes);
        for depth in (2..most).rev() {
            let above = |module: u32| match depths[module as usize] > depth {
                true => parents[module as usize],
                false => module,
            };
            let mut next: Vec<u32> = present.iter().map(|&module| above(module)).collect();
            next.sort_unstable();
            next.dedup();
            (0..).zip(&next).for_each(|(number, &module)| numbers[module as usize] = number);
            let groups: Vec<u32> =
                present.iter().map(|&module| numbers[above(module) as usize]).collect();
            kept.keep(&groups, next.len())?;
            present = next;
        }
    }
    let mut labels = leaves;
    labels.iter_mut().for_each(|leaf| *leaf = label(*leaf));
    Ok(labels)
}

/// Returns the tree of final communities and their groupings. A group whose nodes are in several modules of the level above
/// is split.
pub(super) fn tree_of(files: &Files, found: &Communities) -> Result<ModuleTree> {
    let tops = found.labels.in_memory().unwrap_or_default();
    let mut tree = ModuleTree::flat(tops.to_vec(), found.community_count() as usize);
    // Groups of the nodes on each level, coarsest last.
    let mut levels: Vec<Vec<u32>> = Vec::new();
    for grouping in &found.groupings {
        let groups = grouping.groups.read_all(files)?;
        levels.push(groups);
    }
    for level in (0..levels.len()).rev() {
        let group = |node, groups: &Vec<u32>| groups[node] as usize;
        tree.divide(|node| levels[..=level].iter().fold(node, group) as u32);
    }
    Ok(tree.collapsed())
}
