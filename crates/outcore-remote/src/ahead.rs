//! An open object, with requests for several ranges in flight ahead of its readers.
//!
//! A sequential reader is a lane: requests are sent ahead of it, up to twice the distance that it has read, within
//! its share of [`HELD_BYTES`]. A read at any other place costs one request of [`FIRST_BYTES`]. A range announced in
//! advance ([`File::will_read`]), such as a column of a Parquet group, has a lane of its own from the start, which
//! ends with the range. Bytes behind a lane are discarded.

use crate::object::{Identity, Object};
use crate::waiting::{POLL, Waiting, ended};
use outcore::io::File;
use outcore::{Error, Result};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// Maximum memory of an open object: bytes received and requested, and buffers of connections.
pub const HELD_BYTES: u64 = AHEAD_BYTES + (4 << 20);
/// Maximum bytes received and requested of all lanes.
const AHEAD_BYTES: u64 = 20 << 20;
/// Maximum bytes of a request.
const REQUEST_BYTES: u64 = 4 << 20;
/// Bytes of the first request at a place.
const FIRST_BYTES: u64 = 256 << 10;
/// Minimum bytes of a request where many lanes share the memory.
const REQUEST_BYTES_MIN: u64 = 64 << 10;
/// Requests of a lane in flight.
const DEPTH: u64 = 4;
/// Maximum number of lanes that were not announced; some of them may be sequential readers.
const GUESSES: usize = 4;

/// Answer to a request: the bytes, or an error, which is returned once.
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

/// Sets the answer when dropped, so that there is one whatever happens to the request.
struct Promise(Arc<Answer>);

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.set(Err(ended()));
    }
}

/// Requested range; the request is canceled when the last reference is dropped.
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

/// Sequential reader.
struct Lane {
    begin: u64,
    at: u64,
    end: u64,
    /// Consecutive pieces, the first of which contains the byte `at`.
    pieces: VecDeque<Arc<Piece>>,
    /// Whether the range was announced, so that all of it up to `end` will be read.
    is_announced: bool,
    /// Whether its last bytes have been read.
    is_done: bool,
}

impl Lane {
    fn new(range: Range<u64>, is_announced: bool) -> Self {
        let Range { start, end } = range;
        Self { begin: start, at: start, end, pieces: VecDeque::new(), is_announced, is_done: false }
    }

    /// Returns the end of the requested bytes.
    fn requested_to(&self) -> u64 {
        self.pieces.back().map_or(self.at, |piece| piece.range.end)
    }

    fn held_bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.range.end - piece.range.start).sum()
    }

    /// Returns whether a read at `offset` belongs to this reader.
    fn has(&self, offset: u64) -> bool {
        let is_near = self.is_announced || offset <= self.requested_to();
        (self.at..self.end).contains(&offset) && is_near
    }

    /// Moves to `offset`, and discards pieces before it.
    fn go_to(&mut self, offset: u64) {
        self.at = offset;
        while self.pieces.front().is_some_and(|piece| piece.range.end <= offset) {
            self.pieces.pop_front();
        }
    }
}

/// Open object.
pub(crate) struct RemoteFile {
    object: Arc<Object>,
    identity: Arc<Identity>,
    waiting: Arc<Waiting>,
    /// Lanes, the most recently used last.
    lanes: Mutex<Vec<Lane>>,
}

impl RemoteFile {
    pub(crate) fn open(object: Arc<Object>, waiting: Arc<Waiting>) -> io::Result<Self> {
        let identity = object.look().map_err(io::Error::other)?;
        Ok(Self { object, identity, waiting, lanes: Mutex::default() })
    }

    /// Sends a request.
    fn request(&self, range: Range<u64>) -> Arc<Piece> {
        let answer = Arc::new(Answer::default());
        let promise = Promise(answer.clone());
        let (object, identity, wanted) =
            (self.object.clone(), self.identity.clone(), range.clone());
        let task = self.waiting.start(async move {
            promise.0.set(object.fetch(&identity, wanted).await);
        });
        Arc::new(Piece { range, answer, task })
    }

    /// Returns the piece with the byte at `offset`, after sending requests for pieces behind it.
    fn piece_at(&self, offset: u64, wanted: u64) -> Arc<Piece> {
        let mut lanes = locked(&self.lanes);
        let at = lanes.iter().rposition(|lane| lane.has(offset));
        let mut lane = match at {
            Some(at) => lanes.remove(at),
            None => Lane::new(offset..self.identity.bytes(), false),
        };
        lane.go_to(offset);
        let guesses = lanes.iter().filter(|lane| !lane.is_announced).count();
        if !lane.is_announced && guesses >= GUESSES {
            let oldest = lanes.iter().position(|lane| !lane.is_announced);
            oldest.map(|at| lanes.remove(at));
        }
        // All lanes that were not announced share the memory of one: only one of them is being read.
        let announced = lanes.iter().filter(|lane| lane.is_announced).count() as u64;
        let share = AHEAD_BYTES / (announced + 1);
        if lane.pieces.is_empty() {
            self.begin(&mut lane, wanted.clamp(FIRST_BYTES, REQUEST_BYTES).min(share));
        }
        let others: u64 = lanes.iter().map(Lane::held_bytes).sum();
        self.request_ahead(&mut lane, share.min(AHEAD_BYTES.saturating_sub(others)));
        let piece = lane.pieces[0].clone();
        lane.is_done = piece.range.end == lane.end && offset + wanted >= lane.end;
        lanes.push(lane);
        piece
    }

    /// Sends a request for the bytes that a reader needs next.
    fn begin(&self, lane: &mut Lane, bytes: u64) {
        let end = lane.end.min(lane.at + bytes.max(REQUEST_BYTES_MIN));
        lane.pieces.push_back(self.request(lane.at..end));
    }

    /// Sends requests ahead of a reader, as far as `room` allows.
    fn request_ahead(&self, lane: &mut Lane, room: u64) {
        let read = lane.at - lane.begin;
        let ahead = if lane.is_announced { room } else { room.min(2 * read) };
        let request = (ahead / DEPTH).clamp(REQUEST_BYTES_MIN, REQUEST_BYTES);
        while lane.requested_to() < lane.end && lane.held_bytes() + request <= ahead {
            let start = lane.requested_to();
            lane.pieces.push_back(self.request(start..lane.end.min(start + request)));
        }
    }

    /// Waits for a piece, and copies its bytes from `offset` on.
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
                    // The next reader sends a new request, as do others that waited for this one.
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
        lanes.retain(|lane| !lane.is_announced || !lane.is_done);
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

    /// Reads a whole range.
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

    /// Columns of groups are read by several threads, with a short read before each page.
    #[test]
    fn announced_ranges_are_read_concurrently() {
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
