//! Filters of characters in an index config.

/// What a text becomes before it is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CharFilter {
    /// `html_strip`: drops tags, and resolves references to characters.
    HtmlStrip {
        /// Tags that stay.
        escaped_tags: Vec<String>,
    },
    /// `mapping`: replaces parts of texts.
    Mapping {
        /// Rules such as `& => and`.
        mappings: Vec<String>,
    },
    /// `pattern_replace`: replaces the matches of a pattern.
    PatternReplace {
        /// Pattern, in the syntax of the `regex` crate; it may begin with `(?<=…)` of one character and end with `(?=…)`.
        pattern: String,
        /// Replacement, in Java's syntax.
        replacement: String,
    },
}
