//! Ids of what arrives: in the order of arrival, among everything that one process takes.

use std::sync::{Mutex, PoisonError};

use canter_index_builder::unix_time_ms;
use uuid::Uuid;

/// Time of the last arrival in milliseconds since 1970, and the number of others before it in that millisecond.
static LAST: Mutex<(u64, u32)> = Mutex::new((0, 0));

/// Returns an id that is greater than those before it, and that no other process returns.
///
/// ```text
///   t │ 12 digits: milliseconds since 1970 │ 8 digits: number in that millisecond │ 12 digits: random
/// ```
///
/// A clock that is set back stands still meanwhile.
pub(crate) fn next_id() -> String {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = unix_time_ms();
    *last = match *last {
        (time, _) if now > time => (now, 0),
        (time, u32::MAX) => (time + 1, 0),
        (time, ord) => (time, ord + 1),
    };
    let (time, ord) = *last;
    let random = Uuid::new_v4().simple().to_string();
    format!(
        "t{:012x}{ord:08x}{}",
        time & 0xffff_ffff_ffff,
        &random[..12]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend() {
        let ids: Vec<String> = (0..10_000).map(|_| next_id()).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.len() == 33));
        assert!(ids.windows(2).all(|pair| pair[0][..21] != pair[1][..21]));
    }
}
