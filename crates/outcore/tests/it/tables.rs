//! Tables of any format give the same graph and the same bad rows as text.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{Names, Row, arrow, parquet, table, text};
use crate::common::{MIB, files_of, options, storage_of};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use outcore::cluster::ClusterOptions;
use outcore::input::{Column, InputOptions, OnBadLine, TableStream};
use outcore::io::sim::Sim;
use outcore::job::{self, JobOptions, Source};
use outcore::present::{LevelForm, PresentOptions};
use outcore::progress::Silent;
use outcore::{Error, ErrorKind, Result};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const GRAPH: &str = "/out/graph";

/// Returns the files of the graph that a job writes, without the manifest, which contains times.
fn built(sim: &Sim, options: &JobOptions) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let files = files_of(sim);
    job::build(&files, options, Path::new(GRAPH), &Silent)?;
    let entries = files.list(Path::new(GRAPH))?;
    Ok(entries
        .into_iter()
        .map(|entry| (entry.path.clone(), files.read(&entry.path).unwrap()))
        .collect())
}

fn of_text(
    rows: &[Row],
    weighted: bool,
    change: impl Fn(&mut InputOptions),
) -> Vec<(PathBuf, Vec<u8>)> {
    let sim = storage_of(&text(rows, weighted));
    let mut options = options(2, 256 * MIB);
    change(&mut options.input);
    built(&sim, &options).unwrap()
}

fn of_file(
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

fn of_stream(
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

fn edges(count: usize, nodes: u64, seed: u64) -> Vec<Row> {
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

const KINDS: [Names; 6] =
    [Names::Text, Names::LargeText, Names::Views, Names::Binary, Names::Dictionary, Names::Numbers];

#[test]
fn all_formats_give_the_same_graph() {
    let rows = edges(30_000, 4000, 1);
    for weighted in [false, true] {
        let expected = of_text(&rows, weighted, |_| ());
        for kind in KINDS {
            let table = table(&rows, kind, weighted);
            let same = |found: Result<Vec<_>>, what: &str| {
                let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
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
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

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
                assert!(
                    kinds.contains(&error.kind()),
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

#[test]
fn columns_are_found_by_name_and_by_number() {
    use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray};
    use std::sync::Arc;
    let column = |array: ArrayRef| array;
    let names = |names: [&str; 3]| column(Arc::new(StringArray::from(names.to_vec())));
    let columns = [
        ("id", column(Arc::new(Int32Array::from(vec![7, 8, 9])))),
        ("weight", column(Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0])))),
        ("target", names(["b", "c", "a"])),
        ("source", names(["a", "b", "c"])),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let expected = of_text(
        &[("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 3.0)]
            .map(|(a, b, w)| (Some(a.to_owned()), Some(b.to_owned()), Some(w))),
        true,
        |_| (),
    );
    let bytes = parquet(&table, 10);
    assert!(of_file(&bytes, 1, |_| ()).unwrap() == expected);
    let by = |columns: &[&str]| {
        let columns: Vec<Column> = columns
            .iter()
            .map(|text| text.parse().map_or_else(|_| Column::Name((*text).into()), Column::Number))
            .collect();
        of_file(&bytes, 1, |input| input.columns = Some(columns.clone()))
    };
    assert!(by(&["source", "target", "weight"]).unwrap() == expected);
    assert!(by(&["4", "3", "2"]).unwrap() == expected);
    assert!(by(&["source", "3", "id"]).is_ok());
    for (columns, message) in [
        (["source", "goal"], "has no column `goal`"),
        (["5", "1"], "has no column 5"),
        (["weight", "source"], "column `weight` is Float64, but names are text or whole numbers"),
    ] {
        let error = by(&columns).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let error = by(&["1", "3", "source"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadWeight);
    assert!(error.to_string().contains("weight is not a number"), "{error}");
}

/// A column of any type that text can have gives the same graph as the text.
#[test]
fn columns_of_every_type_mean_what_they_mean_as_text() {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        Array, ArrayRef, Decimal64Array, Decimal128Array, Decimal256Array, DictionaryArray,
        FixedSizeBinaryArray, Float64Array, Int8Array, Int32Array, LargeStringArray, StringArray,
        StringViewArray,
    };
    use arrow_buffer::i256;
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;
    let text = |values: &[&str]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let names = ["7", "-40", "123456789012345678901234567890"];
    let (wide, narrow) = ([7, -40, 123_456_789_012_345_678_901_234_567_890], [7, -40, 9]);
    let ids = [[0u8; 16], [0xAB; 16], std::array::from_fn(|at| at as u8 * 16 + 1)];
    let uuids = [
        "00000000-0000-0000-0000-000000000000",
        "abababab-abab-abab-abab-abababababab",
        "01112131-4151-6171-8191-a1b1c1d1e1f1",
    ];
    let numbers = ["0.15", "20000000000000000000000000.25", "3"];
    let whole = [15, 2_000_000_000_000_000_000_000_000_025, 300];
    let decimals =
        |scale| Decimal128Array::from(whole.to_vec()).with_precision_and_scale(38, scale);
    let large: Vec<i256> = whole.iter().map(|&value| i256::from_i128(value)).collect();
    let large = Decimal256Array::from(large).with_precision_and_scale(76, 2).unwrap();
    let keyed = |values: ArrayRef| -> ArrayRef {
        Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 1, 2]), values))
    };
    let dictionary = DictionaryArray::<Int8Type>::from_iter(numbers);
    let of_names: [(ArrayRef, [&str; 3]); 6] = [
        (
            Arc::new(Decimal128Array::from(wide.to_vec()).with_precision_and_scale(38, 0).unwrap()),
            names,
        ),
        (
            Arc::new(
                Decimal256Array::from_iter_values(wide.map(i256::from_i128))
                    .with_precision_and_scale(50, 0)
                    .unwrap(),
            ),
            names,
        ),
        (
            Arc::new(Decimal64Array::from(narrow.to_vec()).with_precision_and_scale(9, 0).unwrap()),
            ["7", "-40", "9"],
        ),
        (Arc::new(FixedSizeBinaryArray::try_from_iter(ids.iter()).unwrap()), uuids),
        (keyed(Arc::new(Int32Array::from(narrow.map(|n| n as i32).to_vec()))), ["7", "-40", "9"]),
        (
            keyed(Arc::new(
                Decimal64Array::from(narrow.to_vec()).with_precision_and_scale(9, 0).unwrap(),
            )),
            ["7", "-40", "9"],
        ),
    ];
    let of_weights: [(ArrayRef, [&str; 3]); 8] = [
        (Arc::new(decimals(2).unwrap()), numbers),
        (Arc::new(decimals(-1).unwrap()), ["150", "20000000000000000000000000250", "3000"]),
        (Arc::new(large), numbers),
        (text(&[" 0.15", "2.000000000000000000000000025e25 ", "3.0"]), numbers),
        (Arc::new(LargeStringArray::from(numbers.to_vec())), numbers),
        (Arc::new(StringViewArray::from(numbers.to_vec())), numbers),
        (Arc::new(dictionary), numbers),
        (keyed(Arc::new(Float64Array::from(vec![0.5, 2.5, 0.125]))), ["0.5", "2.5", "0.125"]),
    ];
    let targets = ["x", "y", "z"];
    let mut cases = Vec::new();
    for (column, names) in of_names {
        cases.push((column, text(&targets), text(&["1", "2", "3"]), names, ["1", "2", "3"]));
    }
    for (column, weights) in of_weights {
        cases.push((text(&["a", "b", "c"]), text(&targets), column, ["a", "b", "c"], weights));
    }
    for (sources, others, weights, as_names, as_weights) in cases {
        let what = format!("{:?}, {:?}", sources.data_type(), weights.data_type());
        let mut lines = String::from("source\ttarget\tweight\n");
        for at in 0..3 {
            lines += &format!("{}\t{}\t{}\n", as_names[at], targets[at], as_weights[at]);
        }
        let sim = storage_of(&lines);
        let expected = built(&sim, &options(2, 256 * MIB)).unwrap();
        let field = |name: &str, column: &ArrayRef| {
            let field = Field::new(name, column.data_type().clone(), true);
            match column.data_type() {
                DataType::FixedSizeBinary(_) => field
                    .with_metadata([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]),
                _ => field,
            }
        };
        let columns = vec![sources, others, weights];
        let fields: Vec<Field> =
            ["source", "target", "weight"].iter().zip(&columns).map(|(n, c)| field(n, c)).collect();
        let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let by_number = |input: &mut InputOptions| {
            input.columns = Some([1, 2, 3].map(Column::Number).to_vec());
        };
        for bytes in [arrow(&table, 3, false, false), arrow(&table, 2, true, true)] {
            assert!(of_file(&bytes, 1, by_number).unwrap() == expected, "Arrow of {what}");
        }
        assert!(of_stream(vec![table.clone()], by_number).unwrap() == expected, "{what}");
        let bytes = match table.column(2).data_type() {
            // Parquet has none.
            DataType::Decimal128(_, scale) if *scale < 0 => continue,
            _ if as_names == uuids => parquet_of_uuids(&table),
            _ => parquet(&table, 3),
        };
        assert!(of_file(&bytes, 1, by_number).unwrap() == expected, "Parquet of {what}");
    }
}

/// Returns a Parquet file whose first column is marked as UUIDs.
fn parquet_of_uuids(table: &RecordBatch) -> Vec<u8> {
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;
    let schema = "message edges {
        optional fixed_len_byte_array(16) source (UUID);
        optional binary target (STRING);
        optional binary weight (STRING);
    }";
    let schema = SchemaDescriptor::new(std::sync::Arc::new(parse_message_type(schema).unwrap()));
    let options = ArrowWriterOptions::new().with_parquet_schema(schema);
    let mut writer =
        ArrowWriter::try_new_with_options(Vec::new(), table.schema(), options).unwrap();
    writer.write(table).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn values_that_are_no_numbers_are_bad_rows_of_text_columns() {
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int8Array, StringArray};
    use std::sync::Arc;
    let text = |values: [Option<&str>; 3]| -> ArrayRef {
        Arc::new(values.iter().collect::<StringArray>())
    };
    let names = || text([Some("a"), Some("b"), Some("c")]);
    let keys = Int8Array::from(vec![Some(0), None, Some(0)]);
    let of_keys = DictionaryArray::<Int8Type>::new(keys, Arc::new(Float64Array::from(vec![2.0])));
    let keys = Int8Array::from(vec![1, 0, 1]);
    let values = Arc::new(Float64Array::from(vec![None, Some(2.0)]));
    let of_values = DictionaryArray::<Int8Type>::new(keys, values);
    let cases: [(ArrayRef, &str); 7] = [
        (text([Some("1"), Some("NA"), Some("1")]), "weight is not a number"),
        (text([Some("1"), Some("-2"), Some("1")]), "weight is negative"),
        (text([Some("1"), Some("inf"), Some("1")]), "weight is infinite"),
        (text([Some("1"), Some(""), Some("1")]), "weight is null"),
        (text([Some("1"), None, Some("1")]), "weight is null"),
        (Arc::new(of_keys), "weight is null"),
        (Arc::new(of_values), "weight is null"),
    ];
    for (weights, message) in cases {
        let columns = [("source", names()), ("target", names()), ("weight", weights)];
        let columns = columns.map(|(name, column)| (name, column, true));
        let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        for bytes in [arrow(&table, 3, false, false), parquet(&table, 3)] {
            let numbered = |input: &mut InputOptions| {
                input.columns = Some([1, 2, 3].map(Column::Number).to_vec());
            };
            let error = of_file(&bytes, 1, numbered).unwrap_err();
            assert!(error.message().contains(message), "{error}");
            assert_eq!(error.place().unwrap().line, 2);
            let skipping = |input: &mut InputOptions| {
                numbered(input);
                input.on_bad_line = OnBadLine::Skip;
            };
            assert!(of_file(&bytes, 1, skipping).is_ok());
        }
    }
}

#[test]
fn columns_whose_text_depends_on_the_program_are_no_names() {
    use arrow_array::{ArrayRef, Decimal128Array, FixedSizeBinaryArray, StringArray};
    use std::sync::Arc;
    let bytes = FixedSizeBinaryArray::try_from_iter([[1u8; 16], [2; 16]].iter()).unwrap();
    let short = FixedSizeBinaryArray::try_from_iter([*b"abcd", *b"efgh"].iter()).unwrap();
    let decimals = Decimal128Array::from(vec![10, 25]).with_precision_and_scale(4, 1).unwrap();
    let columns: [ArrayRef; 3] = [Arc::new(bytes), Arc::new(short), Arc::new(decimals)];
    for column in columns {
        let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        let columns = [("source", column), ("target", names)];
        let table = RecordBatch::try_from_iter(columns).unwrap();
        for bytes in [arrow(&table, 2, false, false), parquet(&table, 2)] {
            let error = of_file(&bytes, 1, |_| ()).unwrap_err();
            assert!(error.message().contains("column `source` is "), "{error}");
            assert!(error.message().contains("names are text or whole numbers"), "{error}");
        }
    }
}

/// Returns a table as lines of text; names are text, everything else is numbers.
fn lines_of(table: &RecordBatch, delimiter: char, header: bool) -> String {
    let delimiter = delimiter.to_string();
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut text = if header { names.join(&delimiter) + "\n" } else { String::new() };
    for row in 0..table.num_rows() {
        let cells = table.columns().iter().map(|column| cell(column.as_ref(), row));
        text += &(cells.collect::<Vec<_>>().join(&delimiter) + "\n");
    }
    text
}

fn cell(column: &dyn arrow_array::Array, row: usize) -> String {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    match column.data_type() {
        arrow_schema::DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        arrow_schema::DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        _ => column.as_primitive::<Float64Type>().value(row).to_string(),
    }
}

/// A header gives the same edges and weights in every format: `s` and `t` stand for names, `w` for the weight, `n` for
/// another number, `x` for other text.
#[test]
fn a_header_means_the_same_in_every_format() {
    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;
    let rows = edges(300, 40, 3);
    let names = |prefix: &str, end: fn(&Row) -> &Option<String>| {
        let names = rows.iter().map(|row| end(row).as_ref().map(|name| format!("{prefix}{name}")));
        Arc::new(names.collect::<StringArray>()) as ArrayRef
    };
    let column = |kind: char| -> ArrayRef {
        match kind {
            's' => names("p", |row| &row.0),
            't' => names("p", |row| &row.1),
            'w' => Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>()),
            'n' => Arc::new(Int64Array::from_iter_values(0..rows.len() as i64)),
            _ => names("other", |row| &row.1),
        }
    };
    let named: Vec<Row> = rows
        .iter()
        .map(|row| {
            let name = |name: &Option<String>| name.as_ref().map(|name| format!("p{name}"));
            (name(&row.0), name(&row.1), row.2)
        })
        .collect();
    for (header, kinds) in [
        ("source,target,weight", "stw"),
        ("source,target", "st"),
        ("from,to,count", "stw"),
        ("weight,to,from", "wts"),
        (",source,target,weight", "nstw"),
        ("Unnamed: 0,from,to,score", "nstw"),
        (",x,y,z", "nstw"),
        ("id,source,target,score", "nstw"),
        ("source,target,id", "stn"),
        ("Source,Target,Type,Id,Label,Weight", "stxnxw"),
        ("Source,Type,Target,Id,Weight", "sxtnw"),
        ("protein1,protein2,combined_score", "stw"),
        ("x,protein1,protein2,combined_score", "xstw"),
        ("from,to,source", "stx"),
        ("a,b,c", "stw"),
        ("a,b,c,weight", "stxw"),
    ] {
        let columns = header.split(',').zip(kinds.chars().map(column));
        let table = RecordBatch::try_from_iter(columns).unwrap();
        let expected = of_text(&named, kinds.contains('w'), |_| ());
        let files = [
            ("CSV", lines_of(&table, ',', true).into_bytes()),
            ("TSV", lines_of(&table, '\t', true).into_bytes()),
            ("semicolons", lines_of(&table, ';', true).into_bytes()),
            ("Parquet", parquet(&table, 100)),
            ("Arrow", arrow(&table, 100, false, false)),
        ];
        for (what, file) in files {
            let found = of_file(&file, 2, |_| ());
            let found = found.unwrap_or_else(|error| panic!("{header} as {what}: {error}"));
            assert!(found == expected, "{header} as {what}");
        }
    }
    // Columns that are given take precedence over the header.
    let columns = "source,target,weight,from,to".split(',').zip("xxnst".chars().map(column));
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let expected = of_text(&named, false, |_| ());
    for file in [lines_of(&table, ',', true).into_bytes(), parquet(&table, 100)] {
        let by_number = |input: &mut InputOptions| {
            input.columns = Some([4, 5].map(Column::Number).to_vec());
        };
        assert!(of_file(&file, 2, by_number).unwrap() == expected);
    }
    // As R writes a data frame: a column of row names without a header.
    let table =
        RecordBatch::try_from_iter("row,from,to,weight".split(',').zip("nstw".chars().map(column)))
            .unwrap();
    let text = format!("from to weight\n{}", lines_of(&table, ' ', false));
    assert!(of_file(text.as_bytes(), 2, |_| ()).unwrap() == of_text(&named, true, |_| ()));
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
