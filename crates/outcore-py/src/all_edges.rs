//! All edges of a graph as batches: with names, by the engine's export on a thread of its own; or with the numbers of
//! nodes, row by row.

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore::export::{for_each_edge, shortest_weight};
use outcore::graph::{Graph, Row};
use outcore::weight::Weight;
use outcore::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Maximum number of edges in a batch.
const BATCH_EDGES: usize = 1 << 14;
/// Bytes of names at which a batch is complete.
const BATCH_BYTES: usize = 4 << 20;
/// Number of batches that wait to be read.
const AHEAD: usize = 2;

fn schema(name: DataType) -> SchemaRef {
    let field = |(field, kind)| Field::new(field, kind, false);
    let fields = [("source", name.clone()), ("target", name), ("weight", DataType::Float64)];
    Arc::new(Schema::new(fields.map(field).to_vec()))
}

fn wrong(error: impl ToString) -> Error {
    Error::new(ErrorKind::BadInput, error.to_string())
}

/// Reader of the names and weights of all edges.
pub(crate) struct NamedEdges {
    batches: Receiver<Result<RecordBatch>>,
    schema: SchemaRef,
}

impl NamedEdges {
    /// Starts reading; names take at most `memory_bytes`.
    pub(crate) fn new(graph: Arc<Graph>, memory_bytes: u64) -> Self {
        let schema = schema(DataType::Utf8);
        let (to_reader, batches) = sync_channel(AHEAD);
        let of_thread = schema.clone();
        // It ends when the reader is dropped, at its next batch.
        std::thread::spawn(move || {
            let mut rows = NamedRows::new(of_thread, to_reader.clone());
            let done =
                for_each_edge(&graph, memory_bytes, &mut |ends, weight| rows.push(ends, weight));
            if let Err(error) = done.and_then(|()| rows.send()) {
                // The reader may be gone.
                let _ = to_reader.send(Err(error));
            }
        });
        Self { batches, schema }
    }
}

/// Edges of a batch.
struct NamedRows {
    schema: SchemaRef,
    ends: [StringBuilder; 2],
    weights: Float64Builder,
    count: usize,
    name_bytes: usize,
    to_reader: SyncSender<Result<RecordBatch>>,
}

impl NamedRows {
    fn new(schema: SchemaRef, to_reader: SyncSender<Result<RecordBatch>>) -> Self {
        let ends = [StringBuilder::new(), StringBuilder::new()];
        let weights = Float64Builder::new();
        Self { schema, ends, weights, count: 0, name_bytes: 0, to_reader }
    }

    fn push(&mut self, ends: [&[u8]; 2], weight: f64) -> Result<()> {
        for (names, name) in self.ends.iter_mut().zip(ends) {
            names.append_value(std::str::from_utf8(name).map_err(wrong)?);
            self.name_bytes += name.len();
        }
        self.weights.append_value(weight);
        self.count += 1;
        let is_full = self.count == BATCH_EDGES || self.name_bytes >= BATCH_BYTES;
        if is_full { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        (self.count, self.name_bytes) = (0, 0);
        let [sources, targets] = &mut self.ends;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(sources.finish()),
            Arc::new(targets.finish()),
            Arc::new(self.weights.finish()),
        ];
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(wrong)?;
        self.to_reader.send(Ok(batch)).map_err(|_| Error::interrupted())
    }
}

impl Iterator for NamedEdges {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.recv().ok()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for NamedEdges {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Reader of the numbers of nodes and the weights of all edges; undirected ones once.
pub(crate) struct NumberedEdges {
    graph: Arc<Graph>,
    /// First node that has not been read.
    next: u64,
    schema: SchemaRef,
}

impl NumberedEdges {
    pub(crate) fn new(graph: Arc<Graph>) -> Self {
        Self { graph, next: 0, schema: schema(DataType::Int64) }
    }

    /// Returns the edges of the next nodes. Arcs of directed graphs are stored at the node that they point to.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let end = self.graph.node_count();
        if self.next == end {
            return Ok(None);
        }
        let (mut sources, mut targets) = (Int64Builder::new(), Int64Builder::new());
        let mut weights = Float64Builder::new();
        let mut push = |source: u32, target: u32, weight| {
            sources.append_value(source.into());
            targets.append_value(target.into());
            weights.append_value(shortest_weight(Weight::new(weight).code()));
        };
        let is_directed = self.graph.is_directed();
        let mut count = 0;
        for row in self.graph.rows(self.next as u32..end as u32) {
            let Row { node, self_loop, neighbors, .. } = row?;
            self.next = u64::from(node) + 1;
            count += 1 + neighbors.len();
            if self_loop > 0.0 {
                push(node, node, self_loop);
            }
            for (other, weight) in neighbors {
                match is_directed {
                    true => push(other, node, weight),
                    false if node < other => push(node, other, weight),
                    false => {}
                }
            }
            if count >= BATCH_EDGES {
                break;
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(sources.finish()),
            Arc::new(targets.finish()),
            Arc::new(weights.finish()),
        ];
        RecordBatch::try_new(self.schema.clone(), columns).map(Some).map_err(wrong)
    }
}

impl Iterator for NumberedEdges {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for NumberedEdges {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
