//! Jobs: all stages in order, within the limits, with a report.
//!
//! ```text
//!  build    plan -> read -> merge -> graph directory, renamed into place when complete
//!  cluster  plan -> read -> merge -> cluster -> write        (a graph: cluster -> write)
//!           with an earlier result: match reads it before `cluster` and matches the communities after;
//!           on request, levels and representatives before `write`
//!           components of edges: plan -> read -> cluster -> write, without a graph
//!  score    match -> match the truth -> score
//!  export   match, if communities are given -> write
//!  compare  match -> match the other -> compare -> write the nodes that moved, on request
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
mod communities;
mod compare;
mod context;
mod doubt;
mod export;
mod given;
mod place;
mod predict;
mod present;
mod read;
mod report;
mod resume;
mod score;

pub use crate::present::{CommunityLink, CommunityReport, GroupsReport, LargestReport, Preference};
pub use builder::Job;
pub use compare::compare;
pub use export::{ExportOptions, ExportReport, export};
pub use place::{InputFile, JobKind, JobManifest};
pub use place::{build_paths, cluster_paths, compare_paths, export_paths, score_paths};
pub use predict::plan;
pub use present::outputs;
pub use read::Normalize;
pub use report::{
    AppendReport, CommunitiesReport, DescriptionReport, DroppedReport, InputReport, LevelsReport,
    PresentReport, Report, ResultOptions, ResultReport, SizesReport, StageReport,
};
pub use score::{AgainstReport, ScoreOptions, ScoreReport, UnmatchedReport, Unnamed, score};

pub use crate::budget::Limits;
use crate::checkpoint::report_from_scratch;
use crate::cluster::{ClusterOptions, SAVED};
use crate::error::opt::{DUPLICATES, MEMORY, MIN_WEIGHT, NORMALIZE, THREADS};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Duplicates, Graph, NodeNames};
use crate::input::InputOptions;
use crate::io::{Files, Owner, Scratch, Watch, Writer, address_limit};
use crate::plan::Clustering;
pub use crate::plan::Plan;
pub use crate::present::{LevelForm, PresentOptions, RowForm, SideFiles, Small};
use crate::progress::Observer;
use crate::units::format_bytes;
use communities::{check_graph, find_and_write};
use context::{Built, Clustered, Context};
use place::{GRAPH, discard_left, grows_at, grows_in, hold_place, scratch_name};
use present::Targets;
use read::{Edges, Old};
use report::Warned;
use resume::{JobJournal, NOTICE, WorkDirectory};
use std::path::{Path, PathBuf};
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
    /// Drops edges with a larger weight, after [`InputOptions::weight_transform`].
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

/// Runs a job, and runs it once more from scratch if the saved state of an earlier job turns out to be damaged.
fn run(
    limits: Limits,
    restart: bool,
    observer: &dyn Observer,
    job: impl Fn(bool, &dyn Observer) -> Result<Report> + Sync,
) -> Result<Report> {
    let warned = Warned::new(observer);
    let run = |restart| in_pool(limits, || job(restart, &warned));
    let done = match run(restart) {
        Err(error) if error.is_of_earlier_run() && !restart => {
            warned.forget();
            report_from_scratch(&warned, NOTICE, error.texts().message)?;
            run(true)
        }
        done => done,
    }?;
    Ok(Report { warnings: warned.texts(), ..done })
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
    // First, as a thread that starts in the last free addresses ends the process instead of failing.
    if let Some(addresses) = address_limit() {
        check_addresses(limits.memory_bytes, count, addresses)?;
    }
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
    CHECKED.fetch_max(limits.threads.max(1), Relaxed);
    Ok(())
}

fn check_addresses(memory_bytes: u64, threads: usize, most: u64) -> Result<()> {
    /// Addresses of a thread: 2 MiB of stack, its guard page and the stack of its signal handler, with room to spare.
    const OF_THREAD: u64 = 9 << 18;
    // Both kinds of name tables reserve room to grow, which takes address space but no memory: 9/8 of the limit each.
    let of_names = (memory_bytes / 4).saturating_mul(9);
    let wanted = of_names.saturating_add(threads as u64 * OF_THREAD);
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if Vec::<u8>::new().try_reserve_exact(wanted).is_ok() {
        return Ok(());
    }
    let (memory, most) = (format_bytes(memory_bytes), format_bytes(most));
    let message = format!(
        "`ulimit -v` allows {most} of address space, too little for {memory} of memory and \
         {threads} threads"
    );
    Err(Error::new(ErrorKind::MemoryTooSmall, message).hint(format_args!(
        "use `ulimit -v unlimited`, as {MEMORY} limits the job already, or a smaller {MEMORY} or \
         {THREADS}"
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
    run(options.limits, options.restart, observer, |restart, observer| {
        build_once(files, &JobOptions { restart, ..options.clone() }, graph, observer)
    })
}

fn build_once(
    files: &Files,
    options: &JobOptions,
    graph: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    let start = Instant::now();
    let old = Old::open(files, options)?;
    let inputs = options.append.iter().chain(options.input.all_paths());
    let directory = &grows_at(files, &options.work_dir, graph);
    let mut place = hold_place(files, &options.work_dir, graph)?;
    let edges = Edges { options, old: old.as_ref(), directory, ladder: None };
    let manifest = JobManifest::new(files, JobKind::Build, inputs, graph);
    let (work, mut journal, found) = JobJournal::open(files, observer, manifest, edges, graph)?;
    if let Some(place) = &mut place {
        let kept: &[&str] = if found.is_some() { &[GRAPH] } else { &[] };
        place.begin(&Owner::current().to_bytes(), kept)?;
    }
    let mut context = Context::new(start, files, observer, options.limits, work);
    let built = read::build(&mut context, &mut journal, edges, None, found);
    match built.and_then(|(built, _)| files.publish_new(directory, graph).map(|()| built)) {
        Ok(built) => {
            Ok(context.finish(built, Clustered::default(), options.input.rejects.as_deref()))
        }
        Err(error) => {
            let error = journal.end(files, context.work, error);
            if let Some(place) = place.filter(|_| error.kept_text().is_some()) {
                place.leave(&Owner::nobody().to_bytes(), &[GRAPH]);
            }
            Err(error)
        }
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
    match source {
        Source::Graph { path, limits, work_dir, restart } => {
            let files = &limits.tuned(files);
            let graph = Graph::open(files, path)?;
            check_graph(*limits, &graph, options, targets)?;
            run(*limits, *restart, observer, |restart, observer| {
                let start = Instant::now();
                let inputs = std::iter::once(path).chain(options.files()).chain(present.files());
                let kept: &[&str] = if restart { &[] } else { &[SAVED] };
                let manifest = JobManifest::new(files, JobKind::Cluster, inputs, output);
                let work = WorkDirectory::take(files, manifest, work_dir, output, kept)?;
                let mut context = Context::new(start, files, observer, *limits, work);
                match find_and_write(&mut context, &graph, None, options, targets) {
                    Ok(done) => Ok(context.finish(Built::default(), done, None)),
                    Err(error) => Err(context.work.end(files, output, error)),
                }
            })
        }
        Source::Edges(edges) => run(edges.limits, edges.restart, observer, |restart, observer| {
            let edges = &JobOptions { restart, ..(**edges).clone() };
            cluster_edges(files, edges, options, targets, output, observer)
        }),
    }
}

/// Whether several thresholds are compared with the weights of a graph. Lines below the lowest are dropped as they are
/// read.
#[derive(Clone, Copy)]
struct OnGraph(bool);

impl OnGraph {
    /// Refuses options by which weights of the graph differ from those of the lines.
    fn check(self, options: &JobOptions) -> Result<()> {
        if !self.0 || options.normalize == Normalize::None {
            return Ok(());
        }
        let (several, other) = (MIN_WEIGHT, NORMALIZE.of("self-score"));
        let message = format_args!("{several} with several values cannot be combined with {other}");
        Err(Error::usage(message).note("thresholds are of weights before they are divided").hint(
            "give one value, or build the graph: its thresholds are of weights that were divided",
        ))
    }

    /// Warns if lines were summed.
    fn warn(self, context: &Context<'_>, graph: &Graph) -> Result<()> {
        let graph = graph.summary();
        if !self.0 || graph.duplicates != Duplicates::Sum || graph.combined_count == 0 {
            return Ok(());
        }
        context.warn(format_args!(
            "repeated edges were summed, and thresholds above the lowest are of sums: {} keeps the largest weight",
            DUPLICATES.of("max")
        ))
    }
}

fn cluster_edges(
    files: &Files,
    options: &JobOptions,
    clustering: &ClusterOptions,
    targets: &Targets<'_>,
    output: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    let present = targets.options;
    options.check_weights()?;
    options.refuse_append()?;
    targets.check_lines(files)?;
    targets.check_first_names(files, &options.input)?;
    given::check_lines(clustering, &present.communities, files)?;
    let (start, files) = (Instant::now(), &options.limits.tuned(files));
    let inputs = options.input.all_paths().chain(clustering.files()).chain(present.files());
    let directory = &options.work_dir.join(scratch_name(output)).join(GRAPH);
    let wanted = Clustering { options: clustering, present };
    let ladder = wanted.ladder().filter(|_| !targets.has_flow());
    let edges = Edges { options, old: None, directory, ladder: ladder.as_ref() };
    let thresholds = OnGraph(clustering.thresholds.len() > 1 && ladder.is_none());
    thresholds.check(options)?;
    options.check_ladder(ladder.is_some())?;
    let manifest = JobManifest::new(files, JobKind::Cluster, inputs, output);
    let (work, mut journal, found) = JobJournal::open(files, observer, manifest, edges, output)?;
    let mut context = Context::new(start, files, observer, options.limits, work);
    let built = read::build(&mut context, &mut journal, edges, Some(wanted), found);
    let done = built.and_then(|(built, forest)| {
        let graph = Graph::open(files, directory)?;
        thresholds.warn(&context, &graph)?;
        Ok((built, find_and_write(&mut context, &graph, forest, clustering, targets)?))
    });
    match done {
        Ok((built, done)) => Ok(context.finish(built, done, options.input.rejects.as_deref())),
        Err(error) => Err(journal.end(files, context.work, error)),
    }
}
