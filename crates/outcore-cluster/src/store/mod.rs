//! Storage of labels, groups and sweep state: in memory, or in windows of files.

pub mod by_node;
pub(crate) mod given;
pub(crate) mod hierarchy;
pub(crate) mod pages;
pub mod ranked;
pub(crate) mod saves;
pub(crate) mod scope;
