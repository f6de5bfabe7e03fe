//! Columns of tables: found by name and number, of every type, with headers.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{Row, arrow, parquet};
use crate::common::{MIB, options, storage_of};
use crate::tables::{built, edges, of_file, of_stream, of_text};
use arrow_array::RecordBatch;
use outcore::ErrorKind;
use outcore::input::{Column, InputOptions, OnBadLine};

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
    let bytes = FixedSizeBinaryArray::try_from_iter([*b"abcd", *b"efgh", *b"ijkl"].iter()).unwrap();
    let of_names: [(ArrayRef, [&str; 3]); 7] = [
        (Arc::new(bytes), ["abcd", "efgh", "ijkl"]),
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
                DataType::FixedSizeBinary(16) => field
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
    use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Float32Array, StringArray};
    use std::sync::Arc;
    let (days, numbers) = (Date32Array::from(vec![1, 2]), Float32Array::from(vec![1.0, 2.5]));
    let decimals = Decimal128Array::from(vec![10, 25]).with_precision_and_scale(4, 1).unwrap();
    let columns: [ArrayRef; 3] = [Arc::new(days), Arc::new(numbers), Arc::new(decimals)];
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

/// Returns a table in all formats.
fn formats_of(table: &RecordBatch) -> [(&'static str, Vec<u8>); 5] {
    [
        ("CSV", lines_of(table, ',', true).into_bytes()),
        ("TSV", lines_of(table, '\t', true).into_bytes()),
        ("semicolons", lines_of(table, ';', true).into_bytes()),
        ("Parquet", parquet(table, 100)),
        ("Arrow", arrow(table, 100, false, false)),
    ]
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
    ] {
        let columns = header.split(',').zip(kinds.chars().map(column));
        let table = RecordBatch::try_from_iter(columns).unwrap();
        let expected = of_text(&named, kinds.contains('w'), |_| ());
        for (what, file) in formats_of(&table) {
            let found = of_file(&file, 2, |_| ());
            let found = found.unwrap_or_else(|error| panic!("{header} as {what}: {error}"));
            assert!(found == expected, "{header} as {what}");
        }
    }
    // What is a question in one format is one in all.
    for (header, kinds) in
        [("a,b,c,weight", "stxw"), ("source,target,one,two", "stww"), ("id,label", "sx")]
    {
        let columns = header.split(',').zip(kinds.chars().map(column));
        let table = RecordBatch::try_from_iter(columns).unwrap();
        for (what, file) in formats_of(&table) {
            let error = of_file(&file, 2, |_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{header} as {what}: {error}");
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
