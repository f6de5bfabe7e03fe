//! Writer of rows of typed columns: text between tabs, CSV, JSON Lines, Parquet or Arrow IPC.
//!
//! ```text
//!  row --values--> encoder, chosen once by the ending of the name --> file
//! ```
//!
//! Text has a line of column names on request, CSV always. An object of JSON lacks the values that its row lacks. Memory:
//! a few lines, or [batches](super::columns) of a table.

#[cfg(feature = "tables")]
use super::columns::ColumnsWriter;
use super::encode::Encoding;
use super::{LineWriter, RowFormat, six_digits};
use crate::error::Result;
use crate::graph::NameType;
use crate::io::Files;
use std::path::{Path, PathBuf};

/// Kind of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    /// Text that differs in nearly all rows.
    Name,
    /// Names that are whole numbers of 64 bits, with or without a sign. Only tables differ from text.
    Int64,
    UInt64,
    Number,
    /// Weight or share.
    Real,
}

/// Column of rows.
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

    /// Creates a column of names of nodes; `kind` is that of text.
    pub(crate) fn of_nodes(name: &str, of: NameType, kind: ValueKind) -> Self {
        let kind = match of {
            NameType::Text => kind,
            NameType::Int64 => ValueKind::Int64,
            NameType::UInt64 => ValueKind::UInt64,
        };
        Self::new(name, kind)
    }

    /// Returns the column as one in which rows can lack a value.
    pub(crate) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

/// Value of a row in a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Name(&'a [u8]),
    Number(u64),
    /// Sum of weights, rounded to six digits.
    Weight(f64),
    Share(f64),
    /// Number as it is.
    Exact(f64),
    None,
}

/// File of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: RowFormat,
    /// Whether text has a line of column names.
    pub(crate) has_header: bool,
}

impl<'a> RowFile<'a> {
    /// Returns a file in the format that the ending of its name selects.
    pub(crate) fn new(path: &'a Path, has_header: bool) -> Self {
        Self { path, format: RowFormat::of(path), has_header }
    }
}

/// Writer of rows that all have the same columns.
pub(crate) struct RowWriter {
    path: PathBuf,
    encoder: RowEncoder,
    /// Number of values of the row so far.
    filled: usize,
}

enum RowEncoder {
    /// Fields between tabs or commas.
    Fields(Box<LineWriter>, RowFormat),
    /// Objects of JSON, with the names of the columns as keys.
    Objects(Box<LineWriter>, Vec<String>),
    #[cfg(feature = "tables")]
    Columns(Box<ColumnsWriter>),
}
use RowEncoder::{Fields, Objects};

impl RowWriter {
    /// Starts writing a file; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path; `Usage` for a format that this engine was built without.
    pub(crate) fn create(
        files: &Files,
        file: RowFile<'_>,
        columns: &[OutputColumn],
    ) -> Result<Self> {
        let RowFile { path, format, has_header } = file;
        let lines = || LineWriter::create(files, path).map(Box::new);
        let encoder = match format {
            RowFormat::Tabs | RowFormat::Csv => {
                let mut lines = lines()?;
                if has_header || format == RowFormat::Csv {
                    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
                    lines.bytes(names.join(format.separator()).as_bytes()).end()?;
                }
                Fields(lines, format)
            }
            RowFormat::JsonLines => {
                let keys = columns.iter().map(|column| format!("\"{}\":", column.name));
                Objects(lines()?, keys.collect())
            }
            #[cfg(feature = "tables")]
            RowFormat::Parquet | RowFormat::Arrow => {
                let columns = ColumnsWriter::create(files, path, format, columns)?;
                RowEncoder::Columns(Box::new(columns))
            }
            #[cfg(not(feature = "tables"))]
            RowFormat::Parquet | RowFormat::Arrow => return Err(RowFormat::absent(path)),
        };
        Ok(Self { path: path.to_path_buf(), encoder, filled: 0 })
    }

    /// Returns the lines of text between tabs, for a loop that writes many.
    pub(crate) fn text(&mut self) -> Option<&mut LineWriter> {
        match &mut self.encoder {
            Fields(lines, RowFormat::Tabs) => Some(lines.as_mut()),
            _ => None,
        }
    }

    /// Adds a row, with a value for each column.
    ///
    /// # Errors
    /// `BadInput` for a name that the format cannot hold; `Io` or `DiskFull` with the path.
    pub(crate) fn push<'v>(&mut self, row: impl IntoIterator<Item = Value<'v>>) -> Result<()> {
        row.into_iter().try_for_each(|value| self.put(value))?;
        self.end()
    }

    /// Adds the value of the next column to the row.
    ///
    /// # Errors
    /// Like [`RowWriter::push`].
    #[inline]
    pub(crate) fn put(&mut self, value: Value<'_>) -> Result<()> {
        let at = self.filled;
        self.filled += 1;
        match &mut self.encoder {
            Fields(lines, format) => {
                if at > 0 {
                    lines.bytes(format.separator().as_bytes());
                }
                put_field(value, &self.path, *format, lines)
            }
            Objects(lines, keys) => put_member(&keys[at], value, &self.path, lines),
            #[cfg(feature = "tables")]
            RowEncoder::Columns(columns) => columns.put(at, value),
        }
    }

    /// Ends the row.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.filled = 0;
        match &mut self.encoder {
            Fields(lines, _) => lines.end(),
            Objects(lines, _) => lines.bytes(b"}").end(),
            #[cfg(feature = "tables")]
            RowEncoder::Columns(columns) => columns.end(),
        }
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(self) -> Result<u64> {
        match self.encoder {
            Fields(lines, _) | Objects(lines, _) => lines.finish(),
            #[cfg(feature = "tables")]
            RowEncoder::Columns(columns) => columns.finish(),
        }
    }
}

/// Appends a field between separators.
fn put_field(
    value: Value<'_>,
    path: &Path,
    format: RowFormat,
    lines: &mut LineWriter,
) -> Result<()> {
    match value {
        Value::Name(name) => return format.encoding().put(name, path, &mut lines.buffer),
        Value::Number(number) => lines.number(number),
        Value::Weight(weight) => lines.weight(weight),
        Value::Share(share) => lines.thousandths(share),
        Value::Exact(number) => lines.bytes(number.to_string().as_bytes()),
        Value::None => lines,
    };
    Ok(())
}

/// Appends a member of an object, or nothing.
fn put_member(key: &str, value: Value<'_>, path: &Path, lines: &mut LineWriter) -> Result<()> {
    if matches!(value, Value::None) {
        return Ok(());
    }
    // Only complete lines are written to the sink, so a line begins in an empty buffer or after a line end.
    let is_first = matches!(lines.buffer.last(), None | Some(b'\n'));
    lines.bytes(if is_first { b"{" } else { b"," }).bytes(key.as_bytes());
    let real = match value {
        Value::Name(name) => return Encoding::Json.put(name, path, &mut lines.buffer),
        Value::Number(number) => {
            lines.number(number);
            return Ok(());
        }
        Value::Weight(weight) => six_digits(weight),
        Value::Share(number) | Value::Exact(number) => number,
        Value::None => return Ok(()),
    };
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(&mut lines.buffer, &real);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn rows_are_text_or_a_table() {
        let files = Files::new(Arc::new(Sim::default()));
        let columns = [
            OutputColumn::new("node", ValueKind::Text),
            OutputColumn::new("a", ValueKind::Number).optional(),
            OutputColumn::new("share", ValueKind::Real),
        ];
        for (path, has_header, text) in [
            ("r", false, "\"x\ty\"\t3\t0.25\nz\t\t1\n"),
            ("r", true, "node\ta\tshare\n\"x\ty\"\t3\t0.25\nz\t\t1\n"),
            ("r.csv", false, "node,a,share\n\"x\ty\",3,0.25\nz,,1\n"),
            (
                "r.jsonl",
                false,
                "{\"node\":\"x\\ty\",\"a\":3,\"share\":0.25}\n{\"node\":\"z\",\"share\":1.0}\n",
            ),
        ] {
            let path = Path::new(path);
            let mut writer =
                RowWriter::create(&files, RowFile::new(path, has_header), &columns).unwrap();
            writer.push([Value::Name(b"x\ty"), Value::Number(3), Value::Weight(0.25)]).unwrap();
            writer.push([Value::Name(b"z"), Value::None, Value::Weight(1.0)]).unwrap();
            assert_eq!(writer.finish().unwrap(), text.len() as u64);
            assert_eq!(files.read(path).unwrap(), text.as_bytes());
        }
    }
}
