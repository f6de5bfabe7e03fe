//! Opens the files of an input and detects the format of each, in order, the node list last. Costs the first block of each
//! file, usually 64 KiB.

use super::chunk::Origin;
use super::decompress::Input;
use super::feed::Task;
use super::format::{self, KIND_LIMIT};
use super::lists::{ListFormat, communities};
use super::options::{BYTES_PER_LINE, Rows, has_no_weights};
use super::sink::{ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC, STREAM_NAME, is_arrow};
use super::source::{ColumnUse, OpenFile};
use super::stream::TableStream;
use super::table;
use super::{BatchMemory, Header, InputOptions, WeightTransform};
use outcore_graph::KINDS_WRITER_BYTES;
use outcore_io::Files;
use outcore_io::error::opt::{
    COLUMNS, COMMENT, DELIMITER, FORMAT, HEADER, NAMES, TWO_MODE, WEIGHT_TRANSFORM,
};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::format_count;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Detects the format of every file, the node list last. Pipes stay open because they cannot be opened again; so does
/// the first file.
pub(super) fn open_files(
    files: &Files,
    options: &InputOptions,
    room: DecodeRoom,
) -> Result<(Vec<OpenFile>, Vec<Task>)> {
    let mut found: Vec<OpenFile> = Vec::with_capacity(options.paths.len() + 1);
    let mut tasks = Vec::with_capacity(options.paths.len() + 1);
    let mut add = |found: &mut Vec<OpenFile>, file: OpenFile, input: Option<Input>, path: &Path| {
        let begin = Origin { file: found.len(), byte: 0, line: 1 };
        tasks.push(Task { begin, path: path.into(), input, source: file.source.clone() });
        found.push(file);
    };
    for (at, path) in options.all_paths().enumerate() {
        if let Some(stream) = options.stream.as_ref().filter(|_| path == Path::new("-")) {
            add(&mut found, of_stream(stream, options)?, None, path);
            continue;
        }
        let keep = at == 0 || !files.is_regular(path);
        let mut input = Input::open(files, path, if keep { room.workers } else { 0 })?;
        let mut file = detect_next(files, &mut input, options, &found, room)?;
        file.window_bytes += files.held_bytes(path);
        add(&mut found, file, keep.then_some(input), path);
    }
    refuse_useless(&found, options)?;
    refuse_mixed_names(&found)?;
    for at in 0..found.len() {
        let path = found[at].path.clone();
        for nodes in std::mem::take(&mut found[at].facts.nodes) {
            add(&mut found, OpenFile::new(&path, Arc::new(nodes)), None, &path);
        }
    }
    Ok((found, tasks))
}

/// Refuses files some of which name nodes by labels, and others by numbers: nothing would be the same node in both.
fn refuse_mixed_names(files: &[OpenFile]) -> Result<()> {
    let by_labels = |file: &&OpenFile| file.facts.has_labels && file.facts.held_bytes.is_some();
    let by_numbers = |file: &&OpenFile| file.facts.has_labels && file.facts.held_bytes.is_none();
    match (files.iter().find(by_labels), files.iter().find(by_numbers)) {
        (Some(labels), Some(numbers)) => {
            let (labels, numbers) = (labels.path.display(), numbers.path.display());
            let message =
                format!("`{labels}` names nodes by labels, but `{numbers}` has none for them");
            Err(Error::usage(message).hint(format_args!("use {} for all", NAMES.of("numbers"))))
        }
        _ => Ok(()),
    }
}

fn of_stream(stream: &TableStream, options: &InputOptions) -> Result<OpenFile> {
    if !options.format.may_be_table() {
        let message = format_args!("{FORMAT} selects adjacency lists, but the input is a table");
        return Err(Error::usage(message).hint("leave it out"));
    }
    Ok(OpenFile::new(Path::new(STREAM_NAME), table::of_stream(stream, options)?))
}

/// Refuses options that no file has a use for, so that none is silently ignored: this is the place that knows which options
/// a kind of file takes.
fn refuse_useless(files: &[OpenFile], options: &InputOptions) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let no_lines = !files.iter().any(|file| file.facts.has_lines);
    // Files of edges and of communities share this option: one of them is enough.
    let no_comments = !options.shares_comment && !files.iter().any(|file| file.facts.has_comments);
    // Options about columns do not apply to the list of nodes.
    let edges = &files[..options.paths.len().min(files.len())];
    let no_columns = !edges.iter().any(|file| file.facts.has_columns);
    let no_kinds = !edges.iter().any(|file| file.facts.has_columns || file.facts.may_be_two_mode);
    let option = match () {
        () if options.delimiter.is_some() && no_lines => DELIMITER,
        () if options.header != Header::Auto && no_lines => HEADER,
        () if options.comment.is_some() && no_comments => COMMENT,
        () if options.columns.is_some() && no_columns => options.rows.columns_option(),
        () if options.two_mode && no_kinds => TWO_MODE,
        () if options.names.is_some() && !edges.iter().any(|file| file.facts.has_labels) => NAMES,
        () => return Ok(()),
    };
    let (path, kind) = (first.path.display(), first.facts.name);
    let message = format_args!("{option} has no effect on {kind}, the format of `{path}`");
    Err(Error::usage(message).hint("leave it out"))
}

/// Detects the format of the file that follows those of `before`.
pub(super) fn detect_next(
    files: &Files,
    input: &mut Input,
    options: &InputOptions,
    before: &[OpenFile],
    room: DecodeRoom,
) -> Result<OpenFile> {
    let path = options.all_paths().nth(before.len()).expect("there is a file to open");
    let of_nodes = (before.len() == options.paths.len()).then(|| {
        let of_edges = before.iter().find_map(|file| file.facts.delimiter);
        options.of_nodes(options.delimiter.or(of_edges))
    });
    let options = of_nodes.as_ref().unwrap_or(options);
    let head = input.peek(ARROW_MAGIC.len())?.0;
    let is_table =
        options.rows != Rows::Written && (head.starts_with(PARQUET_MAGIC) || is_arrow(head));
    let of_pairs = match is_table {
        true => None,
        false => communities::of_pairs(path, input, options)?,
    };
    let options = of_pairs.as_ref().unwrap_or(options);
    let table = match is_table && options.format.may_be_table() {
        true => Some(table::detect(files, path, input, options, room)?),
        false => None,
    };
    let source = match table {
        Some(table) => {
            communities::refuse_table(path, table.facts().name, options)?;
            table
        }
        None => match ListFormat::detect(files, path, input, options)? {
            Some(list) => Arc::new(list),
            None => {
                let before = before.last().and_then(|file| file.facts.description.as_deref());
                format::source::detect(input, path, options, before)?
            }
        },
    };
    let file = OpenFile::new(path, source);
    let held_bytes = file.facts.held_bytes;
    let window_bytes = match file.facts.has_labels {
        true => held_bytes.unwrap_or(0) + input.window_bytes(),
        false => held_bytes.unwrap_or(input.window_bytes()),
    };
    Ok(OpenFile { unpacker: input.unpacker(), window_bytes, ..file })
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
    let uses = file.source.uses(files, path, &mut input, &options)?;
    let file = [file];
    refuse_useless(&file, &options)?;
    Ok((describe(&file).remove(0), uses))
}

/// Returns whether a prefix of comments may have an effect on any of these files. It may in a pipe, which is read only
/// once, and in a file that cannot be read, which is reported later.
pub fn any_has_comments(files: &Files, all: impl IntoIterator<Item = InputOptions>) -> bool {
    let room = DecodeRoom { workers: 1, bytes: 0 };
    all.into_iter().any(|options| {
        options.paths.iter().any(|path| {
            let options = InputOptions { paths: vec![path.clone()], ..options.clone() };
            let detect = |mut input| detect_next(files, &mut input, &options, &[], room);
            !files.is_regular(path)
                || Input::open(files, path, 1)
                    .and_then(detect)
                    .map_or(true, |file| file.facts.has_comments)
        })
    })
}

/// Writes one line for each kind of file, with its first path: files that were understood alike share one.
pub(crate) fn describe(files: &[OpenFile]) -> Vec<String> {
    let mut kinds: Vec<(String, &Path, usize)> = Vec::new();
    for file in files {
        let Some(text) = &file.facts.description else { continue };
        let text = file.unpacker.map_or(text.clone(), |unpacker| format!("{unpacker}, {text}"));
        match kinds.iter_mut().find(|kind| kind.0 == text) {
            Some(kind) => kind.2 += 1,
            None => kinds.push((text, &file.path, 1)),
        }
    }
    let line = |(text, path, count): (String, &Path, usize)| {
        let path = match path.as_os_str() == "-" {
            true => "standard input".into(),
            false => path.display().to_string(),
        };
        match count {
            1 => format!("{path}: {text}"),
            2 => format!("{path} and 1 more file: {text}"),
            _ => format!("{path} and {} more files: {text}", format_count(count as u64 - 1)),
        }
    };
    kinds.into_iter().map(line).collect()
}

/// Returns whether the files have weights. It is an error if only some do, or if there are none to transform.
pub(super) fn common_weights(files: &[OpenFile], options: &InputOptions) -> Result<bool> {
    let mut known = files.iter().filter_map(|file| Some((&file.path, file.facts.is_weighted?)));
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

/// Returns the memory for names that begin with their kind: the text once more, a kind for each name, and the writer of
/// the kinds.
pub(super) fn kinds_bytes(memory: BatchMemory) -> u64 {
    let names = 2 * memory.chunk_bytes.div_ceil(BYTES_PER_LINE);
    let text = 2 * (memory.chunks * (memory.chunk_bytes + names * (KIND_LIMIT + 1))) as u64;
    text + KINDS_WRITER_BYTES
}

/// Iterates over the files of edges: the prefixes of the names of sources and targets, if these are of two kinds.
pub(super) fn kinds_of_files(files: &[OpenFile]) -> impl Iterator<Item = Option<&[String; 2]>> {
    files.iter().filter(|file| file.facts.is_weighted.is_some()).map(|file| file.source.kinds())
}

/// Returns the prefixes of names, if nodes are of two kinds that are the same in all files of edges.
pub(super) fn common_kinds(files: &[OpenFile]) -> Option<&[String; 2]> {
    let mut all = kinds_of_files(files);
    let first = all.next()??;
    all.all(|kinds| kinds == Some(first)).then_some(first)
}

/// Returns the first file with edges, if it has no weights.
pub(super) fn unweighted(files: &[OpenFile]) -> Option<&Path> {
    let (path, is_weighted) =
        files.iter().find_map(|file| Some((&file.path, file.facts.is_weighted?)))?;
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
