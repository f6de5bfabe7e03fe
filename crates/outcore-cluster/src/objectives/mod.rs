//! Objectives of the sweeps: votes of neighbors, the map equation, modularity and the constant Potts model.
//!
//! Sums of communities lie in large pages: sweeps read them at random, 24 bytes for each label around a node. On 50
//! million edges that saves 4 % of the map equation's processor time. They are fetched 16 members before a move is
//! committed, because commits are serial and another thread used these sums last: `leaving` takes 75 to 91
//! samples of 9,300 instead of 281 to 529 (`perf`, nine and four runs). Fetching labels around contested movers too
//! made no difference in three pairs.

pub mod label_propagation;
pub mod map_equation;
pub mod modularity;
