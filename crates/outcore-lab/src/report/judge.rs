//! Judges an experiment: all its comparisons are one family, whose intervals hold simultaneously.

use crate::claims;
use crate::meter::Cost;
use crate::row::{Missing, Row};
use crate::statistics::{Interval, LogRatios, together};
use serde::{Deserialize, Serialize};

/// Words in the names of two rows that make the same system calls: `fopen` with either mode, then only reads.
const EQUAL: (&str, &str) = ("rb+", "rb");

/// Comparison of two rows that do the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Name of the row, with its group.
    pub name: String,
    /// Its cost over that of the row that does the same.
    pub ratio: Option<Interval>,
}

/// Sets the ratio of each row; returns the controls and the judged claims.
pub(super) fn judge(
    experiment: &str,
    rows: &mut [Row],
    missing: &[Missing],
    cost: Cost,
) -> (Vec<Control>, Vec<claims::Judged>) {
    let firsts: Vec<usize> = (0..rows.len()).map(|at| first_of(rows, at)).collect();
    let of_rows = firsts.iter().enumerate().map(|(at, &first)| match at == first {
        true => LogRatios::new(),
        false => rows[at].against(&rows[first], cost),
    });
    let pairs = rows.iter().filter_map(|row| Some((row, claims::twin(rows, row, EQUAL)?)));
    let (twins, of_twins): (Vec<String>, Vec<LogRatios>) =
        pairs.map(|(row, twin)| (row.full_name(), row.against(twin, cost))).unzip();
    let of_claims = claims::of(experiment).map(|claim| claim.rows.log_ratios(rows, cost));
    let family: Vec<LogRatios> = of_rows.chain(of_twins).chain(of_claims).collect();
    let mut ratios = together(&family).into_iter();
    for row in rows.iter_mut() {
        row.ratio = ratios.next().flatten();
    }
    let again = rows.iter().filter(|row| row.is_again());
    let mut controls: Vec<Control> =
        again.map(|row| Control { name: row.full_name(), ratio: row.ratio }).collect();
    controls.extend(twins.into_iter().map(|name| Control { name, ratio: ratios.next().flatten() }));
    let is_disturbed = controls.iter().any(|each| each.ratio.is_some_and(|ratio| ratio.differs()));
    let doubt = is_disturbed.then_some("rows that do the same differ here");
    let claims = claims::of(experiment).map(|claim| {
        let ratio = ratios.next().flatten();
        match claim.rows.lacking(rows, missing) {
            None => claim.judged(ratio, doubt),
            Some(reason) => claim.unmeasured(reason),
        }
    });
    (controls, claims.collect())
}

/// Returns the place of the first row of the same group.
fn first_of(rows: &[Row], at: usize) -> usize {
    rows.iter().position(|row| row.group == rows[at].group).unwrap_or(at)
}
