//! Writers of rows: a node and its community, a community and its representative, or the nodes of a community; as text,
//! or as a table if the ending of the file's name selects one.

use super::table::{OutputColumn, TableWriter, Value, ValueKind, path_of, put_text};
use super::{LineWriter, put_name};
use crate::error::Result;
use crate::io::Files;
use std::path::Path;

/// Row of the output: a node.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) name: &'a [u8],
    pub(super) community: u64,
    /// Weight of the node's edges inside its community.
    pub(super) weight: Option<f64>,
    /// Share of the starts in which it stays with its community.
    pub(super) stability: Option<f64>,
    /// Groups inside the community.
    pub(super) groups: &'a [u32],
}

/// Columns that all rows have.
#[derive(Clone, Copy)]
pub(super) struct OutputShape {
    pub(super) has_weights: bool,
    pub(super) has_stability: bool,
    pub(super) groups: usize,
    /// Whether community and groups are written as one path.
    pub(super) is_path: bool,
    /// Whether text has a line of column names.
    pub(super) has_header: bool,
}

impl OutputShape {
    /// Returns the columns of a table.
    fn columns(self) -> Vec<OutputColumn> {
        let Self { has_weights, has_stability, is_path, .. } = self;
        let given = [
            (true, "node", ValueKind::Text),
            (true, "community", ValueKind::Number),
            (has_weights, "weight", ValueKind::Real),
            (has_stability, "stability", ValueKind::Real),
            (is_path, "path", ValueKind::Text),
        ];
        let given = given.into_iter().filter(|(is_written, ..)| *is_written);
        given
            .map(|(_, name, kind)| OutputColumn::new(name, kind))
            .chain(self.group_columns())
            .collect()
    }

    fn group_columns(self) -> impl Iterator<Item = OutputColumn> {
        let count = if self.is_path { 0 } else { self.groups };
        // A group may contain no groups.
        (1..=count).map(|at| OutputColumn {
            is_optional: true,
            ..OutputColumn::new(format!("group{at}"), ValueKind::Number)
        })
    }

    /// Returns the names of the columns of text.
    fn text_columns(self) -> Vec<String> {
        let mut names = vec!["node".to_owned()];
        names.push(if self.is_path { "path" } else { "community" }.to_owned());
        names.extend(self.group_columns().map(|column| column.name));
        names.extend(self.has_weights.then(|| "weight".to_owned()));
        names.extend(self.has_stability.then(|| "stability".to_owned()));
        names
    }

    /// Returns the values of a row of a table.
    fn values(self, row: Row<'_>) -> impl Iterator<Item = Value<'_>> {
        let Row { name, community, weight, stability, groups } = row;
        let path = self.is_path.then(|| Value::Path(path_of(community, groups)));
        let count = if self.is_path { 0 } else { self.groups };
        let group = move |at: usize| groups.get(at).map(|&group| Value::Number(group.into()));
        let first = [Value::Name(name), Value::Number(community)];
        let rest = [weight.map(Value::Weight), stability.map(Value::Share), path];
        first
            .into_iter()
            .chain(rest.into_iter().flatten())
            .chain((0..count).map(move |at| group(at).unwrap_or(Value::None)))
    }
}

/// Writer of rows in either format.
pub(super) enum OutputRows {
    Text(Box<CommunityWriter>),
    Table(Box<TableWriter>, OutputShape),
}

impl OutputRows {
    /// Creates a writer in the format that the extension of `path` selects.
    pub(super) fn create(files: &Files, path: &Path, shape: OutputShape) -> Result<Self> {
        match TableWriter::create(files, path, &shape.columns())? {
            Some(table) => Ok(Self::Table(Box::new(table), shape)),
            None => {
                let writer = CommunityWriter::create(files, path, shape);
                writer.map(|writer| Self::Text(Box::new(writer)))
            }
        }
    }

    #[inline]
    pub(super) fn push(&mut self, row: Row<'_>, separator: u8) -> Result<()> {
        match self {
            Self::Text(writer) => writer.push_row(row, separator),
            Self::Table(writer, shape) => writer.push(shape.values(row)),
        }
    }

    pub(super) fn finish(self) -> Result<u64> {
        match self {
            Self::Text(writer) => writer.finish(),
            Self::Table(writer, _) => writer.finish(),
        }
    }
}

/// Writer of one line per node, in the order of the calls.
pub(super) struct CommunityWriter {
    lines: LineWriter,
    /// Number of groups to which rows are padded, if columns have names; otherwise 0.
    groups: usize,
}

impl CommunityWriter {
    /// Starts writing `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(super) fn create(files: &Files, path: &Path, shape: OutputShape) -> Result<Self> {
        let mut lines = LineWriter::create(files, path)?;
        if !shape.has_header {
            return Ok(Self { lines, groups: 0 });
        }
        lines.header(shape.text_columns().iter().map(String::as_str), b'\t')?;
        Ok(Self { lines, groups: if shape.is_path { 0 } else { shape.groups } })
    }

    /// Adds a node with its community and the groups inside it, each after a `separator`.
    #[inline]
    pub(super) fn push_row(&mut self, row: Row<'_>, separator: u8) -> Result<()> {
        self.lines.name(row.name).bytes(b"\t").number(row.community);
        for &group in row.groups {
            self.lines.bytes(&[separator]).number(u64::from(group));
        }
        for _ in row.groups.len()..self.groups {
            self.lines.bytes(b"\t");
        }
        if let Some(weight) = row.weight {
            self.lines.bytes(b"\t").weight(weight);
        }
        if let Some(stability) = row.stability {
            self.lines.bytes(b"\t").thousandths(stability);
        }
        self.lines.end()
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(super) fn finish(self) -> Result<u64> {
        self.lines.finish()
    }
}

/// Writer of one line per community: its number, its representative, and its size.
pub(crate) struct RepresentativeWriter(CommunityRows);

enum CommunityRows {
    Text(LineWriter),
    Table(Box<TableWriter>),
}

impl RepresentativeWriter {
    /// Starts writing `path`; `-` is standard output. Text has a line of column names if `has_header`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(files: &Files, path: &Path, has_header: bool) -> Result<Self> {
        let columns = [
            ("community", ValueKind::Number),
            ("node", ValueKind::Text),
            ("size", ValueKind::Number),
        ];
        let columns = columns.map(|(name, kind)| OutputColumn::new(name, kind));
        if let Some(table) = TableWriter::create(files, path, &columns)? {
            return Ok(Self(CommunityRows::Table(Box::new(table))));
        }
        let mut lines = LineWriter::create(files, path)?;
        if has_header {
            lines.header(columns.iter().map(|column| column.name.as_str()), b'\t')?;
        }
        Ok(Self(CommunityRows::Text(lines)))
    }

    /// Adds a community.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn push(&mut self, community: u64, name: &[u8], size: u64) -> Result<()> {
        match &mut self.0 {
            CommunityRows::Text(lines) => {
                lines.number(community).bytes(b"\t").name(name).bytes(b"\t").number(size).end()
            }
            CommunityRows::Table(table) => {
                let row = [Value::Number(community), Value::Name(name), Value::Number(size)];
                table.push(row.into_iter())
            }
        }
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(self) -> Result<u64> {
        self.0.finish()
    }
}

/// Row of the table of communities.
pub(crate) struct SummaryRow<'a> {
    pub(crate) community: u64,
    pub(crate) size: u64,
    /// Name of the representative.
    pub(crate) representative: &'a [u8],
    /// Number of edges inside, without loops, and their weight, loops included.
    pub(crate) inner_edges: u64,
    pub(crate) inner_weight: f64,
    /// Weight of the edges that lead out.
    pub(crate) outer_weight: f64,
    /// Share of the pairs of nodes that have an edge; `None` for one node.
    pub(crate) density: Option<f64>,
    /// Outer weight relative to the strength of the nodes inside or of all others, whichever is smaller; `None` if one of
    /// them has none.
    pub(crate) conductance: Option<f64>,
    /// Mean stability of the nodes, if it is known.
    pub(crate) stability: Option<f64>,
    /// Community to which most of the outer weight leads, and that weight.
    pub(crate) neighbor: Option<(u64, f64)>,
}

/// Writer of the table of communities: text has tabs and begins with the names of the columns.
pub(crate) struct SummaryWriter {
    rows: CommunityRows,
    has_stability: bool,
}

impl SummaryWriter {
    /// Starts writing `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(files: &Files, path: &Path, has_stability: bool) -> Result<Self> {
        use ValueKind::{Number, Real, Text};
        let columns = [
            ("community", Number, false),
            ("size", Number, false),
            ("representative", Text, false),
            ("inner_edges", Number, false),
            ("inner_weight", Real, false),
            ("outer_weight", Real, false),
            ("density", Real, true),
            ("conductance", Real, true),
            ("stability", Real, false),
            ("neighbor", Number, true),
            ("neighbor_weight", Real, true),
        ];
        let columns =
            columns.into_iter().filter(|(name, ..)| has_stability || *name != "stability");
        let columns: Vec<OutputColumn> = columns
            .map(|(name, kind, is_optional)| OutputColumn { name: name.into(), kind, is_optional })
            .collect();
        let rows = match TableWriter::create(files, path, &columns)? {
            Some(table) => CommunityRows::Table(Box::new(table)),
            None => {
                let mut lines = LineWriter::create(files, path)?;
                lines.header(columns.iter().map(|column| column.name.as_str()), b'\t')?;
                CommunityRows::Text(lines)
            }
        };
        Ok(Self { rows, has_stability })
    }

    /// Adds a community.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path; `BadInput` for a name that a table cannot hold.
    pub(crate) fn push(&mut self, row: &SummaryRow<'_>) -> Result<()> {
        let weight = |value: Option<f64>| value.map_or(Value::None, Value::Weight);
        let stability = self.has_stability.then(|| row.stability.map_or(Value::None, Value::Share));
        let first = [
            Value::Number(row.community),
            Value::Number(row.size),
            Value::Name(row.representative),
            Value::Number(row.inner_edges),
            Value::Weight(row.inner_weight),
            Value::Weight(row.outer_weight),
            weight(row.density),
            weight(row.conductance),
        ];
        let last = [
            row.neighbor.map_or(Value::None, |(community, _)| Value::Number(community)),
            weight(row.neighbor.map(|(_, weight)| weight)),
        ];
        let mut values = first.into_iter().chain(stability).chain(last);
        let lines = match &mut self.rows {
            CommunityRows::Table(table) => return table.push(values),
            CommunityRows::Text(lines) => lines,
        };
        if let Some(first) = values.next() {
            put_text(lines, &first);
        }
        for value in values {
            put_text(lines.bytes(b"\t"), &value);
        }
        lines.end()
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(self) -> Result<u64> {
        self.rows.finish()
    }
}

impl CommunityRows {
    fn finish(self) -> Result<u64> {
        match self {
            Self::Text(lines) => lines.finish(),
            Self::Table(table) => table.finish(),
        }
    }
}

/// Writer of nodes by community: one line per community, or one pair of the community's first node and a node.
pub(crate) struct MemberWriter {
    lines: LineWriter,
    is_pairs: bool,
    community: Option<u64>,
    /// Name of the community's first node, as it is written.
    first: Vec<u8>,
}

impl MemberWriter {
    /// Starts writing `path`; `-` is standard output. Pairs have a line of column names if there are `names`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(
        files: &Files,
        path: &Path,
        is_pairs: bool,
        names: &[&str],
    ) -> Result<Self> {
        let mut lines = LineWriter::create(files, path)?;
        if !names.is_empty() {
            lines.header(names.iter().copied(), b'\t')?;
        }
        Ok(Self { lines, is_pairs, community: None, first: Vec::new() })
    }

    /// Adds a node. Nodes of a community must be added consecutively. The weight is only written in pairs.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn push(&mut self, community: u64, name: &[u8], weight: Option<f64>) -> Result<()> {
        let before = self.community.replace(community);
        let is_first = before != Some(community);
        if !self.is_pairs {
            if is_first && before.is_some() {
                self.lines.end()?;
            } else if !is_first {
                self.lines.bytes(b"\t");
            }
            return self.lines.name(name).flush_if_full();
        }
        if is_first {
            self.first.clear();
            put_name(name, &mut self.first);
        }
        self.lines.bytes(&self.first).bytes(b"\t").name(name);
        if let Some(weight) = weight {
            self.lines.bytes(b"\t").weight(weight);
        }
        self.lines.end()
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(mut self) -> Result<u64> {
        if !self.is_pairs && self.community.is_some() {
            self.lines.end()?;
        }
        self.lines.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use std::sync::Arc;

    const PLAIN: OutputShape = OutputShape {
        has_weights: false,
        has_stability: false,
        groups: 0,
        is_path: false,
        has_header: false,
    };

    /// Returns the text written to `path` for two nodes, one of which has no second group.
    fn written(path: &str, shape: OutputShape) -> String {
        let files = Files::new(Arc::new(Sim::default()));
        let mut rows = OutputRows::create(&files, Path::new(path), shape).unwrap();
        for (name, groups) in [(&b"a,\"b\""[..], &[3, 5][..]), (b"#c", &[3])] {
            let row = Row {
                name,
                community: 7,
                weight: shape.has_weights.then_some(0.1 + 0.2),
                stability: shape.has_stability.then_some(0.5),
                groups: &groups[..groups.len().min(shape.groups)],
            };
            rows.push(row, if shape.is_path { b':' } else { b'\t' }).unwrap();
        }
        rows.finish().unwrap();
        String::from_utf8(files.read(Path::new(path)).unwrap()).unwrap()
    }

    #[test]
    fn columns_have_names_in_csv_and_on_request() {
        let csv = "node,community\n\"a,\"\"b\"\"\",7\n\"#c\",7\n";
        assert_eq!(written("c.csv", PLAIN), csv);
        assert_eq!(written("c.tsv", PLAIN), "a,\"b\"\t7\n#c\t7\n");
        let named = OutputShape { has_header: true, ..PLAIN };
        assert_eq!(written("c", named), "node\tcommunity\na,\"b\"\t7\n#c\t7\n");
        let all = OutputShape { groups: 2, has_stability: true, ..named };
        let text = "node\tcommunity\tgroup1\tgroup2\tstability\na,\"b\"\t7\t3\t5\t0.500\n#c\t7\t3\t\t0.500\n";
        assert_eq!(written("c", all), text);
        let csv = "node,community,stability,group1,group2\n\"a,\"\"b\"\"\",7,0.500,3,5\n\"#c\",7,0.500,3,\n";
        assert_eq!(written("c.csv", all), csv);
        let path = OutputShape { groups: 2, is_path: true, ..named };
        assert_eq!(written("c", path), "node\tpath\na,\"b\"\t7:3:5\n#c\t7:3\n");
        let weights = OutputShape { has_weights: true, ..PLAIN };
        let json = "{\"node\":\"a,\\\"b\\\"\",\"community\":7,\"weight\":0.3}\n{\"node\":\"#c\",\"community\":7,\"weight\":0.3}\n";
        assert_eq!(written("c.jsonl", weights), json);
    }

    #[test]
    fn representatives_are_text_or_a_table() {
        let files = Files::new(Arc::new(Sim::default()));
        for (path, has_header, text) in [
            ("r", false, "7\ta\t3\n"),
            ("r", true, "community\tnode\tsize\n7\ta\t3\n"),
            ("r.csv", false, "community,node,size\n7,a,3\n"),
            ("r.jsonl", false, "{\"community\":7,\"node\":\"a\",\"size\":3}\n"),
        ] {
            let path = Path::new(path);
            let mut writer = RepresentativeWriter::create(&files, path, has_header).unwrap();
            writer.push(7, b"a", 3).unwrap();
            writer.finish().unwrap();
            assert_eq!(files.read(path).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn members_are_lines_or_pairs() {
        let files = Files::new(Arc::new(Sim::default()));
        let path = Path::new("members");
        let members: [(u64, &[u8]); 4] = [(0, b"a"), (0, b"\"b"), (7, b"c\td"), (7, b"e")];
        for (is_pairs, text) in [
            (false, &b"a\t\"\"\"b\"\n\"c\td\"\te\n"[..]),
            (true, b"a\ta\t2\na\t\"\"\"b\"\t2\n\"c\td\"\t\"c\td\"\t2\n\"c\td\"\te\t2\n"),
        ] {
            let mut writer = MemberWriter::create(&files, path, is_pairs, &[]).unwrap();
            for (community, name) in members {
                writer.push(community, name, is_pairs.then_some(2.0)).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!(files.read(path).unwrap(), text);
        }
        MemberWriter::create(&files, path, false, &[]).unwrap().finish().unwrap();
        assert_eq!(files.read(path).unwrap(), b"");
    }

    #[test]
    fn a_line_longer_than_all_buffers_is_complete() {
        let files = Files::new(Arc::new(Sim::default()));
        let mut writer = MemberWriter::create(&files, Path::new("members"), false, &[]).unwrap();
        let mut expected = String::new();
        for node in 0..400_000 {
            let name = format!("n{node}");
            writer.push(0, name.as_bytes(), None).unwrap();
            expected += &format!("{}{name}", if node > 0 { "\t" } else { "" });
        }
        writer.finish().unwrap();
        assert_eq!(files.read(Path::new("members")).unwrap(), (expected + "\n").as_bytes());
    }
}
