//! Encoding of raw blocks, on a thread of its own; see `block` for the layout.

use crate::BlockLimits;
use crate::codec::{ArcEncoder, Scale, put_list};
use crate::histogram::Histograms;
use crate::index::{IndexedWriter, Sealed};
use crate::manifest::BlockTotals;
use crate::pack::{WeightScheme, put_varint};
use crate::weight::Weight;
use crossbeam_channel::{Receiver, Sender, bounded};
use outcore_io::error::{Error, Result};
use std::path::PathBuf;
use std::thread::JoinHandle;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Arcs of consecutive nodes, not yet encoded.
#[derive(Default)]
pub(super) struct RawBlock {
    /// Degrees of all complete nodes.
    pub(super) degrees: Vec<u32>,
    pub(super) targets: Vec<u32>,
    /// Weight codes.
    pub(super) weights: Vec<u32>,
    /// Local node and weight code.
    pub(super) loops: Vec<(u32, u32)>,
}

impl RawBlock {
    pub(super) fn clear(&mut self) {
        self.degrees.clear();
        self.targets.clear();
        self.weights.clear();
        self.loops.clear();
    }
}

/// Thread that encodes raw blocks, and the blocks that it gives back.
pub(super) struct EncoderThread {
    path: PathBuf,
    work: Option<Sender<EncodeWork>>,
    empty: Receiver<RawBlock>,
    handle: Option<JoinHandle<Result<BlockTotals>>>,
}

impl EncoderThread {
    pub(super) fn start(file: IndexedWriter, limits: BlockLimits, first_node: u64) -> Self {
        let path = file.path().to_path_buf();
        let (work, taken) = bounded(1);
        let (give_back, empty) = bounded(2);
        give_back.send(RawBlock::default()).expect("the channel has room");
        let handle = std::thread::spawn(move || {
            let mut encoder = BlockEncoder::new(file, limits, first_node);
            for work in taken {
                let mut raw = match work {
                    EncodeWork::Block(raw) => encoder.block(raw)?,
                    EncodeWork::Hub { raw, is_last } => encoder.hub(raw, is_last)?,
                    EncodeWork::Finish => return encoder.finish(),
                };
                raw.clear();
                // The writer may have been dropped already; then the block is not needed.
                let _ = give_back.send(raw);
            }
            Err(Error::interrupted())
        });
        Self { path, work: Some(work), empty, handle: Some(handle) }
    }

    /// Returns an empty block.
    pub(super) fn next_raw(&mut self) -> Result<RawBlock> {
        self.empty.recv().map_err(|_| self.failure())
    }

    pub(super) fn send(&mut self, work: EncodeWork) -> Result<()> {
        let sent = self.work.as_ref().is_some_and(|thread| thread.send(work).is_ok());
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    pub(super) fn finish(mut self) -> Result<BlockTotals> {
        self.send(EncodeWork::Finish)?;
        match self.handle.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(self.failure()),
        }
    }

    /// Returns the error that ended the thread.
    fn failure(&mut self) -> Error {
        self.work = None;
        match self.handle.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            _ => Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for EncoderThread {
    fn drop(&mut self) {
        self.work = None;
        // Not finished: the caller already has an error or a stop.
        let _ = self.handle.take().map(JoinHandle::join);
    }
}

/// Work for the encoder thread.
pub(super) enum EncodeWork {
    /// Complete nodes.
    Block(RawBlock),
    /// Arcs of a hub: complete segments, except at its end.
    Hub {
        raw: RawBlock,
        is_last: bool,
    },
    Finish,
}

/// Hub whose segments are being written.
#[derive(Default)]
struct Hub {
    arc_count: u64,
    is_weighted: bool,
    loop_code: Option<u32>,
    segments: Vec<u8>,
}

struct BlockEncoder {
    file: IndexedWriter,
    limits: BlockLimits,
    totals: BlockTotals,
    hub: Option<Hub>,
    lengths: Vec<u32>,
    head: Vec<u8>,
    body: Vec<u8>,
}

impl BlockEncoder {
    fn new(file: IndexedWriter, limits: BlockLimits, first_node: u64) -> Self {
        let totals = BlockTotals {
            first_node,
            node_count: 0,
            arc_count: 0,
            loop_count: 0,
            weight_total: 0.0,
            loop_total: 0.0,
            max_degree: 0,
            is_weighted: false,
            histograms: Histograms::default(),
            sealed: Sealed { bytes: 0, checksum: 0 },
        };
        Self {
            file: file.begun_at(first_node),
            limits,
            totals,
            hub: None,
            lengths: Vec::new(),
            head: Vec::new(),
            // Maximum size of a block: memory is touched only as it is filled.
            body: Vec::with_capacity(9 * limits.block_arcs + 16 * limits.block_nodes),
        }
    }

    /// Writes a plain block and returns the raw one for reuse.
    fn block(&mut self, raw: RawBlock) -> Result<RawBlock> {
        self.count(&raw, raw.degrees.len() as u64);
        let scale = Scale::choose(&raw.weights);
        let mut arcs = ArcEncoder::new(scale);
        self.lengths.clear();
        self.body.clear();
        let first_node = self.next_node().wrapping_sub(raw.degrees.len() as u32);
        let mut at = 0;
        for (local, &degree) in raw.degrees.iter().enumerate() {
            let start = self.body.len();
            let end = at + degree as usize;
            while at < end {
                let part = at..end.min(at + self.limits.segment_arcs);
                at = part.end;
                let (targets, codes) = (&raw.targets[part.clone()], &raw.weights[part]);
                arcs.put(first_node + local as u32, targets, codes, &mut self.body);
            }
            self.lengths.push((self.body.len() - start) as u32);
            self.totals.add_degree(degree.into());
        }
        self.head.clear();
        self.head.push(scale.scheme().to_byte());
        put_varint(u64::from(arcs.largest), &mut self.head);
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

    /// Writes segments of a hub and returns the raw block for reuse.
    fn hub(&mut self, raw: RawBlock, is_last: bool) -> Result<RawBlock> {
        self.count(&raw, u64::from(is_last));
        let node = self.next_node().wrapping_sub(is_last.into());
        let mut hub = self.hub.take().unwrap_or_default();
        let segment_arcs = self.limits.segment_arcs;
        let segments = raw.targets.chunks(segment_arcs).zip(raw.weights.chunks(segment_arcs));
        for (targets, weights) in segments {
            let scale = Scale::choose(weights);
            hub.is_weighted |= scale.scheme() != WeightScheme::One;
            self.body.clear();
            self.body.push(scale.scheme().to_byte());
            ArcEncoder::new(scale).put(node, targets, weights, &mut self.body);
            hub.segments.extend((self.body.len() as u32).to_le_bytes());
            hub.segments.extend(xxh3_64(&self.body).to_le_bytes());
            self.file.write(&self.body)?;
        }
        hub.arc_count += raw.targets.len() as u64;
        hub.loop_code = hub.loop_code.or(raw.loops.first().map(|&(_, code)| code));
        if is_last {
            self.totals.add_degree(hub.arc_count);
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

    /// Returns the node after those counted so far; 0 after the last possible one.
    fn next_node(&self) -> u32 {
        (self.totals.first_node + self.totals.node_count) as u32
    }

    fn count(&mut self, raw: &RawBlock, node_count: u64) {
        let totals = &mut self.totals;
        totals.node_count += node_count;
        totals.arc_count += raw.targets.len() as u64;
        totals.loop_count += raw.loops.len() as u64;
        totals.loop_total +=
            raw.loops.iter().map(|&(_, code)| Weight::from_code(code).value()).sum::<f64>();
        let is_other = |code: u32| code != Weight::ONE.code();
        let differs = raw.weights.iter().any(|&code| is_other(code));
        totals.is_weighted |= differs || raw.loops.iter().any(|&(_, code)| is_other(code));
        if !differs {
            totals.histograms.add_ones(raw.weights.len() as u64);
        }
        for &code in &raw.weights {
            totals.weight_total += Weight::from_code(code).value();
            if differs {
                totals.histograms.add_weight(code);
            }
        }
    }

    /// Finishes the file.
    fn finish(mut self) -> Result<BlockTotals> {
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
