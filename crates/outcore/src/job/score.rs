//! Scoring: reads communities for a graph, compares them with others, and rates them by the graph.
//!
//! Memory is 4 bytes per node for the labels, plus that of the largest step: reading them, comparing them (12 bytes per
//! node), or rating them (4 bytes per node and 21 per community; directed: 24 and 40).

use super::context::Context;
use super::resume::WorkDirectory;
use super::{JobKind, JobManifest, given, in_pool};
use crate::budget::Limits;
use crate::cluster::{TreeLength, WellConnected};
use crate::error::opt::{COMMENT, RECORDED_TELEPORTATION, UNNAMED};
use crate::error::{Error, ErrorKind, Result, Text};
use crate::graph::Graph;
use crate::input::CommunityInput;
use crate::io::{Files, peak_memory_bytes};
use crate::membership::{self, Membership, MembershipOptions};
use crate::plan;
use crate::progress::{Observer, Stage};
use crate::score::{
    Agreement, Connectedness, Quality, QualityRules, ScoreRoom, compare, compare_bytes,
    connectedness, connectedness_bytes, quality_bytes, quality_of_levels, tree_bytes,
};
use crate::units::format_counted;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Treatment of nodes that the communities do not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Unnamed {
    /// Stop with an error.
    #[default]
    Stop,
    /// Make each a community of its own.
    Singletons,
}

/// Options of scoring.
#[derive(Debug, Clone)]
pub struct ScoreOptions {
    /// Graph directory written by [`build`](super::build).
    pub graph: PathBuf,
    /// Communities of the graph: lines `node<TAB>community`; `-` is standard input.
    pub communities: PathBuf,
    /// Communities to compare with; they need not name all nodes.
    pub against: Option<PathBuf>,
    /// Resolution of modularity and CPM.
    pub resolution: f64,
    /// Whether teleportation counts as flow in the code length of a directed graph.
    pub recorded_teleportation: bool,
    /// Bound of well-connected communities, to count these.
    pub well_connected: Option<WellConnected>,
    /// Treatment of nodes that the communities do not name.
    pub unnamed: Unnamed,
    /// How both files of communities are read.
    pub input: CommunityInput,
    /// Memory limit and number of threads.
    pub limits: Limits,
    /// Directory for temporary files.
    pub work_dir: PathBuf,
}

/// Report of a score.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ScoreReport {
    /// Version of this schema.
    pub schema: u32,
    /// Kind of report: `score`.
    pub kind: &'static str,
    /// Graph path as the user typed it; bytes that are not Unicode are replaced.
    pub graph: String,
    /// Communities path as the user typed it; bytes that are not Unicode are replaced.
    pub communities: String,
    /// Number of nodes of the graph.
    pub node_count: u64,
    /// Nodes and names that do not match.
    #[serde(flatten)]
    pub unmatched: UnmatchedReport,
    /// Quality of the communities by the graph.
    pub quality: Quality,
    /// Code length of the tree of modules, if the file has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeLength>,
    /// Counts of communities that are well-connected, or that one edge holds together, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub well_connected: Option<Connectedness>,
    /// Comparison with other communities, if there are any.
    pub against: Option<AgainstReport>,
    /// Whether edges have a direction.
    #[serde(skip)]
    pub is_directed: bool,
    /// Peak resident memory of the process, if the system reports it.
    #[serde(skip)]
    pub peak_memory_bytes: Option<u64>,
}

/// Nodes and names of a file of communities that do not match.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct UnmatchedReport {
    /// Number of nodes that the communities do not name.
    pub unnamed_count: u64,
    /// Number of names in the file of communities that are not in the graph.
    pub unknown_count: u64,
}

/// Comparison with other communities.
#[derive(Debug, Clone, serde::Serialize)]
pub struct AgainstReport {
    /// Path of the file as the user typed it; bytes that are not Unicode are replaced.
    pub path: String,
    /// Number of names in the file that are not in the graph.
    pub unknown_count: u64,
    /// Agreement over the nodes that both name.
    pub agreement: Agreement,
}

/// Rates communities by their graph, and by other communities if any are given.
///
/// # Errors
/// `BadInput` for a bad line or an unnamed node, `MemoryTooSmall`, `CorruptFile`, `Io`, `DiskFull`, `Interrupted`. No
/// temporary file is left behind.
pub fn score(
    files: &Files,
    options: &ScoreOptions,
    observer: &dyn Observer,
) -> Result<ScoreReport> {
    plan::check_limits(&options.limits)?;
    options.input.check()?;
    super::score_paths(options).check(files)?;
    let mut inputs = vec![options.graph.clone(), options.communities.clone()];
    inputs.extend(options.against.clone());
    if inputs[1..].iter().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "standard input (`-`) can be read only once"));
    }
    // Read last, but its absence should be reported now.
    if let Some(path) = options.against.as_deref().filter(|path| *path != Path::new("-")) {
        files.entry(path)?;
    }
    membership::check_level(files, &options.input, &inputs[1..])?;
    let files = &options.limits.tuned(files);
    let graph = &Graph::open(files, &options.graph)?;
    if options.recorded_teleportation && !graph.is_directed() {
        let path = options.graph.display();
        let message =
            format_args!("{RECORDED_TELEPORTATION} has no effect: `{path}` has undirected edges");
        return Err(Error::usage(message).hint("leave it out"));
    }
    in_pool(options.limits, || {
        let scoring = Scoring { graph, options };
        scoring.check_memory(1)?;
        let (start, result) = (Instant::now(), Path::new("-"));
        let manifest = JobManifest::new(files, JobKind::Score, inputs.iter(), result);
        let work = WorkDirectory::take(files, manifest, &options.work_dir, result, &[])?;
        scoring.run(&mut Context::new(start, files, observer, options.limits, work))
    })
}

struct Scoring<'a> {
    graph: &'a Graph,
    options: &'a ScoreOptions,
}

impl Scoring<'_> {
    fn run(&self, context: &mut Context<'_>) -> Result<ScoreReport> {
        let communities = &self.options.communities;
        let options = context.reading(&self.options.input);
        let mut found =
            given::read_stage(context, self.graph, communities, &options, |_| String::new())?;
        let (unnamed_count, unknown_count) = (found.unnamed(), found.unknown);
        let unmatched = UnmatchedReport { unnamed_count, unknown_count };
        given::warn_unknown(context, communities, unknown_count)?;
        let community_count = self.label_all(&mut found)?;
        let has_paths = found.has_paths;
        let labels = found.labels;
        let against = match &self.options.against {
            Some(path) => Some(self.compare(context, path, &labels)?),
            None => None,
        };
        self.check_memory(community_count)?;
        let levels = if has_paths { self.levels(context)? } else { Vec::new() };
        let (quality, tree, well_connected) = self.rate(context, &labels, &levels)?;
        Ok(ScoreReport {
            schema: 1,
            kind: "score",
            graph: self.options.graph.display().to_string(),
            communities: communities.display().to_string(),
            node_count: self.graph.node_count(),
            unmatched,
            quality,
            tree,
            well_connected,
            against,
            is_directed: self.graph.is_directed(),
            peak_memory_bytes: peak_memory_bytes(),
        })
    }

    /// Refuses a score that does not fit in memory with `community_count` communities.
    fn check_memory(&self, community_count: u64) -> Result<()> {
        let (limits, nodes) = (self.options.limits, self.graph.node_count());
        let labels = 4 * nodes;
        let threads = limits.threads;
        let mut least = membership::memory_bytes_for(nodes, 0, threads)
            .max(labels + quality_bytes(self.graph, community_count, threads));
        if self.options.well_connected.is_some() {
            let connectedness = connectedness_bytes(self.graph, community_count, threads);
            least = least.max(labels + connectedness);
        }
        if self.options.against.is_some() {
            least = least
                .max(membership::memory_bytes_for(nodes, labels, threads))
                .max(2 * labels + compare_bytes(nodes));
        }
        if least <= limits.memory_bytes {
            return Ok(());
        }
        Err(self.too_little(least, format_counted(community_count, "community", "communities")))
    }

    /// Returns the error for a score of `communities` that needs `least` bytes.
    fn too_little(&self, least: u64, communities: String) -> Error {
        let given = self.options.limits.memory_bytes;
        let nodes = format_counted(self.graph.node_count(), "node", "nodes");
        Error::too_little_memory(given, " to score these communities", least)
            .note(format!("there are {nodes} and at least {communities}"))
    }

    /// Reads the labels on each level of a tree, coarsest first.
    fn levels(&self, context: &mut Context<'_>) -> Result<Vec<Vec<u32>>> {
        let path = &self.options.communities;
        if path == Path::new("-") {
            let text = "standard input is read only once: the code length of its tree is left out";
            context.warn(text)?;
            return Ok(Vec::new());
        }
        let nodes = self.graph.node_count();
        let reading = context.reading(&self.options.input);
        let options = MembershipOptions { held_bytes: 4 * nodes, ..reading };
        context.stage(Stage::Match, |context| {
            let found = membership::read_levels(
                context.files,
                path,
                self.graph,
                &options,
                context.observer,
            )?;
            let mut modules = 0;
            let labeled = found.into_iter().map(|mut level| {
                modules += self.label_all(&mut level)?;
                Ok(level.labels)
            });
            let levels = labeled.collect::<Result<Vec<_>>>()?;
            let held = 4 * nodes * (1 + levels.len() as u64);
            let needed = held + tree_bytes(self.graph, modules, self.options.limits.threads);
            if needed > self.options.limits.memory_bytes {
                return Err(self.too_little(needed, format_counted(modules, "module", "modules")));
            }
            let count = levels.len() as u64;
            Ok((levels, format_counted(count, "level of modules", "levels of modules")))
        })
    }

    /// Assigns labels to nodes without one, if that is allowed. Returns the number of labels.
    fn label_all(&self, found: &mut Membership) -> Result<u64> {
        if found.unnamed() > 0 && self.options.unnamed == Unnamed::Stop {
            return Err(self.unnamed(found)?);
        }
        let mut next = found.community_count as u32;
        for label in found.labels.iter_mut().filter(|label| **label == Membership::NONE) {
            *label = next;
            next += 1;
        }
        Ok(u64::from(next))
    }

    fn unnamed(&self, found: &Membership) -> Result<Error> {
        let first = found.labels.iter().position(|&label| label == Membership::NONE);
        let name = self.graph.open_names()?.name(first.unwrap_or_default() as u32)?;
        let path = self.options.communities.display();
        let nodes = format_counted(found.unnamed(), "node", "nodes");
        let comment = &self.options.input.comment;
        let hint: Text = if !comment.is_empty() && name.starts_with(comment) {
            let comment = String::from_utf8_lossy(comment);
            let none = COMMENT.of("''");
            format_args!("use {none}: lines that begin with `{comment}` are skipped").into()
        } else {
            let singletons = UNNAMED.of("singletons");
            format_args!("use {singletons} to count each of them as a community of its own").into()
        };
        Ok(Error::new(ErrorKind::BadInput, format!("`{path}` lacks {nodes} of the graph"))
            .note(format!("the first is `{}`", String::from_utf8_lossy(&name)))
            .hint(hint))
    }

    fn compare(
        &self,
        context: &mut Context<'_>,
        path: &Path,
        labels: &[u32],
    ) -> Result<AgainstReport> {
        let mut agreement = None;
        let (held_bytes, reading) = (4 * labels.len() as u64, context.reading(&self.options.input));
        let options = MembershipOptions { held_bytes, ..reading };
        let found = given::read_stage(context, self.graph, path, &options, |truth| {
            let found = agreement.insert(compare(labels, &truth.labels));
            format!(", NMI {:.4}", found.nmi)
        })?;
        Ok(AgainstReport {
            path: path.display().to_string(),
            unknown_count: found.unknown,
            agreement: agreement.expect("compared while the stage was summarized"),
        })
    }

    fn rate(
        &self,
        context: &mut Context<'_>,
        labels: &[u32],
        levels: &[Vec<u32>],
    ) -> Result<(Quality, Option<TreeLength>, Option<Connectedness>)> {
        context.stage(Stage::Score, |context| {
            // Visit rates take an unknown number of scans.
            let arcs = (!self.graph.is_directed()).then(|| self.graph.arc_count());
            context.begin(Stage::Score, arcs, "arcs")?;
            let ScoreOptions { resolution, recorded_teleportation, .. } = *self.options;
            let rules = QualityRules { resolution, recorded_teleportation };
            let (found, tree) =
                quality_of_levels(self.graph, labels, levels, rules, context.observer)?;
            let (memory_bytes, scratch) = (self.options.limits.memory_bytes, context.work.path());
            let room = ScoreRoom { memory_bytes, scratch };
            let connected = self.options.well_connected;
            let connected = connected
                .map(|bound| connectedness(self.graph, labels, bound, room, context.observer))
                .transpose()?;
            let count = found.sizes.community_count;
            let communities = format_counted(count, "community", "communities");
            let summary = format!("{communities}, modularity {:.4}", found.modularity);
            Ok(((found, tree, connected), summary))
        })
    }
}
