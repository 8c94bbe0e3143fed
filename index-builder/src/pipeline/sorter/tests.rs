//! Documents come out in order, complete and unchanged.

use canter_doc_mapper::{DocMapper, DocShape, IndexConfig};
use canter_split_format::SourceId;
use proptest::prelude::*;

use super::waiting::Portions;
use super::*;

fn mapper() -> DocMapper {
    let yaml = "version: 0.8\nindex_id: docs\ndoc_mapping:\n  mode: lenient\n  field_mappings:\n    - \
                {name: t, type: text}\n";
    let config = IndexConfig::from_yaml(yaml, |_| None).unwrap();
    DocMapper::new(&config).unwrap()
}

/// Checks documents with a place and a text each; an empty text stores nothing.
fn check(docs: &[(DocPlace, String)], portions: Portions) {
    let mapper = mapper();
    let encode = |text: &str| {
        let line = match text {
            "" => "{}".to_owned(),
            _ => format!("{{\"t\":\"{text}\"}}"),
        };
        let mut encoded = Vec::new();
        mapper.encode_doc(line.as_bytes(), &mut encoded).unwrap();
        encoded
    };
    let mut waiting = WaitingDocs::with_portions(DocShape::of(mapper.schema()), portions);
    for (place, text) in docs {
        waiting.add(*place, &encode(text)).unwrap();
    }
    assert_eq!(waiting.len(), docs.len());
    let mut expected = docs.to_vec();
    expected.sort_by_key(|(place, _)| *place);

    let (mut sorted, identities) = waiting.sort().unwrap();
    let wanted: Vec<DocIdentity> = expected.iter().map(|((_, id), _)| *id).collect();
    assert_eq!(identities, wanted);
    // The lenient mapper stores everything that it encodes.
    let every_third = || (0..docs.len()).step_by(3);
    let mut sampled = Vec::new();
    let mut stored = Vec::new();
    sorted
        .sample(every_third(), |_, doc| {
            stored.clear();
            doc.write_stored(&mut stored);
            sampled.push(stored.clone());
        })
        .unwrap();
    let wanted: Vec<Vec<u8>> = every_third().map(|i| encode(&expected[i].1)).collect();
    assert_eq!(sampled, wanted);
    for (_, text) in &expected {
        let doc = sorted.next().unwrap().unwrap();
        stored.clear();
        doc.write_stored(&mut stored);
        assert_eq!(stored, encode(text));
    }
    assert!(sorted.next().unwrap().is_none());
}

fn source(number: u64) -> SourceId {
    SourceId::of(b"source", &number.to_le_bytes())
}

fn portions() -> impl Strategy<Value = Portions> {
    (1..400_usize, 1..100_usize).prop_map(|(run_num_bytes, block_num_bytes)| Portions {
        run_num_bytes,
        block_num_bytes,
    })
}

proptest! {
    #[test]
    fn documents_come_out_in_the_order_of_their_places(
        docs in prop::collection::vec(
            ((-3..3_i64, 0..3_u64, prop_oneof![0..4_u64, Just(u64::MAX)]), "[a-z]{0,20}"), 0..80,
        ),
        portions in portions(),
    ) {
        let docs: Vec<(DocPlace, String)> = docs
            .into_iter()
            .map(|((time, number, position), text)| {
                let time = time.saturating_mul(i64::MAX / 2);
                ((time, DocIdentity { source: source(number), position }), text)
            })
            .collect();
        check(&docs, portions);
    }
}

#[test]
fn runs_of_documents_without_a_byte_are_there() {
    let at = |position| {
        (
            0,
            DocIdentity {
                source: source(1),
                position,
            },
        )
    };
    let docs = ["", "", "a", "", "b", "", ""];
    let docs: Vec<(DocPlace, String)> = (0..).map(at).zip(docs.map(str::to_owned)).collect();
    for run_num_bytes in 0..12 {
        check(
            &docs,
            Portions {
                run_num_bytes,
                block_num_bytes: 3,
            },
        );
    }
}
