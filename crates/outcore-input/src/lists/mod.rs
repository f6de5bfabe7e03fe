//! Formats of graphs that are not one edge per line of columns: a table of their readers, from text to parsed chunks.
//!
//! ```text
//!  text --Words--> words, lines --reader of the format--> names, weights --ListEdges--> chunks
//! ```
//!
//! A file is of such a format because its first bytes say so, or because its name does where these could be an edge
//! list as well. Lines may be as long as a file, and words depend on those before them, so they are read one by one, on
//! the reading thread: about 20 ns each. Memory: that of [`feed`](super::feed), 128 KiB, and a few names of at most
//! 64 KiB; no reader keeps nodes or edges, but for the [`labels`] of some formats. A wrong word changes the meaning of all that follow, so none is ever skipped;
//! nor can a job resume in the middle of such a file.

pub(crate) mod communities;
mod dimacs;
mod edges;
mod gml;
mod kind;
mod labels;
mod lgl;
mod mcl;
mod metis;
mod networkx;
mod pajek;
mod sif;
mod smat;
mod tgf;
mod uc;
mod words;
mod xml;

use super::chunk::ParsedChunk;
use super::decompress::{Input, unpacked_name};
use super::fault::bad_input;
use super::format::source::FIRST_BLOCK_LIMIT;
use super::format::understood::AS_UNDIRECTED;
use super::options::{EdgeFormat, InputOptions, NodeNaming, Rows};
use super::sample::pieces::{PIECE_BYTES, PIECE_ROWS, PIECES};
use super::sink::{Halt, Progress, SampleSink, Sink, is_whole};
use super::source::{EdgeSource, FileSample, ReadTask, SampleTask, SourceFacts};
use edges::{EntryTally, KINDS_OF_NUMBERS, ListEdges, MetisHeader};
pub(crate) use kind::ListKind;
use kind::PLAIN;
use labels::{LabelVerdict, Labels};
use outcore_graph::weight::WeightTransform;
use outcore_io::Files;
use outcore_io::error::opt::{FORMAT, INITIAL, NAMES, WEIGHT_TRANSFORM};
use outcore_io::error::{Error, ErrorKind, Result, Text};
use std::path::Path;
use words::{Words, without_mark};

/// Bytes of a file that are examined to recognize its format.
const HEAD_BYTES: usize = 64 << 10;

/// All formats. Files are of the first one that recognizes them: those with a banner come before those with an ending.
#[rustfmt::skip]
pub(crate) static KINDS: [ListKind; 15] = [
    ListKind { format: Some(EdgeFormat::Mcl), name: "mcl matrix", is: |head, _| mcl::begins_matrix(head), read: mcl::read,
        nodes: "nodes by number", weights: "weights",
        doc: "matrix of mcl: a line begins with `(mclheader` or `(mclmatrix`, after prose; a missing weight is 1", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Pajek), name: "Pajek", endings: &[".net"], is: |head, _| pajek::is_network(head), read: pajek::read,
        has_labels: true, nodes: "nodes by number", weights: "weight = third word, 1 if missing", arcs: &["*arcs"],
        doc: "network of Pajek or Infomap: a line `*Vertices n`, after prose, or a first line like `*Edges`; every vertex is a node, named by its label if each has its own", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Graphml), name: "GraphML", endings: &[".graphml"], is: |head, _| xml::begins_with(head, b"graphml"), read: xml::read_graphml,
        has_labels: true, nodes: "nodes by id", weights: "weight = key `weight`, 1 if missing", arcs: &["edgedefault=\"directed\"", "edgedefault='directed'"],
        doc: "GraphML: its first element is `graphml`; the weight is the data of a key named `weight`, the label that of `label` or `name`", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Gexf), name: "GEXF", endings: &[".gexf"], is: |head, _| xml::begins_with(head, b"gexf"), read: xml::read_gexf,
        has_labels: true, nodes: "nodes by id", weights: "weight = attribute `weight`, 1 if missing", arcs: &["defaultedgetype=\"directed\"", "defaultedgetype='directed'"],
        doc: "GEXF of Gephi: its first element is `gexf`; the weight is the attribute `weight` of an edge, the label that of a node", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Gml), name: "GML", endings: &[".gml"], is: |head, _| gml::is_graph(head), read: gml::read,
        has_labels: true, nodes: "nodes by id", weights: "weight = `weight` or `value`, 1 if missing", arcs: &["directed 1"],
        doc: "GML: keys and values, among them `graph [`; the weight is `weight` or the number `value` of an edge, the label `label` or `name` of a node", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Dimacs), name: "DIMACS", endings: &[".dimacs", ".col", ".gr"], is: |head, _| dimacs::is_graph(head), read: dimacs::read,
        nodes: "nodes by number", weights: "weight of arcs `a`, 1 of edges `e`", arcs: &["p sp ", "p max "],
        doc: "DIMACS: a line `p edge`, `p col`, `p sp` or `p max` with the numbers of nodes and edges, after comments `c`", ..PLAIN },
    ListKind { format: Some(EdgeFormat::MultilineAdjlist), name: "multiline adjacency list", endings: &[".multiline_adjlist"], is: |head, is_named| is_named || networkx::is_multiline(head), read: networkx::read_multiline,
        nodes: "nodes by name", weights: "weight = `'weight'`, 1 if missing",
        doc: "multiline adjacency list of networkx: a node and a number, then as many lines of a neighbor and `{...}`", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Networkx), name: "networkx edge list", is: |head, _| networkx::is_edge_list(head), read: networkx::read_edge_list,
        nodes: "nodes by name", weights: "weight = `'weight'`, 1 if missing",
        doc: "edge list of networkx with data: two nodes and `{...}` per line", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Uc), name: "UC", endings: &[".uc"], is: uc::is_table, read: uc::read,
        nodes: "nodes by name", weights: "weight = identity, column 4",
        doc: "clusters of vsearch and usearch as edges from members to centroids: ten columns, the first of them `S`, `H`, `C` or `N`", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Metis), name: "METIS", endings: &[".metis", ".graph"], is: |_, is_named| is_named, read: metis::read,
        nodes: "nodes by number", weights: "weights",
        doc: "METIS graph, by its name: a header, then one line of neighbors per node, numbered from 1", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Lgl), name: "LGL", endings: &[".lgl"], is: |head, is_named| is_named && lgl::is_graph(head), read: lgl::read,
        nodes: "nodes by name", weights: "weight = second word, if edges have one",
        doc: "LGL, by its name and a first line `# NODE`: then its neighbors, one per line, all or none with a weight", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Tgf), name: "TGF", endings: &[".tgf"], is: |_, is_named| is_named, read: tgf::read,
        nodes: "nodes by id, labels unused", weights: "weight = label, if it is a number",
        doc: "TGF, by its name: nodes, a line `#`, and edges; their labels are weights if the first one is a number", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Sif), name: "SIF", endings: &[".sif"], is: |head, is_named| is_named && sif::is_network(head), read: sif::read,
        nodes: "nodes by name, relations unused", weights: "",
        doc: "SIF of Cytoscape, by its name: a source, a relation and targets per line, or a node alone", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Smat), name: "SMAT", endings: &[".smat"], is: |head, is_named| is_named && smat::is_matrix(head), read: smat::read,
        nodes: "nodes by number from 0", weights: "weight = third word",
        doc: "SMAT, by its name and three numbers in the first line: a sparse matrix with indexes from 0", ..PLAIN },
    ListKind { format: Some(EdgeFormat::Adjlist), name: "adjacency list", endings: &[".adjlist"], is: |_, is_named| is_named, read: networkx::read_adjacency,
        nodes: "nodes by name", weights: "",
        doc: "adjacency list of networkx, by its name: a node and its neighbors per line, every edge once", ..PLAIN },
];

/// Returns the format of a file of edges if its first bytes or its name reveal it, unless it is to be read as lines.
pub(crate) fn known(path: &Path, head: &[u8], options: &InputOptions) -> Option<&'static ListKind> {
    let head = without_mark(head);
    let name = unpacked_name(path);
    let is_meant = |kind: &ListKind| match options.format {
        EdgeFormat::Auto => (kind.is)(head, kind.endings.iter().any(|end| name.ends_with(end))),
        format => kind.format == Some(format),
    };
    KINDS.iter().find(|kind| is_meant(kind))
}

/// Asks about an adjacency list of networkx whose name does not say that it is one: it may have any delimiter.
///
/// # Errors
/// `Usage`.
fn ask_for_networkx(path: &Path, input: &mut Input, options: &InputOptions) -> Result<()> {
    let is_asked = options.format == EdgeFormat::Auto && options.columns.is_none();
    if !is_asked || !networkx::has_banner(input.peek(HEAD_BYTES)?.0) {
        return Ok(());
    }
    let path = path.display();
    let message = format_args!("`{path}` is an adjacency list of networkx by its comments");
    let (one, many) = (FORMAT.of("adjlist"), FORMAT.of("multiline-adjlist"));
    Err(Error::usage(message).hint(format_args!(
        "use {one} for a node and its neighbors between spaces on each line, {many} for a neighbor per line"
    )))
}

/// Refuses a file of communities where edges are expected.
fn refuse_communities(path: &Path, input: &mut Input, options: &InputOptions) -> Result<()> {
    if options.rows != Rows::Edges || options.format != EdgeFormat::Auto {
        return Ok(());
    }
    let known = communities::known(input.peek(HEAD_BYTES)?.0);
    known.map_or(Ok(()), |name| {
        let message = format!("is {name}: communities, not edges");
        Err(bad_input(path, &message).hint(format_args!(
            "`outcore score GRAPH FILE` rates communities, and {INITIAL} starts from them"
        )))
    })
}

/// Refuses a file that is a graph by its first bytes where nodes or communities are expected.
pub(crate) fn refuse(path: &Path, input: &mut Input) -> Result<()> {
    let head = without_mark(input.peek(HEAD_BYTES)?.0);
    let graph = KINDS.iter().find(|kind| kind.format.is_some() && (kind.is)(head, false));
    let Some(ListKind { name, .. }) = graph else { return Ok(()) };
    Err(bad_input(path, &format!("is a graph in the format {name}"))
        .hint("pass a file with a node at the beginning of each line"))
}

/// File of such a format.
#[derive(Debug, Clone)]
pub(crate) struct ListFormat {
    kind: &'static ListKind,
    metis: Option<MetisHeader>,
    /// Largest number of a node of the first kind, if there are two.
    first_kind: Option<u64>,
    kinds: Option<[String; 2]>,
    /// Whether its beginning says that edges have directions, which are not wanted.
    has_arcs: bool,
    /// What the labels are, if they were looked at.
    labels: Option<LabelVerdict>,
    options: InputOptions,
}

/// Returns whether the first bytes say that edges have directions.
fn has_arcs(kind: &ListKind, head: &[u8]) -> bool {
    let head = head.to_ascii_lowercase();
    kind.arcs.iter().any(|sign| memchr::memmem::find(&head, sign.as_bytes()).is_some())
}

impl ListFormat {
    /// Detects the format of `path` if it is one of [`KINDS`], or of those of [`communities`].
    ///
    /// # Errors
    /// `BadInput` for a header that cannot be read, and for communities instead of edges.
    pub(crate) fn detect(
        files: &Files,
        path: &Path,
        input: &mut Input,
        options: &InputOptions,
    ) -> Result<Option<Self>> {
        let kind = match options.rows {
            Rows::Written => {
                let (kind, options) = communities::find_written(files, path, input, options)?;
                return Ok(Some(Self::of(kind, options)));
            }
            Rows::Edges => {
                refuse_communities(path, input, options)?;
                known(path, input.peek(HEAD_BYTES)?.0, options)
            }
            Rows::Nodes => None,
            _ => communities::find(path, input, options)?,
        };
        let Some(kind) = kind else {
            if options.rows == Rows::Edges {
                ask_for_networkx(path, input, options)?;
            }
            let is_of_communities = communities::known(input.peek(HEAD_BYTES)?.0).is_some();
            let is_certain = options.rows.are_memberships()
                && communities::are_certain(input.peek(HEAD_BYTES)?.0);
            if options.rows != Rows::Edges && !is_of_communities && !is_certain {
                refuse(path, input)?;
            }
            return Ok(None);
        };
        if kind.format == Some(EdgeFormat::Sif) && options.format == EdgeFormat::Auto {
            sif::ask(path, input.peek(HEAD_BYTES)?.0)?;
        }
        let is_metis = kind.format == Some(EdgeFormat::Metis);
        let metis = is_metis.then(|| metis::peek_header(input, path)).transpose()?;
        let is_pajek = kind.format == Some(EdgeFormat::Pajek);
        let first_kind = match is_pajek {
            true => pajek::first_kind(input.peek(FIRST_BLOCK_LIMIT)?.0),
            false => None,
        };
        let head = input.peek(HEAD_BYTES)?.0;
        let has_arcs = !options.directed && has_arcs(kind, &head[..head.len().min(HEAD_BYTES)]);
        let kinds = first_kind.map(|_| KINDS_OF_NUMBERS.map(str::to_owned));
        let found = Self::of(kind, options.clone());
        let found = Self { metis, first_kind, kinds, has_arcs, ..found };
        let labels = found.examine(files, path, input)?;
        Ok(Some(Self { labels, ..found }))
    }

    /// Creates a format without anything that graphs declare.
    fn of(kind: &'static ListKind, options: InputOptions) -> Self {
        let (metis, first_kind, kinds, has_arcs, labels) = (None, None, None, false, None);
        Self { kind, metis, first_kind, kinds, has_arcs, labels, options }
    }

    /// Reads the nodes before the first edge, to find out what their labels are. Of a file that can be read only once, its
    /// first block is examined.
    ///
    /// # Errors
    /// `Usage` for labels that are asked for but cannot be names, or that end beyond the first block; `Io`.
    fn examine(
        &self,
        files: &Files,
        path: &Path,
        input: &mut Input,
    ) -> Result<Option<LabelVerdict>> {
        let naming = self.options.names;
        if !self.kind.has_labels || naming == Some(NodeNaming::Numbers) {
            return Ok(None);
        }
        let is_regular = files.is_regular(path);
        let (input, is_whole) = match is_regular {
            true => (Input::open(files, path, 0)?, true),
            false => {
                let (head, is_whole) = input.peek(FIRST_BLOCK_LIMIT)?;
                (Input::of_bytes(head.to_vec(), path)?, is_whole)
            }
        };
        let verdict = self.verdict(files, path, input, is_whole)?;
        let refused = match (&verdict, naming) {
            (LabelVerdict::Unknown, _) => {
                "is read only once, and its first 4 MiB do not show whether labels are names".into()
            }
            (LabelVerdict::Unique { .. }, _) | (_, None) => return Ok(Some(verdict)),
            (found, Some(_)) => format!(
                "has no names for its nodes: {}",
                found.reason().unwrap_or("none has a label".into())
            ),
        };
        let numbers = NAMES.of("numbers");
        let hint = match is_regular {
            true => format_args!("use {numbers}").into(),
            false => Text::from(format_args!("use {numbers}, or write it to a file")),
        };
        Err(Error::usage(format!("`{}` {refused}", path.display())).hint(hint))
    }

    /// Reads the nodes before the first edge. Faults are left to the reading of all.
    fn verdict(
        &self,
        files: &Files,
        path: &Path,
        input: Input,
        is_whole: bool,
    ) -> Result<LabelVerdict> {
        let (mut count, options) = (|_: &ParsedChunk, _: Option<usize>| 0, &self.options);
        let sampled =
            SampleTask { files, path, input, bytes: 0, pieces: 1, is_whole, count: &mut count };
        let task = sampled.read(0);
        let mut words = Words::new(sampled.input, path, options.rows);
        let mut sink = SampleSink::new(sampled.count);
        let mut edges = ListEdges::new(options, None, &task, sink.begin(u64::MAX, u64::MAX));
        edges.first_kind = self.first_kind;
        edges.labels.insert(Labels::default()).ends_at_edges = true;
        let read = (self.kind.read)(&mut words, &mut edges);
        let mut labels = edges.labels.take().unwrap_or_default();
        Ok(match (labels.verdict.take(), read) {
            (Some(verdict), _) => verdict,
            (None, _) if !is_whole => {
                labels.declared_count = None;
                match labels.complete() {
                    LabelVerdict::Unique { .. } | LabelVerdict::TooMany => LabelVerdict::Unknown,
                    // What follows does not make the labels names.
                    found => found,
                }
            }
            // The same fault ends the reading of all.
            (None, Err(Halt::Failed(_))) => LabelVerdict::None,
            (None, _) => labels.complete(),
        })
    }

    /// Describes the names of nodes.
    fn nodes(&self) -> String {
        let nodes = self.kind.nodes;
        match &self.labels {
            Some(LabelVerdict::Unique { .. }) => "nodes by label".into(),
            Some(found) => {
                found.reason().map_or(nodes.into(), |reason| format!("{nodes}: {reason}"))
            }
            None if self.kind.has_labels => format!("{nodes}, labels unused"),
            None => nodes.into(),
        }
    }

    /// Reads the file to its end, or until no more edges are wanted.
    ///
    /// # Errors
    /// `BadInput`, `BadWeight` with the place; `Io` and `BadCompression` with the path.
    fn read_all(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Result<Read> {
        let (path, options) = (task.path, &self.options);
        let mut words = Words::new(task.opened(input)?, path, options.rows);
        let mut edges = ListEdges::new(options, self.metis, task, sink);
        edges.first_kind = self.first_kind;
        if matches!(self.labels, Some(LabelVerdict::Unique { .. })) {
            edges.labels = Some(Labels::default());
        }
        let read = (self.kind.read)(&mut words, &mut edges);
        let read = read.and_then(|()| edges.reach_edges(&words));
        let is_whole = is_whole(read.and_then(|()| edges.hand_over(words.consumed())))?;
        if let Some(declared) = edges.declared.as_mut().filter(|_| is_whole) {
            declared.check()?;
        }
        if is_whole && !options.directed {
            edges.both.check(path)?;
        }
        if is_whole && edges.tally.entries > 0 && !edges.tally.has_weights {
            self.check_transform(path)?;
        }
        // Of the two entries of an edge, one is taken.
        let share = if edges.both.has_some() { 0.5 } else { 1.0 };
        Ok(Read { is_whole, consumed: words.consumed(), tally: edges.tally, share })
    }

    /// Returns an error if weights are to be transformed, as the file has none.
    fn check_transform(&self, path: &Path) -> Result<()> {
        if self.options.weight_transform == WeightTransform::None
            || self.options.rows != Rows::Edges
        {
            return Ok(());
        }
        let path = path.display();
        let message = format_args!("`{path}` has no weights, but {WEIGHT_TRANSFORM} needs them");
        Err(Error::new(ErrorKind::BadInput, message).hint("leave it out"))
    }

    /// Describes how the file was understood.
    fn describe(&self) -> String {
        let ListKind { name, weights, .. } = self.kind;
        let nodes = self.nodes();
        if self.kind.has_paths {
            return format!("{name}, {}", communities::of_level(&self.options));
        }
        if self.options.rows != Rows::Edges {
            return format!("{name}, {nodes}");
        }
        let is_listed = matches!(self.kind.format, Some(EdgeFormat::Metis | EdgeFormat::Mcl));
        let entries = match (is_listed, self.options.directed) {
            (true, true) => ", each entry an arc",
            (true, false) => ", each edge in both its lists",
            _ => "",
        };
        let has_weights = !weights.is_empty() && self.metis.is_none_or(|header| header.has_weights);
        let weights =
            match (has_weights && !self.options.ignore_weights, self.options.weight_transform) {
                (false, _) => "no weights".into(),
                (true, WeightTransform::None) => weights.to_string(),
                (true, transform) => format!("weight = {}({weights})", transform.name()),
            };
        let of_nodes = self.metis.is_some_and(|header| header.skipped > 0);
        let unused = match (has_weights && self.options.ignore_weights, of_nodes) {
            (true, true) => "; weights, node weights unused",
            (true, false) => "; weights unused",
            (false, true) => "; node weights unused",
            (false, false) => "",
        };
        let arcs = if self.has_arcs { AS_UNDIRECTED } else { "" };
        let kinds = if self.kinds.is_some() { ", of two kinds" } else { "" };
        format!("{name}, {nodes}{kinds}{entries}, {weights}{unused}{arcs}")
    }
}

impl EdgeSource for ListFormat {
    fn facts(&self) -> SourceFacts {
        let has_weights = !self.options.ignore_weights && self.options.rows == Rows::Edges;
        SourceFacts {
            name: self.kind.name,
            description: Some(self.describe()),
            // Always, unless they are ignored, since nodes without neighbors need one.
            is_weighted: Some(has_weights),
            has_columns: self.kind.has_names,
            has_comments: self.kind.has_comments,
            has_labels: self.kind.has_labels,
            has_paths: self.kind.has_paths,
            held_bytes: match self.labels {
                Some(LabelVerdict::Unique { bytes }) => Some(bytes),
                _ => None,
            },
            // The state that matches the two halves of each edge would be lost.
            is_one_pass: true,
            ..SourceFacts::default()
        }
    }

    fn kinds(&self) -> Option<&[String; 2]> {
        self.kinds.as_ref()
    }

    /// Does nothing: chunks arrive parsed, with the kinds of nodes.
    fn parse(&self, _: &mut ParsedChunk, _: bool, _: bool) {}

    fn read(&self, task: &ReadTask<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress<u64> {
        let read = self.read_all(task, input, sink)?;
        if read.is_whole { Ok(read.consumed) } else { Err(Halt::Unwanted) }
    }

    /// Samples the beginning of the file.
    fn sample(&self, sample: SampleTask<'_>) -> Result<FileSample> {
        let (pieces, task) = (sample.pieces.clamp(1, PIECES), sample.read(0));
        let mut sink = SampleSink::new(sample.count);
        let wanted = sink.begin(pieces * PIECE_ROWS, pieces * PIECE_BYTES as u64);
        let read = self.read_all(&task, None, wanted)?;
        let edges = sink.rows;
        let is_whole = read.is_whole && !read.tally.has_left_out;
        let all = if is_whole { 0.0 } else { read.estimate(sample.bytes) }.max(edges as f64);
        Ok(FileSample {
            text_bytes: sink.text_bytes as f64 * all / edges.max(1) as f64,
            is_whole,
            is_spread: is_whole && sample.is_whole,
            declared_nodes: if read.tally.has_left_out { read.tally.nodes } else { 0 },
            ..FileSample::default()
        })
    }
}

struct Read {
    /// Whether the file was read to its end.
    is_whole: bool,
    /// Bytes of the file, as stored.
    consumed: u64,
    tally: EntryTally,
    /// Edges per entry.
    share: f64,
}

impl Read {
    /// Returns the estimated number of edges of a file of `bytes`.
    fn estimate(&self, bytes: u64) -> f64 {
        let EntryTally { entries, nodes, edges_from, declared_edges, .. } = self.tally;
        if self.is_whole {
            return entries as f64 * self.share;
        }
        // If there are many nodes and no edges, estimates as if the nodes were edges.
        let (entries, from) = if entries == 0 { (nodes, 0) } else { (entries, edges_from) };
        let rest = bytes.saturating_sub(from) as f64;
        let read = self.consumed.saturating_sub(from).max(1) as f64;
        declared_edges.map_or(entries as f64 * self.share * rest / read, |edges| edges as f64)
    }
}
