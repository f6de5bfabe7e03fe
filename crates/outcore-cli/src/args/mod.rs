//! Every command and option, with its help.
//!
//! Groups of options that several commands share come last in a command: otherwise the heading of a
//! group would also apply to the options after it.

mod columns;
mod communities;
mod compare;
mod elsewhere;
mod engine;
mod export;
mod given;
#[cfg(feature = "lab")]
pub(crate) mod lab;
#[cfg(not(feature = "lab"))]
#[path = "no_lab.rs"]
pub(crate) mod lab;
mod labels;
mod memory;
mod messages;
pub(crate) mod method;
mod refused;
mod values;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use columns::GivenColumns;
pub(crate) use communities::{Communities, Level};
pub(crate) use compare::Compare;
pub(crate) use engine::{Engine, EngineName};
pub(crate) use export::Export;
pub(crate) use labels::Labels;
pub(crate) use memory::Memory;
pub(crate) use messages::{Messages, Progress};
pub(crate) use method::Method;
use outcore::cluster::WellConnected;
use outcore::error::Opt;
use outcore::generate::{EdgeOrder, NameKind};
use outcore::graph::Duplicates;
use outcore::input::{
    Column, Delimiter, EdgeFormat, Header, NodeNaming, OnBadLine, WeightTransform,
};
use outcore::job::{Normalize, Unnamed};
use outcore::plan;
use outcore::present::{LevelForm, RowForm, Small};
pub(crate) use refused::{refused, unknown_command, words};
use std::path::PathBuf;
pub(crate) use values::count;
use values::{names, number, spark_cluster};

const EXAMPLES: &str = "\
Examples:
  outcore cluster edges.tsv -o communities.tsv
  zcat edges.tsv.gz | outcore cluster - -o communities.tsv --memory 4GiB
  outcore cluster hits.m8.gz --columns 1,2,12 -o communities.tsv

Exit status:
  0         done
  1         failed: a file cannot be read or written
  2         wrong usage of the command
  3         bad input data
  4         not enough memory or disk
  130       interrupted by Ctrl-C; 129 by SIGHUP, 143 by SIGTERM

Run `outcore help <COMMAND>` for details.";

/// Find communities in graphs larger than memory
#[derive(Debug, Parser)]
#[command(name = "outcore", version, max_term_width = 88, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) messages: Messages,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find communities in edge lists or in a graph made by `build`
    Cluster(Box<Cluster>),
    /// Convert edge lists into a graph on disk
    Build(Build),
    /// Estimate the time, memory and disk a job needs, without running it
    Plan(Box<Plan>),
    /// Measure the quality of communities, and compare them with others
    Score(Score),
    /// Write a graph, a part of it, or the network of its communities, for other programs
    Export(Export),
    /// Compare two results: which nodes moved, and what became of each community
    Compare(Compare),
    /// Describe the columns of a file of edges, a graph, the work directory of a job, the profile of a disk or a node
    /// of a result
    Inspect(Inspect),
    /// List the formats of edges: how each is recognized, and which columns are read
    Formats(Formats),
    /// Generate a random graph, with its communities if the model has any
    Generate(Generate),
    /// Measure ways to read and write files on your own disk
    Lab(lab::Lab),
    /// Print a shell completion script
    Completions {
        /// Shell to complete commands in
        shell: Shell,
    },
    /// Print manual pages
    Man(Pages),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  outcore cluster edges.tsv -o communities.tsv
  outcore cluster 'edges/*.tsv.gz' -o communities.tsv --memory 4GiB
  outcore cluster web.graph -o communities.tsv --seed 7
  outcore cluster web.graph -o today.tsv --initial before.tsv --match before.tsv
  outcore cluster web.graph -o tree.tsv --levels tree
  outcore cluster pairs.parquet --method components --min-weight 0.9 -o entities.tsv --prefer first --keep ids.txt
  outcore cluster hdfs:///edges -o hdfs:///found --engine spark --work-dir hdfs:///jobs
  outcore cluster edges.csv --columns from,to,strength -o - | sort -k2n")]
pub(crate) struct Cluster {
    /// Edge lists (text, also compressed; Parquet and Arrow; globs; s3:// and https:// addresses;
    /// `-` for standard input), or one graph made by `outcore build`
    #[arg(required = true, value_name = "EDGES|GRAPH")]
    pub(crate) inputs: Vec<PathBuf>,
    #[arg(short, long, value_name = "FILE", help = output_help())]
    pub(crate) output: PathBuf,
    /// Also write a report, as JSON, or as an HTML page if the name ends in .html
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Ignore saved progress and start from scratch; without this option, a job that was stopped
    /// resumes from its last checkpoint
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) method: Method,
    #[command(flatten)]
    pub(crate) labels: Labels,
    #[command(flatten)]
    pub(crate) present: Present,
    #[command(flatten)]
    pub(crate) read: Communities,
    #[command(flatten)]
    pub(crate) resources: Resources,
    #[command(flatten)]
    pub(crate) engine: Engine,
}

/// Returns the help of `--output`, with the formats available.
fn output_help() -> String {
    let endings = outcore::output::table_endings().filter_map(|all| all.first());
    let mut endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    let last = endings.pop().unwrap_or_default();
    format!(
        "Where to write `node<TAB>community`; `-` for standard output. A name that ends in {} or {last} selects \
         that format",
        endings.join(", ")
    )
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  outcore build edges.tsv -o web.graph
  outcore build hits.m8.gz --columns 1,2,12 --duplicates max -o families.graph
  outcore build today.tsv --append web.graph -o web-today.graph")]
pub(crate) struct Build {
    /// Edge lists (text, also compressed; Parquet and Arrow; globs; s3:// and https:// addresses;
    /// `-` for standard input)
    #[arg(required = true)]
    pub(crate) edges: Vec<PathBuf>,
    /// Where to write the graph; it must not exist yet
    #[arg(short, long, value_name = "GRAPH")]
    pub(crate) output: PathBuf,
    /// Append the edges to this graph, which is not modified: the result is a new graph of all edges, in a
    /// fraction of the time. The options that decide how edges count are those of this graph
    #[arg(long, value_name = "GRAPH")]
    pub(crate) append: Option<PathBuf>,
    /// Also write a report, as JSON, or as an HTML page if the name ends in .html
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Ignore saved progress and start from scratch; without this option, a job that was stopped
    /// resumes from its last checkpoint
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) resources: Resources,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("nodes", |arg| arg.value_name("FILE|N").help(
        "Also include the nodes of this file, as for `cluster`; with `--edges`, the number of nodes"
    )),
    after_help = "\
Examples:
  outcore plan edges.tsv --memory 4GiB
  outcore plan edges.tsv --build
  outcore plan --nodes 2e9 --edges 20e9 --memory 128GiB --threads 16
  outcore plan edges.tsv --spark 8,4,32GiB"
)]
pub(crate) struct Plan {
    /// Edge lists (text, also compressed; Parquet and Arrow; globs; s3:// and https:// addresses)
    #[arg(value_name = "EDGES")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Plan for this number of distinct edges, and `--nodes`, instead of an input
    #[arg(long = "edges", value_name = "N", value_parser = count)]
    pub(crate) edge_count: Option<u64>,
    /// With `--edges`: mean length of a name in bytes [default: that of numbers from 0]
    #[arg(long, value_name = "X", requires = "edge_count")]
    pub(crate) name_bytes: Option<f64>,
    /// With `--edges`: edges have weights
    #[arg(long, requires = "edge_count")]
    pub(crate) weighted: bool,
    /// Plan `outcore build`, without clustering
    #[arg(long, conflicts_with_all = ["Method", "Labels", "Present", "Communities"])]
    pub(crate) build: bool,
    /// With `--build`: the edges are added to those of this graph
    #[arg(long, value_name = "GRAPH", requires = "build", conflicts_with = "edge_count")]
    pub(crate) append: Option<PathBuf>,
    /// Compare with a Spark cluster: number of workers, and cores and memory of each, such as 8,4,32GiB
    #[arg(long, value_name = "WORKERS,CORES,MEMORY", value_parser = spark_cluster, conflicts_with = "build")]
    pub(crate) spark: Option<plan::Cluster>,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) method: Method,
    #[command(flatten)]
    pub(crate) labels: Labels,
    #[command(flatten)]
    pub(crate) present: Present,
    #[command(flatten)]
    pub(crate) read: Communities,
    #[command(flatten)]
    pub(crate) resources: Resources,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("work_dir", |arg| arg.help(
        "Directory for temporary files [default: the directory of the communities]"
    )),
    after_help = "\
Examples:
  outcore score web.graph communities.tsv
  outcore score web.graph communities.tsv --against truth.tsv --json"
)]
pub(crate) struct Score {
    /// A graph made by `outcore build`
    pub(crate) graph: PathBuf,
    /// Nodes and their communities: lines or a table, as `cluster` and other programs write them, also
    /// compressed; `-` for standard input
    pub(crate) communities: PathBuf,
    /// Also compare with these communities, over the nodes in both
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Resolution of modularity and CPM; for CPM, in units of the mean weight of an edge
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub(crate) resolution: f64,
    /// Code length of a directed graph: count teleportation as flow, as `cluster --recorded-teleportation` does
    #[arg(long)]
    pub(crate) recorded_teleportation: bool,
    /// Also count well-connected communities, whose minimum cut exceeds this number of edges: log10, log2, sqrt or n of
    /// the number of nodes, optionally scaled, such as =0.01n, or a number, such as =2; and those that one edge holds
    /// together
    #[arg(
        long,
        value_name = "BOUND",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "log10"
    )]
    pub(crate) well_connected: Option<WellConnected>,
    /// What to do with nodes that are in no community
    #[arg(long, value_parser = names::<Unnamed>(), value_name = "ACTION", default_value = "stop")]
    pub(crate) unnamed: Unnamed,
    // Not a doc comment: rustdoc would take the default for a link.
    #[arg(
        long,
        value_name = "TEXT",
        help = "Skip lines that start with this text; an empty text skips none [default: #]"
    )]
    pub(crate) comment: Option<String>,
    /// Print the score as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: Communities,
    #[command(flatten)]
    pub(crate) level: Level,
    #[command(flatten)]
    pub(crate) resources: Resources,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("community_columns", |arg| arg.requires("node")),
    mut_arg("community_format", |arg| arg.requires("node"))
)]
pub(crate) struct Inspect {
    /// A file of edges, whose columns are shown, each with values, its use and why; a graph made by `outcore
    /// build`; a directory `.RESULT.outcore`, which has the state of a job that runs or was stopped; a
    /// profile made by `outcore lab tune`; or, with `--node`, a file of communities
    #[arg(value_name = "EDGES|GRAPH|WORK-DIR|PROFILE|RESULT")]
    pub(crate) path: PathBuf,
    /// Show the community of this node, the groups inside it that hold the node, and their sizes
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) node: Option<String>,
    /// Also show the representative of the community, from the file that `cluster` wrote to
    /// `--representatives` or `--summary`
    #[arg(long, value_name = "FILE", requires = "node")]
    pub(crate) representatives: Option<PathBuf>,
    /// Read the whole graph and compare its checksums
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print the description as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) communities: Communities,
}

#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// Print the table as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(subcommand_value_name = "MODEL", subcommand_help_heading = "Models")]
pub(crate) struct Generate {
    #[command(subcommand)]
    pub(crate) model: GenerateModel,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateModel {
    /// Communities with power-law sizes, and a share of edges between them
    Planted(GeneratePlanted),
    /// A recursive matrix (R-MAT): hubs, and no known communities
    Rmat(GenerateRmat),
}

#[derive(Debug, Args)]
pub(crate) struct GeneratePlanted {
    /// Number of nodes; each has an edge if there are at least as many edges as nodes
    #[arg(long, value_name = "N")]
    pub(crate) nodes: u64,
    /// Number of edges; the same edge may occur more than once
    #[arg(long, value_name = "N")]
    pub(crate) edges: u64,
    /// Share of edges that lead to any node instead of to one in the same community
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) mixing: f64,
    /// Size of the smallest community
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) community_min: u64,
    /// Size of the largest community
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) community_max: u64,
    /// Exponent of community sizes: a size s occurs in proportion to s to the power of minus this
    #[arg(long, value_name = "X", default_value_t = 2.0)]
    pub(crate) community_exponent: f64,
    /// Order of the edges: random, or all edges of a source together as in search results
    #[arg(long, value_parser = names::<EdgeOrder>(), default_value = "shuffled")]
    pub(crate) order: EdgeOrder,
    /// Write every edge again, in the other direction and with the same weight, after all edges
    #[arg(long)]
    pub(crate) both_directions: bool,
    /// Also write `node<TAB>community` for every node
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: GenerateFormat,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateRmat {
    /// Binary logarithm of the number of nodes; some of them will have no edge
    #[arg(long, value_name = "N")]
    pub(crate) scale: u32,
    /// Edges per node
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) edge_factor: u64,
    #[command(flatten)]
    pub(crate) format: GenerateFormat,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateFormat {
    /// Where to write the edges; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Names of nodes: similar to accession numbers of sequences, or numbers from 0
    #[arg(long, value_parser = names::<NameKind>(), default_value = "string")]
    pub(crate) names: NameKind,
    /// Add weights with three digits, larger inside communities
    #[arg(long)]
    pub(crate) weights: bool,
    /// Seed for all random choices; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Maximum number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  outcore man lab tune | man -l -
  outcore man --dir ~/.local/share/man/man1")]
pub(crate) struct Pages {
    /// Command whose page to print, such as `lab tune`; without it, the page of `outcore`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to this directory instead, which is created if it does not exist
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input options")]
pub(crate) struct Input {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// What to do with a line that cannot be read
    #[arg(long, value_parser = names::<OnBadLine>(), value_name = "ACTION", default_value = "stop")]
    pub(crate) on_bad_line: OnBadLine,
    /// Write each skipped line, with its position and the reason, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Weight of an edge that occurs more than once
    #[arg(long, value_parser = names::<Duplicates>(), value_name = "RULE", default_value = "sum")]
    pub(crate) duplicates: Duplicates,
    /// What to do with an edge from a node to itself
    #[arg(long, value_enum, value_name = "ACTION", default_value_t = SelfLoops::Drop)]
    pub(crate) self_loops: SelfLoops,
    /// Keep the direction of edges
    #[arg(long)]
    pub(crate) directed: bool,
    /// Drop edges with a smaller weight, after the transformation; also applies to a graph. Several values, such as
    /// 0.95,0.9,0.8, give one result each, and the edges are read once: `-o c.tsv` writes c.0.95.tsv and so on, or,
    /// for components with `--levels`, all of them as columns of c.tsv
    #[arg(long, value_name = "W,..", allow_negative_numbers = true, value_parser = number, value_delimiter = ',', num_args = 1)]
    pub(crate) min_weight: Option<Vec<f64>>,
    /// Drop edges with a larger weight, after the transformation
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = number)]
    pub(crate) max_weight: Option<f64>,
    /// Normalize weights, after the thresholds: `self-score` divides by the smaller self score of the two
    /// nodes, which is the weight of a node's self hit (`A A 723`); use it with `--duplicates max`
    #[arg(long, value_parser = names::<Normalize>(), value_name = "HOW", default_value = "none")]
    pub(crate) normalize: Normalize,
    /// Also include the nodes of this file, even those without an edge: a name per line, the column that a
    /// header or a table calls `id`, `node` or `name`, or FASTA; `FILE:doc_id` names another column. New nodes follow
    /// those of the edges
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub(crate) nodes: Option<PathBuf>,
    #[arg(skip)]
    pub(crate) node_column: Option<Column>,
}

/// How a file of edges is read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input options")]
pub(crate) struct Reading {
    #[arg(
        long,
        help = EdgeFormat::HELP,
        value_parser = names::<EdgeFormat>(),
        value_name = "FORMAT",
        default_value = "auto"
    )]
    pub(crate) format: EdgeFormat,
    /// Columns of the source, the target and the weight, by name or number from 1 [default: as the
    /// file says]
    #[arg(long, value_name = "SOURCE,TARGET[,WEIGHT]", value_delimiter = ',', num_args = 1)]
    pub(crate) columns: Option<Vec<Column>>,
    /// Sources and targets are nodes of two kinds, so that equal names in both columns are different nodes.
    /// Names then begin with their kind, such as `user_id:1` or `source:1`
    #[arg(long)]
    pub(crate) two_mode: bool,
    /// Names of nodes that have numbers or ids, and labels, in Pajek, GML, GraphML and GEXF [default: their labels if each
    /// of at most 262,144 nodes has one of its own, otherwise their numbers]
    #[arg(long, value_parser = names::<NodeNaming>(), value_name = "WHICH")]
    pub(crate) names: Option<NodeNaming>,
    /// Separator of columns: one character, `tab`, or `spaces` for any run of spaces and tabs [default:
    /// detected]
    #[arg(long, value_name = "TEXT")]
    pub(crate) delimiter: Option<Delimiter>,
    // Not a doc comment: rustdoc would take the default for a link.
    #[arg(
        long,
        value_name = "TEXT",
        help = "Skip lines that start with this text; an empty text skips none [default: #]"
    )]
    pub(crate) comment: Option<String>,
    /// Whether the first line names the columns
    #[arg(long, value_parser = names::<Header>(), value_name = "WHEN", default_value = "auto")]
    pub(crate) header: Header,
    /// Give every edge weight 1
    #[arg(long)]
    pub(crate) ignore_weights: bool,
    /// Transformation of weights as they are read: `log` is ln(1 + w), for counts; `neglog10` is
    /// -log10(w), for E-values (at most 200, also for 0; no edge for 1 and more); `reciprocal` is 1/w
    /// and `similarity` 1/(1 + w), for distances
    #[arg(long, value_parser = names::<WeightTransform>(), value_name = "HOW", default_value = "none")]
    pub(crate) weight_transform: WeightTransform,
    /// Options of the input that were given, in the order in which they are refused.
    #[arg(skip)]
    pub(crate) given: Vec<Opt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SelfLoops {
    Keep,
    Drop,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Result options")]
pub(crate) struct Present {
    /// Minimum number of nodes in a community; `--small` selects what to do with smaller ones
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min_size: u32,
    /// What to do with the nodes of communities smaller than `--min-size`: leave them out, or make each a
    /// community of its own
    #[arg(long, value_parser = names::<Small>(), value_name = "ACTION", default_value = "drop", requires = "min_size")]
    pub(crate) small: Small,
    /// Keep the numbers of an earlier result: a community takes the number of the one with which it
    /// shares most nodes, and new ones get numbers above the largest
    #[arg(long = "match", value_name = "FILE[:NODE,COMMUNITY]")]
    pub(crate) earlier: Option<PathBuf>,
    /// Also write `community<TAB>node<TAB>size` with the representative of each community: the node with
    /// the most weight to others in it. A table if the name ends like one, as for `--output`
    #[arg(long, value_name = "FILE")]
    pub(crate) representatives: Option<PathBuf>,
    /// Which node represents a community: the one with the largest number in this file of `node<TAB>number`, such as
    /// the longest or newest record, equal ones by name, or `first`, the first in the input [default: the one with the
    /// most weight to others]
    #[arg(long, value_name = "FILE[:NODE,NUMBER]|first")]
    pub(crate) prefer: Option<PathBuf>,
    /// Also write the nodes to keep, one of each community: its representative, and nodes that are in none. A table if
    /// the name ends like one
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// Also write all other nodes: those that `--keep` leaves out
    #[arg(long, value_name = "FILE")]
    pub(crate) drop: Option<PathBuf>,
    /// Components: also write `node<TAB>weight`, in an order in which the components at every threshold are together:
    /// the weight at which a node joins those before it, 0 for the first of a component (single linkage)
    #[arg(long, value_name = "FILE")]
    pub(crate) heights: Option<PathBuf>,
    /// Also write a table of the communities, largest first: size, representative, edges and weight inside,
    /// weight to the outside, density, conductance, stability with `--stability`, and the neighbor to
    /// which most of the outer weight leads. Text, CSV, JSON Lines, Parquet or Arrow by its ending
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Also write what is inside communities, for methods with levels, or components at several values of
    /// `--min-weight`, a column for each: by map-equation the tree of modules
    /// that describes a walk in the fewest bits, at whose top communities are then; otherwise groups on
    /// the way to communities. `columns`: `node<TAB>community<TAB>group...`, each column subdividing the
    /// previous one; `tree`: `node<TAB>3:0:5`, each number counted from 0 within the previous one
    #[arg(long, value_parser = names::<LevelForm>(), value_name = "FORM")]
    pub(crate) levels: Option<LevelForm>,
    /// Contents of a row: `node` is a node and its community; `community` all nodes of a community,
    /// separated by tabs, as mcl writes; `pair` the representative of a community and one of its nodes, as
    /// MMseqs2 writes
    #[arg(long, value_parser = names::<RowForm>(), value_name = "ROW", default_value = "node")]
    pub(crate) rows: RowForm,
    /// Also write the weight of each node's edges inside its community, in an additional column
    #[arg(long)]
    pub(crate) member_weights: bool,
    /// Also write the flow of each node, in an additional column: the share of the steps of a random walk that end there
    #[arg(long)]
    pub(crate) flow: bool,
    /// Begin text with a line of the names of its columns, as CSV and tables always have
    #[arg(long)]
    pub(crate) output_header: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Resource options")]
pub(crate) struct Resources {
    /// Memory limit, such as 512MiB or 4GiB, or a share of the free memory
    #[arg(short, long, value_name = "SIZE|PERCENT", default_value_t)]
    pub(crate) memory: Memory,
    /// Maximum number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Directory for temporary files [default: the directory of the output]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,
    /// Disk profile made by `outcore lab tune`; `none` for settings that are safe everywhere [default: the
    /// one stored for this disk, if any]
    #[arg(long, value_name = "FILE|none")]
    pub(crate) profile: Option<PathBuf>,
}

/// Returns the value of `--threads`, or one per core.
pub(crate) fn threads(given: Option<u16>) -> usize {
    given.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[cfg(feature = "lab")]
    #[test]
    fn options_in_messages_exist() {
        fn names(command: &clap::Command, found: &mut Vec<String>) {
            found.extend(
                command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned),
            );
            command.get_subcommands().for_each(|inner| names(inner, found));
        }
        let mut found = Vec::new();
        names(&Cli::command(), &mut found);
        for option in outcore::error::opt::ALL {
            assert!(found.iter().any(|name| *name == option.name), "{option}");
        }
    }
}
