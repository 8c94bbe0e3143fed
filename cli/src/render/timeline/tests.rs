//! Charts of invented searches: as text, compared exactly, and as pictures that must be well-formed.

use std::time::Duration;

use canter_lab::{Attempt, AttemptEnd};
use canter_runtime::fetch::ByteRange;
use canter_runtime::session::ByteClass;
use canter_runtime::{Profile, RequestRecord, Wave};
use quick_xml::XmlVersion;
use quick_xml::events::Event;

use super::super::Screen;
use super::chart::{Chart, What};
use super::{Attempts, svg, timeline};

fn request(object: &str, class: ByteClass, start_us: u64, end_us: u64) -> RequestRecord {
    RequestRecord {
        object: object.to_owned(),
        offset: 0,
        length: 12_345,
        class,
        num_reads: 1,
        num_retries: 0,
        hedged_us: None,
        start_us,
        end_us,
        error: None,
    }
}

fn profile(waves: Vec<Vec<RequestRecord>>) -> Profile {
    Profile {
        waves: waves
            .into_iter()
            .map(|requests| Wave { requests })
            .collect(),
        ..Profile::default()
    }
}

const SPLIT: &str = "splits/0123456789abcdef.split";
const OTHER: &str = "splits/fedcba9876543210.split";

/// Returns a typical search: the manifest, two reads of a leaf, one document; the guest computes in between.
fn usual() -> Profile {
    profile(vec![
        vec![request("manifest.canter", ByteClass::Manifest, 0, 30_000)],
        vec![
            request(SPLIT, ByteClass::Dictionary, 35_000, 60_000),
            request(OTHER, ByteClass::Postings, 35_000, 80_000),
        ],
        vec![request(SPLIT, ByteClass::DocStore, 80_000, 95_000)],
    ])
}

fn attempt(object: &str, [asked, sent, first, end]: [u64; 4], how: AttemptEnd) -> Attempt {
    let ms = Duration::from_millis;
    Attempt {
        object: object.to_owned(),
        range: ByteRange::from(0),
        num_before: 0,
        asked_at: ms(asked),
        sent_at: Some(ms(sent)),
        first_byte_at: (how == AttemptEnd::Whole).then(|| ms(first)),
        ended_at: ms(end),
        num_bytes: 12_345,
        end: how,
    }
}

/// Returns its attempts as recorded by the simulated store, a second after its clock began.
fn seen() -> Attempts {
    let attempts = vec![
        attempt(
            "manifest.canter",
            [1000, 1000, 1024, 1030],
            AttemptEnd::Whole,
        ),
        attempt(SPLIT, [1035, 1040, 1055, 1060], AttemptEnd::Whole),
        attempt(OTHER, [1035, 1035, 0, 1080], AttemptEnd::Dropped),
        attempt(OTHER, [1060, 1060, 1075, 1080], AttemptEnd::Whole),
        attempt(SPLIT, [1080, 1080, 0, 1082], AttemptEnd::Failed),
        attempt(SPLIT, [1086, 1086, 1092, 1095], AttemptEnd::Whole),
    ];
    Attempts::new(attempts, Duration::from_secs(1))
}

fn chart(profile: &Profile, attempts: &Attempts) -> Chart {
    Chart::of_profile(profile, 100_000, attempts)
}

fn check(chart: &Chart, width: usize, has_unicode: bool, expect: &str) {
    let shown = timeline(chart, &Screen::plain(width, has_unicode), "");
    assert_eq!(shown, expect, "\n{shown}");
    let longest = shown.lines().map(console::measure_text_width).max();
    assert!(longest <= Some(width), "{longest:?}");
}

#[test]
fn each_request_is_a_bar_in_the_order_of_time() {
    let chart = chart(&usual(), &Attempts::default());
    let expect = "\
wave    read                   bytes  0 ms  ╷20   ╷40    ╷60   ╷80         took
1 plan  manifest             12.3 KB  █████████·······················  30.0 ms
        cpu                           ·········▒▒·····················  5.00 ms
2 leaf  01234567 dictionary  12.3 KB  ···········████████·············  25.0 ms
        fedcba98 postings    12.3 KB  ···········██████████████·······  45.0 ms
3 docs  01234567 doc store   12.3 KB  ·························█████··  15.0 ms
        cpu                           ······························▒▒  5.00 ms
▒ no request under way
";
    check(&chart, 80, true, expect);
    let expect = "\
wave    object           holds         bytes  0 ms  '10   '20   '30   '40    '50   '60   '70   '80   '90         took
1 plan  manifest.canter  manifest    12.3 KB  ##################............................................  30.0 ms
                         cpu                  ..................%%%.........................................  5.00 ms
2 leaf  split 01234567   dictionary  12.3 KB  .....................################.........................  25.0 ms
        split fedcba98   postings    12.3 KB  .....................############################.............  45.0 ms
3 docs  split 01234567   doc store   12.3 KB  .................................................#########....  15.0 ms
                         cpu                  ..........................................................%%%%  5.00 ms
% no request under way
";
    check(&chart, 123, false, expect);
}

#[test]
fn what_the_simulated_store_saw_is_shown() {
    let mut profile = usual();
    profile.waves[1].requests[1].hedged_us = Some(60_000);
    profile.waves[2].requests[0].num_retries = 1;
    let expect = "\
wave    read                   bytes  0 ms  ╷20   ╷40    ╷60   ╷80         took
1 plan  manifest             12.3 KB  ░░░░░░░██·······················  30.0 ms
        cpu                           ·········▒▒·····················  5.00 ms
2 leaf  01234567 dictionary  12.3 KB  ···········─░░░░░██·············  25.0 ms
        fedcba98 postings    12.3 KB  ···········░░░░░░░░░░░░░█·······  45.0 ms
          first attempt      dropped  ···········░░░░░░░░░░░░░░·······  45.0 ms
          hedge              12.3 KB  ···················░░░░░█·······  20.0 ms
3 docs  01234567 doc store   12.3 KB  ·························░░░░█··  15.0 ms
          first attempt       failed  ·························░······  2.00 ms
          retry 1            12.3 KB  ···························░░█··  9.00 ms
        cpu                           ······························▒▒  5.00 ms
─ queued   ░ until the first byte   █ receiving   ▒ no request under way
";
    check(&chart(&profile, &seen()), 80, true, expect);
}

#[test]
fn a_hedge_is_marked_where_no_more_is_known() {
    let mut profile = usual();
    profile.waves.truncate(1);
    profile.waves[0].requests[0].hedged_us = Some(20_000);
    profile.waves[0].requests[0].error = Some("no answer".to_owned());
    let expect = "\
wave    read       bytes  0 ms  ╷20   ╷40    ╷60   ╷80         took
1 plan  manifest  failed  ██████h██·······················  30.0 ms
        cpu               ·········▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  70.0 ms
▒ no request under way   h hedged
";
    check(&chart(&profile, &Attempts::default()), 80, true, expect);
}

#[test]
fn attempts_belong_to_the_request_that_was_under_way() {
    let profile = usual();
    let chart = chart(&profile, &seen());
    let named: Vec<String> = chart
        .rows
        .iter()
        .map(|row| match &row.what {
            What::Cpu => "cpu".to_owned(),
            What::Request(request) => request.class.as_str().to_owned(),
            What::Attempt(_, attempt) => attempt.kind.name(),
        })
        .collect();
    let expect = "manifest, cpu, dictionary, postings, first attempt, hedge, doc_store, \
                  first attempt, retry 1, cpu";
    assert_eq!(named.join(", "), expect);
}

#[test]
fn no_request_is_no_timeline_and_still_a_picture() {
    let chart = Chart::of_profile(&Profile::default(), 0, &Attempts::default());
    assert_eq!(timeline(&chart, &Screen::plain(80, true), ""), "");
    let drawn = picture(&[chart]);
    assert!(drawn.contains("no request was needed"), "{drawn}");
}

#[test]
fn too_many_requests_are_counted() {
    let many = (0..3_000).map(|ord| request(SPLIT, ByteClass::Postings, ord, ord + 9));
    let chart = chart(&profile(vec![many.collect()]), &Attempts::default());
    let shown = timeline(&chart, &Screen::plain(80, true), "");
    assert!(shown.contains("and 2,920 more requests\n"), "{shown}");
    let drawn = picture(&[chart]);
    assert!(drawn.contains("and 1,000 more requests"));
}

/// Returns the picture of charts, after checking its structure.
fn picture(charts: &[Chart]) -> String {
    let drawn = svg::picture("a <query> & \"more\"", charts).unwrap();
    check_well_formed(&drawn);
    drawn
}

/// Checks that elements nest and are closed, attributes are unique, and nothing external is loaded.
fn check_well_formed(markup: &str) {
    let mut reader = quick_xml::Reader::from_str(markup);
    reader.config_mut().check_end_names = true;
    let mut depth = 0;
    loop {
        let event = reader.read_event().unwrap();
        if let Event::Start(element) | Event::Empty(element) = &event {
            for attribute in element.attributes() {
                let value = attribute
                    .unwrap()
                    .normalized_value(XmlVersion::Implicit1_0)
                    .unwrap();
                let is_namespace = value == "http://www.w3.org/2000/svg";
                assert!(is_namespace || !value.contains("://"), "{value}");
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
}

#[test]
fn a_picture_has_a_bar_for_every_request() {
    let mut profile = usual();
    profile.waves[1].requests[1].hedged_us = Some(60_000);
    let chart = chart(&profile, &seen());
    let drawn = picture(&[chart.clone(), chart]);
    let count = |what: &str| drawn.matches(what).count();
    // A bar each, and a swatch in the legend.
    assert_eq!(count("class=\"dictionary\""), 2 + 1);
    assert_eq!(count("class=\"wave\""), 2 * 3);
    // A query and a name may contain anything.
    assert!(drawn.contains("a &lt;query&gt; &amp; &quot;more&quot;"));
    assert!(drawn.contains("hedge: 60.0 ms to 80.0 ms"), "{drawn}");
    assert!(drawn.contains("Wave 2 (leaf): 2 requests, 35.0 ms to 80.0 ms."));
}

#[test]
fn bars_stay_inside_the_picture() {
    let drawn = picture(&[chart(&usual(), &seen())]);
    let number = |element: &str, name: &str| {
        let from = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        let len = element[from..].find('"').unwrap();
        element[from..from + len].parse::<f64>().unwrap()
    };
    let bars = drawn.split("<rect class=\"").skip(1);
    for bar in bars.filter(|bar| !bar.starts_with("ground")) {
        let end = number(bar, "x") + number(bar, "width");
        assert!((16.0..=808.01).contains(&end), "{bar}");
        assert!(number(bar, "height") > 0.0, "{bar}");
    }
}
