//! Comparison with the definition: every cut of tiny graphs, tried one by one.

use super::*;
use crate::finish::cuts::edges::InsideEdge;
use crate::finish::cuts::large::Large;
use crate::store::ranked::Ranked;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Returns the smallest cut of the nodes, and all sets of nodes on one side of a cut of at most `most` edges.
fn cuts(nodes: &[u32], edges: &[[u32; 2]], most: u64) -> (u64, Vec<u64>) {
    let (mut least, mut small) = (u64::MAX, Vec::new());
    for side in 0..1u64 << (nodes.len() - 1) {
        // The first node is on the other side.
        let is_here = |node: u32| {
            let at = nodes.iter().position(|&other| other == node).unwrap();
            at > 0 && side >> (at - 1) & 1 == 1
        };
        let inside = |&&[a, b]: &&[u32; 2]| nodes.contains(&a) && nodes.contains(&b);
        let cut = edges.iter().filter(inside).filter(|&&[a, b]| is_here(a) != is_here(b)).count();
        if side > 0 {
            least = least.min(cut as u64);
        }
        if side > 0 && cut as u64 <= most {
            small.push(side << 1);
        }
    }
    (least, small)
}

/// Applies the rule as it is defined.
fn defined(
    nodes: Vec<u32>,
    edges: &[[u32; 2]],
    rule: WellConnected,
    into: &mut BTreeSet<Vec<u32>>,
) {
    if nodes.len() == 1 {
        into.insert(nodes);
        return;
    }
    let (least, _) = cuts(&nodes, edges, 0);
    if least > rule.bound(nodes.len() as u64) {
        into.insert(nodes);
        return;
    }
    for part in parts_without(nodes, edges, least) {
        defined(part, edges, rule, into);
    }
}

/// Returns the maximal parts that no cut of up to `most` edges divides.
fn parts_without(nodes: Vec<u32>, edges: &[[u32; 2]], most: u64) -> Vec<Vec<u32>> {
    if nodes.len() == 1 {
        return vec![nodes];
    }
    let (_, small) = cuts(&nodes, edges, most);
    let Some(side) = small.last() else { return vec![nodes] };
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (at, &node) in nodes.iter().enumerate() {
        if side >> at & 1 == 1 { here.push(node) } else { there.push(node) }
    }
    [parts_without(here, edges, most), parts_without(there, edges, most)].concat()
}

fn found(count: u32, edges: &[[u32; 2]], rule: WellConnected) -> BTreeSet<Vec<u32>> {
    let nodes: Vec<u32> = (0..count).collect();
    let mut all = BTreeSet::new();
    let mut is_kept = vec![false; count as usize];
    let piece = CommunityPiece { nodes, edges: edges.to_vec(), floor: 0, known: u64::MAX };
    settle(piece, rule, |nodes| {
        nodes.iter().for_each(|&node| is_kept[node as usize] = true);
        all.insert(nodes.to_vec());
    });
    all.extend((0..count).filter(|&node| !is_kept[node as usize]).map(|node| vec![node]));
    all
}

fn rules() -> impl Strategy<Value = WellConnected> {
    let texts =
        prop::sample::select(vec!["log10", "2log10", "log2", "sqrt", "0.3n", "0", "1", "2", "3"]);
    texts.prop_map(|text| text.parse().unwrap())
}

/// Graphs of every density, in which some nodes may have no edge.
fn graphs() -> impl Strategy<Value = (u32, Vec<[u32; 2]>)> {
    (2..11u32, 0.0..1.0f64).prop_flat_map(|(count, density)| {
        let pairs = (count * (count - 1) / 2) as usize;
        let edges = prop::collection::vec(0.0..1.0f64, pairs).prop_map(move |draws| {
            let pairs = (0..count).flat_map(|b| (0..b).map(move |a| [a, b]));
            pairs.zip(draws).filter(|(_, draw)| *draw < density).map(|(pair, _)| pair).collect()
        });
        (Just(count), edges)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn parts_are_those_of_the_definition((count, edges) in graphs(), rule in rules()) {
        let mut expected = BTreeSet::new();
        defined((0..count).collect(), &edges, rule, &mut expected);
        prop_assert_eq!(found(count, &edges, rule), expected);
    }

    #[test]
    fn the_smallest_cut_is_that_of_all_cuts((count, edges) in graphs(), bound in 1..12u64) {
        let nodes: Vec<u32> = (0..count).collect();
        let (least, _) = cuts(&nodes, &edges, 0);
        prop_assert_eq!(min_cut(Multigraph::new(count as usize, &edges), bound), least.min(bound));
    }
}

/// Returns the parts of a community, found from `known` forests at a time, or from more if necessary.
fn found_by_forests(
    count: u32,
    edges: &[[u32; 2]],
    rule: WellConnected,
    known: u64,
) -> BTreeSet<Vec<u32>> {
    let mut all = BTreeSet::new();
    let mut waiting = vec![((0..count).collect::<Vec<_>>(), 0, known)];
    while let Some((nodes, floor, known)) = waiting.pop() {
        if nodes.len() == 1 {
            all.insert(nodes);
            continue;
        }
        let mut labels = vec![1; count as usize];
        nodes.iter().for_each(|&node| labels[node as usize] = 0);
        let mut members = Ranked::new(count as usize);
        let room = Large::bytes(nodes.len() as u64, known);
        let max_edges = edges.len() / 3;
        let mut large =
            Large::begin(0, &labels, &mut members, rule, floor, room, max_edges).unwrap();
        for &[low, high] in edges.iter().filter(|edge| edge.iter().all(|node| nodes.contains(node)))
        {
            large.add(&[InsideEdge { source: 0, target: low, weight: high }], &members);
        }
        let piece = large.into_piece();
        let (kept, inside) = (piece.edges.len() as u64, known * nodes.len() as u64);
        assert!(kept <= inside && (piece.is_complete() || piece.known <= known));
        match piece.examine(rule) {
            Verdict::Keep => _ = all.insert(nodes),
            Verdict::Unknown(enough) => waiting.push((nodes, floor, enough)),
            Verdict::Divide(parts) => {
                let mut of_part = vec![Vec::new(); parts.count];
                let places = nodes.iter().zip(&parts.of_node);
                places.for_each(|(&node, &part)| of_part[part as usize].push(node));
                assert!(of_part.len() > 1);
                waiting.extend(of_part.into_iter().map(|part| (part, parts.floor, known)));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn forests_show_the_parts_of_all_edges(
        (count, edges) in graphs(), rule in rules(), known in 1..6u64,
    ) {
        prop_assert_eq!(found_by_forests(count, &edges, rule, known), found(count, &edges, rule));
    }

    #[test]
    fn flows_find_the_smallest_cut_and_a_division((count, edges) in graphs(), more in 1..3u64) {
        let nodes: Vec<u32> = (0..count).collect();
        let (least, _) = cuts(&nodes, &edges, 0);
        let net = || Multigraph::new(count as usize, &edges);
        prop_assert_eq!(least_by_flows(net(), 100), least);
        let mut members = Sets::new(count as usize);
        let mut gone = vec![false; count as usize];
        divide_by_flows(net(), least + more, u64::MAX, &mut gone, &mut members);
        let root = members.find(0);
        let side: Vec<u32> = nodes.iter().copied().filter(|&node| members.find(node) == root).collect();
        prop_assert!(side.len() < nodes.len());
        for part in parts_without(nodes, &edges, least + more - 1) {
            prop_assert!(part.iter().all(|&node| members.find(node) == members.find(part[0])));
        }
    }
}

/// Returns the number of parts.
fn parts_of(count: u32, edges: &[[u32; 2]]) -> usize {
    found(count, edges, WellConnected::default()).len()
}

const COUNT: u32 = 200_000;

#[test]
fn a_large_star_or_path_takes_no_quadratic_time() {
    let star: Vec<_> = (1..COUNT).map(|node| [0, node]).collect();
    assert_eq!(parts_of(COUNT, &star), COUNT as usize);
    let path: Vec<_> = (1..COUNT).map(|node| [node - 1, node]).collect();
    assert_eq!(parts_of(COUNT, &path), COUNT as usize);
}

/// Every cut has three edges or more.
#[test]
fn a_large_ring_of_squares_takes_no_quadratic_time() {
    let half = COUNT / 2;
    let ladder: Vec<_> = (0..half)
        .flat_map(|at| {
            let next = (at + 1) % half;
            [[2 * at, 2 * at + 1], [2 * at, 2 * next], [2 * at + 1, 2 * next + 1]]
        })
        .collect();
    assert_eq!(parts_of(COUNT, &ladder), COUNT as usize);
}

#[test]
fn a_large_ring_of_cliques_takes_no_quadratic_time() {
    let cliques: Vec<_> = (0..COUNT / 10)
        .flat_map(|clique| {
            let inside = (0..10).flat_map(|b| (0..b).map(move |a| [a, b]));
            let inside = inside.map(move |pair| pair.map(|node| 10 * clique + node));
            inside.chain([[10 * clique, (10 * clique + 15) % COUNT]])
        })
        .collect();
    assert_eq!(parts_of(COUNT, &cliques), COUNT as usize / 10);
}

/// Worst case of an ordering: hardly any edge brings a node to its full degree.
#[test]
fn a_large_random_graph_of_equal_degrees_takes_no_quadratic_time() {
    use crate::base::hash::mix;
    for degree in [3, 4, 5] {
        let ends = |round: u32| {
            let mut nodes: Vec<u32> = (0..COUNT).collect();
            nodes.sort_by_key(|&node| mix(u64::from(round) << 32 | u64::from(node)));
            nodes
        };
        let edges: Vec<[u32; 2]> = (0..degree)
            .flat_map(|round| {
                ends(round).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>()
            })
            .collect();
        let least = min_cut(Multigraph::new(COUNT as usize, &edges), 9);
        assert!(least <= u64::from(degree), "{least}");
    }
}
