//! The table of formats: how each is recognized, and what its columns mean.
//!
//! Adding a format of columns is adding a row, and a sample file in `tests/formats`. The page of the documentation,
//! `outcore formats` and the recognizer read the same rows. Formats that are not lines of columns have a reader in
//! [`lists`](crate::lists); their rows say how they are recognized and what is read of them.

use crate::text::number::{is_number, parsed};

/// How a format is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A header with all of these columns, in any order, compared by letters and digits. Of names separated by `|`, one
    /// suffices.
    Header(&'static str),
    /// Lines without a header, between tabs, with these kinds of columns: `s` any text, `n` number, `i` whole number,
    /// `p` number from 0 to 100, `z` zero, `m` -1, `d` `+` or `-`, `x` identifier after a database and a colon. `*`
    /// stands for any number of further columns.
    Shape(&'static str),
    /// In words: the beginning of the file, or the ending of its name. Read by a module of its own.
    Other(&'static str),
}

impl Sign {
    /// Returns how the format is recognized, in words.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Header(names) => {
                format!("header with {}", names.replace(' ', ", ").replace('|', " or "))
            }
            Self::Shape(shape) => {
                let kinds = shape.trim_end_matches('*');
                let more = if kinds == shape { "" } else { " or more" };
                format!(
                    "no header, {}{more} columns between tabs: {}",
                    kinds.len(),
                    kinds_in_words(kinds)
                )
            }
            Self::Other(words) => words.into(),
        }
    }
}

/// Describes the kinds of a shape; counts equal kinds that follow one another.
fn kinds_in_words(kinds: &str) -> String {
    let word = |kind: u8| match kind {
        b'n' => "number",
        b'i' => "whole number",
        b'p' => "percentage",
        b'z' => "0",
        b'm' => "-1",
        b'd' => "+ or -",
        b'x' => "database:identifier",
        _ => "text",
    };
    let groups = kinds.as_bytes().chunk_by(|a, b| a == b);
    let text = |group: &[u8]| match group.len() {
        1 => word(group[0]).to_owned(),
        count => format!("{count} x {}", word(group[0])),
    };
    groups.map(text).collect::<Vec<_>>().join(", ")
}

/// Row of the table of formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Name.
    pub(crate) name: &'static str,
    /// How it is recognized.
    pub(crate) sign: Sign,
    /// Names of the columns of source, target and weight. For [`Sign::Shape`], their numbers from 1; otherwise what is
    /// read, in words. An empty weight means that there is none, and `*` the column that its name or its values show.
    pub(crate) columns: [&'static str; 3],
    /// Sample in `tests/formats`.
    pub(crate) sample: &'static str,
    /// Text that stands for a missing name.
    pub(crate) absent: &'static str,
    /// Whether it holds hits of a search, most of which are found in both directions, with scores as weights.
    pub(crate) is_search: bool,
}

impl Format {
    /// Returns the columns of source, target and weight in a header.
    pub(crate) fn columns_in(&self, words: &[String]) -> [Option<usize>; 3] {
        self.columns.map(|names| {
            let at =
                |name: &str| words.iter().position(|word| *word == plain_word(name.as_bytes()));
            // Alternatives, the likeliest first.
            names.split('|').find_map(at)
        })
    }

    /// Returns the columns of source, target and weight of a shape, from 0.
    pub(crate) fn places(&self) -> [Option<usize>; 3] {
        self.columns.map(|number| number.parse::<usize>().ok().map(|number| number - 1))
    }
}

const fn row(
    name: &'static str,
    sign: Sign,
    columns: [&'static str; 3],
    sample: &'static str,
    absent: &'static str,
) -> Format {
    Format { name, sign, columns, sample, absent, is_search: false }
}

/// Returns the row of a format of search results.
const fn search(
    name: &'static str,
    sign: Sign,
    columns: [&'static str; 3],
    sample: &'static str,
) -> Format {
    Format { is_search: true, ..row(name, sign, columns, sample, "") }
}

/// All formats. Of several that fit, the first counts.
#[rustfmt::skip]
pub(crate) const FORMATS: &[Format] = &[
    search("vsearch table", Sign::Shape("sspiiiiiiimz"), ["1", "2", "3"], "vsearch.b6"),
    search("BLAST table", Sign::Shape("sspiiiiiiinn"), ["1", "2", "12"], "blast.m8"),
    search("BLAST table, extended", Sign::Shape("sspiiiiiiinn*"), ["1", "2", "12"], "blast-more.m8"),
    row("PAF", Sign::Shape("siiidsiiiiii*"), ["1", "6", "10"], "overlaps.paf", ""),
    row("PSI-MITAB", Sign::Shape("xxssssssssssss*"), ["1", "2", ""], "mitab.txt", "-"),
    search("BLAST table", Sign::Header("qseqid sseqid bitscore"), ["qseqid", "sseqid", "bitscore"], "diamond.tsv"),
    search("BLAST table", Sign::Header("query_acc.ver subject_acc.ver bit_score"), ["query acc.ver", "subject acc.ver", "bit score"], "blast-comments.m8"),
    search("DIAMOND table", Sign::Header("Query_ID Subject_ID Bit_score"), ["Query ID", "Subject ID", "Bit score"], "diamond-verbose.tsv"),
    search("MMseqs2 table", Sign::Header("query target bits"), ["query", "target", "bits"], "mmseqs.tsv"),
    row("STRING export", Sign::Header("node1 node2 node1_string_id node2_string_id combined_score"), ["node1", "node2", "combined_score"], "string-export.tsv", ""),
    row("STRING", Sign::Header("protein1 protein2 combined_score"), ["protein1", "protein2", "combined_score"], "string.txt", ""),
    row("BioGRID", Sign::Header("Entrez_Gene_Interactor_A Entrez_Gene_Interactor_B"), ["Entrez Gene Interactor A", "Entrez Gene Interactor B", ""], "biogrid.tab3.txt", "-"),
    row("BioGRID", Sign::Header("INTERACTOR_A INTERACTOR_B"), ["INTERACTOR_A", "INTERACTOR_B", ""], "biogrid.tab.txt", "-"),
    row("PSI-MITAB", Sign::Header("ID(s)_interactor_A ID(s)_interactor_B"), ["ID(s) interactor A", "ID(s) interactor B", ""], "mitab-header.txt", "-"),
    row("PLINK IBD", Sign::Header("IID1 IID2 PI_HAT"), ["IID1", "IID2", "PI_HAT"], "plink.genome", ""),
    row("PLINK LD", Sign::Header("SNP_A SNP_B R2"), ["SNP_A", "SNP_B", "R2"], "plink.ld", ""),
    row("PLINK 2 LD", Sign::Header("ID_A ID_B PHASED_R2|UNPHASED_R2"), ["ID_A", "ID_B", "PHASED_R2|UNPHASED_R2"], "plink2.vcor", ""),
    row("KING", Sign::Header("IID1 IID2 KINSHIP"), ["IID1", "IID2", "KINSHIP"], "plink2.kin0", ""),
    row("KING", Sign::Header("ID1 ID2 Kinship"), ["ID1", "ID2", "Kinship"], "king.kin0", ""),
    row("Splink", Sign::Header("unique_id_l unique_id_r match_probability"), ["unique_id_l", "unique_id_r", "match_probability"], "splink.csv", ""),
    row("Neo4j relationships", Sign::Header(":START_ID :END_ID"), [":START_ID", ":END_ID", "*"], "neo4j.csv", ""),
    row("KONECT", Sign::Other("first line `% sym`, `% asym` or `% bip`"), ["1", "2", "3"], "out.konect", ""),
    row("Matrix Market", Sign::Other("banner `%%MatrixMarket`"), ["row", "column", "value"], "matrix.mtx", ""),
];

/// Returns the format with a header of these words.
pub(crate) fn by_header(words: &[String]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| match format.sign {
        Sign::Header(wanted) => wanted.split(' ').all(|wanted| {
            let has = |name: &str| words.iter().any(|word| *word == plain_word(name.as_bytes()));
            wanted.split('|').any(has)
        }),
        _ => false,
    })
}

/// Returns whether columns with these names are those of a format of search results.
pub(crate) fn are_of_search<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let names: Vec<String> = names.map(|name| plain_word(name.as_bytes())).collect();
    let is_named = |format: &&Format| format.is_search && matches!(format.sign, Sign::Header(_));
    let columns = |format: &Format| format.columns.map(|name| plain_word(name.as_bytes()));
    FORMATS.iter().filter(is_named).any(|format| columns(format)[..] == names)
}

/// Returns the format whose shape most rows have, if the coordinates in all of these rows are possible. Tables of small
/// whole numbers, matrices and lists of members have columns of the same kinds.
pub(crate) fn by_shape(rows: &[Vec<&[u8]>]) -> Option<&'static Format> {
    let is_of = |shape: &str| {
        let fitting: Vec<&Vec<&[u8]>> = rows.iter().filter(|row| has_shape(row, shape)).collect();
        fitting.len() * 2 > rows.len() && are_possible(&fitting, shape)
    };
    FORMATS.iter().find(|format| matches!(format.sign, Sign::Shape(shape) if is_of(shape)))
}

/// Returns whether rows of this shape are hits or overlaps: spans lie within lengths, and alignments are about as long as
/// their spans. Rows of hits have one length, and a fraction, an exponent or a name that is no number.
fn are_possible(rows: &[&Vec<&[u8]>], shape: &str) -> bool {
    let number = |row: &Vec<&[u8]>, at: usize| parsed::<f64>(row[at]).unwrap_or(f64::NAN);
    let ascend = |row: &Vec<&[u8]>, places: &[usize]| {
        places.windows(2).all(|two| number(row, two[0]) <= number(row, two[1]))
    };
    if shape.starts_with("siiid") {
        return rows.iter().all(|row| {
            ascend(row, &[2, 3, 1]) && ascend(row, &[7, 8, 6]) && ascend(row, &[9, 10])
        });
    }
    if !shape.starts_with("sspi") {
        return true;
    }
    let is_hit = |row: &&Vec<&[u8]>| {
        let span = |from: usize| (number(row, from) - number(row, from + 1)).abs() + 1.0;
        let (length, spans) = (number(row, 3), [span(6), span(8)]);
        // In a translated search, a column of the alignment counts as three letters of a sequence. Each column has a
        // letter of at least one sequence.
        let is_about = spans.iter().all(|&span| span <= 3.0 * length + 3.0);
        is_about
            && number(row, 10) >= 0.0
            && length <= spans[0] + spans[1]
            && number(row, 4).max(number(row, 5)) <= length
    };
    if shape.ends_with('z') {
        return rows.iter().all(|row| ascend(row, &[6, 7]) && ascend(row, &[8, 9]));
    }
    let has_mark = |field: &&[u8]| field.iter().any(|byte| b".eE".contains(byte));
    let is_telling = |row: &&Vec<&[u8]>| {
        [2, 10, 11].iter().any(|&at| has_mark(&row[at]))
            || row[..2].iter().any(|name| !is_number(name))
    };
    rows.iter().all(|row| row.len() == rows[0].len())
        && rows.iter().filter(|row| is_hit(row)).count() * 10 >= rows.len() * 9
        && rows.iter().any(is_telling)
}

fn has_shape(row: &[&[u8]], shape: &str) -> bool {
    let (kinds, is_open) = shape.strip_suffix('*').map_or((shape, false), |kinds| (kinds, true));
    let fits = row.len() == kinds.len() || is_open && row.len() > kinds.len();
    fits && row.iter().zip(kinds.bytes()).all(|(field, kind)| is_of_kind(field, kind))
}

fn is_of_kind(field: &[u8], kind: u8) -> bool {
    let field = field.trim_ascii();
    let number = || parsed::<f64>(field);
    match kind {
        b'n' => number().is_some(),
        b'i' => number().is_some_and(|value| value.fract() == 0.0 && value >= 0.0),
        b'p' => number().is_some_and(|value| (0.0..=100.0).contains(&value)),
        b'z' => number() == Some(0.0),
        b'm' => number() == Some(-1.0),
        b'd' => matches!(field, b"+" | b"-"),
        b'x' => memchr::memchr(b':', field).is_some_and(|at| {
            at > 1
                && at + 1 < field.len()
                && field[..at]
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b" -_/".contains(byte))
        }),
        _ => !field.is_empty(),
    }
}

/// Returns the letters and digits of a name in lower case, without the type that Neo4j writes after or instead of it;
/// nothing if the name is not ASCII.
pub(crate) fn plain_word(name: &[u8]) -> String {
    if !name.is_ascii() {
        return String::new();
    }
    let name = match memchr::memchr(b':', name) {
        Some(0) => &name[..memchr::memchr(b'(', name).unwrap_or(name.len())],
        Some(at) => &name[..at],
        None => name,
    };
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(|byte| byte.to_ascii_lowercase() as char).collect()
}
