//! Directories of the simulated storage: their current content, and the content that a power loss leaves.
//!
//! A directory has an identity independent of its name: when it is renamed, or removed and recreated, its
//! content does not appear elsewhere. Files and directories that were never created, but that hold something,
//! are durable.

use super::crash::{Content, Random};
use super::locked;
use outcore_io::Entry;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// File shared by its open handles and the storage.
pub(super) type SharedFile = Arc<Mutex<Content>>;

#[derive(Clone)]
pub(super) enum Node {
    File(SharedFile),
    Directory(usize),
}

type Entries = BTreeMap<OsString, Node>;

/// Change to the entries of a directory.
enum EntryChange {
    Put(OsString, Node),
    Remove(OsString),
    Rename(OsString, OsString),
}

impl EntryChange {
    fn apply(&self, entries: &mut Entries) {
        match self {
            Self::Put(name, node) => drop(entries.insert(name.clone(), node.clone())),
            Self::Remove(name) => drop(entries.remove(name)),
            Self::Rename(from, to) => {
                let node = entries.remove(from).expect("it was there when it was renamed");
                entries.insert(to.clone(), node);
            }
        }
    }
}

#[derive(Default)]
struct Directory {
    entries: Entries,
    /// Entries at the last sync, and the changes after it.
    durable: Entries,
    changes: Vec<EntryChange>,
}

/// Move of a directory to another parent: its old and its new place.
struct Move {
    from: (usize, OsString),
    to: (usize, OsString),
}

/// All directories, by number; the first is the root of all paths, relative ones as well.
pub(super) struct Tree {
    directories: Vec<Directory>,
    /// Moves since the last power loss.
    moves: Vec<Move>,
    is_tracked: bool,
}

impl Default for Tree {
    fn default() -> Self {
        Self { directories: vec![Directory::default()], moves: Vec::new(), is_tracked: false }
    }
}

/// Returns the parts of a path.
fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter(|part| *part != Component::CurDir).map(Component::as_os_str)
}

impl Tree {
    pub(super) fn is_tracked(&self) -> bool {
        self.is_tracked
    }

    fn child(&self, directory: usize, name: &OsStr) -> Option<Node> {
        self.directories[directory].entries.get(name).cloned()
    }

    pub(super) fn find(&self, path: &Path) -> Option<Node> {
        names(path).try_fold(Node::Directory(0), |node, name| match node {
            Node::Directory(directory) => self.child(directory, name),
            Node::File(_) => None,
        })
    }

    pub(super) fn file(&self, path: &Path) -> Option<SharedFile> {
        match self.find(path)? {
            Node::File(file) => Some(file),
            Node::Directory(_) => None,
        }
    }

    fn directory(&self, path: &Path) -> io::Result<usize> {
        match self.find(path) {
            Some(Node::Directory(directory)) => Ok(directory),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn change(&mut self, directory: usize, change: EntryChange) {
        let directory = &mut self.directories[directory];
        change.apply(&mut directory.entries);
        if self.is_tracked {
            directory.changes.push(change);
        }
    }

    /// Returns the directory `path`, creating it and its ancestors where missing: durably, or as a change.
    fn make(&mut self, path: &Path, for_good: bool) -> io::Result<usize> {
        let mut at = 0;
        for name in names(path) {
            at = match self.child(at, name) {
                Some(Node::Directory(directory)) => directory,
                Some(Node::File(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
                None => {
                    let made = self.directories.len();
                    self.directories.push(Directory::default());
                    let change = EntryChange::Put(name.to_owned(), Node::Directory(made));
                    if for_good {
                        change.apply(&mut self.directories[at].durable);
                        change.apply(&mut self.directories[at].entries);
                    } else {
                        self.change(at, change);
                    }
                    made
                }
            };
        }
        Ok(at)
    }

    /// Returns the directory and name of `path`, which need not exist.
    fn place(&mut self, path: &Path) -> io::Result<(usize, OsString)> {
        let name = names(path).last().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok((self.make(parent, true)?, name))
    }

    /// Puts a file in place durably.
    pub(super) fn put(&mut self, path: &Path, content: Content) {
        let (directory, name) = self.place(path).expect("a test puts files at valid paths");
        let change = EntryChange::Put(name, Node::File(Arc::new(Mutex::new(content))));
        change.apply(&mut self.directories[directory].durable);
        change.apply(&mut self.directories[directory].entries);
    }

    /// Creates a file. An existing one is unlinked.
    pub(super) fn create(&mut self, path: &Path) -> io::Result<SharedFile> {
        let (directory, name) = self.place(path)?;
        if let Some(Node::Directory(_)) = self.child(directory, &name) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let file = Arc::new(Mutex::new(Content::new(self.is_tracked)));
        self.change(directory, EntryChange::Put(name, Node::File(file.clone())));
        Ok(file)
    }

    /// Creates a directory; returns the directories that did not exist before.
    pub(super) fn create_directory(&mut self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let is_missing = |path: &&Path| names(path).next().is_some() && self.find(path).is_none();
        let missing = path.ancestors().take_while(is_missing).map(Path::to_path_buf).collect();
        self.make(path, false)?;
        Ok(missing)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = self.find(from).ok_or(io::ErrorKind::NotFound)?;
        let (old, old_name) = self.place(from)?;
        let (new, new_name) = self.place(to)?;
        if let Some(Node::Directory(there)) = self.child(new, &new_name)
            && !self.directories[there].entries.is_empty()
        {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if old == new {
            self.change(new, EntryChange::Rename(old_name, new_name));
        } else {
            if self.is_tracked && matches!(node, Node::Directory(_)) {
                let (from, to) = ((old, old_name.clone()), (new, new_name.clone()));
                self.moves.push(Move { from, to });
            }
            self.change(new, EntryChange::Put(new_name, node));
            self.change(old, EntryChange::Remove(old_name));
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.file(path).ok_or(io::ErrorKind::NotFound)?;
        let (directory, name) = self.place(path)?;
        self.change(directory, EntryChange::Remove(name));
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        let removed = self.directory(path)?;
        if !self.directories[removed].entries.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let (directory, name) = self.place(path)?;
        self.change(directory, EntryChange::Remove(name));
        Ok(())
    }

    pub(super) fn entry(&self, path: &Path) -> io::Result<Entry> {
        let node = self.find(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(described(path.to_path_buf(), &node))
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let entries = &self.directories[self.directory(path)?].entries;
        let mut listed: Vec<Entry> =
            entries.iter().map(|(name, node)| described(path.join(name), node)).collect();
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(listed)
    }

    /// Returns all files.
    pub(super) fn files(&self) -> Vec<(PathBuf, SharedFile)> {
        let mut found = Vec::new();
        let mut left = vec![(PathBuf::new(), 0)];
        while let Some((path, directory)) = left.pop() {
            for (name, node) in &self.directories[directory].entries {
                match node {
                    Node::File(file) => found.push((path.join(name), file.clone())),
                    Node::Directory(directory) => left.push((path.join(name), *directory)),
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Starts tracking power losses; the current content counts as durable.
    pub(super) fn track(&mut self) {
        self.is_tracked = true;
        for number in 0..self.directories.len() {
            self.sync(number);
        }
        for (_, file) in self.files() {
            locked(&file).track();
        }
    }

    fn sync(&mut self, directory: usize) {
        let directory = &mut self.directories[directory];
        directory.durable = directory.entries.clone();
        directory.changes.clear();
    }

    /// Makes the entries of the directory that holds `path` durable.
    pub(super) fn sync_parent(&mut self, path: &Path) -> io::Result<()> {
        let (directory, _) = self.place(path)?;
        self.sync(directory);
        Ok(())
    }

    /// Applies a power loss: of the changes to each directory since its last sync, a prefix survives; of
    /// files, the result of [`Content::lose`].
    pub(super) fn crash(&mut self, random: &mut Random) {
        for directory in &mut self.directories {
            let kept = random.below(directory.changes.len() as u64 + 1) as usize;
            let changes = std::mem::take(&mut directory.changes);
            changes[..kept].iter().for_each(|change| change.apply(&mut directory.durable));
            directory.entries = directory.durable.clone();
        }
        self.forget_old_names();
        for (_, file) in self.files() {
            locked(&file).lose(random);
        }
    }

    /// Removes old names, since a directory has one parent: one that has its new name no longer has the old
    /// one.
    fn forget_old_names(&mut self) {
        for Move { from, to } in std::mem::take(&mut self.moves) {
            let number = |tree: &Self, (directory, name): &(usize, OsString)| {
                let node = tree.child(*directory, name);
                node.and_then(|node| if let Node::Directory(it) = node { Some(it) } else { None })
            };
            if number(self, &to).is_some() && number(self, &to) == number(self, &from) {
                let (directory, name) = from;
                self.directories[directory].entries.remove(&name);
                self.directories[directory].durable.remove(&name);
            }
        }
    }
}

fn described(path: PathBuf, node: &Node) -> Entry {
    let (bytes, is_directory, modified_ms) = match node {
        Node::Directory(_) => (0, true, None),
        Node::File(file) => {
            let content = locked(file);
            (content.bytes().len() as u64, false, Some(content.modified))
        }
    };
    Entry { path, bytes, is_directory, modified_ms, tag: None }
}
