//! Parquet and Arrow: columns of all names and types, empty tables, damage and false claims of size.

use super::{Case, Expected, FOUND, PLAIN, bad, finds};
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int64Array, ListArray, NullArray, RecordBatch, StringArray,
    TimestampMillisecondArray, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Copy)]
enum Form {
    Parquet,
    File,
    Stream,
}

const FORMS: [(Form, &str, &str); 3] = [
    (Form::Parquet, "Parquet", "edges.parquet"),
    (Form::File, "Arrow", "edges.arrow"),
    (Form::Stream, "stream of Arrow", "edges.arrows"),
];

impl Form {
    fn write(self, batch: &RecordBatch) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Parquet => {
                let mut to = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
                to.write(batch).unwrap();
                to.close().unwrap();
            }
            Self::File => {
                let mut to = FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
                to.write(batch).unwrap();
                to.finish().unwrap();
            }
            Self::Stream => {
                let mut to = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
                to.write(batch).unwrap();
                to.finish().unwrap();
            }
        }
        bytes
    }
}

fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    let columns = columns.map(|(name, values)| (name, values, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn text<const N: usize>(values: [&str; N]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn sources() -> ArrayRef {
    text(["a", "b", "d"])
}

fn targets() -> ArrayRef {
    text(["b", "c", "e"])
}

fn weights() -> ArrayRef {
    Arc::new(Float64Array::from(vec![1.0, 2.0, 1.0]))
}

fn plain_table() -> RecordBatch {
    table([("source", sources()), ("target", targets()), ("weight", weights())])
}

/// Name, table or column, and expected outcome.
type Row<T> = (&'static str, T, fn() -> Expected);

/// Returns a case of the table in each form.
fn each(name: &str, batch: &RecordBatch, expected: fn() -> Expected) -> Vec<Case> {
    let case = |(form, kind, file): (Form, &str, &'static str)| {
        Case::of(format!("{kind}: {name}"), file, form.write(batch), expected())
    };
    FORMS.map(case).into()
}

fn of_names() -> Vec<Case> {
    let named = |names: [&str; 3]| {
        table([(names[0], sources()), (names[1], targets()), (names[2], weights())])
    };
    let mut cases = Vec::new();
    for (name, names) in [
        ("usual names", ["source", "target", "weight"]),
        ("from and to", ["from", "to", "score"]),
        ("capitals", ["Source", "TARGET", "Weight"]),
        ("unknown names", ["x", "y", "z"]),
        ("no names", ["", "", ""]),
        ("one name for all", ["x", "x", "x"]),
        ("escapes in names", ["\x1b[31msource", "tar\nget", "w\x07"]),
    ] {
        cases.extend(each(name, &named(names), || finds(FOUND)));
    }
    let nodes = table([("Id", sources()), ("Label", targets()), ("Class", weights())]);
    cases.extend(each("table of nodes", &nodes, || super::asks("is a table of nodes")));
    let index: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 2]));
    let indexed = table([("__index_level_0__", index), ("x", sources()), ("y", targets())]);
    cases.extend(each("index of a data frame", &indexed, || finds(FOUND)));
    let misnamed = table([("x", sources()), ("source", targets()), ("target", weights())]);
    cases.extend(each("weights called target", &misnamed, || bad("column `target` is Float64")));
    cases.extend(each("one column", &table([("source", sources())]), || bad("1 columns")));
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    cases.extend(each("no columns", &nothing, || bad("0 columns")));
    cases.extend(each("no rows", &plain_table().slice(0, 0), || bad("the input holds no edges")));
    let reported = |case: Case| case.and(&["--columns", "x,y"]);
    let wrong = each("missing columns", &plain_table(), || bad("has no column `x`"));
    cases.extend(wrong.into_iter().map(reported));
    let twice = table([("x", sources()), ("x", targets()), ("y", targets())]);
    let twice = each("a column that occurs twice", &twice, || bad("two columns named `x`"));
    cases.extend(twice.into_iter().map(reported));
    let lined =
        each("an option of lines", &plain_table(), || Expected::Refuses(2, "has no effect on"));
    cases.extend(lined.into_iter().map(|case| case.and(&["--delimiter", ","])));
    cases
}

fn of_types() -> Vec<Case> {
    let named = |names: ArrayRef| table([("source", names), ("target", targets())]);
    let whole = |numbers: [i64; 3]| -> ArrayRef { Arc::new(Int64Array::from(numbers.to_vec())) };
    let lists =
        ListArray::from_iter_primitive::<Int32Type, _, _>([1, 2, 3].map(|n| Some([Some(n)])));
    let words = DictionaryArray::<Int32Type>::from_iter(["a", "b", "d"]);
    let long = "x".repeat(65_537);
    let not_text = || bad("names are text or whole numbers");
    let cases: Vec<Row<RecordBatch>> = vec![
        (
            "whole numbers",
            table([("source", whole([1, 2, 4])), ("target", whole([2, 3, -5]))]),
            || finds("-5 4|1 2 3"),
        ),
        ("large numbers", named(Arc::new(UInt64Array::from(vec![u64::MAX, 1, 2]))), || {
            finds("1 c|18446744073709551615 b|2 e")
        }),
        ("dictionary", named(Arc::new(words)), || finds(FOUND)),
        ("bytes", named(Arc::new(BinaryArray::from_vec(vec![b"a", b"b", b"\xff"]))), || {
            finds(r"\xff e|a b c")
        }),
        ("numbers with points", named(weights()), not_text),
        ("times", named(Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3]))), not_text),
        ("lists", named(Arc::new(lists)), not_text),
        ("booleans", named(Arc::new(BooleanArray::from(vec![true, false, true]))), not_text),
        ("only nulls", named(Arc::new(NullArray::new(3))), not_text),
        ("a null", named(Arc::new(StringArray::from(vec![Some("a"), None, Some("d")]))), || {
            bad("source has no name")
        }),
        ("an empty name", named(text(["a", "", "d"])), || bad("source has no name")),
        ("a line end in a name", named(text(["a", "x\ny", "d"])), || {
            bad("name contains a line end")
        }),
        ("a tab in a name", named(text(["a", "x\ty", "d"])), || finds(r"a b|c x\ty|d e")),
        ("a zero in a name", named(text(["a", "x\0", "d"])), || finds(r"a b|c x\x00|d e")),
        ("a name beyond 64 KiB", named(text(["a", &long, "d"])), || {
            bad("name is longer than 64 KiB")
        }),
    ];
    cases.iter().flat_map(|(name, batch, expected)| each(name, batch, *expected)).collect()
}

fn of_weights() -> Vec<Case> {
    let weighed = |weights: ArrayRef| {
        table([("source", sources()), ("target", targets()), ("weight", weights)])
    };
    let doubles = |middle: Option<f64>| -> ArrayRef {
        Arc::new(Float64Array::from(vec![Some(1.0), middle, Some(1.0)]))
    };
    let decimals = Decimal128Array::from(vec![15, 20, 25]).with_precision_and_scale(5, 1).unwrap();
    let not_number = || bad("a weight is a number");
    let cases: Vec<Row<ArrayRef>> = vec![
        ("weight null", doubles(None), || bad("weight is null")),
        ("weight NaN", doubles(Some(f64::NAN)), || bad("weight is NaN")),
        ("weight infinite", doubles(Some(f64::INFINITY)), || bad("weight is infinite")),
        ("weight negative", doubles(Some(-1.0)), || bad("weight is negative")),
        ("weight 0", doubles(Some(0.0)), || finds("a b|c|d e")),
        ("weight minus 0", doubles(Some(-0.0)), || finds("a b|c|d e")),
        ("weights of 32 bits", Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0])), || finds(FOUND)),
        ("whole weights", Arc::new(Int64Array::from(vec![1, 2, 3])), || finds(FOUND)),
        ("whole weights, one negative", Arc::new(Int64Array::from(vec![1, -2, 3])), || {
            bad("weight is negative")
        }),
        ("weights as text", text(["1", "2", "3"]), || finds(FOUND)),
        ("weights as text, one empty", text(["1", "", "3"]), || bad("weight is null")),
        ("weights as text, one missing", text(["1", "NA", "3"]), || bad("weight is not a number")),
        ("weights as booleans", Arc::new(BooleanArray::from(vec![true, false, true])), not_number),
        ("weights as days", Arc::new(Date32Array::from(vec![1, 2, 3])), not_number),
        ("weights as decimals", Arc::new(decimals), || finds(FOUND)),
        ("weights that are all null", Arc::new(NullArray::new(3)), not_number),
    ];
    cases
        .iter()
        .flat_map(|(name, column, expected)| each(name, &weighed(column.clone()), *expected))
        .collect()
}

/// Returns cases of a list of nodes beside edges in text.
fn of_nodes() -> Vec<Case> {
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 7]));
    let lists =
        ListArray::from_iter_primitive::<Int32Type, _, _>([1, 2, 3].map(|n| Some([Some(n)])));
    let words = DictionaryArray::<Int32Type>::from_iter(["a", "z", "z"]);
    let null: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("z")]));
    let named = |names: ArrayRef| table([("x", targets()), ("id", names)]);
    let cases: Vec<Row<RecordBatch>> = vec![
        ("text", named(text(["a", "z", "b"])), || finds("a b c|d e|z")),
        ("whole numbers", named(whole.clone()), || finds("7|8|a b c|d e")),
        ("dictionary", named(Arc::new(words)), || finds("a b c|d e|z")),
        ("one column", table([("x", whole)]), || finds("7|8|a b c|d e")),
        ("no rows", named(targets()).slice(0, 0), || finds(FOUND)),
        ("a null", named(null), || bad("node has no name")),
        ("numbers with points", named(weights()), || bad("names are text or whole numbers")),
        ("lists", named(Arc::new(lists)), || bad("names are text or whole numbers")),
        ("unknown names", table([("x", sources()), ("y", targets())]), || {
            super::asks("no column that is named as that of the nodes")
        }),
        ("two of one name", table([("id", sources()), ("ID", targets())]), || {
            super::asks("2 columns that may be that of the nodes")
        }),
        ("no columns", RecordBatch::new_empty(Arc::new(Schema::empty())), || {
            super::asks("no column that is named as that of the nodes")
        }),
    ];
    let beside = |kind: &str, form: Form, (name, batch, expected): &Row<RecordBatch>| {
        let nodes = form.write(batch);
        let make = move |directory: &Path| {
            std::fs::write(directory.join("edges.tsv"), PLAIN).unwrap();
            std::fs::write(directory.join("nodes"), &nodes).unwrap();
        };
        let case = Case::made(format!("nodes in {kind}: {name}"), "edges.tsv", make, expected());
        case.and(&["--nodes", "nodes"])
    };
    let of = |case| FORMS.map(|(form, kind, _)| beside(kind, form, case));
    let of_kinds: Row<RecordBatch> = ("two kinds", table([("x", text(["target:z", "z"]))]), || {
        bad("node `z` is neither of the kind `source` nor `target`")
    });
    let of_kinds = of(&of_kinds).map(|case| case.and(&["--two-mode"]));
    cases.iter().flat_map(of).chain(of_kinds).collect()
}

pub(super) fn plain() -> Vec<Case> {
    of_names().into_iter().chain(of_types()).chain(of_weights()).chain(of_nodes()).collect()
}

/// Returns a table of several pages.
fn pages() -> RecordBatch {
    let name = |row: i64, times: i64| format!("node{}", row * times % 97);
    let column = |times| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..500).map(|row| name(row, times))))
    };
    let weights = Float64Array::from_iter_values((0..500).map(|row| f64::from(row % 7 + 1)));
    table([("source", column(1)), ("target", column(31)), ("weight", Arc::new(weights))])
}

const PLACES: usize = 9;

/// Returns cases of files truncated, or with a flipped byte, at places throughout the file.
fn hurt() -> Vec<Case> {
    let batch = pages();
    let mut cases = Vec::new();
    for (form, kind, file) in FORMS {
        let whole = form.write(&batch);
        for place in 0..PLACES {
            let at = whole.len() * (2 * place + 1) / (2 * PLACES);
            let cut = whole[..at].to_vec();
            cases.push(Case::of(format!("{kind}: cut {place}"), file, cut, Expected::Damaged));
            let mut flipped = whole.clone();
            flipped[at] ^= 0xFF;
            cases.push(Case::of(
                format!("{kind}: flipped {place}"),
                file,
                flipped,
                Expected::Survives,
            ));
        }
        let short = whole[..whole.len() - 1].to_vec();
        // All rows come before the marks at the end of Arrow.
        let expected = match form {
            Form::Parquet => Expected::Damaged,
            Form::File | Form::Stream => Expected::Survives,
        };
        cases.push(Case::of(format!("{kind}: cut by one byte"), file, short, expected));
        let behind = [&whole[..], b"rubbish behind the end"].concat();
        cases.push(Case::of(
            format!("{kind}: garbage at the end"),
            file,
            behind,
            Expected::Survives,
        ));
    }
    cases
}

/// Returns cases of small files that claim to contain much data.
fn claims() -> Vec<Case> {
    let (parquet, arrow) = (Form::Parquet.write(&plain_table()), Form::File.write(&plain_table()));
    let stream = Form::Stream.write(&plain_table());
    let with = |bytes: &[u8], at: usize, number: u32| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    let of = |name: &str, file: &'static str, bytes: Vec<u8>, expected: Expected| {
        Case::of(name, file, bytes, expected)
    };
    let (parquet_end, arrow_end) = (parquet.len() - 8, arrow.len() - 10);
    let huge = i32::MAX as u32;
    // Zeros may follow the mark.
    let message = arrow.windows(4).position(|bytes| bytes == [0xFF; 4]).unwrap();
    vec![
        of("Parquet: mark alone", "e.parquet", b"PAR1".to_vec(), Expected::Damaged),
        of("Parquet: two marks", "e.parquet", b"PAR1PAR1".to_vec(), Expected::Damaged),
        of("Parquet: mark and text", "e.parquet", b"PAR1\ta\nb\tc\n".to_vec(), Expected::Damaged),
        of(
            "Parquet: end of gigabytes",
            "e.parquet",
            with(&parquet, parquet_end, huge),
            Expected::Damaged,
        ),
        of(
            "Parquet: end of nothing",
            "e.parquet",
            with(&parquet, parquet_end, 0),
            Expected::Damaged,
        ),
        of(
            "Parquet: encrypted",
            "e.parquet",
            [&b"PARE"[..], &[0; 60], b"PARE"].concat(),
            bad("is encrypted Parquet"),
        ),
        of("Arrow: mark alone", "e.arrow", b"ARROW1\0\0".to_vec(), Expected::Damaged),
        of(
            "Arrow: mark and text",
            "e.arrow",
            b"ARROW1\0\0a\tb\nb\tc\n".to_vec(),
            Expected::Damaged,
        ),
        of(
            "Arrow: message of gigabytes",
            "e.arrow",
            with(&arrow, message + 4, huge),
            Expected::Damaged,
        ),
        of("Arrow: end of gigabytes", "e.arrow", with(&arrow, arrow_end, huge), Expected::Survives),
        of("stream of Arrow: mark alone", "e.arrows", vec![0xFF; 4], Expected::Damaged),
        of(
            "stream of Arrow: message of gigabytes",
            "e.arrows",
            with(&stream, 4, huge),
            Expected::Damaged,
        ),
        of(
            "stream of Arrow: message of negative length",
            "e.arrows",
            with(&stream, 4, u32::MAX),
            Expected::Damaged,
        ),
    ]
}

/// Returns cases of small files that expand to much data.
fn bombs() -> Vec<Case> {
    let nulls = |directory: &Path| {
        let column = || -> ArrayRef { Arc::new(StringArray::new_null(2_000_000)) };
        let batch = table([("source", column()), ("target", column())]);
        std::fs::write(directory.join("nulls.parquet"), Form::Parquet.write(&batch)).unwrap();
    };
    let dictionary = |directory: &Path| {
        let names = StringArray::from_iter_values(
            (0..16).map(|at| format!("{at:02}{}", "y".repeat(60_000))),
        );
        let keys = arrow_array::Int64Array::from_iter_values((0..20_000).map(|row| row % 16));
        let names = DictionaryArray::<Int64Type>::new(keys, Arc::new(names));
        let others = Int64Array::from_iter_values((0..20_000).map(|row| row % 16 / 8));
        let batch = table([("source", Arc::new(names)), ("target", Arc::new(others))]);
        for (form, _, file) in FORMS {
            let file = file.replace("edges", "words");
            std::fs::write(directory.join(file), form.write(&batch)).unwrap();
        }
    };
    let page = |directory: &Path| {
        let names = (0..1500).map(|at| format!("{at:04}{}", "z".repeat(64_000)));
        let others = Int64Array::from_iter_values((0..1500).map(|row| row % 7));
        let batch = table([
            ("source", Arc::new(StringArray::from_iter_values(names)) as ArrayRef),
            ("target", Arc::new(others)),
        ]);
        let one = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(1 << 30)
            .set_write_batch_size(1 << 20)
            .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
            .build();
        let to = std::fs::File::create(directory.join("page.parquet")).unwrap();
        let mut to = ArrowWriter::try_new(to, batch.schema(), Some(one)).unwrap();
        to.write(&batch).unwrap();
        to.close().unwrap();
    };
    let little = || Expected::Refuses(4, "is too little memory for this input");
    let mut cases = vec![
        Case::made("Parquet: millions of nulls", "nulls.parquet", nulls, bad("source has no name")),
        Case::made("Parquet: millions of nulls, skipped", "nulls.parquet", nulls, bad("no edges"))
            .and(&["--on-bad-line", "skip"]),
        Case::made("Parquet: a page of 96 MiB", "page.parquet", page, little()),
    ];
    for (_, kind, file) in FORMS {
        let name = format!("{kind}: long names repeated");
        let file = file.replace("edges", "words");
        cases.push(Case::made(name, &file, dictionary, Expected::Survives));
    }
    cases
}

pub(super) fn damaged() -> Vec<Case> {
    hurt().into_iter().chain(claims()).chain(bombs()).collect()
}
