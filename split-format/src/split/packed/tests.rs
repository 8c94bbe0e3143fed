//! Packed pieces: what is unpacked is what was there, of any range; nothing is believed.

use proptest::prelude::*;

use super::*;
use crate::FileTable;
use crate::codec::bits::BitWriter;

/// What tantivy stores of numbers: the words, how they are packed, and their bytes.
fn column(numbers: &[f64], gcd: u64) -> (decimals::Words, Vec<u8>) {
    let mapped = |number: &f64| {
        let bits = number.to_bits();
        if bits >> 63 == 0 {
            bits ^ 1 << 63
        } else {
            !bits
        }
    };
    let base = numbers.iter().map(mapped).min().unwrap_or_default();
    let words: Vec<u64> = numbers.iter().map(|n| (mapped(n) - base) / gcd).collect();
    let most = words.iter().copied().max().unwrap_or_default();
    let width = match 64 - most.leading_zeros() {
        width @ 0..=56 => width.max(1),
        _ => 64,
    };
    let mut out = BitWriter::default();
    for word in words {
        out.push(word, width);
    }
    (decimals::Words { base, gcd, width }, out.into_bytes())
}

fn block(docs: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut bits = vec![0_u64; 1_024];
    for doc in docs {
        bits[doc / 64] |= 1 << (doc % 64);
    }
    let mut before = 0_u16;
    let mut bytes = Vec::new();
    for word in bits {
        bytes.extend(word.to_le_bytes());
        bytes.extend(before.to_le_bytes());
        before = before.wrapping_add(word.count_ones() as u16);
    }
    bytes
}

/// Packs a file with one range that can be packed in its middle, and reads ranges of it.
fn check(what: Packable, inner: &[u8], is_packed: bool) {
    let plain = [&[7_u8; 9][..], inner, &[8; 5]].concat();
    let Some(packed) = pack(&plain, &[(9..9 + inner.len(), what.clone())]) else {
        assert!(!is_packed, "{what:?} stays as it is");
        return;
    };
    assert!(packed.bytes.len() < plain.len());
    let mut table = FileTable::lay_out([("term", 3), ("fast", packed.bytes.len() as u64)]);
    table.set_pieces(1, packed.pieces);
    let table = FileTable::open(&table.write(), table.version()).unwrap();
    let (_, file) = table.find("fast").unwrap();
    assert_eq!(file.plain_len(), plain.len() as u64);
    let body = [&[0; 3][..], &packed.bytes].concat();
    let len = plain.len();
    for range in [
        0..len,
        0..4,
        2..len - 1,
        8..10,
        12..13,
        len - 6..len,
        len - 1..len,
        0..0,
    ] {
        let mut read = Vec::new();
        for part in file.parts(&(range.start as u64..range.end as u64)) {
            let bytes = &body[part.body.start as usize..part.body.end as usize];
            part.unpack(bytes, &mut read).unwrap();
        }
        assert_eq!(read, plain[range.clone()], "{range:?} of {what:?}");
    }
}

#[test]
fn numbers_with_few_digits_take_what_their_digits_take() {
    let few: Vec<f64> = (0..1_000)
        .map(|n| f64::from(n * 7 % 997 - 350) / 100.0)
        .collect();
    let (words, plain) = column(&few, 1);
    assert_eq!(plain.len(), 8_000);
    let packed = decimals::pack(&plain, words, 1_000).unwrap();
    assert!(packed.len() < 1_300, "{}", packed.len());
    check(Packable::Decimals(words, 1_000), &plain, true);
    // Coordinates.
    let few: Vec<f64> = (0..1_000)
        .map(|n| f64::from(n * 35_999 - 17_999_999) / 1e5)
        .collect();
    let (words, plain) = column(&few, 1);
    assert!(decimals::pack(&plain, words, 1_000).unwrap().len() < 3_400);
    // Of numbers that no digits say, nothing is packed; nor of what is no number.
    let others = [0.1 + 0.2, 1.0 / 3.0, 2.5];
    for other in [f64::NAN, -0.0, f64::INFINITY, 1e300, 5e-324]
        .iter()
        .chain(&others[..2])
    {
        let numbers = [&others[2..], &[*other]].concat().repeat(50);
        let (words, plain) = column(&numbers, 1);
        check(Packable::Decimals(words, 100), &plain, false);
    }
}

#[test]
fn a_block_takes_what_its_documents_take() {
    let check = |docs: Vec<usize>, max_len: usize| {
        let block = block(docs);
        assert!(presence::pack(&block).unwrap().len() <= max_len);
        super::tests::check(Packable::Presence, &block, true);
    };
    check((0..10_000).collect(), 8);
    check((0..65_536).collect(), 8);
    check((0..10_000).filter(|doc| doc % 1_000 != 7).collect(), 40);
    check((0..10_000).filter(|doc| doc % 2 == 0).collect(), 1_260);
    check(Vec::new(), 4);
    let mut damaged = block([3]);
    damaged[9] = 1;
    super::tests::check(Packable::Presence, &damaged, false);
    assert_eq!(presence::pack(&damaged), None);
}

#[test]
fn compressed_bytes_are_what_they_were_and_lying_lengths_are_errors() {
    let plain = b"Mozilla/5.0 (X11; Linux x86_64) ".repeat(40);
    let frame = zstd::bulk::compress(&plain, 12).unwrap();
    check(Packable::Compressed(frame.clone()), &plain, true);
    // What hardly gets shorter stays as it is.
    let packed = Packable::Compressed(plain[..plain.len() - 50].to_vec());
    check(packed, &plain, false);
    for plain_len in [0, 1, plain.len() - 1, plain.len() + 1, 16 << 20] {
        let piece = Piece {
            form: Form::Compressed,
            plain_start: 0,
            plain_len: plain_len as u64,
            packed_start: 0,
            packed_len: frame.len() as u64,
        };
        let part = piece.part(&(0..plain_len as u64), 0);
        assert!(part.unpack(&frame, &mut Vec::new()).is_err(), "{plain_len}");
    }
}

proptest! {
    #[test]
    fn any_numbers_are_what_they_were(
        wholes in prop::collection::vec(-1_000_000_i64..1_000_000, 1..200), scale in 0..7, gcd in prop::sample::select(vec![1_u64, 4]),
    ) {
        let numbers: Vec<f64> = wholes.iter().map(|whole| *whole as f64 / 10_f64.powi(scale)).collect();
        let (words, plain) = column(&numbers, gcd);
        if let Some(packed) = decimals::pack(&plain, words, numbers.len() as u64) {
            prop_assert_eq!(decimals::unpack(&packed, plain.len() as u64).unwrap(), plain);
        }
    }

    #[test]
    fn any_block_is_what_it_was(docs in prop::collection::btree_set(0..65_536_usize, 0..3_000), is_absent: bool) {
        let block = match is_absent {
            true => block((0..65_536).filter(|doc| !docs.contains(doc))),
            false => block(docs),
        };
        let packed = presence::pack(&block).unwrap();
        prop_assert_eq!(presence::unpack(&packed).unwrap(), block);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), plain_len in 0..2_000_u64) {
        let _ = presence::unpack(&bytes);
        if let Ok(plain) = decimals::unpack(&bytes, plain_len) {
            prop_assert_eq!(plain.len() as u64, plain_len);
        }
        let _ = FileTable::open(&bytes, 2);
    }
}
