//! Shapes that make a search ask the same neighbors again and again: hubs, and whatever hangs together by one node. The
//! arcs that are looked at are counted, in sweeps and in merges of communities, so that no clock decides.

use super::prelude::*;
use super::{Edges, find};

/// Maximum number of times that a clustering may look at each arc, sweeps of all levels and all starts included: it took
/// tens of thousands where merges were quadratic.
const MOST_VISITS: f64 = 1_000.0;
/// Maximum growth of that number for eight times the edges, from at least a quarter of it. With an exponent of 1.15 it is
/// 1.37; sweeps are few, and their number is whole.
const MOST_GROWN: f64 = 1.8;

/// Returns shapes of about this number of edges, with a name.
pub(crate) fn shapes(edges: u32) -> [(&'static str, Edges); 8] {
    let (half, third, side) = (edges / 2, edges / 3, f64::from(edges).sqrt() as u32);
    let star = |leaves: u32| (0..leaves).map(move |leaf| (leaf, leaves));
    let pairs = (0..third).map(|pair| (2 * pair, 2 * pair + 1));
    let groups = (0..half).map(|node| (node, node / 10 * 10 + (node + 1) % 10));
    let centers = (1..side).map(|star| (edges + star, edges));
    let stars = (0..edges).map(|leaf| (leaf, edges + leaf % side)).chain(centers);
    let clique = (0..side).flat_map(|a| (0..a).map(move |b| (a, b)));
    let tails = clique.chain((0..half).map(|at| (at, side + at)));
    let both = (0..half).flat_map(|leaf| [(leaf, half), (leaf, half + 1)]);
    let path = (0..half).map(|at| (at, at + 1));
    let broom = path.clone().chain((0..half).map(|at| (half + 1 + at, 0)));
    [
        ("star", Edges::new(edges + 1, star(edges))),
        ("hub with pairs", Edges::new(2 * third + 1, star(2 * third).chain(pairs))),
        (
            "hub over groups",
            Edges::new(half.next_multiple_of(10) + 1, {
                let hub = half.next_multiple_of(10);
                (0..half).map(move |node| (node, hub)).chain(groups)
            }),
        ),
        ("star of stars", Edges::new(edges + side, stars)),
        ("clique with tails", Edges::new(side + half, tails)),
        ("two hubs", Edges::new(half + 2, both)),
        ("broom", Edges::new(edges + 1, broom)),
        ("path", Edges::new(half + 1, path)),
    ]
}

#[test]
fn arcs_are_looked_at_a_bounded_number_of_times_on_any_shape() {
    let visits = |edges: &Edges, options: &ClusterOptions| {
        find(edges, options).history.arcs as f64 / edges.edges.len() as f64
    };
    let usual = ClusterOptions::default();
    let options = [
        ("map equation", usual.clone()),
        ("limited", ClusterOptions { max_size: Some(50), ..usual.clone() }),
        ("modularity", ClusterOptions { method: Method::Modularity, ..usual.clone() }),
        ("CPM", ClusterOptions { method: Method::Cpm, resolution: vec![0.01], ..usual }),
    ];
    for ((name, few), (_, many)) in shapes(500).iter().zip(&shapes(4_000)) {
        for (of, options) in &options {
            let (before, after) = (visits(few, options), visits(many, options));
            assert!(after < MOST_VISITS, "{name}, {of}: each arc {after} times");
            let grown = after / before.max(MOST_VISITS / 4.0);
            assert!(grown < MOST_GROWN, "{name}, {of}: {before} to {after} times");
        }
    }
}
