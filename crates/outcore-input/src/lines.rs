//! Lines of one file, for a system that reads files itself, in pieces on many machines. The format is detected once,
//! from the first bytes, and written as JSON; then every piece is parsed independently.
//!
//! Files without lines are refused by name, as are Matrix Market files, whose entries could not be counted.

use crate::InputOptions;
use crate::chunk::{BadLine, Origin, PADDING, ParsedChunk, Problem};
use crate::fault::bad_input;
use crate::format::source::{FIRST_BLOCK_LIMIT, no_lines};
use crate::format::{self, InputFormat, checks, foreign, matrix_market};
use crate::text::set_kinds;
use crate::{lists, sink};
use outcore_graph::ids::EdgeChunk;
use outcore_io::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Format of the lines of a file.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct LineFormat {
    path: PathBuf,
    format: InputFormat,
}

/// Edges of some lines.
#[derive(Debug)]
pub struct ParsedLines {
    /// Edges up to the first bad line.
    pub chunk: EdgeChunk,
    /// Line of each edge, from 1.
    pub lines: Vec<u64>,
    /// Error for the first bad line.
    pub error: Option<Error>,
}

impl LineFormat {
    /// Detects the format of the file `path` from its first lines; returns `None` if they are all blank or comments, so
    /// that more of them are needed. `is_whole` indicates whether they are the complete file.
    ///
    /// # Errors
    /// `BadInput` for a file that is not lines of edges, or that lacks a named column; `Usage` for options that cannot
    /// be used.
    pub fn find(
        path: &Path,
        block: &[u8],
        is_whole: bool,
        options: &InputOptions,
    ) -> Result<Option<Self>> {
        options.check()?;
        refuse_packed(path, block, options)?;
        foreign::refuse(block, path, options, None, false)?;
        if matrix_market::banner(block, path, options)?.is_some() {
            return Err(bad_input(path, "is a Matrix Market file, not plain lines of edges"));
        }
        let found = format::detect(block, is_whole, path, options)?;
        if found.is_none() && !is_whole && block.len() >= FIRST_BLOCK_LIMIT {
            return Err(no_lines(path));
        }
        Ok(found.map(|format| Self { path: path.to_path_buf(), format }))
    }

    /// Returns whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.format.layout.weight.is_some()
    }

    /// Parses complete lines, the first of which has the number `line` in the file and begins at its byte `byte`.
    /// Parsing stops at the first bad line; a name that is not UTF-8 makes a line bad.
    pub fn parse(&self, text: &[u8], line: u64, byte: u64) -> ParsedLines {
        let mut chunk =
            ParsedChunk { origin: Origin { file: 0, byte, line }, ..Default::default() };
        chunk.edges.text.reserve_exact(text.len() + 1 + PADDING);
        chunk.edges.text.extend_from_slice(text);
        if !text.ends_with(b"\n") {
            chunk.edges.text.push(b'\n');
        }
        chunk.used = chunk.edges.text.len();
        chunk.edges.text.resize(chunk.used + PADDING, 0);
        self.format.parse_lines(&mut chunk, true);
        checks::check(&mut chunk, &self.format, true);
        (chunk.edges.first_line, chunk.edges.has_lines) = (line, true);
        let mut lines: Vec<u64> = chunk.edges.edge_lines().collect();
        if let Some(kinds) = &self.format.kinds {
            set_kinds(&mut chunk, kinds);
        }
        if let Some(at) = chunk.edges.names.iter().position(|name| !is_text(chunk.edges.name(name)))
        {
            let used = &chunk.edges.text[..chunk.used];
            chunk.faults.push(checks::fault_at(used, Problem::NotUtf8, &chunk.edges.names[at]));
            lines.truncate(at / 2);
            chunk.edges.names.truncate(at / 2 * 2);
            chunk.edges.weights.truncate(at / 2);
        }
        let error = chunk.faults.iter().min_by_key(|fault| fault.line_start).map(|fault| {
            let (text, start) = (&chunk.edges.text, fault.line_start as usize);
            let line = line + memchr::memchr_iter(b'\n', &text[..start]).count() as u64;
            let (origin, path) = (&chunk.origin, &self.path);
            self.format.error_of(&BadLine { fault, text, origin, line, path, can_skip: false })
        });
        ParsedLines { chunk: chunk.edges, lines, error }
    }
}

fn is_text(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok()
}

/// Refuses tables, adjacency lists, and files whose compression does not show in their names.
fn refuse_packed(path: &Path, block: &[u8], options: &InputOptions) -> Result<()> {
    let what = if block.starts_with(sink::PARQUET_MAGIC) {
        "is Parquet without the extension .parquet, not lines of edges".into()
    } else if sink::is_arrow(block) {
        "is Arrow IPC, not lines of edges".into()
    } else if let Some(known) = lists::known(path, block, options) {
        format!("is in the format {}, not lines of edges", known.name)
    } else if let Some(packed) = foreign::compression(block) {
        format!("is compressed with {packed}, which its name does not show")
    } else {
        return Ok(());
    };
    Err(bad_input(path, &what))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"# made\nsource,target,weight\na,\"b, c\",0.5\n\nd,e,2\nd,f,x\ng,h,1\n";

    fn found(text: &[u8]) -> LineFormat {
        let options = InputOptions { paths: vec!["e.csv".into()], ..Default::default() };
        let format = LineFormat::find(Path::new("e.csv"), text, true, &options).unwrap().unwrap();
        // The format travels as JSON.
        serde_json::from_str(&serde_json::to_string(&format).unwrap()).unwrap()
    }

    #[test]
    fn pieces_are_parsed_as_the_file_is() {
        let format = found(TEXT);
        assert!(format.is_weighted());
        let ends = memchr::memchr_iter(b'\n', TEXT).map(|at| at + 1);
        for (before, end) in ends.enumerate() {
            let parts = [(&TEXT[..end], 1, 0), (&TEXT[end..], before as u64 + 2, end as u64)];
            let parts = parts.map(|(text, line, byte)| format.parse(text, line, byte));
            let lines: Vec<u64> = parts.iter().flat_map(|part| part.lines.clone()).collect();
            // Lines after the bad line are parsed if a piece begins after it.
            assert_eq!(lines, if before == 5 { vec![3, 5, 7] } else { vec![3, 5] }, "{before}");
            let chunk = &parts[usize::from(before < 2)].chunk;
            assert_eq!(chunk.name(&chunk.names[1]), b"b, c");
            let errors: Vec<&Error> = parts.iter().filter_map(|part| part.error.as_ref()).collect();
            let place = errors[0].place().unwrap();
            assert_eq!((errors.len(), place.line, place.column, place.byte), (1, 6, 5, 52));
            assert_eq!(errors[0].message(), "weight is not a number");
            assert_eq!(errors[0].hint_text(), Some("use `--columns 1,2` to ignore the weights"));
        }
    }

    #[test]
    fn names_that_are_not_utf8_end_a_piece() {
        let parsed = found(b"a,b\n").parse(b"a,b\n\xff,c\nd\n", 1, 0);
        assert_eq!((parsed.lines, parsed.chunk.names.len()), (vec![1], 2));
        let error = parsed.error.unwrap();
        assert_eq!((error.message(), error.place().unwrap().line), ("name is not UTF-8", 2));
    }

    #[test]
    fn other_files_are_refused() {
        let options = InputOptions { paths: vec!["e".into()], ..Default::default() };
        for (text, what) in [
            (&b"PAR1"[..], "is Parquet"),
            (b"ARROW1\0\0", "is Arrow IPC"),
            (b"\x1f\x8b\x08", "is compressed with gzip"),
            (b"(mclheader\nmcltype matrix\n", "is in the format mcl matrix"),
            (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n", "is a Matrix Market file"),
            (b"\x7fELF", "is a program"),
        ] {
            let error = LineFormat::find(Path::new("e"), text, false, &options).unwrap_err();
            assert!(error.message().contains(what), "{error}");
        }
    }
}
