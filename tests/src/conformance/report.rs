//! Results of each host, and the table.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::hosts::Host;

/// Maximum size of a program in the table: larger ones are from the dev profile, and differ from
/// deployed ones.
const MAX_ARTIFACT_BYTES: u64 = 32 << 20;

/// Result of one host.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// Stable name of the host.
    pub name: &'static str,
    /// Description of the host.
    pub title: &'static str,
    /// Result of the test.
    pub verdict: Verdict,
}

/// Outcome of a host's test.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The machine lacks a requirement, described with how to get it.
    Skipped(String),
    /// The host did not start, or crashed.
    Failed(String),
    /// The host answered.
    Ran(Measured),
}

/// Measurements of a host.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Number of requests sent, in all passes together.
    pub num_sent: usize,
    /// Names of requests that this kind of host cannot express.
    pub not_carried: BTreeSet<String>,
    /// Descriptions of wrong answers.
    pub problems: Vec<String>,
    /// Time from the start of the program, with empty caches, to the answer to the classic term
    /// query.
    pub cold_start: Duration,
    /// Median time of the same query afterwards.
    pub warm_time: Duration,
    /// Number of store requests of the first of these queries.
    pub num_cold_requests: usize,
    /// Number of store requests of the last of them.
    pub num_warm_requests: usize,
    /// Size of the deployed files in bytes.
    pub num_bytes: Option<u64>,
    /// Size of the deployed files after gzip -9, in bytes.
    pub num_gzip_bytes: Option<u64>,
}

impl Measured {
    /// Records the size of the deployed files.
    pub(super) fn weigh(&mut self, artifacts: &[PathBuf]) -> Result<()> {
        let (mut num_bytes, mut num_gzip_bytes) = (0, 0);
        for path in artifacts {
            let bytes = fs::read(path).with_context(|| path.display().to_string())?;
            num_bytes += bytes.len() as u64;
            if num_bytes > MAX_ARTIFACT_BYTES {
                return Ok(());
            }
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes)?;
            num_gzip_bytes += encoder.finish()?.len() as u64;
        }
        if !artifacts.is_empty() {
            self.num_bytes = Some(num_bytes);
            self.num_gzip_bytes = Some(num_gzip_bytes);
        }
        Ok(())
    }
}

impl HostReport {
    pub(super) fn new(host: &dyn Host, verdict: Verdict) -> Self {
        Self {
            name: host.name(),
            title: host.title(),
            verdict,
        }
    }

    /// Returns whether the host ran and all answers were right.
    pub fn is_green(&self) -> bool {
        matches!(&self.verdict, Verdict::Ran(measured) if measured.problems.is_empty())
    }

    /// Returns whether something is wrong, rather than missing.
    pub fn is_red(&self) -> bool {
        !self.is_green() && !matches!(self.verdict, Verdict::Skipped(_))
    }

    /// Returns lines for people: problems or missing requirements, at most `max_problems`.
    pub fn account(&self, max_problems: usize) -> Vec<String> {
        let name = self.name;
        match &self.verdict {
            Verdict::Skipped(why) => vec![format!("SKIPPED {name}: {why}")],
            Verdict::Failed(why) => vec![format!("FAILED {name}: {why}")],
            Verdict::Ran(measured) => {
                let num_problems = measured.problems.len();
                let problems = measured.problems.iter().take(max_problems);
                let mut lines: Vec<String> = problems
                    .map(|problem| format!("WRONG {name}: {problem}"))
                    .collect();
                if num_problems > max_problems {
                    let more = num_problems - max_problems;
                    lines.push(format!("WRONG {name}: and {more} more"));
                }
                lines
            }
        }
    }

    fn row(&self) -> String {
        let title = self.title;
        let measured = match &self.verdict {
            Verdict::Skipped(_) => return format!("| {title} | not run | | | | | |"),
            Verdict::Failed(_) => return format!("| {title} | **failed** | | | | | |"),
            Verdict::Ran(measured) => measured,
        };
        let num_passed = measured.num_sent - measured.problems.len().min(measured.num_sent);
        let passed = match measured.problems.is_empty() {
            true => format!("{num_passed} of {}", measured.num_sent),
            false => format!("**{num_passed} of {}**", measured.num_sent),
        };
        let size = |num_bytes: Option<u64>| match num_bytes {
            Some(num_bytes) => format!("{:.2} MB", num_bytes as f64 / 1e6),
            None => "–".to_owned(),
        };
        format!(
            "| {title} | {passed} | {:.0} ms | {:.1} ms | {} / {} | {} | {} |",
            measured.cold_start.as_secs_f64() * 1e3,
            measured.warm_time.as_secs_f64() * 1e3,
            measured.num_cold_requests,
            measured.num_warm_requests,
            size(measured.num_bytes),
            size(measured.num_gzip_bytes),
        )
    }
}

/// Returns the table of hosts in Markdown.
pub fn markdown_table(reports: &[HostReport]) -> String {
    let mut lines = vec![
        "| host | answers as they must be | cold start | warm time | store requests, cold / warm | \
         artifact | gzip -9 |"
            .to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(reports.iter().map(HostReport::row));
    lines.join("\n") + "\n"
}
