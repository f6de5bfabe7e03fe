//! Heads of Matrix Market and KONECT files.
//!
//! A Matrix Market file has a banner, comments, and a line with the numbers of rows, columns and entries. The lines that
//! follow are read as edges, so this module only checks whether they are those of a graph, and how many there are. A
//! rectangular matrix is a graph of two kinds of nodes. <https://math.nist.gov/MatrixMarket/formats.html>
//!
//! A KONECT file says in its first line whether edges have directions or two kinds of nodes, and what its third column
//! is. <http://konect.cc/files/>

use super::column_names::{Chosen, ColumnChoice};
use super::recognize::LineReading;
use super::recognize::sampled_lines::Sample;
use super::understood::Roles;
use super::{InputFormat, formats};
use crate::decompress::unpacked_name;
use crate::fault::bad_input;
use crate::layout::{BYTE_ORDER_MARK, Layout};
use crate::text::number::{is_digits, parsed};
use crate::{Delimiter, EdgeFormat, InputOptions, Rows};
use outcore_io::error::opt::{DIRECTED, FORMAT, HEADER};
use outcore_io::error::{Error, Opt, Result};
use std::path::Path;

const BANNER: &[u8] = b"%%matrixmarket";

/// Contents of a banner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Banner {
    has_values: bool,
}

/// Size of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MatrixSize {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) entries: u64,
}

impl MatrixSize {
    /// Returns whether rows and columns are the same nodes.
    pub(crate) fn is_square(self) -> bool {
        self.rows == self.columns
    }

    /// Returns, for each of the names of an edge, whether it is a row or a column: a number from 1, without leading
    /// zeros.
    pub(crate) fn has(self, names: [&[u8]; 2]) -> [bool; 2] {
        let is_within = |name: &[u8], count: u64| {
            let is_number = name[0] != b'0' && is_digits(name);
            is_number && parsed(name).is_some_and(|number: u64| number <= count)
        };
        [is_within(names[0], self.rows), is_within(names[1], self.columns)]
    }
}

/// Returns the banner of a file that begins with these bytes, if it has one and should be read accordingly.
///
/// # Errors
/// `BadInput` for a matrix that is not a list of edges; `Usage` if half of its edges would be lost.
pub(crate) fn banner(start: &[u8], path: &Path, options: &InputOptions) -> Result<Option<Banner>> {
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let banner = line.to_ascii_lowercase();
    let is_asked = options.format == EdgeFormat::Auto
        && options.comment.is_none()
        && options.rows == Rows::Edges;
    if is_asked && !banner.starts_with(BANNER) {
        return refuse_without_banner(line, &banner, path, options).map(|()| None);
    }
    if !is_asked {
        return Ok(None);
    }
    let banner = String::from_utf8_lossy(&banner);
    let words: Vec<&str> = banner.split_ascii_whitespace().skip(1).collect();
    let [object, form, field, symmetry] = words[..] else {
        return Err(bad_input(path, "begins with an incomplete Matrix Market banner")
            .note("it should continue with `matrix coordinate real general`, or similar")
            .hint(format_args!("write the file again, or use {}", as_lines())));
    };
    let is_known = ["real", "double", "integer", "unsigned-integer", "pattern"].contains(&field);
    if (object, form) != ("matrix", "coordinate") || !is_known {
        let message = format!("holds `{object} {form} {field}`, which is not a list of edges");
        return Err(bad_input(path, &message)
            .hint("write it as `matrix coordinate` with `real`, `integer` or `pattern` entries"));
    }
    if !["general", "symmetric", "skew-symmetric", "hermitian"].contains(&symmetry) {
        let message =
            format!("has the unknown symmetry `{}` in its banner", symmetry.escape_default());
        return Err(bad_input(path, &message)
            .note("a matrix is `general`, `symmetric`, `skew-symmetric` or `hermitian`")
            .hint(format_args!("write the file again, or use {}", as_lines())));
    }
    if symmetry != "general" && options.directed {
        return Err(of_both_directions(
            path,
            &format!("is {symmetry}: it stores one of two entries"),
        ));
    }
    Ok(Some(Banner { has_values: field != "pattern" }))
}

/// Returns the error for a file of edges without direction where arcs are wanted.
pub(super) fn of_both_directions(path: &Path, what: &str) -> Error {
    let path = path.display();
    Error::usage(format_args!("`{path}` {what}, and {DIRECTED} would lose the other"))
        .hint(format_args!("leave {DIRECTED} out"))
}

/// Returns the options that read a file as lines below a header.
fn as_lines() -> Opt {
    FORMAT.of("lines").with(HEADER.of("yes"))
}

/// Refuses a file whose banner is damaged, or that is named like a matrix but has none.
fn refuse_without_banner(
    line: &[u8],
    banner: &[u8],
    path: &Path,
    options: &InputOptions,
) -> Result<()> {
    let word =
        banner.trim_ascii_start().iter().position(|byte| !b"%#! ".contains(byte)).unwrap_or(0);
    let (is_damaged, is_named) =
        (banner[word..].starts_with(&BANNER[2..]), unpacked_name(path).ends_with(".mtx"));
    if !is_damaged && (!is_named || options.columns.is_some()) {
        return Ok(());
    }
    let rest = String::from_utf8_lossy(&line[word..line.len().min(word + 80)])
        .escape_default()
        .to_string();
    let (message, hint) = match is_damaged {
        true => (
            "has a damaged banner of Matrix Market",
            format!("replace its first line by `%%{rest}`"),
        ),
        false => (
            "is named like a Matrix Market file, but does not begin with its banner",
            "fetch or write it again, or put first `%%MatrixMarket matrix coordinate real general`"
                .into(),
        ),
    };
    Err(bad_input(path, message)
        .note(format_args!("{} reads it as lines anyway", FORMAT.of("lines")))
        .hint(hint))
}

/// Reads the numbers of rows, columns and entries from the first line that is not a comment.
///
/// # Errors
/// `BadInput` if it is not a size.
fn size(line: &[u8], path: &Path) -> Result<MatrixSize> {
    let line = String::from_utf8_lossy(line);
    let numbers = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    match numbers.as_deref() {
        Some(&[rows, columns, entries]) => Ok(MatrixSize { rows, columns, entries }),
        _ => {
            let shown: String = line.chars().take(60).collect();
            let message = format!("has no valid size line: `{}`", shown.escape_default());
            Err(bad_input(path, &message)
                .note("the size line holds the numbers of rows, columns and entries")
                .hint(format_args!("write the file again, or use {}", as_lines())))
        }
    }
}

/// Returns the format of a file with this banner.
///
/// # Errors
/// `BadInput` for a size that cannot be read.
pub(super) fn format(sample: &Sample<'_>, banner: Option<Banner>) -> Result<InputFormat> {
    let options = sample.options;
    let size = size(sample.lines[0], sample.path)?;
    let has_values = banner.is_some_and(|banner| banner.has_values);
    let weight = has_values.then_some(2).filter(|_| !options.ignore_weights);
    let (comment, transform) = (sample.comment.clone(), options.weight_transform);
    let layout = Layout { weight, transform, comment, ..Layout::of(Delimiter::Spaces) };
    let names: [&[u8]; 3] = [b"row", b"column", b"value"];
    let count = 2 + usize::from(has_values);
    let rows = Rows::Edges;
    let roles = Roles { names: &names, count, source: 0, target: 1, weight, transform, rows };
    let is_of_two = !size.is_square() || options.two_mode;
    Ok(InputFormat {
        kinds: is_of_two.then(|| ["row:".into(), "column:".into()]),
        matrix: Some(size),
        ..InputFormat::of(sample, layout, roles.text(), true)
    })
}

/// What the first line of a KONECT file says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Konect {
    two_mode: bool,
    has_weights: bool,
    pub(super) is_directed: bool,
}

/// Returns what the first line says, if it is that of a KONECT file.
///
/// # Errors
/// `BadInput` for a kind that is not a list of edges.
pub(super) fn konect(sample: &Sample<'_>) -> Result<Option<Konect>> {
    let options = sample.options;
    let is_asked = options.format == EdgeFormat::Auto
        && options.columns.is_none()
        && options.rows == Rows::Edges;
    let Some(first) = sample.comments.first().filter(|_| is_asked) else { return Ok(None) };
    let line = String::from_utf8_lossy(first.line);
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let ["%", kind @ ("sym" | "asym" | "bip"), weights] = words[..] else { return Ok(None) };
    let has_weights = match weights {
        "unweighted" => false,
        "dynamic" => {
            return Err(bad_input(
                sample.path,
                "lists edges that appear and disappear, not one graph",
            )
            .hint("write the edges of one moment as lines"));
        }
        _ => true,
    };
    if kind == "sym" && options.directed {
        return Err(of_both_directions(sample.path, "is `sym`: a line stands for two arcs"));
    }
    Ok(Some(Konect { two_mode: kind == "bip", has_weights, is_directed: kind == "asym" }))
}

impl Konect {
    /// Sets the columns of a reading: source, target, and a weight if lines have one.
    pub(super) fn apply(self, reading: &mut LineReading<'_>) {
        let has_weights = self.has_weights && reading.split.width > 2;
        let format = formats::FORMATS.iter().find(|format| format.name == "KONECT");
        let chosen = Chosen::by_place(0, 1, has_weights.then_some(2));
        reading.choice = ColumnChoice::Use(Chosen { format, two_mode: self.two_mode, ..chosen });
    }
}

/// Checks that a file has the number of entries that it declares.
pub(crate) fn check_entries(declared: u64, found: u64, path: &Path) -> Result<()> {
    if declared == found {
        return Ok(());
    }
    let [reported, found] = [declared, found].map(outcore_io::units::format_count);
    Err(bad_input(path, &format!("declares {reported} entries, but has {found}"))
        .hint("fetch or write the file again; it may have been cut off"))
}
