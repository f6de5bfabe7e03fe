//! Arguments of `outcore compare`.

use super::{Communities, Level, Resources};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    mut_arg("work_dir", |arg| arg.help(
        "Directory for temporary files [default: the directory of the output, or of A]"
    )),
    after_help = "\
Examples:
  outcore compare yesterday.tsv today.tsv
  outcore compare yesterday.tsv today.tsv --report changes.html
  outcore compare monday.tsv tuesday.tsv wednesday.tsv --report week.html
  outcore compare a.tsv b.parquet -o overlaps.csv --moved moved.tsv"
)]
pub(crate) struct Compare {
    /// First result: nodes and their communities, as lines or a table, as `cluster` and other programs write
    /// them, also compressed; `-` for standard input
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Second result, in any of these forms
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Further results: each is compared with the one before it
    #[arg(value_name = "C")]
    pub(crate) more: Vec<PathBuf>,
    /// Name communities by their representatives: one file for each result, in their order, which `cluster` wrote
    /// to `--representatives` or `--summary`
    #[arg(long, value_name = "FILE,..", value_delimiter = ',', num_args = 1)]
    pub(crate) representatives: Vec<PathBuf>,
    /// Also write all pairs of communities that share nodes: `a<TAB>b<TAB>shared<TAB>size_a<TAB>size_b<TAB>jaccard`. A
    /// table if the name ends like one: .parquet, .arrow, .jsonl or .csv
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also write the nodes that moved: `node<TAB>a<TAB>b`, with their communities in A and in B. A table if the
    /// name ends like one, as for `--output`
    #[arg(long, value_name = "FILE")]
    pub(crate) moved: Option<PathBuf>,
    /// Also write a report, as JSON, or as an HTML page with a drawing if the name ends in .html
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Begin text of `--output` and `--moved` with a line of the names of its columns, as CSV and tables always have
    #[arg(long)]
    pub(crate) output_header: bool,
    // Not a doc comment: rustdoc would take the default for a link.
    #[arg(
        long,
        value_name = "TEXT",
        help = "Skip lines that start with this text; an empty text skips none [default: #]"
    )]
    pub(crate) comment: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: Communities,
    #[command(flatten)]
    pub(crate) level: Level,
    #[command(flatten)]
    pub(crate) resources: Resources,
}

impl Compare {
    /// Returns all results, in their order.
    pub(crate) fn results(&self) -> Vec<&PathBuf> {
        [&self.a, &self.b].into_iter().chain(&self.more).collect()
    }
}
