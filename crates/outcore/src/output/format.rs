//! Formats by the endings of names: what a file holds as a result, and as an exported graph, or what to do instead.
//!
//! A result whose name has no ending, or an unknown one, is text or JSON; a graph is text without an ending, and other
//! endings are refused. One ending can mean both (`.csv`), or only a graph (`.net`). Names are looked up once.

use super::encode::Encoding;
use crate::error::opt::{FORMAT, OUTPUT, REPORT};
use crate::error::{Error, Opt, Result, Text};
use std::path::Path;

/// Format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowFormat {
    /// Columns separated by tabs.
    Tabs,
    Csv,
    JsonLines,
    Parquet,
    Arrow,
}
use RowFormat::{Arrow, Csv, JsonLines, Parquet, Tabs};

/// File of Infomap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModuleForm {
    /// The path of each node.
    Tree,
    /// The path of each node, and the links of each module.
    FlowTree,
    /// The top module of each node.
    Clu,
}

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

/// What a result of some name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    Rows(RowFormat),
    Modules(ModuleForm),
    Json,
    Page,
    /// Compressed text, which is not written; the program that compresses it.
    Packed(&'static str),
    /// Nothing that is written.
    Unknown,
}
use Contents::{Json, Modules, Packed, Page, Rows, Unknown};

/// Row of the table of formats.
#[derive(Debug, Clone, Copy)]
struct FileFormat {
    /// Name of such a file in messages.
    name: &'static str,
    /// Endings, the usual one first.
    endings: &'static [&'static str],
    contents: Contents,
    /// What to do if rows would be written to a file of this name, but cannot.
    remedy: &'static str,
    /// Graph that is exported to a file of this name.
    graph: Option<GraphFile>,
}

/// File of a graph.
#[derive(Debug, Clone, Copy)]
struct GraphFile {
    format: ExportFormat,
    /// Value of the option that selects it.
    option: &'static str,
    /// Name in messages.
    name: &'static str,
    /// Endings that select only this.
    endings: &'static [&'static str],
}

/// Returns a row without a graph.
const fn file(
    contents: Contents,
    name: &'static str,
    endings: &'static [&'static str],
    remedy: &'static str,
) -> FileFormat {
    FileFormat { name, endings, contents, remedy, graph: None }
}

impl FileFormat {
    /// Adds the format of graphs that are exported to such a file.
    const fn graph(
        self,
        format: ExportFormat,
        option: &'static str,
        name: &'static str,
        endings: &'static [&'static str],
    ) -> Self {
        Self { graph: Some(GraphFile { format, option, name, endings }), ..self }
    }
}

const TABLE: &str = "use a name that ends in .parquet, .arrow or .csv, and convert that";
const TEXT: &str = "use a name that ends in .tsv";
const PLAIN: &str = "use a name that ends in .tsv or .csv";
const COLUMNS: &str = "use a name that ends in .tsv, .csv or .parquet";
const JOIN: &str = "write communities to a name that ends in .csv, and join them by node";

/// All formats, those of graphs in the order in which they are listed.
#[rustfmt::skip]
static FORMATS: &[FileFormat] = &[
    file(Rows(Tabs), "tab-separated text", &["tsv", "tab"], "").graph(ExportFormat::Text, "text", "tab-separated text", &["txt", "abc", "edges", "edgelist"]),
    file(Rows(Csv), "CSV", &["csv"], "").graph(ExportFormat::Csv, "csv", "CSV", &[]),
    file(Rows(JsonLines), "JSON Lines", &["jsonl", "ndjson"], "").graph(ExportFormat::JsonLines, "json-lines", "JSON Lines", &[]),
    file(Rows(Parquet), "a Parquet table", &["parquet"], "").graph(ExportFormat::Parquet, "parquet", "Parquet", &[]),
    file(Rows(Arrow), "an Arrow table", &["arrow", "feather", "ipc"], "").graph(ExportFormat::Arrow, "arrow", "Arrow", &[]),
    file(Unknown, "a matrix", &["mtx"], COLUMNS).graph(ExportFormat::MatrixMarket, "matrix-market", "Matrix Market", &[]),
    file(Unknown, "a graph", &["metis", "graph"], JOIN).graph(ExportFormat::Metis, "metis", "METIS", &[]),
    file(Unknown, "a matrix", &[], COLUMNS).graph(ExportFormat::Mcl, "mcl", "an mcl matrix", &["mci"]),
    file(Unknown, "a graph", &["net"], JOIN).graph(ExportFormat::Pajek, "pajek", "Pajek", &[]),
    file(Unknown, "a graph", &["graphml"], JOIN).graph(ExportFormat::Graphml, "graphml", "GraphML", &[]),
    file(Unknown, "a graph", &["gexf"], JOIN).graph(ExportFormat::Gexf, "gexf", "GEXF", &[]),
    file(Json, "JSON", &["json"], "use a name that ends in .jsonl: an object per line"),
    file(Page, "an HTML page", &["html", "htm"], TEXT),
    file(Modules(ModuleForm::Tree), "a tree of Infomap", &["tree"], TEXT),
    file(Modules(ModuleForm::FlowTree), "a tree of Infomap with links", &["ftree"], TEXT),
    file(Modules(ModuleForm::Clu), "a file of modules (clu)", &["clu"], TEXT),
    file(Packed("gzip"), "text packed by gzip", &["gz", "gzip", "tgz"], ""),
    file(Packed("bgzip"), "text packed by bgzip", &["bgz", "bgzf"], ""),
    file(Packed("bzip2"), "text packed by bzip2", &["bz2"], ""),
    file(Packed("xz"), "text packed by xz", &["xz", "lzma"], ""),
    file(Packed("zstd"), "text packed by zstd", &["zst", "zstd"], ""),
    file(Packed("lz4"), "text packed by lz4", &["lz4"], ""),
    file(Packed("zip"), "text packed by zip", &["zip"], ""),
    file(Unknown, "a map of Infomap", &["map"], "use a name that ends in .ftree, which has the links of modules"),
    file(Unknown, "a spreadsheet", &["xlsx", "xls", "xlsb", "ods"], "use a name that ends in .csv, which spreadsheets open"),
    file(Unknown, "a graph", &["gml", "paj", "dot", "gv", "dl", "cyjs", "cx", "sif"], JOIN),
    file(Unknown, "a file of Pajek", &["vec", "per"], "use a name that ends in .tsv: `node<TAB>community`"),
    file(Unknown, "a matrix", &["mat", "npy", "npz"], COLUMNS),
    file(Unknown, "annotated data", &["h5ad", "h5", "hdf5", "h5mu", "loom", "zarr", "rds", "rdata", "rda"],
        "use a name that ends in .parquet or .csv, and add its column to the annotations of the cells"),
    file(Unknown, "a database", &["db", "sqlite", "sqlite3", "duckdb", "sql"], "use a name that ends in .parquet or .csv, which databases import"),
    file(Unknown, "another kind of table", &["arrows", "pq", "orc", "avro", "fst", "dta", "sav", "sas7bdat"], TABLE),
    file(Unknown, "data of Python", &["pkl", "pickle", "joblib"], TABLE),
    file(Unknown, "a document", &["pdf", "doc", "docx", "md", "tex", "xml", "yaml", "yml", "toml"], PLAIN),
    file(Unknown, "an image", &["png", "svg", "jpg", "jpeg", "gif"], PLAIN),
];

/// Returns the ending of a name in small letters.
fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

impl Contents {
    /// Returns what a result of this name holds, if its ending says so.
    fn of(path: &Path) -> Option<Self> {
        FileFormat::of(path).map(|format| format.contents)
    }
}

impl FileFormat {
    fn of(path: &Path) -> Option<&'static Self> {
        let ending = ending(path)?;
        FORMATS.iter().find(|format| format.endings.contains(&ending.as_str()))
    }
}

impl RowFormat {
    /// Returns the format that the ending of a name selects: text, unless it is that of a table.
    pub(crate) fn of(path: &Path) -> Self {
        match Contents::of(path) {
            Some(Rows(format)) => format,
            _ => Tabs,
        }
    }

    /// Returns whether it is a table, and not text between tabs.
    pub(crate) fn is_table(self) -> bool {
        self != Tabs
    }

    /// Returns whether files of the format always name their columns, other than by a first line of text.
    pub(crate) fn has_names(self) -> bool {
        !matches!(self, Tabs | Csv)
    }

    /// Returns whether a library encodes it.
    pub(crate) fn is_of_library(self) -> bool {
        matches!(self, Parquet | Arrow)
    }

    /// Returns whether this engine was built without it.
    pub(crate) fn is_absent(self) -> bool {
        cfg!(not(feature = "tables")) && self.is_of_library()
    }

    /// Returns the error for a format that this engine was built without.
    pub(super) fn absent(path: &Path) -> Error {
        let path = path.display();
        Error::usage(format!(
            "`{path}` names a table, and this outcore was built without tables"
        ))
        .hint("build it with `--features tables`, or use a name that ends in .csv, .tsv or .jsonl")
    }

    /// Returns how names are written.
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Tabs => Encoding::Text,
            Csv => Encoding::Csv,
            JsonLines => Encoding::Json,
            Parquet | Arrow => Encoding::Utf8,
        }
    }

    /// Returns what stands between the fields of text.
    pub(super) fn separator(self) -> &'static str {
        if self == Csv { "," } else { "\t" }
    }
}

impl ModuleForm {
    /// Returns the format of Infomap that the ending of a name selects.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match Contents::of(path)? {
            Modules(form) => Some(form),
            _ => None,
        }
    }
}

/// Returns the endings of tables, grouped by format, the usual one of each format first.
pub fn table_endings() -> impl Iterator<Item = &'static [&'static str]> {
    let of = |format| FORMATS.iter().find(move |file| file.contents == Rows(format));
    [Parquet, Arrow, JsonLines, Csv].into_iter().filter_map(of).map(|file| file.endings)
}

impl ExportFormat {
    /// Returns all formats.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().filter_map(|file| Some(file.graph?.format))
    }

    /// Returns the format that the ending of `path` selects; text for `-` and for a name without an ending.
    ///
    /// # Errors
    /// `Usage` for another ending.
    pub fn of(path: &Path) -> Result<Self> {
        let Some(ending) = ending(path) else {
            return Ok(Self::Text);
        };
        let mut all = Self::all();
        if let Some(found) = all.find(|format| format.endings().any(|other| *other == ending)) {
            return Ok(found);
        }
        let shown = path.display();
        if let Some(Packed(program)) = Contents::of(path) {
            let message =
                format_args!("`{shown}` is the name of a packed file, but {OUTPUT} does not pack");
            let plain = Self::of(&path.with_extension("")).unwrap_or(Self::Text).option();
            let options = OUTPUT.of("-").with(FORMAT.of(plain));
            return Err(Error::usage(message)
                .hint(format_args!("pack it on the way: {options} | {program} > {shown}")));
        }
        let usual: Vec<String> =
            Self::all().map(|format| format!(".{}", format.ending())).collect();
        Err(Error::usage(format_args!("`{shown}` has the ending of no format that is written"))
            .note(format!("the endings are {}", usual.join(", ")))
            .hint(format_args!("use one of them, or choose the format: {}", FORMAT.of("text"))))
    }

    /// Returns its row of the table.
    fn file(self) -> (&'static FileFormat, &'static GraphFile) {
        let all = FORMATS.iter().filter_map(|file| Some((file, file.graph.as_ref()?)));
        let mut all = all.filter(|(_, graph)| graph.format == self);
        all.next().expect("the table has every format")
    }

    /// Returns the value of the option that selects it.
    pub fn option(self) -> &'static str {
        self.file().1.option
    }

    /// Returns the name as shown.
    pub fn name(self) -> &'static str {
        self.file().1.name
    }

    /// Returns the endings of its files, the usual one first.
    fn endings(self) -> impl Iterator<Item = &'static &'static str> {
        let (file, graph) = self.file();
        file.endings.iter().chain(graph.endings)
    }

    /// Returns the usual ending of its files.
    pub fn ending(self) -> &'static str {
        self.endings().next().expect("the table has an ending of every graph")
    }

    /// Returns the format of the edges, if they are rows, without nodes or anything else.
    pub(crate) fn rows(self) -> Option<RowFormat> {
        match self.file().0.contents {
            Rows(format) => Some(format),
            _ => None,
        }
    }
}

/// Formats of an output, and their description in messages.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    holds: fn(Contents) -> bool,
    what: &'static str,
    /// Usual endings.
    usual: &'static str,
}

impl Written {
    /// Rows of nodes, communities and so on.
    pub const ROWS: Self = Self::new(
        |contents| matches!(contents, Rows(_)),
        "text or a table",
        ".tsv, .csv, .parquet, .arrow or .jsonl",
    );
    /// Communities of nodes: rows, or the files of Infomap.
    pub const COMMUNITIES: Self = Self::new(
        |contents| matches!(contents, Rows(_) | Modules(_)),
        "text or a table",
        ".tsv, .csv, .parquet, .arrow, .jsonl, .tree, .ftree or .clu",
    );
    /// Columns separated by tabs.
    pub const TEXT: Self = Self::new(|found| found == Rows(Tabs), "tab-separated text", ".tsv");
    /// Report as JSON or as a page.
    pub const REPORT: Self =
        Self::new(|found| matches!(found, Json | Page), "JSON or an HTML page", ".json or .html");
    /// Report as JSON.
    pub const JSON: Self = Self::new(|found| found == Json, "JSON", ".json");
    /// HTML page.
    pub const HTML: Self = Self::new(|found| found == Page, "an HTML page", ".html");

    const fn new(holds: fn(Contents) -> bool, what: &'static str, usual: &'static str) -> Self {
        Self { holds, what, usual }
    }

    /// Returns whether a report of this name is an HTML page.
    pub fn is_page(path: &Path) -> bool {
        Contents::of(path) == Some(Page)
    }

    /// Refuses a name with the ending of a format that the output `option` does not have, or that this engine was built
    /// without.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(self, option: &Opt, path: &Path) -> Result<()> {
        let Some(format) = FileFormat::of(path).filter(|found| !(self.holds)(found.contents))
        else {
            let is_absent = RowFormat::of(path).is_absent();
            return if is_absent { Err(RowFormat::absent(path)) } else { Ok(()) };
        };
        let Self { what, usual, .. } = self;
        let (shown, name, remedy) = (path.display(), format.name, format.remedy);
        let message = format_args!("`{shown}` is the name of {name}, but {option} writes {what}");
        let has_rows = (self.holds)(Rows(Csv));
        let hint: Text = match format.contents {
            Packed(program) => Self::pack(path, program, option).into(),
            Page if has_rows => format_args!("{remedy}; {REPORT} writes a page").into(),
            _ if has_rows => remedy.into(),
            _ => format!("use a name that ends in {usual}").into(),
        };
        Err(Error::usage(message).hint(hint))
    }

    /// Returns the hint how to compress the output.
    fn pack(path: &Path, program: &str, option: &Opt) -> String {
        let plain = path.with_extension("");
        let is_streamed = matches!(Contents::of(&plain), None | Some(Rows(Tabs) | Json));
        match is_streamed {
            true => format!(
                "pack it on the way: {} | {program} > {}",
                option.clone().of("-"),
                path.display()
            ),
            false => format!("use `{0}`, and pack it after that: `{program} {0}`", plain.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::opt::{OUTPUT, REJECTS};

    #[test]
    fn an_ending_is_obeyed_or_refused() {
        let check = |written: Written, option: &Opt, name: &str| {
            written.check(option, Path::new(name)).err().map(|error| {
                let hint = error.hint_text().unwrap_or_default();
                format!("{}; {hint}", error.message())
            })
        };
        let rows = |name| check(Written::ROWS, &OUTPUT, name);
        for name in ["c.tree", "c.ftree", "c.CLU", "c.tsv"] {
            assert_eq!(check(Written::COMMUNITIES, &OUTPUT, name), None, "{name}");
        }
        assert!(rows("c.tree").is_some() && rows("c.clu").is_some() && rows("c.ftree").is_some());
        assert!(check(Written::COMMUNITIES, &OUTPUT, "c.map").is_some());
        for name in ["-", "c", "c.tsv", "c.CSV", "c.parquet", "c.feather", "c.0.5", ".tsv", "c.new"]
        {
            assert_eq!(rows(name), None, "{name}");
        }
        let same =
            |found: Option<String>, expected: &str| assert_eq!(found.as_deref(), Some(expected));
        same(
            rows("c.tsv.gz"),
            "`c.tsv.gz` is the name of text packed by gzip, but `--output` writes text or a table; pack it \
             on the way: `--output -` | gzip > c.tsv.gz",
        );
        same(
            rows("c.csv.zst"),
            "`c.csv.zst` is the name of text packed by zstd, but `--output` writes text or a table; use \
             `c.csv`, and pack it after that: `zstd c.csv`",
        );
        same(
            rows("c.XLSX"),
            "`c.XLSX` is the name of a spreadsheet, but `--output` writes text or a table; use a name that \
             ends in .csv, which spreadsheets open",
        );
        same(
            check(Written::TEXT, &REJECTS, "r.csv"),
            "`r.csv` is the name of CSV, but `--rejects` writes tab-separated text; use a name that ends in .tsv",
        );
        same(
            check(Written::REPORT, &REPORT, "r.pdf"),
            "`r.pdf` is the name of a document, but `--report` writes JSON or an HTML page; use a name that \
             ends in .json or .html",
        );
        for name in ["r.json", "r.html", "r", "r.txt"] {
            assert_eq!(check(Written::REPORT, &REPORT, name), None, "{name}");
        }
    }

    #[test]
    fn endings_select_formats_of_graphs() {
        let of = |name: &str| ExportFormat::of(Path::new(name)).map_err(|error| error.to_string());
        for (name, format) in [
            ("-", ExportFormat::Text),
            ("edges", ExportFormat::Text),
            ("a.b/edges", ExportFormat::Text),
            ("e.TSV", ExportFormat::Text),
            ("e.csv", ExportFormat::Csv),
            ("e.graph", ExportFormat::Metis),
            ("e.net", ExportFormat::Pajek),
            ("e.feather", ExportFormat::Arrow),
        ] {
            assert_eq!(of(name), Ok(format), "{name}");
        }
        for name in ["e.dot", "e.tsv.gz", "e.v2", "e.png"] {
            assert!(of(name).is_err(), "{name}");
        }
    }

    #[test]
    fn every_ending_has_one_meaning() {
        let graphs = |file: &'static FileFormat| file.graph.iter().flat_map(|graph| graph.endings);
        let all = FORMATS.iter().flat_map(|file| file.endings.iter().chain(graphs(file)));
        let mut all: Vec<_> = all.collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
