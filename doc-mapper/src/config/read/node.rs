//! Config as a tree with line numbers, independent of its format, and typed access to it. YAML and
//! JSON share one reader, so that errors have the same words in both.

use crate::config::ConfigError;

pub(crate) type Result<T> = std::result::Result<T, ConfigError>;

/// Value with the line on which it starts (0: unknown).
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) value: NodeValue,
}

/// Value of a node. Numbers keep their text: `version: 0.8` must not become
/// `0.8000000000000000444`.
#[derive(Clone, Debug)]
pub(crate) enum NodeValue {
    Null,
    Bool(bool),
    Number(String),
    Str(String),
    Seq(Vec<Node>),
    Map(Vec<Entry>),
}

/// Key of a map with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) line: u32,
    pub(crate) key: String,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn from_json(value: &serde_json::Value) -> Node {
        use serde_json::Value;
        let value = match value {
            Value::Null => NodeValue::Null,
            Value::Bool(b) => NodeValue::Bool(*b),
            Value::Number(n) => NodeValue::Number(n.to_string()),
            Value::String(s) => NodeValue::Str(s.clone()),
            Value::Array(items) => NodeValue::Seq(items.iter().map(Node::from_json).collect()),
            Value::Object(map) => NodeValue::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        line: 0,
                        key: key.clone(),
                        value: Node::from_json(value),
                    })
                    .collect(),
            ),
        };
        Node { line: 0, value }
    }

    /// Describes the value for an error, such as `the number 3` or `a list`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            NodeValue::Null => "nothing".to_string(),
            NodeValue::Bool(b) => format!("the boolean {b}"),
            NodeValue::Number(text) => format!("the number {text}"),
            NodeValue::Str(text) => format!("the string {text:?}"),
            NodeValue::Seq(_) => "a list".to_string(),
            NodeValue::Map(_) => "a map".to_string(),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, NodeValue::Null)
    }

    /// Returns the line of a key path such as `doc_mapping.field_mappings[2].name`, or that of its
    /// deepest existing part.
    #[cfg_attr(
        not(feature = "yaml"),
        allow(dead_code, reason = "only YAML has lines")
    )]
    pub(crate) fn line_of(&self, key_path: &str) -> u32 {
        let mut node = self;
        let mut line = self.line;
        for segment in key_path.split('.') {
            let (key, indexes) = segment.split_once('[').unwrap_or((segment, ""));
            let NodeValue::Map(entries) = &node.value else {
                return line;
            };
            let Some(entry) = entries.iter().find(|e| e.key == key) else {
                return line;
            };
            line = entry.line;
            node = &entry.value;
            for index in indexes
                .split('[')
                .filter_map(|i| i.strip_suffix(']')?.parse::<usize>().ok())
            {
                let NodeValue::Seq(items) = &node.value else {
                    return line;
                };
                let Some(item) = items.get(index) else {
                    return line;
                };
                line = item.line;
                node = item;
            }
        }
        line
    }
}

/// Map whose keys have been checked against the allowed ones.
pub(crate) struct MapReader<'n> {
    entries: &'n [Entry],
    /// Key path of the map.
    pub(crate) path: String,
    /// Line of the map.
    pub(crate) line: u32,
}

impl<'n> MapReader<'n> {
    /// Checks the keys of a map. `what` is its name in errors, such as `doc_mapping` or `field
    /// mapping "body"`.
    pub(crate) fn new(
        node: &'n Node,
        path: &str,
        what: &str,
        allowed: &[&str],
    ) -> Result<MapReader<'n>> {
        let empty: &[Entry] = &[];
        let entries = match &node.value {
            NodeValue::Map(entries) => entries.as_slice(),
            NodeValue::Null => empty,
            _ => {
                let message = format!("{what} must be a map, got {}", node.describe());
                return Err(ConfigError::at(node.line, path, message));
            }
        };
        for (position, entry) in entries.iter().enumerate() {
            let at = join(path, &entry.key);
            if !allowed.contains(&entry.key.as_str()) {
                let allowed = allowed.join(", ");
                let message = format!("unknown key {:?} in {what}; allowed: {allowed}", entry.key);
                return Err(ConfigError::at(entry.line, at, message));
            }
            if entries
                .iter()
                .take(position)
                .any(|earlier| earlier.key == entry.key)
            {
                let message = format!("key {:?} appears twice in {what}", entry.key);
                return Err(ConfigError::at(entry.line, at, message));
            }
        }
        Ok(MapReader {
            entries,
            path: path.to_string(),
            line: node.line,
        })
    }

    /// Returns the value of a key, unless it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        let entry = self.entries.iter().find(|e| e.key == key)?;
        (!entry.value.is_null()).then_some(&entry.value)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the key path of one of this map's keys.
    pub(crate) fn at(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Creates an error about one of this map's keys.
    pub(crate) fn error(&self, key: &str, message: impl Into<String>) -> ConfigError {
        let entry = self.entries.iter().find(|e| e.key == key);
        ConfigError::at(entry.map_or(self.line, |e| e.line), self.at(key), message)
    }

    fn wrong_type(&self, key: &str, expected: &str, got: &Node) -> ConfigError {
        self.error(
            key,
            format!("{key:?} must be {expected}, got {}", got.describe()),
        )
    }

    pub(crate) fn bool(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(Node {
                value: NodeValue::Bool(b),
                ..
            }) => Ok(*b),
            Some(node) => Err(self.wrong_type(key, "true or false", node)),
        }
    }

    pub(crate) fn str(&self, key: &str) -> Result<Option<String>> {
        match self.get(key) {
            None => Ok(None),
            Some(Node {
                value: NodeValue::Str(s),
                ..
            }) => Ok(Some(s.clone())),
            Some(node) => Err(self.wrong_type(key, "a string", node)),
        }
    }

    pub(crate) fn required_str(&self, key: &str, what: &str) -> Result<String> {
        self.str(key)?.ok_or_else(|| {
            ConfigError::at(
                self.line,
                self.at(key),
                format!("{what} needs the key {key:?}"),
            )
        })
    }

    /// Returns a string, or the text of a number.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>> {
        match self.get(key) {
            Some(Node {
                value: NodeValue::Number(text),
                ..
            }) => Ok(Some(text.clone())),
            _ => self.str(key),
        }
    }

    pub(crate) fn u64(&self, key: &str, default: u64, min: u64, max: u64) -> Result<u64> {
        let Some(node) = self.get(key) else {
            return Ok(default);
        };
        if let NodeValue::Number(text) = &node.value
            && let Some(number) = text.parse::<u64>().ok().filter(|n| (min..=max).contains(n))
        {
            return Ok(number);
        }
        let expected = match max {
            u64::MAX => format!("an integer of at least {min}"),
            _ => format!("an integer from {min} to {max}"),
        };
        Err(self.wrong_type(key, &expected, node))
    }

    /// Returns the value for one of several allowed words.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T> {
        let Some(node) = self.get(key) else {
            return Ok(default);
        };
        if let NodeValue::Str(text) = &node.value
            && let Some((_, value)) = choices.iter().find(|(word, _)| word == text)
        {
            return Ok(*value);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Err(self.wrong_type(key, &format!("one of {}", words.join(", ")), node))
    }

    pub(crate) fn seq(&self, key: &str) -> Result<&'n [Node]> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Node {
                value: NodeValue::Seq(items),
                ..
            }) => Ok(items),
            Some(node) => Err(self.wrong_type(key, "a list", node)),
        }
    }

    pub(crate) fn str_list(&self, key: &str) -> Result<Vec<String>> {
        self.seq(key)?
            .iter()
            .enumerate()
            .map(|(i, item)| match &item.value {
                NodeValue::Str(s) => Ok(s.clone()),
                _ => Err(ConfigError::at(
                    item.line,
                    format!("{}[{i}]", self.at(key)),
                    format!(
                        "{key:?} must be a list of strings, got {} in it",
                        item.describe()
                    ),
                )),
            })
            .collect()
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_string()
    } else {
        format!("{path}.{key}")
    }
}
