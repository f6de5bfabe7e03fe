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
