//! Parts that exchange messages return the engine's result for the whole graph.

use super::*;
use crate::oracle_levels::OracleLevels;
use crate::oracle_levels::level;
use outcore_cluster::base::hash::{Hash, TURN};
use outcore_cluster::{ClusterOptions, Communities, GivenLabels, LevelSpec, Method, cluster_from};
use outcore_graph::{ArcRecord, BlockLimits, Duplicates, GraphOptions, GraphWriter};
use outcore_graph::{LoopWeight, Weight};
use outcore_io::progress::Silent;
use outcore_testkit::{Edges, cases, some_edges};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Graph in parts, and the same graph as a whole.
struct Divided {
    parts: Vec<Part>,
    whole: Graph,
}

type Inboxes = Vec<Vec<Message>>;

/// Result of [`Divided::close`].
type Closed = (Vec<u32>, u64, f64, BTreeMap<[u32; 2], f64>);

/// Runs `work` on the thread of all parts, so that they do not wait for it one by one.
fn here<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    on_one_thread(|| Ok(work())).unwrap()
}

impl Divided {
    /// Creates parts of some blocks of a few nodes, from chunks of sorted pieces of `piece` arcs.
    fn new(edges: &Edges, part_arcs: u64, piece: usize) -> Self {
        here(|| Self::divide(edges, part_arcs, piece))
    }

    fn divide(edges: &Edges, part_arcs: u64, piece: usize) -> Self {
        let arcs: Vec<(u32, u32, f64)> = edges
            .arcs()
            .into_iter()
            .map(|((source, target), code)| (source, target, Weight::from_code(code).value()))
            .collect();
        let mut chunks = Vec::new();
        for piece in arcs.chunks(piece) {
            let mut packer = Chunks::new(Duplicates::Max, true, 0.0);
            // Every arc appears twice and must be combined.
            let twice = piece.iter().flat_map(|&arc| [arc; 2]);
            chunks.extend(packer.push(twice).unwrap());
            chunks.extend(packer.finish().0);
        }
        let limits = BlockLimits::TINY;
        let mut cutter = Cutter::with(limits, part_arcs);
        for chunk in &chunks {
            let (first, degrees) = degrees_of(chunk).unwrap();
            cutter.add(first, &degrees).unwrap();
        }
        let bounds = cutter.finish(edges.node_count).unwrap();
        let mut cuts: Vec<Vec<Vec<u8>>> = vec![Vec::new(); bounds.len() - 1];
        for chunk in &chunks {
            cut(chunk, &bounds).unwrap().into_iter().for_each(|(p, c)| cuts[p as usize].push(c));
        }
        let parts = cuts.iter().enumerate().map(|(index, chunks)| {
            let nodes = bounds[index]..bounds[index + 1];
            let mut writer = PartWriter::with(nodes, edges.node_count, limits).unwrap();
            chunks.iter().for_each(|chunk| writer.push(chunk).unwrap());
            Part::open(&writer.finish().unwrap(), bounds.clone(), index).unwrap()
        });
        let parts = parts.collect();
        Self { parts, whole: whole(edges) }
    }

    /// Counts loops as a method does.
    fn with_loops(self, method: Method) -> Self {
        let loops = method.levels().map_or(LoopWeight::Twice, LevelSpec::loops);
        let parts = self.parts.into_iter().map(|part| part.with_loops(loops)).collect();
        Self { parts, ..self }
    }

    fn inboxes(&self) -> Inboxes {
        self.parts.iter().map(|_| Vec::new()).collect()
    }

    /// Delivers the messages that each part has sent.
    fn deliver(&self, sent: Vec<Vec<Message>>) -> Inboxes {
        let mut inboxes = self.inboxes();
        for (from, messages) in sent.into_iter().enumerate() {
            for Message { part, bytes } in messages {
                inboxes[part as usize].push(Message { part: from as u32, bytes });
            }
        }
        inboxes
    }

    /// Sweeps until at most `enough` nodes move; returns the labels of each part, the number of nodes moved in each
    /// sweep, and the maximum number of rounds in a sweep.
    fn propagate(&self, seed: u64, enough: f64, most: u32) -> (Vec<Labeled>, Vec<u64>, usize) {
        self.propagate_in(seed, enough, most, |_| usize::MAX)
    }

    /// Like `propagate`, with the maximum number of rounds of each sweep.
    fn propagate_in(
        &self,
        seed: u64,
        enough: f64,
        most: u32,
        most_rounds: impl Fn(u32) -> usize + Send + Sync,
    ) -> (Vec<Labeled>, Vec<u64>, usize) {
        here(|| self.propagate_here(seed, enough, most, most_rounds))
    }

    fn propagate_here(
        &self,
        seed: u64,
        enough: f64,
        most: u32,
        most_rounds: impl Fn(u32) -> usize + Send + Sync,
    ) -> (Vec<Labeled>, Vec<u64>, usize) {
        let (mut states, sent): (Vec<Rounds>, Vec<_>) =
            self.parts.iter().map(|part| Rounds::begin(part, seed).unwrap()).unzip();
        let mut inboxes = self.deliver(sent);
        let (mut moves, mut max_rounds) = (Vec::new(), 0);
        let is_exact = most_rounds(1) == usize::MAX;
        for sweep in 1..=most {
            let mut rounds = 0;
            let moved = loop {
                rounds += 1;
                let (mut sent, mut moved, mut later) = (Vec::new(), 0, 0);
                for ((part, state), inbox) in self.parts.iter().zip(&mut states).zip(inboxes) {
                    // Saved and read back, as between rounds.
                    let bytes = state.to_bytes();
                    *state = Rounds::from_bytes(&bytes, part).unwrap();
                    assert_eq!(state.to_bytes(), bytes);
                    let (messages, counts) =
                        state.round(part, seed, (sweep, is_exact), inbox).unwrap();
                    sent.push(messages);
                    moved += counts.moved;
                    later += counts.later;
                }
                inboxes = self.deliver(sent);
                if later == 0 || rounds == most_rounds(sweep) {
                    break moved;
                }
            };
            max_rounds = max_rounds.max(rounds);
            moves.push(moved);
            if moved == 0 || moved as f64 <= enough {
                break;
            }
        }
        let ends = self.parts.iter().zip(states).zip(inboxes);
        let labels = ends.map(|((part, state), inbox)| {
            let [own, outside, around] = state.finish(part, inbox).unwrap().into_arrays();
            Labeled::new(part, own, outside, around).unwrap()
        });
        (labels.collect(), moves, max_rounds)
    }

    /// Returns the numbers by node, the number of communities with several pieces, the modularity, and the edges
    /// between communities.
    fn close(&self, labels: &[Labeled]) -> Closed {
        here(|| self.close_here(labels))
    }

    fn close_here(&self, labels: &[Labeled]) -> Closed {
        let (roots, sent): (Vec<Vec<u32>>, Vec<_>) =
            self.parts.iter().zip(labels).map(|(part, l)| part.roots(l).unwrap()).unzip();
        let inboxes = self.deliver(sent);
        let mut links = Vec::new();
        for (((part, labels), roots), inbox) in
            self.parts.iter().zip(labels).zip(&roots).zip(inboxes)
        {
            links.extend(part.links(labels, roots, inbox).unwrap());
        }
        let half = links.split_off(links.len() / 2);
        let forest = forest([forest(links), forest(half)].concat());
        let mut communities: BTreeMap<u32, (u32, u32, f64, f64)> = BTreeMap::new();
        let mut settled = Vec::new();
        for ((part, labels), roots) in self.parts.iter().zip(labels).zip(roots) {
            let own: Vec<_> =
                forest.iter().filter(|[n, _]| part.nodes().contains(n)).copied().collect();
            let (roots, sums) = part.settle(labels, roots, &own).unwrap();
            for at in 0..sums.roots.len() {
                let sum =
                    communities.entry(sums.roots[at]).or_insert((sums.labels[at], 0, 0.0, 0.0));
                assert_eq!(sum.0, sums.labels[at], "one label in a piece");
                sum.1 += sums.counts[at];
                sum.2 += sums.strengths[at];
                sum.3 += sums.insides[at];
            }
            settled.push(roots);
        }
        let mut ranked: Vec<(u32, u32)> = communities.iter().map(|(&r, sum)| (r, sum.1)).collect();
        ranked.sort_by_key(|&(root, count)| (std::cmp::Reverse(count), root));
        let number: BTreeMap<u32, u32> =
            ranked.iter().zip(0..).map(|(&(r, _), n)| (r, n)).collect();
        let mut by_label: BTreeMap<u32, u64> = BTreeMap::new();
        communities.values().for_each(|sum| *by_label.entry(sum.0).or_default() += 1);
        let split = by_label.values().filter(|&&count| count > 1).count() as u64;
        let total: f64 = communities.values().map(|sum| sum.2).sum();
        let share = |sum: &(u32, u32, f64, f64)| sum.3 / total - (sum.2 / total).powi(2);
        let modularity = if total > 0.0 { communities.values().map(share).sum() } else { 0.0 };
        let numbers: Vec<Vec<u32>> =
            settled.iter().map(|roots| roots.iter().map(|root| number[root]).collect()).collect();
        let sent = self
            .parts
            .iter()
            .zip(&numbers)
            .map(|(p, n)| p.announce(n, |_| true).unwrap())
            .collect();
        let mut between = BTreeMap::new();
        for ((part, own), inbox) in self.parts.iter().zip(&numbers).zip(self.deliver(sent)) {
            for (pair, weight) in part.contract(own.clone(), inbox).unwrap() {
                *between.entry(pair).or_default() += weight;
            }
        }
        (numbers.concat(), split, modularity, between)
    }
}

fn whole(edges: &Edges) -> Graph {
    let files = Files::new(Arc::new(Ram::default()));
    let options = GraphOptions {
        node_count: edges.node_count.into(),
        directed: false,
        duplicates: Duplicates::Max,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create_tiny(&files, Path::new("graph"), &options).unwrap();
    let records = edges.arcs().into_iter();
    let records = records.map(|((source, target), weight)| ArcRecord { source, target, weight });
    writer.push(&records.collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    Graph::open(&files, Path::new("graph")).unwrap()
}

fn engine(graph: &Graph, options: &ClusterOptions) -> Communities {
    let given = GivenLabels::default();
    let scratch = Path::new("scratch");
    here(|| cluster_from(graph, options, given, 1 << 30, scratch, &Silent)).unwrap()
}

impl Divided {
    /// Moves nodes in `sweeps` sweeps, starting from the labels `own`; returns the labels by node after each sweep.
    fn shift(&self, aim: Aim, seed: u64, own: Vec<Vec<u32>>, sweeps: u32) -> Vec<Vec<u32>> {
        here(|| self.shift_here(aim, seed, own, sweeps))
    }

    fn shift_here(&self, aim: Aim, seed: u64, own: Vec<Vec<u32>>, sweeps: u32) -> Vec<Vec<u32>> {
        let parts = &self.parts;
        let sent = parts.iter().zip(&own).map(|(p, own)| p.announce(own, |_| true).unwrap());
        let inboxes = self.deliver(sent.collect());
        let inputs = parts.iter().zip(own).zip(inboxes);
        let mut labels: Vec<Labeled> =
            inputs.map(|((part, own), inbox)| Labeled::gather(part, own, inbox).unwrap()).collect();
        let mut found = Vec::new();
        for number in 1..=sweeps {
            let tallied = parts.iter().zip(&labels).map(|(part, l)| part.tally(l).unwrap());
            let (sent, sums): (Vec<_>, Vec<_>) = tallied.unzip();
            let totals = sums.iter().fold([0.0; 2], |all, s| [all[0] + s.strength, all[1] + s.cut]);
            let asked = parts.iter().zip(self.deliver(sent));
            let replies =
                self.deliver(asked.map(|(part, inbox)| part.share(inbox).unwrap()).collect());
            let shift = Shift { aim, seed, number, totals };
            let mut sent = Vec::new();
            let before: Vec<u32> = labels.iter().flat_map(|l| l.own()).copied().collect();
            let (mut shifted, mut moved) = (Vec::new(), 0);
            for ((part, labels), replies) in parts.iter().zip(labels).zip(replies) {
                let (labels, messages, did) = part.shift(&shift, labels, replies).unwrap();
                sent.push(messages);
                moved += did.moved;
                shifted.push(labels);
            }
            for (labels, inbox) in shifted.iter_mut().zip(self.deliver(sent)) {
                labels.receive(inbox).unwrap();
            }
            labels = shifted;
            let now: Vec<u32> = labels.iter().flat_map(|l| l.own()).copied().collect();
            assert_eq!(moved, before.iter().zip(&now).filter(|(a, b)| a != b).count() as u64);
            found.push(now);
        }
        found
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Every block moves as if alone from the labels before the sweep, as specified, wherever parts begin. A node moves in
    /// one of two sweeps.
    #[test]
    fn blocks_move_in_parallel(
        edges in some_edges(),
        seed in 0..1000u64,
        part_arcs in prop_oneof![Just(1u64), 10..60u64, 500..5000u64],
        (method, aim) in prop_oneof![
            Just((Method::MapEquation, Aim::MapEquation)),
            Just((Method::Modularity, Aim::Modularity(1.0))),
            Just((Method::Modularity, Aim::Modularity(0.4))),
        ],
        first in prop::collection::vec(any::<prop::sample::Index>(), 40),
    ) {
        // The specification has one block.
        let nodes = edges.node_count.min(250);
        let within = edges.edges.into_iter().filter(|&(a, b, _)| a.max(b) < nodes).collect();
        let edges = Edges { directed: false, node_count: nodes, edges: within };
        let divided = Divided::new(&edges, part_arcs, 50).with_loops(method);
        let mut labels: Vec<u32> = (0..nodes).collect();
        for (label, first) in labels.iter_mut().zip(first) {
            *label = first.index(nodes as usize) as u32;
        }
        let bounds: Vec<_> = divided.parts.iter().map(Part::nodes).collect();
        let own = bounds.iter().map(|b| labels[b.start as usize..b.end as usize].to_vec());
        let found = divided.shift(aim, seed, own.collect(), 3);
        let level = level(&edges, method);
        let resolution = if let Aim::Modularity(resolution) = aim { resolution } else { 1.0 };
        for (number, found) in found.iter().enumerate() {
            let mut next = labels.clone();
            let sweep = number as u64 + 1;
            for block in divided.whole.blocks() {
                let mut oracle = OracleLevels::new((method, resolution), 1, seed);
                oracle.sweeps = number as u32;
                let of_block = block.first_node as usize..(block.first_node + block.node_count) as usize;
                let mut active = vec![false; nodes as usize];
                for node in of_block.clone() {
                    let coin = Hash::new(seed ^ TURN).of(node as u64, sweep / 2) % 2;
                    active[node] = coin == sweep % 2;
                }
                let mut moved = labels.clone();
                oracle.sweep(&level, seed, &mut moved, None, &mut active);
                next[of_block.clone()].copy_from_slice(&moved[of_block]);
            }
            prop_assert_eq!(&next, found);
            labels = next;
        }
    }

    /// Truncated bytes are an error.
    #[test]
    fn damaged_sums_are_an_error(edges in some_edges(), at in any::<prop::sample::Index>()) {
        let edges = Edges { directed: false, ..edges };
        let divided = Divided::new(&edges, 20, 50);
        let part = &divided.parts[0];
        let labels = || {
            let outside = part.outside().unwrap();
            Labeled::new(part, part.nodes().collect(), outside.clone(), outside).unwrap()
        };
        let (messages, totals) = part.tally(&labels()).unwrap();
        let totals = [totals.strength, totals.cut];
        let shift = Shift { aim: Aim::MapEquation, seed: 1, number: 1, totals };
        for Message { part: to, bytes } in messages {
            let bytes = bytes[..at.index(bytes.len())].to_vec();
            let owner = &divided.parts[to as usize];
            let truncated = vec![Message { part: 0, bytes }];
            prop_assert!(owner.share(truncated).is_err());
        }
        prop_assert!(part.shift(&shift, labels(), Vec::new()).is_err());
    }

    #[test]
    fn parts_give_the_result_of_the_whole(
        edges in some_edges(),
        seed in 0..1000u64,
        part_arcs in prop_oneof![Just(1u64), 10..60u64, 500..5000u64],
        piece in prop_oneof![1..20usize, Just(1 << 20)],
        tolerance in prop_oneof![Just(0.0), Just(0.001)],
        max_sweeps in prop_oneof![3 => Just(None), 1 => (1..4u32).prop_map(Some)],
    ) {
        let edges = Edges { directed: false, ..edges };
        let divided = Divided::new(&edges, part_arcs, piece);
        let blocks: Vec<u32> = divided.whole.blocks().iter().map(|b| b.first_node).collect();
        let mut of_parts = divided.parts.iter().flat_map(|p| p.graph.blocks()).map(|b| b.first_node);
        prop_assert!(of_parts.by_ref().eq(blocks), "blocks of parts are those of the whole");
        prop_assert!(part_arcs > 1 || divided.parts.len() == divided.whole.blocks().len());
        let options = ClusterOptions {
            method: Method::LabelPropagation, seed, tolerance, max_sweeps, ..ClusterOptions::default()
        };
        let expected = engine(&divided.whole, &options);
        let enough = tolerance * f64::from(edges.node_count);
        let (labels, moves, rounds) = divided.propagate(seed, enough, options.most_sweeps());
        prop_assert_eq!(moves.len() as u32, expected.history.sweeps.count);
        prop_assert_eq!(*moves.last().unwrap(), expected.history.last_moved);
        prop_assert!(rounds <= divided.parts.len());
        let (numbers, split, modularity, between) = divided.close(&labels);
        prop_assert_eq!(&numbers[..], expected.labels.in_memory().unwrap());
        prop_assert_eq!(split, expected.split_count);
        prop_assert!((modularity - expected.measures.modularity).abs() < 1e-9);
        // In the graph of communities for a method that counts loops once, a loop is the whole weight inside.
        let once = Divided::new(&edges, part_arcs, piece).with_loops(Method::MapEquation);
        let (labels, ..) = once.propagate(seed, enough, options.most_sweeps());
        let (same, _, _, walked) = once.close(&labels);
        prop_assert_eq!(&same, &numbers);
        let mut steps = BTreeMap::new();
        for ((a, b), code) in edges.arcs() {
            let (a, b) = (numbers[a as usize], numbers[b as usize]);
            let half = if a == b { 1.0 } else { 0.5 };
            *steps.entry([a.min(b), a.max(b)]).or_insert(0.0) += half * Weight::from_code(code).value();
        }
        prop_assert_eq!(walked.len(), steps.len());
        for (pair, weight) in &steps {
            prop_assert!((walked[pair] / weight - 1.0).abs() < 1e-9);
        }
        // The graph of communities has the weight of the graph.
        let mut expected = BTreeMap::new();
        for ((a, b), code) in edges.arcs().into_iter().filter(|((a, b), _)| a <= b) {
            let (a, b) = (numbers[a as usize], numbers[b as usize]);
            *expected.entry([a.min(b), a.max(b)]).or_insert(0.0) += Weight::from_code(code).value();
        }
        prop_assert_eq!(between.len(), expected.len());
        for (pair, weight) in &expected {
            prop_assert!((between[pair] / weight - 1.0).abs() < 1e-9);
        }
    }

    /// If sweeps that end after one or two rounds come to an end, no node has a heavier label among its neighbors. Nodes of
    /// three parts may take each other's labels for ever, which the maximum number of sweeps ends.
    #[test]
    fn sweeps_of_few_rounds_miss_no_node(
        edges in some_edges(),
        seed in 0..1000u64,
        part_arcs in prop_oneof![Just(1u64), 10..60u64],
        ones in 0..4u32,
    ) {
        let edges = Edges { directed: false, ..edges };
        let divided = Divided::new(&edges, part_arcs, 50);
        let of = |sweep| if sweep <= ones { 1 } else { 2 };
        let (labels, moves, rounds) = divided.propagate_in(seed, 0.0, 100, of);
        prop_assert!(rounds <= 2);
        prop_assume!(*moves.last().unwrap() == 0);
        let labels: Vec<u32> = labels.iter().flat_map(|labels| labels.own()).copied().collect();
        let mut weights = vec![BTreeMap::<u32, f64>::new(); labels.len()];
        for ((a, b), code) in edges.arcs().into_iter().filter(|((a, b), _)| a != b) {
            *weights[a as usize].entry(labels[b as usize]).or_default() += Weight::from_code(code).value();
        }
        for (label, around) in labels.iter().zip(&weights) {
            let own = around.get(label).copied().unwrap_or(0.0);
            let heaviest = around.values().copied().fold(0.0, f64::max);
            prop_assert!(own >= heaviest * (1.0 - 1e-6), "{own} of {heaviest}");
        }
    }

    #[test]
    fn parts_give_the_components(
        edges in some_edges(),
        part_arcs in prop_oneof![Just(1u64), 10..60u64],
    ) {
        let edges = Edges { directed: false, ..edges };
        let divided = Divided::new(&edges, part_arcs, 50);
        let options = ClusterOptions { method: Method::Components, ..ClusterOptions::default() };
        let labels: Vec<_> = divided.parts.iter().map(|p| Labeled::alike(p).unwrap()).collect();
        let (numbers, ..) = divided.close(&labels);
        let expected = engine(&divided.whole, &options);
        prop_assert_eq!(&numbers[..], expected.labels.in_memory().unwrap());
    }

    /// Truncated or changed bytes are an error.
    #[test]
    fn damage_is_an_error(edges in some_edges(), seed in any::<u64>(), at in any::<prop::sample::Index>()) {
        let edges = Edges { directed: false, ..edges };
        let divided = Divided::new(&edges, 20, 50);
        let part = &divided.parts[0];
        let (rounds, messages) = Rounds::begin(part, seed).unwrap();
        let bytes = rounds.to_bytes();
        prop_assert!(Rounds::from_bytes(&bytes[..at.index(bytes.len())], part).is_err());
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= 1 << (seed % 8);
        prop_assert!(Rounds::from_bytes(&changed, part).is_err());
        for Message { bytes, .. } in messages {
            let short = vec![Message { part: 1, bytes: bytes[..at.index(bytes.len())].to_vec() }];
            prop_assert!(rounds_of(part, seed).round(part, seed, (1, true), short).is_err());
        }
    }
}

fn rounds_of(part: &Part, seed: u64) -> Rounds {
    Rounds::begin(part, seed).unwrap().0
}

/// A sweep takes far fewer rounds than there are parts, in a graph with groups.
fn check_rounds(nodes: u32) {
    let edges = (0..nodes * 6).map(|at| {
        let hash = outcore_cluster::base::hash::mix(at.into());
        let (node, near) = (at / 6, hash % 10 < 7);
        let group = if near { node / 40 * 40..node / 40 * 40 + 40 } else { 0..nodes };
        let other = group.start + (hash >> 8) as u32 % group.len() as u32;
        (node, other.min(nodes - 1))
    });
    let divided = Divided::new(&Edges::new(nodes, edges), 400, 1 << 20);
    let (_, moves, rounds) = divided.propagate(1, 0.0, 100);
    println!("{} parts, {rounds} rounds at most, {} sweeps", divided.parts.len(), moves.len());
    assert!(rounds < divided.parts.len(), "{rounds}");
}

#[test]
fn rounds_are_fewer_than_parts() {
    check_rounds(1000);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn rounds_are_fewer_than_many_parts() {
    check_rounds(6000);
}
