//! Views of a graph for a clustering method, without another file: light arcs omitted, weights multiplied by a power
//! of two, loops that count once.
//!
//! A [`View`] changes arcs as they are decoded, so every reader of the graph sees the same ones. Blocks, degrees and
//! counts remain those of the file and are upper bounds for the view. Per arc, the minimum weight costs a comparison.
//!
//! Seeding, sweeps and the closing scan see one graph, so their loops have no special cases. The result is that of a
//! graph built without the omitted arcs as long as no block is full of arcs. The constant Potts model scans once for
//! the mean weight.

use crate::weight::Weight;

/// How often the loop of a node adds its weight to the strength of the node, in an undirected graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoopWeight {
    /// Twice, like an edge with both ends at the node: the convention of modularity, and of the weight inside a
    /// contracted community.
    #[default]
    Twice,
    /// Once, like a step that stays: the convention of random walks, in which a loop is one of the ways to go on.
    Once,
}

/// Transformation of a graph; by default none.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    min_code: u32,
    /// Exponent of the power of two that weights are multiplied by.
    shift: i32,
    loops: LoopWeight,
}

impl View {
    /// Omits arcs and loops that are lighter than `weight`.
    #[must_use]
    pub fn with_least_weight(mut self, weight: f64) -> Self {
        self.min_code = if weight > 0.0 { Weight::new(weight).code() } else { 0 };
        self
    }

    /// Multiplies the remaining weights by 2^`shift`, which changes nothing but their exponents.
    #[must_use]
    pub fn shifted(mut self, shift: i32) -> Self {
        self.shift = shift;
        self
    }

    /// Sets how often loops count. [`Block::self_loop`](super::Block::self_loop), which callers count twice, is half of
    /// the weight of a loop that counts once.
    #[must_use]
    pub fn with_loops(mut self, loops: LoopWeight) -> Self {
        self.loops = loops;
        self
    }

    /// Maximum exponent of the sum of all weights if products of sums are computed. Up to it, the product of two sums,
    /// one of them a small share of all weights, and the reciprocal of that product are in the range of `f64`.
    pub const PRODUCT_EXPONENT_MAX: i32 = 300;
    /// Maximum exponent of the sum of all weights for which every other sum, and every weight, is in the range of
    /// `f64`.
    pub const SUM_EXPONENT_MAX: i32 = 900;

    /// Returns whether the view changes nothing.
    pub fn is_plain(&self) -> bool {
        !self.changes_arcs() && self.loops == LoopWeight::Twice
    }

    /// Returns whether the view changes arcs, not only loops.
    pub(crate) fn changes_arcs(&self) -> bool {
        self.min_code != 0 || self.shift != 0
    }

    /// Returns half of what a loop adds to the strength of its node.
    pub(crate) fn loop_of(&self, code: u32) -> f64 {
        let weight = self.weight_of(code);
        match self.loops {
            LoopWeight::Twice => weight,
            LoopWeight::Once => weight / 2.0,
        }
    }

    /// Returns the weight of a loop or an arc; 0 if it is omitted.
    pub fn weight_of(&self, code: u32) -> f64 {
        let code = match code {
            code if code < self.min_code => return 0.0,
            code => self.shift(code),
        };
        Weight::from_code(code).value()
    }

    /// Returns a sum of weights in the unit of the view.
    pub fn sum_of(&self, sum: f64) -> f64 {
        libm::scalbn(sum, self.shift)
    }

    /// Returns the code of a weight in the unit of the view: the nearest weight if it is out of range.
    fn shift(&self, code: u32) -> u32 {
        if self.shift == 0 {
            return code;
        }
        let value = libm::scalbn(Weight::from_code(code).value(), self.shift);
        Weight::new(value.clamp(f64::from_bits(1), f64::MAX)).code()
    }

    /// Transforms the first `count` arcs of a node, which are weighted or all have weight 1; returns the
    /// number of remaining targets and weights.
    pub(crate) fn apply(
        &self,
        mut count: usize,
        mut is_weighted: bool,
        targets: &mut [u32],
        codes: &mut [u32],
    ) -> (usize, usize) {
        if !is_weighted {
            if Weight::ONE.code() < self.min_code {
                return (0, 0);
            }
            if self.shift != 0 {
                codes[..count].fill(Weight::ONE.code());
                is_weighted = true;
            }
        } else if self.min_code > 0 {
            count = keep_heavy(self.min_code, &mut targets[..count], &mut codes[..count]);
        }
        if is_weighted && self.shift != 0 {
            codes[..count].iter_mut().for_each(|code| *code = self.shift(*code));
        }
        (count, if is_weighted { count } else { 0 })
    }
}

/// Moves arcs that are heavy enough to the front; returns their number.
fn keep_heavy(least: u32, targets: &mut [u32], codes: &mut [u32]) -> usize {
    let mut kept = 0;
    for at in 0..targets.len() {
        (targets[kept], codes[kept]) = (targets[at], codes[at]);
        kept += usize::from(codes[at] >= least);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(view: &View, targets: &[u32], weights: &[f64]) -> Vec<(u32, f64)> {
        let mut targets = targets.to_vec();
        let mut codes: Vec<u32> = weights.iter().map(|&w| Weight::new(w).code()).collect();
        let (is_weighted, count) = (!codes.is_empty(), targets.len());
        codes.resize(count, 0);
        let (count, weighted) = view.apply(count, is_weighted, &mut targets, &mut codes);
        assert!(weighted == count || weighted == 0);
        let weight =
            |at: usize| if weighted == 0 { 1.0 } else { Weight::from_code(codes[at]).value() };
        (0..count).map(|at| (targets[at], weight(at))).collect()
    }

    #[test]
    fn a_view_transforms_arcs() {
        let (targets, weights) = ([1, 2, 3, 4], [0.5, 2.0, 0.25, 3.0]);
        let heavy = View::default().with_least_weight(0.5);
        assert_eq!(seen(&heavy, &targets, &weights), [(1, 0.5), (2, 2.0), (4, 3.0)]);
        assert_eq!(seen(&View::default().with_least_weight(1.5), &targets, &[]), []);
        assert_eq!(seen(&View::default().with_least_weight(1.0), &[9], &[]), [(9, 1.0)]);
    }

    #[test]
    fn a_view_transforms_loops() {
        let view = View::default().with_least_weight(0.5);
        assert_eq!(view.weight_of(Weight::new(0.25).code()), 0.0);
        assert_eq!(view.weight_of(Weight::new(3.0).code()), 3.0);
        assert!(View::default().with_least_weight(0.0).shifted(0).is_plain());
    }

    #[test]
    fn a_view_of_loops_leaves_arcs_alone() {
        let once = View::default().with_loops(LoopWeight::Once);
        assert!(!once.is_plain() && !once.changes_arcs());
        let code = Weight::new(3.0).code();
        assert_eq!((once.loop_of(code), once.weight_of(code)), (1.5, 3.0));
        let heavy = once.with_least_weight(4.0);
        assert_eq!((heavy.loop_of(code), heavy.changes_arcs()), (0.0, true));
    }

    #[test]
    fn a_shift_changes_exponents_alone() {
        let (targets, weights) = ([1, 2, 3], [1.5e-280, 1.0, 7.25e280]);
        for (shift, factor) in [(-40, 2f64.powi(-40)), (20, 2f64.powi(20))] {
            let view = View::default().shifted(shift);
            let found = seen(&view, &targets, &weights);
            let value = |at: usize| Weight::new(weights[at]).value() * factor;
            assert_eq!(found, [(1, value(0)), (2, value(1)), (3, value(2))]);
            assert_eq!(seen(&view, &targets, &[]), [(1, factor), (2, factor), (3, factor)]);
            assert_eq!(view.weight_of(Weight::new(weights[2]).code()), value(2));
            assert_eq!(view.sum_of(3.0), 3.0 * factor);
        }
        let far = seen(&View::default().shifted(-1000), &targets, &weights);
        assert!(far.iter().all(|&(_, weight)| weight > 0.0), "{far:?}");
        // The minimum weight is in the unit of the file.
        let view = View::default().with_least_weight(1.0).shifted(3);
        assert_eq!(seen(&view, &[1, 2, 3], &[0.5, 1.0, 2.0]), [(2, 8.0), (3, 16.0)]);
    }
}
