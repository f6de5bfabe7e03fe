//! Options of the input.

use super::chunk::LineFault;
use super::stream::TableStream;
use super::{NameRef, WeightTransform};
use outcore_io::error::opt::{
    COLUMNS, COMMUNITY_COLUMNS, HEADER, IGNORE_WEIGHTS, NODES, PREFER, WEIGHT_TRANSFORM,
};
use outcore_io::error::{Error, ErrorKind, Opt, Result};
use std::convert::Infallible;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Maximum length of a line, including its line end.
pub(crate) const LINE_LIMIT: usize = 1 << 20;
/// Divisor that turns the size of a chunk into its maximum number of lines.
pub(super) const BYTES_PER_LINE: usize = 16;

/// A column of the input.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Column {
    /// Column number, from 1.
    Number(u32),
    /// Column name in the header.
    Name(String),
}

/// Separator of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Delimiter {
    /// One byte. Fields may be quoted as in CSV, and spaces around them are ignored.
    Byte(u8),
    /// Any run of spaces and tabs; those at the ends of a line are ignored. Fields may be quoted.
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
                _ => Err("expected one character, `tab`, or `spaces`"),
            },
        }
    }
}

impl Delimiter {
    /// Returns the usual name of the delimiter.
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

    pub(super) fn with_article(self) -> String {
        match self {
            Self::Spaces => "runs of spaces".into(),
            Self::Byte(byte) if byte.is_ascii_graphic() && !b",;".contains(&byte) => self.name(),
            _ => format!("a {}", self.name()),
        }
    }

    /// Returns the name of the delimiter for a list of facts.
    pub(crate) fn plain_name(self) -> String {
        match self {
            Self::Spaces => "spaces".into(),
            Self::Byte(_) => self.name(),
        }
    }

    /// Returns the delimiter as it is typed.
    pub(crate) fn typed(self) -> String {
        match self {
            Self::Spaces => "spaces".into(),
            Self::Byte(b'\t') => "tab".into(),
            Self::Byte(b',') => "comma".into(),
            Self::Byte(byte) => format!("'{}'", byte.escape_ascii()),
        }
    }
}

/// Format of the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum EdgeFormat {
    /// The format that the first bytes or the name of the file reveal, otherwise lines or tables.
    #[default]
    Auto,
    /// One edge per line, or per row of a table.
    Lines,
    /// METIS graph: a header, then one line of neighbors per node.
    Metis,
    /// Matrix of mcl.
    Mcl,
    /// Network of Pajek.
    Pajek,
    /// GML.
    Gml,
    /// GraphML.
    Graphml,
    /// GEXF of Gephi.
    Gexf,
    /// DIMACS graph.
    Dimacs,
    /// LGL: each node and its neighbors, one per line.
    Lgl,
    /// Trivial Graph Format.
    Tgf,
    /// SIF of Cytoscape.
    Sif,
    /// Sparse matrix with indexes from 0.
    Smat,
    /// Adjacency list of networkx.
    Adjlist,
    /// Multiline adjacency list of networkx.
    MultilineAdjlist,
    /// Edge list of networkx with dictionaries.
    Networkx,
    /// Clusters of vsearch and usearch, as edges to their centroids.
    Uc,
}

impl EdgeFormat {
    /// Help text of the option `--format`.
    pub const HELP: &str = "Format of the edges: `lines` has one edge per line or table row; the others are graph \
         formats. `auto` detects them by the first bytes, and where these could be lines of edges as well, by the \
         extensions .metis, .graph, .lgl, .tgf, .sif, .smat, .adjlist";

    pub(super) fn may_be_table(self) -> bool {
        matches!(self, Self::Auto | Self::Lines)
    }
}

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Header {
    /// Detect it.
    #[default]
    Auto,
    /// The first line is a header.
    Yes,
    /// The first line is an edge.
    No,
}

/// Contents of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Rows {
    /// Edges: source, target, and a weight if there is one.
    #[default]
    Edges,
    /// Nodes and their communities, as `output` writes them: fields between tabs may be quoted too.
    Memberships,
    /// Like [`Rows::Memberships`], but communities are whole numbers of at most 15 digits.
    NumberedMemberships,
    /// Nodes and a number of each, such as its priority; columns of fractions are read as text.
    Numbers,
    /// Nodes: a name per line.
    Nodes,
    /// Nodes and their communities in text that `output` has written, in any of its forms: nothing is guessed. Communities are
    /// numbers; where lines have no number, those of the lines or of the representatives.
    Written,
}

impl Rows {
    /// Returns the roles of the first two fields.
    pub(super) fn roles(self) -> [&'static str; 2] {
        match self {
            Self::Edges => ["source", "target"],
            Self::Memberships | Self::NumberedMemberships | Self::Written => ["node", "community"],
            Self::Numbers => ["node", "number"],
            Self::Nodes => ["node", "node"],
        }
    }

    /// Returns the option that names the columns of such lines.
    pub(super) fn columns_option(self) -> Opt {
        match self {
            Self::Edges => COLUMNS,
            Self::Nodes => NODES,
            Self::Numbers => PREFER,
            _ => COMMUNITY_COLUMNS,
        }
    }

    /// Returns this option with its value. `path` is the file.
    pub(super) fn columns_of(self, path: &Path, columns: impl Display) -> Opt {
        let option = self.columns_option();
        match self {
            Self::Nodes | Self::Numbers => option.of(format_args!("{}:{columns}", path.display())),
            _ => option.of(columns),
        }
    }

    /// Returns this option with the roles of its columns.
    pub(super) fn columns_to_type(self, path: &Path) -> Opt {
        let columns = match self {
            Self::Edges => "SOURCE,TARGET[,WEIGHT]",
            Self::Nodes => "COLUMN",
            Self::Numbers => "NODE,NUMBER",
            _ => "NODE,COMMUNITY",
        };
        self.columns_of(path, columns)
    }

    /// Returns whether lines are nodes and their communities, or numbers.
    pub(super) fn are_memberships(self) -> bool {
        matches!(self, Self::Memberships | Self::NumberedMemberships | Self::Numbers)
    }
}

/// How nodes are named in graph formats in which they have numbers or ids, and labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum NodeNaming {
    /// By their labels, which must be different.
    Labels,
    /// By their numbers or ids.
    Numbers,
}

/// How to handle a line that is not an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnBadLine {
    /// Stop with an error about the line.
    #[default]
    Stop,
    /// Count the line, and write it to the rejects file if there is one.
    Skip,
}

/// Files to read and how to read them. Serialized without its files, whose paths need not be Unicode.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct InputOptions {
    /// Files, in order; `-` is standard input, or `stream` if there is one.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// Table in memory that `-` stands for.
    #[serde(skip)]
    pub stream: Option<TableStream>,
    /// List of nodes to include even if no edge has them: a name per line, the column that a header or a table calls `id`,
    /// `node` or `name`, or FASTA. It is read after the edges. Names that no edge has are numbered after those of the
    /// edges, in list order.
    #[serde(skip)]
    pub nodes: Option<PathBuf>,
    /// Column of that list; by default, the one with a name for nodes.
    pub node_column: Option<Column>,
    /// Format of the edges.
    pub format: EdgeFormat,
    /// Format of communities, if the files hold communities.
    pub community_format: CommunityFormat,
    /// Level of the modules that are communities; see [`CommunityInput::level`]. For [`Rows::Numbers`], the place in the
    /// path of the number that is read; without it, the flow is.
    pub community_level: Option<u32>,
    /// Whether edges have a direction. Adjacency lists contain each undirected edge twice.
    pub directed: bool,
    /// Whether sources and targets are nodes of two kinds, so that equal names in both columns are different nodes. Names
    /// then begin with their kind: `user_id:1`, or `source:1` if columns have no names.
    pub two_mode: bool,
    /// Columns of source, target and, if there is a third, weight; detected if not given.
    pub columns: Option<Vec<Column>>,
    /// Separator of columns; detected if not given.
    pub delimiter: Option<Delimiter>,
    /// Prefix of lines to ignore; empty for none. If not given, it is `%` in a file that begins with it, otherwise `#`,
    /// and a comment that has the columns of an edge is a bad line.
    pub comment: Option<Vec<u8>>,
    /// Whether other files are read with the same prefix, so that it may have no effect on these.
    pub shares_comment: bool,
    /// Whether the first line names the columns.
    pub header: Header,
    /// How to handle a line that is not an edge.
    pub on_bad_line: OnBadLine,
    /// File for skipped lines.
    #[serde(skip)]
    pub rejects: Option<PathBuf>,
    /// Whether to read edges as if they had no weights.
    pub ignore_weights: bool,
    /// Transform applied to each weight as it is read.
    pub weight_transform: WeightTransform,
    /// How nodes are named where a file gives them labels; if not given, by labels if each node has one of its own.
    pub names: Option<NodeNaming>,
    /// Contents of the lines.
    pub rows: Rows,
}

impl InputOptions {
    /// Returns every file that is read, in order: the edges, then the nodes.
    pub fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.nodes)
    }

    /// Returns the options of reading the list of nodes, next to edges that are separated by `delimiter`.
    pub(super) fn of_nodes(&self, delimiter: Option<Delimiter>) -> Self {
        // A header of the edges says nothing about the list, whose names begin with their kind if there are two.
        let header = if self.header == Header::No { Header::No } else { Header::Auto };
        Self {
            rows: Rows::Nodes,
            format: EdgeFormat::Auto,
            columns: self.node_column.clone().map(|column| vec![column]),
            two_mode: false,
            ignore_weights: true,
            names: None,
            delimiter,
            header,
            ..self.clone()
        }
    }

    /// Checks that the options can be used together.
    pub(super) fn check(&self) -> Result<()> {
        if self.paths.is_empty() {
            return Err(Error::usage("no input files"));
        }
        if self.all_paths().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
            return Err(Error::usage("standard input (`-`) can be read only once"));
        }
        if let Some(columns) = self.columns.as_ref().filter(|_| self.rows == Rows::Edges) {
            check_columns(columns, self.header)?;
        }
        if let Some(Delimiter::Byte(byte @ (b'\n' | b'\r' | b'"'))) = self.delimiter {
            let byte = byte.escape_ascii();
            return Err(Error::usage(format!("`{byte}` cannot separate columns")));
        }
        if self.ignore_weights && self.weight_transform != WeightTransform::None {
            return Err(contradicts_ignore_weights(&WEIGHT_TRANSFORM));
        }
        Ok(())
    }
}

/// Returns the error for an option about weights next to one that ignores them.
pub fn contradicts_ignore_weights(option: &Opt) -> Error {
    Error::usage(format_args!("{option} needs weights, but {IGNORE_WEIGHTS} drops them"))
        .hint("leave one of them out")
}

/// Returns the error for an option about weights if the edges of `path` have none.
pub fn has_no_weights(path: &Path, option: &Opt) -> Error {
    let path = path.display();
    let message = format_args!("`{path}` has no weights, but {option} needs them");
    Error::new(ErrorKind::BadInput, message)
        .hint(format_args!("use {} to name their column", COLUMNS.of("SOURCE,TARGET,WEIGHT")))
}

fn check_columns(columns: &[Column], header: Header) -> Result<()> {
    let same = |what: &str, count: &str, columns: &str| {
        Err(Error::usage(format_args!("{COLUMNS} uses the same column for {what}"))
            .hint(format_args!("use {count} columns, such as {}", COLUMNS.of(columns))))
    };
    let numbers = COLUMNS.of("1,2,3");
    if !(2..=3).contains(&columns.len()) {
        let (two, three) = (COLUMNS.of("SOURCE,TARGET"), COLUMNS.of("SOURCE,TARGET,WEIGHT"));
        let count = columns.len();
        let message = format_args!("{COLUMNS} names {count} columns, but an edge has 2 or 3");
        return Err(Error::usage(message).hint(format_args!("use {two} or {three}")));
    }
    if columns.contains(&Column::Number(0)) {
        return Err(Error::usage("there is no column 0")
            .hint(format_args!("columns are numbered from 1: {numbers}")));
    }
    if columns[0] == columns[1] {
        return same("source and target", "two", "1,2");
    }
    if columns[..2].contains(columns.last().unwrap_or(&columns[0])) && columns.len() == 3 {
        return same("a name and the weight", "three", "1,2,3");
    }
    let by_name = columns.iter().any(|column| matches!(column, Column::Name(_)));
    if by_name && header == Header::No {
        let no = HEADER.of("no");
        let message = format_args!("{COLUMNS} uses column names, but with {no} the file has none");
        return Err(Error::usage(message).hint(format_args!("use numbers: {numbers}")));
    }
    Ok(())
}

/// Amount of input that is read and parsed at a time.
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

    /// Returns the maximum memory of a reader together with `batches` batches held by the caller, with `threads`
    /// threads: text twice (being parsed and read ahead), its parsed form, and the buffers of decompression.
    pub fn total_bytes(self, batches: usize, threads: usize) -> u64 {
        let Self { chunk_bytes, chunks } = self.clamped();
        let text = chunk_bytes.max(LINE_LIMIT) as u64;
        let lines = chunk_bytes.div_ceil(BYTES_PER_LINE) as u64;
        let edge = 2 * size_of::<NameRef>() as u64 + 4;
        let parsed = lines * edge.max(size_of::<LineFault>() as u64);
        let in_batches = (batches * chunks) as u64 * (text + parsed);
        let in_channels = (3 * chunks + 4) as u64 * text;
        // BGZF takes most: its waiting and its inflating groups are held both compressed and as text.
        let inflating = (2 * threads as u64 + 3) * (2 << 20) + (8 << 20);
        in_batches + in_channels + inflating
    }
}

/// Level of the modules that hold nodes, however long their paths are.
pub const LAST_LEVEL: u32 = u32::MAX;

/// Format of a file of communities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum CommunityFormat {
    /// As its first lines say.
    #[default]
    Auto,
    /// A node and its community per line, or per row of a table.
    Lines,
    /// A community per line: its nodes.
    Clusters,
    /// The representative of a community and one of its nodes per line, as MMseqs2 writes.
    Pairs,
    /// A node and its path per line, as `--levels tree` writes.
    Levels,
    /// Vector of Pajek, or the columns of Infomap's `.clu`.
    Clu,
    /// Tree of Infomap.
    Tree,
    /// Clusters of CD-HIT.
    Clstr,
    /// Records of UCLUST, which vsearch and usearch write.
    Uc,
    /// Matrix of mcl with a column per cluster.
    Mcl,
    /// An object per line.
    Jsonl,
}

impl CommunityFormat {
    /// Help text of the option `--community-format`.
    pub const HELP: &str = "Format of the files of communities: `lines` has a node and its community per line, \
         `clusters` all nodes of a community, `pairs` a representative and one of its nodes, `levels` a node and a \
         path such as 3:0:5. `auto` recognizes these and the files of Pajek and Infomap (clu, tree), CD-HIT (clstr), \
         vsearch (uc) and mcl by what they contain";
}

/// Columns of one file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileColumns {
    /// The file.
    pub path: PathBuf,
    /// What it is read for: [`Rows::Numbers`] or communities.
    pub rows: Rows,
    /// Columns of the node and of what is read of it.
    pub columns: Vec<Column>,
}

/// How files of communities are read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommunityInput {
    /// Prefix of lines to ignore; empty for none.
    pub comment: Vec<u8>,
    /// Whether other files are read with the same prefix, so that it may have no effect on these.
    #[serde(default)]
    pub shares_comment: bool,
    /// Columns of the node and of its community; if not given, the file decides.
    pub columns: Option<Vec<Column>>,
    /// Columns of single files, which go before.
    #[serde(default)]
    pub of_files: Vec<FileColumns>,
    /// Format of the files.
    pub format: CommunityFormat,
    /// Level of the modules that are communities, where nodes have paths: 1, the default, is the top, [`LAST_LEVEL`]
    /// that of the modules that hold nodes. A node on a shorter path is in its last module. Always 1 where communities
    /// must be numbers.
    #[serde(default)]
    pub level: Option<u32>,
}

impl Default for CommunityInput {
    fn default() -> Self {
        Self {
            comment: b"#".to_vec(),
            shares_comment: false,
            columns: None,
            of_files: Vec::new(),
            format: CommunityFormat::Auto,
            level: None,
        }
    }
}

impl CommunityInput {
    /// Returns how a result is read back: communities are in column 2 and nothing is a comment.
    pub fn of_result() -> Self {
        let columns = Some(vec![Column::Number(1), Column::Number(2)]);
        Self { comment: Vec::new(), shares_comment: true, columns, ..Self::default() }
    }

    /// Checks that the options can be used together.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self) -> Result<()> {
        let of_files = self.of_files.iter().map(|file| &file.columns);
        self.columns.iter().chain(of_files).try_for_each(|columns| self.check_columns(columns))
    }

    fn check_columns(&self, columns: &[Column]) -> Result<()> {
        let refuse = |message: &str| {
            let hint = format_args!("use {}", COMMUNITY_COLUMNS.of("NODE,COMMUNITY"));
            Err(Error::usage(format_args!("{COMMUNITY_COLUMNS} {message}")).hint(hint))
        };
        if self.format == CommunityFormat::Pairs {
            return refuse("contradicts the columns of pairs");
        }
        match columns {
            [node, community] if node == community => {
                refuse("uses the same column for node and community")
            }
            columns if columns.contains(&Column::Number(0)) => {
                refuse("uses column 0, but columns are numbered from 1")
            }
            [_, _] => Ok(()),
            _ => refuse("takes two columns, that of the node and that of its community"),
        }
    }

    /// Returns the options of reading `path`. `numbered` indicates whether communities must be numbers.
    pub fn of(&self, path: &Path, numbered: bool) -> InputOptions {
        let is_lines = self.format == CommunityFormat::Lines;
        InputOptions {
            paths: vec![path.to_path_buf()],
            format: if is_lines { EdgeFormat::Lines } else { EdgeFormat::Auto },
            community_format: self.format,
            community_level: if numbered { Some(1) } else { self.level },
            columns: self.columns_of(path, Rows::Memberships).or_else(|| self.columns.clone()),
            comment: (self.comment != b"#").then(|| self.comment.clone()),
            shares_comment: self.shares_comment,
            header: Header::Auto,
            ignore_weights: true,
            rows: if numbered { Rows::NumberedMemberships } else { Rows::Memberships },
            ..InputOptions::default()
        }
    }

    /// Returns the options for reading `path` as a number for each node.
    pub fn numbers_of(&self, path: &Path) -> InputOptions {
        let own = self.columns_of(path, Rows::Numbers);
        let columns = own.or_else(|| self.columns.clone());
        let rows = Rows::Numbers;
        InputOptions { rows, columns, community_level: None, ..self.of(path, false) }
    }

    /// Returns the columns that were given for one file.
    fn columns_of(&self, path: &Path, rows: Rows) -> Option<Vec<Column>> {
        let found = self.of_files.iter().find(|file| file.path == path && file.rows == rows);
        found.map(|file| file.columns.clone())
    }

    /// Returns the options for reading the number at a place of each node's path, from 1.
    pub fn part_of(&self, path: &Path, place: u32) -> InputOptions {
        InputOptions { community_level: Some(place), ..self.numbers_of(path) }
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
