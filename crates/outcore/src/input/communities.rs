//! Options of files of communities, which all commands that read such files share.

use super::Header;
use super::options::{Column, EdgeFormat, InputOptions, Rows};
use crate::error::opt::COMMUNITY_COLUMNS;
use crate::error::{Error, Result};
use std::path::Path;

/// Format of a file of communities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum CommunityFormat {
    /// As its first lines say.
    #[default]
    Auto,
    /// A node and its community per line, or per row of a table.
    Lines,
    /// A community per line: its nodes.
    Clusters,
    /// The representative of a community and one of its nodes per line, as MMseqs2 writes.
    Pairs,
    /// A node and its path per line, as `--levels tree` writes: its first part is the community.
    Levels,
    /// Vector of Pajek, or the columns of Infomap's `.clu`.
    Clu,
    /// Tree of Infomap: the modules that hold nodes are the communities.
    Tree,
    /// Clusters of CD-HIT.
    Clstr,
    /// Records of UCLUST, which vsearch and usearch write.
    Uc,
    /// Matrix of mcl with a column per cluster.
    Mcl,
    /// An object per line.
    Jsonl,
}

impl CommunityFormat {
    /// Help text of the option `--community-format`.
    pub const HELP: &str = "Format of the files of communities: `lines` has a node and its community per line, \
         `clusters` all nodes of a community, `pairs` a representative and one of its nodes, `levels` a node and a \
         path such as 3:0:5. `auto` recognizes these and the files of Pajek and Infomap (clu, tree), CD-HIT (clstr), \
         vsearch (uc) and mcl by what they contain";
}

/// How files of communities are read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommunityInput {
    /// Prefix of lines to ignore; empty for none.
    pub comment: Vec<u8>,
    /// Columns of the node and of its community; as the file says if not given.
    pub columns: Option<Vec<Column>>,
    /// Format of the files.
    pub format: CommunityFormat,
}

impl Default for CommunityInput {
    fn default() -> Self {
        Self { comment: b"#".to_vec(), columns: None, format: CommunityFormat::Auto }
    }
}

impl CommunityInput {
    /// Returns how a result is read back: communities are in column 2 and nothing is a comment.
    pub fn of_result() -> Self {
        let columns = Some(vec![Column::Number(1), Column::Number(2)]);
        Self { comment: Vec::new(), columns, format: CommunityFormat::Auto }
    }

    /// Checks that the options can be used together.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self) -> Result<()> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let refuse = |message: &str| {
            let hint = format_args!("use {}", COMMUNITY_COLUMNS.of("NODE,COMMUNITY"));
            Err(Error::usage(format_args!("{COMMUNITY_COLUMNS} {message}")).hint(hint))
        };
        if self.format == CommunityFormat::Pairs {
            return refuse("contradicts the columns of pairs");
        }
        match &columns[..] {
            [node, community] if node == community => {
                refuse("uses the same column for node and community")
            }
            columns if columns.contains(&Column::Number(0)) => {
                refuse("uses column 0, but columns are numbered from 1")
            }
            [_, _] => Ok(()),
            _ => refuse("takes two columns, that of the node and that of its community"),
        }
    }

    #[doc(hidden)]
    /// Returns the options of reading `path`. `numbered` indicates whether communities must be numbers.
    pub fn of(&self, path: &Path, numbered: bool) -> InputOptions {
        let is_lines = self.format == CommunityFormat::Lines;
        InputOptions {
            paths: vec![path.to_path_buf()],
            format: if is_lines { EdgeFormat::Lines } else { EdgeFormat::Auto },
            community_format: self.format,
            columns: self.columns.clone(),
            comment: (self.comment != b"#").then(|| self.comment.clone()),
            header: Header::Auto,
            ignore_weights: true,
            rows: if numbered { Rows::NumberedMemberships } else { Rows::Memberships },
            ..InputOptions::default()
        }
    }
}
