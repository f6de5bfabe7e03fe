//! What stands around the edges in a file: its head with the nodes, and its end; and the list of nodes in a file of its
//! own, for formats whose nodes are numbers or that have no list of nodes.

use super::format::NodeText;
use super::name_table::NameForm;
use crate::error::Result;
use crate::graph::{Graph, NameScan};
use crate::io::{Array, Files};
use crate::membership::Modules;
use crate::output::{ExportFormat, RowFile, RowWriter, Sink, Value};
use crate::present::{NodeColumn, NodeValues, Presented, for_each_node, write_nodes};
use crate::progress::{Event, Observer, notify};
use std::io::Write;
use std::path::Path;

/// Bytes that are collected before they are written.
const TEXT_BYTES: usize = 256 << 10;
/// Numbers of the flow that are read at a time.
const FLOW_BLOCK: u64 = 1 << 13;

/// What is known of nodes besides their names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeData<'a> {
    pub(crate) communities: Option<&'a Presented>,
    /// Names of the communities by their numbers, unless these are their names.
    pub(crate) names: Option<&'a [Box<str>]>,
    /// Modules of the nodes.
    pub(crate) modules: Option<&'a Modules>,
    /// Flow of the nodes, as codes.
    pub(crate) flow: Option<&'a Array<u64>>,
    /// Communities that the nodes stand for.
    pub(crate) of_communities: Option<&'a NetworkNodes>,
}

/// Communities as nodes, in their order.
#[derive(Debug)]
pub(crate) struct NetworkNodes {
    /// Number of nodes in each.
    pub(crate) sizes: Vec<u64>,
    /// Level of each, if they are modules.
    pub(crate) levels: Option<Vec<u64>>,
    /// Flow of the nodes in each, if it is known.
    pub(crate) flow: Option<Vec<f64>>,
}

/// Nodes of the graph to write, with what is known of them.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) files: &'a Files,
    pub(super) graph: &'a Graph,
    pub(super) data: NodeData<'a>,
    pub(super) observer: &'a dyn Observer,
}

impl<'a> Nodes<'a> {
    /// Returns the attributes that nodes have.
    fn attributes(&self) -> Result<Vec<NodeColumn<'a>>> {
        let mut columns = Vec::new();
        if let Some(communities) = self.data.communities {
            let numbers = communities.scan(self.files)?;
            let values = match self.data.names {
                Some(names) => NodeValues::Community(numbers, names),
                None => NodeValues::Number(numbers),
            };
            columns.push(NodeColumn::new("community", values).optional());
        }
        if let Some(modules) = self.data.modules {
            let (paths, counts) = (modules.scan(self.files)?, modules.scan(self.files)?);
            columns.push(NodeColumn::new("path", NodeValues::Modules(paths)).optional());
            columns.push(NodeColumn::new("level", NodeValues::ModuleCount(counts)).optional());
        }
        if let Some(flow) = self.data.flow {
            let codes = flow.read(self.files, FLOW_BLOCK)?;
            columns.push(NodeColumn::new("flow", NodeValues::Coded(codes)).optional());
        }
        if let Some(NetworkNodes { sizes, levels, flow }) = self.data.of_communities {
            let level = levels.iter().map(|levels| ("level", NodeValues::Size(levels.iter())));
            let flow = flow.iter().map(|flow| ("flow", NodeValues::Sum(flow.iter())));
            let size = std::iter::once(("size", NodeValues::Size(sizes.iter())));
            let all = size.chain(level).chain(flow);
            columns.extend(all.map(|(name, values)| NodeColumn::new(name, values).optional()));
        }
        columns.extend(NodeColumn::kind(self.graph)?.map(NodeColumn::optional));
        Ok(columns)
    }

    /// Returns the names of the nodes, if they have any.
    fn names(&self) -> Result<Option<NameScan>> {
        self.graph.has_names().then(|| self.graph.names()).transpose()
    }

    fn tick(&self) -> Result<()> {
        notify(self.observer, Event::Detail { text: "writing the nodes" })
    }

    /// Writes the list of nodes in the order of their numbers, with their attributes in further columns; the file appears
    /// when the writer is finished.
    ///
    /// # Errors
    /// `BadInput` for a name that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
    pub(super) fn write_list(&self, path: &Path) -> Result<RowWriter> {
        self.tick()?;
        // Without a header, names with commas could be taken for columns.
        let (file, columns) = (RowFile::new(path, true), self.attributes()?);
        write_nodes(self.files, self.graph, self.names()?, columns, file, &|_| self.tick())
    }

    /// Writes what comes before the edges.
    ///
    /// # Errors
    /// Like [`Nodes::write_list`].
    pub(super) fn begin(
        &self,
        format: ExportFormat,
        names: NameForm<'_>,
        sink: &mut Sink,
    ) -> Result<()> {
        let mut attributes = self.attributes()?;
        let mut text = format.head(self.graph, &attributes).into_bytes();
        if let Some(of_node) = format.text().nodes {
            self.tick()?;
            let (mut name_text, mut node) = (Vec::new(), 0u64);
            for_each_node(self.graph, self.names()?, &|_| self.tick(), |name| {
                node += 1;
                if of_node.is_numbered {
                    // Writing to a vector cannot fail.
                    let _ = write!(text, "{node} ");
                }
                name_text.clear();
                names.put(name, &mut name_text)?;
                put_node(&of_node, &name_text, &mut attributes, names, &mut text)?;
                if text.len() >= TEXT_BYTES {
                    sink.write(&text)?;
                    text.clear();
                }
                Ok(())
            })?;
            let end = of_node.end[usize::from(self.graph.is_directed())];
            text.extend_from_slice(end.as_bytes());
        }
        sink.write(&text)
    }
}

/// Appends a node, whose name is encoded.
fn put_node(
    of_node: &NodeText,
    name: &[u8],
    attributes: &mut [NodeColumn<'_>],
    names: NameForm<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let [first, mut after] = of_node.around;
    out.extend_from_slice(first.as_bytes());
    out.extend_from_slice(name);
    if let Some(label) = of_node.label {
        out.extend_from_slice(label.as_bytes());
        out.extend_from_slice(name);
    }
    if let Some([begin, before, between, behind, end]) = of_node.attributes {
        for column in attributes {
            let (key, value) = column.next()?;
            if matches!(value, Value::None) {
                continue;
            }
            let begin = if after == end { "" } else { begin };
            after = end;
            for text in [begin, before, key, between] {
                out.extend_from_slice(text.as_bytes());
            }
            match value {
                Value::Name(text) => names.put(text, out)?,
                // Writing to a vector cannot fail.
                Value::Number(number) => drop(write!(out, "{number}")),
                Value::Exact(number) => drop(write!(out, "{number}")),
                _ => unreachable!("attributes are names and numbers"),
            }
            out.extend_from_slice(behind.as_bytes());
        }
    }
    out.extend_from_slice(after.as_bytes());
    Ok(())
}
