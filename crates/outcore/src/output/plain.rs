//! Writer of rows of any columns: as text between tabs, or as a table if the ending of the file's name selects one.

use super::LineWriter;
use super::table::{OutputColumn, TableWriter, Value, put_text};
use crate::error::Result;
use crate::io::Files;
use std::path::Path;

/// Writer of rows that all have the same columns.
pub(crate) struct PlainWriter(PlainRows);

enum PlainRows {
    Text(Box<LineWriter>),
    Table(Box<TableWriter>),
}

impl PlainWriter {
    /// Starts writing `path`; `-` is standard output. Text has a line of column names if `has_header`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(
        files: &Files,
        path: &Path,
        columns: &[OutputColumn],
        has_header: bool,
    ) -> Result<Self> {
        if let Some(table) = TableWriter::create(files, path, columns)? {
            return Ok(Self(PlainRows::Table(Box::new(table))));
        }
        let mut lines = LineWriter::create(files, path)?;
        if has_header {
            lines.header(columns.iter().map(|column| column.name.as_str()), b'\t')?;
        }
        Ok(Self(PlainRows::Text(Box::new(lines))))
    }

    /// Adds a row, with a value for each column.
    ///
    /// # Errors
    /// `BadInput` for a name that a table cannot hold; `Io` or `DiskFull` with the path.
    pub(crate) fn push<'v>(&mut self, row: impl IntoIterator<Item = Value<'v>>) -> Result<()> {
        match &mut self.0 {
            PlainRows::Table(table) => table.push(row.into_iter()),
            PlainRows::Text(lines) => {
                for (at, value) in row.into_iter().enumerate() {
                    if at > 0 {
                        lines.bytes(b"\t");
                    }
                    put_text(lines, &value);
                }
                lines.end()
            }
        }
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(self) -> Result<u64> {
        match self.0 {
            PlainRows::Text(lines) => lines.finish(),
            PlainRows::Table(table) => table.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::ValueKind;
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn rows_are_text_or_a_table() {
        let files = Files::new(Arc::new(Sim::default()));
        let columns =
            [("node", ValueKind::Text), ("a", ValueKind::Number), ("share", ValueKind::Real)];
        let columns = columns.map(|(name, kind)| OutputColumn::new(name, kind));
        for (path, has_header, text) in [
            ("r", false, "\"x\ty\"\t3\t0.25\n"),
            ("r", true, "node\ta\tshare\n\"x\ty\"\t3\t0.25\n"),
            ("r.csv", false, "node,a,share\n\"x\ty\",3,0.25\n"),
            ("r.jsonl", false, "{\"node\":\"x\\ty\",\"a\":3,\"share\":0.25}\n"),
        ] {
            let path = Path::new(path);
            let mut writer = PlainWriter::create(&files, path, &columns, has_header).unwrap();
            writer.push([Value::Name(b"x\ty"), Value::Number(3), Value::Weight(0.25)]).unwrap();
            assert_eq!(writer.finish().unwrap(), text.len() as u64);
            assert_eq!(files.read(path).unwrap(), text.as_bytes());
        }
    }
}
