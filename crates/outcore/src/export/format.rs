//! Formats of exported graphs: the endings that select them, and what each can hold.

use crate::error::opt::{FORMAT, OUTPUT};
use crate::error::{Error, Result};
use crate::output::packed_by;
use std::path::Path;

/// Format of an exported graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ExportFormat {
    /// An edge per line: source, target and weight, separated by tabs.
    Text,
    /// The same as CSV, with the names of the columns.
    Csv,
    /// An edge per line as a JSON object.
    JsonLines,
    /// Table of edges as Parquet.
    Parquet,
    /// Table of edges as Arrow IPC.
    Arrow,
    /// Coordinates of a sparse matrix; symmetric for undirected graphs.
    MatrixMarket,
    /// The neighbors of a node per line, for graph partitioners.
    Metis,
    /// Matrix of mcl.
    Mcl,
    /// Network of Pajek, which Infomap reads too.
    Pajek,
    /// GraphML.
    Graphml,
    /// GEXF of Gephi.
    Gexf,
}
use ExportFormat::{
    Arrow, Csv, Gexf, Graphml, JsonLines, MatrixMarket, Mcl, Metis, Pajek, Parquet, Text,
};

/// Row of the table of formats.
struct FormatSpec {
    format: ExportFormat,
    /// Value of the option.
    option: &'static str,
    /// Name in messages.
    name: &'static str,
    /// Endings, the usual one first.
    endings: &'static [&'static str],
}

#[rustfmt::skip]
const FORMATS: [FormatSpec; 11] = [
    FormatSpec { format: Text, option: "text", name: "tab-separated text", endings: &["tsv", "tab", "txt", "abc", "edges", "edgelist"] },
    FormatSpec { format: Csv, option: "csv", name: "CSV", endings: &["csv"] },
    FormatSpec { format: JsonLines, option: "json-lines", name: "JSON Lines", endings: &["jsonl", "ndjson"] },
    FormatSpec { format: Parquet, option: "parquet", name: "Parquet", endings: &["parquet"] },
    FormatSpec { format: Arrow, option: "arrow", name: "Arrow", endings: &["arrow", "feather", "ipc"] },
    FormatSpec { format: MatrixMarket, option: "matrix-market", name: "Matrix Market", endings: &["mtx"] },
    FormatSpec { format: Metis, option: "metis", name: "METIS", endings: &["metis", "graph"] },
    FormatSpec { format: Mcl, option: "mcl", name: "an mcl matrix", endings: &["mci"] },
    FormatSpec { format: Pajek, option: "pajek", name: "Pajek", endings: &["net"] },
    FormatSpec { format: Graphml, option: "graphml", name: "GraphML", endings: &["graphml"] },
    FormatSpec { format: Gexf, option: "gexf", name: "GEXF", endings: &["gexf"] },
];

impl ExportFormat {
    /// Returns the format that the ending of `path` selects; text for `-` and for a name without an ending.
    ///
    /// # Errors
    /// `Usage` for another ending.
    pub fn of(path: &Path) -> Result<Self> {
        let Some(ending) = path.extension().filter(|_| path != Path::new("-")) else {
            return Ok(Text);
        };
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        if let Some(spec) = FORMATS.iter().find(|spec| spec.endings.contains(&ending.as_str())) {
            return Ok(spec.format);
        }
        let shown = path.display();
        if let Some(program) = packed_by(path) {
            let message =
                format_args!("`{shown}` is the name of a packed file, but {OUTPUT} does not pack");
            let plain = Self::of(&path.with_extension("")).unwrap_or(Text).option();
            let options = OUTPUT.of("-").with(FORMAT.of(plain));
            return Err(Error::usage(message)
                .hint(format_args!("pack it on the way: {options} | {program} > {shown}")));
        }
        let usual: Vec<String> =
            FORMATS.iter().map(|spec| format!(".{}", spec.endings[0])).collect();
        Err(Error::usage(format_args!("`{shown}` has the ending of no format that is written"))
            .note(format!("the endings are {}", usual.join(", ")))
            .hint(format_args!("use one of them, or choose the format: {}", FORMAT.of("text"))))
    }

    fn spec(self) -> &'static FormatSpec {
        let found = FORMATS.iter().find(|spec| spec.format == self);
        found.expect("the table has every format")
    }

    /// Returns the value of the option that selects it.
    pub fn option(self) -> &'static str {
        self.spec().option
    }

    /// Returns the name as shown.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the endings that select it, the usual one first.
    pub fn endings(self) -> &'static [&'static str] {
        self.spec().endings
    }

    /// Returns all formats.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|spec| spec.format)
    }

    /// Returns whether it is written by a library as a table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Parquet | Arrow)
    }

    /// Returns whether its nodes are numbers, so that names need another file.
    pub fn has_numbers(self) -> bool {
        matches!(self, MatrixMarket | Metis | Mcl)
    }

    /// Returns whether a node without an edge is in the file.
    pub fn holds_lone_nodes(self) -> bool {
        !matches!(self, Text | Csv | JsonLines | Parquet | Arrow)
    }

    /// Returns whether attributes of nodes are in the file.
    pub fn holds_attributes(self) -> bool {
        matches!(self, Graphml | Gexf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_select_formats() {
        let of = |name: &str| ExportFormat::of(Path::new(name)).map_err(|error| error.to_string());
        for (name, format) in [
            ("-", Text),
            ("edges", Text),
            ("a.b/edges", Text),
            ("e.TSV", Text),
            ("e.csv", Csv),
            ("e.graph", Metis),
            ("e.net", Pajek),
            ("e.feather", Arrow),
        ] {
            assert_eq!(of(name), Ok(format), "{name}");
        }
        for name in ["e.dot", "e.tsv.gz", "e.v2", "e.png"] {
            assert!(of(name).is_err(), "{name}");
        }
    }

    #[test]
    fn an_ending_selects_one_format() {
        let mut all: Vec<_> = FORMATS.iter().flat_map(|spec| spec.endings).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
