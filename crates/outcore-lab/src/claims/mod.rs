//! Well-known claims about file I/O, as data: who said what of which machine, which rows decide, by which rule, and the
//! mechanism.
//!
//! A claim is about a ratio of times. It holds if the whole interval of the ratio on this machine obeys the rule, it
//! differs if none of the interval does, and otherwise it stays open. The interval holds simultaneously with those of
//! all other comparisons of the experiment ([`crate::statistics`]); where a claim is about several pairs of rows, each
//! round counts once, with the mean of the pairs. A claim whose rows do not exist is not measured, which is no verdict
//! on it: the reason says what to install or to type.

mod table;

use crate::meter::Cost;
use crate::number::three;
use crate::row::{Missing, Row};
use crate::statistics::{Interval, LogRatios};
use serde::{Deserialize, Serialize};
pub use table::CLAIMS;

/// Text that makes claims.
#[derive(Debug, PartialEq, Eq)]
pub struct Reference {
    /// Author.
    pub who: &'static str,
    /// Year of publication.
    pub year: &'static str,
    /// Title.
    pub title: &'static str,
    /// Machine that it was measured on.
    pub machine: &'static str,
}

/// Claim about the ratio of the times of two ways.
#[derive(Debug)]
pub struct Claim {
    /// Name, unique.
    pub name: &'static str,
    /// Text that makes it.
    pub reference: &'static Reference,
    /// What the text says, with its figures.
    pub says: &'static str,
    /// Subject and object of the comparison, in words.
    pub words: (&'static str, &'static str),
    /// Ratio of their times in the text.
    pub original: &'static str,
    /// Ratios for which it holds.
    pub rule: Rule,
    /// Rows that decide.
    pub rows: Deciding,
    /// Mechanism if it holds, and if it differs.
    pub because: (&'static str, &'static str),
    /// Whether it is among the few that a summary of all experiments shows.
    pub is_headline: bool,
}

/// Ratios for which a claim holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
    /// From the first to the second.
    Within(f64, f64),
}

/// Rows whose times decide a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deciding {
    /// The first pair of rows that exist, in an experiment and a group; a name that ends in `*` matches any row with
    /// this prefix.
    Rows(&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// All rows of an experiment and a group whose names have a prefix and contain a word, against those with the other
    /// word in its place.
    Words(&'static str, &'static str, &'static str, (&'static str, &'static str)),
}

/// Verdict of a machine on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The claim holds here.
    Holds,
    /// It does not.
    Differs,
    /// The measurement leaves both possible.
    CannotTell,
    /// There are no rows to compare.
    NotMeasured,
}

impl Judgement {
    /// All judgements, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Differs, Self::CannotTell, Self::NotMeasured];

    /// Returns the displayed name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::CannotTell => "cannot tell",
            Self::NotMeasured => "not measured",
        }
    }
}

/// Claim with its judgement, as stored in reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Name of the claim.
    pub name: String,
    /// Author and year.
    pub source: String,
    /// Title of the text.
    pub title: String,
    /// Machine of the source.
    pub machine: String,
    /// What the source says.
    pub says: String,
    /// Subject and object of the comparison.
    pub words: (String, String),
    /// Ratio of their times in the source.
    pub original: String,
    /// Rule of the judgement, in words.
    pub rule: String,
    /// Ratio of their times here.
    pub ratio: Option<Interval>,
    /// Verdict of this machine on the claim.
    pub judgement: Judgement,
    /// Mechanism, or the reason why it stays open.
    pub because: String,
    /// See [`Claim::is_headline`].
    pub is_headline: bool,
}

impl Judged {
    /// Returns what is compared.
    pub fn compared(&self) -> String {
        format!("{} against {}", self.words.0, self.words.1)
    }

    /// Returns the ratio here; `-` if there is none.
    pub fn here(&self) -> String {
        self.ratio.map_or_else(|| "-".into(), |ratio| format!("{}x", three(ratio.middle)))
    }
}

impl Rule {
    /// Judges an interval of the ratio.
    pub fn judge(self, ratio: Interval) -> Judgement {
        let (low, high) = match self {
            Self::AtMost(most) => (0.0, most),
            Self::AtLeast(least) => (least, f64::INFINITY),
            Self::Within(low, high) => (low, high),
        };
        if ratio.low >= low && ratio.high <= high {
            Judgement::Holds
        } else if ratio.high < low || ratio.low > high {
            Judgement::Differs
        } else {
            Judgement::CannotTell
        }
    }

    /// Returns the rule in words.
    pub fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most}x"),
            Self::AtLeast(least) => format!("at least {least}x"),
            Self::Within(low, high) => format!("{low}x to {high}x"),
        }
    }
}

impl Deciding {
    /// Returns the name of the experiment that decides.
    pub fn experiment(self) -> &'static str {
        match self {
            Self::Rows(experiment, ..) | Self::Words(experiment, ..) => experiment,
        }
    }

    /// Returns the pairs of rows to compare.
    pub fn pairs(self, rows: &[Row]) -> Vec<(&Row, &Row)> {
        match self {
            Self::Rows(_, group, names) => {
                let row = |name| find(rows, group, name);
                names.iter().find_map(|(of, to)| row(of).zip(row(to))).into_iter().collect()
            }
            Self::Words(_, group, begin, words) => {
                let of =
                    rows.iter().filter(|row| row.group == group && row.name.starts_with(begin));
                of.filter_map(|row| Some((row, twin(rows, row, words)?))).collect()
            }
        }
    }

    /// Returns the reason why there are no pairs to compare; `None` if there are some.
    pub(crate) fn lacking(self, rows: &[Row], missing: &[Missing]) -> Option<String> {
        if !self.pairs(rows).is_empty() {
            return None;
        }
        let (group, names) = match self {
            Self::Rows(_, group, pairs) => {
                (group, pairs.iter().flat_map(|(of, to)| [*of, *to]).collect())
            }
            Self::Words(_, group, begin, _) => (group, vec![begin]),
        };
        // A missing method stands for its rows of all sizes.
        let group = format!(" ({group})");
        let is_of = |each: &&Missing| {
            let method = each.name.strip_suffix(&group).unwrap_or(&each.name);
            let mut rests = names.iter().filter_map(|name| name.strip_prefix(method));
            rests.any(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
        };
        let reason = missing.iter().find(is_of).map(|each| each.reason.clone());
        Some(reason.unwrap_or_else(|| "no row of it was measured in this run".into()))
    }

    /// Returns the mean log ratio of all pairs in each round in which all of them ran.
    pub(crate) fn log_ratios(self, rows: &[Row], cost: Cost) -> LogRatios {
        let pairs = self.pairs(rows).into_iter();
        let each: Vec<LogRatios> = pairs.map(|(of, to)| of.against(to, cost)).collect();
        let rounds = each.iter().map(Vec::len).max().unwrap_or(0);
        let mean = |round: usize| {
            let values = each.iter().map(|ratios| ratios.get(round).copied().flatten());
            Some(values.sum::<Option<f64>>()? / each.len() as f64)
        };
        (0..rounds).map(mean).collect()
    }
}

fn find<'r>(rows: &'r [Row], group: &str, name: &str) -> Option<&'r Row> {
    let is_it = |row: &&Row| match name.strip_suffix('*') {
        Some(begin) => row.name.starts_with(begin),
        None => row.name == name,
    };
    rows.iter().filter(|row| group.is_empty() || row.group == group).find(is_it)
}

/// Returns the row of the same group whose name has the second word in place of the first.
pub(crate) fn twin<'r>(rows: &'r [Row], row: &Row, words: (&str, &str)) -> Option<&'r Row> {
    let parts: Vec<&str> = row.name.split(", ").collect();
    let at = parts.iter().position(|part| *part == words.0)?;
    let name = [&parts[..at], &[words.1], &parts[at + 1..]].concat().join(", ");
    rows.iter().find(|other| other.group == row.group && other.name == name)
}

/// Returns the claims that some experiments decide, not yet judged.
pub(crate) fn expected(experiments: &[&str]) -> Vec<Judged> {
    let is_expected = |claim: &&Claim| experiments.contains(&claim.rows.experiment());
    let open = |claim: &Claim| {
        claim.unmeasured(format!("`outcore lab {}` measures it", claim.rows.experiment()))
    };
    CLAIMS.iter().filter(is_expected).map(open).collect()
}

/// Maximum number of claims in a summary: with the answers to all tasks, they fit on a screen of 60 lines.
pub const SUMMARIZED: usize = 13;

/// Returns the claims of a summary: headlines first, measured or not, then those that were decided, in the order of the
/// table.
pub fn summary(claims: &[Judged]) -> Vec<&Judged> {
    let mut ranked: Vec<(usize, &Judged)> = claims.iter().enumerate().collect();
    ranked.sort_by_key(|(_, claim)| (!claim.is_headline, claim.judgement as u8));
    ranked.truncate(SUMMARIZED);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, claim)| claim).collect()
}

/// Counts the claims by their judgement.
pub fn counts(claims: &[Judged]) -> String {
    let words = ["hold", "differ", "cannot be told", "are not measured"];
    let count = |judgement| claims.iter().filter(|claim| claim.judgement == judgement).count();
    let counts = Judgement::ALL.into_iter().zip(words).map(|(each, word)| (count(each), word));
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    format!("of {} known claims, {}", claims.len(), counts.join(", "))
}

/// Returns the claims that an experiment decides.
pub(crate) fn of(experiment: &str) -> impl Iterator<Item = &'static Claim> {
    CLAIMS.iter().filter(move |claim| claim.rows.experiment() == experiment)
}

impl Claim {
    /// Judges the claim by the ratio on this machine, `None` after too few rounds; `doubt` is a reason to trust no ratio.
    pub fn judged(&self, ratio: Option<Interval>, doubt: Option<&str>) -> Judged {
        let (judgement, because) = match (ratio, doubt) {
            (None, _) => (Judgement::CannotTell, "too few rounds"),
            (Some(_), Some(doubt)) => (Judgement::CannotTell, doubt),
            (Some(ratio), None) => match self.rule.judge(ratio) {
                Judgement::Holds => (Judgement::Holds, self.because.0),
                Judgement::Differs => (Judgement::Differs, self.because.1),
                open => (open, "the interval allows both"),
            },
        };
        self.with(ratio, judgement, because.into())
    }

    /// Returns the claim without a verdict, because there are no rows to compare; `reason` says what to do about it.
    pub fn unmeasured(&self, reason: String) -> Judged {
        self.with(None, Judgement::NotMeasured, reason)
    }

    fn with(&self, ratio: Option<Interval>, judgement: Judgement, because: String) -> Judged {
        Judged {
            name: self.name.into(),
            source: format!("{} {}", self.reference.who, self.reference.year),
            title: self.reference.title.into(),
            machine: self.reference.machine.into(),
            says: self.says.into(),
            words: (self.words.0.into(), self.words.1.into()),
            original: self.original.into(),
            rule: self.rule.text(),
            ratio,
            judgement,
            because,
            is_headline: self.is_headline,
        }
    }
}
