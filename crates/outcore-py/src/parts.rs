//! Parts of a graph for `outcore.spark`: `outcore_parts` with bytes as arguments and results. These are arrays of
//! little-endian 32-bit integers and 64-bit weights.

use crate::errors::detached;
use outcore::cluster::{LevelSpec, METHODS};
use outcore::graph::{Duplicates, LoopWeight};
use outcore::plan::{Cluster, Here, SparkPlan};
use outcore::units::parse_bytes;
use outcore::{Error, ErrorKind, Result};
use outcore_parts::{
    Aim, Chunks, Cutter, Labeled, Message, Part, PartWriter, Rounds, Shift, bytes_of, cut,
    degrees_of, forest, numbers_of, on_one_thread,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Bytes to return to Python.
pub(crate) struct Bytes(Vec<u8>);

impl<'py> IntoPyObject<'py> for Bytes {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> std::result::Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}

type Messages = Vec<(u32, Bytes)>;
/// Labels of the part's nodes; neighbors in other parts; labels of these.
type Labels<T> = (T, T, T);
/// Roots, labels, node counts, strengths, inside weights and visits of communities.
type Sums = (Bytes, Bytes, Bytes, Bytes, Bytes, Bytes);

fn words(numbers: &[u32]) -> Bytes {
    Bytes(bytes_of(numbers))
}

fn doubles(numbers: &[f64]) -> Bytes {
    Bytes(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
}

fn pairs(pairs: &[[u32; 2]]) -> Bytes {
    words(pairs.as_flattened())
}

fn pairs_of(bytes: &[u8]) -> Result<Vec<[u32; 2]>> {
    Ok(numbers_of(bytes)?.as_chunks::<2>().0.to_vec())
}

fn sent(messages: Vec<Message>) -> Messages {
    messages.into_iter().map(|Message { part, bytes }| (part, Bytes(bytes))).collect()
}

fn received(messages: Vec<(u32, PyBackedBytes)>) -> Vec<Message> {
    let message = |(part, bytes): (u32, PyBackedBytes)| Message { part, bytes: bytes.to_vec() };
    messages.into_iter().map(message).collect()
}

/// Packs sorted arcs into chunks.
#[pyclass(module = "outcore._outcore", name = "Chunks")]
pub(crate) struct PyChunks(Option<Chunks>);

#[pymethods]
impl PyChunks {
    #[new]
    fn new(py: Python<'_>, duplicates: &str, keep_loops: bool, min_weight: f64) -> PyResult<Self> {
        detached(py, || {
            let duplicates: Duplicates =
                serde_json::from_value(duplicates.into()).map_err(|_| {
                    Error::new(ErrorKind::Usage, format!("unknown rule `{duplicates}`"))
                })?;
            Ok(Self(Some(Chunks::new(duplicates, keep_loops, min_weight))))
        })
    }

    /// Adds arcs by their sources, targets and weights (None: all are 1); returns full chunks.
    #[pyo3(signature = (sources, targets, weights=None))]
    fn push(
        &mut self,
        py: Python<'_>,
        sources: &[u8],
        targets: &[u8],
        weights: Option<&[u8]>,
    ) -> PyResult<Vec<Bytes>> {
        let chunks = self.0.as_mut();
        detached(py, || {
            let (sources, targets) = (numbers_of(sources)?, numbers_of(targets)?);
            let weight = |at: usize| match weights {
                Some(weights) => weights.as_chunks::<8>().0.get(at).map(|w| f64::from_le_bytes(*w)),
                None => Some(1.0),
            };
            let arcs = sources.into_iter().zip(targets).enumerate();
            let arcs = arcs.map_while(|(at, (source, target))| Some((source, target, weight(at)?)));
            let full = chunks.map_or(Ok(Vec::new()), |chunks| chunks.push(arcs))?;
            Ok(full.into_iter().map(Bytes).collect())
        })
    }

    /// Returns the last chunk, and the numbers of arcs merged into earlier ones and of loops dropped.
    fn finish(&mut self) -> (Option<Bytes>, u64, u64) {
        let (last, combined, dropped) = self.0.take().map_or((None, 0, 0), Chunks::finish);
        (last.map(Bytes), combined, dropped)
    }
}

/// Returns the first node of a chunk, and the degrees of its nodes.
#[pyfunction]
pub(crate) fn chunk_degrees(py: Python<'_>, chunk: &[u8]) -> PyResult<(u32, Bytes)> {
    detached(py, || degrees_of(chunk).map(|(first, degrees)| (first, words(&degrees))))
}

/// Computes where parts begin.
#[pyclass(module = "outcore._outcore", name = "Cutter")]
pub(crate) struct PyCutter {
    cutter: Option<Cutter>,
    node_count: u32,
}

#[pymethods]
impl PyCutter {
    #[new]
    fn new(node_count: u32, part_arcs: u64) -> Self {
        Self { cutter: Some(Cutter::new(node_count, part_arcs)), node_count }
    }

    /// Adds the degrees of consecutive nodes.
    fn add(&mut self, py: Python<'_>, first_node: u32, degrees: &[u8]) -> PyResult<()> {
        let cutter = self.cutter.as_mut();
        detached(py, || {
            let degrees = numbers_of(degrees)?;
            cutter.map_or(Ok(()), |cutter| cutter.add(first_node, &degrees))
        })
    }

    /// Returns the first nodes of all parts, followed by the number of nodes.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Bytes> {
        let (cutter, count) = (self.cutter.take(), self.node_count);
        detached(py, || {
            let bounds = cutter.map_or(Ok(Vec::new()), |cutter| cutter.finish(count))?;
            Ok(words(&bounds))
        })
    }
}

/// Splits a chunk at the first nodes of parts.
#[pyfunction]
pub(crate) fn cut_chunk(py: Python<'_>, chunk: &[u8], bounds: &[u8]) -> PyResult<Messages> {
    detached(py, || {
        let cut = cut(chunk, &numbers_of(bounds)?)?;
        Ok(cut.into_iter().map(|(part, chunk)| (part, Bytes(chunk))).collect())
    })
}

/// Writes a part from its chunks.
#[pyfunction]
pub(crate) fn write_part(
    py: Python<'_>,
    first: u32,
    end: u32,
    node_count: u32,
    chunks: Vec<PyBackedBytes>,
) -> PyResult<Bytes> {
    detached(py, || {
        let mut writer = PartWriter::new(first..end, node_count)?;
        chunks.into_iter().try_for_each(|chunk| writer.push(&chunk))?;
        writer.finish().map(Bytes)
    })
}

/// Compares this machine with a Spark cluster, and returns the plan as JSON. `here` has rows, edges, nodes and passes;
/// seconds; the minimum memory limit and the given one; disk space needed and free. `cluster` has workers, cores and
/// memory.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "it is called in one place, with a plan's fields")]
pub(crate) fn spark_plan(
    py: Python<'_>,
    here: ((u64, u64, u64, u64), f64, [u64; 2], (u64, Option<u64>)),
    cluster: (u64, u64, &str),
) -> PyResult<String> {
    detached(py, || {
        let ((edge_count, distinct_edge_count, node_count, pass_count), ..) = here;
        let (_, seconds, memory_bytes, disk_bytes) = here;
        let counts = Here {
            edge_count,
            distinct_edge_count,
            node_count,
            pass_count,
            seconds,
            memory_bytes,
            disk_bytes,
        };
        let (workers, cores, memory) = cluster;
        let cluster = Cluster { workers, cores, memory_bytes: parse_bytes(memory)? };
        let plan = SparkPlan::new(&counts, &cluster)?;
        serde_json::to_string(&plan).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the plan cannot be written: {error}"))
        })
    })
}

/// Computes a forest of links between roots.
#[pyfunction(name = "forest")]
pub(crate) fn link_forest(py: Python<'_>, links: &[u8]) -> PyResult<Bytes> {
    detached(py, || on_one_thread(|| Ok(pairs(&forest(pairs_of(links)?)))))
}

/// Part of a graph.
#[pyclass(module = "outcore._outcore", name = "Part", frozen)]
pub(crate) struct PyPart(Part);

impl PyPart {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Part) -> Result<T> + Send,
    ) -> PyResult<T> {
        detached(py, || on_one_thread(|| work(&self.0)))
    }

    fn labeled(&self, (own, outside, around): Labels<&[u8]>) -> Result<Labeled> {
        Labeled::new(&self.0, numbers_of(own)?, numbers_of(outside)?, numbers_of(around)?)
    }
}

fn arrays(labels: Labeled) -> Labels<Bytes> {
    let [own, outside, around] = labels.into_arrays();
    (words(&own), words(&outside), words(&around))
}

#[pymethods]
impl PyPart {
    /// Opens a part. Loops count as for a method.
    #[new]
    fn new(
        py: Python<'_>,
        bytes: &[u8],
        bounds: &[u8],
        index: usize,
        method: &str,
    ) -> PyResult<Self> {
        let spec = METHODS.iter().find(|spec| spec.name == method);
        let levels = spec.and_then(|spec| spec.method.levels());
        let loops = levels.map_or(LoopWeight::Twice, LevelSpec::loops);
        detached(py, || Ok(Self(Part::open(bytes, numbers_of(bounds)?, index)?.with_loops(loops))))
    }

    /// Assigns the initial labels; returns the state of the rounds, and messages.
    fn begin(&self, py: Python<'_>, seed: u64) -> PyResult<(Bytes, Messages)> {
        self.run(py, |part| {
            let (rounds, messages) = Rounds::begin(part, seed)?;
            Ok((Bytes(rounds.to_bytes()), sent(messages)))
        })
    }

    /// Runs a round of a sweep; returns the state of the rounds, messages, and the numbers of nodes moved, arcs visited
    /// and later parts notified.
    fn round(
        &self,
        py: Python<'_>,
        kept: &[u8],
        seed: u64,
        sweep: u32,
        is_exact: bool,
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<(Bytes, Messages, (u64, u64, u64))> {
        self.run(py, |part| {
            let mut rounds = Rounds::from_bytes(kept, part)?;
            let (messages, did) =
                rounds.round(part, seed, (sweep, is_exact), received(messages))?;
            Ok((Bytes(rounds.to_bytes()), sent(messages), (did.moved, did.arcs, did.later)))
        })
    }

    /// Returns the final labels.
    fn finish(
        &self,
        py: Python<'_>,
        kept: &[u8],
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<Labels<Bytes>> {
        self.run(py, |part| {
            Ok(arrays(Rounds::from_bytes(kept, part)?.finish(part, received(messages))?))
        })
    }

    /// Returns labels, updated by announcements of neighbors.
    fn receive(
        &self,
        py: Python<'_>,
        labels: Labels<&[u8]>,
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<Labels<Bytes>> {
        self.run(py, |_| {
            let mut labels = self.labeled(labels)?;
            labels.receive(received(messages))?;
            Ok(arrays(labels))
        })
    }

    /// Returns labels of the part's nodes, and of all neighbors as announced.
    fn gather(
        &self,
        py: Python<'_>,
        own: &[u8],
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<Labels<Bytes>> {
        self.run(py, |part| {
            Ok(arrays(Labeled::gather(part, numbers_of(own)?, received(messages))?))
        })
    }

    /// Returns messages to the parts that own communities, and total strength, cut and sum of logarithms.
    fn tally(
        &self,
        py: Python<'_>,
        labels: Labels<&[u8]>,
    ) -> PyResult<(Messages, (f64, f64, f64))> {
        self.run(py, |part| {
            let (messages, all) = part.tally(&self.labeled(labels)?)?;
            Ok((sent(messages), (all.strength, all.cut, all.logs)))
        })
    }

    /// Returns the replies of a part that owns communities.
    fn share(&self, py: Python<'_>, messages: Vec<(u32, PyBackedBytes)>) -> PyResult<Messages> {
        self.run(py, |part| Ok(sent(part.share(received(messages))?)))
    }

    /// Runs a sweep of local moving, by modularity at a resolution, or otherwise by the map equation; returns the
    /// labels of the part's nodes, messages, and the numbers of nodes moved and arcs visited.
    #[expect(clippy::too_many_arguments, reason = "these are the arguments of Python's function")]
    fn shift(
        &self,
        py: Python<'_>,
        labels: Labels<&[u8]>,
        resolution: Option<f64>,
        seed: u64,
        sweep: u32,
        totals: (f64, f64),
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<(Bytes, Messages, (u64, u64))> {
        self.run(py, |part| {
            let aim = resolution.map_or(Aim::MapEquation, Aim::Modularity);
            let shift = Shift { aim, seed, number: sweep, totals: totals.into() };
            let (labels, messages, did) =
                part.shift(&shift, self.labeled(labels)?, received(messages))?;
            let [own, ..] = labels.into_arrays();
            Ok((words(&own), sent(messages), (did.moved, did.arcs)))
        })
    }

    /// Returns the same label for all nodes.
    fn alike(&self, py: Python<'_>) -> PyResult<Labels<Bytes>> {
        self.run(py, |part| Ok(arrays(Labeled::alike(part)?)))
    }

    /// Returns a number for each of its nodes: the node itself.
    fn single(&self, py: Python<'_>) -> PyResult<Bytes> {
        self.run(py, |part| Ok(words(&part.nodes().collect::<Vec<_>>())))
    }

    /// Returns the roots of connected pieces, and messages.
    fn roots(&self, py: Python<'_>, labels: Labels<&[u8]>) -> PyResult<(Bytes, Messages)> {
        self.run(py, |part| {
            let (roots, messages) = part.roots(&self.labeled(labels)?)?;
            Ok((words(&roots), sent(messages)))
        })
    }

    /// Returns links between roots.
    fn links(
        &self,
        py: Python<'_>,
        labels: Labels<&[u8]>,
        roots: &[u8],
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<Bytes> {
        self.run(py, |part| {
            let labels = self.labeled(labels)?;
            Ok(pairs(&part.links(&labels, &numbers_of(roots)?, received(messages))?))
        })
    }

    /// Returns the final roots; and for each community root, label, node count, strength, inside weight and visits.
    fn settle(
        &self,
        py: Python<'_>,
        labels: Labels<&[u8]>,
        roots: &[u8],
        forest: &[u8],
    ) -> PyResult<(Bytes, Sums)> {
        self.run(py, |part| {
            let (labels, forest) = (self.labeled(labels)?, pairs_of(forest)?);
            let (roots, sums) = part.settle(&labels, numbers_of(roots)?, &forest)?;
            let (strengths, insides) = (doubles(&sums.strengths), doubles(&sums.insides));
            let counts = (words(&sums.roots), words(&sums.labels), words(&sums.counts));
            let visits = doubles(&sums.visits);
            Ok((words(&roots), (counts.0, counts.1, counts.2, strengths, insides, visits)))
        })
    }

    /// Returns the final numbers of the part's nodes, given ascending roots and their numbers.
    fn rename(
        &self,
        py: Python<'_>,
        roots: &[u8],
        named: &[u8],
        numbers: &[u8],
    ) -> PyResult<Bytes> {
        self.run(py, |part| {
            let (named, numbers) = (numbers_of(named)?, numbers_of(numbers)?);
            Ok(words(&part.rename(&numbers_of(roots)?, &named, &numbers)?))
        })
    }

    /// Returns messages that announce the numbers of nodes.
    fn announce(&self, py: Python<'_>, numbers: &[u8]) -> PyResult<Messages> {
        self.run(py, |part| Ok(sent(part.announce(&numbers_of(numbers)?, |_| true)?)))
    }

    /// Returns edges between communities: smaller numbers, larger numbers, weights.
    fn contract(
        &self,
        py: Python<'_>,
        numbers: &[u8],
        messages: Vec<(u32, PyBackedBytes)>,
    ) -> PyResult<(Bytes, Bytes, Bytes)> {
        self.run(py, |part| {
            let edges = part.contract(numbers_of(numbers)?, received(messages))?;
            let (pairs, weights): (Vec<[u32; 2]>, Vec<f64>) = edges.into_iter().unzip();
            let (small, large): (Vec<u32>, Vec<u32>) = pairs.iter().map(|&[a, b]| (a, b)).unzip();
            Ok((words(&small), words(&large), doubles(&weights)))
        })
    }
}
