//! Paths of a job's result files, and the check that each given option affects one of them.

use super::bench;
use super::outputs::{outputs, value_text};
use crate::budget::Limits;
use crate::cluster::{ClusterMemory, ClusterOptions};
use crate::error::opt::{
    DROP, FLOW, KEEP, LEVELS, MATCH, MEMBER_WEIGHTS, MIN_SIZE, MIN_WEIGHT, OUTPUT, OUTPUT_HEADER,
    PREFER, REPRESENTATIVES, ROWS, STABILITY, SUMMARY,
};
use crate::error::{Error, Opt, Result};
use crate::graph::Graph;
use crate::input::{Batch, BatchMemory, CHUNK_BYTES, EdgeReader, InputOptions};
use crate::io::Files;
use crate::job::Source;
use crate::job::context::Context;
use crate::membership;
use crate::output::{self, ModuleForm, RowFormat, Written};
use crate::present::{
    Earlier, GROUP_BYTES, LevelForm, Look, PresentMemory, PresentOptions, RowForm, SideFiles,
    Small, Workbench, check_module_names, is_module_number, module_bytes, not_a_number,
};
use crate::score;
use std::iter::once;
use std::path::{Path, PathBuf};

/// Presentation options of results, and where they are written.
pub(crate) struct Targets<'a> {
    pub(crate) options: &'a PresentOptions,
    /// Whether levels are written.
    pub(super) levels: bool,
    /// Whether the stability of nodes is written.
    stability: bool,
    /// File of each result.
    pub(crate) outputs: Vec<PathBuf>,
    /// Files beside each result; empty if they are not written. All results share one file of heights.
    pub(crate) sides: SideFiles<Vec<PathBuf>>,
    /// Names of the columns, if all results are columns of one file.
    pub(crate) columns: Vec<String>,
}

impl<'a> Targets<'a> {
    pub(crate) fn new(
        files: &Files,
        clustering: &ClusterOptions,
        options: &'a PresentOptions,
        output: &Path,
    ) -> Result<Self> {
        let all = |path: &Option<PathBuf>| match path {
            Some(path) => outputs(files, path, clustering),
            None => Ok(Vec::new()),
        };
        let (thresholds, sides) = (&clustering.thresholds, &options.sides);
        let columns = match clustering.levels && clustering.forest_ladder().is_some() {
            true => {
                thresholds.iter().map(|&value| format!("community_{}", value_text(value))).collect()
            }
            false => Vec::new(),
        };
        Ok(Self {
            options,
            levels: clustering.levels && columns.is_empty(),
            stability: clustering.stability,
            outputs: match columns.is_empty() {
                true => outputs(files, output, clustering)?,
                false => vec![output.to_path_buf()],
            },
            sides: SideFiles {
                representatives: all(&sides.representatives)?,
                keep: all(&sides.keep)?,
                drop: all(&sides.drop)?,
                summary: all(&sides.summary)?,
                heights: sides.heights.iter().cloned().collect(),
            },
            columns,
        })
    }

    /// Refuses files that cannot be read or written, before any work.
    pub(crate) fn check(&self, files: &Files, source: &Source) -> Result<()> {
        self.check_rows()?;
        self.check_header()?;
        let mut written = self.all_outputs();
        written.try_for_each(|path| output::check(files, path))?;
        let stream = Path::new("-");
        let edges = match source {
            Source::Edges(edges) => edges.input.all_paths().filter(|path| *path == stream).count(),
            Source::Graph { .. } => 0,
        };
        let streams = self.options.files().filter(|path| *path == stream).count();
        if streams > 0 && streams + edges > 1 {
            return Err(Error::usage("standard input (`-`) can be read only once"));
        }
        self.options
            .files()
            .filter(|path| *path != stream)
            .try_for_each(|p| files.entry(p).map(drop))
    }

    /// Iterates over the files of all results.
    pub(crate) fn all_outputs(&self) -> impl Iterator<Item = &PathBuf> {
        let sides = self.sides.each().into_iter().flat_map(|(_, paths)| paths);
        self.outputs.iter().chain(sides)
    }

    /// Returns the file of result number `at`.
    pub(crate) fn output(&self, at: usize) -> &Path {
        self.outputs.get(at).unwrap_or(&self.outputs[0])
    }

    /// Returns an upper bound on the memory of the stages after the clustering, labels included, if `earlier`
    /// communities of an earlier result have a node in the graph.
    pub(crate) fn min_bytes(&self, graph: &Graph, earlier: u64, threads: usize) -> u64 {
        self.memory(graph, threads).least_bytes(earlier).max(self.flow_bytes(graph, threads))
    }

    /// Returns whether the flow of nodes is written.
    pub(crate) fn has_flow(&self) -> bool {
        self.options.flow || self.has_modules()
    }

    /// Returns whether a result is a file of Infomap.
    pub(super) fn has_modules(&self) -> bool {
        self.outputs.iter().any(|path| ModuleForm::of(path).is_some())
    }

    pub(super) fn has_links(&self) -> bool {
        self.outputs.iter().any(|path| ModuleForm::of(path) == Some(ModuleForm::FlowTree))
    }

    /// Returns the memory to find and write the flow of nodes, labels included.
    fn flow_bytes(&self, graph: &Graph, threads: usize) -> u64 {
        if !self.has_flow() {
            return 0;
        }
        let nodes = graph.node_count();
        let rates = if graph.is_directed() { score::visits_bytes(nodes) } else { 0 };
        // Each level has at least twice as many modules as the one above it, so all levels above the last have fewer.
        let count = nodes * (1 + u64::from(self.levels));
        let forms = self.outputs.iter().filter_map(|path| ModuleForm::of(path));
        let modules = forms.map(|form| module_bytes(form, graph, count, threads)).max();
        let modules = modules.map_or(0, |bytes| bytes + Workbench::BUDGET_MIN);
        self.memory(graph, threads).flow_bytes(rates, modules)
    }

    fn memory(&self, graph: &Graph, threads: usize) -> PresentMemory<'_> {
        PresentMemory {
            options: self.options,
            levels: self.levels,
            nodes: graph.node_count(),
            is_directed: graph.is_directed(),
            scan: ClusterMemory::of_scans(graph, threads),
        }
    }

    /// Refuses a name in the first edges that a file of modules cannot hold, before any work.
    ///
    /// # Errors
    /// `BadInput` with the name, or for a bad line; `Usage`, `Io`.
    pub(crate) fn check_first_names(&self, files: &Files, input: &InputOptions) -> Result<()> {
        let is_clu = |path: &&PathBuf| ModuleForm::of(path) == Some(ModuleForm::Clu);
        let path = input.paths.first().filter(|path| files.is_regular(path));
        let Some((output, path)) = self.outputs.iter().find(is_clu).zip(path) else {
            return Ok(());
        };
        let paths = vec![path.clone()];
        let first = InputOptions { paths, nodes: None, rejects: None, ..input.clone() };
        let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks: 2 };
        let mut batch = Batch::default();
        EdgeReader::open(files, &first, memory)?.next_batch(&mut batch)?;
        for chunk in &batch.chunks {
            if let Some(name) = chunk.names.iter().find(|name| !is_module_number(name.fingerprint))
            {
                return Err(not_a_number(output, chunk.name(name)));
            }
        }
        Ok(())
    }

    /// Refuses names that the files of Infomap cannot hold, before the work.
    ///
    /// # Errors
    /// `BadInput` with a name; `CorruptFile`, `Io`, `Interrupted`.
    pub(crate) fn check_module_names(&self, context: &Context<'_>, graph: &Graph) -> Result<()> {
        let bench = bench(context, 0);
        self.outputs.iter().try_for_each(|path| match ModuleForm::of(path) {
            Some(form) => check_module_names(&bench, graph, form, path),
            None => Ok(()),
        })
    }

    /// Returns what a scan of the graph finds: what the outputs need, and an outline if it is wanted and fits in memory.
    pub(crate) fn look(&self, graph: &Graph, limits: Limits, earlier: &Option<Earlier>) -> Look {
        let count = earlier.as_ref().map_or(0, Earlier::community_count);
        let bytes = || self.memory(graph, limits.threads).bytes(Look::Communities, count);
        match self.options.outline && bytes() <= limits.memory_bytes {
            true => Look::Communities,
            false => self.options.look(),
        }
    }

    /// Returns the memory to describe the groups inside communities, of which two levels have `groups`.
    pub(super) fn groups_bytes(&self, graph: &Graph, threads: usize, groups: u64) -> u64 {
        self.memory(graph, threads).bytes(Look::Communities, 0) + GROUP_BYTES * groups
    }

    /// Refuses row options that contradict each other or the output.
    fn check_rows(&self) -> Result<()> {
        let PresentOptions { rows, member_weights, .. } = *self.options;
        if rows == RowForm::Communities && member_weights {
            let message =
                format_args!("{} has no place for {MEMBER_WEIGHTS}", ROWS.of("community"));
            let pairs = ROWS.of("pair");
            return Err(
                Error::usage(message).hint(format_args!("use {pairs}, or leave {ROWS} out"))
            );
        }
        let option = if member_weights { MEMBER_WEIGHTS } else { ROWS };
        let one_file = |first: Opt, second: Opt| {
            let message = format_args!("{first} and {second} cannot be written to one file");
            Err(Error::usage(message).hint("leave one of them out"))
        };
        if self.stability && rows != RowForm::Nodes {
            return one_file(STABILITY, ROWS);
        }
        if self.levels && (rows != RowForm::Nodes || member_weights) {
            return one_file(LEVELS, option);
        }
        self.check_columns()?;
        if self.options.prefer.is_some() && !self.options.shows_representatives() {
            let message =
                format_args!("{PREFER} chooses what represents a community, but nothing shows it");
            let pairs = ROWS.of("pair");
            return Err(Error::usage(message).hint(format_args!(
                "add {KEEP}, {DROP}, {REPRESENTATIVES}, {SUMMARY} or {pairs}"
            )));
        }
        for (option, paths) in once((OUTPUT, &self.outputs)).chain(self.sides.each()) {
            let written = if option == OUTPUT { Written::COMMUNITIES } else { Written::ROWS };
            paths.iter().try_for_each(|path| written.check(&option, path))?;
        }
        if self.options.flow && rows != RowForm::Nodes {
            return one_file(FLOW, ROWS);
        }
        self.check_modules()?;
        let table = self.outputs.iter().find(|path| RowFormat::of(path).is_table());
        match table.filter(|_| rows != RowForm::Nodes) {
            None => Ok(()),
            Some(path) => {
                let path = path.display();
                let message = format!("`{path}` is a table, which has a row for each node");
                Err(Error::usage(message).hint(format_args!(
                    "leave {ROWS} out, or use another name, such as one that ends in .tsv"
                )))
            }
        }
    }

    /// Refuses options that do not apply to results that are columns of one file.
    fn check_columns(&self) -> Result<()> {
        let PresentOptions { rows, member_weights, min_size, small, levels, earlier, .. } =
            self.options;
        if self.columns.is_empty() {
            return Ok(());
        }
        let given = first_given([
            (*rows != RowForm::Nodes, ROWS),
            (*member_weights, MEMBER_WEIGHTS),
            (*min_size > 1 && *small == Small::Drop, MIN_SIZE),
            (earlier.is_some(), MATCH),
            (self.has_modules(), OUTPUT),
            (*levels == LevelForm::Tree, LEVELS.of("tree")),
        ]);
        let Some(option) = given else { return Ok(()) };
        let several = format_args!("{MIN_WEIGHT} with several values");
        let message = format_args!("{option} has no place beside columns for {several}");
        Err(Error::usage(message)
            .hint(format_args!("leave out {LEVELS}: each value then gives a file of its own")))
    }

    /// Refuses options that do not apply to files of Infomap.
    fn check_modules(&self) -> Result<()> {
        let PresentOptions { rows, member_weights, flow, output_header, .. } = *self.options;
        let Some(path) = self.outputs.iter().find(|path| ModuleForm::of(path).is_some()) else {
            return Ok(());
        };
        let given = first_given([
            (rows != RowForm::Nodes, ROWS),
            (member_weights, MEMBER_WEIGHTS),
            (flow, FLOW),
            (self.stability, STABILITY),
            (output_header, OUTPUT_HEADER),
        ]);
        let Some(option) = given else { return Ok(()) };
        let path = path.display();
        let message = format_args!("{option} has no effect on `{path}`, a file of Infomap");
        Err(Error::usage(message).note("it has the modules and the flow of each node").hint(
            format_args!("leave {option} out, or use another name, such as one that ends in .tsv"),
        ))
    }

    /// Refuses the option for a header if the output cannot name its columns, or always does.
    fn check_header(&self) -> Result<()> {
        let PresentOptions { rows, output_header, .. } = *self.options;
        let mut all = self.outputs.iter().chain(&self.sides.representatives);
        let hint = format_args!("leave {OUTPUT_HEADER} out");
        if !output_header {
            return Ok(());
        }
        if rows == RowForm::Communities && self.sides.representatives.is_empty() {
            let message = format_args!("{} has no columns to name", ROWS.of("community"));
            return Err(Error::usage(message).hint(hint));
        }
        if all.all(|path| RowFormat::of(path).has_names()) {
            let path = self.outputs[0].display();
            let message = format_args!("{OUTPUT_HEADER} is for text, but `{path}` is a table");
            return Err(Error::usage(message).note("its columns have names").hint(hint));
        }
        Ok(())
    }

    /// Refuses an earlier result whose first lines are bad, before a graph is built for it.
    pub(crate) fn check_lines(&self, files: &Files) -> Result<()> {
        let PresentOptions { earlier, communities, .. } = self.options;
        if let Some(path) = earlier.as_ref().filter(|path| files.is_regular(path)) {
            membership::check(files, path, communities, true)?;
        }
        match self.options.priorities().filter(|path| files.is_regular(path)) {
            Some(path) => membership::check_rows(files, path, &communities.numbers_of(path)),
            None => Ok(()),
        }
    }
}

/// Returns the first option that is given.
fn first_given<const N: usize>(options: [(bool, Opt); N]) -> Option<Opt> {
    options.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
}
