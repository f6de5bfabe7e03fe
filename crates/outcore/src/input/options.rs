//! What the user says about the input.

use super::{NameRef, TableStream, WeightTransform, fault::LineFault};
use crate::error::opt::{COLUMNS, HEADER, IGNORE_WEIGHTS, REJECTS, WEIGHT_TRANSFORM};
use crate::error::{Error, ErrorKind, Opt, Result, Text};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Longest line, its end included.
pub(crate) const LINE_LIMIT: usize = 1 << 20;
/// A chunk has no more lines than its size over this.
pub(super) const BYTES_PER_LINE: usize = 16;

/// A column of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its number, from 1.
    Number(u32),
    /// By its name in the header.
    Name(String),
}

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Delimiter {
    /// One byte. Between commas, semicolons and `|`, fields may be quoted as in CSV.
    Byte(u8),
    /// Any run of spaces and tabs; those at the ends of a line mean nothing.
    Spaces,
}

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, &'static str> {
        match text {
            "tab" | "\\t" => Ok(Self::Byte(b'\t')),
            "comma" => Ok(Self::Byte(b',')),
            "space" | " " => Ok(Self::Byte(b' ')),
            "spaces" => Ok(Self::Spaces),
            _ => match text.as_bytes() {
                [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"') => {
                    Ok(Self::Byte(*byte))
                }
                _ => Err("it is one character, `tab`, or `spaces`"),
            },
        }
    }
}

impl Delimiter {
    /// What people call it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Spaces => "space".into(),
            Self::Byte(b'\t') => "tab".into(),
            Self::Byte(b',') => "comma".into(),
            Self::Byte(b';') => "semicolon".into(),
            Self::Byte(b' ') => "single space".into(),
            Self::Byte(byte) if byte.is_ascii_graphic() => format!("`{}`", byte as char),
            Self::Byte(byte) => format!("byte 0x{byte:02x}"),
        }
    }

    /// Whether fields between such delimiters may be quoted.
    pub(super) fn allows_quotes(self) -> bool {
        matches!(self, Self::Byte(b',' | b';' | b'|'))
    }

    pub(super) fn with_article(self) -> String {
        match self {
            Self::Spaces => "runs of spaces".into(),
            Self::Byte(byte) if byte.is_ascii_graphic() && !b",;".contains(&byte) => self.name(),
            _ => format!("a {}", self.name()),
        }
    }
}

/// How edges are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum EdgeFormat {
    /// As matrices of mcl where a file begins so, as METIS graphs where its name ends in `.metis` or `.graph`, as
    /// lines or tables else.
    #[default]
    Auto,
    /// An edge a line, or a row of a table.
    Lines,
    /// A METIS graph: a header, then the neighbors of a node a line.
    Metis,
    /// A matrix of mcl.
    Mcl,
}

impl EdgeFormat {
    /// What the option `--format` says of them.
    pub const HELP: &str = "How edges are written: `lines` is an edge a line or a row of a table; `metis` a line of \
         neighbors for each node; `mcl` a matrix of mcl. `auto` knows a matrix by how it begins, METIS by .metis and \
         .graph";

    pub(super) fn may_be_table(self) -> bool {
        matches!(self, Self::Auto | Self::Lines)
    }
}

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Header {
    /// Find out.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is an edge.
    No,
}

/// What the lines hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Rows {
    /// Edges: source, target, and a weight if there is one.
    #[default]
    Edges,
    /// Nodes and their communities, as `output` writes them: fields may be quoted between tabs too.
    Memberships,
    /// The same, where communities are whole numbers of at most 15 digits.
    NumberedMemberships,
}

impl Rows {
    /// What the first two fields are called.
    pub(super) fn roles(self) -> [&'static str; 2] {
        match self {
            Self::Edges => ["source", "target"],
            Self::Memberships | Self::NumberedMemberships => ["node", "community"],
        }
    }
}

/// What to do about a line that is no edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnBadLine {
    /// Stop with an error about it.
    #[default]
    Stop,
    /// Count it, and write it to the rejects file if there is one.
    Skip,
}

/// What to read and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputOptions {
    /// The files, in order; `-` is standard input, or `stream` if there is one.
    pub paths: Vec<PathBuf>,
    /// A table in memory that `-` stands for.
    pub stream: Option<TableStream>,
    /// A list of nodes to keep even where no edge has them: a name at the beginning of each line, read
    /// after the edges as these are, but without a header. Names that the edges do not have come after
    /// those that they have, in the order of the list.
    pub nodes: Option<PathBuf>,
    /// How edges are written.
    pub format: EdgeFormat,
    /// Whether edges have a direction. Adjacency lists tell each edge twice if they have none.
    pub directed: bool,
    /// Columns of source, target and, if there is a third, weight; found if not given.
    pub columns: Option<Vec<Column>>,
    /// What separates columns; found if not given.
    pub delimiter: Option<Delimiter>,
    /// Lines that begin with this mean nothing; empty for none. While it is `#`, lines before the
    /// first edge that begin with `%` are comments too.
    pub comment: Vec<u8>,
    /// Whether the first line names the columns.
    pub header: Header,
    /// What to do about a line that is no edge.
    pub on_bad_line: OnBadLine,
    /// Where skipped lines go.
    pub rejects: Option<PathBuf>,
    /// Reads edges as if there were no weights.
    pub ignore_weights: bool,
    /// What each weight becomes as it is read.
    pub weight_transform: WeightTransform,
    /// What the lines hold.
    pub rows: Rows,
}

impl Default for InputOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            stream: None,
            nodes: None,
            format: EdgeFormat::Auto,
            directed: false,
            columns: None,
            delimiter: None,
            comment: b"#".to_vec(),
            header: Header::Auto,
            on_bad_line: OnBadLine::Stop,
            rejects: None,
            ignore_weights: false,
            weight_transform: WeightTransform::None,
            rows: Rows::Edges,
        }
    }
}

impl InputOptions {
    /// Every file that is read, in order: the edges, then the nodes.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.nodes)
    }

    /// Refuses combinations that cannot be used.
    pub(super) fn check(&self) -> Result<()> {
        let usage = |message: Text| Err(Error::usage(message));
        if self.paths.is_empty() {
            return usage("no input files".into());
        }
        if self.all_paths().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
            return usage("standard input (`-`) can be read only once".into());
        }
        if let Some(columns) = &self.columns {
            check_columns(columns, self.header)?;
        }
        if let Some(Delimiter::Byte(byte @ (b'\n' | b'\r' | b'"'))) = self.delimiter {
            let byte = byte.escape_ascii();
            return usage(format!("`{byte}` cannot separate columns").into());
        }
        if self.ignore_weights && self.weight_transform != WeightTransform::None {
            return Err(contradicts_ignore_weights(&WEIGHT_TRANSFORM));
        }
        let Some(rejects) = &self.rejects else { return Ok(()) };
        if self.all_paths().any(|path| path == rejects) && rejects != Path::new("-") {
            let rejects = rejects.display();
            return usage(format_args!("`{rejects}` is both an input and {REJECTS}").into());
        }
        Ok(())
    }
}

/// The error for an option about weights beside one that leaves none.
pub(crate) fn contradicts_ignore_weights(option: &Opt) -> Error {
    Error::usage(format_args!("{option} is about weights, but {IGNORE_WEIGHTS} leaves none"))
        .hint("leave one of them out")
}

/// The error for an option about weights where `path` has edges without.
pub(crate) fn has_no_weights(path: &Path, option: &Opt) -> Error {
    let path = path.display();
    let message = format_args!("`{path}` has no weights, but {option} is about weights");
    Error::new(ErrorKind::BadInput, message)
        .hint(format_args!("use {} to say where they are", COLUMNS.of("SOURCE,TARGET,WEIGHT")))
}

fn check_columns(columns: &[Column], header: Header) -> Result<()> {
    let error = |message: Text, hint: Text| Err(Error::usage(message).hint(hint));
    let same = |what: &str, count: &str, columns: &str| {
        error(
            format_args!("{COLUMNS} names the same column as {what}").into(),
            format_args!("use {count} columns, such as {}", COLUMNS.of(columns)).into(),
        )
    };
    if !(2..=3).contains(&columns.len()) {
        let (two, three) = (COLUMNS.of("SOURCE,TARGET"), COLUMNS.of("SOURCE,TARGET,WEIGHT"));
        return error(
            format_args!("{COLUMNS} names {} columns, but an edge has 2 or 3", columns.len())
                .into(),
            format_args!("use {two} or {three}").into(),
        );
    }
    if columns.contains(&Column::Number(0)) {
        return error(
            "there is no column 0".into(),
            format_args!("columns are numbered from 1: {}", COLUMNS.of("1,2,3")).into(),
        );
    }
    if columns[0] == columns[1] {
        return same("source and target", "two", "1,2");
    }
    if columns[..2].contains(columns.last().unwrap_or(&columns[0])) && columns.len() == 3 {
        return same("a name and as the weight", "three", "1,2,3");
    }
    let by_name = columns.iter().any(|column| matches!(column, Column::Name(_)));
    if by_name && header == Header::No {
        return error(
            format_args!(
                "{COLUMNS} names columns, but {} says that the file does not",
                HEADER.of("no")
            )
            .into(),
            format_args!("use numbers: {}", COLUMNS.of("1,2,3")).into(),
        );
    }
    Ok(())
}

/// How much is read and parsed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchMemory {
    /// Bytes of text in a chunk.
    pub chunk_bytes: usize,
    /// Chunks in a batch.
    pub chunks: usize,
}

impl BatchMemory {
    pub(super) fn clamped(self) -> Self {
        // Offsets in a chunk have 32 bits.
        Self { chunk_bytes: self.chunk_bytes.clamp(16, 1 << 30), chunks: self.chunks.max(1) }
    }

    /// The most memory that a reader and `batches` batches in the caller's hands use together,
    /// with `threads` threads: text twice (being parsed and read ahead), what is made of it, and
    /// what decompression needs.
    pub fn total_bytes(self, batches: usize, threads: usize) -> u64 {
        let Self { chunk_bytes, chunks } = self.clamped();
        let text = chunk_bytes.max(LINE_LIMIT) as u64;
        let lines = chunk_bytes.div_ceil(BYTES_PER_LINE) as u64;
        let edge = 2 * size_of::<NameRef>() as u64 + 4;
        let parsed = lines * edge.max(size_of::<LineFault>() as u64);
        let in_batches = (batches * chunks) as u64 * (text + parsed);
        let in_channels = (3 * chunks + 4) as u64 * text;
        // BGZF: groups waiting and being inflated, packed and as text; gzip and zstd: less.
        let inflating = (2 * threads as u64 + 3) * (2 << 20) + (8 << 20);
        in_batches + in_channels + inflating
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbers_or_names() {
        assert_eq!("12".parse(), Ok(Column::Number(12)));
        assert_eq!("score 2".parse(), Ok(Column::Name("score 2".into())));
        assert_eq!("2nd".parse(), Ok(Column::Name("2nd".into())));
    }

    #[test]
    fn delimiters_are_read() {
        assert_eq!(",".parse(), Ok(Delimiter::Byte(b',')));
        assert_eq!("tab".parse(), Ok(Delimiter::Byte(b'\t')));
        assert_eq!("spaces".parse(), Ok(Delimiter::Spaces));
        for text in ["", "ab", "\n", "\"", "ä"] {
            assert!(text.parse::<Delimiter>().is_err(), "{text}");
        }
    }
}
