//! One output, written by several threads in order: each formats a numbered piece of the edges into a buffer of its own,
//! and writes it when all pieces before are written.
//!
//! A buffer that is full before its piece ends waits for its turn and is written then, so a piece may have any number of
//! bytes. There is no deadlock: pieces are taken in order, so the one whose turn it is always has a thread.

use crate::error::{Error, Result};
use crate::output::Sink;
use std::sync::{Condvar, Mutex, PoisonError};

/// Bytes of a piece that are collected before they are written.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// Output shared by the threads that format pieces.
pub(super) struct Ordered {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Piece that may be written.
    turn: u64,
    sink: Sink,
    /// The earliest error, after which nothing is written.
    failure: Option<Error>,
    has_failed: bool,
}

impl Ordered {
    pub(super) fn new(sink: Sink) -> Self {
        let state = State { turn: 0, sink, failure: None, has_failed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Writes and empties `text` when it is the turn of `piece`, which ends with it if `is_last`. Returns whether to go
    /// on.
    pub(super) fn write(&self, piece: u64, text: &mut Vec<u8>, is_last: bool) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.turn != piece && !state.has_failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.has_failed {
            return false;
        }
        let written = state.sink.write(text);
        text.clear();
        if let Err(error) = written {
            drop(state);
            self.fail(Some(error));
            return false;
        }
        if is_last {
            state.turn += 1;
            self.changed.notify_all();
        }
        true
    }

    /// Reports the error of `piece` when all pieces before are written, so that the earliest one is reported.
    pub(super) fn fail_at(&self, piece: u64, error: Error) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.turn != piece && !state.has_failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.fail(Some(error));
    }

    /// Ends all waiting and writing; the first error given is reported.
    pub(super) fn fail(&self, error: Option<Error>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.has_failed {
            (state.has_failed, state.failure) = (true, error);
        }
        self.changed.notify_all();
    }

    /// Returns the error, if there was one.
    pub(super) fn take_failure(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failure.take().map_or(Ok(()), Err)
    }

    /// Returns the output after the last piece.
    pub(super) fn into_sink(self) -> Sink {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).sink
    }
}

/// Ends all waiting if its thread panics.
pub(super) struct EndsOnPanic<'a>(pub(super) &'a Ordered);

impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(None);
        }
    }
}
