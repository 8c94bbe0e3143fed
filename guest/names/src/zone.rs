//! Names of time zones.

/// Zones by the names that RFC 2822 and `date` write, in minutes east of Greenwich. A name that several zones
/// share (IST, CST in China) is left out, or that of RFC 2822.
const ZONES: [(&str, i16); 24] = [
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MEZ", 60),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("JST", 540),
    ("AEST", 600),
    ("AEDT", 660),
];

/// Returns the minutes east of Greenwich of a zone with this name; `None` for an unknown one.
#[must_use]
pub fn zone_minutes(name: &[u8]) -> Option<i16> {
    let zone = ZONES.iter().find(|(known, _)| known.as_bytes() == name)?;
    Some(zone.1)
}
