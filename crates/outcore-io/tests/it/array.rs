//! Arrays in files.

use outcore_io::{ARRAY_BLOCK_BYTES, Array, Files};
use outcore_testkit::sim::Sim;
use std::path::Path;
use std::sync::Arc;

#[test]
fn numbers_round_trip_in_blocks_of_any_size() {
    let files = Files::new(Arc::new(Sim::new()));
    let block = (ARRAY_BLOCK_BYTES / 4) as u64;
    for count in [0, 1, 1000, block + 1, 5 * block / 2] {
        let numbers: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
        let all = numbers.iter().copied();
        let array = Array::write(&files, Path::new("numbers"), all).unwrap();
        assert_eq!((array.count, array.bytes()), (count, 4 * count));
        assert_eq!(array.read_all(&files).unwrap(), numbers);
        let mut reader = array.read(&files, 1000).unwrap();
        assert!(numbers.iter().all(|&number| reader.number().unwrap() == number));
        assert!(reader.next_block().unwrap().is_empty());
        assert_eq!(reader.next_number().unwrap(), None);
        let error = reader.number().unwrap_err();
        assert!(error.message().contains("it ends early"), "{error}");
    }
}
