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
use crate::error::opt::{COMMUNITIES, FORMAT, LEVEL, MEMBERS, NODES, QUOTIENT};
use crate::error::{Error, ErrorKind, Opt, Result};
use crate::export::{
    self, COMMUNITY_BYTES, ExportFormat, MODULE_BYTES, NamedCommunities, NetworkNodes, NodeData,
    Part, Quotient, Target,
};
use crate::graph::{GRAPH_WRITER_BYTES, Graph};
use crate::input::{CommunityInput, LAST_LEVEL};
use crate::io::{Array, Files, peak_memory_bytes};
use crate::membership::{self, Membership, MembershipOptions, ModuleFile, Modules, by_number};
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
    /// Communities whose nodes are written, all if there are none: numbers, or paths of modules below the top.
    pub members: Vec<String>,
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
    membership::check_level(files, &options.input, &options.communities)?;
    options.check_stream()?;
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
    /// Returns the level of the modules that are communities.
    fn level(&self) -> u32 {
        self.input.level.unwrap_or(1)
    }

    /// Refuses a level below the top of standard input: each level takes a reading.
    fn check_stream(&self) -> Result<()> {
        match &self.communities {
            Some(path) if membership::is_stream(path) && self.level() > 1 => {
                let message =
                    "standard input (`-`) can be read only once, but a tree is read for each level";
                Err(Error::usage(message).hint("write it to a file"))
            }
            _ => Ok(()),
        }
    }

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
    /// Names of the communities by number, unless the numbers are the names.
    names: Option<Vec<Box<str>>>,
    of_communities: Option<NetworkNodes>,
}

/// Communities that were read.
struct Read {
    membership: Membership,
    /// Paths of the communities by number, if they are modules below the top.
    names: Option<Vec<Box<str>>>,
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
        let unnamed_count = found.as_ref().map(|found| found.membership.unnamed());
        let has_paths = found.as_ref().is_some_and(|found| found.membership.has_paths);
        let chosen = self.choose(context, found)?;
        let graph = chosen.graph.as_ref().unwrap_or(self.graph);
        if chosen.graph.is_some() {
            self.check_format(graph)?;
        }
        let held = chosen.communities.as_ref().map_or(0, |found| 4 * found.node_count());
        let (modules, flow) = match has_paths && !self.options.quotient {
            true => self.read_modules(context, graph, held)?,
            false => (None, None),
        };
        let least = export::least_bytes(graph);
        self.check_memory(held + least)?;
        let memory_bytes = context.memory_for(least);
        let data = NodeData {
            communities: chosen.communities.as_ref(),
            names: chosen.names.as_deref(),
            modules: modules.as_ref(),
            flow: flow.as_ref(),
            of_communities: chosen.of_communities.as_ref(),
        };
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
    fn read(&self, context: &mut Context<'_>, path: &Path) -> Result<Read> {
        let reading = context.reading(&self.options.input);
        let is_top = self.options.level() == 1;
        let options = MembershipOptions { numbered: is_top, ..reading };
        let sum_up = |found: &Membership| {
            format!(", {}", format_counted(found.community_count, "community", "communities"))
        };
        let mut found = given::read_stage(context, self.graph, path, &options, sum_up)?;
        given::warn_unknown(context, path, found.unknown)?;
        if found.unnamed() > 0 && self.options.quotient {
            let nodes = format_counted(found.unnamed(), "node", "nodes");
            context.warn(format!("left out {nodes} in no community, with their edges"))?;
        }
        let names = (!is_top).then(|| self.name(context, path, &mut found)).transpose()?;
        let found = Read { membership: found, names };
        if self.options.members.is_empty() { Ok(found) } else { self.select(found, path) }
    }

    /// Returns the paths of communities below the top, whose places become their numbers.
    fn name(
        &self,
        context: &mut Context<'_>,
        path: &Path,
        found: &mut Membership,
    ) -> Result<Vec<Box<str>>> {
        let held_bytes = 4 * self.graph.node_count() + MODULE_BYTES * found.community_count;
        self.check_memory(held_bytes)?;
        let options = MembershipOptions { held_bytes, ..context.reading(&self.options.input) };
        context.stage(Stage::Match, |context| {
            let file = self.module_file(context, path, self.graph, &options, "named");
            let names = file.paths(self.options.level())?.name(context.files, found)?;
            let count = format_counted(names.len() as u64, "module", "modules");
            Ok((names, format!("paths of {count}")))
        })
    }

    fn module_file<'f>(
        &self,
        context: &'f Context<'_>,
        path: &'f Path,
        graph: &'f Graph,
        options: &'f MembershipOptions,
        name: &'f str,
    ) -> ModuleFile<'f> {
        let (files, observer) = (context.files, context.observer);
        ModuleFile { files, path, graph, options, name, observer }
    }

    /// Returns whether attributes of nodes are written.
    fn writes_attributes(&self) -> bool {
        self.format.holds_attributes() || self.options.nodes.is_some()
    }

    /// Reads the modules and the flow of the nodes of the graph that is written, if they are written.
    fn read_modules(
        &self,
        context: &mut Context<'_>,
        graph: &Graph,
        held_bytes: u64,
    ) -> Result<(Option<Modules>, Option<Array<u64>>)> {
        let Some(path) = self.options.communities.as_ref().filter(|_| self.writes_attributes())
        else {
            return Ok((None, None));
        };
        if membership::is_stream(path) {
            context.warn("standard input is read only once: paths and flow are left out")?;
            return Ok((None, None));
        }
        let options = MembershipOptions { held_bytes, ..context.reading(&self.options.input) };
        context.stage(Stage::Match, |context| {
            let file = self.module_file(context, path, graph, &options, "written");
            let (modules, flow) = (file.paths(LAST_LEVEL)?, file.flow()?);
            let nodes = format_counted(graph.node_count(), "node", "nodes");
            let what = if flow.is_some() { "paths and flow" } else { "paths" };
            Ok(((Some(modules), flow), format!("{what} of {nodes}")))
        })
    }

    /// Sums the flow of the nodes of each community, if it is known and written.
    fn sum_flow(&self, context: &mut Context<'_>, found: &Membership) -> Result<Option<Vec<f64>>> {
        let Some(path) = self.options.communities.as_ref().filter(|path| {
            found.has_paths && self.writes_attributes() && !membership::is_stream(path)
        }) else {
            return Ok(None);
        };
        let held_bytes = 4 * self.graph.node_count() + MODULE_BYTES * found.community_count;
        let options = MembershipOptions { held_bytes, ..context.reading(&self.options.input) };
        context.stage(Stage::Match, |context| {
            let file = self.module_file(context, path, self.graph, &options, "summed");
            let Some(flow) = file.flow()? else { return Ok((None, "no flow".into())) };
            let mut sums = vec![0.0; found.community_count as usize];
            let mut labels = found.labels.iter();
            flow.for_each_block(context.files, |block| {
                for (&code, &label) in block.iter().zip(&mut labels) {
                    if let Some(sum) = sums.get_mut(label as usize) {
                        *sum += membership::number_of(code).unwrap_or(0.0);
                    }
                }
                Ok(())
            })?;
            let nodes = format_counted(self.graph.node_count(), "node", "nodes");
            Ok((Some(sums), format!("flow of {nodes}")))
        })
    }

    /// Returns the numbers of the wanted communities.
    fn members(&self, names: Option<&[Box<str>]>, path: &Path) -> Result<Vec<u64>> {
        let number = |member: &String| {
            let found = match names {
                None => member.parse().ok(),
                Some(names) => {
                    let place = names.binary_search_by(|name| by_number(name, member));
                    place.ok().map(|place| place as u64)
                }
            };
            found.ok_or_else(|| no_member(path, member))
        };
        self.options.members.iter().map(number).collect()
    }

    /// Takes the labels from nodes outside the chosen communities.
    fn select(&self, mut of: Read, path: &Path) -> Result<Read> {
        let mut members = self.members(of.names.as_deref(), path)?;
        let found = &mut of.membership;
        let missing = members.iter().position(|number| !found.numbers.contains(number));
        if let Some(at) = missing {
            return Err(no_member(path, &self.options.members[at]));
        }
        members.sort_unstable();
        let is_wanted: Vec<bool> =
            found.numbers.iter().map(|number| members.binary_search(number).is_ok()).collect();
        let not_wanted = |label: &u32| *label != Membership::NONE && !is_wanted[*label as usize];
        for label in found.labels.iter_mut() {
            if not_wanted(label) {
                *label = Membership::NONE;
            }
        }
        Ok(of)
    }

    /// Writes the graph of the chosen communities, or of communities as nodes, to the work directory.
    fn choose(&self, context: &mut Context<'_>, found: Option<Read>) -> Result<Chosen> {
        let Some(Read { membership: found, names }) = found else {
            return Ok(Chosen::default());
        };
        let flow = match self.options.quotient {
            true => self.sum_flow(context, &found)?,
            false => None,
        };
        let Membership { labels, numbers, has_paths: are_modules, .. } = found;
        let (graph, members) = (self.graph, self.options.members.len() as u64);
        if members == 0 && !self.options.quotient {
            let communities = Some(Presented::numbered(labels, numbers));
            return Ok(Chosen { communities, names, ..Chosen::default() });
        }
        let scan = ClusterMemory::of_scans(graph, 1);
        let scan = scan.scratch_bytes + scan.block_bytes + GRAPH_WRITER_BYTES;
        let each = COMMUNITY_BYTES + if are_modules { MODULE_BYTES } else { 0 };
        let of_communities = each * numbers.len() as u64;
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
                let communities = NamedCommunities { labels, numbers, names, are_modules, flow };
                let Quotient { graph, nodes } = export::write_quotient(&bench, graph, communities)?;
                let count = format_counted(graph.node_count(), "community", "communities");
                let (graph, of_communities) = (Some(graph), Some(nodes));
                let chosen = Chosen { graph, of_communities, ..Chosen::default() };
                return Ok((chosen, format!("network of {count}")));
            }
            let directory = scratch.join("part");
            let Part { graph, labels } =
                export::write_part(files, &directory, graph, labels, observer)?;
            let nodes = format_counted(graph.node_count(), "node", "nodes");
            let of = format_counted(members, "community", "communities");
            let communities = Some(Presented::numbered(labels, numbers));
            let chosen = Chosen { graph: Some(graph), communities, names, of_communities: None };
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

/// Returns the error for a community that is asked for, but has no node of the graph.
fn no_member(path: &Path, member: &str) -> Error {
    let path = path.display();
    let message = format!("`{path}` has no community `{member}` with a node of the graph");
    Error::new(ErrorKind::BadInput, message).hint(format_args!(
        "{MEMBERS} takes numbers of communities as they are in the file, or with {} and so on paths such as 1:3",
        LEVEL.of("2")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_effect_are_refused() {
        let options = |output: &str, members: &[&str], communities: Option<&str>| ExportOptions {
            graph: "g".into(),
            output: output.into(),
            format: None,
            nodes: None,
            communities: communities.map(Into::into),
            members: members.iter().map(|&member| member.into()).collect(),
            quotient: false,
            input: CommunityInput::default(),
            limits: Limits { memory_bytes: 1 << 30, threads: 1 },
            work_dir: ".".into(),
        };
        assert!(options("e.tsv", &["3"], None).checked_format().is_err());
        assert!(options("e.tsv", &[], Some("c")).checked_format().is_err());
        assert!(options("e.tsv", &["3"], Some("c")).checked_format().is_ok());
        assert!(options("e.gexf", &[], Some("c")).checked_format().is_ok());
        assert!(options("e.xyz", &[], None).checked_format().is_err());
    }
}
