//! Jobs in one line: an input, options that differ from their defaults, and the path of the result.

use super::{JobOptions, Limits, PresentOptions, Report, Source};
use super::{build, cluster_and_present};
use crate::cluster::{ClusterOptions, Method};
use crate::error::Result;
use crate::input::InputOptions;
use crate::io::{Files, available_memory_bytes};
use crate::progress::{Observer, Silent};
use std::path::{Path, PathBuf};

/// Memory limit if the system does not report free memory.
const MEMORY_BYTES: u64 = 1 << 30;

/// Job on an input, with defaults for everything else: half of the free memory, all processors, temporary files next to
/// the result.
///
/// ```
/// use outcore::{Job, cluster::Method, input::Header};
/// # let temporary = tempfile::tempdir().expect("a directory");
/// # let path = |name| temporary.path().join(name);
/// # let (edges, graph, communities) = (path("edges.tsv"), path("edges.graph"), path("communities.tsv"));
/// # std::fs::write(&edges, "a b\nb c\nc a\nx y\ny z\nz x\nc x\n").expect("a disk");
///
/// let job = Job::new(edges).memory(1 << 30).method(Method::Modularity);
/// let report = job.cluster(&communities)?;
/// assert_eq!(report.communities.expect("it was clustered").sizes.community_count, 2);
///
/// // A graph is built once; later jobs read it instead of the edges.
/// job.input(|input| input.header = Header::No).build(&graph)?;
/// let coarse = Job::new(graph).memory(1 << 30).threads(2).method(Method::Components);
/// let report = coarse.present(|present| present.min_size = 7).cluster(&communities)?;
/// assert!(report.graph.expect("it was read").node_count == 6);
/// assert!(std::fs::read(communities).expect("it was written").is_empty());
/// # Ok::<(), outcore::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a job runs when `build` or `cluster` is called"]
pub struct Job {
    files: Files,
    input: InputOptions,
    limits: Limits,
    work_dir: Option<PathBuf>,
    clustering: ClusterOptions,
    present: PresentOptions,
}

impl Job {
    /// Creates a job on an edge list, or on a graph that [`build`](Self::build) has written.
    pub fn new(input: impl Into<PathBuf>) -> Self {
        let memory_bytes = available_memory_bytes().map_or(MEMORY_BYTES, |bytes| bytes / 2);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            files: Files::default(),
            input: InputOptions { paths: vec![input.into()], ..InputOptions::default() },
            limits: Limits { memory_bytes, threads },
            work_dir: None,
            clustering: ClusterOptions::default(),
            present: PresentOptions::default(),
        }
    }

    /// Sets the memory limit in bytes.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory_bytes = bytes;
        self
    }

    /// Sets the number of threads.
    pub fn threads(mut self, count: usize) -> Self {
        self.limits.threads = count;
        self
    }

    /// Sets the directory of temporary files; by default that of the result.
    pub fn work_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.work_dir = Some(path.into());
        self
    }

    /// Sets the method, and the resolution to its default if it has one.
    pub fn method(mut self, method: Method) -> Self {
        self.clustering.method = method;
        if let Some(resolution) = method.default_resolution() {
            self.clustering.resolution = vec![resolution];
        }
        self
    }

    /// Changes how the input is read: columns, weights, header and others.
    pub fn input(mut self, change: impl FnOnce(&mut InputOptions)) -> Self {
        change(&mut self.input);
        self
    }

    /// Changes options of the clustering.
    pub fn clustering(mut self, change: impl FnOnce(&mut ClusterOptions)) -> Self {
        change(&mut self.clustering);
        self
    }

    /// Changes how communities are presented.
    pub fn present(mut self, change: impl FnOnce(&mut PresentOptions)) -> Self {
        change(&mut self.present);
        self
    }

    /// Builds the graph of the edges in the directory `graph`, once for several clusterings.
    ///
    /// # Errors
    /// Those of [`build()`].
    pub fn build(&self, graph: impl AsRef<Path>) -> Result<Report> {
        build(&self.files, &self.options(graph.as_ref()), graph.as_ref(), &Silent)
    }

    /// Finds communities and writes them to the file `output`.
    ///
    /// # Errors
    /// Those of [`cluster()`](super::cluster()).
    pub fn cluster(&self, output: impl AsRef<Path>) -> Result<Report> {
        self.cluster_observed(output, &Silent)
    }

    /// Like [`cluster`](Self::cluster), with an observer that receives the progress and may stop the job.
    ///
    /// # Errors
    /// Those of [`cluster()`](super::cluster()).
    pub fn cluster_observed(
        &self,
        output: impl AsRef<Path>,
        observer: &dyn Observer,
    ) -> Result<Report> {
        let output = output.as_ref();
        let JobOptions { limits, work_dir, restart, .. } = self.options(output);
        let source = match &self.input.paths[..] {
            [path] if self.files.entry(&path.join("graph.json")).is_ok() => {
                Source::Graph { path: path.clone(), limits, work_dir, restart }
            }
            _ => Source::Edges(Box::new(self.options(output))),
        };
        cluster_and_present(&self.files, &source, &self.clustering, &self.present, output, observer)
    }

    /// Returns the options of reading for a result.
    fn options(&self, output: &Path) -> JobOptions {
        let beside = output.parent().filter(|path| !path.as_os_str().is_empty());
        let work_dir = self.work_dir.as_deref().or(beside).unwrap_or(Path::new("."));
        JobOptions::new(self.input.clone(), self.limits, work_dir.to_path_buf())
    }
}
