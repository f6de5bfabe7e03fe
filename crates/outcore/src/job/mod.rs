//! Jobs: all stages in order, within the limits, with a report.
//!
//! ```text
//!  build    plan -> read -> merge -> graph directory, renamed into place when complete
//!  cluster  plan -> read -> merge -> cluster -> write        (a graph: cluster -> write)
//!           with an earlier result: match reads it before `cluster` and matches the communities after;
//!           on request, levels and representatives before `write`
//!  score    match -> match the truth -> score
//! ```
//! Temporary files are in one directory below the work directory. Its manifest lists the finished stages,
//! and a checkpoint holds saved state (`resume`). The directory is removed when the job ends. A job that is
//! killed leaves it behind; so does a job that fails or is interrupted, if the same command can resume.
//!
//! ```
//! use outcore::cluster::{ClusterOptions, Method};
//! use outcore::input::InputOptions;
//! use outcore::io::Files;
//! use outcore::job::{self, JobOptions, Limits, Source};
//! use outcore::progress::Silent;
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let files = Files::default();
//! let edges = directory.join("edges.tsv");
//! files.write(&edges, b"a b\nb c\nc a\nx y\ny z\nz x\nc x\n")?;
//! let input = InputOptions { paths: vec![edges], ..InputOptions::default() };
//! let limits = Limits { memory_bytes: 128 << 20, threads: 2 };
//! let options = JobOptions::new(input, limits, directory.to_path_buf());
//! println!("{} of memory", job::plan(&files, &options, None)?.peak_memory_bytes);
//!
//! // The graph is built once and can be clustered any number of times.
//! let path = directory.join("triangles.graph");
//! job::build(&files, &options, &path, &Silent)?;
//! let output = directory.join("communities.tsv");
//! let work_dir = directory.to_path_buf();
//! let source = Source::Graph { path, limits, work_dir, restart: false };
//! for method in [Method::MapEquation, Method::Modularity] {
//!     let options = ClusterOptions { method, ..ClusterOptions::default() };
//!     job::cluster(&files, &source, &options, &output, &Silent)?;
//! }
//! assert_eq!(files.read(&output)?, b"a\t0\nb\t0\nc\t0\nx\t1\ny\t1\nz\t1\n");
//! # Ok::<(), outcore::Error>(())
//! ```

mod builder;
mod doubt;
mod given;
mod place;
mod predict;
mod present;
mod read;
mod report;
mod resume;
mod score;

pub use builder::Job;
pub use place::{InputFile, JobKind, JobManifest};
pub use place::{build_paths, cluster_paths, score_paths};
pub use predict::plan;
pub use present::outputs;
pub use read::Normalize;
pub use report::{
    AppendReport, CommunitiesReport, InputReport, PresentReport, Report, ResultReport, StageReport,
};
pub use score::{AgainstReport, ScoreOptions, ScoreReport, Unnamed, score};

pub use crate::budget::Limits;
use crate::checkpoint::report_from_scratch;
use crate::cluster::{self, ClusterOptions, Communities, GivenLabels, Method, SAVED};
use crate::error::opt::{MEMORY, THREADS};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Duplicates, Graph, NodeNames};
use crate::input::InputOptions;
use crate::io::{
    Files, Owner, Scratch, Watch, Writer, address_limit, begin_stage, give_back_freed,
    peak_memory_bytes, resident_memory_bytes, stage_peak_bytes,
};
use crate::output::check_names;
pub use crate::plan::Plan;
use crate::plan::limits::note_less_memory;
use crate::plan::{self, Clustering};
use crate::present::reading_bytes;
pub use crate::present::{LevelForm, PresentOptions, RowForm, Small};
use crate::progress::{Event, Observer, Stage, notify};
use crate::units::{format_bytes, format_counted, size_to_type};
use doubt::doubts;
use place::{GRAPH, discard_left, grows_at, grows_in, hold_place, scratch_name};
use present::Targets;
use read::Old;
use report::Warned;
use resume::{GraphState, JobJournal, NOTICE, Saved, SavedStage, bytes_in, has_sweeps};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Options for building a graph from edges.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Input files and their format.
    pub input: InputOptions,
    /// How to merge repeated edges.
    pub duplicates: Duplicates,
    /// Whether to keep edges from a node to itself.
    pub keep_loops: bool,
    /// Drops edges with a smaller weight, after [`InputOptions::weight_transform`].
    pub min_weight: Option<f64>,
    /// Drops edges with a larger weight, likewise.
    pub max_weight: Option<f64>,
    /// Normalization of the remaining weights. Thresholds are applied first, and not to self hits.
    pub normalize: Normalize,
    /// Memory limit and number of threads.
    pub limits: Limits,
    /// Directory for temporary files.
    pub work_dir: PathBuf,
    /// Whether to ignore the saved progress of an earlier job and start from scratch.
    pub restart: bool,
    /// Graph to which [`build`] adds the edges; see [`JobOptions::adopt`]. It stays unchanged: the result is a new
    /// graph.
    pub append: Option<PathBuf>,
    /// Meaning of the names, if the edges come from an object in memory whose nodes have an order. The graph records
    /// it, so that results can be put back into this order.
    pub names: Option<NodeNames>,
}

impl JobOptions {
    /// Creates options for undirected edges that drop loops, sum the weights of repeated edges and set no thresholds.
    pub fn new(input: InputOptions, limits: Limits, work_dir: PathBuf) -> Self {
        Self {
            input,
            duplicates: Duplicates::Sum,
            keep_loops: false,
            min_weight: None,
            max_weight: None,
            normalize: Normalize::None,
            limits,
            work_dir,
            restart: false,
            append: None,
            names: None,
        }
    }
}

/// Source of the graph to cluster.
#[derive(Debug, Clone)]
pub enum Source {
    /// Edge lists.
    Edges(Box<JobOptions>),
    /// A graph directory written by [`build`].
    Graph {
        /// Path of the directory.
        path: PathBuf,
        /// Memory limit and number of threads.
        limits: Limits,
        /// Directory for temporary files.
        work_dir: PathBuf,
        /// Whether to ignore the saved sweeps of an earlier job and start from scratch.
        restart: bool,
    },
}

/// State shared by all stages of a job.
struct Stages<'a> {
    files: &'a Files,
    observer: &'a dyn Observer,
    limits: Limits,
    start: Instant,
    report: Report,
    /// Manifest of the directory for temporary files, and the path of that directory.
    manifest: Option<(JobManifest, PathBuf)>,
    /// Checkpoints of a job on edges.
    records: Option<JobJournal>,
    /// Input files as they were when the job began.
    inputs: Vec<InputFile>,
    /// Graph that edges are added to.
    old: Option<Arc<Old>>,
    /// Plan predicted from a sample of the input, if it could be sampled.
    plan: Option<Plan>,
    /// Clustering that the graph is built for, if any.
    clustering: Option<Clustering<'a>>,
    /// Whether this job reuses saved state of an earlier one.
    continues: bool,
}

impl<'a> Stages<'a> {
    fn new(files: &'a Files, observer: &'a dyn Observer, limits: Limits) -> Self {
        let (start, report) = (Instant::now(), Report::new(limits));
        Self {
            files,
            observer,
            limits,
            start,
            report,
            manifest: None,
            records: None,
            inputs: Vec::new(),
            old: None,
            plan: None,
            clustering: None,
            continues: false,
        }
    }

    /// Creates the directory for temporary files, named after the result. Of the files of an earlier job, only those
    /// named in `kept` remain.
    fn scratch<'p>(
        &mut self,
        kind: JobKind,
        inputs: impl Iterator<Item = &'p PathBuf>,
        parent: &Path,
        result: &Path,
        kept: &[&str],
    ) -> Result<Scratch> {
        let manifest = JobManifest::new(self.files, kind, inputs, result);
        let mut scratch = Scratch::take(self.files, parent, &scratch_name(result))?;
        scratch.begin(&manifest.to_bytes(), kept)?;
        self.continues = has_sweeps(self.files, scratch.path());
        self.manifest = Some((manifest, scratch.path().to_path_buf()));
        Ok(scratch)
    }

    /// Runs one stage; `work` returns its result and a phrase that summarizes it.
    fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&mut Self) -> Result<(T, String)>,
    ) -> Result<T> {
        // Memory freed by the previous stage is available to this one.
        give_back_freed();
        begin_stage();
        let (begin, counters) = (Instant::now(), self.files.counters());
        let (read, written) = (counters.read_bytes(), counters.write_bytes());
        let (result, summary) = work(self)?;
        let counters = self.files.counters();
        let plan = self.plan.as_ref();
        let predicted = plan.and_then(|plan| plan.stages.iter().find(|row| row.stage == stage));
        let row = StageReport {
            stage,
            seconds: begin.elapsed().as_secs_f64(),
            predicted_seconds: predicted.map(|row| row.seconds),
            read_bytes: counters.read_bytes() - read,
            predicted_read_bytes: predicted.map(|row| row.read_bytes),
            write_bytes: counters.write_bytes() - written,
            predicted_write_bytes: predicted.map(|row| row.write_bytes),
            peak_memory_bytes: stage_peak_bytes(),
            predicted_memory_bytes: predicted
                .zip(plan)
                .map(|(row, plan)| row.memory_bytes + plan.program_bytes),
            summary,
        };
        notify(self.observer, Event::End { summary: &row.summary })?;
        self.report.stages.push(row);
        self.record(stage)?;
        Ok(result)
    }

    /// Records in the manifest that a stage is finished, except the last one (write): the result is then in place, and
    /// the directory with its manifest is about to be removed.
    fn record(&mut self, stage: Stage) -> Result<()> {
        let Some((manifest, directory)) = &mut self.manifest else { return Ok(()) };
        if stage == Stage::Write {
            return Ok(());
        }
        if !manifest.stages_done.contains(&stage) {
            manifest.stages_done.push(stage);
        }
        manifest.write(self.files, directory)
    }

    fn finish(mut self, rejects: Option<&Path>) -> Report {
        self.report.rejects = rejects.map(|path| path.display().to_string());
        if let Some((manifest, _)) = self.manifest.take() {
            self.report.job = manifest.job;
            self.report.inputs = manifest.inputs.into_iter().map(|input| input.path).collect();
            self.report.output = manifest.result;
        }
        self.report.seconds = self.start.elapsed().as_secs_f64();
        self.report.peak_memory_bytes = peak_memory_bytes();
        self.report.read_bytes = self.files.counters().read_bytes();
        self.report.write_bytes = self.files.counters().write_bytes();
        self.report
    }

    /// Builds the graph in `directory` from edges, or from the saved state `found` of an earlier job, with runs in
    /// `scratch`.
    fn build(
        &mut self,
        options: &JobOptions,
        found: SavedStage,
        scratch: &Scratch,
        directory: &Path,
    ) -> Result<()> {
        if let Some((Saved::Graph(state), _)) = found {
            return self.resume_graph(*state);
        }
        let summary = match options.duplicates {
            Duplicates::First => read::read_and_merge::<crate::graph::InputOrder>(
                self, options, found, scratch, directory,
            ),
            _ => read::read_and_merge::<crate::graph::ArcRecord>(
                self, options, found, scratch, directory,
            ),
        }?;
        self.report.graph = Some(summary);
        Ok(())
    }

    /// Resumes from the graph of an earlier job.
    fn resume_graph(&mut self, state: GraphState) -> Result<()> {
        plan::check_limits(&self.limits)?;
        self.stage(Stage::Merge, |job| {
            notify(job.observer, Event::Begin { stage: Stage::Merge, total: None, unit: "arcs" })?;
            job.report_again(state.input, &state.warnings)?;
            Ok(((), "reused the graph of an earlier job".into()))
        })
    }

    /// Refuses a job that cannot succeed according to a sample of its input.
    fn preflight(&mut self, options: &JobOptions, directory: &Path) -> Result<()> {
        if options.input.all_paths().any(|path| !self.files.is_regular(path)) {
            return plan::check_limits(&self.limits);
        }
        let (old, tuning) = (self.old.as_deref(), self.files.tuning());
        let plan = predict::planned(self.files, options, old, self.clustering, &tuning)?;
        if let Some(free) = self.files.free_bytes(directory) {
            // The plan includes what this directory already holds.
            plan.check_disk(free + bytes_in(self.files, directory), directory)?;
        }
        self.plan = Some(plan);
        Ok(())
    }

    /// Clusters the graph and writes each result to its file.
    fn cluster(
        &mut self,
        graph: &Graph,
        options: &ClusterOptions,
        targets: &Targets<'_>,
        scratch: &Scratch,
    ) -> Result<()> {
        self.report.graph.get_or_insert_with(|| graph.summary());
        check_names(graph, &targets.outputs)?;
        let earlier = self.read_earlier(graph, targets, scratch)?;
        let given =
            self.read_given(graph, options, &targets.options.communities, scratch.path())?;
        let all = self.find(graph, options, given, scratch)?;
        let single = all.len() == 1;
        for (at, mut found) in all.into_iter().enumerate() {
            let mut report = CommunitiesReport::new(graph, options, at, &found);
            self.warn_of_a_giant(options.method, &report)?;
            for doubt in doubts(options, &found) {
                notify(self.observer, Event::Warning { text: &doubt })?;
            }
            let groupings = std::mem::take(&mut found.groupings);
            let stability = found.stability.take();
            let (reported, presented) = self.present(graph, targets, found, &earlier, scratch)?;
            report.presented = presented;
            let levels = self.divide(&reported, &groupings, targets, scratch)?;
            report.group_counts = levels.as_ref().map(|levels| levels.group_counts().to_vec());
            if !single {
                let output = targets.outputs[at].display().to_string();
                self.report.results.push(ResultReport { output, communities: report.clone() });
            }
            if at == 0 {
                self.report.communities = Some(report);
            }
            let (present, path) = (targets.options, targets.representatives.get(at));
            let inside = self.look_inside(graph, &reported, present, path, scratch)?;
            let output = (present, targets.outputs[at].as_path());
            let of_nodes = (&inside, stability.as_ref());
            self.write(graph, &reported, of_nodes, levels, output, scratch)?;
        }
        Ok(())
    }

    /// Warns if one community holds more than half of the nodes, which is rarely intended.
    fn warn_of_a_giant(&self, method: Method, report: &CommunitiesReport) -> Result<()> {
        let is_giant = report.largest_share > 0.5 && report.largest_size > 1;
        let Some(advice) = method.spec().giant.filter(|_| is_giant) else {
            return Ok(());
        };
        let percent = 100.0 * report.largest_share;
        let text =
            format!("one community holds {percent:.1} % of the nodes, more than half{}", advice());
        notify(self.observer, Event::Warning { text: &text })
    }

    fn find(
        &mut self,
        graph: &Graph,
        options: &ClusterOptions,
        given: GivenLabels,
        scratch: &Scratch,
    ) -> Result<Vec<Communities>> {
        self.stage(Stage::Cluster, |job| {
            // The allocator may still hold memory that earlier stages freed.
            let held = resident_memory_bytes().unwrap_or(0);
            let memory = job.limits.memory_left(held);
            let least = options.min_memory(graph, given.count(), job.limits.threads);
            let least = least.total_bytes();
            let memory = memory.max(least.min(job.limits.memory_bytes));
            let scratch = scratch.path();
            let all = cluster::cluster_from(graph, options, given, memory, scratch, job.observer)?;
            job.report.resumed |= all.iter().any(|found| found.resumed_sweeps > 0);
            let modularity = all.iter().map(|found| format!("{:.4}", found.modularity));
            let modularity = modularity.collect::<Vec<_>>().join(", ");
            let summary = format!("{}, modularity {modularity}", cluster::summary(&all));
            Ok((all, summary))
        })
    }
}

/// Refuses a graph that needs more memory than the limit, before anything is read for it. The suggested limit is enough
/// for all stages.
fn check_graph(
    limits: Limits,
    graph: &Graph,
    options: &ClusterOptions,
    targets: &Targets<'_>,
) -> Result<()> {
    let given = options.files().count() as u64;
    let clustering = options.min_memory(graph, given, limits.threads).total_bytes();
    let nodes = graph.node_count();
    let read = reading_bytes(nodes, options, targets.options, limits.threads);
    let certain = clustering.max(read).max(targets.min_bytes(graph, 0, limits.threads));
    if certain <= limits.memory_bytes {
        return plan::check_limits(&limits);
    }
    // An earlier result has at most one community per node.
    let least = certain.max(targets.min_bytes(graph, nodes, limits.threads));
    let little = format_bytes(limits.memory_bytes);
    let message = format!("{little} is too little memory for this clustering");
    let nodes = format_counted(nodes, "node", "nodes");
    let least = least.max(plan::at_least(&limits).memory_bytes);
    let error = Error::new(ErrorKind::MemoryTooSmall, message)
        .note(format!("the graph has {nodes}"))
        .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))));
    Err(match options.with_less_memory() {
        Some(other) => {
            let needed = other.min_memory(graph, 0, limits.threads).total_bytes().max(read);
            let needed =
                needed.max(plan::at_least(&Limits { memory_bytes: 0, ..limits }).memory_bytes);
            note_less_memory(error, least, (other.method, needed))
        }
        None => error,
    })
}

/// Runs `work` in a thread pool of its own, so that results never depend on a global pool.
fn in_pool<T: Send>(limits: Limits, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let threads = limits.threads.max(1);
    check_system(limits)?;
    let _watch = Watch::begin(limits.memory_bytes)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {threads} threads: {error}"))
            .hint(format_args!("use {THREADS} with a smaller number"))
    })?;
    pool.install(work)
}

/// Refuses a job for which the system allows too few threads or too little address space; it would otherwise fail
/// midway.
fn check_system(limits: Limits) -> Result<()> {
    /// Largest number of threads for which this process has passed the check.
    static CHECKED: AtomicUsize = AtomicUsize::new(0);
    if CHECKED.load(Relaxed) >= limits.threads.max(1) {
        return Ok(());
    }
    // Threads of pools, and those that read, write, sort and merge.
    let count = 8 * limits.threads.max(1) + 16;
    let (hold, held) = crossbeam_channel::bounded::<()>(0);
    let start = |_| {
        let held = held.clone();
        std::thread::Builder::new().spawn(move || held.recv().is_ok())
    };
    let started: std::io::Result<Vec<_>> = (0..count).map(start).collect();
    drop(hold);
    let ended = started.map(|threads| threads.into_iter().for_each(|thread| drop(thread.join())));
    ended.map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {count} threads: {error}")).hint(
            format_args!(
                "use a smaller {THREADS}, or raise the system limits: `ulimit -u`, `ulimit -v`, \
             or the limit of the container"
            ),
        )
    })?;
    if let Some(addresses) = address_limit() {
        check_addresses(limits.memory_bytes, addresses)?;
    }
    CHECKED.fetch_max(limits.threads.max(1), Relaxed);
    Ok(())
}

fn check_addresses(memory_bytes: u64, most: u64) -> Result<()> {
    // Both kinds of name tables reserve room to grow, which takes address space but no memory: 9/8 of the limit each.
    let wanted = usize::try_from((memory_bytes / 4).saturating_mul(9)).unwrap_or(usize::MAX);
    if Vec::<u8>::new().try_reserve_exact(wanted).is_ok() {
        return Ok(());
    }
    let (memory, most) = (format_bytes(memory_bytes), format_bytes(most));
    let message =
        format!("`ulimit -v` allows {most} of address space, too little for {memory} of memory");
    Err(Error::new(ErrorKind::MemoryTooSmall, message).hint(format_args!(
        "use `ulimit -v unlimited`, as {MEMORY} limits the job already, or a smaller {MEMORY}"
    )))
}

/// Reads edges and writes the graph directory `graph`.
///
/// # Errors
/// `Usage` if `graph` exists or options contradict each other; bad input, `MemoryTooSmall`, `DiskTooSmall`, `DiskFull`,
/// `Io`, `Interrupted`. Progress that the same call can resume from is kept and described by [`Error::kept_text`]; no
/// other temporary file is left behind.
pub fn build(
    files: &Files,
    options: &JobOptions,
    graph: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    let files = &options.limits.tuned(files);
    options.check_weights()?;
    build_paths(options, graph).check(files)?;
    options.check_rejects()?;
    if files.is_taken(graph) {
        // If another process holds the directory now, that process removes it.
        let _ = discard_left(files, &options.work_dir, graph);
        let parent = grows_in(files, &options.work_dir, graph);
        if parent != options.work_dir && files.entry(&parent.join(scratch_name(graph))).is_ok() {
            let _ = Scratch::create(files, parent, &scratch_name(graph));
        }
        if let Some(path) = &options.input.rejects {
            Writer::discard(files, path);
        }
        return Err(Error::new(ErrorKind::Usage, format!("`{}` already exists", graph.display()))
            .hint("choose another name for the graph, or remove the old one first"));
    }
    let warned = &Warned::new(observer);
    let built = from_scratch_if_damaged(warned, options.restart, |restart| {
        let options = &JobOptions { restart, ..options.clone() };
        in_pool(options.limits, || build_once(files, options, graph, warned))
    })?;
    Ok(Report { warnings: warned.texts(), ..built })
}

fn build_once(
    files: &Files,
    options: &JobOptions,
    graph: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    let mut job = Stages::new(files, observer, options.limits);
    job.old = Old::open(files, options)?.map(Arc::new);
    let inputs = options.append.iter().chain(options.input.all_paths());
    let part = &grows_at(files, &options.work_dir, graph);
    let mut place = hold_place(files, &options.work_dir, graph)?;
    let (scratch, found) = job.scratch_of_edges(JobKind::Build, inputs, options, graph, part)?;
    if let Some(place) = &mut place {
        let kept: &[&str] = if found.is_some() { &[GRAPH] } else { &[] };
        place.begin(&Owner::current().to_bytes(), kept)?;
    }
    let built = job.build(options, found, &scratch, part);
    let built = built.and_then(|()| files.publish_new(part, graph));
    let ended = job.end(scratch, options, part, built);
    if let (Some(place), Err(error)) = (place, &ended)
        && error.kept_text().is_some()
    {
        place.leave(&Owner::nobody().to_bytes(), &[GRAPH]);
    }
    ended?;
    Ok(job.finish(options.input.rejects.as_deref()))
}

/// Runs a job, and runs it once more from scratch if the saved state of an earlier job turns out to be damaged.
fn from_scratch_if_damaged<T>(
    warned: &Warned<'_>,
    restart: bool,
    run: impl Fn(bool) -> Result<T>,
) -> Result<T> {
    match run(restart) {
        Err(error) if error.is_of_earlier_run() && !restart => {
            warned.forget();
            report_from_scratch(warned, NOTICE, error.message())?;
            run(true)
        }
        done => done,
    }
}

/// Finds communities and writes lines `node<TAB>community` to `output` (`-` is standard output), or to the files that
/// [`outputs()`] derives from it.
///
/// # Errors
/// Those of [`build`]; `CorruptFile` for a damaged graph. No partial output is left behind.
pub fn cluster(
    files: &Files,
    source: &Source,
    options: &ClusterOptions,
    output: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    cluster_and_present(files, source, options, &PresentOptions::default(), output, observer)
}

/// Like [`cluster()`], with options for how communities are presented.
///
/// # Errors
/// Those of [`cluster()`]; `BadInput` for an earlier result that cannot be used.
pub fn cluster_and_present(
    files: &Files,
    source: &Source,
    options: &ClusterOptions,
    present: &PresentOptions,
    output: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    options.check()?;
    present.communities.check()?;
    cluster_paths(files, source, options, present, output)?.check(files)?;
    let targets = &Targets::new(files, options, present, output)?;
    targets.check(files, source)?;
    if let Source::Edges(edges) = source {
        edges.check_rejects()?;
    }
    given::check_files(options, files)?;
    let warned = &Warned::new(observer);
    let done = match source {
        Source::Graph { path, limits, work_dir, restart } => {
            let files = &limits.tuned(files);
            let graph = Graph::open(files, path)?;
            check_graph(*limits, &graph, options, targets)?;
            from_scratch_if_damaged(warned, *restart, |restart| {
                in_pool(*limits, || {
                    let mut job = Stages::new(files, warned, *limits);
                    let inputs = std::iter::once(path).chain(options.files());
                    let inputs = inputs.chain(&present.earlier);
                    let kept: &[&str] = if restart { &[] } else { &[SAVED] };
                    let scratch = job.scratch(JobKind::Cluster, inputs, work_dir, output, kept)?;
                    let done = job.cluster(&graph, options, targets, &scratch);
                    job.end_sweeps(scratch, output, done)?;
                    Ok(job.finish(None))
                })
            })
        }
        Source::Edges(edges) => from_scratch_if_damaged(warned, edges.restart, |restart| {
            let edges = &JobOptions { restart, ..(**edges).clone() };
            in_pool(edges.limits, || {
                edges.check_weights()?;
                edges.refuse_append()?;
                targets.check_lines(files)?;
                given::check_lines(options, &present.communities, files)?;
                let files = &edges.limits.tuned(files);
                let mut job = Stages::new(files, warned, edges.limits);
                job.clustering = Some(Clustering { options, present });
                let inputs = edges.input.all_paths().chain(options.files());
                let inputs = inputs.chain(&present.earlier);
                let directory = edges.work_dir.join(scratch_name(output)).join(GRAPH);
                let (scratch, found) =
                    job.scratch_of_edges(JobKind::Cluster, inputs, edges, output, &directory)?;
                let built = job.build(edges, found, &scratch, &directory);
                let done = built.and_then(|()| {
                    let graph = Graph::open(files, &directory)?;
                    job.cluster(&graph, options, targets, &scratch)
                });
                job.end(scratch, edges, &directory, done)?;
                Ok(job.finish(edges.input.rejects.as_deref()))
            })
        }),
    }?;
    Ok(Report { warnings: warned.texts(), ..done })
}
