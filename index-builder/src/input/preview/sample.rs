//! Samples from all parts of several sources, for a config that suits all of them: a file may begin with a test line,
//! and a value may become long, or negative, at the end.
//!
//! ```text
//! sources ─► some of them, the first and the last ─► records evenly spread over each ─► previews
//! ```
//!
//! Sources that can be read only once are sampled too: the bytes read are put back in front of the rest.

use super::excerpt::excerpt;
use super::first_records::{Looker, Preview, PreviewRecord, is_skipped};
use crate::error::BuildError;
use crate::ingest::IngestOptions;
use crate::input::source::{Extent, ReadSettings, RecordReader, Source, take_apart};
use crate::transform::on_large_stack;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_formats::Format;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum number of sources that are sampled.
const MAX_SOURCES: usize = 16;
/// Maximum number of uncompressed bytes that are read in total from sources without random access, and the minimum from
/// each.
const MAX_NUM_BYTES: u64 = 64 << 20;
const MIN_NUM_BYTES: u64 = 4 << 20;
/// Number of stored bytes that are read ahead from a source that can be read only once.
const MAX_HELD_NUM_BYTES: u64 = 4 << 20;
/// Minimum number of records for a useful sample of a source.
const MIN_RECORDS: usize = 50;

/// Samples of sources, and the complete sources.
#[derive(Debug)]
pub struct Sampled {
    /// Samples of the chosen sources, in order.
    pub samples: Vec<Preview>,
    /// All sources.
    pub sources: Vec<Source>,
}

/// Samples about `num_records` records from all parts of `sources`, as an index of `config` would read them. Reads up
/// to 64 MiB of 16 sources, or several places of long files. Writes nothing.
///
/// # Errors
/// As [`preview`](super::preview).
pub fn sample(
    config: &IndexConfig,
    options: &IngestOptions,
    sources: Vec<Source>,
    num_records: usize,
) -> Result<Sampled, BuildError> {
    let look = || sample_here(config, options, sources, num_records);
    match options.transform {
        Some(_) => on_large_stack(look),
        None => look(),
    }
}

fn sample_here(
    config: &IndexConfig,
    options: &IngestOptions,
    mut sources: Vec<Source>,
    num_records: usize,
) -> Result<Sampled, BuildError> {
    let mapper = DocMapper::new(config)
        .map_err(|error| BuildError::invalid("the doc mapping cannot be used").caused_by(error))?;
    let mut looker = Looker::new(&mapper, options);
    let settings = ReadSettings::new(options, config)?.taking_all();
    let twice: Vec<Source> = sources.iter().filter_map(Source::again).collect();
    // Members of archives are inputs like others.
    let twice = take_apart(twice, options.max_expansion)?.sources;
    let mut samples = Vec::new();
    if twice.is_empty() && !sources.is_empty() {
        let (held, source) = sources.remove(0).held(MAX_HELD_NUM_BYTES)?;
        let name = source.name().to_string();
        sources.insert(0, source);
        let is_cut = held.len() as u64 == MAX_HELD_NUM_BYTES;
        let held = Source::reader(name, Cursor::new(held));
        samples.push(spread(
            &mut looker,
            &settings,
            held,
            Bounds {
                num_records,
                num_bytes: MAX_NUM_BYTES,
                is_cut,
            },
        )?);
        return Ok(Sampled { samples, sources });
    }
    let chosen = chosen(twice);
    let num_chosen = chosen.len().max(1);
    let bounds = Bounds {
        num_records: num_records.div_ceil(num_chosen).max(MIN_RECORDS),
        num_bytes: (MAX_NUM_BYTES / num_chosen as u64).max(MIN_NUM_BYTES),
        is_cut: false,
    };
    for source in chosen {
        source.check()?;
        samples.push(sample_of(&mut looker, &settings, source, bounds)?);
    }
    Ok(Sampled { samples, sources })
}

/// Returns some of many sources, including the first and the last.
fn chosen(sources: Vec<Source>) -> Vec<Source> {
    let num = sources.len();
    if num <= MAX_SOURCES {
        return sources;
    }
    let places: Vec<usize> = (0..MAX_SOURCES)
        .map(|nth| nth * (num - 1) / (MAX_SOURCES - 1))
        .collect();
    let sources = sources.into_iter().enumerate();
    sources
        .filter(|(place, _)| places.contains(place))
        .map(|(_, source)| source)
        .collect()
}

fn sample_of(
    looker: &mut Looker<'_>,
    settings: &ReadSettings,
    source: Source,
    bounds: Bounds,
) -> Result<Preview, BuildError> {
    let path = source.path().map(Path::to_path_buf);
    let in_places = path.and_then(|path| excerpt(&path).ok().flatten());
    let Some(excerpt) = in_places else {
        return spread(looker, settings, source, bounds);
    };
    let Some(again) = source.again() else {
        return spread(looker, settings, source, bounds);
    };
    let read = again.reading(excerpt);
    let sample = spread(looker, settings, read, bounds)?;
    // In formats with nested values, places contain only fragments.
    let is_whole =
        sample.format.is_of_lines() || matches!(sample.format, Format::Csv | Format::Tsv);
    match is_whole {
        true => Ok(sample),
        false => spread(looker, settings, source, bounds),
    }
}

/// Limits of a sample of one source.
#[derive(Clone, Copy)]
struct Bounds {
    /// Minimum number of records, if the source has as many.
    num_records: usize,
    /// Number of uncompressed bytes.
    num_bytes: u64,
    /// True if the last record is only a fragment.
    is_cut: bool,
}

/// Samples records that are evenly spread over a source: every `n`-th, where `n` doubles whenever there are too many.
fn spread(
    looker: &mut Looker<'_>,
    settings: &ReadSettings,
    source: Source,
    bounds: Bounds,
) -> Result<Preview, BuildError> {
    let name = source.name().to_string();
    let input = source.open(Arc::new(AtomicU64::new(0)), settings)?;
    let mut reader = RecordReader::new(input, 0, settings)?;
    let mut preview = Preview {
        name,
        format: reader.format(),
        times: reader.times(),
        records: Vec::new(),
    };
    let (mut num, mut step, mut num_bytes) = (0_usize, 1_usize, 0_u64);
    let mut last: Option<PreviewRecord> = None;
    while let Some(batch) = reader.next_batch()? {
        num_bytes += batch.raw_num_bytes;
        let num_whole = batch.len();
        for (place, record) in batch.iter().enumerate() {
            if record.extent == Extent::BrokenOff || is_skipped(&record) {
                continue;
            }
            if num.is_multiple_of(step) {
                if preview.records.len() == bounds.num_records * 2 {
                    let mut nth = 0;
                    preview.records.retain(|_| {
                        nth += 1;
                        nth % 2 == 1
                    });
                    step *= 2;
                }
                if num.is_multiple_of(step) {
                    preview.records.push(looker.look_at(&batch, &record));
                }
            } else if place + 1 == num_whole {
                last = Some(looker.look_at(&batch, &record));
            }
            num += 1;
        }
        if num_bytes >= bounds.num_bytes {
            break;
        }
    }
    let is_whole = num_bytes < bounds.num_bytes && !bounds.is_cut;
    // The very end of a source is what its writer currently writes.
    preview.records.extend(last.filter(|_| is_whole));
    if bounds.is_cut && num > 1 && (num - 1).is_multiple_of(step) {
        preview.records.pop();
    }
    Ok(preview)
}

impl Source {
    /// Returns the first stored bytes of a source, up to a limit, and the source with them put back.
    fn held(self, max_num_bytes: u64) -> Result<(Vec<u8>, Source), BuildError> {
        let failed = |name: &str, error| {
            BuildError::unavailable(format!("cannot read `{name}`")).caused_by(error)
        };
        let name = self.name().to_string();
        let (mut reader, source) = self.into_reader()?;
        let mut held = Vec::new();
        let read = reader.by_ref().take(max_num_bytes).read_to_end(&mut held);
        read.map_err(|error| failed(&name, error))?;
        let rest = Cursor::new(held.clone()).chain(reader);
        Ok((held, source.reading(rest)))
    }
}
