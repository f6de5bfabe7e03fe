//! `outcore export`.

use crate::args::Export;
use crate::jobs::{limits, memory_taken, note_interrupted, profile, work_dir};
use crate::screen::Terminal;
use outcore::error::opt::{COMMENT, COMMUNITIES, LEVEL, PROFILE};
use outcore::input::CommunityInput;
use outcore::io::Files;
use outcore::job::{self, ExportOptions, ExportReport};
use outcore::progress::Observer;
use outcore::units::format_bytes;
use outcore::{Error, ErrorKind, Result};

pub(crate) fn export(
    files: &Files,
    arguments: &Export,
    observer: &dyn Observer,
) -> Result<ExportReport> {
    let options = options(files, arguments)?;
    let given = profile::given(&arguments.resources);
    job::export_paths(&options).read(PROFILE, given).check(files)?;
    let profile = arguments.resources.profile.as_deref();
    let files = &profile::tuned(files, profile, &options.graph, observer)?;
    job::export(files, &options, observer).map_err(|error| note_interrupted(error, &options.output))
}

/// Prints the last line of the job.
pub(crate) fn done(report: &ExportReport, arguments: &Export, terminal: &Terminal) {
    let mut facts = vec![format!("{} written", format_bytes(report.write_bytes))];
    facts.extend(memory_taken(report.peak_memory_bytes, &limits(&arguments.resources)));
    terminal.done(&facts);
}

fn options(files: &Files, arguments: &Export) -> Result<ExportOptions> {
    let graph = &arguments.graph;
    files.entry(graph)?;
    if files.entry(&graph.join("graph.json")).is_err() {
        let message = format!("`{}` is not a graph", graph.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("`outcore build EDGES -o GRAPH` makes a graph from an edge list"));
    }
    refuse_without_communities(arguments)?;
    Ok(ExportOptions {
        graph: graph.clone(),
        output: arguments.output.clone(),
        format: arguments.format,
        nodes: arguments.nodes.clone(),
        communities: arguments.communities.clone(),
        members: arguments.members.clone(),
        quotient: arguments.quotient,
        input: CommunityInput {
            level: arguments.level.level,
            ..arguments.read.input(arguments.comment.as_deref())
        },
        limits: limits(&arguments.resources),
        work_dir: work_dir(files, &arguments.resources, &arguments.output),
    })
}

/// Refuses options for the file of communities if there is none; none is ignored silently.
fn refuse_without_communities(arguments: &Export) -> Result<()> {
    let comment = arguments.comment.is_some().then_some(COMMENT);
    let level = arguments.level.level.is_some().then_some(LEVEL);
    let Some(option) = arguments.read.given().or(comment).or(level) else { return Ok(()) };
    if arguments.communities.is_some() {
        return Ok(());
    }
    let message = format_args!("{option} is for files of communities, but none is given");
    Err(Error::usage(message).hint(format_args!("leave it out, or add {COMMUNITIES}")))
}
