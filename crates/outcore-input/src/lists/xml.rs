//! GraphML and GEXF, by one reader of their common parts: nodes by `id`, edges by `source` and `target`, labels as
//! [`labels`](super::labels) says: in GEXF the attribute `label`, in GraphML the data of a key that is named `label`, or
//! `name`. Sources: the
//! GraphML primer and the GEXF 1.3 primer. In GraphML, the weight is the data of a key that is named `weight`, with the
//! default of the key; in GEXF, the attribute `weight`. Otherwise it is 1. Elements are reported by their names without
//! prefix. Graphs in nodes, hyperedges, ports, and weights that change over time are refused.
//!
//! The XML library gets the text from the window of [`Words`]; an element or a text of more than 1 MiB, and more than
//! 256 elements inside each other, are errors, so that its memory is bounded.

use super::edges::{Declared, ListEdges, Progress, WeightText};
use super::words::Words;
use crate::NAME_LIMIT;
use outcore_io::error::{Error, Result};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use quick_xml::{Reader, XmlVersion};
use std::io::{self, BufRead, Read};

const EVENT_LIMIT: u64 = 1 << 20;
const DEPTH_LIMIT: usize = 256;
/// Maximum number of keys that are weights.
const KEYS_LIMIT: usize = 64;
/// Names of keys of GraphML that are labels of nodes; the first is preferred.
const LABEL_KEYS: [&str; 2] = ["label", "name"];
/// Returns whether the first element has this name, with or without a prefix.
pub(super) fn begins_with(head: &[u8], element: &[u8]) -> bool {
    let mut rest = head.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', ..] => b">",
            _ => break,
        };
        let Some(at) = memchr::memmem::find(rest, end) else { return false };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
    let Some(name) = rest.strip_prefix(b"<") else { return false };
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let name = name.split(is_end).next().unwrap_or_default();
    name.rsplit(|&byte| byte == b':').next() == Some(element)
}

/// Text for the XML library.
struct XmlSource<'w> {
    words: &'w mut Words,
    failure: Option<Error>,
}

impl Read for XmlSource<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for XmlSource<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let failure = match self.words.peek() {
            Ok(_) if self.words.bytes_of_word() <= EVENT_LIMIT => return Ok(self.words.window()),
            Ok(_) => self.words.error("element or text is longer than 1 MiB", "expected less"),
            Err(error) => error,
        };
        self.failure = Some(failure);
        Err(io::ErrorKind::Other.into())
    }

    fn consume(&mut self, bytes: usize) {
        self.words.advance(bytes);
    }
}

#[derive(Default)]
struct XmlGraph {
    is_gexf: bool,
    /// Prefix of the first element; elements with another one are of another vocabulary.
    prefix: Option<String>,
    depth: usize,
    has_begun: bool,
    /// Whether edges have no direction unless they say so.
    undirected: bool,
    keys: WeightKeys,
    is_in_graph: bool,
    node: LabeledNode,
    /// Target of the edge whose element has begun, and its weight.
    target: Option<String>,
    weight: Option<String>,
    /// Whether the current data are a weight.
    is_weight: bool,
    /// Text since the last element began.
    text: String,
}

/// Node whose element has begun; its id and label where labels may be names.
#[derive(Default)]
struct LabeledNode {
    is_open: bool,
    id: Option<String>,
    /// Its label with the preference of its key.
    label: Option<(usize, String)>,
    /// Preference of the key of the current data, if they are a label.
    key: Option<usize>,
}

/// Keys of GraphML that are weights.
#[derive(Default)]
struct WeightKeys {
    ids: Vec<String>,
    /// Keys that are labels of nodes, and their preference.
    labels: Vec<(String, usize)>,
    /// Default of the first one that has one.
    default: Option<String>,
    /// Whether the element of one has begun.
    is_open: bool,
}

pub(super) fn read_graphml(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    read(words, edges, XmlGraph::default())
}

pub(super) fn read_gexf(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    read(words, edges, XmlGraph { is_gexf: true, ..XmlGraph::default() })
}

fn read(words: &mut Words, edges: &mut ListEdges<'_>, mut graph: XmlGraph) -> Progress {
    edges.declared = Some(Declared::default());
    let mut reader = Reader::from_reader(XmlSource { words, failure: None });
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        reader.get_mut().words.begin_word();
        let event = reader.read_event_into(&mut buffer);
        let words = &*reader.get_ref().words;
        match event {
            Ok(Event::Start(start)) => graph.begin(&start, words, edges)?,
            Ok(Event::End(end)) => graph.end(end.name(), words, edges)?,
            Ok(Event::Text(text)) => graph.add_text(&text),
            Ok(Event::CData(text)) => graph.add_text(&text),
            Ok(Event::GeneralRef(reference)) => {
                let letter = reference.resolve_char_ref().ok().flatten();
                graph.add_text(letter.unwrap_or('?').encode_utf8(&mut [0; 4]))
            }
            Ok(Event::Eof) if graph.depth > 0 => {
                return words.fail("file ends too early", "expected the end of an element");
            }
            Ok(Event::Eof) if graph.has_begun => return Ok(()),
            Ok(Event::Eof) => {
                return words.fail("file has no graph", "expected an element `graph`");
            }
            Ok(_) => {}
            Err(problem) => {
                let invalid = invalid(words, &problem);
                return Err(reader.get_mut().failure.take().unwrap_or(invalid).into());
            }
        }
    }
}

fn invalid(words: &Words, problem: &quick_xml::Error) -> Error {
    let reason = match problem {
        quick_xml::Error::Encoding(_) => "text is not UTF-8".to_string(),
        other => other.to_string(),
    };
    words.error(&format!("XML cannot be read: {reason}"), "expected valid XML from here on")
}

/// Returns the value of an attribute.
fn get(start: &BytesStart<'_>, name: &str, words: &Words) -> Result<Option<String>> {
    let attribute = start.try_get_attribute(name).map_err(Into::into);
    let value = attribute.and_then(|attribute| {
        attribute.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0)).transpose()
    });
    Ok(value.map_err(|problem| invalid(words, &problem))?.map(Into::into))
}

fn require(start: &BytesStart<'_>, name: &str, words: &Words) -> Result<String> {
    get(start, name, words)?.ok_or_else(|| {
        let message = format!("`{}` has no attribute `{name}`", start.local_name().into_inner());
        words.error(&message, "expected it in this element")
    })
}

impl XmlGraph {
    fn begin(
        &mut self,
        start: &BytesStart<'_>,
        words: &Words,
        edges: &mut ListEdges<'_>,
    ) -> Progress {
        self.text.clear();
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return words.fail("elements are nested too deeply", "expected at most 256 levels");
        }
        let prefix = start.name().prefix().map_or("", |prefix| prefix.into_inner());
        self.prefix.get_or_insert_with(|| prefix.into());
        let name = self.known(start.name());
        if let Some((message, expected)) = self.refused(name) {
            return words.fail(message, expected);
        }
        match name {
            "key" if !self.is_gexf && !self.is_in_graph => self.begin_key(start, words)?,
            "graph" => {
                let name = if self.is_gexf { "defaultedgetype" } else { "edgedefault" };
                self.undirected = get(start, name, words)?.as_deref() != Some("directed");
                (self.has_begun, self.is_in_graph) = (true, true);
            }
            "node" if self.is_in_graph => {
                self.node.is_open = true;
                let node = require(start, "id", words)?;
                if edges.labels.is_none() {
                    edges.begin(node.as_bytes());
                    return edges.push_alone(words);
                }
                self.node.id = Some(node);
                let label = if self.is_gexf { get(start, "label", words)? } else { None };
                self.node.label = label.map(|label| (0, label));
            }
            "edge" if self.is_in_graph => self.begin_edge(start, words, edges)?,
            "data" if self.target.is_some() => {
                let key = get(start, "key", words)?;
                self.is_weight = key.is_some_and(|key| self.keys.ids.contains(&key));
            }
            "data" if self.node.is_open => {
                let key = get(start, "key", words)?;
                let label = self.keys.labels.iter().find(|(id, _)| key.as_ref() == Some(id));
                self.node.key = label.map(|(_, preference)| *preference);
            }
            "attvalue"
                if self.target.is_some()
                    && get(start, "for", words)?.as_deref() == Some("weight") =>
            {
                let expected = "expected an attribute `weight` of the edge";
                return words.fail("weight changes over time", expected);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns why an element cannot be read here, and what was expected.
    #[rustfmt::skip]
    fn refused(&self, name: &str) -> Option<(&'static str, &'static str)> {
        Some(match name {
            "graph" if self.is_in_graph => ("graphs are nested", "expected one graph, without graphs in its nodes"),
            "graph" if self.has_begun => ("file has several graphs", "expected one"),
            "hyperedge" if self.is_in_graph => ("`hyperedge` cannot be read", "expected edges between two nodes"),
            "port" if self.is_in_graph => ("`port` cannot be read", "expected edges between two nodes"),
            "node" if self.node.is_open => ("nodes are nested", "expected nodes without nodes inside"),
            _ => return None,
        })
    }

    /// Returns the name of an element, which is empty if it is of another vocabulary.
    fn known<'n>(&self, name: QName<'n>) -> &'n str {
        let prefix = name.prefix().map_or("", |prefix| prefix.into_inner());
        if self.prefix.as_deref() == Some(prefix) { name.local_name().into_inner() } else { "" }
    }

    fn begin_key(&mut self, start: &BytesStart<'_>, words: &Words) -> Result<()> {
        let is_of_edges = get(start, "for", words)?.is_none_or(|of| of == "edge" || of == "all");
        let is_of_nodes = get(start, "for", words)?.is_none_or(|of| of == "node" || of == "all");
        let name = get(start, "attr.name", words)?.unwrap_or_default();
        let label = LABEL_KEYS.iter().position(|label| name.eq_ignore_ascii_case(label));
        if let Some(preference) =
            label.filter(|_| is_of_nodes && self.keys.labels.len() < KEYS_LIMIT)
        {
            self.keys.labels.push((require(start, "id", words)?, preference));
        }
        self.keys.is_open = is_of_edges && name.eq_ignore_ascii_case("weight");
        if self.keys.is_open && self.keys.ids.len() == KEYS_LIMIT {
            return words.fail("too many keys are weights", "expected one");
        } else if self.keys.is_open {
            self.keys.ids.push(require(start, "id", words)?);
        }
        Ok(())
    }

    fn begin_edge(
        &mut self,
        start: &BytesStart<'_>,
        words: &Words,
        edges: &mut ListEdges<'_>,
    ) -> Result<()> {
        edges.begin(require(start, "source", words)?.as_bytes());
        self.target = Some(require(start, "target", words)?);
        self.weight = if self.is_gexf { get(start, "weight", words)? } else { None };
        if let Some(weight) = &self.weight {
            edges.check_weight(words, WeightText { text: weight.as_bytes(), from: 0 })?;
        }
        let direction = get(start, if self.is_gexf { "type" } else { "directed" }, words)?;
        edges.undirected = match direction.as_deref() {
            Some("directed" | "true") => false,
            Some("undirected" | "mutual" | "false") => true,
            _ => self.undirected,
        };
        Ok(())
    }

    fn end(&mut self, name: QName<'_>, words: &Words, edges: &mut ListEdges<'_>) -> Progress {
        self.depth -= 1;
        match self.known(name) {
            "key" => self.keys.is_open = false,
            "default" if self.keys.is_open => {
                self.keys.default.get_or_insert_with(|| self.text.trim().into());
            }
            "data" if std::mem::take(&mut self.is_weight) => {
                edges.check_weight(words, WeightText { text: self.text.as_bytes(), from: 0 })?;
                self.weight = Some(self.text.trim().into());
            }
            "data"
                if let Some(preference) = self.node.key.take()
                    && self.node.label.as_ref().is_none_or(|(known, _)| preference < *known) =>
            {
                self.node.label = Some((preference, self.text.trim().into()));
            }
            "graph" => self.is_in_graph = false,
            "node" => {
                self.node.is_open = false;
                let (Some(node), label) = (self.node.id.take(), self.node.label.take()) else {
                    return Ok(());
                };
                let label = label.as_ref().map(|(_, label)| label.as_bytes());
                return edges.declare(words, node.as_bytes(), label);
            }
            "edge" => {
                let Some(target) = self.target.take() else { return Ok(()) };
                let weight = self.weight.as_ref().or(self.keys.default.as_ref());
                let weight = weight.map(|text| WeightText { text: text.as_bytes(), from: 0 });
                return edges.push(words, target.as_bytes(), weight);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds text, unless it is too long for a name or a weight already.
    fn add_text(&mut self, text: &str) {
        if self.text.len() <= NAME_LIMIT {
            self.text.push_str(text);
        }
    }
}
