//! Options of label propagation: arguments, presets and conversion to the engine's options.

use super::values::names;
use clap::{Args, ValueEnum};
use outcore::cluster::{AttenuationRule, MethodOption, PropagationOptions, Seeding, Visits};
use outcore::error::opt::{
    ATTENUATION, ATTENUATION_RULE, FIXED, LABEL_CUTOFF, LIKE, MAX_VISITS, METHOD,
};
use outcore::{Error, Result};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "Label propagation options")]
pub(crate) struct Labels {
    /// Attenuation of a label's votes per hop from its origin, 0 to 1 (Leung et al. 2009). Several
    /// values give one result each: `0,0.5` with `-o x.tsv` writes `x.0.tsv` and `x.0.5.tsv`
    /// [default: 0]
    #[arg(long, value_name = "D[,D...]", value_delimiter = ',', num_args = 1)]
    pub(crate) attenuation: Option<Vec<f64>>,
    /// Remaining weight of a vote: `hops` is 1 - D x hops; `change` is 1 - (p x hops)^D, where p is the
    /// share of the nodes that changed in the previous sweep [default: hops]
    #[arg(long, value_parser = names::<AttenuationRule>(), value_name = "RULE")]
    pub(crate) attenuation_rule: Option<AttenuationRule>,
    /// Adopt a label only if the weights of its votes sum to at least this [default: 0]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pub(crate) label_cutoff: Option<f64>,
    /// Maximum number of visits to a node; `root-degree` is the square root of the largest degree, but
    /// at least 5 [default: no limit]
    #[arg(long, value_name = "N|root-degree")]
    pub(crate) max_visits: Option<Visits>,
    /// Labels that never change, from a file of `node<TAB>community`
    #[arg(long, value_name = "FILE[:NODE,COMMUNITY]")]
    pub(crate) fixed: Option<PathBuf>,
    /// Start from the settings of another program; other options given take precedence. `exolabel`:
    /// --attenuation 1 --attenuation-rule change --max-visits root-degree --seeding own --converge
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) like: Option<Like>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Like {
    #[value(name = "exolabel")]
    ExoLabel,
}

impl Labels {
    /// Returns the paths of the files that are read.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.fixed.iter_mut()
    }

    /// Refuses these options, for another method; none is ignored silently.
    pub(crate) fn refuse(&self) -> Result<()> {
        let given = [
            (self.attenuation.is_some(), ATTENUATION),
            (self.attenuation_rule.is_some(), ATTENUATION_RULE),
            (self.label_cutoff.is_some(), LABEL_CUTOFF),
            (self.max_visits.is_some(), MAX_VISITS),
            (self.fixed.is_some(), FIXED),
            (self.like.is_some(), LIKE),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, option)) => {
                let methods = MethodOption::Propagation.methods();
                Err(Error::usage(format_args!("{option} is only for label propagation"))
                    .hint(format_args!("leave it out, or use {}", METHOD.of(methods))))
            }
        }
    }

    /// Refuses a rule of attenuation where nothing is attenuated.
    pub(crate) fn refuse_useless(&self) -> Result<()> {
        let is_attenuated = self.options().attenuation.iter().any(|&value| value != 0.0);
        if self.attenuation_rule.is_none() || is_attenuated {
            return Ok(());
        }
        Err(Error::usage(format_args!("{ATTENUATION_RULE} has no effect without {ATTENUATION}"))
            .hint(format_args!("add {}, or leave it out", ATTENUATION.of("0.1"))))
    }

    /// Whether sweeps continue until nothing changes, unless a limit is given.
    pub(crate) fn converges(&self) -> bool {
        self.like == Some(Like::ExoLabel)
    }

    /// Returns the default of `--seeding`.
    pub(crate) fn seeding(&self) -> Seeding {
        if self.like == Some(Like::ExoLabel) { Seeding::Own } else { Seeding::Star }
    }

    pub(crate) fn options(&self) -> PropagationOptions {
        let mut options = PropagationOptions::default();
        if self.like == Some(Like::ExoLabel) {
            options.attenuation = vec![1.0];
            options.attenuation_rule = AttenuationRule::Change;
            options.max_visits = Visits::RootOfDegree;
        }
        options.fixed.clone_from(&self.fixed);
        if let Some(values) = &self.attenuation {
            options.attenuation.clone_from(values);
        }
        options.attenuation_rule = self.attenuation_rule.unwrap_or(options.attenuation_rule);
        options.label_cutoff = self.label_cutoff.unwrap_or(options.label_cutoff);
        options.max_visits = self.max_visits.unwrap_or(options.max_visits);
        options
    }
}
