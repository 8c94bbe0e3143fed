//! Division of terms into parts by a hash, with Elasticsearch's functions, so that clients get the same parts.

use crate::key::Key;
use crate::numbers::Number;

/// Returns the part of a term, which is a text unless it is a number.
pub(super) fn partition_of(key: &Key, text: &str, num_partitions: u32) -> u32 {
    const MILLISECOND_NS: i64 = 1_000_000;
    let of_number = |bits: i64| remainder(mix64(bits), num_partitions);
    match key {
        Key::Number(Number::Integer(integer)) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "unsigned numbers above the signed ones are taken by their bits"
            )]
            let bits = *integer as i64;
            of_number(bits)
        }
        Key::Number(Number::Float(float)) => {
            let bits = float.to_bits().cast_signed();
            of_number(bits ^ ((bits >> 63) & i64::MAX))
        }
        Key::Bool(flag) => of_number(i64::from(*flag)),
        Key::Date(time_ns) => of_number(time_ns.div_euclid(MILLISECOND_NS)),
        _ => remainder(i64::from(murmur3(text.as_bytes())), num_partitions),
    }
}

fn remainder(hash: i64, num_partitions: u32) -> u32 {
    u32::try_from(hash.rem_euclid(i64::from(num_partitions.max(1)))).unwrap_or_default()
}

/// David Stafford's ninth variant of a mixing function of 64 bits.
fn mix64(number: i64) -> i64 {
    let mut bits = number.cast_unsigned();
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
    bits = (bits ^ (bits >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
    (bits ^ (bits >> 32)).cast_signed()
}

/// `MurmurHash3`, 32 bits, with the seed that Elasticsearch divides terms with.
fn murmur3(bytes: &[u8]) -> i32 {
    const SEED: u32 = 31;
    let scramble = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let mut hash = SEED;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        hash ^= scramble(u32::from_le_bytes(*word));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    if !rest.is_empty() {
        let word = rest
            .iter()
            .rev()
            .fold(0u32, |word, byte| (word << 8) | u32::from(*byte));
        hash ^= scramble(word);
    }
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_elasticsearch() {
        // As in the tests of OpenSearch's API.
        let text = |text: &str| partition_of(&Key::Text(text.to_owned()), text, 2);
        let number = |number: i128| partition_of(&Key::Number(Number::Integer(number)), "", 2);
        assert_eq!((text("bcd"), text("abc")), (0, 1));
        assert_eq!((number(5678), number(1234)), (0, 1));
    }

    #[test]
    fn every_term_is_in_one_part() {
        for length in 0..40 {
            let text = "x".repeat(length);
            let part = partition_of(&Key::Text(text.clone()), &text, 7);
            assert!(part < 7, "{text} {part}");
        }
        for number in [0.5, -0.5, f64::MAX, -1e300] {
            assert!(partition_of(&Key::Number(Number::Float(number)), "", 3) < 3);
        }
    }
}
