//! Any documents give the files that tantivy's own writer gives.

use std::fmt::Write as _;

use canter_doc_mapper::{DocMapper, DocShape, EncodedDoc, EncodedDocs, IndexConfig};
use canter_terms::TermCollector;
use proptest::prelude::*;
use tantivy::Index;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::index::{Segment, SegmentComponent};

const TOKENIZERS: [&str; 19] = [
    "raw",
    "lowercase",
    "raw_lowercase",
    "default",
    "en_stem",
    "whitespace",
    "chinese_compatible",
    "source_code_default",
    "standard",
    "letters",
    "letters_stop",
    "level",
    "grams",
    "digits",
    "identifiers",
    "english",
    "raw_folded",
    "autocomplete",
    "parts",
];
const RECORDS: [&str; 3] = ["basic", "freq", "position"];
const OTHERS: [&str; 7] = ["u64", "i64", "f64", "bool", "datetime", "ip", "bytes"];

/// Returns a mapper with a field for each tokenizer and record, each type, and JSON of three kinds.
fn mapper() -> DocMapper {
    let mut yaml = "
version: 0.8
index_id: docs
doc_mapping:
  mode: dynamic
  dynamic_mapping: {tokenizer: default, record: position, expand_dots: true}
  tokenizers:
    - {name: grams, type: ngram, min_gram: 1, max_gram: 2, filters: [lower_caser]}
    - {name: digits, type: regex, pattern: '[0-9]+|[a-z]+'}
    - {name: identifiers, type: source_code, filters: [remove_long]}
    - name: autocomplete
      type: standard
      filters: [lowercase, {type: stop}, {type: edge_ngram, min_gram: 2, max_gram: 3, preserve_original: true}]
    - {name: parts, type: grams, min_gram: 1, max_gram: 2, token_chars: [letter, digit], filters: [asciifolding, unique]}
  field_mappings:
"
    .to_owned();
    for tokenizer in TOKENIZERS {
        for record in RECORDS {
            let norms = record != "freq" || tokenizer == "default";
            writeln!(
                yaml,
                "    - {{name: {tokenizer}_{record}, type: array<text>, tokenizer: {tokenizer}, record: {record}, \
                 fieldnorms: {norms}}}"
            )
            .unwrap();
        }
    }
    yaml += "    - {name: short, type: array<text>, tokenizer: raw, ignore_above: 5}\n";
    for other in OTHERS {
        let array = match other {
            "bytes" => other.to_owned(),
            _ => format!("array<{other}>"),
        };
        writeln!(yaml, "    - {{name: {other}, type: {array}}}").unwrap();
    }
    for record in RECORDS {
        writeln!(
            yaml,
            "    - {{name: json_{record}, type: json, tokenizer: default, record: {record}}}"
        )
        .unwrap();
    }
    yaml += "    - {name: json_raw, type: json, tokenizer: raw}\n";
    let config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
    DocMapper::new(&config).unwrap()
}

fn components(directory: &RamDirectory, segment: &Segment) -> Vec<Vec<u8>> {
    [
        SegmentComponent::FieldNorms,
        SegmentComponent::Terms,
        SegmentComponent::Postings,
        SegmentComponent::Positions,
    ]
    .map(|component| {
        let path = segment.relative_path(component);
        let file = directory.get_file_handle(&path).unwrap();
        file.read_bytes(0..file.len()).unwrap().to_vec()
    })
    .into()
}

fn tantivys(mapper: &DocMapper, docs: &[EncodedDoc]) -> Vec<Vec<u8>> {
    let directory = RamDirectory::create();
    let mut writer = Index::builder()
        .schema(mapper.schema().clone())
        .settings(mapper.index_settings())
        .tokenizers(mapper.tokenizers().clone())
        .fast_field_tokenizers(mapper.fast_field_tokenizers().clone())
        .single_segment_index_writer::<EncodedDoc>(directory.clone(), 15_000_000)
        .unwrap();
    for doc in docs {
        writer.add_document(doc.clone()).unwrap();
    }
    let index = writer.finalize().unwrap();
    let meta = index.load_metas().unwrap().segments.remove(0);
    components(&directory, &index.segment(meta))
}

fn ours(mapper: &DocMapper, docs: &[EncodedDoc]) -> Vec<Vec<u8>> {
    let directory = RamDirectory::create();
    let schema = mapper.schema().clone();
    let index = Index::create(directory.clone(), schema.clone(), mapper.index_settings()).unwrap();
    let segment = index.new_segment();
    let mut terms = TermCollector::new(&schema, &mapper.tokenizers().clone()).unwrap();
    for doc in docs {
        terms.add(doc).unwrap();
    }
    terms.write(&segment).unwrap();
    components(&directory, &segment)
}

fn check(mapper: &DocMapper, lines: &[String]) {
    let shape = DocShape::of(mapper.schema());
    let mut bytes = Vec::new();
    let mut ends = vec![0];
    for line in lines {
        mapper.encode_doc(line.as_bytes(), &mut bytes).unwrap();
        ends.push(bytes.len());
    }
    let encoded = EncodedDocs::new(bytes, shape);
    let docs: Vec<EncodedDoc> = ends
        .windows(2)
        .map(|pair| encoded.doc(pair[0]..pair[1]))
        .collect();
    let (theirs, ours) = (tantivys(mapper, &docs), ours(mapper, &docs));
    for (name, (theirs, ours)) in ["fieldnorm", "term", "idx", "pos"]
        .iter()
        .zip(theirs.iter().zip(&ours))
    {
        assert!(theirs == ours, "{name} differs: {lines:?}");
    }
}

/// Returns texts as logs, prose and sources have them: many alike, many alike but for numbers, and any.
fn text() -> impl Strategy<Value = String> {
    let number = 0..12_u32;
    prop_oneof![
        4 => (number.clone(), number.clone()).prop_map(|(one, other)| format!(
            "Received block blk_{one} of size {} from /10.0.{other}.{one}", one * 7_919
        )),
        2 => (0..3_u32, number).prop_map(|(one, other)| format!("the the Cat{one} ran the {other} RUNNING runs")),
        2 => "[a-c]{1,2}( [a-c]{1,2}){0,6}",
        1 => Just(String::new()),
        1 => "[a-zA-Z0-9äÖ你好 ._-]{0,40}",
        1 => ".{0,20}",
        1 => (250..260_usize).prop_map(|len| format!("a1 {} b {}é", "x".repeat(len), "y".repeat(len))),
    ]
}

fn json_text(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn list(values: &[String]) -> String {
    format!("[{}]", values.join(","))
}

/// Returns an object with values of all types and lists of them, at two depths.
fn json() -> impl Strategy<Value = String> + Clone {
    let value = prop_oneof![
        (-3..3_i64).prop_map(|number| number.to_string()),
        (0..4_i32).prop_map(|number| (f64::from(number) * 0.5).to_string()),
        any::<bool>().prop_map(|is| is.to_string()),
        Just("18446744073709551615".to_owned()),
        Just("null".to_owned()),
        text().prop_map(|text| json_text(&text)),
    ]
    .boxed();
    let values = prop::collection::vec(value.clone(), 0..3).prop_map(|values| list(&values));
    let inner = prop_oneof![value, values].boxed();
    let object = prop::collection::btree_map("[ab](\\.[ab])?", inner.clone(), 0..3);
    let object = object.prop_map(|entries| {
        let entries = entries.iter();
        let entries = entries.map(|(key, value)| format!("{}:{value}", json_text(key)));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
    });
    let object = object.boxed();
    let deep = (object.clone(), inner)
        .prop_map(|(object, inner)| format!("{{\"a\":{object},\"c\":[{object},{inner}]}}"));
    prop_oneof![object, deep].boxed()
}

/// Returns a line with values of some fields.
fn line() -> impl Strategy<Value = String> {
    let texts = prop::collection::vec(text(), 0..4).prop_map(|texts| {
        let texts: Vec<String> = texts.iter().map(|text| json_text(text)).collect();
        list(&texts)
    });
    let one = text().prop_map(|text| list(&[json_text(&text)]));
    (
        prop_oneof![3 => one, 1 => texts],
        json(),
        json(),
        0..6_u32,
        0..4_u32,
        any::<[bool; 5]>(),
    )
        .prop_map(|(texts, json, unmapped, number, other, has)| {
            let mut members = Vec::new();
            if has[0] {
                for tokenizer in TOKENIZERS {
                    for record in RECORDS {
                        members.push(format!("\"{tokenizer}_{record}\":{texts}"));
                    }
                }
            }
            if has[1] {
                members.push(format!("\"default_position\":{texts},\"short\":{texts}"));
                members.dedup();
            }
            if has[2] {
                members.push(format!(
                    "\"u64\":[{number},{number}],\"i64\":[-{number}],\"f64\":[{number}.5,{other}],\"bool\":[{}],\
                     \"datetime\":[\"2024-05-0{}T00:00:0{number}.5Z\"],\"ip\":[\"10.0.0.{other}\",\"::{number}\"],\
                     \"bytes\":\"YWJ{}\"",
                    number % 2 == 0,
                    other + 1,
                    ["j", "k"][number as usize % 2],
                ));
            }
            if has[3] {
                for record in RECORDS {
                    members.push(format!("\"json_{record}\":{json}"));
                }
                members.push(format!("\"json_raw\":{json}"));
            }
            if has[4] {
                members.push(format!("\"extra\":{unmapped}"));
            }
            if has[0] && has[1] {
                // A key is there once.
                members.retain(|member| !member.contains("\"short\""));
            }
            format!("{{{}}}", members.join(","))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_files_are_the_same_to_the_byte(lines in prop::collection::vec(line(), 0..60)) {
        check(&mapper(), &lines);
    }
}

/// Lists have full blocks, shapes have many documents, and some words are both fixed and not.
#[test]
fn long_lists_are_the_same_to_the_byte() {
    let mapper = mapper();
    let lines: Vec<String> = (0..9_000_u32)
        .map(|nth| {
            let random = nth.wrapping_mul(0x9e37_79b9) >> 16;
            let text = match random % 7 {
                0 => format!("Receiving block blk_{} src /10.0.0.{}", nth / 3, random % 50),
                1 => format!("block {} deleted the block", nth % 11),
                2 => "the same words the same".to_owned(),
                3 => format!("rare{random} block"),
                4 => format!("{} received block", "word ".repeat((random % 5) as usize)),
                5 => format!("shape{} of {} words", random % 300, ["few", "many", "block"][nth as usize % 3]),
                _ => String::new(),
            };
            let texts = match random % 13 {
                0 => format!("[{0},{0}]", json_text(&text)),
                _ => format!("[{}]", json_text(&text)),
            };
            let json = format!("{{\"m\":{texts},\"n\":{}}}", random % 9);
            format!(
                "{{\"default_position\":{texts},\"default_freq\":{texts},\"default_basic\":{texts},\
                 \"raw_basic\":{texts},\"en_stem_position\":{texts},\"u64\":[{}],\"json_position\":{json},\"x\":{json}}}",
                random % 100
            )
        })
        .collect();
    check(&mapper, &lines);
}
