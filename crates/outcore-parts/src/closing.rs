//! Steps after the sweeps: connected pieces of communities across parts, their sums, their final numbers, and the graph
//! of communities.
//!
//! ```text
//!  roots     every part joins its own nodes and sends to later parts the pieces of their neighbors
//!  links     every part finds from these messages which pieces of earlier parts are connected to its own
//!  forest    the caller, level by level: merges links between pieces to a forest
//!  settle    every part computes the final roots of its nodes and their sums
//!  rename    every part assigns the final numbers, which the caller has chosen for the roots
//!  announce  every part sends the numbers of its nodes to the parts of their neighbors
//!  contract  every part computes the weights between communities
//! ```

use super::words::{Words, put};
use super::{Message, Part, Places, damaged};
use outcore_cluster::base::parallel::PerThread;
use outcore_cluster::base::table::Sum;
use outcore_cluster::finish::connect::{Closing, NodeSums, Pieces, block_sums};
use outcore_cluster::store::by_node::KnownLabels;
use outcore_graph::{ArcScratch, Block, LoopWeight};
use outcore_io::Result;
use std::collections::{BTreeMap, HashMap};

/// Sums over the nodes of a part, one entry per root.
#[derive(Debug, Default, PartialEq)]
pub struct CommunitySums {
    /// Smallest nodes of communities, ascending.
    pub roots: Vec<u32>,
    /// Labels of the communities during the sweeps.
    pub labels: Vec<u32>,
    /// Numbers of nodes.
    pub counts: Vec<u32>,
    /// Weights of the arcs of these nodes, loops counted twice.
    pub strengths: Vec<f64>,
    /// Portions of these weights inside the communities.
    pub insides: Vec<f64>,
    /// Weights of the arcs of these nodes, loops counted as set by [`Part::with_loops`].
    pub visits: Vec<f64>,
}

/// Labels or numbers of a part's own nodes and of the nodes outside to which it has arcs.
pub struct Labeled {
    first: u32,
    own: Vec<u32>,
    outside: Vec<u32>,
    places: Places,
    around: Vec<u32>,
}

impl Labeled {
    /// Creates the labels of a part from those of its own nodes, the nodes outside (ascending), and their labels.
    ///
    /// # Errors
    /// `CorruptFile` if the arrays do not fit the part.
    pub fn new(part: &Part, own: Vec<u32>, outside: Vec<u32>, around: Vec<u32>) -> Result<Self> {
        let fits = own.len() == part.nodes().len()
            && outside.len() == around.len()
            && outside.iter().all(|&node| node < part.node_count())
            && outside.is_sorted();
        if !fits {
            return Err(damaged("labels do not match its nodes"));
        }
        let places = Places::new(&outside, part.node_count())?;
        Ok(Self { first: part.nodes().start, own, outside, places, around })
    }

    /// Returns the labels of the own nodes, the nodes outside (ascending), and their labels.
    pub fn into_arrays(self) -> [Vec<u32>; 3] {
        [self.own, self.outside, self.around]
    }

    /// Creates the labels of a part from those of its own nodes and those that other parts have announced.
    ///
    /// # Errors
    /// `CorruptFile` if a neighbor is missing.
    pub fn gather(part: &Part, own: Vec<u32>, messages: Vec<Message>) -> Result<Self> {
        let (outside, around) = Pairs::gather(messages)?;
        let labels = Self::new(part, own, outside, around)?;
        if part.outside()?.into_iter().any(|node| !labels.places.contains(node)) {
            return Err(damaged("numbers of neighbors are missing"));
        }
        Ok(labels)
    }

    /// Updates the labels of nodes outside that other parts have announced.
    ///
    /// # Errors
    /// `CorruptFile` if a message is about a node to which the part has no arc.
    pub fn receive(&mut self, messages: Vec<Message>) -> Result<()> {
        let (nodes, labels) = Pairs::gather(messages)?;
        for (node, label) in nodes.into_iter().zip(labels) {
            if self.outside.binary_search(&node).is_err() {
                return Err(damaged("a message is about other nodes"));
            }
            self.around[self.places.of(node)] = label;
        }
        Ok(())
    }

    /// Replaces the labels of the own nodes.
    pub(super) fn with_own(self, own: Vec<u32>) -> Self {
        Self { own, ..self }
    }

    /// Returns all distinct labels, ascending.
    pub(super) fn seen(&self) -> Vec<u32> {
        let mut seen: Vec<u32> = self.own.iter().chain(&self.around).copied().collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    pub(super) fn own(&self) -> &[u32] {
        &self.own
    }

    pub(super) fn around(&self) -> &[u32] {
        &self.around
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the label of an own node.
    pub(super) fn own_label(&self, node: u32) -> u32 {
        self.own[(node - self.first) as usize]
    }

    /// Creates labels that are the same for all nodes.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn alike(part: &Part) -> Result<Self> {
        let outside = part.outside()?;
        let around = vec![0; outside.len()];
        Self::new(part, vec![0; part.nodes().len()], outside, around)
    }
}

impl KnownLabels for Labeled {
    const AFTER: bool = true;
    #[inline]
    fn label(&self, node: u32) -> u32 {
        match self.own.get(node.wrapping_sub(self.first) as usize) {
            Some(&label) => label,
            None => self.around[self.places.of(node)],
        }
    }
}

/// Nodes with one value each.
#[derive(Default)]
struct Pairs {
    nodes: Vec<u32>,
    values: Vec<u32>,
}

impl Pairs {
    fn push(&mut self, node: u32, value: u32) {
        // The arcs of a hub come in several segments.
        if self.nodes.last() != Some(&node) {
            self.nodes.push(node);
            self.values.push(value);
        }
    }

    fn to_message(&self, part: u32) -> Message {
        let mut bytes = Vec::new();
        put(&self.nodes, &mut bytes);
        put(&self.values, &mut bytes);
        Message { part, bytes }
    }

    /// Returns the nodes of all messages with their values, ordered by node.
    fn gather(messages: Vec<Message>) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut pairs = Vec::new();
        for message in messages {
            let mut from = Words(&message.bytes);
            let nodes = from.next()?;
            pairs.extend(nodes.iter().copied().zip(from.exactly(nodes.len())?));
        }
        pairs.sort_unstable();
        Ok(pairs.into_iter().unzip())
    }
}

impl Part {
    /// Joins neighbors of the same label within this part. Returns for each node the smallest node of its piece, and
    /// the messages to later parts about the pieces of their neighbors.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn roots(&self, labels: &Labeled) -> Result<(Vec<u32>, Vec<Message>)> {
        let nodes = self.nodes();
        let first = nodes.start;
        let pieces = Pieces::new(nodes.len(), false);
        let mut later: BTreeMap<usize, Vec<(u32, u32)>> = BTreeMap::new();
        self.for_owners(
            |_| true,
            |node, part, targets| {
                let mut alike = targets.iter().filter(|&&t| labels.label(t) == labels.label(node));
                if part == self.index {
                    alike.for_each(|&target| pieces.connect(node - first, target - first));
                } else if part > self.index && alike.next().is_some() {
                    later.entry(part).or_default().push((node, 0));
                }
            },
        )?;
        let roots: Vec<u32> = pieces.into_roots().into_iter().map(|root| root + first).collect();
        let messages = later.into_iter().map(|(part, nodes)| {
            let mut pairs = Pairs::default();
            nodes.iter().for_each(|&(node, _)| pairs.push(node, roots[(node - first) as usize]));
            pairs.to_message(part as u32)
        });
        let messages = messages.collect();
        Ok((roots, messages))
    }

    /// Returns which pieces of earlier parts are connected to its own: pairs of roots, as a forest.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn links(
        &self,
        labels: &Labeled,
        roots: &[u32],
        messages: Vec<Message>,
    ) -> Result<Vec<[u32; 2]>> {
        let first = self.nodes().start;
        if roots.len() != self.nodes().len() {
            return Err(damaged("roots do not match its nodes"));
        }
        let (neighbors, pieces) = Pairs::gather(messages)?;
        let places = Places::new(&neighbors, self.node_count())?;
        let mut links = Vec::new();
        self.for_owners(
            |_| true,
            |node, part, targets| {
                if part >= self.index {
                    return;
                }
                let alike = targets.iter().filter(|&&t| labels.label(t) == labels.label(node));
                let root = roots[(node - first) as usize];
                for &target in alike.filter(|&&target| places.contains(target)) {
                    let link = [root, pieces[places.of(target)]];
                    if links.last() != Some(&link) {
                        links.push(link);
                    }
                }
            },
        )?;
        Ok(forest(links))
    }

    /// Returns the final roots of its nodes, after replacing roots of pieces as given by `forest`, and their sums.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn settle(
        &self,
        labels: &Labeled,
        mut roots: Vec<u32>,
        forest: &[[u32; 2]],
    ) -> Result<(Vec<u32>, CommunitySums)> {
        if roots.len() != self.nodes().len() {
            return Err(damaged("roots do not match its nodes"));
        }
        let above: HashMap<u32, u32> = forest.iter().map(|&[root, above]| (root, above)).collect();
        roots.iter_mut().for_each(|root| *root = above.get(root).copied().unwrap_or(*root));
        let sums = self.sums(labels, &roots)?;
        Ok((roots, sums))
    }

    fn sums(&self, labels: &Labeled, roots: &[u32]) -> Result<CommunitySums> {
        let mut distinct = roots.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let count = distinct.len();
        let mut sums = CommunitySums {
            roots: distinct,
            labels: vec![0; count],
            counts: vec![0; count],
            strengths: vec![0.0; count],
            insides: vec![0.0; count],
            visits: vec![0.0; count],
        };
        let scratch = PerThread::new(Closing::default);
        let mut of_nodes: Vec<NodeSums> = Vec::new();
        let mut own = labels.own.iter().zip(roots);
        self.for_blocks(
            |_| true,
            |block| {
                let pieces = None::<&Pieces>;
                block_sums(block, false, labels, pieces, &scratch, &mut of_nodes)?;
                for (node, (&label, root)) in of_nodes.iter().zip(&mut own) {
                    let Ok(at) = sums.roots.binary_search(root) else { continue };
                    sums.labels[at] = label;
                    sums.counts[at] += 1;
                    sums.strengths[at] += node.strength;
                    sums.insides[at] += node.inside;
                    sums.visits[at] += node.visits;
                }
                Ok(())
            },
        )?;
        Ok(sums)
    }

    /// Returns the final numbers of its nodes: `named` are roots, ascending, with their `numbers`.
    ///
    /// # Errors
    /// `CorruptFile` if a root is not among them.
    pub fn rename(&self, roots: &[u32], named: &[u32], numbers: &[u32]) -> Result<Vec<u32>> {
        let number = |root: &u32| {
            let at = named.binary_search(root).ok()?;
            numbers.get(at).copied()
        };
        let renamed: Option<Vec<u32>> = roots.iter().map(number).collect();
        renamed
            .filter(|renamed| renamed.len() == self.nodes().len())
            .ok_or_else(|| damaged("a community has no number"))
    }

    /// Returns messages with the numbers of the nodes that `wants` selects, to the parts that have arcs to them.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn announce(&self, numbers: &[u32], wants: impl Fn(u32) -> bool) -> Result<Vec<Message>> {
        let first = self.nodes().start;
        if numbers.len() != self.nodes().len() {
            return Err(damaged("numbers do not match its nodes"));
        }
        let mut pairs: BTreeMap<usize, Pairs> = BTreeMap::new();
        self.for_owners(wants, |node, part, _| {
            if part != self.index {
                pairs.entry(part).or_default().push(node, numbers[(node - first) as usize]);
            }
        })?;
        Ok(pairs.into_iter().map(|(part, pairs)| pairs.to_message(part as u32)).collect())
    }

    /// Returns the weights between communities, each edge counted at its later node: pairs of numbers, ascending, the
    /// smaller first, with the weight of each. The weight of a community with itself is its weight inside; if loops
    /// count once it is what a loop must weigh to stand for it, which is twice the edges inside and once the loops.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn contract(
        &self,
        numbers: Vec<u32>,
        messages: Vec<Message>,
    ) -> Result<Vec<([u32; 2], f64)>> {
        let numbers = Labeled::gather(self, numbers, messages)?;
        let mut weights: HashMap<[u32; 2], f64> = HashMap::new();
        let mut arcs = ArcScratch::default();
        self.for_blocks(|_| true, |block| weigh(block, &numbers, &mut arcs, &mut weights))?;
        let inside = match self.loops {
            LoopWeight::Twice => 1.0,
            LoopWeight::Once => 2.0,
        };
        let scaled = |(pair, weight): ([u32; 2], f64)| {
            (pair, if pair[0] == pair[1] { inside * weight } else { weight })
        };
        let mut weights: Vec<_> = weights.into_iter().map(scaled).collect();
        weights.sort_unstable_by_key(|(pair, _)| *pair);
        Ok(weights)
    }
}

/// Adds the weights of the edges from a block's nodes to nodes before them, and of loops.
fn weigh(
    block: &Block,
    numbers: &Labeled,
    arcs: &mut ArcScratch,
    weights: &mut HashMap<[u32; 2], f64>,
) -> Result<()> {
    for local in 0..block.node_count() {
        let node = block.first_node() + local as u32;
        let own = numbers.label(node);
        block.for_each_segment(local, arcs, |targets, codes| {
            f64::for_each(targets, codes, |target, weight| {
                if target < node {
                    let other = numbers.label(target);
                    *weights.entry([own.min(other), own.max(other)]).or_default() += weight;
                }
            });
        })?;
        let weight = block.self_loop(local);
        if weight > 0.0 {
            *weights.entry([own, own]).or_default() += weight;
        }
    }
    Ok(())
}

/// Returns the smallest root to which each root is connected by the links: pairs of a root and a smaller one,
/// ascending. Applied to the forests of several sets of links, it returns the forest of all of them.
pub fn forest(links: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    let mut nodes: Vec<u32> = links.iter().flatten().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let at = |node: &u32| nodes.binary_search(node).expect("all ends are nodes") as u32;
    let pieces = Pieces::new(nodes.len(), false);
    links.iter().for_each(|[a, b]| pieces.connect(at(a), at(b)));
    let roots = pieces.into_roots();
    let trees = nodes.iter().zip(&roots).map(|(&node, &root)| [node, nodes[root as usize]]);
    trees.filter(|[node, root]| node != root).collect()
}
