//! How each format writes a graph: its head, and templates for its nodes and edges.

use super::piece::Side;
use crate::graph::Graph;
use crate::output::{Encoding, ExportFormat, ValueKind};
use crate::present::NodeColumn;

/// How a format writes a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphText {
    /// How names are written between the other parts of a line.
    pub(crate) encoding: Encoding,
    /// Number of the first node, if nodes are numbers even where they have names.
    pub(super) first_number: Option<u64>,
    /// Nodes before the edges, if they are listed.
    pub(super) nodes: Option<NodeText>,
    /// Text of an edge: before the source, before the target, before the weight, after the weight, and the end of an
    /// edge without a weight.
    pub(super) edge: [&'static str; 5],
    /// Whether an identifier of the edge, and this text, come before the source.
    pub(super) identified: Option<&'static str>,
    /// Text of the neighbors of a node, if they are on one line.
    pub(super) row: Option<RowText>,
    /// Arcs of the rows of an undirected graph that are written.
    pub(super) side: Side,
    /// Text after the edges.
    pub(super) end: &'static str,
    pub(crate) has_directions: bool,
    pub(crate) has_loops: bool,
}

/// Text of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeText {
    /// Whether the number of the node comes first, counted from 1.
    pub(super) is_numbered: bool,
    /// Text before the name, and after the name of a node without attributes.
    pub(super) around: [&'static str; 2],
    /// Text between the name and its repetition as a label, if there is a label.
    pub(super) label: Option<&'static str>,
    /// Text before all attributes, before the name of each, before its value, after its value, and after all of them;
    /// absent if the format has no attributes.
    pub(super) attributes: Option<[&'static str; 5]>,
    /// Text after all nodes of a graph without directions, and of one with them.
    pub(super) end: [&'static str; 2],
}

/// Text of the neighbors of a node, which are numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowText {
    pub(super) begins_with_node: bool,
    /// What stands before a weight, and after the last neighbor.
    pub(super) weight: &'static str,
    pub(super) end: &'static str,
    /// Maximum of weights, if they must be whole numbers.
    pub(super) whole_up_to: Option<f64>,
}

/// Columns between tabs.
const LINES: GraphText = GraphText {
    encoding: Encoding::Text,
    first_number: None,
    nodes: None,
    edge: ["", "\t", "\t", "\n", "\n"],
    identified: None,
    row: None,
    side: Side::Above,
    end: "",
    has_directions: true,
    has_loops: true,
};
/// Columns of numbers between spaces.
const NUMBERS: GraphText =
    GraphText { first_number: Some(1), edge: ["", " ", " ", "\n", "\n"], ..LINES };
/// Elements of XML.
const ELEMENTS: GraphText = GraphText { encoding: Encoding::Xml, nodes: Some(NODE), ..LINES };
const NODE: NodeText = NodeText {
    is_numbered: false,
    around: ["<node id=\"", "\"/>\n"],
    label: None,
    attributes: Some(["\">", "<data key=\"", "\">", "</data>", "</node>\n"]),
    end: [""; 2],
};

impl ExportFormat {
    /// Returns how it writes a graph.
    #[rustfmt::skip]
    pub(crate) fn text(self) -> GraphText {
        match self {
            Self::Text => LINES,
            Self::Csv => GraphText { encoding: Encoding::Csv, edge: ["", ",", ",", "\n", "\n"], ..LINES },
            Self::JsonLines => GraphText {
                encoding: Encoding::Json,
                edge: ["{\"source\":", ",\"target\":", ",\"weight\":", "}\n", "}\n"],
                ..LINES
            },
            Self::Parquet | Self::Arrow => GraphText { encoding: Encoding::Utf8, ..LINES },
            // The entries of a symmetric matrix are on and below its diagonal.
            Self::MatrixMarket => GraphText { side: Side::Below, ..NUMBERS },
            Self::Metis => GraphText {
                // Readers of this format may have integers of 32 bits.
                row: Some(RowText { begins_with_node: false, weight: " ", end: "\n", whole_up_to: Some(2_147_483_647.0) }),
                side: Side::All,
                has_directions: false,
                has_loops: false,
                ..NUMBERS
            },
            Self::Mcl => GraphText {
                first_number: Some(0),
                row: Some(RowText { begins_with_node: true, weight: ":", end: " $\n", whole_up_to: None }),
                side: Side::All,
                end: ")\n",
                has_directions: false,
                ..NUMBERS
            },
            Self::Pajek => GraphText {
                encoding: Encoding::Pajek,
                nodes: Some(NodeText {
                    is_numbered: true, around: ["", "\n"], label: None, attributes: None, end: ["*Edges\n", "*Arcs\n"],
                }),
                ..NUMBERS
            },
            Self::Graphml => GraphText {
                edge: [
                    "<edge source=\"", "\" target=\"", "\"><data key=\"weight\">", "</data></edge>\n", "\"/>\n",
                ],
                end: "</graph>\n</graphml>\n",
                ..ELEMENTS
            },
            Self::Gexf => GraphText {
                nodes: Some(NodeText {
                    label: Some("\" label=\""),
                    attributes: Some(["\"><attvalues>", "<attvalue for=\"", "\" value=\"", "\"/>", "</attvalues></node>\n"]),
                    end: ["</nodes>\n<edges>\n"; 2],
                    ..NODE
                }),
                edge: ["<edge id=\"", "\" target=\"", "\" weight=\"", "\"/>\n", "\"/>\n"],
                identified: Some("\" source=\""),
                end: "</edges>\n</graph>\n</gexf>\n",
                ..ELEMENTS
            },
        }
    }

    /// Returns the text before the nodes and edges of a graph whose nodes have these attributes.
    pub(super) fn head(self, graph: &Graph, attributes: &[NodeColumn<'_>]) -> String {
        let (nodes, edges) = (graph.node_count(), graph.edge_count());
        let (is_directed, is_weighted) = (graph.is_directed(), graph.is_weighted());
        let direction = if is_directed { "directed" } else { "undirected" };
        let kind = |column: &NodeColumn<'_>| match column.kind_of_values() {
            ValueKind::Text => "string",
            ValueKind::Real => "double",
            _ => "long",
        };
        match self {
            Self::Text | Self::JsonLines | Self::Parquet | Self::Arrow => String::new(),
            Self::Csv => format!("source,target{}\n", if is_weighted { ",weight" } else { "" }),
            Self::MatrixMarket => {
                let field = if is_weighted { "real" } else { "pattern" };
                let symmetry = if is_directed { "general" } else { "symmetric" };
                let entries = edges + graph.loop_count();
                format!(
                    "%%MatrixMarket matrix coordinate {field} {symmetry}\n{nodes} {nodes} {entries}\n"
                )
            }
            Self::Metis => format!("{nodes} {edges}{}\n", if is_weighted { " 001" } else { "" }),
            Self::Mcl => {
                let begin = "(mclheader\nmcltype matrix\ndimensions";
                format!("{begin} {nodes}x{nodes}\n)\n(mclmatrix\nbegin\n")
            }
            Self::Pajek => format!("*Vertices {nodes}\n"),
            Self::Graphml => {
                let key = |name: &str, of: &str, kind: &str| {
                    format!(
                        "<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n"
                    )
                };
                let keys = attributes.iter().map(|column| key(column.name(), "node", kind(column)));
                let weight = is_weighted.then(|| key("weight", "edge", "double"));
                let keys: String = keys.chain(weight).collect();
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                     <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
                     {keys}<graph edgedefault=\"{direction}\">\n"
                )
            }
            Self::Gexf => {
                let attribute = |column: &NodeColumn<'_>| {
                    let (name, kind) = (column.name(), kind(column));
                    format!("<attribute id=\"{name}\" title=\"{name}\" type=\"{kind}\"/>\n")
                };
                let mut all: String = attributes.iter().map(attribute).collect();
                if !all.is_empty() {
                    all = format!("<attributes class=\"node\">\n{all}</attributes>\n");
                }
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                     <gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n\
                     <graph mode=\"static\" defaultedgetype=\"{direction}\">\n{all}<nodes>\n"
                )
            }
        }
    }

    /// Returns whether a node without an edge is in the file.
    pub fn holds_lone_nodes(self) -> bool {
        self.rows().is_none()
    }

    /// Returns whether attributes of nodes are in the file.
    pub(crate) fn holds_attributes(self) -> bool {
        self.text().nodes.is_some_and(|nodes| nodes.attributes.is_some())
    }
}
