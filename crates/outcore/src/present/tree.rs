//! Communities in the files of Infomap: `.tree`, a path of modules for each node, `.ftree`, the same with the links of
//! each module ([`links`](super::links)), or `.clu`, the top module of each node.
//!
//! ```text
//!  label, groups, flow of each node --sums--> flow of each module
//!                 |                               `--sort, top down--> place and rank of each module
//!                 `--(place of its module, flow, node, name)--sort--> lines
//! ```
//!
//! As in Infomap, modules are numbered from 1 within their parent, those with more flow first, and so are the nodes of a
//! module; ties go to the smaller number, or the earlier node. A module that equals its parent is left out of paths.
//! Memory in addition to the labels: at most [`MODULE_BYTES`] per module of any level, and the budget of the sort.

use super::flow::Flow;
use super::levels::LevelColumns;
use super::links::{NodePlace, links_bytes, write_links};
use super::matching::Workbench;
use super::presentation_rows::{NamePiece, SortedNames, for_each_name, sort_names};
use super::{Levels, Presented};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::ids::{Fingerprint, number};
use crate::output::{LineWriter, ModuleForm};
use crate::progress::{Event, REPORT_NODES, notify};
use std::path::Path;

/// Bytes of memory per module, while they are ordered.
const MODULE_BYTES: u64 = 24;
const NONE: u32 = Presented::NONE;

/// What is written of the nodes.
pub(crate) struct ModuleRows<'a> {
    pub(crate) presented: &'a Presented,
    pub(crate) levels: Option<&'a Levels>,
    pub(crate) flow: &'a Flow,
    /// Code length of exactly these modules, if it is known.
    pub(crate) code_length: Option<f64>,
}

/// Modules of a level, while their flow is summed.
struct Level {
    flow: Vec<f64>,
    parent: Vec<u32>,
}

/// Modules of a level, by their place in the order of lines.
pub(super) struct Ranked {
    /// Place of the parent.
    pub(super) parents: Vec<u32>,
    /// Number within the parent, from 1; 0 for a module that equals its parent.
    pub(super) ranks: Vec<u32>,
}

/// Reader of the modules of each node, from the top.
struct ModuleScan<'a> {
    labels: super::PresentedScan<'a>,
    groups: Option<LevelColumns>,
}

/// Returns the memory to write a file with this number of modules on all levels, beside the labels and the budget of the
/// sort.
pub(crate) fn module_bytes(form: ModuleForm, graph: &Graph, modules: u64, threads: usize) -> u64 {
    let ordered = MODULE_BYTES * modules;
    match form {
        ModuleForm::Tree | ModuleForm::Clu => ordered,
        ModuleForm::FlowTree => links_bytes(graph, modules, threads).max(ordered),
    }
}

impl ModuleRows<'_> {
    fn scan(&self, bench: &Workbench<'_>) -> Result<ModuleScan<'_>> {
        let groups = self.levels.map(|levels| levels.lines(bench)).transpose()?;
        Ok(ModuleScan { labels: self.presented.scan(bench.files)?, groups })
    }

    /// Returns the number of modules of all levels.
    pub(crate) fn module_count(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// Returns the number of modules of each level, from the top.
    fn counts(&self) -> Vec<u64> {
        let below = self.levels.map_or(&[][..], Levels::group_counts);
        let mut counts = vec![self.presented.community_count()];
        counts.extend_from_slice(below);
        counts
    }

    /// Sums the flow of all modules.
    fn levels(&self, bench: &Workbench<'_>) -> Result<Vec<Level>> {
        let empty = |&count: &u64| Level {
            flow: vec![0.0; count as usize],
            parent: vec![NONE; count as usize],
        };
        let mut levels: Vec<Level> = self.counts().iter().map(empty).collect();
        let (mut scan, mut flow) = (self.scan(bench)?, self.flow.scan(bench.files)?);
        let mut modules = Vec::new();
        for node in 0..self.presented.node_count() {
            let flow = flow.next()?.expect("one for each node");
            if scan.next(&mut modules)? {
                let mut parent = 0;
                for (&module, level) in modules.iter().zip(&mut levels) {
                    level.flow[module as usize] += flow;
                    level.parent[module as usize] = parent;
                    parent = module;
                }
            }
            if node.is_multiple_of(REPORT_NODES) {
                notify(bench.observer, Event::Advance { done: node })?;
            }
        }
        Ok(levels)
    }
}

impl ModuleScan<'_> {
    /// Replaces `modules` by those of the next node; returns whether it has any.
    fn next(&mut self, modules: &mut Vec<u32>) -> Result<bool> {
        modules.clear();
        let label = self.labels.next_label()?;
        modules.push(label.unwrap_or(NONE));
        if let Some(groups) = &mut self.groups {
            groups.next(modules)?;
        }
        Ok(label.is_some())
    }
}

/// Orders the modules of all levels; returns them by place, and the place of each module of the last level.
fn rank(levels: Vec<Level>) -> (Vec<Ranked>, Vec<u32>) {
    let mut places: Vec<u32> = vec![0];
    let mut ranked = Vec::new();
    for Level { flow, parent } in levels {
        let parents: Vec<u32> = parent.iter().map(|&parent| places[parent as usize]).collect();
        drop(parent);
        let mut order: Vec<u32> = (0..flow.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let (at, other) = (a as usize, b as usize);
            let by_flow = || flow[other].total_cmp(&flow[at]);
            parents[at].cmp(&parents[other]).then_with(by_flow).then(a.cmp(&b))
        });
        drop(flow);
        places = vec![0; order.len()];
        for (place, &module) in (0..).zip(&order) {
            places[module as usize] = place;
        }
        let parents: Vec<u32> = order.iter().map(|&module| parents[module as usize]).collect();
        drop(order);
        let ranks = ranks(&parents, ranked.is_empty());
        ranked.push(Ranked { parents, ranks });
    }
    (ranked, places)
}

/// Numbers the modules of each parent. At the top, a single module has a number too.
fn ranks(parents: &[u32], is_top: bool) -> Vec<u32> {
    let mut ranks = Vec::with_capacity(parents.len());
    for of_parent in parents.chunk_by(|a, b| a == b) {
        match of_parent.len() {
            1 if !is_top => ranks.push(0),
            count => ranks.extend(1..=count as u32),
        }
    }
    ranks
}

/// Ancestors of a module: its numbers from the top down, and the place of its top module.
pub(super) fn path_of(ranked: &[Ranked], place: u32, path: &mut Vec<u32>) -> u32 {
    path.clear();
    let (mut place, mut top) = (place, 0);
    for level in ranked.iter().rev() {
        let rank = level.ranks[place as usize];
        if rank > 0 {
            path.push(rank);
        }
        top = place;
        place = level.parents[place as usize];
    }
    path.reverse();
    top
}

/// Writes the nodes by module. Returns the length of the file in bytes.
///
/// # Errors
/// `BadInput` for a name that the format cannot hold; `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_modules(
    bench: &Workbench<'_>,
    graph: &Graph,
    rows: &ModuleRows<'_>,
    form: ModuleForm,
    output: &Path,
) -> Result<u64> {
    let (ranked, places) = rank(rows.levels(bench)?);
    let sorted = sort_nodes(bench, graph, rows, &places)?;
    drop(places);
    let ids = NodeIds::of(bench, graph)?;
    let mut lines = LineWriter::create(bench.files, output)?;
    put_header(&mut lines, rows, &ranked, form)?;
    let mut line =
        ModuleLines { ranked, form, ids, current: None, path: Vec::new(), top: 0, node: 0 };
    let node_count = rows.presented.node_count();
    let count = if form == ModuleForm::FlowTree { node_count as usize } else { 0 };
    let mut places = vec![NodePlace::NONE; count];
    for_each_name(bench, sorted, node_count, |piece, name| {
        let (module, node) = ((piece.number >> 32) as u32, piece.order as u32);
        let flow = f64::from_bits(!(piece.number << 32 | piece.order >> 32));
        line.put(&mut lines, module, node, flow, name)?;
        if let Some(place) = places.get_mut(node as usize) {
            *place = NodePlace { module, number: line.node as u32 };
        }
        Ok(())
    })?;
    if form == ModuleForm::FlowTree {
        write_links(bench, graph, rows.flow, line.ranked, places, &mut lines)?;
    }
    lines.finish()
}

fn put_header(
    lines: &mut LineWriter,
    rows: &ModuleRows<'_>,
    ranked: &[Ranked],
    form: ModuleForm,
) -> Result<()> {
    let mut path = Vec::new();
    let leaves = ranked.last().map_or(0, |level| level.ranks.len());
    let mut depth = 1;
    for place in 0..leaves as u32 {
        path_of(ranked, place, &mut path);
        depth = depth.max(path.len() as u64 + 1);
    }
    let top = ranked.first().map_or(0, |level| level.ranks.len() as u64);
    lines.bytes(b"# outcore ").bytes(env!("CARGO_PKG_VERSION").as_bytes()).end()?;
    lines.bytes(b"# partitioned into ").number(depth).bytes(b" levels with ").number(top);
    lines.bytes(b" top modules").end()?;
    if let Some(code_length) = rows.code_length {
        let text = format!("# codelength {code_length} bits");
        lines.bytes(text.as_bytes()).end()?;
    }
    match form {
        ModuleForm::Tree | ModuleForm::FlowTree => lines.bytes(b"# path flow name node_id").end(),
        ModuleForm::Clu => {
            lines.bytes(b"# module level 1").end()?;
            lines.bytes(b"# node_id module flow").end()
        }
    }
}

/// Sorts the names of nodes by module and flow: the node with the most flow comes first.
fn sort_nodes(
    bench: &Workbench<'_>,
    graph: &Graph,
    rows: &ModuleRows<'_>,
    places: &[u32],
) -> Result<SortedNames> {
    let (mut scan, mut flow) = (rows.scan(bench)?, rows.flow.scan(bench.files)?);
    let (mut modules, done) = (Vec::new(), rows.presented.node_count());
    let names = (0..done).map(|node| {
        let flow = flow.next()?.expect("one for each node");
        if !scan.next(&mut modules)? {
            return Ok(None);
        }
        let leaf = modules.last().copied().unwrap_or(NONE);
        // Flow is not negative, so the order of the bits is that of the numbers.
        let (module, falling) = (u64::from(places[leaf as usize]), !flow.to_bits());
        Ok(Some(NamePiece::at(module << 32 | falling >> 32, falling << 32 | node, 0.0)))
    });
    sort_names(bench, graph, names, done, 1)
}

/// Numbers by which Infomap knows nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeIds {
    /// Their names, as in a list of links.
    Names,
    /// Their places from 1, as in the Pajek file that `export` writes.
    Places,
}

impl NodeIds {
    fn of(bench: &Workbench<'_>, graph: &Graph) -> Result<Self> {
        Ok(match other_name(bench, graph)? {
            None => Self::Names,
            Some(_) => Self::Places,
        })
    }
}

/// Returns whether a name is a number by which Infomap knows nodes.
pub(crate) fn is_module_number(name: Fingerprint) -> bool {
    number(name).is_some_and(|number| number <= u64::from(u32::MAX))
}

/// Returns the error for a name in a file that has only numbers.
pub(crate) fn not_a_number(output: &Path, name: &[u8]) -> Error {
    let (shown, name) = (output.display(), name.escape_ascii());
    let message = format!("`{shown}` has numbers of nodes, and `{name}` is not one");
    Error::new(ErrorKind::BadInput, message).hint("use a name that ends in .tree, which has names")
}

/// Returns the first name that is not such a number.
fn other_name(bench: &Workbench<'_>, graph: &Graph) -> Result<Option<Vec<u8>>> {
    let mut names = graph.names()?;
    let mut done = 0u64;
    while let Some(name) = names.next_name()? {
        if !is_module_number(Fingerprint::of(name)) {
            return Ok(Some(name.to_vec()));
        }
        done += 1;
        if done.is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done })?;
        }
    }
    Ok(None)
}

/// Refuses a graph with a name that the format cannot hold, before the work.
///
/// # Errors
/// `BadInput` with the name; `CorruptFile`, `Io`, `Interrupted`.
pub(crate) fn check_module_names(
    bench: &Workbench<'_>,
    graph: &Graph,
    form: ModuleForm,
    output: &Path,
) -> Result<()> {
    let shown = output.display();
    let hint = match form {
        ModuleForm::Clu => match other_name(bench, graph)? {
            None => return Ok(()),
            Some(name) => return Err(not_a_number(output, &name)),
        },
        ModuleForm::Tree | ModuleForm::FlowTree => "use a name that ends in .tsv",
    };
    let mut names = graph.names()?;
    while let Some(name) = names.next_name()? {
        if memchr::memchr2(b'\n', b'\r', name).is_some() {
            let name = name.escape_ascii();
            let message = format!("`{shown}` cannot hold the name `{name}`: each node is a line");
            return Err(Error::new(ErrorKind::BadInput, message).hint(hint));
        }
    }
    Ok(())
}

/// State of the lines of nodes.
struct ModuleLines {
    ranked: Vec<Ranked>,
    form: ModuleForm,
    ids: NodeIds,
    /// Place of the module of the last line.
    current: Option<u32>,
    /// Numbers of its ancestors and its own, and the place of the top one.
    path: Vec<u32>,
    top: u32,
    /// Number of the last node in its module.
    node: u64,
}

impl ModuleLines {
    fn put(
        &mut self,
        lines: &mut LineWriter,
        module: u32,
        node: u32,
        flow: f64,
        name: &[u8],
    ) -> Result<()> {
        if self.current.replace(module) != Some(module) {
            self.top = path_of(&self.ranked, module, &mut self.path);
            self.node = 0;
        }
        self.node += 1;
        match self.form {
            ModuleForm::Tree | ModuleForm::FlowTree => {
                for &rank in &self.path {
                    lines.number(rank.into()).bytes(b":");
                }
                lines.number(self.node).bytes(b" ").weight(flow);
                lines.bytes(b" \"").bytes(name).bytes(b"\" ");
                match self.ids {
                    NodeIds::Names => lines.bytes(name),
                    NodeIds::Places => lines.number(u64::from(node) + 1),
                };
            }
            ModuleForm::Clu => {
                lines.bytes(name).bytes(b" ").number(u64::from(self.top) + 1);
                lines.bytes(b" ").weight(flow);
            }
        }
        lines.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(of: &[(u32, f64)]) -> Level {
        let (parent, flow) = of.iter().copied().unzip();
        Level { flow, parent }
    }

    #[test]
    fn modules_are_numbered_by_flow_and_an_only_child_is_left_out() {
        let top = level(&[(0, 0.2), (0, 0.5), (0, 0.3)]);
        // The module 1 has the children 0 and 3, the module 0 has 1 and 4, the module 2 only 2.
        let below = level(&[(1, 0.2), (0, 0.1), (2, 0.3), (1, 0.3), (0, 0.1)]);
        let (ranked, places) = rank(vec![top, below]);
        let mut path = Vec::new();
        let mut paths = Vec::new();
        for place in places {
            let top = path_of(&ranked, place, &mut path);
            paths.push((path.clone(), top));
        }
        let expected: [(&[u32], u32); 5] =
            [(&[1, 2], 0), (&[3, 1], 2), (&[2], 1), (&[1, 1], 0), (&[3, 2], 2)];
        assert_eq!(paths, expected.map(|(path, top)| (path.to_vec(), top)));
    }

    #[test]
    fn a_single_community_has_a_number() {
        let (ranked, places) = rank(vec![level(&[(0, 1.0)])]);
        let mut path = Vec::new();
        assert_eq!(path_of(&ranked, places[0], &mut path), 0);
        assert_eq!(path, [1]);
    }
}
