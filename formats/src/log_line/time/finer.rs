//! The fraction of a second, where a time in whole seconds has it in another notation behind it, as the logs of
//! supercomputers do: `1117838570 2005.06.03 node 2005-06-03-15.42.50.363779 node RAS KERNEL INFO text`.

use super::clock::Clock;
use super::digits::{at, number, run};
use super::form::Reading;
use super::stamp::Stamp;

/// Returns a time with the fraction that a clock with the same minute and second has in a text. Hours are those of
/// another zone.
pub(crate) fn with_fraction(reading: Reading, text: &[u8]) -> Reading {
    let Reading::Time(stamp) = reading else {
        return reading;
    };
    let clock = stamp.clock;
    if clock.num_digits > 0 || !clock.has_seconds {
        return reading;
    }
    match fraction(clock, text) {
        Some((nanos, num_digits)) => {
            let clock = Clock {
                nanos,
                num_digits,
                ..clock
            };
            Reading::Time(Stamp { clock, ..stamp })
        }
        None => reading,
    }
}

/// Returns nanoseconds, and the number of their digits that are written.
fn fraction(clock: Clock, text: &[u8]) -> Option<(u32, u8)> {
    const MAX_DIGITS: usize = 9;
    let digits = |number: u8| [b'0' + number / 10, b'0' + number % 10];
    let ([m1, m2], [s1, s2]) = (digits(clock.minute), digits(clock.second));
    [b':', b'.'].into_iter().find_map(|sep| {
        let clock = [sep, m1, m2, sep, s1, s2];
        memchr::memmem::find_iter(text, &clock).find_map(|place| {
            let start = place + clock.len();
            let has_hour = place >= 2 && run(text, place - 2) == 2;
            let len = run(text, start + 1);
            let is_it = has_hour
                && matches!(at(text, start), Some(b'.' | b','))
                && (3..=MAX_DIGITS).contains(&len);
            let missing = u32::try_from(MAX_DIGITS.checked_sub(len)?).ok()?;
            let nanos = number(text, start + 1, len).filter(|_| is_it)? * 10_u64.pow(missing);
            Some((u32::try_from(nanos).ok()?, u8::try_from(len).ok()?))
        })
    })
}
