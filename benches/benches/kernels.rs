//! The loops that postings and columns are read with, natively, at some widths: blocks of 128 postings, and which of a
//! million rows have values within a range. The same loops inside the component: `engines`.

use std::hint::black_box;

use anyhow::{Context, Result};
use bitpacking::{BitPacker, BitPacker4x};
use canter_aggregations::FullColumn;
use criterion::{Criterion, Throughput};
use tantivy::columnar::{ColumnarReader, ColumnarWriter, NumericalValue};

const NUM_ROWS: u32 = 1_000_000;

fn main() -> Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    unpack_postings(&mut criterion);
    for width in [1, 6, 8, 13, 24] {
        select_rows(&mut criterion, width)?;
    }
    criterion.final_summary();
    Ok(())
}

/// Some numbers of a width.
fn numbers(width: u32) -> impl Iterator<Item = u32> {
    let mask = u32::MAX.checked_shr(u32::BITS - width).unwrap_or(0);
    (0u32..).map(move |ord| ord.wrapping_mul(0x9e37_79b9).rotate_left(13) & mask)
}

fn unpack_postings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("unpack 128 postings");
    group.throughput(Throughput::Elements(BitPacker4x::BLOCK_LEN as u64));
    let packer = BitPacker4x::new();
    for width in [1, 4, 8, 13, 20, 32] {
        let block: Vec<u32> = numbers(width.into()).take(BitPacker4x::BLOCK_LEN).collect();
        let mut bytes = vec![0; BitPacker4x::compressed_block_size(width)];
        packer.compress(&block, &mut bytes, width);
        let mut out = vec![0; BitPacker4x::BLOCK_LEN];
        group.bench_function(format!("{width} bits"), |bencher| {
            bencher.iter(|| {
                packer.decompress_strictly_sorted(Some(7), black_box(&bytes), &mut out, width)
            });
        });
    }
    group.finish();
}

fn select_rows(criterion: &mut Criterion, width: u32) -> Result<()> {
    let mut writer = ColumnarWriter::default();
    for (doc, number) in (0..NUM_ROWS).zip(numbers(width)) {
        writer.record_numerical(doc, "value", NumericalValue::U64(number.into()));
    }
    let mut bytes = Vec::new();
    writer.serialize(NUM_ROWS, None, &mut bytes)?;
    let reader = ColumnarReader::open(bytes)?;
    let handle = reader.read_columns("value")?.pop().context("no column")?;
    let column = FullColumn::open(&handle)?.context("the column is not full")?;
    let (min, max) = column.bounds().into_inner();
    let wanted = min + (max - min) / 4..=max - (max - min) / 4;
    let mut group = criterion.benchmark_group("select of 1,000,000 rows");
    group.throughput(Throughput::Elements(NUM_ROWS.into()));
    let mut words = Vec::new();
    group.bench_function(format!("{width} bits"), |bencher| {
        bencher.iter(|| column.select(0..NUM_ROWS, black_box(&wanted), &mut words));
    });
    group.finish();
    Ok(())
}
