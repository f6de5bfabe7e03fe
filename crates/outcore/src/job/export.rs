//! Exporting: writes a graph, the part of it in some communities, or the network of all communities, in a format that
//! other programs read.
//!
//! Memory is 4 bytes per node for the labels while communities are read and used (8 for a part), and at least
//! [`export::least_bytes`](crate::export) for writing; names take what is left.

use super::context::Context;
use super::resume::WorkDirectory;
use super::{JobKind, JobManifest, given, in_pool};
use crate::budget::Limits;
use crate::cluster::ClusterMemory;
use crate::error::opt::{COMMUNITIES, FORMAT, MEMBERS, NODES, QUOTIENT};
use crate::error::{Error, ErrorKind, Opt, Result};
use crate::export::{self, COMMUNITY_BYTES, ExportFormat, NodeData, Part, Quotient, Target};
use crate::graph::{GRAPH_WRITER_BYTES, Graph};
use crate::input::CommunityInput;
use crate::io::{Files, peak_memory_bytes};
use crate::membership::{Membership, MembershipOptions};
use crate::output::{self, RowFormat, Written};
use crate::plan;
use crate::present::Presented;
use crate::present::Workbench;
use crate::progress::{Observer, Stage};
use crate::sort::SORT_BYTES_MIN;
use crate::units::format_counted;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of exporting.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// Graph directory written by [`build`](super::build).
    pub graph: PathBuf,
    /// File to write; `-` is standard output.
    pub output: PathBuf,
    /// Format; if absent, that of the ending of the output.
    pub format: Option<ExportFormat>,
    /// File to write the nodes to, as text or a table.
    pub nodes: Option<PathBuf>,
    /// Communities of the graph, numbered: lines `node<TAB>community`; `-` is standard input.
    pub communities: Option<PathBuf>,
    /// Numbers of the communities whose nodes are written; all nodes if there are none.
    pub members: Vec<u64>,
    /// Whether to write the network of communities.
    pub quotient: bool,
    /// How the communities are read.
    pub input: CommunityInput,
    /// Memory limit and number of threads.
    pub limits: Limits,
    /// Directory for temporary files.
    pub work_dir: PathBuf,
}

/// Report of an export.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ExportReport {
    /// Version of this schema.
    pub schema: u32,
    /// Kind of report: `export`.
    pub kind: &'static str,
    /// Graph path as the user typed it; bytes that are not Unicode are replaced.
    pub graph: String,
    /// Output path as the user typed it; bytes that are not Unicode are replaced.
    pub output: String,
    /// Name of the format.
    pub format: &'static str,
    /// Number of nodes of the graph that was written.
    pub node_count: u64,
    /// Number of its edges between different nodes.
    pub edge_count: u64,
    /// Number of its nodes with a loop.
    pub loop_count: u64,
    /// Number of nodes of the graph that are in no community, if communities are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnamed_count: Option<u64>,
    /// Length of the output.
    pub write_bytes: u64,
    /// Peak resident memory of the process, if the system reports it.
    #[serde(skip)]
    pub peak_memory_bytes: Option<u64>,
}

/// Writes a graph, or the part of it that the options select.
///
/// # Errors
/// `Usage` for options that contradict each other, or a format that cannot hold such a graph; `BadInput` for a bad line,
/// or a name or weight that the format cannot hold; `MemoryTooSmall`, `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
pub fn export(
    files: &Files,
    options: &ExportOptions,
    observer: &dyn Observer,
) -> Result<ExportReport> {
    plan::check_limits(&options.limits)?;
    options.input.check()?;
    let format = options.checked_format()?;
    super::export_paths(options).check(files)?;
    output::check(files, &options.output)?;
    let files = &options.limits.tuned(files);
    let graph = &Graph::open(files, &options.graph)?;
    let job = ExportJob { graph, options, format };
    job.check_graph()?;
    in_pool(options.limits, || {
        let (start, result) = (Instant::now(), options.output.as_path());
        let inputs = [&options.graph].into_iter().chain(&options.communities);
        let manifest = JobManifest::new(files, JobKind::Export, inputs, result);
        let work = WorkDirectory::take(files, manifest, &options.work_dir, result, &[])?;
        job.run(&mut Context::new(start, files, observer, options.limits, work))
    })
}

impl ExportOptions {
    /// Returns the format, after options that contradict each other or would have no effect are refused.
    fn checked_format(&self) -> Result<ExportFormat> {
        let format = match self.format {
            Some(format) => format,
            None => ExportFormat::of(&self.output)?,
        };
        if let Some(nodes) = &self.nodes {
            Written::ROWS.check(&NODES, nodes)?;
        }
        if format.rows().is_some_and(RowFormat::is_absent) {
            let message = format_args!(
                "{} names a table, and this outcore was built without tables",
                FORMAT.of(format.option())
            );
            return Err(Error::usage(message).hint("build it with `--features tables`"));
        }
        let needs: [(bool, Opt); 2] =
            [(!self.members.is_empty(), MEMBERS), (self.quotient, QUOTIENT)];
        let used = needs.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
        match (used, &self.communities) {
            (Some(option), None) => {
                Err(Error::usage(format_args!("{option} needs communities, but none are given"))
                    .hint(format_args!("add {}", COMMUNITIES.of("communities.tsv"))))
            }
            (None, Some(_)) if !format.holds_attributes() && self.nodes.is_none() => {
                let message = format_args!(
                    "{COMMUNITIES} would have no effect: {} does not hold the communities of nodes",
                    format.name()
                );
                let nodes = NODES.of("nodes.tsv");
                Err(Error::usage(message).hint(format_args!(
                    "use a name that ends in .graphml or .gexf, or add {nodes}, {MEMBERS} or {QUOTIENT}"
                )))
            }
            _ => Ok(format),
        }
    }
}

/// Graph to write, with the communities that are known of it.
#[derive(Default)]
struct Chosen {
    /// Graph of a part or of communities; absent for the whole graph.
    graph: Option<Graph>,
    communities: Option<Presented>,
    sizes: Option<Vec<u64>>,
}

struct ExportJob<'a> {
    graph: &'a Graph,
    options: &'a ExportOptions,
    format: ExportFormat,
}

impl ExportJob<'_> {
    fn run(&self, context: &mut Context<'_>) -> Result<ExportReport> {
        let found = match &self.options.communities {
            Some(path) => Some(self.read(context, path)?),
            None => None,
        };
        let unnamed_count = found.as_ref().map(Membership::unnamed);
        let chosen = self.choose(context, found)?;
        let graph = chosen.graph.as_ref().unwrap_or(self.graph);
        if chosen.graph.is_some() {
            self.check_format(graph)?;
        }
        let held = chosen.communities.as_ref().map_or(0, |found| 4 * found.node_count());
        let least = export::least_bytes(graph);
        self.check_memory(held + least)?;
        let memory_bytes = context.memory_for(least);
        let data =
            NodeData { communities: chosen.communities.as_ref(), sizes: chosen.sizes.as_deref() };
        let write_bytes = context.stage(Stage::Write, |context| {
            context.begin(Stage::Write, Some(graph.arc_count()), "arcs")?;
            let target = Target {
                format: self.format,
                output: &self.options.output,
                nodes: self.options.nodes.as_deref(),
                data,
                memory_bytes,
                threads: self.options.limits.threads,
            };
            let written = export::write(context.files, graph, &target, context.observer)?;
            self.warn_of_lone(context, graph, written.lone_count)?;
            let nodes = format_counted(graph.node_count(), "node", "nodes");
            let mut edges = format_counted(graph.edge_count(), "edge", "edges");
            if graph.loop_count() > 0 {
                edges += &format!(" and {}", format_counted(graph.loop_count(), "loop", "loops"));
            }
            Ok((written.bytes, format!("{edges} of {nodes}, as {}", self.format.name())))
        })?;
        Ok(ExportReport {
            schema: 1,
            kind: "export",
            graph: self.options.graph.display().to_string(),
            output: self.options.output.display().to_string(),
            format: self.format.option(),
            node_count: graph.node_count(),
            edge_count: graph.edge_count(),
            loop_count: graph.loop_count(),
            unnamed_count,
            write_bytes,
            peak_memory_bytes: peak_memory_bytes(),
        })
    }

    /// Refuses the graph if it cannot be written, before the work.
    fn check_graph(&self) -> Result<()> {
        if self.graph.is_part() {
            let path = self.graph.directory().display();
            let message = format!("`{path}` is a part of a graph that Spark clusters");
            return Err(Error::new(ErrorKind::Usage, message).hint("export the graph itself"));
        }
        let is_whole = self.options.members.is_empty() && !self.options.quotient;
        if is_whole {
            self.check_format(self.graph)?;
        }
        if !self.options.quotient {
            self.format.text().encoding.check_names(self.graph, &self.options.output)?;
            if let Some(nodes) = &self.options.nodes {
                output::check_names(self.graph, std::slice::from_ref(nodes))?;
            }
        }
        self.check_memory(export::least_bytes(self.graph))
    }

    /// Refuses a format that has no directions or loops for a graph that has.
    fn check_format(&self, graph: &Graph) -> Result<()> {
        let (format, text) = (self.format, self.format.text());
        let lacks = match graph.is_directed() {
            true if !text.has_directions => "directions, which the graph has",
            _ if !text.has_loops && graph.loop_count() > 0 => "loops, which the graph has",
            _ => return Ok(()),
        };
        let message = format_args!("{} has no {lacks}", format.name());
        Err(Error::usage(message).hint("use a name that ends in .mtx, .net or .tsv"))
    }

    fn check_memory(&self, least: u64) -> Result<()> {
        let given = self.options.limits.memory_bytes;
        if least <= given {
            return Ok(());
        }
        let nodes = format_counted(self.graph.node_count(), "node", "nodes");
        Err(Error::too_little_memory(given, " to export this graph", least)
            .note(format!("it has {nodes}")))
    }

    /// Reads the communities, and leaves out those that are not asked for.
    fn read(&self, context: &mut Context<'_>, path: &Path) -> Result<Membership> {
        let reading = context.reading(&self.options.input);
        let options = MembershipOptions { numbered: true, ..reading };
        let sum_up = |found: &Membership| {
            format!(", {}", format_counted(found.community_count, "community", "communities"))
        };
        let found = given::read_stage(context, self.graph, path, &options, sum_up)?;
        given::warn_unknown(context, path, found.unknown)?;
        if found.unnamed() > 0 && self.options.quotient {
            let nodes = format_counted(found.unnamed(), "node", "nodes");
            context.warn(format!("left out {nodes} in no community, with their edges"))?;
        }
        if self.options.members.is_empty() { Ok(found) } else { self.select(found, path) }
    }

    /// Takes the labels from nodes outside the chosen communities.
    fn select(&self, mut found: Membership, path: &Path) -> Result<Membership> {
        let mut members = self.options.members.clone();
        members.sort_unstable();
        let missing = members.iter().find(|number| !found.numbers.contains(number));
        if let Some(number) = missing {
            let path = path.display();
            let message = format!("`{path}` has no community {number} with a node of the graph");
            return Err(Error::new(ErrorKind::BadInput, message).hint(format_args!(
                "{MEMBERS} takes numbers of communities as they are in the file"
            )));
        }
        let is_wanted: Vec<bool> =
            found.numbers.iter().map(|number| members.binary_search(number).is_ok()).collect();
        let not_wanted = |label: &u32| *label != Membership::NONE && !is_wanted[*label as usize];
        for label in found.labels.iter_mut() {
            if not_wanted(label) {
                *label = Membership::NONE;
            }
        }
        Ok(found)
    }

    /// Writes the graph of the chosen communities, or of communities as nodes, to the work directory.
    fn choose(&self, context: &mut Context<'_>, found: Option<Membership>) -> Result<Chosen> {
        let Some(Membership { labels, numbers, .. }) = found else {
            return Ok(Chosen::default());
        };
        let (graph, members) = (self.graph, self.options.members.len() as u64);
        if members == 0 && !self.options.quotient {
            let communities = Some(Presented::numbered(labels, numbers));
            return Ok(Chosen { communities, ..Chosen::default() });
        }
        let scan = ClusterMemory::of_scans(graph, 1);
        let scan = scan.scratch_bytes + scan.block_bytes + GRAPH_WRITER_BYTES;
        let of_communities = COMMUNITY_BYTES * numbers.len() as u64;
        self.check_memory(match self.options.quotient {
            true => 4 * graph.node_count() + of_communities + scan + SORT_BYTES_MIN,
            false => 8 * graph.node_count() + scan,
        })?;
        let left = context.memory_for(scan + SORT_BYTES_MIN);
        let budget = left.saturating_sub(scan + of_communities).max(SORT_BYTES_MIN);
        context.stage(Stage::Merge, |context| {
            context.begin(Stage::Merge, Some(graph.arc_count()), "arcs")?;
            let (files, scratch, observer) = (context.files, context.work.path(), context.observer);
            if self.options.quotient {
                let threads = context.limits.threads;
                let bench = Workbench { files, scratch, budget, threads, observer };
                let Quotient { graph, sizes } =
                    export::write_quotient(&bench, graph, labels, &numbers)?;
                let count = format_counted(graph.node_count(), "community", "communities");
                let chosen = Chosen { graph: Some(graph), communities: None, sizes: Some(sizes) };
                return Ok((chosen, format!("network of {count}")));
            }
            let directory = scratch.join("part");
            let Part { graph, labels } =
                export::write_part(files, &directory, graph, labels, observer)?;
            let nodes = format_counted(graph.node_count(), "node", "nodes");
            let of = format_counted(members, "community", "communities");
            let communities = Some(Presented::numbered(labels, numbers));
            let chosen = Chosen { graph: Some(graph), communities, sizes: None };
            Ok((chosen, format!("{nodes} of {of}")))
        })
    }

    /// Warns of nodes that are not in the file because they have no edge.
    fn warn_of_lone(&self, context: &Context<'_>, graph: &Graph, lone_count: u64) -> Result<()> {
        if lone_count == 0 || self.format.holds_lone_nodes() || self.options.nodes.is_some() {
            return Ok(());
        }
        let name = self.format.name();
        let nodes = match graph.is_directed() {
            true => "nodes without an edge".to_owned(),
            false => format!("{} without an edge", format_counted(lone_count, "node", "nodes")),
        };
        context.warn(format_args!("{name} does not hold {nodes}; {NODES} writes all nodes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_effect_are_refused() {
        let options = |output: &str, members: &[u64], communities: Option<&str>| ExportOptions {
            graph: "g".into(),
            output: output.into(),
            format: None,
            nodes: None,
            communities: communities.map(Into::into),
            members: members.to_vec(),
            quotient: false,
            input: CommunityInput::default(),
            limits: Limits { memory_bytes: 1 << 30, threads: 1 },
            work_dir: ".".into(),
        };
        assert!(options("e.tsv", &[3], None).checked_format().is_err());
        assert!(options("e.tsv", &[], Some("c")).checked_format().is_err());
        assert!(options("e.tsv", &[3], Some("c")).checked_format().is_ok());
        assert!(options("e.gexf", &[], Some("c")).checked_format().is_ok());
        assert!(options("e.xyz", &[], None).checked_format().is_err());
    }
}
