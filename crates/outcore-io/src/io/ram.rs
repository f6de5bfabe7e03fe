//! [`Ram`]: storage in memory, for temporary files too small to be worth a disk.
//!
//! The same code writes and reads these files as files on disk. Memory: the bytes of the files; it is freed
//! with the last handle.

use super::{Entry, File, Mode, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Bytes = Arc<Mutex<Vec<u8>>>;

/// Files in memory; directories exist implicitly.
#[derive(Default)]
pub struct Ram {
    files: Mutex<BTreeMap<PathBuf, Bytes>>,
    /// Directories made by [`Storage::create_new_directory`].
    new_directories: Mutex<BTreeSet<PathBuf>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storage for Ram {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        let mut files = locked(&self.files);
        let bytes = match mode {
            Mode::Read | Mode::ReadDirect | Mode::Extend | Mode::ExtendDirect => {
                files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?
            }
            Mode::Create | Mode::CreateDirect => {
                let bytes = Bytes::default();
                files.insert(path.to_path_buf(), bytes.clone());
                bytes
            }
        };
        Ok(Box::new(RamFile(bytes)))
    }

    fn open_stream(&self, _path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_stream(&self, _path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = locked(&self.files);
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_path_buf(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        locked(&self.files).remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn create_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_new_directory(&self, path: &Path) -> io::Result<()> {
        let is_new = locked(&self.new_directories).insert(path.to_path_buf());
        if is_new { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        locked(&self.new_directories).remove(path);
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let files = locked(&self.files);
        let inside = files.iter().filter(|(path, _)| path.parent() == Some(directory));
        Ok(inside.map(|(path, bytes)| entry_of(path, bytes)).collect())
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let files = locked(&self.files);
        files.get(path).map(|bytes| entry_of(path, bytes)).ok_or(io::ErrorKind::NotFound.into())
    }

    fn is_regular(&self, path: &Path) -> bool {
        locked(&self.files).contains_key(path)
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn entry_of(path: &Path, bytes: &Bytes) -> Entry {
    let bytes = locked(bytes).len() as u64;
    Entry { path: path.to_path_buf(), bytes, is_directory: false, modified_ms: None, tag: None }
}

struct RamFile(Bytes);

impl File for RamFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let bytes = locked(&self.0);
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        let mut bytes = locked(&self.0);
        let (begin, end) = (offset as usize, offset as usize + from.len());
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[begin..end].copy_from_slice(from);
        Ok(from.len())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(locked(&self.0).len() as u64)
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        locked(&self.0).resize(bytes as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn is_direct(&self) -> bool {
        false
    }
}
