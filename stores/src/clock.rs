//! The date, as it is written into objects and sent along with requests. Everything that needs it asks here: a machine whose clock says
//! a time before 1970 has none, and many a library panics then.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Libraries write no later years than 9999 in a request.
const END_S: u64 = 253_402_300_800;

/// What to do about a clock that is wrong.
pub const WRONG_CLOCK: &str = "the clock of this machine is wrong: it says a time before 1970 or after 9999; set it, and try again";

/// Time since 1970; zero of a clock that says an earlier time.
pub fn unix_time() -> Duration {
    since_1970(SystemTime::now()).unwrap_or_default()
}

/// The same in milliseconds.
pub fn unix_time_ms() -> u64 {
    u64::try_from(unix_time().as_millis()).unwrap_or(u64::MAX)
}

/// Time since 1970; nothing of a clock that says no date that a request can carry.
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
