//! Comparison of two results, as a job: checks before the work, a work directory, stages.

use super::context::Context;
use super::resume::WorkDirectory;
use super::{InputFile, JobKind, JobManifest, in_pool};
use crate::compare::{CompareOptions, CompareReport, Comparison, budget};
use crate::error::opt::{MOVED, OUTPUT, OUTPUT_HEADER};
use crate::error::{Error, Result};
use crate::io::Files;
use crate::membership;
use crate::output::{self, Written};
use crate::progress::{Observer, Stage};
use std::path::Path;
use std::time::Instant;

/// Compares two files of communities: which nodes moved, and what became of each community.
///
/// # Errors
/// `BadInput` for a bad line, a node with two communities, or files without a common node; `MemoryTooSmall` before any
/// work; `InputChanged`, `Io`, `DiskFull`, `Interrupted`. No temporary file is left behind.
///
/// ```
/// use outcore::compare::CompareOptions;
/// use outcore::input::CommunityInput;
/// use outcore::io::Files;
/// use outcore::job::{self, Limits};
/// use outcore::progress::Silent;
/// # let temporary = tempfile::tempdir().expect("a directory");
/// # let directory = temporary.path();
///
/// let (files, a, b) = (Files::default(), directory.join("a.tsv"), directory.join("b.tsv"));
/// files.write(&a, b"ann\t0\nbob\t0\ncarl\t0\ndora\t1\nerik\t1\n")?;
/// files.write(&b, b"ann\t5\nbob\t5\ncarl\t7\ndora\t7\nerik\t7\n")?;
/// let options = CompareOptions {
///     a,
///     b,
///     input: CommunityInput::default(),
///     output: Some(directory.join("overlaps.tsv")),
///     moved: Some(directory.join("moved.tsv")),
///     output_header: false,
///     limits: Limits { memory_bytes: 128 << 20, threads: 2 },
///     work_dir: directory.to_path_buf(),
/// };
/// let report = job::compare(&files, &options, &Silent)?;
/// assert_eq!((report.node_count, report.moved_count), (5, 1));
/// assert_eq!(files.read(&directory.join("moved.tsv"))?, b"carl\t0\t7\n");
/// # Ok::<(), outcore::Error>(())
/// ```
pub fn compare(
    files: &Files,
    options: &CompareOptions,
    observer: &dyn Observer,
) -> Result<CompareReport> {
    options.input.check()?;
    budget(&options.limits, 0)?;
    super::compare_paths(options).check(files)?;
    check_outputs(files, options)?;
    let inputs = [options.a.clone(), options.b.clone()];
    if inputs.iter().all(|path| path.as_path() == Path::new("-")) {
        return Err(Error::usage("standard input (`-`) can be read only once")
            .hint("write one of the results to a file first"));
    }
    membership::check_level(files, &options.input, &inputs)?;
    let files = &options.limits.tuned(files);
    in_pool(options.limits, || {
        let (start, result) = (Instant::now(), options.result());
        let manifest = JobManifest::new(files, JobKind::Compare, inputs.iter(), result);
        let known = manifest.inputs.clone();
        let work = WorkDirectory::take(files, manifest, &options.work_dir, result, &[])?;
        run(&mut Context::new(start, files, observer, options.limits, work), options, &known)
    })
}

fn run(
    context: &mut Context<'_>,
    options: &CompareOptions,
    known: &[InputFile],
) -> Result<CompareReport> {
    let scratch = context.work.path().to_path_buf();
    let mut job = Comparison::open(context.files, options, &scratch, context.observer)?;
    for at in 0..2 {
        context.stage(Stage::Match, |_| Ok(((), job.read(at)?)))?;
    }
    let found = context.stage(Stage::Compare, |_| job.compare())?;
    let report = job.report(&found)?;
    if let Some(output) = &options.moved {
        // The names of nodes are read again.
        for (path, known) in [&options.a, &options.b].into_iter().zip(known) {
            known.check_unchanged(context.files, path)?;
        }
        context.stage(Stage::Write, |_| Ok(((), job.write_moved(&found, output)?)))?;
    }
    Ok(report)
}

/// Refuses outputs that cannot be written, before the work.
fn check_outputs(files: &Files, options: &CompareOptions) -> Result<()> {
    let outputs = [(OUTPUT, &options.output), (MOVED, &options.moved)];
    for (option, path) in outputs.iter().filter_map(|(option, path)| Some((option, path.as_ref()?)))
    {
        Written::ROWS.check(option, path)?;
        output::check(files, path)?;
    }
    if options.output_header && options.output.is_none() && options.moved.is_none() {
        let message = format_args!("{OUTPUT_HEADER} is for text that is written, but none is");
        return Err(
            Error::usage(message).hint(format_args!("leave it out, or add {}", OUTPUT.of("FILE")))
        );
    }
    Ok(())
}
