//! GraphML and GEXF, by one reader of their common parts: nodes by `id`, edges by `source` and `target`. Sources: the
//! GraphML primer and the GEXF 1.3 primer. In GraphML, the weight is the data of a key that is named `weight`, with the
//! default of the key; in GEXF, the attribute `weight`. Otherwise it is 1. Elements are told by their names without
//! prefix. Graphs in nodes, hyperedges, ports, and weights that change over time are refused.
//!
//! The XML library gets the text from the window of [`Words`]; an element or a text of more than 1 MiB, and more than
//! 256 elements inside each other, are errors, so that its memory is bounded.

use super::edges::{ListEdges, WeightText};
use super::words::Words;
use crate::error::{Error, Result};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::io::{self, BufRead, Read};

const EVENT_LIMIT: u64 = 1 << 20;
const DEPTH_LIMIT: usize = 256;
/// Maximum length of a weight, and maximum number of keys that are weights.
const WEIGHT_LIMIT: usize = 256;
const KEYS_LIMIT: usize = 64;
/// Attributes that are read.
const ATTRIBUTES: [&str; 11] = [
    "id",
    "source",
    "target",
    "weight",
    "directed",
    "type",
    "key",
    "for",
    "attr.name",
    "edgedefault",
    "defaultedgetype",
];

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
struct Source<'w> {
    words: &'w mut Words,
    failure: Option<Error>,
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let found = self.fill_buf()?;
        let count = found.len().min(into.len());
        into[..count].copy_from_slice(&found[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source<'_> {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Start,
    Close,
    End,
}

/// Reader of elements.
struct Xml<'w> {
    reader: Reader<Source<'w>>,
    buffer: Vec<u8>,
    /// Name of the element that begins or ends, without prefix; empty if its prefix is not that of the first element.
    name: String,
    prefix: String,
    attributes: [Option<String>; ATTRIBUTES.len()],
    /// Text since the last element began.
    text: String,
    depth: usize,
}

impl<'w> Xml<'w> {
    fn new(words: &'w mut Words) -> Self {
        let mut reader = Reader::from_reader(Source { words, failure: None });
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            name: String::new(),
            prefix: String::new(),
            attributes: Default::default(),
            text: String::new(),
            depth: 0,
        }
    }

    fn words(&self) -> &Words {
        self.reader.get_ref().words
    }

    fn error(&self, message: &str, expected: &str) -> Error {
        self.words().error(message, expected)
    }

    fn get(&self, attribute: &str) -> Option<&str> {
        let at = ATTRIBUTES.iter().position(|name| *name == attribute)?;
        self.attributes[at].as_deref()
    }

    fn require(&self, attribute: &str) -> Result<&str> {
        self.get(attribute).ok_or_else(|| {
            let message = format!("`{}` has no attribute `{attribute}`", self.name);
            self.error(&message, "expected it in this element")
        })
    }

    /// Moves to the next item.
    fn next(&mut self) -> Result<Item> {
        loop {
            self.buffer.clear();
            self.reader.get_mut().words.begin_word();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(problem) => {
                    let failure = self.reader.get_mut().failure.take();
                    return Err(failure.unwrap_or_else(|| invalid(self.words(), &problem)));
                }
            };
            let text = match event {
                Event::Start(start) => {
                    let (name, prefix) = start.name().decompose();
                    let prefix = prefix.map_or("", |prefix| prefix.into_inner());
                    if self.depth == 0 {
                        self.prefix = prefix.into();
                    }
                    self.name.clear();
                    self.name.push_str(if prefix == self.prefix { name.into_inner() } else { "" });
                    self.text.clear();
                    self.depth += 1;
                    if let Err(problem) = read_attributes(&start, &mut self.attributes) {
                        return Err(invalid(self.words(), &problem));
                    }
                    if self.depth > DEPTH_LIMIT {
                        return Err(
                            self.error("elements are nested too deeply", "expected a graph")
                        );
                    }
                    return Ok(Item::Start);
                }
                Event::End(end) => {
                    let (name, prefix) = end.name().decompose();
                    let prefix = prefix.map_or("", |prefix| prefix.into_inner());
                    self.name.clear();
                    self.name.push_str(if prefix == self.prefix { name.into_inner() } else { "" });
                    self.depth -= 1;
                    return Ok(Item::Close);
                }
                Event::Eof if self.depth > 0 => {
                    return Err(self.error("file ends too early", "expected the end of an element"));
                }
                Event::Eof => return Ok(Item::End),
                Event::Text(text) => text.into_inner(),
                Event::CData(text) => text.into_inner(),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => letter.to_string().into(),
                    _ => continue,
                },
                _ => continue,
            };
            // Longer texts are not weights.
            if self.text.len() <= WEIGHT_LIMIT {
                self.text.push_str(&text);
            }
        }
    }
}

fn read_attributes(
    start: &BytesStart<'_>,
    into: &mut [Option<String>],
) -> std::result::Result<(), quick_xml::Error> {
    into.fill(None);
    for attribute in start.attributes() {
        let attribute = attribute?;
        if let Some(at) = ATTRIBUTES.iter().position(|known| *known == attribute.key.0) {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            into[at] = Some(value.into_owned());
        }
    }
    Ok(())
}

fn invalid(words: &Words, problem: &quick_xml::Error) -> Error {
    let reason = match problem {
        quick_xml::Error::Encoding(_) => "text is not UTF-8".to_string(),
        other => other.to_string(),
    };
    words.error(&format!("XML cannot be read: {reason}"), "expected valid XML from here on")
}

/// What is known so far of a graph.
#[derive(Default)]
struct Graph {
    has_begun: bool,
    /// Whether edges have no direction unless they say so.
    undirected: bool,
    /// Keys of GraphML that are weights, and the default of the first one that has one.
    keys: Vec<String>,
    default: String,
    /// Elements around the current one.
    is_in_key: bool,
    is_in_graph: bool,
    is_in_node: bool,
    is_in_edge: bool,
    /// Current edge.
    target: String,
    weight: String,
}

pub(super) fn read_graphml(words: &mut Words, edges: &mut ListEdges<'_>) -> Result<bool> {
    read(words, edges, false)
}

pub(super) fn read_gexf(words: &mut Words, edges: &mut ListEdges<'_>) -> Result<bool> {
    read(words, edges, true)
}

fn read(words: &mut Words, edges: &mut ListEdges<'_>, is_gexf: bool) -> Result<bool> {
    let mut xml = Xml::new(words);
    let mut graph = Graph::default();
    loop {
        let is_wanted = match xml.next()? {
            Item::End if graph.has_begun => return Ok(true),
            Item::End => return Err(xml.error("file has no graph", "expected an element `graph`")),
            Item::Start => graph.begin(&xml, edges, is_gexf)?,
            Item::Close => graph.end(&xml, edges)?,
        };
        if !is_wanted {
            return Ok(false);
        }
    }
}

impl Graph {
    fn begin(&mut self, xml: &Xml<'_>, edges: &mut ListEdges<'_>, is_gexf: bool) -> Result<bool> {
        match &*xml.name {
            "key" if !is_gexf && !self.is_in_graph => {
                let is_of_edges = matches!(xml.get("for"), None | Some("edge" | "all"));
                let name = xml.get("attr.name").unwrap_or_default();
                self.is_in_key = is_of_edges && name.eq_ignore_ascii_case("weight");
                if self.is_in_key && self.keys.len() == KEYS_LIMIT {
                    return Err(xml.error("too many keys are weights", "expected one"));
                } else if self.is_in_key {
                    self.keys.push(xml.require("id")?.into());
                }
            }
            "graph" if self.is_in_graph => {
                return Err(xml.error(
                    "graphs are nested",
                    "expected one graph, without graphs in its nodes",
                ));
            }
            "graph" if self.has_begun => {
                return Err(xml.error("file has several graphs", "expected one"));
            }
            "graph" => {
                let given = xml.get(if is_gexf { "defaultedgetype" } else { "edgedefault" });
                self.undirected = given != Some("directed");
                (self.has_begun, self.is_in_graph) = (true, true);
            }
            "hyperedge" | "port" if self.is_in_graph => {
                let message = format!("`{}` cannot be read", xml.name);
                return Err(xml.error(&message, "expected edges between two nodes"));
            }
            "node" if self.is_in_node => {
                return Err(xml.error("nodes are nested", "expected nodes without nodes inside"));
            }
            "node" if self.is_in_graph => {
                self.is_in_node = true;
                edges.begin(xml.require("id")?.as_bytes());
                return edges.push_alone(xml.words());
            }
            "edge" if self.is_in_graph => {
                self.is_in_edge = true;
                edges.begin(xml.require("source")?.as_bytes());
                self.target.clear();
                self.target.push_str(xml.require("target")?);
                self.weight.clear();
                self.weight.push_str(if is_gexf {
                    xml.get("weight").unwrap_or_default()
                } else {
                    ""
                });
                let direction = xml.get(if is_gexf { "type" } else { "directed" });
                edges.undirected = match direction {
                    Some("directed" | "true") => false,
                    Some("undirected" | "mutual" | "false") => true,
                    _ => self.undirected,
                };
            }
            "attvalue" if self.is_in_edge && xml.get("for") == Some("weight") => {
                let expected = "expected an attribute `weight` of the edge";
                return Err(xml.error("weight changes over time", expected));
            }
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, xml: &Xml<'_>, edges: &mut ListEdges<'_>) -> Result<bool> {
        match &*xml.name {
            "key" => self.is_in_key = false,
            "default" if self.is_in_key && self.default.is_empty() => {
                self.default.push_str(xml.text.trim());
            }
            "data" if self.is_in_edge => {
                let key = xml.get("key").unwrap_or_default();
                if self.keys.iter().any(|known| known == key) {
                    self.weight.clear();
                    self.weight.push_str(xml.text.trim());
                    if self.weight.is_empty() {
                        return Err(xml.error("weight is empty", "expected a number"));
                    };
                }
            }
            "graph" => self.is_in_graph = false,
            "node" => self.is_in_node = false,
            "edge" if self.is_in_edge => {
                self.is_in_edge = false;
                let weight =
                    [&self.weight, &self.default].into_iter().find(|text| !text.is_empty());
                let weight = weight.map(|text| WeightText { text: text.as_bytes(), from: 0 });
                return edges.push(xml.words(), self.target.as_bytes(), weight);
            }
            _ => {}
        }
        Ok(true)
    }
}
