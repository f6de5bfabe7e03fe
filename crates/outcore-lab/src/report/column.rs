//! Columns of tables: the figures of rows, their units and their rounding.

use crate::meter::{Latencies, Sample};
use crate::number::three;
use crate::row::Row;
use crate::statistics::{Interval, interval, median};
use outcore::units::{format_bytes, format_count};
use serde::{Deserialize, Serialize};

/// Figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// Fastest operation, microseconds.
    OperationMin,
    /// Mean of the middle 90 % of operations, microseconds.
    OperationTrimmedMean,
    /// Median operation, microseconds.
    OperationMedian,
    /// 99th percentile of operations, microseconds.
    OperationP99,
    /// 99.9th percentile of the operations of all runs, microseconds.
    OperationP999,
    /// 99.99th percentile of the operations of all runs, microseconds.
    OperationP9999,
    /// Slowest operation, microseconds.
    OperationMax,
    /// Elapsed time over operations, nanoseconds.
    PerOperation,
    /// Elapsed milliseconds of a run.
    Wall,
    /// Milliseconds to make the data durable.
    Sync,
    /// Elapsed milliseconds, sync included.
    Total,
    /// Processor milliseconds in user mode.
    User,
    /// Processor milliseconds in the kernel.
    System,
    /// Bytes over elapsed time, in MB/s.
    Rate,
    /// Bytes over elapsed time and sync, in MB/s.
    DurableRate,
    /// Bytes over processor time, in MB/s.
    ProcessorRate,
    /// Page faults, minor and major.
    Faults,
    /// Context switches: waits and interruptions.
    Switches,
    /// System calls.
    SystemCalls,
    /// Cycles of the processor over operations.
    Cycles,
    /// Instructions over operations.
    Instructions,
    /// Bytes read from the disk.
    ReadBytes,
    /// Bytes written to the disk.
    WriteBytes,
    /// Bytes read from the disk over bytes that the program read: above 1, some were read ahead in vain.
    Amplification,
    /// Bytes that the program read or wrote.
    Bytes,
    /// Cost over that of the first row, with its interval; `=` if they were shown to be the same, `?` if that stays
    /// open.
    Ratio,
    /// Cost of the first row over that of this row.
    Speedup,
}

impl Column {
    /// Figures of single rows, by name: those that do not depend on another row.
    pub const NAMED: &[(&str, Self)] = &[
        ("min", Self::OperationMin),
        ("mean", Self::OperationTrimmedMean),
        ("median", Self::OperationMedian),
        ("p99", Self::OperationP99),
        ("p99.9", Self::OperationP999),
        ("p99.99", Self::OperationP9999),
        ("max", Self::OperationMax),
        ("wall", Self::Wall),
        ("sync", Self::Sync),
        ("total", Self::Total),
        ("user", Self::User),
        ("system", Self::System),
        ("rate", Self::Rate),
        ("durable-rate", Self::DurableRate),
        ("processor-rate", Self::ProcessorRate),
        ("faults", Self::Faults),
        ("switches", Self::Switches),
        ("system-calls", Self::SystemCalls),
        ("cycles", Self::Cycles),
        ("instructions", Self::Instructions),
        ("read-bytes", Self::ReadBytes),
        ("write-bytes", Self::WriteBytes),
        ("amplification", Self::Amplification),
    ];

    /// Returns the heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::OperationMin => "min µs",
            Self::OperationTrimmedMean => "mean 90 % µs",
            Self::OperationMedian => "median µs",
            Self::OperationP99 => "p99 µs",
            Self::OperationP999 => "p99.9 µs",
            Self::OperationP9999 => "p99.99 µs",
            Self::OperationMax => "max µs",
            Self::PerOperation => "ns/op",
            Self::Wall => "wall ms",
            Self::Sync => "sync ms",
            Self::Total => "total ms",
            Self::User => "user ms",
            Self::System => "system ms",
            Self::Rate => "MB/s",
            Self::DurableRate => "MB/s synced",
            Self::ProcessorRate => "MB/s of CPU",
            Self::Faults => "faults",
            Self::Switches => "switches",
            Self::SystemCalls => "syscalls",
            Self::Cycles => "cycles/op",
            Self::Instructions => "instructions/op",
            Self::ReadBytes => "disk read",
            Self::WriteBytes => "disk written",
            Self::Amplification => "disk / used",
            Self::Bytes => "moved",
            Self::Ratio => "time / first",
            Self::Speedup => "speed-up",
        }
    }

    /// Returns the title of a chart of the figure: what it is, with its unit.
    pub fn title(self) -> &'static str {
        match self {
            Self::PerOperation => "Time of an operation in ns",
            Self::OperationMedian => "Median time of single operations in µs",
            Self::Wall => "Elapsed time of a run in ms",
            Self::Total => "Elapsed time of a run in ms until its data is durable",
            Self::Rate => "Rate in MB/s",
            Self::DurableRate => "Rate in MB/s until the data is durable",
            other => other.heading(),
        }
    }

    /// Returns the median figure of a row; `None` if it has none.
    pub fn value(self, row: &Row) -> Option<f64> {
        self.values(row).map(|values| median(&values))
    }

    /// Returns the figure of a row with its 95 % interval; `None` if it has none.
    pub fn interval(self, row: &Row) -> Option<Interval> {
        match self {
            Self::Ratio => row.ratio,
            Self::Speedup => row.ratio.map(|ratio| ratio.inverse()),
            _ => self.values(row).map(|values| interval(&values)),
        }
    }

    /// Returns the figure of every run; `None` if the row has none.
    pub(super) fn values(self, row: &Row) -> Option<Vec<f64>> {
        let of = |figure: &dyn Fn(&Sample) -> Option<f64>| {
            let values: Option<Vec<f64>> = row.samples.iter().map(figure).collect();
            values.filter(|values| !values.is_empty())
        };
        let latency = |pick: fn(&Latencies) -> f64| {
            of(&|sample| sample.latencies.as_ref().map(|times| pick(times) / 1e3))
        };
        let pooled =
            |share| Some(vec![row.times.as_ref()?.quantile_nanoseconds(share)? as f64 / 1e3]);
        match self {
            Self::OperationMin => latency(|times| times.min),
            Self::OperationTrimmedMean => latency(|times| times.trimmed_mean),
            Self::OperationMedian => latency(|times| times.median),
            Self::OperationP99 => latency(|times| times.p99),
            Self::OperationP999 => pooled(0.999),
            Self::OperationP9999 => pooled(0.9999),
            Self::OperationMax => latency(|times| times.max),
            Self::PerOperation => {
                of(&|s| (s.operations > 0).then(|| s.wall_seconds * 1e9 / s.operations as f64))
            }
            Self::Wall => of(&|s| Some(s.wall_seconds * 1e3)),
            Self::Sync => of(&|s| s.sync_seconds.map(|seconds| seconds * 1e3)),
            Self::Total => of(&|s| Some((s.wall_seconds + s.sync_seconds.unwrap_or(0.0)) * 1e3)),
            Self::User => of(&|s| Some(s.user_seconds * 1e3)),
            Self::System => of(&|s| Some(s.system_seconds * 1e3)),
            Self::Rate => of(&|s| Some(s.bytes as f64 / s.wall_seconds / 1e6)),
            Self::DurableRate => of(&|s| {
                Some(s.bytes as f64 / (s.wall_seconds + s.sync_seconds.unwrap_or(0.0)) / 1e6)
            }),
            Self::ProcessorRate => {
                of(&|s| Some(s.bytes as f64 / (s.user_seconds + s.system_seconds).max(1e-6) / 1e6))
            }
            Self::Faults => of(&|s| Some((s.minor_faults + s.major_faults) as f64)),
            Self::Switches => of(&|s| Some((s.voluntary_switches + s.involuntary_switches) as f64)),
            Self::SystemCalls => of(&|s| s.system_calls.map(|calls| calls as f64)),
            Self::Cycles => of(&|s| s.cycles.map(|cycles| cycles as f64 / s.operations as f64)),
            Self::Instructions => {
                of(&|s| s.instructions.map(|all| all as f64 / s.operations as f64))
            }
            Self::ReadBytes => of(&|s| s.read_bytes.map(|bytes| bytes as f64)),
            Self::WriteBytes => of(&|s| s.write_bytes.map(|bytes| bytes as f64)),
            Self::Amplification => of(&|s| s.read_bytes.map(|bytes| bytes as f64 / s.bytes as f64)),
            Self::Bytes => of(&|s| Some(s.bytes as f64)),
            Self::Ratio => row.ratio.map(|ratio| vec![ratio.middle]),
            Self::Speedup => row.ratio.map(|ratio| vec![1.0 / ratio.middle]),
        }
    }

    /// Returns the figure as text; empty if there is none.
    pub fn text(self, row: &Row) -> String {
        let Some(value) = self.value(row) else { return String::new() };
        match self {
            Self::ReadBytes | Self::WriteBytes | Self::Bytes => format_bytes(value as u64),
            Self::Faults | Self::Switches | Self::SystemCalls => format_count(value as u64),
            Self::Ratio => row.ratio.map_or_else(String::new, |ratio| ratio.ratio_text()),
            Self::Speedup => format!("{}x", three(value)),
            _ => three(value),
        }
    }
}
