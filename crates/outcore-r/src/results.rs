//! Files of communities as vectors of R.

use outcore::io::{Files, Writer};
use outcore_bind::facts::Facts;
use outcore_bind::results::{Communities, TEXT, groups, stability};
use savvy::{
    OwnedIntegerSexp, OwnedListSexp, OwnedRealSexp, OwnedStringSexp, Sexp, savvy, savvy_err,
};

/// Buffer of the file that is written.
const WRITE_BYTES: usize = 1 << 20;

/// Returns the nodes and their communities in a file, in its order, as a list of two vectors. `names` is the type of the
/// names: `text`, `int32` or `float64`.
#[savvy]
fn read_nodes(path: &str, names: &str) -> savvy::Result<Sexp> {
    let (mut bytes, mut ends, mut numbers, mut labels) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut read = || -> outcore::Result<()> {
        let mut reader = Communities::open(path.into(), "node", TEXT)?;
        while reader.advance()? {
            for (name, community) in reader.pairs() {
                match names {
                    TEXT => {
                        bytes.extend_from_slice(reader.text(name)?.as_bytes());
                        ends.push(bytes.len());
                    }
                    _ => numbers.push(reader.integer::<i64>(name)?),
                }
                labels.push(community as i64);
            }
        }
        Ok(())
    };
    read().map_err(|error| savvy_err!("{}", Facts::of(&error).json()))?;
    let mut list = OwnedListSexp::new(2, true)?;
    match names {
        TEXT => {
            let mut texts = OwnedStringSexp::new(ends.len())?;
            let mut begin = 0;
            for (at, end) in ends.into_iter().enumerate() {
                let text = std::str::from_utf8(&bytes[begin..end]).expect("it was checked");
                texts.set_elt(at, text)?;
                begin = end;
            }
            list.set_name_and_value(0, "node", texts)?;
        }
        "int32" => list.set_name_and_value(0, "node", integers(&numbers)?)?,
        _ => list.set_name_and_value(0, "node", reals(&numbers)?)?,
    }
    match labels.iter().all(|&label| i32::try_from(label).is_ok()) {
        true => list.set_name_and_value(1, "community", integers(&labels)?)?,
        false => list.set_name_and_value(1, "community", reals(&labels)?)?,
    }
    list.into()
}

/// Returns the share of the starts in which each node in a file stays with its community; nothing if it is not there.
#[savvy]
fn read_stability(path: &str) -> savvy::Result<Sexp> {
    let shares = stability(path.as_ref());
    let shares = shares.map_err(|error| savvy_err!("{}", Facts::of(&error).json()))?;
    OwnedRealSexp::try_from_slice(shares.unwrap_or_default())?.into()
}

/// Returns the groups of a file's nodes on `count` levels below the communities, level by level; nothing if the file
/// has no such columns.
#[savvy]
fn read_groups(path: &str, count: f64) -> savvy::Result<Sexp> {
    let found = groups(path.as_ref(), count as usize);
    let found = found.map_err(|error| savvy_err!("{}", Facts::of(&error).json()))?;
    reals(&found.unwrap_or_default())?.into()
}

/// Writes the communities of `input` to `output` as ExoLabel does: numbered from 1, with a separator of its own.
#[savvy]
fn write_clusters(input: &str, output: &str, separator: &str) -> savvy::Result<()> {
    let write = || -> outcore::Result<()> {
        let mut reader = Communities::open(input.into(), "node", TEXT)?;
        let files = Files::default();
        let mut writer = Writer::create(&files, output.as_ref(), WRITE_BYTES, 1)?;
        let mut lines = Vec::new();
        while reader.advance()? {
            for (name, community) in reader.pairs() {
                lines.extend_from_slice(name);
                lines.extend_from_slice(separator.as_bytes());
                lines.extend_from_slice((community + 1).to_string().as_bytes());
                lines.push(b'\n');
            }
            writer.write(&lines)?;
            lines.clear();
        }
        writer.finish().map(drop)
    };
    write().map_err(|error| savvy_err!("{}", Facts::of(&error).json()))
}

fn integers(numbers: &[i64]) -> savvy::Result<OwnedIntegerSexp> {
    let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
    OwnedIntegerSexp::try_from_slice(numbers)
}

fn reals(numbers: &[i64]) -> savvy::Result<OwnedRealSexp> {
    OwnedRealSexp::try_from_slice(numbers.iter().map(|&number| number as f64).collect::<Vec<f64>>())
}
