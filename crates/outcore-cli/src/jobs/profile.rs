//! Profiles of disks: where they are stored, and which one a job uses.

use crate::args::Resources;
use outcore::Result;
use outcore::io::{DiskProfile, Files, ValidIf};
use outcore::progress::{Event, Observer, notify};
use std::path::{Path, PathBuf};

/// Returns the path at which the profile for the disk of `directory` is stored for this user, if the disk and
/// the user's directory are known.
pub(crate) fn stored_path(files: &Files, directory: &Path) -> Option<PathBuf> {
    let device = files.device(directory)?;
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = if cfg!(windows) {
        absolute("APPDATA")
    } else {
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))
    }?;
    let name = format!("{}.json", device.id());
    Some(home.join("outcore").join("profiles").join(name))
}

/// Returns the file of the given profile, if any.
pub(crate) fn given(resources: &Resources) -> Option<&Path> {
    resources.profile.as_deref().filter(|path| *path != Path::new("none"))
}

/// Returns `files` with the settings of the profile `given`, or else of the one stored for the disk of `directory`. An
/// invalid stored profile is not used and causes a warning.
///
/// # Errors
/// `CorruptFile` or `Io` if the given one cannot be read.
pub(crate) fn tuned(
    files: &Files,
    given: Option<&Path>,
    directory: &Path,
    observer: &dyn Observer,
) -> Result<Files> {
    match given {
        Some(path) if path == Path::new("none") => return Ok(files.clone()),
        Some(path) => return Ok(files.with_tuning(DiskProfile::load(files, path)?.tuning())),
        None => {}
    }
    let directory = existing(files, directory);
    let Some(path) = stored_path(files, directory).filter(|path| files.is_regular(path)) else {
        return Ok(files.clone());
    };
    let reason = match DiskProfile::load(files, &path) {
        Ok(profile) => match profile.valid_if.broken_by(&ValidIf::now(files, directory)) {
            None => return Ok(files.with_tuning(profile.tuning())),
            Some(reason) => format!("the profile `{}` is not used: {reason}", path.display()),
        },
        Err(error) => format!("the profile of the disk is not used: {error}"),
    };
    let text = format!("{reason}; `outcore lab tune` makes a new one");
    notify(observer, Event::Warning { text: &text.into() })?;
    Ok(files.clone())
}

/// Returns the nearest directory that already exists.
fn existing<'a>(files: &Files, directory: &'a Path) -> &'a Path {
    let exists = |path: &&Path| !path.as_os_str().is_empty() && files.entry(path).is_ok();
    directory.ancestors().find(exists).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore::ErrorKind;
    use outcore::io::Tuning;
    use outcore::progress::Silent;

    #[test]
    fn a_given_profile_must_be_valid() {
        let directory = tempfile::tempdir().unwrap();
        let files = Files::default();
        let path = directory.path().join("profile.json");
        let tuned = |path: &Path| tuned(&files, Some(path), directory.path(), &Silent);
        assert_eq!(tuned(Path::new("none")).unwrap().tuning(), Tuning::default());
        assert_eq!(tuned(&path).err().unwrap().kind(), ErrorKind::Io);
        files.write(&path, b"{}").unwrap();
        assert_eq!(tuned(&path).err().unwrap().kind(), ErrorKind::CorruptFile);
        let mut profile = DiskProfile::default();
        profile.read.depth = 3;
        profile.store(&files, &path).unwrap();
        assert_eq!(tuned(&path).unwrap().tuning().read.depth, 3);
    }
}
