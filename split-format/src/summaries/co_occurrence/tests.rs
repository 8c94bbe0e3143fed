//! Co-occurrence: round trips, and arbitrary bytes, which are refused or decoded without excess.

use proptest::prelude::*;

use super::{CoOccurrence, TermPlace};

fn place(field: u32, term_ord: u64) -> TermPlace {
    TermPlace { field, term_ord }
}

/// Returns four terms of two fields. The first and the second never meet, and neither do the second
/// and the last.
fn sample() -> CoOccurrence {
    let terms = vec![place(1, 0), place(1, 7), place(1, 8), place(4, 300)];
    CoOccurrence::of_terms(terms, |high, low| !matches!((high, low), (1, 0) | (3, 1)))
}

#[test]
fn only_terms_that_are_known_never_to_meet_do_not() {
    let sample = sample();
    let check = |one, other, expected| {
        assert_eq!(sample.never_meet(one, other), expected, "{one:?} {other:?}");
        assert_eq!(sample.never_meet(other, one), expected, "{other:?} {one:?}");
    };
    check(place(1, 0), place(1, 7), true);
    check(place(1, 7), place(4, 300), true);
    check(place(1, 0), place(1, 8), false);
    check(place(1, 8), place(4, 300), false);
    check(place(1, 7), place(1, 7), false);
    // Nothing is known about other terms.
    check(place(1, 0), place(1, 6), false);
    check(place(2, 0), place(1, 7), false);
    assert_eq!(sample.terms_of(1).collect::<Vec<_>>(), [0, 7, 8]);
    assert_eq!(sample.terms_of(4).collect::<Vec<_>>(), [300]);
    assert_eq!(sample.terms_of(2).count(), 0);
}

#[test]
fn the_bytes_are_those_of_the_specification() {
    // Two fields: field 1 with three terms at 0, 7, 8, and field 4 with one at 300; then the bits
    // of (1,0), (2,0), (2,1), (3,0), (3,1), (3,2).
    let bytes = [2, 1, 3, 0, 6, 0, 4, 1, 0xac, 0x02, 0b10_1110];
    assert_eq!(sample().write(), bytes);
    assert_eq!(CoOccurrence::open(&bytes).unwrap(), sample());
    assert_eq!(CoOccurrence::open(&[0]).unwrap(), CoOccurrence::default());
}

#[test]
fn damage_is_named() {
    let check = |bytes: &[u8], expected: &str| {
        let error = CoOccurrence::open(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&[1, 1, 2, 0, 0], "cut short");
    check(&[1, 1, 2, 0, 0, 0, 0], "too many");
    check(&[2, 4, 1, 0, 4, 1, 0, 0], "not in order");
    check(&[1, 4, 0], "0 terms");
    let mut too_many = vec![1, 0, 0x81, 0x10];
    too_many.extend([0; 4_000]);
    check(&too_many, "2049 terms");
    let mut far = vec![1, 0, 2];
    far.extend([0xff; 9]);
    far.extend([1, 0, 0]);
    check(&far, "64 bits");
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        terms in prop::collection::btree_set((0u32..4, any::<u64>()), 0..40),
        seed in any::<u64>(),
    ) {
        let terms: Vec<TermPlace> = terms.into_iter().map(|(field, ord)| place(field, ord)).collect();
        let meet = |high: usize, low: usize| {
            (seed >> ((high * 7 + low * 3) % 64)) & 1 == 1
        };
        let written = CoOccurrence::of_terms(terms.clone(), meet);
        let read = CoOccurrence::open(&written.write()).unwrap();
        prop_assert_eq!(&read, &written);
        for (high, one) in terms.iter().enumerate() {
            for (low, other) in terms[..high].iter().enumerate() {
                prop_assert_eq!(read.never_meet(*one, *other), !meet(high, low));
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(read) = CoOccurrence::open(&bytes) {
            prop_assert_eq!(CoOccurrence::open(&read.write()).unwrap(), read);
        }
    }
}
