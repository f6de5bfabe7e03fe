//! Rows of nodes: a list of columns, read side by side, each with a value for every node in their order.
//!
//! ```text
//!  names  --.
//!  column --+--> row of each node --> file
//!  column --'
//! ```
//!
//! The bytes of a file depend only on the list, its order included. Cost: a scan of the names and of each column, and their
//! buffers. A name and a number as text, which most results are, take a loop of their own.

use super::levels::{LevelColumns, Levels};
use super::matching::Workbench;
use super::{Presented, PresentedScan};
use crate::error::Result;
use crate::graph::{Graph, KindScan, Kinds, NameScan};
use crate::io::{ArrayReader, Files, SharesScan};
use crate::membership::{ModuleScan, number_of};
use crate::output::{OutputColumn, RowFile, RowWriter, Value, ValueKind};
use crate::progress::REPORT_NODES;
use std::io::Write;
use std::slice::Iter;

/// Values of a column, in the order of the nodes.
pub(crate) enum NodeValues<'a> {
    /// Number of the community, if the node has one.
    Number(PresentedScan<'a>),
    /// Name of the community, by its number.
    Community(PresentedScan<'a>, &'a [Box<str>]),
    /// Number that is known of the node, such as how many nodes it stands for.
    Size(Iter<'a, u64>),
    /// Group inside the community.
    Group(ArrayReader<u32>),
    /// Community and groups inside it, such as `3:0:5`.
    Path(PathScan<'a>),
    /// Path of its modules in a file that was read, and how many there are.
    Modules(ModuleScan),
    ModuleCount(ModuleScan),
    /// Number that was read, as a code.
    Coded(ArrayReader<u64>),
    /// Sum over the nodes that the node stands for.
    Sum(Iter<'a, f64>),
    /// Weight of the node's edges inside its community.
    Weight(Iter<'a, f64>),
    /// Share of the steps of a random walk that end at the node.
    Flow(SharesScan<'a, f64>),
    /// Share of the starts in which it stays with its community.
    Stability(SharesScan<'a, u32>),
    /// Name of its kind, of two.
    Kind(KindScan, [String; 2]),
}

/// Scan of the paths of nodes.
pub(crate) struct PathScan<'a> {
    numbers: PresentedScan<'a>,
    groups: LevelColumns,
    of_node: Vec<u32>,
    text: Vec<u8>,
}

impl<'a> PathScan<'a> {
    fn new(numbers: PresentedScan<'a>, groups: LevelColumns) -> Self {
        Self { numbers, groups, of_node: Vec::new(), text: Vec::new() }
    }

    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.of_node.clear();
        self.groups.next(&mut self.of_node)?;
        let Some(number) = self.numbers.next_number()? else { return Ok(None) };
        self.text.clear();
        // Writing to a vector cannot fail.
        let _ = write!(self.text, "{number}");
        for group in &self.of_node {
            let _ = write!(self.text, ":{group}");
        }
        Ok(Some(&self.text))
    }
}

impl NodeValues<'_> {
    fn kind(&self) -> ValueKind {
        match self {
            Self::Number(_) | Self::Size(_) | Self::Group(_) | Self::ModuleCount(_) => {
                ValueKind::Number
            }
            Self::Community(..) | Self::Path(_) | Self::Modules(_) | Self::Kind(..) => {
                ValueKind::Text
            }
            Self::Coded(_) | Self::Sum(_) => ValueKind::Real,
            Self::Weight(_) | Self::Flow(_) | Self::Stability(_) => ValueKind::Real,
        }
    }

    /// Returns the value of the next node.
    #[inline]
    fn next(&mut self) -> Result<Value<'_>> {
        let found = match self {
            Self::Number(scan) => scan.next_number()?.map(Value::Number),
            Self::Community(scan, names) => {
                scan.next_number()?.map(|number| Value::Name(names[number as usize].as_bytes()))
            }
            Self::Size(sizes) => sizes.next().copied().map(Value::Number),
            Self::Modules(scan) => {
                Some(scan.next()?).filter(|path| !path.is_empty()).map(Value::Name)
            }
            Self::ModuleCount(scan) => {
                Some(scan.next_length()?).filter(|&count| count > 0).map(Value::Number)
            }
            Self::Coded(codes) => number_of(codes.number()?).map(Value::Exact),
            Self::Sum(sums) => sums.next().copied().map(Value::Exact),
            Self::Group(groups) => Some(Value::Number(groups.number()?.into())),
            Self::Path(scan) => scan.next()?.map(Value::Name),
            Self::Weight(weights) => weights.next().copied().map(Value::Weight),
            Self::Flow(scan) => scan.next()?.map(Value::Exact),
            Self::Stability(scan) => scan.next()?.map(Value::Share),
            Self::Kind(scan, names) => {
                let is_second = scan.next_kind()?;
                is_second.map(|is_second| Value::Name(names[usize::from(is_second)].as_bytes()))
            }
        };
        Ok(found.unwrap_or(Value::None))
    }
}

impl Levels {
    /// Opens the groups of the nodes as columns: one for each level, or one of paths that begin with the community.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn node_columns<'a>(
        &self,
        bench: &Workbench<'_>,
        presented: &'a Presented,
    ) -> Result<Vec<NodeColumn<'a>>> {
        let levels = self.lines(bench)?;
        if self.are_paths() {
            let path = PathScan::new(presented.scan(bench.files)?, levels);
            return Ok(vec![NodeColumn::new("path", NodeValues::Path(path))]);
        }
        let named = (1..).zip(levels.0);
        // A group may contain no groups.
        let column = |(at, groups)| {
            NodeColumn::new(format!("group{at}"), NodeValues::Group(groups)).optional()
        };
        Ok(named.map(column).collect())
    }
}

/// Column of nodes.
pub(crate) struct NodeColumn<'a> {
    column: OutputColumn,
    values: NodeValues<'a>,
}

impl<'a> NodeColumn<'a> {
    pub(crate) fn new(name: impl Into<String>, values: NodeValues<'a>) -> Self {
        Self { column: OutputColumn::new(name, values.kind()), values }
    }

    /// Returns the column as one in which nodes can lack a value.
    pub(crate) fn optional(self) -> Self {
        Self { column: self.column.optional(), ..self }
    }

    /// Returns the kinds of nodes, if there are two.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn kind(graph: &Graph) -> Result<Option<Self>> {
        let column =
            |kinds: Kinds| Self::new("kind", NodeValues::Kind(kinds.scan(), kinds.names().clone()));
        Ok(graph.open_kinds()?.map(column))
    }

    pub(crate) fn name(&self) -> &str {
        &self.column.name
    }

    pub(crate) fn kind_of_values(&self) -> ValueKind {
        self.column.kind
    }

    /// Returns its name, and the value of the next node.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(crate) fn next(&mut self) -> Result<(&str, Value<'_>)> {
        Ok((&self.column.name, self.values.next()?))
    }
}

/// Writes a row for each node: its name, and its values in `columns`. A node without a value in the first column has no
/// row, unless the column is optional. Text of more than two columns begins with their names. `tick` is called now and
/// then, with the number of nodes so far. The file appears when the writer is finished.
///
/// # Errors
/// `BadInput` for a name that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`; those of `tick`.
pub(crate) fn write_nodes(
    files: &Files,
    graph: &Graph,
    names: Option<NameScan>,
    mut columns: Vec<NodeColumn<'_>>,
    file: RowFile<'_>,
    tick: &dyn Fn(u64) -> Result<()>,
) -> Result<RowWriter> {
    let mut described = vec![OutputColumn::of_nodes("node", graph.name_type(), ValueKind::Name)];
    described.extend(columns.iter().map(|column| column.column.clone()));
    let has_header = file.has_header || columns.len() > 1;
    let mut rows = RowWriter::create(files, RowFile { has_header, ..file }, &described)?;
    match (rows.text(), &mut columns[..]) {
        (Some(lines), [NodeColumn { column, values: NodeValues::Number(scan) }])
            if !column.is_optional =>
        {
            for_each_node(graph, names, tick, |name| match scan.next_number()? {
                Some(number) => lines.name(name).bytes(b"\t").number(number).end(),
                None => Ok(()),
            })?;
        }
        _ => for_each_node(graph, names, tick, |name| put_row(&mut rows, name, &mut columns))?,
    }
    Ok(rows)
}

fn put_row(rows: &mut RowWriter, name: &[u8], columns: &mut [NodeColumn<'_>]) -> Result<()> {
    let Some((first, others)) = columns.split_first_mut() else {
        return rows.push([Value::Name(name)]);
    };
    let value = first.values.next()?;
    let has_row = first.column.is_optional || !matches!(value, Value::None);
    if has_row {
        rows.put(Value::Name(name))?;
        rows.put(value)?;
    }
    for column in others {
        let value = column.values.next()?;
        if has_row {
            rows.put(value)?;
        }
    }
    if has_row { rows.end() } else { Ok(()) }
}

/// Calls `take` with the name of each node in order, or its number without `names`; and `tick` now and then, with the
/// number of nodes so far.
///
/// # Errors
/// `CorruptFile`, `Io`; those of `take` and `tick`.
pub(crate) fn for_each_node(
    graph: &Graph,
    mut names: Option<NameScan>,
    tick: &dyn Fn(u64) -> Result<()>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut digits = itoa::Buffer::new();
    for node in 0..graph.node_count() {
        take(match &mut names {
            None => digits.format(node).as_bytes(),
            Some(names) => names.next_name()?.unwrap_or_default(),
        })?;
        if (node + 1).is_multiple_of(REPORT_NODES) {
            tick(node + 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::SizeCount;
    use crate::graph::{Duplicates, GraphOptions, GraphWriter, NamesWriter};
    use crate::io::{Array, Column};
    use crate::present::Small;
    use outcore_testkit::sim::Sim;
    use std::path::Path;
    use std::sync::Arc;

    /// Returns a graph of three nodes without edges, and their communities: the second has none.
    fn three() -> (Files, Graph, Presented) {
        let (files, path) = (Files::new(Arc::new(Sim::default())), Path::new("graph"));
        files.create_directory(path).unwrap();
        let mut names = NamesWriter::create(&files, path).unwrap();
        [&b"a,\"b\""[..], b"b", b"#c"].iter().for_each(|name| names.push(name).unwrap());
        names.finish().unwrap();
        let (duplicates, keep_loops) = (Duplicates::Sum, false);
        let options = GraphOptions { node_count: 3, directed: false, duplicates, keep_loops };
        GraphWriter::create(&files, path, &options).unwrap().finish().unwrap();
        let graph = Graph::open(&files, path).unwrap();
        let labels = Column::Memory(vec![0, Presented::NONE, 0]);
        let sizes = vec![SizeCount { size: 2, count: 1 }];
        let mut presented = Presented::new(labels, sizes, 1, Small::Drop);
        presented.numbers = vec![7];
        (files, graph, presented)
    }

    #[test]
    fn columns_have_names_in_csv_on_request_and_if_there_are_several() {
        let (files, graph, presented) = three();
        let groups = Array::write(&files, Path::new("groups"), [3u32, 0, 5].into_iter()).unwrap();
        let weights = [0.1 + 0.2, 1.0, 2.0];
        let number =
            || NodeColumn::new("community", NodeValues::Number(presented.scan(&files).unwrap()));
        let group = || {
            NodeColumn::new("group1", NodeValues::Group(groups.read(&files, 8).unwrap())).optional()
        };
        let weight = || NodeColumn::new("weight", NodeValues::Weight(weights.iter()));
        let path = || {
            let groups = LevelColumns(vec![groups.read(&files, 8).unwrap()]);
            NodeColumn::new(
                "path",
                NodeValues::Path(PathScan::new(presented.scan(&files).unwrap(), groups)),
            )
        };
        let written = |name: &str, has_header: bool, columns: Vec<NodeColumn<'_>>| {
            let (file, names) = (RowFile::new(Path::new(name), has_header), graph.names().unwrap());
            let rows =
                write_nodes(&files, &graph, Some(names), columns, file, &|_| Ok(())).unwrap();
            let bytes = rows.finish().unwrap();
            let text = String::from_utf8(files.read(Path::new(name)).unwrap()).unwrap();
            assert_eq!(text.len() as u64, bytes);
            text
        };
        let plain = "a,\"b\"\t7\n\"#c\"\t7\n";
        assert_eq!(written("c.tsv", false, vec![number()]), plain);
        assert_eq!(written("c", true, vec![number()]), format!("node\tcommunity\n{plain}"));
        let csv = "node,community\n\"a,\"\"b\"\"\",7\n\"#c\",7\n";
        assert_eq!(written("c.csv", false, vec![number()]), csv);
        assert_eq!(written("c", false, vec![path()]), "a,\"b\"\t7:3\n\"#c\"\t7:5\n");
        let several = "node\tcommunity\tgroup1\tweight\na,\"b\"\t7\t3\t0.3\n\"#c\"\t7\t5\t2\n";
        assert_eq!(written("c", false, vec![number(), group(), weight()]), several);
        let objects = "{\"node\":\"a,\\\"b\\\"\",\"community\":7,\"path\":\"7:3\"}\n\
                       {\"node\":\"#c\",\"community\":7,\"path\":\"7:5\"}\n";
        assert_eq!(written("c.jsonl", false, vec![number(), path()]), objects);
        let all = "node\tcommunity\na,\"b\"\t7\nb\t\n\"#c\"\t7\n";
        assert_eq!(written("c", true, vec![number().optional()]), all);
        assert_eq!(written("c", true, Vec::new()), "node\na,\"b\"\nb\n\"#c\"\n");
    }
}
