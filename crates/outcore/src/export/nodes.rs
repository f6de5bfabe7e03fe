//! What stands around the edges in a file: its head with the nodes, and its end; and the list of nodes in a file of its
//! own, for formats whose nodes are numbers or that have no list of nodes.

use super::edges::encoding;
use super::encode::Encoding;
use super::format::ExportFormat;
use crate::error::Result;
use crate::graph::{Graph, KindScan};
use crate::io::Files;
use crate::membership::Membership;
use crate::output::{LineWriter, OutputColumn, Sink, TableWriter, Value, ValueKind};
use crate::progress::{Event, Observer, REPORT_NODES, notify};
use std::io::Write;
use std::path::Path;

/// Bytes that are collected before they are written.
const TEXT_BYTES: usize = 256 << 10;

/// What is known of nodes besides their names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeData<'a> {
    /// Label of each node, or [`Membership::NONE`], and the number of each label.
    pub(crate) communities: Option<(&'a [u32], &'a [u64])>,
    /// Number of nodes of the original graph in each node.
    pub(crate) sizes: Option<&'a [u64]>,
    /// Names of the two kinds of nodes, encoded where they are written between the edges.
    pub(crate) kinds: Option<&'a [String; 2]>,
}

/// Attribute of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attribute {
    name: &'static str,
    is_text: bool,
}

/// Value of a node in an attribute.
enum AttributeValue<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> NodeData<'a> {
    fn community(&self, node: usize) -> Option<u64> {
        let (labels, numbers) = self.communities?;
        let label = labels[node];
        (label != Membership::NONE).then(|| numbers[label as usize])
    }

    fn size(&self, node: usize) -> Option<u64> {
        self.sizes.map(|sizes| sizes[node])
    }

    /// Returns the attributes that nodes have.
    fn attributes(&self) -> Vec<Attribute> {
        let given = [
            ("community", false, self.communities.is_some()),
            ("size", false, self.sizes.is_some()),
            ("kind", true, self.kinds.is_some()),
        ];
        let given = given.into_iter().filter(|(.., is_given)| *is_given);
        given.map(|(name, is_text, _)| Attribute { name, is_text }).collect()
    }

    /// Returns the values of the attributes of a node, which is of the second kind or the first, if there are two.
    fn values(
        &self,
        node: usize,
        is_second: Option<bool>,
    ) -> impl Iterator<Item = Option<AttributeValue<'a>>> {
        let community = self.communities.map(|_| self.community(node));
        let numbers = community.into_iter().chain(self.sizes.map(|_| self.size(node)));
        let kind = self.kinds.map(|names| {
            is_second.map(|is_second| AttributeValue::Text(&names[usize::from(is_second)]))
        });
        numbers.map(|number| number.map(AttributeValue::Number)).chain(kind)
    }
}

/// Calls `take` with each node, its name (its number, if the graph has no names), and whether it is of the second kind,
/// if there are two.
fn for_each_node(
    graph: &Graph,
    observer: &dyn Observer,
    mut take: impl FnMut(usize, &[u8], Option<bool>) -> Result<()>,
) -> Result<()> {
    let mut kinds = graph.open_kinds()?.map(|kinds| kinds.scan());
    let mut names = if graph.has_names() { Some(graph.names()?) } else { None };
    let mut digits = itoa::Buffer::new();
    for node in 0..graph.node_count() {
        let name = match &mut names {
            None => digits.format(node).as_bytes(),
            Some(names) => names.next_name()?.unwrap_or_default(),
        };
        let kind = kinds.as_mut().map_or(Ok(None), KindScan::next_kind)?;
        take(node as usize, name, kind)?;
        if node.is_multiple_of(REPORT_NODES) {
            notify(observer, Event::Detail { text: "writing the nodes" })?;
        }
    }
    Ok(())
}

/// Writer of the text before and after the edges.
pub(super) struct Frame<'a> {
    pub(super) graph: &'a Graph,
    pub(super) format: ExportFormat,
    pub(super) output: &'a Path,
    pub(super) data: NodeData<'a>,
    pub(super) observer: &'a dyn Observer,
}

impl Frame<'_> {
    /// Writes what comes before the edges.
    ///
    /// # Errors
    /// `BadInput` for a name that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
    pub(super) fn begin(&self, sink: &mut Sink) -> Result<()> {
        let mut text = Vec::new();
        // Writing to a vector cannot fail.
        let _ = self.put_head(&mut text);
        if matches!(self.format, ExportFormat::Pajek | ExportFormat::Graphml | ExportFormat::Gexf) {
            let mut name_text = Vec::new();
            for_each_node(self.graph, self.observer, |node, name, kind| {
                name_text.clear();
                encoding(self.format).put(name, self.output, &mut name_text)?;
                let _ = self.put_node((node, kind), &name_text, &mut text);
                if text.len() >= TEXT_BYTES {
                    sink.write(&text)?;
                    text.clear();
                }
                Ok(())
            })?;
            text.extend_from_slice(match self.format {
                ExportFormat::Pajek if self.graph.is_directed() => b"*Arcs\n",
                ExportFormat::Pajek => b"*Edges\n",
                ExportFormat::Gexf => b"</nodes>\n<edges>\n",
                _ => b"",
            });
        }
        sink.write(&text)
    }

    /// Writes what comes after the edges.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(super) fn end(&self, sink: &mut Sink) -> Result<()> {
        sink.write(match self.format {
            ExportFormat::Mcl => b")\n",
            ExportFormat::Graphml => b"</graph>\n</graphml>\n",
            ExportFormat::Gexf => b"</edges>\n</graph>\n</gexf>\n",
            _ => b"",
        })
    }

    fn put_head(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let graph = self.graph;
        let (nodes, edges) = (graph.node_count(), graph.edge_count());
        let (is_directed, is_weighted) = (graph.is_directed(), graph.is_weighted());
        let direction = if is_directed { "directed" } else { "undirected" };
        match self.format {
            ExportFormat::Csv => {
                let weight = if is_weighted { ",weight" } else { "" };
                writeln!(out, "source,target{weight}")
            }
            ExportFormat::MatrixMarket => {
                let field = if is_weighted { "real" } else { "pattern" };
                let symmetry = if is_directed { "general" } else { "symmetric" };
                let entries = edges + graph.loop_count();
                writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}")?;
                writeln!(out, "{nodes} {nodes} {entries}")
            }
            ExportFormat::Metis => {
                writeln!(out, "{nodes} {edges}{}", if is_weighted { " 001" } else { "" })
            }
            ExportFormat::Mcl => {
                let begin = "(mclheader\nmcltype matrix\ndimensions";
                writeln!(out, "{begin} {nodes}x{nodes}\n)\n(mclmatrix\nbegin")
            }
            ExportFormat::Pajek => writeln!(out, "*Vertices {nodes}"),
            ExportFormat::Graphml => {
                const NAMESPACE: &str = "http://graphml.graphdrawing.org/xmlns";
                writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
                writeln!(out, "<graphml xmlns=\"{NAMESPACE}\">")?;
                let keys = self.data.attributes().into_iter().map(|attribute| {
                    (attribute.name, "node", if attribute.is_text { "string" } else { "long" })
                });
                for (name, of, kind) in
                    keys.chain(is_weighted.then_some(("weight", "edge", "double")))
                {
                    writeln!(
                        out,
                        "<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
                    )?;
                }
                writeln!(out, "<graph edgedefault=\"{direction}\">")
            }
            ExportFormat::Gexf => {
                writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
                writeln!(out, "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">")?;
                writeln!(out, "<graph mode=\"static\" defaultedgetype=\"{direction}\">")?;
                let attributes = self.data.attributes();
                if !attributes.is_empty() {
                    writeln!(out, "<attributes class=\"node\">")?;
                    for Attribute { name, is_text } in attributes {
                        let kind = if is_text { "string" } else { "long" };
                        writeln!(
                            out,
                            "<attribute id=\"{name}\" title=\"{name}\" type=\"{kind}\"/>"
                        )?;
                    }
                    writeln!(out, "</attributes>")?;
                }
                writeln!(out, "<nodes>")
            }
            ExportFormat::Text
            | ExportFormat::JsonLines
            | ExportFormat::Parquet
            | ExportFormat::Arrow => Ok(()),
        }
    }

    /// Appends a node, whose name is encoded.
    fn put_node(
        &self,
        (node, kind): (usize, Option<bool>),
        name: &[u8],
        out: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        let attributes = self.data.attributes().into_iter().zip(self.data.values(node, kind));
        let attributes = attributes.filter_map(|(attribute, value)| Some((attribute.name, value?)));
        match self.format {
            ExportFormat::Pajek => {
                write!(out, "{} ", node + 1)?;
                out.extend_from_slice(name);
                writeln!(out)
            }
            ExportFormat::Graphml => {
                out.extend_from_slice(b"<node id=\"");
                out.extend_from_slice(name);
                let mut is_empty = true;
                for (name, value) in attributes {
                    let before = if std::mem::take(&mut is_empty) { "\">" } else { "" };
                    write!(out, "{before}<data key=\"{name}\">")?;
                    put_value(&value, out)?;
                    out.extend_from_slice(b"</data>");
                }
                writeln!(out, "{}", if is_empty { "\"/>" } else { "</node>" })
            }
            _ => {
                out.extend_from_slice(b"<node id=\"");
                out.extend_from_slice(name);
                out.extend_from_slice(b"\" label=\"");
                out.extend_from_slice(name);
                let mut is_empty = true;
                for (name, value) in attributes {
                    let before = if std::mem::take(&mut is_empty) { "\"><attvalues>" } else { "" };
                    write!(out, "{before}<attvalue for=\"{name}\" value=\"")?;
                    put_value(&value, out)?;
                    out.extend_from_slice(b"\"/>");
                }
                writeln!(out, "{}", if is_empty { "\"/>" } else { "</attvalues></node>" })
            }
        }
    }
}

/// Appends the value of an attribute; text is encoded.
fn put_value(value: &AttributeValue<'_>, out: &mut Vec<u8>) -> std::io::Result<()> {
    match value {
        AttributeValue::Number(number) => write!(out, "{number}"),
        AttributeValue::Text(text) => out.write_all(text.as_bytes()),
    }
}

/// List of nodes in a file of its own: a name per line below a header, in the order of their numbers, with the attributes in
/// further columns.
pub(super) enum NodeList {
    Text(LineWriter),
    Table(Box<TableWriter>),
}

impl NodeList {
    /// Writes the nodes; the file appears when the list is finished.
    ///
    /// # Errors
    /// `BadInput` for a name that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
    pub(super) fn write(
        files: &Files,
        path: &Path,
        graph: &Graph,
        data: NodeData<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let attributes = data.attributes();
        let columns = std::iter::once(OutputColumn::new("node", ValueKind::Name));
        let columns: Vec<_> = columns
            .chain(attributes.iter().map(|attribute| OutputColumn {
                is_optional: true,
                ..OutputColumn::new(
                    attribute.name,
                    if attribute.is_text { ValueKind::Text } else { ValueKind::Number },
                )
            }))
            .collect();
        let mut rows = match TableWriter::create(files, path, &columns)? {
            Some(table) => Self::Table(Box::new(table)),
            None => Self::Text(LineWriter::create(files, path)?),
        };
        if let Self::Text(lines) = &mut rows {
            // Without a header, names with commas could be taken for columns.
            lines.bytes(b"node");
            for attribute in attributes {
                lines.bytes(b"\t").bytes(attribute.name.as_bytes());
            }
            lines.end()?;
        }
        let mut text = Vec::new();
        for_each_node(graph, observer, |node, name, kind| match &mut rows {
            Self::Text(lines) => {
                text.clear();
                Encoding::Text.put(name, path, &mut text)?;
                lines.bytes(&text);
                for value in data.values(node, kind) {
                    lines.bytes(b"\t");
                    match value {
                        Some(AttributeValue::Number(number)) => drop(lines.number(number)),
                        Some(AttributeValue::Text(value)) => {
                            text.clear();
                            Encoding::Text.put(value.as_bytes(), path, &mut text)?;
                            lines.bytes(&text);
                        }
                        None => {}
                    }
                }
                lines.end()
            }
            Self::Table(table) => {
                let values = data.values(node, kind).map(|value| match value {
                    Some(AttributeValue::Number(number)) => Value::Number(number),
                    Some(AttributeValue::Text(text)) => Value::Name(text.as_bytes()),
                    None => Value::None,
                });
                table.push(std::iter::once(Value::Name(name)).chain(values))
            }
        })?;
        Ok(rows)
    }

    /// Renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(super) fn finish(self) -> Result<u64> {
        match self {
            Self::Text(lines) => lines.finish(),
            Self::Table(table) => table.finish(),
        }
    }
}
