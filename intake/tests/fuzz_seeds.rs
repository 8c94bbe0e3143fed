//! Seeds of the fuzz targets, run as a test, and mutations of them: bytes and lines that are
//! changed, removed, duplicated or moved.

use std::path::Path;

use proptest::prelude::*;

#[expect(unreachable_pub, reason = "it is a crate of its own, too")]
#[path = "../fuzz/src/lib.rs"]
mod targets;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no seeds");
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn seeds_do_no_harm() {
    seeds("bulk").iter().for_each(|seed| targets::bulk(seed));
    seeds("logs").iter().for_each(|seed| targets::logs(seed));
}

/// Mutation: its kind, its position, and an amount or a byte.
type Edit = (u8, prop::sample::Index, u8);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((0..7_u8, any::<prop::sample::Index>(), any::<u8>()), 0..8)
}

fn changed(mut input: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for (what, place, value) in edits {
        let start = place.index(input.len() + 1);
        let end = (start + usize::from(*value % 16)).min(input.len());
        let line_end = input[start..].iter().position(|byte| *byte == b'\n');
        let line_end = line_end.map_or(input.len(), |len| start + len + 1);
        match what {
            0 => input.insert(start, *value),
            1 => drop(input.drain(start..end)),
            2 => drop(input.drain(start..line_end)),
            3 => {
                let line = input[start..line_end].to_vec();
                input.splice(start..start, line);
            }
            4 => {
                let line: Vec<u8> = input.drain(start..line_end).collect();
                input.extend(line);
            }
            5 => input.truncate(start),
            _ => {
                if let Some(byte) = input.get_mut(start) {
                    *byte ^= 1 << (value % 8);
                }
            }
        }
    }
    input
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..Default::default() })]

    #[test]
    fn drawn_bodies_do_no_harm(seed in prop::sample::select(seeds("bulk")), changes in edits()) {
        targets::bulk(&changed(seed, &changes));
    }

    #[test]
    fn drawn_logs_do_no_harm(seed in prop::sample::select(seeds("logs")), changes in edits()) {
        targets::logs(&changed(seed, &changes));
    }
}
