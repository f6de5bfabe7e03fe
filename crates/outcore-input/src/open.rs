//! Opens the files of an input and detects the format of each, in order, the node list last. Costs the first block of each
//! file, usually 64 KiB.

use super::chunk::Origin;
use super::chunks::{NumberedNodes, Task};
use super::decompress::Input;
use super::fault::bad_input;
use super::format::understood::ColumnUse;
use super::format::{self, InputFormat, KIND_LIMIT};
use super::lists::{self, ListFormat};
use super::options::{BYTES_PER_LINE, has_no_weights};
use super::sink::{self, ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC, is_arrow};
use super::table::{TableFormat, TableStream};
use super::{BatchMemory, Header, InputOptions, Rows, WeightTransform};
use outcore_io::Files;
use outcore_io::error::opt::{
    COLUMNS, COMMENT, DELIMITER, FORMAT, HEADER, TWO_MODE, WEIGHT_TRANSFORM,
};
use outcore_io::error::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Bytes of a file that are examined first to detect its format.
const FIRST_BLOCK: usize = 64 << 10;
/// Bytes within which the first edge must begin.
pub(super) const FIRST_BLOCK_LIMIT: usize = 4 << 20;

/// One file, as found when the reader was opened.
pub(super) struct FileFormat {
    pub(super) path: PathBuf,
    pub(super) form: Form,
    /// Command that unpacks the file, if it is compressed.
    pub(super) unpacker: Option<&'static str>,
    pub(super) window_bytes: u64,
}

/// Kind of a file.
#[derive(Clone)]
pub(super) enum Form {
    /// No lines other than comments and blank ones.
    Nothing,
    Text(InputFormat),
    Table(TableFormat),
    Lists(ListFormat),
    /// Nodes of a matrix that was read before.
    Numbered(NumberedNodes),
}

impl FileFormat {
    /// Returns whether the edges have weights; `None` if there are no edges.
    pub(super) fn weights(&self) -> Option<bool> {
        match &self.form {
            Form::Text(format) if !format.is_node_list => Some(format.layout.weight.is_some()),
            Form::Table(format) if !format.is_of_nodes() => Some(format.is_weighted()),
            Form::Lists(format) => Some(format.is_weighted()),
            _ => None,
        }
    }

    /// Returns the prefixes of names of sources and targets, if they are nodes of two kinds.
    pub(super) fn kinds(&self) -> Option<&[String; 2]> {
        match &self.form {
            Form::Text(format) => format.kinds.as_ref(),
            Form::Table(format) => format.kinds(),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&InputFormat> {
        match &self.form {
            Form::Text(format) => Some(format),
            _ => None,
        }
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.unpacker.is_some()
    }
}

/// Detects the format of every file, the node list last. Pipes stay open because they cannot be opened again; so does
/// the first file.
pub(super) fn open_files(
    files: &Files,
    options: &InputOptions,
    room: DecodeRoom,
) -> Result<(Vec<FileFormat>, Vec<Task>)> {
    let mut formats = Vec::with_capacity(options.paths.len() + 1);
    let mut tasks = Vec::with_capacity(options.paths.len() + 1);
    for (file, path) in options.all_paths().enumerate() {
        let begin = Origin { file, byte: 0, line: 1 };
        let (path, mut input) = (path.clone(), None);
        let format = match options.stream.as_ref().filter(|_| path == Path::new("-")) {
            Some(stream) => of_stream(stream, options)?,
            None => {
                let keep = file == 0 || !files.is_regular(&path);
                let mut opened = Input::open(files, &path, if keep { room.workers } else { 0 })?;
                let format = detect_next(files, &mut opened, options, &formats, room)?;
                input = keep.then_some(opened);
                format
            }
        };
        let window_bytes = format.window_bytes + files.held_bytes(&path);
        tasks.push(Task { begin, path, input, form: format.form.clone() });
        formats.push(FileFormat { window_bytes, ..format });
    }
    refuse_for_tables(&formats, options)?;
    for at in 0..formats.len() {
        let Some((size, kinds)) =
            formats[at].text().and_then(|file| Some((file.matrix?, file.kinds.clone())))
        else {
            continue;
        };
        let nodes = match kinds {
            None => vec![(size.rows, String::new())],
            Some([row, column]) => vec![(size.rows, row), (size.columns, column)],
        };
        for (count, kind) in nodes {
            let form = Form::Numbered(NumberedNodes { count, kind });
            let (path, begin) =
                (formats[at].path.clone(), Origin { file: formats.len(), byte: 0, line: 1 });
            tasks.push(Task { begin, path: path.clone(), input: None, form: form.clone() });
            formats.push(FileFormat { path, form, unpacker: None, window_bytes: 0 });
        }
    }
    Ok((formats, tasks))
}

fn of_stream(stream: &TableStream, options: &InputOptions) -> Result<FileFormat> {
    if !options.format.may_be_table() {
        let message = format_args!("{FORMAT} selects adjacency lists, but the input is a table");
        return Err(Error::usage(message).hint("leave it out"));
    }
    let form = Form::Table(TableFormat::of_stream(stream, options)?);
    let path = PathBuf::from(sink::STREAM_NAME);
    Ok(FileFormat { path, form, unpacker: None, window_bytes: 0 })
}

/// Refuses options for splitting lines if no file has lines, so that none is silently ignored.
fn refuse_for_tables(formats: &[FileFormat], options: &InputOptions) -> Result<()> {
    let columns = options.rows.columns_option();
    let given = [
        (options.delimiter.is_some(), DELIMITER, true),
        (options.header != Header::Auto, HEADER, true),
        (options.columns.is_some(), columns, false),
        (options.two_mode, TWO_MODE, false),
    ];
    let is_of = |file: &FileFormat, of_tables: bool| match file.form {
        Form::Nothing | Form::Text(_) => true,
        Form::Table(_) => !of_tables,
        Form::Lists(ref lists) => !of_tables && lists.names_columns(),
        Form::Numbered(_) => false,
    };
    let useless = given.into_iter().find(|&(is_given, _, of_tables)| {
        is_given && !formats.is_empty() && !formats.iter().any(|file| is_of(file, of_tables))
    });
    let Some((_, option, _)) = useless else { return Ok(()) };
    let file = &formats[0];
    let (path, kind) = (file.path.display(), file.kind());
    let message = format_args!("{option} has no effect on {kind}, the format of `{path}`");
    Err(Error::usage(message).hint("leave it out"))
}

/// Detects the format of the file that follows those of `before`.
pub(super) fn detect_next(
    files: &Files,
    input: &mut Input,
    options: &InputOptions,
    before: &[FileFormat],
    room: DecodeRoom,
) -> Result<FileFormat> {
    let path = options.all_paths().nth(before.len()).expect("there is a file to open");
    let of_edges = before.iter().find_map(FileFormat::text);
    let of_nodes = (before.len() == options.paths.len()).then(|| {
        let delimiter = of_edges.map(|format| format.layout.delimiter);
        options.of_nodes(options.delimiter.or(delimiter))
    });
    let options = of_nodes.as_ref().unwrap_or(options);
    let head = input.peek(ARROW_MAGIC.len())?.0;
    let is_table = head.starts_with(PARQUET_MAGIC) || is_arrow(head);
    let of_pairs = match is_table {
        true => None,
        false => lists::communities::of_pairs(path, input, options)?,
    };
    let options = of_pairs.as_ref().unwrap_or(options);
    let form = match options.format.may_be_table() {
        true => TableFormat::detect(files, path, input, options, room)?.map(Form::Table),
        false => None,
    };
    if let Some(Form::Table(table)) = &form {
        lists::communities::refuse_table(path, table.kind(), options)?;
    }
    let form = match form {
        Some(form) => Some(form),
        None => ListFormat::detect(path, input, options)?.map(Form::Lists),
    };
    if let Some(form) = form {
        let window_bytes = match &form {
            Form::Table(table) => table.held_bytes(),
            _ => input.window_bytes(),
        };
        return Ok(FileFormat {
            path: path.clone(),
            form,
            unpacker: input.unpacker(),
            window_bytes,
        });
    }
    detect(input, path, options)
}

/// Returns how a file of edges is understood, in one line, and what each of its columns is used for; formats that are not
/// lines or rows have none.
///
/// # Errors
/// Like [`EdgeReader::open`](super::EdgeReader::open).
pub fn examine(
    files: &Files,
    path: &Path,
    options: &InputOptions,
) -> Result<(String, Vec<ColumnUse>)> {
    let options = InputOptions { paths: vec![path.to_path_buf()], ..options.clone() };
    options.check()?;
    let mut input = Input::open(files, path, 1)?;
    let room = DecodeRoom { workers: 1, bytes: 0 };
    let file = detect_next(files, &mut input, &options, &[], room)?;
    let uses = match &file.form {
        Form::Table(table) => table.uses(files, path, &mut input, &options)?,
        Form::Text(format) if format.matrix.is_none() => {
            let look = |block: &[u8], is_whole| format::columns(block, is_whole, path, &options);
            first_lines(&mut input, path, &options, look)?.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    Ok((format::understood::describe(&[file]).remove(0), uses))
}

/// Detects the format of one file by its lines.
fn detect(input: &mut Input, path: &Path, options: &InputOptions) -> Result<FileFormat> {
    let (unpacker, window_bytes) = (input.unpacker(), input.window_bytes());
    let look = |block: &[u8], is_whole| format::detect(block, is_whole, path, options);
    let format = first_lines(input, path, options, look)?;
    let (path, form) = (path.to_path_buf(), format.map_or(Form::Nothing, Form::Text));
    Ok(FileFormat { path, form, unpacker, window_bytes })
}

/// Passes longer and longer beginnings of a file to `look`, until it finds something.
fn first_lines<T>(
    input: &mut Input,
    path: &Path,
    options: &InputOptions,
    look: impl Fn(&[u8], bool) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let unpacker = input.unpacker();
    let mut wanted = FIRST_BLOCK;
    loop {
        let (block, is_whole) = input.peek(wanted)?;
        let is_node_list = options.rows == Rows::Nodes;
        format::foreign::refuse(block, path, options, unpacker, is_node_list)?;
        let found = look(block, is_whole)?;
        if found.is_some() || is_whole {
            return Ok(found);
        }
        if wanted >= FIRST_BLOCK_LIMIT {
            return Err(no_lines(path));
        }
        wanted *= 4;
    }
}

/// Returns the error for a file whose first bytes do not reveal its format.
pub(super) fn no_lines(path: &Path) -> Error {
    let message = "has nothing in its first 4 MiB but comments or one long line";
    bad_input(path, message)
        .hint(format_args!("use {COMMENT} if its comments begin differently, or check the file"))
}

/// Returns whether the files have weights. It is an error if only some do, or if there are none to transform.
pub(super) fn common_weights(formats: &[FileFormat], options: &InputOptions) -> Result<bool> {
    let mut known = formats.iter().filter_map(|file| Some((&file.path, file.weights()?)));
    let Some((first, weighted)) = known.next() else { return Ok(false) };
    let Some((other, _)) = known.find(|&(_, other)| other != weighted) else {
        let is_missing = !weighted && options.weight_transform != WeightTransform::None;
        let missing = || has_no_weights(first, &WEIGHT_TRANSFORM);
        return if is_missing { Err(missing()) } else { Ok(weighted) };
    };
    let (with, without) = if weighted { (first, other) } else { (other, first) };
    Err(Error::new(
        ErrorKind::BadInput,
        format!("`{}` has weights, but `{}` has none", with.display(), without.display()),
    )
    .hint(format_args!("use {} to read both without weights", COLUMNS.of("1,2"))))
}

/// Returns the memory for names that begin with their kind: the text once more, and a kind for each name.
pub(super) fn kinds_bytes(memory: BatchMemory) -> u64 {
    let names = 2 * memory.chunk_bytes.div_ceil(BYTES_PER_LINE);
    2 * (memory.chunks * (memory.chunk_bytes + names * (KIND_LIMIT + 1))) as u64
}

/// Returns the first file with edges, if it has no weights.
pub(super) fn unweighted(formats: &[FileFormat]) -> Option<&Path> {
    let (path, is_weighted) =
        formats.iter().find_map(|file| Some((&file.path, file.weights()?)))?;
    (!is_weighted).then_some(path)
}

/// Returns the total length of all files, if they are regular files.
pub(super) fn total_bytes<'p>(
    files: &Files,
    mut paths: impl Iterator<Item = &'p PathBuf>,
) -> Option<u64> {
    paths.try_fold(0, |sum, path| {
        let entry = files.is_regular(path).then(|| files.entry(path).ok()).flatten()?;
        Some(sum + entry.bytes)
    })
}
