//! JSON lines: an object per node, as the command writes them to `.jsonl`.

use super::super::edges::{ListEdges, Progress};
use super::super::words::Words;
use super::read::next_text;
use super::shape::is_path;
use super::written::{self, STABILITY};
use crate::NAME_LIMIT;
use crate::format::column_names::{self, ColumnKind};
use crate::format::recognize::question;
use crate::options::{Column, Rows};
use outcore_io::error::opt::COMMUNITY_COLUMNS;
use outcore_io::error::{Error, ErrorKind, Result};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Maximum length of a line: a name of the largest length, each byte of which is escaped by six, and further members.
const LINE_LIMIT: usize = 8 * NAME_LIMIT;
/// What is expected of a line of a result.
const WRITTEN: &str = r#"an object such as {"node":"a","community":0}"#;

/// Name of a member, without a copy of it.
#[derive(serde::Deserialize)]
struct JsonName<'a>(#[serde(borrow)] Cow<'a, str>);

/// Value of a member, without a copy of its text.
enum JsonScalar<'a> {
    Text(Cow<'a, str>),
    Number(Number),
    Null,
    Other,
}

impl<'de> Deserialize<'de> for JsonScalar<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(OfScalar)
    }
}

struct OfScalar;

#[rustfmt::skip]
impl<'de> Visitor<'de> for OfScalar {
    type Value = JsonScalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("a value") }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Scalar<'de, E> { Ok(JsonScalar::Text(text.into())) }
    fn visit_str<E>(self, text: &str) -> Scalar<'de, E> { Ok(JsonScalar::Text(text.to_owned().into())) }
    fn visit_u64<E>(self, number: u64) -> Scalar<'de, E> { Ok(JsonScalar::Number(number.into())) }
    fn visit_i64<E>(self, number: i64) -> Scalar<'de, E> { Ok(JsonScalar::Number(number.into())) }
    fn visit_f64<E>(self, number: f64) -> Scalar<'de, E> { Ok(Number::from_f64(number).map_or(JsonScalar::Null, JsonScalar::Number)) }
    fn visit_unit<E>(self) -> Scalar<'de, E> { Ok(JsonScalar::Null) }
    fn visit_bool<E>(self, _: bool) -> Scalar<'de, E> { Ok(JsonScalar::Other) }
    fn visit_seq<A: SeqAccess<'de>>(self, all: A) -> Scalar<'de, A::Error> { IgnoredAny.visit_seq(all).map(|_| JsonScalar::Other) }
    fn visit_map<A: MapAccess<'de>>(self, all: A) -> Scalar<'de, A::Error> { IgnoredAny.visit_map(all).map(|_| JsonScalar::Other) }
}

type Scalar<'a, E> = std::result::Result<JsonScalar<'a>, E>;

/// Visitor that passes on the wanted members of an object.
struct EachMember<W, T, V> {
    is_wanted: W,
    take: T,
    values: PhantomData<V>,
}

impl<'de, W, T, V> Visitor<'de> for EachMember<W, T, V>
where
    W: Fn(&str) -> bool,
    T: FnMut(&str, V),
    V: Deserialize<'de>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(JsonName(name)) = map.next_key()? {
            match (self.is_wanted)(&name) {
                true => (self.take)(&name, map.next_value()?),
                false => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Passes on the wanted members of the object in the line, in the order of the text.
fn each_member<'w, V: Deserialize<'w>>(
    words: &'w Words,
    is_wanted: impl Fn(&str) -> bool,
    take: impl FnMut(&str, V),
) -> Result<()> {
    let mut text = serde_json::Deserializer::from_slice(words.word());
    let read = (&mut text).deserialize_map(EachMember { is_wanted, take, values: PhantomData });
    read.and_then(|()| text.end()).map_err(|error| match words.rows() {
        Rows::Written => {
            let message = format!("this is not a node and its community: {error}");
            words.wrong(ErrorKind::BadInput, &message, WRITTEN)
        }
        _ => words.error("line is not an object", "expected `{\"node\": ..., \"community\": ...}`"),
    })
}

/// Names of the members that are a node and its community.
struct JsonRoles {
    node: String,
    community: String,
    /// Whether communities are the first parts of paths.
    are_paths: bool,
}

/// Reads an object per line. The first one names the members, as a header names columns.
pub(super) fn json_lines(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    words.widen(LINE_LIMIT);
    let (mut roles, mut digits) = (None, itoa::Buffer::new());
    while next_text(words)? {
        if roles.is_none() {
            let mut members = Vec::new();
            each_member(words, |_| true, |name, value| members.push((name.to_owned(), value)))?;
            roles = Some(roles_of(&members, words, edges)?);
        }
        let Some(JsonRoles { node, community, are_paths }) = &roles else { continue };
        let (mut name, mut found) = (None, None);
        each_member(
            words,
            |member| member == node || member == community,
            |member, value| {
                let into = if member == node { &mut name } else { &mut found };
                into.get_or_insert(value);
            },
        )?;
        let name = text_of(name, node, words)?;
        let number = match &found {
            Some(JsonScalar::Number(number)) if !are_paths => number.as_u64(),
            _ => None,
        };
        let found = match number {
            Some(number) => digits.format(number).into(),
            None => text_of(found, community, words)?,
        };
        let found = match are_paths {
            true if is_path(found.as_bytes()) => found.split(':').next().unwrap_or_default(),
            true => {
                return words.fail("path cannot be read", "expected numbers joined by colons");
            }
            false => &found,
        };
        if words.rows() == Rows::Written {
            edges.push_row(words, name.as_bytes(), found.as_bytes())?;
        } else {
            edges.begin(name.as_bytes());
            edges.push(words, found.as_bytes(), None)?;
        }
    }
    Ok(())
}

/// Returns the text of a name: a string, or a whole number. In a result, the stability may be absent.
fn text_of<'a>(value: Option<JsonScalar<'a>>, wanted: &str, words: &Words) -> Result<Cow<'a, str>> {
    let is_written = words.rows() == Rows::Written;
    match value {
        Some(JsonScalar::Text(text)) if text.is_empty() && is_written => {
            Err(words.wrong(ErrorKind::EmptyName, "a name is missing", WRITTEN))
        }
        Some(JsonScalar::Text(text)) => Ok(text),
        Some(JsonScalar::Number(number)) if is_written || !number.is_f64() => {
            Ok(number.to_string().into())
        }
        None | Some(JsonScalar::Null) if is_written && wanted == STABILITY => Ok("NaN".into()),
        None if is_written => {
            let what = if ["community", "path"].contains(&wanted) { "community" } else { wanted };
            Err(words.wrong(ErrorKind::BadInput, &format!("this node has no {what}"), WRITTEN))
        }
        Some(_) => {
            let message = format!("`{wanted}` is not a name");
            words.fail(&message, "expected a string or a whole number")
        }
        None => words.fail(&format!("object has no `{wanted}`"), "expected it in every line"),
    }
}

fn roles_of(
    members: &[(String, Value)],
    words: &Words,
    edges: &ListEdges<'_>,
) -> Result<JsonRoles> {
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    if words.rows() == Rows::Written {
        let are_paths = !names.contains(&"community") && names.contains(&"path");
        let own = if are_paths { "path" } else { "community" };
        let wanted = written::wanted(edges.options);
        let (node, community) = ("node".to_owned(), wanted.unwrap_or(own).to_owned());
        return Ok(JsonRoles { node, community, are_paths: are_paths && wanted.is_none() });
    }
    let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let path = words.path().display();
    let given = edges.options.columns.as_deref().map(|columns| {
        let place = |column: &Column| match column {
            Column::Number(number) => {
                (*number as usize).checked_sub(1).filter(|&at| at < names.len())
            }
            Column::Name(name) => names.iter().position(|known| known == name),
        };
        columns.iter().map(place).collect::<Option<Vec<_>>>()
    });
    let [node, community] = match given.map(|given| given.unwrap_or_default()).as_deref() {
        Some(&[node, community]) => [node, community],
        Some(_) => {
            let message = format!("`{path}` has no such members as {COMMUNITY_COLUMNS} names");
            let first = format!("its first object has {}", column_names::listed(&names));
            return Err(Error::usage(message).note(first).hint("use two of these"));
        }
        None => {
            let kind = |(_, value): &(String, Value)| match value {
                Value::Number(_) => ColumnKind::Number,
                _ => ColumnKind::Text,
            };
            let kinds: Vec<ColumnKind> = members.iter().map(kind).collect();
            let texts: Vec<String> = members.iter().map(|(_, value)| value.to_string()).collect();
            let row = texts.iter().map(|text| text.trim_matches('"').as_bytes()).collect();
            question::of_objects(words.path(), &bytes, &kinds, row, edges.options)?
        }
    };
    let (node, community) = (names[node].to_owned(), names[community].to_owned());
    let are_paths = community == "path" && edges.options.columns.is_none();
    Ok(JsonRoles { node, community, are_paths })
}
