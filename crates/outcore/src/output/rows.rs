//! Writers of rows: a node and its community, or the nodes of a community; as text,
//! or as a table if the ending of the file's name selects one.

use super::table::{OutputColumn, TableWriter, Value, ValueKind, path_of};
use super::{LineWriter, put_text_name};
use crate::error::Result;
use crate::input::is_label;
use crate::io::Files;
use std::path::Path;

/// Row of the output: a node.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) name: &'a [u8],
    pub(super) community: u64,
    /// Weight of the node's edges inside its community.
    pub(super) weight: Option<f64>,
    /// Share of the steps of a random walk that end at the node.
    pub(super) flow: Option<f64>,
    /// Share of the starts in which it stays with its community.
    pub(super) stability: Option<f64>,
    /// Name of its kind, if nodes are of two and columns have names.
    pub(super) kind: Option<&'a str>,
    /// Groups inside the community.
    pub(super) groups: &'a [u32],
}

/// Columns that all rows have.
#[derive(Clone, Copy)]
pub(super) struct OutputShape {
    pub(super) has_weights: bool,
    pub(super) has_flow: bool,
    pub(super) has_stability: bool,
    pub(super) has_kinds: bool,
    pub(super) groups: usize,
    /// Whether community and groups are written as one path.
    pub(super) is_path: bool,
    /// Whether text has a line of column names.
    pub(super) has_header: bool,
}

impl OutputShape {
    /// Returns the columns of a table.
    fn columns(self) -> Vec<OutputColumn> {
        let Self { has_weights, has_flow, has_stability, has_kinds, is_path, .. } = self;
        let given = [
            (true, "node", ValueKind::Name),
            (true, "community", ValueKind::Number),
            (has_weights, "weight", ValueKind::Real),
            (has_flow, "flow", ValueKind::Real),
            (has_stability, "stability", ValueKind::Real),
            (has_kinds, "kind", ValueKind::Text),
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
    pub(super) fn text_columns(self) -> Vec<String> {
        let mut names = vec!["node".to_owned()];
        names.push(if self.is_path { "path" } else { "community" }.to_owned());
        names.extend(self.group_columns().map(|column| column.name));
        names.extend(self.has_weights.then(|| "weight".to_owned()));
        names.extend(self.has_flow.then(|| "flow".to_owned()));
        names.extend(self.has_stability.then(|| "stability".to_owned()));
        names.extend(self.has_kinds.then(|| "kind".to_owned()));
        names
    }

    /// Returns the values of a row of a table.
    fn values(self, row: Row<'_>) -> impl Iterator<Item = Value<'_>> {
        let Row { name, community, weight, flow, stability, kind, groups } = row;
        let path = self.is_path.then(|| Value::Path(path_of(community, groups)));
        let count = if self.is_path { 0 } else { self.groups };
        let group = move |at: usize| groups.get(at).map(|&group| Value::Number(group.into()));
        let first = [Value::Name(name), Value::Number(community)];
        let (weight, stability) = (weight.map(Value::Weight), stability.map(Value::Share));
        let kind = kind.map(|kind| Value::Name(kind.as_bytes()));
        let rest = [weight, flow.map(Value::Exact), stability, kind, path];
        first
            .into_iter()
            .chain(rest.into_iter().flatten())
            .chain((0..count).map(move |at| group(at).unwrap_or(Value::None)))
    }
}

/// Replaces the name of the column of the community, or of a group inside it.
fn rename(column: &mut String, names: &[String]) {
    let at = match column.strip_prefix("group") {
        Some(number) => number.parse().ok(),
        None => (column == "community").then_some(0),
    };
    if let Some(name) = at.and_then(|at: usize| names.get(at)) {
        column.clone_from(name);
    }
}

/// Writer of rows in either format.
pub(super) enum OutputRows {
    Text(Box<CommunityWriter>),
    Table(Box<TableWriter>, OutputShape),
}

impl OutputRows {
    /// Creates a writer in the format that the extension of `path` selects.
    /// The columns of the community and its groups have these `names`, if there are any.
    pub(super) fn create(
        files: &Files,
        path: &Path,
        shape: OutputShape,
        names: &[String],
    ) -> Result<Self> {
        let mut columns = shape.columns();
        columns.iter_mut().for_each(|column| rename(&mut column.name, names));
        match TableWriter::create(files, path, &columns)? {
            Some(table) => Ok(Self::Table(Box::new(table), shape)),
            None => {
                let writer = CommunityWriter::create(files, path, shape, names);
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
    fn create(files: &Files, path: &Path, shape: OutputShape, names: &[String]) -> Result<Self> {
        let mut lines = LineWriter::create(files, path)?;
        if !shape.has_header {
            return Ok(Self { lines, groups: 0 });
        }
        let mut columns = shape.text_columns();
        columns.iter_mut().for_each(|column| rename(column, names));
        lines.header(columns.iter().map(String::as_str), b'\t')?;
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
        if let Some(flow) = row.flow {
            self.lines.bytes(b"\t").bytes(flow.to_string().as_bytes());
        }
        if let Some(stability) = row.stability {
            self.lines.bytes(b"\t").thousandths(stability);
        }
        if let Some(kind) = row.kind {
            self.lines.bytes(b"\t").name(kind.as_bytes());
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

/// Writer of nodes by community: one line per community, or one pair of the community's first node and a node.
pub(crate) struct MemberWriter {
    lines: LineWriter,
    is_pairs: bool,
    community: Option<u64>,
    /// Name of the community's first node, as it is written.
    first: Vec<u8>,
}

impl MemberWriter {
    /// Starts writing `path`; `-` is standard output. There is a first line if `header` has words.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(
        files: &Files,
        path: &Path,
        is_pairs: bool,
        header: &[&str],
    ) -> Result<Self> {
        let mut lines = LineWriter::create(files, path)?;
        if !header.is_empty() {
            lines.header(header.iter().copied(), b'\t')?;
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
            // A name in front that could be the label of its community is none in quotes.
            let is_doubtful = is_first && is_label(name);
            match is_doubtful {
                true => self.lines.quoted(name),
                false => self.lines.name(name),
            };
            return self.lines.flush_if_full();
        }
        if is_first {
            self.first.clear();
            put_text_name(name, &mut self.first);
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
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    const PLAIN: OutputShape = OutputShape {
        has_weights: false,
        has_flow: false,
        has_stability: false,
        has_kinds: false,
        groups: 0,
        is_path: false,
        has_header: false,
    };

    /// Returns the text written to `path` for two nodes, one of which has no second group.
    fn written(path: &str, shape: OutputShape) -> String {
        let files = Files::new(Arc::new(Sim::default()));
        let mut rows = OutputRows::create(&files, Path::new(path), shape, &[]).unwrap();
        for (name, groups) in [(&b"a,\"b\""[..], &[3, 5][..]), (b"#c", &[3])] {
            let row = Row {
                name,
                community: 7,
                weight: shape.has_weights.then_some(0.1 + 0.2),
                flow: shape.has_flow.then_some(0.0625),
                stability: shape.has_stability.then_some(0.5),
                kind: shape.has_kinds.then_some("user"),
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
        assert_eq!(written("c.tsv", PLAIN), "a,\"b\"\t7\n\"#c\"\t7\n");
        let named = OutputShape { has_header: true, ..PLAIN };
        assert_eq!(written("c", named), "node\tcommunity\na,\"b\"\t7\n\"#c\"\t7\n");
        let all = OutputShape { groups: 2, has_stability: true, ..named };
        let text = "node\tcommunity\tgroup1\tgroup2\tstability\na,\"b\"\t7\t3\t5\t0.500\n\"#c\"\t7\t3\t\t0.500\n";
        assert_eq!(written("c", all), text);
        let csv = "node,community,stability,group1,group2\n\"a,\"\"b\"\"\",7,0.500,3,5\n\"#c\",7,0.500,3,\n";
        assert_eq!(written("c.csv", all), csv);
        let kinds = OutputShape { has_kinds: true, ..named };
        let text = "node\tcommunity\tkind\na,\"b\"\t7\tuser\n\"#c\"\t7\tuser\n";
        assert_eq!(written("c", kinds), text);
        let json = "{\"node\":\"a,\\\"b\\\"\",\"community\":7,\"kind\":\"user\"}\n{\"node\":\"#c\",\"community\":7,\"kind\":\"user\"}\n";
        assert_eq!(written("c.jsonl", kinds), json);
        let flow = OutputShape { has_flow: true, has_stability: true, ..named };
        let text = "node\tcommunity\tflow\tstability\na,\"b\"\t7\t0.0625\t0.500\n\"#c\"\t7\t0.0625\t0.500\n";
        assert_eq!(written("c", flow), text);
        let path = OutputShape { groups: 2, is_path: true, ..named };
        assert_eq!(written("c", path), "node\tpath\na,\"b\"\t7:3:5\n\"#c\"\t7:3\n");
        let weights = OutputShape { has_weights: true, ..PLAIN };
        let json = "{\"node\":\"a,\\\"b\\\"\",\"community\":7,\"weight\":0.3}\n{\"node\":\"#c\",\"community\":7,\"weight\":0.3}\n";
        assert_eq!(written("c.jsonl", weights), json);
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
