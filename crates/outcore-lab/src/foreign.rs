//! Methods in other languages: small programs in C++ and Fortran, compiled on request.
//!
//! A program does one run of one method, which its first argument names. It prints one line of `name=value` pairs:
//! the cost of the run inside the program (elapsed seconds by the steady clock, processor seconds and faults by
//! `getrusage`), what it did, and its checksum. Without arguments it does nothing. Nothing is compiled unless the
//! user asks for it.

use crate::meter::Outcome;
use outcore::error::opt::COMPILE;
use outcore::io::Files;
use outcore::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Source of a program.
struct Source {
    name: &'static str,
    text: &'static str,
    language: &'static str,
    compiler: &'static str,
    /// Arguments after the name of the compiler; the source, `-o` and the program follow.
    options: &'static [&'static str],
    /// Last arguments.
    libraries: &'static [&'static str],
    /// Packages of Debian that have the compiler and the libraries.
    packages: &'static str,
}

const SOURCES: &[Source] = &[
    Source {
        name: "sequential.cpp",
        text: include_str!("../foreign/sequential.cpp"),
        language: "C++",
        compiler: "g++",
        options: &["-O2", "-std=c++17"],
        libraries: &[],
        packages: "g++",
    },
    Source {
        name: "transfer.f90",
        text: include_str!("../foreign/transfer.f90"),
        language: "Fortran",
        compiler: "gfortran",
        options: &["-O2", "-fwrapv"],
        libraries: &[],
        packages: "gfortran",
    },
    Source {
        name: "write.cpp",
        text: include_str!("../foreign/write.cpp"),
        language: "C++",
        compiler: "g++",
        options: &["-O2", "-std=c++17"],
        libraries: &[],
        packages: "g++",
    },
    Source {
        name: "write_fmt.cpp",
        text: include_str!("../foreign/write_fmt.cpp"),
        language: "C++",
        compiler: "g++",
        options: &["-O2", "-std=c++17"],
        libraries: &["-lfmt"],
        packages: "g++ libfmt-dev",
    },
];

/// Programs of one workplace.
pub struct Foreign {
    directory: PathBuf,
    files: Files,
    compile: bool,
    programs: RefCell<BTreeMap<&'static str, std::result::Result<PathBuf, String>>>,
    compilers: RefCell<BTreeMap<&'static str, String>>,
}

impl Foreign {
    /// Creates an empty set of programs, to be compiled in `directory` if `compile` allows it.
    pub fn new(files: &Files, directory: &Path, compile: bool) -> Self {
        Self {
            directory: directory.to_path_buf(),
            files: files.clone(),
            compile,
            programs: RefCell::default(),
            compilers: RefCell::default(),
        }
    }

    /// Returns the program for a source such as `sequential.cpp`, compiled on the first call; the inner `Err` is the
    /// reason why there is none.
    ///
    /// # Errors
    /// `Io`, `DiskFull` if the source cannot be written.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn program(&self, source: &str) -> Result<std::result::Result<PathBuf, String>> {
        if let Some(made) = self.programs.borrow().get(source) {
            return Ok(made.clone());
        }
        let source = SOURCES.iter().find(|known| known.name == source).expect("a known source");
        let made = if self.compile {
            self.compiled(source)?
        } else {
            Err(format!("use {COMPILE} (Debian: `apt install {}`)", source.packages))
        };
        self.programs.borrow_mut().insert(source.name, made.clone());
        Ok(made)
    }

    /// Returns one sentence for each compiler used so far.
    pub fn notes(&self) -> Vec<String> {
        let compilers = self.compilers.borrow();
        compilers
            .iter()
            .map(|(language, version)| format!("{language} compiled with {version}."))
            .collect()
    }

    fn compiled(&self, source: &Source) -> Result<std::result::Result<PathBuf, String>> {
        let Some(version) = version(source.compiler) else {
            let Source { language, compiler, packages, .. } = source;
            return Ok(Err(format!(
                "no {language} compiler ({compiler}) found (Debian: `apt install {packages}`)"
            )));
        };
        let text = self.directory.join(source.name);
        let program = self.directory.join(source.name.replace('.', "-"));
        self.files.write(&text, source.text.as_bytes())?;
        let mut command = Command::new(source.compiler);
        command.args(source.options).arg(&text).arg("-o").arg(&program).args(source.libraries);
        match command.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Ok(Err(complaint(source, &output.stderr))),
            Err(error) => {
                return Ok(Err(format!("{} cannot be started: {error}", source.compiler)));
            }
        }
        // The disk may be mounted with `noexec`.
        match Command::new(&program).stdin(Stdio::null()).output() {
            Ok(_) => {
                self.compilers.borrow_mut().insert(source.language, version);
                Ok(Ok(program))
            }
            Err(error) => Ok(Err(format!("the compiled program cannot be started: {error}"))),
        }
    }
}

/// Returns the first line that the compiler prints about its version; `None` if there is no such compiler.
fn version(compiler: &str) -> Option<String> {
    let output = Command::new(compiler).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or(compiler).trim().to_owned())
}

/// Describes why a source was not compiled: quotes the first line that mentions an error.
fn complaint(source: &Source, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|line| line.contains("error")).unwrap_or_default();
    let Source { compiler, name, packages, .. } = source;
    format!(
        "{compiler} does not compile {name} (Debian: `apt install {packages}`): {}",
        line.trim()
    )
}

/// Runs a method once.
///
/// # Errors
/// `Io` if the program cannot be started, fails, or prints something unexpected.
pub fn run_program<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Result<Outcome> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::io("start", program, error))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let outcome = output.status.success().then(|| outcome(&printed)).flatten();
    outcome.ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let first = complaint.lines().next().unwrap_or_default();
        let message = format!("`{}` failed ({}) {first}", program.display(), output.status);
        Error::new(ErrorKind::Io, message.trim_end())
    })
}

/// Parses the line that a program printed; `None` if a mandatory value is missing.
fn outcome(line: &str) -> Option<Outcome> {
    let pairs: BTreeMap<&str, &str> =
        line.split_whitespace().filter_map(|pair| pair.split_once('=')).collect();
    let seconds = |name: &str| pairs.get(name)?.parse::<f64>().ok();
    let count = |name: &str| pairs.get(name)?.parse::<u64>().ok();
    Some(Outcome {
        // Not every language has unsigned numbers.
        checksum: pairs.get("checksum")?.parse::<i128>().ok()? as u64,
        operations: count("operations")?,
        bytes: count("bytes")?,
        system_calls: count("calls"),
        sync_seconds: seconds("sync"),
        child_seconds: Some((seconds("user")?, seconds("system")?)),
        child_wall_seconds: Some(seconds("wall")?),
        child_faults: count("minor").zip(count("major")),
        latencies: None,
        times: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_program_is_parsed() {
        let printed =
            "wall=.5 user=0.25 system=.125 minor=3 major=1 operations=2 bytes=16 checksum=-1";
        let found = outcome(printed).unwrap();
        assert_eq!(found.child_wall_seconds, Some(0.5));
        assert_eq!(found.child_seconds, Some((0.25, 0.125)));
        assert_eq!(found.child_faults, Some((3, 1)));
        assert_eq!((found.operations, found.bytes, found.checksum), (2, 16, u64::MAX));
        assert_eq!((found.system_calls, found.sync_seconds), (None, None));
        assert_eq!(outcome("wall=1 user=1 system=0"), None);
        assert_eq!(outcome(""), None);
    }

    #[test]
    fn nothing_is_compiled_without_a_request() {
        let directory = tempfile::tempdir().unwrap();
        let foreign = Foreign::new(&Files::default(), directory.path(), false);
        for source in SOURCES {
            assert!(foreign.program(source.name).unwrap().unwrap_err().contains("--compile"));
        }
        assert!(foreign.notes().is_empty());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn compiled_programs_run_and_failures_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let foreign = Foreign::new(&Files::default(), directory.path(), true);
        for source in SOURCES {
            match foreign.program(source.name).unwrap() {
                Ok(program) => {
                    let error = run_program(&program, &["no-such-method", "x", "8", "1"]);
                    assert_eq!(error.unwrap_err().kind(), ErrorKind::Io);
                }
                Err(reason) => {
                    let no_library = !source.libraries.is_empty() && reason.contains("compile");
                    let none = version(source.compiler).is_none();
                    assert!(none || no_library, "{}: {reason}", source.name);
                }
            }
        }
        let nothing = Path::new("/nonexistent/program");
        assert_eq!(run_program::<&str>(nothing, &[]).unwrap_err().kind(), ErrorKind::Io);
    }
}
