//! Reader of edges: its state, and how a batch goes through it.
//!
//! ```text
//!  open_files --tasks--> Feed (reading thread) --receive--> parse_all (rayon) --> Account --> Batch
//!                          ^                                                                   |
//!                          `------------------------------ recycle ----------------------------'
//! ```

use crate::account::{Account, InputState, InputSummary};
use crate::chunk::ParsedChunk;
use crate::feed::{Feed, FileReader, parse_all};
use crate::open::{
    common_kinds, common_weights, describe, kinds_bytes, kinds_of_files, open_files, total_bytes,
    unweighted,
};
use crate::sink::DecodeRoom;
use crate::source::OpenFile;
use crate::{BatchMemory, EdgeChunk, InputOptions, KindNames};
use outcore_graph::NameType;
use outcore_io::Files;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::Result;
use std::path::Path;

/// Consecutive chunks of the input, those of the node list last. Can be reused, which keeps its buffers.
#[derive(Debug, Default)]
pub struct Batch {
    /// Chunks, in file order.
    pub chunks: Vec<EdgeChunk>,
    /// Chunks without text, whose memory can be used again.
    pub(crate) spare: Vec<EdgeChunk>,
    /// Chunks that are being parsed.
    pub(crate) parsed: Vec<ParsedChunk>,
}

impl Batch {
    /// Returns the chunks with edges and those of the node list.
    pub fn edges_and_nodes(&self) -> (&[EdgeChunk], &[EdgeChunk]) {
        self.chunks.split_at(self.chunks.partition_point(|chunk| !chunk.is_node_list))
    }
}

/// Reader of edges.
pub struct EdgeReader {
    files: Vec<OpenFile>,
    weighted: bool,
    total_bytes: Option<u64>,
    /// Whether this reader must decompress again the text that another reader has read.
    repeats: bool,
    feed: Feed,
    account: Account,
}

/// Can be saved only while [`EdgeReader::can_be_saved`] returns true.
impl Checkpoint for EdgeReader {
    type State = InputState;
    type Place<'a> = (&'a Files, &'a InputOptions, BatchMemory);

    fn save(&mut self, to: &mut StateWriter) -> Result<InputState> {
        self.account.save(to)
    }

    fn resume(
        state: &InputState,
        _: &mut StateReader,
        (files, options, memory): Self::Place<'_>,
    ) -> Result<Self> {
        Self::open_at(files, options, memory, Some(state))
    }
}

impl EdgeReader {
    /// Opens all files and detects their formats. Reading begins with the first batch, so the caller can refuse the
    /// memory that [`EdgeReader::window_bytes`] reports before that.
    ///
    /// # Errors
    /// `Usage` for unusable options, `Io` with the path, `BadCompression`, `BadInput` if a file is not text, a named
    /// column is missing, only some files have weights, or no file has weights to transform.
    pub fn open(files: &Files, options: &InputOptions, memory: BatchMemory) -> Result<Self> {
        Self::open_at(files, options, memory, None)
    }

    /// Like [`EdgeReader::open`], but resumes where another reader of the same files stopped.
    fn open_at(
        files: &Files,
        options: &InputOptions,
        memory: BatchMemory,
        state: Option<&InputState>,
    ) -> Result<Self> {
        options.check()?;
        let memory = memory.clamped();
        let workers = rayon::current_num_threads();
        let room = DecodeRoom { workers, bytes: memory.total_bytes(1, workers) };
        let (mut opened, mut tasks) = open_files(files, options, room)?;
        for file in opened.iter_mut().filter(|file| file.source.kinds().is_some()) {
            file.window_bytes += kinds_bytes(memory);
        }
        let weighted = common_weights(&opened, options)?;
        let account = Account::open(files, options, state)?;
        let begin = state.map(|state| state.next).unwrap_or_default();
        if state.is_some() {
            // Earlier files are not read. Detection has already read the first block of its own file.
            tasks.retain(|task| task.begin.file >= begin.file);
            let first = tasks.first_mut().expect("the state is of one of the files");
            (first.begin, first.input) = (begin, None);
        }
        let before = total_bytes(files, options.all_paths().take(begin.file));
        let reader = FileReader {
            files: files.clone(),
            chunk_bytes: memory.chunk_bytes,
            workers,
            done_bytes: before.unwrap_or(0),
            stop: account.stop,
            tasks,
        };
        Ok(Self {
            weighted,
            total_bytes: total_bytes(files, options.all_paths()),
            repeats: begin.byte > 0 && opened[begin.file].unpacker.is_some(),
            files: opened,
            feed: Feed::of(reader, memory),
            account,
        })
    }

    /// Fills `batch` with the next chunks in file order, parsed on the current rayon pool. Returns `false` at the end
    /// of the last file.
    ///
    /// # Errors
    /// The earliest bad line of the input, unless bad lines are skipped; `Io` and `BadCompression`
    /// with the path; `Io` and `DiskFull` for the rejects file.
    pub fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        self.feed.recycle(batch);
        let last = self.feed.receive(batch, &self.files[0].path);
        parse_all(&mut batch.parsed, &self.files, self.weighted, self.account.stop);
        for chunk in batch.parsed.drain(..) {
            self.account.add(&chunk, &self.files)?;
            batch.chunks.push(EdgeChunk { first_line: chunk.origin.line, ..chunk.edges });
        }
        if let Some(bytes) = last {
            self.account.end(bytes?, &self.files)?;
        }
        Ok(!batch.chunks.is_empty())
    }

    /// Ends reading and returns the totals. The rejects file is complete then.
    ///
    /// # Errors
    /// `Io` and `DiskFull` for the rejects file.
    pub fn finish(self) -> Result<InputSummary> {
        self.account.finish()
    }

    /// Returns whether another reader can resume here.
    pub fn can_be_saved(&self) -> bool {
        self.account.can_be_saved() && self.files.iter().all(|file| !file.facts.is_one_pass)
    }

    /// Returns whether this reader must decompress again the text that another reader has read.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns the first file with edges, if it has no weights.
    pub fn unweighted(&self) -> Option<&Path> {
        unweighted(&self.files)
    }

    /// Returns whether edges have weights, which is the same for all files.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Returns the stored size of all files in bytes, if they are regular files.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Returns the stored bytes of the files that the batches so far cover.
    pub fn done_bytes(&self) -> u64 {
        self.account.done_bytes
    }

    /// Returns the memory for the windows of decompression, beyond what [`BatchMemory::total_bytes`] counts: up to 128
    /// MiB for zstd files packed with `--long` or `--ultra`. Includes data in flight from a server.
    pub fn window_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.window_bytes).max().unwrap_or(0)
    }

    /// Describes how the files were understood: one line for each kind of file, with its first path.
    pub fn describe(&self) -> Vec<String> {
        describe(&self.files)
    }

    /// Returns the two kinds of nodes, if all files of edges have the same.
    pub fn kinds(&self) -> Option<KindNames> {
        let name = |prefix: &String| prefix.trim_end_matches(':').to_owned();
        common_kinds(&self.files).map(|kinds| KindNames(kinds.each_ref().map(name)))
    }

    /// Returns the type of the names: text, unless all files are tables with names of one other type.
    pub fn name_type(&self) -> NameType {
        let types = self.files.iter().map(|file| file.facts.name_type);
        types.reduce(NameType::together).unwrap_or_default()
    }

    /// Returns whether some nodes have a kind, but are not of the same two kinds in all files of edges.
    pub fn has_other_kinds(&self) -> bool {
        self.kinds().is_none() && kinds_of_files(&self.files).any(|kinds| kinds.is_some())
    }

    /// Returns whether any file holds hits of a search, as BLAST and its relatives list them, with scores as weights.
    pub fn is_search(&self) -> bool {
        self.files.iter().any(|file| file.facts.is_search)
    }

    /// Returns whether nodes have paths in a tree of modules, of which a community is a part; see
    /// [`CommunityInput::level`](crate::CommunityInput::level).
    pub fn has_paths(&self) -> bool {
        self.files.iter().any(|file| file.facts.has_paths)
    }
}
