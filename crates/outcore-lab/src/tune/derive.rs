//! Settings derived from rates and times (scans, gaps, merges), and the table that is printed.

use outcore::io::{Confidence, DerivedSettings, DiskProfile, Figure, TransferProfile, Tuning};
use outcore::units::format_bytes;

const PAGE: f64 = 4096.0;
const GIB: f64 = (1u64 << 30) as f64;
/// Bounds of the reads of a merge: no larger, since every run has such a buffer.
const MERGE_BYTES: std::ops::RangeInclusive<f64> = 262_144.0..=4_194_304.0;
/// Bounds of line buffers: smaller ones cost calls, larger ones do not fit into the caches.
const LINE_BYTES: std::ops::RangeInclusive<f64> = 65_536.0..=1_048_576.0;

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
    // Bytes that could be read sequentially in the time of one random page read.
    let gap = times(rate, &random.seconds_at_depth, 1);
    let merge = merge_read(&times(rate, &random.seconds_at_depth_1, 1));
    let line = profile.write.block_bytes as f64;
    let line = line.clamp(*LINE_BYTES.start(), *LINE_BYTES.end());
    let confidence = profile.write.confidence;
    DerivedSettings {
        scan_instead_share: Some(map(&gap, |gap| (PAGE / gap).min(1.0))),
        gap_bytes: Some(gap),
        fan_in: Some(map(&merge, |bytes| (GIB / (2.0 * bytes)).floor())),
        merge_read_bytes: Some(merge),
        run_bytes: None,
        line_buffer_bytes: Some(Figure { value: line, low: line, high: line, confidence }),
    }
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

/// Returns the table: each setting with its value, its interval and its confidence.
pub(super) fn rows(profile: &DiskProfile) -> Vec<Vec<String>> {
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
        let many = &random.seconds_at_depth;
        let name = format!("random read, {} at a time", random.depth);
        row(&name, micro(many.value), ends(many, micro), many.confidence);
    }
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let derived = &profile.derived;
    if let Some(share) = &derived.scan_instead_share {
        row("scan instead, from", percent(share.value), ends(share, percent), share.confidence);
    }
    let sizes = [
        ("read gaps below", &derived.gap_bytes),
        ("merge reads", &derived.merge_read_bytes),
        ("line buffer", &derived.line_buffer_bytes),
    ];
    for (name, figure) in sizes {
        if let Some(figure) = figure {
            row(name, bytes(figure.value), ends(figure, bytes), figure.confidence);
        }
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
