//! What the sweeps have come to, in a file, so that a job that is stopped need not sweep again.
//!
//! ```text
//!  SCRATCH/sweeps/state:  magic | length of the head u64 | head, JSON | arrays, each with its count u64 | checksum u64
//! ```
//! The head says of which graph, options, given labels and version a state is; another clustering does
//! not go on from it. What stays the same for all threads and limits of memory is all that there is in it, so these
//! may differ. It is written whole under a temporary name after a sweep, once a minute at most, and not
//! as often as to take a twentieth of the time. Files that it needs beside it (a level, groups) stay until the next one has taken
//! its place. Memory: a buffer. Disk: twice what the sweeps hold in memory, while one takes the place of another.

use super::given::Given;
use crate::cluster::base::bits::Bits;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::io::{CheckedReader, CheckedWriter, Files, Pace};
use crate::progress::{Event, Observer, tell};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// The directory, of which all belongs to the clustering, and the name of the file in it.
pub(crate) const SAVED: &str = "sweeps";
pub(crate) const STATE: &str = "state";
const MAGIC: [u8; 8] = *b"OUTSWEEP";
/// Bytes that are turned into numbers at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Of which clustering a state is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Of {
    version: String,
    /// What seals its blocks.
    graph: String,
    options: String,
    /// Checksum of the labels that nodes were given.
    given: u64,
}

impl Of {
    fn new(graph: &Graph, options: &impl Serialize, given: &Given) -> Self {
        let mut hash = Xxh3::new();
        for labels in [&given.initial, &given.fixed] {
            hash.update(&(labels.len() as u64).to_le_bytes());
            labels.iter().for_each(|label| hash.update(&label.to_le_bytes()));
        }
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: graph.checksum().to_owned(),
            options: serde_json::to_string(options).expect("numbers and text are JSON"),
            given: hash.digest(),
        }
    }

    /// Why `now` cannot go on from this, if it cannot.
    fn difference(&self, now: &Self) -> Option<String> {
        let of = |what: &str| Some(format!("the sweeps that are there are of {what}"));
        match () {
            () if self.version != now.version => of(&format!("version {}", self.version)),
            () if self.graph != now.graph => of("another graph"),
            () if self.options != now.options => of("other options"),
            () if self.given != now.given => of("other labels at the start"),
            () => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Head<C> {
    of: Of,
    /// Names beside it.
    needs: Vec<String>,
    counters: C,
}

/// Keeps the state of a clustering.
pub(crate) struct Saves {
    files: Files,
    directory: PathBuf,
    of: Of,
    pace: Pace,
    /// What the state on disk needs, and what of it is of no other use any more.
    needed: Vec<PathBuf>,
    outlived: Vec<PathBuf>,
    is_warned: bool,
}

impl Saves {
    /// For a clustering that begins from `given`, in the job's directory for temporary files.
    pub(crate) fn new(
        graph: &Graph,
        options: &impl Serialize,
        given: &Given,
        directory: &Path,
    ) -> Self {
        Self {
            files: graph.files().clone(),
            directory: directory.to_path_buf(),
            of: Of::new(graph, options, given),
            pace: Pace::new(graph.files().cramped().sweep_save),
            needed: Vec::new(),
            outlived: Vec::new(),
            is_warned: false,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.join(STATE)
    }

    /// Opens the state that an earlier job has left of the same clustering; all else that it left goes.
    ///
    /// # Errors
    /// `Io`; that of the observer, who is told why a state is of no use.
    pub(crate) fn open<C: DeserializeOwned>(
        &mut self,
        observer: &dyn Observer,
    ) -> Result<Option<(C, StateReader)>> {
        let mut found = None;
        if self.files.is_regular(&self.path()) {
            match self.read_head() {
                Ok((counters, needs, state)) => {
                    self.needed = needs;
                    found = Some((counters, state));
                }
                Err(error) if error.kind() == ErrorKind::CorruptFile => {
                    let text = format!("sweeps begin anew: {}", error.message());
                    tell(observer, Event::Warning { text: &text })?;
                }
                Err(error) => return Err(error),
            }
        }
        self.remove_but(found.is_some());
        Ok(found)
    }

    /// What the head says; the whole file is good then.
    fn read_head<C: DeserializeOwned>(&self) -> Result<(C, Vec<PathBuf>, StateReader)> {
        let path = self.path();
        // Small beside the sweeps, and nothing is taken from half a state.
        CheckedReader::open(&self.files, &path)?.skip_to_end()?;
        let mut file = CheckedReader::open(&self.files, &path)?;
        let (magic, bytes) = (file.array::<8>()?, file.number()?);
        if magic != MAGIC || bytes > file.left() {
            return Err(file.damaged("it is another kind of file"));
        }
        let mut head = vec![0; bytes as usize];
        file.take(&mut head)?;
        #[derive(Deserialize)]
        struct Always {
            of: Of,
        }
        let unknown = |_| file.damaged("its head is of another version");
        let Always { of } = serde_json::from_slice(&head).map_err(unknown)?;
        if let Some(reason) = of.difference(&self.of) {
            return Err(Error::new(ErrorKind::CorruptFile, reason));
        }
        let head: Head<C> = serde_json::from_slice(&head).map_err(unknown)?;
        // Only what lies beside it.
        let is_plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
        if !head.needs.iter().all(is_plain) {
            return Err(file.damaged("its head is of another version"));
        }
        let needs: Vec<PathBuf> = head.needs.iter().map(|name| self.directory.join(name)).collect();
        if let Some(path) = needs.iter().find(|path| self.files.entry(path).is_err()) {
            return Err(Error::corrupt(path, "it is not there any more"));
        }
        Ok((head.counters, needs, StateReader(file)))
    }

    fn remove_but(&self, state_stays: bool) {
        for entry in self.files.list(&self.directory).unwrap_or_default() {
            let is_state = state_stays && entry.path == self.path();
            if !is_state && !self.needed.contains(&entry.path) {
                remove(&self.files, &entry.path);
            }
        }
    }

    /// Whether it is time to save, after a sweep.
    pub(crate) fn is_due(&self) -> bool {
        self.pace.is_due()
    }

    /// Saves counters and arrays, with the paths in the same directory that are needed to go on from them.
    /// A disk without room for it is no reason to end.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn save<C: Serialize>(
        &mut self,
        counters: &C,
        needs: Vec<PathBuf>,
        observer: &dyn Observer,
        arrays: impl FnOnce(&mut StateWriter) -> Result<()>,
    ) -> Result<()> {
        let begin = Instant::now();
        let saved = self.write(counters, &needs, arrays);
        self.pace.saved(begin);
        match saved {
            Ok(()) => {
                self.needed = needs;
                let outlived = std::mem::take(&mut self.outlived);
                outlived.into_iter().for_each(|path| self.discard(path));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::DiskFull => {
                if !std::mem::replace(&mut self.is_warned, true) {
                    let text = "the disk has no room to keep the sweeps, which a job that is stopped \
                                begins anew then";
                    tell(observer, Event::Warning { text })?;
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn write<C: Serialize>(
        &self,
        counters: &C,
        needs: &[PathBuf],
        arrays: impl FnOnce(&mut StateWriter) -> Result<()>,
    ) -> Result<()> {
        let is_file = |path: &&PathBuf| self.files.is_regular(path);
        // A level has been synced; the names of all are when the state gets its own.
        needs.iter().filter(is_file).try_for_each(|path| self.files.sync(path))?;
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into());
        let head =
            Head { of: self.of.clone(), needs: needs.iter().filter_map(name).collect(), counters };
        let head = serde_json::to_vec(&head).expect("numbers and text are JSON");
        let mut file = CheckedWriter::create(&self.files, &self.path())?;
        file.put(&MAGIC)?;
        file.put(&(head.len() as u64).to_le_bytes())?;
        file.put(&head)?;
        let mut state = StateWriter { file, chunk: Vec::new() };
        arrays(&mut state)?;
        state.file.finish().map(drop)
    }

    /// Removes a file or directory that is of no more use, at once or when the state does not need it any more.
    pub(crate) fn discard(&mut self, path: PathBuf) {
        if self.needed.contains(&path) {
            self.outlived.push(path);
        } else {
            remove(&self.files, &path);
        }
    }
}

/// What cannot be removed is in nobody's way: it goes with the directory.
pub(crate) fn remove(files: &Files, path: &Path) {
    match files.entry(path) {
        Ok(entry) if entry.is_directory => files.remove_all(path),
        _ => _ = files.remove(path),
    }
}

/// A number of an array.
pub(crate) trait Number: Copy {
    const BYTES: usize;
    fn put(self, into: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const BYTES: usize = size_of::<$number>();
            #[inline]
            fn put(self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 f64);

/// Writes the arrays of a state.
pub struct StateWriter {
    file: CheckedWriter,
    chunk: Vec<u8>,
}

impl StateWriter {
    /// Starts a file in a directory of ours.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn create(files: &Files, path: &Path) -> Result<Self> {
        Ok(Self { file: CheckedWriter::create(files, path)?, chunk: Vec::new() })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn finish(self) -> Result<()> {
        self.file.finish().map(drop)
    }

    /// Appends an array.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn array<T: Number>(
        &mut self,
        numbers: impl ExactSizeIterator<Item = T>,
    ) -> Result<()> {
        self.begin_array(numbers.len() as u64)?;
        self.add(numbers)
    }

    /// Begins an array of so many numbers, which are [added](Self::add) in parts.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub(crate) fn begin_array(&mut self, count: u64) -> Result<()> {
        self.file.put(&count.to_le_bytes())
    }

    /// Goes on with an array.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub(crate) fn add<T: Number>(&mut self, numbers: impl Iterator<Item = T>) -> Result<()> {
        self.chunk.clear();
        for number in numbers {
            number.put(&mut self.chunk);
            if self.chunk.len() >= CHUNK_BYTES {
                self.file.put(&self.chunk)?;
                self.chunk.clear();
            }
        }
        self.file.put(&self.chunk)
    }

    /// Appends labels.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub(crate) fn labels(&mut self, labels: &[AtomicU32]) -> Result<()> {
        self.array(labels.iter().map(|label| label.load(Relaxed)))
    }

    /// Appends bits.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub(crate) fn bits(&mut self, bits: &Bits) -> Result<()> {
        self.array(bits.words().iter().map(|word| word.load(Relaxed)))
    }
}

/// Reads the arrays of a state, in the order in which they were written.
pub struct StateReader(CheckedReader);

impl StateReader {
    /// Opens a file that was written.
    ///
    /// # Errors
    /// `Io`; `CorruptFile`.
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Self> {
        CheckedReader::open(files, path).map(Self)
    }

    /// The numbers of the next array in parts, each with the place of its first; gives how many there are.
    ///
    /// # Errors
    /// `Io`; `CorruptFile` if it is longer than the file; those of `each`.
    pub(crate) fn parts<T: Number>(
        &mut self,
        each: impl FnMut(u64, &[T]) -> Result<()>,
    ) -> Result<u64> {
        let count = self.count::<T>()?;
        self.go_through(count, each)?;
        Ok(count)
    }

    /// The count of the next array.
    fn count<T: Number>(&mut self) -> Result<u64> {
        let count = self.0.number()?;
        if count.saturating_mul(T::BYTES as u64) > self.0.left() {
            return Err(self.damaged());
        }
        Ok(count)
    }

    fn go_through<T: Number>(
        &mut self,
        count: u64,
        mut each: impl FnMut(u64, &[T]) -> Result<()>,
    ) -> Result<()> {
        let (mut bytes, mut numbers) = (vec![0; CHUNK_BYTES], Vec::new());
        let mut at = 0;
        while at < count {
            let part = (count - at).min((CHUNK_BYTES / T::BYTES) as u64);
            let bytes = &mut bytes[..part as usize * T::BYTES];
            self.0.take(bytes)?;
            numbers.clear();
            numbers.extend(bytes.chunks_exact(T::BYTES).map(T::get));
            each(at, &numbers)?;
            at += part;
        }
        Ok(())
    }

    /// Fills a list with the next array, each number made into what is wanted.
    ///
    /// # Errors
    /// `Io`; `CorruptFile` if there are more or fewer than the list has.
    pub(crate) fn fill<T: Number, U>(
        &mut self,
        list: &mut [U],
        set: impl Fn(&mut U, T),
    ) -> Result<()> {
        let mut places = list.iter_mut();
        let count = self.parts(|_, numbers| {
            numbers.iter().zip(&mut places).for_each(|(&number, place)| set(place, number));
            Ok(())
        })?;
        if count == list.len() as u64 { Ok(()) } else { Err(self.damaged()) }
    }

    /// The next array.
    ///
    /// # Errors
    /// As [`parts`](Self::parts).
    pub(crate) fn numbers<T: Number>(&mut self) -> Result<Vec<T>> {
        let count = self.count::<T>()?;
        let mut all = Vec::with_capacity(count as usize);
        self.go_through(count, |_, numbers| {
            all.extend_from_slice(numbers);
            Ok(())
        })?;
        Ok(all)
    }

    /// An array of so many numbers.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(crate) fn few<T: Number + Default, const N: usize>(&mut self) -> Result<[T; N]> {
        let mut few = [T::default(); N];
        self.fill(&mut few, |place, number| *place = number)?;
        Ok(few)
    }

    /// Fills labels.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(crate) fn labels(&mut self, labels: &mut [AtomicU32]) -> Result<()> {
        self.fill(labels, |place, label| *place.get_mut() = label)
    }

    /// Fills bits that are as many as were written.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(crate) fn bits(&mut self, bits: &mut Bits) -> Result<()> {
        self.fill(bits.words_mut(), |place, word| *place.get_mut() = word)
    }

    /// The error for a state that contradicts itself.
    pub(crate) fn damaged(&self) -> Error {
        self.0.damaged("its numbers contradict each other")
    }

    /// Ends reading.
    ///
    /// # Errors
    /// `CorruptFile` if there is more.
    pub(crate) fn finish(self) -> Result<()> {
        self.0.finish().map(drop)
    }
}
