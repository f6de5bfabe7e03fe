//! Files of other formats given as edges.

use super::{Case, FOUND, bad, finds};

pub(super) fn texts() -> Vec<Case> {
    let of = |name: &'static str, text: &'static str, message: &'static str| {
        Case::of(name, "edges.txt", text, bad(message))
    };
    vec![
        of("FASTA", ">P1 protein\nMKV\n>P2\nMKL\n", "is FASTA"),
        of("FASTQ", "@r1\nACGT\n+\nIIII\n", "is FASTQ"),
        of("page of HTML", "<!DOCTYPE html>\n<html><body>", "is an HTML page"),
        of("page of HTML without a type", "<html>\n<head>", "is an HTML page"),
        of("page of HTML after a comment", "<!-- saved -->\n<html>\n", "is XML"),
        of(
            "Git LFS pointer",
            "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n",
            "git lfs pull",
        ),
        of("error of a server", "404: Not Found", "is a server's error message"),
        of("refusal of a server", "Error 403 Forbidden\n", "is a server's error message"),
        of(
            "error as XML",
            "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>",
            "is XML",
        ),
        of("error as JSON", "{\"error\": \"not found\"}\n", "is JSON"),
        of("GDF", "nodedef>name VARCHAR,label VARCHAR\ns1,Site\n", "is GDF"),
        of("UCINET", "DL N = 5\nformat = edgelist1\ndata:\n1 2\n", "is UCINET DL"),
        of("DOT", "graph {\n a -- b\n}\n", "is Graphviz DOT"),
        of("DOT of a directed graph", "strict digraph g {\n a -> b;\n}", "is Graphviz DOT"),
        of("JSON", "{\n \"nodes\": [],\n \"links\": []\n}", "is JSON"),
        of(
            "JSON lines",
            "{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":\"b\",\"target\":\"c\"}\n",
            "jq -r",
        ),
        of("JSON lines of arrays", "[\"a\",\"b\"]\n[\"b\",\"c\"]\n", "is JSON"),
        of("XML", "<root>\n<edge a='b'/>\n</root>\n", "is XML"),
        of("Newick", "((a,b),(c,d));\n", "is Newick"),
        of("Newick with lengths", "(a:0.1,b:0.2,(c:0.3,d:0.4):0.5);\n", "is Newick"),
        of("NEXUS", "#NEXUS\nbegin trees;\ntree a = (a,b);\nend;\n", "is NEXUS"),
        of("VCF", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\nchr1\t100\t.\n", "is VCF"),
        of("SAM", "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr1\tLN:1000\nr1\t0\tchr1\n", "is SAM"),
        of("PDB", "HEADER    HYDROLASE\nATOM      1  N   ALA A   1      11.104\n", "is PDB"),
        of("GFF", "##gff-version 3\nchr1\tsrc\tgene\t1\t100\n", "is GFF"),
        of("GTF", "#!genome-build x\nchr1\thavana\tgene\t1\t100\n", "is GTF"),
        of("Stockholm", "# STOCKHOLM 1.0\na ACGT\nb ACGA\n//\n", "Stockholm"),
        of("Clustal", "CLUSTAL W (1.8)\n\na ACGT\nb ACGA\n", "Clustal"),
        of("GenBank", "LOCUS       X 5028 bp\nDEFINITION  x\n", "is GenBank"),
        Case::of(
            "distances of PHYLIP",
            "edges.txt",
            "    3\na  0.0 0.1 0.2\nb  0.1 0.0 0.3\nc  0.2 0.3 0.0\n",
            super::asks("of its 4 columns are the edge"),
        ),
        of("OBO", "format-version: 1.2\n[Term]\nid: GO:1\n", "is OBO"),
        of("N-Triples", "<http://a> <http://b> <http://c> .\n", "is N-Triples"),
        of("Turtle", "@prefix a: <http://x> .\na:x a:y a:z .\n", "is Turtle"),
        of("ARFF", "@relation a\n@attribute b numeric\n@data\n1,2\n", "is ARFF"),
        of("YAML", "edges:\n  - [a, b]\n", "line has 1 column"),
        Case::of(
            "settings",
            "edges.txt",
            "[graph]\nname = x\n",
            super::asks("different numbers of columns"),
        ),
        of("LaTeX", "\\documentclass{article}\n\\begin{document}\n", "is LaTeX"),
        of("RTF", "{\\rtf1\\ansi a b}", "is RTF"),
        of("script", "#!/bin/sh\necho a b\n", "is a program"),
        of("private key", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "is a key"),
        Case::of("SIF by its name", "edges.sif", "a pp b\nc pp d\n", finds("a b|c d")),
        Case::of(
            "JSON lines with `--format lines`",
            "edges.txt",
            "[0, 1]\n[1, 2]\n",
            finds("1] [0|2] [1"),
        )
        .and(&["--format", "lines"]),
        Case::of("angle brackets", "edges.txt", "<a>\t<b>\n<b>\t<c>\n", finds("<a> <b> <c>")),
        Case::of(
            "words like those of GML",
            "edges.txt",
            "graph theory\ntheory of\n",
            finds("graph of theory"),
        ),
        Case::of("names after `>`", "edges.txt", ">a\t>b\n>b\t>c\n", finds(">a >b >c")),
        Case::of("names like `@r1`", "edges.txt", "@a\t@b\n@b\t@c\n+\t-\n", finds("+ -|@a @b @c")),
        Case::of("DOT as lines", "edges.txt", "a -- b\nb -- c\nd -- e\n", finds(FOUND))
            .and(&["--columns", "1,3"]),
    ]
}

/// Returns the first bytes of a zip archive whose first member has this name.
fn zip(member: &str) -> Vec<u8> {
    let length = (member.len() as u16).to_le_bytes();
    [b"PK\x03\x04", &[0; 22][..], &length, &[0; 2], member.as_bytes(), b"contents"].concat()
}

pub(super) fn binaries() -> Vec<Case> {
    let padded = |start: &[u8]| [start, &[0; 64]].concat();
    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"e.csv");
    tar[257..262].copy_from_slice(b"ustar");
    tar[148..156].copy_from_slice(b"002416\0 ");
    tar[512..516].copy_from_slice(b"a,b\n");
    // Random bytes, like those of compressed or encrypted data.
    let random: Vec<u8> = (0..4096u32)
        .map(|at| (at.wrapping_mul(2_654_435_761).rotate_left(at % 31) >> 7) as u8)
        .collect();
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("zip", zip("edges.csv"), "is a zip archive"),
        ("empty zip", padded(b"PK\x05\x06"), "is an empty zip archive"),
        ("Excel", zip("[Content_Types].xml"), "is an Excel workbook"),
        ("OpenDocument", zip("mimetype"), "is a zip archive"),
        ("old Excel", padded(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "is an Excel workbook"),
        ("NumPy archive", zip("indices.npy"), "is a NumPy archive"),
        ("NumPy array", padded(b"\x93NUMPY\x01\0"), "is a NumPy array"),
        ("tar", tar, "is a tar archive"),
        ("7z", padded(b"7z\xbc\xaf\x27\x1c"), "is a 7z archive"),
        ("RAR", padded(b"Rar!\x1a\x07\x01\0"), "is a RAR archive"),
        ("lz4", padded(b"\x04\x22\x4d\x18"), "lz4 -dc"),
        ("lzma", padded(b"\x5d\0\0\x80\0"), "compressed with lzma"),
        ("lzip", padded(b"LZIP\x01"), "compressed with lzip"),
        ("lzop", padded(b"\x89LZO\0\r\n\x1a\n"), "compressed with lzop"),
        ("compress", padded(b"\x1f\x9d\x90"), "compressed with compress"),
        ("snappy", padded(b"\xff\x06\0\0sNaPpY"), "compressed with snappy"),
        ("zlib", b"\x78\x9cK\xe4L\xe24\xe4J\xe2L\xe64".to_vec(), "compressed with zlib"),
        ("PDF", b"%PDF-1.4\n1 0 obj\n".to_vec(), "is PDF"),
        ("PostScript", b"%!PS-Adobe-3.0\n1 2 moveto\n".to_vec(), "is PostScript"),
        ("PNG", padded(b"\x89PNG\r\n\x1a\n"), "is an image"),
        ("JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF a b\n".to_vec(), "is an image"),
        ("GIF", b"GIF89a\x01\0\x01\0 a b\n".to_vec(), "is an image"),
        ("SQLite", padded(b"SQLite format 3\0"), "sqlite3 -csv"),
        ("HDF5", padded(b"\x89HDF\r\n\x1a\n"), "is HDF5"),
        ("pickle", b"\x80\x04\x95\x13\0\0\0\0\0\0\0]".to_vec(), "is a Python pickle"),
        ("old pickle", b"\x80\x02]q\0X\x01\0\0\0aq\x01".to_vec(), "is a Python pickle"),
        ("data of R", b"X\n\0\0\0\x03\0".to_vec(), "is R data"),
        ("data of R as text", b"A\n3\n262657\n197888\n".to_vec(), "is R data"),
        ("MATLAB", padded(b"MATLAB 5.0 MAT-file, Platform: x"), "is MATLAB data"),
        ("Stata", padded(b"<stata_dta><header>"), "is Stata data"),
        ("SPSS", padded(b"$FL2@(#) SPSS DATA FILE"), "is SPSS data"),
        ("ORC", padded(b"ORC\x08\x01"), "is ORC"),
        ("Avro", padded(b"Obj\x01\x04"), "is Avro"),
        ("Feather of version 1", padded(b"FEA1"), "is Feather version 1"),
        ("BAM", padded(b"BAM\x01"), "is BAM"),
        ("program", padded(b"\x7fELF\x02\x01\x01"), "is a program"),
        ("program of Windows", b"MZ\x90\0\x03 a b\n".to_vec(), "is a program"),
        ("class of Java", b"\xca\xfe\xba\xbe\0\0 a b\n".to_vec(), "is a program"),
        ("anything with zeros", padded(b"a\tb\nb\tc\n"), "is binary data"),
        ("anything", random, "error"),
    ];
    files
        .into_iter()
        .map(|(name, bytes, message)| Case::of(name, "edges.csv", bytes, bad(message)))
        .collect()
}
