//! `--engine`: what does the work, and the options of Spark.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Engine options")]
pub(crate) struct Engine {
    /// What does the work: this program on this machine, or Apache Spark, which needs the Python package,
    /// PySpark and Java. Spark writes a directory of files, as no single file can be written by many
    /// machines; it reads lines, Parquet (*.parquet) and `table:NAME` of its catalog
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t = EngineName::Local)]
    pub(crate) engine: EngineName,
    /// spark: the cluster, such as spark://host:7077, yarn or `local[4]` [default: as Spark is configured]
    #[arg(long, value_name = "URL")]
    pub(crate) master: Option<String>,
    /// spark: about how many parts the graph is divided into [default: one per core, more for a large
    /// graph]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parts: Option<u32>,
    /// spark: a setting of Spark; may be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) spark_conf: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    Local,
    Spark,
}
