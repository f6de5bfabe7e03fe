//! Recognizes what the columns of lines are: by each delimiter, then the reading that the file supports best.
//!
//! A column is used because the file says so (its header, or the [table of formats](super::formats)), because there is
//! no other choice (two columns, or a number after them), or because the user says so. What most lines say decides; a
//! line that differs is a bad line. Anything else is a [`question`].

pub(super) mod doubts;
pub(crate) mod question;
pub(super) mod sampled_lines;

use super::column_names::{self, Chosen, ColumnChoice, ColumnKind, NamedColumns, are_of_edges};
use super::formats;
use crate::layout::Layout;
use crate::text::number::{has_comma, is_moment, is_number, is_whole_number, is_word, parsed};
use crate::text::split;
use crate::{Column, Delimiter, Header, InputOptions, Rows};
use outcore_io::error::Result;
use question::ColumnView;
use sampled_lines::{Sample, SplitLines};
use std::collections::HashSet;

const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b','),
    Delimiter::Byte(b';'),
    Delimiter::Spaces,
    Delimiter::Byte(b'|'),
];

/// Place of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderAt {
    None,
    First,
    /// In a comment before the lines.
    Comment(usize),
}

/// The lines as one delimiter splits them.
#[derive(Clone)]
pub(super) struct LineReading<'a> {
    pub(super) split: SplitLines<'a>,
    pub(super) header: HeaderAt,
    pub(super) names: Vec<&'a [u8]>,
    pub(super) kinds: Vec<ColumnKind>,
    pub(super) choice: ColumnChoice,
    /// Whether the first line may be a header or an edge.
    pub(super) is_header_unclear: bool,
}

impl<'a> LineReading<'a> {
    fn of(sample: &Sample<'a>, delimiter: Delimiter) -> Self {
        let options = sample.options;
        let split = SplitLines::of(sample, delimiter);
        let new = |split, header, names, kinds, choice, is_header_unclear| Self {
            split,
            header,
            names,
            kinds,
            choice,
            is_header_unclear,
        };
        let asks = |names: &[&[u8]], kinds: &[ColumnKind]| {
            let (rows, transform) = (options.rows, options.weight_transform);
            NamedColumns { names, kinds, rows, transform, weighted: !options.ignore_weights }
                .choose()
        };
        if options.header == Header::Auto {
            let kinds = SplitLines::kinds(&split.rows, split.width);
            for (at, comment) in sample.comments.iter().enumerate().rev().take(10) {
                let names = names_in_comment(comment.line, &sample.comment, delimiter);
                let choice = (names.len() == split.width).then(|| asks(&names, &kinds));
                if let Some(choice) = choice.filter(ColumnChoice::is_by_name) {
                    return new(split, HeaderAt::Comment(at), names, kinds, choice, false);
                }
            }
        }
        let body = &split.rows[1..];
        let mut names = split.rows[0].clone();
        // A single row proves nothing, unless the header names the ends.
        if has_row_names(&names, body, &sample.lines)
            && (body.len() > 1 || asks(&names, &[]).is_by_name())
        {
            names.insert(0, b"");
        }
        let kinds = SplitLines::kinds(body, names.len());
        let choice = match asks(&names, &kinds) {
            // Rows have a column that the header does not name.
            choice if names.len() < split.width && !choice.is_by_name() => ColumnChoice::AskEnds,
            choice => choice,
        };
        let found = match options.header {
            Header::Yes => Some(true),
            Header::No => Some(false),
            Header::Auto if names_a_column(options, &names) => Some(true),
            // The first pair of a result is a node with itself; a header has no name twice.
            Header::Auto if options.rows.are_memberships() && has_twins(&names) => Some(false),
            // Edges where communities are expected are refused by name.
            Header::Auto if options.rows.are_memberships() && are_of_edges(&names) => Some(true),
            Header::Auto => is_header(&names, &kinds, body, choice.is_by_name()),
        };
        let mut reading = match found {
            Some(true) => new(split, HeaderAt::First, names, kinds, choice, false),
            _ => {
                let kinds = SplitLines::kinds(&split.rows, split.width);
                let choice = asks(&[], &kinds);
                new(split, HeaderAt::None, Vec::new(), kinds, choice, found.is_none())
            }
        };
        reading.look_at_shape(options);
        reading
    }

    /// Uses the format whose shape the lines have, unless the header names the columns.
    fn look_at_shape(&mut self, options: &InputOptions) {
        let is_of_edges = options.rows == Rows::Edges && !self.choice.is_by_name();
        let may_be = is_of_edges && self.split.delimiter == Delimiter::Byte(b'\t');
        let Some(format) = may_be.then(|| formats::by_shape(self.body())).flatten() else { return };
        if let [Some(source), Some(target), weight] = format.places() {
            let weight = weight.filter(|_| !options.ignore_weights);
            let chosen = Chosen::by_place(source, target, weight);
            self.choice = ColumnChoice::Use(Chosen { format: Some(format), ..chosen });
        }
    }

    /// Returns the rows after the header.
    pub(super) fn body(&self) -> &[Vec<&'a [u8]>] {
        &self.split.rows[usize::from(self.header == HeaderAt::First)..]
    }

    /// Returns the names of the columns, or the first row if there is no header.
    pub(super) fn header_or_first(&self) -> &[&'a [u8]] {
        if self.names.is_empty() { &self.split.rows[0] } else { &self.names }
    }

    /// Returns the number of columns: as many as the header names, otherwise those of most lines.
    pub(super) fn column_count(&self) -> usize {
        if self.names.is_empty() { self.split.width } else { self.names.len() }
    }

    /// Returns whether all lines have one column more than the header names, which may be the first or the last.
    pub(super) fn has_unnamed(&self) -> bool {
        let count = self.names.len() + 1;
        let is_longer = |row: &Vec<&[u8]>| row.len() == count && !row[count - 1].is_empty();
        self.header == HeaderAt::First && self.body().iter().all(is_longer)
    }

    /// Returns the columns for a question about them.
    pub(super) fn view(&self) -> ColumnView<'_> {
        ColumnView {
            names: &self.names,
            kinds: &self.kinds,
            rows: self.body(),
            share: self.split.share,
            choice: &self.choice,
            is_header_unclear: self.is_header_unclear,
        }
    }

    /// Returns how well the file supports this reading: 4 if its columns are known by name or format, 3 if there is no
    /// other choice, 2 if it is a table of nodes, 1 if there are several columns.
    fn support(&self) -> u8 {
        // Words of a sentence may be names of columns, too.
        let are_columns = self.split.share > 0.5;
        let is_known = |chosen: &Chosen| chosen.by_name && are_columns || chosen.format.is_some();
        match &self.choice {
            _ if self.split.width < 2 => 0,
            choice if choice.chosen().is_some_and(is_known) => 4,
            choice if choice.chosen().is_some() => {
                if self.has_pairs_of_numbers() {
                    1
                } else {
                    3
                }
            }
            ColumnChoice::Nodes => 2,
            _ => 1,
        }
    }

    /// Returns whether each name is several numbers, so that spaces separate columns, too: `1 2<TAB>1 99`.
    fn has_pairs_of_numbers(&self) -> bool {
        let is_pair = |field: &&[u8]| {
            let mut parts = field.split(|&byte| byte == b' ').filter(|part| !part.is_empty());
            parts.clone().count() > 1 && parts.all(is_number)
        };
        let rows = self.body();
        !rows.is_empty() && rows.iter().all(|row| row.iter().take(2).any(is_pair))
    }

    /// Returns whether there are two columns, one of which contains `byte` without spaces around it.
    fn has_one_divided(&self, byte: u8) -> bool {
        let is_divided = |field: &[u8]| {
            let mut parts = field.split(|&found| found == byte);
            field.contains(&byte) && parts.all(|part| !part.is_empty() && part == part.trim_ascii())
        };
        let is_only = |one: usize| {
            let is_row = |row: &Vec<&[u8]>| {
                row.len() == 2 && is_divided(row[one]) && !row[1 - one].contains(&byte)
            };
            self.split.rows.iter().all(is_row)
        };
        self.split.width == 2 && (is_only(0) || is_only(1))
    }

    /// Returns whether the delimiter `other` occurs only inside numbers or around fields of this reading.
    fn absorbs(&self, other: Delimiter) -> bool {
        let is_free = |field: &&[u8]| match other {
            Delimiter::Spaces => !field.contains(&b' '),
            Delimiter::Byte(b',') if has_comma(field) => true,
            Delimiter::Byte(byte) => !field.contains(&byte),
        };
        self.split.rows.iter().all(|row| row.iter().all(is_free))
    }
}

/// Returns the best reading of the sample.
///
/// # Errors
/// `Usage` if two readings are equally good.
pub(super) fn recognize<'a>(
    sample: &Sample<'a>,
    known: Option<Delimiter>,
) -> Result<LineReading<'a>> {
    if let Some(delimiter) = known {
        return Ok(LineReading::of(sample, delimiter));
    }
    let readings = CANDIDATES.map(|delimiter| LineReading::of(sample, delimiter));
    // A tab that divides every line evenly separates the columns of communities, unless a header speaks for a comma: words
    // of a sentence may be names of columns, too.
    let [tabs, others @ ..] = &readings;
    let is_even = tabs.split.width > 1 && tabs.split.share >= 1.0;
    let are_memberships = sample.options.rows.are_memberships();
    if are_memberships
        && is_even
        && others
            .iter()
            .all(|other| other.split.delimiter == Delimiter::Spaces || other.support() < 4)
    {
        return Ok(tabs.clone());
    }
    let wanted = sample.options.columns.as_ref().map_or(0, |columns| columns_wanted(columns));
    let rank = |reading: &LineReading<'_>| {
        // If the user names the columns, a reading is no better because its columns leave no other choice.
        let has_all = wanted > 0 && reading.column_count() >= wanted;
        let support = reading.support();
        let support = if has_all && support < 4 { 1 } else { support };
        (u8::from(has_all), support, reading.split.share)
    };
    let best = readings
        .iter()
        .map(rank)
        .fold((0, 0, 0.0), |best, rank| if rank > best { rank } else { best });
    let mut equal = readings.iter().filter(|reading| rank(reading) == best);
    let mut found = equal.next().expect("one of them is the best");
    for other in equal {
        let (one, two) = (found.split.delimiter, other.split.delimiter);
        let is_tab = one == Delimiter::Byte(b'\t') && two != Delimiter::Spaces;
        let is_clear = wanted > 0 || best.1 < 3 || is_tab && !other.absorbs(one);
        if is_clear || found.split.rows == other.split.rows || found.absorbs(two) {
            continue;
        }
        if two != Delimiter::Spaces && other.absorbs(one)
            || one == Delimiter::Byte(b',') && other.absorbs(one)
        {
            found = other;
            continue;
        }
        return Err(question::delimiter(sample.path, found, other));
    }
    if wanted > 0 || best.1 == 4 {
        return Ok(found.clone());
    }
    undivided(sample, found, &readings)
}

/// Returns the best reading, whatever its number of columns, if its fields contain no other delimiter.
///
/// # Errors
/// `Usage` if another delimiter splits nearly all lines alike.
fn undivided<'a>(
    sample: &Sample<'a>,
    found: &LineReading<'a>,
    readings: &[LineReading<'a>; CANDIDATES.len()],
) -> Result<LineReading<'a>> {
    const TAB: Delimiter = Delimiter::Byte(b'\t');
    const BAR: Delimiter = Delimiter::Byte(b'|');
    let one = found.split.delimiter;
    let divides = |other: &LineReading<'_>| other.split.width > 1 && other.split.share >= 0.9;
    // Names contain no tabs.
    let tabs = &readings[0];
    if one != TAB && divides(tabs) && !found.absorbs(TAB) {
        return Ok(tabs.clone());
    }
    let may_divide = |other: &&LineReading<'_>| match other.split.delimiter {
        two if two == one || !divides(other) || found.choice.chosen().is_none() => false,
        // Names may have spaces, unless they are pairs of numbers.
        Delimiter::Spaces => found.has_pairs_of_numbers(),
        BAR if one == TAB || found.has_names_with(b'|') => false,
        // Words between spaces may be `a;size=2`.
        Delimiter::Byte(b';') if one == Delimiter::Spaces && found.has_names_with(b';') => false,
        // Words between spaces may be `sp|P1|A`.
        BAR if one == Delimiter::Spaces => !found.absorbs(BAR) && other.absorbs(one),
        Delimiter::Byte(byte) if one == TAB => {
            sample.options.rows == Rows::Edges && found.has_one_divided(byte)
        }
        two => !found.absorbs(two),
    };
    match readings.iter().find(may_divide) {
        Some(other) => Err(question::delimiter(sample.path, found, other)),
        None => Ok(found.clone()),
    }
}

impl LineReading<'_> {
    /// Returns whether the fields of the first two columns look like `sp|P1|A`, each with the same number of these
    /// bytes inside, while other fields have none.
    fn has_names_with(&self, byte: u8) -> bool {
        let parts = |field: &&[u8]| match field.last() {
            Some(last) if *last != byte => memchr::memchr_iter(byte, field).count(),
            _ => 0,
        };
        let are_alike = |row: &Vec<&[u8]>| match row.iter().map(parts).collect::<Vec<_>>()[..] {
            [one, two, ref rest @ ..] => {
                one > 0 && one == two && rest.iter().all(|&parts| parts == 0)
            }
            _ => false,
        };
        let rows = self.body();
        !rows.is_empty() && rows.iter().all(are_alike)
    }
}

/// Returns the number of columns that `--columns` needs at least.
fn columns_wanted(columns: &[Column]) -> usize {
    let number = |column: &Column| match column {
        Column::Number(number) => *number as usize,
        Column::Name(_) => 2,
    };
    columns.iter().map(number).max().unwrap_or(0).max(columns.len())
}

fn has_twins(names: &[&[u8]]) -> bool {
    (1..names.len()).any(|at| !names[at].is_empty() && names[..at].contains(&names[at]))
}

fn names_a_column(options: &InputOptions, names: &[&[u8]]) -> bool {
    let is_named = |column: &Column| match column {
        Column::Name(wanted) => names.iter().any(|name| name.trim_ascii() == wanted.as_bytes()),
        Column::Number(_) => false,
    };
    options.columns.as_ref().is_some_and(|columns| columns.iter().any(is_named))
}

/// Returns the names in a comment: `#node1<TAB>node2`, `# source, target`, `# Fields: query id, subject id` of BLAST.
fn names_in_comment<'a>(line: &'a [u8], comment: &[u8], delimiter: Delimiter) -> Vec<&'a [u8]> {
    let text = line.strip_prefix(comment).unwrap_or(line).trim_ascii();
    let (text, delimiter) = match text.strip_prefix(b"Fields:") {
        Some(fields) => (fields, Delimiter::Byte(b',')),
        None => (text, delimiter),
    };
    let names = split(&Layout::of(delimiter), text);
    names.into_iter().map(<[u8]>::trim_ascii).collect()
}

/// Returns whether the first line names the columns; `None` if that is unclear.
fn is_header(
    first: &[&[u8]],
    kinds: &[ColumnKind],
    body: &[Vec<&[u8]>],
    by_name: bool,
) -> Option<bool> {
    let is_named =
        |(at, field): (usize, &&[u8])| is_word(field) || field.is_empty() && (at == 0 || by_name);
    if !first.iter().enumerate().all(is_named) {
        let names = first.iter().filter(|field| is_word(field)).count();
        return if by_name && names + 1 == first.len() && !body.is_empty() {
            None
        } else {
            Some(false)
        };
    }
    let is_value = |field: &&&[u8]| is_number(field) || is_moment(field);
    let are_values = |at: usize| {
        let mut values = body.iter().filter_map(|row| row.get(at)).peekable();
        values.peek().is_some() && values.all(|value| is_value(&value))
    };
    // What recurs in other lines is the name of a node.
    let recurs = || body.iter().flatten().any(|field| first.contains(field));
    // A weight that is missing in some lines is still a number. A name is a number only if all names in its column are.
    let is_over_values = |at: usize| {
        let is_number = at > 1 && kinds.get(at) == Some(&ColumnKind::Number);
        is_word(first[at]) && (is_number || body.len() > 1 && are_values(at) && !recurs())
    };
    if by_name || column_names::begins_with_index(first) || (0..first.len()).any(is_over_values) {
        return Some(true);
    }
    if body.len() == 1 && (0..first.len()).any(|at| is_word(first[at]) && are_values(at)) {
        return None;
    }
    let is_of_names = |field: &&[u8]| column_names::is_header_word(field);
    match first.iter().filter(|field| is_of_names(field)).count() {
        0 if body.len() > 1 && column_names::begins_generic(first) && !recurs() => None,
        0 => Some(false),
        _ if body.is_empty() || recurs() => Some(false),
        all if all == first.len() => Some(true),
        _ => None,
    }
}

/// Returns whether rows begin with a column that the header does not name, as R writes row numbers and row names. Row
/// numbers rise; after a filter they may be in any order, if each occurs once, before a column of text, or in quotes before
/// one of numbers. Row names are in quotes, too.
fn has_row_names(header: &[&[u8]], rows: &[Vec<&[u8]>], lines: &[&[u8]]) -> bool {
    let number = |row: &Vec<&[u8]>| {
        Some(row[0]).filter(|field| is_whole_number(field)).and_then(parsed::<u64>)
    };
    let is_longer = |row: &Vec<&[u8]>| row.len() == header.len() + 1;
    if header.len() < 2 || rows.is_empty() || !rows.iter().all(is_longer) {
        return false;
    }
    let numbers: Option<Vec<u64>> = rows.iter().map(number).collect();
    let firsts: HashSet<&[u8]> = rows.iter().map(|row| row[0]).collect();
    let are_distinct = firsts.len() == rows.len();
    let are_text = || !rows.iter().all(|row| is_number(row[1]));
    let is_quoted = |line: &&[u8]| line.trim_ascii_start().starts_with(b"\"");
    let is_alone =
        |line: &&[u8]| line.split(|&byte| byte == b'"').nth(2).is_some_and(|rest| rest.len() > 1);
    let are_alone = || lines[1..].iter().all(|line| is_quoted(line) && is_alone(line));
    let are_apart = || !rows.iter().any(|row| row[1..].iter().any(|name| firsts.contains(name)));
    match numbers {
        Some(numbers) => {
            numbers.is_sorted_by(|a, b| a < b) || are_distinct && (are_text() || are_alone())
        }
        None => are_distinct && lines.iter().all(is_quoted) && are_apart(),
    }
}
