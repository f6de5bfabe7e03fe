//! Lines that are not edges are refused by name; similar lines that are edges are read.

use super::*;

fn refused(text: &str) -> Option<String> {
    let error = read(&[text.as_bytes()], plain, LARGE).err()?;
    assert!(error.hint_text().is_some(), "{error}");
    Some(error.message().to_owned())
}

#[test]
fn lines_that_are_not_edges_are_refused_by_name() {
    for (text, message) in [
        ("a -> b\nb -> c\n", "does not say which of its 3 columns"),
        ("1 -- 2\n2 -- 3\n", "does not say which of its 3 columns"),
        ("a\tpp\tb\nb\tpd\tc\n", "does not say which of its 3 columns"),
        ("a b c d\nb a c d\nc a b d\nd a b c\n", "does not say which of its 4 columns"),
        ("1 2 3 4\n2 1 3\n3 1 2\n4 1\n", "have different numbers of columns"),
        (",a,b,c\na,1,.5,.2\nb,.5,1,.1\nc,.2,.1,1\n", "is a matrix with the same names"),
        ("a\tb\tc\na\t1\t.5\t.2\nb\t.5\t1\t.1\nc\t.2\t.1\t1\n", ""),
        ("1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,1\n", "is a matrix of numbers"),
        ("0 1 1 0\n1 0 0 1\n1 0 0 1\n0 1 1 1\n", "does not say which of its 4 columns"),
        ("4 4 2\n1 2 1\n3 4 1\n", "begins with the size of a matrix"),
        ("(a, b)\n(b, c)\n", "holds Python tuples"),
        ("Id,Label\n1,a\n2,b\n", "is a table of nodes"),
        ("// made by, tool\na,b\n", "has lines that look like comments"),
        // Fractions are no names, and a file is one table.
        ("source,target\n1,2.0\n2,3.0\n", "has fractions where names are expected"),
        ("0,0.5,0.25\n1,0.125,0.5\n", "has fractions where names are expected"),
        ("0,Ann\n1,Bob\n\n0,1\n1,2\n", "two tables"),
        ("source,target\n1,2\n\nid,name\n1,Ann\n", "two tables"),
        ("3\n0 1 0\n2 1 1\n3 4 1\n", "begins with a number alone"),
        // The only other number may be of any kind.
        ("source,target,match_key\na,b,0\nb,c,1\n", "has a column that may be the weight"),
        ("source_l,id_l,source_r,id_r\nA,1,B,2\nA,2,B,3\n", "may be unique only with"),
    ] {
        let found = refused(text).unwrap_or_default();
        assert!(found.contains(message), "{text}: {found}");
        let lines = |options: &mut InputOptions| {
            options.format = EdgeFormat::Lines;
            options.on_bad_line = OnBadLine::Skip;
        };
        assert!(read(&[text.as_bytes()], lines, LARGE).is_ok(), "{text}");
    }
}

#[test]
fn similar_lines_of_edges_are_read() {
    for text in [
        "1 2 3\n2 5 1\n3 4 1\n",
        "1 2 1\n2 1 1\n1 1 1\n",
        "name,group\na,x\nb,x\n",
        "2 2 5\n1 2 1\n",
        "(a),b\n(b),c\n",
        "1.2.3,1.2.4\n1.2.4,2.0.0\n",
        "1e5a\t2e6b\n2e6b\t1e5\n2e6b\tx\n",
        "source,target\n\na,b\n\nb,c\n# x\nc,d\n",
        "Lee, Ann\tRay, Bob\nRay, Bob\tDoe, Cyd\n",
        "sp|P1|A\tsp|P2|B\t0.5\nsp|P2|B\tsp|P3|C\t2\n",
        "source,target,num_papers\na,b,0\nb,c,1\n",
    ] {
        assert_eq!(refused(text), None, "{text}");
    }
}

#[test]
fn repeated_headers_and_extra_columns_are_bad_lines() {
    let header = "source,target\na,b\n";
    for (text, message, line) in [
        (format!("{header}source,target\nb,c\n"), "line repeats the header", 3),
        (format!("{header}Smith, John,b\nb,c\n"), "line has more columns than the header names", 3),
        ("source,target\na,b,1\n".into(), "line has more columns than the header names", 2),
    ] {
        for memory in [TINY, LARGE] {
            let error = read(&[text.as_bytes()], plain, memory).unwrap_err();
            assert_eq!((error.message(), error.place().unwrap().line), (message, line), "{text}");
        }
    }
    let skip = |options: &mut InputOptions| options.on_bad_line = OnBadLine::Skip;
    let text = format!("{header}source,target\nx,y,z\nb,c,\n");
    assert_eq!(edges(text.as_bytes(), skip), [edge("a", "b", 1.0), edge("b", "c", 1.0)]);
    // R writes the numbers of rows into a column without a name.
    let of_r = "\"from\" \"to\"\n\"1\" \"a\" \"b\"\n\"3\" \"b\" \"c\"\n";
    assert_eq!(edges(of_r.as_bytes(), plain), [edge("a", "b", 1.0), edge("b", "c", 1.0)]);
    for rows in [["17", "4"], ["x", "y"]] {
        let text = format!(
            "\"from\"\t\"to\"\n\"{}\"\t\"a\"\t\"b\"\n\"{}\"\t\"b\"\t\"c\"\n",
            rows[0], rows[1]
        );
        assert_eq!(edges(text.as_bytes(), plain), [edge("a", "b", 1.0), edge("b", "c", 1.0)]);
    }
}

#[test]
fn names_of_rows_are_no_nodes() {
    let named = |options: &mut InputOptions| {
        options.columns = Some(["from", "to"].map(|name| Column::Name(name.into())).to_vec());
    };
    let by_number = |options: &mut InputOptions| {
        options.columns = Some([2, 3].map(Column::Number).to_vec());
    };
    // As R writes them: only names are in quotes.
    for delimiter in ["\t", " ", ","] {
        let header = ["\"from\"", "\"to\"", "\"weight\""].join(delimiter);
        let rows = [["\"17\"", "1", "2", "3"], ["\"4\"", "2", "4", "2"], ["\"9\"", "4", "5", "2"]];
        let lines = rows.map(|row| row.join(delimiter)).join("\n");
        let text = format!("{header}\n{lines}\n");
        let expected = [edge("1", "2", 3.0), edge("2", "4", 2.0), edge("4", "5", 2.0)];
        assert_eq!(edges(text.as_bytes(), plain), expected, "{text}");
        let unweighted = [edge("1", "2", 1.0), edge("2", "4", 1.0), edge("4", "5", 1.0)];
        assert_eq!(edges(text.as_bytes(), named), unweighted);
    }
    // Otherwise, the column without a name may be the first or the last.
    for text in [
        "from\tto\tweight\n17\t1\t2\t3\n4\t2\t4\t2\n",
        "\"from\"\t\"to\"\t\"weight\"\n\"17\"\t\"1\"\t\"2\"\t3\n\"4\"\t\"2\"\t\"4\"\t2\n",
        "\"from\"\t\"to\"\t\"weight\"\n\"a\"\t\"x\"\t\"y\"\t3\n\"y\"\t\"y\"\t\"z\"\t2\n",
        "from,to\na,b,2\nb,c,3\n",
    ] {
        for change in [plain as fn(&mut InputOptions), named] {
            let error = read(&[text.as_bytes()], change, LARGE).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
            assert!(error.message().ends_with("one column more than its header names"), "{text}");
            assert!(error.hint_text().unwrap().starts_with("use `--columns 2,3"), "{text}");
        }
        let text = text.as_bytes();
        assert_eq!(edges(text, by_number).len(), 2);
    }
    let trailing = "from,to\na,b,\nb,c,\n";
    assert_eq!(edges(trailing.as_bytes(), named), [edge("a", "b", 1.0), edge("b", "c", 1.0)]);
}

#[test]
fn a_delimiter_leaves_no_other_inside_its_fields() {
    for (text, message) in [
        (
            "April 15, 2023;a;b;x\nApril 14, 2023;b;c;y\n",
            "may be separated by a comma or a semicolon",
        ),
        ("g1\tg2\tx;y\t0.5\ng2\tg3\tz;w\t0.25\n", "which of its 4 columns"),
        ("a\tb,c,1\nb\tc,d,2\n", "may be separated by a tab or a comma"),
        ("1 2\t1 99\n3 4\t5 6\n", "may be separated by a tab or a space"),
        (".4 & .8 .4;.4 .2\n.1 & .2 .3;.1 .5\n", "may be separated by a semicolon or a space"),
        ("a b;\nb c;\n", "ends its lines with `;`"),
        ("a\tb;\nb\tc; \n", "ends its lines with `;`"),
    ] {
        let found = refused(text).unwrap_or_default();
        assert!(found.contains(message), "{text}: {found}");
    }
}

/// Another delimiter is suggested for the first line alone: lines before a later one would be bad.
#[test]
fn a_delimiter_is_suggested_for_the_first_line() {
    let by_comma = |options: &mut InputOptions| options.delimiter = Some(Delimiter::Byte(b','));
    let hint = |text: &[u8]| {
        let error = read(&[text], by_comma, LARGE).unwrap_err();
        error.hint_text().unwrap().to_string()
    };
    assert!(hint(b"a\tb\t1\nc\n").starts_with("use `--delimiter tab`"));
    assert!(hint(b"a,b,1\nc\td\t1\n").starts_with("use `--on-bad-line skip`"));
}

/// Whether a name is none does not depend on the lines that were sampled.
#[test]
fn names_that_are_none_are_bad_lines_anywhere() {
    let many = |line: &str, last: &str| format!("source,target\n{}{last}\n", line.repeat(2000));
    for (line, last, message) in [
        ("1,2\n", "3,2.0", "name is a fraction, but others are whole numbers"),
        ("1,2\n", "1e+05,2", "name is a fraction, but others are whole numbers"),
        ("1,2\n", "1,nan", "name stands for a missing value"),
        ("a,b\n", "a,NaN", "name stands for a missing value"),
        ("a,b\n", "<NA>,b", "name stands for a missing value"),
    ] {
        for memory in [TINY, LARGE] {
            let error = read(&[many(line, last).as_bytes()], plain, memory).unwrap_err();
            assert_eq!((error.message(), error.place().unwrap().line), (message, 2002), "{last}");
            assert!(error.hint_text().unwrap().starts_with("use `--columns 1,2` if it is a name"));
        }
        let given = |options: &mut InputOptions| {
            options.columns = Some(vec![Column::Number(1), Column::Number(2)]);
        };
        assert_eq!(edges(many(line, last).as_bytes(), given).len(), 2001);
    }
    // Between text, a number is a name like any other.
    for last in ["1.5,b", "1e5,nancy", "n,<b>", "1,none"] {
        assert_eq!(edges(many("a,b\n", last).as_bytes(), plain).len(), 2001, "{last}");
    }
}

#[test]
fn tables_of_small_numbers_are_no_search_results() {
    let table = |field: &dyn Fn(usize, usize) -> usize, width: usize| -> String {
        let row = |row| (0..width).map(|at| field(row, at).to_string()).collect::<Vec<_>>();
        (0..20).map(|at| row(at).join("\t") + "\n").collect()
    };
    for width in 12..16 {
        for text in [
            table(&|row, at| (row * 7 + at * at * 3 + at) % 41, width),
            table(&|row, at| usize::from((row * at + row) % 5 == 0), width),
            table(&|row, at| row * 20 + at, width),
        ] {
            let found = refused(&text).unwrap_or_default();
            assert!(found.contains("does not say which of its"), "{found}: {text}");
        }
    }
    // Translated searches, the other strand, and numbers as names.
    let hit =
        |names: &str, span: &str, e: &str| format!("{names}\t98.5\t66\t1\t0\t{span}\t{e}\t380\n");
    for (names, span) in
        [("c\tp", "1\t198\t1\t66"), ("c\tp", "198\t1\t1\t66"), ("1\t2", "1\t66\t500\t435")]
    {
        assert_eq!(edges(hit(names, span, "0.0").as_bytes(), plain).len(), 1, "{names} {span}");
    }
}

#[test]
fn quotes_and_spaces_around_names_are_not_part_of_them() {
    let expected = [edge("a x", "b", 1.5), edge("b", "c", 2.0)];
    for text in [
        "\"a x\"\t\"b\"\t1.5\n\"b\"\t\"c\"\t2\n",
        "\"a x\" \"b\" 1.5\n\"b\" \"c\" 2\n",
        "a x, b, 1.5\nb ,c, 2\n",
        "a x| b |1.5\nb |c|2\n",
        "\"a x\", \"b\", 1.5\n\"b\", \"c\", 2\n",
    ] {
        assert_eq!(edges(text.as_bytes(), plain), expected, "{text}");
    }
    assert_eq!(edges(b"\"a\"\tb\nb\tc\n", plain)[0], edge("a", "b", 1.0));
    assert_eq!(edges(b" a\tb \n", plain), [edge("a", "b", 1.0)]);
    assert_eq!(edges(b"\" a\" , b\n", plain), [edge(" a", "b", 1.0)]);
}
