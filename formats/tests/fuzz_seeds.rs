//! Seeds of the fuzz target, and inputs derived from them, run as a test.

use std::path::{Path, PathBuf};

use canter_formats::Format;
use canter_samples::{families, sample};
use proptest::prelude::*;

#[expect(unreachable_pub, reason = "it is a crate of its own, too")]
#[path = "../fuzz/src/lib.rs"]
mod targets;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/formats")
}

fn seeds() -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn seeds_do_no_harm() {
    let seeds = seeds();
    assert!(seeds.len() > Format::ALL.len());
    seeds.iter().for_each(|seed| targets::formats(seed));
}

proptest! {
    #[test]
    fn drawn_inputs_do_no_harm(
        (seed, other) in {
            let seeds = seeds();
            (prop::sample::select(seeds.clone()), prop::sample::select(seeds))
        },
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5_u8), 0..8),
    ) {
        let mut input = seed;
        for (place, byte, kind) in edits {
            let place = place.index(input.len().max(1));
            let end = (place + usize::from(byte % 16)).min(input.len());
            match kind {
                0 if place < input.len() => input[place] = byte,
                1 => input.insert(place.min(input.len()), byte),
                2 => drop(input.drain(place.min(end)..end)),
                3 => {
                    let part = input[place.min(end)..end].to_vec();
                    input.splice(end..end, part);
                }
                _ => {
                    let from = usize::from(byte) % other.len();
                    input.truncate(place);
                    input.extend(&other[from..]);
                }
            }
        }
        targets::formats(&input);
    }
}

/// Rewrites the seeds: `cargo test -p canter-formats --test fuzz_seeds -- --ignored`.
#[test]
#[ignore = "writes into the repository"]
fn the_seeds_are_written() {
    std::fs::create_dir_all(folder()).unwrap();
    for (place, format) in Format::ALL.into_iter().enumerate() {
        let bytes = sample(format, 3, 1).bytes;
        for (name, choice) in [("", place), ("-recognised", Format::ALL.len())] {
            let seed = [&[u8::try_from(choice).unwrap()], bytes.as_slice()].concat();
            std::fs::write(folder().join(format!("{format}{name}")), seed).unwrap();
        }
    }
    let recognised = u8::try_from(Format::ALL.len()).unwrap();
    for (place, family) in families().enumerate().step_by(9) {
        let mut seed = vec![recognised];
        for record in family.records(4, 1) {
            seed.extend_from_slice(record.text.as_bytes());
            seed.push(b'\n');
        }
        std::fs::write(folder().join(format!("log-family-{place}")), seed).unwrap();
    }
}
