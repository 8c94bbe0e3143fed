//! Conversion of positions from tantivy's format.
//!
//! ```text
//!   tantivy's: number of full blocks ╎ width of each ╎ full blocks of 128 ╎ the rest
//! ```

use std::io;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy_common::OwnedBytes;

use super::{BLOCK_LEN, Form, cut_off, num_bits};
use crate::list::{Vints, read_vint};

/// Converts the positions of a term from tantivy's format, and appends them to `out`.
///
/// # Errors
/// The bytes are truncated.
pub fn repack_positions(mut bytes: OwnedBytes, out: &mut Vec<u8>) -> io::Result<()> {
    let num_blocks = read_vint(&mut bytes).ok_or_else(cut_off)?;
    let num_blocks = usize::try_from(num_blocks).map_err(|_| cut_off())?;
    let (widths, mut rest) = bytes.split_at_checked(num_blocks).ok_or_else(cut_off)?;
    let mut forms = Vec::with_capacity(num_blocks);
    let mut blocks = Vec::with_capacity(rest.len());
    let mut numbers = [0; BLOCK_LEN];
    for width in widths {
        let packed_len = BitPacker4x::compressed_block_size((*width).min(32));
        let (packed, behind) = rest.split_at_checked(packed_len).ok_or_else(cut_off)?;
        rest = behind;
        BitPacker4x.decompress(packed, &mut numbers, (*width).min(32));
        forms.push(write_full(&numbers, &mut blocks).to_byte());
    }
    // Each number ends with the only byte of its bytes that has the highest bit set.
    let num_rest = rest.iter().filter(|byte| **byte >= 128).count();
    let mut numbers = Vints(rest);
    let first = numbers.next();
    let first_len = rest.len() - numbers.0.len();
    let is_same = num_rest > 1 && numbers.take(num_rest - 1).all(|next| Some(next) == first);
    put_vint(num_blocks * 2 + usize::from(is_same), out);
    out.extend_from_slice(&forms);
    out.extend_from_slice(&blocks);
    out.extend_from_slice(match is_same {
        true => rest.get(..first_len).unwrap_or_default(),
        false => rest,
    });
    Ok(())
}

/// Appends the positions of a term, each as the difference from the one before in its document.
pub(crate) fn pack_positions(numbers: &[u32], out: &mut Vec<u8>) {
    let (full, rest) = numbers.as_chunks::<BLOCK_LEN>();
    let (mut forms, mut blocks) = (Vec::new(), Vec::new());
    for block in full {
        forms.push(write_full(block, &mut blocks).to_byte());
    }
    let is_same = rest.len() > 1 && rest.iter().all(|number| rest.first() == Some(number));
    put_vint(full.len() * 2 + usize::from(is_same), out);
    out.extend(forms);
    out.extend(blocks);
    for number in rest.iter().take(if is_same { 1 } else { BLOCK_LEN }) {
        put_vint(*number as usize, out);
    }
}

/// Appends a full block in the shorter form, and returns that form.
fn write_full(numbers: &[u32; BLOCK_LEN], out: &mut Vec<u8>) -> Form {
    let plain = Form {
        num_values: 0,
        width: num_bits(numbers.iter().fold(0, |all, number| all | number)),
    };
    let values = match plain.width {
        // All are zero.
        0 => return plain,
        1..=8 => Values::of(numbers),
        _ => None,
    };
    let form = match &values {
        Some(values) => Form::of_values(values.num),
        None => plain,
    };
    if let Some(values) = values
        && form.len() < plain.len()
    {
        values.append(out);
        append_packed(&numbers.map(|number| values.ord(number)), form.width, out);
        return form;
    }
    append_packed(numbers, plain.width, out);
    plain
}

fn append_packed(numbers: &[u32; BLOCK_LEN], width: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + BitPacker4x::compressed_block_size(width), 0);
    if let Some(to) = out.get_mut(start..) {
        BitPacker4x.compress(numbers, to, width);
    }
}

/// Distinct numbers of a block, all of them bytes.
struct Values {
    is_there: [u64; 4],
    /// For each word, the number of values in the words before it.
    before: [u32; 4],
    num: usize,
}

impl Values {
    fn of(numbers: &[u32; BLOCK_LEN]) -> Option<Self> {
        let mut is_there = [0u64; 4];
        for number in numbers {
            *is_there.get_mut(*number as usize / 64)? |= 1 << (number % 64);
        }
        let mut before = [0; 4];
        let mut num = 0;
        for (before, word) in before.iter_mut().zip(is_there) {
            *before = num;
            num += word.count_ones();
        }
        Some(Self {
            is_there,
            before,
            num: num as usize,
        })
    }

    fn append(&self, out: &mut Vec<u8>) {
        let is_there = |value: &u8| {
            let word = self.is_there.get(usize::from(*value) / 64);
            word.is_some_and(|word| word >> (value % 64) & 1 == 1)
        };
        out.extend((0..=u8::MAX).filter(is_there));
    }

    /// Returns the number of smaller values.
    fn ord(&self, number: u32) -> u32 {
        let at = number as usize / 64;
        let (Some(word), Some(before)) = (self.is_there.get(at), self.before.get(at)) else {
            return 0;
        };
        before + (word & ((1 << (number % 64)) - 1)).count_ones()
    }
}

/// Appends a varint, whose last byte has the highest bit set.
pub(crate) fn put_vint(mut number: usize, out: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(number % 128).unwrap_or_default();
        number /= 128;
        if number == 0 {
            out.push(low | 128);
            return;
        }
        out.push(low);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PositionList;

    /// Writes positions in tantivy's format.
    fn tantivys(numbers: &[u32]) -> Vec<u8> {
        let (blocks, rest) = numbers.as_chunks::<BLOCK_LEN>();
        let mut out = Vec::new();
        put_vint(blocks.len(), &mut out);
        let widths = blocks.iter().map(|block| BitPacker4x.num_bits(block));
        out.extend(widths);
        for block in blocks {
            append_packed(block, BitPacker4x.num_bits(block), &mut out);
        }
        for number in rest {
            put_vint(*number as usize, &mut out);
        }
        out
    }

    fn repacked(numbers: &[u32]) -> Vec<u8> {
        let mut out = vec![7];
        repack_positions(OwnedBytes::new(tantivys(numbers)), &mut out).unwrap();
        assert_eq!(out.remove(0), 7, "it is appended");
        out
    }

    /// Generates runs of one value, of some values, and of arbitrary ones.
    fn numbers() -> impl Strategy<Value = Vec<u32>> {
        let value = prop_oneof![0u32..4, 0u32..300, any::<u32>()];
        let values = prop_oneof![
            proptest::collection::vec(value, 1..6),
            proptest::collection::vec(0u32..256, 1..200),
        ];
        let run = (values, 1usize..400, any::<u32>());
        proptest::collection::vec(run, 0..5).prop_map(|runs| {
            let mut numbers = Vec::new();
            for (values, len, mut state) in runs {
                for _ in 0..len {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    numbers.push(values[(state >> 8) as usize % values.len()]);
                }
            }
            numbers
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_is_what_is_repacked(numbers in numbers()) {
            let mut out = Vec::new();
            pack_positions(&numbers, &mut out);
            prop_assert_eq!(out, repacked(&numbers));
        }

        #[test]
        fn what_is_repacked_reads_the_same(numbers in numbers(), step in 1usize..300) {
            let bytes = repacked(&numbers);
            prop_assert!(bytes.len() <= tantivys(&numbers).len() + 1);
            let mut list = PositionList::open(OwnedBytes::new(bytes)).unwrap();
            // Forward in steps, and back to the start.
            for _ in 0..2 {
                for at in (0..numbers.len()).step_by(step) {
                    prop_assert_eq!(list.difference(at as u64), numbers[at]);
                }
            }
        }

        #[test]
        fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut out = Vec::new();
            let _ = repack_positions(OwnedBytes::new(bytes.clone()), &mut out);
            if let Ok(mut list) = PositionList::open(OwnedBytes::new(bytes)) {
                for place in [0, 127, 128, 1_000, 5_000, u64::MAX] {
                    list.difference(place);
                }
            }
        }
    }

    #[test]
    fn few_values_take_few_bits() {
        let len = |numbers: &[u32]| repacked(numbers).len();
        assert_eq!(len(&[]), 1);
        assert_eq!(len(&[5]), 2);
        assert_eq!(len(&[5; 100]), 2, "one that all are");
        assert_eq!(len(&[500; 100]), 3);
        assert_eq!(len(&[0; 128]), 2, "a form, and nothing else");
        assert_eq!(len(&[9; 128]), 3, "a form and a value");
        let of =
            |values: &[u32]| -> Vec<u32> { (0..128).map(|at| values[at % values.len()]).collect() };
        assert_eq!(len(&of(&[4, 200])), 2 + 2 + 16);
        assert_eq!(len(&of(&[4, 200, 255])), 2 + 3 + 32);
        assert_eq!(len(&of(&[4, 256])), 2 + 16 * 9, "not of a byte");
        assert_eq!(len(&of(&[0, 1])), 2 + 16, "itself");
    }

    #[test]
    fn forms_are_bytes_and_back() {
        for byte in 0..=160 {
            assert_eq!(Form::of_byte(byte).to_byte(), byte);
        }
        assert_eq!(
            Form::of_byte(33),
            Form {
                num_values: 1,
                width: 0
            }
        );
        assert_eq!(
            Form::of_byte(160),
            Form {
                num_values: 128,
                width: 7
            }
        );
        // Such forms are never written.
        assert_eq!(Form::of_byte(255), Form::of_byte(160));
    }
}
