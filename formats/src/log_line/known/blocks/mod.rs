//! Layouts of records with marks of their own around them: a line that nothing else begins with, an element, a pair.

mod buildkite;
mod fix;
mod headed;
mod logcat;
mod metrics;
pub(super) mod modsecurity;
mod names;
mod oracle;
mod snort;
#[cfg(test)]
mod tests;
mod xml;

pub(crate) use metrics::are_points;
pub(super) use names::Names;

use self::headed::{git, mbox};
use self::metrics::{influx, prometheus};
use crate::json::Members;
use crate::log_line::time::Reading;

/// A layout of such records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Buildkite's job logs: `ESC _bk;t=1714557607123 BEL text`.
    Buildkite,
    /// FIX messages: `8=FIX.4.4|9=148|35=D|…`.
    Fix,
    /// `git log`: `commit 450b660b5f3c5145df13450e42ac4d681e368abb`, headers, and the text below.
    Git,
    /// InfluxDB's line protocol: `cpu,host=web01 usage=1.5 1714557607000000000`.
    Influx,
    /// Android's `logcat -v long`: `[ 05-01 10:00:07.123  2000: 2138 I/Tag ]`, and the text on lines of its own.
    Logcat,
    /// Mailboxes: `From alice@example.com Wed May  1 10:00:07 2024`.
    Mbox,
    /// Oracle's `log.xml`: `<msg time='…' …>`.
    Oracle,
    /// The text format of Prometheus, and OpenMetrics.
    Prometheus,
    /// Snort's full alerts: `[**] [1:1000004:0] text [**]`.
    Snort,
    /// XML with elements of one name.
    Xml(xml::Name),
}

impl Block {
    const MARKED: [Block; 9] = [
        Block::Buildkite,
        Block::Fix,
        Block::Git,
        Block::Influx,
        Block::Logcat,
        Block::Mbox,
        Block::Oracle,
        Block::Prometheus,
        Block::Snort,
    ];

    /// Returns the layout of lines that are not blank.
    pub(super) fn of(lines: &[&[u8]]) -> Option<Block> {
        let marked = Block::MARKED.into_iter().find(|block| block.has(lines));
        marked.or_else(|| Some(Block::Xml(xml::Name::most(lines)?)))
    }

    fn has(self, lines: &[&[u8]]) -> bool {
        let Some(first) = lines.first() else {
            return false;
        };
        match self {
            Block::Influx => {
                let texts = lines.iter().map(|line| std::str::from_utf8(line));
                influx::are_points(texts.map(Result::unwrap_or_default))
            }
            Block::Prometheus => prometheus::are_metrics(lines),
            _ => self.begins(first),
        }
    }

    /// Returns whether a line begins a record.
    pub(super) fn begins(self, line: &[u8]) -> bool {
        match self {
            Block::Buildkite => buildkite::begins(line),
            Block::Fix => fix::begins(line),
            Block::Git => git::begins(line),
            Block::Logcat => logcat::begins(line),
            Block::Mbox => mbox::begins(line),
            Block::Oracle => oracle::begins(line),
            // Each line is one; those that tell of others are no records.
            Block::Influx | Block::Prometheus => true,
            Block::Snort => snort::begins(line),
            Block::Xml(name) => name.begins(line),
        }
    }

    /// Returns whether a record tells of others, and is no document.
    pub(super) fn is_remark(self, record: &[u8]) -> bool {
        match self {
            Block::Influx | Block::Prometheus => record.starts_with(b"#"),
            Block::Xml(name) => !name.begins(record) && xml::is_around(record),
            _ => false,
        }
    }

    /// Returns the time of a record.
    pub(super) fn reading(self, record: &str) -> Option<Reading> {
        match self {
            Block::Buildkite => buildkite::reading(record),
            Block::Fix => fix::reading(record),
            Block::Git => git::reading(record),
            Block::Influx => influx::reading(record),
            Block::Logcat => logcat::reading(record),
            Block::Mbox => mbox::reading(record),
            Block::Oracle => oracle::reading(record),
            Block::Prometheus => prometheus::reading(record),
            Block::Snort => snort::reading(record),
            // Its times are fields.
            Block::Xml(_) => None,
        }
    }

    /// Adds the fields of a record beside its time, and its message. Returns the text before the message.
    pub(super) fn add<'t>(self, record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
        match self {
            Block::Buildkite => buildkite::add(record, members),
            Block::Fix => fix::add(record, members),
            Block::Git => git::add(record, members),
            Block::Influx => influx::add(record, members),
            Block::Logcat => logcat::add(record, members),
            Block::Mbox => mbox::add(record, members),
            Block::Oracle => oracle::add(record, members),
            Block::Prometheus => prometheus::add(record, members),
            Block::Snort => snort::add(record, members),
            Block::Xml(_) => xml::add(record, members),
        }
    }
}
