//! Tests of files of communities: every format gives its nodes and communities, or is asked about.

use crate::{
    Batch, BatchMemory, Column, CommunityFormat, CommunityInput, EdgeReader, InputOptions,
    NAME_LIMIT,
};
use outcore_io::Files;
use outcore_io::error::{Error, ErrorKind};
use outcore_testkit::sim::Sim;
use std::path::Path;
use std::sync::Arc;

/// Reads a file in chunks of this size: `node=community` for each row, with its line after `@` if there are lines.
fn read_by(text: &[u8], options: &InputOptions, chunk_bytes: usize) -> Result<Vec<String>, Error> {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim.clone()));
    sim.put("f", text);
    let mut reader = EdgeReader::open(&files, options, BatchMemory { chunk_bytes, chunks: 2 })?;
    let (mut batch, mut found) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for (pair, line) in chunk.names.chunks_exact(2).zip(chunk.edge_lines()) {
                let [node, community] = [&pair[0], &pair[1]].map(|name| chunk.name(name));
                let text = [node, b"=", community].concat();
                found.push(format!("{}@{line}", String::from_utf8(text).unwrap()));
            }
        }
    }
    Ok(found)
}

fn read(text: &str, format: CommunityFormat) -> Result<String, Error> {
    let input = CommunityInput { format, ..CommunityInput::default() };
    let options = input.of(Path::new("f"), false);
    let found = read_by(text.as_bytes(), &options, 1 << 16);
    if let Ok(found) = &found {
        let in_pieces = read_by(text.as_bytes(), &options, 200).unwrap();
        assert_eq!(*found, in_pieces, "chunks of any size give the same rows");
    }
    found.map(|rows| rows.join(" "))
}

const CLSTR: &str =
    ">Cluster 0\n0\t297aa, >a b... *\n1\t28nt, >b... at +/98.0%\n>Cluster 1\n0\t9aa, >c... *\n";
const UC: &str = "S\t0\t9\t*\t*\t*\t*\t*\ta;size=2\t*\nH\t0\t9\t99.0\t+\t0\t0\t9M\tb c\ta;size=2\n\
                  N\t*\t9\t*\t.\t*\t*\t*\tz\t*\nC\t0\t2\t*\t*\t*\t*\t*\ta;size=2\t*\n";
const TREE: &str = "# v2.7.1\n# path flow name node_id\n1:1:1 0.5 \"a b\" 1\n1:1:2 0.1 \"c\" 2\n1:2:1 0 \"d\" 3\n\
                    2:1 1e-3 \"e\" 4\n*Links undirected\n#*Links path\n*Links 1 0 0\n1 2 0.5\n";
const INFOMAP_CLU: &str = "# codelength 3.4 bits\n# node_id module flow\n7 1 0.2\n9 2 0.1\n";
const MCL: &str =
    "(mclheader\nmcltype matrix\ndimensions 5x2\n)\n(mclmatrix\nbegin\n0 0 3\n 4 $\n1 1 2 $\n)\n";

#[test]
fn formats_are_recognized_by_what_they_contain() {
    for (text, expected) in [
        (CLSTR, "a b=0@2 b=0@3 c=1@5"),
        (UC, "a;size=2=0@1 b c=0@2"),
        (TREE, "a b=1@3 c=1@4 d=1@5 e=2@6"),
        (INFOMAP_CLU, "7=1@3 9=2@4"),
        ("*Vertices 3\r\n2\r\n1\r\n 2\r\n", "1=2@2 2=1@3 3=2@4"),
        ("% from Pajek\n*Partition x\n*vertices 2\n5\n5", "1=5@4 2=5@5"),
        (MCL, "0=0@7 3=0@7 4=0@8 1=1@9 2=1@9"),
        // Our own forms, and those of mcl and MMseqs2.
        ("a b\tc\td\n\"x\ty\"\t\"\"\"z\"\ne\n", "a b=0@1 c=0@1 d=0@1 x\ty=1@2 \"z=1@2 e=2@3"),
        ("1 2 3\n4 5\n", "1=0@1 2=0@1 3=0@1 4=1@2 5=1@2"),
        ("# mine\n\na,b,c\n\nd\n", "a=0@3 b=0@3 c=0@3 d=1@5"),
        ("r\tr\nr\tb\ns\ts\nr\tc\n", "r=r@1 b=r@2 s=s@3 c=r@4"),
        ("a\t3:0:5\nb\t0\nc\t12:1\n", "a=3@1 b=0@2 c=12@3"),
        (
            "{\"node\":\"a\",\"community\":0}\n{\"community\":1,\"node\":\"\\u00e9\\\"\"}\n",
            "a=0@1 é\"=1@2",
        ),
        ("{\"node\":7,\"path\":\"3:0\"}\n", "7=3@1"),
        ("{\"id\":\"a\",\"degree\":3,\"cluster\":\"x\"}\n", "a=x@1"),
        // A node and its community per line.
        ("a\t0\nb\t0\nc\t1\n", "a=0@1 b=0@2 c=1@3"),
        ("a\ta\nb\ta\nc\tc\n", "a=a@1 b=a@2 c=c@3"),
        ("a\ta\nb\tb\n", "a=a@1 b=b@2"),
        ("node,degree,community\na,2,0\nb,3,1\n", "a=0@2 b=1@3"),
        ("a\t1:x\nb\t2:0\n", "a=1:x@1 b=2:0@2"),
        ("a\t0\n*Vertices 3\t1\n", "a=0@1 *Vertices 3=1@2"),
        ("#a\t0:0\n#b\t1:0\n", "#a=0@1 #b=1@2"),
        ("node\tpath\nnode\t1:0\nb\t0\n", "node=1@2 b=0@3"),
        // Lines of names that could be columns, or are alone.
        ("# a community per line\na\tb\nc\td\n", "a=0@2 b=0@2 c=1@3 d=1@3"),
        ("a\tb\nc\nd\n", "a=0@1 b=0@1 c=1@2 d=2@3"),
        (
            "node\tcommunity\tid\ncluster\tpath\n",
            "node=0@1 community=0@1 id=0@1 cluster=1@2 path=1@2",
        ),
        // Labels of SNAP, OrthoMCL and OrthoFinder.
        ("circle0\t71\t215\ncircle1\t54\n", "71=0@1 215=0@1 54=1@2"),
        ("group_1: A|g1 B|g1\ngroup_2: C\n", "A|g1=0@1 B|g1=0@1 C=1@2"),
        (
            "\"circle0\"\t71\t215\n\"circle1\"\t54\n",
            "circle0=0@1 71=0@1 215=0@1 circle1=1@2 54=1@2",
        ),
        ("a:\t0\nb:\t0\n", "a:=0@1 b:=0@2"),
        ("0\t0\nx\t1\n", "0=0@1 x=1@2"),
        (
            "n0\tfamily of an accession\nn1\tother of an accession\n",
            "n0=family of an accession@1 n1=other of an accession@2",
        ),
        ("Orthogroup\tone\ttwo\nOG0\ta, b\tc\nOG1\t\td\n", "a=0@2 b=0@2 c=0@2 d=1@3"),
        // The index of a data frame is the node.
        (",n_genes,leiden\na,7,0\nb,8,1\n", "a=0@2 b=1@3"),
        (",node,cluster\n0,a,x\n1,b,y\n", "a=x@2 b=y@3"),
        ("cluster\tmember\n0\ta\n1\tb\n", "a=0@2 b=1@3"),
        ("representative\tmember\tweight\na\ta\t2\na\tb\t2\n", "a=a@2 b=a@3"),
    ] {
        assert_eq!(read(text, CommunityFormat::Auto).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_level_cuts_paths() {
    let levels = "a\t3:0:5\nb\t0\nc\t12:1\n";
    for (text, level, expected) in [
        (TREE, 1, "a b=1@3 c=1@4 d=1@5 e=2@6"),
        (TREE, 2, "a b=1:1@3 c=1:1@4 d=1:2@5 e=2@6"),
        (TREE, 9, "a b=1:1@3 c=1:1@4 d=1:2@5 e=2@6"),
        (levels, 2, "a=3:0@1 b=0@2 c=12:1@3"),
        (levels, 3, "a=3:0:5@1 b=0@2 c=12:1@3"),
    ] {
        let input = CommunityInput { level: Some(level), ..CommunityInput::default() };
        let found = read_by(text.as_bytes(), &input.of(Path::new("f"), false), 1 << 16).unwrap();
        assert_eq!(found.join(" "), expected);
        // Numbers are those of the top.
        let found = read_by(text.as_bytes(), &input.of(Path::new("f"), true), 1 << 16).unwrap();
        assert!(found.iter().all(|row| !row.contains(':')), "{found:?}");
    }
}

#[test]
fn a_format_that_is_given_decides() {
    for (text, format, expected) in [
        ("a\tb\nc\td\n", CommunityFormat::Clusters, "a=0@1 b=0@1 c=1@2 d=1@2"),
        ("r\tr\nr\tb\n", CommunityFormat::Lines, "r=r@1 r=b@2"),
        ("x\ta\nx\tb\n", CommunityFormat::Pairs, "a=x@1 b=x@2"),
        ("a\t3:0\n", CommunityFormat::Lines, "a=3:0@1"),
        ("a\t3\n", CommunityFormat::Levels, "a=3@1"),
        ("2\n2\n1\n", CommunityFormat::Clu, "1=2@1 2=2@2 3=1@3"),
    ] {
        assert_eq!(read(text, format).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_line_longer_than_any_buffer_is_a_cluster() {
    let names: Vec<String> = (0..30_000).map(|at| format!("sequence-{at}")).collect();
    let text = format!("{}\nalone\n", names.join("\t"));
    let options = CommunityInput::default().of(Path::new("f"), true);
    let found = read_by(text.as_bytes(), &options, 1 << 16).unwrap();
    assert_eq!(found.len(), names.len() + 1);
    assert_eq!(found[29_999], "sequence-29999=0@1");
    assert_eq!(found[30_000], "alone=1@2");
    let single = read_by(names.join("\t").as_bytes(), &options, 1 << 16).unwrap();
    assert_eq!(single, found[..30_000]);
}

#[test]
fn columns_that_are_given_are_obeyed() {
    let columns = Some(vec![Column::Number(3), Column::Name("b".into())]);
    let input = CommunityInput { columns, ..CommunityInput::default() };
    let options = input.of(Path::new("f"), false);
    let found = read_by(b"a,b,c\n1,2,3\n4,5,6\n", &options, 1 << 16).unwrap();
    assert_eq!(found, ["3=2@2", "6=5@3"]);
    let lines = b"{\"a\":1,\"b\":2,\"c\":3}\n";
    assert_eq!(read_by(lines, &options, 1 << 16).unwrap(), ["3=2@1"]);
    let error = read_by(CLSTR.as_bytes(), &options, 1 << 16).unwrap_err();
    let expected = "`--community-columns` has no effect on clusters of CD-HIT, the format of `f`";
    assert_eq!(error.message(), expected);
    // Pairs as a result has them: the first line does not decide.
    let options = CommunityInput::of_result().of(Path::new("f"), true);
    assert_eq!(
        read_by(b"0\t0\n1\t0\n#2\t1\n", &options, 1 << 16).unwrap(),
        ["0=0@1", "1=0@2", "#2=1@3"]
    );
}

#[test]
fn what_could_be_read_in_several_ways_is_asked() {
    let error = read("1\t2\t3\n2\t4\n", CommunityFormat::Auto).unwrap_err();
    assert_eq!(error.kind(), outcore_io::ErrorKind::Usage);
    assert!(error.hint_text().unwrap().contains("--community-format clusters"), "{error:?}");
    for (text, message, hint) in [
        (
            ",leiden_0.5,leiden_1.0\na,0,1\nb,0,2\n",
            "has 2 columns that may be the community",
            "1,2",
        ),
        (
            "gene_id,protein_id,cluster\na,x,0\nb,y,1\n",
            "has 2 columns that may be the node",
            "gene_id,cluster",
        ),
        (
            "cluster_1,cluster_2\na,d\nb,e\n",
            "has 2 columns that may be the community",
            "cluster_1,cluster_2",
        ),
        ("a\t0\tCD4, naive\nb\t0\tCD8, naive\n", "does not say which columns are", "1,2"),
        (
            "cluster,members\n0,\"a,b\"\n1,\"c,d\"\n",
            "does not say which columns are",
            "members,cluster",
        ),
        ("Orthogroup\tone\ttwo\nOG0\ta, b\t\nOG1\tc\n", "has lines of 2 to 3 columns", "1,2"),
        (
            "Orthogroup\tone\ttwo\nOG0\t1\t2\nOG1\t3\t4\n",
            "does not say which columns are",
            "one,Orthogroup",
        ),
    ] {
        let error = read(text, CommunityFormat::Auto).unwrap_err();
        assert_eq!(error.kind(), outcore_io::ErrorKind::Usage, "{text}");
        assert!(error.message().to_string().contains(message), "{text}: {error:?}");
        assert!(error.hint_text().unwrap().contains(hint), "{text}: {error:?}");
    }
    let error = read("{\"a\":1,\"b\":2,\"c\":3}\n", CommunityFormat::Auto).unwrap_err();
    assert_eq!(error.kind(), outcore_io::ErrorKind::Usage);
    assert!(error.hint_text().unwrap().contains("--community-columns"), "{error:?}");
}

#[test]
fn broken_files_are_errors_with_a_place() {
    let error = |text: &str, format| {
        let error = read(text, format).unwrap_err();
        (error.message().to_string(), error.place().unwrap().line)
    };
    for (text, format, message, line) in [
        ("*Vertices 3\n1\n2\n", CommunityFormat::Auto, "file ends after 2 modules", 4),
        ("*Vertices 1\n1\n2\n", CommunityFormat::Auto, "file ends after 2 modules", 4),
        ("*Vertices 2\n1\nx\n", CommunityFormat::Auto, "number cannot be read", 3),
        ("1:1 0.5 \"a\" 1\n1:2 0.5 b\n", CommunityFormat::Auto, "node has no name", 2),
        (
            "1:1 0.5 \"a\" 1\n12 0.5 \"b\"\n",
            CommunityFormat::Auto,
            "path of the node cannot be read",
            2,
        ),
        (
            ">Cluster 0\n0\t9aa, >a... *\n1\t8aa\n",
            CommunityFormat::Auto,
            "sequence of a cluster cannot be read",
            3,
        ),
        ("0\t9aa, >a... *\n", CommunityFormat::Clstr, "line is before the first cluster", 1),
        (
            "(mclmatrix\nbegin\n0 1:0.5 $\n)\n",
            CommunityFormat::Auto,
            "entry is not a node of a cluster",
            3,
        ),
        ("(mclmatrix\nbegin\n0 1 $\n", CommunityFormat::Auto, "file ends too early", 4),
        ("a\tb\tc\n\"d\n", CommunityFormat::Clusters, "quote is not closed on its line", 2),
        ("a\t3:0\nb\tx\n", CommunityFormat::Levels, "line has no path", 2),
        (
            "{\"node\":1,\"community\":2}\n{\"node\":1}\n",
            CommunityFormat::Auto,
            "object has no `community`",
            2,
        ),
        ("{\"node\":1,\"community\":2}\nx\n", CommunityFormat::Auto, "line is not an object", 2),
        ("S\t0\t9\t*\t*\t*\t*\t*\ta\t*\nS\t0\n", CommunityFormat::Uc, "record cannot be read", 2),
    ] {
        assert_eq!(error(text, format), (message.to_owned(), line), "{text}");
    }
}

#[test]
fn communities_are_not_edges() {
    for (text, name) in [
        (CLSTR, "clusters of CD-HIT"),
        (TREE, "a tree of Infomap"),
        (INFOMAP_CLU, "a file of modules (clu)"),
        ("*Vertices 2\n1\n1\n", "a file of modules (clu)"),
    ] {
        let options = InputOptions { paths: vec!["f".into()], ..InputOptions::default() };
        let error = read_by(text.as_bytes(), &options, 1 << 16).unwrap_err();
        assert_eq!(error.message(), format!("`f` is {name}: communities, not edges"));
    }
}

#[test]
fn numbers_of_communities_have_at_most_fifteen_digits() {
    let numbered = |text: &str| {
        let options = CommunityInput::default().of(Path::new("f"), true);
        read_by(text.as_bytes(), &options, 1 << 16)
    };
    let long = "1234567890123456";
    for text in [
        format!("*Vertices 1\n{long}\n"),
        format!(">Cluster {long}\n0\t9aa, >a... *\n"),
        format!("{{\"node\":1,\"community\":{long}}}\n"),
        "{\"node\":1,\"community\":\"01\"}\n".into(),
    ] {
        assert_eq!(numbered(&text).unwrap_err().message(), "community is not a number", "{text}");
    }
    assert_eq!(numbered("*Vertices 1\n7\n").unwrap(), ["1=7@2"]);
}

#[test]
fn an_object_may_have_a_name_of_any_length_of_which_each_byte_is_escaped() {
    let line =
        |count: usize| format!("{{\"node\":\"{}\",\"community\":7}}\n", "\\u0001".repeat(count));
    let read = |count: usize| {
        let input = CommunityInput { format: CommunityFormat::Jsonl, ..CommunityInput::default() };
        let text = line(1) + &line(count);
        read_by(text.as_bytes(), &input.of(Path::new("f"), false), 1 << 16)
    };
    let found = read(NAME_LIMIT).unwrap();
    assert_eq!(found[1], format!("{}=7@2", "\u{1}".repeat(NAME_LIMIT)));
    assert_eq!(read(NAME_LIMIT + 1).unwrap_err().kind(), ErrorKind::NameTooLong);
    assert_eq!(read(2 * NAME_LIMIT).unwrap_err().kind(), ErrorKind::BadInput);
}
