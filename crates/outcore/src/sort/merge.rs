//! Merges sorted runs with a loser tree that keeps its keys inside (Knuth, volume 3, 5.4.1).
//!
//! ```text
//!            winner             An inner node holds the loser of the match played there, key and
//!               |               run together, so replaying one path from leaf to root touches
//!            loser 1            ceil(log2(runs)) neighboring nodes and no record.
//!           /       \
//!      loser 2     loser 3      Equal keys leave in the order of their runs: the sort is stable.
//!      /    \      /    \
//!    run 0 run 1 run 2 run 3
//! ```
//! Blocks are read and decoded ahead by worker threads, one block a run. Memory: three decoded
//! blocks a run and one encoded block a worker.

use super::Record;
use super::run::{Run, RunReader};
use crate::error::Result;
use crate::io::AlignedBuffer;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::hint::select_unpredictable;
use std::thread::JoinHandle;

/// A run's number in the tree once it is used up: it loses every match.
const USED_UP: u32 = u32::MAX;

/// The tree over the heads of runs. A head is a key and its run in one number ([`Record::rank`]), so
/// a match is one comparison without a branch: who wins is as hard to guess as a coin.
struct LoserTree<K> {
    /// `losers[0]` is the winner; inner nodes are `1..leaves`.
    losers: Vec<K>,
    leaves: usize,
}

impl<K: Ord + Copy> LoserTree<K> {
    fn new(heads: &[K], last: K) -> Self {
        let leaves = heads.len().next_power_of_two().max(1);
        let mut winners = vec![last; 2 * leaves];
        winners[leaves..leaves + heads.len()].copy_from_slice(heads);
        let mut losers = vec![last; leaves];
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = left.min(right);
            losers[node] = left.max(right);
        }
        losers[0] = winners[1];
        Self { losers, leaves }
    }

    #[inline]
    fn winner(&self) -> K {
        self.losers[0]
    }

    /// Replays the matches of `leaf`, whose head is now `head`.
    #[inline]
    fn replace(&mut self, leaf: usize, head: K) {
        let mut winner = head;
        let mut node = (self.leaves + leaf) / 2;
        let losers = &mut self.losers[..];
        while node > 0 {
            let other = losers[node];
            let other_wins = other < winner;
            losers[node] = select_unpredictable(other_wins, winner, other);
            winner = select_unpredictable(other_wins, other, winner);
            node /= 2;
        }
        losers[0] = winner;
    }
}

/// A job for a worker: fill the buffer with the run's next block and send both back.
struct Request<R> {
    reader: RunReader,
    buffer: Vec<R>,
    reply: Sender<Result<Reply<R>>>,
}

struct Reply<R> {
    reader: RunReader,
    buffer: Vec<R>,
    more: bool,
}

/// The head of one run: its current block, and the next one on its way.
struct Lane<R> {
    block: Vec<R>,
    at: usize,
    spare: Vec<R>,
    reply: Sender<Result<Reply<R>>>,
    replies: Receiver<Result<Reply<R>>>,
    waiting: bool,
}

/// Merges runs; records come in blocks.
pub(super) struct Merge<R: Record> {
    lanes: Vec<Lane<R>>,
    tree: LoserTree<R::Rank>,
    requests: Option<Sender<Request<R>>>,
    workers: Vec<JoinHandle<()>>,
}

impl<R: Record> Merge<R> {
    /// Decoded blocks a run needs in memory.
    pub(super) const BLOCKS_A_RUN: usize = 3;

    /// Starts merging `runs`, which are deleted as they are used up.
    pub(super) fn new(runs: Vec<Run>, workers: usize) -> Result<Self> {
        let (requests, queue) = unbounded::<Request<R>>();
        let workers = (0..workers.max(1)).map(|_| spawn_worker(queue.clone())).collect();
        let mut lanes = Vec::with_capacity(runs.len());
        for run in runs {
            let (reply, replies) = bounded(1);
            let mut lane = Lane {
                block: Vec::new(),
                at: 0,
                spare: Vec::new(),
                reply,
                replies,
                waiting: false,
            };
            lane.request(RunReader::new(run), Vec::new(), &requests);
            lanes.push(lane);
        }
        let mut heads = Vec::with_capacity(lanes.len());
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.next_block(&requests)?;
            heads.push(lane.head(number as u32));
        }
        let tree = LoserTree::new(&heads, R::LAST_RANK);
        Ok(Self { lanes, tree, requests: Some(requests), workers })
    }

    /// Appends the next records, at most `count`, to `out`; none at the end.
    pub(super) fn next_records(&mut self, count: usize, out: &mut Vec<R>) -> Result<()> {
        let requests = self.requests.as_ref().expect("present until dropped");
        for _ in 0..count {
            let run = R::run_of(self.tree.winner());
            if run == USED_UP {
                break;
            }
            let lane = &mut self.lanes[run as usize];
            out.push(lane.block[lane.at]);
            lane.at += 1;
            if lane.at == lane.block.len() {
                lane.next_block(requests)?;
            }
            let head = lane.head(run);
            self.tree.replace(run as usize, head);
        }
        Ok(())
    }
}

impl<R: Record> Drop for Merge<R> {
    fn drop(&mut self) {
        self.requests = None;
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl<R: Record> Lane<R> {
    fn request(&mut self, reader: RunReader, buffer: Vec<R>, requests: &Sender<Request<R>>) {
        let request = Request { reader, buffer, reply: self.reply.clone() };
        self.waiting = requests.send(request).is_ok();
    }

    /// Takes the block that was asked for and asks for the one after it.
    fn next_block(&mut self, requests: &Sender<Request<R>>) -> Result<()> {
        self.at = 0;
        self.spare = std::mem::take(&mut self.block);
        if !self.waiting {
            return Ok(());
        }
        self.waiting = false;
        let reply = self.replies.recv().expect("a worker answers every request")?;
        self.block = reply.buffer;
        if reply.more {
            let spare = std::mem::take(&mut self.spare);
            self.request(reply.reader, spare, requests);
        }
        Ok(())
    }

    #[inline]
    fn head(&self, run: u32) -> R::Rank {
        self.block.get(self.at).map_or(R::LAST_RANK, |record| record.rank(run))
    }
}

fn spawn_worker<R: Record>(queue: Receiver<Request<R>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut encoded = AlignedBuffer::new(0);
        for Request { mut reader, mut buffer, reply } in queue {
            let result = reader.next_block(&mut encoded, &mut buffer).map(|more| {
                if !more {
                    buffer.clear();
                }
                Reply { reader, buffer, more }
            });
            // The merge may be gone: then nobody waits for the block.
            let _ = reply.send(result);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tree_gives_the_smallest_head_and_keeps_the_order_of_runs(
            mut runs in prop::collection::vec(prop::collection::vec(0u8..9, 0..20), 0..20),
        ) {
            for run in &mut runs {
                run.sort_unstable();
            }
            let mut expected: Vec<(u8, u32)> = Vec::new();
            for (number, run) in runs.iter().enumerate() {
                expected.extend(run.iter().map(|&key| (key, number as u32)));
            }
            expected.sort_unstable();
            let mut at = vec![0; runs.len()];
            let head = |at: &[usize], run: u32| match runs[run as usize].get(at[run as usize]) {
                Some(&key) => (key, run),
                None => (u8::MAX, USED_UP),
            };
            let heads: Vec<_> = (0..runs.len() as u32).map(|run| head(&at, run)).collect();
            let mut tree = LoserTree::new(&heads, (u8::MAX, USED_UP));
            let mut found = Vec::new();
            while tree.winner().1 != USED_UP {
                let (key, run) = tree.winner();
                found.push((key, run));
                at[run as usize] += 1;
                tree.replace(run as usize, head(&at, run));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
