//! Identities: round trips, few bytes for consecutive documents, and errors for damage.

use proptest::prelude::*;

use super::*;

fn source(name: &str) -> SourceId {
    SourceId::of(name.as_bytes(), b"")
}

fn docs(source: SourceId, positions: impl IntoIterator<Item = u64>) -> Vec<DocIdentity> {
    let at = |position| DocIdentity { source, position };
    positions.into_iter().map(at).collect()
}

/// Checks that all identities are read back, and returns their length in bytes.
#[track_caller]
fn check(docs: &[DocIdentity]) -> usize {
    let packed = Identities::of_docs(docs).unwrap();
    let bytes = packed.as_bytes().to_vec();
    let read = Identities::open(&bytes[..]).unwrap();
    assert_eq!(read.directory(), packed.directory());
    assert_eq!(read.num_docs() as usize, docs.len());
    for (ord, doc) in (0..).zip(docs) {
        assert_eq!(read.get(ord).unwrap(), *doc, "document {ord}");
    }
    assert!(read.get(read.num_docs()).is_err());
    let in_order: Vec<DocIdentity> = read.iter().map(Result::unwrap).collect();
    assert!(in_order == docs, "one after the other");
    check_parts(&bytes, docs);
    check_finding(&read, docs);
    bytes.len()
}

/// Checks that the start of the file tells which other bytes a document needs.
#[track_caller]
fn check_parts(bytes: &[u8], docs: &[DocIdentity]) {
    let whole = IdentityDirectory::open(bytes).unwrap();
    let beginning = &bytes[..whole.beginning_len() as usize];
    // It ends with the number of sources.
    assert!(IdentityDirectory::open(&beginning[..beginning.len() - 1]).is_err());
    let directory = IdentityDirectory::open(beginning).unwrap();
    assert_eq!(directory, whole);
    for (ord, doc) in (0..).zip(docs).step_by(docs.len() / 100 + 1) {
        let needed = directory.ranges_of(ord).unwrap();
        let read = |range: &std::ops::Range<u64>| {
            let is_needed = needed.contains(range);
            is_needed.then(|| &bytes[range.start as usize..range.end as usize])
        };
        assert_eq!(directory.get(ord, read).unwrap(), *doc);
        assert!(directory.get(ord, |_| None::<&[u8]>).is_err());
    }
    assert_eq!(directory.ranges_of(directory.num_docs()), None);
}

/// Checks that searches find all wanted documents and no others.
#[track_caller]
fn check_finding(read: &Identities<&[u8]>, docs: &[DocIdentity]) {
    let mut wanted: Vec<DocIdentity> = docs.iter().step_by(97).copied().collect();
    for (place, doc) in docs.iter().enumerate().step_by(389) {
        let position = doc.position.wrapping_add(place as u64 * 7);
        wanted.push(DocIdentity { position, ..*doc });
        wanted.push(DocIdentity {
            source: source("nowhere"),
            ..*doc
        });
    }
    wanted.sort();
    wanted.dedup();
    let expected = (0..)
        .zip(docs)
        .filter(|(_, doc)| wanted.binary_search(doc).is_ok());
    let expected: Vec<u32> = expected.map(|(ord, _)| ord).collect();
    assert_eq!(read.find(&wanted).unwrap(), expected);
    assert!(read.find(&[]).unwrap().is_empty());
}

#[test]
fn documents_that_follow_each_other_cost_nothing() {
    for num_docs in [1, 63, 64, 1_024, 100_000] {
        let len = check(&docs(source("a"), 1..=num_docs));
        assert!(len <= 40, "{num_docs}: {len}");
    }
    assert_eq!(check(&[]), 7);
    assert_eq!(Identities::of_docs(&[]).unwrap().directory().num_bytes(), 7);
}

#[test]
fn rejects_in_between_cost_next_to_nothing() {
    let len = check(&docs(
        source("a"),
        (1..=100_000).filter(|line| line % 500 != 0),
    ));
    assert!(len < 2_500, "{len}");
    let len = check(&docs(
        source("a"),
        (1..=100_000).filter(|line| line % 7 != 0),
    ));
    assert!(len < 120_000, "{len}");
}

#[test]
fn the_more_disorder_the_more_bits() {
    let shuffled = |spread: u64| {
        let mut lines: Vec<u64> = (1..=20_000).collect();
        lines.sort_by_key(|line| line + line * 7_919 % spread);
        check(&docs(source("a"), lines))
    };
    let small = shuffled(8);
    assert!(small < 20_000, "{small}");
    let large = shuffled(20_000);
    assert!(small < large && large < 45_000, "{large}");
}

#[test]
fn sources_that_are_interleaved_cost_a_few_bits() {
    let names = ["a", "b", "c", "d"].map(source);
    let mixed: Vec<DocIdentity> = (0..20_000_u64)
        .map(|ord| DocIdentity {
            source: names[(ord * 7 / 3 % 4) as usize],
            position: ord,
        })
        .collect();
    let mut next = [1_u64; 4];
    let dealt: Vec<DocIdentity> = mixed
        .iter()
        .map(|doc| {
            let ord = names.iter().position(|name| *name == doc.source).unwrap();
            next[ord] += 1;
            DocIdentity {
                source: doc.source,
                position: next[ord] * 1_000_000_007 % 2 + next[ord],
            }
        })
        .collect();
    assert!(check(&dealt) < 20_000 / 2 + 2_000);
    check(&mixed);
}

#[test]
fn positions_at_the_ends_of_64_bits_come_back() {
    let mut ends = docs(source("a"), [u64::MAX, 0, u64::MAX - 1, 1, u64::MAX / 2]);
    ends.extend(docs(source("b"), [0, u64::MAX, 0]));
    check(&ends);
}

#[test]
fn a_source_is_where_it_is_and_how_it_begins() {
    let one = SourceId::of(b"file:/a", b"first line");
    assert_eq!(one, SourceId::of(b"file:/a", b"first line"));
    assert_ne!(one, SourceId::of(b"file:/a", b"other line"));
    assert_ne!(one, SourceId::of(b"file:/b", b"first line"));
    assert_ne!(SourceId::of(b"ab", b"c"), SourceId::of(b"a", b"bc"));
    let text = serde_json::to_string(&one).unwrap();
    assert_eq!(text.len(), 34);
    assert_eq!(serde_json::from_str::<SourceId>(&text).unwrap(), one);
    for wrong in ["\"\"", "\"0\"", "\"+0000000000000000000000000000000\"", "7"] {
        assert!(serde_json::from_str::<SourceId>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_identity_is_written_and_read_in_one_way() {
    let one = DocIdentity {
        source: source("a"),
        position: 40,
    };
    let text = one.to_string();
    assert_eq!(DocIdentity::parse(&text), Some(one));
    let (source, _) = text.split_once('-').unwrap();
    for wrong in [
        String::new(),
        source.to_owned(),
        format!("{source}-"),
        format!("{source}-040"),
        format!("{source}-+40"),
        format!("{source}-40 "),
        format!("{source}-18446744073709551616"),
        text.to_uppercase(),
        format!("0{text}"),
    ] {
        assert_eq!(DocIdentity::parse(&wrong), None, "{wrong}");
    }
    let most = format!("{source}-18446744073709551615");
    assert_eq!(DocIdentity::parse(&most).unwrap().to_string(), most);
}

#[test]
fn however_many_runs_there_are_the_directory_stays_small() {
    let lines = (1..=300_000_u64).map(|line| line ^ 1);
    let packed = Identities::of_docs(&docs(source("a"), lines)).unwrap();
    assert!(packed.directory().beginning_len() < 4 * 1_024);
}

#[test]
fn two_files_in_bursts_have_a_small_directory_too() {
    let docs: Vec<DocIdentity> = (0..300_000_u64)
        .map(|line| DocIdentity {
            source: source(["a", "b"][(line / 100 % 2) as usize]),
            position: line,
        })
        .collect();
    let packed = Identities::of_docs(&docs).unwrap();
    assert!(packed.directory().beginning_len() < 6 * 1_024);
    check(&docs[..10_000]);
}

#[test]
fn ranges_overlap_where_an_identity_may_lie_between_others() {
    let range = |from, to| IdentityRange::of_docs(&docs(source("a"), [to, from])).unwrap();
    assert!(range(1, 5).overlaps(&range(5, 9)));
    assert!(range(1, 9).overlaps(&range(3, 4)));
    assert!(!range(1, 4).overlaps(&range(5, 9)));
    assert!(!range(5, 9).overlaps(&range(1, 4)));
    assert_eq!(IdentityRange::of_docs(&[]), None);
}

#[test]
fn an_unknown_version_is_named_and_refused() {
    let mut bytes = Identities::of_docs(&docs(source("a"), 1..5))
        .unwrap()
        .as_bytes()
        .to_vec();
    bytes[0] = 1;
    let problem = Identities::open(&bytes).unwrap_err().to_string();
    assert!(problem.contains("version 1 is not known"), "{problem}");
}

/// Opens bytes and calls everything; nothing may panic.
fn open_and_use(bytes: &[u8]) {
    if let Ok(read) = Identities::open(bytes) {
        for doc in [0, 1, read.num_docs() / 2, read.num_docs(), u32::MAX] {
            let _ = read.get(doc);
        }
        let one_by_one: Vec<_> = read.iter().take(500).collect();
        for (doc, identity) in (0..).zip(&one_by_one) {
            let is_last = doc as usize + 1 == one_by_one.len();
            assert!(
                identity == &read.get(doc) && (identity.is_ok() || is_last),
                "{doc}"
            );
        }
        let some: Vec<_> = one_by_one.into_iter().flatten().take(3).collect();
        let _ = read.find(&some);
    }
}

proptest! {
    #[test]
    fn any_identities_come_back(
        some in prop::collection::vec((0..5_u8, 0..3_000_u64, 1..200_u64), 0..30),
    ) {
        let all: Vec<DocIdentity> = some
            .into_iter()
            .flat_map(|(name, from, num)| docs(source(&name.to_string()), from..from + num))
            .collect();
        check(&all);
    }

    #[test]
    fn damage_is_an_error_or_a_value(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut all = docs(source("a"), (1..400).filter(|line| line % 5 != 0));
        all.extend(docs(source("b"), 1..200));
        all.extend(docs(source("a"), [7, 5, 9]));
        let sound = Identities::of_docs(&all).unwrap().as_bytes().to_vec();
        let mut damaged = sound.clone();
        for (at, mask) in flips {
            let at = at.index(damaged.len());
            damaged[at] ^= mask;
        }
        open_and_use(&damaged);
        open_and_use(&sound[..cut.index(sound.len())]);
    }

    #[test]
    fn any_bytes_are_an_error_or_a_value(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        open_and_use(&[&2_u32.to_le_bytes()[..], &tail].concat());
    }
}
