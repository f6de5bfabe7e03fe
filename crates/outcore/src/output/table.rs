//! Writer of rows as a table: CSV, JSON Lines, Parquet or Arrow IPC, selected by the ending of the file's name.
//!
//! Columns of communities are `node`, `community` and, if they are written, `weight`, `stability`, `kind`, `group1`,
//! `group2` and so on, or `path`; those of representatives `community`, `node` and `size`.

#[cfg(feature = "tables")]
use super::columns::ColumnsWriter;
use super::endings::Ending;
use super::{LineWriter, Sink, put_csv_name, six_digits};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::io::Files;
use std::path::{Path, PathBuf};

/// Bytes of JSON collected before they are written to the sink.
const LINES_BYTES: usize = 256 << 10;

/// Kind of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    /// Text that hardly any two rows share.
    Name,
    Number,
    /// Weight or share.
    Real,
}

/// Column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputColumn {
    pub(crate) name: String,
    pub(crate) kind: ValueKind,
    /// Whether rows can lack a value.
    pub(crate) is_optional: bool,
}

impl OutputColumn {
    pub(crate) fn new(name: impl Into<String>, kind: ValueKind) -> Self {
        Self { name: name.into(), kind, is_optional: false }
    }
}

/// Value of a row in a column.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Name(&'a [u8]),
    Path(String),
    Number(u64),
    /// Sum of weights, rounded to six digits.
    Weight(f64),
    Share(f64),
    /// Number as it is.
    Exact(f64),
    None,
}

/// Refuses a graph with a name that is not UTF-8 if a result is written as a table, before the work.
///
/// # Errors
/// `BadInput` with the name; `CorruptFile`, `Io`.
pub(crate) fn check_names<'p>(
    graph: &Graph,
    outputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<()> {
    let table = outputs.into_iter().find(|path| {
        matches!(Ending::of(path), Some(Ending::Parquet | Ending::Arrow | Ending::JsonLines))
    });
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

/// Writer of rows.
pub(crate) struct TableWriter {
    path: PathBuf,
    encoder: TableEncoder,
}

enum TableEncoder {
    Csv(Box<LineWriter>),
    JsonLines(Box<JsonLines>),
    #[cfg(feature = "tables")]
    Columns(Box<ColumnsWriter>),
}

impl TableWriter {
    /// Starts writing `path` if its ending is that of a table.
    ///
    /// # Errors
    /// Those of [`refuse_absent`]; `Io` with the path.
    pub(crate) fn create(
        files: &Files,
        path: &Path,
        columns: &[OutputColumn],
    ) -> Result<Option<Self>> {
        refuse_absent(path)?;
        let encoder = match Ending::of(path) {
            Some(Ending::Csv) => {
                let mut lines = LineWriter::create(files, path)?;
                lines.header(columns.iter().map(|column| column.name.as_str()), b',')?;
                TableEncoder::Csv(Box::new(lines))
            }
            Some(Ending::JsonLines) => {
                let sink = Sink::create(files, path)?;
                TableEncoder::JsonLines(Box::new(JsonLines::new(sink, columns)))
            }
            #[cfg(feature = "tables")]
            Some(ending @ (Ending::Parquet | Ending::Arrow)) => {
                let sink = Sink::create(files, path)?;
                let is_parquet = ending == Ending::Parquet;
                let columns = ColumnsWriter::create(sink, path, is_parquet, columns)?;
                TableEncoder::Columns(Box::new(columns))
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { path: path.to_path_buf(), encoder }))
    }

    /// Starts writing a table of Parquet or Arrow, whatever the name of `path`.
    ///
    /// # Errors
    /// `Io` with the path.
    #[cfg(feature = "tables")]
    pub(crate) fn create_columns(
        files: &Files,
        path: &Path,
        is_parquet: bool,
        columns: &[OutputColumn],
    ) -> Result<Self> {
        let sink = Sink::create(files, path)?;
        let columns = ColumnsWriter::create(sink, path, is_parquet, columns)?;
        Ok(Self { path: path.to_path_buf(), encoder: TableEncoder::Columns(Box::new(columns)) })
    }

    /// Adds a row, with a value for each column.
    pub(crate) fn push<'v>(&mut self, row: impl Iterator<Item = Value<'v>>) -> Result<()> {
        let (path, encoder) = (&self.path, &mut self.encoder);
        match encoder {
            TableEncoder::Csv(lines) => {
                for (at, value) in row.enumerate() {
                    if at > 0 {
                        lines.bytes(b",");
                    }
                    put_csv(lines, &value);
                }
                lines.end()
            }
            TableEncoder::JsonLines(lines) => lines.push(path, row),
            #[cfg(feature = "tables")]
            TableEncoder::Columns(columns) => columns.push(row),
        }
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    pub(crate) fn finish(self) -> Result<u64> {
        match self.encoder {
            TableEncoder::Csv(lines) => lines.finish(),
            TableEncoder::JsonLines(lines) => lines.finish(),
            #[cfg(feature = "tables")]
            TableEncoder::Columns(columns) => columns.finish(),
        }
    }
}

/// Returns a name as text.
///
/// # Errors
/// `BadInput` for a name that is not UTF-8.
pub(crate) fn text_of<'a>(path: &Path, name: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(name).map_err(|_| {
        let (path, name) = (path.display(), name.escape_ascii());
        let message = format!("`{path}` cannot hold the name `{name}`, which is not UTF-8");
        Error::new(ErrorKind::BadInput, message)
            .hint("write text, which takes any bytes: use a name that ends in .tsv or .csv")
    })
}

/// Appends a field of CSV.
fn put_csv(lines: &mut LineWriter, value: &Value<'_>) {
    match value {
        Value::Name(name) => {
            put_csv_name(name, &mut lines.buffer);
            lines
        }
        Value::Path(path) => lines.bytes(path.as_bytes()),
        Value::Number(number) => lines.number(*number),
        Value::Weight(weight) => lines.weight(*weight),
        Value::Share(share) => lines.thousandths(*share),
        Value::Exact(number) => lines.bytes(number.to_string().as_bytes()),
        Value::None => lines,
    };
}

/// Appends a field of text with tabs.
pub(super) fn put_text(lines: &mut LineWriter, value: &Value<'_>) {
    match value {
        Value::Name(name) => {
            lines.name(name);
        }
        _ => put_csv(lines, value),
    }
}

/// Writer of one JSON object per line, without the values that a row lacks.
struct JsonLines {
    sink: Sink,
    /// Names of the columns, as keys.
    keys: Vec<String>,
    lines: Vec<u8>,
}

impl JsonLines {
    fn new(sink: Sink, columns: &[OutputColumn]) -> Self {
        let keys = columns.iter().map(|column| format!("\"{}\":", column.name)).collect();
        Self { sink, keys, lines: Vec::new() }
    }

    fn push<'v>(&mut self, path: &Path, row: impl Iterator<Item = Value<'v>>) -> Result<()> {
        let out = &mut self.lines;
        let mut before = b'{';
        for (key, value) in self.keys.iter().zip(row) {
            if matches!(value, Value::None) {
                continue;
            }
            out.push(before);
            before = b',';
            out.extend_from_slice(key.as_bytes());
            // Writing to a vector cannot fail.
            let _ = match value {
                Value::Name(name) => serde_json::to_writer(&mut *out, text_of(path, name)?),
                Value::Path(path) => serde_json::to_writer(&mut *out, &path),
                Value::Number(number) => serde_json::to_writer(&mut *out, &number),
                Value::Weight(weight) => serde_json::to_writer(&mut *out, &six_digits(weight)),
                Value::Share(number) | Value::Exact(number) => {
                    serde_json::to_writer(&mut *out, &number)
                }
                Value::None => Ok(()),
            };
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
    let is_of_library = matches!(Ending::of(path), Some(Ending::Parquet | Ending::Arrow));
    if cfg!(feature = "tables") || !is_of_library {
        return Ok(());
    }
    let message =
        format!("`{}` names a table, and this outcore was built without tables", path.display());
    Err(Error::new(ErrorKind::Usage, message)
        .hint("build it with `--features tables`, or use a name that ends in .csv, .tsv or .jsonl"))
}

/// Returns the path of community and groups, such as `3:0:5`.
pub(super) fn path_of(community: u64, groups: &[u32]) -> String {
    let mut path = community.to_string();
    for group in groups {
        path += &format!(":{group}");
    }
    path
}
