//! Communities of a graph on disk: O(nodes) bytes of memory, arcs streamed from the disk.
//!
//! ```text
//!  graph --seeding--> labels --sweep, sweep, ...--> labels --connect--> pieces --number--> communities
//!            1 scan          5 to 20 scans of active blocks       1 scan, shared with the modularity
//! ```
//!
//! The result depends only on the graph, the options and the seed, never on threads, memory or caching. Memory:
//! [`ClusterMemory`]. Time: about 10 ns per arc and core each time an arc is visited, 3 to 8 times in all.
//!
//! Each module imports only from those to its left:
//! `base | store | kernel | objectives | tree | methods | finish | flow | forest | drive | score`.
//!
//! ```
//! use outcore_cluster::{ClusterOptions, Method, cluster};
//! use outcore_graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter, Weight};
//! use outcore_io::Files;
//! use outcore_io::progress::Silent;
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! // Two triangles that share no edge.
//! let weight = Weight::new(1.0).code();
//! let arc = |source, target| ArcRecord { source, target, weight };
//! let triangle = |a| [(a, a + 1), (a, a + 2), (a + 1, a), (a + 1, a + 2), (a + 2, a), (a + 2, a + 1)];
//! let arcs: Vec<_> = [triangle(0), triangle(3)].concat().into_iter().map(|(a, b)| arc(a, b)).collect();
//! let (directed, duplicates, keep_loops) = (false, Duplicates::Sum, false);
//! let shape = GraphOptions { node_count: 6, directed, duplicates, keep_loops };
//! let (files, path) = (Files::default(), directory.join("triangles.graph"));
//! let mut writer = GraphWriter::create(&files, &path, &shape)?;
//! writer.push(&arcs)?;
//! writer.finish()?;
//!
//! let graph = Graph::open(&files, &path)?;
//! let options = ClusterOptions { method: Method::Modularity, ..ClusterOptions::default() };
//! let found = cluster(&graph, &options, 64 << 20, directory, &Silent)?;
//! assert_eq!(found.community_count(), 2);
//! assert_eq!(found.labels.into_memory(&files)?, [0, 0, 0, 1, 1, 1]);
//! # Ok::<(), outcore_io::Error>(())
//! ```

pub mod base;
mod drive;
pub mod finish;
mod flow;
mod forest;
pub mod kernel;
mod methods;
pub mod objectives;
pub mod score;
pub mod store;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) use tests::merges;
mod tree;

pub use drive::memory::ClusterMemory;
pub use drive::multilevel::StartCounts;
pub use drive::need::{NodeMemory, clustering_bytes};
pub use drive::run::{cluster, cluster_from, cluster_kept};
pub use finish::communities::{Baselines, Communities, Measures, summary};
pub(crate) use finish::connect::{Pieces, split_count};
pub(crate) use finish::cuts::CutMemory;
pub(crate) use finish::cuts::rate::rate;
pub(crate) use finish::cuts::separate::CutRound;
pub use finish::cuts::separate::Separated;
pub use finish::measures::{Tally, conductance};
pub use finish::number::SizeCount;
pub use finish::tree::{LevelLength, TreeLength};
pub use forest::{Dendrogram, Forest, ForestPlace, ForestState, JoinPlace};
pub use kernel::cache::BlockSource;
pub use kernel::history::{History, Starts, Sweep, Sweeps};
pub use methods::connected::WellConnected;
pub use methods::options::{
    AttenuationRule, ClusterOptions, PropagationOptions, Seeding, SeveralValues, Visits,
};
pub use methods::table::LevelSpec;
pub use methods::table::{METHODS, Method, MethodOption, MethodSpec, ResolutionSpec};
pub use methods::thresholds::Ladder;
pub use store::given::GivenLabels;
pub use store::hierarchy::Grouping;
pub use store::saves::SAVED;
