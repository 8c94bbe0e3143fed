//! Loops that read postings and columns, native and in WebAssembly, at some widths: a thousand
//! blocks of 128 numbers for each measurement, and columns of a million rows. Vectors have 384 dimensions; for codes, the
//! throughput is in bytes of codes.

use anyhow::Result;
use canter_kernels::{Job, Kernel, Module};
use criterion::{Criterion, Throughput};

const NUM_ROWS: u32 = 1_000_000;
const NUM_BLOCKS: u32 = 1_000;
const BLOCK_LEN: u64 = 128;

/// Number of dimensions of vectors.
const NUM_DIMS: u32 = 384;

fn main() -> Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut module = Module::load()?;
    // More data than any loop reads, with numbers that cannot be compressed.
    let data: Vec<u8> = (0..u64::from(NUM_ROWS) * 8 + 64)
        .map(|ord| (ord.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect();
    module.set_data(&data)?;
    for kernel in Kernel::ALL {
        let (repeats, num_rows, num_numbers) = match kernel {
            // One vector is rotated, and compared with all that the data has.
            Kernel::Rotation => (NUM_BLOCKS, NUM_DIMS, u64::from(NUM_BLOCKS * NUM_DIMS)),
            Kernel::FloatVectors => (0, NUM_DIMS, data.len() as u64 / 4),
            Kernel::ByteVectors => (0, NUM_DIMS, data.len() as u64),
            Kernel::Codes => (0, NUM_DIMS, data.len() as u64),
            _ if is_block(kernel) => (NUM_BLOCKS, NUM_ROWS, u64::from(NUM_BLOCKS) * BLOCK_LEN),
            _ => (0, NUM_ROWS, u64::from(NUM_ROWS)),
        };
        let mut group = criterion.benchmark_group(format!("{kernel:?}"));
        group.throughput(Throughput::Elements(num_numbers));
        for width in [1, 4, 6, 8, 13, 20, 24, 32, 48] {
            let is_for_width = match kernel {
                Kernel::CountBytes => (5..=8).contains(&width),
                // Preparing their input would take longer than they do.
                Kernel::Mark | Kernel::List | Kernel::Among => false,
                _ => width <= kernel.max_width(),
            };
            if !is_for_width {
                continue;
            }
            let greatest = u64::MAX >> (64 - u32::from(width));
            let job = Job {
                kernel,
                width,
                first: 0,
                range: [greatest / 4, greatest / 2],
                num_rows,
                repeats,
            };
            group.bench_function(format!("{width} bits, native"), |bencher| {
                bencher.iter(|| job.run(&data));
            });
            // Fails before the measurement if the kernel does.
            module.run(&job)?;
            group.bench_function(format!("{width} bits, wasm"), |bencher| {
                bencher.iter(|| module.run(&job));
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}

fn is_block(kernel: Kernel) -> bool {
    matches!(
        kernel,
        Kernel::Block
            | Kernel::SortedBlock
            | Kernel::StrictlySortedBlock
            | Kernel::ShortBlock
            | Kernel::PackedBlock
            | Kernel::LookUp
    )
}
