//! Reading a source to see which of some known sources it goes on with.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{LinesHash, SourceProgress};

/// Behind so many lines the ledger says what they come to, so that a source that has fewer lines than one that is known
/// is told from its beginning.
pub(in crate::source) const MARKS: [u64; 2] = [2, 16];
/// So many ends of a last line are tried that was known before it had one.
const MAX_ENDS: usize = 16 << 10;

/// How the last known line of a source stands there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Growth {
    /// As it was.
    Same,
    /// There is more of it.
    Longer,
}

/// Compares a source, line by line, with what is known of others.
#[derive(Debug, Default)]
pub(in crate::source) struct Probe {
    /// By the number of lines: which candidate, and what its lines come to.
    wanted: BTreeMap<u64, Vec<(usize, LinesHash)>>,
    /// Candidates of which all lines stand at the beginning of the source.
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

    /// Whether no candidate has more lines than this.
    pub(in crate::source) fn is_past(&self, num_lines: u64) -> bool {
        self.wanted
            .last_key_value()
            .is_none_or(|(last, _)| *last <= num_lines)
    }

    /// Takes note of a line, the `num_lines`th: `before` is what those before it come to, and `after` what they do with it.
    pub(in crate::source) fn see(
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

/// What lines come to with each beginning of the last one.
fn ends(before: LinesHash, line: &[u8]) -> impl Iterator<Item = u64> {
    let lens = 0..line.len().min(MAX_ENDS);
    lens.map(move |len| {
        before
            .with(line.get(..len).unwrap_or_default(), len as u64)
            .0
    })
}

impl Growth {
    /// How a last line stands there that came to `wanted` once; nothing if it is another one.
    pub(in crate::source) fn of(
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
