//! A layout that does not fit the mapping is an error that names the right one, and any other passes.

use std::io::Cursor;
use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use canter_formats::presets::{PRESETS, preset};
use canter_samples::{LAYOUTS, sample};

use crate::ingest::IngestOptions;
use crate::input::source::{ReadSettings, RecordReader, Source};

/// Reads a source into an index; returns the number of documents or the error.
fn read_into(yaml: &str, bytes: &[u8]) -> Result<u64, String> {
    let config = IndexConfig::from_yaml(yaml, |_| None).unwrap();
    let settings = ReadSettings::new(&IngestOptions::default(), &config).unwrap();
    let source = Source::reader("some.log", Cursor::new(bytes.to_vec()));
    let input = source.open(Arc::default(), &settings).unwrap();
    let mut reader = RecordReader::new(input, 0, &settings).unwrap();
    let mut num_records = 0;
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        num_records += batch.len() as u64;
    }
    Ok(num_records)
}

/// A line of Amazon's classic load balancer:
/// `https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html`.
const CLASSIC_ELB: &str = "2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 \
     0.000057 200 200 0 29 \"GET http://www.example.com:80/ HTTP/1.1\" \"curl/7.38.0\" - -\n";

#[test]
fn every_preset_takes_its_own_layouts_and_says_so_of_those_that_it_would_empty() {
    for format in LAYOUTS {
        let bytes = sample(format, 50, 1).bytes;
        for preset in &PRESETS {
            let read = read_into(preset.yaml, &bytes);
            if preset.formats.contains(&format) {
                assert_eq!(read.as_ref().err(), None, "{} of {format}", preset.name);
            }
            let Err(message) = read else {
                continue;
            };
            let right = PRESETS
                .iter()
                .find(|preset| preset.formats.contains(&format));
            let advice = format!("`--preset {}` fits it", right.unwrap().name);
            assert!(
                message.contains(&advice),
                "{} of {format}: {message}",
                preset.name
            );
            assert!(message.contains("nothing"), "{message}");
        }
    }
}

#[test]
fn a_preset_on_a_foreign_layout_is_an_error_that_names_the_one_that_fits() {
    let elb = CLASSIC_ELB.repeat(8);
    let message = read_into(preset("alb").unwrap().yaml, elb.as_bytes()).unwrap_err();
    for part in [
        "`some.log` is log",
        "nothing but the time, in 8 of the first 8 records",
        "it maps actions_executed",
        "the records have ",
        "message",
        "`--preset log` fits it",
        "canter index suggest --input some.log",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let log = "2024-05-01 10:00:00,123 INFO [main] a.B - x\n".repeat(3);
    for name in ["alb", "access-log"] {
        let message = read_into(preset(name).unwrap().yaml, log.as_bytes()).unwrap_err();
        assert!(message.contains("nothing"), "{name}: {message}");
    }
}

#[test]
fn what_an_index_keeps_or_rejects_is_no_misfit() {
    let lenient = |more: &str| {
        format!(
            "{{version: 0.8, index_id: abc, doc_mapping: {{mode: lenient, {more} field_mappings: [{{name: ts, type: datetime, \
             input_formats: [unix_timestamp], fast: true}}, {{name: a, type: text}}]}}}}"
        )
    };
    let timed = lenient("timestamp_field: ts,");
    for (yaml, text, is_misfit) in [
        (&timed, "{\"ts\":1,\"b\":1}\n{\"ts\":2,\"b\":1}\n", true),
        (
            &timed,
            "{\"ts\":1,\"b\":1}\n{\"ts\":2,\"a\":\"x\"}\n",
            false,
        ),
        // There is nothing else, so nothing is lost.
        (&timed, "{\"ts\":1}\n{\"ts\":2}\n", false),
        // It is rejected without a time, which is reported.
        (&timed, "{\"b\":1}\n{\"b\":2}\n", false),
        (&timed, "not json\nnot json\n", false),
        (&lenient(""), "{\"b\":1}\n{\"b\":2}\n", true),
        (
            &lenient("store_source: true,"),
            "{\"b\":1}\n{\"b\":2}\n",
            false,
        ),
        (
            &timed.replace("lenient", "dynamic"),
            "{\"ts\":1,\"b\":1}\n",
            false,
        ),
        (
            &timed.replace("lenient", "strict"),
            "{\"ts\":1,\"b\":1}\n",
            false,
        ),
    ] {
        let read = read_into(yaml, text.as_bytes());
        assert_eq!(read.is_err(), is_misfit, "{yaml} {text}: {read:?}");
    }
    // Documents of clients must be kept once they are accepted.
    let config = IndexConfig::from_yaml(&timed, |_| None).unwrap();
    let settings = ReadSettings::new(&IngestOptions::default(), &config).unwrap();
    let lines = Source::lines("sent", b"{\"ts\":1,\"b\":1}\n".to_vec());
    let input = lines.open(Arc::default(), &settings).unwrap();
    let mut reader = RecordReader::new(input, 0, &settings).unwrap();
    assert!(reader.next_batch().unwrap().is_some());
}
