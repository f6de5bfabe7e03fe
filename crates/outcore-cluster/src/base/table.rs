//! Sums of weights by label: an open-addressing table with a list of touched slots.
//!
//! One table per thread serves all nodes. It is resized for each node to twice as many slots as the
//! node has arcs, so the slots of ordinary nodes stay in the first-level cache; thanks to the touched
//! list, clearing costs one store per label. Unweighted graphs count in integers (8 bytes per slot),
//! weighted graphs add in `f64` (16 bytes), in the order of the arcs.

use outcore_graph::weight::Weight;

/// Marker of an empty slot; never a label, since a graph has fewer nodes.
const EMPTY: u32 = u32::MAX;
const FEWEST_SLOTS: usize = 64;

/// Sum of weights.
pub trait Sum: Copy + Send + Sync + Default + std::ops::AddAssign {
    /// Calls `visit` with each target of a segment and its weight; without codes every weight is 1.
    fn for_each(targets: &[u32], codes: &[u32], visit: impl FnMut(u32, Self));
    /// Returns the sum as a number.
    fn value(self) -> f64;
    /// Returns the sum if the condition holds and zero otherwise, without a branch.
    fn only_if(self, condition: bool) -> Self;
}

/// Number of arcs, for graphs whose weights are all 1.
impl Sum for u32 {
    #[inline]
    fn for_each(targets: &[u32], _codes: &[u32], mut visit: impl FnMut(u32, Self)) {
        for &target in targets {
            visit(target, 1);
        }
    }
    #[inline]
    fn value(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn only_if(self, condition: bool) -> Self {
        self * u32::from(condition)
    }
}

impl Sum for f64 {
    #[inline]
    fn for_each(targets: &[u32], codes: &[u32], mut visit: impl FnMut(u32, Self)) {
        if codes.is_empty() {
            for &target in targets {
                visit(target, 1.0);
            }
        } else {
            for (&target, &code) in targets.iter().zip(codes) {
                visit(target, Weight::from_code(code).value());
            }
        }
    }
    #[inline]
    fn value(self) -> f64 {
        self
    }
    #[inline]
    fn only_if(self, condition: bool) -> Self {
        f64::from_bits(self.to_bits() & 0u64.wrapping_sub(u64::from(condition)))
    }
}

#[derive(Clone, Copy)]
struct TableSlot<S> {
    label: u32,
    sum: S,
}

/// Sums by label, for a bounded number of labels.
pub struct LabelTable<S> {
    slots: Vec<TableSlot<S>>,
    /// Slots of the labels, in the order of their first arcs; one entry longer than the maximum number of labels.
    touched: Vec<u32>,
    used: usize,
    mask: usize,
    shift: u32,
}

impl<S: Sum> LabelTable<S> {
    /// Creates a table for at most `max_labels` labels.
    pub fn new(max_labels: usize) -> Self {
        let slots = slot_count(max_labels);
        Self {
            slots: vec![TableSlot { label: EMPTY, sum: S::default() }; slots],
            touched: vec![0; max_labels + 1],
            used: 0,
            mask: 0,
            shift: 0,
        }
    }

    /// Returns the bytes of a table for `max_labels` labels.
    pub const fn bytes(max_labels: u64) -> u64 {
        slot_count(max_labels as usize) as u64 * size_of::<TableSlot<S>>() as u64
            + 4 * max_labels
            + 4
    }

    /// Returns the maximum number of labels.
    pub fn max_labels(&self) -> usize {
        self.touched.len() - 1
    }

    /// Clears the table and makes room for `labels` different labels.
    #[inline]
    pub fn reset(&mut self, labels: usize) {
        for &slot in &self.touched[..self.used] {
            self.slots[slot as usize] = TableSlot { label: EMPTY, sum: S::default() };
        }
        self.used = 0;
        let slots = slot_count(labels.min(self.max_labels()));
        self.mask = slots - 1;
        self.shift = 64 - slots.trailing_zeros();
    }

    /// Adds to the sum of a label; [`reset`](Self::reset) must have made room for it.
    #[inline]
    pub fn add(&mut self, label: u32, weight: S) {
        let slots = &mut self.slots[..=self.mask];
        let mut at = first_slot(label, self.shift) & self.mask;
        while slots[at].label != label && slots[at].label != EMPTY {
            at = (at + 1) & self.mask;
        }
        let slot = &mut slots[at];
        // Branchless: whether a label is new is hard to predict.
        self.touched[self.used] = at as u32;
        self.used += usize::from(slot.label == EMPTY);
        slot.label = label;
        slot.sum += weight;
    }

    /// Adds to the sum of a label and returns true, unless the label is new and the table full.
    #[inline]
    pub fn add_if_room(&mut self, label: u32, weight: S) -> bool {
        let fits = self.used < self.max_labels() || self.get(label).value() > 0.0;
        if fits {
            self.add(label, weight);
        }
        fits
    }

    /// Returns the sum of a label.
    #[inline]
    pub fn get(&self, label: u32) -> S {
        let mut at = first_slot(label, self.shift) & self.mask;
        loop {
            let slot = self.slots[at];
            if slot.label == label || slot.label == EMPTY {
                return slot.sum;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Returns the labels with their sums.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, S)> {
        self.touched[..self.used].iter().map(|&at| {
            let slot = self.slots[at as usize];
            (slot.label, slot.sum)
        })
    }
}

const fn slot_count(labels: usize) -> usize {
    let slots = (2 * labels).next_power_of_two();
    if slots < FEWEST_SLOTS { FEWEST_SLOTS } else { slots }
}

#[inline]
fn first_slot(label: u32, shift: u32) -> usize {
    (u64::from(label).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn sums_match_a_map_after_any_reset() {
        let mut table = LabelTable::<f64>::new(1000);
        for round in 1..200u32 {
            table.reset(round as usize * 5);
            let mut expected = HashMap::new();
            for i in 0..round * 7 {
                let label = i * i % (round * 5);
                let weight = f64::from(i) / 3.0;
                table.add(label, weight);
                *expected.entry(label).or_insert(0.0) += weight;
            }
            assert_eq!(table.iter().count(), expected.len());
            assert_eq!(table.iter().collect::<HashMap<_, _>>(), expected);
            for label in 0..round * 6 {
                assert_eq!(table.get(label), expected.get(&label).copied().unwrap_or(0.0));
            }
        }
    }
}
