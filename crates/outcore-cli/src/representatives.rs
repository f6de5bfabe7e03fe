//! Representatives of communities, from the files that `cluster` writes to `--representatives` or `--summary`.

use outcore::error::opt::{REPRESENTATIVES, SUMMARY};
use outcore::input::{Batch, BatchMemory, CHUNK_BYTES, Column, CommunityInput, EdgeReader};
use outcore::io::Files;
use outcore::progress::{Event, Observer, notify};
use outcore::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of chunks of text that are parsed in parallel.
const CHUNKS: usize = 4;

/// Opens a file of nodes and communities, or of others in two columns.
///
/// # Errors
/// `Usage`, `BadInput`, `MissingColumn`, `Io`.
pub(crate) fn open(files: &Files, path: &Path, input: &CommunityInput) -> Result<EdgeReader> {
    input.check()?;
    let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks: CHUNKS };
    EdgeReader::open(files, &input.of(path, false), memory)
}

/// Passes both columns of each row to `take`, while it returns true.
///
/// # Errors
/// The earliest bad line; those of `take`; `Io`, `Interrupted`.
pub(crate) fn for_each(
    mut reader: EdgeReader,
    observer: &dyn Observer,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<bool>,
) -> Result<()> {
    let (mut batch, mut done) = (Batch::default(), 0);
    while reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for [first, second] in chunk.names.as_chunks::<2>().0 {
                if !take(chunk.name(first), chunk.name(second))? {
                    return Ok(());
                }
            }
            done += chunk.edge_count() as u64;
        }
        notify(observer, Event::Advance { done })?;
    }
    Ok(())
}

/// Returns whether an error of opening a file may say that it lacks a column.
pub(crate) fn is_of_columns(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::MissingColumn | ErrorKind::BadInput | ErrorKind::Usage)
}

/// Returns the representatives of the communities that are wanted.
///
/// # Errors
/// `BadInput` if the file lacks one of them; those of reading it.
pub(crate) fn representatives(
    files: &Files,
    path: &Path,
    wanted: &BTreeSet<String>,
    observer: &dyn Observer,
) -> Result<BTreeMap<String, String>> {
    let name = |text: &str| Column::Name(text.to_owned());
    let forms = [
        [name("community"), name("representative")],
        [name("community"), name("node")],
        [Column::Number(1), Column::Number(2)],
    ];
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let wrong = |message: String| {
        Error::new(ErrorKind::BadInput, message).hint(format_args!(
            "use the file that the job of this result wrote to {REPRESENTATIVES} or {SUMMARY}"
        ))
    };
    for (at, columns) in forms.into_iter().enumerate() {
        let input = CommunityInput { columns: Some(columns.into()), ..CommunityInput::default() };
        let reader = match open(files, path, &input) {
            Err(error) if is_of_columns(error.kind()) && at < 2 => continue,
            reader => reader?,
        };
        for_each(reader, observer, |community, node| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let (community, node) = (text(community), text(node));
            if wanted.contains(&community) && found.insert(community.clone(), node).is_some() {
                let path = path.display();
                return Err(wrong(format!("`{path}` names two nodes of community `{community}`")));
            }
            Ok(true)
        })?;
        break;
    }
    match wanted.iter().find(|community| !found.contains_key(*community)) {
        None => Ok(found),
        Some(community) => {
            let path = path.display();
            Err(wrong(format!("`{path}` has no representative of community `{community}`")))
        }
    }
}
