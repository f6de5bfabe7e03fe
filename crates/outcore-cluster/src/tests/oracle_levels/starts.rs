//! Specification of several starts and of their combinations.

use super::{Hash, LEVEL, OracleLevel, OracleLevels, OracleSize, contract, mix, renumber};
use crate::base::hash::LOOSEN;
use crate::{Method, Seeding};

/// Where a search starts: `Density` at the optimum of a multiple of the resolution, `Rising` as in `starts`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    Seeding(Seeding),
    Density(f64),
    Undivided,
    Rising,
}

impl Start {
    fn at(factor: f64) -> Self {
        if factor == 0.0 { Self::Undivided } else { Self::Density(factor) }
    }
}

/// Objective and labels.
type Found = (f64, Vec<u32>);

impl OracleLevels {
    /// Divides the additional starts among the graph and a level.
    pub(super) fn share_starts(&mut self, level: &OracleLevel) {
        let rising = (self.method == Method::Cpm).then_some(Start::Rising);
        let densities = [2.0, 0.0, 4.0, 0.5, 8.0, 1.0].map(Start::at);
        let list = |count: u32, with_densities: bool| {
            let mut starts = Vec::new();
            let mut others = rising.into_iter().chain(densities).filter(|_| with_densities);
            for turn in 0..count {
                let seeding = if turn % 2 == 0 { Seeding::Own } else { self.seeding };
                starts.push(Start::Seeding(seeding));
                starts.extend(others.by_ref().take(2));
            }
            starts.truncate(count as usize);
            starts
        };
        let (others, is_free) = (self.trials - 1, self.max_size.is_none());
        let on_graph = |count: u32| {
            let optima = match self.method {
                Method::MapEquation => vec![3.0, 2.0, 4.0],
                _ => vec![1.25, 1.6, 2.0],
            };
            let optima = rising.into_iter().chain(optima.into_iter().map(Start::at));
            let mut starts: Vec<_> = optima.filter(|_| is_free).collect();
            for turn in 0..count {
                let seeding = if turn % 2 == 0 { self.seeding } else { Seeding::Own };
                starts.push(Start::Seeding(seeding));
            }
            starts.truncate(count as usize);
            starts
        };
        self.starts = match self.size {
            OracleSize::Small => [list(others, is_free), Vec::new()],
            OracleSize::Medium if self.method == Method::Cpm => [on_graph(others), Vec::new()],
            OracleSize::Medium => {
                [on_graph(others.saturating_sub(3)), list(others.min(3), is_free)]
            }
            OracleSize::Large => [Vec::new(), list(others, is_free)],
        };
        let arcs = level.arcs.iter().map(Vec::len).sum::<usize>();
        let share = if self.size == OracleSize::Large { 64 } else { 4 };
        self.small_level = (arcs / share, level.arcs.len() / 4);
        self.node_count = level.arcs.len();
    }

    /// Returns the best labels from all starts of the graph (0) or of a level (1), and their combinations.
    pub(super) fn best_start(
        &mut self,
        level: &OracleLevel,
        number: u64,
        seed: u64,
        labels: Vec<u32>,
        place: usize,
    ) -> Vec<u32> {
        let starts = std::mem::take(&mut self.starts[place]);
        let on_level = std::mem::take(&mut self.starts[1]);
        let small_level = self.small_level;
        let own = self.search(seed, |other, seed| {
            (other.starts[1], other.small_level) = (on_level, small_level);
            other.cycles(level, number, seed, labels)
        });
        let mut all = vec![(self.quality(level, &own), own)];
        for start in starts {
            let found = self.search(seed, |other, seed| other.start(level, number, seed, start));
            all.push((self.quality(level, &found), found));
        }
        let most = all[best_of(&all)].0;
        let scale = match self.method {
            Method::MapEquation => ((self.node_count.max(2) as f64).log2() - most).max(0.0),
            _ => most.abs(),
        };
        let near = f64::max(0.02, 1.0 / (self.node_count.max(1) as f64).sqrt()) * scale;
        all.retain(|start| most - start.0 <= near);
        let at = (level, number, seed);
        let best = self.combined(at, all.clone());
        let best = match number {
            0 => self.perturbed(level, seed, best),
            _ => self.met_by_all(at, best, all),
        };
        self.fill_free(&best.1);
        best.1
    }

    /// Returns the best labels after up to two rounds, in which a quarter of the nodes, or an eighth of the
    /// communities, become single nodes that move first; a small graph has three rounds, and two of each.
    fn perturbed(&mut self, level: &OracleLevel, seed: u64, mut best: Found) -> Found {
        let (rounds, searches) = if self.size == OracleSize::Small { (3, 4) } else { (2, 2) };
        for _ in 0..rounds {
            let mut better = Vec::new();
            for turn in 0..searches {
                let mut labels = best.1.clone();
                let found = self.search(seed, |other, seed| {
                    let mut next = renumber(&mut labels) as u32;
                    let mut active = vec![false; labels.len()];
                    for node in 0..labels.len() {
                        let whole = u64::from(labels[node]);
                        let (drawn, share) =
                            if turn % 2 == 0 { (node as u64, 4) } else { (whole, 8) };
                        if Hash::new(seed ^ LOOSEN).of(drawn, 0).is_multiple_of(share) {
                            (labels[node], active[node]) = (next, true);
                            next += 1;
                        }
                    }
                    renumber(&mut labels);
                    other.cycles_of(level, 0, seed, labels, active)
                });
                let quality = self.quality(level, &found);
                if quality > best.0 + 1e-9 {
                    better.push((quality, found));
                }
            }
            if better.is_empty() {
                break;
            }
            best = better.swap_remove(best_of(&better));
        }
        best
    }

    /// Returns the best of these starts after a knockout of their combinations.
    fn combined(&mut self, at: (&OracleLevel, u64, u64), starts: Vec<Found>) -> Found {
        let mut round = ordered(starts);
        while round.len() > 1 {
            let mut winners = Vec::new();
            for pair in round.chunks(2) {
                winners.push(match pair {
                    [better, other] => self.better_of(at, better, other),
                    _ => pair[0].clone(),
                });
            }
            round = ordered(winners);
        }
        round.remove(0)
    }

    /// Combines the best with each of the starts, if there are more than two; returns the best result.
    fn met_by_all(
        &mut self,
        at: (&OracleLevel, u64, u64),
        best: Found,
        starts: Vec<Found>,
    ) -> Found {
        if starts.len() <= 2 {
            return best;
        }
        let starts = ordered(starts);
        let mut met: Vec<_> = starts.iter().map(|start| self.better_of(at, &best, start)).collect();
        met.swap_remove(best_of(&met))
    }

    /// Returns the better of two, or their combination if that is better still.
    fn better_of(&mut self, at: (&OracleLevel, u64, u64), better: &Found, other: &Found) -> Found {
        let (level, number, seed) = at;
        let found = self.search(seed, |this, seed| {
            this.combination((level, number, seed), &better.1, &other.1).unwrap_or_default()
        });
        if found.is_empty() {
            return better.clone();
        }
        let quality = self.quality(level, &found);
        if quality > better.0 + 1e-9 { (quality, found) } else { better.clone() }
    }

    /// Returns the labels found from the groups common to two starts, if these are few but not whole communities.
    fn combination(
        &mut self,
        (level, number, seed): (&OracleLevel, u64, u64),
        better: &[u32],
        other: &[u32],
    ) -> Option<Vec<u32>> {
        let in_both: Vec<_> = better.iter().copied().zip(other.iter().copied()).collect();
        let mut pairs = in_both.clone();
        pairs.sort_unstable();
        pairs.dedup();
        let mut above: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        let class_count = renumber(&mut above);
        let most = (0.25 * in_both.len() as f64).max(2.0 * class_count as f64);
        if pairs.len() == class_count || pairs.len() as f64 > most {
            return None;
        }
        let groups: Vec<u32> =
            in_both.iter().map(|pair| pairs.binary_search(pair).unwrap() as u32).collect();
        let next = contract(level, &groups, pairs.len());
        let (at, above_seed) = (number + 1, mix(self.seed ^ LEVEL ^ (number + 1)));
        let start = above.clone();
        let own = self.search(above_seed, |other, seed| other.cycles(&next, at, seed, start));
        let single = Start::Seeding(Seeding::Own);
        let single = self.search(above_seed, |other, seed| other.start(&next, at, seed, single));
        let mut both = [own, single].map(|labels| (self.quality(&next, &labels), labels));
        above = std::mem::take(&mut both[best_of(&both)].1);
        self.fill_free(&above);
        self.rise(&next, at, above_seed, &mut above, class_count);
        let mut labels: Vec<u32> = groups.iter().map(|&group| above[group as usize]).collect();
        let mut active = vec![true; labels.len()];
        self.fill_free(&labels);
        let _ = (0..50).any(|_| self.sweep(level, seed, &mut labels, None, &mut active) == 0);
        Some(labels)
    }

    /// Returns the labels from this start.
    fn start(&mut self, level: &OracleLevel, number: u64, seed: u64, start: Start) -> Vec<u32> {
        let mut labels = vec![0; level.arcs.len()];
        match start {
            Start::Seeding(seeding) => {
                self.seeding = seeding;
                return self.begin(level, number, seed);
            }
            Start::Undivided => {}
            Start::Density(factor) => {
                labels = self.at_density(factor, |other| {
                    other.seeding = Seeding::Star;
                    other.begin(level, number, seed)
                });
            }
            Start::Rising => {
                for factor in [1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0] {
                    labels = self.at_density(factor, |other| {
                        other.seeding = Seeding::Own;
                        other.cycles(level, number, seed, labels)
                    });
                }
            }
        }
        self.cycles(level, number, seed, labels)
    }

    /// Runs another search by modularity or the constant Potts model at a multiple of the resolution.
    fn at_density(&mut self, factor: f64, run: impl FnOnce(&mut Self) -> Vec<u32>) -> Vec<u32> {
        let mut other = self.other();
        other.sweeps = self.sweeps;
        if other.method == Method::MapEquation {
            other.method = Method::Modularity;
        }
        other.resolution *= factor;
        let labels = run(&mut other);
        self.closest.set(self.closest.get().min(other.closest.get()));
        self.sweeps = other.sweeps;
        labels
    }

    /// Runs another search, which counts its own sweeps, by the next seed.
    fn search(&mut self, seed: u64, run: impl FnOnce(&mut Self, u64) -> Vec<u32>) -> Vec<u32> {
        let seed = if self.searches == 0 { seed } else { mix(seed ^ self.searches) };
        self.searches += 1;
        let mut other = self.other();
        let labels = run(&mut other, seed);
        self.sweeps += other.sweeps;
        self.closest.set(self.closest.get().min(other.closest.get()));
        labels
    }

    /// Returns another search, of one cycle unless the graph is small.
    fn other(&self) -> Self {
        let cycles = if self.size == OracleSize::Small { self.cycles } else { 1 };
        let mut other = Self::new((self.method, self.resolution), cycles, self.seed);
        (other.max_size, other.seeding) = (self.max_size, self.seeding);
        (other.size, other.node_count, other.mean) = (self.size, self.node_count, self.mean);
        other
    }
}
/// Returns the first of the best; smaller differences are rounding.
fn best_of(all: &[Found]) -> usize {
    let better = |best: usize, place: usize| {
        if all[place].0 > all[best].0 + 1e-9 { place } else { best }
    };
    (0..all.len()).fold(0, better)
}

fn ordered(mut all: Vec<Found>) -> Vec<Found> {
    (0..all.len()).map(|_| all.remove(best_of(&all))).collect()
}
