//! One call of the laboratory: runs experiments in turn and records the environment.

use crate::experiments::Listed;
use crate::report::{LabReport, SCHEMA, answers};
use crate::workplace::{Effort, Workplace};
use crate::{claims, environment};
use outcore::error::opt::{DIR, QUICK};
use outcore::progress::{Event, Observer, notify};
use outcore::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Options of a call of the laboratory.
#[derive(Debug, Clone)]
pub struct LabOptions {
    /// Directory to measure: all files are created in one directory below it.
    pub directory: PathBuf,
    /// Amount of measurement.
    pub effort: Effort,
    /// Seed of the order of runs and of the data.
    pub seed: u64,
    /// Whether rows in other languages are built with the compilers found.
    pub compile: bool,
}

/// Runs `experiments` in turn. After each, `finished` gets the report so far; an experiment that ends early is reported with
/// the rounds that were finished, so that a call loses only the round it is in.
///
/// # Errors
/// `Usage` if the path is not a directory or another laboratory is running in it; `Io`, `DiskTooSmall`, `DiskFull`;
/// `Interrupted`; those of `finished`. No files are left behind.
pub fn run(
    options: &LabOptions,
    experiments: &[Listed],
    observer: &dyn Observer,
    finished: &mut dyn FnMut(&LabReport) -> Result<()>,
) -> Result<LabReport> {
    check_directory(&options.directory)?;
    measure(options, experiments, observer, finished).map_err(with_disk_hint)
}

fn measure(
    options: &LabOptions,
    experiments: &[Listed],
    observer: &dyn Observer,
    finished: &mut dyn FnMut(&LabReport) -> Result<()>,
) -> Result<LabReport> {
    let mut report = begun(options, experiments);
    let ticks = environment::Ticks::now();
    let workplace = Workplace::create(&options.directory, options.effort, options.seed, observer)
        .map_err(with_directory_hint)?
        .compile(options.compile);
    for listed in experiments {
        let experiment = (listed.run)(&workplace)?;
        let summary = format!("{}: {} methods", experiment.name, experiment.rows.len());
        report.add(experiment);
        report.environment.extend(environment::load("after"));
        report.environment.extend(ticks.and_then(environment::Ticks::stolen_since));
        finished(&report)?;
        if let Some(error) = workplace.take_end() {
            return Err(error);
        }
        notify(observer, Event::End { summary: &summary })?;
    }
    Ok(report)
}

/// Returns a report without experiments.
fn begun(options: &LabOptions, experiments: &[Listed]) -> LabReport {
    let mut environment = environment::machine(&options.directory);
    environment.extend(environment::load("before"));
    let names: Vec<&str> = experiments.iter().map(|listed| listed.name).collect();
    LabReport {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        effort: options.effort,
        seed: options.seed,
        environment,
        answers: answers(&[]),
        experiments: Vec::with_capacity(experiments.len()),
        claims: claims::expected(&names),
    }
}

/// Checks that the directory exists, so that a mistyped one is not created.
fn check_directory(directory: &Path) -> Result<()> {
    let kind = std::fs::metadata(directory).map_err(|e| Error::io("open", directory, e))?;
    if kind.is_dir() {
        return Ok(());
    }
    let message = format!("`{}` is not a directory", directory.display());
    Err(Error::new(ErrorKind::Usage, message)
        .hint(format_args!("{DIR} names a directory on the disk to measure")))
}

/// Sets the hint of an error for a full disk: the options of the laboratory are not those of a job.
fn with_disk_hint(error: Error) -> Error {
    match error.kind() {
        ErrorKind::DiskFull => error.hint(format_args!("use {DIR} on a larger disk, or {QUICK}")),
        _ => error,
    }
}

/// Sets the hint of an error in creating the work directory.
fn with_directory_hint(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Usage => error.hint(format_args!("wait for it to end, or use another {DIR}")),
        ErrorKind::Io => {
            error.hint(format_args!("use {DIR} with a directory that you may write to"))
        }
        _ => error,
    }
}
