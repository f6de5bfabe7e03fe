//! Texts of errors, with the options in them as data: the command writes `--work-dir /tmp`, Python
//! `work_dir="/tmp"`.
//!
//! A text is written with `format_args!`, with [`Opt`]s among the arguments. Displayed directly, it has the
//! spelling of the command; a front end with another spelling uses the [parts](Text::parts).

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Deref;

/// Option, possibly with a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opt {
    /// Name in the command, without the dashes: `work-dir`.
    pub name: Cow<'static, str>,
    /// Value to give it.
    pub value: Option<String>,
    /// Another option to give with it.
    pub with: Option<Box<Self>>,
}

impl Opt {
    /// Creates the option of this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), value: None, with: None }
    }

    /// Returns the option with this value.
    #[must_use]
    pub fn of(self, value: impl fmt::Display) -> Self {
        Self { value: Some(value.to_string()), ..self }
    }

    /// Returns both options together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { with: Some(Box::new(other)), ..self }
    }

    /// Iterates over this option and those to give with it.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |option| option.with.as_deref())
    }
}

/// Beginning of an option, and more: no other literal is equal to all of it, so none is merged with it and gets its address.
static MARK: &str = "`--: beginning of an option in a text that is composed";

/// Returns the beginning of an option. It is recognized by its address when a text is composed, so that nothing that
/// a user has named is mistaken for an option, whatever its letters.
fn opening() -> &'static str {
    &MARK[..3]
}

const VALUE: &str = " ";
const WITH: &str = " --";
const CLOSING: &str = "`";

/// Writes options in the spelling of the command: `` `--format lines --header yes` ``.
impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut opening = opening();
        for option in self.all() {
            f.write_str(opening)?;
            f.write_str(&option.name)?;
            if let Some(value) = &option.value {
                f.write_str(VALUE)?;
                f.write_str(value)?;
            }
            opening = WITH;
        }
        f.write_str(CLOSING)
    }
}

/// Text of words and options.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text {
    parts: Vec<Part>,
    /// The complete text in the spelling of the command.
    shown: String,
}

/// Part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Words(String),
    /// An option.
    Option(Opt),
}

impl Text {
    /// Returns the parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl From<String> for Text {
    fn from(shown: String) -> Self {
        Self { parts: vec![Part::Words(shown.clone())], shown }
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        words.clone().into()
    }
}

impl From<&Self> for Text {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<Opt> for Text {
    fn from(option: Opt) -> Self {
        format_args!("{option}").into()
    }
}

impl From<fmt::Arguments<'_>> for Text {
    fn from(arguments: fmt::Arguments<'_>) -> Self {
        let mut writer = TextWriter::default();
        writer.write_fmt(arguments).expect("writing to memory does not fail");
        writer.text
    }
}

/// Writer that splits formatted output into parts.
#[derive(Default)]
struct TextWriter {
    text: Text,
    state: ComposeState,
}

/// Next expected piece of output.
#[derive(Default, Clone, Copy)]
enum ComposeState {
    #[default]
    Words,
    Name,
    Value,
    /// Continuation of an option, or its end.
    More,
}

impl TextWriter {
    /// Returns the option being written.
    fn option(&mut self) -> Option<&mut Opt> {
        let Some(Part::Option(first)) = self.text.parts.last_mut() else { return None };
        let mut last = first;
        while last.with.is_some() {
            last = last.with.as_mut()?;
        }
        Some(last)
    }
}

impl Write for TextWriter {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.text.shown += written;
        self.state = match self.state {
            ComposeState::Words if std::ptr::eq(written, opening()) => {
                self.text.parts.push(Part::Option(Opt::new("")));
                ComposeState::Name
            }
            ComposeState::Words => {
                match self.text.parts.last_mut() {
                    Some(Part::Words(words)) => words.push_str(written),
                    _ => self.text.parts.push(Part::Words(written.to_owned())),
                }
                ComposeState::Words
            }
            ComposeState::Name => {
                self.option().ok_or(fmt::Error)?.name = Cow::Owned(written.to_owned());
                ComposeState::More
            }
            ComposeState::Value => {
                self.option().ok_or(fmt::Error)?.value = Some(written.to_owned());
                ComposeState::More
            }
            ComposeState::More if written == VALUE => ComposeState::Value,
            ComposeState::More if written == WITH => {
                self.option().ok_or(fmt::Error)?.with = Some(Box::new(Opt::new("")));
                ComposeState::Name
            }
            ComposeState::More => ComposeState::Words,
        };
        Ok(())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not `shown`: a text that includes this one then has the options, too.
        self.parts.iter().try_for_each(|part| match part {
            Part::Words(words) => f.write_str(words),
            Part::Option(option) => option.fmt(f),
        })
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown.fmt(f)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.shown == other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.shown == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.shown == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::opt::{FORMAT, HEADER, MEMORY, RESTART};

    fn words(text: &str) -> Part {
        Part::Words(text.into())
    }

    #[test]
    fn options_are_parts_of_a_text() {
        let both = FORMAT.of("lines").with(HEADER.of("yes"));
        let text = Text::from(format_args!("use {both}, {} or {RESTART}", MEMORY.of("4GiB")));
        assert_eq!(text, "use `--format lines --header yes`, `--memory 4GiB` or `--restart`");
        let memory = Part::Option(MEMORY.of("4GiB"));
        let restart = Part::Option(RESTART);
        let parts =
            [words("use "), Part::Option(both), words(", "), memory, words(" or "), restart];
        assert_eq!(text.parts(), parts);
        let longer = Text::from(format_args!("{text}, or {RESTART} it"));
        assert_eq!(longer.parts()[..5], parts[..5]);
        assert_eq!(longer.parts().len(), 9);
        assert_eq!(longer.to_string(), format!("{text}, or `--restart` it"));
    }

    #[test]
    fn user_text_is_never_an_option() {
        let name = String::from("`--memory 4GiB`");
        for text in
            [Text::from(&name), format_args!("{name}").into(), format_args!("{}", "`--").into()]
        {
            assert_eq!(text.parts(), [words(&text)]);
        }
    }
}
