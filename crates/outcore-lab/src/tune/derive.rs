//! Derives the size of a merge's reads from a rate and a latency, and makes the printed table.

use outcore::io::{Confidence, DerivedSettings, DiskProfile, Figure, TransferProfile, Tuning};
use outcore::units::format_bytes;

/// Range of the size of a merge's reads; bounded above, since every run has such a buffer.
const MERGE_BYTES: std::ops::RangeInclusive<f64> = 262_144.0..=4_194_304.0;

/// Multiplies `one` by `two` to the power of `power`.
fn times(one: &Figure, two: &Figure, power: i32) -> Figure {
    let ends = [one.low, one.high].map(|one| [two.low, two.high].map(|two| one * two.powi(power)));
    let fold = |f: fn(f64, f64) -> f64| ends.as_flattened().iter().copied().fold(f64::NAN, f);
    let both = one.confidence == Confidence::Measured && two.confidence == Confidence::Measured;
    Figure {
        value: one.value * two.value.powi(power),
        low: fold(f64::min),
        high: fold(f64::max),
        confidence: if both { Confidence::Measured } else { Confidence::Low },
    }
}

fn map(figure: &Figure, f: impl Fn(f64) -> f64) -> Figure {
    let (one, two) = (f(figure.low), f(figure.high));
    let Figure { value, confidence, .. } = *figure;
    Figure { value: f(value), low: one.min(two), high: one.max(two), confidence }
}

/// Derives settings from the measurements in `profile`.
pub(super) fn settings(profile: &DiskProfile) -> DerivedSettings {
    let (Some(rate), Some(random)) = (&profile.read.bytes_per_second, &profile.random_read) else {
        return DerivedSettings::default();
    };
    let merge = merge_read(&times(rate, &random.seconds_at_depth_1, 1));
    DerivedSettings { merge_read_bytes: Some(merge) }
}

/// Returns the size of a merge's reads for which seeks take a tenth of the time: nine times the bytes that could be
/// read sequentially during one seek. The default is retained unless it is significantly wrong by more than a factor
/// of two.
fn merge_read(seek: &Figure) -> Figure {
    let (least, most) = (*MERGE_BYTES.start(), *MERGE_BYTES.end());
    let wanted = map(seek, |bytes| (9.0 * bytes).clamp(least, most));
    let default = Tuning::READ_BYTES as f64;
    let trusted = wanted.confidence == Confidence::Measured;
    let differs = wanted.low > 2.0 * default || wanted.high < default / 2.0;
    let value =
        if trusted && differs { 2f64.powi(wanted.value.log2().ceil() as i32) } else { default };
    Figure { value: value.min(most), ..wanted }
}

/// Returns the table to print: headings first, then each setting with its value, its interval and its confidence.
pub fn rows(profile: &DiskProfile) -> Vec<Vec<String>> {
    let mut rows =
        vec![["setting", "value", "95 % interval", "confidence"].map(String::from).into()];
    let mut row = |name: &str, value: String, interval: String, confidence: Confidence| {
        rows.push(vec![name.into(), value, interval, confidence.name().into()]);
    };
    for (name, found) in [("read", &profile.read), ("write", &profile.write)] {
        row(name, setting(found), String::new(), found.confidence);
        if let Some(rate) = &found.bytes_per_second {
            let text = |value: f64| format!("{}/s", format_bytes(value as u64));
            row(&format!("{name} rate"), text(rate.value), ends(rate, text), rate.confidence);
        }
    }
    let micro = |seconds: f64| format!("{:.1} us", seconds * 1e6);
    if let Some(random) = &profile.random_read {
        let one = &random.seconds_at_depth_1;
        row("random read", micro(one.value), ends(one, micro), one.confidence);
    }
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    if let Some(figure) = &profile.derived.merge_read_bytes {
        row("merge reads", bytes(figure.value), ends(figure, bytes), figure.confidence);
    }
    let factor = |factor: f64| format!("{factor:.2}x");
    if let Some(figure) = &profile.slowness {
        row("time of a job", factor(figure.value), ends(figure, factor), figure.confidence);
    }
    rows
}

fn setting(found: &TransferProfile) -> String {
    let way = if found.direct { "direct" } else { "buffered" };
    format!("{} x {}, {way}", format_bytes(found.block_bytes as u64), found.depth)
}

fn ends(figure: &Figure, text: impl Fn(f64) -> String) -> String {
    format!("{} to {}", text(figure.low), text(figure.high))
}
