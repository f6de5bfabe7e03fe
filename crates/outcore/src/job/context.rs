//! What the stages of a job share, and the report that their results make up.

use super::report::{AppendReport, InputReport, Report, ResultReport, StageReport};
use super::resume::WorkDirectory;
use crate::budget::Limits;
use crate::error::{Result, Text};
use crate::graph::GraphSummary;
use crate::input::CommunityInput;
use crate::io::{
    Files, begin_stage, give_back_freed, peak_memory_bytes, resident_memory_bytes, stage_peak_bytes,
};
use crate::membership::MembershipOptions;
use crate::plan::Plan;
use crate::progress::{Event, Observer, Stage, notify};
use crate::sort::SortSummary;
use std::path::Path;
use std::time::Instant;

/// What all stages of a job use, and the measurements of those that are finished.
pub(crate) struct Context<'a> {
    pub(crate) files: &'a Files,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) limits: Limits,
    pub(crate) work: WorkDirectory,
    start: Instant,
    stages: Vec<StageReport>,
}

/// What is known of a graph that was built from edges.
#[derive(Default)]
pub(crate) struct Built {
    /// Whether the job resumed from saved state.
    pub(crate) resumed: bool,
    /// Plan predicted from a sample of the input, if it could be sampled.
    pub(crate) plan: Option<Plan>,
    pub(crate) input: Option<InputReport>,
    pub(crate) sort: Option<SortSummary>,
    pub(crate) append: Option<AppendReport>,
    /// Absent if the graph is that of an earlier job.
    pub(crate) graph: Option<GraphSummary>,
}

/// What is known of the communities of a graph.
#[derive(Default)]
pub(crate) struct Clustered {
    /// Whether a clustering resumed from saved sweeps.
    pub(crate) resumed: bool,
    pub(crate) graph: Option<GraphSummary>,
    pub(crate) results: Vec<ResultReport>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        start: Instant,
        files: &'a Files,
        observer: &'a dyn Observer,
        limits: Limits,
        work: WorkDirectory,
    ) -> Self {
        Self { files, observer, limits, work, start, stages: Vec::new() }
    }

    /// Runs one stage; `work` returns its result and a phrase that summarizes it.
    pub(crate) fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&Self) -> Result<(T, String)>,
    ) -> Result<T> {
        // Memory freed by the previous stage is available to this one.
        give_back_freed();
        begin_stage();
        let (begin, counters) = (Instant::now(), self.files.counters());
        let (read, written) = (counters.read_bytes(), counters.write_bytes());
        let (result, summary) = work(self)?;
        let counters = self.files.counters();
        let row = StageReport {
            stage,
            seconds: begin.elapsed().as_secs_f64(),
            predicted_seconds: None,
            read_bytes: counters.read_bytes() - read,
            predicted_read_bytes: None,
            write_bytes: counters.write_bytes() - written,
            predicted_write_bytes: None,
            peak_memory_bytes: stage_peak_bytes(),
            predicted_memory_bytes: None,
            summary,
        };
        notify(self.observer, Event::End { summary: &row.summary })?;
        self.stages.push(row);
        self.work.record(self.files, stage)?;
        Ok(result)
    }

    /// Reports that a stage begins, with a total amount of work if that is known.
    pub(crate) fn begin(&self, stage: Stage, total: Option<u64>, unit: &'static str) -> Result<()> {
        notify(self.observer, Event::Begin { stage, total, unit })
    }

    pub(crate) fn warn(&self, text: impl Into<Text>) -> Result<()> {
        notify(self.observer, Event::Warning { text: &text.into() })
    }

    /// Returns options for reading a file of communities in the work directory.
    pub(crate) fn reading(&self, input: &CommunityInput) -> MembershipOptions {
        MembershipOptions {
            input: input.clone(),
            numbered: false,
            is_described: true,
            limits: self.limits,
            held_bytes: 0,
            scratch: self.work.path().to_path_buf(),
        }
    }

    /// Returns the memory for a step that needs at least `least` bytes. The allocator may still hold memory that
    /// earlier steps freed.
    pub(crate) fn memory_for(&self, least: u64) -> u64 {
        let held = resident_memory_bytes().unwrap_or(0);
        self.limits.memory_left(held).max(least.min(self.limits.memory_bytes))
    }

    /// Like [`memory_for`](Self::memory_for), for a step that frees `held` bytes of the memory in use.
    pub(crate) fn memory_beside(&self, held: u64, least: u64) -> u64 {
        (self.memory_for(0) + held).max(least).min(self.limits.memory_bytes)
    }

    /// Removes the temporary files, and reports on the job.
    pub(crate) fn finish(
        self,
        built: Built,
        clustered: Clustered,
        rejects: Option<&Path>,
    ) -> Report {
        let (manifest, counters) = (self.work.remove(), self.files.counters());
        let Clustered { resumed, graph, results } = clustered;
        let mut stages = self.stages;
        if let Some(plan) = &built.plan {
            for at in 0..stages.len() {
                let times = stages.iter().filter(|row| row.stage == stages[at].stage).count();
                stages[at].predict(plan, times as u64);
            }
        }
        Report {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            job: manifest.job,
            inputs: manifest.inputs.into_iter().map(|input| input.path).collect(),
            output: manifest.result,
            rejects: rejects.map(|path| path.display().to_string()),
            warnings: Vec::new(),
            limits: self.limits,
            resumed: built.resumed || resumed,
            stages,
            input: built.input,
            append: built.append,
            sort: built.sort,
            graph: built.graph.or(graph),
            communities: results.first().map(|first| first.communities.clone()),
            results: if results.len() > 1 { results } else { Vec::new() },
            seconds: self.start.elapsed().as_secs_f64(),
            read_bytes: counters.read_bytes(),
            write_bytes: counters.write_bytes(),
            peak_memory_bytes: peak_memory_bytes(),
        }
    }
}
