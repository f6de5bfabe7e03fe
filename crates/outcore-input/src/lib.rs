//! Reads edge lists on all cores: text and tables in, names and weights out, in file order.
//!
//! ```text
//!  files --reading thread--> decompressed text, cut at line ends --rayon--> names, weights --> caller
//!               ^                                                                                |
//!               `------------------------------- buffers come back ------------------------------'
//! ```
//!
//! Tables (Parquet, Arrow) and adjacency lists (METIS, mcl) arrive as parsed chunks: see `table` and `lists`. Lines are
//! split at one byte or at runs of spaces, as [`InputOptions`] specifies or `format` detects. `text::field` defines
//! valid names and weights. Memory: [`BatchMemory::total_bytes`]. Cost: about 20 ns of one core for a line of two short
//! names and a weight.
//!
//! ```
//! use outcore_input::{Batch, BatchMemory, EdgeReader, InputOptions};
//! use outcore_io::Files;
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let (files, path) = (Files::default(), directory.join("edges.tsv"));
//! files.write(&path, b"ada\tbea\t0.5\nbea\tcleo\t2\n")?;
//! let options = InputOptions { paths: vec![path], ..InputOptions::default() };
//! let memory = BatchMemory { chunk_bytes: 64 << 10, chunks: 2 };
//! let mut reader = EdgeReader::open(&files, &options, memory)?;
//! let (mut batch, mut edges) = (Batch::default(), Vec::new());
//! while reader.next_batch(&mut batch)? {
//!     for chunk in &batch.chunks {
//!         let names: Vec<_> = chunk.names.iter().map(|name| chunk.name(name)).collect();
//!         edges.extend(names.chunks(2).map(|ends| format!("{} - {}", text(ends[0]), text(ends[1]))));
//!     }
//! }
//! # fn text(name: &[u8]) -> &str { str::from_utf8(name).expect("the names above") }
//! assert_eq!(edges, ["ada - bea", "bea - cleo"]);
//! assert_eq!(reader.finish()?.lines, 2);
//! # Ok::<(), outcore_io::Error>(())
//! ```

#![cfg_attr(
    not(feature = "tables"),
    expect(dead_code, reason = "code used only by tables stays compiled")
)]

mod catalog;
mod chunk;
mod chunks;
mod cut;
mod decompress;
mod fault;
mod format;
mod layout;
pub mod lines;
mod lists;
mod memory;
mod open;
mod options;
mod pieces;
mod sample;
mod sink;
mod source;
mod stream;
#[cfg(feature = "streams")]
mod table;
#[cfg(not(feature = "streams"))]
#[path = "table/none.rs"]
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use catalog::{FormatRow, formats};
use chunk::{BadLine, Origin, ParsedChunk};
use chunks::{Channels, Message, Reader, Task, parse_all};
use crossbeam_channel::{Receiver, Sender, bounded};
use fault::Rejects;
use format::matrix_market;
pub use format::names::choose_columns;
pub use lists::communities::{CLUSTERS_MARK, community_number, is_label};
pub use memory::*;
pub use open::{any_has_comments, examine};
use open::{
    common_kinds, common_weights, describe, kinds_bytes, kinds_of_files, open_files, total_bytes,
    unweighted,
};
pub use options::{
    BatchMemory, Column, CommunityFormat, CommunityInput, Delimiter, EdgeFormat, Header,
    InputOptions, OnBadLine, Rows,
};
pub use options::{contradicts_ignore_weights, has_no_weights};
pub use outcore_graph::KindNames;
pub use outcore_graph::ids::{EdgeChunk, Fingerprint, NAME_LIMIT, NameRef};
pub use outcore_graph::weight::WeightTransform;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::{Error, Place, Result};
use outcore_io::{Files, Sealed};
pub use sample::{InputSample, sample};
use sink::DecodeRoom;
pub use source::ColumnUse;
use source::OpenFile;
use std::path::Path;
pub use stream::TableStream;
pub use table::silence_decoders;

/// Consecutive chunks of the input, those of the node list last. Can be reused, which keeps its buffers.
#[derive(Debug, Default)]
pub struct Batch {
    /// Chunks, in file order.
    pub chunks: Vec<EdgeChunk>,
    /// Chunks without text, whose memory can be used again.
    spare: Vec<EdgeChunk>,
    /// Chunks that are being parsed.
    parsed: Vec<ParsedChunk>,
}

impl Batch {
    /// Returns the chunks with edges and those of the node list.
    pub fn edges_and_nodes(&self) -> (&[EdgeChunk], &[EdgeChunk]) {
        self.chunks.split_at(self.chunks.partition_point(|chunk| !chunk.is_node_list))
    }
}

/// Totals of what was read from all files.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct InputSummary {
    /// Lines, including comments and blank ones; rows of tables; edges of adjacency lists.
    pub lines: u64,
    /// Edges, including those of weight 0.
    pub edges: u64,
    /// Edges of weight 0, which add their nodes but no edge.
    pub zero_weight_edges: u64,
    /// Names in the node list.
    pub listed_nodes: u64,
    /// Comments, other than a header.
    #[serde(default)]
    pub comment_lines: u64,
    /// Skipped lines that are not edges.
    pub skipped_lines: u64,
    /// First skipped line, and what is wrong with it.
    pub first_skipped: Option<(Place, String)>,
}

impl InputSummary {
    /// Returns the warning about skipped lines, if there are any.
    pub fn warning(&self) -> Option<String> {
        let (place, reason) = self.first_skipped.as_ref()?;
        Some(format!(
            "skipped {} of {} lines; first: {}:{}:{}: {reason}",
            outcore_io::units::format_count(self.skipped_lines),
            outcore_io::units::format_count(self.lines),
            place.path.display(),
            place.line,
            place.column
        ))
    }
}

/// Position of a reader, from which another one can resume.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InputState {
    /// First position that was not read yet.
    next: Origin,
    /// Bytes of the files, as stored, before that position.
    pub done_bytes: u64,
    summary: InputSummary,
    rejects: Option<Sealed>,
}

/// Number of table chunks that count as one chunk of text.
const PARTS_OF_CHUNK: usize = 4;
/// Reader of edges.
pub struct EdgeReader {
    formats: Vec<OpenFile>,
    weighted: bool,
    stop: bool,
    total_bytes: Option<u64>,
    done_bytes: u64,
    chunks_per_batch: usize,
    /// Reader and its tasks until the first batch is requested, so that the caller can check first what they need.
    waiting: Option<(Reader, Vec<Task>)>,
    chunks: Receiver<Message>,
    recycle: Sender<EdgeChunk>,
    rejects: Option<Rejects>,
    summary: InputSummary,
    /// Start of the next batch, if it is known.
    next: Option<Origin>,
    /// Whether text that another reader has read must be decompressed again first.
    repeats: bool,
    ended: bool,
    /// Value of `done_bytes` after the last chunk.
    end_bytes: Option<u64>,
    /// Current file and its number of edges and bad lines, if it was read from its beginning.
    lines_of_file: Option<(usize, u64)>,
}

/// Can be saved only while [`EdgeReader::can_be_saved`] returns true.
impl Checkpoint for EdgeReader {
    type State = InputState;
    type Place<'a> = (&'a Files, &'a InputOptions, BatchMemory);

    fn save(&mut self, to: &mut StateWriter) -> Result<InputState> {
        let rejects = self.rejects.as_mut().map(|rejects| rejects.save(to)).transpose()?.flatten();
        let next = self.next.expect("the reader can be saved");
        let (done_bytes, summary) = (self.done_bytes, self.summary.clone());
        Ok(InputState { next, done_bytes, summary, rejects })
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
        let (mut formats, mut tasks) = open_files(files, options, room)?;
        for file in formats.iter_mut().filter(|file| file.source.kinds().is_some()) {
            file.window_bytes += kinds_bytes(memory);
        }
        let weighted = common_weights(&formats, options)?;
        let rejects = match (&options.rejects, state.and_then(|state| state.rejects)) {
            (Some(path), Some(saved)) => Some(Rejects::resume(files, path, saved)?),
            (Some(path), None) => Some(Rejects::create(files, path)?),
            (None, _) => None,
        };
        let begin = state.map(|state| state.next).unwrap_or_default();
        if state.is_some() {
            // Earlier files are not read. Detection has already read the first block of its own file.
            tasks.retain(|task| task.begin.file >= begin.file);
            let first = tasks.first_mut().expect("the state is of one of the files");
            (first.begin, first.input) = (begin, None);
        }
        let before = total_bytes(files, options.all_paths().take(begin.file));
        let (to_parsers, chunks) = bounded(memory.chunks);
        let (recycle, recycled) = bounded(PARTS_OF_CHUNK * (2 * memory.chunks + 2));
        let reader = Reader {
            files: files.clone(),
            chunk_bytes: memory.chunk_bytes,
            workers,
            done_bytes: before.unwrap_or(0),
            stop: options.on_bad_line == OnBadLine::Stop,
            channels: Channels { to_parsers, recycled },
        };
        let summary = state.map(|state| state.summary.clone()).unwrap_or_default();
        Ok(Self {
            repeats: begin.byte > 0 && formats[begin.file].unpacker.is_some(),
            formats,
            weighted,
            stop: options.on_bad_line == OnBadLine::Stop,
            total_bytes: total_bytes(files, options.all_paths()),
            done_bytes: state.map_or(0, |state| state.done_bytes),
            chunks_per_batch: memory.chunks,
            waiting: Some((reader, tasks)),
            chunks,
            recycle,
            rejects,
            summary,
            next: None,
            ended: false,
            end_bytes: None,
            lines_of_file: None,
        })
    }

    /// Returns whether another reader can resume here.
    pub fn can_be_saved(&self) -> bool {
        let can_resume = self.formats.iter().all(|file| !file.facts.is_one_pass);
        self.next.is_some() && can_resume && self.rejects.as_ref().is_none_or(Rejects::is_file)
    }

    /// Returns whether text that another reader has read is decompressed again first.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns the first file with edges, if it has no weights.
    pub fn unweighted(&self) -> Option<&Path> {
        unweighted(&self.formats)
    }

    /// Returns whether edges have weights, which is the same for all files.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Returns the stored size of all files in bytes, if they are regular files.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Returns the stored bytes of the files that the batches so far came from.
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes
    }

    /// Returns the memory for the windows of decompression, beyond what [`BatchMemory::total_bytes`] counts: up to 128
    /// MiB for zstd files packed with `--long` or `--ultra`. Includes data in flight from a server.
    pub fn window_bytes(&self) -> u64 {
        self.formats.iter().map(|file| file.window_bytes).max().unwrap_or(0)
    }

    /// Describes how the files were understood: one line for each kind of file, with its first path.
    pub fn describe(&self) -> Vec<String> {
        describe(&self.formats)
    }

    /// Returns the two kinds of nodes, if all files of edges have the same.
    pub fn kinds(&self) -> Option<KindNames> {
        let name = |prefix: &String| prefix.trim_end_matches(':').to_owned();
        common_kinds(&self.formats).map(|kinds| KindNames(kinds.each_ref().map(name)))
    }

    /// Returns whether some nodes have a kind, but are not of the same two kinds in all files of edges.
    pub fn has_other_kinds(&self) -> bool {
        self.kinds().is_none() && kinds_of_files(&self.formats).any(|kinds| kinds.is_some())
    }

    /// Returns whether any file holds hits of a search, as BLAST and its relatives list them, with scores as weights.
    pub fn is_search(&self) -> bool {
        self.formats.iter().any(|file| file.facts.is_search)
    }

    /// Returns whether nodes have paths in a tree of modules, of which a community is a part; see
    /// [`CommunityInput::depth`].
    pub fn has_paths(&self) -> bool {
        self.formats.iter().any(|file| file.facts.has_paths)
    }

    /// Fills `batch` with the next chunks in file order, parsed on the current rayon pool. Returns `false` at the end
    /// of the last file.
    ///
    /// # Errors
    /// The earliest bad line of the input, unless bad lines are skipped; `Io` and `BadCompression`
    /// with the path; `Io` and `DiskFull` for the rejects file.
    pub fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        for mut chunk in batch.chunks.drain(..) {
            // If the channel is full, the reading thread has enough buffers.
            if !chunk.has_lines {
                let _ = self.recycle.try_send(chunk);
                continue;
            }
            let text = std::mem::take(&mut chunk.text);
            let _ = self.recycle.try_send(EdgeChunk { text, ..EdgeChunk::default() });
            batch.spare.push(chunk);
        }
        let failure = self.receive(batch);
        let (formats, weighted, stop) = (&self.formats, self.weighted, self.stop);
        parse_all(&mut batch.parsed, formats, weighted, stop);
        for mut chunk in batch.parsed.drain(..) {
            self.account(&mut chunk)?;
            let (first_line, has_lines) = (chunk.origin.line, !chunk.is_parsed);
            batch.chunks.push(EdgeChunk { first_line, has_lines, ..chunk.edges });
        }
        self.done_bytes = self.end_bytes.unwrap_or(self.done_bytes);
        if self.end_bytes.is_some() {
            self.check_lines_of_file()?;
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(!batch.chunks.is_empty()),
        }
    }

    /// Receives up to a batch of chunks. Returns the error that followed them, if any.
    fn receive(&mut self, batch: &mut Batch) -> Option<Error> {
        batch.parsed.clear();
        if let Some((reader, tasks)) = self.waiting.take() {
            // Never joined, as it may wait for a pipe that is never written. It ends when the channel closes.
            std::thread::spawn(move || reader.run(tasks));
        }
        let mut room = PARTS_OF_CHUNK * self.chunks_per_batch;
        while room > 0 && !self.ended {
            match self.chunks.recv() {
                Ok(Message::Chunk(chunk)) if chunk.is_parsed => {
                    room -= 1;
                    batch.parsed.push(chunk);
                }
                Ok(Message::Chunk(mut chunk)) => {
                    room = room.saturating_sub(PARTS_OF_CHUNK);
                    let mut edges = batch.spare.pop().unwrap_or_default();
                    edges.clear();
                    edges.text = chunk.edges.text;
                    chunk.edges = edges;
                    batch.parsed.push(chunk);
                }
                Ok(Message::End(bytes)) => {
                    self.ended = true;
                    self.end_bytes = Some(bytes);
                }
                Ok(Message::Failed(error)) => {
                    self.ended = true;
                    return Some(error);
                }
                Err(_) => {
                    self.ended = true;
                    let path = self.formats.first().map_or(Path::new("-"), |file| &file.path);
                    return Some(Error::io("read", path, std::io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
        None
    }

    /// Checks the number of entries of a file that has been read against the number that it declares.
    fn check_lines_of_file(&mut self) -> Result<()> {
        let Some((file, found)) = self.lines_of_file.take() else { return Ok(()) };
        let file = &self.formats[file];
        let check = |declared| matrix_market::check_entries(declared, found, &file.path);
        file.facts.entries.map_or(Ok(()), check)
    }

    /// Counts a parsed chunk, and reports or stores its bad lines.
    fn account(&mut self, chunk: &mut ParsedChunk) -> Result<()> {
        if chunk.origin.byte == 0 && !chunk.is_parsed {
            self.check_lines_of_file()?;
            self.lines_of_file = Some((chunk.origin.file, 0));
        }
        let file = &self.formats[chunk.origin.file];
        let (mut line, mut counted) = (chunk.origin.line, 0);
        for fault in &chunk.faults {
            let (start, end) = (fault.line_start as usize, fault.line_end as usize);
            // Counted from one bad line to the next: counting from the start each time would be quadratic.
            line += memchr::memchr_iter(b'\n', &chunk.edges.text[counted..start]).count() as u64;
            counted = start;
            let is_first = self.summary.first_skipped.is_none();
            if !is_first && self.rejects.is_none() {
                break;
            }
            let (text, origin, path) = (&chunk.edges.text, &chunk.origin, &file.path);
            let bad = BadLine { fault, text, origin, line, path, can_skip: true };
            if self.stop {
                return Err(file.source.error(&bad));
            }
            let (place, reason) = (file.source.place(&bad), file.source.reason(fault.problem));
            if let Some(rejects) = &mut self.rejects {
                let kind = fault.problem.kind().name();
                rejects.push(&place, kind, &reason, &chunk.edges.text[start..end])?;
            }
            if is_first {
                self.summary.first_skipped = Some((place, reason));
            }
        }
        self.done_bytes = chunk.done_bytes;
        self.next = chunk.next;
        self.summary.lines += chunk.lines;
        self.summary.edges += chunk.edges.edge_count() as u64 - chunk.alone;
        if chunk.edges.is_node_list {
            self.summary.listed_nodes += chunk.edges.names.len() as u64;
        }
        self.summary.skipped_lines += chunk.faults.len() as u64;
        self.summary.comment_lines += chunk.comments;
        if chunk.origin.byte == 0 {
            self.summary.comment_lines += file.facts.comments;
        }
        if let Some((_, lines)) =
            self.lines_of_file.as_mut().filter(|(file, _)| *file == chunk.origin.file)
        {
            *lines += (chunk.edges.edge_count() + chunk.faults.len()) as u64;
        }
        let zeros = chunk.edges.weights.iter().filter(|&&weight| weight == 0).count() as u64;
        self.summary.zero_weight_edges += zeros.saturating_sub(chunk.alone);
        Ok(())
    }

    /// Ends reading and returns the totals. The rejects file is complete then.
    ///
    /// # Errors
    /// `Io` and `DiskFull` for the rejects file.
    pub fn finish(self) -> Result<InputSummary> {
        if let Some(rejects) = self.rejects {
            rejects.finish()?;
        }
        Ok(self.summary)
    }
}
