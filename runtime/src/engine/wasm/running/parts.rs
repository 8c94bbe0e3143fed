//! Division of supplies into parts: a guest processes each part before the next one is copied into
//! its memory.

use crate::session::{Supply, SupplyResult};

/// Returns how many of the first supplies form a part: the minimum number with at least
/// `bytes_at_once` bytes.
pub(super) fn len_of_part(supplies: &[Supply], bytes_at_once: usize) -> usize {
    let mut num_bytes = 0usize;
    for (place, supply) in supplies.iter().enumerate() {
        if let SupplyResult::Bytes(bytes) = &supply.outcome {
            num_bytes = num_bytes.saturating_add(bytes.len());
        }
        if num_bytes >= bytes_at_once {
            return place + 1;
        }
    }
    supplies.len()
}

#[cfg(test)]
mod tests {
    use super::{Supply, SupplyResult, len_of_part};

    #[test]
    fn a_part_ends_with_the_supply_that_makes_it_large_enough() {
        let check = |lens: &[usize], bytes_at_once: usize, expected: &[usize]| {
            let supply = |len: &usize| Supply {
                id: 0,
                outcome: match len {
                    0 => SupplyResult::Miss,
                    len => SupplyResult::Bytes(vec![0; *len].into()),
                },
            };
            let mut rest: Vec<Supply> = lens.iter().map(supply).collect();
            let mut parts = Vec::new();
            while !rest.is_empty() {
                let len = len_of_part(&rest, bytes_at_once);
                rest.drain(..len);
                parts.push(len);
            }
            assert_eq!(parts, expected);
        };
        check(&[], 5, &[]);
        check(&[5, 9, 1], 5, &[1, 1, 1]);
        check(&[1, 2, 3, 0, 1], 5, &[3, 2]);
        check(&[0, 0, 0], 5, &[3]);
        check(&[0, 1, 0], 0, &[1, 1, 1]);
    }
}
