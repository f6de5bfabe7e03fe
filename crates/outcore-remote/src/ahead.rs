//! An open object: ranges of it on their way, several at a time, for whoever reads it.
//!
//! A reader that goes front to back is a lane: requests are sent ahead of it, at most twice as far as it has
//! come, up to what its share of [`HELD_BYTES`] allows. A place that nobody has come to in order costs one
//! request of [`FIRST_BYTES`]. What is known beforehand ([`File::will_read`]), such as the columns of a group of
//! Parquet, has a lane of its own from the start, which ends where the range does. Bytes behind a lane are gone.

use crate::object::{Identity, Object};
use crate::waiting::{POLL, Waiting, ended};
use outcore::io::File;
use outcore::{Error, Result};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// The most memory of an open object: what is there and on its way, and buffers of connections.
pub const HELD_BYTES: u64 = AHEAD_BYTES + (4 << 20);
/// Bytes of all lanes that are there or on their way.
const AHEAD_BYTES: u64 = 20 << 20;
/// Of one request, at most.
const REQUEST_BYTES: u64 = 4 << 20;
/// Of the first request at a place.
const FIRST_BYTES: u64 = 256 << 10;
/// Of one request, at least, where many lanes share the memory.
const REQUEST_BYTES_MIN: u64 = 64 << 10;
/// Requests of a lane on their way.
const DEPTH: u64 = 4;
/// Places that nobody has told of, of which one or the other may be read on.
const GUESSES: usize = 4;

/// What becomes of a request: the bytes, or an error, which is told once.
#[derive(Default)]
struct Answer {
    bytes: Mutex<Option<std::result::Result<Vec<u8>, Option<Error>>>>,
    came: Condvar,
}

impl Answer {
    fn set(&self, found: Result<Vec<u8>>) {
        locked(&self.bytes).get_or_insert(found.map_err(Some));
        self.came.notify_all();
    }
}

/// Answers, whatever happens to the request.
struct Promise(Arc<Answer>);

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.set(Err(ended()));
    }
}

/// A range that was asked for; given up when nobody has it any more.
struct Piece {
    range: Range<u64>,
    answer: Arc<Answer>,
    task: AbortHandle,
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A reader that goes front to back.
struct Lane {
    begin: u64,
    at: u64,
    end: u64,
    /// One behind the other, the first of which has the byte `at`.
    pieces: VecDeque<Arc<Piece>>,
    /// Whether it is known that all up to `end` will be read.
    is_reported: bool,
    /// Whether its last bytes have been read.
    is_done: bool,
}

impl Lane {
    fn new(range: Range<u64>, is_reported: bool) -> Self {
        let Range { start, end } = range;
        Self { begin: start, at: start, end, pieces: VecDeque::new(), is_reported, is_done: false }
    }

    /// Where what was asked for ends.
    fn asked_to(&self) -> u64 {
        self.pieces.back().map_or(self.at, |piece| piece.range.end)
    }

    fn held_bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.range.end - piece.range.start).sum()
    }

    /// Whether a read at `offset` is one of this reader's.
    fn has(&self, offset: u64) -> bool {
        let is_near = self.is_reported || offset <= self.asked_to();
        (self.at..self.end).contains(&offset) && is_near
    }

    /// Forgets what is before `offset`.
    fn go_to(&mut self, offset: u64) {
        self.at = offset;
        while self.pieces.front().is_some_and(|piece| piece.range.end <= offset) {
            self.pieces.pop_front();
        }
    }
}

/// An object that is read.
pub(crate) struct RemoteFile {
    object: Arc<Object>,
    identity: Arc<Identity>,
    waiting: Arc<Waiting>,
    /// The one that was used last is the last.
    lanes: Mutex<Vec<Lane>>,
}

impl RemoteFile {
    pub(crate) fn open(object: Arc<Object>, waiting: Arc<Waiting>) -> io::Result<Self> {
        let identity = object.look().map_err(io::Error::other)?;
        Ok(Self { object, identity, waiting, lanes: Mutex::default() })
    }

    /// Sends a request.
    fn ask(&self, range: Range<u64>) -> Arc<Piece> {
        let answer = Arc::new(Answer::default());
        let promise = Promise(answer.clone());
        let (object, identity, wanted) =
            (self.object.clone(), self.identity.clone(), range.clone());
        let task = self.waiting.start(async move {
            promise.0.set(object.fetch(&identity, wanted).await);
        });
        Arc::new(Piece { range, answer, task })
    }

    /// The piece with the byte at `offset`; others behind it are on their way then.
    fn piece_at(&self, offset: u64, wanted: u64) -> Arc<Piece> {
        let mut lanes = locked(&self.lanes);
        let at = lanes.iter().rposition(|lane| lane.has(offset));
        let mut lane = match at {
            Some(at) => lanes.remove(at),
            None => Lane::new(offset..self.identity.bytes(), false),
        };
        lane.go_to(offset);
        let guesses = lanes.iter().filter(|lane| !lane.is_reported).count();
        if !lane.is_reported && guesses >= GUESSES {
            let oldest = lanes.iter().position(|lane| !lane.is_reported);
            oldest.map(|at| lanes.remove(at));
        }
        // What nobody has told of is one lane for all: of its places, one is read.
        let reported = lanes.iter().filter(|lane| lane.is_reported).count() as u64;
        let share = AHEAD_BYTES / (reported + 1);
        if lane.pieces.is_empty() {
            self.begin(&mut lane, wanted.clamp(FIRST_BYTES, REQUEST_BYTES).min(share));
        }
        let others: u64 = lanes.iter().map(Lane::held_bytes).sum();
        self.ask_ahead(&mut lane, share.min(AHEAD_BYTES.saturating_sub(others)));
        let piece = lane.pieces[0].clone();
        lane.is_done = piece.range.end == lane.end && offset + wanted >= lane.end;
        lanes.push(lane);
        piece
    }

    /// Sends the request for what a reader needs next.
    fn begin(&self, lane: &mut Lane, bytes: u64) {
        let end = lane.end.min(lane.at + bytes.max(REQUEST_BYTES_MIN));
        lane.pieces.push_back(self.ask(lane.at..end));
    }

    /// Sends requests ahead of a reader, as far as `room` allows.
    fn ask_ahead(&self, lane: &mut Lane, room: u64) {
        let come = lane.at - lane.begin;
        let ahead = if lane.is_reported { room } else { room.min(2 * come) };
        let request = (ahead / DEPTH).clamp(REQUEST_BYTES_MIN, REQUEST_BYTES);
        while lane.asked_to() < lane.end && lane.held_bytes() + request <= ahead {
            let start = lane.asked_to();
            lane.pieces.push_back(self.ask(start..lane.end.min(start + request)));
        }
    }

    /// Waits for a piece, and copies what it has from `offset` on.
    fn copy(&self, piece: &Piece, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut answer = locked(&piece.answer.bytes);
        loop {
            match &mut *answer {
                Some(Ok(bytes)) => {
                    let bytes = &bytes[(offset - piece.range.start) as usize..];
                    let count = bytes.len().min(into.len());
                    into[..count].copy_from_slice(&bytes[..count]);
                    return Ok(count);
                }
                Some(Err(error)) => {
                    // Who comes next asks anew; so does whoever has waited for the same.
                    locked(&self.lanes).clear();
                    let again = || io::ErrorKind::Interrupted.into();
                    return Err(error.take().map_or_else(again, io::Error::other));
                }
                None => {
                    self.waiting.check().map_err(io::Error::other)?;
                    let waited = piece.answer.came.wait_timeout(answer, POLL);
                    answer = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl File for RemoteFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        if offset >= self.identity.bytes() || into.is_empty() {
            return Ok(0);
        }
        let piece = self.piece_at(offset, into.len() as u64);
        self.copy(&piece, offset, into)
    }

    fn will_read(&self, range: Range<u64>) {
        let range = range.start..range.end.min(self.identity.bytes());
        if range.is_empty() {
            return;
        }
        let mut lanes = locked(&self.lanes);
        lanes.retain(|lane| !lane.is_reported || !lane.is_done);
        let mut lane = Lane::new(range, true);
        self.begin(&mut lane, FIRST_BYTES.min(AHEAD_BYTES / (lanes.len() as u64 + 1)));
        lanes.push(lane);
    }

    fn write_at(&self, _offset: u64, _from: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.identity.bytes())
    }

    fn set_bytes(&self, _bytes: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn is_direct(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Stores;
    use object_store::memory::InMemory;
    use object_store::path::Path as Key;
    use object_store::{ObjectStore, PutOptions};
    use outcore::ErrorKind;
    use std::sync::atomic::{AtomicBool, Ordering};

    const BYTES: usize = 40 << 20;

    fn content() -> Vec<u8> {
        (0..BYTES as u64 / 8)
            .flat_map(|word| (word.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_le_bytes())
            .collect()
    }

    fn open(content: &[u8], stop: &'static AtomicBool) -> RemoteFile {
        let waiting = Arc::new(Waiting::new(Arc::new(|| stop.load(Ordering::SeqCst))).unwrap());
        let (store, key) = (Arc::new(InMemory::new()), Key::from("object"));
        let (into, place, bytes) = (store.clone(), key.clone(), content.to_vec());
        let put = async move { into.put_opts(&place, bytes.into(), PutOptions::default()).await };
        waiting.wait(put).unwrap().unwrap();
        let store = Stores { look: store.clone(), read: store };
        let object = Object::new("memory".into(), "memory", store, key, waiting.clone());
        RemoteFile::open(Arc::new(object), waiting).unwrap()
    }

    fn held_bytes(file: &RemoteFile) -> u64 {
        locked(&file.lanes).iter().map(Lane::held_bytes).sum()
    }

    /// Reads all of a range.
    fn read(file: &RemoteFile, range: Range<u64>) -> Vec<u8> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let mut at = 0;
        while at < bytes.len() {
            match file.read_at(range.start + at as u64, &mut bytes[at..]) {
                Ok(0) => break,
                Ok(count) => at += count,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted),
            }
        }
        assert!(held_bytes(file) <= HELD_BYTES, "{}", held_bytes(file));
        bytes
    }

    #[test]
    fn any_order_of_reads_gives_the_bytes_within_the_memory() {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let content = content();
        let file = open(&content, &NEVER);
        let mut at = 0;
        for size in (1..).map(|k: usize| k * 7919 % 700_000) {
            let end = (at + size).min(BYTES);
            assert!(read(&file, at as u64..end as u64) == content[at..end]);
            at = end;
            if at == BYTES {
                break;
            }
        }
        for k in 0..200usize {
            let at = k * 7_654_321 % (BYTES - 5000);
            assert!(read(&file, at as u64..at as u64 + 5000) == content[at..at + 5000]);
        }
        assert_eq!(file.read_at(BYTES as u64, &mut [0]).unwrap(), 0);
    }

    /// As columns of groups are read: a short look before each page, by several threads.
    #[test]
    fn ranges_that_were_told_are_read_side_by_side() {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let content = content();
        let file = open(&content, &NEVER);
        let (threads, columns) = (4, 3);
        let share = (BYTES / (2 * threads * columns)) as u64;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (file, content) = (&file, &content);
                scope.spawn(move || {
                    for group in [thread, thread + threads] {
                        let begins = (0..columns).map(|c| (group * columns + c) as u64 * share);
                        let begins: Vec<u64> = begins.collect();
                        begins.iter().for_each(|&begin| file.will_read(begin..begin + share));
                        for page in 0..share.div_ceil(300_000) {
                            for begin in &begins {
                                let from = begin + page * 300_000;
                                let to = (from + 300_000).min(begin + share);
                                let look = from..(from + 1000).min(to);
                                for range in [look.clone(), look.start + 17..to] {
                                    let part = range.start as usize..range.end as usize;
                                    assert!(read(file, range) == content[part]);
                                }
                            }
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        static STOPPED: AtomicBool = AtomicBool::new(false);
        let file = open(&[1; 100], &STOPPED);
        STOPPED.store(true, Ordering::SeqCst);
        let error = file.waiting.wait(std::future::pending::<()>()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}
