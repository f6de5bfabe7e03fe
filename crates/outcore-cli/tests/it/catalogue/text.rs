//! Text: delimiters, headers, line ends, weights.

use super::{Case, FOUND, asks, bad, finds};

fn csv(name: &'static str, text: impl AsRef<[u8]> + 'static, expected: super::Expected) -> Case {
    Case::of(name, "edges.csv", text, expected)
}

pub(super) fn delimiters() -> Vec<Case> {
    vec![
        csv("tab", super::PLAIN, finds(FOUND)),
        csv("comma", "a,b,1\nb,c,2\nd,e,1\n", finds(FOUND)),
        csv("semicolon", "a;b;1\nb;c;2\nd;e;1\n", finds(FOUND)),
        csv("bar", "a|b|1\nb|c|2\nd|e|1\n", finds(FOUND)),
        csv("several spaces", "a   b  1\nb c 2\nd e   1\n", finds(FOUND)),
        csv("comma and space", "a, b, 1\nb, c, 2\nd, e, 1\n", finds(FOUND)),
        csv("bar between spaces", "a | b | 1\nb | c | 2\nd | e | 1\n", finds(FOUND)),
        csv("spaces before commas", "a ,b\nb ,c\nd ,e\n", finds(FOUND)),
        csv("tabs and spaces", "a\tb\t1\nb c 2\nd\te\t1\n", finds(FOUND)),
        csv("tabs, then commas", "a\tb\t1\nb,c,2\nd\te\t1\n", bad("to skip this line")),
        csv("colon", "a:b\nb:c\n", bad("use `--delimiter` to set")),
        csv("caret", "a^b\nb^c\n", bad("use `--delimiter` to set")),
        csv("control character of Hive", "a\x01b\nb\x01c\n", bad("no tab here")),
        csv("space that does not break", "a\u{a0}b\nb\u{a0}c\n", bad("use `--delimiter` to set")),
        csv("delimiter for Excel", "sep=;\na;b;1\nb;c;2\nd;e;1\n", finds(FOUND)),
        csv("comma for Excel", "sep=,\r\na,b\r\nb,c\r\nd,e\r\n", finds(FOUND)),
        csv("comma at the end of lines", "a,b,1,\nb,c,2,\nd,e,1,\n", finds(FOUND)),
        csv("tab at the end of lines", "a\tb\t\nb\tc\t\nd\te\t\n", finds(FOUND)),
        csv("space at the end of lines", "a b \nb c \nd e \n", finds(FOUND)),
        csv("arrow", "a -> b\nb -> c\n", asks("does not say which of its 3 columns")),
        csv("two dashes", "a -- b\nb -- c\n", asks("use `--columns 1,3`")),
        csv("arrow and columns", "a -> b\nb -> c\nd -> e\n", finds(FOUND))
            .and(&["--columns", "1,3"]),
        csv("relation", "a pp b\nb pd c\n", asks("does not say which of its 3 columns")),
        csv("relation between tabs", "a\tknows\tb\nb\tlikes\tc\n", asks("use `--columns 1,3`")),
        csv(
            "table of Markdown",
            "| a | b |\n|---|---|\n| b | c |\n",
            asks("does not say which of its"),
        ),
        csv("tuples", "('a', 'b')\n('b', 'c')\n", asks("holds Python tuples")),
        csv(
            "tuples with weights",
            "('a', 'b', 1.0)\n('b', 'c', 2.0)\n",
            asks("does not say which of its"),
        ),
        csv("attributes of networkx", "a b {'weight': 1.0}\nb c {}\n", finds("a b c")),
        csv("no attributes of networkx", "a b {}\nb c {}\nd e {}\n", finds(FOUND)),
        csv("neighbors by name", "a b c d\nb a c\nc a b\nd a\n", asks("--format adjlist")),
        csv("neighbors by number", "1 2 3 4\n2 1 3\n3 1 2\n4 1\n", asks("--format adjlist")),
        csv("matrix with names", ",a,b,c\na,1,.5,.2\nb,.5,1,.1\nc,.2,.1,1\n", asks("is a matrix")),
        csv(
            "matrix of R",
            "a b c\na 1 .5 .2\nb .5 1 .1\nc .2 .1 1\n",
            asks("does not say which of its"),
        ),
        csv("matrix of correlations", "1,.5,.2\n.5,1,.1\n.2,.1,1\n", asks("matrix of numbers")),
        csv(
            "matrix of zeros and ones",
            "0 1 1 0\n1 0 0 0\n1 0 0 1\n0 0 1 0\n",
            asks("does not say which of its 4 columns"),
        ),
        csv("three edges like a matrix", "1 2 3\n2 5 1\n3 4 1\n", finds("1 2 5|3 4")),
        csv("one column", "a\nb\nc\n", bad("line has 1 column")),
        csv("quotes and spaces", "\"a\" \"b\" 1\n\"b\" \"c\" 2\n\"d\" \"e\" 1\n", finds(FOUND)),
        csv("quotes around spaces", "\"a x\" \"b\"\n\"b\" \"c y\"\n", finds(r"a\x20x b c\x20y")),
        csv("quotes and tabs", "\"a\"\t\"b\"\n\"b\"\t\"c\"\n\"d\"\t\"e\"\n", finds(FOUND)),
        csv("quotes after spaces", "\"a\", \"b\"\n\"b\", \"c\"\n\"d\", \"e\"\n", finds(FOUND)),
    ]
}

pub(super) fn headers() -> Vec<Case> {
    let twice = "line repeats the header";
    vec![
        csv("usual", "source,target,weight\na,b,1\nb,c,2\nd,e,1\n", finds(FOUND)),
        csv("other order", "weight,target,source\n1,b,a\n2,c,b\n1,e,d\n", finds(FOUND)),
        csv("from and to", "from,to\na,b\nb,c\nd,e\n", finds(FOUND)),
        csv(
            "Gephi",
            "Source;Target;Type;Id;Label;Weight\na;b;Undirected;0;;1.0\nb;c;Undirected;1;;2.0\nd;e;Undirected;2;;1.0\n",
            finds(FOUND),
        ),
        csv(
            "data frame with index",
            ",source,target,weight\n0,a,b,1\n1,b,c,2\n2,d,e,1\n",
            finds(FOUND),
        ),
        csv(
            "data frame with index and other names",
            ",x,y,z\n0,a,b,1\n1,b,c,2\n2,d,e,1\n",
            finds(FOUND),
        ),
        csv("index with a name", "Unnamed: 0,source,target\n0,a,b\n1,b,c\n2,d,e\n", finds(FOUND)),
        csv(
            "rows of R",
            "\"from\" \"to\" \"w\"\n\"1\" \"a\" \"b\" 1\n\"2\" \"b\" \"c\" 2\n\"3\" \"d\" \"e\" 1\n",
            finds(FOUND),
        ),
        csv("capitals", "SOURCE,TARGET,WEIGHT\na,b,1\nb,c,2\nd,e,1\n", finds(FOUND)),
        csv("quotes", "\"source\",\"target\"\n\"a\",\"b\"\n\"b\",\"c\"\nd,e\n", finds(FOUND)),
        csv("spaces", "source, target, weight\na, b, 1\nb, c, 2\nd, e, 1\n", finds(FOUND)),
        csv("byte order mark", "\u{feff}source,target\na,b\nb,c\nd,e\n", finds(FOUND)),
        csv("only a header", "source,target,weight\n", bad("the input holds no edges")),
        csv("header between edges", "source,target\na,b\nsource,target\nb,c\n", bad(twice)),
        csv("header twice", "source,target\nsource,target\na,b\n", bad(twice)),
        csv(
            "header of weights twice",
            "source,target,weight\nsource,target,weight\na,b,1\n",
            bad("weight is not a number"),
        ),
        csv(
            "header after the first edge",
            "a,b,1\nsource,target,weight\nb,c,1\n",
            bad("weight is not a number"),
        ),
        csv("header twice, skipped", "source,target\na,b\nsource,target\nb,c\nd,e\n", finds(FOUND))
            .and(&["--on-bad-line", "skip"]),
        csv("unknown names over numbers", "von,nach\n1,2\n2,3\n4,5\n", finds("1 2 3|4 5")),
        csv(
            "unknown names over a weight",
            "Quelle;Ziel;Gewicht\na;b;1\nb;c;2\nd;e;1\n",
            finds(FOUND),
        ),
        csv("unknown names with `--header`", "Quelle;Ziel\na;b\nb;c\nd;e\n", finds(FOUND))
            .and(&["--header", "yes"]),
        csv("table of nodes", "Id,Label,Modularity\n1,a,0\n2,b,1\n", asks("is a table of nodes")),
        csv("communities", "node,community\na,0\nb,0\n", asks("is a table of nodes")),
        csv("nodes as edges with `--columns`", "id,label\na,b\nb,c\nd,e\n", finds(FOUND))
            .and(&["--columns", "id,label"]),
        csv(
            "comma in a name",
            "source,target\nSmith, John,b\nb,c\n",
            bad("more columns than the header"),
        ),
        csv(
            "weight without a name",
            "source,target\na,b,1\nb,c,2\n",
            asks("one column more than its header names"),
        ),
        csv("commas at the end", "source,target\na,b,,\nb,c,,\nd,e,,\n", finds(FOUND)),
        csv("same name twice", "x,x,w\na,b,1\n", bad("two columns named `x`"))
            .and(&["--columns", "x,w"]),
        csv("unknown column", "source,target\na,b\n", bad("has no column named `nope`"))
            .and(&["--columns", "nope,target"]),
        csv(
            "column by name and number",
            "source,target\na,b\n",
            super::Expected::Refuses(2, "twice"),
        )
        .and(&["--columns", "source,1"]),
        csv(
            "escapes in a name",
            "\x1b[31msource,to\x07\na,b\nb,c\n",
            bad(r"\x1b[31msource, to\x07"),
        )
        .and(&["--columns", "x,y"]),
        csv("first weight is missing", "a,b,NA\nb,c,2\nd,e,1\n", bad("weight is not a number")),
        csv("first weight is empty", "a,b,\nb,c,2\nd,e,1\n", bad("weight is empty")),
    ]
}

pub(super) fn lines() -> Vec<Case> {
    let wide = |text: &str, is_little: bool| -> Vec<u8> {
        let bytes = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    };
    let returns = "carriage returns without line feeds";
    let long = |bytes: usize| format!("a,b\n{},b\nd,e\n", "x".repeat(bytes));
    let many = |last: &str| format!("a,b{0}\nb,c{0}\nd,e{0}\n{last}", ",1".repeat(100_000));
    vec![
        csv("UTF-16 with a mark", wide("\u{feff}a,b\nb,c\n", true), bad("iconv -f UTF-16 ")),
        csv(
            "UTF-16 of the other order with a mark",
            wide("\u{feff}a,b\nb,c\n", false),
            bad("iconv -f UTF-16 "),
        ),
        csv("UTF-16", wide("a,b\nb,c\n", true), bad("iconv -f UTF-16LE")),
        csv("UTF-16 of the other order", wide("a,b\nb,c\n", false), bad("iconv -f UTF-16BE")),
        csv("UTF-32", b"\xff\xfe\0\0a\0\0\0,\0\0\0b\0\0\0\n\0\0\0", bad("is UTF-32 text")),
        csv("UTF-32 without a mark", b"a\0\0\0,\0\0\0b\0\0\0\n\0\0\0", bad("is binary data")),
        csv("Latin-1", b"M\xfcller,b\nb,\xe9t\xe9\nd,e\n", finds(r"M\xfcller \xe9t\xe9 b|d e")),
        csv("byte order mark", "\u{feff}a,b\nb,c\nd,e\n", finds(FOUND)),
        csv("carriage returns", "a,b\rb,c\rd,e\r", bad(returns)),
        csv("carriage returns and one line feed", "a,b\rb,c\rd,e\r\n", bad(returns)),
        csv("carriage returns twice", "a,b\r\r\nb,c\r\r\n", bad(returns)),
        csv("carriage returns after line feeds", "a,b\n\rb,c\n\r", bad(returns)),
        csv("carriage returns between line feeds", "a,b\rb,c\nd,e\n", bad(returns)),
        csv("line ends of Windows", "a,b\r\nb,c\r\nd,e\r\n", finds(FOUND)),
        csv("line ends of both", "a,b\nb,c\r\nd,e\n", finds(FOUND)),
        csv("no line end", "a,b\nb,c\nd,e", finds(FOUND)),
        csv("one zero", "a\0,b\nb,c\nd,e\n", finds(r"a\x00 b c|d e")),
        csv("zeros at the end", [&b"a,b\nb,c\n"[..], &[0; 4096]].concat(), bad("is binary data")),
        csv("zeros alone", [0; 4096], bad("it contains zero bytes")),
        csv("form feed", "a,b\n\x0cb,c\nd,e\n", finds(r"\x0cb c|a b|d e")),
        csv("escapes in names", "\x1b[31ma,b\nb,c\nd,e\n", finds(r"\x1b[31ma b c|d e")),
        csv(
            "escapes in a bad line",
            "a,b,1\n\x1b[31mx,\x1b]0;owned\x07,z\nc,d,1\n",
            bad(r"\x1b[31mx,\x1b]0;owned\x07,z"),
        ),
        csv("end of a file of DOS", "a,b\nb,c\n\x1a", bad("line has 1 column")),
        csv("empty source", "a,b\n,c\nd,e\n", bad("source has no name")),
        csv("empty target", "a,b\nb,\nd,e\n", bad("target has no name")),
        csv("empty name in quotes", "a,b\n\"\",c\n", bad("source has no name")),
        csv("delimiter in quotes", "\"a,x\",b\nb,c\nd,e\n", finds("a,x b c|d e")),
        csv("line end in quotes", "\"a\nx\",b\nb,c\n", bad("quote is not closed")),
        csv("doubled quotes", "\"a\"\"x\",b\nb,c\nd,e\n", finds(r#"a\"x b c|d e"#)),
        csv("quote without end", "\"a,b\nb,c\n", bad("quote is not closed")),
        csv("quote without end in the last line", "a,b\nb,c\nd,\"e\n", bad("quote is not closed")),
        csv("text after a quote", "a,\"b\"x\nb,c\n", bad("text follows the closing quote")),
        csv("comments", "# a,b\na,b\n# x\nb,c\nd,e\n", finds(FOUND)),
        csv("comments with percent signs", "% KONECT\n% 3 3\na b\nb c\nd e\n", finds(FOUND)),
        csv("comments with slashes", "// made by, tool\na,b\nb,c\n", asks("`--comment //`")),
        csv("comments with dashes", "a,b\n-- dumped, today\nb,c\n", asks("`--comment --`")),
        csv(
            "comments with slashes and `--comment`",
            "// made by, tool\na,b\nb,c\nd,e\n",
            finds(FOUND),
        )
        .and(&["--comment", "//"]),
        csv("comment with a semicolon", "; x\na,b\n", asks("may be separated by")),
        csv("blank lines", "\n\na,b\n \nb,c\n\t\nd,e\n\n", finds(FOUND)),
        csv("columns too few", "a,b,1\nb,c\nd,e,1\n", bad("line has 2 columns")),
        csv("columns too many", "a,b,1\nb,c,1,x,y\nd,e,1\n", bad("more columns than most lines")),
        csv("columns too few first", "a,b\nb,c,1\nd,e,1\n", bad("edges.csv:1:1")),
        csv("empty", "", bad("the input holds no edges")),
        csv("only blanks", "  \n\t\n", bad("the input holds no edges")),
        csv("only comments", "# a\n# b\n", bad("the input holds no edges")),
        csv("only a byte order mark", "\u{feff}", bad("the input holds no edges")),
        csv("one edge", "a,b", finds("a b")),
        csv("leading zeros", "01,1\n1,2\n001,3\n", finds("001 3|01 1 2")),
        csv(
            "numbers beyond a double",
            "9007199254740993,9007199254740992\n1,2\n",
            finds("1 2|9007199254740992 9007199254740993"),
        ),
        csv("capitals", "A,b\na,c\n", finds("A b|a c")),
        csv("one edge repeatedly", "a,b\na,b\nb,a\nc,d\n", finds("a b|c d")),
        csv("only self-loops", "a,a\nb,b\n", finds("a|b")),
        csv("name of 64 KiB", long(65_536).replace("d,e\n", ""), finds_long()),
        csv("name beyond 64 KiB", long(65_537), bad("name is longer than 64 KiB")),
        csv("line beyond 1 MiB", long(2 << 20), bad("line is longer than 1 MiB")),
        csv("100,000 columns", many(""), asks("which of its 100002 columns")),
        csv("100,000 columns, then two", many("a,b\n"), asks("which of its 100002 columns")),
        csv(
            "100,000 delimiters",
            format!("{}\na,b\n", ",".repeat(100_000)),
            bad("source has no name"),
        ),
        csv(
            "page of letters",
            "Dear colleague,\nplease find, attached, the file.\n",
            asks("different numbers of columns"),
        ),
    ]
}

fn finds_long() -> super::Expected {
    let name: &'static str = Box::leak("x".repeat(65_536).into_boxed_str());
    finds(Box::leak(format!("a b {name}").into_boxed_str()))
}

/// Returns cases for the weight of the second of three edges, without a header.
pub(super) fn weights() -> Vec<Case> {
    let of = |weight: &str| format!("a,b,1\nb,c,{weight}\nd,e,1\n");
    let valid = ["1e-400", "1e307", "4.9e-324", "+1", ".5", "5.", "00012", "1e5", " 1 "];
    let zero = ["0", "-0", "0.0", "0e5"];
    let refused: [(&str, &str); 28] = [
        ("nan", "weight is NaN"),
        ("NaN", "weight is NaN"),
        ("inf", "weight is infinite"),
        ("+Infinity", "weight is infinite"),
        ("-inf", "weight is negative"),
        ("-1", "weight is negative"),
        ("-1e-400", "weight is negative"),
        ("1e400", "weight is infinite"),
        ("NA", "weight is not a number"),
        ("NULL", "weight is not a number"),
        ("-", "weight is not a number"),
        ("0x10", "weight is not a number"),
        ("1_000", "weight is not a number"),
        ("1 000", "weight is not a number"),
        ("\"1,5\"", "replace decimal commas with points"),
        ("\"1,000\"", "weight is not a number"),
        ("1%", "weight is not a number"),
        ("$5", "weight is not a number"),
        ("½", "weight is not a number"),
        ("１", "weight is not a number"),
        ("1L", "weight is not a number"),
        ("1/2", "weight is not a number"),
        ("1.2.3", "weight is not a number"),
        ("TRUE", "weight is not a number"),
        ("1e", "weight is not a number"),
        ("text", "weight is not a number"),
        ("", "weight is empty"),
        ("\"\"", "weight is empty"),
    ];
    let one =
        |weight: &str, expected| Case::of(format!("`{weight}`"), "edges.csv", of(weight), expected);
    let mut cases: Vec<Case> = Vec::new();
    cases.extend(valid.map(|weight| one(weight, finds(FOUND))));
    cases.extend(zero.map(|weight| one(weight, finds("a b|c|d e"))));
    cases.extend(refused.map(|(weight, message)| one(weight, bad(message))));
    cases.extend([
        csv("decimal commas and semicolons", "a;b;1,5\nb;c;2\nd;e;0,5\n", finds(FOUND)),
        csv("decimal commas and tabs", "a\tb\t1,5\nb\tc\t2\n", bad("tr , .")),
        csv(
            "points for thousands, and decimal commas",
            "a;b;1.000,5\nb;c;2.500,5\n",
            bad("weight is not a number"),
        ),
        csv("spaces for thousands", "a\tb\t1 000\nb\tc\t2 500\n", bad("weight is not a number")),
        csv("shares", "a,b,5%\nb,c,6%\n", bad("weight is not a number")),
        csv("currencies", "source,target,amount\na,b,$5\nb,c,$6\n", bad("weight is not a number")),
        csv("digits of another alphabet", "a,b,٣\nb,c,٤\n", bad("weight is not a number")),
        csv(
            "minus of typesetters",
            "a,b,\u{2212}1\nb,c,\u{2212}2\n",
            bad("weight is not a number"),
        ),
        csv(
            "words below a weight",
            "source,target,weight\na,b,high\nb,c,low\n",
            bad("weight is not a number"),
        ),
        csv("nothing below a weight", "source,target,weight\na,b,\nb,c,\n", bad("weight is empty")),
        csv("words in the third column", "a,b,x\nb,c,y\nd,e,z\n", asks("use `--columns")),
        csv(
            "dates in the third column",
            "a,b,2024-01-01\nb,c,2024-01-02\nd,e,2024-01-03\n",
            asks("use `--columns"),
        ),
        csv("zeros alone", "a,b,0\nb,c,0\n", finds("a|b|c")),
    ]);
    cases
}
