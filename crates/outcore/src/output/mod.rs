//! Communities as text: `node<TAB>community`, one line a node, through large buffers; groups inside the
//! community may follow, coarsest first. Files that end in `.parquet`, `.arrow` or `.jsonl` are [tables](table).
//!
//! The file appears under its name only when it is complete. Standard output (`-`), pipes and
//! devices have no name to give at the end, so these are written as a stream.
//!
//! A name that would break the table (it contains a tab or a line end, or starts with a double
//! quote) is written as a quoted field: in double quotes, with double quotes inside it doubled. Such
//! names can only come from quoted input, which is read back in the same way.

mod table;

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Writer};
use crate::progress::{Event, Observer, Stage, tell};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use table::{Format, TableWriter};

/// Bytes handed over at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// Buffers being written while one is filled.
const BUFFER_COUNT: usize = 4;
/// Bytes of lines before they are handed over: they stay in the processor's cache until then.
const LINES_BYTES: usize = 32 << 10;
/// Room for lines, with the longest name there is: 65,535 bytes, all of them quotes.
const LINES_CAPACITY: usize = LINES_BYTES + (160 << 10);
/// Nodes between two reports of progress.
const REPORT_NODES: u64 = 1 << 18;

/// A file that is absent until it is complete, or a stream where that is all there is.
pub(crate) enum Sink {
    File(Writer),
    Stream { inner: Box<dyn Write + Send>, path: PathBuf, written: u64 },
}

impl Sink {
    /// Opens `path`, which may be `-`, a pipe or a device.
    pub(crate) fn create(files: &Files, path: &Path) -> Result<Self> {
        if is_stream(files, path)? {
            let inner = files.create_stream(path)?;
            return Ok(Self::Stream { inner, path: path.to_path_buf(), written: 0 });
        }
        let writer = Writer::create(files, path, BUFFER_BYTES, BUFFER_COUNT);
        writer.map(Self::File).map_err(|error| cannot_create(files, path, error))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::File(writer) => writer.write(bytes),
            Self::Stream { inner, path, written } => {
                *written += bytes.len() as u64;
                inner.write_all(bytes).map_err(|e| Error::io("write", path, e))
            }
        }
    }

    /// Ends the file and gives its length in bytes.
    pub(crate) fn finish(self) -> Result<u64> {
        match self {
            Self::File(writer) => writer.finish(),
            Self::Stream { mut inner, path, written } => {
                inner.flush().map_err(|e| Error::io("write", &path, e))?;
                Ok(written)
            }
        }
    }
}

fn is_stream(files: &Files, path: &Path) -> Result<bool> {
    if path == Path::new("-") {
        return Ok(true);
    }
    match files.entry(path) {
        Ok(entry) if entry.is_directory => {
            Err(Error::io("write", path, io::ErrorKind::IsADirectory.into()))
        }
        Ok(_) => Ok(!files.is_regular(path)),
        Err(_) => Ok(false),
    }
}

/// Checks that `path` can be written, so that a wrong path fails before the work and not after it.
/// Leaves nothing behind.
///
/// # Errors
/// `Io` with the path.
pub fn check(files: &Files, path: &Path) -> Result<()> {
    if is_stream(files, path)? {
        return Ok(());
    }
    Writer::create(files, path, 1, 1).map(drop).map_err(|e| cannot_create(files, path, e))
}

/// Names what the user typed, where `error` names the temporary file.
fn cannot_create(files: &Files, path: &Path, error: Error) -> Error {
    let source = std::error::Error::source(&error).and_then(|e| e.downcast_ref::<io::Error>());
    let Some(kind) = source.map(io::Error::kind) else { return error };
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if kind == io::ErrorKind::NotFound && files.entry(parent).is_err() => {
            let (path, parent) = (path.display(), parent.display());
            let message = format!("cannot create `{path}`: there is no directory `{parent}`");
            Error::new(ErrorKind::Io, message).hint(format!("use `mkdir -p {parent}` first"))
        }
        _ => Error::io("create", path, kind.into()),
    }
}

/// Writes text line by line: what a line is made of is appended, then the line ended.
///
/// ```
/// use outcore::io::Files;
/// use outcore::output::LineWriter;
///
/// let path = std::env::temp_dir().join(format!("lines-{}", std::process::id()));
/// let files = Files::default();
/// let mut lines = LineWriter::create(&files, &path)?;
/// lines.bytes(b"node\t").number(7);
/// lines.end()?;
/// lines.finish()?;
/// assert_eq!(files.read(&path)?, b"node\t7\n");
/// files.remove(&path)?;
/// # Ok::<(), outcore::Error>(())
/// ```
pub struct LineWriter {
    sink: Sink,
    buffer: Vec<u8>,
    digits: itoa::Buffer,
}

impl LineWriter {
    /// Starts `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path) -> Result<Self> {
        let sink = Sink::create(files, path)?;
        Ok(Self { sink, buffer: Vec::with_capacity(LINES_CAPACITY), digits: itoa::Buffer::new() })
    }

    /// Appends bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.buffer.extend_from_slice(bytes);
        self
    }

    /// Appends a number.
    #[inline]
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.buffer.extend_from_slice(self.digits.format(number).as_bytes());
        self
    }

    /// Appends a number with three decimals, rounded as the standard library does.
    #[inline]
    pub fn thousandths(&mut self, number: f64) -> &mut Self {
        /// The product with 1,000 is less than this far from the exact one below [`LIMIT`].
        const DOUBT: f64 = 1.0 / (1 << 12) as f64;
        const LIMIT: f64 = (1u64 << 40) as f64;
        let scaled = number * 1000.0;
        let is_clear = (scaled - scaled.floor() - 0.5).abs() > DOUBT;
        if !(is_clear && number.is_sign_positive() && scaled < LIMIT) {
            // A vector takes whatever is written.
            let _ = write!(self.buffer, "{number:.3}");
            return self;
        }
        let rounded = (scaled + 0.5) as u64;
        let (whole, rest) = (rounded / 1000, (rounded % 1000) as u32);
        self.number(whole);
        let digit = |value: u32| b'0' + (value % 10) as u8;
        self.bytes(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)])
    }

    /// Ends the line.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    #[inline]
    pub fn end(&mut self) -> Result<()> {
        self.buffer.push(b'\n');
        if self.buffer.len() < LINES_BYTES { Ok(()) } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> Result<()> {
        self.sink.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest and gives the file its name. Gives its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn finish(mut self) -> Result<u64> {
        self.hand_over()?;
        self.sink.finish()
    }
}

/// What nodes are written to.
enum Rows {
    Text(Box<CommunityWriter>),
    Table(Box<TableWriter>),
}

impl Rows {
    /// By what the name of `path` ends in; for nodes with so many groups, in columns if `separator` is a tab.
    fn create(files: &Files, path: &Path, groups: usize, separator: u8) -> Result<Self> {
        match Format::of(path) {
            Some(format) => {
                let table = TableWriter::create(files, path, format, groups, separator != b'\t');
                Ok(Self::Table(Box::new(table?)))
            }
            None => CommunityWriter::create(files, path).map(|writer| Self::Text(Box::new(writer))),
        }
    }

    #[inline]
    fn push(&mut self, name: &[u8], community: u64, separator: u8, groups: &[u32]) -> Result<()> {
        match self {
            Self::Text(writer) => writer.push_path(name, community, separator, groups),
            Self::Table(writer) => writer.push(name, community, groups),
        }
    }

    fn finish(self) -> Result<u64> {
        match self {
            Self::Text(writer) => writer.finish(),
            Self::Table(writer) => writer.finish(),
        }
    }
}

/// Writes one line a node, in the order of the calls.
pub struct CommunityWriter {
    lines: LineWriter,
}

impl CommunityWriter {
    /// Starts `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path) -> Result<Self> {
        Ok(Self { lines: LineWriter::create(files, path)? })
    }

    /// Adds a node.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    #[inline]
    pub fn push(&mut self, name: &[u8], community: u32) -> Result<()> {
        self.push_number(name, u64::from(community))
    }

    /// Adds a node whose community may have a large number.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    #[inline]
    pub fn push_number(&mut self, name: &[u8], community: u64) -> Result<()> {
        self.push_path(name, community, b'\t', &[])
    }

    /// Adds a node with its community and the groups inside it, each after a `separator`.
    #[inline]
    fn push_path(
        &mut self,
        name: &[u8],
        community: u64,
        separator: u8,
        groups: &[u32],
    ) -> Result<()> {
        put_name(name, &mut self.lines.buffer);
        self.lines.bytes(b"\t").number(community);
        for &group in groups {
            self.lines.bytes(&[separator]).number(u64::from(group));
        }
        self.lines.end()
    }

    /// Writes the rest and gives the file its name. Gives its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn finish(self) -> Result<u64> {
        self.lines.finish()
    }
}

/// Writes one line a community: its number, a node that stands for it, how many nodes it has.
pub struct RepresentativeWriter {
    lines: LineWriter,
}

impl RepresentativeWriter {
    /// Starts `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path) -> Result<Self> {
        Ok(Self { lines: LineWriter::create(files, path)? })
    }

    /// Adds a community.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn push(&mut self, community: u64, name: &[u8], size: u64) -> Result<()> {
        self.lines.number(community).bytes(b"\t");
        put_name(name, &mut self.lines.buffer);
        self.lines.bytes(b"\t").number(size).end()
    }

    /// Writes the rest and gives the file its name. Gives its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn finish(self) -> Result<u64> {
        self.lines.finish()
    }
}

#[inline]
fn put_name(name: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr3(b'\t', b'\n', b'\r', name).is_none() && name.first() != Some(&b'"') {
        out.extend_from_slice(name);
        return;
    }
    out.push(b'"');
    for &byte in name {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Writes the community of every node: `for_each_name` calls back with the name of node 0, 1, 2, ...
/// Gives the length of the output in bytes.
///
/// # Errors
/// What `for_each_name` meets; `Io` or `DiskFull` with the path; `Interrupted`.
///
/// # Panics
/// If there are more names than labels.
pub fn write_communities(
    files: &Files,
    for_each_name: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    labels: &[u32],
    output: &Path,
    observer: &dyn Observer,
) -> Result<u64> {
    let number = |node: usize| Some(u64::from(labels[node]));
    write_numbers(files, for_each_name, labels.len(), number, output, observer)
}

/// As [`write_communities`], for `node_count` nodes whose communities `number` gives; nodes without
/// one are left out.
///
/// # Errors
/// As [`write_communities`].
///
/// # Panics
/// If there are more or fewer names than nodes.
pub fn write_numbers(
    files: &Files,
    for_each_name: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    node_count: usize,
    number: impl Fn(usize) -> Option<u64>,
    output: &Path,
    observer: &dyn Observer,
) -> Result<u64> {
    let mut nodes = 0..node_count;
    let number = || Ok(nodes.next().and_then(&number));
    let (count, groups) = (node_count as u64, |_: &mut Vec<u32>| Ok(()));
    let nodes = Nodes { count, number, groups, group_count: 0 };
    write_paths(files, for_each_name, nodes, b'\t', output, observer)
}

/// What is written of nodes.
pub(crate) struct Nodes<N, G> {
    /// How many there are.
    pub(crate) count: u64,
    /// The number of the next node's community; nodes without one are left out.
    pub(crate) number: N,
    /// Puts the groups of the next node into an empty list; called for each node in order.
    pub(crate) groups: G,
    /// How many a node has at most.
    pub(crate) group_count: usize,
}

/// As [`write_numbers`], with the groups inside communities, each after a `separator`.
///
/// # Errors
/// As [`write_communities`]; those of reading groups.
pub(crate) fn write_paths(
    files: &Files,
    for_each_name: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    nodes: Nodes<impl FnMut() -> Result<Option<u64>>, impl FnMut(&mut Vec<u32>) -> Result<()>>,
    separator: u8,
    output: &Path,
    observer: &dyn Observer,
) -> Result<u64> {
    let Nodes { count: total, number: mut next_number, groups: mut next_groups, group_count } =
        nodes;
    tell(observer, Event::Begin { stage: Stage::Write, total: Some(total), unit: "nodes" })?;
    let mut writer = Rows::create(files, output, group_count, separator)?;
    let (mut done, mut groups) = (0u64, Vec::new());
    for_each_name(&mut |name| {
        groups.clear();
        next_groups(&mut groups)?;
        if let Some(number) = next_number()? {
            writer.push(name, number, separator, &groups)?;
        }
        done += 1;
        if done.is_multiple_of(REPORT_NODES) {
            tell(observer, Event::Advance { done })?;
        }
        Ok(())
    })?;
    assert_eq!(done, total, "every label has a name");
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use crate::progress::Silent;
    use std::sync::Arc;

    fn written(names: &[&[u8]], labels: &[u32]) -> Vec<u8> {
        let sim = Sim::default();
        let files = Files::new(Arc::new(sim.clone()));
        let each = |write: &mut dyn FnMut(&[u8]) -> Result<()>| {
            names.iter().try_for_each(|name| write(name))
        };
        let path = Path::new("communities.tsv");
        let bytes = write_communities(&files, each, labels, path, &Silent).unwrap();
        let text = files.read(path).unwrap();
        assert_eq!(bytes, text.len() as u64);
        text
    }

    #[test]
    fn one_line_a_node() {
        let text = written(&[b"a", b"node 2", "ä".as_bytes()], &[0, 4_294_967_295, 7]);
        assert_eq!(text, "a\t0\nnode 2\t4294967295\nä\t7\n".as_bytes());
        assert_eq!(written(&[], &[]), b"");
    }

    #[test]
    fn names_that_would_break_the_table_are_quoted() {
        let text = written(&[b"a\tb", b"c\nd\"", b"5\"", b"\"x\"", b"\r"], &[0, 1, 2, 3, 4]);
        assert_eq!(text, b"\"a\tb\"\t0\n\"c\nd\"\"\"\t1\n5\"\t2\n\"\"\"x\"\"\"\t3\n\"\r\"\t4\n");
    }

    #[test]
    fn outputs_larger_than_the_buffer_are_whole() {
        let names: Vec<Vec<u8>> =
            (0..200_000).map(|i| format!("node{i:07}").into_bytes()).collect();
        let borrowed: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let labels: Vec<u32> = (0..200_000).map(|i| i / 7).collect();
        let expected: String = (0..200_000).map(|i| format!("node{i:07}\t{}\n", i / 7)).collect();
        assert_eq!(written(&borrowed, &labels), expected.as_bytes());
        let long = vec![b'"'; 65_535];
        assert_eq!(written(&[&long], &[1]).len(), 2 * 65_535 + 2 + 3);
    }

    #[test]
    fn three_decimals_are_those_of_the_standard_library() {
        let files = Files::new(Arc::new(Sim::default()));
        let mut lines = LineWriter::create(&files, Path::new("numbers")).unwrap();
        let mut numbers = vec![0.0, -0.0, -1.5, 0.0005, 0.0015, 0.0025, 1.0005, 999.9995, 1e-300];
        numbers.extend([0.1235, 1e9, 1e12, 2e15, 1e300, f64::NAN, f64::INFINITY, f64::MIN]);
        numbers.extend((0..20_000u32).map(|i| f64::from(i) / 1000.0));
        numbers.extend((0..20_000u32).map(|i| f64::from(i) / 2000.0 + 1e-13));
        numbers
            .extend((0..20_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x2545_F491_4F6C_DD1D))));
        let mut expected = String::new();
        for number in numbers {
            lines.thousandths(number).end().unwrap();
            expected += &format!("{number:.3}\n");
        }
        lines.finish().unwrap();
        assert_eq!(files.read(Path::new("numbers")).unwrap(), expected.as_bytes());
    }

    #[test]
    fn an_error_leaves_no_file_behind() {
        let sim = Sim::default();
        let files = Files::new(Arc::new(sim.clone()));
        let mut writer = CommunityWriter::create(&files, Path::new("out")).unwrap();
        writer.push(b"a", 1).unwrap();
        drop(writer);
        assert!(sim.paths().is_empty());
        check(&files, Path::new("out")).unwrap();
        assert!(sim.paths().is_empty());
    }
}
