//! Ranges of codes that cover boxes. In the order of codes, a box is many short ranges: few are read, and
//! they have more than the box.

use std::ops::RangeInclusive;

use crate::point::{CodeBox, interleaved};

/// Number of cells at which the division of a box ends.
const MAX_CELLS: usize = 512;
/// Maximum number of ranges: each is a read.
const MAX_RANGES: usize = 12;
/// Number of divisions after which a cell is one code.
const MAX_LEVEL: u32 = 32;

/// Square of codes whose side is a power of two.
#[derive(Clone, Copy)]
struct Cell {
    lat: u32,
    lon: u32,
    level: u32,
}

impl Cell {
    const WORLD: Self = Self {
        lat: 0,
        lon: 0,
        level: 0,
    };

    /// Returns the side, less one.
    fn reach(self) -> u32 {
        u32::MAX.checked_shr(self.level).unwrap_or(0)
    }

    fn codes(self) -> RangeInclusive<u64> {
        let first = interleaved(self.lat, self.lon);
        let reach = u64::MAX.checked_shr(2 * self.level).unwrap_or(0);
        first..=first | reach
    }

    fn meets(self, wanted: &CodeBox) -> bool {
        let is_near = |first: u32, range: &RangeInclusive<u32>| {
            first <= *range.end() && first | self.reach() >= *range.start()
        };
        is_near(self.lat, &wanted.lat) && is_near(self.lon, &wanted.lon)
    }

    fn is_within(self, wanted: &CodeBox) -> bool {
        let is_inside = |first: u32, range: &RangeInclusive<u32>| {
            range.contains(&first) && range.contains(&(first | self.reach()))
        };
        is_inside(self.lat, &wanted.lat) && is_inside(self.lon, &wanted.lon)
    }

    fn quarters(self) -> [Self; 4] {
        let level = self.level + 1;
        let half = 1_u32.checked_shl(MAX_LEVEL - level).unwrap_or(0);
        [(0, 0), (half, 0), (0, half), (half, half)].map(|(lat, lon)| Self {
            lat: self.lat | lat,
            lon: self.lon | lon,
            level,
        })
    }
}

/// Returns at most a dozen ascending ranges that have every code in the boxes, and few others.
pub fn cover(boxes: &[CodeBox]) -> Vec<RangeInclusive<u64>> {
    let mut inside: Vec<Cell> = Vec::new();
    let mut open = vec![Cell::WORLD];
    for _ in 0..=MAX_LEVEL {
        let mut next = Vec::new();
        for cell in &open {
            if boxes.iter().any(|wanted| cell.is_within(wanted)) {
                inside.push(*cell);
            } else if boxes.iter().any(|wanted| cell.meets(wanted)) {
                next.push(*cell);
            }
        }
        let is_enough = inside.len() + 4 * next.len() > MAX_CELLS;
        if next.is_empty() || is_enough {
            inside.extend(next);
            break;
        }
        open = next.into_iter().flat_map(Cell::quarters).collect();
    }
    joined(inside)
}

/// Returns the ranges of cells, with the smallest gaps between them filled.
fn joined(cells: Vec<Cell>) -> Vec<RangeInclusive<u64>> {
    let mut codes: Vec<(u64, u64)> = cells
        .into_iter()
        .map(|cell| cell.codes().into_inner())
        .collect();
    codes.sort_unstable();
    let mut gaps: Vec<u64> = codes
        .iter()
        .zip(codes.iter().skip(1))
        .map(|((_, end), (start, _))| start.saturating_sub(*end))
        .collect();
    gaps.sort_unstable_by(|left, right| right.cmp(left));
    // Neighbours have a gap of 1.
    let max_gap = gaps.get(MAX_RANGES - 1).copied().unwrap_or(1).max(1);
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (start, end) in codes {
        match ranges.last_mut() {
            Some(last) if start.saturating_sub(last.1) <= max_gap => last.1 = last.1.max(end),
            _ => ranges.push((start, end)),
        }
    }
    ranges.into_iter().map(|(start, end)| start..=end).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(a: u32, b: u32) -> RangeInclusive<u32> {
        a.min(b)..=a.max(b)
    }

    proptest! {
        #[test]
        fn a_cover_has_every_code_of_its_box(
            lats in any::<(u32, u32)>(), lons in any::<(u32, u32)>(), shift in 0_u32..30,
            part in 0.0..1.0_f64, other in 0.0..1.0_f64,
        ) {
            let narrow = |(a, b): (u32, u32)| sorted(a, a.saturating_add(b >> shift));
            let wanted = CodeBox { lat: narrow(lats), lon: narrow(lons) };
            let ranges = cover(std::slice::from_ref(&wanted));
            prop_assert!(!ranges.is_empty() && ranges.len() <= MAX_RANGES);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end() < pair[1].start()));
            let at = |range: &RangeInclusive<u32>, part: f64| {
                let len = f64::from(range.end() - range.start());
                range.start() + (len * part) as u32
            };
            for (lat, lon) in [(0.0, 0.0), (1.0, 1.0), (part, other), (0.0, other), (part, 1.0)] {
                let code = interleaved(at(&wanted.lat, lat), at(&wanted.lon, lon));
                prop_assert!(ranges.iter().any(|range| range.contains(&code)));
            }
        }
    }

    #[test]
    fn a_cover_is_close_to_its_box() {
        // A box of a thousandth of the world on each side, at an awkward place.
        let side = u32::MAX / 1_000;
        let at = |start: u32| start - side / 2..=start + side / 2;
        let wanted = CodeBox {
            lat: at(1 << 31),
            lon: at(1 << 31),
        };
        let ranges = cover(&[wanted]);
        let covered: u64 = ranges.iter().map(|range| range.end() - range.start()).sum();
        let own = u64::from(side) * u64::from(side);
        assert!(covered < 3 * own, "{covered} {own}");
        let whole = cover(&[CodeBox {
            lat: 0..=u32::MAX,
            lon: 0..=u32::MAX,
        }]);
        assert_eq!(whole, [0..=u64::MAX]);
        assert!(cover(&[]).is_empty());
    }
}
