//! Work on places, in several threads, whose results do not depend on their number.

use std::sync::Mutex;

/// Number of places that a thread takes at once, where each takes little time.
const CHUNK_LEN: usize = 256;

/// Applies `each` to every place below `num`, and returns the results in the order of places.
pub(crate) fn map<T: Send>(
    num: usize,
    num_threads: usize,
    each: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    map_in_chunks(num, CHUNK_LEN, num_threads, each)
}

/// Like [`map`], for places each of which takes long.
pub(crate) fn map_one_by_one<T: Send>(
    num: usize,
    num_threads: usize,
    each: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    map_in_chunks(num, 1, num_threads, each)
}

fn map_in_chunks<T: Send>(
    num: usize,
    chunk_len: usize,
    num_threads: usize,
    each: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut results: Vec<Option<T>> = Vec::new();
    results.resize_with(num, || None);
    let chunks = Mutex::new(results.chunks_mut(chunk_len).enumerate());
    let work = || {
        loop {
            let next = match chunks.lock() {
                Ok(mut chunks) => chunks.next(),
                Err(_) => return,
            };
            let Some((chunk, results)) = next else {
                return;
            };
            for (place, result) in (chunk * chunk_len..).zip(results) {
                *result = Some(each(place));
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = num_threads.min(num.div_ceil(chunk_len));
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    // A thread that panicked has ended the scope with a panic.
    results.into_iter().flatten().collect()
}
