//! Encodes raw blocks, on a thread of its own; see `block` for the layout.

use super::Limits;
use super::codec::{put_arcs, put_list};
use super::index::{IndexedWriter, Sealed};
use super::writer::RawBlock;
use crate::error::Result;
use crate::pack::{WeightScheme, put_varint};
use crate::weight::Weight;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What the writer hands over.
pub(super) enum Work {
    /// Complete nodes.
    Block(RawBlock),
    /// Arcs of a hub: whole segments, except at its end.
    Hub { raw: RawBlock, is_last: bool },
    /// That was all.
    Finish,
}

/// Sums over all blocks.
pub(super) struct Totals {
    pub(super) node_count: u64,
    pub(super) arc_count: u64,
    pub(super) loop_count: u64,
    pub(super) weight_total: f64,
    pub(super) max_degree: u64,
    pub(super) is_weighted: bool,
    pub(super) sealed: Sealed,
}

/// A hub whose segments are being written.
#[derive(Default)]
struct Hub {
    arc_count: u64,
    is_weighted: bool,
    loop_code: Option<u32>,
    segments: Vec<u8>,
}

pub(super) struct Encoder {
    file: IndexedWriter,
    limits: Limits,
    totals: Totals,
    hub: Option<Hub>,
    integers: Vec<u32>,
    lengths: Vec<u32>,
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(file: IndexedWriter, limits: Limits) -> Self {
        let totals = Totals {
            node_count: 0,
            arc_count: 0,
            loop_count: 0,
            weight_total: 0.0,
            max_degree: 0,
            is_weighted: false,
            sealed: Sealed { bytes: 0, checksum: 0 },
        };
        Self {
            file,
            limits,
            totals,
            hub: None,
            integers: Vec::new(),
            lengths: Vec::new(),
            head: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Writes a plain block and gives the raw one back.
    pub(super) fn block(&mut self, raw: RawBlock) -> Result<RawBlock> {
        self.count(&raw, raw.degrees.len() as u64);
        let scheme = choose(&raw.weights, &mut self.integers);
        let integers = stored(scheme, &raw.weights, &self.integers);
        self.lengths.clear();
        self.body.clear();
        let first_node = (self.totals.node_count - raw.degrees.len() as u64) as u32;
        let mut at = 0;
        for (local, &degree) in raw.degrees.iter().enumerate() {
            let start = self.body.len();
            let end = at + degree as usize;
            while at < end {
                let part = at..end.min(at + self.limits.segment_arcs);
                at = part.end;
                let weights = if integers.is_empty() { &[] } else { &integers[part.clone()] };
                put_arcs(first_node + local as u32, &raw.targets[part], weights, &mut self.body);
            }
            self.lengths.push((self.body.len() - start) as u32);
            self.totals.max_degree = self.totals.max_degree.max(u64::from(degree));
        }
        self.head.clear();
        self.head.push(scheme.to_byte());
        if matches!(scheme, WeightScheme::Decimal(_)) {
            put_varint(u64::from(integers.iter().copied().max().unwrap_or(0)), &mut self.head);
        }
        put_loops(&raw.loops, &mut self.head);
        put_list(&raw.degrees, &mut self.head);
        put_list(&self.lengths, &mut self.head);
        let mut hash = Xxh3::new();
        hash.update(&self.head);
        hash.update(&self.body);
        self.file.write(&self.head)?;
        self.file.write(&self.body)?;
        let (nodes, arcs) = (raw.degrees.len() as u32, raw.targets.len() as u64);
        self.file.end_block(nodes, arcs, hash.digest())?;
        Ok(raw)
    }

    /// Writes segments of a hub and gives the raw block back.
    pub(super) fn hub(&mut self, raw: RawBlock, is_last: bool) -> Result<RawBlock> {
        self.count(&raw, u64::from(is_last));
        let node = (self.totals.node_count - u64::from(is_last)) as u32;
        let mut hub = self.hub.take().unwrap_or_default();
        let segment_arcs = self.limits.segment_arcs;
        let segments = raw.targets.chunks(segment_arcs).zip(raw.weights.chunks(segment_arcs));
        for (targets, weights) in segments {
            let scheme = choose(weights, &mut self.integers);
            hub.is_weighted |= scheme != WeightScheme::One;
            self.body.clear();
            self.body.push(scheme.to_byte());
            put_arcs(node, targets, stored(scheme, weights, &self.integers), &mut self.body);
            hub.segments.extend((self.body.len() as u32).to_le_bytes());
            hub.segments.extend(xxh3_64(&self.body).to_le_bytes());
            self.file.write(&self.body)?;
        }
        hub.arc_count += raw.targets.len() as u64;
        hub.loop_code = hub.loop_code.or(raw.loops.first().map(|&(_, code)| code));
        if is_last {
            self.totals.max_degree = self.totals.max_degree.max(hub.arc_count);
            let mut directory =
                vec![u8::from(hub.is_weighted), u8::from(hub.loop_code.is_some()), 0, 0];
            directory.extend(hub.loop_code.unwrap_or(0).to_le_bytes());
            directory.append(&mut hub.segments);
            self.file.write(&directory)?;
            self.file.end_block(1, hub.arc_count, xxh3_64(&directory))?;
        } else {
            self.hub = Some(hub);
        }
        Ok(raw)
    }

    fn count(&mut self, raw: &RawBlock, node_count: u64) {
        let totals = &mut self.totals;
        totals.node_count += node_count;
        totals.arc_count += raw.targets.len() as u64;
        totals.loop_count += raw.loops.len() as u64;
        let is_other = |code: u32| code != Weight::ONE.code();
        totals.is_weighted |= raw.loops.iter().any(|&(_, code)| is_other(code))
            || raw.weights.iter().any(|&code| is_other(code));
        for &code in &raw.weights {
            totals.weight_total += Weight::from_code(code).value();
        }
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> Result<Totals> {
        self.totals.sealed = self.file.finish()?;
        Ok(self.totals)
    }
}

fn put_loops(loops: &[(u32, u32)], out: &mut Vec<u8>) {
    put_varint(loops.len() as u64, out);
    let mut next = 0;
    for &(local, code) in loops {
        put_varint(u64::from(local - next), out);
        out.extend(code.to_le_bytes());
        next = local + 1;
    }
}

/// Weights that the scheme of a few does not fit are rare, so all are turned into integers and
/// checked in one pass with that scheme; the search over all schemes is for the rest.
const SAMPLE: usize = 64;

/// Chooses the scheme of `codes`, as [`WeightScheme::choose`] does, and if it is decimal, fills
/// `integers`.
fn choose(codes: &[u32], integers: &mut Vec<u32>) -> WeightScheme {
    let sample = WeightScheme::choose(codes.iter().take(SAMPLE).copied());
    if fits(sample, codes, integers) {
        return sample;
    }
    let scheme = WeightScheme::choose(codes.iter().copied());
    assert!(fits(scheme, codes, integers), "a scheme gives back the codes it was chosen for");
    scheme
}

fn fits(scheme: WeightScheme, codes: &[u32], integers: &mut Vec<u32>) -> bool {
    match scheme {
        WeightScheme::Code => true,
        WeightScheme::One => codes.iter().all(|&code| code == Weight::ONE.code()),
        WeightScheme::Decimal(_) => {
            integers.clear();
            integers.reserve(codes.len());
            for part in codes.chunks(1024) {
                let start = integers.len();
                integers.extend(part.iter().map(|&code| scheme.integer(code)));
                let fits = integers[start..]
                    .iter()
                    .zip(part)
                    .fold(true, |all, (&integer, &code)| all & (scheme.code(integer) == code));
                if !fits {
                    return false;
                }
            }
            true
        }
    }
}

/// What is stored for the weights.
fn stored<'a>(scheme: WeightScheme, codes: &'a [u32], integers: &'a [u32]) -> &'a [u32] {
    match scheme {
        WeightScheme::One => &[],
        WeightScheme::Code => codes,
        WeightScheme::Decimal(_) => integers,
    }
}
