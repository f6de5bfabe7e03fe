//! Transfer size: how large must a transfer be through each interface, and where do the interfaces cross?
//!
//! Source: a table in a chapter on tuning for HP-UX (`read`, `fread` and Fortran's unformatted `READ` of 8 bytes to
//! 64 KiB from a file of 100 MB in the buffer cache). Here the file is verified to be in the page cache, and newer
//! interfaces are added. Small sizes read only a part of the file.

mod ways;

use super::compare::{fastest, rate, row, seconds, times};
use crate::meter::Cost;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::{Missing, Row};
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::io::Writer;
use outcore::units::format_bytes;
use outcore::{Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use ways::{Buffers, TransferInput, TransferWay, WAYS};

/// Bytes of the copy that bounds all transfers: they fit into a cache, as buffers do.
const LIMIT_BYTES: usize = 256 << 10;

/// Amount of measurement.
#[derive(Debug, Clone)]
pub struct TransferSizeParameters {
    /// Bytes of a transfer: powers of two, at least 8.
    pub sizes: Vec<usize>,
    /// Size of the file; at least the largest transfer size.
    pub file_bytes: u64,
    /// Maximum number of transfers in a run.
    pub operations_max: u64,
    /// Number of runs of each way with each size.
    pub rounds: u32,
}

impl TransferSizeParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let all = || (3..=22).map(|power| 1 << power);
        let (sizes, file_bytes, operations_max): (Vec<usize>, _, _) = match effort {
            Effort::Quick => {
                let some = [3, 6, 10, 12, 13, 16, 20].map(|power| 1 << power);
                (some.to_vec(), 8 << 20, 5_000)
            }
            Effort::Default => (all().collect(), 32 << 20, 10_000),
            Effort::Full => (all().collect(), 128 << 20, 30_000),
        };
        let rounds = effort.rounds();
        Self { sizes, file_bytes, operations_max, rounds }
    }

    fn count(&self, size: usize) -> u64 {
        (self.file_bytes / size as u64).clamp(1, self.operations_max)
    }
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: &TransferSizeParameters) -> Result<Experiment> {
    let path = workplace.make_file("transfer-size", parameters.file_bytes)?;
    let program = workplace.foreign().program("transfer.f90")?;
    let largest = parameters.sizes.iter().copied().max().unwrap_or(0);
    let buffers = RefCell::new(Buffers::new(largest));
    let (mut methods, mut missing, mut points) = (Vec::new(), Vec::new(), BTreeMap::new());
    for way in WAYS {
        if let Some(reason) = way.obstacle(&path, &program)? {
            missing.push(Missing { name: way.name().into(), reason });
            continue;
        }
        for &size in &parameters.sizes {
            let count = parameters.count(size);
            let path = match way {
                TransferWay::FortranSequential => records(workplace, &path, size, count)?,
                _ => path.clone(),
            };
            let (name, group) = (name(way, size), size_text(size));
            points.insert(name.clone(), (way.name().to_owned(), size as f64));
            let input = TransferInput { path: path.clone(), size, count };
            let program = program.as_deref().ok();
            let buffers = &buffers;
            let run = move || way.run(&input, &mut buffers.borrow_mut(), program);
            methods.push(Method::new(name, State::Warm, Some(path), run).group(group));
        }
    }
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.append(&mut missing);
    in_order_of_size(&mut measured.rows, &parameters.sizes);
    let question = "How large must a transfer be, through which interface?";
    let mut experiment = Experiment::new("transfer-size", question, columns(), measured)
        .compared_by(Cost::Byte)
        .parameter("file", format_bytes(parameters.file_bytes))
        .parameter("transfers at most", parameters.operations_max)
        .limit(Limit::copy(LIMIT_BYTES))
        .parameter("rounds", parameters.rounds);
    for row in &mut experiment.rows {
        row.point = points.get(&row.name).cloned();
    }
    let x = "transfer size in bytes".into();
    experiment.charts = vec![Chart::Lines { x, column: Column::Rate }];
    experiment.finding = finding(&experiment, &parameters.sizes);
    experiment.notes.extend(workplace.foreign().notes());
    Ok(experiment)
}

fn columns() -> Vec<Column> {
    vec![
        Column::PerOperation,
        Column::Rate,
        Column::User,
        Column::System,
        Column::SystemCalls,
        Column::Cycles,
        Column::Instructions,
        Column::Ratio,
    ]
}

/// Sorts rows by transfer size, retaining the order of the ways within a size.
fn in_order_of_size(rows: &mut [Row], sizes: &[usize]) {
    let at = |row: &Row| sizes.iter().position(|&size| size_text(size) == row.group);
    rows.sort_by_key(at);
}

fn name(way: TransferWay, size: usize) -> String {
    format!("{} {}", way.name(), size_text(size))
}

fn size_text(size: usize) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}

/// Writes the first bytes of `path` as records of Fortran's sequential files, with the length before and after each
/// record.
fn records(workplace: &Workplace<'_>, path: &Path, size: usize, count: u64) -> Result<PathBuf> {
    workplace.require(count * (size as u64 + 8))?;
    let fail = |e| Error::io("read", path, e);
    let mut file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let records = workplace.path(&format!("transfer-size-records-{size}"));
    let mut writer = Writer::create(workplace.files(), &records, 1 << 20, 2)?;
    let mut part = vec![0; size.max(1 << 20)];
    let mut left = count as usize;
    let marker = (size as u32).to_le_bytes();
    while left > 0 {
        workplace.detail("writing records")?;
        let some = left.min(part.len() / size);
        file.read_exact(&mut part[..some * size]).map_err(fail)?;
        for record in part[..some * size].chunks_exact(size) {
            writer.write(&marker)?;
            writer.write(record)?;
            writer.write(&marker)?;
        }
        left -= some;
    }
    writer.finish()?;
    Ok(records)
}

/// Summarizes the rows.
fn finding(experiment: &Experiment, sizes: &[usize]) -> String {
    let sentences = [
        crossing(experiment, sizes),
        best(experiment, sizes),
        enough(experiment, sizes),
        asynchronous(experiment, sizes),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn of(experiment: &Experiment, way: TransferWay, size: usize) -> Option<&Row> {
    row(experiment, &size_text(size), &name(way, size))
}

/// Describes from which size on `read` is at least as fast as `fread`.
fn crossing(experiment: &Experiment, sizes: &[usize]) -> Option<String> {
    let against = |size: usize| {
        let (read, fread) =
            (of(experiment, TransferWay::Read, size)?, of(experiment, TransferWay::Fread, size)?);
        Some(times(experiment, read, fread))
    };
    let smallest = against(*sizes.first()?)?;
    let text = size_text(*sizes.first()?);
    let cost = format!("At {text}, `read` takes {} times as long as `fread`", three(smallest));
    Some(match sizes.iter().find(|&&size| against(size).is_some_and(|times| times <= 1.0)) {
        Some(&size) => format!("{cost}; from {} on it is not slower.", size_text(size)),
        None => format!("{cost}, and it is slower at every size."),
    })
}

fn best(experiment: &Experiment, sizes: &[usize]) -> Option<String> {
    let rate_of = |row: &Row| Column::Rate.value(row).unwrap_or(0.0);
    let rows = sizes.iter().filter_map(|&size| fastest(experiment, &size_text(size), |_| true));
    let best = rows.max_by(|a, b| rate_of(a).total_cmp(&rate_of(b)))?;
    Some(format!("`{}` reaches the highest rate: {}.", best.name, rate(best)))
}

/// Describes the smallest size at which `read` is within 5 % of its best rate.
fn enough(experiment: &Experiment, sizes: &[usize]) -> Option<String> {
    let rate_of = |size: usize| Column::Rate.value(of(experiment, TransferWay::Read, size)?);
    let most = sizes.iter().filter_map(|&size| rate_of(size)).max_by(f64::total_cmp)?;
    let size = sizes.iter().find(|&&size| rate_of(size).is_some_and(|rate| rate >= 0.95 * most))?;
    Some(format!("`read` comes within 5 % of its best rate at {}.", size_text(*size)))
}

/// Describes the cost of asynchronous reads of the C library at the size closest to a page, which matters most for
/// files.
fn asynchronous(experiment: &Experiment, sizes: &[usize]) -> Option<String> {
    let size = *sizes.iter().min_by_key(|size| size.abs_diff(4096))?;
    let (aio, read) = (
        of(experiment, TransferWay::Asynchronous, size)?,
        of(experiment, TransferWay::Read, size)?,
    );
    let (ratio, count) = (times(experiment, aio, read), aio.samples.first()?.operations);
    let microseconds = seconds(aio) * 1e6 / count as f64;
    Some(format!(
        "`aio_read` of {} takes {} µs, {} times as long as `read`.",
        size_text(size),
        three(microseconds),
        three(ratio)
    ))
}
