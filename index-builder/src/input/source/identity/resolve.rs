//! Decision about the source of an input.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use canter_split_format::{LinesHash, SourceEntries, SourceId, SourceProgress};

use super::place::{Place, mark_of, name_of, open_end_of};
use super::probe::{Growth, Known, MARKS, Probe};
use super::rotation::LogName;
use crate::error::BuildError;
use crate::input::source::{ReadSettings, RecordReader, Source, SourceRead};

/// Records of known sources.
pub(crate) trait Ledger: Sync {
    /// Returns the progress of a source.
    fn find(&self, source: SourceId) -> Result<Option<SourceProgress>, BuildError>;
    /// Returns all sources with numbers in a range.
    fn within(&self, range: &RangeInclusive<u128>) -> Result<SourceEntries, BuildError>;
}

/// Identity of an input.
#[derive(Debug)]
pub(crate) enum Identity {
    Source(Known),
    /// None of it is ingested, for this reason.
    Left(String),
}

/// A source with the same beginning as an input.
struct Candidate {
    id: SourceId,
    known: SourceProgress,
    /// Number of the source in this run.
    here: Option<usize>,
}

/// A source of this run.
struct Here {
    id: SourceId,
    name: String,
    log: LogName,
    now: SourceProgress,
    marks: Vec<(u64, LinesHash)>,
}

/// Decides for each input of a run in turn.
pub(crate) struct Identities<'a> {
    ledger: &'a dyn Ledger,
    settings: &'a ReadSettings,
    here: Vec<Here>,
    /// Indexes into `here`, by beginning.
    by_beginning: BTreeMap<u128, Vec<usize>>,
    /// The files of folders.
    folders: RefCell<BTreeMap<PathBuf, Vec<PathBuf>>>,
}

/// Maximum numbers of sources of one path, and of files of a folder, that are tried.
const MAX_NUMBERS: u32 = 4;
const MAX_BESIDE: usize = 10_000;

/// Result of reading an input.
struct Seen {
    found: Vec<(usize, Growth)>,
    /// Number of complete lines.
    num_lines: u64,
    marks: Vec<(u64, LinesHash)>,
}

impl<'a> Identities<'a> {
    pub(crate) fn new(ledger: &'a dyn Ledger, settings: &'a ReadSettings) -> Identities<'a> {
        Identities {
            ledger,
            settings,
            here: Vec::new(),
            by_beginning: BTreeMap::new(),
            folders: RefCell::default(),
        }
    }

    /// Identifies an input whose beginning `reader` has read.
    ///
    /// # Errors
    /// If the ledger, or the input again, cannot be read.
    pub(crate) fn identify(
        &self,
        place: &Place,
        reader: &RecordReader,
    ) -> Result<Identity, BuildError> {
        let beginning = reader.known_by();
        let candidates = self.candidates(place, &beginning)?;
        let Some(again) = place.again.as_ref().filter(|_| !candidates.is_empty()) else {
            return self.of_stream(place, &beginning, candidates);
        };
        let mut seen = Seen {
            found: (0..candidates.len()).map(|i| (i, Growth::Same)).collect(),
            num_lines: u64::MAX,
            marks: Vec::new(),
        };
        let mut counts_records = false;
        if !reader.is_parquet() {
            seen = self.look(again, &candidates, false)?;
            if seen.found.is_empty() && reader.counts_lines() {
                let by_records = self.look(again, &candidates, true)?;
                counts_records = !by_records.found.is_empty();
                if counts_records {
                    seen = by_records;
                }
            }
        }
        let found = self.of_found(place, &beginning, &candidates, &seen, counts_records)?;
        if let Some(identity) = found {
            return Ok(identity);
        }
        if let Some(left) = self.less_than_known(place, &beginning, &candidates, &seen)? {
            return Ok(Identity::Left(left));
        }
        self.another(place, &beginning, &candidates)
    }

    /// Records a source that was read.
    pub(crate) fn note(&mut self, place: Place, beginning: &[u8], read: &SourceRead) {
        let Some(log) = place.log else {
            return;
        };
        let here = Here {
            id: read.source_id,
            name: place.name,
            log,
            now: SourceProgress {
                num_lines: read.num_lines,
                // Unknown here, and not needed.
                num_docs: u64::MAX,
                hash: read.hash,
                at_ms: 0,
            },
            marks: read.marks.clone(),
        };
        let range = SourceId::range_of_beginning(beginning);
        let same = self.by_beginning.entry(*range.start()).or_default();
        // The latest one has the progress of a source.
        same.retain(|other| {
            self.here
                .get(*other)
                .is_none_or(|other| other.id != here.id)
        });
        same.push(self.here.len());
        self.here.push(here);
    }

    fn candidates(&self, place: &Place, beginning: &[u8]) -> Result<Vec<Candidate>, BuildError> {
        let mut all = BTreeMap::new();
        if place.log.is_some() {
            let range = SourceId::range_of_beginning(beginning);
            all = self.ledger.within(&range)?;
            // Its id before files were identified by their beginnings.
            let id = place.id_of_old(beginning);
            let known = self.ledger.find(id)?;
            all.extend(known.map(|known| (id.to_u128(), known)));
        } else {
            let mut number = 0;
            let id = |number| place.id(beginning, number);
            while let Some(known) = self.ledger.find(id(number))? {
                all.insert(id(number).to_u128(), known);
                number += 1;
            }
        }
        let mut candidates: Vec<Candidate> = all
            .into_iter()
            .map(|(id, known)| Candidate {
                id: SourceId::from_u128(id),
                known,
                here: None,
            })
            .collect();
        if place.log.is_none() {
            return Ok(candidates);
        }
        let range = SourceId::range_of_beginning(beginning);
        for ord in self.by_beginning.get(range.start()).into_iter().flatten() {
            let Some(here) = self.here.get(*ord) else {
                continue;
            };
            candidates.retain(|candidate| candidate.id != here.id);
            candidates.push(Candidate {
                id: here.id,
                known: here.now,
                here: Some(*ord),
            });
        }
        Ok(candidates)
    }

    /// Identifies an input that cannot be read twice, or of which nothing is known.
    fn of_stream(
        &self,
        place: &Place,
        beginning: &[u8],
        candidates: Vec<Candidate>,
    ) -> Result<Identity, BuildError> {
        let Some(candidate) = candidates.into_iter().next() else {
            return self.another(place, beginning, &[]);
        };
        let known = candidate.known;
        let open = open_end_of(candidate.id, known.num_lines);
        Ok(Identity::Source(Known {
            id: candidate.id,
            known: Some(known),
            is_open: self.ledger.find(open)?.is_some(),
            counts_records: false,
            note: None,
        }))
    }

    /// Reads an input up to the ends of the candidates.
    fn look(
        &self,
        again: &Source,
        candidates: &[Candidate],
        counts_records: bool,
    ) -> Result<Seen, BuildError> {
        let source = again.again();
        let source = source.ok_or_else(|| BuildError::internal("a source is gone"))?;
        let settings = self.settings.taking_all();
        let input = source.open(Arc::new(AtomicU64::new(0)), &settings)?;
        let mut reader = RecordReader::new(input, 0, &settings)?;
        let known = candidates.iter().map(|candidate| &candidate.known);
        reader.probe_for(Probe::of(known), counts_records);
        while !reader.is_past_probe() && reader.next_batch()?.is_some() {}
        let (probe, num_lines, marks) = reader.into_probe();
        Ok(Seen {
            found: probe.found,
            num_lines,
            marks,
        })
    }

    /// Returns the candidate with the most lines in the input: a source that nothing else in this run is, or one that
    /// the input is a copy of.
    fn of_found(
        &self,
        place: &Place,
        beginning: &[u8],
        candidates: &[Candidate],
        seen: &Seen,
        counts_records: bool,
    ) -> Result<Option<Identity>, BuildError> {
        let mut found: Vec<(&Candidate, Growth)> = seen
            .found
            .iter()
            .filter_map(|(ord, growth)| Some((candidates.get(*ord)?, *growth)))
            .collect();
        // Candidates with other names last, if they have as many lines.
        let is_own = |candidate: &Candidate| {
            let log = place.log.as_ref();
            log.is_none_or(|log| candidate.id.may_be_of_log(log.log()))
        };
        found.sort_by_key(|(candidate, _)| (candidate.known.num_lines, is_own(candidate)));
        let mut copy_of = None;
        for (candidate, growth) in found.into_iter().rev() {
            let open = open_end_of(candidate.id, candidate.known.num_lines);
            let is_open = growth == Growth::Longer && self.ledger.find(open)?.is_some();
            if growth == Growth::Longer && !is_open {
                continue;
            }
            let here = candidate.here.and_then(|ord| self.here.get(ord));
            let identity = Identity::Source(Known {
                id: candidate.id,
                known: Some(candidate.known),
                is_open,
                counts_records,
                note: None,
            });
            let original = match here {
                Some(here) => Some((here.log.clone(), here.name.clone())),
                None => self.still_elsewhere(place, beginning, candidate)?,
            };
            let Some((log, name)) = original else {
                return Ok(Some(identity));
            };
            let may_be_copy = place
                .log
                .as_ref()
                .is_some_and(|other| other.may_be_copy_of(&log));
            if copy_of.is_none() && may_be_copy {
                let has_more = here.is_some() && seen.num_lines > candidate.known.num_lines;
                copy_of = Some(match has_more {
                    true => identity,
                    false => Identity::Left(format!("it is a copy of `{name}`")),
                });
            }
        }
        Ok(copy_of)
    }

    /// Returns the file beside an input in which a candidate was found first, if it still exists: then the candidate
    /// was not renamed to the input, and these are two files.
    fn still_elsewhere(
        &self,
        place: &Place,
        beginning: &[u8],
        candidate: &Candidate,
    ) -> Result<Option<(LogName, String)>, BuildError> {
        let is_own = |number| candidate.id == place.id(beginning, number);
        let Some(path) = place
            .path
            .as_ref()
            .filter(|_| !(0..MAX_NUMBERS).any(is_own))
        else {
            return Ok(None);
        };
        for other in self.beside(path) {
            let Ok(source) = other.canonicalize().map(Source::file) else {
                continue;
            };
            let found = Place::of(&source);
            let is_it = |number| found.id(beginning, number) == candidate.id;
            if other == *path || !(0..MAX_NUMBERS).any(is_it) {
                continue;
            }
            let one = std::slice::from_ref(candidate);
            let seen = found
                .again
                .as_ref()
                .map(|again| self.look(again, one, false));
            // An unreadable file is reported when it is an input.
            let is_there = seen.is_some_and(|seen| seen.is_ok_and(|seen| !seen.found.is_empty()));
            if let (true, Some(log)) = (is_there, found.log) {
                return Ok(Some((log, found.name)));
            }
        }
        Ok(None)
    }

    /// Returns the files in the folder of a file.
    fn beside(&self, path: &Path) -> Vec<PathBuf> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut folders = self.folders.borrow_mut();
        let files = folders.entry(folder).or_insert_with_key(|folder| {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            let files = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_file()));
            files.map(|file| file.path()).take(MAX_BESIDE).collect()
        });
        files.clone()
    }

    /// Returns why an input waits that only has less than a source of its own log: it may currently be rewritten,
    /// copied or compressed.
    fn less_than_known(
        &self,
        place: &Place,
        beginning: &[u8],
        candidates: &[Candidate],
        seen: &Seen,
    ) -> Result<Option<String>, BuildError> {
        if !place.may_grow {
            return Ok(None);
        }
        for candidate in candidates {
            let here = candidate.here.and_then(|ord| self.here.get(ord));
            let log = place.log.as_ref();
            let is_of_log = match (log, here) {
                (None, _) => true,
                (Some(log), Some(here)) => log.may_be_copy_of(&here.log),
                (Some(log), None) => {
                    let id = candidate.id;
                    id.may_be_of_log(log.log()) || id == place.id_of_old(beginning)
                }
            };
            let has_less = (1..candidate.known.num_lines).contains(&seen.num_lines);
            if !is_of_log || !has_less {
                continue;
            }
            let Some(num_same) = self.num_same(candidate, here, seen)? else {
                continue;
            };
            // With this number of equal lines they belong to one log.
            let is_copy = num_same >= MARKS[MARKS.len() - 1];
            if !self.settings.takes_open() || is_copy {
                return Ok(Some(format!(
                    "it has {} of the {} lines of a source that was ingested before{}",
                    seen.num_lines,
                    candidate.known.num_lines,
                    match self.settings.takes_open() {
                        true => "",
                        false =>
                            ", and waits until there are others; --final takes it as a new one",
                    }
                )));
            }
        }
        Ok(None)
    }

    /// Returns the number of an input's lines that are known to equal those of a candidate with more lines; `None` if
    /// one differs.
    fn num_same(
        &self,
        candidate: &Candidate,
        here: Option<&Here>,
        seen: &Seen,
    ) -> Result<Option<u64>, BuildError> {
        let mut num_same = 0;
        let marks = seen.marks.iter();
        for (num_lines, hash) in marks.filter(|(num, _)| *num <= seen.num_lines) {
            let wanted = match here {
                Some(here) => {
                    let mark = here.marks.iter().find(|(num, _)| num == num_lines);
                    mark.map(|(_, hash)| *hash)
                }
                None => None,
            };
            let wanted = match wanted {
                Some(wanted) => Some(wanted),
                None => {
                    let mark = self.ledger.find(mark_of(candidate.id, *num_lines))?;
                    mark.map(|mark| mark.hash)
                }
            };
            match wanted {
                Some(wanted) if wanted == *hash => num_same = *num_lines,
                Some(_) => return Ok(None),
                None => {}
            }
        }
        Ok(Some(num_same))
    }

    /// Returns whether a version of an object was ingested that had records.
    fn had_records(&self, place: &Place) -> Result<bool, BuildError> {
        let Some(versions) = &place.versions else {
            return Ok(false);
        };
        let known = self.ledger.within(versions)?;
        Ok(known.values().any(|version| version.num_lines > 0))
    }

    /// Returns a new source.
    fn another(
        &self,
        place: &Place,
        beginning: &[u8],
        candidates: &[Candidate],
    ) -> Result<Identity, BuildError> {
        let is_free = |id: &SourceId| candidates.iter().all(|candidate| candidate.id != *id);
        let mut ids = (0..).map(|number| place.id(beginning, number));
        let id = ids.find(is_free);
        let id = id.ok_or_else(|| BuildError::internal("there is no number for a source"))?;
        let was_here = match place.log {
            Some(_) => self.ledger.find(name_of(&place.origin))?.is_some(),
            None => !candidates.is_empty() || self.had_records(place)?,
        };
        let note = was_here.then(|| {
            "its content differs from what was ingested under this name before; it is ingested as a new source"
                .to_owned()
        });
        Ok(Identity::Source(Known {
            id,
            known: None,
            is_open: false,
            counts_records: false,
            note,
        }))
    }
}
