//! Endings of the names of outputs: each selects a format, or is refused with a hint. A name without an ending, or with
//! an unknown one, selects the output's text or JSON.

use crate::error::opt::REPORT;
use crate::error::{Error, Opt, Result, Text};
use std::path::Path;

/// Format that an ending selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Columns separated by tabs.
    Tabs,
    Csv,
    JsonLines,
    Parquet,
    Arrow,
    Json,
    Html,
    /// Tree of Infomap: the path of each node.
    Tree,
    /// The same with the links of each module.
    FlowTree,
    /// Top module of each node, as Infomap writes it.
    Clu,
    /// Text compressed by this program.
    Packed(&'static str),
    /// Unsupported format: its name, and what to do instead.
    Other(&'static str, &'static str),
}
use Ending::{
    Arrow, Clu, Csv, FlowTree, Html, Json, JsonLines, Other, Packed, Parquet, Tabs, Tree,
};

const TABLE: &str = "use a name that ends in .parquet, .arrow or .csv, and convert that";

/// All endings, the usual one of each format first.
const ENDINGS: [(Ending, &[&str]); 28] = [
    (Parquet, &["parquet"]),
    (Arrow, &["arrow", "feather", "ipc"]),
    (JsonLines, &["jsonl", "ndjson"]),
    (Csv, &["csv"]),
    (Tabs, &["tsv", "tab"]),
    (Json, &["json"]),
    (Html, &["html", "htm"]),
    (Packed("gzip"), &["gz", "gzip", "tgz"]),
    (Packed("bgzip"), &["bgz", "bgzf"]),
    (Packed("bzip2"), &["bz2"]),
    (Packed("xz"), &["xz", "lzma"]),
    (Packed("zstd"), &["zst", "zstd"]),
    (Packed("lz4"), &["lz4"]),
    (Packed("zip"), &["zip"]),
    (Tree, &["tree"]),
    (FlowTree, &["ftree"]),
    (Clu, &["clu"]),
    (
        Other("a map of Infomap", "use a name that ends in .ftree, which has the links of modules"),
        &["map"],
    ),
    (
        Other("a spreadsheet", "use a name that ends in .csv, which spreadsheets open"),
        &["xlsx", "xls", "xlsb", "ods"],
    ),
    (
        Other("a graph", "write communities to a name that ends in .csv, and join them by node"),
        &[
            "graphml", "gexf", "gml", "net", "paj", "dot", "gv", "dl", "cyjs", "cx", "sif",
            "graph", "metis",
        ],
    ),
    (
        Other("a file of Pajek", "use a name that ends in .tsv: `node<TAB>community`"),
        &["vec", "per"],
    ),
    (
        Other("a matrix", "use a name that ends in .tsv, .csv or .parquet"),
        &["mtx", "mat", "npy", "npz"],
    ),
    (
        Other(
            "annotated data",
            "use a name that ends in .parquet or .csv, and add its column to the annotations of the cells",
        ),
        &["h5ad", "h5", "hdf5", "h5mu", "loom", "zarr", "rds", "rdata", "rda"],
    ),
    (
        Other("a database", "use a name that ends in .parquet or .csv, which databases import"),
        &["db", "sqlite", "sqlite3", "duckdb", "sql"],
    ),
    (
        Other("another kind of table", TABLE),
        &["arrows", "pq", "orc", "avro", "fst", "dta", "sav", "sas7bdat"],
    ),
    (Other("data of Python", TABLE), &["pkl", "pickle", "joblib"]),
    (
        Other("a document", "use a name that ends in .tsv or .csv"),
        &["pdf", "doc", "docx", "md", "tex", "xml", "yaml", "yml", "toml"],
    ),
    (
        Other("an image", "use a name that ends in .tsv or .csv"),
        &["png", "svg", "jpg", "jpeg", "gif"],
    ),
];

/// Formats of an output, and their description in messages.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    formats: &'static [Ending],
    what: &'static str,
    /// Usual endings.
    usual: &'static str,
}

impl Written {
    /// Rows of nodes, communities and so on.
    pub const ROWS: Self = Self {
        formats: &[Tabs, Csv, JsonLines, Parquet, Arrow],
        what: "text or a table",
        usual: ".tsv, .csv, .parquet, .arrow or .jsonl",
    };
    /// Communities of nodes: rows, or the files of Infomap.
    pub const COMMUNITIES: Self = Self {
        formats: &[Tabs, Csv, JsonLines, Parquet, Arrow, Tree, FlowTree, Clu],
        what: "text or a table",
        usual: ".tsv, .csv, .parquet, .arrow, .jsonl, .tree, .ftree or .clu",
    };
    /// Columns separated by tabs.
    pub const TEXT: Self = Self { formats: &[Tabs], what: "tab-separated text", usual: ".tsv" };
    /// Report as JSON or as a page.
    pub const REPORT: Self =
        Self { formats: &[Json, Html], what: "JSON or an HTML page", usual: ".json or .html" };
    /// Report as JSON.
    pub const JSON: Self = Self { formats: &[Json], what: "JSON", usual: ".json" };
    /// HTML page.
    pub const HTML: Self = Self { formats: &[Html], what: "an HTML page", usual: ".html" };

    /// Returns whether a report of this name is an HTML page.
    pub fn is_page(path: &Path) -> bool {
        Ending::of(path) == Some(Html)
    }

    /// Refuses a name with the ending of a format that the output `option` does not have.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(self, option: &Opt, path: &Path) -> Result<()> {
        let Some(ending) = Ending::of(path).filter(|ending| !self.formats.contains(ending)) else {
            return Ok(());
        };
        let Self { what, usual, .. } = self;
        let shown = path.display();
        let name = ending.name();
        let message = format_args!("`{shown}` is the name of {name}, but {option} writes {what}");
        let has_rows = self.formats.contains(&Csv);
        let hint: Text = match ending {
            Packed(program) => Self::pack(path, program, option).into(),
            Other(_, remedy) if has_rows => remedy.into(),
            Tree | FlowTree | Clu if has_rows => "use a name that ends in .tsv".into(),
            Json if has_rows => "use a name that ends in .jsonl: an object per line".into(),
            Html if has_rows => {
                Text::from(format_args!("use a name that ends in .tsv; {REPORT} writes a page"))
            }
            _ => format!("use a name that ends in {usual}").into(),
        };
        Err(Error::usage(message).hint(hint))
    }

    /// Returns the hint how to compress the output.
    fn pack(path: &Path, program: &str, option: &Opt) -> String {
        let plain = path.with_extension("");
        let is_streamed = matches!(Ending::of(&plain), None | Some(Tabs | Json));
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

impl Ending {
    /// Returns the format that the ending of a name selects.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut all = ENDINGS.iter();
        all.find(|(_, endings)| endings.contains(&extension.as_str())).map(|(ending, _)| *ending)
    }

    fn name(self) -> String {
        match self {
            Tabs => "tab-separated text".into(),
            Csv => "CSV".into(),
            JsonLines => "JSON Lines".into(),
            Parquet => "a Parquet table".into(),
            Arrow => "an Arrow table".into(),
            Json => "JSON".into(),
            Html => "an HTML page".into(),
            Tree => "a tree of Infomap".into(),
            FlowTree => "a tree of Infomap with links".into(),
            Clu => "a file of modules (clu)".into(),
            Packed(program) => format!("text packed by {program}"),
            Other(what, _) => what.into(),
        }
    }
}

/// Returns the program that packs files with the ending of `path`, if there is one.
pub(crate) fn packed_by(path: &Path) -> Option<&'static str> {
    match Ending::of(path) {
        Some(Packed(program)) => Some(program),
        _ => None,
    }
}

/// Returns the format of Infomap that the ending of `path` selects.
pub(crate) fn modules_by(path: &Path) -> Option<ModuleForm> {
    match Ending::of(path)? {
        Tree => Some(ModuleForm::Tree),
        FlowTree => Some(ModuleForm::FlowTree),
        Clu => Some(ModuleForm::Clu),
        _ => None,
    }
}

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

/// Returns the endings of tables, grouped by format, the usual one of each format first.
pub fn table_endings() -> impl Iterator<Item = &'static [&'static str]> {
    let is_table = |ending: &Ending| matches!(ending, Parquet | Arrow | JsonLines | Csv);
    ENDINGS.iter().filter(move |(ending, _)| is_table(ending)).map(|(_, endings)| *endings)
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
    fn every_ending_has_one_meaning() {
        let mut all: Vec<&str> =
            ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
