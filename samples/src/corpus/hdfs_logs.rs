//! Logs of a Hadoop file system, in the document shape of the classic log-search benchmark.

use super::super::rng::Rng;
use super::hdfs_bodies::{Event, write_body};
use super::line::LineExt;
use super::rhythm::Rhythm;
use super::stream::Corpus;

/// 2016-04-13T00:00:00Z, the day of the classic benchmark's first document.
const DEFAULT_START: u64 = 1_460_505_600;
const DEFAULT_SPAN_SECS: u64 = 30 * 24 * 3_600;

/// Severity shares, in millionths, outside and inside a burst of errors: 0.2 % of all documents
/// are errors and 3.8 % are warnings.
const ERROR_PPM: u64 = 1_450;
const BURST_ERROR_PPM: u64 = 28_000;
const WARN_PPM: u64 = 38_000;

/// Log lines of a Hadoop cluster:
///
/// ```json
/// {"timestamp":1460530013,"severity_text":"INFO","body":"PacketResponder: BP-…:blk_1074072698_331874, type=HAS_DOWNSTREAM_IN_PIPELINE terminating","resource":{"service":"datanode/01"},"attributes":{"class":"org.apache.hadoop.hdfs.server.datanode.DataNode"},"tenant_id":58}
/// ```
///
/// About 350 bytes a line; INFO ~96 %, WARN ~3.8 %, ERROR ~0.2 % (a part of them in bursts);
/// `tenant_id` 1-100; timestamps in unix seconds over 30 days with a daily rhythm, a few seconds
/// out of order. Each block id occurs in about eight lines.
#[derive(Clone, Debug)]
pub struct HdfsLogs {
    num_docs: u64,
    seed: u64,
    start: u64,
    span_secs: u64,
    rng: Rng,
    rhythm: Rhythm,
    next_doc: u64,
}

impl HdfsLogs {
    /// Creates `num_docs` lines over 30 days from 2016-04-13.
    #[must_use]
    pub fn new(num_docs: u64, seed: u64) -> HdfsLogs {
        HdfsLogs::over(num_docs, seed, DEFAULT_START, DEFAULT_SPAN_SECS)
    }

    /// Sets the time range: `span_secs` from `start` (unix seconds).
    #[must_use]
    pub fn with_time_range(self, start: u64, span_secs: u64) -> HdfsLogs {
        HdfsLogs::over(self.num_docs, self.seed, start, span_secs)
    }

    fn over(num_docs: u64, seed: u64, start: u64, span_secs: u64) -> HdfsLogs {
        HdfsLogs {
            num_docs,
            seed,
            start,
            span_secs,
            rng: Rng::new(seed),
            rhythm: Rhythm::new(start, span_secs, num_docs, seed),
            next_doc: 0,
        }
    }

    /// Delays a time: most lines are a few seconds late, one in two hundred up to a minute.
    fn jittered(&mut self, time: u64) -> u64 {
        let late = if self.rng.chance(1, 200) {
            self.rng.below(61)
        } else {
            self.rng.below(8)
        };
        time.saturating_sub(late)
            .clamp(self.start, self.start + self.span_secs)
    }

    fn event(&mut self, in_burst: bool) -> Event {
        let draw = self.rng.below(1_000_000);
        let error_ppm = if in_burst { BURST_ERROR_PPM } else { ERROR_PPM };
        if draw < error_ppm {
            Event::error(&mut self.rng, self.next_doc)
        } else if draw < error_ppm + WARN_PPM {
            Event::warn(&mut self.rng, self.next_doc)
        } else {
            Event::info(&mut self.rng, self.next_doc)
        }
    }
}

impl Corpus for HdfsLogs {
    fn next_line(&mut self, line: &mut Vec<u8>) -> bool {
        if self.next_doc == self.num_docs {
            return false;
        }
        let (time, in_burst) = self.rhythm.time_of(self.next_doc);
        let timestamp = self.jittered(time);
        let event = self.event(in_burst);
        line.text("{\"timestamp\":").num(timestamp);
        line.text(",\"severity_text\":\"")
            .text(event.severity())
            .text("\",\"body\":\"");
        write_body(line, &event, &mut self.rng);
        line.text("\",\"resource\":{\"service\":\"")
            .text(event.service());
        line.padded(event.service_num(), 2);
        line.text("\"},\"attributes\":{\"class\":\"")
            .text(event.class());
        line.text("\"},\"tenant_id\":")
            .num(self.rng.between(1, 100))
            .text("}\n");
        self.next_doc += 1;
        true
    }
}
