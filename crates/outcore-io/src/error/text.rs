//! Texts of errors and warnings, with the options in them as data: the command writes `--work-dir /tmp`, Python
//! `work_dir="/tmp"`.
//!
//! A text is written with `format_args!`, with [`Opt`]s among the arguments, each of which becomes a [part](Text::parts) as a
//! value. Displayed directly, a text has the spelling of the command; a front end with another spelling uses the parts.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
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

thread_local! {
    /// Option that is being written. A text being composed takes it from here, and any other writer gets its spelling.
    /// So what a user has named is never mistaken for an option, whatever its letters.
    static WRITTEN: RefCell<Option<Opt>> = const { RefCell::new(None) };
}

/// Writes options in the spelling of the command: `` `--format lines --header yes` ``.
impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = self.all().map(|option| match &option.value {
            Some(value) => format!("--{} {value}", option.name),
            None => format!("--{}", option.name),
        });
        let spelled = format!("`{}`", spelled.collect::<Vec<_>>().join(" "));
        WRITTEN.set(Some(self.clone()));
        let written = f.write_str(&spelled);
        WRITTEN.take();
        written
    }
}

/// Serializes options as pairs of name and value, for readers that spell them in their own syntax.
impl Serialize for Opt {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.all().map(|option| (&option.name, &option.value)))
    }
}

impl<'de> Deserialize<'de> for Opt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(Cow<'static, str>, Option<String>)>::deserialize(from)?;
        let all = pairs.into_iter().map(|(name, value)| Self { name, value, with: None });
        let first = all.rev().reduce(|with, option| option.with(with));
        first.ok_or_else(|| serde::de::Error::custom("there is no option"))
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
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
        let mut text = Self::default();
        text.write_fmt(arguments).expect("writing to memory does not fail");
        text
    }
}

/// Adds an option that is being written, or words.
impl Write for Text {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.shown += written;
        match (WRITTEN.take(), self.parts.last_mut()) {
            (Some(option), _) => self.parts.push(Part::Option(option)),
            (None, Some(Part::Words(words))) => words.push_str(written),
            (None, _) => self.parts.push(Part::Words(written.to_owned())),
        }
        Ok(())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parts, not `shown`: a text that includes this one then has its options, too.
        self.parts.iter().try_for_each(|part| match part {
            Part::Words(words) => f.write_str(words),
            Part::Option(option) => option.fmt(f),
        })
    }
}

/// Serializes the parts: words as text, options as lists.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.parts.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Self { parts: Vec::deserialize(from)?, shown: String::new() };
        Ok(Self { shown: text.to_string(), ..text })
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
        let (name, spelled) = (String::from("`--memory 4GiB`"), MEMORY.to_string());
        for text in [
            Text::from(&name),
            format_args!("{name}").into(),
            format_args!("{}", "`--").into(),
            format_args!("{spelled}").into(),
        ] {
            assert_eq!(text.parts(), [words(&text)]);
        }
    }
}
