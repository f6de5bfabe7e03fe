//! Modules of nodes in a file with paths: what is on each level of their paths, and their flow, as numbers by node on disk.
//!
//! The file is read once for each level and once for the flow, as [`numbers`](super::numbers) are: paths have any length, and
//! each level is a sort and a merge join like that of a community. Memory does not grow with the file. Disk: 8 bytes per
//! node and level, and for the flow.

use super::numbers::{number_of, read_numbers};
use super::{Membership, MembershipOptions};
use crate::error::Result;
use crate::graph::Graph;
use crate::input::InputOptions;
use crate::io::{Array, ArrayReader, Files};
use crate::progress::Observer;
use std::cmp::Ordering;
use std::io::Write;
use std::path::Path;

/// Numbers that are read at a time, of each level.
const BLOCK_NUMBERS: u64 = 1 << 13;

/// File of nodes with paths, read for the nodes of a graph.
pub(crate) struct ModuleFile<'a> {
    pub(crate) files: &'a Files,
    pub(crate) path: &'a Path,
    pub(crate) graph: &'a Graph,
    pub(crate) options: &'a MembershipOptions,
    /// Beginning of the names of the files that are written to the scratch directory.
    pub(crate) name: &'a str,
    pub(crate) observer: &'a dyn Observer,
}

impl ModuleFile<'_> {
    /// Reads the first `levels` levels of the paths, or as many as there are.
    ///
    /// # Errors
    /// Those of [`read_numbers`].
    pub(crate) fn paths(&self, levels: u32) -> Result<Modules> {
        let mut found = Vec::new();
        for place in 1..=levels {
            let input = self.options.input.part_of(self.path, place);
            let Some(level) = self.numbers(input, &format!("level-{place}"))? else { break };
            found.push(level);
        }
        Ok(Modules(found))
    }

    /// Reads the flow, if the file has it.
    ///
    /// # Errors
    /// Those of [`read_numbers`].
    pub(crate) fn flow(&self) -> Result<Option<Array<u64>>> {
        self.numbers(self.options.input.numbers_of(self.path), "flow")
    }

    fn numbers(&self, input: InputOptions, what: &str) -> Result<Option<Array<u64>>> {
        let to = self.options.scratch.join(format!("{}-{what}", self.name));
        let options = MembershipOptions { is_described: false, ..self.options.clone() };
        let found = read_numbers(self.files, input, self.graph, &options, self.observer, &to)?;
        Ok((found.named > 0).then_some(found.codes))
    }
}

/// Numbers on the paths of nodes, by level from the top, as codes.
#[derive(Debug)]
pub(crate) struct Modules(Vec<Array<u64>>);

impl Modules {
    /// Starts a scan of the paths, in node order.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn scan(&self, files: &Files) -> Result<ModuleScan> {
        let levels = self.0.iter().map(|level| level.read(files, BLOCK_NUMBERS));
        Ok(ModuleScan {
            levels: levels.collect::<Result<_>>()?,
            path: Vec::new(),
            text: Vec::new(),
        })
    }

    /// Returns the paths of the communities of `found`, in ascending order; their places become the numbers of the
    /// communities. The levels are those that the communities are on.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn name(&self, files: &Files, found: &mut Membership) -> Result<Vec<Box<str>>> {
        let mut names: Vec<Box<str>> = vec!["".into(); found.community_count as usize];
        let mut scan = self.scan(files)?;
        for &label in &found.labels {
            let text = scan.next()?;
            if let Some(name) = names.get_mut(label as usize).filter(|name| name.is_empty()) {
                *name = String::from_utf8_lossy(text).into();
            }
        }
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| by_number(&names[a as usize], &names[b as usize]));
        found.numbers = vec![0; names.len()];
        for (number, &label) in (0..).zip(&order) {
            found.numbers[label as usize] = number;
        }
        names.sort_unstable_by(|a, b| by_number(a, b));
        Ok(names)
    }
}

/// Compares paths by their numbers.
pub(crate) fn by_number(a: &str, b: &str) -> Ordering {
    let numbers =
        |path: &str| path.split(':').map(|part| part.parse().unwrap_or(u64::MAX)).collect();
    let (a, b): (Vec<u64>, Vec<u64>) = (numbers(a), numbers(b));
    a.cmp(&b)
}

/// Scan of the paths of nodes.
pub(crate) struct ModuleScan {
    levels: Vec<ArrayReader<u64>>,
    path: Vec<u64>,
    text: Vec<u8>,
}

impl ModuleScan {
    /// Returns the path of the next node, empty if it has none.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn next(&mut self) -> Result<&[u8]> {
        self.step()?;
        self.text.clear();
        for (at, number) in self.path.iter().enumerate() {
            let colon = if at > 0 { ":" } else { "" };
            // Writing to a vector cannot fail.
            let _ = write!(self.text, "{colon}{number}");
        }
        Ok(&self.text)
    }

    /// Returns the number of modules on the path of the next node.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn next_length(&mut self) -> Result<u64> {
        self.step()?;
        Ok(self.path.len() as u64)
    }

    fn step(&mut self) -> Result<()> {
        self.path.clear();
        for level in &mut self.levels {
            // Numbers of modules have at most 15 digits, so they are exact.
            self.path.extend(number_of(level.number()?).map(|number| number as u64));
        }
        Ok(())
    }
}
