//! Paths that a job reads and writes, and the rule for them: no output replaces an input or another output.
//!
//! | | may be | must not be |
//! | --- | --- | --- |
//! | input | several times the same | in the temporary files of the job, in an output |
//! | output | over nothing, or over an older result | an input, in a graph, another output, in one, in the temporary files |
//! | work directory | around inputs and outputs | an input or output, in a graph, in an output |
//!
//! Paths are compared by the place that they lead to ([`Location`]), through links and for files that do not exist yet.
//! Redirected standard input and output count as the files behind them. One exception: the result may replace the
//! earlier one that its numbers match, which has been read by then.
//!
//! Nothing is opened. Cost: a few system calls for each path, and one for each file in an input graph.

use crate::error::opt::{APPEND, MATCH, OUTPUT, WORK_DIR};
use crate::error::{Error, Opt, Result, Text};
use crate::io::{Files, Location, Locator, Scratch, is_stdout_closed};
use std::path::{Path, PathBuf};

/// Files by which a directory is recognized as a graph.
const OF_GRAPH: [&str; 2] = ["graph.json", "arcs"];
const STREAM: &str = "-";

/// Use of a path by a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// File that is read.
    Input,
    /// Graph that is read: a directory that is not modified.
    Graph,
    /// File that is written.
    File,
    /// Standard output, where the command prints its answer.
    Printed,
    /// Directory that is written as a whole.
    Directory,
    /// Directory in which the job creates one of its own.
    Workplace,
    /// Directory that belongs to the job while it runs.
    Temporary,
}

/// Path with its use, and the option that names it.
#[derive(Debug, Clone)]
struct Used {
    role: Role,
    option: Option<Opt>,
    path: PathBuf,
}

/// Paths of a job. The option is `None` for a path that no option names.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    all: Vec<Used>,
}

impl Paths {
    fn with(mut self, role: Role, option: Option<Opt>, path: &Path) -> Self {
        self.all.push(Used { role, option, path: path.to_path_buf() });
        self
    }

    /// Adds files that are read; `-` is standard input.
    #[must_use]
    pub fn read<P: AsRef<Path>>(
        self,
        option: impl Into<Option<Opt>>,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        let option = option.into();
        let add = |all: Self, path: P| all.with(Role::Input, option.clone(), path.as_ref());
        paths.into_iter().fold(self, add)
    }

    /// Adds graphs that are read.
    #[must_use]
    pub fn read_graph<P: AsRef<Path>>(
        self,
        option: impl Into<Option<Opt>>,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        let option = option.into();
        let add = |all: Self, path: P| all.with(Role::Graph, option.clone(), path.as_ref());
        paths.into_iter().fold(self, add)
    }

    /// Adds files that are written; `-` is standard output.
    #[must_use]
    pub fn write<P: AsRef<Path>>(self, option: Opt, paths: impl IntoIterator<Item = P>) -> Self {
        paths.into_iter().fold(self, |all, path| {
            let path = path.as_ref();
            let all = all.with(Role::File, Some(option.clone()), path);
            match path == Path::new(STREAM) {
                true => all,
                false => all.own(option.clone(), &Scratch::path_beside(path)),
            }
        })
    }

    /// Adds what a command prints on standard output.
    #[must_use]
    pub fn print(self) -> Self {
        self.with(Role::Printed, None, Path::new(STREAM))
    }

    /// Adds a directory that is written as a whole.
    #[must_use]
    pub fn write_directory(self, option: Opt, path: &Path) -> Self {
        self.with(Role::Directory, Some(option), path)
    }

    /// Adds a directory in which the job has one of its own, with this name.
    #[must_use]
    pub fn work_in(self, directory: &Path, name: &str) -> Self {
        let own = directory.join(name);
        self.with(Role::Workplace, Some(WORK_DIR), directory).own(WORK_DIR, &own)
    }

    /// Adds a directory that belongs to the job while it runs.
    #[must_use]
    pub fn own(self, option: Opt, path: &Path) -> Self {
        self.with(Role::Temporary, Some(option), path)
    }

    /// Refuses paths that would overwrite each other, before anything is written.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self, files: &Files) -> Result<()> {
        for used in self.all.iter().filter(|used| used.is_written()) {
            if files.is_read_only(&used.path) {
                let (option, path) = (used.shown(), used.path.display());
                let message = format_args!("{option} is `{path}`, which is read-only");
                return Err(Error::usage(message).hint("write to a file, and copy it there"));
            }
            used.check_stream()?;
        }
        let places = Places::of(files, &self.all);
        places.check_inputs()?;
        places.check_graphs()?;
        places.check_outputs()?;
        places.check_nested()
    }
}

impl Used {
    fn is_written(&self) -> bool {
        !matches!(self.role, Role::Input | Role::Graph)
    }

    /// Returns the name of the path in a message: its option, if it has one.
    fn shown(&self) -> Text {
        match &self.option {
            Some(option) => option.clone().into(),
            None if self.role == Role::Printed => "standard output".into(),
            None => "the input".into(),
        }
    }

    /// Refuses standard output that is closed, or that cannot hold what would be written to it.
    fn check_stream(&self) -> Result<()> {
        match self.role {
            _ if self.path != Path::new(STREAM) => Ok(()),
            Role::Directory => {
                let message = format_args!("{} is a directory, not standard output", self.shown());
                Err(Error::usage(message).hint(format_args!("use {}", OUTPUT.of("web.graph"))))
            }
            _ if is_stdout_closed() => {
                let message = "standard output (`-`) is closed, so nothing can be written to it";
                Err(Error::usage(message).hint("write to a file, or leave out `>&-`"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the path to locate: for a standard stream, the file behind it.
    fn real_path(&self) -> &Path {
        match self.role {
            _ if self.path != Path::new(STREAM) => &self.path,
            Role::Input => Path::new("/dev/stdin"),
            _ => Path::new("/dev/stdout"),
        }
    }

    fn stays(&self) -> &'static str {
        match self.option == Some(APPEND) {
            true => "the graph to add to, which stays as it is",
            false => "an input, which stays as it is",
        }
    }
}

/// Path and its place, or that of a file in the directory that it names.
struct PlacedPath<'a> {
    used: &'a Used,
    at: Location,
    is_whole: bool,
}

/// Places of all paths, and of the files in the graphs among them.
struct Places<'a> {
    files: &'a Files,
    all: Vec<PlacedPath<'a>>,
    /// Files in graphs that are read, each with its graph.
    in_graphs: Vec<PlacedPath<'a>>,
    nowhere: Location,
}

impl<'a> Places<'a> {
    fn of(files: &'a Files, all: &'a [Used]) -> Self {
        let locator = Locator::new(files);
        // Paths on servers are never written.
        let local = all.iter().filter(|used| !files.is_read_only(&used.path));
        let place = |used: &'a Used, path: &Path, is_whole| {
            let at = locator.locate(path);
            PlacedPath { used, at, is_whole }
        };
        let all: Vec<_> = local.map(|used| place(used, used.real_path(), true)).collect();
        let in_graph = |graph: &PlacedPath<'a>| {
            let entries = files.list(&graph.used.path).unwrap_or_default();
            let places = entries.iter().map(|entry| place(graph.used, &entry.path, false));
            places.collect::<Vec<_>>()
        };
        let graphs = all.iter().filter(|placed| placed.used.role == Role::Graph);
        let in_graphs = graphs.flat_map(in_graph).collect();
        Self { files, all, in_graphs, nowhere: locator.locate(Path::new("/dev/null")) }
    }

    fn with(&self, roles: &'static [Role]) -> impl Iterator<Item = &PlacedPath<'a>> {
        self.all.iter().filter(move |placed| roles.contains(&placed.used.role))
    }

    fn outputs(&self) -> impl Iterator<Item = &PlacedPath<'a>> {
        self.with(&[Role::File, Role::Printed, Role::Directory, Role::Workplace])
    }

    /// Refuses an output that is an input.
    fn check_inputs(&self) -> Result<()> {
        // Writing to a stream does not change what is read.
        let holds = |input: &&PlacedPath<'_>| {
            input.used.role == Role::Graph || self.files.is_regular(input.used.real_path())
        };
        for input in self.with(&[Role::Input, Role::Graph]).filter(holds).chain(&self.in_graphs) {
            let replaces = |output: &&PlacedPath<'_>| {
                let options = (&input.used.option, &output.used.option);
                // Refused as inside the graph.
                let is_within = input.used.role == Role::Graph
                    && input.is_whole
                    && output.used.role == Role::Workplace;
                // A stream would change the file before all of it is read.
                let is_replaced = options == (&Some(MATCH), &Some(OUTPUT))
                    && output.used.path != Path::new(STREAM);
                output.at.finds(&input.at) && !is_within && !is_replaced
            };
            if let Some(output) = self.outputs().find(replaces) {
                return Err(is_input(input, output.used));
            }
        }
        Ok(())
    }

    /// Refuses an output inside a graph, whether or not the graph is an input.
    fn check_graphs(&self) -> Result<()> {
        let roles = &[Role::File, Role::Printed, Role::Directory, Role::Temporary];
        for output in self.with(roles) {
            let option = output.used.shown();
            let inside = |graph: &Path, what: &str| {
                let message = format_args!("{option} is inside `{}`, {what}", graph.display());
                Err(Error::usage(message).hint("use another directory"))
            };
            let mut graphs = self.with(&[Role::Graph]);
            if let Some(graph) = graphs.find(|graph| output.at.is_in(&graph.at)) {
                return inside(&graph.used.path, graph.used.stays());
            }
            let is_graph = |directory: &&Path| {
                OF_GRAPH.iter().all(|name| self.files.is_regular(&directory.join(name)))
            };
            if let Some(graph) = output.at.directories().find(is_graph) {
                return inside(graph, "a graph, which stays as it is");
            }
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<()> {
        let outputs: Vec<_> = self.outputs().collect();
        for (at, output) in outputs.iter().enumerate() {
            let path = &output.used.path;
            let is_twice = |other: &&&PlacedPath<'_>| {
                // The null device discards everything, so nothing is replaced.
                let is_stream = [path, &other.used.path].map(|path| path == Path::new(STREAM));
                let is_nowhere = output.at.finds(&self.nowhere) && is_stream != [true; 2];
                // A directory in place of a file is refused when the file is created.
                let roles = [other.used.role, output.used.role];
                let is_refused_later = roles.contains(&Role::File)
                    && roles.contains(&Role::Workplace)
                    && self.is_directory(path);
                other.at.is_same(&output.at) && !is_nowhere && !is_refused_later
            };
            if let Some(other) = outputs[..at].iter().find(is_twice) {
                let hint = "use another file for one of them";
                return Err(both(path, other.used.shown(), output.used).hint(hint));
            }
        }
        Ok(())
    }

    /// Refuses a path in an output, or among the temporary files of the job.
    fn check_nested(&self) -> Result<()> {
        let is_taken = |outer: &&PlacedPath<'_>| match outer.used.role {
            Role::Directory | Role::Temporary => true,
            // An existing directory in place of a file is refused when the file is created.
            Role::File => !self.is_directory(&outer.used.path),
            _ => false,
        };
        for outer in self.all.iter().filter(is_taken) {
            let is_temporary = outer.used.role == Role::Temporary;
            let is_inner = |inner: &&PlacedPath<'_>| {
                let is_own = is_temporary && inner.used.role == Role::Temporary;
                let is_there = is_temporary && inner.at.is_same(&outer.at);
                !is_own && (inner.at.is_in(&outer.at) || is_there)
            };
            if let Some(inner) = self.all.iter().find(is_inner) {
                return Err(is_inside(inner.used, outer.used));
            }
        }
        Ok(())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.files.entry(path).is_ok_and(|entry| entry.is_directory)
    }
}

fn both(path: &Path, one: Text, other: &Used) -> Error {
    Error::usage(format_args!("`{}` is both {one} and {}", path.display(), other.shown()))
}

/// Returns the error for an output that is an input, or a file in an input graph.
fn is_input(PlacedPath { used: input, is_whole, .. }: &PlacedPath<'_>, output: &Used) -> Error {
    if *is_whole && input.option == Some(APPEND) && output.role == Role::Directory {
        let old = input.path.display();
        let new = format!("{old}.new");
        let hint = format_args!(
            "use {}, and replace the old graph after that: `rm -r {old} && mv {new} {old}`",
            OUTPUT.of(&new)
        );
        return both(&input.path, "the graph to add to".into(), output).hint(hint);
    }
    let error = match output.role == Role::Printed {
        true => {
            let message = format_args!(
                "standard output goes to `{}`, an input, which stays as it is",
                input.path.display()
            );
            Error::usage(message).hint("redirect it to another file")
        }
        false => {
            both(&output.path, "an input".into(), output).hint("use another file for one of them")
        }
    };
    match &input.option {
        None if input.path == Path::new(STREAM) => error.note("standard input is read from it"),
        None => error,
        Some(option) => error.note(format_args!("it is read for {option}")),
    }
}

fn is_inside(inner: &Used, outer: &Used) -> Error {
    let (path, place) = (inner.path.display(), outer.path.display());
    match outer.role == Role::Temporary {
        true => Error::usage(format_args!(
            "`{path}` is inside `{place}`, which this job uses for temporary files"
        )),
        false => {
            Error::usage(format_args!("`{path}` is inside `{place}`, which is {}", outer.shown()))
        }
    }
    .hint("use another path for one of them")
}
