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
//! Memory: that of [`feed`](super::feed), and [`SourceFacts::held_bytes`]. Cost: about 20 ns of one core for a row
//! of two short names and a weight.

mod columns;
#[cfg(feature = "tables")]
mod files;
#[cfg(not(feature = "tables"))]
#[path = "absent.rs"]
mod files;
#[cfg(feature = "tables")]
mod ipc;
#[cfg(feature = "tables")]
mod parquet;
mod values;

pub(crate) use files::detect;

use super::chunk::{BadLine, Origin, Problem};
use super::decompress::Input;
use super::fault::{bad_input, of_distance_zero, row_place};
use super::format::column_names::{self, Chosen, ColumnKind, NamedColumns, node_columns};
use super::format::formats::are_of_search;
use super::format::recognize::question::{self, ColumnView};
use super::format::understood::{self, Roles};
use super::format::{check_distinct, kinds_of, twice};
use super::options::{Column, EdgeFormat, InputOptions, Rows};
use super::sample::pieces::{PIECE_BYTES, PIECE_ROWS, PIECES, place};
use super::sink::{Progress, ROW_BYTES, STREAM_NAME, SampleSink, Sink, is_whole};
use super::source::{ColumnUse, EdgeSource, FileSample, ReadTask, SampleTask, SourceFacts};
use super::stream::TableStream;
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use columns::Columns;
use outcore_graph::NameType;
use outcore_graph::weight::WeightTransform;
use outcore_io::Files;
use outcore_io::error::opt::{IGNORE_WEIGHTS, ON_BAD_LINE};
use outcore_io::error::{Error, ErrorKind, Place, Result, Text};
use outcore_io::units::format_count;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Rows of a table: of a file, or of a stream.
trait TableRows: Send + Sync {
    /// Returns the name of the format.
    fn name(&self) -> &'static str;

    /// Returns the memory that decoding holds besides chunks.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Returns the number of rows, if the file declares it.
    fn row_count(&self) -> Option<u64> {
        None
    }

    /// Returns all columns, unless rows can be read only once.
    fn schema(&self, _: &Files, _: &Path, _: &mut Input) -> Result<Option<SchemaRef>> {
        Ok(None)
    }

    /// Reads the rows that `reader` is for.
    fn read(&self, reader: &TableReader<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress;
}

/// Table and the roles of its columns.
struct TableFormat {
    table: Box<dyn TableRows>,
    /// Columns, from 0, and their names: source, target and, if there is one, weight.
    columns: Vec<(usize, String)>,
    /// Whether source and target are UUIDs.
    uuids: [bool; 2],
    /// Type of the names.
    name_type: NameType,
    /// Prefixes of the names of sources and targets, if they are nodes of two kinds.
    kinds: Option<[String; 2]>,
    /// Description of the use of all columns.
    roles: String,
    transform: WeightTransform,
    rows: Rows,
}

/// Returns the source of a stream.
pub(crate) fn of_stream(
    stream: &TableStream,
    options: &InputOptions,
) -> Result<Arc<dyn EdgeSource>> {
    let read = || Error::new(ErrorKind::Usage, "the table can be read only once");
    let schema = stream.schema().ok_or_else(read)?;
    TableFormat::of(&schema, Path::new(STREAM_NAME), options, |_| Ok(Box::new(stream.clone())))
}

impl TableFormat {
    /// Chooses the columns, and tells `table` which to read.
    fn of(
        schema: &Schema,
        path: &Path,
        options: &InputOptions,
        table: impl FnOnce(&[usize]) -> Result<Box<dyn TableRows>>,
    ) -> Result<Arc<dyn EdgeSource>> {
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
            rows: options.rows,
        };
        // Of a table of communities, only the first column has names of nodes.
        let ends = if options.rows == Rows::Edges { 2 } else { 1 };
        let types = columns.iter().take(ends).map(|(at, _)| values::name_type(schema.field(*at)));
        let name_type = match two_mode {
            true => NameType::Text,
            false => types.reduce(NameType::together).unwrap_or_default(),
        };
        Ok(Arc::new(Self {
            table: table(&projection(&columns))?,
            name_type,
            uuids: [0, 1].map(|part| {
                columns.get(part).is_some_and(|(at, _)| values::is_uuid(schema.field(*at)))
            }),
            roles: roles.text(),
            columns,
            kinds: prefixes,
            transform: options.weight_transform,
            rows: options.rows,
        }))
    }
}

/// Returns the columns to read, in the order source, target, weight.
fn projection(columns: &[(usize, String)]) -> Vec<usize> {
    columns.iter().map(|(at, _)| *at).collect()
}

impl EdgeSource for TableFormat {
    fn facts(&self) -> SourceFacts {
        let (name, is_of_nodes) = (self.table.name(), self.rows == Rows::Nodes);
        SourceFacts {
            name,
            description: Some(match is_of_nodes {
                true => format!("list of nodes, {name}, column {}", self.columns[0].1),
                false => format!("{name}, {}", self.roles),
            }),
            is_weighted: (!is_of_nodes).then_some(self.columns.len() == 3),
            has_columns: true,
            held_bytes: Some(self.table.held_bytes()),
            is_search: are_of_search(self.columns.iter().map(|(_, name)| name.as_str())),
            name_type: self.name_type,
            ..SourceFacts::default()
        }
    }

    fn kinds(&self) -> Option<&[String; 2]> {
        self.kinds.as_ref()
    }

    fn uses(
        &self,
        files: &Files,
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
    ) -> Result<Vec<ColumnUse>> {
        let Some(schema) = self.table.schema(files, path, input)? else { return Ok(Vec::new()) };
        with_view(&schema, options, |view| {
            let known = view.choice.chosen();
            let weight = self.columns.get(2).map(|(at, _)| *at);
            let chosen = Chosen {
                by_name: known.is_some_and(|known| known.by_name),
                format: known.and_then(|known| known.format),
                ..Chosen::by_place(self.columns[0].0, self.columns[1].0, weight)
            };
            Ok(understood::uses(view, &chosen, options.columns.is_some()))
        })
    }

    /// Reads the rows from `task.begin` on (`byte` counts rows too).
    fn read(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress<u64> {
        let bytes = task.files.entry(task.path).map_or(0, |entry| entry.bytes);
        let projection = projection(&self.columns);
        let reader = TableReader { format: self, task, projection, bytes };
        self.table.read(&reader, input, sink)?;
        Ok(bytes)
    }

    fn reason(&self, problem: Problem) -> String {
        match problem {
            Problem::EmptyWeight => "weight is null".into(),
            other => other.reason(self.rows),
        }
    }

    fn place(&self, bad: &BadLine<'_>) -> Place {
        let (row, part) = bad.fault.cell;
        row_place(bad, bad.origin.line + u64::from(row), self.columns[part as usize].0 as u64 + 1)
    }

    fn error(&self, bad: &BadLine<'_>) -> Error {
        let (problem, place) = (bad.fault.problem, self.place(bad));
        let (row, name) = (format_count(place.line), &self.columns[bad.fault.cell.1 as usize].1);
        let error = Error::new(problem.kind(), self.reason(problem))
            .at(place)
            .note(format!("row {row} of the table, column `{name}`"));
        if self.rows.are_memberships() {
            return error.hint("rows are a node and its community: correct this one, or remove it");
        }
        let skip = Text::from(format_args!("{} to skip this row", ON_BAD_LINE.of("skip")));
        if problem == Problem::DistanceZero {
            return error.hint(format_args!("{}, or {skip}", of_distance_zero()));
        }
        if problem.kind() == ErrorKind::BadWeight && self.transform == WeightTransform::None {
            return error.hint(format_args!("use {IGNORE_WEIGHTS}, or {skip}"));
        }
        error.hint(format_args!("use {skip}"))
    }

    /// Samples rows, spread over the table if the number of its rows is known.
    fn sample(&self, sample: SampleTask<'_>) -> Result<FileSample> {
        let pieces = sample.pieces.clamp(1, PIECES);
        let starts = match self.table.row_count() {
            Some(rows) if rows > pieces * PIECE_ROWS => {
                (0..pieces).map(|piece| place(piece, pieces, PIECE_ROWS, rows)).collect()
            }
            _ => vec![0],
        };
        let of_each = if starts.len() == 1 { pieces } else { 1 };
        let (wanted, most) = (of_each * PIECE_ROWS, of_each * PIECE_BYTES as u64);
        let tasks: Vec<ReadTask<'_>> = starts.into_iter().map(|row| sample.read(row)).collect();
        let mut sink = SampleSink::new(sample.count);
        for task in tasks {
            is_whole(self.read(&task, None, sink.begin(wanted, most)).map(drop))?;
        }
        let SampleSink { rows, text_bytes, consumed, .. } = sink;
        let all = match self.table.row_count() {
            Some(all) => all as f64,
            None if rows < wanted && text_bytes < most => rows as f64,
            None => rows as f64 * sample.bytes as f64 / consumed.max(1) as f64,
        };
        let is_whole = all == rows as f64;
        Ok(FileSample {
            text_bytes: text_bytes as f64 * all / rows.max(1) as f64,
            is_whole,
            is_spread: is_whole || self.table.row_count().is_some(),
            ..FileSample::default()
        })
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
    if is_asked && options.rows.are_memberships() && column_names::are_of_edges(&bytes) {
        return Err(column_names::edges_as_communities(path));
    }
    let mut two_mode = options.two_mode;
    let mut chosen: Vec<usize> = match &options.columns {
        Some(columns) => {
            let found = columns.iter().map(|column| find(column, &names, path, options.rows));
            check_distinct(&found.collect::<Result<Vec<usize>>>()?, path)?
        }
        None if options.rows == Rows::Nodes => match (node_columns(&bytes), names.len()) {
            (_, 1) => vec![0],
            (found, _) if found.len() > 1 => {
                return Err(column_names::several_nodes(path, &bytes, &found));
            }
            (found, _) if found.is_empty() => return Err(no_nodes(&names, path)),
            (found, _) => found,
        },
        None if names.len() < 2 => Vec::new(),
        None => {
            let found = choose_by_view(schema, path, options, is_asked)?;
            two_mode |= found.two_mode;
            let all = [Some(found.source), Some(found.target), found.weight];
            all.into_iter().flatten().collect()
        }
    };
    if chosen.len() < 2 && options.rows != Rows::Nodes {
        let what = match options.rows {
            Rows::Edges => "an edge",
            Rows::Numbers => "a number of a node",
            _ => "a community",
        };
        let message = format!("has {} columns, but {what} needs two", names.len());
        return Err(bad_input(path, &message)
            .hint(format_args!("use {}", options.rows.columns_to_type(path))));
    }
    if options.ignore_weights || options.rows != Rows::Edges {
        chosen.truncate(2);
    }
    for (part, &at) in chosen.iter().enumerate() {
        check_type(schema.field(at), part, path, options.rows)?;
    }
    Ok((chosen.into_iter().map(|at| (at, names[at].to_owned())).collect(), two_mode))
}

/// Returns the columns, chosen by their names and values. If the choice is unclear, returns a question, unless
/// `is_asked` is false.
fn choose_by_view(
    schema: &Schema,
    path: &Path,
    options: &InputOptions,
    is_asked: bool,
) -> Result<Chosen> {
    let found = with_view(schema, options, |view| {
        let list = schema.fields().iter().find(|field| field.data_type().is_nested());
        if let Some(list) = list.filter(|_| is_asked && view.choice.chosen().is_none()) {
            return Err(of_lists(path, list.name()));
        }
        let question = question::columns(path, view, options).filter(|_| is_asked);
        question.map_or_else(|| Ok(view.choice.chosen().cloned()), Err)
    })?;
    Ok(found.unwrap_or_else(|| Chosen::by_place(0, 1, None)))
}

/// Refuses a column whose type is not that of its part of an edge: the source, the target or the weight.
fn check_type(field: &Field, part: usize, path: &Path, rows: Rows) -> Result<()> {
    let kind = field.data_type();
    let (is_usable, wanted) = match part {
        2 => (values::is_weight(kind), "a weight is a number"),
        1 if rows == Rows::Numbers => (values::is_weight(kind), "it must be numbers"),
        _ => (values::is_name(field), "names are text or whole numbers"),
    };
    if is_usable {
        return Ok(());
    }
    let message =
        format!("`{}`: column `{}` is {kind}, but {wanted}", path.display(), field.name());
    Err(Error::new(ErrorKind::BadInput, message).hint(format_args!(
        "use {} to name others, or change its type",
        rows.columns_to_type(path)
    )))
}

/// Returns the error for a table of nodes and lists of their neighbors.
fn of_lists(path: &Path, name: &str) -> Error {
    bad_input(
        path,
        &format!("has lists in its column `{name}`, but a name is text or a whole number"),
    )
    .hint("write a row for each pair, as `explode` of pandas and polars does")
}

/// Returns the error for a table without a column of nodes.
fn no_nodes(names: &[&str], path: &Path) -> Error {
    let columns = match names {
        [] => "it has no columns".into(),
        names => format!("its columns are {}", column_names::listed(names)),
    };
    let message = format!("`{}` has no column that is named as that of the nodes", path.display());
    Error::usage(message)
        .note(columns)
        .hint(format_args!("use {} with the column of nodes", Rows::Nodes.columns_to_type(path)))
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
        bad_input(path, &format!("has no column {wanted}"))
            .note(format!("its columns are {}", column_names::listed(names)))
            .hint(format_args!(
                "use {} with these names, or with numbers from 1",
                rows.columns_to_type(path)
            ))
    })
}

/// Passes a view of the columns to `look`, to choose from. Its values are the types of the columns, because decoding a
/// page could take any amount of memory.
fn with_view<T>(
    schema: &Schema,
    options: &InputOptions,
    look: impl FnOnce(&ColumnView<'_>) -> Result<T>,
) -> Result<T> {
    let (names, kinds) = (names_of(schema), kinds_of_columns(schema));
    let (rows, transform) = (options.rows, options.weight_transform);
    let weighted = !options.ignore_weights;
    let choice = NamedColumns { names: &names, kinds: &kinds, rows, transform, weighted }.choose();
    let types: Vec<String> =
        schema.fields().iter().map(|field| field.data_type().to_string()).collect();
    look(&ColumnView {
        names: &names,
        kinds: &kinds,
        rows: &[types.iter().map(String::as_bytes).collect()],
        share: 1.0,
        choice: &choice,
        is_header_unclear: false,
    })
}

fn names_of(schema: &Schema) -> Vec<&[u8]> {
    schema.fields().iter().map(|field| field.name().as_bytes()).collect()
}

/// Returns the kinds of the columns by their types. Text that is named like a weight is one: rows that hold no number are
/// bad rows.
fn kinds_of_columns(schema: &Schema) -> Vec<ColumnKind> {
    let kind = |field: &Arc<arrow_schema::Field>| {
        let is_named = || column_names::is_weight(field.name().as_bytes());
        match field.data_type() {
            kind if values::is_number(kind) => ColumnKind::Number,
            kind if values::is_weight(kind) && is_named() => ColumnKind::Number,
            _ => ColumnKind::Text,
        }
    };
    schema.fields().iter().map(kind).collect()
}

/// Reader of the rows of a table.
struct TableReader<'a> {
    format: &'a TableFormat,
    task: &'a ReadTask<'a>,
    /// Columns to read.
    projection: Vec<usize>,
    /// Bytes of the file, as stored.
    bytes: u64,
}

impl TableReader<'_> {
    /// Passes on the batches of the required columns, in order. `next` returns one, and the bytes of the file that were
    /// used.
    fn read_batches(
        &self,
        mut next: impl FnMut() -> Result<Option<(RecordBatch, u64)>>,
        sink: Sink<'_>,
    ) -> Progress {
        let mut row = 0;
        while let Some((batch, consumed)) = next()? {
            let rows = batch.num_rows() as u64;
            let skipped = self.task.begin.byte.saturating_sub(row).min(rows);
            let done = self.task.done_bytes + consumed;
            let wanted = batch.slice(skipped as usize, (rows - skipped) as usize);
            self.convert(&wanted, row + skipped, done, sink)?;
            row += rows;
        }
        Ok(())
    }

    /// Passes on `batch`, whose first row is `row` and whose columns are those of the projection in order, chunk by
    /// chunk.
    fn convert(&self, batch: &RecordBatch, row: u64, done_bytes: u64, sink: Sink<'_>) -> Progress {
        let TableFormat { uuids, transform, rows, .. } = self.format;
        let texts = match rows {
            Rows::Numbers => values::fractions_as_text(batch),
            _ => None,
        };
        let columns = Columns::of(texts.as_ref().unwrap_or(batch), *uuids, *transform, *rows);
        let chunk_bytes = self.task.chunk_bytes;
        let (mut at, end) = (0, batch.num_rows());
        while at < end {
            let most = (chunk_bytes / ROW_BYTES).max(1).min(end - at);
            let count = columns.rows_within(at, most, chunk_bytes / 4);
            let place = |at: usize| {
                let row = row + at as u64;
                Origin { byte: row, line: row + 1, ..self.task.begin }
            };
            let mut chunk = sink.spare();
            (chunk.origin, chunk.next) = (place(at), Some(place(at + count)));
            (chunk.lines, chunk.done_bytes) = (count as u64, done_bytes);
            chunk.edges.is_node_list = *rows == Rows::Nodes;
            chunk.faults.clear();
            columns.parse(at..at + count, self.task.stop, &mut chunk);
            sink.take(chunk)?;
            at += count;
        }
        Ok(())
    }
}

impl TableRows for TableStream {
    fn name(&self) -> &'static str {
        "Arrow"
    }

    fn read(&self, reader: &TableReader<'_>, _: Option<Input>, sink: Sink<'_>) -> Progress {
        let path = Path::new(STREAM_NAME);
        let mut batches = self.take().expect("its format was detected");
        let mut next = || match batches.next() {
            None => Ok(None),
            Some(Ok(batch)) => {
                let batch = batch.project(&reader.projection);
                batch.map(|batch| Some((batch, 0))).map_err(|error| damaged(path, error))
            }
            Some(Err(error)) => {
                let message = format!("the table cannot be read any further: {error}");
                Err(Error::new(ErrorKind::BadInput, message))
            }
        };
        reader.read_batches(|| caught(path, &mut next), sink)
    }
}
