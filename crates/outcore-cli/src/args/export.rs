//! Arguments of `outcore export`.

use super::values::names;
use super::{Communities, Level, Resources};
use clap::Args;
use outcore::export::ExportFormat;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  outcore export web.graph -o web.graphml --communities communities.tsv
  outcore export web.graph -o - --format text | mcl - --abc -o clusters
  outcore export web.graph -o part.tsv --communities communities.tsv --members 3,7
  outcore export web.graph -o network.gexf --communities communities.tsv --quotient
  outcore export web.graph -o web.mtx --nodes names.txt")]
pub(crate) struct Export {
    /// A graph made by `outcore build`
    pub(crate) graph: PathBuf,
    #[arg(short, long, value_name = "FILE", help = output_help())]
    pub(crate) output: PathBuf,
    /// Format of the output [default: that of its name, or text]
    #[arg(long, value_parser = names::<ExportFormat>(), value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,
    /// Also write the nodes, a name per line below a header, in the order of their numbers, with the attributes that
    /// are known; a table if the name ends like one
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Communities of the graph, with numbers, as `cluster` writes them: an attribute of nodes in GraphML, GEXF and
    /// `--nodes`, as are `path`, `level` and `flow` of a tree of modules; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) communities: Option<PathBuf>,
    /// Only write the nodes of these communities, and the edges between them; with `--level 2` they are paths such as
    /// 1:3
    #[arg(long, value_name = "N,...", value_delimiter = ',', num_args = 1)]
    pub(crate) members: Vec<String>,
    /// Write the network of communities: nodes are communities, with their sizes; an edge is the weight between two, a
    /// loop that inside one
    #[arg(long)]
    pub(crate) quotient: bool,
    // Not a doc comment: rustdoc would take the default for a link.
    #[arg(
        long,
        value_name = "TEXT",
        help = "Skip lines of the communities that start with this text; an empty text skips none [default: #]"
    )]
    pub(crate) comment: Option<String>,
    #[command(flatten)]
    pub(crate) read: Communities,
    #[command(flatten)]
    pub(crate) level: Level,
    #[command(flatten)]
    pub(crate) resources: Resources,
}

/// Returns the help of `--output`, with the usual ending of each format.
fn output_help() -> String {
    let mut endings: Vec<String> =
        ExportFormat::all().map(|format| format!(".{}", format.ending())).collect();
    let last = endings.pop().unwrap_or_default();
    format!(
        "Where to write the graph; `-` for standard output. Its name selects the format: {} or {last}",
        endings.join(", ")
    )
}
