//! Digits at a place of a line. Every function gives back what it read and the place behind it, or nothing.

pub(super) fn at(text: &[u8], place: usize) -> Option<u8> {
    text.get(place).copied()
}

/// The number of digits from a place on.
pub(super) fn run(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

pub(super) fn two(text: &[u8], place: usize) -> Option<u8> {
    match text.get(place..place.checked_add(2)?)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some((tens - b'0') * 10 + (ones - b'0')),
        _ => None,
    }
}

/// One digit or two, or one behind a space: ` 1`, `1`, `01`.
pub(super) fn one_or_two(text: &[u8], place: usize) -> Option<(u8, usize)> {
    if let Some(number) = two(text, place) {
        return Some((number, place + 2));
    }
    match (at(text, place)?, at(text, place + 1)) {
        (b' ', Some(digit @ b'0'..=b'9')) => Some((digit - b'0', place + 2)),
        (digit @ b'0'..=b'9', _) => Some((digit - b'0', place + 1)),
        _ => None,
    }
}

pub(super) fn four(text: &[u8], place: usize) -> Option<u16> {
    let (high, low) = (two(text, place)?, two(text, place + 2)?);
    Some(u16::from(high) * 100 + u16::from(low))
}

/// A number of up to 19 digits.
pub(super) fn number(text: &[u8], place: usize, len: usize) -> Option<u64> {
    if len == 0 || len > 19 {
        return None;
    }
    let digits = text.get(place..place.checked_add(len)?)?;
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
