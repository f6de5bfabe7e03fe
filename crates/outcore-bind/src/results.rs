//! Reading of files of communities into arrays, a batch at a time.

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore::graph::NameType;
use outcore::input::CommunityFormat;
use outcore::io::Files;
use outcore::membership::{WrittenFile, read_column};
use outcore::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Type of names that are not converted.
pub const TEXT: &str = "text";

/// Returns the content of the lines of a file from its name: `node`, `community` or `pair`.
///
/// # Errors
/// `Usage` for other names.
pub fn rows_of(rows: &str) -> Result<CommunityFormat> {
    match rows {
        "node" => Ok(CommunityFormat::Auto),
        "community" => Ok(CommunityFormat::Clusters),
        "pair" => Ok(CommunityFormat::Pairs),
        _ => Err(Error::usage(format!("`{rows}` is not what a line is"))
            .hint("use `node`, `community` or `pair`")),
    }
}

/// Returns the communities in a file, in its order: 8 bytes per node.
///
/// # Errors
/// Those of reading.
pub fn labels(path: PathBuf, rows: &str) -> Result<Vec<i64>> {
    let mut reader = Communities::open(path, rows, TEXT)?;
    let mut numbers = Vec::new();
    while reader.advance()? {
        numbers.extend(reader.pairs().map(|(_, community)| community as i64));
    }
    numbers.shrink_to_fit();
    Ok(numbers)
}

/// Returns the communities of the nodes whose names are the numbers from 0 to `count`, exclusive; -1 for nodes that are
/// not in the file.
///
/// # Errors
/// Those of reading.
pub fn labels_of_rows(path: PathBuf, rows: &str, count: usize) -> Result<Vec<i64>> {
    let mut reader = Communities::open(path, rows, TEXT)?;
    let mut numbers = vec![-1; count];
    while reader.advance()? {
        for (name, community) in reader.pairs() {
            // A list of nodes may have added other names.
            let row = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
            if let Some(found) = row.and_then(|row: usize| numbers.get_mut(row)) {
                *found = community as i64;
            }
        }
    }
    Ok(numbers)
}

/// Returns whether all names in a file are numbers below `count`, without leading zeros.
///
/// # Errors
/// Those of reading.
pub fn are_rows(path: PathBuf, rows: &str, count: usize) -> Result<bool> {
    let mut reader = Communities::open(path, rows, TEXT)?;
    let is_row = |name: &[u8]| {
        let is_plain = name.iter().all(u8::is_ascii_digit) && (name[0] != b'0' || name.len() == 1);
        let row = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
        is_plain && row.is_some_and(|row: usize| row < count)
    };
    while reader.advance()? {
        if !reader.pairs().all(|(name, _)| is_row(name)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns, for each node of a file in order, the share of the starts in which it stays with its community; `None` if
/// the file has no such column.
///
/// # Errors
/// Those of reading.
pub fn stability(path: &Path) -> Result<Option<Vec<f64>>> {
    let shares: Option<Vec<f64>> = read_column(&Files::default(), path, "stability")?;
    // Objects without the field have no share.
    Ok(shares.filter(|shares| shares.iter().all(|share| !share.is_nan())))
}

/// Returns the groups of a file's nodes on `count` levels below the communities: level by level, each in file order.
/// `None` if the file has no such columns.
///
/// # Errors
/// Those of reading.
pub fn groups(path: &Path, count: usize) -> Result<Option<Vec<i64>>> {
    let mut groups = Vec::new();
    for level in 1..=count {
        let Some(column) = read_column(&Files::default(), path, &format!("group{level}"))? else {
            return Ok(None);
        };
        groups.extend::<Vec<i64>>(column);
    }
    Ok(Some(groups))
}

/// Reader of a file of communities.
pub struct Communities {
    written: WrittenFile,
    schema: SchemaRef,
    /// Type of names.
    node: DataType,
    path: PathBuf,
}

impl Communities {
    /// Opens a file. `rows` is the content of its lines: `node`, `community` or `pair`. `names` is the type of names,
    /// `int64` or `uint64`, or `text`, that of the file: names of a table are what its column holds.
    ///
    /// # Errors
    /// Those of reading; `Usage` for other contents of lines.
    pub fn open(path: PathBuf, rows: &str, names: &str) -> Result<Self> {
        let written = WrittenFile::open(&Files::default(), &path, rows_of(rows)?)?;
        let name_type = match names {
            "int64" => NameType::Int64,
            "uint64" => NameType::UInt64,
            _ => written.name_type(),
        };
        let node = match name_type {
            NameType::Int64 => DataType::Int64,
            NameType::UInt64 => DataType::UInt64,
            NameType::Text => DataType::Utf8,
        };
        let fields = vec![
            Field::new("node", node.clone(), false),
            Field::new("community", DataType::Int64, false),
        ];
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { written, schema, node, path })
    }

    /// Reads the next nodes; returns whether there are any.
    ///
    /// # Errors
    /// Those of reading.
    pub fn advance(&mut self) -> Result<bool> {
        self.written.next_batch()
    }

    /// Returns the names and communities that were read last.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        self.written.rows()
    }

    /// Returns whether names are text.
    pub fn has_text(&self) -> bool {
        self.node == DataType::Utf8
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if !self.advance()? {
            return Ok(None);
        }
        let names = || self.written.rows().map(|(name, _)| name);
        let nodes: ArrayRef = match self.node {
            DataType::Int64 => {
                let numbers = names().map(|name| self.integer(name).map(Some));
                Arc::new(numbers.collect::<Result<Int64Array>>()?)
            }
            DataType::UInt64 => {
                let numbers = names().map(|name| self.integer(name).map(Some));
                Arc::new(numbers.collect::<Result<UInt64Array>>()?)
            }
            _ => {
                let bytes = names().map(<[u8]>::len).sum();
                let mut array = StringBuilder::with_capacity(names().len(), bytes);
                for name in names() {
                    array.append_value(self.text(name)?);
                }
                Arc::new(array.finish())
            }
        };
        let communities: Int64Array =
            self.written.rows().map(|(_, community)| Some(community as i64)).collect();
        RecordBatch::try_new(self.schema.clone(), vec![nodes, Arc::new(communities)])
            .map(Some)
            .map_err(|error| Error::new(ErrorKind::BadInput, error.to_string()))
    }

    /// Returns a name as text.
    ///
    /// # Errors
    /// `BadInput` if it is not UTF-8.
    pub fn text<'n>(&self, name: &'n [u8]) -> Result<&'n str> {
        std::str::from_utf8(name).map_err(|_| {
            let (path, name) = (self.path.display(), name.escape_ascii());
            let message = format!("`{path}` has a name that is not UTF-8: {name}");
            Error::new(ErrorKind::BadInput, message)
                .hint("read the file as bytes, or convert the input: `iconv -t UTF-8`")
        })
    }

    /// Returns a name as a number.
    ///
    /// # Errors
    /// `BadInput` if it is none.
    pub fn integer<T: FromStr>(&self, name: &[u8]) -> Result<T> {
        let text = self.text(name)?;
        text.parse().map_err(|_| {
            let message =
                format!("`{}` has a name that is not a number: {text}", self.path.display());
            Error::new(ErrorKind::BadInput, message)
        })
    }
}

impl Iterator for Communities {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Communities {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
