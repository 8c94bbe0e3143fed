//! Functions that the module exports.

use std::sync::{Mutex, PoisonError};

use crate::{Job, Kernel};

static DATA: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static NUMBERS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Allocates room for `len` bytes, which later jobs use as their data.
#[unsafe(no_mangle)]
extern "C" fn room(len: usize) -> *mut u8 {
    let mut data = DATA.lock().unwrap_or_else(PoisonError::into_inner);
    data.clear();
    data.resize(len, 0);
    data.as_mut_ptr()
}

/// Runs a job, and returns the number of results.
#[unsafe(no_mangle)]
extern "C" fn run(
    kernel: usize,
    width: u32,
    first: u32,
    least: u64,
    span: u64,
    num_rows: u32,
    repeats: u32,
) -> usize {
    let data = DATA.lock().unwrap_or_else(PoisonError::into_inner);
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    *numbers = match Kernel::ALL.get(kernel) {
        Some(&kernel) => {
            let job = Job {
                kernel,
                width: width as u8,
                first,
                range: [least, span],
                num_rows,
                repeats,
            };
            job.run(&data)
        }
        None => Vec::new(),
    };
    numbers.len()
}

/// Returns the address of the results.
#[unsafe(no_mangle)]
extern "C" fn numbers() -> *const u64 {
    NUMBERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ptr()
}
