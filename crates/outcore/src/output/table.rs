//! Writer of communities as a table: Parquet, Arrow IPC or JSON Lines, selected by the file's extension.
//!
//! Columns are `node`, `community` and, if they are written, `weight`, `group1`, `group2` and so on, or `path`.

#[cfg(feature = "tables")]
use super::columns::ColumnsWriter;
use super::{OutputShape, Row, Sink, six_digits};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::io::Files;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of JSON collected before they are written to the sink.
const LINES_BYTES: usize = 256 << 10;

/// Formats other than text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Parquet,
    Arrow,
    JsonLines,
}

/// File extensions of each format, the usual one first.
const ENDINGS: [(OutputFormat, &[&str]); 3] = [
    (OutputFormat::Parquet, &["parquet"]),
    (OutputFormat::Arrow, &["arrow", "feather", "ipc"]),
    (OutputFormat::JsonLines, &["jsonl", "ndjson"]),
];

/// Returns the file extensions of tables, grouped by format, the usual one of each format first.
pub fn table_endings() -> impl Iterator<Item = &'static [&'static str]> {
    ENDINGS.iter().map(|(_, endings)| *endings)
}

impl OutputFormat {
    /// Returns the format that the extension of a file selects; `None` for text.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut all = ENDINGS.iter();
        all.find(|(_, endings)| endings.contains(&extension.as_str())).map(|(format, _)| *format)
    }
}

/// Refuses a graph with a name that is not UTF-8 if a result is written as a table, before the work.
///
/// # Errors
/// `BadInput` with the name; `CorruptFile`, `Io`.
pub(crate) fn check_names(graph: &Graph, outputs: &[PathBuf]) -> Result<()> {
    let table = outputs.iter().find(|path| OutputFormat::of(path).is_some());
    let Some(path) = table.filter(|_| graph.has_names()) else { return Ok(()) };
    match graph.open_names()?.first_other()? {
        Some(name) => Err(not_text(path, &name)),
        None => Ok(()),
    }
}

fn not_text(path: &Path, name: &[u8]) -> Error {
    let (path, name) = (path.display(), name.escape_ascii());
    let message = format!("`{path}` cannot hold the name `{name}`, which is not UTF-8");
    Error::new(ErrorKind::BadInput, message)
        .hint("write text, which takes any bytes: use a name that ends in .tsv")
}

/// Writer of rows: a node, its community and its groups.
pub(super) struct TableWriter {
    path: PathBuf,
    encoder: TableEncoder,
}

enum TableEncoder {
    JsonLines(Box<JsonLines>),
    #[cfg(feature = "tables")]
    Columns(Box<ColumnsWriter>),
}

impl TableWriter {
    /// Starts writing `path`.
    ///
    /// # Errors
    /// Those of [`refuse_absent`]; `Io` with the path.
    pub(super) fn create(
        files: &Files,
        path: &Path,
        format: OutputFormat,
        shape: OutputShape,
    ) -> Result<Self> {
        refuse_absent(path)?;
        let sink = Sink::create(files, path)?;
        let encoder = match format {
            OutputFormat::JsonLines => {
                TableEncoder::JsonLines(Box::new(JsonLines::new(sink, shape.is_path)))
            }
            #[cfg(feature = "tables")]
            OutputFormat::Parquet | OutputFormat::Arrow => {
                let is_parquet = format == OutputFormat::Parquet;
                let columns = ColumnsWriter::create(sink, path, is_parquet, shape)?;
                TableEncoder::Columns(Box::new(columns))
            }
            #[cfg(not(feature = "tables"))]
            OutputFormat::Parquet | OutputFormat::Arrow => unreachable!("refused above"),
        };
        Ok(Self { path: path.to_path_buf(), encoder })
    }

    /// Adds a node.
    pub(super) fn push(&mut self, row: Row<'_>) -> Result<()> {
        let (name, weight) = (row.name, row.weight.map(six_digits));
        let name = std::str::from_utf8(name).map_err(|_| not_text(&self.path, name))?;
        match &mut self.encoder {
            TableEncoder::JsonLines(lines) => lines.push(name, &Row { weight, ..row }),
            #[cfg(feature = "tables")]
            TableEncoder::Columns(columns) => columns.push(name, &Row { weight, ..row }),
        }
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    pub(super) fn finish(self) -> Result<u64> {
        match self.encoder {
            TableEncoder::JsonLines(lines) => lines.finish(),
            #[cfg(feature = "tables")]
            TableEncoder::Columns(columns) => columns.finish(),
        }
    }
}

/// Writer of one JSON object per line.
struct JsonLines {
    sink: Sink,
    is_path: bool,
    lines: Vec<u8>,
}

impl JsonLines {
    fn new(sink: Sink, is_path: bool) -> Self {
        Self { sink, is_path, lines: Vec::new() }
    }

    fn push(&mut self, name: &str, row: &Row<'_>) -> Result<()> {
        let Row { community, weight, stability, groups, .. } = *row;
        // Writing to a vector cannot fail.
        let out = &mut self.lines;
        out.extend_from_slice(b"{\"node\":");
        let _ = serde_json::to_writer(&mut *out, name);
        let _ = write!(out, ",\"community\":{community}");
        if let Some(weight) = weight {
            let _ = write!(out, ",\"weight\":");
            let _ = serde_json::to_writer(&mut *out, &weight);
        }
        if let Some(stability) = stability {
            let _ = write!(out, ",\"stability\":");
            let _ = serde_json::to_writer(&mut *out, &stability);
        }
        if self.is_path {
            let _ = write!(out, ",\"path\":\"{}\"", path_of(community, groups));
        } else {
            for (at, group) in groups.iter().enumerate() {
                let _ = write!(out, ",\"group{}\":{group}", at + 1);
            }
        }
        out.extend_from_slice(b"}\n");
        if self.lines.len() >= LINES_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.sink.write(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.sink.finish()
    }
}

/// Refuses a table format that this engine was built without.
///
/// # Errors
/// `Usage` for a name that ends in `.parquet` or `.arrow`, without the feature `tables`.
pub(crate) fn refuse_absent(path: &Path) -> Result<()> {
    if cfg!(feature = "tables")
        || matches!(OutputFormat::of(path), None | Some(OutputFormat::JsonLines))
    {
        return Ok(());
    }
    let message =
        format!("`{}` names a table, and this outcore was built without tables", path.display());
    Err(Error::new(ErrorKind::Usage, message)
        .hint("build it with `--features tables`, or use a name that ends in .tsv or .jsonl"))
}

/// Returns the path of community and groups, such as `3:0:5`.
pub(super) fn path_of(community: u64, groups: &[u32]) -> String {
    let mut path = community.to_string();
    for group in groups {
        path += &format!(":{group}");
    }
    path
}
