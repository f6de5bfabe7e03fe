//! What sweeps improve: votes of neighbors, the map equation, modularity and the constant Potts model; each with a limit on sizes or without.

pub(crate) mod cap;
pub mod label_propagation;
pub mod map_equation;
pub mod modularity;
