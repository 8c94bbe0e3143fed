//! Measures the disk cache: opening a folder with many blocks, and a get and a put of one.
//!
//! ```text
//! cargo run -p canter-runtime --example measure_disk_cache -- FOLDER [NUM_BLOCKS]
//! ```
//!
//! FOLDER is filled on the first run, and is left for the next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use canter_runtime::cache::{
    CacheOptions, ClassOptions, DiskCache, MemoryCache, RangeCache, TieredCache,
};
use canter_runtime::session::ByteClass;

const CLASS: ByteClass = ByteClass::Postings;
const BLOCK_LEN: u64 = 64 << 10;
/// Blocks of one object.
const OBJECT_BLOCKS: u64 = 256;

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(folder), num_blocks) = (args.next(), args.next()) else {
        eprintln!("usage: measure_disk_cache FOLDER [NUM_BLOCKS]");
        std::process::exit(2);
    };
    let num_blocks = num_blocks.map_or(Ok(16 << 10), |arg| arg.parse());
    let Ok(num_blocks) = num_blocks else {
        eprintln!("the number of blocks must be a number");
        std::process::exit(2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(measure(&folder, num_blocks)));
    if let Err(message) = outcome {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn place(number: u64) -> (String, u64) {
    let object = format!("index/split-{:04}", number / OBJECT_BLOCKS);
    (object, number % OBJECT_BLOCKS * BLOCK_LEN)
}

fn block_bytes(number: u64) -> Bytes {
    (0..BLOCK_LEN)
        .map(|at| (at.wrapping_mul(number | 1) >> 3) as u8)
        .collect()
}

async fn measure(folder: &str, num_blocks: u64) -> Result<(), String> {
    let options = CacheOptions::disk().with_class(
        CLASS,
        ClassOptions {
            max_bytes: (num_blocks * 3 / 2 * BLOCK_LEN).max(1 << 20),
            block_len: BLOCK_LEN,
        },
    );
    let open = || {
        let start = Instant::now();
        let cache = DiskCache::open(folder, &options).map_err(|error| error.message)?;
        Ok::<_, String>((cache, start.elapsed()))
    };
    let (cache, elapsed) = open()?;
    println!("open, as found        {elapsed:>12.1?}");

    let blocks: Vec<Bytes> = (0..64).map(block_bytes).collect();
    let bytes_of = |number: u64| blocks[number as usize % blocks.len()].clone();
    let mut offering = Duration::ZERO;
    let start = Instant::now();
    for number in 0..num_blocks {
        let (object, offset) = place(number);
        let start = Instant::now();
        cache.put(&object, offset, bytes_of(number), CLASS).await;
        offering += start.elapsed();
        if number % 256 == 0 {
            cache.flush().await;
        }
    }
    cache.flush().await;
    print_each("put, as a query sees it", offering, num_blocks);
    print_each("put, until written", start.elapsed(), num_blocks);
    println!("bytes on disk         {:>12}", cache.measure_bytes());
    drop(cache);

    let (cache, elapsed) = open()?;
    println!("open, filled          {elapsed:>12.1?}");
    let start = Instant::now();
    let num_held = cache.get(&place(0).0, 0..BLOCK_LEN, CLASS).await.len();
    println!(
        "first get             {:>12.1?}  ({num_held} hit)",
        start.elapsed()
    );
    get_all("get, one block", &cache, num_blocks, 1).await;
    get_all("get, 32 blocks at once", &cache, num_blocks, 32).await;
    let start = Instant::now();
    for number in 0..1000 {
        cache
            .get(
                "index/absent",
                number * BLOCK_LEN..(number + 1) * BLOCK_LEN,
                CLASS,
            )
            .await;
    }
    print_each("get, a miss", start.elapsed(), 1000);
    let memory = MemoryCache::with_options(&options).map_err(|error| error.message)?;
    let tiered = TieredCache::new(Arc::new(memory), Arc::new(cache));
    get_all("get, tiered, from disk", &tiered, num_blocks, 1).await;
    get_all("get, tiered, promoted", &tiered, num_blocks, 1).await;
    Ok(())
}

/// Gets every block once, `at_once` of them in one call.
async fn get_all(what: &str, cache: &dyn RangeCache, num_blocks: u64, at_once: u64) {
    let mut num_bytes = 0;
    let start = Instant::now();
    for number in (0..num_blocks).step_by(at_once as usize) {
        let (object, offset) = place(number);
        let range = offset..offset + at_once * BLOCK_LEN;
        let pieces = cache.get(&object, range, CLASS).await;
        num_bytes += pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
    }
    let num_calls = num_blocks.div_ceil(at_once);
    print_each(what, start.elapsed(), num_calls);
    let expected = (num_blocks * BLOCK_LEN) as usize;
    if num_bytes != expected {
        println!("  {num_bytes} of {expected} bytes were held");
    }
}

fn print_each(what: &str, elapsed: Duration, num: u64) {
    let micros = elapsed.as_secs_f64() * 1e6 / num.max(1) as f64;
    println!("{what:<24}{micros:>10.1} us each, {num} times");
}
