//! The read stage: numbers the names of edges, and sorts their arcs into runs or joins their ends (`sink`).
//!
//! The index and the sort share the memory of the stage: the sort uses what the index leaves, and writes a run early
//! when the index needs more. When even the smallest sort no longer fits next to the index, further new names and all
//! further edges are spilled to disk (`ids::spill`). They are numbered and sorted when the whole input has been read.
//! Progress is saved along the way (`halfway`). Indexes follow the order of the input, and so do arcs where it counts,
//! for any number of threads.

use super::Edges;
use super::append::{NameBatch, Old};
use super::halfway::{EdgeCounts, ReadState};
use super::rules;
use super::runs::made_with;
use super::sink::{Sink, SinkPlace};
use super::summaries::report_formats;
use super::weights::{Normalize, SelfScores, Thresholds};
use crate::checkpoint::{Checkpoint, StateReader, StateWriter};
use crate::error::opt::{COLUMNS, DUPLICATES, MAX_WEIGHT, MIN_WEIGHT, NORMALIZE, WEIGHT_TRANSFORM};
use crate::error::{Error, ErrorKind, Result, Text};
use crate::graph::{self, ArcRecord, KindsSummary, NameType, NamesWriter};
use crate::ids::{KnownEdges, NameRoom, NodeIndex, Spill, SpilledEdges};
use crate::input::{
    self, BatchMemory, CHUNK_BYTES, EdgeChunk, EdgeReader, InputSummary, KindNames, WeightTransform,
};
use crate::io::Sealed;
use crate::job::context::Context;
use crate::job::place::{RUNS, SPILLED};
use crate::job::resume::{JobJournal, bytes_in};
use crate::job::{DroppedReport, InputReport, JobOptions};
use crate::plan::{self, Plan};
use crate::progress::{Event, Stage, notify};
use crate::sort::{Record, SORT_BYTES_MIN};
use crate::units::{format_count, format_counted};
use std::path::Path;

/// Opens the input, or the rest of it.
fn open_reader(
    context: &Context<'_>,
    options: &JobOptions,
    found: Option<&mut (ReadState, StateReader)>,
) -> Result<EdgeReader> {
    let files = context.files;
    let chunk_bytes = files.cramped().chunk_bytes.min(CHUNK_BYTES as usize);
    let memory = BatchMemory { chunk_bytes, chunks: input::batch_chunks(&context.limits) };
    let reader = match found {
        None => EdgeReader::open(files, &options.input, memory),
        Some((state, from)) => {
            EdgeReader::resume(&state.input, from, (files, &options.input, memory))
        }
    }?;
    match (options.weight_option(), reader.unweighted()) {
        (Some(option), Some(path)) => Err(input::has_no_weights(path, &option)),
        _ => Ok(reader),
    }
}

/// Edges per batch when their names were spilled to disk.
const SPILLED_EDGES: usize = 1 << 16;

/// Source of the indexes of names.
enum NamesOf {
    /// The index in memory.
    Index(NodeIndex),
    /// Names on disk: the index is full.
    Disk(Box<Spill>),
    /// None: all names are numbered.
    Done,
}

/// What was read, apart from where the edges went.
pub(crate) struct Read {
    pub(crate) node_count: u64,
    /// Self scores, if weights are divided by them.
    pub(crate) scores: Option<SelfScores>,
    /// Seals of the files of names and of kinds.
    pub(crate) names: Sealed,
    pub(crate) name_type: NameType,
    pub(crate) kinds: Option<KindsSummary>,
    pub(crate) input: InputReport,
    /// Warnings so far.
    pub(crate) warnings: Vec<Text>,
}

/// State of the read stage.
pub(super) struct Reading<'a, R: Record> {
    context: &'a Context<'a>,
    edges: Edges<'a>,
    plan: Option<&'a Plan>,
    pub(super) reader: EdgeReader,
    names_of: NamesOf,
    nodes: NodeCounts,
    /// Indexes of the names of each chunk.
    indexes: Vec<Vec<u32>>,
    names: NamesWriter,
    scores: Option<SelfScores>,
    sink: Sink<R>,
    sort_bytes: u64,
    counts: EdgeCounts,
}

/// Number of nodes so far, of those that only the node list has, and of those whose names were numbered on disk.
#[derive(Default)]
struct NodeCounts {
    all: u64,
    listed_only: u64,
    named_on_disk: u64,
}

/// Starts the names, the arcs and the self scores of a graph that nothing was read of.
fn begin<R: Record + From<ArcRecord>>(
    context: &Context<'_>,
    edges: Edges<'_>,
    kinds: Option<&KindNames>,
    place: SinkPlace<'_>,
) -> Result<(NamesWriter, Sink<R>, Option<SelfScores>)> {
    // Components do not depend on the normalization, which keeps every weight above 0.
    let is_scored = edges.options.normalize == Normalize::SelfScore && edges.ladder.is_none();
    let scores = is_scored.then(|| SelfScores::new(input::read_bytes(&context.limits)));
    let sink = Sink::create(edges.ladder, place)?;
    Ok((NamesWriter::create_of(context.files, edges.directory, kinds)?, sink, scores))
}

impl<'a, R: Record + From<ArcRecord>> Reading<'a, R> {
    /// Starts reading, or resumes where an earlier job stopped.
    pub(super) fn new(
        context: &'a Context<'a>,
        edges: Edges<'a>,
        plan: Option<&'a Plan>,
        mut found: Option<(ReadState, StateReader)>,
    ) -> Result<Self> {
        let Context { files, observer, limits, .. } = *context;
        let reader = open_reader(context, edges.options, found.as_mut())?;
        // The input determines the size of decompression windows, so it is known only now.
        let window_bytes = reader.window_bytes();
        let sort_bytes = input::sort_bytes_beside_window(&limits, window_bytes)?;
        // Without a sort, its memory is for the index, too.
        let sort_bytes = if edges.ladder.is_some() { SORT_BYTES_MIN } else { sort_bytes };
        context.begin(Stage::Read, reader.total_bytes(), "bytes")?;
        report_formats(observer, &reader.describe())?;
        let runs = &context.work.path().join(RUNS);
        files.create_directory(runs)?;
        let read_bytes = input::read_bytes(&limits);
        let sparse_bytes = input::sparse_bytes(&limits, edges.ladder.is_none());
        let mut index = NodeIndex::new(limits.threads, read_bytes, sparse_bytes);
        let kinds = reader.kinds();
        if let Some(old) = edges.old {
            rules::check_kinds(&old.graph, kinds.as_ref())?;
        }
        let room_bytes = read_bytes.saturating_sub(window_bytes);
        let place = SinkPlace { files, runs, sort_bytes, room_bytes, threads: limits.threads };
        let (names, sink, scores) = match &mut found {
            None => begin(context, edges, kinds.as_ref(), place)?,
            Some((state, from)) => {
                state.report(observer, &reader)?;
                state.check_memory(limits, window_bytes)?;
                let scores = Option::resume(&state.scores, from, read_bytes)?;
                let sink = Sink::resume(&state.sink, from, place);
                let sink = sink.map_err(|error| made_with(error, state.memory_bytes))?;
                let (graph, kinds) = (edges.directory, kinds.as_ref());
                let names = state.resume_names(context, from, graph, kinds, &mut index)?;
                (names, sink, scores)
            }
        };
        let (mut nodes, mut counts) = (NodeCounts::default(), EdgeCounts::default());
        if let Some((state, _)) = &found {
            (nodes.all, nodes.listed_only) = (state.node_count, state.listed_only);
            counts = state.counts;
        }
        let mut reading = Self {
            context,
            edges,
            plan,
            reader,
            names_of: NamesOf::Index(index),
            nodes,
            indexes: Vec::new(),
            names,
            scores,
            sink,
            sort_bytes,
            counts,
        };
        reading.make_room()?;
        reading.take_earlier(found)?;
        Ok(reading)
    }

    /// Takes what is known before the next edge: names that an earlier job spilled, or those of the old graph.
    fn take_earlier(&mut self, found: Option<(ReadState, StateReader)>) -> Result<()> {
        let Some((state, mut from)) = found else {
            return self.edges.old.map_or(Ok(()), |old| self.take_old_names(old));
        };
        if let Some(state) = &state.spill {
            let files = self.context.files;
            self.spill_with(|index, directory, room| {
                Spill::resume(state, &mut from, (index, files, directory, room))
            })?;
        }
        from.finish()
    }

    /// Numbers the names of the old graph, before those of all edges.
    fn take_old_names(&mut self, old: &Old) -> Result<()> {
        let limits = &self.context.limits;
        let count = format_counted(old.names.count(), "name", "names");
        let text = format!("reading {count} of `{}`", old.files.path);
        notify(self.context.observer, Event::Detail { text: &text })?;
        let mut batch = NameBatch::new(input::batch_chunks(limits).min(limits.threads.max(1)));
        let mut names = old.names.scan();
        while let Some(name) = names.next_name()? {
            if batch.push(name) {
                self.number_old(old, &mut batch)?;
            }
        }
        self.number_old(old, &mut batch)
    }

    fn number_old(&mut self, old: &Old, batch: &mut NameBatch) -> Result<()> {
        if let Some(spill) = self.number(batch.chunks(), Some(old))? {
            spill.take_earlier(batch.chunks())?;
        }
        batch.clear();
        notify(self.context.observer, Event::Advance { done: 0 })
    }

    /// Saves the state of reading up to here.
    pub(super) fn save(&mut self, to: &mut StateWriter) -> Result<ReadState> {
        let (index_bytes, spill) = match &mut self.names_of {
            NamesOf::Index(index) => (index.needed_bytes(), None),
            NamesOf::Disk(spill) => (spill.index().needed_bytes(), Some(spill.save(to)?)),
            NamesOf::Done => unreachable!("the input has not been read to its end"),
        };
        self.sink.write_collected()?;
        // In the order in which the parts are resumed.
        Ok(ReadState {
            node_count: self.nodes.all,
            listed_only: self.nodes.listed_only,
            counts: self.counts,
            scores: self.scores.save(to)?,
            sink: self.sink.save(to)?,
            names: self.names.save(to)?,
            spill,
            memory_bytes: self.context.limits.memory_bytes,
            index_bytes,
            input: self.reader.save(to)?,
        })
    }

    /// Numbers the names of edges and passes their arcs to the sort, or spills both to disk.
    pub(super) fn take_edges(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        let keeps_order = self.sink.keeps_order();
        match self.number(chunks, None)? {
            Some(spill) if keeps_order => spill.take_edges(chunks),
            Some(spill) => {
                let known = spill.take_new_edges(chunks)?;
                self.take_known(known)
            }
            None => self.take_numbered(chunks),
        }
    }

    /// Takes the edges whose names are known, while others of the chunk have new names.
    fn take_known(&mut self, known: Vec<KnownEdges>) -> Result<()> {
        let (mut chunks, mut indexes) = (Vec::new(), Vec::new());
        for edges in known {
            chunks.push(EdgeChunk { weights: edges.weights, ..EdgeChunk::default() });
            indexes.push(edges.indexes);
        }
        self.counts = self.counts.plus(self.sink.take(&chunks, &indexes, self.edges.options)?);
        Ok(())
    }

    /// Numbers names in the index. If the index has no room to grow, takes memory from the sort; if the sort has none
    /// to spare, starts spilling names to disk. Returns where to spill the names if they are not numbered. They are
    /// those of `old`, or of edges and nodes.
    fn number(&mut self, chunks: &[EdgeChunk], old: Option<&Old>) -> Result<Option<&mut Spill>> {
        let Context { files, observer, limits, .. } = *self.context;
        loop {
            let (room, others) = (self.index_room(), self.held_beside_index());
            let NamesOf::Index(index) = &mut self.names_of else { break };
            let needed = match (index.node_count() < files.cramped().names, old) {
                (false, _) => Some(u64::MAX),
                (true, Some(old)) => old.add_to(index, chunks, room, &mut self.names)?,
                (true, None) => index.resolve_within(chunks, &mut self.indexes, room, |name| {
                    self.names.push(name)
                })?,
            };
            let Some(needed) = needed else {
                self.nodes.all = index.node_count();
                return self.make_room().map(|()| None);
            };
            let sort_bytes = |index: u64| input::sort_bytes(&limits, others.saturating_add(index));
            // Makes room for the next step as well, so that this happens rarely.
            let next = sort_bytes(needed.saturating_add(needed / 8)).or_else(|| sort_bytes(needed));
            match next {
                Some(bytes) if bytes < self.sort_bytes => {
                    self.sort_bytes = bytes;
                    self.sink.set_budget(bytes)?;
                }
                _ if index.make_dense() => {}
                _ => {
                    let text = "names spill to disk: they no longer fit in memory";
                    notify(observer, Event::Detail { text })?;
                    self.spill()?;
                }
            }
        }
        match &mut self.names_of {
            NamesOf::Disk(spill) => Ok(Some(spill)),
            NamesOf::Index(_) | NamesOf::Done => {
                unreachable!("the input has not been read to its end")
            }
        }
    }

    /// Takes edges whose names are numbered.
    fn take_numbered(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        if let Some(scores) = &self.scores {
            scores.gather(chunks, &self.indexes, Thresholds::new(self.edges.options));
        }
        let counts = self.sink.take(chunks, &self.indexes, self.edges.options)?;
        self.counts = self.counts.plus(counts);
        Ok(())
    }

    /// Numbers the names of the node list.
    pub(super) fn take_nodes(&mut self, chunks: &[EdgeChunk]) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        let before = self.nodes.all;
        if let Some(spill) = self.number(chunks, None)? {
            return spill.take_names(chunks);
        }
        self.nodes.listed_only += self.nodes.all - before;
        Ok(())
    }

    /// Returns the memory available to the index.
    fn index_room(&self) -> u64 {
        let held = self.held_beside_index() + self.sort_bytes;
        input::read_bytes(&self.context.limits).saturating_sub(held)
    }

    /// Returns the memory held by the index, decompression and scores.
    fn held_bytes(&self) -> u64 {
        let index = match &self.names_of {
            NamesOf::Index(index) => index.memory_bytes(),
            NamesOf::Disk(_) | NamesOf::Done => 0,
        };
        index + self.held_beside_index()
    }

    /// Returns the memory held by decompression and scores.
    fn held_beside_index(&self) -> u64 {
        let window = match &self.names_of {
            NamesOf::Index(_) | NamesOf::Disk(_) => self.reader.window_bytes(),
            // The whole input has been read, and nothing remains to be decompressed.
            NamesOf::Done => 0,
        };
        let scores = self.scores.as_ref().map_or(0, SelfScores::memory_bytes);
        window + scores + self.sink.node_bytes()
    }

    /// Starts spilling names to disk. The memory of the sort goes to their buffers.
    fn spill(&mut self) -> Result<()> {
        let expected = self.plan.map(|plan| plan.input.node_count + plan.input.old_nodes());
        let files = self.context.files;
        self.spill_with(|index, directory, room| {
            Spill::new(index, files, directory, room, expected)
        })
    }

    fn spill_with(
        &mut self,
        begin: impl FnOnce(NodeIndex, &Path, NameRoom) -> Result<Spill>,
    ) -> Result<()> {
        let NamesOf::Index(index) = std::mem::replace(&mut self.names_of, NamesOf::Done) else {
            return Ok(());
        };
        self.sink.set_aside()?;
        let spill = begin(index, &self.context.work.path().join(SPILLED), self.room())?;
        self.names_of = NamesOf::Disk(Box::new(spill));
        Ok(())
    }

    /// Returns the memory for names on disk once the index is dropped.
    fn room(&self) -> NameRoom {
        let limits = self.context.limits;
        NameRoom::new(input::read_bytes(&limits).saturating_sub(self.held_bytes()), limits.threads)
    }

    /// Numbers the names that were spilled to disk, and passes the arcs of their edges to the sort.
    pub(super) fn number_spilled(&mut self, journal: &mut JobJournal) -> Result<()> {
        let Context { files, observer, limits, .. } = *self.context;
        let NamesOf::Disk(spill) = std::mem::replace(&mut self.names_of, NamesOf::Done) else {
            return Ok(());
        };
        if spill.is_held() && !self.has_room_for_spilled(spill.edge_count()) {
            journal.withdraw()?;
        }
        let done = self.reader.done_bytes();
        let tick = || notify(observer, Event::Advance { done });
        notify(observer, Event::Detail { text: "numbering names on disk" })?;
        // The whole input has been read, but the stage continues for an unknown time.
        notify(observer, Event::Expect { total: None })?;
        let room = self.room();
        let (names, listed_only) = (&mut self.names, &mut self.nodes.listed_only);
        let mut edges = spill.finish(room, &tick, |of_edge, name| {
            *listed_only += u64::from(!of_edge);
            names.push(name)
        })?;
        if let Some(old) = self.edges.old.filter(|_| edges.repeated_earlier() > 0) {
            return Err(old.corrupt_names());
        }
        self.nodes.named_on_disk = edges.node_count() - self.nodes.all;
        self.nodes.all = edges.node_count();
        let rest = self.held_bytes() + SpilledEdges::MEMORY_BYTES;
        self.sort_bytes = input::sort_bytes(&limits, rest).ok_or_else(|| self.outgrown())?;
        self.sink.set_budget(self.sort_bytes)?;
        self.make_room()?;
        let mut chunks: Vec<EdgeChunk> = Vec::new();
        chunks.resize_with(limits.threads.max(1), EdgeChunk::default);
        self.indexes.resize_with(chunks.len(), Vec::new);
        let count = SPILLED_EDGES.min(files.cramped().run_records);
        loop {
            for (chunk, indexes) in chunks.iter_mut().zip(&mut self.indexes) {
                edges.next(count, indexes, &mut chunk.weights)?;
            }
            if self.indexes[0].is_empty() {
                edges.discard();
                return Ok(());
            }
            self.take_numbered(&chunks)?;
            tick()?;
        }
    }

    /// Returns whether the disk has room to keep spilled names until they and their edges are numbered and sorted.
    fn has_room_for_spilled(&self, edge_count: u64) -> bool {
        let (files, directory) = (self.context.files, &self.context.work.path().join(SPILLED));
        // Numbers and new names take no more than the names; the record of an edge takes at most 12 bytes.
        let needed = bytes_in(files, directory) + 12 * edge_count;
        files.free_bytes(directory).is_some_and(|free| free >= needed)
    }

    /// Takes memory from the sort when names and scores need more.
    fn make_room(&mut self) -> Result<()> {
        let Context { files, limits, .. } = *self.context;
        let mut score_bytes = 0;
        self.sink.grow(self.nodes.all);
        if let Some(scores) = &mut self.scores {
            scores.grow(self.nodes.all);
            score_bytes = scores.memory_bytes();
        }
        // If the merge cannot fit, there is no point in reading on.
        let has_room = match self.edges.ladder {
            // The index gives way to the forest, as further names go to disk.
            Some(_) => input::sort_bytes(&limits, self.held_beside_index()).is_some(),
            None => graph::merge_bytes_beside(&limits, score_bytes, &files.tuning()).is_some(),
        };
        if !has_room {
            return Err(self.outgrown());
        }
        let held_bytes = self.held_bytes();
        if held_bytes + self.sort_bytes > input::read_bytes(&limits) {
            // Scores have grown. Makes room for their next step as well, so that this happens rarely.
            let room = input::sort_bytes(&limits, held_bytes + held_bytes / 8);
            self.sort_bytes = room.unwrap_or(SORT_BYTES_MIN);
            self.sink.set_budget(self.sort_bytes)?;
        }
        Ok(())
    }

    /// Returns the error for self scores, or a forest with heights, that outgrow the limit. The suggested limit is
    /// extrapolated from the fraction of the input read.
    fn outgrown(&self) -> Error {
        let done = self.reader.done_bytes().max(1) as f64;
        let share =
            self.reader.total_bytes().map_or(0.5, |total| (done / total.max(1) as f64).min(1.0));
        let expected = (self.nodes.all as f64 / share.max(0.01)) as u64;
        match self.edges.ladder {
            Some(ladder) => {
                plan::too_small_for_nodes(&self.context.limits, expected, ladder.bytes_a_node())
            }
            None => plan::too_small(&self.context.limits, expected, "the input seems to have"),
        }
    }

    /// Finishes reading, and emits warnings.
    pub(super) fn finish(self) -> Result<(Read, Sink<R>)> {
        let is_summed = self.edges.ladder.is_none() && self.edges.options.sums_directions();
        let is_summed_search = is_summed && self.reader.is_search();
        let (has_other_kinds, formats) = (self.reader.has_other_kinds(), self.reader.describe());
        let name_type = self.reader.name_type();
        let summary = self.reader.finish()?;
        let names = self.names.finish()?;
        let mut warnings = Vec::new();
        let mut warn = |text: Text| {
            self.context.warn(&text)?;
            warnings.push(text);
            Ok(())
        };
        summary.warning().map_or(Ok(()), |text| warn(text.into()))?;
        if is_summed_search {
            let wanted = DUPLICATES.of("max").with(NORMALIZE.of("self-score"));
            warn(format_args!(
                "a search finds most hits in both directions, and their scores are summed: for families use {wanted}"
            ).into())?;
        }
        if has_other_kinds {
            warn(
                "nodes are not of two kinds in all files, so the graph does not record kinds"
                    .into(),
            )?;
        }
        if self.edges.old.is_none() {
            check_edges(&summary, self.counts, self.edges.options)?;
        }
        let node_count = self.nodes.all;
        let no_self_hit_count = self.scores.as_ref().map_or(0, SelfScores::without_self_hit);
        if no_self_hit_count > 0 {
            warn(format!(
                "{} of {} have no self hit: their self score is the largest weight of their edges",
                format_count(no_self_hit_count),
                format_counted(node_count, "node", "nodes")
            ).into())?;
        }
        let input = InputReport {
            line_count: summary.lines,
            comment_count: summary.comment_lines,
            edge_count: summary.edges,
            dropped: DroppedReport {
                zero_weight_count: summary.zero_weight_edges,
                zero_weight_loop_count: self.counts.zero_loops,
                below_min_count: self.counts.below,
                above_max_count: self.counts.above,
                self_hit_count: self.counts.self_hits,
            },
            loop_count: self.counts.loops,
            weighted_count: self.counts.weighted,
            no_self_hit_count,
            listed_count: summary.listed_nodes,
            listed_only_count: self.nodes.listed_only,
            names_on_disk_count: self.nodes.named_on_disk,
            skipped_count: summary.skipped_lines,
            formats,
        };
        let (names, kinds) = (names.sealed(), names.kinds);
        let scores = self.scores;
        let read = Read { node_count, scores, names, name_type, kinds, input, warnings };
        Ok((read, self.sink))
    }
}

/// Returns the error for an input without edges.
pub(crate) fn no_edges() -> Error {
    Error::new(ErrorKind::BadInput, "the input holds no edges")
        .hint("an edge is a line with two names and an optional weight")
}

/// Returns an error for an input without edges, or if all edges are dropped because of their weights. Without options
/// about weights, a graph may have no edges.
fn check_edges(summary: &InputSummary, counts: EdgeCounts, options: &JobOptions) -> Result<()> {
    if summary.edges == 0 {
        return Err(no_edges());
    }
    let zero = summary.zero_weight_edges;
    let is_neg_log10 = options.input.weight_transform == WeightTransform::NegLog10;
    let count = zero + counts.below + counts.above;
    if count < summary.edges || !(is_neg_log10 || counts.below + counts.above > 0) {
        return Ok(());
    }
    let (min, max) = (options.min_weight.unwrap_or(0.0), options.max_weight.unwrap_or(0.0));
    let parts = [
        (counts.below, format_args!("below {}", MIN_WEIGHT.of(min)).into()),
        (counts.above, format_args!("above {}", MAX_WEIGHT.of(max)).into()),
        (zero, Text::from("of weight 0")),
    ];
    let edges = format_counted(summary.edges, "edge", "edges");
    let mut message = Text::from(format!("no edges are left of {edges}"));
    let mut separator = ":";
    for (count, place) in parts.iter().filter(|(count, _)| *count > 0) {
        message = format_args!("{message}{separator} {} {place}", format_count(*count)).into();
        separator = ",";
    }
    let hint: Text = if counts.below > counts.above {
        format_args!("use a smaller {MIN_WEIGHT}").into()
    } else if counts.above > 0 {
        format_args!("use a larger {MAX_WEIGHT}").into()
    } else {
        let transform = WEIGHT_TRANSFORM.of("neglog10");
        format_args!("{transform} is for E-values; {COLUMNS} names their column").into()
    };
    Err(Error::new(ErrorKind::BadInput, message).hint(hint))
}
