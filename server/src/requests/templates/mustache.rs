//! Mustache, as far as Elasticsearch documents it for search templates: variables, sections, `toJson`, `join` and `url`.
//!
//! A template is parsed into a tree, and the tree written with the values of parameters. Neither reads anything else.

use serde_json::Value;

/// Maximum depth of sections.
const MAX_DEPTH: usize = 32;

/// Maximum length of what a template writes.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Maximum number of parts that are written, however little they write.
const MAX_STEPS: usize = 1 << 20;

/// Part of a template.
#[derive(Debug)]
enum Node<'t> {
    Text(&'t str),
    /// A value, and whether it is written as a part of a JSON text.
    Value {
        name: &'t str,
        escapes: bool,
    },
    /// Parts that are written for each value, or, inverted, without one.
    Section {
        name: &'t str,
        inverted: bool,
        nodes: Vec<Node<'t>>,
    },
    /// A value as JSON.
    Json(&'t str),
    /// The values of a list with a delimiter between them.
    Joined {
        name: &'t str,
        delimiter: &'t str,
    },
    /// Parts whose text is encoded for URLs.
    Url(Vec<Node<'t>>),
}

/// Writes a template with the values of parameters.
///
/// # Errors
/// The template is invalid, or what it writes is too long.
pub(super) fn render(template: &str, params: &Value) -> Result<String, String> {
    let mut parser = Parser { rest: template };
    let (nodes, _) = parser.nodes(None, 0)?;
    let mut writer = Writer {
        contexts: vec![params],
        steps: 0,
    };
    let mut out = String::new();
    writer.all(&nodes, &mut out)?;
    Ok(out)
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Parses up to the end of a section, or of the template; returns the text that was parsed, too.
    fn nodes(
        &mut self,
        section: Option<&str>,
        depth: usize,
    ) -> Result<(Vec<Node<'t>>, &'t str), String> {
        if depth > MAX_DEPTH {
            return Err(format!("sections nest deeper than {MAX_DEPTH}"));
        }
        let all = self.rest;
        let mut nodes = Vec::new();
        loop {
            let Some((text, rest)) = self.rest.split_once("{{") else {
                if let Some(section) = section {
                    return Err(format!("the section [{section}] has no end"));
                }
                nodes.push(Node::Text(self.rest));
                return Ok((nodes, all));
            };
            if !text.is_empty() {
                nodes.push(Node::Text(text));
            }
            let before = all.len() - rest.len() - "{{".len();
            let (close, rest) = match rest.strip_prefix('{') {
                Some(rest) => ("}}}", rest),
                None => ("}}", rest),
            };
            let Some((tag, rest)) = rest.split_once(close) else {
                return Err("a tag has no end".to_owned());
            };
            self.rest = rest;
            if close == "}}}" {
                nodes.push(Node::Value {
                    name: tag.trim(),
                    escapes: false,
                });
                continue;
            }
            let (sign, name) = match tag.chars().next() {
                Some(sign @ ('#' | '^' | '/' | '!' | '&' | '>' | '=')) => {
                    (sign, tag.get(1..).unwrap_or_default().trim())
                }
                _ => (' ', tag.trim()),
            };
            match sign {
                ' ' => nodes.push(Node::Value {
                    name,
                    escapes: true,
                }),
                '&' => nodes.push(Node::Value {
                    name,
                    escapes: false,
                }),
                '!' => {}
                '/' if section == Some(name) => {
                    return Ok((nodes, all.get(..before).unwrap_or_default()));
                }
                '/' => return Err(format!("the section [{name}] ends where it did not begin")),
                '#' | '^' => nodes.push(self.section(name, sign == '^', depth)?),
                _ => {
                    return Err(format!(
                        "partials and other delimiters are not supported: {{{{{tag}}}}}"
                    ));
                }
            }
        }
    }

    fn section(&mut self, name: &'t str, inverted: bool, depth: usize) -> Result<Node<'t>, String> {
        let (nodes, text) = self.nodes(Some(name), depth + 1)?;
        let delimiter = name.strip_prefix("join").map(str::trim_start);
        let delimiter = delimiter.and_then(|rest| match rest.strip_prefix("delimiter=") {
            Some(quoted) => quoted.strip_prefix('\'')?.strip_suffix('\''),
            None => rest.is_empty().then_some(","),
        });
        Ok(match (name, delimiter) {
            ("toJson", _) => Node::Json(text.trim()),
            ("url", _) => Node::Url(nodes),
            (_, Some(delimiter)) => Node::Joined {
                name: text.trim(),
                delimiter,
            },
            (name, None) => Node::Section {
                name,
                inverted,
                nodes,
            },
        })
    }
}

struct Writer<'p> {
    /// Values that names are looked up in, the innermost last.
    contexts: Vec<&'p Value>,
    steps: usize,
}

impl<'p> Writer<'p> {
    fn find(&self, name: &str) -> Option<&'p Value> {
        if name == "." {
            return self.contexts.last().copied();
        }
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let mut contexts = self.contexts.iter().rev();
        let mut value = contexts.find_map(|context| context.get(first))?;
        for key in rest.split('.').filter(|key| !key.is_empty()) {
            value = match value {
                Value::Array(list) => list.get(key.parse::<usize>().ok()?)?,
                value => value.get(key)?,
            };
        }
        Some(value)
    }

    fn all(&mut self, nodes: &[Node<'_>], out: &mut String) -> Result<(), String> {
        for node in nodes {
            self.steps += 1;
            if out.len() > MAX_OUTPUT_BYTES || self.steps > MAX_STEPS {
                return Err(format!(
                    "the template writes more than {MAX_OUTPUT_BYTES} bytes or {MAX_STEPS} parts"
                ));
            }
            self.one(node, out)?;
        }
        Ok(())
    }

    fn one(&mut self, node: &Node<'_>, out: &mut String) -> Result<(), String> {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Value { name, escapes } => {
                let text = self.find(name).map(text_of).unwrap_or_default();
                match escapes {
                    true => out.push_str(&escaped(&text)),
                    false => out.push_str(&text),
                }
            }
            Node::Json(name) => {
                let value = self.find(name).unwrap_or(&Value::Null);
                out.push_str(&value.to_string());
            }
            Node::Joined { name, delimiter } => {
                let list = self.find(name).and_then(Value::as_array);
                let texts = list.into_iter().flatten().map(text_of);
                let texts: Vec<String> = texts.collect();
                out.push_str(&escaped(&texts.join(delimiter)));
            }
            Node::Url(nodes) => {
                let mut text = String::new();
                self.all(nodes, &mut text)?;
                out.extend(url::form_urlencoded::byte_serialize(text.as_bytes()));
            }
            Node::Section {
                name,
                inverted,
                nodes,
            } => {
                let value = self.find(name).filter(|value| is_there(value));
                match (value, inverted) {
                    (None, true) => self.all(nodes, out)?,
                    (None, false) | (Some(_), true) => {}
                    (Some(Value::Array(list)), false) => {
                        for value in list {
                            self.within(value, nodes, out)?;
                        }
                    }
                    (Some(value), false) => self.within(value, nodes, out)?,
                }
            }
        }
        Ok(())
    }

    fn within(
        &mut self,
        value: &'p Value,
        nodes: &[Node<'_>],
        out: &mut String,
    ) -> Result<(), String> {
        self.contexts.push(value);
        let written = self.all(nodes, out);
        self.contexts.pop();
        written
    }
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns a text as it stands between the quotes of a JSON text.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len().saturating_sub(1));
    inner.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_are_written_as_elasticsearch_documents_it() {
        let params = json!({
            "text": "a \"b\"", "n": 5, "on": true, "off": false, "none": null, "list": ["x", "y"], "empty": [],
            "o": {"list": [{"k": 1}, {"k": 2}], "p": "q"}, "url": "a b/ü",
        });
        for (template, expect) in [
            ("plain", "plain"),
            (
                "{{text}}|{{{text}}}|{{&text}}",
                "a \\\"b\\\"|a \"b\"|a \"b\"",
            ),
            ("{{n}} {{ o.p }} {{list.1}} {{missing}}", "5 q y "),
            (
                "{{#on}}yes{{/on}}{{#off}}no{{/off}}{{^off}}not{{/off}}",
                "yesnot",
            ),
            (
                "{{#none}}a{{/none}}{{^none}}b{{/none}}{{#empty}}c{{/empty}}",
                "b",
            ),
            ("{{#list}}[{{.}}]{{/list}}", "[x][y]"),
            ("{{#o}}{{p}}{{#list}}{{k}}{{p}}{{/list}}{{/o}}", "q1q2q"),
            (
                "{{#toJson}}o{{/toJson}}",
                "{\"list\":[{\"k\":1},{\"k\":2}],\"p\":\"q\"}",
            ),
            ("{{#join}}list{{/join}}", "x,y"),
            (
                "{{#join delimiter='||'}}list{{/join delimiter='||'}}",
                "x||y",
            ),
            ("{{#url}}{{url}}{{/url}}", "a+b%2F%C3%BC"),
            ("{{! nothing }}x", "x"),
            ("{\"a\": { \"b\": {} }}", "{\"a\": { \"b\": {} }}"),
            (
                "{\"size\": \"{{size}}{{^size}}20{{/size}}\"}",
                "{\"size\": \"20\"}",
            ),
        ] {
            assert_eq!(
                render(template, &params).as_deref(),
                Ok(expect),
                "{template}"
            );
        }
        for wrong in [
            "{{#a}}",
            "{{a",
            "{{/a}}",
            "{{#a}}{{/b}}",
            "{{> part}}",
            "{{=<% %>=}}",
        ] {
            assert!(render(wrong, &params).is_err(), "{wrong}");
        }
    }

    #[test]
    fn templates_end() {
        let list: Vec<u32> = (0..2000).collect();
        let params = json!({"list": list});
        let endless = "{{#list}}{{#list}}{{#list}}x{{/list}}{{/list}}{{/list}}";
        assert!(render(endless, &params).is_err());
        assert!(render(&"{{#a}}".repeat(100), &params).is_err());
    }
}
