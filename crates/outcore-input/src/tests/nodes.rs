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
