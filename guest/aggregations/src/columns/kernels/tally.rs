//! Counts of unpacked codes.
//!
//! An addition in memory waits for an earlier one at the same address. Equal consecutive codes are
//! common in sorted and skewed data; with a single table they would be five times as slow. Long
//! runs therefore alternate between several tables. Short runs, for which clearing the tables would
//! take longer, use none.

/// Layout of the alternating tables: code `c` of table `lane` is at `c * lanes + lane`.
#[derive(Clone, Copy)]
enum Lanes {
    /// Up to 4 bits: with so few codes, equal ones recur soon and need more tables.
    Sixteen,
    /// Up to 8 bits. The length is constant here and above, so that indices need no bounds checks.
    Four,
    /// Wider codes, in tables as long as their width needs.
    FourLong,
}

const PLACES_OF_SIXTEEN: usize = 16 << 4;
const PLACES_OF_FOUR: usize = 4 << 8;

/// Minimum number of codes in a run for each entry of the tables.
const ROWS_PER_PLACE: usize = 2;

/// Counter of codes, with its intermediate tables.
pub(crate) struct Tally<'a> {
    counts: &'a mut [u64],
    /// Empty for short runs. 32 bits suffice: a run has fewer than 2^32 rows.
    table: Vec<u32>,
    lanes: Lanes,
    /// True if codes were outside of `counts`.
    outside: bool,
}

impl<'a> Tally<'a> {
    /// Creates a counter for a run of `num_rows` codes of `width` bits, at most 16, which are added
    /// to `counts`.
    pub(crate) fn new(counts: &'a mut [u64], width: u8, num_rows: usize) -> Self {
        let (lanes, places) = match width {
            0..=4 => (Lanes::Sixteen, PLACES_OF_SIXTEEN),
            5..=8 => (Lanes::Four, PLACES_OF_FOUR),
            _ => (Lanes::FourLong, 4 << width.min(16)),
        };
        let table = if num_rows / ROWS_PER_PLACE >= places {
            vec![0; places]
        } else {
            Vec::new()
        };
        Self {
            counts,
            table,
            lanes,
            outside: false,
        }
    }

    /// Counts the next codes of the run.
    #[inline]
    pub(crate) fn add(&mut self, codes: &[u32]) {
        let table = self.table.as_mut_slice();
        match self.lanes {
            _ if table.is_empty() => {
                for code in codes {
                    match self.counts.get_mut(place(*code)) {
                        Some(count) => *count = count.saturating_add(1),
                        None => self.outside = true,
                    }
                }
            }
            Lanes::Sixteen => {
                let table = table.first_chunk_mut::<PLACES_OF_SIXTEEN>();
                table
                    .into_iter()
                    .for_each(|table| take_turns::<16>(codes, table));
            }
            Lanes::Four => {
                let table = table.first_chunk_mut::<PLACES_OF_FOUR>();
                table
                    .into_iter()
                    .for_each(|table| take_turns::<4>(codes, table));
            }
            Lanes::FourLong => take_turns::<4>(codes, table),
        }
    }

    /// Adds the tables to the counts; returns `false` if codes were outside of the counts.
    pub(crate) fn finish(self) -> bool {
        let num_lanes = match self.lanes {
            Lanes::Sixteen => 16,
            Lanes::Four | Lanes::FourLong => 4,
        };
        let mut outside = self.outside;
        let mut counts = self.counts.iter_mut();
        for of_code in self.table.chunks_exact(num_lanes) {
            let sum = of_code
                .iter()
                .fold(0u64, |sum, lane| sum.saturating_add(u64::from(*lane)));
            match counts.next() {
                Some(count) => *count = count.saturating_add(sum),
                None => outside |= sum > 0,
            }
        }
        !outside
    }
}

/// Counts codes in alternating tables. The remainder changes no index, since codes are of the
/// width; it tells the compiler so.
#[inline(always)]
fn take_turns<const L: usize>(codes: &[u32], table: &mut [u32]) {
    let num_places = table.len();
    let mut bump = |code: u32, lane: usize| {
        let place = place(code).wrapping_mul(L).wrapping_add(lane);
        let place = if num_places <= PLACES_OF_FOUR {
            place % num_places.max(1)
        } else {
            place
        };
        if let Some(lane) = table.get_mut(place) {
            *lane = lane.wrapping_add(1);
        }
    };
    let (rounds, rest) = codes.as_chunks::<L>();
    for round in rounds {
        for (lane, code) in round.iter().enumerate() {
            bump(*code, lane);
        }
    }
    for code in rest {
        bump(*code, 0);
    }
}

#[inline(always)]
fn place(code: u32) -> usize {
    usize::try_from(code).unwrap_or(usize::MAX)
}
