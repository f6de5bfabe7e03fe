//! `outcore inspect RESULT --node NAME`: the community of a node, the groups inside it that hold the node, and their sizes.
//!
//! ```text
//!  first pass: the row of the node --> its community and groups --second pass--> their sizes
//! ```
//! A result is read as `compare` reads it. Memory is that of a batch. Each column of groups takes two passes of its own.

use crate::args::Inspect;
use crate::representatives::{for_each, is_of_columns, open, representatives};
use crate::screen::print::json;
use outcore::error::Opt;
use outcore::error::opt::{COMMENT, COMMUNITY_COLUMNS, COMMUNITY_FORMAT, MIN_SIZE, NODE, VERIFY};
use outcore::input::{Column, CommunityFormat, CommunityInput, LAST_LEVEL};
use outcore::io::Files;
use outcore::progress::{Event, Observer, notify};
use outcore::units::{format_count, format_counted};
use outcore::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Description of a node, as `--json` prints it.
#[derive(serde::Serialize)]
struct NodeDescription<'a> {
    schema: u32,
    kind: &'static str,
    path: &'a Path,
    node: &'a str,
    /// Its community, as the file calls it.
    community: String,
    /// Number of the nodes of the community.
    size: u64,
    /// Number of all nodes in the file.
    node_count: u64,
    /// The groups inside the community that hold the node, coarsest first.
    groups: Vec<Group>,
    /// The node that represents the community, if it is known.
    representative: Option<String>,
}

/// Group of nodes.
#[derive(serde::Serialize)]
struct Group {
    /// Its number or its path, as the file calls it.
    group: String,
    size: u64,
}

/// Returns the description of a node, as text or as JSON.
pub(super) fn inspect_node(
    files: &Files,
    arguments: &Inspect,
    node: &str,
    observer: &dyn Observer,
) -> Result<String> {
    refuse(files, arguments)?;
    let Inspect { path, communities, reading, .. } = arguments;
    // Of a path, all parts are read.
    let input =
        CommunityInput { level: Some(LAST_LEVEL), ..communities.input(reading.comment.as_deref()) };
    let source = Source { files, path, observer };
    let told = open(files, path, &input)?.describe();
    told.iter().try_for_each(|text| notify(observer, Event::Notice { text }))?;
    let Some(found) = source.found(&input, node, false)? else {
        return Err(source.unknown(&input, node)?);
    };
    let mut groups = found.groups;
    let (community, size) = (groups.remove(0), found.node_count);
    groups.extend(source.groups_in_columns(&input, node)?);
    let representative = match &arguments.representatives {
        Some(path) => {
            let wanted = BTreeSet::from([community.group.clone()]);
            representatives(files, path, &wanted, observer)?.remove(&community.group)
        }
        // Pairs have a node, and what represents its community.
        None if input.format == CommunityFormat::Pairs => Some(community.group.clone()),
        None => None,
    };
    let description = NodeDescription {
        schema: 1,
        kind: "node",
        path,
        node,
        community: community.group,
        size: community.size,
        node_count: size,
        groups,
        representative,
    };
    if arguments.json { json(&description) } else { Ok(table(&description)) }
}

fn table(of: &NodeDescription<'_>) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    row("node", of.node);
    row("community", &of.community);
    let all = format_counted(of.node_count, "node", "nodes");
    row("size", &format!("{} of {all}", format_count(of.size)));
    for (at, Group { group, size }) in (1..).zip(&of.groups) {
        row(&format!("group{at}"), &format!("{group}, {}", format_counted(*size, "node", "nodes")));
    }
    let unknown = "not in this file; --representatives FILE tells it";
    row("representative", of.representative.as_deref().unwrap_or(unknown));
    text
}

/// Refuses what is no file of communities, and options of others.
fn refuse(files: &Files, arguments: &Inspect) -> Result<()> {
    let path = arguments.path.display();
    if files.entry(&arguments.path)?.is_directory {
        let message =
            format_args!("{NODE} is for files of communities, but `{path}` is a directory");
        return Err(Error::usage(message).hint(
            "`outcore cluster GRAPH -o RESULT` writes the communities of a graph to a file",
        ));
    }
    let is_for_edges = |option: &&Opt| **option != COMMENT;
    let verify = arguments.verify.then_some(VERIFY);
    match verify.or(arguments.reading.given.iter().find(is_for_edges).cloned()) {
        None => Ok(()),
        Some(option) => {
            let message = format_args!("{option} has no effect with {NODE}");
            Err(Error::usage(message).hint(format_args!(
                "leave it out; {COMMUNITY_COLUMNS} and {COMMUNITY_FORMAT} say how a file of communities is read"
            )))
        }
    }
}

/// File of communities.
#[derive(Clone, Copy)]
struct Source<'a> {
    files: &'a Files,
    path: &'a Path,
    observer: &'a dyn Observer,
}

/// Groups that hold a node.
struct Found {
    /// From the largest to the smallest: the parts of a path, or one community.
    groups: Vec<Group>,
    /// Number of all nodes in the file.
    node_count: u64,
}

impl Source<'_> {
    /// Finds the groups of a node; `None` if the file does not name it.
    fn found(&self, input: &CommunityInput, node: &str, has_paths: bool) -> Result<Option<Found>> {
        let reader = open(self.files, self.path, input)?;
        let has_paths = has_paths || reader.has_paths();
        let mut own = None;
        for_each(reader, self.observer, |name, community| {
            own = (name == node.as_bytes()).then(|| community.to_vec());
            Ok(own.is_none())
        })?;
        let Some(own) = own else { return Ok(None) };
        let ends = ends(&own, has_paths);
        let (mut sizes, mut node_count) = (vec![0; ends.len()], 0);
        for_each(open(self.files, self.path, input)?, self.observer, |name, community| {
            if name == node.as_bytes() && community != own {
                return Err(self.contradiction(node));
            }
            node_count += 1;
            let is_inside = |&&end: &&usize| {
                let next = community.get(end);
                community.get(..end) == Some(&own[..end])
                    && next.is_none_or(|byte| has_paths && *byte == b':')
            };
            let depth = ends.iter().take_while(is_inside).count();
            sizes[..depth].iter_mut().for_each(|size| *size += 1);
            Ok(true)
        })?;
        let text = |end: usize| String::from_utf8_lossy(&own[..end]).into_owned();
        let groups = ends.iter().zip(sizes).map(|(&end, size)| Group { group: text(end), size });
        Ok(Some(Found { groups: groups.collect(), node_count }))
    }

    /// Finds the groups of a node in the columns `group1` and so on, or `path`, as far as the file has them.
    fn groups_in_columns(&self, input: &CommunityInput, node: &str) -> Result<Vec<Group>> {
        let of_nodes = match input.columns.as_deref() {
            Some([node, _]) => node.clone(),
            _ => Column::Name("node".to_owned()),
        };
        let in_column = |name: &str| {
            let columns = Some(vec![of_nodes.clone(), Column::Name(name.to_owned())]);
            let input = CommunityInput { columns, ..input.clone() };
            match self.found(&input, node, name == "path") {
                // The file was read before, so it is the column that it lacks.
                Err(error) if is_of_columns(error.kind()) => Ok(None),
                found => found,
            }
        };
        if let Some(found) = in_column("path")? {
            return Ok(found.groups.into_iter().skip(1).collect());
        }
        let mut groups = Vec::new();
        while let Some(found) = in_column(&format!("group{}", groups.len() + 1))? {
            groups.extend(found.groups);
        }
        Ok(groups)
    }

    /// Returns the error for a name that the file lacks. Mentions a name that differs from it only in upper and lower case.
    fn unknown(&self, input: &CommunityInput, node: &str) -> Result<Error> {
        let (mut node_count, mut similar) = (0, None);
        for_each(open(self.files, self.path, input)?, self.observer, |name, _| {
            node_count += 1;
            if similar.is_none() && name.trim_ascii().eq_ignore_ascii_case(node.trim().as_bytes()) {
                similar = Some(String::from_utf8_lossy(name).into_owned());
            }
            Ok(true)
        })?;
        let message = format!("`{}` has no node `{node}`", self.path.display());
        let error = Error::new(ErrorKind::BadInput, message)
            .note(format!("it names {}", format_counted(node_count, "node", "nodes")));
        Ok(match similar {
            Some(name) => error.hint(format_args!("did you mean `{name}`?")),
            None => error.hint(format_args!(
                "names are compared letter by letter; nodes that {MIN_SIZE} leaves out are not in the file"
            )),
        })
    }

    fn contradiction(&self, node: &str) -> Error {
        let message = format!("`{}` gives node `{node}` two communities", self.path.display());
        Error::new(ErrorKind::BadInput, message).hint(format_args!(
            "a node has one community: remove one of the lines; {} reads the file otherwise",
            COMMUNITY_COLUMNS.of("2,1")
        ))
    }
}

/// Returns the lengths of the parts of a path that begin at its beginning; that of the whole text if it is no path.
fn ends(text: &[u8], is_path: bool) -> Vec<usize> {
    let colons = text.iter().enumerate().filter(|(_, byte)| is_path && **byte == b':');
    colons.map(|(at, _)| at).chain([text.len()]).collect()
}
