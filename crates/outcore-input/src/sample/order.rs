//! Order of the edges of a sample: how near to each other are the numbers that their two ends get.
//!
//! Nodes are numbered where they appear first. In a list from a search or a crawl, neighbors appear together, and the
//! differences between their numbers take few bits, in runs and in the graph. A piece of the file shows which edges lead to
//! names that occur nowhere else in it: to visitors. A node that visits other places before its own edges come has a number
//! from there, which is as good as random. The more visitors a list has, the fewer neighbors have near numbers; so the
//! names of each piece are numbered as they would be at its place in the file, and its edges are encoded. Pieces do not
//! show whether names that were numbered before are near to each other, as in a list of queries in random order: that is
//! the best case.
//!
//! Cost: a sort of the edges of the sample. Memory: 8 bytes per edge.

use outcore_graph::ArcRecord;
use outcore_graph::weight::Weight;
use outcore_sort::Record;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Minimum number of adjacent edges of one source that count as a list of its neighbors.
const LIST_EDGES: usize = 16;

/// Maximum number of nodes before a piece, so that its names have numbers, too, and differences of numbers fit.
const MOST_BEFORE: f64 = (1u32 << 31) as f64;

/// Order of the edges of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeOrder {
    /// Share of the edges whose two ends get numbers where these edges are.
    pub near_share: f64,
    /// Mean bits of such an edge in a run.
    pub near_bits: f64,
    /// Mean number of adjacent edges with the same source among the others.
    pub far_row: f64,
    /// Mean bits of an arc in the rows of the graph that a piece shows.
    pub arc_bits: f64,
    /// Share of the arcs that it does not show: those back from the nodes that are visited.
    pub back_share: f64,
}

impl EdgeOrder {
    /// Random order, in which all numbers are far from each other.
    pub const RANDOM: Self =
        Self { near_share: 0.0, near_bits: 0.0, far_row: 1.0, arc_bits: 0.0, back_share: 1.0 };
    /// Order of a search in which neighbors are listed together: lists of dense groups, with two lines a pair.
    pub const GROUPED: Self =
        Self { near_share: 1.0, near_bits: 9.0, far_row: 1.0, arc_bits: 8.0, back_share: 0.0 };
}

/// Edges of a sample, piece by piece. Names are numbered in the order in which they occur in the sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SampledOrder {
    edges: Vec<[u32; 2]>,
    /// Where the edges of each piece end.
    ends: Vec<usize>,
    name_count: u32,
}

/// Size of an input whose order is sampled.
pub(crate) struct OrderSize {
    pub(crate) edge_count: u64,
    pub(crate) node_count: u64,
    /// Pairs of equal edges that are far from each other.
    pub(crate) elsewhere: f64,
    pub(crate) directed: bool,
}

/// What pieces show of names that appear together.
#[derive(Default)]
struct Together {
    /// Names that a piece has once, over all pieces.
    visitors: u64,
    /// Edges in lists of neighbors, or between names that a piece has several times.
    edges: u64,
}

/// Sums over the pieces.
#[derive(Default)]
struct Sums {
    near: u64,
    near_bytes: u64,
    far: u64,
    far_rows: u64,
    arcs: u64,
    arc_bytes: u64,
    /// Arcs among them that lead to visited nodes.
    visiting: u64,
}

impl SampledOrder {
    /// Returns the number of a name, which is `None` until it has one.
    pub(crate) fn number(&mut self, of: &mut Option<u32>) -> u32 {
        *of.get_or_insert_with(|| {
            self.name_count += 1;
            self.name_count - 1
        })
    }

    /// Adds an edge between two numbered names to a piece, counted from 1.
    pub(crate) fn add(&mut self, piece: u64, edge: [u32; 2]) {
        self.edges.push(edge);
        self.ends.resize(piece as usize, self.edges.len() - 1);
        if let Some(end) = self.ends.last_mut() {
            *end = self.edges.len();
        }
    }

    /// Returns the likely order of an input, and the best one.
    pub(crate) fn of(&self, size: &OrderSize) -> [EdgeOrder; 2] {
        if self.edges.is_empty() {
            return [EdgeOrder::RANDOM; 2];
        }
        let pieces = self.pieces();
        let Together { visitors, edges } = self.together(&pieces);
        let share = |count: u64| count as f64 / self.edges.len() as f64;
        let visiting = share(visitors) * size.edge_count as f64;
        let nodes = size.node_count.max(1) as f64;
        let mut numbers = vec![u32::MAX; self.name_count as usize];
        let mut sums = Sums::default();
        for (at, edges) in pieces.iter().enumerate() {
            let place = (at as f64 + 0.5) / pieces.len() as f64;
            let unseen = (1.0 - place).powf(visiting / nodes);
            let before = (nodes * (1.0 - unseen * (1.0 - place))).min(MOST_BEFORE);
            let numbering = Numbering { piece: at as u64, unseen, before: before as u32 };
            numbering.number(edges, &mut numbers);
            sums.add(edges, &numbers, numbering.before, size.directed);
            edges.as_flattened().iter().for_each(|&name| numbers[name as usize] = u32::MAX);
        }
        // Edges to visitors are listed where these are at home, too, if they are repeated far from here.
        let unlisted = match size.directed {
            true => 0.0,
            false => 1.0 - (2.0 * size.elsewhere / visiting.max(1.0)).min(1.0),
        };
        let likely = sums.order(unlisted);
        let together = share(edges);
        let fewer_bits = (likely.arc_bits - EdgeOrder::GROUPED.arc_bits).max(0.0);
        let best = EdgeOrder {
            near_share: likely.near_share.max(together),
            near_bits: likely.near_bits.min(EdgeOrder::GROUPED.near_bits),
            arc_bits: likely.arc_bits - together * fewer_bits,
            back_share: likely.back_share.min(1.0 - together),
            ..likely
        };
        [likely, best]
    }

    fn pieces(&self) -> Vec<&[[u32; 2]]> {
        let mut begin = 0;
        let piece = |&end: &usize| &self.edges[std::mem::replace(&mut begin, end)..end];
        self.ends.iter().map(piece).collect()
    }

    /// Counts visitors, and edges between neighbors that appear together.
    fn together(&self, pieces: &[&[[u32; 2]]]) -> Together {
        let mut counts = vec![0u32; self.name_count as usize];
        let mut all = Together::default();
        for edges in pieces {
            let names = edges.as_flattened();
            names.iter().for_each(|&name| counts[name as usize] += 1);
            let is_visitor = |name: u32| counts[name as usize] == 1;
            all.visitors += names.iter().filter(|&&name| is_visitor(name)).count() as u64;
            let is_home = |edge: &[u32; 2]| !edge.iter().any(|&name| is_visitor(name));
            for row in edges.chunk_by(|a, b| a[0] == b[0]) {
                let together = if row.len() >= LIST_EDGES {
                    row.len()
                } else {
                    row.iter().filter(|edge| is_home(edge)).count()
                };
                all.edges += together as u64;
            }
            names.iter().for_each(|&name| counts[name as usize] = 0);
        }
        all
    }
}

/// Numbers of the names of a piece.
struct Numbering {
    piece: u64,
    /// Share of the names that have not visited other places before.
    unseen: f64,
    /// Number of nodes before the piece.
    before: u32,
}

impl Numbering {
    fn number(&self, edges: &[[u32; 2]], numbers: &mut [u32]) {
        let mut next = self.before;
        for &name in edges.as_flattened() {
            let number = &mut numbers[name as usize];
            if *number != u32::MAX {
                continue;
            }
            let random = xxh3_64_with_seed(&name.to_le_bytes(), self.piece);
            let chance = (random >> 32) as f64 / (1u64 << 32) as f64;
            *number = if chance < self.unseen {
                next += 1;
                next - 1
            } else {
                ((u64::from(random as u32) * u64::from(self.before)) >> 32) as u32
            };
        }
    }
}

impl Sums {
    /// Adds the edges of a piece, before which there are `before` nodes.
    fn add(&mut self, edges: &[[u32; 2]], numbers: &[u32], before: u32, directed: bool) {
        let arc =
            |[source, target]: [u32; 2]| ArcRecord { source, target, weight: Weight::ONE.code() };
        let edges = edges.iter().map(|edge| edge.map(|name| numbers[name as usize]));
        let sorted = |ends: [u32; 2]| {
            if directed { ends } else { [ends[0].min(ends[1]), ends[0].max(ends[1])] }
        };
        let mut records: Vec<ArcRecord> = edges.clone().map(sorted).map(arc).collect();
        records.sort_unstable_by_key(Record::key);
        let is_near = |record: &ArcRecord| record.source.min(record.target) >= before;
        let (near, far): (Vec<_>, Vec<_>) = records.iter().partition(|record| is_near(record));
        self.near += near.len() as u64;
        self.near_bytes += encoded_bytes(&near);
        self.far += far.len() as u64;
        self.far_rows += far.chunk_by(|a, b| a.source == b.source).count() as u64;
        let mirrored =
            edges.clone().map(|[a, b]| [b, a]).take(if directed { 0 } else { usize::MAX });
        let mut arcs: Vec<ArcRecord> =
            edges.chain(mirrored).filter(|[a, b]| a != b).map(arc).collect();
        arcs.sort_unstable_by_key(Record::key);
        arcs.dedup();
        let lone: HashSet<u32> = arcs
            .chunk_by(|a, b| a.source == b.source)
            .filter(|row| row.len() == 1)
            .map(|row| row[0].source)
            .collect();
        let rows = rows_of_gaps(&arcs);
        let in_rows =
            arcs.chunk_by(|a, b| a.source == b.source).filter(|row| row.len() > 1).flatten();
        self.visiting += in_rows.filter(|arc| lone.contains(&arc.target)).count() as u64;
        self.arcs += rows.len() as u64;
        self.arc_bytes += encoded_bytes(&rows);
    }

    /// Returns the order, if this share of the edges to visited nodes is not listed there.
    fn order(&self, unlisted: f64) -> EdgeOrder {
        let back = self.visiting as f64 * unlisted;
        let all = (self.near + self.far).max(1) as f64;
        let bits = |bytes: u64, count: u64| 8.0 * bytes as f64 / count.max(1) as f64;
        EdgeOrder {
            near_share: self.near as f64 / all,
            near_bits: bits(self.near_bytes, self.near),
            far_row: (self.far as f64 / self.far_rows.max(1) as f64).max(1.0),
            arc_bits: bits(self.arc_bytes, self.arcs),
            back_share: if self.arcs == 0 { 1.0 } else { back / (self.arcs as f64 + back) },
        }
    }
}

/// Returns the rows of nodes that are no visitors, under consecutive numbers: in a graph, a row has no number.
fn rows_of_gaps(arcs: &[ArcRecord]) -> Vec<ArcRecord> {
    let mut rows = Vec::with_capacity(arcs.len());
    let full = arcs.chunk_by(|a, b| a.source == b.source).filter(|row| row.len() > 1);
    for (source, row) in (0..).zip(full) {
        // The first target of a row is stored as its difference to the source, the others as theirs to the one before.
        let shift = source + row[0].target.abs_diff(row[0].source);
        let target = |arc: &ArcRecord| (arc.target - row[0].target).saturating_add(shift);
        rows.extend(row.iter().map(|arc| ArcRecord { source, target: target(arc), ..*arc }));
    }
    rows
}

fn encoded_bytes(records: &[ArcRecord]) -> u64 {
    let mut bytes = Vec::new();
    ArcRecord::encode(records, &mut bytes);
    bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a list: pieces of pairs of names.
    fn order(pieces: &[Vec<[u32; 2]>], size: &OrderSize) -> [EdgeOrder; 2] {
        let mut sample = SampledOrder::default();
        let mut numbers = vec![None; 1 << 20];
        for (piece, edges) in (1..).zip(pieces) {
            for edge in edges {
                let edge = edge.map(|name| sample.number(&mut numbers[name as usize]));
                sample.add(piece, edge);
            }
        }
        sample.of(size)
    }

    fn size(edge_count: u64, node_count: u64) -> OrderSize {
        OrderSize { edge_count, node_count, elsewhere: 0.0, directed: false }
    }

    fn random(seed: u64, below: u32) -> u32 {
        (xxh3_64_with_seed(&[], seed) % u64::from(below)) as u32
    }

    #[test]
    fn edges_in_random_order_are_far() {
        let nodes = 1_000_000;
        let line = |at: u64| [random(2 * at, nodes), random(2 * at + 1, nodes)];
        let pieces: Vec<Vec<_>> = (0..16)
            .map(|piece| (0..10_000).map(|at| line(10_000 * piece + at)).collect())
            .collect();
        let [likely, best] = order(&pieces, &size(10_000_000, nodes.into()));
        assert!(likely.near_share < 0.1 && best.near_share < 0.1, "{likely:?} {best:?}");
        assert!(likely.far_row < 1.1 && best.arc_bits > 18.0, "{likely:?} {best:?}");
    }

    /// Pairs of families of 50 names, one family after the other.
    #[test]
    fn edges_of_families_are_near() {
        let family = |first: u32| {
            (0..50)
                .flat_map(move |a| (0..50).map(move |b| [first + a, first + b]))
                .filter(|[a, b]| a != b)
        };
        let pieces: Vec<Vec<_>> = (0..16)
            .map(|piece| (0..4).flat_map(|at| family(200 * piece + 50 * at)).collect())
            .collect();
        let [likely, best] = order(&pieces, &size(50_000_000, 1_000_000));
        assert_eq!((likely.near_share, likely.back_share), (1.0, 0.0));
        assert!(likely.near_bits < 9.0 && likely.arc_bits < 9.0, "{likely:?}");
        assert_eq!(best, EdgeOrder { near_bits: likely.near_bits, ..likely });
    }

    /// Lists of neighbors, each of whose names occurs only there in its piece.
    #[test]
    fn lists_of_queries_in_random_order_are_near_at_best() {
        let list = |query: u32| (0..40).map(move |hit| [41 * query, 41 * query + 1 + hit]);
        let pieces: Vec<Vec<_>> =
            (0..16).map(|piece| (0..100).flat_map(|at| list(100 * piece + at)).collect()).collect();
        let [likely, best] = order(&pieces, &size(64_000_000, 100_000));
        assert!(likely.near_share < 0.1 && likely.far_row > 1.5, "{likely:?}");
        assert_eq!((best.near_share, best.back_share), (1.0, 0.0));
    }

    /// An estimate of the nodes may be beyond what a graph can have.
    #[test]
    fn any_size_has_an_order() {
        let chain = [(0..1000).map(|at| [at, at + 1]).collect()];
        for (edges, nodes) in [(1, 1), (1 << 44, 1 << 44), (u64::MAX, 1), (1, u64::MAX)] {
            let [likely, _] = order(&chain, &size(edges, nodes));
            assert!((0.0..=1.0).contains(&likely.near_share), "{likely:?}");
        }
        assert_eq!(order(&[], &size(1, 1)), [EdgeOrder::RANDOM; 2]);
    }
}
