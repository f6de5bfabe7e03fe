//! Reads communities back for a graph: lines `node<TAB>community`, in any order, become one label per node.
//!
//! ```text
//!  graph --names--> (name, index) -----.
//!                                      +-sort, join-> (community, index) --sort--> labels
//!  file --lines--> (name, community) --'
//! ```
//!
//! Names and communities are identified by their fingerprints (`input::Fingerprint`): names of at most 15 bytes are
//! their own fingerprints, so they cannot be confused. Both sorts are external, so memory does not grow with the file:
//! 4 bytes per node for the labels, 4 per community while they are numbered, and the budgets of the sorts, at least 20
//! MiB each. I/O: names and file are read once, and each of their records (at most 40 bytes) is written and read once
//! if the records do not fit in memory.
//!
//! A sort and a merge join are used rather than a table in memory (Graefe, "Query evaluation techniques for large
//! databases", 1993, 5.2): a table would take 26 bytes per node, more than a clustering.

mod lookup;
mod member_rows;
mod modules;
mod numbers;
#[cfg(test)]
mod tests;
mod written;

pub use lookup::Lookup;
pub(crate) use modules::{ModuleFile, ModuleScan, Modules, by_number};
pub(crate) use numbers::{NodeNumbers, number_of, numbers_bytes, read_numbers};
pub use written::{WrittenFile, read_column};

use crate::budget::Limits;
use crate::error::opt::{COMMUNITY_COLUMNS, COMMUNITY_FORMAT, LEVEL, LEVELS};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::ids::number;
use crate::input::{
    self, Batch, BatchMemory, CHUNK_BYTES, CommunityInput, EdgeChunk, EdgeReader, Fingerprint,
    InputOptions, LAST_LEVEL, NameRef,
};
use crate::io::{Files, reserve_large_pages};
use crate::progress::{Event, Observer, REPORT_NODES, Stage, notify};
use crate::sort::{Row, RowSorter, SORT_BYTES_MIN, SortedRows};
use crate::units::{format_count, format_counted};
use member_rows::{Member, Named};
use std::path::{Path, PathBuf};

/// Options for reading a file of communities.
#[derive(Debug, Clone)]
pub struct MembershipOptions {
    /// How the file is read.
    pub input: CommunityInput,
    /// Whether communities must be numbers, which are then kept.
    pub numbered: bool,
    /// Whether a line says how the file is read, unless it was said before.
    pub is_described: bool,
    /// Memory and threads.
    pub limits: Limits,
    /// Bytes of the memory that the caller holds.
    pub held_bytes: u64,
    /// Existing directory for temporary files.
    pub scratch: PathBuf,
}

/// Communities of a graph's nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Label of every node, or [`Membership::NONE`]. Labels are dense, in the order of their first nodes, and
    /// independent of the order of lines.
    pub labels: Vec<u32>,
    /// Number of labels.
    pub community_count: u64,
    /// Number of nodes with a label.
    pub named: u64,
    /// Number of names in the file that the graph does not have.
    pub unknown: u64,
    /// Whether nodes have paths in a tree of modules, of which communities are a part.
    pub has_paths: bool,
    /// Numbers of the communities, by label, if they were requested.
    pub numbers: Vec<u64>,
    /// Largest number of a community in the file, including communities without a node of the graph, if numbers were
    /// requested.
    pub largest_number: Option<u64>,
}

impl Membership {
    /// Label of a node that the file does not name.
    pub const NONE: u32 = u32::MAX;

    /// Returns the number of nodes without a label.
    pub fn unnamed(&self) -> u64 {
        self.labels.len() as u64 - self.named
    }
}

/// Returns the smallest limit for reading the communities of `node_count` nodes with `threads` threads, while the
/// caller holds `held_bytes`.
pub fn memory_bytes_for(node_count: u64, held_bytes: u64, threads: usize) -> u64 {
    let sorts = 2 * SORT_BYTES_MIN;
    let limits = Limits { memory_bytes: 0, threads };
    input::with_batch(&limits, node_bytes(node_count) + sorts + held_bytes)
}

/// Returns the bytes of the labels, and of their renumbering if every node is a community of its own.
fn node_bytes(node_count: u64) -> u64 {
    8 * node_count
}

/// Reads the communities in `path` (`-` is standard input) of the nodes of `graph`, on the current thread pool.
///
/// # Errors
/// The earliest bad line; `BadInput` if a node of the graph is named twice with different communities, or if no line
/// names a node of the graph; `MemoryTooSmall` before any work; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
pub fn read(
    files: &Files,
    path: &Path,
    graph: &Graph,
    options: &MembershipOptions,
    observer: &dyn Observer,
) -> Result<Membership> {
    if graph.node_count() > u64::from(u32::MAX) {
        let message = format!("{} nodes are too many", format_count(graph.node_count()));
        return Err(Error::new(ErrorKind::TooManyNodes, message));
    }
    let what = ["community", "communities"];
    let node_bytes = node_bytes(graph.node_count());
    let input = options.input.of(path, options.numbered);
    let job = MembershipJob { what, input, node_bytes, files, path, graph, options, observer };
    let reader = job.open()?;
    let (budget, has_paths) = (job.sort_bytes(reader.window_bytes())?, reader.has_paths());
    notify(observer, Event::Begin { stage: Stage::Match, total: None, unit: "names" })?;
    if options.is_described {
        report(&reader, observer)?;
    }
    if options.input.level.is_some() && is_stream(path) && !has_paths {
        return Err(no_levels(path));
    }
    let community = |_: &EdgeChunk, community: &NameRef, _| Ok(community.fingerprint);
    let sorted = job.collect(reader, budget, community)?;
    let mut sorter = job.sorter::<Member>(budget)?;
    let joined =
        job.join(sorted, |line, node| sorter.add(Member { community: line.community, node }))?;
    let members = sorter.finish()?;
    if joined.named == 0 {
        return Err(nothing_known(path, joined.unknown));
    }
    Ok(Membership { has_paths, ..job.label(members, &joined)? })
}

/// Reads the modules on all levels of a tree, from the top: for each level, the label of each node. Each level divides
/// the one before. A file without paths has one level. The file is read once for each level, and once more. Memory:
/// that of [`read`], and 4 bytes per node for each level read before.
///
/// # Errors
/// Those of [`read`]; `Usage` for standard input, which can be read only once.
pub fn read_levels(
    files: &Files,
    path: &Path,
    graph: &Graph,
    options: &MembershipOptions,
    observer: &dyn Observer,
) -> Result<Vec<Membership>> {
    if is_stream(path) {
        let message =
            "standard input (`-`) can be read only once, but a tree is read for each level";
        return Err(Error::usage(message).hint("write it to a file"));
    }
    let at = |level: u32, held: u64| {
        let input = CommunityInput { level: Some(level), ..options.input.clone() };
        let held_bytes = options.held_bytes + 4 * graph.node_count() * held;
        let (numbered, is_described) = (false, false);
        let reading =
            MembershipOptions { input, held_bytes, numbered, is_described, ..options.clone() };
        read(files, path, graph, &reading, observer)
    };
    let leaves = at(LAST_LEVEL, 0)?;
    let mut levels: Vec<Membership> = Vec::new();
    for number in 1.. {
        let level = at(number, 1 + levels.len() as u64)?;
        if level.community_count >= leaves.community_count {
            break;
        }
        // A level that divides nothing is left out.
        if levels.last().is_none_or(|last| last.community_count < level.community_count) {
            levels.push(level);
        }
    }
    levels.push(leaves);
    Ok(levels)
}

/// Reads the first lines of `path`, so that a file without communities fails before long work. As in [`read`],
/// communities may have to be numbers (`numbered`).
///
/// # Errors
/// The earliest bad line of these; `BadInput` if there is none at all; `Io`.
pub fn check(files: &Files, path: &Path, input: &CommunityInput, numbered: bool) -> Result<()> {
    input.check()?;
    check_rows(files, path, &input.of(path, numbered))
}

/// Refuses a level that is asked for if none of the files has paths. Streams are checked as they are read.
///
/// # Errors
/// `Usage`; those of [`check`].
pub(crate) fn check_level<'p>(
    files: &Files,
    input: &CommunityInput,
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<()> {
    let mut other = None;
    for path in paths.into_iter().filter(|_| input.level.is_some()) {
        if !files.is_regular(path) || open(files, path, input, false, 1)?.has_paths() {
            return Ok(());
        }
        other = other.or(Some(path));
    }
    other.map_or(Ok(()), |path| Err(no_levels(path)))
}

/// Returns the error for a level of a file without paths.
pub(crate) fn no_levels(path: &Path) -> Error {
    let message =
        format_args!("{LEVEL} has no effect on `{}`, whose nodes have no paths", path.display());
    Error::usage(message).hint(format_args!(
        "leave it out; paths are in files that end in .tree and in text of {}; {} takes the groups of {}",
        LEVELS.of("tree"),
        COMMUNITY_COLUMNS.of("node,group1"),
        LEVELS.of("columns")
    ))
}

/// Returns whether a file can be read only once.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reports how a file was understood.
pub(crate) fn report(reader: &EdgeReader, observer: &dyn Observer) -> Result<()> {
    reader.describe().iter().try_for_each(|text| notify(observer, Event::Notice { text }))
}

/// Like [`check`], for a file that is read with `input`.
pub(crate) fn check_rows(files: &Files, path: &Path, input: &InputOptions) -> Result<()> {
    // A file of less than two chunks is read completely, so nothing is read after this function returns.
    let mut reader = open_rows(files, path, input, 2)?;
    match reader.next_batch(&mut Batch::default())? {
        true => Ok(()),
        false => Err(nothing_known(path, 0)),
    }
}

/// Opens a file of communities.
///
/// # Errors
/// `Usage`, `BadInput`, `Io`.
pub(crate) fn open(
    files: &Files,
    path: &Path,
    input: &CommunityInput,
    numbered: bool,
    chunks: usize,
) -> Result<EdgeReader> {
    input.check()?;
    open_rows(files, path, &input.of(path, numbered), chunks)
}

fn open_rows(
    files: &Files,
    path: &Path,
    input: &InputOptions,
    chunks: usize,
) -> Result<EdgeReader> {
    if files.entry(&path.join("graph.json")).is_ok() {
        let path = path.display();
        let message = format!("`{path}` is a graph, not a file of communities");
        return Err(Error::new(ErrorKind::BadInput, message)
            .hint(format!("`outcore cluster {path} -o communities.tsv` finds its communities")));
    }
    let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks };
    EdgeReader::open(files, input, memory)
}

struct MembershipJob<'a> {
    /// Word for what a line assigns to a node, in the singular and the plural.
    what: [&'static str; 2],
    /// How the file is read.
    input: InputOptions,
    /// Memory of the result in bytes.
    node_bytes: u64,
    files: &'a Files,
    path: &'a Path,
    graph: &'a Graph,
    options: &'a MembershipOptions,
    observer: &'a dyn Observer,
}

/// Summary of the joined lines.
#[derive(Default)]
struct Joined {
    named: u64,
    unknown: u64,
    largest_number: Option<u64>,
    /// Node of the earliest line that contradicts another, and both lines.
    conflict: Option<Conflict>,
}

#[derive(Clone, Copy)]
struct Conflict {
    node: u32,
    first: u64,
    second: u64,
}

impl MembershipJob<'_> {
    fn open(&self) -> Result<EdgeReader> {
        let MembershipOptions { input, limits, .. } = self.options;
        input.check()?;
        open_rows(self.files, self.path, &self.input, input::batch_chunks(limits))
    }

    /// Returns the budget of each of the two sorts; `window_bytes` is the memory of decompression.
    fn sort_bytes(&self, window_bytes: u64) -> Result<u64> {
        let MembershipOptions { limits, held_bytes, .. } = *self.options;
        let node_count = self.graph.node_count();
        let held_bytes = held_bytes + window_bytes;
        let least = memory_bytes_for(0, held_bytes + self.node_bytes, limits.threads);
        if limits.memory_bytes < least {
            let of_what = format_args!(" to read `{}`", self.path.display());
            return Err(Error::too_little_memory(limits.memory_bytes, of_what, least)
                .note(format!("the graph has {}", format_counted(node_count, "node", "nodes"))));
        }
        let fixed = self.node_bytes + input::batch_memory_bytes(&limits) + held_bytes;
        Ok((limits.memory_bytes - fixed) / 2)
    }

    fn sorter<T: Row>(&self, budget: u64) -> Result<RowSorter<T>> {
        RowSorter::new(self.files, &self.options.scratch, budget, self.options.limits.threads)
    }

    /// Sorts the names of the graph, each followed by the lines that name it. `value` returns the value of a line, from
    /// its second column, given the chunk and the line.
    fn collect(
        &self,
        mut reader: EdgeReader,
        budget: u64,
        value: impl Fn(&EdgeChunk, &NameRef, u64) -> Result<Fingerprint>,
    ) -> Result<SortedRows<Named>> {
        let mut sorter = self.sorter(budget)?;
        let mut done = 0u64;
        let mut names = self.graph.names()?;
        while let Some(name) = names.next_name()? {
            sorter.add(Named::node(Fingerprint::of(name), done))?;
            done += 1;
            if done.is_multiple_of(REPORT_NODES) {
                notify(self.observer, Event::Advance { done })?;
            }
        }
        let mut batch = Batch::default();
        while reader.next_batch(&mut batch)? {
            for chunk in &batch.chunks {
                let (pairs, _) = chunk.names.as_chunks::<2>();
                for ([name, second], place) in pairs.iter().zip(chunk.edge_lines()) {
                    let community = value(chunk, second, place)?;
                    sorter.add(Named { name: name.fingerprint, community, place })?;
                }
                done += chunk.edge_count() as u64;
            }
            notify(self.observer, Event::Advance { done })?;
        }
        sorter.finish()
    }

    /// Finds the node of each line, and passes both to `each`, in the order of names.
    fn join(
        &self,
        sorted: SortedRows<Named>,
        mut each: impl FnMut(&Named, u32) -> Result<()>,
    ) -> Result<Joined> {
        let mut joined = Joined::default();
        // A node of the graph, or the first line with an unknown name.
        let mut current = Named::default();
        let mut known: Option<Named> = None;
        self.for_each(sorted, |record| {
            if self.options.numbered && !record.is_node() {
                joined.largest_number = joined.largest_number.max(number(record.community));
            }
            if record.is_node() {
                (current, known) = (*record, None);
            } else if record.name != current.name {
                joined.unknown += 1;
                (current, known) = (*record, None);
            } else if !current.is_node() {
                // Another line with the same unknown name.
            } else if let Some(first) = known {
                joined.compare(current.place as u32, &first, record);
            } else {
                known = Some(*record);
                joined.named += 1;
                each(record, current.place as u32)?;
            }
            Ok(())
        })?;
        match joined.conflict {
            Some(conflict) => Err(self.contradiction(conflict)?),
            None => Ok(joined),
        }
    }

    /// Passes sorted rows, whose number is unknown, to `each`.
    fn for_each<T: Row>(
        &self,
        sorted: SortedRows<T>,
        each: impl FnMut(&T) -> Result<()>,
    ) -> Result<()> {
        let done = self.graph.node_count();
        sorted.for_each(|| notify(self.observer, Event::Advance { done }), each)
    }

    /// Numbers the communities, and assigns the labels to nodes.
    fn label(&self, sorted: SortedRows<Member>, joined: &Joined) -> Result<Membership> {
        let count = self.graph.node_count() as usize;
        let mut labels = reserve_large_pages(count);
        labels.resize(count, Membership::NONE);
        let mut numbers = Vec::new();
        let mut last = Fingerprint::default();
        let mut communities = 0u32;
        self.for_each(sorted, |member| {
            if member.community != last {
                last = member.community;
                communities += 1;
                if self.options.numbered {
                    numbers.push(number(last).expect("lines without a number are bad"));
                }
            }
            labels[member.node as usize] = communities - 1;
            Ok(())
        })?;
        let order = renumber(&mut labels, communities as usize);
        let mut ordered = vec![0; numbers.len()];
        order.iter().zip(&numbers).for_each(|(&new, &number)| ordered[new as usize] = number);
        Ok(Membership {
            labels,
            community_count: u64::from(communities),
            named: joined.named,
            unknown: joined.unknown,
            has_paths: false,
            numbers: ordered,
            largest_number: joined.largest_number,
        })
    }

    fn contradiction(&self, conflict: Conflict) -> Result<Error> {
        let Conflict { node, first, second } = conflict;
        let name = self.graph.open_names()?.name(node)?;
        let (path, name) = (self.path.display(), String::from_utf8_lossy(&name).into_owned());
        let [one, several] = self.what;
        let message = format!("`{path}` gives node `{name}` two {several}");
        Ok(Error::new(ErrorKind::BadInput, message)
            .note(format!("lines {} and {} name it", format_count(first), format_count(second)))
            .hint(format_args!(
                "a node has one {one}: remove one of the lines; {} or {} read the file otherwise",
                COMMUNITY_COLUMNS.of("2,1"),
                COMMUNITY_FORMAT.of("pairs")
            )))
    }
}

/// Returns the error for a file that names no node of the graph.
pub(crate) fn nothing_known(path: &Path, unknown: u64) -> Error {
    let path = path.display();
    let message = match unknown {
        0 => format!("`{path}` names no nodes"),
        _ => format!("`{path}` names no node of the graph"),
    };
    let error = Error::new(ErrorKind::BadInput, message);
    let error = match unknown {
        0 => error,
        _ => error.note(format!(
            "none of its {} is a node of the graph",
            format_counted(unknown, "name", "names")
        )),
    };
    error.hint(format_args!(
        "names are those of the nodes in the edges; {COMMUNITY_COLUMNS} and {COMMUNITY_FORMAT} say where they are"
    ))
}

impl Joined {
    /// Stores the earliest contradiction.
    fn compare(&mut self, node: u32, first: &Named, second: &Named) {
        let is_earlier = self.conflict.is_none_or(|known| second.place < known.second);
        if first.community != second.community && is_earlier {
            self.conflict = Some(Conflict { node, first: first.place, second: second.place });
        }
    }
}

/// Numbers the labels in the order of their first nodes; returns the new label of each old one.
fn renumber(labels: &mut [u32], count: usize) -> Vec<u32> {
    let mut order = vec![Membership::NONE; count];
    let mut next = 0;
    for label in labels.iter_mut().filter(|label| **label != Membership::NONE) {
        let new = &mut order[*label as usize];
        if *new == Membership::NONE {
            *new = next;
            next += 1;
        }
        *label = *new;
    }
    order
}
