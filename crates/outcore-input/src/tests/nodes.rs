//! Columns of lists of nodes.

use super::*;

#[test]
fn columns_of_nodes_with_the_same_name_are_asked() {
    for (nodes, found) in [
        ("id,id\na,b\n", "they are named `id`, `id`"),
        ("x;ID;id\n1;a;b\n2;c\n", "they are named `ID`, `id`"),
        (":ID(A)\tb\t:ID(B)\na\tb\tc\n", "they are named `:ID(A)`, `:ID(B)`"),
    ] {
        let error = listed(b"a\tb\n", nodes.as_bytes(), plain, LARGE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{nodes}");
        assert_eq!(error.message(), "`file1` has 2 columns that may be that of the nodes");
        assert_eq!(error.notes(), [found]);
    }
    // A likelier name leaves no doubt, and without headers these are names.
    let names = |nodes: &[u8], header| {
        let change = |options: &mut InputOptions| options.header = header;
        listed(b"a\tb\n", nodes, change, LARGE).unwrap().0
    };
    assert_eq!(names(b"name,name,id\na,b,c\n", Header::Auto), [b"c"]);
    assert_eq!(names(b"id id\na b\n", Header::No), [b"id id".as_slice(), b"a b"]);
}

#[test]
fn headers_of_nodes_are_those_of_edges() {
    let names = |nodes: &str| listed(b"1\t2\n", nodes.as_bytes(), plain, LARGE);
    for word in ["unique_id", "doc_id", "accession", "barcode", "Gene ID", "id"] {
        assert_eq!(names(&format!("{word}\n1\n7\n")).unwrap().0, [b"1", b"7"], "{word}");
        assert_eq!(names(&format!("{word},length\n1,3\n7,4\n")).unwrap().0, [b"1", b"7"], "{word}");
    }
    let error = names("doc_id,url_id,length\n1,9,10\n7,8,30\n").unwrap_err();
    assert_eq!(error.notes(), ["they are named `doc_id`, `url_id`"]);
    assert!(names("X\n1\n2\n").unwrap_err().message().contains("may be a header or a node"));
    assert_eq!(names("cid\nann\n").unwrap().0, [b"cid", b"ann"]);
}

#[test]
fn options_about_columns_are_refused_if_only_the_node_list_has_columns() {
    let changes: [fn(&mut InputOptions); 2] = [
        |options| options.columns = Some(vec![Column::Number(1), Column::Number(2)]),
        |options| options.two_mode = true,
    ];
    for change in changes {
        let metis = |options: &mut InputOptions| {
            options.format = EdgeFormat::Metis;
            change(options);
        };
        for nodes in [b"x\n".as_slice(), b"id\tlabel\nx\ty\n"] {
            let error = listed(b"2 1\n2\n1\n", nodes, metis, LARGE).unwrap_err();
            assert!(error.message().contains("has no effect on METIS"), "{error}");
        }
    }
}
