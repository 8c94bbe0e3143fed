//! The loop that counts ones, compiled again for x86-64 processors with an instruction for it,
//! which is detected at run time. The other loops would gain nothing. Other targets, and wasm, use
//! the base instructions.

use super::planes::{CodeCounts, count_planes_here};

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn count_planes(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    count_planes_here(data, width, num_rows)
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "a function for a feature may be called where the feature was found"
)]
pub(super) fn count_planes(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has `popcnt`, the only requirement of the function.
        return unsafe { count_planes_popcnt(data, width, num_rows) };
    }
    count_planes_here(data, width, num_rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn count_planes_popcnt(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    count_planes_here(data, width, num_rows)
}
