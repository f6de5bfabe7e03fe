//! Matrix Market files, METIS graphs, matrices of mcl.

use super::{Case, bad, finds};

const BANNER: &str = "%%MatrixMarket matrix coordinate";

fn market(name: &str, field: &str, rest: &str, expected: super::Expected) -> Case {
    Case::of(
        format!("Matrix Market: {name}"),
        "edges.mtx",
        format!("{BANNER} {field}\n{rest}"),
        expected,
    )
}

fn markets() -> Vec<Case> {
    let pattern = "pattern general";
    let whole = |name: &str, text: &'static str, expected| {
        Case::of(format!("Matrix Market: {name}"), "edges.mtx", text, expected)
    };
    vec![
        market("two edges", pattern, "4 4 2\n1 2\n3 4\n", finds("1 2|3 4")),
        market("one entry", pattern, "2 2 1\n1 2\n", finds("1 2")),
        market("symmetric", "real symmetric", "3 3 2\n2 1 1\n3 2 2\n", finds("1 2 3")),
        market(
            "skew-symmetric",
            "real skew-symmetric",
            "3 3 1\n2 1 -1\n",
            bad("weight is negative"),
        ),
        market("index 0", pattern, "3 3 1\n0 1\n", bad("index is not a row")),
        market("index beyond the rows", pattern, "3 3 1\n1 4\n", bad("index is not a row")),
        market(
            "index with a point",
            "real general",
            "2 2 1\n1.0 2.0 1\n",
            bad("index is not a row"),
        ),
        market("entries too few", pattern, "3 3 3\n1 2\n", bad("declares 3 entries, but has 1")),
        market(
            "entries too many",
            pattern,
            "3 3 1\n1 2\n2 3\n",
            bad("declares 1 entries, but has 2"),
        ),
        market("no entries", pattern, "3 3 0\n", bad("the input holds no edges")),
        market(
            "rectangle",
            pattern,
            "2 3 1\n1 3\n",
            finds("column:1|column:2|column:3 row:1|row:2"),
        ),
        market("no size", pattern, "", bad("the input holds no edges")),
        market("words for a size", pattern, "x y z\n", bad("has no valid size line")),
        market(
            "size too large for a number",
            pattern,
            "99999999999999999999 99999999999999999999 1\n1 2\n",
            bad("has no valid size line"),
        ),
        market("negative value", "real general", "2 2 1\n1 2 -1\n", bad("weight is negative")),
        market("value NaN", "real general", "2 2 1\n1 2 nan\n", bad("weight is NaN")),
        market("value missing", "real general", "2 2 1\n1 2\n", bad("line has 2 columns")),
        market(
            "complex",
            "complex general",
            "2 2 1\n1 2 1 1\n",
            bad("which is not a list of edges"),
        ),
        market(
            "unknown field",
            "quaternion general",
            "2 2 1\n1 2 1\n",
            bad("coordinate quaternion"),
        ),
        market(
            "unknown symmetry",
            "real circular",
            "2 2 1\n1 2 1\n",
            bad("unknown symmetry `circular`"),
        ),
        market(
            "directed half",
            "real symmetric",
            "2 2 1\n2 1 1\n",
            super::Expected::Refuses(2, "leave `--directed` out"),
        )
        .and(&["--directed"]),
        whole(
            "array",
            "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
            bad("which is not a list of edges"),
        ),
        whole(
            "vector",
            "%%MatrixMarket vector coordinate real general\n2 1\n1 1\n",
            bad("which is not a list of edges"),
        ),
        whole(
            "half a banner",
            "%%MatrixMarket\n3 3 1\n1 2\n",
            bad("an incomplete Matrix Market banner"),
        ),
        whole(
            "capitals",
            "%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL\n2 2 1\n1 2 1\n",
            finds("1 2"),
        ),
        whole(
            "line ends of Windows",
            "%%MatrixMarket matrix coordinate real general\r\n2 2 1\r\n1 2 1\r\n",
            finds("1 2"),
        ),
        whole(
            "mark of the byte order",
            "\u{feff}%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
            finds("1 2"),
        ),
        whole("no banner", "4 4 2\n1 2 1\n3 4 1\n", bad("does not begin with its banner")),
        whole(
            "no banner, but comments",
            "% from somewhere\n4 4 2\n1 2\n3 4\n",
            bad("does not begin with its banner"),
        ),
        Case::of(
            "Matrix Market: no banner and another name",
            "edges.txt",
            "4 4 2\n1 2 1\n3 4 1\n",
            super::asks("begins with the size of a matrix"),
        ),
        whole("edges by another name", "1 2 1\n3 4 1\n", finds("1 2|3 4"))
            .and(&["--format", "lines"]),
    ]
}

fn graphs() -> Vec<Case> {
    let of = |name: &str, text: &'static str, expected| {
        Case::of(format!("METIS: {name}"), "edges.metis", text, expected)
    };
    vec![
        of("two edges", "4 2\n2\n1\n4\n3\n", finds("1 2|3 4")),
        of("weights", "3 2 001\n2 5\n1 5 3 7\n2 7\n", finds("1 2 3")),
        of("weights of nodes", "2 1 010 1\n3 2\n4 1\n", finds("1 2")),
        of("weight 0", "2 1 001\n2 0\n1 0\n", finds("1|2")),
        of("node alone", "3 1\n2\n1\n\n", finds("1 2|3")),
        of("line ends of Windows", "2 1\r\n2\r\n1\r\n", finds("1 2")),
        of("nodes too few", "4 2\n2\n1\n", bad("file ends after 2 of 4 nodes")),
        of("nodes too many", "2 1\n2\n1\n1\n", bad("line follows the last of 2 nodes")),
        of("edges miscounted", "3 5\n2\n1 3\n2\n", bad("its header declares 5 edges")),
        of("one direction only", "3 2\n2 3\n\n\n", bad("some edges differ between the lists")),
        of("weight missing", "3 2 001\n2\n1 3\n2\n", bad("weight is missing")),
        of(
            "weights of two kinds",
            "2 1 001\n2 5\n1 6\n",
            bad("some edges differ between the lists"),
        ),
        of("negative weight", "2 1 001\n2 -5\n1 -5\n", bad("weight is negative")),
        of("weight of a node missing", "2 1 010 1\n\n\n", bad("node has no weight")),
        of("invalid flags", "2 1 7\n2\n1\n", bad("is not its header")),
        of("flags too many", "2 1 1111\n2\n1\n", bad("is not its header")),
        of("neighbor beyond the nodes", "2 1\n3\n1\n", bad("neighbor is not the number of a node")),
        of("neighbor 0", "2 1\n0\n1\n", bad("neighbor is not the number of a node")),
        of("words", "2 1\nx\n1\n", bad("neighbor is not the number of a node")),
        of("empty", "", bad("has no line")),
        of("header alone", "3 0\n", bad("file ends after 0 of 3 nodes")),
        of("more nodes than fit in memory", "99999999999 1\n2\n1\n", bad("file ends after 2 of")),
        of("negative number of nodes", "-2 1\n2\n1\n", bad("is not its header")),
        of("edges, not neighbors", "a\tb\nb\tc\n", bad("is not its header")),
        of("edges with `--format lines`", "a\tb\nb\tc\n", finds("a b c"))
            .and(&["--format", "lines"]),
    ]
}

fn matrices() -> Vec<Case> {
    const HEADER: &str = "(mclheader\nmcltype matrix\ndimensions 3x3\n)\n(mclmatrix\nbegin\n";
    let of = |name: &str, rest: &str, expected| {
        Case::of(format!("mcl: {name}"), "edges.mci", format!("{HEADER}{rest}"), expected)
    };
    vec![
        of("one edge", "0 1 $\n1 0 $\n2 $\n)\n", finds("0 1|2")),
        of("weights", "0 1:0.5 $\n1 0:0.5 $\n)\n", finds("0 1")),
        of("cut", "0 1 $\n1 0", bad("file ends too early")),
        of("cut after a line", "0 1 $\n1 0 $\n", bad("file ends too early")),
        of("no end of a list", "0 1\n1 0\n)\n", bad("entry of the matrix cannot be read")),
        of("node beyond the size", "0 9 $\n9 0 $\n)\n", bad("node does not exist")),
        of("one direction only", "0 1 $\n)\n", bad("some edges differ between the lists")),
        of(
            "edge twice in one direction",
            "0 1 $\n0 1 $\n1 0 $\n)\n",
            bad("some edges differ between the lists"),
        ),
        of("negative weight", "0 1:-1 $\n1 0:-1 $\n)\n", bad("weight is negative")),
        of("weight NaN", "0 1:nan $\n1 0:nan $\n)\n", bad("weight is NaN")),
        of("weight missing", "0 1: $\n1 0: $\n)\n", bad("weight is empty")),
        of("words", "a b $\n)\n", bad("node is not a number")),
        of("number too large", "0 99999999999999999999 $\n)\n", bad("cannot be read")),
        of("nothing", ")\n", bad("the input holds no edges")),
        of("text after the matrix", "0 1 $\n1 0 $\n)\nrubbish\n", bad("text follows the matrix")),
        of(
            "two in a file",
            "0 1 $\n1 0 $\n)\n(mclmatrix\nbegin\n0 2 $\n2 0 $\n)\n",
            bad("text follows the matrix"),
        ),
        Case::of(
            "mcl: no header",
            "edges.mci",
            "(mclmatrix\nbegin\n0 1 $\n1 0 $\n)\n",
            finds("0 1"),
        ),
        Case::of(
            "mcl: header alone",
            "edges.mci",
            "(mclheader\nmcltype matrix\n",
            bad("file ends too early"),
        ),
        Case::of(
            "mcl: rectangle",
            "edges.mci",
            "(mclheader\nmcltype matrix\ndimensions 3x5\n)\n(mclmatrix\nbegin\n0 1 $\n)\n",
            bad("matrix is rectangular"),
        ),
    ]
}

pub(super) fn all() -> Vec<Case> {
    markets().into_iter().chain(graphs()).chain(matrices()).collect()
}
