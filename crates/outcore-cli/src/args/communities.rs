//! Options for reading files of communities: arguments, and conversion to the engine's options.

use super::values::names;
use clap::Args;
use outcore::error::Opt;
use outcore::error::opt::{COMMUNITY_COLUMNS, COMMUNITY_FORMAT, FIXED, INITIAL, MATCH};
use outcore::input::{
    Column, CommunityFormat, CommunityInput, FileColumns, InputOptions, LAST_LEVEL,
    any_has_comments,
};
use outcore::io::Files;
use outcore::{Error, Result};
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of files of communities")]
pub(crate) struct Communities {
    /// Columns of the node and of its community in files of communities, by name or number from 1; those of a single
    /// file can be given after its name: `cells.csv:barcode,leiden` [default: those that the header names so, or the
    /// only two]
    #[arg(long, value_name = "NODE,COMMUNITY", value_delimiter = ',', num_args = 1)]
    pub(crate) community_columns: Option<Vec<Column>>,
    #[arg(
        long,
        help = CommunityFormat::HELP,
        value_parser = names::<CommunityFormat>(),
        value_name = "FORMAT",
        default_value = "auto"
    )]
    pub(crate) community_format: CommunityFormat,
    #[arg(skip)]
    pub(crate) of_files: Vec<FileColumns>,
}

/// Level of the modules that are communities.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of files of communities")]
pub(crate) struct Level {
    /// Level of the modules that are communities, in files with paths of modules, as `.tree` and `--levels tree` have:
    /// 1 is the top, `last` that of the modules that hold nodes [default: 1]
    #[arg(long, value_name = "N", value_parser = level)]
    pub(crate) level: Option<u32>,
}

/// Parses the number of a level.
fn level(text: &str) -> std::result::Result<u32, &'static str> {
    let number = if text == "last" { Some(LAST_LEVEL) } else { text.parse().ok() };
    number.filter(|&number| number > 0).ok_or("expected a number from 1, the top, or `last`")
}

impl Communities {
    /// Returns the engine's options, with the prefix of comments that was given.
    pub(crate) fn input(&self, comment: Option<&str>) -> CommunityInput {
        CommunityInput {
            shares_comment: false,
            comment: comment.unwrap_or("#").as_bytes().to_vec(),
            columns: self.community_columns.clone(),
            of_files: self.of_files.clone(),
            format: self.community_format,
            level: None,
        }
    }

    /// Like [`Self::input`], for several files, and edges that are read with the same prefix: it is refused only if none
    /// of them has comments.
    pub(crate) fn shared<'p>(
        &self,
        comment: Option<&str>,
        files: &Files,
        edges: Option<&InputOptions>,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> CommunityInput {
        let input = self.input(comment);
        let all = paths.into_iter().map(|path| input.of(path, false));
        let all: Vec<InputOptions> = all.chain(edges.cloned()).collect();
        let shares_comment = comment.is_some() && all.len() > 1 && any_has_comments(files, all);
        CommunityInput { shares_comment, ..input }
    }

    /// Returns one of these options that was given, if any was.
    pub(crate) fn given(&self) -> Option<Opt> {
        let given = [
            (self.community_columns.is_some(), COMMUNITY_COLUMNS),
            (self.community_format != CommunityFormat::Auto, COMMUNITY_FORMAT),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// Refuses these options where no file of communities is given; none is ignored silently.
    pub(crate) fn refuse_without_files(&self) -> Result<()> {
        let Some(option) = self.given() else { return Ok(()) };
        Err(Error::usage(format_args!("{option} is for files of communities, but none is given"))
            .hint(format_args!("leave it out, or give one to {INITIAL}, {FIXED} or {MATCH}")))
    }
}
