//! `--engine`: where a clustering runs, and the options of Spark.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Engine options")]
pub(crate) struct Engine {
    /// Where to run: `local` is this program on this machine; `spark` is Apache Spark, which needs the
    /// Python package, PySpark and Java. Spark writes a directory of files, because many machines
    /// cannot write a single file; it reads lines, Parquet (*.parquet) and `table:NAME` of its catalog
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t = EngineName::Local)]
    pub(crate) engine: EngineName,
    /// spark: URL of the cluster, such as spark://host:7077, yarn or `local[4]` [default: as Spark is
    /// configured]
    #[arg(long, value_name = "URL")]
    pub(crate) master: Option<String>,
    /// spark: largest number of edges that this program clusters in one task of the cluster; a larger graph is
    /// divided into parts [default: 100000000]
    #[arg(long, value_name = "N")]
    pub(crate) task_rows: Option<u64>,
    /// spark: divide a graph of any size into about N parts [default: one per core, more for a large graph]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parts: Option<u32>,
    /// spark: setting of Spark; can be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) spark_conf: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    Local,
    Spark,
}
