//! Generator of random edge lists of any size, streamed, with ground truth: planted partitions and R-MAT.
//!
//! Edge number `k` depends only on the seed and `k` (a counter-based generator), so threads generate
//! blocks of edges independently and the output is the same for any number of threads. Nodes are
//! positions `0..nodes`, grouped by community. A permutation made of a few multiplications maps a
//! position to a name, so names reveal nothing about communities and no table is needed.
//!
//! Memory: three buffers of about 1 MiB per thread, and 8 bytes per community.
//!
//! R-MAT is "R-MAT: A Recursive Model for Graph Mining" (Chakrabarti, Zhan, Faloutsos 2004) with the parameters of the
//! Graph500 benchmark; power-law community sizes are as in the LFR benchmark (Lancichinetti, Fortunato, Radicchi 2008).

use crate::error::opt::{
    COMMUNITY_EXPONENT, COMMUNITY_MAX, COMMUNITY_MIN, EDGE_FACTOR, EDGES, MIXING, NODES, OUTPUT,
    SCALE, TRUTH,
};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Files;
use crate::output::{Paths, Sink, Written};
use crate::progress::{Event, Observer, Stage, notify};
use crate::units::format_counted;
use crossbeam_channel::bounded;
use std::path::Path;

/// Edges per block; a thread generates one block at a time.
const BLOCK_EDGES: u64 = 1 << 15;
/// Maximum length of a line in bytes: two names of 15 bytes, a weight, tabs and the line end.
const LINE_BYTES: usize = 40;

/// Options of the generator.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// The random graph.
    pub model: Model,
    /// Form of node names.
    pub names: NameKind,
    /// Whether to write a weight as a third column.
    pub weights: bool,
    /// Random seed.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// A model of random graphs.
#[derive(Debug, Clone)]
pub enum Model {
    /// Communities with power-law sizes and a given fraction of edges between them.
    Planted(Planted),
    /// Recursive matrix, with hubs and without ground truth.
    Rmat(Rmat),
}

/// Planted partition. Every node is the source of an edge if there are at least as many edges as nodes. Sources and
/// targets are uniform, so degrees are nearly equal. The same pair may be drawn twice.
#[derive(Debug, Clone)]
pub struct Planted {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Fraction of edges whose target is drawn from all nodes instead of the source's community.
    pub mixing: f64,
    /// Minimum community size.
    pub community_min: u64,
    /// Maximum community size.
    pub community_max: u64,
    /// Exponent `e` of the size distribution: the frequency of size `s` is proportional to `s^-e`.
    pub community_exponent: f64,
    /// Order of the edges.
    pub order: EdgeOrder,
    /// Whether every edge is written again, in the other direction and with the same weight, after all edges.
    pub both_directions: bool,
}

impl Planted {
    /// Creates options for `edges` edges among `nodes` nodes, with the defaults of the command.
    pub fn new(nodes: u64, edges: u64) -> Self {
        Self {
            nodes,
            edges,
            mixing: 0.2,
            community_min: 10,
            community_max: 1000,
            community_exponent: 2.0,
            order: EdgeOrder::Shuffled,
            both_directions: false,
        }
    }
}

/// Order of the edges of a planted partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum EdgeOrder {
    /// Random: adjacent lines are unrelated.
    Shuffled,
    /// Grouped by source, as in the output of a similarity search.
    Grouped,
}

/// R-MAT graph with `2^scale` nodes and `edge_factor` times as many edges; a, b, c = 0.57, 0.19, 0.19. Nodes without
/// edges are not written.
#[derive(Debug, Clone)]
pub struct Rmat {
    /// Binary logarithm of the number of nodes.
    pub scale: u32,
    /// Edges per node.
    pub edge_factor: u64,
}

/// Form of node names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum NameKind {
    /// Strings of 12 to 15 bytes, like sequence accession numbers: `WP_0123456789.1`.
    String,
    /// Integers from 0.
    Integer,
}

/// Summary of a generated edge list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Generated {
    /// Nodes of the model; with R-MAT some of them have no edges.
    pub node_count: u64,
    /// Number of edges.
    pub edge_count: u64,
    /// Number of communities, if the model has ground truth.
    pub community_count: Option<u64>,
    /// Length of the edge list in bytes.
    pub write_bytes: u64,
}

/// Writes an edge list to `output` and, for a planted partition, a line `name<TAB>community` for every node to `truth`.
///
/// # Errors
/// `Usage` for options out of range; `Io` or `DiskFull` with the path; `Interrupted`.
pub fn generate(
    files: &Files,
    options: &GenerateOptions,
    output: &Path,
    truth: Option<&Path>,
    observer: &dyn Observer,
) -> Result<Generated> {
    let maker = Maker::new(options)?;
    if truth.is_some() && maker.communities().is_none() {
        return Err(Error::new(ErrorKind::Usage, "R-MAT graphs have no known communities")
            .hint(format_args!("leave out {TRUTH}, or use `generate planted`")));
    }
    Paths::default().write(OUTPUT, [output]).write(TRUTH, truth).check(files)?;
    Written::TEXT.check(&OUTPUT, output)?;
    truth.map_or(Ok(()), |path| Written::TEXT.check(&TRUTH, path))?;
    let mut sink = Sink::create(files, output)?;
    // Fails on a bad truth path before any edges are generated.
    let truth_sink = truth.map(|path| Sink::create(files, path)).transpose()?;
    let total = Some(maker.line_count);
    notify(observer, Event::Begin { stage: Stage::Generate, total, unit: "edges" })?;
    let edges = |block: u64, out: &mut Vec<u8>| maker.edges(block, out);
    blocks_in_order(maker.line_count, options.threads, edges, &mut |text, done| {
        sink.write(text)?;
        notify(observer, Event::Advance { done })
    })?;
    let write_bytes = sink.finish()?;
    if let Some(mut sink) = truth_sink {
        let nodes = |block: u64, out: &mut Vec<u8>| maker.truth(block, out);
        blocks_in_order(maker.node_count, options.threads, nodes, &mut |text, _| {
            sink.write(text)?;
            notify(observer, Event::Detail { text: "writing the truth" })
        })?;
        sink.finish()?;
    }
    let summary = maker.summary();
    notify(observer, Event::End { summary: &summary })?;
    Ok(Generated {
        node_count: maker.node_count,
        edge_count: maker.edge_count,
        community_count: maker.communities().map(|communities| communities.count()),
        write_bytes,
    })
}

/// Fills blocks of `BLOCK_EDGES` of `total` items on `threads` threads and passes them to `take` in order.
fn blocks_in_order(
    total: u64,
    threads: usize,
    fill: impl Fn(u64, &mut Vec<u8>) + Sync,
    take: &mut dyn FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    let block_count = total.div_ceil(BLOCK_EDGES);
    let threads = (threads.max(1) as u64).min(block_count.max(1));
    std::thread::scope(|scope| {
        // Thread t fills the blocks t, t + threads, ..., so their order needs no bookkeeping.
        let mut lanes = Vec::new();
        for first in 0..threads {
            let (made, to_take) = bounded::<Vec<u8>>(1);
            let (give_back, recycled) = bounded::<Vec<u8>>(2);
            let fill = &fill;
            scope.spawn(move || {
                for block in (first..block_count).step_by(threads as usize) {
                    let mut text = recycled.try_recv().unwrap_or_default();
                    text.clear();
                    fill(block, &mut text);
                    if made.send(text).is_err() {
                        return;
                    }
                }
            });
            lanes.push((to_take, give_back));
        }
        for block in 0..block_count {
            let (to_take, give_back) = &lanes[(block % threads) as usize];
            let text = to_take.recv().expect("each thread sends all its blocks");
            take(&text, ((block + 1) * BLOCK_EDGES).min(total))?;
            // If the thread has ended, the buffer is no longer needed.
            let _ = give_back.try_send(text);
        }
        Ok(())
    })
}

/// Generator state shared by all edges, derived from the options.
struct Maker {
    shape: GraphShape,
    node_count: u64,
    edge_count: u64,
    /// Twice the number of edges if they are written in both directions.
    line_count: u64,
    naming: Naming,
    weights: bool,
    seed: u64,
}

enum GraphShape {
    Planted { communities: PlantedCommunities, mixing: u64, order: EdgeOrder, sources: Permutation },
    Rmat { scale: u32 },
}

impl Maker {
    fn new(options: &GenerateOptions) -> Result<Self> {
        let seed = mix(options.seed ^ 0x6f75_7463_6f72_6521);
        let (shape, node_count, edge_count, directions) = match &options.model {
            Model::Planted(planted) => {
                planted.check()?;
                let shape = GraphShape::Planted {
                    communities: PlantedCommunities::draw(planted, seed),
                    // Scaled to 2^64, so that a draw needs only one comparison.
                    mixing: (planted.mixing * 2f64.powi(64)) as u64,
                    order: planted.order,
                    sources: Permutation::new(planted.nodes, mix(seed + 1)),
                };
                (shape, planted.nodes, planted.edges, 1 + u64::from(planted.both_directions))
            }
            Model::Rmat(rmat) => {
                if !(1..=31).contains(&rmat.scale) {
                    return Err(Error::usage(format_args!("{SCALE} must be from 1 to 31")));
                }
                if rmat.edge_factor == 0 || rmat.edge_factor > 1 << 24 {
                    return Err(Error::usage(format_args!(
                        "{EDGE_FACTOR} must be from 1 to 16777216"
                    )));
                }
                let nodes = 1u64 << rmat.scale;
                (GraphShape::Rmat { scale: rmat.scale }, nodes, nodes * rmat.edge_factor, 1)
            }
        };
        let naming = Naming::new(options.names, node_count, mix(seed + 2));
        let line_count = directions * edge_count;
        let weights = options.weights;
        Ok(Self { shape, node_count, edge_count, line_count, naming, weights, seed })
    }

    fn communities(&self) -> Option<&PlantedCommunities> {
        match &self.shape {
            GraphShape::Planted { communities, .. } => Some(communities),
            GraphShape::Rmat { .. } => None,
        }
    }

    fn summary(&self) -> String {
        let edges = format_counted(self.edge_count, "edge", "edges");
        let nodes = format_counted(self.node_count, "node", "nodes");
        match self.communities() {
            Some(c) => {
                let communities = format_counted(c.count(), "community", "communities");
                format!("{edges}, {nodes}, {communities}")
            }
            None => format!("{edges}, {nodes} at most"),
        }
    }

    /// Appends the lines of block number `block`.
    fn edges(&self, block: u64, out: &mut Vec<u8>) {
        let range = block * BLOCK_EDGES..((block + 1) * BLOCK_EDGES).min(self.line_count);
        out.reserve(LINE_BYTES * (range.end - range.start) as usize);
        match &self.shape {
            GraphShape::Planted { communities, mixing, order: EdgeOrder::Shuffled, sources } => {
                self.lines(range, out, |edge, draw| {
                    let source = if edge < self.node_count {
                        sources.map(edge)
                    } else {
                        draw.below(self.node_count)
                    };
                    communities.edge_from(source, *mixing, draw)
                });
            }
            GraphShape::Planted { communities, mixing, order: EdgeOrder::Grouped, sources } => {
                self.lines(range, out, |edge, draw| {
                    let rank = u128::from(edge) * u128::from(self.node_count)
                        / u128::from(self.edge_count);
                    communities.edge_from(sources.map(rank as u64), *mixing, draw)
                });
            }
            GraphShape::Rmat { scale } => self.lines(range, out, |_, draw| rmat_edge(*scale, draw)),
        }
    }

    #[inline]
    fn lines(
        &self,
        range: std::ops::Range<u64>,
        out: &mut Vec<u8>,
        edge_of: impl Fn(u64, &mut Draw) -> PlantedEdge,
    ) {
        for line in range {
            let is_reversed = line >= self.edge_count;
            let number = if is_reversed { line - self.edge_count } else { line };
            let mut draw = Draw::new(self.seed, number);
            let edge = edge_of(number, &mut draw);
            let ends = [edge.source, edge.target];
            self.naming.put(ends[usize::from(is_reversed)], out);
            out.push(b'\t');
            self.naming.put(ends[usize::from(!is_reversed)], out);
            if self.weights {
                // Three digits; edges inside a community are heavier, with some overlap.
                let (low, width) = if edge.is_inside { (300, 700) } else { (50, 450) };
                let thousandths = low + draw.below(width);
                out.extend_from_slice(b"\t0.");
                put_digits(thousandths, 3, out);
            }
            out.push(b'\n');
        }
    }

    /// Appends the ground truth of block number `block` of the nodes.
    fn truth(&self, block: u64, out: &mut Vec<u8>) {
        let communities = self.communities().expect("checked before the first block");
        let mut digits = itoa::Buffer::new();
        for position in block * BLOCK_EDGES..((block + 1) * BLOCK_EDGES).min(self.node_count) {
            self.naming.put(position, out);
            out.push(b'\t');
            let community = communities.at(position);
            out.extend_from_slice(digits.format(community).as_bytes());
            out.push(b'\n');
        }
    }
}

impl Planted {
    fn check(&self) -> Result<()> {
        if !(2..=u64::from(u32::MAX)).contains(&self.nodes) {
            return Err(Error::usage(format_args!("{NODES} must be from 2 to 4294967295")));
        }
        if !(1..=1 << 56).contains(&self.edges) {
            return Err(Error::usage(format_args!("{EDGES} must be at least 1")));
        }
        if !(0.0..=1.0).contains(&self.mixing) {
            return Err(Error::usage(format_args!("{MIXING} is a share and must be from 0 to 1")));
        }
        if self.community_min < 2 || self.community_min > self.community_max {
            return Err(Error::usage(format_args!(
                "{COMMUNITY_MIN} must be at least 2 and at most {COMMUNITY_MAX}"
            )));
        }
        if !(self.community_exponent > 1.0 && self.community_exponent <= 100.0) {
            return Err(Error::usage(format_args!(
                "{COMMUNITY_EXPONENT} must be above 1 and at most 100"
            )));
        }
        Ok(())
    }
}

struct PlantedEdge {
    source: u64,
    target: u64,
    is_inside: bool,
}

/// Communities of a planted partition: community `c` has the positions `starts[c]..starts[c + 1]`.
struct PlantedCommunities {
    starts: Vec<u32>,
    /// Positions are divided into equal ranges, one per community. For each range, the community at its first position,
    /// from which a lookup advances a few steps.
    guide: Vec<u32>,
    nodes: u64,
}

impl PlantedCommunities {
    fn draw(planted: &Planted, seed: u64) -> Self {
        let nodes = planted.nodes;
        let power = 1.0 - planted.community_exponent;
        let low = (planted.community_min as f64).powf(power);
        let high = ((planted.community_max + 1) as f64).powf(power);
        let mut starts = vec![0u32];
        let mut filled = 0u64;
        while filled < nodes {
            let share = Draw::new(mix(seed + 3), starts.len() as u64).unit();
            let size = (low + share * (high - low)).powf(1.0 / power) as u64;
            let size = size.clamp(planted.community_min, planted.community_max);
            let rest = nodes - filled;
            // A remainder too small for a community joins the last one.
            let size = if rest < size + planted.community_min { rest } else { size };
            filled += size;
            starts.push(filled as u32);
        }
        let count = (starts.len() - 1) as u64;
        let mut community = 0;
        let guide = (0..count)
            .map(|range| {
                let first = (range * nodes).div_ceil(count);
                while u64::from(starts[community + 1]) <= first {
                    community += 1;
                }
                community as u32
            })
            .collect();
        Self { starts, guide, nodes }
    }

    fn count(&self) -> u64 {
        self.guide.len() as u64
    }

    #[inline]
    fn at(&self, position: u64) -> usize {
        let range = position * self.count() / self.nodes;
        let mut community = self.guide[range as usize] as usize;
        while u64::from(self.starts[community + 1]) <= position {
            community += 1;
        }
        community
    }

    #[inline]
    fn edge_from(&self, source: u64, mixing: u64, draw: &mut Draw) -> PlantedEdge {
        let community = self.at(source);
        let (start, end) =
            (u64::from(self.starts[community]), u64::from(self.starts[community + 1]));
        let (low, high) = if draw.next() >= mixing { (start, end) } else { (0, self.nodes) };
        // Excludes the source: one position fewer to draw from; targets from the source on move up by one.
        let mut target = low + draw.below(high - low - 1);
        if target >= source {
            target += 1;
        }
        PlantedEdge { source, target, is_inside: (start..end).contains(&target) }
    }
}

fn rmat_edge(scale: u32, draw: &mut Draw) -> PlantedEdge {
    // Thresholds of a, a + b and a + b + c in 16 bits.
    const A: u64 = 37_356;
    const AB: u64 = 49_807;
    const ABC: u64 = 62_259;
    loop {
        let (mut source, mut target, mut bits) = (0, 0, 0);
        for level in 0..scale {
            if level % 4 == 0 {
                bits = draw.next();
            }
            let quarter = bits & 0xffff;
            bits >>= 16;
            source = source << 1 | u64::from(quarter >= AB);
            target = target << 1 | u64::from((A..AB).contains(&quarter) || quarter >= ABC);
        }
        if source != target {
            return PlantedEdge { source, target, is_inside: false };
        }
    }
}

/// Mapping of positions to names.
struct Naming {
    names: NameKind,
    permutation: Permutation,
}

/// Bits of a string name: two for its prefix, 32 for its digits.
const NAME_BITS: u32 = 34;

impl Naming {
    fn new(names: NameKind, nodes: u64, seed: u64) -> Self {
        let size = match names {
            NameKind::String => 1 << NAME_BITS,
            NameKind::Integer => nodes,
        };
        Self { names, permutation: Permutation::new(size, seed) }
    }

    #[inline]
    fn put(&self, position: u64, out: &mut Vec<u8>) {
        let number = self.permutation.map(position);
        if self.names == NameKind::Integer {
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            return;
        }
        const PREFIXES: [&[u8; 3]; 4] = [b"WP_", b"NP_", b"XP_", b"YP_"];
        out.extend_from_slice(PREFIXES[number as usize & 3]);
        let digits = number >> 2;
        put_digits(digits, if digits < 1_000_000_000 { 9 } else { 10 }, out);
        if number & 4 != 0 {
            out.extend_from_slice(b".1");
        }
    }
}

/// Appends the last `count` decimal digits of `number`, at most 10.
#[inline]
fn put_digits(mut number: u64, count: usize, out: &mut Vec<u8>) {
    let mut text = [0u8; 10];
    for digit in text[..count].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[..count]);
}

/// Permutation of `0..size`: rounds of an odd multiplication and a shift, which are invertible, on the next power of
/// two. Values outside `0..size` are permuted again until they fall inside.
struct Permutation {
    size: u64,
    mask: u64,
    shift: u32,
    keys: [u64; 3],
}

impl Permutation {
    fn new(size: u64, seed: u64) -> Self {
        let bits = (size - 1).max(1).ilog2() + 1;
        let keys = [mix(seed), mix(seed + 1), mix(seed + 2)];
        Self { size, mask: (1 << bits) - 1, shift: bits.div_ceil(2), keys }
    }

    #[inline]
    fn map(&self, mut value: u64) -> u64 {
        loop {
            for key in self.keys {
                value = value.wrapping_mul(key | 1).wrapping_add(key >> 32) & self.mask;
                value ^= value >> self.shift;
            }
            if value < self.size {
                return value;
            }
        }
    }
}

/// Random numbers for one edge: SplitMix64 (Steele, Lea, Flood 2014), seeded with the edge's number.
struct Draw(u64);

impl Draw {
    #[inline]
    fn new(seed: u64, number: u64) -> Self {
        Self(mix(seed ^ mix(number)))
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        finish(self.0)
    }

    /// Returns a number in `0..limit`, with a bias below `limit / 2^64`.
    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a number in `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[inline]
fn mix(value: u64) -> u64 {
    finish(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

#[inline]
fn finish(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
