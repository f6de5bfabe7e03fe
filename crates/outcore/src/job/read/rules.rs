//! Rules by which edges become arcs: those of a job, and those that a graph was built by. Edges can be added to a graph
//! only by the same rules.

use super::weights::Normalize;
use crate::error::opt::{
    APPEND, DIRECTED, DUPLICATES, IGNORE_WEIGHTS, MAX_WEIGHT, MIN_WEIGHT, NORMALIZE, SELF_LOOPS,
    WEIGHT_TRANSFORM,
};
use crate::error::{Error, ErrorKind, Opt, Result, Text};
use crate::graph::{Duplicates, EdgeRules, Graph, GraphSummary, KindNames};
use crate::input::WeightTransform;
use crate::io::Files;
use crate::job::JobOptions;
use std::path::Path;

/// Hint for graphs that edges cannot be added to.
pub(super) const FROM_EDGES: &str = "build a graph from all edges instead";

/// Everything that decides how edges become arcs.
struct EdgeMeaning {
    directed: bool,
    duplicates: Duplicates,
    keep_loops: bool,
    edges: EdgeRules,
}

impl EdgeMeaning {
    fn of_graph(graph: &Graph) -> Result<Self> {
        let edges = graph.rules().ok_or_else(|| {
            let path = graph.directory().display();
            let message = format!("`{path}` does not record how its edges were read");
            Error::new(ErrorKind::Usage, message).hint(FROM_EDGES)
        })?;
        let GraphSummary { is_directed, duplicates, loops_kept, .. } = graph.summary();
        Ok(Self { directed: is_directed, duplicates, keep_loops: loops_kept, edges })
    }

    fn of_job(options: &JobOptions) -> Self {
        let JobOptions { duplicates, keep_loops, .. } = *options;
        Self { directed: options.input.directed, duplicates, keep_loops, edges: options.rules() }
    }

    fn texts(&self) -> [Text; 8] {
        let edges = &self.edges;
        let with = |option: Opt| Text::from(format_args!("with {option}"));
        let without = |option: Opt| Text::from(format_args!("without {option}"));
        let flag = |option, is_on| if is_on { with(option) } else { without(option) };
        let bound = |option: Opt, value: Option<f64>| match value {
            Some(value) => with(option.of(value)),
            None => without(option),
        };
        let divided = NORMALIZE.of("self-score");
        [
            flag(DIRECTED, self.directed),
            with(DUPLICATES.of(self.duplicates.name())),
            with(SELF_LOOPS.of(if self.keep_loops { "keep" } else { "drop" })),
            flag(IGNORE_WEIGHTS, edges.ignore_weights),
            with(WEIGHT_TRANSFORM.of(edges.weight_transform.name())),
            bound(MIN_WEIGHT, edges.min_weight),
            bound(MAX_WEIGHT, edges.max_weight),
            if edges.divided_by_self_scores { with(divided) } else { without(NORMALIZE) },
        ]
    }
}

/// Refuses to add edges by rules that differ from the graph's, and to add any to a graph divided by self scores.
pub(super) fn check(graph: &Graph, options: &JobOptions) -> Result<()> {
    let path = graph.directory();
    let (before, now) = (EdgeMeaning::of_graph(graph)?, EdgeMeaning::of_job(options));
    let (was, is) = (before.texts(), now.texts());
    if let Some((was, is)) = was.iter().zip(&is).find(|(was, is)| was != is) {
        let path = path.display();
        let message = format_args!("`{path}` was built {was}, but edges are to be added {is}");
        return Err(Error::usage(message)
            .hint("use the option that the graph was built with, or build one from all edges"));
    }
    if before.edges.divided_by_self_scores {
        let (path, option) = (path.display(), NORMALIZE.of("self-score"));
        let message = format_args!("no edges can be added to `{path}`, built with {option}");
        return Err(Error::usage(message)
            .note("new edges could change the self scores that its weights were divided by")
            .hint(FROM_EDGES));
    }
    Ok(())
}

/// Refuses to add edges between nodes of other kinds than those of the graph.
pub(super) fn check_kinds(graph: &Graph, new: Option<&KindNames>) -> Result<()> {
    let old = graph.kinds().map(|kinds| KindNames(kinds.names));
    if old.as_ref() == new {
        return Ok(());
    }
    let text = |kinds: Option<&KindNames>| match kinds {
        Some(KindNames([first, second])) => format!("of the kinds `{first}` and `{second}`"),
        None => "without kinds".to_owned(),
    };
    let path = graph.directory().display();
    let (was, is) = (text(old.as_ref()), text(new));
    let message = format!("`{path}` has nodes {was}, but edges are to be added between nodes {is}");
    let hint: Text = match old {
        Some(KindNames([first, second])) => format_args!(
            "name the columns of the edges `{first}` and `{second}` in a header, or {FROM_EDGES}"
        )
        .into(),
        None => FROM_EDGES.into(),
    };
    Err(Error::new(ErrorKind::Usage, message).hint(hint))
}

/// Opens the graph that edges are added to.
///
/// # Errors
/// `Usage` if it is not a whole graph with names; `CorruptFile`; `Io`.
pub(super) fn open_graph(files: &Files, path: &Path) -> Result<Graph> {
    files.entry(path)?;
    if files.entry(&path.join("graph.json")).is_err() {
        return Err(Error::usage(format_args!("{} is not a graph", APPEND.of(path.display())))
            .hint("`outcore build EDGES -o GRAPH` makes a graph from an edge list"));
    }
    let graph = Graph::open(files, path)?;
    let shown = path.display();
    if graph.is_part() {
        let message = format!("`{shown}` is a part of a graph");
        return Err(Error::new(ErrorKind::Usage, message).hint(FROM_EDGES));
    }
    if !graph.has_names() {
        let message = format!("`{shown}` has no names that edges could refer to");
        return Err(Error::new(ErrorKind::Usage, message).hint(FROM_EDGES));
    }
    Ok(graph)
}

impl JobOptions {
    /// Returns the rules that a graph built with these options records.
    pub(crate) fn rules(&self) -> EdgeRules {
        EdgeRules {
            ignore_weights: self.input.ignore_weights,
            weight_transform: self.input.weight_transform,
            min_weight: self.min_weight,
            max_weight: self.max_weight,
            divided_by_self_scores: self.normalize == Normalize::SelfScore,
        }
    }

    /// Returns whether the weights of an edge and its reverse are added up as they are.
    pub(super) fn sums_directions(&self) -> bool {
        let as_they_are = self.input.weight_transform == WeightTransform::None;
        let is_summed = self.duplicates == Duplicates::Sum && !self.input.directed;
        as_they_are && is_summed && self.normalize == Normalize::None
    }

    /// Adopts the options that the graph to which edges are added was built with, except for those in `given`.
    ///
    /// # Errors
    /// `Usage` if it is not a graph, or does not record them; `CorruptFile`; `Io`.
    pub fn adopt(&mut self, files: &Files, given: &[Opt]) -> Result<()> {
        let Some(path) = &self.append else { return Ok(()) };
        let EdgeMeaning { directed, duplicates, keep_loops, edges } =
            EdgeMeaning::of_graph(&open_graph(files, path)?)?;
        let takes = |option: &Opt| !given.contains(option);
        let input = &mut self.input;
        input.directed = if takes(&DIRECTED) { directed } else { input.directed };
        self.duplicates = if takes(&DUPLICATES) { duplicates } else { self.duplicates };
        self.keep_loops = if takes(&SELF_LOOPS) { keep_loops } else { self.keep_loops };
        if takes(&IGNORE_WEIGHTS) {
            input.ignore_weights = edges.ignore_weights;
        }
        if takes(&WEIGHT_TRANSFORM) {
            input.weight_transform = edges.weight_transform;
        }
        self.min_weight = if takes(&MIN_WEIGHT) { edges.min_weight } else { self.min_weight };
        self.max_weight = if takes(&MAX_WEIGHT) { edges.max_weight } else { self.max_weight };
        if takes(&NORMALIZE) && edges.divided_by_self_scores {
            self.normalize = Normalize::SelfScore;
        }
        Ok(())
    }
}
