//! Tables to parsed chunks: Parquet and Arrow IPC files, Arrow streams of the caller.
//!
//! ```text
//!  Parquet --row groups in parallel, page by page--.
//!  Arrow IPC --message by message-------------------+--> columns of some rows --> names, weights
//!  a stream in memory ------------------------------'
//! ```
//!
//! The libraries of Apache Arrow decode the formats. This module determines the roles of the columns, how much of a
//! table is in memory, and how rows that are not edges are handled. A place in a table is a row, from 1, and a column.
//! Memory: that of [`chunks`](super::chunks), and [`TableFormat::held_bytes`]. Cost: about 20 ns of one core for a row
//! of two short names and a weight.

mod columns;
mod ipc;
mod parquet;
mod values;

use super::chunk::{LineFault, Origin, Problem, TableCell};
use super::decompress::Input;
use super::fault::{bad_input, escape, of_distance_zero};
use super::format::names::{self, Chosen, ColumnChoice, ColumnKind, NamedColumns};
use super::format::recognize::question::{self, ColumnView};
use super::format::understood::{self, ColumnUse, Roles};
use super::format::{check_distinct, kinds_of, twice};
use super::options::{Column, EdgeFormat, InputOptions, Rows};
use super::sink::{
    ARROW_MAGIC, ChunkSink, DecodeRoom, PARQUET_MAGIC, Progress, ROW_BYTES, SAMPLED_CHUNK_BYTES,
    STREAM_NAME, SampleSink, is_arrow, is_whole,
};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::Schema;
use columns::Columns;
use outcore_graph::weight::WeightTransform;
use outcore_io::Files;
use outcore_io::error::opt::{IGNORE_WEIGHTS, ON_BAD_LINE};
use outcore_io::error::{Error, ErrorKind, Place, Result, Text};
use outcore_io::units::format_count;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Table that the caller has in memory or creates while it is read, batch by batch. It can be read only once.
#[derive(Clone)]
pub struct TableStream(Arc<Mutex<Option<Box<dyn RecordBatchReader + Send>>>>);

impl TableStream {
    /// Creates a stream of `batches`.
    pub fn new(batches: Box<dyn RecordBatchReader + Send>) -> Self {
        Self(Arc::new(Mutex::new(Some(batches))))
    }

    fn schema(&self) -> Option<Arc<Schema>> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.as_ref().map(|batches| batches.schema())
    }

    fn take(&self) -> Option<Box<dyn RecordBatchReader + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for TableStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableStream")
    }
}

impl PartialEq for TableStream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TableStream {}

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableKind {
    Parquet,
    ArrowIpc,
    Stream,
}

/// Table and the roles of its columns.
#[derive(Debug, Clone)]
pub(crate) struct TableFormat {
    kind: TableKind,
    /// Columns, from 0, and their names: source, target and, if there is one, weight.
    columns: Vec<(usize, String)>,
    /// Whether source and target are UUIDs.
    uuids: [bool; 2],
    /// Prefixes of the names of sources and targets, if they are nodes of two kinds.
    kinds: Option<[String; 2]>,
    /// Description of the use of all columns.
    roles: String,
    transform: WeightTransform,
    rows: Rows,
    /// Maximum memory that decoding holds, in addition to chunks.
    held_bytes: u64,
    /// Plan for decoding Parquet.
    plan: Option<parquet::DecodePlan>,
    row_count: Option<u64>,
}

impl TableFormat {
    /// Detects the format of `path` by its first bytes, if it is a table.
    ///
    /// # Errors
    /// `BadInput` for a damaged file, or if its columns cannot be used.
    pub(crate) fn detect(
        files: &Files,
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
        room: DecodeRoom,
    ) -> Result<Option<Self>> {
        let is_compressed = input.is_compressed();
        let (head, _) = input.peek(ARROW_MAGIC.len())?;
        if head.starts_with(PARQUET_MAGIC) {
            if is_compressed || !files.is_regular(path) {
                let message = "is Parquet, which is read from its end: it must be a file, not \
                               compressed as a whole";
                return Err(
                    bad_input(path, message).hint("write it to a file, or unpack it, first")
                );
            }
            let opened = parquet::ParquetFile::open(files, path)?;
            let mut format = Self::of(TableKind::Parquet, &opened.schema(), path, options)?;
            let plan = opened.plan(&format.projection(), room.workers, room.bytes)?;
            (format.plan, format.held_bytes) = (Some(plan), plan.held_bytes);
            format.row_count = Some(opened.row_count());
            return Ok(Some(format));
        }
        if !is_arrow(head) {
            return Ok(None);
        }
        let beginning = ipc::Beginning::peek(input, path)?;
        let schema = beginning.schema(input, path)?;
        let mut format = Self::of(TableKind::ArrowIpc, &schema, path, options)?;
        format.held_bytes = ipc::held_bytes(files, path, input, &beginning)?;
        Ok(Some(format))
    }

    /// Returns the format of a stream.
    pub(crate) fn of_stream(stream: &TableStream, options: &InputOptions) -> Result<Self> {
        let path = Path::new(STREAM_NAME);
        let read = || Error::new(ErrorKind::Usage, "the table can be read only once");
        let schema = stream.schema().ok_or_else(read)?;
        Self::of(TableKind::Stream, &schema, path, options)
    }

    /// Returns the uses of the columns of the file at `path`.
    ///
    /// # Errors
    /// Like [`TableFormat::detect`].
    pub(crate) fn uses(
        &self,
        files: &Files,
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
    ) -> Result<Vec<ColumnUse>> {
        let schema = match self.kind {
            TableKind::Parquet => parquet::ParquetFile::open(files, path)?.schema(),
            _ => Arc::new(ipc::Beginning::peek(input, path)?.schema(input, path)?),
        };
        let (columns, two_mode) = choose_columns(&schema, path, options)?;
        let (names, kinds) = (names_of(&schema), kinds_of_columns(&schema));
        let choice = named_columns(&names, &kinds, options).choose();
        let known = choice.chosen();
        let chosen = Chosen {
            source: columns[0].0,
            target: columns[1].0,
            weight: columns.get(2).map(|(at, _)| *at),
            by_name: known.is_some_and(|known| known.by_name),
            format: known.and_then(|known| known.format),
            two_mode,
        };
        let types = types_of(&schema);
        let types = [types.iter().map(String::as_bytes).collect()];
        let view = view_of(&names, &kinds, &types, &choice);
        Ok(understood::uses(&view, &chosen, options.columns.is_some()))
    }

    fn of(kind: TableKind, schema: &Schema, path: &Path, options: &InputOptions) -> Result<Self> {
        let (columns, two_mode) = choose_columns(schema, path, options)?;
        let names = names_of(schema);
        let prefixes = two_mode.then(|| kinds_of([0, 1].map(|at| columns[at].1.as_bytes())));
        let roles = Roles {
            names: &names,
            count: names.len(),
            source: columns[0].0,
            target: columns.get(1).map_or(columns[0].0, |(at, _)| *at),
            weight: columns.get(2).map(|(at, _)| *at),
            transform: options.weight_transform,
        };
        Ok(Self {
            kind,
            uuids: [0, 1].map(|part| {
                columns.get(part).is_some_and(|(at, _)| values::is_uuid(schema.field(*at)))
            }),
            roles: roles.text(),
            columns,
            kinds: prefixes,
            transform: options.weight_transform,
            rows: options.rows,
            held_bytes: 0,
            plan: None,
            row_count: None,
        })
    }

    /// Returns whether rows are nodes.
    pub(crate) fn is_of_nodes(&self) -> bool {
        self.rows == Rows::Nodes
    }

    /// Returns whether rows have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.columns.len() == 3
    }

    /// Returns the prefixes of names of sources and targets, if they are nodes of two kinds.
    pub(crate) fn kinds(&self) -> Option<&[String; 2]> {
        self.kinds.as_ref()
    }

    /// Returns the maximum memory that decoding holds, in addition to chunks.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Returns the number of rows, if the file declares it.
    pub(crate) fn row_count(&self) -> Option<u64> {
        self.row_count
    }

    /// Returns the name of the format.
    pub(crate) fn kind(&self) -> &'static str {
        match self.kind {
            TableKind::Parquet => "Parquet",
            TableKind::ArrowIpc => "Arrow IPC",
            TableKind::Stream => "Arrow",
        }
    }

    /// Describes how the file was understood.
    pub(crate) fn describe(&self) -> String {
        match self.is_of_nodes() {
            true => format!("list of nodes, {}, column {}", self.kind(), self.columns[0].1),
            false => format!("{}, {}", self.kind(), self.roles),
        }
    }

    /// Returns the columns to read, in the order source, target, weight.
    fn projection(&self) -> Vec<usize> {
        self.columns.iter().map(|(at, _)| *at).collect()
    }

    /// Reads rows from `start` on, until the sample has enough of them.
    pub(crate) fn first_rows(
        &self,
        files: &Files,
        path: &Path,
        bytes: u64,
        start: u64,
        mut sample: SampleSink<'_>,
    ) -> Result<()> {
        let task = TableTask {
            format: self.clone(),
            stop: false,
            chunk_bytes: SAMPLED_CHUNK_BYTES,
            workers: 1,
            bytes: (0, bytes),
        };
        let begin = Origin { file: 0, byte: start, line: start + 1 };
        is_whole(task.read(files, path, None, begin, None, &mut sample)).map(drop)
    }

    /// Returns what is wrong with a row, in one clause.
    pub(crate) fn reason(&self, problem: Problem) -> String {
        match problem {
            Problem::EmptyWeight => "weight is null".into(),
            other => other.reason(self.rows),
        }
    }

    /// Returns the place of a bad row; `text` is that of its chunk, which includes the row.
    pub(crate) fn place(
        &self,
        fault: &LineFault,
        text: &[u8],
        at: TableCell,
        path: &Path,
    ) -> Place {
        let mut shown = String::new();
        escape(&text[fault.line_start as usize..fault.start as usize], &mut shown);
        let start = shown.len();
        escape(&text[fault.start as usize..fault.end as usize], &mut shown);
        let end = shown.len();
        escape(&text[fault.end as usize..fault.line_end as usize], &mut shown);
        Place {
            path: path.to_path_buf(),
            line: at.row,
            column: self.columns[at.part].0 as u64 + 1,
            byte: 0,
            text: shown,
            span: (start, end),
            expected: fault.problem.expected(),
        }
    }

    /// Returns the error for a bad row at `place`.
    pub(crate) fn error(&self, fault: &LineFault, at: TableCell, place: Place) -> Error {
        let (row, name) = (format_count(at.row), &self.columns[at.part].1);
        let error = Error::new(fault.problem.kind(), self.reason(fault.problem))
            .at(place)
            .note(format!("row {row} of the table, column `{name}`"));
        if self.rows.are_memberships() {
            return error.hint("rows are a node and its community: correct this one, or remove it");
        }
        let skip = Text::from(format_args!("{} to skip this row", ON_BAD_LINE.of("skip")));
        if fault.problem == Problem::DistanceZero {
            return error.hint(format_args!("{}, or {skip}", of_distance_zero()));
        }
        let of_weight = fault.problem.kind() == ErrorKind::BadWeight;
        if of_weight && self.transform == WeightTransform::None {
            return error.hint(format_args!("use {IGNORE_WEIGHTS}, or {skip}"));
        }
        error.hint(format_args!("use {skip}"))
    }
}

/// Returns an error of a library about a file.
fn damaged(path: &Path, what: impl fmt::Display) -> Error {
    let what = what.to_string();
    let what = what.lines().next().unwrap_or("it cannot be decoded");
    bad_input(path, &format!("cannot be read as a table: {what}"))
        .hint("write the file again; if this repeats, the program that wrote it may be at fault")
}

thread_local! {
    /// Whether a library is decoding on this thread.
    static DECODES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Suppresses messages on standard error about panics in the decoding libraries, which become errors about damaged
/// files. To be called by the interfaces, since a process has only one panic hook.
pub fn silence_decoders() {
    let notify = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !DECODES.get() {
            notify(panic);
        }
    }));
}

/// Runs `decode`, turning a panic over damaged data into an error about the file.
fn caught<T, E: From<Error>>(
    path: &Path,
    decode: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    DECODES.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode));
    DECODES.set(false);
    result.unwrap_or_else(|_| Err(damaged(path, "its data are inconsistent").into()))
}

/// Chooses source, target and weight: from `--columns`, otherwise by column names, otherwise by position. Returns also
/// whether source and target are nodes of two kinds.
fn choose_columns(
    schema: &Schema,
    path: &Path,
    options: &InputOptions,
) -> Result<(Vec<(usize, String)>, bool)> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let is_asked = options.columns.is_none() && options.format != EdgeFormat::Lines;
    if is_asked && options.rows.are_memberships() && names::are_of_edges(&bytes) {
        return Err(names::edges_as_communities(path));
    }
    let mut two_mode = options.two_mode;
    let mut chosen: Vec<usize> = match &options.columns {
        Some(columns) => {
            let found = columns.iter().map(|column| find(column, &names, path, options.rows));
            check_distinct(&found.collect::<Result<Vec<usize>>>()?, path)?
        }
        None if options.rows == Rows::Nodes => {
            let column = names::node_column(&bytes).ok_or_else(|| no_nodes(&names, path))?;
            vec![column]
        }
        None if names.len() < 2 => Vec::new(),
        None => {
            let (names, kinds) = (names_of(schema), kinds_of_columns(schema));
            let choice = named_columns(&names, &kinds, options).choose();
            let types = types_of(schema);
            let types = [types.iter().map(String::as_bytes).collect()];
            let view = view_of(&names, &kinds, &types, &choice);
            if let Some(error) = question::columns(path, &view, options).filter(|_| is_asked) {
                return Err(error);
            }
            match choice.chosen() {
                Some(found) => {
                    two_mode |= found.two_mode;
                    let all = [Some(found.source), Some(found.target), found.weight];
                    all.into_iter().flatten().collect()
                }
                None => vec![0, 1],
            }
        }
    };
    if chosen.len() < 2 && options.rows != Rows::Nodes {
        let what = if options.rows == Rows::Edges { "an edge" } else { "a community" };
        let message = format!("has {} columns, but {what} needs two", names.len());
        return Err(
            bad_input(path, &message).hint(format_args!("use {}", options.rows.columns_to_type()))
        );
    }
    if options.ignore_weights || options.rows != Rows::Edges {
        chosen.truncate(2);
    }
    for (part, &at) in chosen.iter().enumerate() {
        let field = schema.field(at);
        let kind = field.data_type();
        let (is_usable, wanted) = match part {
            2 => (values::is_weight(kind), "a weight is a number"),
            _ => (values::is_name(field), "names are text or whole numbers"),
        };
        if !is_usable {
            let message = format!("column `{}` is {kind}, but {wanted}", names[at]);
            return Err(Error::new(
                ErrorKind::BadInput,
                format!("`{}`: {message}", path.display()),
            )
            .hint(format_args!(
                "use {} to name others, or change its type",
                options.rows.columns_to_type()
            )));
        }
    }
    Ok((chosen.into_iter().map(|at| (at, names[at].to_owned())).collect(), two_mode))
}

/// Returns the error for a table without a column of nodes.
fn no_nodes(names: &[&str], path: &Path) -> Error {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let path = path.display();
    Error::usage(format!("`{path}` has no column that is named as that of the nodes"))
        .note(format!("its columns are {}", shown.join(", ")))
        .hint("name one of them `id`, `node` or `name`, or write only that column")
}

fn find(column: &Column, names: &[&str], path: &Path, rows: Rows) -> Result<usize> {
    if let Column::Name(name) = column
        && names.iter().filter(|found| *found == name).count() > 1
    {
        return Err(twice(path, name));
    }
    let found = match column {
        Column::Number(number) => Some(*number as usize - 1).filter(|&at| at < names.len()),
        Column::Name(name) => names.iter().position(|found| found == name),
    };
    let wanted = match column {
        Column::Number(number) => format!("{number}"),
        Column::Name(name) => format!("`{name}`"),
    };
    found.ok_or_else(|| {
        let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
        bad_input(path, &format!("has no column {wanted}"))
            .note(format!("its columns are {}", shown.join(", ")))
            .hint(format_args!(
                "use {} with these names, or with numbers from 1",
                rows.columns_option()
            ))
    })
}

fn named_columns<'a>(
    names: &'a [&'a [u8]],
    kinds: &'a [ColumnKind],
    options: &InputOptions,
) -> NamedColumns<'a> {
    let (rows, transform) = (options.rows, options.weight_transform);
    NamedColumns { names, kinds, rows, transform, weighted: !options.ignore_weights }
}

/// Returns the columns for a question about them, with their types as values: decoding a page could take any memory.
fn view_of<'a>(
    names: &'a [&'a [u8]],
    kinds: &'a [ColumnKind],
    types: &'a [Vec<&'a [u8]>],
    choice: &'a ColumnChoice,
) -> ColumnView<'a> {
    ColumnView { names, kinds, rows: types, share: 1.0, choice, is_header_unclear: false }
}

/// Returns the type of each column.
fn types_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.data_type().to_string()).collect()
}

fn names_of(schema: &Schema) -> Vec<&[u8]> {
    schema.fields().iter().map(|field| field.name().as_bytes()).collect()
}

/// Returns the kinds of the columns by their types. Text that is named like a weight is one: rows that hold no number are
/// bad rows.
fn kinds_of_columns(schema: &Schema) -> Vec<ColumnKind> {
    let kind = |field: &Arc<arrow_schema::Field>| {
        let is_named = || names::is_weight(field.name().as_bytes());
        match field.data_type() {
            kind if values::is_number(kind) => ColumnKind::Number,
            kind if values::is_weight(kind) && is_named() => ColumnKind::Number,
            _ => ColumnKind::Text,
        }
    };
    schema.fields().iter().map(kind).collect()
}

/// Task of reading a table.
pub(crate) struct TableTask {
    pub(crate) format: TableFormat,
    pub(crate) stop: bool,
    /// Bytes of a chunk of text.
    pub(crate) chunk_bytes: usize,
    pub(crate) workers: usize,
    /// Bytes of the files before this one, and of this one.
    pub(crate) bytes: (u64, u64),
}

impl TableTask {
    /// Reads the table of `path` from row `begin` on (`begin.byte` counts rows too).
    pub(crate) fn read(
        self,
        files: &Files,
        path: &Path,
        input: Option<Input>,
        begin: Origin,
        stream: Option<&TableStream>,
        sink: &mut (dyn ChunkSink + Send),
    ) -> Progress {
        match self.format.kind {
            TableKind::Parquet => {
                let plan = self.format.plan.expect("it was made when the format was detected");
                parquet::read(&self, files, path, begin, plan, sink)
            }
            TableKind::ArrowIpc => {
                let input = match input {
                    Some(input) => input,
                    None => Input::open(files, path, self.workers)?,
                };
                let (projection, limit) = (self.format.projection(), self.format.held_bytes);
                let batches = ipc::IpcReader::new(files, input, path, projection, limit)?;
                self.read_batches(batches, begin, sink)
            }
            TableKind::Stream => {
                let batches = stream.and_then(TableStream::take).expect("its format was detected");
                let batches = StreamBatches { batches, projection: self.format.projection() };
                self.read_batches(batches, begin, sink)
            }
        }
    }

    fn read_batches(
        &self,
        mut batches: impl Batches,
        begin: Origin,
        sink: &mut (dyn ChunkSink + Send),
    ) -> Progress {
        let mut row = 0;
        while let Some(batch) = batches.next()? {
            let rows = batch.num_rows() as u64;
            let skipped = begin.byte.saturating_sub(row).min(rows);
            let done = self.bytes.0 + batches.consumed();
            let from = Origin { byte: row + skipped, line: row + skipped + 1, ..begin };
            let wanted = batch.slice(skipped as usize, (rows - skipped) as usize);
            self.convert(&wanted, from, done, sink)?;
            row += rows;
        }
        Ok(())
    }

    /// Passes on `batch`, whose columns are those of the projection in order, chunk by chunk.
    fn convert(
        &self,
        batch: &RecordBatch,
        origin: Origin,
        done_bytes: u64,
        sink: &mut (dyn ChunkSink + Send),
    ) -> Progress {
        let columns =
            Columns::of(batch, self.format.uuids, self.format.transform, self.format.rows);
        let rows = batch.num_rows();
        let mut at = 0;
        while at < rows {
            let most = (self.chunk_bytes / ROW_BYTES).max(1).min(rows - at);
            let count = columns.rows_within(at, most, self.chunk_bytes / 4);
            let mut chunk = sink.spare();
            let place = |row: usize| Origin {
                byte: origin.byte + row as u64,
                line: origin.line + row as u64,
                ..origin
            };
            (chunk.origin, chunk.next) = (place(at), Some(place(at + count)));
            (chunk.lines, chunk.done_bytes) = (count as u64, done_bytes);
            (chunk.is_parsed, chunk.edges.is_node_list) = (true, self.format.is_of_nodes());
            chunk.faults.clear();
            chunk.cells.clear();
            columns.parse(at..at + count, self.stop, &mut chunk);
            sink.take(chunk)?;
            at += count;
        }
        Ok(())
    }
}

/// Batches of the required columns of a table, in order.
trait Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>>;
    /// Returns the bytes of the file that were used.
    fn consumed(&self) -> u64;
}

/// Batches of a stream of the caller.
struct StreamBatches {
    batches: Box<dyn RecordBatchReader + Send>,
    projection: Vec<usize>,
}

impl Batches for StreamBatches {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let path = Path::new(STREAM_NAME);
        let (batches, projection) = (&mut self.batches, &self.projection);
        caught(path, || match batches.next() {
            None => Ok(None),
            Some(Ok(batch)) => {
                batch.project(projection).map(Some).map_err(|error| damaged(path, error))
            }
            Some(Err(error)) => {
                let message = format!("the table cannot be read any further: {error}");
                Err(Error::new(ErrorKind::BadInput, message))
            }
        })
    }

    fn consumed(&self) -> u64 {
        0
    }
}
