//! Objectives of the sweeps: votes of neighbors, the map equation, modularity and the constant Potts model, each with
//! or without a size limit.

pub(crate) mod cap;
pub mod label_propagation;
pub mod map_equation;
pub mod modularity;
