//! Finds communities in graphs larger than memory, inside a memory limit, by sequential I/O only.
//!
//! ```text
//!  files, stdin        work directory                                              file, stdout
//!    bytes --input--> edges --ids--> arcs --sort--> runs --merge--> graph --cluster--> labels --output--> communities
//!                       |                                             |
//!                       `--> rejects                                  `--> score
//!  plan: sizes every arrow          io: carries every arrow
//! ```
//!
//! # Quick start
//!
//! A [`Job`] runs the whole pipeline: it reads edge lists, builds the graph, finds communities and writes them. A job
//! that was interrupted resumes when it is run again.
//!
//! ```
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//! let (edges, communities) = (directory.join("edges.tsv"), directory.join("communities.tsv"));
//! std::fs::write(&edges, "a b\nb c\nc a\nx y\ny z\nz x\nc x\n").expect("a disk");
//! let report = outcore::Job::new(edges).memory(128 << 20).cluster(&communities)?;
//! assert_eq!(report.communities.map(|found| found.sizes.community_count), Some(2));
//! let text = std::fs::read_to_string(communities).expect("it was written");
//! assert_eq!(text, "a\t0\nb\t0\nc\t0\nx\t1\ny\t1\nz\t1\n");
//! # Ok::<(), outcore::Error>(())
//! ```
//!
//! [`job`] offers the same with every option.
//!
//! The parts of a job can also be used on their own: [`input`] parses edge lists, [`sort`] sorts more records than fit
//! in memory, [`graph`] is the graph on disk, [`cluster`] finds its communities, [`score`] rates them, and all of them
//! do their I/O through [`io`]. Errors are data: [`Error`]. To keep a process within its memory limit, make
//! [`io::Meter`] its allocator.
//!
//! # Crates
//!
//! Each crate imports only from those to its left: `outcore-io | outcore-sort | outcore-graph | outcore-input,
//! outcore-cluster | outcore`. Its parts are modules here under the names of their crates. The engine never prints,
//! never reads the environment, and never exits.

pub mod compare;
pub mod export;
pub mod generate;
pub mod job;
pub mod membership;
pub mod output;
pub mod plan;
pub mod present;

pub use job::Job;
pub use outcore_cluster::{self as cluster, score};
use outcore_graph::ids;
pub use outcore_graph::{self as graph, weight};
pub use outcore_input as input;
use outcore_io::checkpoint;
pub use outcore_io::{self as io, budget, error, progress, units};
pub use outcore_io::{Error, ErrorKind, Place, Result};
pub use outcore_sort as sort;
