//! After the sweeps: connected pieces of communities across parts, what they add up to, their final numbers, and
//! the graph of communities.
//!
//! ```text
//!  roots     every part joins its own nodes; tells parts after it the pieces of their neighbors
//!  links     every part, of what it was told: which pieces of parts before it go on in its own
//!  forest    somewhere, level by level: which piece belongs to which; links become a forest each time
//!  settle    every part: the roots of its nodes in the end, and what they add up to
//!  rename    every part: final numbers, which somebody else has given to the roots
//!  announce  every part tells its neighbors the numbers of nodes
//!  contract  every part: weights between communities
//! ```

use super::words::{Words, put};
use super::{Message, Part, Places, damaged};
use outcore::Result;
use outcore::cluster::base::parallel::PerThread;
use outcore::cluster::base::table::Sum;
use outcore::cluster::finish::connect::{Closing, NodeSums, Pieces, block_sums};
use outcore::cluster::store::by_node::KnownLabels;
use outcore::graph::{ArcScratch, Block};
use std::collections::{BTreeMap, HashMap};

/// What the nodes of a part add up to: an entry for each root.
#[derive(Debug, Default, PartialEq)]
pub struct CommunitySums {
    /// Smallest nodes of communities, ascending.
    pub roots: Vec<u32>,
    /// The labels that they had when they were propagated.
    pub labels: Vec<u32>,
    /// Nodes.
    pub counts: Vec<u32>,
    /// Weight of the arcs of these nodes, loops counted twice.
    pub strengths: Vec<f64>,
    /// The share of it that stays inside communities.
    pub insides: Vec<f64>,
}

/// What is known of a part's own nodes, and of those outside to which it has arcs: labels, or numbers.
pub struct Labeled {
    first: u32,
    own: Vec<u32>,
    outside: Vec<u32>,
    places: Places,
    around: Vec<u32>,
}

impl Labeled {
    /// Of a part: for each own node; nodes outside, ascending, and for each of these.
    ///
    /// # Errors
    /// `CorruptFile` if these do not fit.
    pub fn new(part: &Part, own: Vec<u32>, outside: Vec<u32>, around: Vec<u32>) -> Result<Self> {
        let fits = own.len() == part.nodes().len()
            && outside.len() == around.len()
            && outside.iter().all(|&node| node < part.node_count())
            && outside.is_sorted();
        if !fits {
            return Err(damaged("labels are not those of its nodes"));
        }
        let places = Places::new(&outside, part.node_count())?;
        Ok(Self { first: part.nodes().start, own, outside, places, around })
    }

    /// For each own node; nodes outside, ascending, and for each of these.
    pub fn into_arrays(self) -> [Vec<u32>; 3] {
        [self.own, self.outside, self.around]
    }

    /// Of a part: for each own node, and what other parts have announced of theirs.
    ///
    /// # Errors
    /// `CorruptFile` if a neighbor is missing.
    pub fn told(part: &Part, own: Vec<u32>, messages: Vec<Message>) -> Result<Self> {
        let (outside, around) = Pairs::gather(messages)?;
        let labels = Self::new(part, own, outside, around)?;
        if part.outside()?.into_iter().any(|node| !labels.places.contains(node)) {
            return Err(damaged("numbers of neighbors are missing"));
        }
        Ok(labels)
    }

    /// Enters what other parts have announced of some of their nodes.
    ///
    /// # Errors
    /// `CorruptFile` if these are others.
    pub fn hear(&mut self, messages: Vec<Message>) -> Result<()> {
        let (nodes, labels) = Pairs::gather(messages)?;
        for (node, label) in nodes.into_iter().zip(labels) {
            if self.outside.binary_search(&node).is_err() {
                return Err(damaged("a message is about other nodes"));
            }
            self.around[self.places.of(node)] = label;
        }
        Ok(())
    }

    /// The same of nodes outside, with other labels of the own nodes.
    pub(super) fn with_own(self, own: Vec<u32>) -> Self {
        Self { own, ..self }
    }

    /// All labels, ascending, each once.
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

    /// The label of an own node.
    pub(super) fn own_label(&self, node: u32) -> u32 {
        self.own[(node - self.first) as usize]
    }

    /// The same label for all.
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

/// Nodes and what is told of each.
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

    /// What is told by all messages, by node.
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
    /// Joins neighbors of the same label: the smallest node of each of its nodes' pieces, as far as it lies in this
    /// part; and for parts after it the pieces of their neighbors.
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
        let messages = later.into_iter().map(|(part, told)| {
            let mut pairs = Pairs::default();
            told.iter().for_each(|&(node, _)| pairs.push(node, roots[(node - first) as usize]));
            pairs.to_message(part as u32)
        });
        let messages = messages.collect();
        Ok((roots, messages))
    }

    /// Which pieces of parts before it hang together with its own: pairs of roots, as a forest.
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
            return Err(damaged("roots are not those of its nodes"));
        }
        let (told, pieces) = Pairs::gather(messages)?;
        let places = Places::new(&told, self.node_count())?;
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

    /// The roots of its nodes in the end, where `forest` tells of other roots of its pieces; and what they add up to.
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
            return Err(damaged("roots are not those of its nodes"));
        }
        let above: HashMap<u32, u32> = forest.iter().map(|&[root, above]| (root, above)).collect();
        roots.iter_mut().for_each(|root| *root = above.get(root).copied().unwrap_or(*root));
        let sums = match self.graph.is_weighted() {
            true => self.sums::<f64>(labels, &roots)?,
            false => self.sums::<u32>(labels, &roots)?,
        };
        Ok((roots, sums))
    }

    fn sums<S: Sum>(&self, labels: &Labeled, roots: &[u32]) -> Result<CommunitySums> {
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
        };
        let scratch = PerThread::new(Closing::default);
        let mut of_nodes: Vec<NodeSums> = Vec::new();
        let mut own = labels.own.iter().zip(roots);
        self.for_blocks(
            |_| true,
            |block| {
                let pieces = None::<&Pieces>;
                block_sums::<S>(block, false, labels, pieces, &scratch, &mut of_nodes)?;
                for (node, (&label, root)) in of_nodes.iter().zip(&mut own) {
                    let Ok(at) = sums.roots.binary_search(root) else { continue };
                    sums.labels[at] = label;
                    sums.counts[at] += 1;
                    sums.strengths[at] += node.strength;
                    sums.insides[at] += node.inside;
                }
                Ok(())
            },
        )?;
        Ok(sums)
    }

    /// The final numbers of its nodes: `named` are roots, ascending, with their `numbers`.
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

    /// Tells parts that have arcs to its nodes the numbers of these, of those that it `tells`.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn announce(&self, numbers: &[u32], tells: impl Fn(u32) -> bool) -> Result<Vec<Message>> {
        let first = self.nodes().start;
        if numbers.len() != self.nodes().len() {
            return Err(damaged("numbers are not those of its nodes"));
        }
        let mut told: BTreeMap<usize, Pairs> = BTreeMap::new();
        self.for_owners(tells, |node, part, _| {
            if part != self.index {
                told.entry(part).or_default().push(node, numbers[(node - first) as usize]);
            }
        })?;
        Ok(told.into_iter().map(|(part, pairs)| pairs.to_message(part as u32)).collect())
    }

    /// Weights between the communities of its nodes, each edge counted at its later node: pairs of numbers,
    /// ascending, the smaller first, and the weight of each. Of a community with itself it is the weight inside.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn contract(
        &self,
        numbers: Vec<u32>,
        messages: Vec<Message>,
    ) -> Result<Vec<([u32; 2], f64)>> {
        let numbers = Labeled::told(self, numbers, messages)?;
        let mut weights: HashMap<[u32; 2], f64> = HashMap::new();
        let mut arcs = ArcScratch::default();
        self.for_blocks(|_| true, |block| weigh(block, &numbers, &mut arcs, &mut weights))?;
        let mut weights: Vec<_> = weights.into_iter().collect();
        weights.sort_unstable_by_key(|(pair, _)| *pair);
        Ok(weights)
    }
}

/// Adds the edges of a block's nodes to nodes before them.
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

/// The smallest root that each root hangs together with, by links between roots: pairs of a root and a smaller one,
/// ascending. Given the forests of several sets of links it is the forest of all.
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
