//! Files are understood as their authors meant them, or refused by name.

use super::*;

#[test]
fn decimal_commas_are_read_between_semicolons_and_refused_elsewhere() {
    let expected = [edge("a", "b", 1.5), edge("b", "c", 20.0), edge("c", "a", 0.25)];
    for text in [
        "a;b;1,5\nb;c;20\nc;a;0,25\n",
        "a;b;1,5\nb;c;20,0\nc;a;0,25\n",
        "Source;Target;Weight\na;b;1,5\nb;c;20,0\nc;a;,25\n".replace(",25", "0,25").as_str(),
        "\"a\";\"b\";\"1,5\"\n\"b\";\"c\";\"20,0\"\n\"c\";\"a\";\"0,25\"\n",
    ] {
        assert_eq!(edges(text.as_bytes(), plain), expected, "{text}");
    }
    // Nodes may still be numbers between commas.
    let numbers = [edge("1", "2", 1.0), edge("3", "4", 1.0)];
    assert_eq!(edges(b"1,2\n3,4\n", plain), numbers);
    for text in ["a\tb\t1,5\nb\tc\t2,5\n", "a b 1,5\nb c 2,5\n", "a,b,\"1,5\"\nb,c,\"2,5\"\n"] {
        let error = read(&[text.as_bytes()], plain, LARGE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadWeight, "{text}");
        assert!(error.hint_text().unwrap().starts_with("replace "), "{text}");
    }
}

#[test]
fn files_compressed_twice_are_refused_by_name() {
    let inner = gzip(&[b"a\tb\n"]);
    for (outer, name) in [(gzip(&[&inner]), "gzip"), (zstd(&[&inner]), "zstd")] {
        let error = read(&[&outer], plain, LARGE).unwrap_err();
        assert_eq!(error.message(), format!("`file0` is compressed twice: gzip inside {name}"));
        assert_eq!(
            error.hint_text().unwrap(),
            format!("pipe it in: `{name} -dc FILE | outcore ... -`")
        );
    }
    let error = read(&[&gzip(&[b"a\tb\rb\tc\r"])], plain, LARGE).unwrap_err();
    assert!(error.hint_text().unwrap().contains("gzip -dc FILE | tr '\\r' '\\n'"), "{error}");
}

/// Creates a zstd frame with a window of 2 to the power of `log`.
fn zstd_of_window(text: &[u8], log: u32) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.long_distance_matching(false).unwrap();
    encoder.window_log(log).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn growing_windows_are_read_or_refused_for_memory() {
    let of_xz = |preset: u32| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), preset);
        encoder.write_all(b"b\tc\n").unwrap();
        encoder.finish().unwrap()
    };
    let expected = [edge("a", "b", 1.0), edge("b", "c", 1.0)];
    let first = zstd_of_window(b"a\tb\n", 10);
    for (log, is_read) in [(20, true), (23, true), (24, false), (27, false)] {
        let file = [first.clone(), zstd_of_window(b"b\tc\n", log)].concat();
        match read(&[&file], plain, LARGE) {
            Ok((found, _)) => assert!(is_read && found == expected, "{log}"),
            Err(error) => {
                assert!(!is_read && error.kind() == ErrorKind::MemoryTooSmall, "{log}: {error}");
                assert!(error.hint_text().unwrap().contains("zstd -dc --long=31"));
            }
        }
    }
    // The first frame's window is planned for, however large.
    let large = [zstd_of_window(b"a\tb\n", 27), zstd_of_window(b"b\tc\n", 27)].concat();
    assert_eq!(read(&[&large], plain, LARGE).unwrap().0, expected);
    let [small, large] = [of_xz(0), of_xz(9)];
    let error = read(&[&[small.clone(), large].concat()], plain, LARGE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall, "{error}");
    assert!(read(&[&[small, of_xz(6)].concat()], plain, LARGE).is_ok());
}

#[test]
fn a_node_list_may_be_fasta() {
    let long = format!(">P3 long\n{}\n>P4\nMK\n", "ACGT".repeat(400_000));
    for memory in [TINY, LARGE] {
        let fasta = b">P1 some protein\nMKV\nLL*\n>P2\tx\r\nMK-V\r\n\n>b\nACGT";
        let (mut names, summary) = listed(b"a\tb\t1\n", fasta, plain, memory).unwrap();
        names.sort();
        assert_eq!(names, [b"P1".to_vec(), b"P2".to_vec(), b"b".to_vec()]);
        assert_eq!(summary.listed_nodes, 3);
        let names = listed(b"a\tb\n", long.as_bytes(), plain, memory).unwrap().0;
        assert_eq!(names, [b"P3".to_vec(), b"P4".to_vec()]);
    }
    // Names that begin with `>`, and nothing else.
    let names = listed(b">a\t>b\n", b">a\n>b\n", plain, LARGE).unwrap().0;
    assert_eq!(names, [b">a".to_vec(), b">b".to_vec()]);
}

#[test]
fn indexes_of_a_matrix_are_its_rows() {
    const PATTERN: &str = "%%MatrixMarket matrix coordinate pattern general\n3 3";
    let one = edges(format!("{PATTERN} 1\n1 2\n").as_bytes(), plain);
    assert_eq!(one, [edge("1", "2", 1.0)]);
    for bad in ["0 1", "1 4", "4 1", "01 2", "a 1", "-1 2", "99999999999999999999999 1"] {
        let text = format!("{PATTERN} 3\n1 2\n{bad}\n2 3\n");
        for memory in [TINY, LARGE] {
            let error = read(&[text.as_bytes()], plain, memory).unwrap_err();
            let place = error.place().unwrap();
            assert_eq!(
                (error.message(), place.line),
                ("index is not a row of the matrix", 4),
                "{bad}"
            );
            let skip = |options: &mut InputOptions| options.on_bad_line = OnBadLine::Skip;
            let (found, summary) = read(&[text.as_bytes()], skip, memory).unwrap();
            assert_eq!(found, [edge("1", "2", 1.0), edge("2", "3", 1.0)]);
            assert_eq!((summary.skipped_lines, summary.edges), (1, 2));
        }
    }
}
