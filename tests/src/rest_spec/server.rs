//! A server of one test: `canter serve` over an empty folder.

use std::process::Command;

use anyhow::Result;
use serde_json::{Map, Value};

use super::api::Request;
use crate::conformance::Machine;
use crate::conformance::hosts::Listening;

/// Time that documents wait for others to be published with them.
const COMMIT_INTERVAL: &str = "5ms";

/// Running server.
pub(super) struct Server {
    process: Listening,
}

/// Answer of the server.
pub(super) struct Answer {
    pub(super) status: u64,
    pub(super) text: String,
    /// JSON, or the text.
    pub(super) value: Value,
}

impl Server {
    /// Starts a server with an engine, `native` or `wasm`.
    pub(super) fn start(machine: &Machine, engine: &str) -> Result<Self> {
        let program = machine.built("canter").map_err(anyhow::Error::msg)?;
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(program);
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--writable",
                "--no-cache",
            ])
            .args(["--engine", engine, "--commit-interval", COMMIT_INTERVAL])
            .args(["--auto-create-index", "*", "--no-upkeep", "--indexes-in"])
            .arg(folder.path());
        Ok(Self {
            process: Listening::start(&mut command, folder)?,
        })
    }

    pub(super) fn send(&self, request: &Request, headers: &Map<String, Value>) -> Result<Answer> {
        let json = ("content-type".to_owned(), Value::from("application/json"));
        let names_type = headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case(&json.0));
        let default = (!names_type).then_some((&json.0, &json.1));
        let headers = headers.iter().chain(default);
        let headers = headers.filter_map(|(name, value)| Some((&**name, value.as_str()?)));
        let answer = self.process.send_with(
            (&request.method, &request.target),
            headers,
            request.body.as_deref(),
        )?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let json = serde_json::from_str(&text).ok();
        let value = match &*request.method {
            "HEAD" => Value::from(answer.status == 200),
            _ => json.unwrap_or_else(|| Value::from(&*text)),
        };
        Ok(Answer {
            status: answer.status.into(),
            text,
            value,
        })
    }
}
