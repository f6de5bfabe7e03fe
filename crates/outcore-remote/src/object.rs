//! One object: identified by its first look, and read in ranges on the condition that it has not changed.

use crate::client::Stores;
use crate::failure;
use crate::waiting::Waiting;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use outcore::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of requests for the rest of a response that ended too early, in addition to those of the library.
const REPEATS: u32 = 5;
/// Pause before the first of these; it doubles each time.
const PAUSE: Duration = Duration::from_millis(100);

/// Identity of an object: length, tag and modification time.
#[derive(Debug, Clone)]
pub(crate) struct Identity(ObjectMeta);

impl Identity {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.size
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        self.0.e_tag.as_deref()
    }

    /// Returns when the object was last modified, in milliseconds since 1970, precise to the second like the header;
    /// the library has 0 if the header is missing.
    pub(crate) fn modified_ms(&self) -> Option<u64> {
        let seconds = u64::try_from(self.0.last_modified.timestamp()).ok();
        seconds.filter(|&seconds| seconds > 0).map(|seconds| 1000 * seconds)
    }

    /// Returns the options of a request for a range of exactly this object. Only a strong tag can be a condition.
    fn options(&self, range: Range<u64>) -> GetOptions {
        let tag = self.tag().filter(|tag| !tag.starts_with("W/"));
        let is_timed = tag.is_none() && self.modified_ms().is_some();
        GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: tag.map(str::to_owned),
            if_unmodified_since: is_timed.then_some(self.0.last_modified),
            ..GetOptions::default()
        }
    }

    fn describe(&self) -> String {
        let tag = self.tag().map_or_else(String::new, |tag| format!(" with tag {tag}"));
        format!("{} bytes{tag}", self.bytes())
    }

    /// Checks that `now` is the same object, for servers that do not heed conditions.
    fn check(&self, name: &str, now: &ObjectMeta) -> Result<()> {
        let now = Self(now.clone());
        let known = |of: &Self| (of.bytes(), of.tag().map(str::to_owned), of.modified_ms());
        if known(self) == known(&now) {
            return Ok(());
        }
        Err(failure::changed(name, &self.describe(), &now.describe()))
    }
}

/// Object on a server.
pub(crate) struct Object {
    /// Name without secrets, for messages.
    name: String,
    /// Full address.
    full: String,
    store: Stores,
    key: Key,
    waiting: Arc<Waiting>,
    /// Identity, or the error of the first look; `None` before it.
    identity: Mutex<Option<Result<Arc<Identity>>>>,
}

impl Object {
    pub(crate) fn new(
        name: String,
        full: &str,
        store: Stores,
        key: Key,
        waiting: Arc<Waiting>,
    ) -> Self {
        Self { name, full: full.to_owned(), store, key, waiting, identity: Mutex::default() }
    }

    /// Sets the identity from a listing, so that no request is needed.
    pub(crate) fn set_listed(&self, listed: ObjectMeta) {
        *self.identity() = Some(Ok(Arc::new(Identity(listed))));
    }

    fn identity(&self) -> MutexGuard<'_, Option<Result<Arc<Identity>>>> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether this is the full address of the object.
    pub(crate) fn is_at(&self, full: &str) -> bool {
        self.full == full
    }

    /// Returns the identity, which is requested once.
    pub(crate) fn look(&self) -> Result<Arc<Identity>> {
        let mut known = self.identity();
        if known.is_none() {
            let (store, key, name) = (self.store.look.clone(), self.key.clone(), self.name.clone());
            let found = self.waiting.wait(async move { look(&*store, &key, &name).await })?;
            *known = Some(found.map(Arc::new));
        }
        match known.as_ref().expect("it has been requested") {
            Ok(identity) => Ok(identity.clone()),
            Err(error) => Err(again(error)),
        }
    }

    /// Fetches a range of the object with this identity.
    pub(crate) async fn fetch(&self, identity: &Identity, range: Range<u64>) -> Result<Vec<u8>> {
        let expected = range.end - range.start;
        let mut bytes = Vec::with_capacity(expected as usize);
        let mut repeats = 0;
        loop {
            let rest = range.start + bytes.len() as u64..range.end;
            let answer = self.store.read.get_opts(&self.key, identity.options(rest)).await;
            let answer = answer.map_err(|error| failure::of(&self.name, &error))?;
            identity.check(&self.name, &answer.meta)?;
            let ended = take(answer, &mut bytes, expected).await;
            let found = bytes.len() as u64;
            if found == expected {
                return Ok(bytes);
            }
            let is_last = repeats == REPEATS || found > expected;
            match ended {
                Err(error) if is_last => return Err(failure::of(&self.name, &error)),
                Ok(()) if is_last => {
                    return Err(failure::wrong_length(&self.name, expected, found));
                }
                _ => tokio::time::sleep(PAUSE * 2u32.pow(repeats)).await,
            }
            repeats += 1;
        }
    }
}

/// Returns a copy of an error.
fn again(error: &Error) -> Error {
    let reported = Error::new(error.kind(), error.texts().message);
    let reported = error.notes().iter().fold(reported, |reported, note| reported.note(note));
    error.texts().hint.into_iter().fold(reported, Error::hint)
}

/// Appends the bytes of a response, until they are more than expected.
async fn take(answer: GetResult, bytes: &mut Vec<u8>, expected: u64) -> object_store::Result<()> {
    let mut stream = answer.into_stream();
    while let Some(part) = stream.next().await {
        bytes.extend_from_slice(&part?);
        if bytes.len() as u64 > expected {
            break;
        }
    }
    Ok(())
}

/// Requests the identity of an object, and checks that its server sends ranges.
async fn look(store: &dyn ObjectStore, key: &Key, name: &str) -> Result<Identity> {
    let first = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
    let meta = match store.get_opts(key, first).await {
        Ok(answer) => answer.meta,
        // An empty object has no first byte.
        Err(error) if failure::status(&error) == Some(416) => {
            let head = GetOptions { head: true, ..GetOptions::default() };
            let answer = store.get_opts(key, head).await;
            let meta = answer.map_err(|error| failure::of(name, &error))?.meta;
            if meta.size > 0 {
                return Err(failure::wrong_length(name, 1, 0));
            }
            meta
        }
        Err(error) => return Err(failure::of(name, &error)),
    };
    let identity = Identity(meta);
    match (identity.tag(), identity.modified_ms()) {
        (None, None) => Err(failure::no_identity(name)),
        _ => Ok(identity),
    }
}

/// Returns the error for a key that cannot be requested.
pub(crate) fn no_key(name: &str) -> Error {
    let message = format!(
        "`{name}` is not the address of an object: a part of its key is empty, `.` or `..`"
    );
    Error::new(ErrorKind::Usage, message)
}

/// Returns the objects of a bucket whose keys match a pattern, sorted. As with files, `*` and `?` do not match `/`, but
/// `**` does.
pub(crate) fn matching(
    store: &Arc<dyn ObjectStore>,
    bucket: &str,
    pattern: &str,
    waiting: &Waiting,
) -> Result<Vec<ObjectMeta>> {
    let name = format!("s3://{bucket}/{pattern}");
    let compiled = glob::Pattern::new(pattern).map_err(|error| {
        Error::new(ErrorKind::Usage, format!("`{name}` is not a pattern: {}", error.msg))
    })?;
    let first = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    // The library lists the contents of a directory.
    let (directory, rest) = pattern.split_at(pattern[..first].rfind('/').map_or(0, |at| at + 1));
    let prefix = Key::parse(directory).map_err(|_| no_key(&name))?;
    let (store, is_flat) = (store.clone(), !rest.contains('/'));
    let listed = waiting.wait(async move {
        match is_flat {
            true => store.list_with_delimiter(Some(&prefix)).await.map(|found| found.objects),
            false => store.list(Some(&prefix)).try_collect().await,
        }
    })?;
    let mut listed: Vec<ObjectMeta> = listed.map_err(|error| failure::of(&name, &error))?;
    let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
    listed.retain(|meta| compiled.matches_with(meta.location.as_ref(), options));
    if listed.is_empty() {
        return Err(Error::new(ErrorKind::Io, format!("no object matches `{name}`")));
    }
    listed.sort_by(|a, b| a.location.cmp(&b.location));
    Ok(listed)
}
