//! The loop that counts ones, compiled again for processors of x86-64 that have an instruction for it, which
//! is found at run time. The other loops gain nothing by that. Elsewhere, and in wasm, what the target has
//! anyway is what there is to choose from.

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
        // SAFETY: the processor has `popcnt`, which is all that the function asks for.
        return unsafe { count_planes_popcnt(data, width, num_rows) };
    }
    count_planes_here(data, width, num_rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn count_planes_popcnt(data: &[u8], width: u8, num_rows: u32) -> CodeCounts {
    count_planes_here(data, width, num_rows)
}
