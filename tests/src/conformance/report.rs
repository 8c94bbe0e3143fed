//! What became of each host, and the table.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::hosts::Host;

/// Larger programs are those of the dev profile, and tell nothing about what would be deployed.
const MAX_ARTIFACT_BYTES: u64 = 32 << 20;

/// What became of one host.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// Its stable name.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a host.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The machine lacks something: what, and how to get it.
    Skipped(String),
    /// It did not start, or broke down.
    Failed(String),
    /// It answered.
    Ran(Measured),
}

/// What a host that ran did.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Requests sent, all passes together.
    pub num_sent: usize,
    /// Names of requests that this kind of host cannot be sent.
    pub not_carried: BTreeSet<String>,
    /// One for each answer that was not as it must be.
    pub problems: Vec<String>,
    /// From the start of the program, with empty caches, to the answer to the classic term query.
    pub cold_start: Duration,
    /// Median time of the same query afterwards.
    pub warm_time: Duration,
    /// What the first of these queries asked the store for.
    pub num_cold_requests: usize,
    /// What the last of them asked the store for.
    pub num_warm_requests: usize,
    /// Size of what is deployed, in bytes.
    pub num_bytes: Option<u64>,
    /// The same after gzip -9.
    pub num_gzip_bytes: Option<u64>,
}

impl Measured {
    /// Notes the size of what is deployed, in one file or several.
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

    /// Whether it ran and every answer was as it must be.
    pub fn is_green(&self) -> bool {
        matches!(&self.verdict, Verdict::Ran(measured) if measured.problems.is_empty())
    }

    /// Whether something is wrong, as opposed to lacking.
    pub fn is_red(&self) -> bool {
        !self.is_green() && !matches!(self.verdict, Verdict::Skipped(_))
    }

    /// Lines for a person: what is wrong or lacking, at most `max_problems` of it.
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

/// The table of hosts in Markdown.
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
