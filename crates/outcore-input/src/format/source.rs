//! Text as a source of edges: a file of lines, one without any, and the nodes that a matrix numbers.

use super::{InputFormat, checks, foreign};
use crate::chunk::{BadLine, Origin, ParsedChunk, Problem};
use crate::cut::LineCutter;
use crate::decompress::Input;
use crate::fault::bad_input;
use crate::options::{InputOptions, Rows};
use crate::sample::pieces::{first_pieces, spread_pieces};
use crate::sink::{Progress, ROW_BYTES, Sink};
use crate::source::{
    ColumnUse, EdgeSource, FileSample, NumberedNodes, ReadTask, SampleTask, SourceFacts,
};
use crate::text::{self, set_kinds};
use outcore_graph::ids::{EdgeChunk, Fingerprint, NameRef};
use outcore_io::Files;
use outcore_io::error::opt::COMMENT;
use outcore_io::error::{Error, Place, Result};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file that are examined first to detect its format.
const FIRST_BLOCK: usize = 64 << 10;
/// Bytes that suffice for a file like the one before it, as most of many files are.
const BRIEF_BLOCK: usize = 4 << 10;
/// Bytes within which the first edge must begin.
pub(crate) const FIRST_BLOCK_LIMIT: usize = 4 << 20;

/// Returns what is known of every file of lines.
fn of_lines() -> SourceFacts {
    let (has_lines, has_columns, has_comments) = (true, true, true);
    SourceFacts { name: "text", has_lines, has_columns, has_comments, ..SourceFacts::default() }
}

/// Detects the format of one file by its lines. Fewer of them are examined if they have the format described by `before`.
pub(crate) fn detect(
    input: &mut Input,
    path: &Path,
    options: &InputOptions,
    before: Option<&str>,
) -> Result<Arc<dyn EdgeSource>> {
    let look = |block: &[u8], is_whole| match block.get(..BRIEF_BLOCK) {
        Some(brief) if before.is_some() => match super::detect(brief, false, path, options) {
            Ok(Some(format)) if before == Some(&format.text()) => Ok(Some(format)),
            _ => super::detect(block, is_whole, path, options),
        },
        _ => super::detect(block, is_whole, path, options),
    };
    Ok(match first_lines(input, path, options, look)? {
        Some(format) => Arc::new(format),
        None => Arc::new(NoLines),
    })
}

/// Passes longer and longer beginnings of a file to `look`, until it finds something.
fn first_lines<T>(
    input: &mut Input,
    path: &Path,
    options: &InputOptions,
    look: impl Fn(&[u8], bool) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let unpacker = input.unpacker();
    let mut wanted = FIRST_BLOCK;
    loop {
        let (block, is_whole) = input.peek(wanted)?;
        foreign::refuse(block, path, options, unpacker, options.rows == Rows::Nodes)?;
        let found = look(block, is_whole)?;
        if found.is_some() || is_whole {
            return Ok(found);
        }
        if wanted >= FIRST_BLOCK_LIMIT {
            return Err(no_lines(path));
        }
        wanted *= 4;
    }
}

/// Returns the error for a file whose first bytes do not reveal its format.
pub(crate) fn no_lines(path: &Path) -> Error {
    let message = "has nothing in its first 4 MiB but comments or one long line";
    bad_input(path, message)
        .hint(format_args!("use {COMMENT} if its comments begin differently, or check the file"))
}

impl InputFormat {
    /// Parses the lines of a chunk; its text ends with a line end and [`PADDING`](crate::chunk::PADDING).
    pub(crate) fn parse_lines(&self, chunk: &mut ParsedChunk, stop: bool) {
        let skipped = self.preamble_bytes.saturating_sub(chunk.origin.byte);
        let from = skipped.min(chunk.used as u64) as usize;
        chunk.edges.is_node_list = self.is_node_list;
        let parse = if self.is_node_list { text::parse_nodes } else { text::parse };
        parse(chunk, &self.layout, from, stop);
    }
}

impl EdgeSource for InputFormat {
    fn facts(&self) -> SourceFacts {
        let nodes = |count: u64, kind: &str| NumberedNodes { count, kind: kind.into() };
        let nodes = match (self.matrix, &self.kinds) {
            (None, _) => Vec::new(),
            (Some(size), None) => vec![nodes(size.rows, "")],
            (Some(size), Some([row, column])) => {
                vec![nodes(size.rows, row), nodes(size.columns, column)]
            }
        };
        SourceFacts {
            description: Some(self.text()),
            is_weighted: (!self.is_node_list).then_some(self.layout.weight.is_some()),
            delimiter: Some(self.layout.delimiter),
            comments: self.preamble_comments,
            entries: self.matrix.map(|size| size.entries),
            nodes,
            is_search: self.is_search,
            // The banner says what its lines and columns are.
            name: if self.matrix.is_some() { "Matrix Market" } else { "text" },
            has_lines: self.matrix.is_none(),
            has_columns: self.matrix.is_none(),
            may_be_two_mode: true,
            ..of_lines()
        }
    }

    fn kinds(&self) -> Option<&[String; 2]> {
        self.kinds.as_ref()
    }

    fn uses(
        &self,
        _: &Files,
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
    ) -> Result<Vec<ColumnUse>> {
        if self.matrix.is_some() {
            return Ok(Vec::new());
        }
        let look = |block: &[u8], is_whole| super::columns(block, is_whole, path, options);
        Ok(first_lines(input, path, options, look)?.unwrap_or_default())
    }

    fn read(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress<u64> {
        LineCutter { task, input: task.opened(input)?, sink }.read()
    }

    fn parse(&self, chunk: &mut ParsedChunk, weighted: bool, stop: bool) {
        let lines = chunk.lines as usize;
        chunk.edges.names.reserve_exact(if self.is_node_list { lines } else { 2 * lines });
        if weighted && !self.is_node_list {
            chunk.edges.weights.reserve_exact(lines);
        }
        self.parse_lines(chunk, stop);
        checks::check(chunk, self, stop);
        if let Some(kinds) = &self.kinds {
            set_kinds(chunk, kinds);
        }
    }

    fn reason(&self, problem: Problem) -> String {
        self.reason_of(problem)
    }

    fn place(&self, bad: &BadLine<'_>) -> Place {
        self.place_of(bad)
    }

    fn error(&self, bad: &BadLine<'_>) -> Error {
        self.error_of(bad)
    }

    fn sample(&self, task: SampleTask<'_>) -> Result<FileSample> {
        let matrix_nodes = self
            .matrix
            .map_or(0, |size| size.rows + if size.is_square() { 0 } else { size.columns });
        Ok(FileSample { matrix_nodes, ..sample(task, Some(self))? })
    }
}

/// File of text without lines other than comments and blank ones.
struct NoLines;

impl EdgeSource for NoLines {
    fn facts(&self) -> SourceFacts {
        SourceFacts { description: Some("no lines of data".into()), ..of_lines() }
    }

    fn read(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress<u64> {
        LineCutter { task, input: task.opened(input)?, sink }.read()
    }

    fn sample(&self, task: SampleTask<'_>) -> Result<FileSample> {
        sample(task, None)
    }
}

/// Samples the beginning of a compressed file, or pieces spread over a plain one.
fn sample(task: SampleTask<'_>, format: Option<&InputFormat>) -> Result<FileSample> {
    let SampleTask { files, path, mut input, bytes, pieces, count, .. } = task;
    let (pieces, found) = match input.is_compressed() {
        true => first_pieces(&mut input, bytes, pieces)?,
        false => spread_pieces(files, path, bytes, pieces)?,
    };
    let Some(format) = format else { return Ok(found) };
    for mut chunk in pieces.into_iter().filter(|chunk| chunk.used > 0) {
        let used = chunk.used;
        format.parse_lines(&mut chunk, false);
        if let Some(kinds) = &format.kinds {
            set_kinds(&mut chunk, kinds);
        }
        count(&chunk, Some(used));
    }
    Ok(found)
}

impl EdgeSource for NumberedNodes {
    fn facts(&self) -> SourceFacts {
        SourceFacts::default()
    }

    /// Sends the nodes as a list of nodes.
    fn read(&self, task: &ReadTask<'_>, _: Option<Input>, sink: Sink<'_>) -> Progress<u64> {
        let most = (task.chunk_bytes / ROW_BYTES).max(1) as u64;
        let mut number = task.begin.byte;
        while number < self.count {
            let mut chunk = sink.spare();
            chunk.edges.clear();
            let EdgeChunk { text, names, .. } = &mut chunk.edges;
            let end = (number + most).min(self.count);
            for node in number + 1..=end {
                let offset = text.len();
                text.extend_from_slice(self.kind.as_bytes());
                text.extend_from_slice(itoa::Buffer::new().format(node).as_bytes());
                let (fingerprint, bytes) =
                    (Fingerprint::of(&text[offset..]), (text.len() - offset) as u32);
                names.push(NameRef { fingerprint, offset: offset as u32, bytes });
            }
            number = end;
            chunk.used = chunk.edges.text.len();
            (chunk.edges.is_node_list, chunk.lines) = (true, 0);
            (chunk.origin, chunk.done_bytes) = (task.begin, task.done_bytes);
            chunk.next = Some(Origin { byte: number, line: number + 1, ..task.begin });
            sink.take(chunk)?;
        }
        Ok(0)
    }
}
