//! Tests of trees, on small generated networks, against definitions.

use super::length::bare_length;
use super::*;
use crate::base::hash::mix;
use crate::base::logarithm::plogp;
use crate::kernel::holdings::NodeFlow;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Directed or undirected flows between nodes; flows[u][v] goes from u to v. With teleportation, `teleport` leaves each
/// node and lands in proportion to `landing`.
#[derive(Debug, Clone)]
struct Flows {
    links: Vec<Vec<f64>>,
    teleport: Vec<f64>,
    landing: Vec<f64>,
}

impl Flows {
    /// Symmetric flows from weights, which need not be.
    fn undirected(weights: &[Vec<f64>]) -> Self {
        let n = weights.len();
        let mut links = vec![vec![0.0; n]; n];
        for u in 0..n {
            for v in 0..=u {
                links[u][v] = weights[u][v];
                links[v][u] = weights[u][v];
            }
        }
        let total: f64 = links.iter().flatten().sum();
        links.iter_mut().flatten().for_each(|flow| *flow /= total.max(f64::MIN_POSITIVE));
        Self { links, teleport: vec![0.0; n], landing: vec![0.0; n] }
    }

    /// Stationary flows of a walk that leaves a node by its links, and teleports with a probability of 0.15 and where it
    /// finds no link.
    fn directed(weights: &[Vec<f64>], recorded: bool) -> Self {
        let n = weights.len();
        let sums: Vec<f64> = weights.iter().map(|row| row.iter().sum()).collect();
        let stays = |u: usize| if sums[u] > 0.0 { 0.85 } else { 0.0 };
        let landing: Vec<f64> = (1..=n).map(|v| v as f64 / (n * (n + 1) / 2) as f64).collect();
        let mut p = vec![1.0 / n as f64; n];
        for _ in 0..2000 {
            let lost: f64 = (0..n).map(|u| p[u] * (1.0 - stays(u))).sum();
            let mut next: Vec<f64> = landing.iter().map(|share| lost * share).collect();
            for u in 0..n {
                for v in 0..n {
                    next[v] +=
                        if sums[u] > 0.0 { stays(u) * p[u] * weights[u][v] / sums[u] } else { 0.0 };
                }
            }
            p = next;
        }
        let flow = |u: usize, v: usize| {
            if sums[u] > 0.0 { stays(u) * p[u] * weights[u][v] / sums[u] } else { 0.0 }
        };
        let mut links: Vec<Vec<f64>> =
            (0..n).map(|u| (0..n).map(|v| flow(u, v)).collect()).collect();
        let mut teleport: Vec<f64> = (0..n).map(|u| p[u] * (1.0 - stays(u))).collect();
        if !recorded {
            // Only steps along links count.
            let total: f64 = links.iter().flatten().sum();
            links.iter_mut().flatten().for_each(|flow| *flow /= total.max(f64::MIN_POSITIVE));
            teleport = vec![0.0; n];
        }
        Self { links, teleport, landing }
    }

    fn count(&self) -> usize {
        self.links.len()
    }

    fn visits(&self, v: usize) -> f64 {
        let total: f64 = self.teleport.iter().sum();
        self.links.iter().map(|row| row[v]).sum::<f64>() + total * self.landing[v]
    }

    /// Rates of entering and leaving a set of nodes, by their definition.
    fn boundary(&self, set: &dyn Fn(usize) -> bool) -> (f64, f64) {
        let (mut enter, mut exit) = (0.0, 0.0);
        for u in 0..self.count() {
            for v in 0..self.count() {
                let flow = self.links[u][v] + self.teleport[u] * self.landing[v];
                enter += if !set(u) && set(v) { flow } else { 0.0 };
                exit += if set(u) && !set(v) { flow } else { 0.0 };
            }
        }
        (enter, exit)
    }

    fn network(&self) -> (Network, Walk) {
        let walk = Walk { teleport: self.teleport.iter().sum() };
        let mut net = Network { starts: vec![0], ..Network::default() };
        for u in 0..self.count() {
            let out: f64 = self.links[u].iter().sum();
            let into: f64 = self.links.iter().map(|row| row[u]).sum();
            let (teleport, drift) = (self.teleport[u], out - into);
            let loops = 2.0 * self.links[u][u];
            let cut = out + into - loops;
            net.flows.push(walk.flow_of(cut, loops, NodeFlow { drift, teleport }));
            for v in 0..self.count() {
                let weight = self.links[u][v] + self.links[v][u];
                if u != v && weight > 0.0 {
                    net.targets.push(v as u32);
                    net.weights.push(weight);
                }
            }
            net.starts.push(net.targets.len() as u32);
        }
        (net, walk)
    }

    /// Entropy of a codebook: rates in, bits per step out.
    fn codebook(rates: &[f64]) -> f64 {
        let total: f64 = rates.iter().sum();
        let bits = |rate: &f64| if *rate > 1e-300 { -rate * (rate / total).log2() } else { 0.0 };
        rates.iter().map(bits).sum()
    }

    /// Code length of a tree, by its definition.
    fn length(&self, tree: &ModuleTree) -> f64 {
        let holds = |module: u32, node: usize| {
            let mut at = tree.leaves[node];
            while at != NONE && at != module {
                at = tree.parents[at as usize];
            }
            at == module
        };
        let modules = 0..tree.parents.len() as u32;
        let children = |module: u32| {
            modules.clone().filter(move |&child| tree.parents[child as usize] == module)
        };
        let enter = |module: u32| self.boundary(&|node| holds(module, node)).0;
        let root: Vec<f64> = children(NONE).map(enter).collect();
        let mut length = Self::codebook(&root);
        for module in modules.clone() {
            let mut rates = vec![self.boundary(&|node| holds(module, node)).1];
            rates.extend(children(module).map(enter));
            rates.extend(
                (0..self.count())
                    .filter(|&node| tree.leaves[node] == module)
                    .map(|node| self.visits(node)),
            );
            length += Self::codebook(&rates);
        }
        length
    }

    /// Length of the best tree, without the terms of the nodes, by trying all of them.
    fn best(&self) -> f64 {
        let all = (1usize << self.count()) - 1;
        let mut known = vec![f64::NAN; all + 1];
        let plogp = |x: f64| if x > 1e-300 { x * x.log2() } else { 0.0 };
        let leaf = self.below(all, &mut known);
        let of_nodes: f64 = (0..self.count()).map(|node| plogp(self.visits(node))).sum();
        leaf - of_nodes
    }

    /// Length of the best codebooks inside a set of nodes, which is a module, or everything.
    fn below(&self, set: usize, known: &mut Vec<f64>) -> f64 {
        if !known[set].is_nan() {
            return known[set];
        }
        let plogp = |x: f64| if x > 1e-300 { x * x.log2() } else { 0.0 };
        let (_, outer) = self.boundary(&|node| set >> node & 1 == 1);
        let visits: f64 = (0..self.count())
            .filter(|node| set >> node & 1 == 1)
            .map(|node| self.visits(node))
            .sum();
        let mut best = plogp(outer + visits) - plogp(outer);
        for blocks in partitions(set) {
            if blocks.len() < 2 {
                continue;
            }
            let (mut entries, mut length) = (0.0, 0.0);
            for &block in &blocks {
                let (enter, _) = self.boundary(&|node| block >> node & 1 == 1);
                entries += enter;
                length += self.below(block, known) - plogp(enter);
            }
            best = best.min(length + plogp(outer + entries) - plogp(outer));
        }
        known[set] = best;
        best
    }
}

/// All divisions of a set of bits.
fn partitions(set: usize) -> Vec<Vec<usize>> {
    if set == 0 {
        return vec![Vec::new()];
    }
    let first = set & set.wrapping_neg();
    let rest = set ^ first;
    let (mut all, mut sub) = (Vec::new(), rest);
    loop {
        for mut blocks in partitions(rest ^ sub) {
            blocks.push(sub | first);
            all.push(blocks);
        }
        if sub == 0 {
            return all;
        }
        sub = (sub - 1) & rest;
    }
}

fn weights(most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let weight = prop_oneof![3 => Just(0.0), 2 => Just(1.0), 1 => 0.1..4.0f64];
    (1..=most)
        .prop_flat_map(move |n| prop::collection::vec(prop::collection::vec(weight.clone(), n), n))
}

fn flows(most: usize) -> impl Strategy<Value = Flows> {
    (weights(most), 0..3).prop_map(|(weights, kind)| match kind {
        0 => Flows::undirected(&weights),
        kind => Flows::directed(&weights, kind == 1),
    })
}

/// A tree over `count` nodes in which nothing but the form is certain.
fn some_tree(count: usize, seed: u64) -> ModuleTree {
    let mut layers: Vec<Vec<u32>> = Vec::new();
    let mut size = count;
    for layer in 0..1 + mix(seed) % 4 {
        let groups = 1 + size / 2;
        let mut of: Vec<u32> = (0..size)
            .map(|at| (mix(seed ^ layer << 32 ^ at as u64) % groups as u64) as u32)
            .collect();
        size = moving::dense(&mut of);
        layers.push(of);
    }
    ModuleTree::of_layers(&layers)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_length_of_a_tree_matches_its_definition(flows in flows(9), seed in any::<u64>()) {
        let (net, walk) = flows.network();
        let tree = some_tree(flows.count(), seed);
        let found = TreeSums::of(&net, &tree).close(&walk, 0.0);
        let expected = flows.length(&tree);
        let cuts = found.cuts();
        prop_assert!((cuts.last().unwrap().length - expected).abs() < 1e-9, "{cuts:?} {expected}");
        prop_assert_eq!(cuts[0].count, tree.parents.iter().filter(|parent| **parent == NONE).count() as u64);
        // A tree that is cut is the tree of what is above the cut.
        let depths = tree.depths();
        for (depth, cut) in (1..).zip(&cuts) {
            let mut leaves = tree.leaves.clone();
            for leaf in &mut leaves {
                while depths[*leaf as usize] > depth {
                    *leaf = tree.parents[*leaf as usize];
                }
            }
            let all = ModuleTree { leaves, ..tree.clone() };
            let used: Vec<u32> = (0..all.parents.len() as u32).filter(|&module| depths[module as usize] <= depth).collect();
            let number = |module: u32| used.binary_search(&module).map_or(NONE, |at| at as u32);
            let cut_tree = ModuleTree {
                parents: used.iter().map(|&module| number(all.parents[module as usize])).collect(),
                leaves: all.leaves.iter().map(|&leaf| number(leaf)).collect(),
            };
            prop_assert!((cut.length - flows.length(&cut_tree)).abs() < 1e-9);
        }
    }

    /// No start makes the result longer than it was, and parts fit together.
    #[test]
    fn a_given_division_is_never_made_worse(flows in flows(9), seed in any::<u64>()) {
        let (net, walk) = flows.network();
        let mut start: Vec<u32> = (0..flows.count() as u64).map(|node| (mix(seed ^ node) % 4) as u32).collect();
        let count = moving::dense(&mut start);
        let given = bare_length(&net, &walk, 0.0, &ModuleTree::flat(start.clone(), count));
        let search = Search { net: &net, walk: &walk, outer: 0.0, seed, is_thorough: true };
        if let Some(tree) = find(&search, Some(&start)) {
            prop_assert!(bare_length(&net, &walk, 0.0, &tree) < given + 1e-12);
        } else {
            prop_assert!(search::undivided(&search) < given + 1e-9);
        }
    }
}

/// A search is never better than the best of all trees, and finds nearly always a tree that is as good. Moves are local, so
/// that no bound holds for each network: the networks are the same in each run.
#[test]
fn the_best_tree_of_nearly_all_tiny_networks_is_found() {
    let mut runner = TestRunner::deterministic();
    let (mut linked, mut missed, mut excess) = (0, 0, 0.0);
    for _ in 0..3000 {
        let flows = flows(6).new_tree(&mut runner).unwrap().current();
        let (net, walk) = flows.network();
        let search = Search { net: &net, walk: &walk, outer: 0.0, seed: 1, is_thorough: true };
        let length = match find(&search, None) {
            Some(tree) => flows.length(&tree),
            None => undivided_length(&search),
        };
        let best = flows.best();
        assert!(length > best - 1e-9, "{length} {best} {flows:?}");
        // Nodes move along links, and do not find those that only teleportation brings together.
        if flows.teleport.iter().all(|flow| *flow == 0.0) && best > 1e-9 {
            linked += 1;
            missed += u32::from(length > best + 1e-9);
            excess += length / best - 1.0;
        }
    }
    println!("{missed} of {linked} missed, {:.5} longer on average", excess / f64::from(linked));
    assert!(linked > 1000 && missed * 200 < linked && excess / f64::from(linked) < 2e-4);
}

/// Code length of a network that is not divided.
fn undivided_length(search: &Search<'_>) -> f64 {
    let of_nodes = search.net.flows.iter().map(|flow| plogp(flow.rate)).sum::<f64>();
    search::undivided(search) - of_nodes
}

/// Modules that were found at the wrong place are joined to the right ones.
#[test]
fn modules_at_the_bottom_are_joined_again() {
    // Triangles in triangles of triangles.
    let weight = |u: usize, v: usize| match (u / 3 == v / 3, u / 9 == v / 9) {
        _ if u == v => 0.0,
        (true, _) => 1.0,
        (false, true) => 0.1,
        _ => 0.001,
    };
    let weights: Vec<Vec<f64>> = (0..27).map(|u| (0..27).map(|v| weight(u, v)).collect()).collect();
    let (net, walk) = Flows::undirected(&weights).network();
    let search = Search { net: &net, walk: &walk, outer: 0.0, seed: 1, is_thorough: true };
    let triangles: Vec<u32> = (0..27).map(|node| node / 3).collect();
    let layers = |above: fn(u32) -> u32| {
        ModuleTree::of_layers(&[triangles.clone(), (0..9).map(above).collect()])
    };
    let [right, wrong] = [layers(|triangle| triangle / 3), layers(|triangle| triangle % 3)];
    let length = |tree| bare_length(&net, &walk, 0.0, tree);
    let again = search.joined_again(&wrong);
    assert!((again.length - length(&again.tree)).abs() < 1e-12);
    assert!((again.length - length(&right)).abs() < 1e-12, "{again:?}");
    assert!(again.length < length(&wrong) - 0.01);
}
