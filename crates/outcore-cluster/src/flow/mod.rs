//! Flow on directed networks: how often a random walk visits each node, and how much of it follows each arc.
//!
//! ```text
//!  directed graph --scans--> visit rates --2 scans, a sort--> undirected graph of flow, drift of each node --> sweeps
//!                                 `--1 scan, labels--> code length
//! ```
//!
//! Sweeps know undirected graphs alone. A directed network becomes one: the weight of an edge is the flow of both of its
//! directions, and [`NodeFlow`](crate::kernel::holdings::NodeFlow) tells what the sum does not. With S the strength of a
//! node or community there, C the weight of its edges to others, and D its drift: the flow of its arcs to others is
//! (C + D) / 2, of those from others (C - D) / 2, and of all that end in it (S - D) / 2.
//!
//! Modularity needs no walk: the flow of an arc is its weight.

pub(crate) mod flow_graph;
pub(crate) mod length;
pub(crate) mod rates;
#[cfg(test)]
pub(crate) mod tests;
