//! Bound of well-connected communities: more edges than this must be cut to divide a community.
//!
//! The bound grows with the number of nodes, as in Park, Tabatabaee, Ramavarapu et al., "Well-connectedness and
//! community detection", 2024 (the Connectivity Modifier), where it is the decimal logarithm. It is computed the same
//! way on every machine: powers exactly, other logarithms by `libm`.

use std::fmt;
use std::str::FromStr;

/// Bound that the minimum edge cut of a community of `n` nodes must exceed: a factor times a function of `n`.
///
/// ```
/// use outcore_cluster::WellConnected;
///
/// let usual: WellConnected = "log10".parse().unwrap();
/// assert_eq!((usual.bound(99), usual.bound(1000)), (1, 3));
/// assert_eq!("0.01n".parse::<WellConnected>().unwrap().bound(250), 2);
/// assert_eq!("2".parse::<WellConnected>().unwrap().bound(1_000_000), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct WellConnected {
    factor: f64,
    growth: Growth,
}

/// Function of the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    Log10,
    Log2,
    Root,
    Nodes,
    Constant,
}

/// Functions by their names; the constant has none, and must be last.
const GROWTHS: [(&str, Growth); 5] = [
    ("log10", Growth::Log10),
    ("log2", Growth::Log2),
    ("sqrt", Growth::Root),
    ("n", Growth::Nodes),
    ("", Growth::Constant),
];

impl Default for WellConnected {
    fn default() -> Self {
        Self { factor: 1.0, growth: Growth::Log10 }
    }
}

impl WellConnected {
    /// Returns the bound for `nodes` nodes: to divide the community, more edges must be cut.
    pub fn bound(&self, nodes: u64) -> u64 {
        let count = nodes.max(1);
        let value = match self.growth {
            Growth::Log10 if 10u64.checked_pow(count.ilog10()) == Some(count) => {
                f64::from(count.ilog10())
            }
            Growth::Log10 => libm::log10(count as f64),
            Growth::Log2 if count.is_power_of_two() => f64::from(count.ilog2()),
            Growth::Log2 => libm::log2(count as f64),
            Growth::Root => (count as f64).sqrt(),
            Growth::Nodes => count as f64,
            Growth::Constant => 1.0,
        };
        // Saturates.
        (self.factor * value).floor() as u64
    }
}

impl FromStr for WellConnected {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (factor, growth) = GROWTHS
            .iter()
            .find_map(|&(name, growth)| Some((text.strip_suffix(name)?, growth)))
            .expect("the last name is empty");
        let known = "use log10, log2, sqrt or n with a factor, such as 0.5log10 or 0.01n, or a number of edges";
        let factor: f64 = match factor {
            "" if growth != Growth::Constant => 1.0,
            _ if factor.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
                factor.parse().map_err(|_| known.to_owned())?
            }
            _ => {
                let at = factor.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
                let rest: String = factor.chars().skip(at).collect();
                return Err(format!("`{rest}` at character {} is not known: {known}", at + 1));
            }
        };
        match growth {
            Growth::Nodes if factor >= 1.0 => {
                Err("no community of n nodes exceeds n: use a factor below 1, such as 0.01n".into())
            }
            Growth::Constant if factor.fract() != 0.0 => {
                Err("a number of edges is whole: use 1, 2 and so on, or a factor such as 0.5log10"
                    .into())
            }
            _ if factor.is_finite() => Ok(Self { factor, growth }),
            _ => Err(known.to_owned()),
        }
    }
}

impl fmt::Display for WellConnected {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = GROWTHS
            .iter()
            .find(|(_, growth)| *growth == self.growth)
            .expect("every function is listed");
        if self.factor == 1.0 && !name.is_empty() {
            return to.write_str(name);
        }
        write!(to, "{}{name}", self.factor)
    }
}

impl From<WellConnected> for String {
    fn from(bound: WellConnected) -> Self {
        bound.to_string()
    }
}

impl TryFrom<String> for WellConnected {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> WellConnected {
        text.parse().unwrap()
    }

    #[test]
    fn bounds_at_powers_are_exact() {
        for exponent in 0..19 {
            let power = 10u64.pow(exponent);
            assert_eq!(parsed("log10").bound(power), u64::from(exponent));
            assert_eq!(parsed("2log10").bound(power), 2 * u64::from(exponent));
            if (2..=12).contains(&exponent) {
                assert_eq!(parsed("log10").bound(power - 1), u64::from(exponent - 1), "{power}");
            }
            assert_eq!(parsed("log2").bound(1 << exponent), u64::from(exponent));
        }
        assert_eq!(parsed("sqrt").bound(100), 10);
        assert_eq!(parsed("0").bound(100), 0);
    }

    #[test]
    fn a_bound_is_written_as_it_is_read() {
        for text in ["log10", "0.5log10", "2log2", "sqrt", "0.01n", "0", "3"] {
            assert_eq!(parsed(text).to_string(), text);
            let json = serde_json::to_string(&parsed(text)).unwrap();
            assert_eq!(serde_json::from_str::<WellConnected>(&json).unwrap(), parsed(text));
        }
        assert_eq!(parsed("1log10"), WellConnected::default());
    }

    #[test]
    fn other_bounds_are_refused_with_the_place_and_what_to_type() {
        for (text, part) in [
            ("", "use log10"),
            ("log", "`log` at character 1"),
            ("0.5mcd", "`mcd` at character 4"),
            ("-1", "`-1` at character 1"),
            ("1.2.3", "use log10"),
            ("n", "below 1"),
            ("2n", "below 1"),
            ("1.5", "whole"),
            ("log10n", "`log10` at character 1"),
        ] {
            let error = text.parse::<WellConnected>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
