//! Current time, as written into objects and sent in requests. All code that needs the time reads
//! it here: if the clock says a time before 1970, it counts as unset, where many libraries panic.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// End of the year 9999, in seconds since 1970. Libraries cannot format a later date in a request.
const END_S: u64 = 253_402_300_800;

/// Message for a clock that is wrong.
pub const WRONG_CLOCK: &str = "the clock of this machine is wrong: it says a time before 1970 or after 9999; set it, and try again";

/// Returns the time since 1970, or zero if the clock says an earlier time.
pub fn unix_time() -> Duration {
    since_1970(SystemTime::now()).unwrap_or_default()
}

/// Returns the time since 1970 in milliseconds, or zero if the clock says an earlier time.
pub fn unix_time_ms() -> u64 {
    u64::try_from(unix_time().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time since 1970, or `None` if a request cannot carry the date.
pub fn checked_unix_time() -> Option<Duration> {
    let since = since_1970(SystemTime::now());
    since.filter(|since| since.as_secs() < END_S)
}

fn since_1970(now: SystemTime) -> Option<Duration> {
    now.duration_since(UNIX_EPOCH).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_1970_is_none() {
        let second = Duration::from_secs(1);
        assert_eq!(since_1970(UNIX_EPOCH - second), None);
        assert_eq!(since_1970(UNIX_EPOCH), Some(Duration::ZERO));
        assert_eq!(since_1970(UNIX_EPOCH + second), Some(second));
    }
}
