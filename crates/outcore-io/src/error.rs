//! Errors as data: a kind, a place in the input, facts, and a hint on what to type instead.
//!
//! The engine never prints. [`Error`]'s `Display` is one line; the command draws the place and the hint, and
//! other front ends read the fields.
//!
//! ```
//! use outcore_io::error::{Error, ErrorKind, Opt, Part, opt::TOLERANCE};
//!
//! let error = Error::usage(format_args!("{TOLERANCE} is a share from 0 to 1"));
//! assert_eq!(error.kind(), ErrorKind::Usage);
//! assert_eq!(error.to_string(), "`--tolerance` is a share from 0 to 1");
//! // A front end with another spelling of options composes the text from its parts.
//! let parts = error.texts().message.parts();
//! let spelled = parts.iter().map(|part| match part {
//!     Part::Words(words) => words.clone(),
//!     Part::Option(Opt { name, .. }) => name.to_string(),
//! });
//! assert_eq!(spelled.collect::<String>(), "tolerance is a share from 0 to 1");
//! ```

pub mod opt;
mod text;

pub use text::{Opt, Part, Text};

use crate::units::{format_bytes, size_to_type};
use std::fmt;
use std::path::{Path, PathBuf};

/// Result type of the engine.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of an error. The names are stable: [`ErrorKind::name`] is documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A line has fewer columns than the edge needs.
    MissingColumn,
    /// A node has no name: the field is empty.
    EmptyName,
    /// A name is longer than 64 KiB.
    NameTooLong,
    /// A weight is not a number, or is negative, infinite or NaN.
    BadWeight,
    /// A quoted field is never closed, or text follows the closing quote.
    BadQuote,
    /// Compressed input is damaged or ends too early.
    BadCompression,
    /// The input holds no edges, or its columns cannot be determined.
    BadInput,
    /// An input changed while it was being read.
    InputChanged,
    /// An option or a combination of options is invalid.
    Usage,
    /// The memory limit is too small for the job.
    MemoryTooSmall,
    /// The disk does not have enough room for the job.
    DiskTooSmall,
    /// The disk became full.
    DiskFull,
    /// A file written by outcore is damaged or truncated, or is another kind of file.
    CorruptFile,
    /// The operating system refused to read or write.
    Io,
    /// There are more nodes than an index can number.
    TooManyNodes,
    /// The caller asked to stop.
    Interrupted,
}

impl ErrorKind {
    /// Returns the stable name, as the command prints it in `error[name]`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingColumn => "missing-column",
            Self::EmptyName => "empty-name",
            Self::NameTooLong => "name-too-long",
            Self::BadWeight => "bad-weight",
            Self::BadQuote => "bad-quote",
            Self::BadCompression => "bad-compression",
            Self::BadInput => "bad-input",
            Self::InputChanged => "input-changed",
            Self::Usage => "usage",
            Self::MemoryTooSmall => "memory-too-small",
            Self::DiskTooSmall => "disk-too-small",
            Self::DiskFull => "disk-full",
            Self::CorruptFile => "corrupt-file",
            Self::Io => "io",
            Self::TooManyNodes => "too-many-nodes",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Position of an error in the input.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// File, or `-` for standard input. Stored as it is shown.
    #[serde(serialize_with = "shown")]
    pub path: PathBuf,
    /// Line, from 1.
    pub line: u64,
    /// Character in the line at which the error begins, from 1.
    pub column: u64,
    /// Byte offset in the (decompressed) file at which the error begins, from 0.
    pub byte: u64,
    /// The line, shortened around the error and with control characters escaped.
    pub text: String,
    /// Byte range of the error in `text`: first byte, and last byte plus one.
    pub span: (usize, usize),
    /// Expected content, for the marker under the line.
    pub expected: String,
}

/// Serializes a path as it is shown: a path that is not Unicode cannot be stored exactly.
fn shown<S: serde::Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// Error with its kind, place, facts and hint.
#[derive(Debug)]
pub struct Error(Box<Body>);

/// Texts of an error, with the options in them as data.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// The problem.
    pub message: &'a Text,
    /// Saved work that the next run can use.
    pub kept: Option<&'a Text>,
    /// Facts about it.
    pub notes: &'a [Text],
    /// Hint on what to type.
    pub hint: Option<&'a Text>,
}

#[derive(Debug)]
struct Body {
    kind: ErrorKind,
    message: Text,
    place: Option<Place>,
    kept: Option<Text>,
    notes: Vec<Text>,
    hint: Option<Text>,
    source: Option<std::io::Error>,
    /// Whether the error is in data that an earlier run has left.
    is_of_earlier_run: bool,
}

impl Error {
    /// Creates an error of `kind`; `message` is lower case, without a final period.
    pub fn new(kind: ErrorKind, message: impl Into<Text>) -> Self {
        Self(Box::new(Body {
            kind,
            message: message.into(),
            place: None,
            kept: None,
            notes: Vec::new(),
            hint: None,
            source: None,
            is_of_earlier_run: false,
        }))
    }

    /// Creates an error about an invalid option or combination of options.
    pub fn usage(message: impl Into<Text>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates the refusal of a limit of `given` bytes, of which `least` are enough; `of_what` ends the sentence, such as
    /// with ` to score communities`.
    pub fn too_little_memory(given: u64, of_what: impl fmt::Display, least: u64) -> Self {
        let given = format_bytes(given);
        Self::new(ErrorKind::MemoryTooSmall, format_args!("{given} is too little memory{of_what}"))
            .hint(format_args!("use {} or more", opt::MEMORY.of(size_to_type(least))))
    }

    /// Creates the error of a failed operation on a file: `action` is a verb such as `read`. A storage that
    /// knows more than the operating system puts an error of this type inside `source`: that one is returned.
    pub fn io(action: &str, path: &Path, source: std::io::Error) -> Self {
        let source = match source.downcast::<Self>() {
            Ok(reported) => return reported,
            Err(source) => source,
        };
        let full = source.kind() == std::io::ErrorKind::StorageFull
            || source.kind() == std::io::ErrorKind::QuotaExceeded;
        let kind = if full { ErrorKind::DiskFull } else { ErrorKind::Io };
        let mut error =
            Self::new(kind, format!("cannot {action} `{}`: {}", path.display(), reason(&source)));
        if full {
            error =
                error.hint(format_args!("free space, or use {} on a larger disk", opt::WORK_DIR));
        }
        if source.kind() == std::io::ErrorKind::FileTooLarge {
            error = error
                .hint("`ulimit -f` shows the limit of the shell; the file system may have one");
        }
        if is_out_of_descriptors(&source) {
            error = error.hint("`ulimit -n` shows how many files a process may have open: raise it, such as by `ulimit -n 1024`");
        }
        if action == "open" && source.kind() == std::io::ErrorKind::NotFound {
            error = error.hint(
                "check the spelling of the name; unless it begins with `/`, it is relative to the current directory",
            );
        }
        error.0.source = Some(source);
        error
    }

    /// Creates the error of a damaged file of a graph.
    pub fn corrupt(path: &Path, message: impl fmt::Display) -> Self {
        let hint = "build the graph again; if this repeats, the disk or the memory may be failing";
        Self::corrupt_of(path, message, hint)
    }

    /// Like [`Error::corrupt`], for a file that is not part of a graph.
    pub fn corrupt_of(path: &Path, message: impl fmt::Display, hint: &str) -> Self {
        Self::new(ErrorKind::CorruptFile, format!("`{}` is damaged: {message}", path.display()))
            .hint(hint)
    }

    /// Creates the error of a job that the caller asked to stop.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// Marks an error in data of an earlier run, which a run from scratch does not encounter.
    pub fn of_earlier_run(mut self) -> Self {
        self.0.is_of_earlier_run = true;
        self
    }

    /// Returns whether the error is in data of an earlier run.
    pub fn is_of_earlier_run(&self) -> bool {
        self.0.is_of_earlier_run
    }

    /// Adds the place in the input.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// Sets the text about work saved for the next run.
    #[must_use]
    pub fn kept(mut self, kept: impl Into<Text>) -> Self {
        self.0.kept = Some(kept.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<Text>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Sets the hint on what to type.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
    /// Returns the message, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// Returns the place in the input.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
    /// Returns the text about work saved for the next run, and how to use it: shown before all other facts.
    pub fn kept_text(&self) -> Option<&str> {
        self.0.kept.as_deref()
    }
    /// Returns the facts.
    pub fn notes(&self) -> &[Text] {
        &self.0.notes
    }
    /// Returns the hint on what to type.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
    /// Returns all texts, for a front end with another spelling of options than the command.
    pub fn texts(&self) -> Texts<'_> {
        let Body { message, kept, notes, hint, .. } = &*self.0;
        Texts { message, kept: kept.as_ref(), notes, hint: hint.as_ref() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{}:{}:{}: ", place.path.display(), place.line, place.column)?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

/// Returns whether this process, or the system, has as many files open as it may.
pub(crate) fn is_out_of_descriptors(source: &std::io::Error) -> bool {
    const LIMITS: [i32; 2] = if cfg!(unix) { [24, 23] } else { [4, 4] };
    source.raw_os_error().is_some_and(|code| LIMITS.contains(&code))
}

/// Returns the operating system's reason without Rust's ` (os error N)`.
fn reason(source: &std::io::Error) -> String {
    let text = source.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
