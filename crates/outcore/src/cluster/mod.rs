//! Communities of a graph on disk, with O(nodes) bytes in memory and the arcs streamed.
//!
//! ```text
//!  graph --seeding--> labels --sweep, sweep, ...--> labels --connect--> pieces --number--> communities
//!            1 scan          5 to 20 scans of what is active     1 scan, shared with the modularity
//! ```
//!
//! The result is a function of the graph, the options and the seed: never of threads, of memory or
//! of what is cached. Memory is [`ClusterMemory`]; time is about 10 ns an arc and core for each time
//! that an arc is looked at, 3 to 8 times in all.
//!
//! The rooms, of which each imports only from those to its left:
//! `base | store | kernel | objectives | methods | finish | drive`.

#[doc(hidden)]
pub mod base;
mod drive;
#[doc(hidden)]
pub mod finish;
#[doc(hidden)]
pub mod kernel;
mod methods;
#[doc(hidden)]
pub mod objectives;
#[doc(hidden)]
pub mod store;
#[cfg(test)]
mod tests;

pub use drive::cost::{ClusterCost, NodeMemory};
pub use drive::memory::ClusterMemory;
pub use drive::run::{cluster, cluster_from};
pub use finish::communities::{Communities, summary};
pub(crate) use finish::connect::{Pieces, split_count};
pub use finish::number::SizeCount;
pub(crate) use finish::tally::Tally;
pub(crate) use kernel::cache::BlockSource;
pub use kernel::history::{SWEEPS_TOLD, Sweep};
pub use methods::options::{
    AttenuationRule, ClusterOptions, Consensus, PropagationOptions, Seeding, Visits,
};
pub use methods::table::{METHODS, Method, MethodOption, MethodSpec, ResolutionSpec};
pub use store::given::Given;
pub use store::hierarchy::Grouping;
pub use store::labels::{LabelScan, Labels};
pub(crate) use store::saves::SAVED;
