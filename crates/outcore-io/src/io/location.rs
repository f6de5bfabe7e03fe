//! Where paths lead: the file or directory there, whatever its spelling, and the place of a file that does not exist yet.
//!
//! ```text
//!  results/../out/x.tsv     found    identity of the file, if there is one (through links)
//!                           within   identities of /home/u/out, /home/u, /home, /
//!                           names    x.tsv: what is below the innermost directory that exists
//! ```
//! Two paths lead to the same place if they find the same file, or if they have the same names below the same directory.
//! Cost: a system call for each directory above a path; directories are looked up once.

use super::{FileIdentity, Files, plain};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Number of links that are followed one after the other before they count as a cycle, as in the system.
const LINKS_MAX: usize = 40;

/// Existing directories that a path is in.
#[derive(Debug, Default)]
struct Containment {
    /// Path of the innermost one, without links.
    path: PathBuf,
    /// Identities, innermost first.
    all: Vec<FileIdentity>,
}

/// Place that a path leads to.
#[derive(Debug)]
pub struct Location {
    found: Option<FileIdentity>,
    within: Rc<Containment>,
    names: PathBuf,
    /// Where a link leads that leads to nothing yet.
    target: Option<Box<Self>>,
}

impl Location {
    /// Whether both are the same file or directory, or would be.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_named = |one: &Self, other: &Self| {
            one.finds(other) || one.is_beside(other) && one.names == other.names
        };
        self.ends().any(|one| other.ends().any(|other| is_named(one, other)))
    }

    /// Iterates over this place and the one that a link to nothing leads to.
    fn ends(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.target.as_deref())
    }

    /// Whether both lead to the same existing file or directory.
    pub fn finds(&self, other: &Self) -> bool {
        self.found.is_some() && self.found == other.found
    }

    /// Whether this is in the directory `other`, or would be, at any depth.
    pub fn is_in(&self, other: &Self) -> bool {
        let is_there = other.found.as_ref().is_some_and(|found| self.within.all.contains(found));
        let is_below = self.names != other.names && self.names.starts_with(&other.names);
        is_there || self.is_beside(other) && is_below
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.within.all.first() == other.within.all.first()
    }

    /// Returns the existing directories that this is in, innermost first, without links.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.within.path.ancestors()
    }
}

/// Finds places, and remembers directories.
pub struct Locator<'a> {
    files: &'a Files,
    /// Existing directories that a directory is in or is itself, and the names below them.
    known: RefCell<HashMap<PathBuf, (Rc<Containment>, PathBuf)>>,
}

impl<'a> Locator<'a> {
    /// Creates a locator for paths of these files.
    pub fn new(files: &'a Files) -> Self {
        Self { files, known: RefCell::default() }
    }

    /// Returns the place of a path.
    pub fn locate(&self, path: &Path) -> Location {
        let mut place = self.named(path);
        if place.found.is_none() {
            let link = |path: &PathBuf| self.files.storage.link(path);
            let links = std::iter::successors(link(&path.to_path_buf()), link);
            place.target = links.take(LINKS_MAX).last().map(|end| Box::new(self.named(&end)));
        }
        place
    }

    /// Returns the place with the name of a path.
    fn named(&self, path: &Path) -> Location {
        let found = self.files.storage.identity(path);
        // `..` is a directory, whose name is known only to the storage.
        let full = match path.file_name() {
            Some(_) => path.to_path_buf(),
            None => self.files.storage.canonical(path).unwrap_or_else(|_| path.to_path_buf()),
        };
        let (parent, name) = match (full.parent(), full.file_name()) {
            (Some(parent), Some(name)) => (parent, Path::new(name)),
            _ => (full.as_path(), Path::new("")),
        };
        let mut known = self.known.borrow_mut();
        let (within, names) =
            known.entry(parent.to_path_buf()).or_insert_with(|| self.within(parent));
        Location { found, within: within.clone(), names: plain(&names.join(name)), target: None }
    }

    fn within(&self, directory: &Path) -> (Rc<Containment>, PathBuf) {
        let storage = &self.files.storage;
        let found = directory.ancestors().find_map(|existing| {
            let is_current = existing.as_os_str().is_empty();
            let path =
                storage.canonical(if is_current { Path::new(".") } else { existing }).ok()?;
            Some((path, directory.strip_prefix(existing).unwrap_or(directory)))
        });
        let Some((path, names)) = found else { return (Rc::default(), directory.to_path_buf()) };
        let all = path.ancestors().filter_map(|above| storage.identity(above)).collect();
        (Rc::new(Containment { path, all }), names.to_path_buf())
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "links are made from outside")]
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_place_does_not_depend_on_the_spelling_of_its_path() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |path: &str| temporary.path().join(path);
        std::fs::create_dir_all(at("a/deep")).unwrap();
        std::fs::write(at("a/file"), "").unwrap();
        std::fs::hard_link(at("a/file"), at("hard")).unwrap();
        symlink("a", at("link")).unwrap();
        symlink("a/deep", at("down")).unwrap();
        symlink("a/file", at("soft")).unwrap();
        symlink("link/none", at("broken")).unwrap();
        symlink("broken", at("to-broken")).unwrap();
        symlink("circle", at("circle")).unwrap();
        let files = Files::default();
        let locator = Locator::new(&files);
        let place = |path: &str| locator.locate(&at(path));
        for (one, other) in [
            ("a/file", "./a/./file"),
            ("a/file", "a/deep/../file"),
            ("a/file", "down/../file"),
            ("a/file", "link/file"),
            ("a/file", "hard"),
            ("a/file", "soft"),
            ("a/none", "link/none"),
            ("a/none", "down/../none"),
            ("a/none/more", "link/./none/more"),
            ("a", "link/deep/.."),
            ("a", "link"),
            ("a/none", "broken"),
            ("broken", "to-broken"),
        ] {
            assert!(place(one).is_same(&place(other)), "{one} {other}");
            assert!(place(other).is_same(&place(one)), "{one} {other}");
        }
        let differ = [("a/none", "none"), ("a/none", "a/other"), ("a", "a/deep"), ("a", "circle")];
        for (one, other) in differ {
            assert!(!place(one).is_same(&place(other)), "{one} {other}");
        }
        for (inner, outer) in [
            ("a/file", "a"),
            ("link/none", "a"),
            ("down/none", "link"),
            ("a/none/more", "link/none"),
            ("down/..", "."),
        ] {
            assert!(place(inner).is_in(&place(outer)), "{inner} {outer}");
            assert!(!place(outer).is_in(&place(inner)), "{inner} {outer}");
        }
        assert!(!place("a/none2").is_in(&place("a/none")));
        assert!(!place("hard").is_in(&place("a")), "its name is elsewhere");
    }
}
