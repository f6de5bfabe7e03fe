//! Scales that map values to positions on the page.

use outcore::units::format_count;

/// Axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Creates an axis from 0 to a little more than `high`.
    pub(super) fn linear(high: f64, from: f64, to: f64) -> Self {
        let high = if high > 0.0 { high * 1.06 } else { 1.0 };
        Self { low: 0.0, high, logarithmic: false, from, to }
    }

    /// Creates a logarithmic axis that contains `low` and `high`, both above 0.
    pub(super) fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low > 0.0 { low / 1.15 } else { 1e-3 };
        Self { low, high: (high * 1.15).max(low * 2.0), logarithmic: true, from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Returns the position of zero; a logarithmic axis has none.
    pub(super) fn zero(&self) -> Option<f64> {
        (!self.logarithmic).then(|| self.at(0.0))
    }

    /// Returns about five round values on the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.logarithmic { self.factor_ticks() } else { self.even_ticks() }
    }

    fn even_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let count = ((self.high - self.low) / step).floor() as usize;
        (0..=count).map(|number| self.low + number as f64 * step).collect()
    }

    fn factor_ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = match decades {
            few if few < 1.2 => &[1.0, 2.0, 3.0, 5.0],
            few if few < 2.5 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let every = 1 + (decades / 7.0) as usize;
        (first..=last)
            .step_by(every)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }
}

/// Formats a round value: `0`, `0.5`, `20`, `1,000`, `2M`.
pub(super) fn short(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{}G", trim(value / 1e9)),
        value if value >= 1e6 => format!("{}M", trim(value / 1e6)),
        value if value >= 1e3 => format_count(value.round() as u64),
        value => trim(value),
    }
}

/// Formats a size in bytes: `512`, `64K`, `1M`.
pub fn size_text(size: f64) -> String {
    let marks = [(1u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    for (unit, mark) in marks {
        let units = size / unit as f64;
        if units >= 1.0 {
            return format!("{}{mark}", short(units));
        }
    }
    short(size)
}

/// Returns the smallest and the largest value; the smallest is the larger of the two if there are no values.
pub fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}

fn trim(value: f64) -> String {
    // Ticks have few significant digits; the rest are rounding errors of their sums.
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let even = Scale::linear(9.0, 0.0, 100.0);
        assert_eq!(even.ticks(), [0.0, 2.5, 5.0, 7.5]);
        let factors = Scale::logarithmic(0.7, 900.0, 0.0, 100.0);
        assert_eq!(factors.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert!(factors.at(0.0) == 0.0 && factors.at(1e9) == 100.0);
        for (low, high) in [(1e-9, 1e12), (5.0, 5.0), (0.0, 1.0), (1.0, 1.5)] {
            let ticks = Scale::logarithmic(low, high, 0.0, 1.0).ticks();
            assert!(ticks.len() < 30, "{ticks:?}");
        }
        assert_eq!(short(0.1 + 0.2), "0.3");
        assert_eq!(short(2e6), "2M");
    }
}
