//! Reads communities back from a file that `output` has written, in any of its forms, without a graph.
//!
//! | form | recognized by | a node's community |
//! | --- | --- | --- |
//! | Parquet, Arrow | its first and last bytes | the column `community`, or the first number of `path` |
//! | JSON lines | the ending of its name | the field `community`, or the first number of `path` |
//! | files of Infomap | the endings `.tree`, `.ftree` and `.clu` | the number of its top module, counted from 0 instead of 1 |
//! | text between tabs | anything else | the second column, or the one that a header names; of a path its first number |
//! | the same between commas | the ending `.csv`, and no tab in the first line | likewise |
//! | lines of nodes, pairs | the caller ([`WrittenRows`]), or lines of different lengths, or a first pair with itself | the number of the line, or of the representative |
//!
//! Nothing is guessed from samples, since the writer is known: a line that differs from the first one is an error. Memory:
//! a batch, and one buffer of a few MiB; a line may be longer than that. Cost: one pass on one thread, except for tables.
//!
//! ```
//! use outcore::io::Files;
//! use outcore::membership::{WrittenFile, WrittenBatch, WrittenRows};
//! # let temporary = tempfile::tempdir().expect("a directory");
//!
//! let (files, path) = (Files::default(), temporary.path().join("c.csv"));
//! files.write(&path, b"node,community,weight\n\"a,b\",0,2.5\nc,1,0\n")?;
//! let mut written = WrittenFile::open(&files, &path, WrittenRows::Nodes)?;
//! let mut batch = WrittenBatch::default();
//! assert!(written.next_batch(&mut batch)?);
//! assert_eq!(batch.rows().collect::<Vec<_>>(), [(&b"a,b"[..], 0), (b"c", 1)]);
//! assert!(!written.next_batch(&mut batch)?);
//! # Ok::<(), outcore::Error>(())
//! ```

mod fields;
#[cfg(test)]
mod tests;

use crate::error::opt::ROWS;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{
    self, Batch, BatchMemory, CHUNK_BYTES, CLUSTERS_MARK, CommunityFormat, EdgeReader,
    InputOptions, Rows,
};
use crate::io::{Files, Mode};
use fields::FieldReader;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of names in a batch, and rows in one.
const NAMES_BYTES: usize = 1 << 20;
const ROWS_MAX: usize = 1 << 16;
/// Chunks of a table that are read ahead.
const CHUNKS: usize = 4;
/// Maximum number of columns read from the first line: more than any graph has levels.
const COLUMNS_MAX: usize = 256;
/// Digits that fit into 63 bits, the positive numbers of languages without unsigned ones.
const DIGITS_MAX: usize = 18;
/// First and last bytes of Parquet and of Arrow files. Both must match: the first node may be named `PAR1`.
const TABLES: [(&[u8], &[u8]); 2] = [(b"PAR1", b"PAR1"), (b"ARROW1\0\0", b"ARROW1")];
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WrittenRows {
    /// A node and its community, perhaps with more columns; or what the first lines show.
    #[default]
    Nodes,
    /// All nodes of a community.
    Communities,
    /// The first node of a community and a node, perhaps with a weight; first the first node with itself.
    Pairs,
}

/// Row of a batch.
#[derive(Debug, Clone, Copy)]
struct WrittenRow {
    /// End of the name.
    end: usize,
    community: u64,
    stability: f64,
}

/// Consecutive nodes of a file with their communities. Can be reused, which keeps its buffers.
#[derive(Debug, Default)]
pub struct WrittenBatch {
    names: Vec<u8>,
    rows: Vec<WrittenRow>,
    /// Groups of each row, one for each level below the community; see [`WrittenFile::with_levels`].
    groups: Vec<u64>,
}

impl WrittenBatch {
    /// Returns the names and communities, in the order of the file.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        self.rows.iter().enumerate().map(|(at, row)| {
            let start = if at == 0 { 0 } else { self.rows[at - 1].end };
            (&self.names[start..row.end], row.community)
        })
    }

    /// Returns the share of the starts in which each node stays with its community, if the file has it.
    pub fn stability(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().map(|row| row.stability)
    }

    /// Returns the groups of the nodes, those of a node one after the other, coarsest first; see
    /// [`WrittenFile::with_levels`].
    pub fn groups(&self) -> &[u64] {
        &self.groups
    }

    fn clear(&mut self) {
        self.names.clear();
        self.rows.clear();
        self.groups.clear();
    }

    fn is_full(&self) -> bool {
        self.names.len() >= NAMES_BYTES || self.rows.len() >= ROWS_MAX
    }

    /// Adds the name that was appended to `names`.
    fn push(&mut self, community: u64, stability: f64) {
        self.rows.push(WrittenRow { end: self.names.len(), community, stability });
    }

    /// Returns the part of the names that belongs to no row yet.
    fn open(&self) -> &[u8] {
        &self.names[self.rows.last().map_or(0, |row| row.end)..]
    }
}

/// Open file of communities.
pub struct WrittenFile {
    form: WrittenForm,
}

enum WrittenForm {
    Nodes(FieldReader, WrittenColumns),
    Communities(FieldReader, u64),
    Pairs(FieldReader, Pairs),
    /// Objects, and the number of levels that are read.
    Objects(FieldReader, usize),
    WrittenTable(Box<WrittenTable>),
}

impl WrittenFile {
    /// Opens the file `path`, with a row or line for each of `rows`.
    ///
    /// # Errors
    /// `Usage` for a table whose rows are not nodes; `BadInput` if the first line has no community; `Io`.
    pub fn open(files: &Files, path: &Path, rows: WrittenRows) -> Result<Self> {
        let is_table = is_table(files, path)?;
        let is_named =
            |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let is_json = ["jsonl", "ndjson"].into_iter().any(is_named);
        let is_infomap = ["tree", "ftree", "clu"].into_iter().any(is_named);
        if rows != WrittenRows::Nodes && (is_table || is_json || is_infomap) {
            let message = format!("`{}` has a row for each node", path.display());
            return Err(Error::usage(message).hint(format_args!("leave {ROWS} out")));
        }
        if is_table || is_infomap {
            let table = WrittenTable::open(files, path, u64::from(is_infomap))?;
            return Ok(Self { form: WrittenForm::WrittenTable(Box::new(table)) });
        }
        let lines = || FieldReader::open(files, path, b'\n');
        if is_json {
            return Ok(Self { form: WrittenForm::Objects(lines()?, 0) });
        }
        // With a tab in the first line, the file is tab-separated text despite its name.
        let has_tab = || -> Result<bool> {
            Ok(matches!(
                FieldReader::open(files, path, b'\t')?.next(&mut Vec::new()),
                Ok(Some(false))
            ))
        };
        let is_commas = is_named("csv") && !has_tab()?;
        // What the first lines show; pairs with a header are lines.
        let begins_pairs = || -> Result<bool> {
            let (mut fields, mut names) = (FieldReader::open(files, path, b'\t')?, Vec::new());
            Ok(fields.next(&mut names)? == Some(false)
                && fields.next(&mut names)?.is_some()
                && names == b"representativemember")
        };
        // All nodes of the largest community are more than a node and its number.
        let begins_node = || -> Result<bool> {
            let (mut fields, mut field) = (FieldReader::open(files, path, b'\t')?, Vec::new());
            let is_pair = fields.next(&mut field)? == Some(false) && {
                field.clear();
                fields.next(&mut field)? == Some(true)
            };
            Ok(is_pair && field.iter().all(u8::is_ascii_digit))
        };
        let shown = match rows {
            WrittenRows::Nodes if !is_commas => input::community_format(files, path).ok(),
            _ => None,
        };
        let rows = match shown {
            Some(CommunityFormat::Clusters) if !begins_node()? => WrittenRows::Communities,
            Some(CommunityFormat::Pairs) => WrittenRows::Pairs,
            Some(CommunityFormat::Lines) if begins_pairs()? => WrittenRows::Pairs,
            _ => rows,
        };
        let mut fields = FieldReader::open(files, path, if is_commas { b',' } else { b'\t' })?;
        let form = match rows {
            WrittenRows::Nodes => {
                let columns = WrittenColumns::find(&mut fields)?;
                WrittenForm::Nodes(fields, columns)
            }
            WrittenRows::Communities => {
                fields.skip(CLUSTERS_MARK.as_bytes())?;
                WrittenForm::Communities(fields, 0)
            }
            WrittenRows::Pairs => WrittenForm::Pairs(fields, Pairs::default()),
        };
        Ok(Self { form })
    }

    /// Also reads the columns of this many levels below the communities, by their names `group1` and so on, or, in text
    /// without a header, after the community. Returns whether the file has them; those of tables are not read.
    pub fn with_levels(&mut self, count: usize) -> bool {
        match &mut self.form {
            WrittenForm::Nodes(_, columns) => columns.with_levels(count),
            WrittenForm::Objects(_, levels) => {
                *levels = count;
                true
            }
            WrittenForm::Communities(..)
            | WrittenForm::Pairs(..)
            | WrittenForm::WrittenTable(_) => false,
        }
    }

    /// Returns whether the file may have the stability of nodes. That of tables is not read.
    pub fn has_stability(&self) -> bool {
        match &self.form {
            WrittenForm::Nodes(_, columns) => columns.count == 0 || columns.stability.is_some(),
            // Each object shows whether it has one.
            WrittenForm::Objects(..) => true,
            WrittenForm::Communities(..)
            | WrittenForm::Pairs(..)
            | WrittenForm::WrittenTable(_) => false,
        }
    }

    /// Reads the next nodes; returns whether there are any.
    ///
    /// # Errors
    /// The earliest bad line; `CorruptFile`, `Io`.
    pub fn next_batch(&mut self, batch: &mut WrittenBatch) -> Result<bool> {
        batch.clear();
        match &mut self.form {
            WrittenForm::Nodes(fields, columns) => columns.read(fields, batch)?,
            WrittenForm::Communities(fields, line) => read_lines(fields, line, batch)?,
            WrittenForm::Pairs(fields, pairs) => pairs.read(fields, batch)?,
            WrittenForm::Objects(fields, levels) => read_objects(fields, *levels, batch)?,
            WrittenForm::WrittenTable(table) => table.read(batch)?,
        }
        Ok(!batch.rows.is_empty())
    }

    /// Returns how many bytes of the file were read.
    pub fn done_bytes(&self) -> u64 {
        match &self.form {
            WrittenForm::Nodes(fields, _)
            | WrittenForm::Communities(fields, _)
            | WrittenForm::Pairs(fields, _)
            | WrittenForm::Objects(fields, _) => fields.done_bytes(),
            WrittenForm::WrittenTable(table) => table.reader.done_bytes(),
        }
    }
}

fn is_table(files: &Files, path: &Path) -> Result<bool> {
    let file = files.open(path, Mode::Read)?;
    let (mut head, mut tail) = ([0; 8], [0; 6]);
    let end = file.bytes()?.saturating_sub(tail.len() as u64);
    let (head_bytes, tail_bytes) = (file.read_at(0, &mut head)?, file.read_at(end, &mut tail)?);
    let is = |(first, last): &(&[u8], &[u8])| {
        head[..head_bytes].starts_with(first) && tail[..tail_bytes].ends_with(last)
    };
    Ok(TABLES.iter().any(is))
}

/// Columns of text with a node in each line.
struct WrittenColumns {
    node: usize,
    community: usize,
    stability: Option<usize>,
    /// Columns of groups, coarsest first, if they are read.
    groups: Vec<usize>,
    /// Names of all columns, if the first line has them.
    names: Vec<Vec<u8>>,
    count: usize,
    /// Field that is read; kept for its buffer.
    scratch: Vec<u8>,
}

impl WrittenColumns {
    /// Finds the columns in the first line: a header, or a node. Skips a header.
    fn find(fields: &mut FieldReader) -> Result<Self> {
        fields.skip(MARK)?;
        let (mut first, mut scratch) = (Vec::<Vec<u8>>::new(), Vec::new());
        let mut is_last = None;
        while first.len() < COLUMNS_MAX && is_last != Some(true) {
            scratch.clear();
            match fields.next(&mut scratch)? {
                None => break,
                found => is_last = found,
            }
            first.push(scratch.clone());
        }
        let place = |names: &[&[u8]]| first.iter().position(|field| names.contains(&&**field));
        let (node, community) = (place(&[b"node"]), place(&[b"community", b"path"]));
        let count = first.len();
        if let (Some(node), Some(community)) = (node, community) {
            let (stability, groups) = (place(&[b"stability"]), Vec::new());
            return Ok(Self { node, community, stability, groups, names: first, count, scratch });
        }
        if count == 1 {
            let error = fields.wrong(
                ErrorKind::MissingColumn,
                "this line has no community".into(),
                &first[0],
                "node<TAB>community",
            );
            return Err(other_forms(error));
        }
        // Stability is the last column, with three decimals. Weights may look like shares in the first line, but hardly
        // in all.
        let stability = (count > 2 && is_share(&first[count - 1])).then(|| count - 1);
        fields.rewind();
        fields.skip(MARK)?;
        let (groups, names) = (Vec::new(), Vec::new());
        Ok(Self { node: 0, community: 1, stability, groups, names, count, scratch })
    }

    /// Reads the groups of this many levels, too; returns whether there are as many columns.
    fn with_levels(&mut self, levels: usize) -> bool {
        self.groups = if self.names.is_empty() {
            (2..self.stability.unwrap_or(self.count)).take(levels).collect()
        } else {
            let place = |level| {
                let wanted = group_name(level);
                self.names.iter().position(|name| *name == wanted.as_bytes())
            };
            (1..=levels).map_while(place).collect()
        };
        self.groups.len() == levels && self.groups.is_sorted()
    }

    fn read(&mut self, fields: &mut FieldReader, batch: &mut WrittenBatch) -> Result<()> {
        while !batch.is_full() && self.read_line(fields, batch)? {}
        Ok(())
    }

    /// Reads a line; returns whether there was one.
    fn read_line(&mut self, fields: &mut FieldReader, batch: &mut WrittenBatch) -> Result<bool> {
        let (mut community, mut stability) = (0, f64::NAN);
        let mut column = 0;
        loop {
            let field = if column == self.node { &mut batch.names } else { &mut self.scratch };
            if column != self.node {
                field.clear();
            }
            let Some(is_last) = fields.next(field)? else { return Ok(false) };
            if column == self.node {
                refuse_empty(fields, batch)?;
            } else if column == self.community {
                community =
                    community_of(&self.scratch).ok_or_else(|| self.not_a_community(fields))?;
            } else if Some(column) == self.stability {
                stability = share(fields, &self.scratch)?;
            } else if self.groups.contains(&column) {
                let group = community_of(&self.scratch);
                batch.groups.push(group.ok_or_else(|| self.not_a_community(fields))?);
            }
            column += 1;
            if column > self.count || is_last && column < self.count {
                return Err(self.other_columns(fields, column));
            }
            if is_last {
                batch.push(community, stability);
                return Ok(true);
            }
        }
    }

    fn not_a_community(&self, fields: &FieldReader) -> Error {
        let text = String::from_utf8_lossy(&self.scratch);
        let message = format!("`{text}` is not the number of a community");
        let error = fields.wrong(
            ErrorKind::BadInput,
            message,
            &self.scratch,
            "a number, or a path such as 3:0:5",
        );
        other_forms(error)
    }

    fn other_columns(&self, fields: &FieldReader, found: usize) -> Error {
        let more = if found > self.count { "more" } else { "fewer" };
        let message =
            format!("this line has {more} columns than the first one, which has {}", self.count);
        let kind = if found > self.count { ErrorKind::BadInput } else { ErrorKind::MissingColumn };
        other_forms(fields.wrong(kind, message, &self.scratch, "node<TAB>community, in all lines"))
    }
}

/// Adds the hint how to read the other forms of text.
fn other_forms(error: Error) -> Error {
    error.hint(format_args!(
        "use {} if each line has all nodes of a community, {} if it has a representative and a node",
        ROWS.of("community"),
        ROWS.of("pair"),
    ))
}

fn refuse_empty(fields: &FieldReader, batch: &WrittenBatch) -> Result<()> {
    match batch.open() {
        [] => Err(fields.wrong(
            ErrorKind::EmptyName,
            "a name is missing".into(),
            b"",
            "the name of a node",
        )),
        _ => Ok(()),
    }
}

/// Returns the name of the column of a level, from 1.
fn group_name(level: usize) -> String {
    format!("group{level}")
}

/// Returns the number of a community, or the first one of a path.
fn community_of(text: &[u8]) -> Option<u64> {
    let mut parts = text.split(|&byte| byte == b':');
    let number = |part: &[u8]| {
        let is_number =
            (1..=DIGITS_MAX).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        is_number.then(|| part.iter().fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0')))
    };
    let community = parts.next().and_then(number)?;
    parts.all(|part| number(part).is_some()).then_some(community)
}

/// Returns whether this is a share as written by `output`: with three decimals, from 0 to 1.
fn is_share(text: &[u8]) -> bool {
    matches!(text, [b'0', b'.', digits @ ..] if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit))
        || text == b"1.000"
}

fn share(fields: &FieldReader, text: &[u8]) -> Result<f64> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let message =
            format!("`{}` is not a share, as in the lines before", String::from_utf8_lossy(text));
        fields.wrong(ErrorKind::BadInput, message, text, "a number from 0 to 1")
    })
}

/// Reads nodes of lines that have all nodes of a community; `line` is the number of the next one.
fn read_lines(fields: &mut FieldReader, line: &mut u64, batch: &mut WrittenBatch) -> Result<()> {
    while !batch.is_full() {
        let Some(is_last) = fields.next(&mut batch.names)? else { break };
        refuse_empty(fields, batch)?;
        batch.push(*line, f64::NAN);
        *line += u64::from(is_last);
    }
    Ok(())
}

/// State of reading pairs.
#[derive(Default)]
struct Pairs {
    /// Representative of the last pair, and the one that is read.
    last: Vec<u8>,
    next: Vec<u8>,
    /// Number of communities so far.
    count: u64,
    scratch: Vec<u8>,
}

impl Pairs {
    fn read(&mut self, fields: &mut FieldReader, batch: &mut WrittenBatch) -> Result<()> {
        while !batch.is_full() {
            self.next.clear();
            let Some(is_last) = fields.next(&mut self.next)? else { break };
            if is_last || fields.next(&mut batch.names)?.is_none() {
                let message = "a pair has a representative and a node".to_owned();
                return Err(fields.wrong(
                    ErrorKind::MissingColumn,
                    message,
                    &self.next,
                    "two names",
                ));
            }
            let is_header =
                self.count == 0 && self.next == b"representative" && batch.open() == b"member";
            refuse_empty(fields, batch)?;
            if is_header {
                batch.names.clear();
            } else if self.count == 0 || self.next != self.last {
                if batch.open() != self.next.as_slice() {
                    let text = String::from_utf8_lossy(&self.next);
                    let message = format!(
                        "the first pair of `{text}` is not with itself, so it represents no community"
                    );
                    let error = fields.wrong(
                        ErrorKind::BadInput,
                        message,
                        batch.open(),
                        "the representative again",
                    );
                    return Err(error.hint(format_args!(
                        "keep the order in which {} wrote the lines",
                        ROWS.of("pair")
                    )));
                }
                std::mem::swap(&mut self.last, &mut self.next);
                self.count += 1;
            }
            if !is_header {
                batch.push(self.count - 1, f64::NAN);
            }
            fields.skip_line(&mut self.scratch)?;
        }
        Ok(())
    }
}

/// Object of a line.
#[derive(serde::Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    node: Cow<'a, str>,
    community: Option<u64>,
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    stability: Option<f64>,
}

fn read_objects(fields: &mut FieldReader, levels: usize, batch: &mut WrittenBatch) -> Result<()> {
    let mut line = Vec::new();
    while !batch.is_full() {
        line.clear();
        if fields.next(&mut line)?.is_none() {
            break;
        }
        let wrong = |message: String| {
            fields.wrong(
                ErrorKind::BadInput,
                message,
                &line,
                r#"an object such as {"node":"a","community":0}"#,
            )
        };
        let object: Object<'_> = serde_json::from_slice(&line)
            .map_err(|error| wrong(format!("this is not a node and its community: {error}")))?;
        let path = || object.path.as_ref().and_then(|path| community_of(path.as_bytes()));
        let community = object.community.filter(|number| *number < 1 << 60).or_else(path);
        let community = community.ok_or_else(|| wrong("this node has no community".into()))?;
        if object.node.is_empty() {
            return Err(wrong("a name is missing".into()));
        }
        if levels > 0 {
            let all: BTreeMap<Cow<'_, str>, serde_json::Value> = serde_json::from_slice(&line)
                .map_err(|error| wrong(format!("this is not an object: {error}")))?;
            for name in (1..=levels).map(group_name) {
                let group = all.get(name.as_str()).and_then(serde_json::Value::as_u64);
                batch
                    .groups
                    .push(group.ok_or_else(|| wrong(format!("this node has no number `{name}`")))?);
            }
        }
        batch.names.extend_from_slice(object.node.as_bytes());
        batch.push(community, object.stability.unwrap_or(f64::NAN));
    }
    Ok(())
}

/// Table, or file of Infomap, that is read by the reader of edges; columns are found by their names.
struct WrittenTable {
    reader: EdgeReader,
    chunks: Batch,
    /// Number of the first community.
    first: u64,
    path: PathBuf,
}

impl WrittenTable {
    fn open(files: &Files, path: &Path, first: u64) -> Result<Self> {
        let options = InputOptions {
            paths: vec![path.to_path_buf()],
            rows: Rows::Memberships,
            ..InputOptions::default()
        };
        let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks: CHUNKS };
        let reader = EdgeReader::open(files, &options, memory)?;
        Ok(Self { reader, chunks: Batch::default(), first, path: path.to_path_buf() })
    }

    fn read(&mut self, batch: &mut WrittenBatch) -> Result<()> {
        while batch.rows.is_empty() && self.reader.next_batch(&mut self.chunks)? {
            for chunk in &self.chunks.chunks {
                for pair in chunk.names.chunks_exact(2) {
                    let text = chunk.name(&pair[1]);
                    let community = community_of(text).and_then(|at| at.checked_sub(self.first));
                    let community = community.ok_or_else(|| self.not_a_community(text))?;
                    batch.names.extend_from_slice(chunk.name(&pair[0]));
                    batch.push(community, f64::NAN);
                }
            }
        }
        Ok(())
    }

    fn not_a_community(&self, text: &[u8]) -> Error {
        let (path, text) = (self.path.display(), String::from_utf8_lossy(text));
        let message = format!("`{path}` has `{text}` for the number of a community");
        Error::new(ErrorKind::BadInput, message).hint(match self.first {
            0 => "it must have the columns `node` and `community`, or `node` and `path`",
            _ => "modules of Infomap are numbers from 1",
        })
    }
}
