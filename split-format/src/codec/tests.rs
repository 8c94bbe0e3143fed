//! Primitives: the specification's examples, round trips, and invalid input.

use proptest::prelude::*;

use super::{Reader, Writer};

fn written(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    write(&mut out);
    out.into_bytes()
}

#[test]
fn the_specification_s_examples_hold() {
    assert_eq!(written(|out| out.varint(300)), [0xac, 0x02]);
    assert_eq!(written(|out| out.varint_signed(-3)), [0x05]);
    assert_eq!(
        written(|out| out.bytes(b"fast")),
        [0x04, 0x66, 0x61, 0x73, 0x74]
    );
    for (value, code) in [(0, 0), (-1, 1), (1, 2), (-2, 3)] {
        assert_eq!(written(|out| out.varint_signed(value)), [code]);
    }
}

#[test]
fn a_varint_may_be_longer_than_needed_but_not_than_64_bits() {
    let check = |bytes: &[u8], expect: Result<u64, &str>| {
        let got = Reader::new("test", bytes).varint();
        assert_eq!(
            got.as_ref()
                .copied()
                .map_err(|error| error.problem.as_str()),
            expect,
            "{bytes:x?}"
        );
    };
    let ten = |last: u8| [vec![0xff; 9], vec![last]].concat();
    check(&[0x80, 0x00], Ok(0));
    check(&ten(0x01), Ok(u64::MAX));
    check(&ten(0x00), Ok(u64::MAX >> 1));
    check(&ten(0x02), Err("a varint does not fit 64 bits"));
    check(&ten(0x81), Err("a varint is longer than ten bytes"));
    check(&[0x80], Err("cut short"));
    check(&[], Err("cut short"));
}

#[test]
fn a_count_that_cannot_fit_is_refused() {
    let check = |bytes: &[u8], min_len: usize, expect: Option<usize>| {
        assert_eq!(Reader::new("test", bytes).count(min_len).ok(), expect);
    };
    check(&[2, 0, 0, 0, 0], 2, Some(2));
    check(&[2, 0, 0, 0], 2, None);
    check(&[1], 0, None);
    let huge = written(|out| out.varint(u64::MAX));
    check(&huge, 3, None);
}

#[test]
fn a_name_must_be_utf8_and_whole() {
    assert!(Reader::new("test", &[1, 0xff]).string().is_err());
    assert!(Reader::new("test", &[2, b'a']).string().is_err());
    assert_eq!(Reader::new("test", &[1, b'a', 9]).string(), Ok("a"));
}

#[test]
fn an_error_names_the_component_and_what_is_left() {
    let mut reader = Reader::new("time index", &[1, 2, 3]);
    let error = reader.raw(7).unwrap_err();
    assert_eq!(
        error.to_string(),
        "time index: cut short: 7 more bytes are needed and 3 are left"
    );
    assert_eq!(
        reader.finish().unwrap_err().to_string(),
        "time index: 3 bytes too many"
    );
}

proptest! {
    #[test]
    fn every_value_reads_back(
        unsigned: u64,
        signed: i64,
        small: u32,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in ".{0,20}",
    ) {
        let all = written(|out| {
            out.varint(unsigned);
            out.varint_signed(signed);
            out.varint(u64::from(small));
            out.u32(small);
            out.u64(unsigned);
            out.bytes(&bytes);
            out.bytes(text.as_bytes());
        });
        let mut reader = Reader::new("test", &all);
        prop_assert_eq!(reader.varint()?, unsigned);
        prop_assert_eq!(reader.varint_signed()?, signed);
        prop_assert_eq!(reader.varint_u32()?, small);
        prop_assert_eq!(reader.u32()?, small);
        prop_assert_eq!(reader.u64()?, unsigned);
        prop_assert_eq!(reader.bytes()?, &bytes);
        prop_assert_eq!(reader.string()?, &text);
        reader.finish()?;
    }

    #[test]
    fn a_varint_of_more_than_32_bits_is_no_varint32(value in u64::from(u32::MAX) + 1..) {
        let bytes = written(|out| out.varint(value));
        prop_assert!(Reader::new("test", &bytes).varint_u32().is_err());
    }
}
