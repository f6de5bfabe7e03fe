//! Full verification of a graph: checksums, orders, ranges, counts, and the pairing of undirected arcs.

use super::arcs_path;
use super::block::{ArcScratch, Block};
use super::histogram::Histograms;
use super::manifest::recorded_exponent;
use super::reader::Graph;
use crate::weight::Weight;
use outcore_io::error::{Error, Result};
use outcore_io::progress::{Event, Observer, Stage, notify};
use outcore_io::units::format_counted;

/// Number of blocks read ahead.
const DEPTH: usize = 2;

/// Sums over all arcs, to compare with `graph.json`.
#[derive(Default)]
struct ArcSums {
    arc_count: u64,
    loop_count: u64,
    max_degree: u64,
    weight_total: f64,
    loop_total: f64,
    is_weighted: bool,
    histograms: Histograms,
    /// Sum of a hash of the edge over ascending arcs, minus the sum over descending ones: 0 if all come in pairs.
    balance: u64,
}

impl Graph {
    /// Reads everything and verifies all checksums, orders and counts; in an undirected graph also that every arc has
    /// its opposite with the same weight (by a 64-bit sum of hashes). Names are verified if the graph has them.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`, `Interrupted`.
    pub fn verify(&self, observer: &dyn Observer) -> Result<()> {
        let total = Some(self.bytes_on_disk());
        notify(observer, Event::Begin { stage: Stage::Verify, total, unit: "bytes" })?;
        let mut sums = ArcSums::default();
        let mut scratch = ArcScratch::default();
        let mut scan = self.scan(0..self.blocks().len(), DEPTH);
        let mut seen = 0;
        while let Some(block) = scan.next()? {
            assert_eq!(block.index(), seen, "blocks come in order");
            sums.add(self, &block, &mut scratch)?;
            seen += 1;
            let entry = &self.blocks()[block.index()];
            notify(observer, Event::Advance { done: entry.offset + entry.bytes })?;
        }
        assert_eq!(seen, self.blocks().len(), "blocks read and in the index");
        self.compare(&sums)?;
        if self.has_names() {
            let mut names = self.names()?;
            let mut count = 0u64;
            while names.next_name()?.is_some() {
                count += 1;
                if count.is_multiple_of(1 << 20) {
                    notify(observer, Event::Detail { text: "names" })?;
                }
            }
            assert_eq!(count, self.node_count(), "names read and in the index");
        }
        if let Some(kinds) = self.open_kinds()? {
            kinds.read_each(|| notify(observer, Event::Detail { text: "kinds" }))?;
        }
        let arcs = format_counted(self.arc_count(), "arc is", "arcs are");
        notify(observer, Event::End { summary: &format!("{arcs} intact") })
    }

    fn corrupt(&self, message: impl std::fmt::Display) -> Error {
        Error::corrupt(&arcs_path(self.directory()), message)
    }

    /// Returns whether degrees and weights match the counts in `graph.json`, if it has them.
    fn is_distributed_as(&self, found: &Histograms) -> bool {
        let counted = self.manifest();
        let has_none = counted.degrees.is_empty() && counted.weight_powers.is_empty();
        has_none || counted.degrees == found.degrees() && counted.weight_powers == found.weights()
    }

    /// Returns whether the recorded exponent of all weights is that of the sums, if there is one.
    fn has_exponent_of(&self, sums: &ArcSums) -> bool {
        let recorded = self.manifest().strength_exponent;
        recorded.is_none() || recorded == recorded_exponent(sums.weight_total, sums.loop_total)
    }

    fn compare(&self, sums: &ArcSums) -> Result<()> {
        let edges = if self.is_directed() { sums.arc_count } else { sums.arc_count / 2 };
        let is_same = sums.arc_count == self.arc_count()
            && edges == self.edge_count()
            && sums.loop_count == self.loop_count()
            && sums.max_degree == self.max_degree()
            && sums.weight_total.min(f64::MAX) == self.weight_total()
            && self.has_exponent_of(sums)
            && sums.is_weighted == self.is_weighted()
            && self.is_distributed_as(&sums.histograms);
        if !is_same {
            return Err(self.corrupt("its arcs disagree with the counts in `graph.json`"));
        }
        if !self.is_directed() && (sums.balance != 0 || !sums.arc_count.is_multiple_of(2)) {
            return Err(self.corrupt("an arc lacks its opposite"));
        }
        Ok(())
    }
}

impl ArcSums {
    fn add(&mut self, graph: &Graph, block: &Block, scratch: &mut ArcScratch) -> Result<()> {
        let one = Weight::ONE.code();
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            let (mut previous, mut count, mut is_right) = (None, 0u64, true);
            block.for_each_segment(local, scratch, |targets, weights| {
                count += targets.len() as u64;
                for (at, &target) in targets.iter().enumerate() {
                    let code = weights.get(at).copied().unwrap_or(one);
                    is_right &= previous < Some(target) && target != node;
                    is_right &= is_weight(code);
                    previous = Some(target);
                    self.is_weighted |= code != one;
                    self.weight_total += Weight::from_code(code).value();
                    self.histograms.add_weight(code);
                    self.balance = self.balance.wrapping_add(signed_hash(node, target, code));
                }
            })?;
            if !is_right || count != block.degree(local) {
                return Err(graph.corrupt(format!("the arcs of node {node} are wrong")));
            }
            self.arc_count += count;
            self.max_degree = self.max_degree.max(count);
            self.histograms.add_degree(count);
        }
        for &(local, code) in block.loops() {
            if !is_weight(code) {
                let node = u64::from(block.first_node()) + u64::from(local);
                return Err(graph.corrupt(format!("the loop of node {node} is wrong")));
            }
            self.loop_count += 1;
            self.loop_total += Weight::from_code(code).value();
            self.is_weighted |= code != one;
        }
        Ok(())
    }
}

/// Returns whether `code` stands for a positive, finite weight.
fn is_weight(code: u32) -> bool {
    code > 0 && Weight::from_code(code).value().is_finite()
}

/// Returns a hash whose values for opposite arcs of the same weight are opposite.
fn signed_hash(source: u32, target: u32, code: u32) -> u64 {
    let (low, high) = (source.min(target), source.max(target));
    let mixed = mix(mix(u64::from(low) << 32 | u64::from(high)) ^ u64::from(code));
    if source < target { mixed } else { mixed.wrapping_neg() }
}

/// Finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
