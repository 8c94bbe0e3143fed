//! Files as programs write and people pass them on, of kinds that have marks of their own: all records, their times, levels
//! and types, without any setting.

use std::io::Cursor;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, sample, suggest};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
const NUM: usize = 12;
const LEVELS: [&str; 3] = ["INFO", "WARN", "ERROR"];
const WORDS: [&str; NUM] = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    "kilo", "lima",
];

/// What an input has to become.
struct Expected<'e> {
    /// Time of the first and the last document; `None` if the index has no time.
    times: Option<[&'e str; 2]>,
    /// Whether documents have the levels of [`LEVELS`] in turn.
    has_levels: bool,
    /// Fields of the fourth document.
    fields: Value,
}

fn times<'e>(first: &'e str, last: &'e str) -> Expected<'e> {
    Expected {
        times: Some([first, last]),
        has_levels: false,
        fields: json!({}),
    }
}

/// Returns the documents of the input of some records, after the config that is suggested for it.
fn documents(name: &str, bytes: &[u8]) -> (Option<String>, TestIndex, Vec<Value>) {
    let options = IngestOptions {
        // 2024-07-01.
        ingested_at_ms: 1_719_792_000_000,
        ..IngestOptions::default()
    };
    let source = Source::reader("sample", Cursor::new(bytes.to_vec())).with_id("sample");
    let any = IndexConfig::from_yaml(ANY, |_| None).unwrap();
    let sampled = sample(&any, &options, vec![source], 1_000).unwrap();
    let suggestion = suggest(&sampled.samples, "suggested", Some(bytes.len() as u64));
    let yaml = &suggestion.yaml;
    let index = TestIndex::of_sources(yaml, sampled.sources, &options)
        .unwrap_or_else(|error| panic!("{name}: {error}\n{yaml}"));
    let report = &index.report;
    assert_eq!(report.num_rejected_docs, 0, "{name}\n{yaml}");
    assert_eq!(
        report.num_kept_docs, 0,
        "{name}: {:?}\n{yaml}",
        report.kept_by_reason
    );
    assert_eq!(report.num_ingested_docs, NUM as u64, "{name}\n{yaml}");
    let answer = index
        .search(&json!({"query": "*", "max_hits": 100}))
        .unwrap()
        .json;
    let mut docs = answer["hits"].as_array().unwrap().clone();
    let field = suggestion.timestamp_field;
    let time = |doc: &Value| at(doc, field.as_deref().unwrap_or("none")).to_string();
    docs.sort_by_key(time);
    (field, index, docs)
}

fn at<'d>(doc: &'d Value, path: &str) -> &'d Value {
    if let Some(value) = doc.get(path) {
        return value;
    }
    let pointer: String = path.split('.').map(|part| format!("/{part}")).collect();
    doc.pointer(&pointer).unwrap_or(&Value::Null)
}

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &Expected<'_>) {
    let (field, index, docs) = documents(name, bytes);
    assert_eq!(
        field.is_some(),
        expected.times.is_some(),
        "{name}: {field:?}"
    );
    if let (Some(field), Some([first, last])) = (field, expected.times) {
        assert_eq!(at(&docs[0], &field), first, "{name}");
        assert_eq!(at(&docs[NUM - 1], &field), last, "{name}");
    }
    for (doc, level) in docs
        .iter()
        .zip(LEVELS.iter().cycle())
        .filter(|_| expected.has_levels)
    {
        assert_eq!(&doc["level"], level, "{name}: {doc:#}");
    }
    for (path, value) in expected.fields.as_object().unwrap() {
        assert_eq!(at(&docs[3], path), value, "{name}: {:#}", docs[3]);
    }
    // A word without a field finds its record.
    let answer = index
        .search(&json!({"query": "delta", "max_hits": 10}))
        .unwrap()
        .json;
    assert_eq!(answer["num_hits"], 1, "{name}: {answer}");
}

/// Returns the records of numbers, one behind the other.
fn all(record: impl Fn(usize) -> String) -> String {
    (0..NUM).map(record).collect()
}

#[test]
fn records_with_marks_around_them_are_read_whole() {
    let with_levels = |fields: Value| Expected {
        has_levels: true,
        fields,
        ..times("2024-05-01T10:00:07.123Z", "2024-05-01T10:11:07.123Z")
    };
    let letters = ["I", "W", "E"];
    let logcat = all(|n| {
        format!(
            "[ 05-01 10:{n:02}:07.123  {}: 2138 {}/Tag ]\n{} moved\nas told\n\n",
            2000 + n,
            letters[n % 3],
            WORDS[n]
        )
    });
    check(
        "logcat",
        logcat.as_bytes(),
        &with_levels(json!({"process_id": "2003", "message": "delta moved\nas told\n"})),
    );
    let kinds = ["NOTIFICATION", "WARNING", "ERROR"];
    let oracle = all(|n| {
        let (kind, word) = (kinds[n % 3], WORDS[n]);
        format!(
            "<msg time='2024-05-01T12:{n:02}:07.123+02:00' comp_id='rdbms'\n type='{kind}' pid='{n}'>\n <txt>{word}\n </txt>\n</msg>\n"
        )
    });
    check(
        "log.xml",
        oracle.as_bytes(),
        &with_levels(json!({"process_id": "3"})),
    );
    let mongo = all(|n| {
        let letter = letters[n % 3];
        let entry = json!({"t": {"$date": format!("2024-05-01T12:{n:02}:07.123+02:00")}, "s": letter, "c": "NETWORK", "id": 5, "ctx": "a", "msg": WORDS[n]});
        format!("{entry}\n")
    });
    check("mongod", mongo.as_bytes(), &with_levels(json!({"s": "I"})));
    let alerts = all(|n| {
        format!(
            "[**] [1:{n}:0] seen {} [**]\n[Priority: 2] \n05/01-10:{n:02}:07.123000 10.0.0.1 -> 10.0.0.2\nICMP TTL:64\n\n",
            WORDS[n]
        )
    });
    check(
        "snort",
        alerts.as_bytes(),
        &times("2024-05-01T10:00:07.123Z", "2024-05-01T10:11:07.123Z"),
    );
    let mails = all(|n| {
        let word = WORDS[n];
        format!(
            "From a@b.c Wed May  1 10:{n:02}:07 2024\nFrom: A <a@b.c>\nSubject: Meeting {n}\nDate: Wed, 01 May 2024 12:{n:02}:07 +0200\n\nabout {word}\n\nFrom then on.\n\n"
        )
    });
    check(
        "mbox",
        mails.as_bytes(),
        &Expected {
            fields: json!({"subject": "Meeting 3", "from": "A <a@b.c>"}),
            ..times("2024-05-01T10:00:07Z", "2024-05-01T10:11:07Z")
        },
    );
    let metrics = all(|n| {
        format!(
            "up{{job=\"{}\"}} {n} {}000\n",
            WORDS[n],
            1_714_557_607 + 60 * n
        )
    });
    let metrics = format!("# HELP up Whether it is.\n# TYPE up gauge\n{metrics}");
    check(
        "prometheus",
        metrics.as_bytes(),
        &Expected {
            fields: json!({"metric": "up", "job": "delta", "value": 3}),
            ..times("2024-05-01T10:00:07Z", "2024-05-01T10:11:07Z")
        },
    );
}

#[test]
fn json_in_the_wrappers_of_other_programs_is_read() {
    let doc = |n: usize| {
        let time = format!("2024-05-01T10:{n:02}:07Z");
        json!({"time": time, "level": LEVELS[n % 3], "msg": format!("hello {}", WORDS[n])})
    };
    let expected = Expected {
        has_levels: true,
        ..times("2024-05-01T10:00:07Z", "2024-05-01T10:11:07Z")
    };
    check(
        "gelf",
        all(|n| format!("{}\0", doc(n))).as_bytes(),
        &expected,
    );
    check(
        "json-seq",
        all(|n| format!("\u{1e}{}\n", doc(n))).as_bytes(),
        &expected,
    );
    let bulk = all(|n| {
        format!(
            "{}\n{}\n",
            json!({"index": {"_index": "a", "_id": n.to_string()}}),
            doc(n)
        )
    });
    check("bulk", bulk.as_bytes(), &expected);
    let first = doc(0).to_string();
    let others: String = (1..NUM).map(|n| format!("{:#}\n", doc(n))).collect();
    check(
        "one object, then pretty ones",
        format!("{first}\n{others}").as_bytes(),
        &expected,
    );
}

#[test]
fn dates_of_exports_are_times_and_versions_are_none() {
    let rows =
        |names: &str, row: &dyn Fn(usize) -> String| format!("{names}\n{}", all(|n| row(n) + "\n"));
    let days = || times("2024-05-13T00:00:00Z", "2024-05-24T00:00:00Z");
    for (name, format) in [
        (
            "dotted",
            &(|n: usize| format!("{}.05.2024", 13 + n)) as &dyn Fn(usize) -> String,
        ),
        ("dotted, short", &|n| format!("{}.05.24", 13 + n)),
        ("named", &|n| format!("{}-May-2024", 13 + n)),
        ("compact", &|n| format!("202405{}", 13 + n)),
    ] {
        let table = rows("order_date;what;amount", &|n| {
            format!("{};{};{n},5", format(n), WORDS[n])
        });
        check(
            name,
            table.as_bytes(),
            &Expected {
                fields: json!({"amount": 3.5}),
                ..days()
            },
        );
        let quoted = rows("\"order_date\";\"what\";\"amount\"", &|n| {
            format!("\"{}\";\"{}\";\"{n},5\"", format(n), WORDS[n])
        });
        check(
            name,
            quoted.as_bytes(),
            &Expected {
                fields: json!({"amount": 3.5}),
                ..days()
            },
        );
    }
    let json = all(|n| {
        format!(
            "{}\n",
            json!({"order_date": 20_240_513 + n, "what": WORDS[n], "order_id": 20_240_101 + n})
        )
    });
    check(
        "compact numbers",
        json.as_bytes(),
        &Expected {
            fields: json!({"order_id": 20_240_104}),
            ..days()
        },
    );
    let nothing = |fields: Value| Expected {
        times: None,
        has_levels: false,
        fields,
    };
    let versions = rows("version,what,size", &|n| {
        format!("{}.10.24,{},{n}", 10 + n, WORDS[n])
    });
    check("versions", versions.as_bytes(), &nothing(json!({})));
    let releases = rows("tag,what,size", &|n| {
        format!("22.04.{:02},{},{n}", n % 5 + 1, WORDS[n])
    });
    check("releases", releases.as_bytes(), &nothing(json!({})));
    let second = |n: usize| 1_714_557_607 + 60 * n;
    let seconds = || times("2024-05-01T10:00:07.123Z", "2024-05-01T10:11:07.123Z");
    let dotnet = all(|n| {
        format!(
            "{}\n",
            json!({"Created": format!("/Date({}123+0200)/", second(n)), "Title": WORDS[n]})
        )
    });
    check("/Date(ms)/", dotnet.as_bytes(), &seconds());
    let exported = all(|n| {
        let date = json!({"$date": {"$numberLong": format!("{}123", second(n))}});
        format!("{}\n", json!({"created": date, "name": WORDS[n]}))
    });
    check("$date", exported.as_bytes(), &seconds());
}

#[test]
fn text_of_western_europe_and_tables_without_names_are_read() {
    let lines = all(|n| {
        format!(
            "2024-05-01 10:{n:02}:07 {} Gr\u{f6}\u{df}e {} ge\u{e4}ndert\n",
            LEVELS[n % 3],
            WORDS[n]
        )
    });
    let latin: Vec<u8> = lines
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let expected = Expected {
        has_levels: true,
        fields: json!({"message": "Größe delta geändert"}),
        ..times("2024-05-01T10:00:07Z", "2024-05-01T10:11:07Z")
    };
    check("ISO 8859-1", &latin, &expected);
    check("UTF-8", lines.as_bytes(), &expected);
    let calls = all(|n| {
        format!(
            "\"\",\"10{n}\",\"Dial\",\"x\",\"y\",\"z\",\"w\",\"SIP/20{n},30\",\"2024-05-01 10:{n:02}:07\",4{n},\"{}\"\n",
            WORDS[n]
        )
    });
    check(
        "a table without names",
        calls.as_bytes(),
        &Expected {
            fields: json!({"column_8": "SIP/203,30", "column_10": 43}),
            ..times("2024-05-01T10:00:07Z", "2024-05-01T10:11:07Z")
        },
    );
}
