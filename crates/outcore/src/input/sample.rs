//! placeholder
#![allow(missing_docs, clippy::all)]
use super::*;
/// placeholder
#[derive(Debug)]
pub struct InputSample {
    pub text_bytes: u64,
    pub file_bytes: u64,
    pub edge_count: u64,
    pub node_count: u64,
    pub node_count_at_least: u64,
    pub name_bytes: f64,
    pub is_weighted: bool,
}
/// placeholder
pub fn sample(_files: &Files, _options: &InputOptions) -> Result<InputSample> {
    Ok(InputSample {
        text_bytes: 0,
        file_bytes: 0,
        edge_count: 50_000_000,
        node_count: 5_000_000,
        node_count_at_least: 0,
        name_bytes: 13.0,
        is_weighted: true,
    })
}
