//! The spans of a search, as a subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::instrument::WithSubscriber;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use super::*;
use crate::clock::{CpuTime, VirtualClock};
use crate::lab::{FailureRates, LatencyModel, SimulatedStore};

type Fields = BTreeMap<&'static str, String>;

/// A span or an event.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    target: String,
    /// Names of the spans around it, the outermost first.
    path: Vec<&'static str>,
    fields: Fields,
    is_closed: bool,
}

impl Seen {
    fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

/// Subscriber that keeps all spans and events.
#[derive(Clone, Default)]
struct Collector {
    seen: Arc<Mutex<Vec<Seen>>>,
    ords: Arc<Mutex<BTreeMap<u64, usize>>>,
}

struct Visitor<'a>(&'a mut Fields);

impl Visit for Visitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Collector {
    fn change(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let ord = self.ords.lock().unwrap()[&id.into_u64()];
        change(&mut self.seen.lock().unwrap()[ord]);
    }

    /// Returns everything that was recorded under a name.
    fn all(&self, name: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|it| it.name == name).cloned().collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut seen = Seen {
            name: attributes.metadata().name(),
            target: attributes.metadata().target().to_owned(),
            ..Seen::default()
        };
        attributes.record(&mut Visitor(&mut seen.fields));
        let scope = context.span_scope(id).unwrap();
        seen.path = scope.from_root().map(|span| span.name()).collect();
        seen.path.pop();
        let mut all = self.seen.lock().unwrap();
        self.ords.lock().unwrap().insert(id.into_u64(), all.len());
        all.push(seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _context: Context<'_, S>) {
        self.change(id, |seen| values.record(&mut Visitor(&mut seen.fields)));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut seen = Seen {
            name: "event",
            target: event.metadata().target().to_owned(),
            ..Seen::default()
        };
        event.record(&mut Visitor(&mut seen.fields));
        let scope = context.event_scope(event).into_iter();
        seen.path = scope
            .flat_map(|scope| scope.from_root())
            .map(|span| span.name())
            .collect();
        self.seen.lock().unwrap().push(seen);
    }

    fn on_close(&self, id: Id, _context: Context<'_, S>) {
        self.change(&id, |seen| seen.is_closed = true);
    }
}

/// Returns a collector for a test. A search before it makes every span known to `tracing`: a span
/// that another test's thread registers at the moment a subscriber arrives would be missed.
async fn listening() -> Collector {
    search(&searcher(objects()).build().unwrap(), two_waves()).await;
    Collector::default()
}

fn two_waves() -> Value {
    json!([
        [["manifest", 0, null, "manifest"]],
        [["a", 3, 4, "postings"], ["a", 60, 20, "fast_field"]],
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_of_two_waves_is_seen_span_by_span() {
    let collector = listening().await;
    let subscriber = Registry::default().with(collector.clone());
    let searcher = searcher(objects())
        .namespace("https://user:secret@host/logs?X-Amz-Signature=secret")
        .build()
        .unwrap();
    // On another thread than the one that created it, and moved between threads as tokio likes.
    let searching = async move { search(&searcher, two_waves()).await };
    let response = tokio::spawn(searching.with_subscriber(subscriber))
        .await
        .unwrap();

    let [query] = &collector.all("query")[..] else {
        panic!("one query");
    };
    assert_eq!(query.get("index"), "https://host/logs?REDACTED");
    assert_eq!((query.get("kind"), query.get("outcome")), ("search", "ok"));
    assert_eq!(query.get("num_waves"), "2");
    assert_eq!(query.get("num_requests"), "3");
    assert_eq!(
        query.get("num_bytes"),
        response.profile.num_bytes.to_string()
    );
    assert_eq!(query.get("num_cache_misses"), "0");
    assert!(query.get("elapsed_us").parse::<u64>().is_ok());

    let sessions = collector.all("session");
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        (sessions[0].get("kind"), &*sessions[0].path),
        ("http", &["query"][..])
    );
    let steps: Vec<_> = collector
        .all("guest")
        .iter()
        .map(|it| it.get("step").to_owned())
        .collect();
    assert_eq!(steps, ["0", "1", "2"]);

    let waves = collector.all("wave");
    let fields = ["wave_ord", "num_reads", "num_requests", "num_bytes"];
    let of = |wave: &Seen| fields.map(|field| wave.get(field).to_owned());
    assert_eq!(
        waves.iter().map(of).collect::<Vec<_>>(),
        [
            ["0", "1", "1", "12"].map(str::to_owned),
            ["1", "2", "2", "24"].map(str::to_owned),
        ]
    );

    let mut requests = collector.all("request");
    requests.sort_by_key(|it| it.get("offset").parse::<u64>().unwrap());
    let fields = [
        "object",
        "offset",
        "length",
        "class",
        "attempts",
        "num_bytes",
        "outcome",
    ];
    let of = |request: &Seen| fields.map(|field| request.get(field).to_owned());
    assert_eq!(
        requests.iter().map(of).collect::<Vec<_>>(),
        [
            ["manifest", "0", "", "manifest", "1", "12", "ok"].map(str::to_owned),
            ["a", "3", "4", "postings", "1", "4", "ok"].map(str::to_owned),
            ["a", "60", "20", "fast_field", "1", "20", "ok"].map(str::to_owned),
        ]
    );
    for request in requests {
        assert_eq!(request.path, ["query", "session", "wave"]);
        assert_eq!(request.target, "canter::request");
    }
    let seen = collector.seen.lock().unwrap();
    assert!(seen.iter().all(|it| it.is_closed), "{seen:?}");
    assert!(!format!("{seen:?}").contains("secret"));
}

#[tokio::test]
async fn a_search_that_the_cache_answers_has_waves_without_requests() {
    let searcher = searcher(objects())
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .build()
        .unwrap();
    let waves = json!([[["a", 3, 4, "postings"]]]);
    search(&searcher, waves.clone()).await;
    let collector = listening().await;
    let subscriber = Registry::default().with(collector.clone());
    search(&searcher, waves).with_subscriber(subscriber).await;
    assert_eq!(collector.all("query")[0].get("num_cache_hits"), "1");
    assert_eq!(collector.all("wave").len(), 1);
    assert_eq!(collector.all("wave")[0].get("num_requests"), "0");
    assert_eq!(collector.all("request").len(), 0);
}

#[tokio::test]
async fn each_failed_attempt_is_an_event_in_its_request() {
    let clock = VirtualClock::new(CpuTime::Ignored);
    let model = LatencyModel {
        failures: FailureRates {
            slow_down: 1.0,
            ..FailureRates::default()
        },
        ..LatencyModel::s3()
    };
    let store = SimulatedStore::new(Arc::new(objects()), model, Arc::new(clock.clone()));
    let searcher = searcher(store)
        .clock(Arc::new(clock.clone()))
        .build()
        .unwrap();
    let collector = listening().await;
    let subscriber = Registry::default().with(collector.clone());
    let searching = search(&searcher, json!([[["a", 3, 4, "postings"]]]));
    let response = clock.run(searching).with_subscriber(subscriber).await;
    let events: Vec<Seen> = collector.all("event");
    let events: Vec<&Seen> = events
        .iter()
        .filter(|it| it.target == "canter::request")
        .collect();
    assert_eq!(events.len() as u64, response.profile.num_requests);
    for event in events {
        assert_eq!(event.path, ["query", "session", "wave", "request"]);
        assert_eq!(event.get("outcome"), "unavailable");
        assert!(event.get("error").contains("503"), "{event:?}");
    }
    let [request] = &collector.all("request")[..] else {
        panic!("one request");
    };
    assert_eq!(request.get("outcome"), "unavailable");
    let attempts = 1 + response.profile.num_retries + response.profile.num_hedges;
    assert_eq!(request.get("attempts"), attempts.to_string());
}

#[tokio::test]
async fn a_failed_query_shows_the_kind_of_its_error_and_not_the_message() {
    let searcher = searcher(objects()).build().unwrap();
    let collector = listening().await;
    let subscriber = Registry::default().with(collector.clone());
    let request = json!({"waves": [], "fail": "open"});
    let searching = async { searcher.search(&request, &Limits::default()).await };
    let error = searching.with_subscriber(subscriber).await.unwrap_err();
    assert_eq!(error.message, "scripted");
    assert_eq!(collector.all("query")[0].get("outcome"), "invalid");
    assert!(!format!("{:?}", collector.seen.lock().unwrap()).contains("scripted"));
}

#[tokio::test]
async fn only_the_query_is_seen_at_level_info() {
    let searcher = searcher(objects()).build().unwrap();
    let collector = listening().await;
    let level = tracing_subscriber::filter::LevelFilter::from_level(Level::INFO);
    let subscriber = Registry::default().with(collector.clone().with_filter(level));
    search(&searcher, two_waves())
        .with_subscriber(subscriber)
        .await;
    let seen = collector.seen.lock().unwrap();
    let names: Vec<&str> = seen.iter().map(|it| it.name).collect();
    assert_eq!(names, ["query"]);
    // Values that a wave and a request record at their end must not end up in the query.
    assert_eq!(seen[0].get("outcome"), "ok");
    assert_eq!(
        (seen[0].get("num_requests"), seen[0].get("num_bytes")),
        ("3", "36")
    );
}
