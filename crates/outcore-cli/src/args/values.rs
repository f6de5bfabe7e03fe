//! Parsers for values of options: numbers, counts, clusters of Spark.

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error, ValueEnum};
use outcore::plan::Cluster;
use outcore::units::parse_bytes;
use std::ffi::OsStr;

/// Returns a parser for the values of an enum of the engine. Help lists their names only, since the option's help
/// explains what they mean.
pub(crate) fn names<E: ValueEnum + Clone + Send + Sync + 'static>() -> Names<E> {
    Names(EnumValueParser::new())
}

#[derive(Clone)]
pub(crate) struct Names<E: ValueEnum + Clone + Send + Sync + 'static>(EnumValueParser<E>);

impl<E: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Names<E> {
    type Value = E;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<E, Error> {
        self.0.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.0.possible_values()?;
        Some(Box::new(values.map(|value| value.help(None::<&str>))))
    }
}

/// Parses a number; the engine checks whether it is a weight.
pub(crate) fn number(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "not a number")
}

/// Parses the number of workers, and the cores and memory of each.
pub(crate) fn spark_cluster(text: &str) -> Result<Cluster, String> {
    const WRONG: &str = "expected workers, cores of each and memory of each, such as 8,4,32GiB";
    let parts: Vec<&str> = text.split(',').collect();
    let [workers, cores, memory] = parts[..] else { return Err(WRONG.into()) };
    let number = |text: &str| text.trim().parse().ok().filter(|&number| number > 0);
    let memory = parse_bytes(memory).ok().filter(|&bytes| bytes > 0);
    match (number(workers), number(cores), memory) {
        (Some(workers), Some(cores), Some(memory_bytes)) => {
            Ok(Cluster { workers, cores, memory_bytes })
        }
        _ => Err(WRONG.into()),
    }
}

/// Parses a count, such as 2000000000, 2_000_000_000 or 2e9.
pub(crate) fn count(text: &str) -> Result<u64, &'static str> {
    const WRONG: &str = "expected a whole number, such as 2000000000 or 2e9";
    let digits = text.replace('_', "");
    let Some((factor, zeros)) = digits.split_once(['e', 'E']) else {
        return digits.parse().map_err(|_| WRONG);
    };
    let (whole, part) = factor.split_once('.').unwrap_or((factor, ""));
    let zeros: usize = zeros.parse().map_err(|_| WRONG)?;
    let padding = zeros.checked_sub(part.len()).filter(|zeros| *zeros < 20).ok_or(WRONG)?;
    if whole.is_empty() {
        return Err(WRONG);
    }
    format!("{whole}{part}{}", "0".repeat(padding)).parse().map_err(|_| WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_parsed_in_every_common_form() {
        for (text, number) in [
            ("0", 0),
            ("128_000_000_000", 128_000_000_000),
            ("2e9", 2_000_000_000),
            ("3.5E9", 3_500_000_000),
            ("1e0", 1),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "-1", "1.5", "1.25e1", "e9", "1e-3", "1e40", "2e19", "many"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn clusters_are_three_numbers() {
        let read = Cluster { workers: 8, cores: 4, memory_bytes: 32 << 30 };
        assert_eq!(spark_cluster("8,4,32GiB"), Ok(read));
        for text in ["", "8", "8,4", "8,4,32GiB,1", "0,4,32GiB", "8,-4,32GiB", "8,4,0", "8,4,much"]
        {
            assert!(spark_cluster(text).is_err(), "{text}");
        }
    }
}
