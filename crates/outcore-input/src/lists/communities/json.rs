//! JSON lines: an object per node, as the command writes them to `.jsonl`.

use super::super::edges::{ListEdges, Progress};
use super::super::words::Words;
use super::read::next_text;
use super::shape::is_path;
use crate::format::names::{self, ColumnKind};
use crate::format::recognize::question;
use crate::options::Column;
use outcore_io::error::opt::COMMUNITY_COLUMNS;
use outcore_io::error::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// JsonMembers of an object, in the order of the text.
struct JsonMembers(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for JsonMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct OfMap;
        impl<'de> Visitor<'de> for OfMap {
            type Value = JsonMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<JsonMembers, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(OfMap)
    }
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
    let mut roles = None;
    while next_text(words)? {
        let Ok(JsonMembers(members)) = serde_json::from_slice(words.word()) else {
            return words
                .fail("line is not an object", "expected `{\"node\": ..., \"community\": ...}`");
        };
        if roles.is_none() {
            roles = Some(roles_of(&members, words, edges)?);
        }
        let Some(JsonRoles { node, community, are_paths }) = &roles else { continue };
        let name = text_of(&members, node, words)?;
        let found = text_of(&members, community, words)?;
        let found = match are_paths {
            true if is_path(found.as_bytes()) => found.split(':').next().unwrap_or_default(),
            true => {
                return words.fail("path cannot be read", "expected numbers joined by colons");
            }
            false => &found,
        };
        edges.begin(name.as_bytes());
        edges.push(words, found.as_bytes(), None)?;
    }
    Ok(())
}

/// Returns the text of a name: a string, or a whole number.
fn text_of(members: &[(String, Value)], wanted: &str, words: &Words) -> Result<String> {
    match members.iter().find(|(name, _)| name == wanted).map(|(_, value)| value) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) if !number.is_f64() => Ok(number.to_string()),
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
            let first = format!("its first object has {}", names::listed(&names));
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
