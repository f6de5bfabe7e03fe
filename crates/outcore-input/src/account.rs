//! What was read so far: totals, the place from which to resume, and bad lines, which are reported or stored.

use crate::chunk::{BadLine, Origin, ParsedChunk};
use crate::fault::Rejects;
use crate::format::matrix_market;
use crate::source::OpenFile;
use crate::{InputOptions, OnBadLine};
use outcore_io::checkpoint::StateWriter;
use outcore_io::error::{Place, Result};
use outcore_io::{Files, Sealed};

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
    pub(crate) next: Origin,
    /// Bytes of the files, as stored, before that position.
    pub done_bytes: u64,
    summary: InputSummary,
    rejects: Option<Sealed>,
}

/// Account of the chunks of a reader, in file order.
pub(crate) struct Account {
    pub(crate) summary: InputSummary,
    /// Bytes of the files, as stored, that were read.
    pub(crate) done_bytes: u64,
    /// Start of the next chunk, if it is known.
    next: Option<Origin>,
    /// Whether a bad line is an error.
    pub(crate) stop: bool,
    rejects: Option<Rejects>,
    /// Current file, and the number of its edges and bad lines so far; `None` if it was not read from its beginning.
    lines_of_file: Option<(usize, u64)>,
}

impl Account {
    /// Begins an account, or continues the one that was saved.
    pub(crate) fn open(
        files: &Files,
        options: &InputOptions,
        state: Option<&InputState>,
    ) -> Result<Self> {
        let saved = state.and_then(|state| state.rejects);
        let rejects = options.rejects.as_ref().map(|path| match saved {
            Some(saved) => Rejects::resume(files, path, saved),
            None => Rejects::create(files, path),
        });
        Ok(Self {
            summary: state.map(|state| state.summary.clone()).unwrap_or_default(),
            done_bytes: state.map_or(0, |state| state.done_bytes),
            next: None,
            stop: options.on_bad_line == OnBadLine::Stop,
            rejects: rejects.transpose()?,
            lines_of_file: None,
        })
    }

    /// Returns whether another reader can resume after the chunks so far.
    pub(crate) fn can_be_saved(&self) -> bool {
        self.next.is_some() && self.rejects.as_ref().is_none_or(Rejects::is_file)
    }

    pub(crate) fn save(&mut self, to: &mut StateWriter) -> Result<InputState> {
        let rejects = self.rejects.as_mut().map(|rejects| rejects.save(to)).transpose()?.flatten();
        let next = self.next.expect("the reader can be saved");
        let (done_bytes, summary) = (self.done_bytes, self.summary.clone());
        Ok(InputState { next, done_bytes, summary, rejects })
    }

    /// Counts a parsed chunk of one of `files`, and reports or stores its bad lines.
    pub(crate) fn add(&mut self, chunk: &ParsedChunk, files: &[OpenFile]) -> Result<()> {
        let (file, begins) = (&files[chunk.origin.file], chunk.origin.byte == 0);
        if begins && chunk.edges.has_lines {
            self.check_lines_of_file(files)?;
            self.lines_of_file = Some((chunk.origin.file, 0));
        }
        self.refuse_or_skip(chunk, file)?;
        (self.done_bytes, self.next) = (chunk.done_bytes, chunk.next);
        let (edges, faults) = (chunk.edges.edge_count() as u64, chunk.faults.len() as u64);
        let zeros = chunk.edges.weights.iter().filter(|&&weight| weight == 0).count() as u64;
        let summary = &mut self.summary;
        summary.lines += chunk.lines;
        summary.edges += edges - chunk.alone;
        summary.zero_weight_edges += zeros.saturating_sub(chunk.alone);
        summary.skipped_lines += faults;
        summary.comment_lines += chunk.comments + if begins { file.facts.comments } else { 0 };
        if chunk.edges.is_node_list {
            summary.listed_nodes += chunk.edges.names.len() as u64;
        }
        if let Some((at, lines)) = &mut self.lines_of_file
            && *at == chunk.origin.file
        {
            *lines += edges + faults;
        }
        Ok(())
    }

    /// Ends the account of all files, which have this many bytes.
    pub(crate) fn end(&mut self, bytes: u64, files: &[OpenFile]) -> Result<()> {
        self.done_bytes = bytes;
        self.check_lines_of_file(files)
    }

    /// Completes the rejects file.
    pub(crate) fn finish(self) -> Result<InputSummary> {
        self.rejects.map_or(Ok(()), Rejects::finish)?;
        Ok(self.summary)
    }

    /// Returns the error for the first bad line of a chunk, or stores all of them.
    fn refuse_or_skip(&mut self, chunk: &ParsedChunk, file: &OpenFile) -> Result<()> {
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
        Ok(())
    }

    /// Checks that a file that has been read has the number of entries that it declares.
    fn check_lines_of_file(&mut self, files: &[OpenFile]) -> Result<()> {
        let Some((file, found)) = self.lines_of_file.take() else { return Ok(()) };
        let file = &files[file];
        let check = |declared| matrix_market::check_entries(declared, found, &file.path);
        file.facts.entries.map_or(Ok(()), check)
    }
}
