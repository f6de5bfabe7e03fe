//! Storage of labels, groups and sweep state: in memory, or in windows of files.

pub mod by_node;
pub(crate) mod column;
pub(crate) mod given;
pub(crate) mod hierarchy;
pub(crate) mod labels;
pub mod ranked;
pub(crate) mod saves;
pub(crate) mod scope;
