//! `outcore score`.

use crate::args::Score;
use crate::inspect::seven_digits;
use crate::jobs::{limits, memory_taken, profile, work_dir};
use crate::screen::Terminal;
use crate::screen::print::{json, print_text};
use outcore::error::opt::{PROFILE, RESOLUTION};
use outcore::input::CommunityInput;
use outcore::io::Files;
use outcore::job::{self, AgainstReport, ScoreOptions, ScoreReport};
use outcore::progress::Observer;
use outcore::units::{format_count, format_counted};
use outcore::{Error, ErrorKind, Result};

pub(crate) fn score(
    files: &Files,
    arguments: &Score,
    observer: &dyn Observer,
) -> Result<ScoreReport> {
    let options = options(files, arguments)?;
    job::score_paths(&options).read(PROFILE, profile::given(&arguments.resources)).check(files)?;
    let profile = arguments.resources.profile.as_deref();
    let files = &profile::tuned(files, profile, &options.graph, observer)?;
    job::score(files, &options, observer)
}

/// Prints the score, then the last line of the job.
pub(crate) fn show(report: &ScoreReport, arguments: &Score, terminal: &Terminal) -> Result<()> {
    let text = if arguments.json { json(report)? } else { table(report) };
    print_text(text, arguments.json)?;
    let memory = memory_taken(report.peak_memory_bytes, &limits(&arguments.resources));
    terminal.done(memory.as_slice());
    Ok(())
}

fn options(files: &Files, arguments: &Score) -> Result<ScoreOptions> {
    let graph = &arguments.graph;
    files.entry(graph)?;
    if files.entry(&graph.join("graph.json")).is_err() {
        let message = format!("`{}` is not a graph", graph.display());
        let other = match files.is_regular(graph) {
            true => "; `outcore compare A B` compares two files of communities, without a graph",
            false => "",
        };
        return Err(Error::new(ErrorKind::Usage, message).hint(format!(
            "`outcore build EDGES -o GRAPH` makes a graph from an edge list{other}"
        )));
    }
    if !(arguments.resolution >= 0.0 && arguments.resolution.is_finite()) {
        return Err(Error::usage(format_args!("{RESOLUTION} must be a number of at least 0")));
    }
    let mut work_dir = work_dir(files, &arguments.resources, &arguments.communities);
    if arguments.resources.work_dir.is_none() && files.is_same(&work_dir, graph) {
        // Communities may lie in the graph, but nothing is written there.
        work_dir = graph.join("..");
    }
    Ok(ScoreOptions {
        graph: graph.clone(),
        communities: arguments.communities.clone(),
        against: arguments.against.clone(),
        resolution: arguments.resolution,
        recorded_teleportation: arguments.recorded_teleportation,
        well_connected: arguments.well_connected,
        unnamed: arguments.unnamed,
        input: CommunityInput {
            level: arguments.level.level,
            ..arguments.read.shared(
                arguments.comment.as_deref(),
                files,
                None,
                std::iter::once(&arguments.communities).chain(&arguments.against),
            )
        },
        limits: limits(&arguments.resources),
        work_dir,
    })
}

fn table(report: &ScoreReport) -> String {
    let quality = &report.quality;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    row("communities", &format_count(quality.sizes.community_count));
    let share = 100.0 * quality.sizes.largest_share;
    let largest = format_counted(quality.sizes.largest, "node", "nodes");
    row("largest", &format!("{largest}, {share:.1} %"));
    let nodes = if quality.sizes.median == 1.0 { "node" } else { "nodes" };
    row("median", &format!("{} {nodes}", quality.sizes.median));
    row("singletons", &format_count(quality.sizes.singleton_count));
    row("disconnected", &format_count(quality.disconnected_count));
    if let Some(found) = &report.well_connected {
        let shares = format!("{:.1} % of the nodes", 100.0 * found.node_share);
        let of = format_counted(found.community_count, "community", "communities");
        let count = format_count(found.well_connected_count);
        row(
            "well-connected",
            &format!("{count} of {of} above one node, {shares} in these, by {}", found.bound),
        );
        let bridged = format_counted(found.bridged_count, "community", "communities");
        row(
            "bridged",
            &format!("{bridged} of two parts, of several nodes each, that one edge joins"),
        );
    }
    let resolution = match quality.resolution {
        1.0 => String::new(),
        other => format!(" with resolution {other}"),
    };
    row("modularity", &format!("{:.6}{resolution}", quality.modularity));
    if let Some(of_two) = quality.two_mode_modularity {
        row("of two kinds", &format!("{of_two:.6}{resolution}"));
    }
    let lengths = quality.code_length.zip(quality.code_length_undivided);
    let bits = |(length, undivided): (f64, f64)| {
        format!("{length:.6} bits per step, {undivided:.6} in one community")
    };
    row("code length", &lengths.map_or_else(String::new, bits));
    if let Some(tree) = &report.tree {
        let modules: u64 = tree.levels.iter().map(|level| level.module_count).sum();
        let modules = format_counted(modules, "module", "modules");
        let levels = format_counted(u64::from(tree.depth), "level", "levels");
        row("tree", &format!("{:.6} bits per step, {modules} in {levels}", tree.code_length));
    }
    row("CPM", &format!("{} with resolution {}", seven_digits(quality.cpm), quality.resolution));
    row("coverage", &format!("{:.6}", quality.coverage));
    let conductance = quality.conductance_mean.zip(quality.conductance_max);
    let none = || match report.is_directed {
        true => "for undirected graphs only".to_owned(),
        false => "no community has one".to_owned(),
    };
    let two = |(mean, max): (f64, f64)| format!("{mean:.6} on average, {max:.6} at most");
    row("conductance", &conductance.map_or_else(none, two));
    if report.unmatched.unnamed_count > 0 {
        let nodes = format_counted(report.unmatched.unnamed_count, "node", "nodes");
        row("not named", &format!("{nodes}, as singletons"));
    }
    text + &report.against.as_ref().map_or_else(String::new, against)
}

fn against(report: &AgainstReport) -> String {
    let agreement = &report.agreement;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    let nodes = format_counted(agreement.node_count, "node", "nodes");
    row("\nagainst", &format!(" {}, {nodes} in both", report.path));
    row("NMI", &format!("{:.6}", agreement.nmi));
    row("AMI", &format!("{:.6}", agreement.ami));
    row("ARI", &format!("{:.6}", agreement.ari));
    let (precision, recall) = (agreement.pair_precision, agreement.pair_recall);
    let parts = format!("precision {precision:.6}, recall {recall:.6}");
    row("F1 of pairs", &format!("{:.6}, {parts}", agreement.pair_f1));
    if report.unknown_count > 0 {
        let names = format_counted(report.unknown_count, "name", "names");
        row("unknown", &format!("{names} not in the graph"));
    }
    text
}
