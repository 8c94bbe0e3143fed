//! The loops over packed bytes give the same results in WebAssembly as natively, for arbitrary
//! bytes. The property tests beside the loops check the results themselves.

use canter_kernels::{Job, Kernel, Module};
use proptest::prelude::*;

fn job(kernel: Kernel) -> impl Strategy<Value = (Job, Vec<u8>)> {
    let width = 1..=kernel.max_width();
    let bytes = proptest::collection::vec(any::<u8>(), 0..4000);
    let range = (any::<u64>(), any::<u64>(), 0u32..64);
    (width, any::<u32>(), range, bytes, 0u32..3000).prop_map(
        move |(width, first, (least, span, narrower), bytes, num_rows)| {
            let greatest = u64::MAX >> (64 - u32::from(width));
            let least = least & greatest;
            let job = Job {
                kernel,
                width,
                first,
                range: [least, (span & greatest) >> narrower],
                num_rows,
                repeats: 0,
            };
            (job, bytes)
        },
    )
}

/// Enough cases to make it likely that each width occurs.
fn check(kernel: Kernel) {
    let mut module = Module::load().unwrap();
    let config = ProptestConfig {
        cases: 32 * u32::from(kernel.max_width()),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let module = std::cell::RefCell::new(&mut module);
    runner
        .run(&job(kernel), |(job, bytes)| {
            let mut module = module.borrow_mut();
            module.set_data(&bytes).unwrap();
            prop_assert_eq!(module.numbers(&job).unwrap(), expected(&job, &bytes));
            Ok(())
        })
        .unwrap();
}

/// Returns the native result; if this processor lacks the instructions, computes it without them.
fn expected(job: &Job, bytes: &[u8]) -> Vec<u64> {
    let found = job.run(bytes);
    if job.kernel != Kernel::Select || has_vectors() {
        return found;
    }
    // Rows are unpacked and then compared, as many as the module has processed.
    let first = u64::from(job.first % 8);
    let bits = u64::from(job.width);
    let read = |row: u64| {
        (0..bits).fold(0u64, |code, bit| {
            let at = (first + row) * bits + bit;
            let byte = bytes.get((at / 8) as usize).copied().unwrap_or_default();
            code | u64::from(byte >> (at % 8) & 1) << bit
        })
    };
    let [least, span] = job.range;
    let span = span.min(u64::from(u32::MAX) - least);
    let from = (first * bits / 8) as usize;
    let there = bytes.len().saturating_sub(from + 16) / (8 * bits as usize);
    let has_any = bytes.len() >= from + 16 && job.width <= 25;
    let num_words = if has_any {
        there.min(job.num_rows as usize / 64)
    } else {
        0
    };
    (0..num_words as u64)
        .map(|word| {
            (0..64).fold(0, |bits, ord| {
                let code = read(word * 64 + ord);
                bits | u64::from(code.wrapping_sub(least) <= span) << ord
            })
        })
        .collect()
}

fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

macro_rules! each_is_the_same_in_webassembly {
    ($($name:ident: $kernel:ident,)*) => {
        $(
            #[test]
            fn $name() {
                check(Kernel::$kernel);
            }
        )*

        #[test]
        fn none_is_left_out() {
            assert_eq!([$(Kernel::$kernel),*], Kernel::ALL);
        }
    };
}

each_is_the_same_in_webassembly! {
    blocks: Block,
    sorted_blocks: SortedBlock,
    strictly_sorted_blocks: StrictlySortedBlock,
    short_blocks: ShortBlock,
    packing_blocks: PackedBlock,
    unpacking_into_32_bits: Unpack32,
    unpacking_into_64_bits: Unpack64,
    comparing_32_bits: Within32,
    comparing_64_bits: Within64,
    comparing_packed_rows: Select,
    unpacking_listed_rows: Gather,
    counting_narrow_rows: CountNarrow,
    counting_bytes: CountBytes,
    counting_unpacked_rows: Tally,
    marking_documents: Mark,
    listing_marked_documents: List,
    finding_marked_documents: Among,
    looking_up_values: LookUp,
    comparing_vectors_of_floats: FloatVectors,
    comparing_vectors_of_bytes: ByteVectors,
    rotating_vectors: Rotation,
    estimating_by_codes: Codes,
}
