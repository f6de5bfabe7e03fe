//! Errors in the style of rustc: the place, a mark under the fault, notes, and what to type.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};
use outcore::Error;
use std::borrow::Cow;

/// Escapes whatever controls a terminal, because names of files and columns may contain any character: control
/// characters, and marks that change the direction of writing.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| {
        let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}');
        letter.is_control()
            || turns
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => shown.extend(letter.escape_default()),
            letter if letter.is_ascii_control() => {
                shown += &format!("\\x{:02x}", u32::from(letter));
            }
            letter if steers(letter) => shown.extend(letter.escape_unicode()),
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Like [`printable`], for several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Formats an error in several lines, with colors, without a final line end.
pub(crate) fn error(error: &Error) -> String {
    let message = printable(error.message());
    let title = Level::ERROR.primary_title(&*message).id(error.kind().name());
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    let Some(place) = error.place() else {
        // Without a place there is no margin to align the notes with.
        let mut text = renderer.render(&[Group::with_title(title)]);
        error.kept_text().iter().for_each(|kept| text += &fact("kept", kept));
        error.notes().iter().for_each(|note| text += &fact("note", note));
        error.hint_text().iter().for_each(|hint| text += &fact("help", hint));
        return text;
    };
    let mark = AnnotationKind::Primary.span(place.span.0..place.span.1);
    let snippet = Snippet::source(&place.text)
        .line_start(place.line as usize)
        .annotation(mark.label(&place.expected));
    let mut elements: Vec<Element<'_>> = vec![snippet.into()];
    let kept = Level::NOTE.with_name("kept");
    elements.extend(error.kept_text().map(|text| kept.message(printable(text)).into()));
    elements.extend(error.notes().iter().map(|note| Level::NOTE.message(printable(note)).into()));
    elements.extend(error.hint_text().map(|hint| Level::HELP.message(printable(hint)).into()));
    let text = renderer.render(&[title.elements(elements)]);
    // The renderer would count the column within the text, which is only an excerpt around the fault.
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let margin = place.line.to_string().len();
    let blue = anstyle::AnsiColor::BrightBlue.on_default().bold();
    let path = place.path.display().to_string();
    let (path, line, column) = (printable(&path), place.line, place.column);
    format!("{first}\n{:margin$}{blue}-->{blue:#} {path}:{line}:{column}\n{rest}", "")
}

/// Formats a line below an error without a place.
pub(crate) fn fact(label: &str, text: &str) -> String {
    let bold = anstyle::Style::new().bold();
    format!("\n  = {bold}{label}{bold:#}: {}", printable(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore::ErrorKind;
    use outcore::Place;

    fn plain(shown: &Error) -> String {
        anstream::adapter::strip_str(&error(shown)).to_string()
    }

    #[test]
    fn a_bad_line_is_drawn_with_its_place() {
        let place = Place {
            path: "edges.tsv".into(),
            line: 48_211_907,
            column: 206,
            byte: 1_204_511_332,
            text: "... a\tb\tten".into(),
            span: (8, 11),
            expected: "a finite number, at least 0".into(),
        };
        let shown = Error::new(ErrorKind::BadWeight, "weight is not a number")
            .at(place)
            .note("byte 1204511332 of the file")
            .hint("use `--ignore-weights`");
        let expected = "\
error[bad-weight]: weight is not a number
        --> edges.tsv:48211907:206
         |
48211907 | ... a    b    ten
         |               ^^^ a finite number, at least 0
         |
         = note: byte 1204511332 of the file
         = help: use `--ignore-weights`";
        assert_eq!(plain(&shown), expected);
    }

    #[test]
    fn printed_text_cannot_control_a_terminal() {
        let place = Place {
            path: "\u{1b}[2Jedges\u{202e}.tsv\n".into(),
            line: 1,
            column: 1,
            byte: 0,
            text: "a".into(),
            span: (0, 1),
            expected: String::new(),
        };
        let reported = || {
            Error::new(ErrorKind::BadInput, "no column `\u{1b}]0;x\u{7}`")
                .note("its columns are `\u{9b}1m`")
                .hint("use `\r`")
        };
        for shown in [error(&reported()), error(&reported().at(place))] {
            let shown = anstream::adapter::strip_str(&shown).to_string();
            assert!(shown.contains(r"no column `\x1b]0;x\x07`"), "{shown}");
            assert!(shown.contains(r"`\u{9b}1m`") && shown.contains(r"use `\r`"), "{shown}");
            assert!(!shown.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'));
        }
        assert_eq!(printable("plain é"), "plain é");
    }

    #[test]
    fn an_error_without_a_place_is_drawn_in_few_lines() {
        let shown = Error::new(ErrorKind::MemoryTooSmall, "1 MiB is too little").hint("use more");
        assert_eq!(
            plain(&shown),
            "error[memory-too-small]: 1 MiB is too little\n  = help: use more"
        );
        let shown = Error::new(ErrorKind::Io, "cannot open `x`: no such file");
        assert_eq!(plain(&shown), "error[io]: cannot open `x`: no such file");
    }
}
