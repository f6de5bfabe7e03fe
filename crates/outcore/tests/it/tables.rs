//! Tables of any format give the same graph and the same bad rows as text.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{KINDS, Names, Row, arrow, parquet, table, text};
use crate::common::{MIB, files_of, options, storage_of};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use outcore::cluster::ClusterOptions;
use outcore::input::{Column, InputOptions, OnBadLine, TableStream};
use outcore::job::{self, JobOptions, Source};
use outcore::present::{LevelForm, PresentOptions};
use outcore::progress::Silent;
use outcore::{Error, ErrorKind, Result};
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const GRAPH: &str = "/out/graph";

/// Returns the files of the graph that a job writes, without the manifest, which contains times.
pub(crate) fn built(sim: &Sim, options: &JobOptions) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let files = files_of(sim);
    job::build(&files, options, Path::new(GRAPH), &Silent)?;
    let entries = files.list(Path::new(GRAPH))?;
    Ok(entries
        .into_iter()
        .map(|entry| (entry.path.clone(), files.read(&entry.path).unwrap()))
        .collect())
}

pub(crate) fn of_text(
    rows: &[Row],
    weighted: bool,
    change: impl Fn(&mut InputOptions),
) -> Vec<(PathBuf, Vec<u8>)> {
    let sim = storage_of(&text(rows, weighted));
    let mut options = options(2, 256 * MIB);
    change(&mut options.input);
    built(&sim, &options).unwrap()
}

pub(crate) fn of_file(
    bytes: &[u8],
    threads: usize,
    change: impl Fn(&mut InputOptions),
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let sim = Sim::new();
    sim.put("/in/edges.table", bytes);
    let mut options = options(threads, 256 * MIB);
    options.input.paths = vec!["/in/edges.table".into()];
    change(&mut options.input);
    built(&sim, &options)
}

pub(crate) fn of_stream(
    batches: Vec<RecordBatch>,
    change: impl Fn(&mut InputOptions),
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut options = options(2, 256 * MIB);
    options.input.paths = vec!["-".into()];
    options.input.stream = Some(stream(batches));
    change(&mut options.input);
    built(&Sim::new(), &options)
}

fn stream(batches: Vec<RecordBatch>) -> TableStream {
    let schema = batches[0].schema();
    let batches: Box<dyn RecordBatchReader + Send> =
        Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema));
    TableStream::new(batches)
}

/// False lengths of terabytes are refused, and never allocated.
#[test]
fn false_lengths_are_refused() {
    let rows = edges(1000, 50, 5);
    for stream in [false, true] {
        let mut file = arrow(&table(&rows, Names::Text, true), 1000, stream, true);
        // Length of the decompressed weights of all rows.
        let length = 8000u64.to_le_bytes();
        let places: Vec<usize> =
            (0..file.len() - 8).filter(|&at| file[at..at + 8] == length).collect();
        assert!(!places.is_empty());
        for at in places {
            file[at..at + 8].copy_from_slice(&(1u64 << 46).to_le_bytes());
        }
        let error = of_file(&file, 2, |_| {}).unwrap_err();
        assert!(error.hint_text().is_some(), "{error}");
    }
}

pub(crate) fn edges(count: usize, nodes: u64, seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let edge = |_| {
        (Some(next(nodes).to_string()), Some(next(nodes).to_string()), Some(next(50) as f64 / 4.0))
    };
    (0..count).map(edge).collect()
}

#[test]
fn all_formats_give_the_same_graph() {
    let rows = edges(30_000, 4000, 1);
    for weighted in [false, true] {
        let expected = of_text(&rows, weighted, |_| ());
        for kind in KINDS {
            let table = table(&rows, kind, weighted);
            let same = |found: Result<Vec<_>>, what: &str| {
                let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
                // The manifest says whether names were numbers; all else is the same.
                let arcs = |files: &[(PathBuf, Vec<u8>)]| {
                    let others = files.iter().filter(|(path, _)| !path.ends_with("graph.json"));
                    others.cloned().collect::<Vec<_>>()
                };
                assert_eq!(found.len(), expected.len());
                let (found, expected) = (arcs(&found), arcs(&expected));
                assert!(found == expected, "{what} of {kind:?}, weighted: {weighted}");
            };
            for groups in [700, 30_000] {
                for threads in [1, 3] {
                    same(of_file(&parquet(&table, groups), threads, |_| ()), "Parquet");
                }
            }
            for (stream, packed) in [(false, false), (false, true), (true, false), (true, true)] {
                // A dictionary cannot be replaced in a file.
                let rows = if kind == Names::Dictionary && !stream { 30_000 } else { 1234 };
                same(of_file(&arrow(&table, rows, stream, packed), 2, |_| ()), "Arrow IPC");
            }
            let batches =
                vec![table.slice(0, 1), table.slice(1, 20_000), table.slice(20_001, 9_999)];
            same(of_stream(batches, |_| ()), "a stream");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..cases(200) })]

    /// With names of any length, nulls, and invalid weights.
    #[test]
    fn rows_that_are_not_edges_are_skipped_as_in_lines(
        rows in proptest::collection::vec((name(), name(), weight()), 1..60),
        kind in prop::sample::select(vec![Names::Text, Names::Views, Names::Binary, Names::Dictionary]),
        group in 1usize..40,
    ) {
        // A file needs at least one edge, and its first lines determine the columns.
        let good = || (Some("first".to_owned()), Some("second".to_owned()), Some(1.5));
        let rows = [(0..4).map(|_| good()).collect(), rows].concat();
        let skip = |input: &mut InputOptions| {
            input.on_bad_line = OnBadLine::Skip;
            input.columns = Some([1, 2, 3].map(Column::Number).to_vec());
        };
        let expected = of_text(&rows, true, skip);
        let table = table(&rows, kind, true);
        prop_assert!(of_file(&parquet(&table, group), 2, skip).unwrap() == expected);
        prop_assert!(of_file(&arrow(&table, group, true, false), 2, skip).unwrap() == expected);
        prop_assert!(of_stream(vec![table], skip).unwrap() == expected);
    }
}

fn name() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(String::new())),
        8 => "[a-c]{1,3}".prop_map(Some),
        3 => "[a-z#é]{14,18}x".prop_map(|name| Some(format!("x{name}"))),
        1 => (65_530usize..65_545).prop_map(|bytes| Some("n".repeat(bytes))),
    ]
}

fn weight() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        1 => Just(None),
        1 => prop::sample::select(vec![-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]).prop_map(Some),
        1 => prop::sample::select(vec![0.0, 1e-300, 1e300, 5e-324]).prop_map(Some),
        6 => (0u32..1000).prop_map(|weight| Some(f64::from(weight) / 8.0)),
    ]
}

fn error_of(bytes: &[u8]) -> Error {
    of_file(bytes, 2, |_| ()).unwrap_err()
}

#[test]
fn the_earliest_bad_row_is_named() {
    let mut rows = edges(20_000, 300, 5);
    rows[17_000].2 = Some(-1.0);
    rows[12_345].1 = None;
    rows[12_345].2 = None;
    rows[19_999].0 = None;
    let table = table(&rows, Names::Text, true);
    let files = [parquet(&table, 1000), parquet(&table, 50_000), arrow(&table, 777, true, false)];
    for bytes in files {
        let error = error_of(&bytes);
        assert_eq!(error.kind(), ErrorKind::EmptyName);
        let place = error.place().unwrap();
        assert_eq!((place.line, place.column), (12_346, 2));
        assert_eq!(&place.text[place.span.0..place.span.1], "null");
        assert_eq!(error.notes(), ["row 12,346 of the table, column `target`"]);
    }
}

#[test]
fn damage_is_an_error_and_never_ends_the_process() {
    let table = table(&edges(3000, 100, 9), Names::Dictionary, true);
    let files = [
        parquet(&table, 500),
        arrow(&table, 3000, false, false),
        arrow(&table, 3000, false, true),
        arrow(&table, 100, true, true),
    ];
    for (kind, bytes) in files.into_iter().enumerate() {
        let whole = of_file(&bytes, 2, |_| ()).unwrap();
        for cut in (0..bytes.len()).step_by(bytes.len() / 37) {
            match of_file(&bytes[..cut], 2, |_| ()) {
                // A stream may end between two batches; data after the end marker of a file is not needed.
                Ok(found) => {
                    assert!(kind == 3 || kind > 0 && found == whole, "{kind} cut at {cut}")
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BadInput, "{kind}, {cut}: {error}")
                }
            }
        }
        for flip in (0..bytes.len()).step_by(bytes.len() / 300) {
            let mut bytes = bytes.clone();
            bytes[flip] ^= 0x41;
            // Damage to data without checksums may go undetected, but its metadata must be consistent.
            if let Err(error) = of_file(&bytes, 2, |_| ()) {
                let kinds = [
                    ErrorKind::BadInput,
                    ErrorKind::BadWeight,
                    ErrorKind::EmptyName,
                    ErrorKind::MissingColumn,
                    ErrorKind::BadQuote,
                ];
                // A column with another name is another table, about which the job asks.
                let is_asked = error.kind() == ErrorKind::Usage
                    && error.to_string().contains("may be the weight");
                assert!(
                    is_asked || kinds.contains(&error.kind()),
                    "{kind}, {flip}: {:?} {error}",
                    error.kind()
                );
            }
        }
        assert!(!whole.is_empty());
        // Cuts between two messages, where only the missing end marker shows that some are missing.
        const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];
        if let Some(end) = bytes.windows(8).rposition(|bytes| bytes == END) {
            let cut = of_file(&bytes[..end], 2, |_| ());
            assert_eq!(cut.is_ok(), kind == 3, "{kind}, without its end");
        }
    }
}

/// Files written by `write_ipc` of polars 2.1, whose schema does not store its length.
#[test]
fn files_of_polars_are_read() {
    let rows = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 3.0)]
        .map(|(a, b, w)| (Some(a.to_owned()), Some(b.to_owned()), Some(w)));
    let expected = of_text(&rows, true, |_| ());
    for (what, file) in [
        ("plain", &include_bytes!("files/polars-plain.arrow")[..]),
        ("zstd", include_bytes!("files/polars-zstd.arrow")),
        ("categorical", include_bytes!("files/polars-categorical.arrow")),
    ] {
        assert!(of_file(file, 2, |_| ()).unwrap() == expected, "{what}");
        for cut in 12..file.len() - 8 {
            match of_file(&file[..cut], 1, |_| ()) {
                // Data after the end marker is not needed.
                Ok(found) => assert!(found == expected, "{what} cut at {cut}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::BadInput, "{what}, {cut}"),
            }
        }
    }
}

/// A file written by pyarrow with `write_page_checksum`: 60 rows of 8 bytes in each of three columns.
#[test]
fn checksums_of_parquet_are_verified() {
    let whole = include_bytes!("files/checksums.parquet");
    let expected = of_file(whole, 2, |_| ()).unwrap();
    assert!(!expected.is_empty());
    let mut seen = 0;
    for byte in 4..4 + 3 * 513 {
        let mut bytes = whole.to_vec();
        bytes[byte] ^= 1 << (byte % 8);
        match of_file(&bytes, 2, |_| ()) {
            // Not all bytes of a page header concern its data.
            Ok(found) => assert!(found == expected, "byte {byte}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::BadInput, "byte {byte}: {error}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3 * 60 * 8, "{seen}");
}

#[test]
fn a_stream_is_read_once_and_its_errors_are_reported() {
    let table = table(&edges(10, 5, 1), Names::Text, true);
    let once = stream(vec![table.clone()]);
    let take = |stream: &TableStream| {
        of_stream(vec![table.clone()], |input| input.stream = Some(stream.clone()))
    };
    assert!(take(&once).is_ok());
    assert!(take(&once).unwrap_err().to_string().contains("only once"));
    let failing =
        vec![Ok(table.clone()), Err(arrow_schema::ArrowError::ComputeError("no more".into()))];
    let failing = TableStream::new(Box::new(RecordBatchIterator::new(failing, table.schema())));
    let error = take(&failing).unwrap_err();
    assert!(
        error.to_string().contains("the table cannot be read any further: Compute error: no more"),
        "{error}"
    );
}

/// Returns what a job writes to a file of this name.
fn written(name: &str, levels: Option<LevelForm>) -> Vec<u8> {
    let sim = storage_of(&text(&edges(3000, 400, 11), true));
    let (files, path) = (files_of(&sim), Path::new("/out").join(name));
    let clustering = ClusterOptions { levels: levels.is_some(), ..ClusterOptions::default() };
    let present =
        PresentOptions { levels: levels.unwrap_or_default(), ..PresentOptions::default() };
    let source = Source::Edges(Box::new(options(2, 256 * MIB)));
    job::cluster_and_present(&files, &source, &clustering, &present, &path, &Silent).unwrap();
    files.read(&path).unwrap()
}

/// Returns rows of a table as lines of text.
fn lines(
    batches: impl Iterator<Item = std::result::Result<RecordBatch, arrow_schema::ArrowError>>,
) -> String {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let mut text = String::new();
    for batch in batches {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().filter(|column| column.is_valid(row));
            let cells: Vec<String> = cells
                .map(|column| match column.data_type() {
                    arrow_schema::DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
                    _ => column.as_primitive::<Int64Type>().value(row).to_string(),
                })
                .collect();
            text += &(cells.join("\t") + "\n");
        }
    }
    text
}

#[test]
fn results_are_written_as_tables_with_the_same_rows() {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    for levels in [None, Some(LevelForm::Columns), Some(LevelForm::Tree)] {
        let mut expected = String::from_utf8(written("c.tsv", levels)).unwrap();
        if levels == Some(LevelForm::Tree) {
            // A table also has the community as a column.
            expected = expected
                .lines()
                .map(|line| {
                    let (node, path) = line.split_once('\t').unwrap();
                    let community = path.split(':').next().unwrap();
                    format!("{node}\t{community}\t{path}\n")
                })
                .collect();
        }
        let parquet = bytes::Bytes::from(written("c.parquet", levels));
        let parquet = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap().build().unwrap();
        assert_eq!(lines(parquet), expected, "{levels:?}");
        let arrow = std::io::Cursor::new(written("c.arrow", levels));
        let arrow = arrow_ipc::reader::FileReader::try_new(arrow, None).unwrap();
        assert_eq!(lines(arrow), expected, "{levels:?}");
        let json = String::from_utf8(written("c.jsonl", levels)).unwrap();
        let mut found = String::new();
        for line in json.lines() {
            let row: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(line).unwrap();
            let mut names: Vec<&String> = row.keys().filter(|name| *name != "node").collect();
            names.sort();
            let cells = names.iter().map(|name| row[*name].to_string().replace('"', ""));
            found += &format!(
                "{}\t{}\n",
                row["node"].as_str().unwrap(),
                cells.collect::<Vec<_>>().join("\t")
            );
        }
        assert_eq!(found, expected, "{levels:?}");
    }
}
