//! Log lines of many systems, generated from templates according to their documentation, with their meanings.

use serde_json::{Map, Value, json};

use super::super::rng::Rng;

macro_rules! family {
    ($name:literal, $documented:literal, $template:literal, $levels:expr $(, $field:literal = $value:literal)* $(,)?) => {
        Family {
            name: $name,
            documented: $documented,
            template: $template,
            levels: $levels,
            fields: &[$(($field, $value)),*],
        }
    };
}

mod languages;
mod levels;
mod servers;
mod shapes;
mod systems;

/// Every family.
pub fn families() -> impl Iterator<Item = &'static Family> {
    languages::LANGUAGES
        .iter()
        .chain(systems::SYSTEMS)
        .chain(servers::SERVERS)
        .chain(shapes::SHAPES)
}

/// A family of logs with the same layout.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The system, and the variant of its layout.
    pub name: &'static str,
    /// The layout's documentation.
    pub documented: &'static str,
    /// A record, with placeholders in braces: their letters are those of `strftime` if it has one.
    pub template: &'static str,
    /// Levels in written form and in parsed form.
    pub levels: &'static [(&'static str, &'static str)],
    /// Other fields, each with a template of its value.
    pub fields: &'static [(&'static str, &'static str)],
}

/// A record and its meaning.
#[derive(Clone, Debug)]
pub struct FamilyRecord {
    /// Its lines, without a final line ending.
    pub text: String,
    /// Fields of its document, among others.
    pub fields: Map<String, Value>,
}

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
/// Messages of programs: sentences, some of which look like parts of the head.
const MESSAGES: [&str; 12] = [
    "Starting service on port 8080",
    "connection from 10.0.0.7 closed: reset by peer",
    "Failed to read \"/etc/app.conf\": no such file",
    "user 42 logged in",
    "Block blk_38865049064139660 of size 67108864",
    "GET /index.html 200 in 12 ms",
    "retrying in 5 s (attempt 2 of 3)",
    "cache miss for key=a:b|c [shard 7] at 2021-01-02 03:04:05",
    "Élan vital — done",
    "took 3.25 s, 12 rows - all good",
    "null",
    "shutdown complete",
];

/// 2024-04-27 22:13:20 UTC.
const START: u64 = 1_714_256_000;

impl Family {
    /// Generates records whose times increase over some days, past the end of a month.
    #[must_use]
    pub fn records(&self, num: u64, seed: u64) -> Vec<FamilyRecord> {
        let mut rng = Rng::new(seed);
        let mut seconds = START;
        let mut records = Vec::new();
        for _ in 0..num {
            seconds += rng.modulo(4_000);
            let place = usize::try_from(rng.modulo(self.levels.len() as u64)).unwrap_or(0);
            let (written, level) = self.levels.get(place).copied().unwrap_or(("", ""));
            let values = values(&mut rng, seconds, written);
            let text = filled(self.template, &values);
            let mut fields = Map::new();
            if let Some((name, value)) = time(self.template, &values) {
                fields.insert(name.into(), value);
            }
            if !level.is_empty() {
                fields.insert("level".into(), json!(level));
            }
            fields.insert("message".into(), json!(filled("{msg}", &values)));
            for (name, template) in self.fields {
                fields.insert((*name).into(), json!(filled(template, &values)));
            }
            records.push(FamilyRecord { text, fields });
        }
        records
    }

    /// Returns an example of a record.
    #[must_use]
    pub fn example(&self) -> String {
        let mut records = self.records(1, 5);
        records.pop().map_or_else(String::new, |record| record.text)
    }
}

type Values = Vec<(&'static str, String)>;

/// Returns the values of `{Y}` and so on.
fn values(rng: &mut Rng, seconds: u64, level: &str) -> Values {
    let mut values = times(seconds, rng.modulo(1_000_000_000));
    values.extend(words(rng, level));
    values
}

fn times(seconds: u64, nanos: u64) -> Values {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // 19,840 days: 2024-04-27, a Saturday.
    let past = days - 19_840;
    let (month, day) = match past {
        0..=3 => (4, 27 + past),
        _ => (5, past - 3),
    };
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let weekday = usize::try_from(days % 7)
        .ok()
        .and_then(|day| WEEKDAYS.get(day));
    let weekday = weekday.copied().unwrap_or_default();
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    vec![
        ("Y", "2024".into()),
        ("y", "24".into()),
        ("m", format!("{month:02}")),
        ("d", format!("{day:02}")),
        ("e", format!("{day:>2}")),
        ("-d", day.to_string()),
        ("-m", month.to_string()),
        ("b", (if month == 4 { "Apr" } else { "May" }).into()),
        ("bde", (if month == 4 { "April" } else { "Mai" }).into()),
        ("bfr", (if month == 4 { "avr." } else { "mai" }).into()),
        ("bes", (if month == 4 { "abr" } else { "may" }).into()),
        ("j", format!("{:03}", 118 + past)),
        ("V", (17 + (past + 5) / 7).to_string()),
        ("u", ((past + 5) % 7 + 1).to_string()),
        ("a", weekday.into()),
        ("H", format!("{hour:02}")),
        ("k", format!("{hour:>2}")),
        ("I", twelve.to_string()),
        ("p", if hour < 12 { "AM".into() } else { "PM".into() }),
        ("M", format!("{minute:02}")),
        ("S", format!("{:02}", second % 60)),
        ("ms", format!("{:03}", nanos / 1_000_000)),
        ("us", format!("{:06}", nanos / 1_000)),
        ("ns", format!("{nanos:09}")),
        ("s", seconds.to_string()),
        ("up", format!("{}", seconds - START + 12)),
    ]
}

fn words(rng: &mut Rng, level: &str) -> Values {
    let uuid = format!(
        "{:08x}-6adf-11e6-a5d5-{:012x}",
        rng.modulo(1 << 32),
        rng.modulo(1 << 48)
    );
    vec![
        ("L", level.into()),
        ("L5", format!("{level:<5}")),
        ("L21", format!("{level:<21}")),
        (
            "thread",
            rng.pick(&[
                "main",
                "worker-1",
                "pool-1-thread-2",
                "http-nio-8080-exec-1",
            ])
            .into(),
        ),
        (
            "logger",
            rng.pick(&["c.e.shop.Cart", "o.e.net.Client", "org.example.Main"])
                .into(),
        ),
        (
            "mod",
            rng.pick(&[
                "app.views",
                "django.request",
                "root",
                "celery.worker.strategy",
            ])
            .into(),
        ),
        (
            "short",
            rng.pick(&["storage", "network", "auth", "Server"]).into(),
        ),
        (
            "file",
            rng.pick(&["main.go", "server.go", "reconcile.go"]).into(),
        ),
        ("java", rng.pick(&["Main.java", "Server.java"]).into()),
        ("line", (1 + rng.modulo(900)).to_string()),
        ("pid", (1_000 + rng.modulo(9)).to_string()),
        ("tid", (10_000 + rng.modulo(99)).to_string()),
        ("n", rng.modulo(1_000).to_string()),
        (
            "ip",
            format!("10.0.{}.{}", rng.modulo(256), 1 + rng.modulo(254)),
        ),
        (
            "hex32",
            format!("{:016x}{:016x}", rng.modulo(u64::MAX), rng.modulo(u64::MAX)),
        ),
        ("hex16", format!("{:016x}", rng.modulo(u64::MAX))),
        ("uuid", uuid),
        ("msg", rng.pick(&MESSAGES).into()),
    ]
}

fn filled(template: &str, values: &Values) -> String {
    let mut text = template.to_string();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// Returns the time in a template's placeholders.
fn time(template: &str, values: &Values) -> Option<(&'static str, Value)> {
    let has = |name: &str| template.contains(name);
    if has("{up}") {
        let fraction = if has("{ms}") {
            "{up}.{ms}"
        } else {
            "{up}.{us}"
        };
        let text = filled(fraction, values);
        return Some(("uptime_seconds", serde_json::from_str(&text).ok()?));
    }
    if !has("{M}") && !has("{s}") {
        return None;
    }
    let fraction = [("{ms}", ".{ms}"), ("{us}", ".{us}"), ("{ns}", ".{ns}")]
        .into_iter()
        .find(|(name, _)| has(name))
        .map_or("", |(_, fraction)| fraction);
    let second = if has("{S}") || has("{s}") {
        "{S}"
    } else {
        "00"
    };
    let clock = format!("{{H}}:{{M}}:{second}{fraction}");
    let is_dated = ["{d}", "{e}", "{-d}", "{s}", "{j}", "{u}"]
        .iter()
        .any(|name| has(name));
    if !is_dated {
        return Some(("time_of_day", json!(filled(&clock, values))));
    }
    let zone = match template {
        text if text.contains("+02:00") || text.contains("+0200") => "+02:00",
        text if text.contains(" PST") => "-08:00",
        _ => "Z",
    };
    let text = filled(&format!("{{Y}}-{{m}}-{{d}}T{clock}{zone}"), values);
    Some(("timestamp", json!(text)))
}
