//! Outcomes of random requests.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::truth::table::short;

/// Request with a wrong answer, shrunk as far as possible.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Kind of the request and of the difference.
    pub signature: String,
    /// Number of differences of this kind.
    pub num: usize,
    /// Name of the index config.
    pub setup: &'static str,
    /// Shrunk request.
    pub request: Value,
    /// Description of the error in the answer.
    pub problem: String,
    /// Documents with which the answer is wrong.
    pub docs: Vec<Value>,
    /// Number of splits into which the documents are divided.
    pub num_splits: usize,
}

/// Outcomes of requests.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Answered like the scan.
    pub num_right: usize,
    /// Refused requests, keyed by the message without the parts that are specific to a request:
    /// number and one full message.
    pub refused: BTreeMap<String, (usize, String)>,
    /// Differences.
    pub findings: Vec<Finding>,
    /// Requests whose answers differ.
    pub num_wrong: usize,
}

impl Tally {
    /// Returns the number of refused requests.
    pub fn num_refused(&self) -> usize {
        self.refused.values().map(|(num, _)| num).sum()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} of {}", self.num, self.signature)?;
        writeln!(
            f,
            "  index {}, {} splits: {}",
            self.setup,
            self.num_splits,
            short(&self.request)
        )?;
        writeln!(f, "  {}", self.problem)?;
        for doc in &self.docs {
            writeln!(f, "  with {}", short(doc))?;
        }
        Ok(())
    }
}
