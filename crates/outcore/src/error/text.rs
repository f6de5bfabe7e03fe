//! What an error says, with the options in it as data: the command writes `--work-dir /tmp`, Python
//! `work_dir="/tmp"`.
//!
//! A text is written as any other, by `format_args!` with an [`Opt`] among its arguments. Shown as it is, it has the
//! command's spelling; a surface that spells options otherwise goes through the [parts](Text::parts).

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Deref;

/// An option, and perhaps the value to give it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opt {
    /// As the command takes it, without the dashes: `work-dir`.
    pub name: Cow<'static, str>,
    /// What to give it.
    pub value: Option<String>,
    /// An option to give with it.
    pub with: Option<Box<Self>>,
}

impl Opt {
    /// The option of this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), value: None, with: None }
    }

    /// The option with this value.
    #[must_use]
    pub fn of(self, value: impl fmt::Display) -> Self {
        Self { value: Some(value.to_string()), ..self }
    }

    /// Both options together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { with: Some(Box::new(other)), ..self }
    }

    /// This option, and those to give with it.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |option| option.with.as_deref())
    }
}

/// Begins an option. A text that is put together knows it by its address, so nothing that a user has named, whatever its
/// letters, is taken for an option.
static OPENING: &str = "`--";
const VALUE: &str = " ";
const WITH: &str = " --";
const CLOSING: &str = "`";

/// As the command writes it: `` `--format lines --header yes` ``.
impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut opening = OPENING;
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

/// Words, and options among them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text {
    parts: Vec<Part>,
    /// All of it in the command's spelling.
    shown: String,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Words(String),
    /// An option.
    Option(Opt),
}

impl Text {
    /// The parts, in order.
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
        writer.write_fmt(arguments).expect("only what is written could fail, and it is in memory");
        writer.text
    }
}

/// Puts a text together from what is written.
#[derive(Default)]
struct TextWriter {
    text: Text,
    state: ComposeState,
}

/// What is written next.
#[derive(Default, Clone, Copy)]
enum ComposeState {
    #[default]
    Words,
    Name,
    Value,
    /// What an option goes on with, or its end.
    More,
}

impl TextWriter {
    /// The option that is written.
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
            ComposeState::Words if std::ptr::eq(written, OPENING) => {
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
        // Not `shown`: a text that this one becomes a part of has the options, too.
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
    fn a_text_has_its_options_as_parts() {
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
    fn what_a_user_has_named_is_no_option() {
        let name = String::from("`--memory 4GiB`");
        for text in
            [Text::from(&name), format_args!("{name}").into(), format_args!("{}", "`--").into()]
        {
            assert_eq!(text.parts(), [words(&text)]);
        }
    }
}
