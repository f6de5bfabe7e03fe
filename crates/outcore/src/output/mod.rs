//! Outputs: files that appear under their names only when they are complete, lines of text, and rows of columns.
//!
//! Standard output (`-`), pipes and devices cannot be renamed at the end, so they are written as a stream. The ending of a
//! name selects the [`mod@format`]; [`rows`] have typed columns, and are text or a table. Text with more than two
//! columns begins with their names, so what has no header is a node and its community.

#[cfg(feature = "tables")]
mod columns;
mod encode;
pub(crate) mod format;
mod members;
mod paths;
mod rows;

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, SMALL_BUFFER_BYTES, Writer};
pub(crate) use encode::{Encoding, check_names};
pub(crate) use format::{ExportFormat, ModuleForm, RowFormat};
pub use format::{Written, table_endings};
pub(crate) use members::MemberLines;
pub use paths::Paths;
pub(crate) use rows::{OutputColumn, RowFile, RowWriter, Value, ValueKind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of buffers: one is filled while the others are written.
const BUFFER_COUNT: usize = 4;
/// Bytes of lines collected before they are written to the sink; few enough to stay in the processor's cache.
const LINES_BYTES: usize = 32 << 10;
/// Capacity for lines, including the longest possible name: 65,535 bytes, all of them quotes.
const LINES_CAPACITY: usize = LINES_BYTES + (160 << 10);

/// Output that is a file, absent until it is complete, or a stream.
pub(crate) enum Sink {
    File(Box<Writer>),
    Stream { inner: Box<dyn Write + Send>, path: PathBuf, written: u64 },
}

impl Sink {
    /// Creates the output `path`, which may be `-`, a pipe or a device.
    pub(crate) fn create(files: &Files, path: &Path) -> Result<Self> {
        if is_stream(files, path)? {
            let inner = files.create_stream(path)?;
            return Ok(Self::Stream { inner, path: path.to_path_buf(), written: 0 });
        }
        let writer = Writer::create(files, path, SMALL_BUFFER_BYTES, BUFFER_COUNT);
        writer
            .map(|writer| Self::File(Box::new(writer)))
            .map_err(|error| cannot_create(files, path, error))
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

    /// Finishes the file and returns its length in bytes.
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
    // A name with a trailing slash is never a file, whether or not the directory exists.
    let names_directory = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match files.entry(path) {
        _ if names_directory => Err(Error::io("write", path, io::ErrorKind::IsADirectory.into())),
        Ok(entry) if entry.is_directory => {
            Err(Error::io("write", path, io::ErrorKind::IsADirectory.into()))
        }
        Ok(_) => Ok(!files.is_regular(path)),
        Err(_) => Ok(false),
    }
}

/// Checks that `path` can be written, so that a wrong path fails before the work. Leaves nothing behind.
///
/// # Errors
/// `Io` with the path.
pub fn check(files: &Files, path: &Path) -> Result<()> {
    if is_stream(files, path)? {
        return Ok(());
    }
    Writer::create(files, path, 1, 1).map(drop).map_err(|e| cannot_create(files, path, e))
}

/// Returns an error that names the path that the user typed, instead of the temporary file named by `error`.
fn cannot_create(files: &Files, path: &Path, error: Error) -> Error {
    let source = std::error::Error::source(&error).and_then(|e| e.downcast_ref::<io::Error>());
    let Some(source) = source else { return error };
    let kind = source.kind();
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if kind == io::ErrorKind::NotFound && files.entry(parent).is_err() => {
            let (path, parent) = (path.display(), parent.display());
            let message = format!("cannot create `{path}`: there is no directory `{parent}`");
            Error::new(ErrorKind::Io, message).hint(format!("use `mkdir -p {parent}` first"))
        }
        _ => {
            let same = source.raw_os_error().map(io::Error::from_raw_os_error);
            Error::io("create", path, same.unwrap_or(kind.into()))
        }
    }
}

/// Writer of text lines: the parts of a line are appended, then the line is ended.
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
    /// Starts writing `path`; `-` is standard output.
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
        /// Bound on the rounding error of the product with 1,000, for numbers below [`LIMIT`].
        const DOUBT: f64 = 1.0 / (1 << 12) as f64;
        const LIMIT: f64 = (1u64 << 40) as f64;
        let scaled = number * 1000.0;
        let is_clear = (scaled - scaled.floor() - 0.5).abs() > DOUBT;
        if !(is_clear && number.is_sign_positive() && scaled < LIMIT) {
            // Writing to a vector cannot fail.
            let _ = write!(self.buffer, "{number:.3}");
            return self;
        }
        let rounded = (scaled + 0.5) as u64;
        let (whole, rest) = (rounded / 1000, (rounded % 1000) as u32);
        self.number(whole);
        let digit = |value: u32| b'0' + (value % 10) as u8;
        self.bytes(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)])
    }

    /// Appends a sum of weights with six digits, the precision of weights.
    pub fn weight(&mut self, weight: f64) -> &mut Self {
        let rounded = six_digits(weight);
        // Writing to a vector cannot fail.
        let _ = match rounded == 0.0 || (1e-5..1e15).contains(&rounded) {
            true => write!(self.buffer, "{rounded}"),
            false => write!(self.buffer, "{rounded:e}"),
        };
        self
    }

    /// Appends a name, quoted if it would break the format.
    #[inline]
    pub(crate) fn name(&mut self, name: &[u8]) -> &mut Self {
        encode::put_text_name(name, &mut self.buffer);
        self
    }

    /// Writes the buffered text to the sink once it is long enough, even within a line.
    fn flush_if_full(&mut self) -> Result<()> {
        if self.buffer.len() < LINES_BYTES { Ok(()) } else { self.flush() }
    }

    /// Ends the line.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    #[inline]
    pub fn end(&mut self) -> Result<()> {
        self.buffer.push(b'\n');
        self.flush_if_full()
    }

    fn flush(&mut self) -> Result<()> {
        self.sink.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.sink.finish()
    }
}

/// Rounds a number to six digits.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    fn written(names: &[&[u8]], numbers: &[u64]) -> Vec<u8> {
        let files = Files::new(Arc::new(Sim::default()));
        let path = Path::new("communities.tsv");
        let mut lines = LineWriter::create(&files, path).unwrap();
        for (name, &number) in names.iter().zip(numbers) {
            lines.name(name).bytes(b"\t").number(number).end().unwrap();
        }
        let bytes = lines.finish().unwrap();
        let text = files.read(path).unwrap();
        assert_eq!(bytes, text.len() as u64);
        text
    }

    #[test]
    fn names_that_would_break_the_format_are_quoted() {
        let text = written(&[b"a\tb", b"c\nd\"", b"5\"", b"\"x\"", b"\r"], &[0, 1, 2, 3, 4]);
        assert_eq!(text, b"\"a\tb\"\t0\n\"c\nd\"\"\"\t1\n5\"\t2\n\"\"\"x\"\"\"\t3\n\"\r\"\t4\n");
        let text = written(&["ä".as_bytes(), b"node 2"], &[4_294_967_295, 7]);
        assert_eq!(text, "ä\t4294967295\nnode 2\t7\n".as_bytes());
        assert_eq!(written(&[], &[]), b"");
    }

    #[test]
    fn outputs_larger_than_the_buffer_are_complete() {
        let names: Vec<Vec<u8>> =
            (0..200_000).map(|i| format!("node{i:07}").into_bytes()).collect();
        let borrowed: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let numbers: Vec<u64> = (0..200_000).map(|i| i / 7).collect();
        let expected: String = (0..200_000).map(|i| format!("node{i:07}\t{}\n", i / 7)).collect();
        assert_eq!(written(&borrowed, &numbers), expected.as_bytes());
        let long = vec![b'"'; 65_535];
        assert_eq!(written(&[&long], &[1]).len(), 2 * 65_535 + 2 + 3);
    }

    #[test]
    fn three_decimals_match_the_standard_library() {
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
    fn weights_have_six_digits() {
        let files = Files::new(Arc::new(Sim::default()));
        let mut lines = LineWriter::create(&files, Path::new("weights")).unwrap();
        for weight in [0.0, 0.1 + 0.2, 3.0, 1e6 / 3.0, 123_456_789.0, 2e-7, 1e300, 1e14] {
            lines.weight(weight).end().unwrap();
        }
        lines.finish().unwrap();
        let text = b"0\n0.3\n3\n333333\n123457000\n2e-7\n1e300\n100000000000000\n";
        assert_eq!(files.read(Path::new("weights")).unwrap(), text);
    }

    #[test]
    fn an_error_leaves_no_file_behind() {
        let sim = Sim::default();
        let files = Files::new(Arc::new(sim.clone()));
        let mut writer = LineWriter::create(&files, Path::new("out")).unwrap();
        writer.bytes(b"a\t1").end().unwrap();
        drop(writer);
        assert!(sim.paths().is_empty());
        check(&files, Path::new("out")).unwrap();
        assert!(sim.paths().is_empty());
    }
}
