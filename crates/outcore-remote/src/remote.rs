//! [`Remote`]: storage of files on disk, and of admitted objects.

use crate::address::{is_address, shown};
use crate::ahead::{HELD_BYTES, RemoteFile};
use crate::client::{Clients, Stores};
use crate::object::{self, Object};
use crate::object_address::{self, Address};
use crate::waiting::Waiting;
use object_store::path::Path as Key;
use outcore::io::{Device, Disk, Entry, File, FileIdentity, Lock, Mode, Stop, Storage};
use outcore::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Storage of files on disk, and of admitted objects.
pub struct Remote {
    disk: Disk,
    clients: Clients,
    waiting: Arc<Waiting>,
    objects: Mutex<BTreeMap<PathBuf, Arc<Object>>>,
}

impl Remote {
    /// Creates the storage with `settings` for S3, named like environment variables (`AWS_REGION`); `stop` ends every
    /// wait.
    ///
    /// # Errors
    /// `Io` if threads cannot be started, or the system's certificates cannot be read.
    pub fn new(settings: impl IntoIterator<Item = (String, String)>, stop: Stop) -> Result<Self> {
        Ok(Self {
            disk: Disk::stopped_by(stop.clone()),
            clients: Clients::new(settings.into_iter().collect())?,
            waiting: Arc::new(Waiting::new(stop)?),
            objects: Mutex::default(),
        })
    }

    /// Admits an address as the user wrote it, and returns the name by which its object is read from now on; several
    /// names for a pattern (`s3://bucket/edges/*.parquet`), sorted. Requests the identity of the object.
    ///
    /// # Errors
    /// `Usage` for anything but the address of an object, or for a pattern that cannot be expanded; `Io` if there is
    /// no object, or it cannot be read.
    pub fn admit(&self, path: &Path) -> Result<Vec<PathBuf>> {
        match Address::parse(path)? {
            Address::Http(url) => {
                let name = shown(path);
                let store = self.clients.of_url(&name, &url)?;
                let (name, object) = self.insert(&name, url.as_str(), store, Key::ROOT);
                object.look()?;
                Ok(vec![name])
            }
            Address::S3 { bucket, key } => {
                let store = self.clients.of_bucket(&bucket)?;
                let object = |key: &str| {
                    let name = format!("s3://{bucket}/{key}");
                    let place = Key::parse(key).map_err(|_| object::no_key(&name))?;
                    Ok::<_, Error>(self.insert(&name, &name, store.clone(), place))
                };
                // As with files, a name that exists is not a pattern.
                let (name, whole) = object(&key)?;
                match whole.look() {
                    Ok(_) => return Ok(vec![name]),
                    Err(error) if !object_address::is_pattern(&key) => return Err(error),
                    Err(_) => self.table().remove(&name),
                };
                let listed = object::matching(&store.look, &bucket, &key, &self.waiting)?;
                let known = listed.into_iter().map(|listed| {
                    let (name, object) = object(listed.location.as_ref())?;
                    object.set_listed(listed);
                    Ok(name)
                });
                known.collect()
            }
        }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Arc<Object>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores an object under its name, with a number appended if another object has that name. Fragments (`#2`)
    /// are never sent, so this cannot be the address of another object.
    fn insert(&self, name: &str, full: &str, store: Stores, key: Key) -> (PathBuf, Arc<Object>) {
        let mut table = self.table();
        let (mut path, mut number) = (PathBuf::from(name), 1);
        while let Some(other) = table.get(&path) {
            if other.is_at(full) {
                return (path, other.clone());
            }
            number += 1;
            path = PathBuf::from(format!("{name}#{number}"));
        }
        let object =
            Object::new(path.display().to_string(), full, store, key, self.waiting.clone());
        let object = Arc::new(object);
        table.insert(path.clone(), object.clone());
        (path, object)
    }

    fn object(&self, path: &Path) -> io::Result<Arc<Object>> {
        self.table().get(path).cloned().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "nothing is read from this address")
        })
    }
}

/// Returns the error for an attempt to modify an object.
fn read_only(path: &Path) -> io::Error {
    let message = format!("cannot write to `{}`: objects are read-only", shown(path));
    let error = Error::new(ErrorKind::Usage, message);
    io::Error::other(error.hint("write to a file, and copy it there"))
}

impl Storage for Remote {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        match (is_address(path), mode) {
            (false, _) => self.disk.open(path, mode),
            (true, Mode::Read | Mode::ReadDirect) => {
                Ok(Box::new(RemoteFile::open(self.object(path)?, self.waiting.clone())?))
            }
            (true, _) => Err(read_only(path)),
        }
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        if !is_address(path) {
            return self.disk.open_stream(path);
        }
        let file = RemoteFile::open(self.object(path)?, self.waiting.clone())?;
        Ok(Box::new(FromStart { file, at: 0 }))
    }

    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.create_stream(path) }
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        if is_address(to) { Err(read_only(to)) } else { self.disk.publish(from, to) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.remove(path) }
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.create_directory(path) }
    }

    fn create_private_directory(&self, path: &Path) -> io::Result<()> {
        if is_address(path) {
            Err(read_only(path))
        } else {
            self.disk.create_private_directory(path)
        }
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.remove_directory(path) }
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.sync(path) }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        if is_address(directory) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.disk.list(directory)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        if !is_address(path) {
            return self.disk.entry(path);
        }
        let object = self.object(path)?;
        let identity = object.look().map_err(io::Error::other)?;
        Ok(Entry {
            path: path.to_path_buf(),
            bytes: identity.bytes(),
            is_directory: false,
            modified_ms: identity.modified_ms(),
            tag: identity.tag().map(str::to_owned),
        })
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        if is_address(path) { None } else { self.disk.link(path) }
    }

    fn is_regular(&self, path: &Path) -> bool {
        if is_address(path) { self.object(path).is_ok() } else { self.disk.is_regular(path) }
    }

    fn identity(&self, path: &Path) -> Option<FileIdentity> {
        match is_address(path) {
            true => Some(FileIdentity::Path(path.to_path_buf())),
            false => self.disk.identity(path),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if is_address(path) { Ok(path.to_path_buf()) } else { self.disk.canonical(path) }
    }

    fn is_own(&self, path: &Path) -> bool {
        !is_address(path) && self.disk.is_own(path)
    }

    fn is_read_only(&self, path: &Path) -> bool {
        is_address(path)
    }

    fn held_bytes(&self, path: &Path) -> u64 {
        if is_address(path) { HELD_BYTES } else { 0 }
    }

    fn create_new_directory(&self, path: &Path) -> io::Result<()> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.create_new_directory(path) }
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.free_bytes(path) }
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        if is_address(path) { Err(read_only(path)) } else { self.disk.lock(path) }
    }

    fn device(&self, path: &Path) -> Option<Device> {
        if is_address(path) { None } else { self.disk.device(path) }
    }
}

/// Sequential reader of an object.
struct FromStart {
    file: RemoteFile,
    at: u64,
}

impl io::Read for FromStart {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.at, into)?;
        self.at += count as u64;
        Ok(count)
    }
}
