//! Names of fields for the keys of a record that has its own.

/// Fields of the record, which no key may have.
const TAKEN: [&str; 15] = [
    "timestamp",
    "hostname",
    "app_name",
    "proc_id",
    "facility",
    "severity",
    "severity_number",
    "level",
    "message",
    "head",
    "head_words",
    "tail",
    "original",
    "stream",
    "attrs",
];

/// Names that a record has used.
#[derive(Default)]
pub(in crate::log_line::known) struct Names(Vec<String>);

impl Names {
    /// Adds a name that no key may have.
    pub(in crate::log_line::known) fn take(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    /// Returns whether a name was used.
    pub(in crate::log_line::known) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|used| used == name)
    }

    /// Returns the name of a key, with a number if it is taken: `msg`, `msg_2`.
    pub(in crate::log_line::known) fn free(&mut self, key: &str) -> String {
        let is_free = |name: &String| !TAKEN.contains(&name.as_str()) && !self.has(name);
        let numbered = (2..).map(|number| format!("{key}_{number}"));
        let mut names = std::iter::once(key.to_owned()).chain(numbered);
        let name = names.find(is_free).unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}
