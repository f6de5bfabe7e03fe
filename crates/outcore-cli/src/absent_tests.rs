//! Errors of a command built without features, where one would be needed: `make test-rust` runs these tests.

use crate::surface::call;
use outcore::progress::Silent;
use outcore::{Error, ErrorKind};
use std::sync::Arc;

/// Runs `outcore ARGS`.
fn run(args: &[&str]) -> Result<String, Error> {
    call(args.iter().map(Into::into), None, &Silent, Arc::default())
}

/// Runs `outcore ARGS` and returns the error that it fails with, whose hint must name `feature`.
fn refused(args: &[&str], feature: &str) -> Error {
    let error = run(args).unwrap_err();
    let hint = error.hint_text().unwrap_or_default();
    assert!(hint.contains(&format!("--features {feature}")), "{args:?}: {error:?}");
    error
}

#[test]
fn a_feature_that_was_left_out_is_named_by_the_error_that_needs_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let files = outcore::io::Files::default();
    let write = |name: &str, bytes: &[u8]| {
        files.write(at(name).as_ref(), bytes).unwrap();
        at(name)
    };
    let edges = write("edges.tsv", b"a\tb\nb\tc\na\tc\n");
    let out = at("out.tsv");

    // Tables are recognized by their contents, whatever their names are.
    for (name, bytes) in [
        ("edges.parquet", &b"PAR1 and so on PAR1"[..]),
        ("edges.bin", b"PAR1 and so on PAR1"),
        ("edges.arrow", b"ARROW1\0\0\xFF\xFF\xFF\xFF"),
        ("stream", b"\xFF\xFF\xFF\xFF\x10\0\0\0"),
    ] {
        let path = write(name, bytes);
        for command in ["cluster", "build"] {
            let error = refused(&[command, &path, "-o", &at("new")], "tables");
            assert_eq!(error.kind(), ErrorKind::BadInput);
            assert!(error.message().contains(&path), "{error:?}");
        }
        refused(&["plan", &path], "tables");
    }
    // These are refused before any work.
    for name in ["out.parquet", "out.arrow", "out.feather"] {
        let error = refused(&["cluster", &edges, "-o", &at(name)], "tables");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    for address in ["s3://bucket/edges.tsv", "https://user:secret@host/edges.tsv.gz?token=secret"] {
        let error = refused(&["cluster", address, "-o", &out], "remote");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
    let terminal = crate::Terminal::new(
        &clap::Parser::try_parse_from(["outcore", "inspect", "x"])
            .map(|cli: crate::Cli| cli.messages)
            .unwrap(),
        Default::default(),
    );
    let arguments =
        clap::Parser::try_parse_from(["outcore", "lab", "all", "--dir", "x", "--quick"])
            .map(|cli: crate::Cli| match cli.command {
                crate::Command::Lab(arguments) => arguments,
                _ => unreachable!(),
            })
            .unwrap();
    let error = crate::lab::lab(&files, &arguments, &terminal).unwrap_err();
    assert!(error.hint_text().unwrap_or_default().contains("--features lab"), "{error:?}");

    let left: Vec<_> = files.list(directory.path()).unwrap();
    assert_eq!(left.len(), 5, "nothing was written: {left:?}");
    // Pages of jobs do not need the laboratory.
    run(&["cluster", &edges, "-o", &out, "--report", &at("report.html")]).unwrap();
    assert!(files.read(at("report.html").as_ref()).unwrap().starts_with(b"<!doctype html>"));
    run(&["cluster", &edges, "-o", &at("out.jsonl"), "--report", &at("report.json")]).unwrap();
}
