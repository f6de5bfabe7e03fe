//! Flow of nodes and modules, and how a walk enters and leaves them.
//!
//! All flows are shares of one step. For a module with strength S (links out and in), cut C (links to and from others), drift
//! D (links out minus links in) and, if teleportation is recorded, teleported flow T out of the total:
//!
//! ```text
//!  landing L = D + T, since the walk is stationary        p     = (S - D) / 2 + L
//!  exit  = (C + D) / 2 + T (1 - L / total)                enter = (C - D) / 2 + (total - T) L / total
//! ```
//!
//! Without direction and teleportation, exit and enter are half of the cut, and p is half of the strength.

use crate::kernel::holdings::{Holdings, NodeFlow};
use std::ops::{AddAssign, SubAssign};

/// Number of times that a loop counts in the strength of its node.
pub(crate) const LOOP_ENDS: f64 = 2.0;

/// Flow of a node or a module; those of a module are sums over its nodes, apart from its cut.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Flow {
    /// Rate of its word in the codebook of a module: visits of a node, entries of a module.
    pub(crate) rate: f64,
    /// Links that leave it or enter it.
    pub(crate) cut: f64,
    /// Links that leave it minus those that enter it.
    pub(crate) drift: f64,
    /// Teleported flow that leaves its nodes, if recorded.
    pub(crate) teleport: f64,
}

impl AddAssign for Flow {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.rate += other.rate;
        self.cut += other.cut;
        self.drift += other.drift;
        self.teleport += other.teleport;
    }
}

impl SubAssign for Flow {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.rate -= other.rate;
        self.cut -= other.cut;
        self.drift -= other.drift;
        self.teleport -= other.teleport;
    }
}

/// Random walk on a network.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Walk {
    /// Recorded teleportation in all.
    pub(crate) teleport: f64,
}

impl Walk {
    /// Returns the walk on a network whose nodes hold this.
    pub(crate) fn of(holdings: &Holdings) -> Self {
        Self { teleport: holdings.teleports.iter().sum() }
    }

    /// Returns the walk in another unit of flow.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { teleport: self.teleport * factor }
    }

    /// Returns the flow of a node with links and loops of these weights, each counted at both ends.
    #[inline]
    pub(crate) fn flow_of(&self, cut: f64, loops: f64, held: NodeFlow) -> Flow {
        let NodeFlow { drift, teleport } = held;
        let landing = if self.teleport > 0.0 { drift + teleport } else { 0.0 };
        let rate = ((cut + loops - drift) / 2.0 + landing).max(0.0);
        Flow { rate, cut, drift, teleport }
    }

    /// Returns the rates of entering and leaving a module. Rounding may make a sum slightly negative.
    #[inline]
    pub(crate) fn boundary(&self, module: &Flow) -> (f64, f64) {
        let &Flow { cut, drift, teleport, .. } = module;
        let (mut enter, mut exit) = ((cut - drift) / 2.0, (cut + drift) / 2.0);
        if self.teleport > 0.0 {
            let landing = (drift + teleport) / self.teleport;
            exit += teleport * (1.0 - landing);
            enter += (self.teleport - teleport) * landing;
        }
        (enter.max(0.0), exit.max(0.0))
    }
}
