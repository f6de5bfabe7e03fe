//! Random walk as the list of its steps, and code lengths by their definition.

use super::Edges;
use outcore_graph::weight::Weight;

/// Steps of a walk from node to node, and their share of all steps.
pub(crate) struct Walk {
    pub(crate) steps: Vec<(usize, usize, f64)>,
    pub(crate) node_count: usize,
}

impl Walk {
    /// Returns the walk over edges: each in both directions, and a loop once.
    pub(crate) fn of(edges: &Edges) -> Self {
        let weight = |code| Weight::from_code(code).value();
        let total: f64 = edges.arcs().into_values().map(weight).sum();
        let steps = edges
            .arcs()
            .into_iter()
            .map(|((a, b), code)| (a as usize, b as usize, weight(code) / total));
        Self { steps: steps.collect(), node_count: edges.node_count as usize }
    }

    /// Returns the code length of nested levels by its definition: entropies of codebooks, where an only child is no
    /// module.
    pub(crate) fn length(&self, levels: &[Vec<u32>]) -> f64 {
        if self.steps.is_empty() {
            return 0.0;
        }
        let all: Vec<usize> = (0..self.node_count).collect();
        self.codebook(&all, None, levels)
    }

    fn codebook(&self, nodes: &[usize], outer: Option<f64>, levels: &[Vec<u32>]) -> f64 {
        let mut rates: Vec<f64> = outer.into_iter().collect();
        let Some((level, below)) = levels.split_first() else {
            rates.extend(nodes.iter().map(|&node| self.share(|_, b| b == node)));
            return entropy(&rates);
        };
        let mut modules: Vec<u32> = nodes.iter().map(|&node| level[node]).collect();
        modules.sort_unstable();
        modules.dedup();
        if modules.len() == 1 && outer.is_some() {
            return self.codebook(nodes, outer, below);
        }
        let mut sum = 0.0;
        for module in modules {
            let own: Vec<usize> =
                nodes.iter().copied().filter(|&node| level[node] == module).collect();
            let exit = self.share(|a, b| own.contains(&a) && !own.contains(&b));
            rates.push(self.share(|a, b| !own.contains(&a) && own.contains(&b)));
            sum += self.codebook(&own, Some(exit), below);
        }
        sum + entropy(&rates)
    }

    /// Returns the share of the steps for which this holds.
    fn share(&self, is_one: impl Fn(usize, usize) -> bool) -> f64 {
        self.steps.iter().filter(|step| is_one(step.0, step.1)).map(|step| step.2).sum()
    }
}

fn entropy(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    rates.iter().filter(|rate| **rate > 0.0).map(|rate| -rate * (rate / sum).log2()).sum()
}
