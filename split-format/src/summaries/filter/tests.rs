//! Filters: no false negatives, transposed or not, even after damage.

use proptest::prelude::*;

use super::*;

fn scope(fields: &[&str]) -> FilterScope {
    FilterScope {
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        default_fields: vec!["body".to_owned()],
    }
}

fn filter_of(terms: &[Vec<u8>], log2_num_blocks: u32) -> SplitFilter {
    let mut filter = SplitFilter::new(scope(&["body", "id"]), log2_num_blocks);
    for term in terms {
        filter.insert(Needle::of("body", term));
    }
    filter
}

fn numbered(numbers: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    numbers
        .map(|number| number.to_string().into_bytes())
        .collect()
}

#[test]
fn few_absent_values_are_taken_for_present() {
    for (num_terms, log2_num_blocks, most_percent) in
        [(1_000, 4, 0.5), (1_300, 4, 1.0), (64, 0, 0.5)]
    {
        let filter = filter_of(&numbered(0..num_terms), log2_num_blocks);
        let absent = numbered(1_000_000..1_020_000);
        let absent = absent
            .iter()
            .filter(|term| filter.may_hold(Needle::of("body", term)));
        let percent = absent.count() as f64 / 200.0;
        assert!(percent < most_percent, "{num_terms} terms: {percent} %");
    }
    let filter = filter_of(&numbered(0..64), 0);
    assert!(
        !filter.may_hold(Needle::of("id", b"7")),
        "another field's term"
    );
}

#[test]
fn a_doubled_filter_says_the_same_and_shrinks_to_what_it_was() {
    let filter = filter_of(&numbered(0..300), 2);
    let doubled = filter.doubled().doubled();
    assert_eq!(doubled.log2_num_blocks(), 4);
    for term in numbered(0..5_000) {
        let needle = Needle::of("body", &term);
        assert_eq!(doubled.may_hold(needle), filter.may_hold(needle));
    }
    assert_eq!(doubled.shrunk(), filter);
}

#[test]
fn any_damage_of_a_file_is_found() {
    let filter = filter_of(&numbered(0..50), 1);
    let bytes = filter.write();
    assert_eq!(SplitFilter::open(&bytes), Ok(filter));
    for at in 0..bytes.len() {
        assert!(SplitFilter::open(&bytes[..at]).is_err());
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(SplitFilter::open(&damaged).is_err());
    }
}

/// Covers invalid contents under valid checksums.
#[test]
fn files_that_cannot_be_are_refused() {
    let sealed = |content: &[u8]| [content, &checksum64(content).to_le_bytes()].concat();
    let check = |content: &[u8], expect: &str| {
        let error = SplitFilter::open(&sealed(content)).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(
        &[2, 0, 0, 0],
        "version 2 is not known (this reader knows 1)",
    );
    check(
        &[1, 0, 0, 0, 0, 0, 17],
        "a filter of 2^17 blocks is not allowed",
    );
    check(&[1, 0, 0, 0, 0, 0, 0, 9], "cut short");
    check(&[1, 0, 0, 0, 200, 0, 0], "cannot fit");
    check(
        &[[1, 0, 0, 0, 0, 0, 0].as_slice(), &[0; 129]].concat(),
        "1 bytes too many",
    );
}

proptest! {
    #[test]
    fn a_filter_never_says_no_for_what_it_holds(
        terms in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..200),
        log2_num_blocks in 0_u32..6,
    ) {
        let filter = filter_of(&terms, log2_num_blocks);
        let reread = SplitFilter::open(&filter.write()).unwrap();
        for term in &terms {
            prop_assert!(reread.may_hold(Needle::of("body", term)));
        }
        prop_assert_eq!(reread, filter);
    }

    #[test]
    fn any_bytes_are_a_filter_or_an_error(content in prop::collection::vec(any::<u8>(), 0..300), version in any::<bool>()) {
        let content = match version {
            true => [&[1, 0, 0, 0], content.as_slice()].concat(),
            false => content,
        };
        let bytes = [content.as_slice(), &checksum64(&content).to_le_bytes()].concat();
        if let Ok(filter) = SplitFilter::open(&bytes) {
            let _ = filter.may_hold(Needle::of("a", b"b"));
        }
    }
}
