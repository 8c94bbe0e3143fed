//! Dialects of answers.

use crate::calendar::DateFormat;

/// Form of an answer, where the two APIs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Dates and numbers in names omit a fraction of zero, and `top_hits` lists its hits directly.
    Quickwit,
    /// Dates always have milliseconds, numbers in names a fraction, and `top_hits` is a complete answer of its own.
    Elasticsearch,
}

impl Dialect {
    /// Returns the default format of dates.
    pub(super) fn dates(self) -> &'static DateFormat {
        match self {
            Self::Quickwit => DateFormat::usual(),
            Self::Elasticsearch => DateFormat::with_milliseconds(),
        }
    }

    /// Returns a number as it is written in the name of a bucket. Elasticsearch's are those of Java's
    /// `Double.toString`: `50.0`, `1.0E10`.
    pub(super) fn number_text(self, number: f64) -> String {
        /// Numbers without an exponent.
        const PLAIN: std::ops::Range<f64> = 1e-3..1e7;
        if self == Self::Quickwit {
            return number.to_string();
        }
        if number == 0.0 || PLAIN.contains(&number.abs()) {
            return format!("{number:?}");
        }
        let text = format!("{number:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    /// Expected texts from Java's documentation of `Double.toString`.
    #[test]
    fn numbers_in_names_are_written_as_in_java() {
        for (number, expect) in [
            (0.0, "0.0"),
            (50.0, "50.0"),
            (-2.5, "-2.5"),
            (0.001, "0.001"),
            (0.0005, "5.0E-4"),
            (1_234_567.0, "1234567.0"),
            (10_000_000.0, "1.0E7"),
            (-1.5e10, "-1.5E10"),
            (1e300, "1.0E300"),
        ] {
            assert_eq!(Dialect::Elasticsearch.number_text(number), expect);
        }
        assert_eq!(Dialect::Quickwit.number_text(50.0), "50");
    }
}
