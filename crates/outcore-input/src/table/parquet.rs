//! Parquet: dedicated threads decode row groups in parallel, page by page; they are passed on in file order.
//!
//! A page is the smallest unit that can be decoded, so pages determine the memory. The header of each page gives its
//! length; a page longer than planned is an error before it is read. The library `parquet` decodes pages. Format:
//! <https://parquet.apache.org/docs/file-format/>.

use super::values::UUID;
use super::{Input, TableReader, TableRows, caught, damaged};
use crate::fault::bad_input;
use crate::format::foreign::{DECRYPT, ENCRYPTED_PARQUET};
use crate::sink::{ChunkSender, Message, Progress, Sink};
use arrow_array::RecordBatchReader;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crossbeam_channel::{Receiver, bounded};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::format_bytes;
use outcore_io::{Files, Mode, StoredFile};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::TypePtr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows decoded at a time.
const DECODED_ROWS: usize = 8192;
/// Chunks per thread that wait for their turn.
const WAITING: usize = 8;
/// Minimum size planned for a page.
const PAGE_BYTES_MIN: u64 = 256 << 10;
/// Pages of a column that are in memory at the same time: its dictionary, the one being decoded, and the previous one,
/// which a batch still refers to. One more page over all columns is being unpacked.
const PAGES_HELD: u64 = 3;
/// Maximum number of bytes read of a page's header.
const HEADER_BYTES: usize = 1 << 10;

/// Last bytes of a file whose metadata are encrypted.
const ENCRYPTED_MAGIC: &[u8; 4] = b"PARE";

/// Bytes of a file as the library requests them, with a check of page lengths.
#[derive(Clone)]
struct Pages {
    file: Arc<StoredFile>,
    bytes: u64,
    /// Longest page so far, packed or unpacked.
    longest: Arc<AtomicU64>,
    /// Maximum length of a page.
    limit: u64,
    /// Failure that the library cannot report as such.
    failure: Arc<Mutex<Option<Error>>>,
}

impl Pages {
    fn open(files: &Files, path: &Path) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let bytes = file.bytes()?;
        Ok(Self {
            file: Arc::new(file),
            bytes,
            longest: Arc::default(),
            limit: u64::MAX,
            failure: Arc::default(),
        })
    }

    /// Refuses a file whose metadata are encrypted, according to its last bytes.
    fn refuse_encrypted(&self) -> Result<()> {
        let mut end = [0; ENCRYPTED_MAGIC.len()];
        let at = self.bytes.saturating_sub(end.len() as u64);
        self.file.read_at(at, &mut end)?;
        if end != *ENCRYPTED_MAGIC {
            return Ok(());
        }
        Err(bad_input(self.file.path(), &format!("is {ENCRYPTED_PARQUET}")).hint(DECRYPT))
    }

    /// Stores `error`, and returns one for the library.
    fn fail(&self, error: Error) -> ParquetError {
        let text = error.to_string();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        ParquetError::General(text)
    }

    /// Converts an error from the library: to the stored failure, or to an error about the data.
    fn error(&self, error: impl std::fmt::Display) -> Error {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.unwrap_or_else(|| damaged(self.file.path(), error))
    }

    /// Checks a page header: a Thrift structure whose first three fields are numbers, the kind of the page and its two
    /// lengths. Anything else is left to the library.
    fn watch(&self, head: &[u8]) -> std::result::Result<(), ParquetError> {
        let mut at = 0;
        let mut fields = [0i64; 3];
        for field in &mut fields {
            // The next field, a 32-bit number.
            if head.get(at) != Some(&0x15) {
                return Ok(());
            }
            at += 1;
            let (mut value, mut shift) = (0u64, 0);
            while let Some(&byte) = head.get(at) {
                at += 1;
                value |= u64::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 || shift > 28 {
                    break;
                }
            }
            *field = (value >> 1) as i64 ^ -((value & 1) as i64);
        }
        let longest = fields[1].max(fields[2]).max(0) as u64;
        self.longest.fetch_max(longest, Relaxed);
        if longest <= self.limit {
            return Ok(());
        }
        let (path, found) = (self.file.path().display(), format_bytes(longest));
        let limit = format_bytes(self.limit);
        let message = format!("`{path}` has a page of {found}, more than the expected {limit}");
        Err(self.fail(
            Error::new(ErrorKind::BadInput, message).hint("write it again with smaller pages"),
        ))
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Pages {
    type T = BufReader<PagesFrom>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let from = PagesFrom { pages: self.clone(), at: start };
        let mut reader = BufReader::with_capacity(HEADER_BYTES, from);
        let head = reader.fill_buf().map_err(ParquetError::from)?;
        self.watch(head)?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF("it ends too early".into()));
        }
        let mut into = vec![0; length];
        match self.file.read_at(start, &mut into) {
            Ok(found) if found == length => Ok(into.into()),
            Ok(_) => Err(ParquetError::EOF("it ends too early".into())),
            Err(error) => Err(self.fail(error)),
        }
    }
}

struct PagesFrom {
    pages: Pages,
    at: u64,
}

impl Read for PagesFrom {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.pages.file.read_at(self.at, into) {
            Ok(count) => {
                self.at += count as u64;
                Ok(count)
            }
            Err(error) => Err(std::io::Error::other(self.pages.fail(error))),
        }
    }
}

/// Rows of a file, and the plan for decoding them.
pub(super) struct ParquetTable {
    row_count: u64,
    workers: usize,
    page_limit: u64,
    /// Maximum memory needed.
    held_bytes: u64,
}

/// File whose metadata was read.
pub(super) struct ParquetFile {
    pages: Pages,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    /// Reads the metadata of a file.
    pub(super) fn open(files: &Files, path: &Path) -> Result<Self> {
        let pages = Pages::open(files, path)?;
        pages.refuse_encrypted()?;
        // Arrow types that the writing program stored are ignored.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = caught(path, || {
            let load = |options| ArrowReaderMetadata::load(&pages, options);
            let metadata = load(options.clone()).map_err(|error| pages.error(error))?;
            let options = options.with_schema(views(metadata.schema()));
            ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
                .map_err(|error| pages.error(error))
        })?;
        Ok(Self { pages, metadata })
    }

    /// Returns the schema, with UUIDs marked as in Arrow.
    pub(super) fn schema(&self) -> SchemaRef {
        let schema = self.metadata.schema();
        let stored = self.metadata.parquet_schema().root_schema().get_fields();
        let marked = |(field, stored): (&Arc<Field>, &TypePtr)| {
            let mut field = field.as_ref().clone();
            if stored.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid) {
                field.metadata_mut().insert(EXTENSION_TYPE_NAME_KEY.to_owned(), UUID.to_owned());
            }
            field
        };
        let fields: Vec<Field> = schema.fields().iter().zip(stored).map(marked).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Returns the number of rows in all groups.
    pub(super) fn row_count(&self) -> u64 {
        self.groups().iter().fold(0, |sum, rows| rows.saturating_add(sum))
    }

    /// Returns the number of rows in each group.
    fn groups(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups();
        groups.iter().map(|group| group.num_rows().max(0) as u64).collect()
    }

    fn mask(&self, projection: &[usize]) -> ProjectionMask {
        ProjectionMask::roots(self.metadata.parquet_schema(), projection.iter().copied())
    }

    /// Returns the length of the longest page in the largest chunk of each column of `projection`.
    fn page_bytes(&self, projection: &[usize]) -> Result<u64> {
        let pages = Pages { longest: Arc::default(), ..self.pages.clone() };
        let mask = self.mask(projection);
        let groups = self.metadata.metadata().row_groups();
        let columns = self.metadata.parquet_schema().num_columns();
        for column in (0..columns).filter(|&column| mask.leaf_included(column)) {
            let largest =
                groups.iter().max_by_key(|group| group.column(column).uncompressed_size());
            let Some(group) = largest else { continue };
            let rows = group.num_rows().max(0) as usize;
            caught(pages.file.path(), || {
                let chunk = group.column(column);
                let mut reader =
                    SerializedPageReader::new(Arc::new(pages.clone()), chunk, rows, None)
                        .map_err(|error| pages.error(error))?;
                while reader.peek_next_page().map_err(|error| pages.error(error))?.is_some() {
                    reader.skip_next_page().map_err(|error| pages.error(error))?;
                }
                Ok(())
            })?;
        }
        Ok(pages.longest.load(Relaxed).max(PAGE_BYTES_MIN))
    }

    /// Plans decoding with at most `workers` threads, as many as fit in `room`, but at least one.
    pub(super) fn plan(
        &self,
        projection: &[usize],
        workers: usize,
        room: u64,
    ) -> Result<ParquetTable> {
        // Pages may be a little longer than those examined.
        let page_bytes = self.page_bytes(projection)?;
        let page_limit = page_bytes + page_bytes / 4;
        let worker_bytes = (PAGES_HELD * projection.len() as u64 + 1) * page_limit;
        let most = workers.min(self.groups().len()).max(1);
        let workers = ((room / worker_bytes) as usize).clamp(1, most);
        let described = self.metadata.metadata().memory_size() as u64;
        let held_bytes = described + workers as u64 * worker_bytes;
        Ok(ParquetTable { row_count: self.row_count(), workers, page_limit, held_bytes })
    }

    /// Announces which bytes of the file will be read for a group.
    fn will_read(&self, group: usize, projection: &[usize]) {
        let mask = self.mask(projection);
        let columns = self.metadata.metadata().row_group(group).columns();
        for (_, column) in columns.iter().enumerate().filter(|&(at, _)| mask.leaf_included(at)) {
            let (start, bytes) = column.byte_range();
            self.pages.file.will_read(start..start.saturating_add(bytes));
        }
    }

    /// Returns the batches of one group, after `skipped` rows.
    fn batches(
        &self,
        group: usize,
        skipped: u64,
        projection: &[usize],
    ) -> Result<impl RecordBatchReader + use<>> {
        let metadata = self.metadata.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.pages.clone(), metadata)
            .with_row_groups(vec![group])
            .with_projection(self.mask(projection))
            .with_batch_size(DECODED_ROWS)
            .with_offset(skipped as usize)
            .build()
            .map_err(|error| self.pages.error(error))
    }
}

/// Returns the schema with text as views, which refer to pages instead of copying them.
fn views(schema: &Schema) -> SchemaRef {
    let as_view = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        DataType::Binary => Arc::new(field.as_ref().clone().with_data_type(DataType::BinaryView)),
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(as_view).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

impl TableRows for ParquetTable {
    fn name(&self) -> &'static str {
        "Parquet"
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.row_count)
    }

    fn schema(&self, files: &Files, path: &Path, _: &mut Input) -> Result<Option<SchemaRef>> {
        Ok(Some(ParquetFile::open(files, path)?.schema()))
    }

    /// Reads the file from the row on where `reader` begins.
    fn read(&self, reader: &TableReader<'_>, _: Option<Input>, sink: Sink<'_>) -> Progress {
        let path = reader.task.path;
        let mut file = ParquetFile::open(reader.task.files, path)?;
        file.pages.limit = self.page_limit;
        let (rows, workers) = (file.groups(), self.workers);
        let decoder = ParquetDecoder { reader, file: &file, rows: &rows };
        std::thread::scope(|scope| {
            let (recycle, recycled) = bounded(2 * WAITING * workers);
            let channels: Vec<Receiver<Message>> = (0..workers)
                .map(|worker| {
                    let (to, from_worker) = bounded(WAITING);
                    let (decoder, recycled) = (&decoder, recycled.clone());
                    scope.spawn(move || {
                        let mut sender = ChunkSender { to, recycled };
                        decoder.run(worker, workers, &mut sender);
                    });
                    from_worker
                })
                .collect();
            for group in 0..rows.len() {
                loop {
                    match channels[group % workers].recv() {
                        Ok(Message::Chunk(chunk)) => {
                            sink.take(chunk)?;
                            let _ = recycle.try_send(sink.spare());
                        }
                        Ok(Message::End(Ok(_))) => break,
                        Ok(Message::End(Err(error))) => return Err(error.into()),
                        Err(_) => {
                            return Err(damaged(path, "a thread that reads it stopped").into());
                        }
                    }
                }
            }
            Ok(())
        })
    }
}

struct ParquetDecoder<'a> {
    reader: &'a TableReader<'a>,
    file: &'a ParquetFile,
    rows: &'a [u64],
}

impl ParquetDecoder<'_> {
    /// Decodes every `workers`-th group, starting with `worker`. Stops early if nobody is receiving.
    fn run(&self, worker: usize, workers: usize, sender: &mut ChunkSender) {
        let mut first_row = 0;
        for (group, &rows) in self.rows.iter().enumerate() {
            if group % workers == worker {
                let path = self.reader.task.path;
                let made = caught(path, || self.decode(group, first_row, sender));
                if !sender.end(made.map(|()| 0)) {
                    return;
                }
            }
            first_row = rows.saturating_add(first_row);
        }
    }

    fn decode(&self, group: usize, first_row: u64, sender: &mut ChunkSender) -> Progress {
        let rows = self.rows[group];
        let skipped = self.reader.task.begin.byte.saturating_sub(first_row).min(rows);
        if skipped == rows {
            return Ok(());
        }
        let total = self.file.row_count();
        let mut row = first_row + skipped;
        let projection = &self.reader.projection;
        self.file.will_read(group, projection);
        let batches = self.file.batches(group, skipped, projection)?;
        let order = order_of(projection);
        for batch in batches {
            let batch = batch.map_err(|error| self.file.pages.error(error))?;
            let batch = batch.project(&order).map_err(|error| self.file.pages.error(error))?;
            let first = row;
            row += batch.num_rows() as u64;
            let read = self.reader.bytes as f64 * (row as f64 / total as f64).min(1.0);
            let done = self.reader.task.done_bytes + read as u64;
            self.reader.convert(&batch, first, done, sender)?;
        }
        if row - first_row != rows {
            let message = format!("row group {group} does not have the number of rows it declares");
            return Err(damaged(self.reader.task.path, message).into());
        }
        Ok(())
    }
}

/// Returns the position of each column of `projection` in a batch of the library, which has them in file order.
fn order_of(projection: &[usize]) -> Vec<usize> {
    let before = |at: usize| projection.iter().filter(|&&other| other < at).count();
    projection.iter().map(|&at| before(at)).collect()
}
