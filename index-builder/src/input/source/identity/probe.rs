//! Reading a source to find out which of some known sources it continues.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{LinesHash, SourceId, SourceProgress};

/// Numbers of lines whose hash the ledger has, so that a source with fewer lines than a known one is distinguished by
/// its beginning.
pub(in crate::input::source) const MARKS: [u64; 2] = [2, 16];
/// Maximum number of ends that are tried for a last line that was incomplete when it was ingested.
const MAX_ENDS: usize = 16 << 10;

/// Current state of a source's last known line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input::source) enum Growth {
    /// Unchanged.
    Same,
    /// Extended.
    Longer,
}

/// Compares a source, line by line, with known ones.
#[derive(Debug, Default)]
pub(in crate::input::source) struct Probe {
    /// By the number of lines: the candidates, and the hashes of their lines.
    wanted: BTreeMap<u64, Vec<(usize, LinesHash)>>,
    /// Candidates whose lines are all at the beginning of the source.
    pub(super) found: Vec<(usize, Growth)>,
}

impl Probe {
    pub(super) fn of<'p>(candidates: impl Iterator<Item = &'p SourceProgress>) -> Probe {
        let mut probe = Probe::default();
        for (place, progress) in candidates.enumerate() {
            let wanted = probe.wanted.entry(progress.num_lines).or_default();
            wanted.push((place, progress.hash));
        }
        probe
    }

    /// Returns whether no candidate has more lines than this.
    pub(in crate::input::source) fn is_past(&self, num_lines: u64) -> bool {
        self.wanted
            .last_key_value()
            .is_none_or(|(last, _)| *last <= num_lines)
    }

    /// Compares a line, the `num_lines`th: `before` is the hash of the previous lines, and `after` includes this one.
    pub(in crate::input::source) fn see(
        &mut self,
        num_lines: u64,
        (before, after): (LinesHash, LinesHash),
        line: &[u8],
    ) {
        let Some(wanted) = self.wanted.get(&num_lines) else {
            return;
        };
        let mut shorter: Option<BTreeSet<u64>> = None;
        for (place, hash) in wanted {
            if *hash == after {
                self.found.push((*place, Growth::Same));
                continue;
            }
            let shorter = shorter.get_or_insert_with(|| ends(before, line).collect());
            if shorter.contains(&hash.0) {
                self.found.push((*place, Growth::Longer));
            }
        }
    }
}

/// Returns the hashes of the lines with each prefix of the last one.
fn ends(before: LinesHash, line: &[u8]) -> impl Iterator<Item = u64> {
    let lens = 0..line.len().min(MAX_ENDS);
    lens.map(move |len| {
        before
            .with(line.get(..len).unwrap_or_default(), len as u64)
            .0
    })
}

impl Growth {
    /// Returns the state of a last line whose hash was `wanted` once; `None` if it is another one.
    pub(in crate::input::source) fn of(
        before: LinesHash,
        after: LinesHash,
        line: &[u8],
        wanted: LinesHash,
    ) -> Option<Growth> {
        match after == wanted {
            true => Some(Growth::Same),
            false => ends(before, line)
                .any(|hash| hash == wanted.0)
                .then_some(Growth::Longer),
        }
    }
}

/// A source, with its records.
#[derive(Debug)]
pub(crate) struct Known {
    pub(in crate::input::source) id: SourceId,
    pub(in crate::input::source) known: Option<SourceProgress>,
    /// True if its last known line may have grown since.
    pub(in crate::input::source) is_open: bool,
    /// True if its records are counted instead of their lines, as in earlier versions.
    pub(in crate::input::source) counts_records: bool,
    /// Note on the source.
    pub(in crate::input::source) note: Option<String>,
}
