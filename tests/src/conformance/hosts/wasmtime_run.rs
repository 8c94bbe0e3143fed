//! Stock `wasmtime run`: one process for each search, given on its command line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use canter_names::read_json;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::wasmtime::{compiled, component, program};
use super::{Caching, Host, Running};
use crate::conformance::{Answer, COMMAND_FAILED, Call, Machine, Site};

/// Search parameters that are flags here, with the types of their values.
const FLAGS: [(&str, &str, Kind); 8] = [
    ("query", "--query", Kind::Text),
    ("aggs", "--aggs", Kind::Object),
    ("max_hits", "--max-hits", Kind::Number),
    ("start_offset", "--start-offset", Kind::Number),
    ("sort_by", "--sort-by", Kind::Text),
    ("search_field", "--search-field", Kind::Text),
    ("start_timestamp", "--start-timestamp", Kind::Number),
    ("end_timestamp", "--end-timestamp", Kind::Number),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Object,
}

/// Host that runs the command.
pub(super) struct WasmtimeRun;

impl Host for WasmtimeRun {
    fn name(&self) -> &'static str {
        "wasmtime-run"
    }

    fn title(&self) -> &'static str {
        "stock `wasmtime run`, a process each"
    }

    fn shares_its_program(&self) -> bool {
        true
    }

    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String> {
        program(machine)?;
        compiled(machine)?;
        Ok(vec![component(machine)?])
    }

    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>> {
        Ok(Box::new(CommandLine {
            program: program(machine).map_err(anyhow::Error::msg)?,
            component: compiled(machine).map_err(anyhow::Error::msg)?,
            folder: match caching {
                Caching::Off => None,
                Caching::On => Some(tempfile::tempdir()?),
            },
            urls: site.urls(),
        }))
    }
}

struct CommandLine {
    program: PathBuf,
    component: PathBuf,
    folder: Option<TempDir>,
    urls: BTreeMap<String, String>,
}

impl CommandLine {
    fn command(&self, url: &str, flags: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["run", "-S", "http", "--allow-precompiled"]);
        if let Some(folder) = &self.folder {
            let mapped = format!("{}::/cache", folder.path().display());
            command.args(["--dir", &mapped]);
        }
        command
            .arg(&self.component)
            .args(["search", "--index", url])
            .args(flags)
            .stdin(Stdio::null());
        command
    }
}

impl Running for CommandLine {
    fn send(&mut self, call: &Call) -> Result<Answer> {
        let (index, flags) = flags_of(call).context("no command line says this")?;
        let url = self.urls.get(&index).context("no such index")?;
        let mut command = self.command(url, &flags);
        let output = command.output().context("cannot run wasmtime")?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut body = output.stdout;
        if body.last() == Some(&b'\n') {
            body.pop();
        }
        // A search in which every split failed prints its answer and fails.
        if !body.is_empty() {
            return Ok(Answer {
                status: 200,
                headers: None,
                body,
            });
        }
        let message = said.lines().find_map(|line| line.strip_prefix("error: "));
        let message = message.with_context(|| format!("{}: {said}", output.status))?;
        Ok(Answer {
            status: COMMAND_FAILED,
            headers: None,
            body: json!({ "message": message }).to_string().into_bytes(),
        })
    }

    fn carries(&self, call: &Call) -> bool {
        flags_of(call).is_some_and(|(index, _)| self.urls.contains_key(&index))
    }
}

/// Returns the index and the flags for a call; `None` if flags cannot express it.
fn flags_of(call: &Call) -> Option<(String, Vec<String>)> {
    let path = call.path.strip_prefix("/api/v1/")?;
    let index = path.strip_suffix("/search")?;
    let values = match (call.method.as_str(), call.body.is_empty()) {
        ("GET", true) => from_parameters(call)?,
        // Duplicate keys could not be expressed.
        ("POST", false) if call.query.is_empty() => match read_json(&call.body).ok()? {
            Value::Object(values) => values,
            _ => return None,
        },
        _ => return None,
    };
    let mut flags = Vec::new();
    for (name, value) in &values {
        let (_, flag, kind) = FLAGS.iter().find(|(known, ..)| known == name)?;
        let value = match (kind, value) {
            // A process argument ends at a NUL.
            (Kind::Text, Value::String(text)) if !text.contains('\0') => text.clone(),
            (Kind::Number, Value::Number(number)) if number.is_u64() => number.to_string(),
            (Kind::Object, Value::Object(_)) => value.to_string(),
            _ => return None,
        };
        flags.push(format!("{flag}={value}"));
    }
    if !values.contains_key("query") {
        flags.push("--query=*".to_owned());
    }
    Some((index.to_owned(), flags))
}

fn from_parameters(call: &Call) -> Option<Map<String, Value>> {
    let mut values = Map::new();
    for (name, text) in call.parameters() {
        let (_, _, kind) = FLAGS.iter().find(|(known, ..)| *known == name)?;
        let value = match kind {
            Kind::Text => Value::String(text),
            Kind::Number | Kind::Object => read_json(text.as_bytes()).ok()?,
        };
        if values.insert(name, value).is_some() {
            return None;
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_become_flags_and_everything_else_is_not_carried() {
        let call = |query: &str| Call {
            query: query.to_owned(),
            ..Call::get("/api/v1/logs/search")
        };
        let flags = |call: &Call| flags_of(call).map(|(_, flags)| flags.join(" "));
        let check = |query: &str, expected: Option<&str>| {
            assert_eq!(flags(&call(query)).as_deref(), expected, "{query}");
        };
        check("query=a+b&max_hits=5", Some("--query=a b --max-hits=5"));
        check("max_hits=5", Some("--max-hits=5 --query=*"));
        check("query=", Some("--query="));
        check("query=*&max_hits=many", None);
        check("query=*&start_offset=-1", None);
        check("query=*&query=*", None);
        check("query=*&format=json", None);
        check("query=*&colour=red", None);
        check("query=a%00b", None);
        let post = |body: &str| Call {
            method: "POST".to_owned(),
            body: body.into(),
            ..Call::get("/api/v1/logs/search")
        };
        assert_eq!(
            flags(&post(r#"{"query": "x", "aggs": {"b": {}, "a": {}}}"#)).as_deref(),
            Some(r#"--query=x --aggs={"b":{},"a":{}}"#)
        );
        assert_eq!(flags(&post(r#"{"query": null}"#)), None);
        assert_eq!(flags(&post("{")), None);
        assert_eq!(flags(&post(r#"{"query": "x", "query": "y"}"#)), None);
        assert_eq!(flags_of(&Call::get("/api/v1/indexes/logs")), None);
    }
}
