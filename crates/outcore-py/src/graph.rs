//! Access to a graph on disk from Python, block by block and name by name.

use crate::all_edges::{NamedEdges, NumberedEdges};
use crate::errors::detached;
use crate::tables::Batches;
use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore::graph::{BlockScan, Graph, NameScan, Row};
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Names of neighbors, and weights of the edges to them.
type Neighbors = Vec<(Vec<u8>, f64)>;

/// Maximum number of nodes whose edges are one batch.
const BATCH_NODES: usize = 4096;
/// Number of blocks read ahead of the current one.
const READ_AHEAD: usize = 2;

/// Graph made by `outcore build`.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct GraphFile {
    graph: Arc<Graph>,
}

#[pymethods]
impl GraphFile {
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let graph = detached(py, || Graph::open(&Files::default(), &path))?;
        Ok(Self { graph: Arc::new(graph) })
    }

    #[getter]
    fn node_count(&self) -> u64 {
        self.graph.node_count()
    }

    #[getter]
    fn edge_count(&self) -> u64 {
        self.graph.edge_count()
    }

    #[getter]
    fn weight_total(&self) -> f64 {
        self.graph.weight_total() / if self.graph.is_directed() { 1.0 } else { 2.0 }
    }

    #[getter]
    fn is_directed(&self) -> bool {
        self.graph.is_directed()
    }

    #[getter]
    fn is_weighted(&self) -> bool {
        self.graph.is_weighted()
    }

    /// Returns the neighbors of a node and the weights of its edges. Reads the names up to that of the node,
    /// one block of the graph, and a block of names for each neighbor.
    fn neighbors(&self, py: Python<'_>, name: Vec<u8>) -> PyResult<Option<Neighbors>> {
        detached(py, || {
            let Some(node) = self.graph.node_named(&name)? else { return Ok(None) };
            let mut found = Vec::new();
            for row in self.graph.rows([node]) {
                let Row { self_loop, neighbors, .. } = row?;
                found.extend((self_loop > 0.0).then_some((node, self_loop)));
                found.extend(neighbors);
            }
            let names = self.graph.open_names()?;
            found
                .into_iter()
                .map(|(node, weight)| Ok((names.name(node)?, weight)))
                .collect::<Result<_>>()
                .map(Some)
        })
    }

    /// Returns the edges among the nodes with these names as batches with the columns `source`, `target` and
    /// `weight`, in which a node without edges is a loop of weight 0; or a name that no node has. Reads all names,
    /// and the blocks of the graph that contain such nodes; holds the given names in memory.
    fn subgraph(
        &self,
        py: Python<'_>,
        names: HashSet<Vec<u8>>,
    ) -> PyResult<(Option<Batches>, Option<Vec<u8>>)> {
        detached(py, || {
            let nodes = match self.indexes_of(names)? {
                Ok(nodes) => nodes,
                Err(missing) => return Ok((None, Some(missing))),
            };
            Ok((Some(Batches::new(Subgraph::new(self.graph.clone(), nodes))), None))
        })
    }

    /// Returns all edges as batches with the columns `source`, `target` and `weight`, as in `subgraph`. `memory` is the
    /// limit for names, as in the command.
    fn edges(&self, py: Python<'_>, memory: &str) -> PyResult<Batches> {
        let memory_bytes = detached(py, || outcore_cli::surface::memory_bytes(memory))?;
        Ok(Batches::new(NamedEdges::new(self.graph.clone(), memory_bytes)))
    }

    /// Returns all edges by the numbers of their nodes, as batches with the columns `source`, `target` and `weight`.
    fn numbered_edges(&self) -> Batches {
        Batches::new(NumberedEdges::new(self.graph.clone()))
    }

    /// Returns the degree of every node as batches with the columns `node` and `degree`.
    fn degrees(&self, py: Python<'_>) -> PyResult<Batches> {
        let reader = detached(py, || Degrees::open(&self.graph))?;
        Ok(Batches::new(reader))
    }

    /// Reads the whole graph and compares its checksums.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.graph.verify(&outcore::progress::Silent))
    }
}

/// Nodes and their names, in order of nodes.
type Nodes = BTreeMap<u32, String>;

impl GraphFile {
    /// Returns the nodes with these names; or a name that no node has.
    fn indexes_of(
        &self,
        mut wanted: HashSet<Vec<u8>>,
    ) -> Result<std::result::Result<Nodes, Vec<u8>>> {
        let mut names = self.graph.names()?;
        let mut nodes = Nodes::new();
        for index in 0u32.. {
            if wanted.is_empty() {
                break;
            }
            let Some(name) = names.next_name()? else { break };
            if wanted.remove(name) {
                nodes.insert(index, text_of(name)?.to_owned());
            }
        }
        Ok(wanted.into_iter().min().map_or(Ok(nodes), Err))
    }
}

fn text_of(name: &[u8]) -> Result<&str> {
    std::str::from_utf8(name).map_err(|_| {
        let message = format!("a name is not UTF-8: {}", name.escape_ascii());
        Error::new(ErrorKind::BadInput, message)
    })
}

/// Reader of the edges among some nodes.
struct Subgraph {
    graph: Arc<Graph>,
    nodes: Nodes,
    /// First node that has not been read.
    next: u32,
    schema: SchemaRef,
}

impl Subgraph {
    fn new(graph: Arc<Graph>, nodes: Nodes) -> Self {
        let fields = vec![
            Field::new("source", DataType::Utf8, false),
            Field::new("target", DataType::Utf8, false),
            Field::new("weight", DataType::Float64, false),
        ];
        Self { graph, nodes, next: 0, schema: Arc::new(Schema::new(fields)) }
    }

    /// Returns the edges of the next nodes. Arcs of directed graphs are stored at
    /// the node that they point to.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some((&first, _)) = self.nodes.range(self.next..).next() else { return Ok(None) };
        let nodes = self.nodes.range(first..).map(|(&node, _)| node).take(BATCH_NODES);
        let mut rows = (StringBuilder::new(), StringBuilder::new(), Float64Builder::new());
        let mut push = |source: &str, target: &str, weight| {
            rows.0.append_value(source);
            rows.1.append_value(target);
            rows.2.append_value(weight);
        };
        for row in self.graph.rows(nodes) {
            let Row { node, self_loop, neighbors, .. } = row?;
            let name = &self.nodes[&node];
            let mut is_alone = self_loop == 0.0;
            if !is_alone {
                push(name, name, self_loop);
            }
            for (target, weight) in neighbors {
                let Some(other) = self.nodes.get(&target) else { continue };
                is_alone = false;
                if self.graph.is_directed() {
                    push(other, name, weight);
                } else if node < target {
                    push(name, other, weight);
                }
            }
            if is_alone {
                push(name, name, 0.0);
            }
            self.next = node + 1;
        }
        let (mut sources, mut targets, mut weights) = rows;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(sources.finish()),
            Arc::new(targets.finish()),
            Arc::new(weights.finish()),
        ];
        RecordBatch::try_new(self.schema.clone(), columns)
            .map(Some)
            .map_err(|error| Error::new(ErrorKind::BadInput, error.to_string()))
    }
}

impl Iterator for Subgraph {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Subgraph {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Reader of names and degrees, block by block.
struct Degrees {
    blocks: BlockScan,
    names: NameScan,
    schema: SchemaRef,
}

impl Degrees {
    fn open(graph: &Graph) -> Result<Self> {
        let fields = vec![
            Field::new("node", DataType::Utf8, false),
            Field::new("degree", DataType::Int64, false),
        ];
        let blocks = graph.scan(0..graph.blocks().len(), READ_AHEAD);
        Ok(Self { blocks, names: graph.names()?, schema: Arc::new(Schema::new(fields)) })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(block) = self.blocks.next()? else { return Ok(None) };
        let mut names = StringBuilder::new();
        for _ in 0..block.node_count() {
            let name = self.names.next_name()?.unwrap_or_default();
            names.append_value(text_of(name)?);
        }
        let degrees: Int64Array =
            (0..block.node_count()).map(|local| Some(block.degree(local) as i64)).collect();
        let columns = vec![Arc::new(names.finish()) as _, Arc::new(degrees) as _];
        RecordBatch::try_new(self.schema.clone(), columns)
            .map(Some)
            .map_err(|error| Error::new(ErrorKind::BadInput, error.to_string()))
    }
}

impl Iterator for Degrees {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Degrees {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
