//! BGZF, the blocked gzip of `bgzip` and `samtools` (SAM format specification, 4.1).
//!
//! Every member is at most 64 KiB and its header gives its length, so members are separated without inflating them.
//! Dedicated threads inflate groups of about 1 MiB; at most `workers + 1` groups wait. The file ends with an empty
//! block; without it, the file was cut short.

use super::ByteSource;
use crossbeam_channel::{Receiver, Sender, bounded};
use flate2::{Crc, Decompress, FlushDecompress, Status};
use outcore_io::error::{Error, Result};
use std::collections::VecDeque;
use std::io::BufRead;

const GROUP_BYTES: usize = 1 << 20;
/// Maximum size of a header that is examined; real ones have 18 bytes.
const HEADER_BYTES: usize = 64;
const TRAILER_BYTES: usize = 8;

/// Returns the length of the block whose header is at the start of `bytes`, if it is a BGZF block.
pub(crate) fn block_bytes(bytes: &[u8]) -> Option<usize> {
    header(bytes).map(|(_, block)| block)
}

/// Returns the lengths of the header and of the block.
fn header(bytes: &[u8]) -> Option<(usize, usize)> {
    let ([0x1F, 0x8B, 8, 4], _) = bytes.split_first_chunk::<4>()? else { return None };
    let word = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let end = 12 + word(10)?;
    let mut at = 12;
    while at + 4 <= end {
        let (name, len) = (bytes.get(at..at + 2)?, word(at + 2)?);
        if name == b"BC" && len == 2 {
            let block = word(at + 4)? + 1;
            return (block >= end + TRAILER_BYTES).then_some((end, block));
        }
        at += 4 + len;
    }
    None
}

/// Group of complete blocks.
#[derive(Default)]
struct Group {
    bytes: Vec<u8>,
    /// Start in the file.
    start: u64,
    /// Start and header length of every block.
    blocks: Vec<(usize, usize)>,
    text_bytes: usize,
}

/// Text of a group, or the position of the damaged block in the file and its problem.
type Inflated = std::result::Result<Vec<u8>, (u64, &'static str)>;

/// Result of a read.
pub(crate) enum Step {
    Read(usize),
    /// The next data is not a BGZF block.
    Other(ByteSource),
}

/// Reads BGZF blocks and inflates them in parallel.
pub(crate) struct BgzfReader {
    source: Option<ByteSource>,
    jobs: Option<Sender<(Group, Sender<Inflated>)>>,
    pending: VecDeque<Receiver<Inflated>>,
    workers: usize,
    current: Vec<u8>,
    at: usize,
    last_is_empty: bool,
    ended: bool,
    /// Error from reading ahead, reported after everything that was read before it.
    failed: Option<Error>,
}

impl BgzfReader {
    pub(crate) fn new(source: ByteSource, workers: usize) -> Self {
        let jobs = (workers > 0).then(|| {
            let (jobs, work) = bounded::<(Group, Sender<Inflated>)>(workers + 1);
            for _ in 0..workers {
                let work = work.clone();
                std::thread::spawn(move || {
                    for (group, reply) in work {
                        // If the reader is gone, nobody waits for the reply.
                        let _ = reply.send(inflate(&group));
                    }
                });
            }
            jobs
        });
        Self {
            source: Some(source),
            jobs,
            pending: VecDeque::new(),
            workers,
            current: Vec::new(),
            at: 0,
            last_is_empty: false,
            ended: false,
            failed: None,
        }
    }

    /// Reads some bytes; `Step::Read(0)` at the end of the file.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<Step> {
        while self.at == self.current.len() {
            self.submit();
            let Some(reply) = self.pending.pop_front() else {
                if let Some(error) = self.failed.take() {
                    return Err(error);
                }
                return Ok(self.source.take().map_or(Step::Read(0), Step::Other));
            };
            let inflated = reply.recv().unwrap_or(Err((0, "a thread that inflates it stopped")));
            match inflated {
                Ok(text) => (self.current, self.at) = (text, 0),
                Err((byte, message)) => return Err(self.damaged(byte, message)),
            }
        }
        let count = into.len().min(self.current.len() - self.at);
        into[..count].copy_from_slice(&self.current[self.at..self.at + count]);
        self.at += count;
        Ok(Step::Read(count))
    }

    /// Submits groups until all workers have work.
    fn submit(&mut self) {
        while !self.ended && self.pending.len() <= self.workers {
            let group = self.next_group().unwrap_or_else(|(group, error)| {
                self.failed = Some(error);
                self.ended = true;
                group
            });
            if group.blocks.is_empty() {
                continue;
            }
            let (reply, receiver) = bounded(1);
            self.pending.push_back(receiver);
            match &self.jobs {
                // The workers run as long as the sender exists.
                Some(jobs) => drop(jobs.send((group, reply))),
                None => drop(reply.send(inflate(&group))),
            }
        }
    }

    fn damaged(&self, byte: u64, message: &str) -> Error {
        match &self.source {
            Some(source) => source.damaged(byte, message),
            None => Error::new(outcore_io::error::ErrorKind::BadCompression, message),
        }
    }

    /// Returns the next blocks, up to [`GROUP_BYTES`]; with an error, those before it.
    fn next_group(&mut self) -> std::result::Result<Group, (Group, Error)> {
        let Some(mut source) = self.source.take() else { return Ok(Group::default()) };
        let mut group = Group { start: source.consumed(), ..Group::default() };
        let mut failed = None;
        while group.text_bytes < GROUP_BYTES && !self.ended {
            match self.next_block(&mut source, &mut group) {
                Ok(true) => {}
                // Other data follows: `source` stays here until it is passed on.
                Ok(false) => self.ended = true,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let at_end = self.ended && failed.is_none();
        if at_end && source.peek(1).is_ok_and(|rest| rest.is_empty()) && !self.last_is_empty {
            let byte = source.consumed();
            let message = "it ends without the end mark of `bgzip`, so it was probably cut short";
            failed = Some(source.damaged(byte, message));
        }
        self.source = Some(source);
        match failed {
            None => Ok(group),
            Some(error) => Err((group, error)),
        }
    }

    /// Appends the next block; returns `false` if there is none.
    fn next_block(&mut self, source: &mut ByteSource, group: &mut Group) -> Result<bool> {
        let start = match source.peek(HEADER_BYTES) {
            Ok(start) => start,
            Err(error) => return Err(source.error(error)),
        };
        let Some((header_bytes, len)) = header(start) else {
            let cut = !start.is_empty() && start.len() < 18 && start[0] == 0x1F;
            return if cut { Err(too_early(source)) } else { Ok(false) };
        };
        let block = match source.peek(len) {
            Ok(bytes) => bytes,
            Err(error) => return Err(source.error(error)),
        };
        let Some(block) = block.get(..len) else { return Err(too_early(source)) };
        group.blocks.push((group.bytes.len(), header_bytes));
        group.bytes.extend_from_slice(block);
        let text_bytes = text_bytes(block);
        group.text_bytes += text_bytes.min(1 << 16);
        self.last_is_empty = text_bytes == 0;
        source.consume(len);
        Ok(true)
    }
}

fn too_early(source: &ByteSource) -> Error {
    source.damaged(source.consumed(), "it ends too early")
}

/// Returns the length of a block's text, from its last four bytes.
fn text_bytes(block: &[u8]) -> usize {
    block.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// Inflates the blocks of a group in order.
fn inflate(group: &Group) -> Inflated {
    let mut text = vec![0; group.text_bytes];
    let mut filled = 0;
    let mut inflater = Decompress::new(false);
    for (index, &(start, header_bytes)) in group.blocks.iter().enumerate() {
        let end = group.blocks.get(index + 1).map_or(group.bytes.len(), |next| next.0);
        let block = &group.bytes[start..end];
        let wrong = |message| (group.start + start as u64, message);
        let len = text_bytes(block);
        let (data, trailer) = block[header_bytes..].split_at(block.len() - header_bytes - 8);
        let room = text.get_mut(filled..filled + len).ok_or(wrong("a block is too long"))?;
        inflater.reset(false);
        let status = inflater.decompress(data, room, FlushDecompress::Finish);
        let is_whole = matches!(status, Ok(Status::StreamEnd))
            && inflater.total_out() == len as u64
            && inflater.total_in() == data.len() as u64;
        if !is_whole {
            return Err(wrong("a block cannot be inflated"));
        }
        let mut crc = Crc::new();
        crc.update(room);
        if crc.sum().to_le_bytes() != trailer[..4] {
            return Err(wrong("a block's checksum does not match"));
        }
        filled += len;
    }
    Ok(text)
}
