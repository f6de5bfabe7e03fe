//! Bad lines of text: what is wrong with them, where, and what to type.

use super::InputFormat;
use crate::chunk::{BadLine, Problem};
use crate::fault::{of_distance_zero, shorten};
use crate::layout::is_commented;
use crate::options::{Delimiter, Rows};
use crate::text::field::with_point;
use outcore_graph::weight::WeightTransform;
use outcore_io::error::opt::{
    COLUMNS, COMMENT, COMMUNITY_FORMAT, DELIMITER, HEADER, NODES, ON_BAD_LINE,
};
use outcore_io::error::{Error, ErrorKind, Place, Text};

impl InputFormat {
    /// Returns what is wrong with a line, in one clause.
    pub(crate) fn reason_of(&self, problem: Problem) -> String {
        match problem {
            Problem::MissingColumn(found) => {
                let (role, column) = self.layout.first_role_after(found as usize);
                let plural = if found == 1 { "" } else { "s" };
                format!("line has {found} column{plural}, but the {role} is column {column}")
            }
            Problem::ExtraColumn if !self.has_header => {
                "line has more columns than most lines".into()
            }
            other => other.reason(self.layout.rows),
        }
    }

    /// Returns what was expected, for the mark under the line.
    fn expected(&self, problem: Problem) -> String {
        let delimiter = || self.layout.delimiter.name();
        match problem {
            Problem::MissingColumn(1) => format!("no {} here", delimiter()),
            Problem::MissingColumn(_) => {
                format!("expected {} columns", self.layout.last_column() + 1)
            }
            Problem::TextAfterQuote => format!("expected a {} or the line end", delimiter()),
            other => other.expected(),
        }
    }

    /// Returns the error for a bad line.
    pub(crate) fn error_of(&self, bad: &BadLine<'_>) -> Error {
        let (fault, place) = (bad.fault, self.place_of(bad));
        let (byte, line) = (place.byte, place.line);
        let found = &bad.text[fault.start as usize..fault.end as usize];
        let mut error = Error::new(fault.problem.kind(), self.reason_of(fault.problem))
            .at(place)
            .note(format!("byte {byte} of the file"));
        if fault.problem.kind() == ErrorKind::MissingColumn {
            error = error.note(format!("columns are separated by {}", self.delimiter_text()));
        }
        if self.layout.rows.are_memberships() {
            let hint = "lines are `node<TAB>community`: correct this one, or remove it";
            return match fault.problem.kind() {
                ErrorKind::MissingColumn => error.hint(format_args!(
                    "{hint}; {} reads a community per line",
                    COMMUNITY_FORMAT.of("clusters")
                )),
                _ => error.hint(hint),
            };
        }
        let first = line == self.preamble_lines + 1 && !self.has_header;
        let advice = self.advice(fault.problem, found, first);
        let skip = Text::from(format_args!("{} to skip this line", ON_BAD_LINE.of("skip")));
        error.hint(match (advice, bad.can_skip) {
            (Some((advice, or)), true) => Text::from(format_args!("{advice}{or}{skip}")),
            (Some((advice, _)), false) => advice,
            (None, true) => format_args!("use {skip}").into(),
            (None, false) => "correct it, or leave it out".into(),
        })
    }

    /// Returns what to type, and the words that connect it with an alternative.
    fn advice(
        &self,
        problem: Problem,
        found: &[u8],
        is_first_line: bool,
    ) -> Option<(Text, &'static str)> {
        if self.layout.rows == Rows::Nodes {
            return None;
        }
        let layout = &self.layout;
        let columns = || {
            let (source, target) = (layout.source + 1, layout.target + 1);
            COLUMNS.of(format_args!("{source},{target}"))
        };
        let advice = match (problem.kind(), problem) {
            (ErrorKind::MissingColumn, _) => {
                self.advice_on_columns(problem, found, is_first_line)?
            }
            (ErrorKind::BadWeight, _) if with_point(found).is_some() => {
                let way = match layout.delimiter {
                    Delimiter::Byte(b',') => {
                        "replace decimal commas with points, or separate columns with semicolons"
                    }
                    _ => "replace commas with points: `tr , . < FILE | outcore ... -`",
                };
                return Some((way.into(), ", or use "));
            }
            (ErrorKind::BadWeight, Problem::WeightNotNumber) if is_first_line => {
                format_args!("use {} if this line names the columns", HEADER.of("yes")).into()
            }
            (ErrorKind::BadWeight, Problem::DistanceZero) => of_distance_zero(),
            // A transform of the weights is meaningless without them.
            (ErrorKind::BadWeight, _) if layout.transform != WeightTransform::None => return None,
            (ErrorKind::BadWeight, _) => {
                format_args!("use {} to ignore the weights", columns()).into()
            }
            (_, Problem::CommentOrEdge) => {
                let mark = String::from_utf8_lossy(&layout.comment);
                let (none, all) = (COMMENT.of("''"), COMMENT.of(format_args!("'{mark}'")));
                format_args!(
                    "use {none} if names begin with `{mark}`, {all} if such lines are comments"
                )
                .into()
            }
            (_, Problem::MissingName | Problem::FractionName) => {
                let ends = [Some(layout.source), Some(layout.target), layout.weight];
                let columns: Vec<String> =
                    ends.into_iter().flatten().map(|at| (at + 1).to_string()).collect();
                format_args!("use {} if it is a name", COLUMNS.of(columns.join(","))).into()
            }
            (_, Problem::EmptyTarget) => {
                format_args!("list nodes without edges in a file for {NODES}").into()
            }
            (_, Problem::NotUtf8) => "convert the file: `iconv -t UTF-8`".into(),
            (_, Problem::ExtraColumn) => format_args!(
                "quote names that contain a {}, use {} to ignore other columns",
                layout.delimiter.name(),
                columns()
            )
            .into(),
            _ => return None,
        };
        Some((advice, ", or "))
    }

    /// Returns what to type for a line that lacks a column.
    fn advice_on_columns(
        &self,
        problem: Problem,
        found: &[u8],
        is_first_line: bool,
    ) -> Option<Text> {
        if is_commented(found) {
            let mark = if found.starts_with(b"//") { "//" } else { "--" };
            return Some(format_args!("use {} if this is a comment", COMMENT.of(mark)).into());
        }
        if problem != Problem::MissingColumn(1) {
            return Some(format_args!("use {COLUMNS} to select the columns of the edge").into());
        }
        // Lines before others have columns.
        is_first_line.then(|| match other_delimiter(found, self.layout.delimiter) {
            Some(other) => format_args!("use {}", DELIMITER.of(other)).into(),
            None => format_args!("use {DELIMITER} to set the column separator").into(),
        })
    }

    /// Returns the place of a bad line.
    pub(crate) fn place_of(&self, bad: &BadLine<'_>) -> Place {
        let BadLine { fault, text, .. } = *bad;
        let (line_start, line_end) = (fault.line_start as usize, fault.line_end as usize);
        let (start, end) = (fault.start as usize, fault.end as usize);
        let column = String::from_utf8_lossy(&text[line_start..start]).chars().count() as u64 + 1;
        let (shown, span) =
            shorten(&text[line_start..line_end], start - line_start, end - line_start);
        Place {
            path: bad.path.to_path_buf(),
            line: bad.line,
            column,
            byte: bad.origin.byte + start as u64,
            text: shown,
            span,
            expected: self.expected(fault.problem),
        }
    }
}

/// Returns a delimiter that the line contains, as typed on the command line.
fn other_delimiter(line: &[u8], current: Delimiter) -> Option<&'static str> {
    let is_current = |byte| match current {
        Delimiter::Byte(current) => byte == current,
        Delimiter::Spaces => byte == b' ' || byte == b'\t',
    };
    [(b'\t', "tab"), (b',', "','"), (b';', "';'"), (b'|', "'|'"), (b' ', "space")]
        .into_iter()
        .find(|&(byte, _)| !is_current(byte) && line.contains(&byte))
        .map(|(_, text)| text)
}
