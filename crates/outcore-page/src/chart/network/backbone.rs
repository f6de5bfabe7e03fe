//! The links that matter: in a dense network most lines carry little, and all of them together hide the others.

use super::Link;

/// Number of links of each circle that are always drawn.
const OF_EACH: usize = 2;
/// Number of links per circle up to which all are drawn.
const ALL_UP_TO: usize = 2;

/// Returns the links to draw between `count` circles, largest first: all of them if they are few, otherwise the two
/// largest of each circle, and those that keep together what is connected.
pub fn backbone(count: usize, links: &[Link]) -> Vec<Link> {
    let mut sorted = links.to_vec();
    sorted.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.ends.cmp(&b.ends)));
    if sorted.len() <= ALL_UP_TO * count {
        return sorted;
    }
    let mut part: Vec<usize> = (0..count).collect();
    let mut kept = vec![0; count];
    sorted.retain(|&Link { ends: [one, other], .. }| {
        // Largest first, the links that join two parts are a tree of greatest weight (Kruskal 1956).
        let (a, b) = (root(&mut part, one), root(&mut part, other));
        part[a.max(b)] = a.min(b);
        let is_drawn = a != b || kept[one] < OF_EACH || kept[other] < OF_EACH;
        kept[one] += 1;
        kept[other] += 1;
        is_drawn
    });
    sorted
}

/// Returns the first circle of the part of a circle, and shortens the way to it.
fn root(part: &mut [usize], mut at: usize) -> usize {
    while part[at] != at {
        part[at] = part[part[at]];
        at = part[at];
    }
    at
}
