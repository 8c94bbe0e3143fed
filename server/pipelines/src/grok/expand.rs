//! Patterns of names, written out as one regular expression.

use fancy_regex::Regex;
use serde_json::{Map, Number, Value};

use super::builtin::builtin_patterns;
use super::regexes::regex_of;
use crate::document::shortest;
use crate::error::Failure;
use crate::limits::{MAX_DEPTH, MAX_PATTERN_BYTES};

/// Expressions, the first of which that matches counts.
#[derive(Debug)]
pub(crate) struct Grok {
    expressions: Vec<Expression>,
}

/// The number of the expression that matched, and fields with their values.
pub(crate) type Captured = (usize, Vec<(String, Value)>);

#[derive(Debug)]
struct Expression {
    regex: Regex,
    /// Names of fields, with their groups and types.
    captures: Vec<(String, String, Type)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Text,
    Int,
    Long,
    Float,
    Double,
    Boolean,
}

/// An expression that is being written out.
struct Writer<'d> {
    own: &'d Map<String, Value>,
    text: String,
    captures: Vec<(String, String, Type)>,
}

impl Grok {
    /// Compiles patterns. `own` are patterns by name beside the built-in ones.
    ///
    /// # Errors
    /// A pattern is unknown, calls itself, or is invalid.
    pub(crate) fn compile(patterns: &[String], own: &Map<String, Value>) -> Result<Self, String> {
        let expressions = patterns.iter().map(|pattern| {
            let mut writer = Writer {
                own,
                text: String::new(),
                captures: Vec::new(),
            };
            writer.write(pattern, 0)?;
            Ok(Expression {
                regex: regex_of(&writer.text)
                    .map_err(|_| format!("Invalid regex pattern found in: [{pattern}]"))?,
                captures: writer.captures,
            })
        });
        Ok(Self {
            expressions: expressions.collect::<Result<_, String>>()?,
        })
    }

    /// Returns the fields of a text and the number of the expression that matches, if one does.
    ///
    /// # Errors
    /// A match takes too many steps, or a value does not have its type.
    pub(crate) fn captured(&self, text: &str) -> Result<Option<Captured>, Failure> {
        for (place, expression) in self.expressions.iter().enumerate() {
            let captures = expression.regex.captures(text).map_err(|error| {
                Failure::new(
                    "runtime_exception",
                    format!("grok pattern matching was interrupted: {error}"),
                )
            })?;
            let Some(captures) = captures else {
                continue;
            };
            let mut found: Vec<(String, Value)> = Vec::new();
            for (name, group, to) in &expression.captures {
                // The first group with this name that took part counts.
                if found.iter().any(|(known, _)| known == name) {
                    continue;
                }
                if let Some(group) = captures.name(group) {
                    found.push((name.clone(), to.of(group.as_str())?));
                }
            }
            return Ok(Some((place, found)));
        }
        Ok(None)
    }
}

impl Type {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "" | "string" => Ok(Self::Text),
            "int" | "integer" => Ok(Self::Int),
            "long" => Ok(Self::Long),
            "float" => Ok(Self::Float),
            "double" => Ok(Self::Double),
            "boolean" => Ok(Self::Boolean),
            other => Err(format!("the type [{other}] of a grok pattern is not known")),
        }
    }

    fn of(self, text: &str) -> Result<Value, Failure> {
        let made: Option<Value> = match self {
            Self::Text => Some(text.into()),
            Self::Int => text.parse::<i32>().ok().map(Value::from),
            Self::Long => text.parse::<i64>().ok().map(Value::from),
            Self::Float => text.parse::<f32>().ok().and_then(shortest).map(Value::from),
            Self::Double => text
                .parse::<f64>()
                .ok()
                .and_then(Number::from_f64)
                .map(Value::from),
            Self::Boolean => Some(text.eq_ignore_ascii_case("true").into()),
        };
        made.ok_or_else(|| {
            Failure::new(
                "number_format_exception",
                format!("For input string: \"{text}\""),
            )
        })
    }
}

impl Writer<'_> {
    /// Writes a pattern out.
    fn write(&mut self, pattern: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH * 2 {
            return Err(format!("circular reference in pattern [{pattern}]"));
        }
        let mut rest = pattern;
        while let Some(at) = rest.find("%{") {
            let (before, behind) = rest.split_at(at);
            self.plain(before)?;
            let Some(end) = behind.find('}') else {
                return Err(format!(
                    "the pattern [{pattern}] has a name that does not end"
                ));
            };
            let inner = behind.get(2..end).unwrap_or_default();
            self.reference(inner, depth)?;
            rest = behind.get(end + 1..).unwrap_or_default();
        }
        self.plain(rest)?;
        match self.text.len() > MAX_PATTERN_BYTES {
            true => Err(format!(
                "a pattern has more than {MAX_PATTERN_BYTES} bytes when it is written out, which is the limit"
            )),
            false => Ok(()),
        }
    }

    /// Writes what stands in braces: a name, a field and a type.
    fn reference(&mut self, inner: &str, depth: usize) -> Result<(), String> {
        let mut parts = inner.splitn(3, ':');
        let name = parts.next().unwrap_or_default();
        let field = parts.next().unwrap_or_default();
        let to = Type::named(parts.next().unwrap_or_default())?;
        if name.contains('=') || field.contains('=') {
            return Err(format!(
                "[%{{{inner}}}] defines a pattern, which is not supported here: use pattern_definitions"
            ));
        }
        let own = self.own.get(name).and_then(Value::as_str);
        let Some(pattern) = own.or_else(|| builtin_patterns().get(name).copied()) else {
            return Err(format!(
                "Unable to find pattern [{name}] in Grok's pattern dictionary"
            ));
        };
        let pattern = pattern.to_owned();
        match field {
            "" => self.text.push_str("(?:"),
            field => {
                let group = self.group(field, to);
                self.text.push_str(&format!("(?<{group}>"));
            }
        }
        self.write(&pattern, depth + 1)?;
        self.text.push(')');
        Ok(())
    }

    /// Returns the name of a new group for a field: names of fields may have characters that those of groups may not.
    fn group(&mut self, field: &str, to: Type) -> String {
        let group = format!("g{}", self.captures.len());
        self.captures.push((field.to_owned(), group.clone(), to));
        group
    }

    /// Writes an expression without references, of which named groups are fields.
    fn plain(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text;
        while let Some(at) = rest.find("(?<") {
            let (before, behind) = rest.split_at(at);
            self.text.push_str(before);
            let inner = behind.get(3..).unwrap_or_default();
            let is_escaped = before
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'\\')
                .count()
                % 2
                == 1;
            if is_escaped || inner.starts_with(['=', '!']) {
                self.text.push_str("(?<");
                rest = inner;
                continue;
            }
            let Some(end) = inner.find('>') else {
                return Err(format!("a group of [{text}] has a name that does not end"));
            };
            let (name, to) = {
                let name = inner.get(..end).unwrap_or_default();
                match name.split_once(':') {
                    Some((name, to)) => (name, Type::named(to)?),
                    None => (name, Type::Text),
                }
            };
            let group = self.group(name, to);
            self.text.push_str(&format!("(?<{group}>"));
            rest = inner.get(end + 1..).unwrap_or_default();
        }
        self.text.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_pattern_compiles() {
        for name in builtin_patterns().keys() {
            let compiled = Grok::compile(&[format!("%{{{name}}}")], &Map::new());
            assert!(compiled.is_ok(), "{name}: {compiled:?}");
        }
        assert!(builtin_patterns().len() > 80);
    }

    #[test]
    fn patterns_that_cannot_be_are_refused() {
        let own: Map<String, Value> =
            serde_json::from_str(r#"{"A": "%{B}", "B": "x%{A}"}"#).unwrap();
        for (pattern, why) in [
            ("%{NOSUCH}", "Unable to find pattern [NOSUCH]"),
            ("%{A}", "circular"),
            ("%{WORD:a:decimal}", "decimal"),
            ("%{WORD", "does not end"),
            ("(", "Invalid regex"),
        ] {
            let error = Grok::compile(&[pattern.to_owned()], &own).unwrap_err();
            assert!(error.contains(why), "{pattern}: {error}");
        }
    }

    #[test]
    fn a_match_that_takes_too_long_is_a_failure() {
        let grok = Grok::compile(&["^(?<a>(x+)+(?=y))y\\1$".to_owned()], &Map::new()).unwrap();
        assert!(grok.captured(&"x".repeat(40)).is_err());
    }
}
