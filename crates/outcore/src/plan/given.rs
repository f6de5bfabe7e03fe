//! Input sizes given by the user instead of an input to sample.

use super::size::{BestOrder, InputSize};
use crate::error::opt::{EDGES, NODES};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::NODES_MAX;
use crate::input::EdgeOrder;
use crate::units::format_count;

/// Maximum number of edges: more are unrealistic, and byte counts might overflow.
const EDGES_MAX: u64 = 1 << 44;
/// Mean bits that a weight of three digits takes in the graph.
const WEIGHT_BITS: f64 = 10.0;
/// Mean length of such a weight as text, with its separator.
const WEIGHT_TEXT_BYTES: f64 = 6.0;
/// Bytes read to sample a large input and to detect its format.
const SAMPLE_BYTES: u64 = (4 << 20) + (256 << 10);

/// Input size given by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GivenSize {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of edges.
    pub edge_count: u64,
    /// Mean length of a name in bytes; by default, that of integers from 0.
    pub name_bytes: Option<f64>,
    /// Whether edges have weights.
    pub is_weighted: bool,
    /// Whether edges are directed.
    pub is_directed: bool,
    /// Whether self scores of nodes are held in memory until the graph is written.
    pub has_self_scores: bool,
}

impl GivenSize {
    /// Returns the size of the corresponding input: a text file with each edge once.
    ///
    /// # Errors
    /// `Usage` for impossible sizes; `TooManyNodes` for more nodes than can be numbered.
    pub fn input(&self) -> Result<InputSize> {
        self.check()?;
        let Self { node_count, edge_count, is_weighted, is_directed, has_self_scores, .. } = *self;
        let name_bytes = self.name_bytes.unwrap_or_else(|| mean_digits(node_count));
        let weight = if is_weighted { WEIGHT_TEXT_BYTES } else { 0.0 };
        let text_bytes = (edge_count as f64 * (2.0 * (name_bytes + 1.0) + weight)) as u64;
        Ok(InputSize {
            text_bytes,
            file_bytes: text_bytes,
            sample_bytes: (2 * text_bytes).min(SAMPLE_BYTES),
            edge_count,
            distinct_edge_count: edge_count,
            distinct_edge_count_at_least: edge_count,
            node_count,
            node_count_at_least: node_count,
            name_bytes,
            hub_edge_count: 0,
            is_directed,
            has_kinds: false,
            is_weighted,
            weight_bits: if is_weighted { WEIGHT_BITS } else { 0.0 },
            sums_fractions: false,
            has_self_scores,
            order: EdgeOrder::RANDOM,
            best: BestOrder { order: EdgeOrder::GROUPED, distinct_edge_count: edge_count },
            append: None,
        })
    }

    fn check(&self) -> Result<()> {
        let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
        let Self { node_count, edge_count, .. } = *self;
        let (nodes, edges) = (format_count(node_count), format_count(edge_count));
        if node_count == 0 || edge_count == 0 {
            return usage("a graph has at least one node and one edge".into());
        }
        if edge_count > EDGES_MAX {
            let most = format_count(EDGES_MAX);
            return usage(format!("{edges} edges are too many to plan: the maximum is {most}"));
        }
        if node_count > 2 * edge_count {
            let message =
                format!("{edges} edges cannot have {nodes} nodes: an edge has at most two");
            return Err(Error::new(ErrorKind::Usage, message)
                .hint(format_args!("use smaller {NODES}, or larger {EDGES}")));
        }
        if !self.name_bytes.is_none_or(|bytes| (1.0..=65_535.0).contains(&bytes)) {
            return usage("a name has 1 to 65,535 bytes".into());
        }
        if node_count > NODES_MAX {
            let most = format_count(NODES_MAX);
            return Err(Error::new(ErrorKind::TooManyNodes, format!("{nodes} nodes are too many"))
                .note(format!("a graph has at most {most} nodes: their indexes are 32-bit numbers"))
                .hint("cluster a part of the graph"));
        }
        Ok(())
    }
}

/// Returns the mean number of digits of the numbers below `count`.
fn mean_digits(count: u64) -> f64 {
    let (mut sum, mut from, mut digits) = (0.0, 0, 1.0);
    let mut to: u64 = 10;
    while from < count {
        let end = to.min(count);
        sum += digits * (end - from) as f64;
        (from, to, digits) = (end, to.saturating_mul(10), digits + 1.0);
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(node_count: u64, edge_count: u64) -> GivenSize {
        GivenSize {
            node_count,
            edge_count,
            name_bytes: None,
            is_weighted: false,
            is_directed: false,
            has_self_scores: false,
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let refused = |nodes, edges| size(nodes, edges).input().unwrap_err();
        for (nodes, edges) in [(0, 1), (1, 0), (3, 1), (5, EDGES_MAX + 1), (u64::MAX, u64::MAX)] {
            assert_eq!(refused(nodes, edges).kind(), ErrorKind::Usage, "{nodes} {edges}");
        }
        let many = refused(5_000_000_000, 20_000_000_000);
        assert_eq!(many.kind(), ErrorKind::TooManyNodes);
        assert!(many.notes()[0].contains("4,290,000,000"));
        for bytes in [0.0, -1.0, f64::NAN, 1e9] {
            let named = GivenSize { name_bytes: Some(bytes), ..size(2, 1) };
            assert_eq!(named.input().unwrap_err().kind(), ErrorKind::Usage, "{bytes}");
        }
        assert!(size(2, 1).input().is_ok() && size(NODES_MAX, EDGES_MAX).input().is_ok());
    }

    #[test]
    fn names_are_as_long_as_numbers() {
        assert_eq!(mean_digits(10), 1.0);
        assert_eq!(mean_digits(100), 1.9);
        assert_eq!(mean_digits(1000), 2.89);
        assert!((mean_digits(NODES_MAX) - 9.74).abs() < 0.01);
    }
}
