//! Parser of YAML into nodes, with the line of every key and value, and substitution of
//! `${NAME:-default}`.
//!
//! Of the crates that report positions, `saphyr-parser` (saphyr-rs, maintained, YAML 1.2) gives
//! plain events with spans and has two small dependencies. `saphyr` and `marked-yaml` build trees
//! on such a parser, but lose whether a scalar was quoted, or determine its type by their own
//! rules.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::config::ConfigError;
use crate::config::read::node::{Entry, Node, NodeValue, Result};

/// Maximum number of nodes: enough for any config, and a limit for aliases of aliases.
const MAX_NODES: usize = 100_000;
const MAX_DEPTH: usize = 100;
/// Maximum number of bytes that anchors and aliases repeat: an alias of two bytes stands for any
/// text.
const MAX_COPIED_BYTES: usize = 16 << 20;

/// Replaces `${NAME}` and `${NAME:-default}`, except on comment lines.
pub(in crate::config) fn substitute(
    yaml: &str,
    env: impl Fn(&str) -> Option<String>,
) -> Result<String> {
    let mut out = String::with_capacity(yaml.len());
    for (i, line) in yaml.split_inclusive('\n').enumerate() {
        let mut rest = line;
        if line.trim_start().starts_with('#') {
            out.push_str(line);
            continue;
        }
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            match after
                .split_once('}')
                .and_then(|(inside, tail)| Some((variable(inside)?, tail)))
            {
                Some(((name, default), tail)) => {
                    let value = env(name).or_else(|| default.map(str::to_string)).ok_or_else(|| {
                        let message = format!(
                            "environment variable {name:?} is not set; set it, or write ${{{name}:-default}}"
                        );
                        ConfigError::at(u32::try_from(i + 1).unwrap_or(0), "", message)
                    })?;
                    out.push_str(&value);
                    rest = tail;
                }
                None => {
                    out.push_str("${");
                    rest = after;
                }
            }
        }
        out.push_str(rest);
    }
    Ok(out)
}

/// Splits `NAME:-default` into name and default; returns `None` for other text.
fn variable(inside: &str) -> Option<(&str, Option<&str>)> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name.trim(), Some(default.trim())),
        None => (inside.trim(), None),
    };
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((name, default))
}

pub(in crate::config) fn parse(yaml: &str) -> Result<Node> {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(yaml);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|e| {
            ConfigError::at(
                line_of(e.marker().line()),
                "",
                format!("this is not YAML: {}", e.info()),
            )
        })?;
        builder.event(event, span)?;
    }
    builder
        .root
        .ok_or_else(|| ConfigError::new("", "the index config is empty"))
}

fn line_of(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(0)
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    num_nodes: usize,
    num_copied_bytes: usize,
}

/// List or map whose end has not been reached.
struct Open {
    line: u32,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    Seq(Vec<Node>),
    /// The pending key waits for its value.
    Map(Vec<Entry>, Option<(u32, String)>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<()> {
        let line = line_of(span.start.line());
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let value = match style {
                    ScalarStyle::Plain => plain_scalar(&text),
                    _ => NodeValue::Str(text.into_owned()),
                };
                self.add(Node { line, value }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.push(line, anchor, OpenKind::Seq(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.push(line, anchor, OpenKind::Map(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { line, anchor, kind }) => {
                    let value = match kind {
                        OpenKind::Seq(items) => NodeValue::Seq(items),
                        OpenKind::Map(entries, _) => NodeValue::Map(entries),
                    };
                    self.add(Node { line, value }, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => {
                    self.num_nodes += count(node);
                    self.num_copied_bytes += num_bytes(node);
                    self.check_copied(line)?;
                    let node = self.anchors.get(&anchor).cloned();
                    node.map_or(Ok(()), |node| self.add(node, 0))
                }
                None => Err(ConfigError::at(line, "", "this alias refers to itself")),
            },
            Event::DocumentStart(_) if self.root.is_some() => Err(ConfigError::at(
                line,
                "",
                "a file holds one index config; a second document starts here",
            )),
            _ => Ok(()),
        }
    }

    fn push(&mut self, line: u32, anchor: usize, kind: OpenKind) -> Result<()> {
        if self.open.len() >= MAX_DEPTH {
            return Err(ConfigError::at(
                line,
                "",
                format!("the config nests deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.open.push(Open { line, anchor, kind });
        Ok(())
    }

    /// Returns an error if anchors and aliases repeat too much. Called before anything is copied.
    fn check_copied(&self, line: u32) -> Result<()> {
        let message = if self.num_nodes > MAX_NODES {
            format!("the config has more than {MAX_NODES} values")
        } else if self.num_copied_bytes > MAX_COPIED_BYTES {
            format!("anchors and aliases repeat more than {MAX_COPIED_BYTES} bytes of the config")
        } else {
            return Ok(());
        };
        Err(ConfigError::at(line, "", message))
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<()> {
        self.num_nodes += 1;
        if self.num_nodes > MAX_NODES {
            return Err(ConfigError::at(
                node.line,
                "",
                format!("the config has more than {MAX_NODES} values"),
            ));
        }
        if anchor > 0 {
            self.num_copied_bytes += num_bytes(&node);
            self.check_copied(node.line)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open {
                kind: OpenKind::Seq(items),
                ..
            }) => items.push(node),
            Some(Open {
                kind: OpenKind::Map(entries, pending),
                ..
            }) => match pending.take() {
                Some((line, key)) => entries.push(Entry {
                    line,
                    key,
                    value: node,
                }),
                None => *pending = Some((node.line, key_text(&node)?)),
            },
        }
        Ok(())
    }
}

/// Returns the approximate memory of a node in bytes.
fn num_bytes(node: &Node) -> usize {
    let own = size_of::<Node>();
    own + match &node.value {
        NodeValue::Str(text) | NodeValue::Number(text) => text.len(),
        NodeValue::Seq(items) => items.iter().map(num_bytes).sum(),
        NodeValue::Map(entries) => entries
            .iter()
            .map(|entry| entry.key.len() + num_bytes(&entry.value))
            .sum(),
        _ => 0,
    }
}

fn key_text(node: &Node) -> Result<String> {
    match &node.value {
        NodeValue::Str(text) | NodeValue::Number(text) => Ok(text.clone()),
        NodeValue::Bool(b) => Ok(b.to_string()),
        _ => Err(ConfigError::at(
            node.line,
            "",
            format!("a key must be a string, got {}", node.describe()),
        )),
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        NodeValue::Seq(items) => 1 + items.iter().map(count).sum::<usize>(),
        NodeValue::Map(entries) => 1 + entries.iter().map(|e| count(&e.value)).sum::<usize>(),
        _ => 1,
    }
}

/// Applies YAML 1.2's core schema: a scalar that is neither null, Boolean nor a number is a string.
fn plain_scalar(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        _ => {
            let starts_as_number =
                text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
            let has_digit = text.bytes().any(|b| b.is_ascii_digit());
            if starts_as_number && has_digit && text.parse::<f64>().is_ok() {
                NodeValue::Number(text.to_string())
            } else {
                NodeValue::Str(text.to_string())
            }
        }
    }
}
