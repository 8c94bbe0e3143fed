//! Damaged bytes: an error or wrong values, but never a panic.

use super::*;
use tantivy::columnar::ColumnType;

/// Calls everything that a column offers, and ignores the results.
fn ask_everything(column_type: ColumnType, bytes: Vec<u8>) {
    let Ok((_, values)) = Values::open_bytes(column_type, &OwnedBytes::new(bytes)) else {
        return;
    };
    let end = values.num_rows().min(3000);
    let rows: Vec<u32> = (0..end).step_by(3).collect();
    let mut out = Vec::new();
    let _ = (values.min(), values.max());
    values.decode(end / 2..end, &mut out).unwrap();
    values.gather(&rows, &mut out).unwrap();
    if let Values::Packed(packed) = values {
        let mut out = Vec::new();
        let _ = packed.decode_raw_u32(0..end, &mut out);
        let _ = packed.gather_raw_u32(&rows, &mut out);
        let mut counts = vec![0; usize::try_from(packed.raw_max()).unwrap().min(1 << 16) + 1];
        let _ = packed.count_raw(0..end, &mut counts);
        let _ = packed.count_raw_at(&rows, &mut counts);
    }
}

/// Returns the bytes of columns of all kinds, as `Values::open_bytes` takes them.
fn columns_as_bytes(docs: &[Doc]) -> Vec<(ColumnType, Vec<u8>)> {
    let bytes = |(_, handle): &(String, DynamicColumnHandle)| {
        let bytes = crate::columns::layout::read_column(handle).unwrap();
        (handle.column_type(), bytes.to_vec())
    };
    columns_of(docs).iter().map(bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..config() })]

    #[test]
    fn no_damaged_byte_and_no_cut_makes_it_panic(
        docs in docs(0..3),
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..30),
    ) {
        for (column_type, bytes) in columns_as_bytes(&docs) {
            for (place, byte) in &changes {
                let place = place % bytes.len();
                let mut damaged = bytes.clone();
                damaged[place] = *byte;
                ask_everything(column_type, damaged);
                // Heads and tails contain all lengths, but are short: most changes would miss them.
                let mut damaged = bytes.clone();
                damaged[place % bytes.len().min(12)] = *byte;
                ask_everything(column_type, damaged);
                let mut damaged = bytes.clone();
                damaged[bytes.len() - 1 - place % bytes.len().min(40)] = *byte;
                ask_everything(column_type, damaged);
                ask_everything(column_type, bytes[..place].to_vec());
                ask_everything(column_type, bytes[place..].to_vec());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_make_nothing_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        for column_type in [ColumnType::U64, ColumnType::IpAddr] {
            ask_everything(column_type, bytes.clone());
        }
        let _ = Values::open_values(OwnedBytes::new(bytes));
    }
}

#[test]
fn false_numbers_of_rows_are_an_error() {
    // Codec, min 0, gcd 1, amplitude 1, 2^32 - 1 rows, and two bytes of values.
    for codec in 0..3 {
        let bytes = vec![
            codec, 0x80, 0x81, 0x81, 0x7F, 0x7F, 0x7F, 0x7F, 0x8F, 0xAA, 0xAA,
        ];
        let error = Values::open_values(OwnedBytes::new(bytes)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{error}");
    }
}

#[test]
fn codes_beyond_the_greatest_are_an_error_where_they_are_counted() {
    // Codec, min 0, gcd 1, amplitude 5 (three bits), eight rows: 1, 7, 0, 0, 0, 0, 0, 0.
    let bytes = vec![0, 0x80, 0x81, 0x85, 0x88, 0b0011_1001, 0, 0];
    let Values::Packed(packed) = opened(bytes) else {
        panic!("not packed");
    };
    let error = packed.count_raw(0..8, &mut [0; 6]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    let error = packed.count_raw_at(&[0, 1], &mut [0; 6]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    let mut counts = [0; 8];
    packed.count_raw(0..8, &mut counts).unwrap();
    assert_eq!(counts, [6, 1, 0, 0, 0, 0, 0, 1]);
}
