//! The steps of a comparison, in the order in which the job takes them.

use super::community_names::Names;
use super::comparison_rows::Shared;
use super::join::{Conflict, Joined, NodeCounts, join};
use super::overlaps::{Compared, DRAWN, Kept, SideFacts, compare};
use super::report::{
    Change, CommunityName, CompareReport, Drawn, DrawnFlow, DrawnSide, Fate, Part, SideReport,
    summary,
};
use super::side::{Side, Source, for_each_row, read};
use super::write::{OverlapWriter, write_moved};
use super::{CompareOptions, NONE, SORTS, budget};
use crate::error::opt::{COMMUNITY_COLUMNS, COMMUNITY_FORMAT};
use crate::error::{Error, ErrorKind, Result};
use crate::input::{EdgeReader, batch_chunks};
use crate::io::{Files, peak_memory_bytes};
use crate::membership;
use crate::output::RowFile;
use crate::present::{Earlier, Presented, Workbench};
use crate::progress::{Event, Observer, Stage, notify};
use crate::score::{Agreement, agreement_of};
use crate::units::{format_count, format_counted};
use std::collections::BTreeMap;
use std::path::Path;

/// Comparison under way.
pub(crate) struct Comparison<'a> {
    options: &'a CompareOptions,
    bench: Workbench<'a>,
    sources: [Source<'a>; 2],
    /// Files that were not read yet.
    readers: [Option<EdgeReader>; 2],
    sides: [Option<Side>; 2],
    names: [Names; 2],
}

/// All that is compared.
pub(crate) struct Found {
    compared: Compared,
    kept: Option<Kept>,
    agreement: Agreement,
}

impl<'a> Comparison<'a> {
    /// Opens both files; nothing is read before the memory that they need is known.
    ///
    /// # Errors
    /// `MemoryTooSmall`; `Usage` or `BadInput` for a file that is not of communities; `Io`.
    pub(crate) fn open(
        files: &'a Files,
        options: &'a CompareOptions,
        scratch: &'a Path,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let limits = options.limits;
        let chunks = batch_chunks(&limits);
        let source = |path: &'a Path| Source { path, input: &options.input, chunks };
        let sources = [source(&options.a), source(&options.b)];
        let readers = [sources[0].open(files)?, sources[1].open(files)?];
        let window_bytes: u64 = readers.iter().map(EdgeReader::window_bytes).sum();
        let budget = budget(&limits, window_bytes)?;
        let bench = Workbench { files, scratch, budget, threads: limits.threads, observer };
        let names = [Names::Numbers, Names::Numbers];
        let readers = readers.map(Some);
        Ok(Self { options, bench, sources, readers, sides: [None, None], names })
    }

    /// Reads one of the files; returns a summary.
    ///
    /// # Errors
    /// The earliest bad line; `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn read(&mut self, at: usize) -> Result<String> {
        notify(
            self.bench.observer,
            Event::Begin { stage: Stage::Match, total: None, unit: "nodes" },
        )?;
        let reader = match self.readers[at].take() {
            Some(reader) => reader,
            None => self.sources[at].open(self.bench.files)?,
        };
        membership::report(&reader, self.bench.observer)?;
        let source = self.sources[at];
        if source.input.level.is_some() && source.is_stream() && !reader.has_paths() {
            return Err(membership::no_levels(source.path));
        }
        let kept = ["names-a", "names-b"][at];
        let side = read(&self.bench, self.sources[at], reader, kept)?;
        let rows = format_counted(side.row_count, "node", "nodes");
        let summary = format!("{rows} in {}", self.sources[at].path.display());
        self.names[at] = side.names.clone();
        self.sides[at] = Some(side);
        Ok(summary)
    }

    /// Compares the files, and writes all overlaps if that is requested. Returns a summary, too.
    ///
    /// # Errors
    /// `BadInput` if a file gives a node two communities, or if no node is in both; `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn compare(&mut self) -> Result<(Found, String)> {
        notify(
            self.bench.observer,
            Event::Begin { stage: Stage::Compare, total: None, unit: "nodes" },
        )?;
        let [Some(a), Some(b)] = std::mem::take(&mut self.sides) else {
            unreachable!("both files are read first");
        };
        let joined = join(&self.bench, a.rows, b.rows, self.sources[0].is_stream())?;
        for (at, conflict) in joined.conflicts.iter().enumerate() {
            if let Some(conflict) = conflict {
                return Err(self.contradiction(self.sources[at], *conflict)?);
            }
        }
        self.refuse_disjoint(&joined)?;
        let keeps_rows = self.options.moved.is_some();
        let mut writer = OverlapWriter::create(&self.bench, self.options, &self.names)?;
        let (compared, kept) =
            compare(&self.bench, joined, keeps_rows, |pair| match &mut writer {
                Some(writer) => writer.push(pair),
                None => Ok(()),
            })?;
        if let Some(writer) = writer {
            writer.finish(&self.bench, &self.names)?;
        }
        let agreement = agreement_of(&compared.joint, &compared.a.sizes, &compared.b.sizes);
        let counts = compared.counts;
        let summary = summary(counts.both - compared.stayed, counts.both, &agreement);
        Ok((Found { compared, kept, agreement }, summary))
    }

    /// Writes the nodes that moved; returns a summary.
    ///
    /// # Errors
    /// `InputChanged` if the file with their names changed; `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn write_moved(&self, found: &Found, output: &Path) -> Result<String> {
        let total = found.compared.counts.both - found.compared.stayed;
        let begin = Event::Begin { stage: Stage::Write, total: Some(total), unit: "nodes" };
        notify(self.bench.observer, begin)?;
        let Some(kept) = &found.kept else { return Ok(String::new()) };
        let named_by = self.sources[usize::from(self.sources[0].is_stream())];
        let file = RowFile::new(output, self.options.output_header);
        let bytes = write_moved(&self.bench, kept, named_by, &self.names, file)?;
        let nodes = format_counted(total, "node", "nodes");
        Ok(format!("{nodes}, {}", crate::units::format_bytes(bytes)))
    }

    /// Refuses files without a node in common.
    fn refuse_disjoint(&self, joined: &Joined) -> Result<()> {
        let counts = joined.counts;
        if counts.both > 0 {
            return Ok(());
        }
        let [a, b] = self.sources.map(|source| source.path.display());
        let named = [counts.only_a, counts.only_b].map(|n| format_counted(n, "node", "nodes"));
        let message = format!("`{a}` and `{b}` have no node in common");
        Err(Error::new(ErrorKind::BadInput, message)
            .note(format!("`{a}` names {}, `{b}` {}", named[0], named[1]))
            .hint(format_args!(
                "nodes are compared by their names; {COMMUNITY_COLUMNS} and {COMMUNITY_FORMAT} say where they are"
            )))
    }

    /// Returns the error for a node with two communities.
    fn contradiction(&self, source: Source<'_>, conflict: Conflict) -> Result<Error> {
        let path = source.path.display();
        let rows = [conflict.first.row, conflict.second.row];
        let (name, note) = match self.find(source, rows)? {
            Some((name, [first, second])) => {
                let lines = [first, second].map(format_count);
                (name, format!("lines {} and {} name it", lines[0], lines[1]))
            }
            None => {
                let name = conflict.first.name.short_bytes().unwrap_or_default();
                let [first, second] = rows.map(|row| format_count(row + 1));
                (name, format!("it is number {first} and number {second} of the nodes there"))
            }
        };
        let name = String::from_utf8_lossy(&name);
        let message = match name.is_empty() {
            true => format!("`{path}` gives a node two communities"),
            false => format!("`{path}` gives node `{name}` two communities"),
        };
        Ok(Error::new(ErrorKind::BadInput, message).note(note).hint(format_args!(
            "a node has one community: remove one of the lines; {} or {} read the file otherwise",
            COMMUNITY_COLUMNS.of("2,1"),
            COMMUNITY_FORMAT.of("pairs")
        )))
    }

    /// Reads a file again up to the second of two rows; returns their name and lines. A stream cannot be read again.
    fn find(&self, source: Source<'_>, rows: [u64; 2]) -> Result<Option<(Vec<u8>, [u64; 2])>> {
        if source.is_stream() {
            return Ok(None);
        }
        let (mut first, mut found) = (0, None);
        let reader = source.open(self.bench.files)?;
        for_each_row(&self.bench, reader, |chunk, [name, _], row, line| {
            if row == rows[0] {
                first = line;
            }
            if row == rows[1] {
                found = Some((chunk.name(name).to_vec(), [first, line]));
            }
            Ok(row != rows[1])
        })?;
        Ok(found)
    }

    /// Returns the report.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn report(&self, found: &Found) -> Result<CompareReport> {
        let paths = self.sources.map(|source| source.path);
        Ok(report(found, paths, &self.resolve(&found.compared)?))
    }

    /// Finds the names of all communities in the report.
    fn resolve(&self, compared: &Compared) -> Result<[Known; 2]> {
        let parts = |facts: &SideFacts| -> Vec<u64> {
            let groups = facts.changes.iter().flat_map(|(_, (group, _))| &group.parts);
            groups.map(|(_, part)| part.label).collect()
        };
        let known = |at: usize, own: &SideFacts, other: &SideFacts| {
            let mut labels = parts(other);
            labels.extend(own.changes.iter().map(|(_, (group, _))| group.label));
            labels.extend(own.largest.iter().map(|&(_, label)| label));
            let names = match &self.names[at] {
                Names::Numbers => None,
                text => Some(text.of(self.bench.files, &labels)?),
            };
            Ok(Known(names))
        };
        Ok([known(0, &compared.a, &compared.b)?, known(1, &compared.b, &compared.a)?])
    }
}

/// Compares an earlier result with the new one of the same nodes, whose files are `paths`. Returns nothing if no node has
/// a community in both.
///
/// # Errors
/// `Io`, `DiskFull`, `CorruptFile`, `Interrupted`.
pub(crate) fn compare_with(
    bench: &Workbench<'_>,
    presented: &Presented,
    earlier: &Earlier,
    paths: [&Path; 2],
) -> Result<Option<CompareReport>> {
    let numbers = earlier.numbers()?;
    let mut sorter = bench.rows(SORTS)?;
    let mut counts = NodeCounts::default();
    let (mut node, mut read) = (0, 0);
    earlier.for_each_label(|old| {
        let a = numbers.get(old as usize).copied().unwrap_or(NONE);
        let b = presented.number(node).unwrap_or(NONE);
        node += 1;
        if (a, b) == (NONE, NONE) {
            return Ok(());
        }
        counts.add(a, b);
        sorter.add(Shared { a, b, row: 0 })?;
        bench.count(&mut read)
    })?;
    if counts.both == 0 {
        return Ok(None);
    }
    let joined = Joined { shared: sorter.finish()?, counts, conflicts: [None, None] };
    let (compared, kept) = compare(bench, joined, false, |_| Ok(()))?;
    let agreement = agreement_of(&compared.joint, &compared.a.sizes, &compared.b.sizes);
    let found = Found { compared, kept, agreement };
    Ok(Some(report(&found, paths, &[Known(None), Known(None)])))
}

fn report(found: &Found, paths: [&Path; 2], names: &[Known; 2]) -> CompareReport {
    let Found { compared, agreement, .. } = found;
    let [names_a, names_b] = names;
    let counts = compared.counts;
    let side = |at: usize, facts: &SideFacts, only: u64| SideReport {
        path: paths[at].display().to_string(),
        node_count: counts.both + only,
        only_count: only,
        community_count: facts.fates.all(),
        fates: facts.fates,
    };
    CompareReport {
        schema: 1,
        kind: "compare",
        a: side(0, &compared.a, counts.only_a),
        b: side(1, &compared.b, counts.only_b),
        node_count: counts.both,
        moved_count: counts.both - compared.stayed,
        overlap_count: compared.overlap_count,
        agreement: *agreement,
        left: changes(&compared.a, names_a, names_b),
        joined: changes(&compared.b, names_b, names_a),
        drawn: drawn(compared, names_a, names_b),
        peak_memory_bytes: peak_memory_bytes(),
    }
}

/// Names of some communities, if they are not the labels.
struct Known(Option<BTreeMap<u64, Vec<u8>>>);

impl Known {
    fn name(&self, label: u64) -> CommunityName {
        match &self.0 {
            None => CommunityName::Number(label),
            Some(names) => {
                let name = names.get(&label).map(Vec::as_slice).unwrap_or_default();
                CommunityName::Text(String::from_utf8_lossy(name).into_owned())
            }
        }
    }
}

fn changes(facts: &SideFacts, own: &Known, other: &Known) -> Vec<Change> {
    facts
        .changes
        .iter()
        .map(|(moved, (group, fate))| Change {
            community: own.name(group.label),
            size: group.size,
            shared_count: group.common,
            moved_count: *moved,
            fate: *fate,
            parts: group
                .parts
                .iter()
                .map(|&(shared_count, part)| Part {
                    community: other.name(part.label),
                    shared_count,
                })
                .collect(),
            part_count: group.part_count,
        })
        .collect()
}

fn drawn(compared: &Compared, names_a: &Known, names_b: &Known) -> Drawn {
    let nodes = compared.counts.both;
    let side = |facts: &SideFacts, names: &Known, only: u64| {
        let largest = facts.largest.iter().map(|&(size, label)| DrawnSide {
            community: Some(names.name(label)),
            community_count: 1,
            size,
        });
        let mut all: Vec<DrawnSide> = largest.collect();
        let rest = facts.fates.all() - all.len() as u64;
        if rest > 0 {
            let size = nodes + only - all.iter().map(|side| side.size).sum::<u64>();
            all.push(DrawnSide { community: None, community_count: rest, size });
        }
        all
    };
    let flow = |(&(a, b), &shared_count): (&(usize, usize), &u64)| DrawnFlow { a, b, shared_count };
    let mut flows: Vec<DrawnFlow> = compared.flows.iter().map(flow).collect();
    flows.sort_unstable_by_key(|flow| (flow.a, flow.b));
    debug_assert!(flows.iter().all(|flow| flow.a <= DRAWN && flow.b <= DRAWN));
    Drawn {
        a: side(&compared.a, names_a, compared.counts.only_a),
        b: side(&compared.b, names_b, compared.counts.only_b),
        flows,
    }
}

/// Fate of a community, in the words for one that is in A or in B.
impl Fate {
    /// Returns what became of a community of A.
    pub fn of_a(self) -> &'static str {
        match self {
            Self::Alone => "gone",
            Self::Unchanged => "unchanged",
            Self::Continued => "continued",
            Self::IntoOne => "merged",
            Self::IntoSeveral => "split",
            Self::Mixed => "mixed",
        }
    }

    /// Returns where a community of B comes from.
    pub fn of_b(self) -> &'static str {
        match self {
            Self::Alone => "new",
            Self::IntoOne => "part of a split",
            Self::IntoSeveral => "of a merge",
            same => same.of_a(),
        }
    }
}
