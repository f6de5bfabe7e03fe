//! A graph directory with any damage gives the same graph or a `CorruptFile` error, and never a panic.
//!
//! The bytes are a script of damages to a small graph that has every kind of block. The first byte selects whether
//! checksums are corrected afterwards, so that the damage reaches the code behind them; the graph may then be a
//! different one. Each damage takes four bytes: file and kind, place (two bytes), value.

use outcore::graph::Weight;
use outcore::graph::{
    ArcRecord, ArcScratch, Duplicates, Graph, GraphOptions, GraphWriter, NamesWriter,
};
use outcore::io::Files;
use outcore::progress::Silent;
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const DIRECTORY: &str = "graph";
const FILES: [&str; 3] = ["graph/graph.json", "graph/arcs", "graph/names"];
const NODES: u32 = 24;

/// Everything that a reader can see: nodes with arcs and loops as text, and names.
type Content = (Vec<String>, Vec<Vec<u8>>);

/// Writes a small graph with hubs, loops, nodes without arcs, and weights of several kinds.
fn write(files: &Files) -> Result<()> {
    let directory = Path::new(DIRECTORY);
    let options = GraphOptions {
        node_count: u64::from(NODES),
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let mut edges: Vec<_> = (1..12).map(|node| (0, node, f64::from(node) / 10.0)).collect();
    edges.extend((6..20).map(|node| (5, node, 1.0)));
    edges.extend([
        (3, 3, 2.5),
        (0, 0, 1.0),
        (14, 17, 1.0),
        (7, 9, 3.0),
        (9, 10, 1e-9),
        (21, 22, 7.0),
    ]);
    let mut arcs = Vec::new();
    for (source, target, weight) in edges {
        let weight = Weight::new(weight).code();
        arcs.push(ArcRecord { source, target, weight });
        if source != target {
            arcs.push(ArcRecord { source: target, target: source, weight });
        }
    }
    arcs.sort_by_key(|arc| (arc.source, arc.target));
    let mut names = NamesWriter::create(files, directory)?;
    for node in 0..NODES {
        names.push(format!("protein-{node}").as_bytes())?;
    }
    names.finish()?;
    let mut writer = GraphWriter::create_tiny(files, directory, &options)?;
    writer.push(&arcs)?;
    writer.finish().map(drop)
}

/// Reads and verifies everything, through every interface.
fn read(files: &Files) -> Result<Content> {
    let graph = Graph::open(files, Path::new(DIRECTORY))?;
    let mut scratch = ArcScratch::default();
    let (mut nodes, mut names) = (Vec::new(), Vec::new());
    let mut scan = graph.scan(0..graph.blocks().len(), 2);
    while let Some(block) = scan.next()? {
        let again = graph.read_block(block.index())?;
        for local in 0..block.node_count() {
            let mut arcs = Vec::new();
            again.for_each_segment(local, &mut scratch, |targets, codes| {
                assert!(targets.iter().all(|&target| u64::from(target) < graph.node_count()));
                arcs.push((targets.to_vec(), codes.to_vec()));
            })?;
            let (degree, self_loop) = (block.degree(local), block.self_loop(local));
            let node = block.first_node() + local as u32;
            nodes.push(format!("{node}: {degree} {self_loop} {arcs:?}"));
        }
    }
    graph.verify(&Silent)?;
    if graph.has_names() {
        let mut scan = graph.names()?;
        while let Some(name) = scan.next_name()? {
            names.push(name.to_vec());
        }
        let stored = graph.open_names()?;
        for (index, name) in names.iter().enumerate() {
            assert_eq!(&stored.name(index as u32)?, name);
        }
    }
    Ok((nodes, names))
}

/// Returns the files of the graph as written, and their content.
fn original() -> &'static ([Vec<u8>; 3], Content) {
    static ORIGINAL: OnceLock<([Vec<u8>; 3], Content)> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let sim = Sim::new();
        let files = Files::new(Arc::new(sim.clone()));
        write(&files).expect("the simulated storage works");
        let content = read(&files).expect("the graph is undamaged");
        (FILES.map(|path| sim.get(path).expect("written above")), content)
    })
}

/// Applies one damage to one of the files.
fn damage(files: &mut [Vec<u8>; 3], [what, low, high, value]: [u8; 4]) {
    let bytes = &mut files[usize::from(what) % 3];
    if bytes.is_empty() {
        return;
    }
    let at = usize::from(u16::from_le_bytes([low, high])) % bytes.len();
    match what / 3 % 6 {
        0 => bytes[at] ^= value,
        1 => bytes[at] = value,
        2 => bytes.truncate(at),
        3 => bytes.insert(at, value),
        4 => drop(bytes.drain(at..bytes.len().min(at + usize::from(value)))),
        _ => {
            // A number that code may fail to handle.
            let one = 1u64 << (value % 64);
            let number = [one, one - 1, one.wrapping_neg(), 0][usize::from(value / 64)];
            let end = bytes.len().min(at + 8);
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Returns the range of the value of field `key` in a manifest.
fn field(manifest: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let quoted = format!("\"{key}\": ");
    let begin = manifest.find(&quoted)? + quoted.len();
    let end = begin + manifest[begin..].find([',', '\n'])?;
    Some(begin..end)
}

/// Corrects the checksums of a hub's segments, which begin at `at` and are listed at `entry`.
fn seal_segments(bytes: &mut [u8], mut at: usize, entry: usize, segments: u64) -> Option<()> {
    for entry in (entry..bytes.len()).step_by(12).take(segments as usize) {
        let end = at + number(bytes, entry)? as u32 as usize;
        let checksum = xxh3_64(bytes.get(at..end)?);
        bytes.get_mut(entry + 4..entry + 12)?.copy_from_slice(&checksum.to_le_bytes());
        at = end;
    }
    Some(())
}

/// Corrects the checksums of `arcs` or `names`. Returns the checksum of the index.
fn seal(bytes: &mut [u8], block_arcs: u64, segment_arcs: u64) -> Option<u64> {
    let trailer = bytes.len().checked_sub(32)?;
    let begin = usize::try_from(number(bytes, trailer + 8)?).ok().filter(|&at| at <= trailer)?;
    for entry in (begin..trailer).step_by(40).filter(|entry| entry + 40 <= trailer) {
        let arcs = number(bytes, entry + 8)?;
        let (offset, len) = (number(bytes, entry + 16)?, number(bytes, entry + 24)?);
        let end = offset.checked_add(len)?;
        // A hub's checksum covers only the directory at its end, which has the checksums of the segments.
        let segments = arcs.div_ceil(segment_arcs.max(1));
        let directory = segments.saturating_mul(12).saturating_add(8);
        let is_hub = arcs > block_arcs && directory <= len;
        let from = if is_hub { end - directory } else { offset };
        if is_hub {
            seal_segments(bytes, offset as usize, from as usize + 8, segments);
        }
        if let Some(block) = bytes.get(from as usize..end as usize) {
            let checksum = xxh3_64(block);
            bytes[entry + 32..entry + 40].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    let mut hash = Xxh3::new();
    hash.update(&bytes[..16.min(bytes.len())]);
    hash.update(&bytes[begin..trailer]);
    hash.update(&bytes[trailer..trailer + 16]);
    let checksum = hash.digest();
    bytes[trailer + 16..trailer + 24].copy_from_slice(&checksum.to_le_bytes());
    Some(checksum)
}

/// Corrects all checksums, as far as the files can still be parsed.
fn reseal(files: &mut [Vec<u8>; 3]) -> Option<()> {
    let [manifest, arcs, names] = files;
    let mut text = String::from_utf8(manifest.clone()).ok()?;
    let of = |text: &str, key| text[field(text, key)?].parse::<u64>().ok();
    let (block_arcs, segment_arcs) = (of(&text, "block_arcs")?, of(&text, "segment_arcs")?);
    seal(names, u64::MAX, 1);
    if let Some(checksum) = seal(arcs, block_arcs, segment_arcs) {
        text.replace_range(field(&text, "arcs_bytes")?, &arcs.len().to_string());
        text.replace_range(field(&text, "arcs_checksum")?, &format!("\"{checksum:016x}\""));
    }
    text.replace_range(field(&text, "checksum")?, "\"\"");
    let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let checksum = xxh3_64(compact.as_bytes());
    text.replace_range(field(&text, "checksum")?, &format!("\"{checksum:016x}\""));
    *manifest = text.into_bytes();
    Some(())
}

/// Damages the graph as `script` specifies, and reads it.
pub(crate) fn check(script: &[u8]) {
    let Some((&first, script)) = script.split_first() else { return };
    let (whole, content) = original();
    let mut damaged = whole.clone();
    let (steps, _) = script.as_chunks::<4>();
    steps.iter().take(64).for_each(|&step| damage(&mut damaged, step));
    let is_resealed = first & 1 == 1;
    if is_resealed {
        reseal(&mut damaged);
    }
    let sim = Sim::new();
    for (path, bytes) in FILES.iter().zip(&damaged) {
        sim.put(path, bytes);
    }
    match read(&Files::new(Arc::new(sim))) {
        Ok(found) => assert!(is_resealed || &found == content, "a different graph"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}"),
    }
}
