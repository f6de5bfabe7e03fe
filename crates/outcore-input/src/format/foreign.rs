//! Detects files that are not lines of edges by their first bytes, and refuses them by name with a hint on what to
//! type.
//!
//! Anything that would silently be read wrongly belongs here. Containers are recognized by their first bytes, text
//! formats by their first line; with `--format lines`, the latter are read as lines anyway.

use crate::fault::bad_input;
use crate::layout::BYTE_ORDER_MARK;
use crate::lists::communities;
use crate::{EdgeFormat, InputOptions, Rows};
use outcore_io::error::opt::{COLUMNS, COMMUNITY_FORMAT, DELIMITER, FORMAT, NODES};
use outcore_io::error::{Error, Result, Text};
use std::path::Path;

/// Remedy for a file.
#[derive(Clone, Copy)]
enum Way {
    /// Command that writes its contents.
    Pipe(&'static str),
    Do(&'static str),
    /// Reading it in Python, and passing on what is wanted of it.
    Python,
}

/// Begins a command that reads a file of annotated data.
const H5AD: &str = "`anndata.read_h5ad(\"FILE\")";
const TO_CSV: Way = Way::Do("save its sheet as CSV, and pass that");
const TO_PYTHON: Way = Way::Python;

/// First bytes of binary formats.
#[rustfmt::skip]
const BINARY: [(&[u8], &str, Way); 44] = [
    (b"PK\x03\x04", "a zip archive", Way::Pipe("unzip -p FILE")),
    (b"PK\x05\x06", "an empty zip archive", TO_CHECK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", Way::Pipe("7z x -so FILE")),
    (b"Rar!\x1a\x07", "a RAR archive", Way::Pipe("unrar p -inul FILE")),
    (b"\x04\x22\x4d\x18", "compressed with lz4", Way::Pipe("lz4 -dc FILE")),
    (b"\x1f\x9d", "compressed with compress", Way::Pipe("gzip -dc FILE")),
    (b"LZIP\x01", "compressed with lzip", Way::Pipe("lzip -dc FILE")),
    (b"\xff\x06\0\0sNaPpY", "compressed with snappy", Way::Pipe("snzip -dc FILE")),
    (b"\x89LZO\0\r\n\x1a\n", "compressed with lzop", Way::Pipe("lzop -dc FILE")),
    (b"\x5d\0\0", "compressed with lzma", Way::Pipe("xz --format=lzma -dc FILE")),
    (b"\x78\x9c", "compressed with zlib", Way::Pipe("zlib-flate -uncompress < FILE")),
    (b"\x78\xda", "compressed with zlib", Way::Pipe("zlib-flate -uncompress < FILE")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", TO_CSV),
    (b"\x89HDF\r\n\x1a\n", "HDF5", TO_PYTHON),
    (b"SQLite format 3\0", "an SQLite database", Way::Pipe("sqlite3 -csv FILE 'select source, target from edges'")),
    (b"\x93NUMPY", "a NumPy array", TO_PYTHON),
    (b"Obj\x01", "Avro", TO_PYTHON),
    (b"FEA1\0", "Feather version 1", TO_PYTHON),
    (b"\x80\x02", "a Python pickle", TO_PYTHON),
    (b"\x80\x03", "a Python pickle", TO_PYTHON),
    (b"\x80\x04\x95", "a Python pickle", TO_PYTHON),
    (b"\x80\x05\x95", "a Python pickle", TO_PYTHON),
    (b"RDX2\n", "R data", TO_TEXT_IN_R),
    (b"RDX3\n", "R data", TO_TEXT_IN_R),
    (b"X\n\0\0\0", "R data", TO_TEXT_IN_R),
    (b"RDA3\n", "R data", TO_TEXT_IN_R),
    (b"A\n3\n", "R data", TO_TEXT_IN_R),
    (b"MATLAB 5.0 MAT-file", "MATLAB data", TO_PYTHON),
    (b"MATLAB 7.3 MAT-file", "MATLAB data", TO_PYTHON),
    (b"<stata_dta>", "Stata data", TO_PYTHON),
    (b"$FL2@(#)", "SPSS data", TO_PYTHON),
    (b"ORC\x08", "ORC", TO_PYTHON),
    (b"BAM\x01", "BAM", Way::Do("these are sequencing reads, not a graph")),
    (b"BCF\x02", "BCF", Way::Do("these are genome variants, not a graph")),
    (b"%PDF-", "PDF", TO_FETCH),
    (b"%!PS", "PostScript", TO_FETCH),
    (b"{\\rtf", "RTF", TO_FETCH),
    (b"\x89PNG\r\n", "an image", TO_FETCH),
    (b"\xff\xd8\xff", "an image", TO_FETCH),
    (b"GIF8", "an image", TO_FETCH),
    (b"\x7fELF", "a program", TO_CHECK),
    (b"MZ\x90\0", "a program", TO_CHECK),
    (b"\xca\xfe\xba\xbe", "a program", TO_CHECK),
    (b"\0asm", "a program", TO_CHECK),
];
/// Name of a Parquet file that cannot be read without a key.
pub(crate) const ENCRYPTED_PARQUET: &str = "encrypted Parquet";
/// Remedy for an encrypted file.
pub(crate) const DECRYPT: &str = "write it again without encryption; in Python, `pyarrow.parquet.read_table` takes \
                                  `decryption_properties`, and `outcore.cluster` takes the table that it returns";
const TO_DECRYPT: Way = Way::Do(DECRYPT);
const TO_FETCH: Way = Way::Do("fetch the table itself as text");
const TO_CHECK: Way = Way::Do("check that this is the right file");
const TO_TEXT_IN_R: Way =
    Way::Do("write it in R: `write.csv(edges, \"edges.csv\", row.names = FALSE)`");

/// First bytes of compressed data, to detect double compression.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh91AY&SY", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
];

/// Returns the compression of a file by its first bytes.
pub(crate) fn compression(block: &[u8]) -> Option<&'static str> {
    COMPRESSED.iter().find(|(start, _)| block.starts_with(start)).map(|(_, name)| *name)
}

/// Refuses files that are not lines of text, by the first bytes of their text. `unpacker` is the command that unpacks
/// the file, if it is compressed. A list of nodes may be FASTA.
///
/// # Errors
/// `BadInput` with the name of the format.
pub(crate) fn refuse(
    block: &[u8],
    path: &Path,
    options: &InputOptions,
    unpacker: Option<&str>,
    is_node_list: bool,
) -> Result<()> {
    let unpacked = unpacker.map(|unpacker| format!("{unpacker} -dc FILE"));
    refuse_packed(block, path, options.rows, unpacker, unpacked.as_deref())?;
    let is_lines = options.format == EdgeFormat::Lines;
    // Names in a list of communities may be anything that a graph has, as written.
    let may_be_any = is_lines || options.rows.are_memberships();
    if let Some((encoding, _)) =
        wide_encoding(block).filter(|(_, is_marked)| !may_be_any || *is_marked)
    {
        let message = format!("is {encoding} text, but UTF-8 or bytes are expected");
        let from = match &unpacked {
            Some(unpacked) => format!("{unpacked} | iconv -f {encoding} -t UTF-8"),
            None => format!("iconv -f {encoding} -t UTF-8 FILE"),
        };
        return Err(error(path, &message, format!("convert it: `{from} | outcore ... -`")));
    }
    let has_lines = memchr::memchr(b'\n', block).is_some();
    let has_returns = has_carriage_returns_alone(block) && !(may_be_any && has_lines);
    let is_binary = has_returns && block.iter().any(|&byte| is_of_binary(byte));
    if has_returns && !is_binary {
        let message = "has carriage returns without line feeds, the line ends of old Macs";
        let from = unpacked.map_or("tr '\\r' '\\n' < FILE".into(), |unpacked| {
            format!("{unpacked} | tr '\\r' '\\n'")
        });
        return Err(error(path, message, format!("convert it: `{from} | outcore ... -`")));
    }
    if is_lines && !is_binary {
        return Ok(());
    }
    let has_zeros = memchr::memchr_iter(b'\0', block).nth(ZEROS_LEAST - 1).is_some();
    let is_binary = is_binary || !may_be_any && has_zeros;
    refuse_other(block, path, options, is_binary, is_node_list)
}

/// Refuses binary files, and what is compressed twice. `unpacked` is the command that unpacks a compressed file.
fn refuse_packed(
    block: &[u8],
    path: &Path,
    rows: Rows,
    unpacker: Option<&str>,
    unpacked: Option<&str>,
) -> Result<()> {
    if let Some((name, hint)) = binary(block, unpacked, rows) {
        let hint = for_use(name, block, rows).unwrap_or_else(|| hint.into());
        return Err(error(path, &format!("is {name}, not text"), hint));
    }
    match (unpacker, unpacked, compression(block)) {
        (Some(outer), Some(unpacked), Some(inner)) => {
            let message = format!("is compressed twice: {inner} inside {outer}");
            Err(error(path, &message, format!("pipe it in: `{unpacked} | outcore ... -`")))
        }
        _ => Ok(()),
    }
}

/// Refuses text whose first bytes show a format that is not lines of edges, and binary data of an unknown format.
fn refuse_other(
    block: &[u8],
    path: &Path,
    options: &InputOptions,
    is_binary: bool,
    is_node_list: bool,
) -> Result<()> {
    // The first name in a result may look like anything.
    if options.rows.are_memberships() && communities::are_certain(block) {
        return Ok(());
    }
    let wanted = match options.rows {
        Rows::Edges => "lines of edges",
        Rows::Nodes => "a list of nodes",
        _ => "lines of nodes and communities",
    };
    let of_edges = Some(block).filter(|_| options.rows == Rows::Edges);
    let section = of_edges.and_then(unknown_section).map(|word| {
        let hint = "pass only its edges, as lines `SOURCE TARGET WEIGHT`";
        (false, format!("has a section `{word}`, which is none of edges"), hint.into())
    });
    let found = text(block, options.columns.is_some())
        .or_else(|| of_edges.and_then(in_six_bits))
        .map(|(name, hint)| {
            let hint = for_use(name, block, options.rows).unwrap_or(hint);
            (name == "FASTA", format!("is {name}, not {wanted}"), hint)
        })
        .or(section);
    let message = match block.contains(&0) {
        true => "is binary data, not text: it contains zero bytes",
        false => "is binary data, not text: it contains control characters",
    };
    let hint = "check that this is the right file, and that it is complete";
    match found.or(is_binary.then(|| (false, message.into(), hint.into()))) {
        Some((true, ..)) if is_node_list => Ok(()),
        Some((_, message, hint)) => Err(error(path, &message, hint)
            .note(format_args!("{} reads it as lines anyway", FORMAT.of("lines")))),
        None => Ok(()),
    }
}

/// Returns the remedy for a file of nodes or of communities, where it differs from the remedy for edges.
fn for_use(name: &str, block: &[u8], rows: Rows) -> Option<Text> {
    let has = |text: &[u8]| memchr::memmem::find(block, text).is_some();
    let lines = |filter: &str| {
        let command = format!("jq -r '{filter} | @tsv' FILE > communities.txt");
        let format = COMMUNITY_FORMAT.of("clusters");
        format_args!("write a community per line: `{command}`, and read that with {format}").into()
    };
    Some(match (rows, name) {
        (Rows::Edges, _) => return None,
        (Rows::Nodes, "HDF5") => format!("write its nodes in Python: {H5AD}.obs_names.to_series().to_csv(\"nodes.txt\", index=False, header=False)`").into(),
        (_, "HDF5") => format!("write its communities in Python: {H5AD}.obs[\"leiden\"].to_csv(\"communities.csv\")`").into(),
        (Rows::Nodes, "R data") => "write them in R: `writeLines(nodes, \"nodes.txt\")`".into(),
        (_, "R data") => "write them in R: `write.csv(communities, \"communities.csv\", row.names = FALSE)`".into(),
        (Rows::Nodes, "JSON") => "write a node per line: `jq -r '.nodes[].id' FILE > nodes.txt`".into(),
        (_, "JSON") if has(b"\"communities\"") => lines(".communities[]"),
        (_, "JSON") if has(b"\"nodes\"") => "write a node and its community per line: `jq -r '.nodes[] | [.id, .community] | @tsv' FILE > communities.tsv`".into(),
        (_, "JSON") if block.trim_ascii_start().starts_with(b"[") => lines(".[]"),
        (_, "JSON") => "write a node and its community per line: `jq -r 'to_entries[] | [.key, .value] | @tsv' FILE > communities.tsv`".into(),
        _ => return None,
    })
}

fn error(path: &Path, message: &str, hint: impl Into<Text>) -> Error {
    bad_input(path, message).hint(hint)
}

/// Returns the name of a binary format, and the remedy.
fn binary(block: &[u8], unpacked: Option<&str>, rows: Rows) -> Option<(&'static str, String)> {
    let (name, way) = match BINARY.iter().find(|(start, ..)| block.starts_with(start)) {
        Some((b"PK\x03\x04", ..)) if names_member(block, b"[Content_Types].xml") => {
            ("an Excel workbook", TO_CSV)
        }
        Some((b"PK\x03\x04", ..)) if names_member(block, b".npy") => (
            "a NumPy archive",
            Way::Do("in Python: `outcore.cluster(scipy.sparse.load_npz(\"FILE\"))`"),
        ),
        Some(&(_, name, way)) => (name, way),
        None if is_tar(block) => ("a tar archive", Way::Pipe("tar -xOf FILE")),
        None if is_encrypted_parquet(block) => (ENCRYPTED_PARQUET, TO_DECRYPT),
        None => return None,
    };
    let hint = match (way, unpacked) {
        // All of these commands except tar need a file as input.
        (Way::Pipe(command), Some(unpacked)) if !command.starts_with("tar") => {
            format!(
                "unpack it: `{unpacked} > INNER`, then `{} | outcore ... -`",
                command.replace("FILE", "INNER")
            )
        }
        (Way::Pipe(command), _) => format!("pipe it in: `{command} | outcore ... -`"),
        (Way::Python, _) => match rows {
            Rows::Edges => "read it in Python, and pass its edges to `outcore.cluster`".into(),
            Rows::Nodes => "read it in Python, and write its names as lines".into(),
            _ => "read it in Python, and write its nodes and communities as lines `node<TAB>community`".into(),
        },
        (Way::Do(what), _) => what.into(),
    };
    Some((name, hint))
}

/// Returns whether the name of the first member of a zip archive ends with `end`.
fn names_member(zip: &[u8], end: &[u8]) -> bool {
    let length =
        zip.get(26..28).map_or(0, |bytes| usize::from(bytes[0]) | usize::from(bytes[1]) << 8);
    zip.get(30..30 + length).is_some_and(|name| name.ends_with(end))
}

/// Minimum number of zero bytes in a file that is not text. Names may contain a few.
const ZEROS_LEAST: usize = 8;

/// Returns the name of an encoding with two or four bytes per character, and whether there is a byte-order mark. The
/// encoding is recognized by that mark, or because every other byte is zero.
fn wide_encoding(block: &[u8]) -> Option<(&'static str, bool)> {
    if block.starts_with(b"\xff\xfe\0\0") || block.starts_with(b"\0\0\xfe\xff") {
        return Some(("UTF-32", true));
    }
    // Names may begin with the bytes of a mark, but delimiters and line ends of wide text have a zero byte.
    let has_zero =
        |at: usize| block.chunks_exact(2).any(|pair| pair[at] == 0 && pair[1 - at] < 128);
    let is_marked = block.starts_with(b"\xff\xfe") && has_zero(1)
        || block.starts_with(b"\xfe\xff") && has_zero(0);
    if is_marked {
        return Some(("UTF-16", true));
    }
    let pairs = &block[..block.len().min(512)];
    let zeros = |at: usize| pairs.chunks_exact(2).filter(|pair| pair[at] == 0).count();
    let (first, second, count) = (zeros(0), zeros(1), pairs.len() / 2);
    // Latin letters, digits and delimiters have a zero byte, always on the same side.
    match () {
        () if count < 4 => None,
        () if first == 0 && second * 10 >= count * 9 => Some(("UTF-16LE", false)),
        () if second == 0 && first * 10 >= count * 9 => Some(("UTF-16BE", false)),
        () => None,
    }
}

/// Returns whether a byte is a control character that text does not use between its lines. Names may have others, as in
/// old files of text.
fn is_of_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F)
}

/// Returns whether the block begins with the mark of an encrypted Parquet file and a length in four bytes. A name may begin
/// with the same letters.
fn is_encrypted_parquet(block: &[u8]) -> bool {
    let length = block.strip_prefix(b"PARE").and_then(|rest| rest.get(..4));
    length.is_some_and(|length| length.iter().any(|&byte| is_of_binary(byte)))
}

/// Returns whether there are carriage returns other than at the ends of lines and of the block.
fn has_carriage_returns_alone(block: &[u8]) -> bool {
    let inner = block.strip_suffix(b"\r").unwrap_or(block);
    memchr::memchr_iter(b'\r', inner).any(|at| inner.get(at + 1) != Some(&b'\n'))
}

/// Returns the lines that are neither blank nor comments.
fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let block = block.strip_prefix(BYTE_ORDER_MARK).unwrap_or(block);
    let lines = block.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%"))
}

/// Returns the first word if it begins a section of a Pajek or Infomap file that cannot be read; the known sections
/// can.
fn unknown_section(block: &[u8]) -> Option<String> {
    let first = lines(block).next()?;
    let word = first.split(|&byte| byte == b' ').next()?;
    let is_word =
        word.len() > 2 && word[0] == b'*' && word[1..].iter().all(u8::is_ascii_alphabetic);
    let has_columns = first.iter().any(|byte| b"\t,;|".contains(byte));
    (is_word && !has_columns).then(|| String::from_utf8_lossy(word).into_owned())
}

/// Returns the name of a format of nauty, if all lines are graphs in it: a number of nodes, then six bits in a letter.
/// Source: McKay, "Description of graph6, sparse6 and digraph6 encodings".
fn in_six_bits(block: &[u8]) -> Option<(&'static str, Text)> {
    // The last line may be cut off.
    let is_cut = block.len() >= GRAPH6_BYTES;
    let all: Vec<&[u8]> = lines(&block[..block.len().min(GRAPH6_BYTES)]).collect();
    let lines = if is_cut && all.len() > 1 { &all[..all.len() - 1] } else { &all[..] };
    let is_graph = |text: &[u8], bits: fn(usize) -> usize| {
        let [first, rest @ ..] = text else { return false };
        let (nodes, rest) = match (first, rest) {
            (b'~', [a, b, c, rest @ ..]) if *a != b'~' => {
                let six = |byte: &u8| usize::from(byte.saturating_sub(63));
                (six(a) << 12 | six(b) << 6 | six(c), rest)
            }
            _ => (usize::from(first.saturating_sub(63)), rest),
        };
        let length = bits(nodes).div_ceil(6);
        nodes > 1 && (rest.len() == length || is_cut && all.len() == 1 && rest.len() < length)
    };
    let are = |mark: &[u8], is: &dyn Fn(&[u8]) -> bool| {
        let is_one = |line: &&[u8]| {
            line.strip_prefix(mark)
                .is_some_and(|text| text.iter().all(|byte| (63..127).contains(byte)) && is(text))
        };
        !lines.is_empty() && lines.iter().all(is_one)
    };
    // `A|b` is an edge.
    if lines.iter().all(|line| line.iter().filter(|&&byte| byte == b'|').count() == 1) {
        return None;
    }
    let found = match () {
        () if are(b"", &|text| is_graph(text, |nodes| nodes * nodes.saturating_sub(1) / 2)) => {
            ("graph6", OF_GRAPH6)
        }
        () if are(b"&", &|text| is_graph(text, |nodes| nodes * nodes)) => ("digraph6", OF_GRAPH6),
        () if are(b":", &|text| text.len() > 1) => ("sparse6", OF_SPARSE6),
        () => return None,
    };
    Some((found.0, found.1.into()))
}

/// Bytes in which lines of graphs are recognized.
const GRAPH6_BYTES: usize = 16 << 10;

/// Returns the name of a text format that is not a list of edges, and the remedy.
fn text(block: &[u8], has_columns: bool) -> Option<(&'static str, Text)> {
    let block = block.strip_prefix(BYTE_ORDER_MARK).unwrap_or(block);
    let mut lines = block.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines
        .find(|line| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%"))?;
    let second = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let head = String::from_utf8_lossy(&first[..first.len().min(512)]).to_ascii_lowercase();
    let begins = |start: &str| head.starts_with(start);
    let word = head.split([' ', '\t', '{', '[']).next().unwrap_or_default();
    if let Some((_, name, hint)) =
        BEGINNINGS.iter().find(|(start, ..)| begins(start) || starts_with_any_case(block, start))
    {
        return Some((name, (*hint).into()));
    }
    let (name, hint) = match () {
        () if begins("<?xml") || is_tag(first) && second.starts_with(b"<") => ("XML", OF_XML),
        () if ["graph", "digraph", "strict"].contains(&word) && head.contains('{') => (
            "Graphviz DOT",
            "in Python: `outcore.cluster(networkx.Graph(networkx.nx_pydot.read_dot(\"FILE\")))`",
        ),
        () if is_json(first) => (
            "JSON",
            "write its edges as lines: `jq -r '[.source, .target, .weight] | @tsv' FILE | outcore ... -`",
        ),
        () if begins("(") && head.trim_end().ends_with(");") => {
            ("Newick", "this is a tree: write the edge from each node to its parent as a line")
        }
        () if is_fastq(first, block) => {
            ("FASTQ", "these are sequencing reads: compare the sequences first")
        }
        () if is_error_of_server(&head, second) => {
            ("a server's error message", "servers send one instead of a file; fetch the file again")
        }
        () if is_fasta(first, second) => {
            let hint = format_args!("{OF_SEQUENCES}; {} reads its names", NODES.of("FILE"));
            return Some(("FASTA", hint.into()));
        }
        () if !has_columns && (begins("<http") || begins("_:")) && head.ends_with('.') => {
            let columns = COLUMNS.of("1,3").with(DELIMITER.of("space"));
            return Some((
                "N-Triples",
                format_args!("use {columns} to leave out the predicates").into(),
            ));
        }
        () if begins("@prefix ") => {
            let hint = "convert it: `rapper -i turtle -o ntriples FILE`";
            return Some(("Turtle", format_args!("{hint}; see {COLUMNS}").into()));
        }
        () => return None,
    };
    Some((name, hint.into()))
}

const OF_GRAPH6: &str = "in Python: `outcore.cluster(networkx.read_graph6(\"FILE\"))`";
const OF_SPARSE6: &str = "in Python: `outcore.cluster(networkx.read_sparse6(\"FILE\"))`";
const OF_HTML: &str =
    "read it in a browser: servers send one instead of a file; then fetch the file again";
const OF_VNA: &str = "pass only the lines after `*Tie data`";

/// Beginnings of other text formats, in lower case: of the first line, or of the first that is not a comment.
#[rustfmt::skip]
const BEGINNINGS: [(&str, &str, &str); 30] = [
    ("version https://git-lfs.github.com/", "a Git LFS pointer", "fetch what it points to: `git lfs pull`"),
    ("<!doctype html", "an HTML page", OF_HTML),
    ("<html", "an HTML page", OF_HTML),
    (">>graph6<<", "graph6", OF_GRAPH6),
    (">>digraph6<<", "digraph6", OF_GRAPH6),
    (">>sparse6<<", "sparse6", OF_SPARSE6),
    ("*node data", "VNA", OF_VNA),
    ("*node properties", "VNA", OF_VNA),
    ("*tie data", "VNA", OF_VNA),
    ("nodedef>", "GDF", "pass only the lines after `edgedef>`"),
    ("dl n =", "UCINET DL", "pass only the lines after `data:`"),
    ("dl n=", "UCINET DL", "pass only the lines after `data:`"),
    ("##fileformat=vcf", "VCF", OF_GENOME),
    ("##gff-version", "GFF", OF_GENOME),
    ("#!genome-build", "GTF", OF_GENOME),
    ("@hd\tvn:", "SAM", OF_READS),
    ("@sq\tsn:", "SAM", OF_READS),
    ("header    ", "PDB", OF_ATOMS),
    ("atom      ", "PDB", OF_ATOMS),
    ("locus       ", "GenBank", OF_GENOME),
    ("clustal w (", "a Clustal alignment", OF_SEQUENCES),
    ("clustal o(", "a Clustal alignment", OF_SEQUENCES),
    ("# stockholm 1.", "a Stockholm alignment", OF_SEQUENCES),
    ("#nexus", "NEXUS", "these are trees or an alignment, not a list of edges"),
    ("format-version: ", "OBO", "write its relations as lines of `SOURCE<TAB>TARGET`"),
    ("@relation ", "ARFF", OF_NODES),
    ("<!--", "XML", OF_XML),
    ("\\documentclass", "LaTeX", "fetch the table itself as text"),
    ("#!/", "a program", "check that this is the right file"),
    ("-----begin ", "a key or a certificate", "check that this is the right file"),
];
const OF_GENOME: &str = "these are positions on a genome, not a list of edges";
const OF_READS: &str = "these are sequencing reads, not a list of edges";
const OF_ATOMS: &str = "this is a structure of atoms, not a list of edges";
const OF_NODES: &str = "this is a table of features: write pairs of neighbors as lines first";
const OF_SEQUENCES: &str =
    "compare its sequences first, for example with `mmseqs easy-search` or `diamond blastp`";
const OF_XML: &str =
    "it may be a server's error message; otherwise convert it to lines of `SOURCE<TAB>TARGET`";

fn starts_with_any_case(text: &[u8], start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
}

/// Returns whether a line is a single XML tag, as opposed to names in angle brackets between delimiters.
fn is_tag(line: &[u8]) -> bool {
    let is_named = line.get(1).is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'!');
    let is_one = memchr::memchr_iter(b'<', line).count() == 1 && line.ends_with(b">");
    let is_separated = line.iter().any(|byte| b"\t,;|".contains(byte));
    let has_spaces = line.contains(&b' ') && !line.contains(&b'=');
    line.starts_with(b"<") && is_named && is_one && !is_separated && !has_spaces
}

/// Returns whether the block begins with a read: a name, letters, a plus sign, and as many quality marks.
fn is_fastq(first: &[u8], block: &[u8]) -> bool {
    let mut lines = block.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = [lines.next(), lines.next(), lines.next(), lines.next()];
    let [Some(name), Some(letters), Some(plus), Some(marks)] = lines else { return false };
    let is_named = name == first && name.len() > 1 && name.starts_with(b"@");
    is_named && plus.starts_with(b"+") && !letters.is_empty() && letters.len() == marks.len()
}

/// Returns whether a file of one line is the report of a server that there is no such file.
fn is_error_of_server(head: &str, second: &[u8]) -> bool {
    let reported =
        ["not found", "access denied", "forbidden", "bad gateway", "internal server error"];
    let begins = ["error", "404", "403", "500", "502", "503", "access denied", "not found"];
    second.is_empty()
        && reported.iter().any(|text| head.contains(text))
        && begins.iter().any(|text| head.starts_with(text))
}

/// Returns whether a line begins like JSON, rather than with a name in brackets.
fn is_json(line: &[u8]) -> bool {
    let next = line.get(1..).unwrap_or_default().trim_ascii_start().first();
    match line.first() {
        Some(b'{') => matches!(next, None | Some(b'"' | b'}')),
        Some(b'[') => {
            // Names may be in brackets too.
            let count = |bracket| line.iter().filter(|&&byte| byte == bracket).count();
            let is_row = line.contains(&b',') && count(b'[') == 1 && count(b']') == 1;
            let ends = line.ends_with(b"]") || line.ends_with(b"],");
            is_row && ends || matches!(next, None | Some(b'"' | b'{' | b'['))
        }
        _ => false,
    }
}

/// Returns whether the text begins with a FASTA header and a sequence, which may be cut off.
pub(crate) fn begins_as_fasta(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.next().zip(lines.next()).is_some_and(|(first, second)| is_fasta(first, second))
}

/// Returns whether the block begins with a tar header. Its checksum must be valid, since a name may contain the magic
/// bytes at that position.
fn is_tar(block: &[u8]) -> bool {
    let Some((header, _)) = block.split_first_chunk::<512>() else { return false };
    let checksum = 148..156;
    let text = String::from_utf8_lossy(&header[checksum.clone()]);
    let declared = u32::from_str_radix(text.trim_matches(['\0', ' ']), 8);
    let byte = |(at, &byte): (usize, &u8)| if checksum.contains(&at) { b' ' } else { byte };
    let sum = header.iter().enumerate().map(|at| u32::from(byte(at))).sum();
    header[257..262] == *b"ustar" && declared == Ok(sum)
}

/// Returns whether the lines are a FASTA header and its sequence.
fn is_fasta(first: &[u8], second: &[u8]) -> bool {
    let is_residue = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b'*' || byte == b'-';
    first.len() > 1
        && first.starts_with(b">")
        && !second.is_empty()
        && second.iter().all(is_residue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(block: &[u8]) -> Option<String> {
        let options = InputOptions::default();
        let error = refuse(block, Path::new("f"), &options, None, false).err()?;
        assert!(error.hint_text().is_some(), "{error}");
        Some(error.message().replace("`f` is ", ""))
    }

    #[test]
    fn foreign_formats_are_named() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"e.tsv");
        tar[257..262].copy_from_slice(b"ustar");
        // Sum of these bytes and of eight spaces.
        tar[148..156].copy_from_slice(b"002437\0 ");
        let xlsx = [&b"PK\x03\x04"[..], &[0; 22], b"\x13\0\0\0[Content_Types].xml"].concat();
        for (block, name) in [
            (&tar[..], "a tar archive"),
            (&xlsx, "an Excel workbook"),
            (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer"),
            (b"\n<!DOCTYPE html>\n<p>", "an HTML page"),
            (b"<?xml version=\"1.0\"?><Error>", "XML"),
            (b"digraph G {\n a -> b;\n}\n", "Graphviz DOT"),
            (b"{\"nodes\": [", "JSON"),
            (b"[\n  {\"source\"", "JSON"),
            (b"[0, 1]\n[1, 2]\n", "JSON"),
            (b">P1 some protein\nMKV\n", "FASTA"),
            (b"<http://a> <http://b> <http://c> .\n", "N-Triples"),
            (b"##fileformat=VCFv4.2\n#CHROM\tPOS\n1\t2\n", "VCF"),
            (b"@SQ\tSN:chr1\tLN:9\n", "SAM"),
            (b"ATOM      1  N   ALA A   1\n", "PDB"),
            (b"@r1\nACGT\n+\nIIII\n", "FASTQ"),
            (b"((a,b),(c,d));\n", "Newick"),
            (b"<root>\n<edge a='b'/>\n", "XML"),
            (b"<!-- x -->\n<html>\n", "XML"),
            (b"404: Not Found", "a server's error message"),
            (b"\x7fELF\x02\x01", "a program"),
            (b"a\0,\0b\0\n\0b\0,\0c\0\n\0", "UTF-16LE text, but"),
            (b"\0a\0,\0b\0\n\0b\0,\0c\0\n", "UTF-16BE text, but"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32 text, but"),
            (b"a\tb\0\0\0\0\0\0\0\0\n", "binary data"),
            (b"\x8e\0\x02\r\0\0\x01a\0\0\0\0\0\0", "binary data, not text: it contains zero"),
            (b"\x8e\x02\r\x01a\xff", "binary data, not text: it contains control"),
            (b"PARE\x2a\x01\0\0\x8e\r\x01", "encrypted Parquet"),
            (b"\xff\xfea\0\t\0b\0\n\0", "UTF-16 text, but"),
            (b"\xfe\xff\x4e\x2d\0\t\x65\x87\0\n", "UTF-16 text, but"),
        ] {
            let found = refused(block).unwrap_or_default();
            let is_named = found.starts_with(&format!("{name}, not")) || found.starts_with(name);
            assert!(is_named, "{name}: {found}");
        }
        for text in [&b"a\tb\rc\td\r"[..], b"a\tb\rc\td\n", b"a\tb\r\r\n", b"a\tb\n\rc\td\n"] {
            let lines = refused(text).unwrap();
            assert!(lines.contains("carriage returns"), "{lines}");
        }
    }

    #[test]
    fn lines_of_edges_are_not_foreign() {
        for block in [
            &b"a\tb\n"[..],
            b"a\tb\r\n",
            b"a\tb\r",
            b"<a>\t<b>\n",
            b"[1]\tb\n",
            b"[a]\t[b]\n",
            b"version release\ngraph chart\n",
            b"{a}\t{b}\n",
            b">a\t>b\n>b\t>c\n",
            b"graph theory\n",
            b"version\t1\n",
            b"<a> <b>\n<b> <c>\n",
            b"error\t404\nnot\tfound\n",
            b"atom\tmolecule\n",
            b"@a\t@b\n@b\t@c\n+\t-\n1\t2\n",
            b"\0\t\0\0\n",
            b"\xff\xfe\tb\nb\t\xff\xfe\xfe\n",
            b"\xfe\xffa\tb\n",
            b"PARENT\tCHILD\na\tb\n",
            b"PARE",
            b"",
        ] {
            assert_eq!(refused(block), None, "{}", block.escape_ascii());
        }
    }
}
