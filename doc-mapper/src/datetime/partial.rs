//! Dates that lack their last parts: a year, a month, a day, an hour.

/// Completes a date that lacks its last parts, as `2024`, `2024-05`, `2024-05-02` and `2024-05-02T10:30`, to its first or last
/// millisecond. Returns `None` for other texts.
pub(crate) fn completed(text: &str, at_start: bool) -> Option<String> {
    const FORM: &str = "0000-00-00T00:00:00";
    const FIRST: &str = "0000-01-01T00:00:00.000";
    const LAST: &str = "0000-12-31T23:59:59.999";
    let (written, zone) = match text.find('T').and_then(|at| {
        let zone = text.get(at..)?.find(['Z', '+', '-'])?;
        text.split_at_checked(at + zone)
    }) {
        Some((written, zone)) => (written, zone),
        None => (text, "Z"),
    };
    let is_part = matches!(written.len(), 4 | 7 | 10 | 13 | 16 | 19);
    let is_in_form = written
        .bytes()
        .zip(FORM.bytes())
        .all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    if !is_part || !is_in_form {
        return None;
    }
    let rest = if at_start { FIRST } else { LAST };
    let mut full = format!("{written}{}", rest.get(written.len()..)?);
    if written.len() == 7 && !at_start {
        // The last day of this month.
        let day = (28..=31).rev().find(|day| {
            let date = format!("{written}-{day}");
            date.parse::<jiff::civil::Date>().is_ok()
        })?;
        full.replace_range(8..10, &day.to_string());
    }
    Some(full + zone)
}
