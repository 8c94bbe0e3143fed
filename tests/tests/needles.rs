//! Values that few splits hold.

use canter_index_builder::corpus::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines};

#[test]
fn measure() {
    for (docs, split) in [(1_000, 500), (5_000, 5_000), (100_000, 100_000)] {
        let lines = hdfs_lines(docs, 3).unwrap();
        let index = TestIndex::build(HDFS_LOGS_YAML, &lines, split).unwrap();
        for (name, bytes) in &index.objects {
            println!("{name} {}", bytes.len());
        }
    }
}
