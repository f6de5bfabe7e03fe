//! Files of communities as vectors of R, and the drawing of their network.

use outcore::io::{Files, Writer};
use outcore_bind::facts::Facts;
use outcore_bind::results::{Communities, TEXT, groups, stability};
use outcore_page::chart::{Link, backbone, positions};
use savvy::{
    IntegerSexp, OwnedIntegerSexp, OwnedListSexp, OwnedRealSexp, OwnedStringSexp, RealSexp, Sexp,
    savvy, savvy_err,
};

/// Buffer of the file that is written.
const WRITE_BYTES: usize = 1 << 20;

/// Largest number up to which all integers are doubles.
pub(crate) const EXACT: i64 = 1 << 53;

/// Nodes of a file.
enum Nodes {
    /// Bytes of all names, and their ends.
    Texts(Vec<u8>, Vec<usize>),
    Numbers(Vec<i64>),
}

/// Returns the nodes and their communities in a file, in its order, as a list of two vectors. `names` is the type of the
/// names: `text`; `integer`, or doubles if some are larger; `double`; or `integer64`, in the place of doubles. Names that
/// this type does not hold are text.
#[savvy]
fn read_nodes(path: &str, names: &str) -> savvy::Result<Sexp> {
    let read = || -> outcore::Result<(Nodes, Vec<i64>)> {
        if names != TEXT
            && let Some((numbers, labels)) = read_numbers(path)?
            && (names == "integer64" || numbers.iter().all(|number| number.abs() <= EXACT))
        {
            return Ok((Nodes::Numbers(numbers), labels));
        }
        read_texts(path)
    };
    let (nodes, labels) = read().map_err(|error| savvy_err!("{}", Facts::of(&error).json()))?;
    let mut list = OwnedListSexp::new(2, true)?;
    let bits = |number: &i64| f64::from_bits(*number as u64);
    match nodes {
        Nodes::Texts(bytes, ends) => list.set_name_and_value(0, "node", texts(&bytes, &ends)?)?,
        Nodes::Numbers(numbers) if names == "integer64" => {
            let numbers: Vec<f64> = numbers.iter().map(bits).collect();
            list.set_name_and_value(0, "node", OwnedRealSexp::try_from_slice(numbers)?)?;
        }
        Nodes::Numbers(numbers) if names == "integer" && are_integers(&numbers) => {
            list.set_name_and_value(0, "node", integers(&numbers)?)?;
        }
        Nodes::Numbers(numbers) => list.set_name_and_value(0, "node", reals(&numbers)?)?,
    }
    match are_integers(&labels) {
        true => list.set_name_and_value(1, "community", integers(&labels)?)?,
        false => list.set_name_and_value(1, "community", reals(&labels)?)?,
    }
    list.into()
}

/// Returns the nodes of a file as numbers, and their communities; `None` if a name is no number of 64 bits.
fn read_numbers(path: &str) -> outcore::Result<Option<(Vec<i64>, Vec<i64>)>> {
    let mut reader = Communities::open(path.into(), "node", TEXT)?;
    let (mut numbers, mut labels) = (Vec::new(), Vec::new());
    while reader.advance()? {
        for (name, community) in reader.pairs() {
            let number = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
            // The least number is NA.
            let Some(number) = number.filter(|&number: &i64| number != i64::MIN) else {
                return Ok(None);
            };
            numbers.push(number);
            labels.push(community as i64);
        }
    }
    Ok(Some((numbers, labels)))
}

/// Returns the nodes of a file as text, and their communities.
fn read_texts(path: &str) -> outcore::Result<(Nodes, Vec<i64>)> {
    let mut reader = Communities::open(path.into(), "node", TEXT)?;
    let (mut bytes, mut ends, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    while reader.advance()? {
        for (name, community) in reader.pairs() {
            bytes.extend_from_slice(reader.text(name)?.as_bytes());
            ends.push(bytes.len());
            labels.push(community as i64);
        }
    }
    Ok((Nodes::Texts(bytes, ends), labels))
}

fn texts(bytes: &[u8], ends: &[usize]) -> savvy::Result<OwnedStringSexp> {
    let mut texts = OwnedStringSexp::new(ends.len())?;
    let mut begin = 0;
    for (at, &end) in ends.iter().enumerate() {
        texts.set_elt(at, std::str::from_utf8(&bytes[begin..end]).expect("it was checked"))?;
        begin = end;
    }
    Ok(texts)
}

/// Returns whether all numbers are integers of R, of which the least is NA.
fn are_integers(numbers: &[i64]) -> bool {
    numbers.iter().all(|&number| i32::try_from(number).is_ok_and(|number| number != i32::MIN))
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

/// Places circles with areas in proportion to `sizes` on a page of `width` and at most `height`, as in a report; `ends` has
/// the numbers of two circles from 1 for each of `weights`. Returns the middle of each circle from the left and from the
/// top and its radius, and the ends and the weight of each line that is drawn, all of them one after the other.
#[savvy]
fn place_network(
    sizes: RealSexp,
    ends: IntegerSexp,
    weights: RealSexp,
    width: f64,
    height: f64,
) -> savvy::Result<Sexp> {
    let (sizes, ends) = (sizes.as_slice(), ends.as_slice());
    let place = |&end: &i32| usize::try_from(end - 1).ok().filter(|&place| place < sizes.len());
    let pairs = ends.chunks_exact(2).zip(weights.as_slice());
    let link = |(pair, &weight): (&[i32], &f64)| {
        Some(Link { ends: [place(&pair[0])?, place(&pair[1])?], weight })
    };
    let links = pairs.map(link).collect::<Option<Vec<Link>>>();
    let links = links.ok_or_else(|| savvy_err!("a link has an end that is no circle"))?;
    let drawn = backbone(sizes.len(), &links);
    let placed = positions(sizes, &drawn, [width, height]).concat();
    let line = |Link { ends: [one, other], weight }: &Link| {
        [*one as f64 + 1.0, *other as f64 + 1.0, *weight]
    };
    let lines: Vec<f64> = drawn.iter().flat_map(line).collect();
    let mut list = OwnedListSexp::new(2, true)?;
    list.set_name_and_value(0, "circles", OwnedRealSexp::try_from_slice(placed)?)?;
    list.set_name_and_value(1, "lines", OwnedRealSexp::try_from_slice(lines)?)?;
    list.into()
}

fn integers(numbers: &[i64]) -> savvy::Result<OwnedIntegerSexp> {
    let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
    OwnedIntegerSexp::try_from_slice(numbers)
}

fn reals(numbers: &[i64]) -> savvy::Result<OwnedRealSexp> {
    OwnedRealSexp::try_from_slice(numbers.iter().map(|&number| number as f64).collect::<Vec<f64>>())
}
