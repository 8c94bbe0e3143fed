//! Times in command line arguments.

/// Parses seconds since 1970, from a number or a date; a date without a time is its midnight in UTC.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let midnight = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
    text.parse::<jiff::Timestamp>()
        .or_else(|_| midnight())
        .map(jiff::Timestamp::as_second)
        .map_err(|_| {
            "neither seconds since 1970 nor a date such as 2016-04-13T08:00:00Z".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_dates() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(parse_time(text).ok(), expect, "{text}");
        };
        check("0", Some(0));
        check("-5", Some(-5));
        check("1460505600", Some(1_460_505_600));
        check("2016-04-13", Some(1_460_505_600));
        check("2016-04-13T01:00:00Z", Some(1_460_509_200));
        check("2016-04-13T01:00:00+01:00", Some(1_460_505_600));
        check("yesterday", None);
        check("", None);
    }
}
