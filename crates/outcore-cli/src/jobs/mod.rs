//! `cluster`, `build` and `plan`: converts arguments to the engine's options, and reports to text.

pub(crate) mod input;
pub(crate) mod profile;
use crate::args::{self, Input, Labels, Resources, count, method};
use crate::page;
use crate::screen::Terminal;
use crate::screen::print::{json, print};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, MethodOption};
use outcore::error::Text;
use outcore::error::opt::{
    EDGES, MAX_SWEEPS, MEMORY, NODES, NORMALIZE, PROFILE, REPORT, TOLERANCE, WEIGHTED,
};
use outcore::graph::{Graph, GraphSummary, NodeNames};
use outcore::input::{CommunityInput, TableStream};
use outcore::io::Files;
use outcore::job::{self, JobOptions, Normalize, Preference, Report, Source};
use outcore::output::{self, Paths, Written};
use outcore::plan::{Clustering, GivenSize, Here, Plan, SparkPlan};
use outcore::present::{PresentOptions, SideFiles};
use outcore::progress::{Observer, Stage};
use outcore::units::{format_bytes, format_counted, format_seconds, size_to_type};
use outcore::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

pub(crate) fn cluster(
    files: &Files,
    arguments: &args::Cluster,
    stream: Option<TableStream>,
    observer: &dyn Observer,
) -> Result<Report> {
    let inputs = input::expand(files, &arguments.inputs)?;
    let args::Cluster { method, labels, input, read, present, .. } = arguments;
    let comment = input.reading.comment.as_deref();
    let given = || community_files(method, labels, present);
    let communities;
    let source = match inputs.as_slice() {
        [path] if files.entry(&path.join("graph.json")).is_ok() => {
            input::refuse_for_graph(input, given().next().is_some(), path)?;
            communities = read.shared(comment, files, None, given());
            Source::Graph {
                path: path.clone(),
                limits: limits(&arguments.resources),
                work_dir: work_dir(files, &arguments.resources, &arguments.output),
                restart: arguments.restart,
            }
        }
        _ => {
            let mut options = job_options(
                files,
                inputs,
                &arguments.input,
                &arguments.resources,
                &arguments.output,
                arguments.restart,
            )?;
            options.input.stream = stream;
            communities = read.shared(comment, files, Some(&options.input), given());
            options.input.shares_comment = communities.shares_comment;
            Source::Edges(Box::new(options))
        }
    };
    let is_graph = matches!(source, Source::Graph { .. });
    if given().next().is_none() {
        read.refuse_without_files()?;
    }
    let options = cluster_options(method, labels, present, input, is_graph)?;
    let (output, resources) = (&arguments.output, &arguments.resources);
    let present = present_options(&arguments.present, communities);
    // The outline is also for users who ask for the table of communities: they may want to draw it.
    let outline = arguments.report.is_some() || present.sides.summary.is_some();
    let present = PresentOptions { outline, ..present };
    let paths = job::cluster_paths(files, &source, &options, &present, output)?;
    check_paths(files, paths, arguments.report.as_deref(), resources)?;
    // The profile is that of the disk with the files that are read and written repeatedly.
    let work_dir = match &source {
        Source::Edges(options) => &options.work_dir,
        Source::Graph { path, .. } => path,
    };
    let files = &profile::tuned(files, resources.profile.as_deref(), work_dir, observer)?;
    let report = job::cluster_and_present(files, &source, &options, &present, output, observer)
        .map_err(|error| note_interrupted(error, output))?;
    write_report(files, &report, page::html, arguments.report.as_deref())?;
    Ok(report)
}

pub(crate) fn build(
    files: &Files,
    arguments: &args::Build,
    stream: Option<TableStream>,
    names: Option<NodeNames>,
    observer: &dyn Observer,
) -> Result<Report> {
    let inputs = input::expand(files, &arguments.edges)?;
    let args::Build { input, resources, output, restart, .. } = arguments;
    input::refuse_thresholds(input)?;
    let mut options = job_options(files, inputs, input, resources, output, *restart)?;
    options.input.stream = stream;
    options.names = names;
    options.append.clone_from(&arguments.append);
    options.adopt(files, &input.reading.given)?;
    let paths = job::build_paths(&options, output);
    check_paths(files, paths, arguments.report.as_deref(), resources)?;
    let profile = resources.profile.as_deref();
    let files = &profile::tuned(files, profile, &options.work_dir, observer)?;
    let report = job::build(files, &options, &arguments.output, observer)
        .map_err(|error| note_interrupted(error, &arguments.output))?;
    write_report(files, &report, page::html, arguments.report.as_deref())?;
    Ok(report)
}

pub(crate) fn plan(files: &Files, arguments: &args::Plan, observer: &dyn Observer) -> Result<Plan> {
    let args::Plan { input, method, labels, present, read, resources, .. } = arguments;
    let given = || community_files(method, labels, present);
    if given().next().is_none() {
        read.refuse_without_files()?;
    }
    let comment = input.reading.comment.as_deref();
    let edges = input::options(input::expand(files, &arguments.inputs)?, input)?;
    let communities = read.shared(comment, files, Some(&edges), given());
    let shares_comment = communities.shares_comment;
    let clustering = match arguments.build {
        true => None,
        false => Some(cluster_options(method, labels, present, input, false)?),
    };
    let present = &present_options(present, communities);
    let clustering = clustering.as_ref().map(|options| Clustering { options, present });
    let work_dir = work_dir(files, resources, Path::new("-"));
    let files = &profile::tuned(files, resources.profile.as_deref(), &work_dir, observer)?;
    match arguments.edge_count {
        Some(edge_count) => {
            let size = given_size(arguments, edge_count)?;
            let limits = limits(resources);
            Plan::new(size.input()?, limits, &limits.allowed(files.tuning()), clustering)
        }
        None => {
            if arguments.inputs.is_empty() {
                return Err(no_edges(input.nodes.as_deref()));
            }
            let inputs = input::expand(files, &arguments.inputs)?;
            inputs.iter().chain(&input.nodes).try_for_each(|path| check_sampled(files, path))?;
            let mut options = job_options(files, inputs, input, resources, Path::new("-"), false)?;
            options.input.shares_comment = shares_comment;
            options.append.clone_from(&arguments.append);
            options.adopt(files, &input.reading.given)?;
            job::plan(files, &options, clustering)
        }
    }
}

/// Returns the error for a plan without edges.
fn no_edges(nodes: Option<&Path>) -> Error {
    let count = nodes.map(Path::to_string_lossy).filter(|text| count(text).is_ok());
    match count {
        Some(count) => Error::usage(format_args!("{NODES} needs {EDGES}: the number of edges"))
            .hint(format_args!("type {}", NODES.of(count).with(EDGES.of("N")))),
        None => Error::usage("a plan needs edges: a file, or their number").hint(format_args!(
            "type `outcore plan edges.tsv`, or {}",
            NODES.of("N").with(EDGES.of("N"))
        )),
    }
}

/// Refuses an input that cannot be sampled, as it is not a file.
fn check_sampled(files: &Files, path: &Path) -> Result<()> {
    if path == Path::new("-") {
        let message = "`-` is standard input, which can be read only once, so it cannot be sampled";
        return Err(Error::usage(message).hint(format_args!(
            "write it to a file first, or give its size: {}",
            NODES.of("N").with(EDGES.of("N"))
        )));
    }
    if files.entry(&path.join("graph.json")).is_err() {
        return Ok(());
    }
    let GraphSummary { node_count, edge_count, .. } = Graph::open(files, path)?.summary();
    let message = format_args!("`{}` is a graph, but a plan is made of edge lists", path.display());
    let size = NODES.of(node_count).with(EDGES.of(edge_count));
    Err(Error::usage(message).hint(format_args!("give its size: {size}")))
}

/// Returns the plan as the command prints it.
pub(crate) fn plan_text(files: &Files, arguments: &args::Plan, plan: &Plan) -> Result<String> {
    let work_dir = work_dir(files, &arguments.resources, Path::new("-"));
    let free = files.free_bytes(&work_dir);
    let spark = match &arguments.spark {
        None => None,
        Some(cluster) => Some(SparkPlan::new(&Here::of(plan, free), cluster)?),
    };
    if arguments.json {
        return json(&Compared { plan, spark: spark.as_ref() });
    }
    let method = (!arguments.build).then(|| arguments.method.method.0.name());
    let compared = spark.map_or_else(String::new, |spark| spark_text(&spark));
    Ok(plan_table(plan, method, &work_dir, free) + &compared)
}

/// Plan for this machine, and for a Spark cluster to compare with.
#[derive(serde::Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    spark: Option<&'a SparkPlan>,
}

fn spark_text(spark: &SparkPlan) -> String {
    let verdict = if spark.moves { "move to Spark" } else { "stay on this machine" };
    let reasons = match &spark.reasons[..] {
        [] => "a cluster pays off if it takes less than half as long".into(),
        reasons => reasons.join("; "),
    };
    format!(
        "\non Spark about {} in {}, {} of memory for the tasks of a worker, by a rough model\n{verdict}: {reasons}\n",
        format_seconds(spark.spark_seconds),
        format_counted(spark.part_count, "part", "parts"),
        format_bytes(spark.worker_bytes),
    )
}

/// Returns the size given for a plan, and refuses options that the plan does not depend on; none is ignored silently.
fn given_size(arguments: &args::Plan, edge_count: u64) -> Result<GivenSize> {
    let usage = |message: Text, hint: &str| Error::usage(message).hint(hint);
    if let Some(path) = arguments.inputs.first() {
        let message = format_args!("{EDGES} replaces an input, but `{}` is given", path.display());
        return Err(usage(message.into(), "leave out one of the two"));
    }
    let input = &arguments.input;
    if let Some(option) = input::given_for_lines(input) {
        let message = format_args!("{option} is for edge lists, but only {EDGES} is given");
        return Err(usage(message.into(), "leave it out, or name the edge lists"));
    }
    let Some(nodes) = &input.nodes else {
        return Err(Error::usage(format_args!("{EDGES} needs {NODES}: the number of nodes"))
            .hint(format_args!("add {}", NODES.of("N"))));
    };
    let text = nodes.to_string_lossy();
    let node_count = count(&text).map_err(|what| {
        let message = format_args!("{} is not a number of nodes: {what}", NODES.of(&text));
        usage(message.into(), "a file of nodes needs edge lists")
    })?;
    let has_self_scores = input.normalize == Normalize::SelfScore;
    if has_self_scores && !arguments.weighted {
        return Err(Error::usage(format_args!("{} needs weights", NORMALIZE.of("self-score")))
            .hint(format_args!("add {WEIGHTED}")));
    }
    Ok(GivenSize {
        node_count,
        edge_count,
        name_bytes: arguments.name_bytes,
        is_weighted: arguments.weighted,
        is_directed: input.directed,
        has_self_scores,
    })
}

fn job_options(
    files: &Files,
    inputs: Vec<PathBuf>,
    input: &Input,
    resources: &Resources,
    output: &Path,
    restart: bool,
) -> Result<JobOptions> {
    Ok(JobOptions {
        input: input::options(inputs, input)?,
        duplicates: input.duplicates,
        keep_loops: input.self_loops == args::SelfLoops::Keep,
        min_weight: input.min_weight.iter().flatten().copied().reduce(f64::min),
        max_weight: input.max_weight,
        normalize: input.normalize,
        limits: limits(resources),
        work_dir: work_dir(files, resources, output),
        restart,
        append: None,
        names: None,
    })
}

pub(crate) fn work_dir(files: &Files, resources: &Resources, output: &Path) -> PathBuf {
    match &resources.work_dir {
        Some(directory) => directory.clone(),
        None => directory_of(files, output),
    }
}

/// Returns the directory of `output`, or the current directory if `output` is not a file on a disk.
fn directory_of(files: &Files, output: &Path) -> PathBuf {
    let is_stream = files.entry(output).is_ok() && !files.is_regular(output);
    match output.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !is_stream && !files.is_read_only(output) => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

pub(crate) fn limits(resources: &Resources) -> Limits {
    Limits { memory_bytes: resources.memory.bytes(), threads: args::threads(resources.threads) }
}

fn cluster_options(
    method: &args::Method,
    labels: &Labels,
    present: &args::Present,
    input: &Input,
    is_graph: bool,
) -> Result<ClusterOptions> {
    if method.tolerance.is_some_and(|tolerance| !(0.0..=1.0).contains(&tolerance)) {
        return Err(Error::usage(format_args!("{TOLERANCE} is a share from 0 to 1")));
    }
    if method.max_sweeps == Some(0) {
        return Err(Error::usage(format_args!("{MAX_SWEEPS} must be at least 1")));
    }
    let options = ClusterOptions::default();
    method::refuse_options(method)?;
    match method.method.0.takes(MethodOption::Propagation) {
        true => labels.refuse_useless()?,
        false => labels.refuse()?,
    }
    let resolution = method::resolution(method)?;
    let is_limited = method.max_sweeps.is_some() || method.tolerance.is_some();
    let converges = method.converge || labels.converges() && !is_limited;
    let options = ClusterOptions {
        method: method.method.0,
        resolution,
        trials: method.trials,
        stability: method.stability,
        cycles: method.cycles.map_or(options.cycles, u32::from),
        seed: method.seed,
        max_sweeps: if converges { Some(u32::MAX) } else { method.max_sweeps },
        tolerance: if converges { 0.0 } else { method.tolerance.unwrap_or(options.tolerance) },
        // Edges of edge lists are dropped as they are read, before weights are summed.
        min_weight: match &input.min_weight {
            Some(values) if is_graph => values.iter().copied().fold(f64::INFINITY, f64::min),
            _ => 0.0,
        },
        thresholds: input.min_weight.clone().filter(|values| values.len() > 1).unwrap_or_default(),
        heights: present.heights.is_some(),
        levels: present.levels.is_some(),
        max_size: method.max_size,
        well_connected: method.well_connected,
        seeding: method.seeding.unwrap_or(labels.seeding()),
        initial: method.initial.clone(),
        recorded_teleportation: method.recorded_teleportation,
        propagation: labels.options(),
    };
    if input.directed {
        method::refuse_directed(options.method)?;
    } else if !is_graph {
        method::refuse_undirected(method)?;
    }
    options.check()?;
    Ok(options)
}

/// Returns the files of communities, or of a number for each node, that a job reads.
fn community_files<'a>(
    method: &'a args::Method,
    labels: &'a Labels,
    present: &'a args::Present,
) -> impl Iterator<Item = &'a PathBuf> {
    let prefer = present.prefer.iter().filter(|path| path.as_os_str() != "first");
    method.initial.iter().chain(&labels.fixed).chain(&present.earlier).chain(prefer)
}

fn present_options(present: &args::Present, communities: CommunityInput) -> PresentOptions {
    PresentOptions {
        min_size: present.min_size,
        small: present.small,
        earlier: present.earlier.clone(),
        communities,
        prefer: present.prefer.as_ref().map(|prefer| match prefer.as_os_str() == "first" {
            true => Preference::First,
            false => Preference::File(prefer.clone()),
        }),
        sides: SideFiles {
            representatives: present.representatives.clone(),
            keep: present.keep.clone(),
            drop: present.drop.clone(),
            summary: present.summary.clone(),
            heights: present.heights.clone(),
        },
        // Set by a job with a report.
        outline: false,
        levels: present.levels.unwrap_or_default(),
        rows: present.rows,
        member_weights: present.member_weights,
        flow: present.flow,
        output_header: present.output_header,
    }
}

/// Refuses, before the work, paths that overwrite each other, and a report that cannot be written.
pub(crate) fn check_paths(
    files: &Files,
    paths: Paths,
    report: Option<&Path>,
    resources: &Resources,
) -> Result<()> {
    let profile = profile::given(resources);
    paths.write(REPORT, report).read(PROFILE, profile).check(files)?;
    let Some(report) = report else { return Ok(()) };
    Written::REPORT.check(&REPORT, report)?;
    output::check(files, report)
}

/// Writes a report to a file, if one is given, as JSON or as a page.
pub(crate) fn write_report<R: serde::Serialize>(
    files: &Files,
    report: &R,
    page: fn(&R) -> Result<String>,
    path: Option<&Path>,
) -> Result<()> {
    match path {
        Some(path) if path == Path::new("-") => print(json(report)?.as_bytes()),
        Some(path) if Written::is_page(path) => files.write(path, page(report)?.as_bytes()),
        Some(path) => files.write(path, json(report)?.as_bytes()),
        None => Ok(()),
    }
}

/// Prints the last line of a job.
pub(crate) fn done(report: &Report, terminal: &Terminal) {
    terminal.done(memory_taken(report.peak_memory_bytes, &report.limits).as_slice());
}

/// Formats the memory that a job has taken, if the system reports it, and its limit.
pub(crate) fn memory_taken(peak_bytes: Option<u64>, limits: &Limits) -> Option<String> {
    let limit = format_bytes(limits.memory_bytes);
    peak_bytes.map(|peak| format!("peak memory {}, limit {limit}", format_bytes(peak)))
}

/// Adds notes to the error of an interrupted job about the files that remain.
pub(crate) fn note_interrupted(error: Error, output: &Path) -> Error {
    if error.kind() != ErrorKind::Interrupted {
        return error;
    }
    let output = (output != Path::new("-")).then(|| output.display());
    match (error.kept_text().is_some(), output) {
        (true, None) => error,
        (true, Some(output)) => error.note(format!("`{output}` is unchanged")),
        (false, None) => error.note("temporary files are removed"),
        (false, Some(output)) => {
            error.note(format!("temporary files are removed, and `{output}` is unchanged"))
        }
    }
}

/// Returns the plan as text: first the answer, then the figures that it follows from.
fn plan_table(plan: &Plan, method: Option<&str>, work_dir: &Path, free: Option<u64>) -> String {
    let has_range = plan.disk_bytes_least < plan.disk_bytes / 4 * 3;
    let disk = match has_range {
        true => {
            format!("{} to {}", format_bytes(plan.disk_bytes_least), format_bytes(plan.disk_bytes))
        }
        false => format_bytes(plan.disk_bytes),
    };
    // With free space, more state is saved from which a job can resume.
    let max = match plan.disk_bytes_most > plan.disk_bytes {
        true => format!(" (up to {}, if free)", format_bytes(plan.disk_bytes_most)),
        false => String::new(),
    };
    let mut text = format!(
        "takes about {} of memory, {disk} of disk{max} and {}\n{} or more is enough",
        format_bytes(plan.peak_memory_bytes),
        format_seconds(plan.seconds),
        MEMORY.of(size_to_type(plan.memory_bytes_min)),
    );
    if let Some(free) = free {
        text += &format!("; {} of disk are free in `{}`", format_bytes(free), work_dir.display());
    }
    text += "\n\n";
    text += &plan_input(plan);
    text += "\n";
    text += &row(["stage", "passes", "reads", "writes", "memory", "disk", "time"]);
    for stage in &plan.stages {
        text += &row([
            stage.stage.name(),
            &stage.pass_count.to_string(),
            &format_bytes(stage.read_bytes),
            &format_bytes(stage.write_bytes),
            &format_bytes(stage.memory_bytes),
            &format_bytes(stage.disk_bytes),
            &format_seconds(stage.seconds),
        ]);
    }
    text += "\n";
    if let (Some(bytes), Some(method)) = (plan.cluster_memory_bytes_min, method) {
        let min = format_bytes(bytes);
        let tries = plan.trial_count.map_or(String::new(), |n| format!("tries {n} starts and "));
        let has_graph = plan.stages.iter().any(|row| row.stage == Stage::Merge);
        let rest = if has_graph { "; the rest caches parts of the graph" } else { "" };
        text += &format!("clustering by {method} {tries}needs {min} of the memory{rest}\n");
    }
    text += &format!(
        "reads {} and writes {} in all; {} of the memory are for the program itself\n",
        format_bytes(plan.read_bytes),
        format_bytes(plan.write_bytes),
        format_bytes(plan.program_bytes),
    );
    if has_range {
        text += "disk: least for a list in which neighbors appear together, as from a search, most for one in random order\n";
    }
    text
}

/// Returns what is known of the input of a plan.
fn plan_input(plan: &Plan) -> String {
    let input = &plan.input;
    let mut text = format!(
        "{} of text, about {}, about {}\n",
        format_bytes(input.text_bytes),
        format_counted(input.edge_count, "edge", "edges"),
        format_counted(input.node_count, "node", "nodes"),
    );
    if let Some(old) = &input.append {
        text += &format!(
            "added to a graph of {} and {}\n",
            format_counted(old.node_count, "node", "nodes"),
            format_counted(old.edge_count, "edge", "edges"),
        );
    }
    let repeated = input.edge_count.saturating_sub(input.distinct_edge_count);
    if repeated > input.edge_count / 100 {
        let edges = format_counted(input.distinct_edge_count, "edge", "edges");
        text += &format!("some are duplicates: the graph has about {edges}\n");
    }
    text
}

fn row([stage, passes, reads, writes, memory, disk, time]: [&str; 7]) -> String {
    format!("{stage:<8} {passes:>6} {reads:>10} {writes:>10} {memory:>10} {disk:>10} {time:>8}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use outcore::input::InputOptions;

    /// Without options, the engine and the command do the same. `test_surface.py` tests that Python has the
    /// command's defaults.
    #[test]
    fn defaults_are_those_of_the_engine() {
        let typed = ["outcore", "cluster", "edges.tsv", "-o", "found.tsv"];
        let Command::Cluster(typed) = Cli::parse_from(typed).command else { unreachable!() };
        let args::Cluster { method, labels, input, present, read, resources, output, .. } = &*typed;
        for is_graph in [false, true] {
            let options = cluster_options(method, labels, present, input, is_graph).unwrap();
            assert_eq!(options, ClusterOptions::default());
        }
        let communities = read.input(input.reading.comment.as_deref());
        assert_eq!(present_options(present, communities), PresentOptions::default());
        let (files, paths) = (Files::default(), typed.inputs.clone());
        let options = job_options(&files, paths.clone(), input, resources, output, false).unwrap();
        let input = InputOptions { paths, ..InputOptions::default() };
        let plain = JobOptions::new(input, options.limits, options.work_dir.clone());
        assert_eq!(format!("{options:?}"), format!("{plain:?}"));
    }
}
