//! Links of a flow tree (`.ftree`): for each module, what enters and leaves it, and the flow between its children.
//!
//! ```text
//!  graph --scan--> (section, child, child, flow) of each arc --sort--> rows of each section, on disk --> sections
//!            `--sums by section--> flow that enters and leaves each module ------------------------------'
//! ```
//!
//! A module that equals its parent is left out of paths, so its children are in the section of the parent. Sections
//! are in the order of paths, each parent before its children. The link of an arc is in the section of the smallest module
//! that has both of its ends; the arc enters or leaves the modules between that one and its ends. An end that is left out
//! of the result is outside of all modules, also of the root. Recorded teleportations are no links, but they enter and
//! leave modules: those from a module land inside it in proportion to its share of all landings.
//!
//! What enters and leaves is summed in integers, by all threads; links are summed in the order of nodes. So the file does
//! not depend on threads or memory.
//!
//! Memory: 8 bytes per node (16 in a directed graph), at most [`MODULE_BYTES`] per module of any level, and the budget of
//! the sort. Disk: up to 20 bytes per arc through the sort (about 10 in an undirected graph, where an edge is one record),
//! then 16 per link. Time: one scan, with a step per arc and level between its ends and their module.

use super::Presented;
use super::flow::Flow;
use super::matching::Workbench;
use super::presentation_rows::Link;
use super::tree::{Ranked, path_of};
use crate::cluster::base::parallel::PerThread;
use crate::cluster::base::rows::RowsAhead;
use crate::cluster::finish::portions::push_arcs;
use crate::cluster::{BlockSource, ClusterMemory, score};
use crate::error::Result;
use crate::graph::Graph;
use crate::io::{Array, ArrayWriter, Files, prefetch};
use crate::output::LineWriter;
use crate::progress::{Event, REPORT_NODES, Stage, notify};
use crate::sort::{Row, SortedRows};
use crate::weight::Weight;
use std::iter::{once, repeat};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes per module: its parent, number, section and children; what enters and leaves it, along arcs, by teleportation and
/// in all.
const MODULE_BYTES: u64 = 4 + 4 + 8 + 4 + 3 * 16;
/// Sums of flow are in units of 2^-62; no sum is larger than all flow, which is 1.
const UNIT: f64 = 1.0 / (1u64 << 62) as f64;
/// Numbers held in memory while links are read.
const BLOCK_NUMBERS: u64 = 1 << 14;

/// Place of a node: its module of the last level, and its number there.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodePlace {
    pub(super) module: u32,
    pub(super) number: u32,
}

impl NodePlace {
    /// Place of a node that is left out.
    pub(super) const NONE: Self = Self { module: Presented::NONE, number: 0 };

    fn is_left_out(self) -> bool {
        self.module == Presented::NONE
    }
}

/// Returns the memory for the links of this number of modules, beside the budget of the sort.
pub(super) fn links_bytes(graph: &Graph, modules: u64, threads: usize) -> u64 {
    let scan = ClusterMemory::of_scans(graph, threads);
    let of_node = size_of::<NodePlace>() as u64 + if graph.is_directed() { 8 } else { 0 };
    of_node * graph.node_count() + MODULE_BYTES * modules + scan.scratch_bytes + scan.block_bytes
}

/// Writes the links of all modules after the lines of the nodes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(super) fn write_links(
    bench: &Workbench<'_>,
    graph: &Graph,
    flow: &Flow,
    ranked: Vec<Ranked>,
    places: Vec<NodePlace>,
    lines: &mut LineWriter,
) -> Result<()> {
    let total = graph.arc_count();
    let begin = Event::Begin { stage: Stage::Write, total: Some(total), unit: "arcs" };
    notify(bench.observer, begin)?;
    let tick = || notify(bench.observer, Event::Advance { done: total });
    let tree = Tree::new(ranked, &places);
    let (sorted, crossing) = scan(bench, graph, flow, &tree, &places)?;
    let crossing = with_teleports(bench.files, flow, &tree, &places, crossing, tick)?;
    drop(places);
    let scale = flow.per_visit() * if graph.is_directed() { 1.0 } else { 2.0 };
    let links = Links::sum(bench, sorted, tree.section_count())?;
    put_title(graph.is_directed(), lines)?;
    put_sections(bench.files, &tree, &crossing, links, scale, lines, tick)
}

/// Modules by level and place, with their sections.
struct Tree {
    ranked: Vec<Ranked>,
    /// Section of each module. That of the root is 0.
    sections: Vec<Vec<u64>>,
    /// Number of children of each section.
    children: Vec<u32>,
}

impl Tree {
    fn new(ranked: Vec<Ranked>, places: &[NodePlace]) -> Self {
        let (sections, count) = sections(&ranked);
        let mut children = vec![0; count as usize];
        let mut above = &[0][..];
        for (level, sections) in ranked.iter().zip(&sections) {
            for (&rank, &parent) in level.ranks.iter().zip(&level.parents) {
                children[above[parent as usize] as usize] += u32::from(rank > 0);
            }
            above = sections;
        }
        for place in places.iter().filter(|place| !place.is_left_out()) {
            children[above[place.module as usize] as usize] += 1;
        }
        Self { ranked, sections, children }
    }

    fn section_count(&self) -> u64 {
        self.children.len() as u64
    }

    /// Returns the depth and the section of each module that contains `leaf`, a module of the last level, from that one
    /// up to the root. Skips modules that equal their parents.
    fn above(&self, leaf: u32) -> impl Iterator<Item = (usize, u64)> {
        let mut place = leaf as usize;
        let levels = (1..=self.ranked.len()).rev();
        let held = levels.filter_map(move |depth| {
            let (level, sections) = (&self.ranked[depth - 1], &self.sections[depth - 1]);
            let found = (level.ranks[place] > 0).then(|| (depth, sections[place]));
            place = level.parents[place] as usize;
            found
        });
        held.chain(once((0, 0)))
    }

    /// Returns where two nodes meet, if both are in modules.
    fn meeting(&self, [from, to]: [NodePlace; 2]) -> Option<Meeting> {
        if from.is_left_out() || to.is_left_out() {
            return None;
        }
        let (mut places, mut children) = ([from.module, to.module], [from.number, to.number]);
        for depth in (1..=self.ranked.len()).rev() {
            let (level, sections) = (&self.ranked[depth - 1], &self.sections[depth - 1]);
            if places[0] == places[1] {
                return Some(Meeting { depth, section: sections[places[0] as usize], children });
            }
            children = places.map(|place| level.ranks[place as usize]);
            places = places.map(|place| level.parents[place as usize]);
        }
        Some(Meeting { depth: 0, section: 0, children })
    }
}

/// Smallest module that has two nodes.
struct Meeting {
    depth: usize,
    section: u64,
    /// Its children that have the nodes.
    children: [u32; 2],
}

/// Numbers the sections of all modules in the order of paths; returns them, and their number with that of the root.
fn sections(ranked: &[Ranked]) -> (Vec<Vec<u64>>, u64) {
    // First, the number of sections in each module, its own included.
    let mut sections: Vec<Vec<u64>> = Vec::new();
    for (at, level) in ranked.iter().enumerate().rev() {
        let mut counts: Vec<u64> = level.ranks.iter().map(|&rank| u64::from(rank > 0)).collect();
        if let (Some(below), Some(of_below)) = (ranked.get(at + 1), sections.last()) {
            for (&parent, count) in below.parents.iter().zip(of_below) {
                counts[parent as usize] += count;
            }
        }
        sections.push(counts);
    }
    sections.reverse();
    let count = 1 + sections.first().map_or(0, |counts| counts.iter().sum());
    // Then, the number of sections before each module. The modules of a parent lie side by side.
    let (mut above, root) = (&[0][..], 0);
    for (level, counts) in ranked.iter().zip(&mut sections) {
        let (mut last, mut next) = (None, root);
        for ((&parent, &rank), section) in level.parents.iter().zip(&level.ranks).zip(&mut *counts)
        {
            if last.replace(parent) != Some(parent) {
                next = above[parent as usize] + 1;
            }
            let number = if rank > 0 { next } else { next - 1 };
            next += std::mem::replace(section, number);
        }
        above = counts;
    }
    (sections, count)
}

/// What enters and leaves each section, in units.
struct Crossing {
    enters: Vec<AtomicU64>,
    /// Empty in an undirected graph, where as much flow leaves as enters.
    leaves: Vec<AtomicU64>,
}

/// Sorts the links of all arcs, and sums what crosses modules.
fn scan(
    bench: &Workbench<'_>,
    graph: &Graph,
    flow: &Flow,
    tree: &Tree,
    places: &[NodePlace],
) -> Result<(SortedRows<Link>, Crossing)> {
    let graph = &score::walked(graph)?;
    let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
    let count = tree.children.len();
    let rows = ArcRows {
        tree,
        places,
        per_weight: flow.per_weight(bench.files)?,
        units: flow.per_visit() / UNIT,
        is_directed: graph.is_directed(),
        crossing: Crossing {
            enters: zeros(count),
            leaves: zeros(if graph.is_directed() { count } else { 0 }),
        },
    };
    let mut sorter = bench.rows::<Link>(1)?;
    let (arcs, mut done) = (PerThread::new(RowsAhead::default), 0);
    let fetch = |_, sources: &[u32]| {
        for &source in sources {
            prefetch(places, source as usize);
            prefetch(&rows.per_weight, source as usize);
        }
    };
    BlockSource::new(graph, 0).for_all(|block| {
        push_arcs(block, 1, sorter.as_words(), &arcs, fetch, |node, others, codes, out| {
            rows.put(node, others, codes, out)
        })?;
        done += block.arc_count();
        notify(bench.observer, Event::Advance { done })
    })?;
    Ok((sorter.finish()?, rows.crossing))
}

/// Link as it is sorted.
type LinkWords = <Link as Row>::Words;

/// State of a scan of the arcs that enter each node.
struct ArcRows<'a> {
    tree: &'a Tree,
    places: &'a [NodePlace],
    /// Visits that follow each unit of weight, by source; empty if it is 1.
    per_weight: Vec<f64>,
    /// Units of flow in a visit.
    units: f64,
    is_directed: bool,
    crossing: Crossing,
}

impl ArcRows<'_> {
    /// Writes the links of arcs to a node to `out`; returns their number. An undirected edge is in the row of its later
    /// node; both of its arcs enter modules.
    fn put(&self, node: u32, sources: &[u32], codes: &[u32], out: &mut [LinkWords]) -> usize {
        let own = self.places[node as usize];
        // Flow that comes from outside of the modules of each depth, but from inside of those above.
        let mut entering = vec![0; self.tree.ranked.len() + 2];
        let mut filled = 0;
        let codes = codes.iter().copied().chain(repeat(Weight::ONE.code()));
        for (&source, code) in sources.iter().zip(codes) {
            let per_weight = self.per_weight.get(source as usize).copied().unwrap_or(1.0);
            let visits = Weight::from_code(code).value() * per_weight;
            let flow = (visits * self.units).round() as u64;
            let from = self.places[source as usize];
            let meeting = self.tree.meeting([from, own]);
            let outside = meeting.as_ref().map_or(0, |meeting| meeting.depth + 1);
            entering[outside] += flow;
            if self.is_directed {
                self.leave(from, outside, flow);
            }
            if let Some(Meeting { section, children: [from, to], .. }) = meeting
                && (self.is_directed || source < node)
            {
                let ends = if self.is_directed { [from, to] } else { [from.min(to), from.max(to)] };
                out[filled] = Link { section, ends, visits }.words();
                filled += 1;
            }
        }
        self.enter(own, &mut entering);
        filled
    }

    /// Adds flow out of a node to those of its modules that it leaves: at depth `outside` and below.
    fn leave(&self, from: NodePlace, outside: usize, flow: u64) {
        if from.is_left_out() {
            return;
        }
        for (_, section) in self.tree.above(from.module).take_while(|&(depth, _)| depth >= outside)
        {
            self.crossing.leaves[section as usize].fetch_add(flow, Relaxed);
        }
    }

    /// Adds the flow into a node to its modules. `entering[depth]` enters the modules at that depth and below.
    fn enter(&self, to: NodePlace, entering: &mut [u64]) {
        if to.is_left_out() {
            return;
        }
        for depth in 1..entering.len() {
            entering[depth] += entering[depth - 1];
        }
        for (depth, section) in self.tree.above(to.module) {
            self.crossing.enters[section as usize].fetch_add(entering[depth], Relaxed);
        }
    }
}

/// Returns the flow that enters and leaves each section, with recorded teleportations.
fn with_teleports(
    files: &Files,
    flow: &Flow,
    tree: &Tree,
    places: &[NodePlace],
    crossing: Crossing,
    tick: impl Fn() -> Result<()>,
) -> Result<Vec<[f64; 2]>> {
    let flow_of = |sum: &AtomicU64| sum.load(Relaxed) as f64 * UNIT;
    let Crossing { enters, leaves } = &crossing;
    let leaves = if leaves.is_empty() { enters } else { leaves };
    let sums = enters.iter().zip(leaves).map(|(enter, leave)| [flow_of(enter), flow_of(leave)]);
    let Some([mut from, mut to]) = flow.teleports(files)? else { return Ok(sums.collect()) };
    let (mut of_sections, mut total) = (vec![[0.0; 2]; tree.children.len()], [0.0; 2]);
    for (place, done) in places.iter().zip(0..) {
        let of_node = [from.number()?, to.number()?];
        let add = |sums: &mut [f64; 2]| (0..2).for_each(|end| sums[end] += of_node[end]);
        add(&mut total);
        if !place.is_left_out() {
            tree.above(place.module).for_each(|(_, at)| add(&mut of_sections[at as usize]));
        }
        if u64::is_multiple_of(done, REPORT_NODES) {
            tick()?;
        }
    }
    // Every sum, the total too, is added in node order, so rounding makes none larger than the total.
    let scale = if total[1] > 0.0 { flow.per_visit() / total[1] } else { 0.0 };
    let with = |([enter, leave], [from, to]): ([f64; 2], &[f64; 2])| {
        [enter + (total[0] - from) * to * scale, leave + from * (total[1] - to) * scale]
    };
    Ok(sums.zip(&of_sections).map(with).collect())
}

struct Links {
    /// Children in the two halves of a number, and the bits of the visits, for each link.
    rows: Array<u64>,
    /// Number of links of each section.
    counts: Array<u64>,
}

impl Links {
    /// Adds up links between the same children.
    fn sum(bench: &Workbench<'_>, sorted: SortedRows<Link>, section_count: u64) -> Result<Self> {
        let create = |name| ArrayWriter::create(bench.files, &bench.scratch.join(name), u64::MAX);
        let (mut rows, mut counts) = (create("links")?, create("link-counts")?);
        let mut links = bench.read(sorted);
        for section in 0..section_count {
            let mut count = 0;
            while let Some(mut sum) = links.next_if(|link| link.section == section)? {
                while let Some(link) =
                    links.next_if(|link| (link.section, link.ends) == (section, sum.ends))?
                {
                    sum.visits += link.visits;
                }
                let [from, to] = sum.ends.map(u64::from);
                rows.push_row([from << 32 | to, sum.visits.to_bits()])?;
                count += 1;
            }
            counts.push(count)?;
        }
        Ok(Links { rows: rows.finish()?, counts: counts.finish()? })
    }
}

fn put_title(is_directed: bool, lines: &mut LineWriter) -> Result<()> {
    if is_directed {
        lines.bytes(b"*Links directed").end()?;
    } else {
        lines.bytes(b"*Links undirected").end()?;
        lines.bytes(b"# link flow is both directions combined, one row per module pair").end()?;
    }
    lines.bytes(b"#*Links path enterFlow exitFlow numEdges numChildren").end()
}

/// Writes all sections, and removes the files of links, whose flow is that of visits times a scale.
fn put_sections(
    files: &Files,
    tree: &Tree,
    crossing: &[[f64; 2]],
    links: Links,
    scale: f64,
    lines: &mut LineWriter,
    tick: impl Fn() -> Result<()>,
) -> Result<()> {
    let mut rows = links.rows.read(files, BLOCK_NUMBERS)?;
    let mut counts = links.counts.read(files, BLOCK_NUMBERS)?;
    let (mut next, mut done) = (0, 0u64);
    let mut put = |path: &[u32], section: u64| -> Result<()> {
        // A section is written when the first leaf inside its module is met.
        if section != next {
            return Ok(());
        }
        next += 1;
        let count = counts.number()?;
        let [enter, leave] = crossing[section as usize];
        put_head(path, [enter, leave], lines);
        lines
            .bytes(b" ")
            .number(count)
            .bytes(b" ")
            .number(tree.children[section as usize].into())
            .end()?;
        for _ in 0..count {
            let (ends, visits) = (rows.number()?, f64::from_bits(rows.number()?));
            lines.number(ends >> 32).bytes(b" ").number(u64::from(ends as u32)).bytes(b" ");
            lines.weight(visits * scale).end()?;
            done += 1;
            if done.is_multiple_of(REPORT_NODES) {
                tick()?;
            }
        }
        Ok(())
    };
    let (mut path, mut sections) = (Vec::new(), Vec::new());
    put(&path, 0)?;
    for leaf in 0..tree.ranked.last().map_or(0, |level| level.ranks.len() as u32) {
        path_of(&tree.ranked, leaf, &mut path);
        sections.clear();
        sections.extend(tree.above(leaf).map(|(_, section)| section));
        sections
            .iter()
            .rev()
            .enumerate()
            .try_for_each(|(len, &section)| put(&path[..len], section))?;
    }
    rows.discard(files);
    counts.discard(files);
    Ok(())
}

/// Writes the beginning of a section: the path of its module, and what enters and leaves it.
fn put_head(path: &[u32], crossing: [f64; 2], lines: &mut LineWriter) {
    lines.bytes(b"*Links ");
    match path {
        [] => _ = lines.bytes(b"root"),
        [top, below @ ..] => {
            lines.number((*top).into());
            below.iter().for_each(|&number| _ = lines.bytes(b":").number(number.into()));
        }
    }
    crossing.iter().for_each(|&flow| _ = lines.bytes(b" ").weight(flow));
}
