//! Determinism: the same documents and config result in the same bytes, and the steps do not depend
//! on the order of supplies.

use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{CATALOGUE_CONFIG, TestIndex, catalogue, hdfs_lines};

#[test]
fn building_twice_gives_the_same_objects() {
    for (config, lines) in [
        (HDFS_LOGS_YAML, hdfs_lines(5_000, 9).unwrap()),
        (CATALOGUE_CONFIG, catalogue(2_000, 9)),
    ] {
        let first = TestIndex::build(config, &lines, 700).unwrap();
        let second = TestIndex::build(config, &lines, 700).unwrap();
        assert!(first.objects == second.objects, "objects differ");
        assert!(first.objects.len() > 2);
    }
}

#[test]
fn a_published_split_is_named_by_the_hash_of_its_bytes() {
    let index = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(2_000, 9).unwrap(), 500).unwrap();
    let names: Vec<&String> = index
        .objects
        .keys()
        .filter(|name| name.ends_with(".split"))
        .collect();
    assert_eq!(names.len(), 4);
    for name in names {
        let hash = blake3::hash(&index.objects[name]).to_hex();
        assert_eq!(*name, format!("splits/{}.split", &hash[..32]));
    }
}
