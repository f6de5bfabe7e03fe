//! Final numbers and modularity of communities on disk, computed by windows.
//!
//! A window holds the data of the communities that fit in memory while the nodes are scanned, so everything is read
//! sequentially, once per window. The numbers are those of `number`, and sums are added in the order of `measures`.

use super::measures::WeightTotals;
use super::number::{CountsBySize, SizeCount};
use crate::base::bits::Bits;
use crate::store::pages::{CHUNK_NODES, Pages, chunks};
use outcore_io::Files;
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};
use std::ops::Range;
use std::path::Path;

/// Context of counting by windows.
pub(crate) struct Numbering<'a> {
    pub(crate) files: &'a Files,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) node_count: u64,
    /// Bytes for a window.
    pub(crate) room: u64,
}

impl Numbering<'_> {
    fn tick(&self) -> Result<()> {
        notify(self.observer, Event::Detail { text: "counting communities" })
    }

    /// Divides `count` items of `bytes` bytes each into windows, at least one.
    fn windows(&self, count: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let most = (self.room / bytes).max(1);
        let windows = count.div_ceil(most).max(1);
        (0..windows).map(move |at| at * most..((at + 1) * most).min(count))
    }

    /// Counts the labels with more than one piece. Memory: two bits per node.
    pub(crate) fn split_count(&self, labels: &Pages<u32>, pieces: &Pages<u32>) -> Result<u64> {
        let nodes = self.node_count as usize;
        let (seen, split) = (Bits::new(nodes, false), Bits::new(nodes, false));
        let (mut for_labels, mut for_pieces) = (Vec::new(), Vec::new());
        let mut count = 0;
        for chunk in chunks(0..self.node_count) {
            self.tick()?;
            let of_nodes = labels.read(chunk.clone(), &mut for_labels)?;
            let both = of_nodes.zip(pieces.read(chunk.clone(), &mut for_pieces)?);
            for (node, (label, piece)) in chunk.zip(both) {
                let (label, is_first) = (label as usize, u64::from(piece) == node);
                if is_first && seen.set(label) && !split.set(label) {
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// Writes the number of each node's community, which is identified by its smallest node. Overwrites and
    /// removes `sizes`.
    pub(crate) fn number(
        &mut self,
        pieces: &Pages<u32>,
        sizes: Pages<u32>,
        path: &Path,
    ) -> Result<(Pages<u32>, Vec<SizeCount>)> {
        let mut by_size = CountsBySize::new();
        let mut bytes = Vec::new();
        for window in self.windows(self.node_count, 4) {
            let mut counts = vec![0u32; (window.end - window.start) as usize];
            // The smallest node of a community precedes the others.
            for chunk in chunks(window.start..self.node_count) {
                self.tick()?;
                for piece in pieces.read(chunk, &mut bytes)? {
                    if let Some(count) = counts.get_mut(at(&window, piece)) {
                        *count += 1;
                    }
                }
            }
            by_size.count(counts.iter().copied());
            for (chunk, counts) in chunks(window).zip(counts.chunks(CHUNK_NODES as usize)) {
                sizes.write(chunk.start, counts.iter().copied(), &mut bytes)?;
            }
        }
        let (mut by_size, found) = by_size.numbered();
        let communities = Pages::create(self.files, path.to_path_buf())?;
        let (mut known, mut out) = (Vec::new(), Vec::new());
        for window in self.windows(self.node_count, 4) {
            let mut numbers = Vec::with_capacity((window.end - window.start) as usize);
            for chunk in chunks(window.clone()) {
                numbers.extend(sizes.read(chunk, &mut bytes)?);
            }
            by_size.number(&mut numbers);
            for chunk in chunks(window.start..self.node_count) {
                self.tick()?;
                out.clear();
                if window.start == 0 {
                    out.resize((chunk.end - chunk.start) as usize, 0);
                } else {
                    out.extend(communities.read(chunk.clone(), &mut known)?);
                }
                let pieces = pieces.read(chunk.clone(), &mut bytes)?;
                for (out, piece) in out.iter_mut().zip(pieces) {
                    if let Some(&number) = numbers.get(at(&window, piece)) {
                        *out = number;
                    }
                }
                communities.write(chunk.start, out.iter().copied(), &mut known)?;
            }
        }
        sizes.remove(self.files)?;
        Ok((communities, found))
    }
}

/// Returns the position of an item in a window, or one beyond its end if the item is outside.
fn at(window: &Range<u64>, of: u32) -> usize {
    u64::from(of).checked_sub(window.start).map_or(usize::MAX, |at| at as usize)
}

/// Computes the share of the weight that chance would put inside communities of several nodes (the first `shared`
/// ones); also adds the nodes to `totals`.
pub(crate) fn expected_inside(
    numbering: &mut Numbering<'_>,
    communities: &Pages<u32>,
    strengths: &Pages<f64>,
    shared: u64,
    totals: &mut WeightTotals,
) -> Result<f64> {
    let (mut for_labels, mut for_strengths) = (Vec::new(), Vec::new());
    let mut expected = 0.0;
    for window in numbering.windows(shared, 8) {
        let mut sums = vec![0.0; (window.end - window.start) as usize];
        for chunk in chunks(0..numbering.node_count) {
            numbering.tick()?;
            let labels = communities.read(chunk.clone(), &mut for_labels)?;
            let strengths = strengths.read(chunk.clone(), &mut for_strengths)?;
            for (label, strength) in labels.zip(strengths) {
                if let Some(sum) = sums.get_mut(at(&window, label)) {
                    *sum += strength;
                }
                if window.start == 0 {
                    totals.add(u64::from(label) >= shared, strength);
                }
            }
        }
        for sum in sums {
            expected += totals.share(sum) * totals.share(sum);
        }
    }
    Ok(expected)
}
