//! Hashes that replace random numbers: leaders, ties and sub-rounds.
//!
//! A choice depends on the seed, the node and the sweep, never on threads or time. The mixing step is SplitMix64
//! (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) and takes about one nanosecond.

/// Salt for leaders in star seeding, and for the leader that a node prefers.
pub const LEAD: u64 = 0x4c45_4144_4552_5331;
/// Salt for the choice among equally good labels.
pub const TIE: u64 = 0x5449_4542_5245_414b;
/// Salt for the sub-round of a block in which a node is evaluated.
pub const SUB: u64 = 0x5355_4252_4f55_4e44;
/// Salt for the sweeps in which a node may move, where all blocks move in parallel.
pub const TURN: u64 = 0x5455_524e_5455_524e;
/// Salt for the order in which the blocks of a graph are swept.
pub const ORDER: u64 = 0x424c_4f43_4b4f_5244;
/// Salt for leaders when communities are refined.
pub const REFINE: u64 = 0x5245_4649_4e45_4c44;
/// Salt for the choice of nodes and communities that a perturbation loosens.
pub const LOOSEN: u64 = 0x4c4f_4f53_454e_4544;
/// Salt that separates the levels of a hierarchy.
pub const LEVEL: u64 = 0x4c45_5645_4c48_4153;

/// Mixes the bits of a number.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Hash of three numbers with the first one fixed: `hash(a)(b, c)`.
#[derive(Debug, Clone, Copy)]
pub struct Hash(u64);

impl Hash {
    /// Fixes the first number.
    #[inline]
    pub const fn new(a: u64) -> Self {
        Self(mix(a))
    }

    /// Returns the hash of all three.
    #[inline]
    pub const fn of(self, b: u64, c: u64) -> u64 {
        mix(mix(self.0 ^ b) ^ c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs of SplitMix64 from state 0.
    #[test]
    fn mixing_is_splitmix64() {
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn a_quarter_of_the_nodes_lead() {
        let leads = Hash::new(7 ^ LEAD);
        let leaders = (0..100_000).filter(|&v| leads.of(v, 0).is_multiple_of(4)).count();
        assert!((24_000..26_000).contains(&leaders), "{leaders}");
    }
}
