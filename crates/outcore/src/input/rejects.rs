//! Rejects file: every skipped line with its place and the reason, as tab-separated text.
//!
//! Columns: `path line column byte kind reason text`. Control characters, backslashes and bytes that are not UTF-8 are
//! escaped. The file appears under its name when it is complete; a pipe or a device is written as lines come.

use super::fault::escape;
use crate::checkpoint::StateWriter;
use crate::error::{Error, Place, Result};
use crate::io::{Files, Grows, SMALL_BUFFER_BYTES, Sealed, Writer};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

enum RejectSink {
    File(Box<Writer>),
    Stream(Box<dyn std::io::Write + Send>),
}

/// A rejects file being written.
pub(super) struct Rejects {
    sink: RejectSink,
    path: PathBuf,
    row: String,
}

impl Rejects {
    pub(super) fn create(files: &Files, path: &Path) -> Result<Self> {
        let is_special = path == Path::new("-")
            || files.entry(path).is_ok_and(|entry| !entry.is_directory) && !files.is_regular(path);
        let sink = if is_special {
            RejectSink::Stream(files.create_stream(path)?)
        } else {
            RejectSink::File(Box::new(Writer::create(files, path, SMALL_BUFFER_BYTES, 1)?.hashed()))
        };
        let row = "path\tline\tcolumn\tbyte\tkind\treason\ttext\n".to_string();
        let mut rejects = Self { sink, path: path.to_path_buf(), row };
        rejects.write()?;
        Ok(rejects)
    }

    /// Like [`Writer::resume`].
    pub(crate) fn resume(files: &Files, path: &Path, saved: Sealed) -> Result<Self> {
        let buffers = (SMALL_BUFFER_BYTES, 1);
        let writer = Writer::resume(files, path, Grows::Beside, saved.bytes, buffers)?;
        let writer = writer.checked(saved)?;
        let (sink, path) = (RejectSink::File(Box::new(writer)), path.to_path_buf());
        Ok(Self { sink, path, row: String::new() })
    }

    /// Like [`Writer::checkpoint`]; returns `None` if rejects go to a pipe or a device.
    pub(crate) fn save(&mut self, to: &mut StateWriter) -> Result<Option<Sealed>> {
        let RejectSink::File(writer) = &mut self.sink else { return Ok(None) };
        let saved = writer.checkpoint()?;
        to.need_growing(&self.path, Grows::Beside, saved.bytes);
        Ok(Some(saved))
    }

    /// Returns whether the rejects can be resumed.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.sink, RejectSink::File(_))
    }

    /// Appends one line.
    pub(super) fn push(
        &mut self,
        place: &Place,
        kind: &str,
        reason: &str,
        line: &[u8],
    ) -> Result<()> {
        self.row.clear();
        escape(place.path.as_os_str().as_encoded_bytes(), &mut self.row);
        // Writing to a string cannot fail.
        let _ = write!(
            self.row,
            "\t{}\t{}\t{}\t{kind}\t{reason}\t",
            place.line, place.column, place.byte
        );
        escape(line, &mut self.row);
        self.row.push('\n');
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        match &mut self.sink {
            RejectSink::File(writer) => writer.write(self.row.as_bytes()),
            RejectSink::Stream(stream) => stream
                .write_all(self.row.as_bytes())
                .map_err(|error| Error::io("write", &self.path, error)),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.sink {
            RejectSink::File(writer) => writer.finish().map(drop),
            RejectSink::Stream(mut stream) => {
                stream.flush().map_err(|error| Error::io("write", &self.path, error))
            }
        }
    }
}
