//! Addresses among the arguments: what is read from servers, and what cannot be written to them.

use crate::args::{Command, GenerateModel, Resources};
use outcore::error::Text;
use outcore::error::opt::{OUTPUT, PROFILE, REJECTS, REPORT, REPRESENTATIVES, TRUTH, WORK_DIR};
use outcore::io::{Disk, Files, Stop};
use outcore::{Error, ErrorKind, Result};
use outcore_remote::{is_address, is_squeezed, shown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a command. Addresses among its arguments become the names by which objects are read, without
/// secrets, and patterns of them what they stand for. `stop` ends waiting for a server, or the other end of a
/// pipe.
///
/// # Errors
/// `Usage` for an address where something is written, or that cannot be used; `Io` if a pattern matches
/// nothing, or its server cannot be asked.
pub(crate) fn files(command: &mut Command, stop: Stop) -> Result<Files> {
    for (what, path) in of_disk(command) {
        if is_address(path) {
            let message = format_args!("{what} is `{}`, but that is a file's place", shown(path));
            return Err(Error::usage(message)
                .hint("only edge lists, lists of nodes and communities are read from servers"));
        }
    }
    let (lists, single) = read(command);
    let all = || lists.iter().flat_map(|list| list.iter()).chain(single.iter().map(|path| &**path));
    if let Some(path) =
        all().find(|path| is_squeezed(path) && Files::default().entry(path).is_err())
    {
        let message = format!("`{}` is no file, nor an address", path.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("an address has two slashes: give it as text, not as a `pathlib.Path`"));
    }
    match all().find(|path| is_address(path)).map(|path| shown(path)) {
        None => Ok(Files::new(Arc::new(Disk::stopped_by(stop)))),
        Some(address) => admit(&address, lists, single, stop),
    }
}

/// Makes the names by which objects are read of all addresses.
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
                let message = format!("`{}` stands for {} objects", shown(path), more + 1);
                return Err(Error::new(ErrorKind::Usage, message).hint("name one of them"));
            }
        };
    }
    Ok(Files::new(Arc::new(remote)))
}

/// Refuses addresses, for want of a client.
#[cfg(not(feature = "remote"))]
fn admit(
    first: &str,
    _lists: Vec<&mut Vec<PathBuf>>,
    _single: Vec<&mut PathBuf>,
    _stop: Stop,
) -> Result<Files> {
    let message =
        format!("`{first}` is on a server, and this outcore was built without what reads from one");
    Err(Error::new(ErrorKind::Usage, message)
        .hint("build it with `--features remote`, or copy the file here first"))
}

/// What the environment says of S3.
#[cfg(feature = "remote")]
fn settings() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with("AWS_"))
}

/// What a command reads: lists of any length, and single files.
fn read(command: &mut Command) -> (Vec<&mut Vec<PathBuf>>, Vec<&mut PathBuf>) {
    match command {
        Command::Cluster(cluster) => {
            let labels = cluster.labels.files_mut();
            let single = cluster.input.nodes.iter_mut().chain(&mut cluster.present.earlier);
            (vec![&mut cluster.inputs], single.chain(labels).collect())
        }
        Command::Build(build) => (vec![&mut build.edges], build.input.nodes.iter_mut().collect()),
        Command::Plan(plan) => {
            let single = plan.input.nodes.iter_mut().chain(plan.labels.files_mut());
            (vec![&mut plan.inputs], single.collect())
        }
        Command::Score(score) => {
            let single = std::iter::once(&mut score.communities).chain(&mut score.against);
            (Vec::new(), single.collect())
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// What a command writes, and what it reads that is no object, with the words for each.
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
            ]);
            resources = Some(&cluster.resources);
        }
        Command::Build(build) => {
            found.extend([
                (OUTPUT.into(), Some(&build.output)),
                (REPORT.into(), build.report.as_ref()),
                (REJECTS.into(), build.input.rejects.as_ref()),
            ]);
            resources = Some(&build.resources);
        }
        Command::Plan(plan) => resources = Some(&plan.resources),
        Command::Score(score) => {
            found.push(("the graph".into(), Some(&score.graph)));
            resources = Some(&score.resources);
        }
        Command::Inspect(inspect) => found.push(("what to inspect".into(), Some(&inspect.path))),
        Command::Generate(generate) => match &generate.model {
            GenerateModel::Planted(planted) => found.extend([
                (OUTPUT.into(), Some(&planted.format.output)),
                (TRUTH.into(), planted.truth.as_ref()),
            ]),
            GenerateModel::Rmat(rmat) => found.push((OUTPUT.into(), Some(&rmat.format.output))),
        },
        Command::Lab(_) | Command::Completions { .. } | Command::Man(_) => {}
    }
    if let Some(Resources { work_dir, profile, .. }) = resources {
        found.extend([(WORK_DIR.into(), work_dir.as_ref()), (PROFILE.into(), profile.as_ref())]);
    }
    found.into_iter().filter_map(|(what, path)| Some((what, path?.as_path()))).collect()
}
