//! Number of scans that a clustering is expected to take, for the bar of progress and for `plan`.
//!
//! The numbers are those measured on graphs with communities (`evals/plan`, `evals/quality`): 7 to 13 sweeps of label
//! propagation, and for multilevel methods the scans of one cycle, or two for the constant Potts model. Some graphs take
//! more cycles, each of which costs a third more.

use crate::base::pace::sweeps_left;
use crate::methods::options::ClusterOptions;
use crate::methods::table::Procedure;

/// Sweeps of label propagation, from stars or from given labels.
const SWEEPS: u64 = 8;
/// Scans of the graph in each cycle except the first.
const CYCLE_SCANS: u64 = 4;
/// Scans for visit rates.
const RATE_SCANS: u64 = 40;
/// Scans of a level above the graph.
const LEVEL_SCANS: f64 = 6.0;
/// Arcs scanned on all levels above a level, as a multiple of its arcs.
const ARCS_ABOVE: f64 = 6.0;

impl ClusterOptions {
    /// Returns the number of scans over the edges by the method itself; see also [`flow_scans`](Self::flow_scans).
    pub fn scans(&self) -> u64 {
        let swept = |usual: u64| self.max_sweeps.map_or(usual, |most| usual.min(most.into()));
        match &self.method.spec().run {
            Procedure::Components => 2,
            Procedure::Propagation => swept(SWEEPS) + 2,
            // Initial groups, sweeps, refined groups, their sweep, contraction, polish, closing.
            Procedure::Levels(levels) => {
                let weighed = u64::from(levels.by_mean_weight() && self.min_weight > 0.0);
                swept(5) + 6 + CYCLE_SCANS * (self.likely_cycles() - 1) + weighed
            }
        }
    }

    /// Returns the number of scans of a directed graph, which the sweeps do not see. They find its visit rates and the
    /// code length, if the method has one, and write the graph of flow, which the sweeps see.
    pub fn flow_scans(&self, is_directed: bool) -> u64 {
        match self.method.levels().filter(|_| is_directed) {
            Some(levels) if levels.has_code_length() => RATE_SCANS + 4,
            Some(_) => 3,
            None => 0,
        }
    }

    /// Returns the number of arcs scanned in all, on a graph with `arcs` arcs; `None` if unknown.
    pub(crate) fn expected_arcs(&self, arcs: u64, is_directed: bool) -> Option<u64> {
        if !self.method.is_multilevel() {
            return Some(self.scans() * arcs);
        }
        // The graph of flow has both directions of each arc.
        let base = arcs as f64 * if is_directed { 2.0 } else { 1.0 };
        let before = self.flow_scans(is_directed) * arcs;
        let swept = self.expected_on_level(0, base, base, 0);
        swept.map(|(part, after)| before + (part + after) as u64)
    }

    /// Returns the number of arcs scanned on a level with `arcs` arcs until the next level is complete, and from then
    /// until the end, for a graph with `base` arcs after `cycles` cycles; `None` if unknown.
    pub(crate) fn expected_on_level(
        &self,
        level: u64,
        arcs: f64,
        base: f64,
        cycles: u32,
    ) -> Option<(f64, f64)> {
        let cycles_left = self.likely_cycles().checked_sub(cycles.into())? as f64;
        // The last cycle ends with a sweep over the graph, followed by the closing.
        let cycle = (CYCLE_SCANS as f64 + ARCS_ABOVE) * base;
        let scans = match (level, cycles) {
            (0, _) if cycles_left == 0.0 => return Some((base, base)),
            (0, 0) => (self.scans() - 2 - CYCLE_SCANS * (self.likely_cycles() - 1)) as f64,
            (0, _) => CYCLE_SCANS as f64,
            _ => LEVEL_SCANS,
        };
        let cycles_left = if level == 0 { cycles_left - 1.0 } else { cycles_left };
        Some((scans * arcs, ARCS_ABOVE * arcs + cycles_left * cycle + 2.0 * base))
    }

    /// Returns the remaining scans of label propagation after its first scan and `sweeps` sweeps, the last two of
    /// which moved `before` and `moved` nodes (`None` if unknown), and the scans after the sweeps.
    pub(crate) fn expected_sweeps(
        &self,
        sweeps: u32,
        before: u64,
        moved: u64,
        enough: f64,
    ) -> (Option<f64>, f64) {
        let planned = SWEEPS.checked_sub(sweeps.into()).filter(|&left| left > 0);
        let left = sweeps_left(before, moved, enough);
        // The first sweeps predict little about later ones.
        let left = planned.map_or(left, |planned| {
            let planned = planned as f64;
            Some(left.map_or(planned, |left| left.min(planned)))
        });
        let most = f64::from(self.most_sweeps().saturating_sub(sweeps));
        (left.map(|left| left.min(most)), 1.0)
    }

    /// Returns the likely number of cycles up the levels and back.
    fn likely_cycles(&self) -> u64 {
        let usual = self.method.levels().map_or(1, |levels| levels.likely_cycles);
        usual.min(self.cycles.into())
    }
}
