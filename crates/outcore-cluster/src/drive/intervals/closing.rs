//! Closing of a run with labels on disk: pieces of communities, interval by interval.
//!
//! The piece of each node is identified by its smallest node, which is stored on disk per node. An interval joins the
//! pieces of its nodes and of their neighbors before them: these pieces are numbered by a set with ranks and joined in
//! memory by union-find; the joined pieces are then written for all nodes up to the end of the interval. Thus every arc
//! is visited once, for any shape of the pieces. Cost: each interval reads everything before it twice, and rewrites the
//! parts that change.

use super::{CLOSING_BYTES, IntervalRun, nodes_of, result_path};
use crate::base::parallel::{PerThread, for_ranges};
use crate::finish::communities::{Communities, Measures};
use crate::finish::connect::{Closing, Joining, NodeSums, Pieces, block_sums};
use crate::finish::measures::WeightTotals;
use crate::finish::windows::{Numbering, expected_inside};
use crate::kernel::history::History;
use crate::store::pages::{Pages, chunks};
use crate::store::ranked::Ranked;
use crate::store::scope::{Interval, Scope, ScopedLabels};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::{Array, Column, Number};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Pieces by the places of a scope.
struct PlacedPieces<'a> {
    scope: &'a Scope,
    /// Number of the piece of each place.
    numbers: &'a [AtomicU32],
    pieces: Pieces,
}

impl Joining for PlacedPieces<'_> {
    #[inline]
    fn pieces(&self) -> &Pieces {
        &self.pieces
    }
    #[inline]
    fn member(&self, node: u32) -> u32 {
        self.numbers[self.scope.place(node)].load(Relaxed)
    }
}

/// Working memory for joining, reused for all intervals.
struct JoinScratch {
    scope: Scope,
    labels: Vec<AtomicU32>,
    numbers: Vec<AtomicU32>,
    /// Pieces met, each identified by its smallest node.
    met: Ranked,
    bytes: Vec<u8>,
}

impl IntervalRun<'_, '_, '_> {
    /// Splits, numbers and rates the communities.
    pub(super) fn close(
        mut self,
        labels: Pages<u32>,
        intervals: &[Interval],
        mut history: History,
    ) -> Result<Communities> {
        let observer = self.job.observer;
        notify(observer, Event::Detail { text: "splitting and counting communities" })?;
        observer.expect(Some(self.job.graph.arc_count() as f64), 0.0)?;
        let nodes = self.job.graph.node_count();
        let pieces = self.pages("pieces")?;
        let strengths = self.pages("strengths")?;
        let mut inside = 0.0;
        {
            let mut space = JoinScratch {
                scope: Scope::new(nodes),
                labels: self.place_values(CLOSING_BYTES),
                numbers: self.place_values(CLOSING_BYTES),
                met: Ranked::new(nodes as usize),
                bytes: Vec::new(),
            };
            for chunk in chunks(0..nodes) {
                let own = chunk.clone().map(|node| node as u32);
                pieces.write(chunk.start, own, &mut space.bytes)?;
            }
            for interval in intervals {
                let visit = |first: u64, sums: &[NodeSums], bytes: &mut Vec<u8>| {
                    sums.iter().for_each(|sums| inside += sums.inside_at_later);
                    strengths.write(first, sums.iter().map(|sums| sums.strength), bytes)
                };
                self.join(&mut space, interval, &labels, &pieces, history.arcs, visit)?;
            }
        }
        self.scans += 1;
        let mut numbering =
            Numbering { files: self.files, observer, node_count: nodes, room: self.room };
        let split_count = numbering.split_count(&labels, &pieces)?;
        labels.remove(self.files)?;
        let path = result_path(&self.directory);
        let (communities, sizes) = numbering.number(&pieces, self.pages("sizes")?, &path)?;
        pieces.remove(self.files)?;
        let labels = Column::Disk(Array::new(path, nodes));
        history.sweeps.scans = self.scans;
        let found = Communities::new(labels, sizes, history);
        let mut totals = WeightTotals::default();
        totals.add_inside(inside);
        let shared = found.shared_count();
        let expected =
            expected_inside(&mut numbering, &communities, &strengths, shared, &mut totals)?;
        strengths.remove(self.files)?;
        let (modularity, coverage) = (totals.modularity(1.0, expected), totals.coverage());
        let measures = Measures { modularity, coverage, ..found.measures };
        Ok(Communities { split_count, measures, ..found })
    }

    fn pages<T: Number>(&self, name: &str) -> Result<Pages<T>> {
        Pages::create(self.files, self.path(name))
    }

    /// Joins the pieces that an interval's arcs connect; passes the sums of its nodes to `visit`.
    fn join(
        &mut self,
        space: &mut JoinScratch,
        interval: &Interval,
        labels: &Pages<u32>,
        pieces: &Pages<u32>,
        done: u64,
        mut visit: impl FnMut(u64, &[NodeSums], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let observer = self.job.observer;
        let JoinScratch { scope, labels: of_place, numbers, met, bytes } = space;
        scope.enter(self.files, interval)?;
        scope.gather(labels, of_place)?;
        scope.gather(pieces, numbers)?;
        met.refill(|members| {
            numbers.iter().for_each(|piece| members.insert(piece.load(Relaxed)));
            Ok(())
        })?;
        for_ranges(numbers.len(), 1 << 14, |places| {
            let number =
                |piece: &AtomicU32| piece.store(met.rank(piece.load(Relaxed)) as u32, Relaxed);
            numbers[places].iter().for_each(number);
            Ok(())
        })?;
        let placed = ScopedLabels { scope, labels: of_place };
        let joining = PlacedPieces { scope, numbers, pieces: Pieces::new(met.count(), false) };
        let scratch = PerThread::new(Closing::default);
        let mut sums = Vec::new();
        self.source.for_each(
            interval.blocks.clone(),
            |_| true,
            |block| {
                notify(observer, Event::Advance { done })?;
                block_sums(block, false, &placed, Some(&joining), &scratch, &mut sums)?;
                visit(nodes_of(block).start, &sums, bytes)
            },
        )?;
        let mut roots = joining.pieces.into_roots();
        if roots.iter().enumerate().all(|(number, &root)| number == root as usize) {
            return Ok(());
        }
        // Maps numbers of pieces to nodes: the smaller of two joined pieces comes first.
        let mut number = 0;
        met.for_each(0..self.job.graph.node_count(), |node| {
            let root = roots[number] as usize;
            roots[number] = if root == number { node as u32 } else { roots[root] };
            number += 1;
        });
        let joined = |piece: u32| match met.contains(piece) {
            true => roots[met.rank(piece)],
            false => piece,
        };
        pieces.update(0..interval.nodes.end.into(), joined)
    }
}
