//! Addresses among the arguments: admits those that are read, and refuses those that would be written.

use crate::args::{Command, GenerateModel, GivenColumns, Resources};
use outcore::error::Text;
use outcore::error::opt::{
    APPEND, MOVED, NODES, OUTPUT, PROFILE, REJECTS, REPORT, REPRESENTATIVES, SUMMARY, TRUTH,
    WORK_DIR,
};
use outcore::io::{Disk, Files, Stop};
use outcore::{Error, ErrorKind, Result};
use outcore_remote::{is_address, is_squeezed, shown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the files of a command. Takes the columns from their names, replaces addresses among its arguments with the
/// names by which objects are read, without secrets, and expands patterns of addresses. `stop` ends waiting for a
/// server, or for the other end of a pipe.
///
/// # Errors
/// `Usage` for an address where something is written, or that cannot be used; `Io` if a pattern matches
/// nothing, or its server does not answer.
pub(crate) fn files(command: &mut Command, stop: Stop) -> Result<Files> {
    let columns = GivenColumns::take(command)?;
    let files = files_of(command, stop)?;
    columns.store(command);
    Ok(files)
}

/// Like [`files`], for names without columns.
fn files_of(command: &mut Command, stop: Stop) -> Result<Files> {
    for (what, path) in of_disk(command) {
        if is_address(path) {
            let message = format_args!("{what} is `{}`, but must be a local path", shown(path));
            return Err(Error::usage(message)
                .hint("only edge lists, lists of nodes and communities are read from servers"));
        }
    }
    let (lists, single) = read(command);
    let all = || lists.iter().flat_map(|list| list.iter()).chain(single.iter().map(|path| &**path));
    if let Some(path) =
        all().find(|path| is_squeezed(path) && Files::default().entry(path).is_err())
    {
        let message = format!("`{}` is neither a file nor an address", path.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("an address has two slashes: give it as text, not as a `pathlib.Path`"));
    }
    match all().find(|path| is_address(path)).map(|path| shown(path)) {
        None => Ok(Files::new(Arc::new(Disk::stopped_by(stop)))),
        Some(address) => admit(&address, lists, single, stop),
    }
}

/// Replaces all addresses with the names by which objects are read.
#[cfg(feature = "remote")]
fn admit(
    _first: &str,
    lists: Vec<&mut Vec<PathBuf>>,
    mut single: Vec<&mut PathBuf>,
    stop: Stop,
) -> Result<Files> {
    let remote = outcore_remote::Remote::new(settings(), stop)?;
    for list in lists {
        let mut admitted = Vec::with_capacity(list.len());
        for path in list.drain(..) {
            match is_address(&path) {
                true => admitted.extend(remote.admit(&path)?),
                false => admitted.push(path),
            }
        }
        *list = admitted;
    }
    for path in single.iter_mut().filter(|path| is_address(path)) {
        let mut admitted = remote.admit(path)?;
        **path = match (admitted.pop(), admitted.len()) {
            (Some(name), 0) => name,
            (_, more) => {
                let message = format!("`{}` matches {} objects", shown(path), more + 1);
                return Err(Error::new(ErrorKind::Usage, message).hint("name one of them"));
            }
        };
    }
    Ok(Files::new(Arc::new(remote)))
}

/// Refuses addresses, because there is no client.
#[cfg(not(feature = "remote"))]
fn admit(
    first: &str,
    _lists: Vec<&mut Vec<PathBuf>>,
    _single: Vec<&mut PathBuf>,
    _stop: Stop,
) -> Result<Files> {
    let message =
        format!("`{first}` is on a server, but this outcore was built without support for servers");
    Err(Error::new(ErrorKind::Usage, message)
        .hint("build it with `--features remote`, or copy the file here first"))
}

/// Returns the settings for S3 in the environment.
#[cfg(feature = "remote")]
fn settings() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with("AWS_"))
}

/// Returns the paths that a command reads: lists of any length, and single files.
fn read(command: &mut Command) -> (Vec<&mut Vec<PathBuf>>, Vec<&mut PathBuf>) {
    match command {
        Command::Cluster(cluster) => {
            let labels = cluster.method.initial.iter_mut().chain(cluster.labels.files_mut());
            let single = cluster.input.nodes.iter_mut().chain(&mut cluster.present.earlier);
            (vec![&mut cluster.inputs], single.chain(labels).collect())
        }
        Command::Build(build) => (vec![&mut build.edges], build.input.nodes.iter_mut().collect()),
        Command::Plan(plan) => {
            let single = plan.input.nodes.iter_mut().chain(plan.labels.files_mut());
            (vec![&mut plan.inputs], single.chain(&mut plan.method.initial).collect())
        }
        Command::Score(score) => {
            let single = std::iter::once(&mut score.communities).chain(&mut score.against);
            (Vec::new(), single.collect())
        }
        Command::Export(export) => (Vec::new(), export.communities.iter_mut().collect()),
        Command::Compare(compare) => {
            (vec![&mut compare.more], vec![&mut compare.a, &mut compare.b])
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// Returns the paths that must be local, each with its description: those that a command writes, and those that it
/// reads but that cannot be objects.
fn of_disk(command: &Command) -> Vec<(Text, &Path)> {
    let mut found: Vec<(Text, Option<&PathBuf>)> = Vec::new();
    let mut resources = None;
    match command {
        Command::Cluster(cluster) => {
            found.extend([
                (OUTPUT.into(), Some(&cluster.output)),
                (REPORT.into(), cluster.report.as_ref()),
                (REJECTS.into(), cluster.input.rejects.as_ref()),
                (REPRESENTATIVES.into(), cluster.present.representatives.as_ref()),
                (SUMMARY.into(), cluster.present.summary.as_ref()),
            ]);
            resources = Some(&cluster.resources);
        }
        Command::Build(build) => {
            found.extend([
                (OUTPUT.into(), Some(&build.output)),
                (REPORT.into(), build.report.as_ref()),
                (APPEND.into(), build.append.as_ref()),
                (REJECTS.into(), build.input.rejects.as_ref()),
            ]);
            resources = Some(&build.resources);
        }
        Command::Plan(plan) => {
            found.push((APPEND.into(), plan.append.as_ref()));
            resources = Some(&plan.resources);
        }
        Command::Score(score) => {
            found.push(("the graph".into(), Some(&score.graph)));
            resources = Some(&score.resources);
        }
        Command::Export(export) => {
            found.extend([
                ("the graph".into(), Some(&export.graph)),
                (OUTPUT.into(), Some(&export.output)),
                (NODES.into(), export.nodes.as_ref()),
            ]);
            resources = Some(&export.resources);
        }
        Command::Compare(compare) => {
            found.extend([
                (OUTPUT.into(), compare.output.as_ref()),
                (MOVED.into(), compare.moved.as_ref()),
                (REPORT.into(), compare.report.as_ref()),
            ]);
            resources = Some(&compare.resources);
        }
        Command::Inspect(inspect) => found.extend([
            ("the path to inspect".into(), Some(&inspect.path)),
            (REPRESENTATIVES.into(), inspect.representatives.as_ref()),
        ]),
        Command::Generate(generate) => match &generate.model {
            GenerateModel::Planted(planted) => found.extend([
                (OUTPUT.into(), Some(&planted.format.output)),
                (TRUTH.into(), planted.truth.as_ref()),
            ]),
            GenerateModel::Rmat(rmat) => found.push((OUTPUT.into(), Some(&rmat.format.output))),
        },
        Command::Lab(_) | Command::Formats(_) | Command::Completions { .. } | Command::Man(_) => {}
    }
    if let Some(Resources { work_dir, profile, .. }) = resources {
        found.extend([(WORK_DIR.into(), work_dir.as_ref()), (PROFILE.into(), profile.as_ref())]);
    }
    found.into_iter().filter_map(|(what, path)| Some((what, path?.as_path()))).collect()
}
