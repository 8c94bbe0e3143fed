//! Files and objects that change between listing and reading.

use super::*;

#[test]
fn a_file_that_rotation_renamed_after_it_was_listed_stops_no_ingest() {
    let (folder, store) = new_index(&preset("plain"));
    let path = folder.path().join("b.log");
    std::fs::write(&path, "b\n").unwrap();
    let gone = Source::file(folder.path().join("a.log"));
    assert!(gone.for_retry().is_none());
    let gone = gone.found();
    assert!(gone.for_retry().is_some(), "a second attempt omits it, too");
    let found = vec![gone, Source::file(path).found()];
    let report = ingest(&store, &IngestOptions::default(), found, &()).unwrap();
    assert_eq!((report.num_ingested_docs, report.num_gone_inputs), (1, 1));
    let named = vec![Source::file(folder.path().join("a.log"))];
    assert!(ingest(&store, &IngestOptions::default(), named, &()).is_err());
}

#[test]
fn an_object_that_an_earlier_version_marked_as_ingested_is_not_read_again() {
    let (_folder, store) = new_index(&preset("plain"));
    let source = Source::object(Bucket(Arc::default()).put("logs/a", "a\n"));
    let step = SourceStep {
        source: source.old_whole_id().unwrap(),
        from: None,
        to: SourceProgress {
            num_lines: 1,
            num_docs: 1,
            hash: Default::default(),
            at_ms: 0,
        },
        marks_whole: true,
        is_note: false,
    };
    let new = NewDocuments {
        splits: &[],
        sources: &[step],
        changes: None,
    };
    let config = IndexConfig::from_yaml(&preset("plain"), |_| None).unwrap();
    crate::blocking::run(publisher::publish_from(None, &store, Some(&config), &new)).unwrap();
    let report = run(&store, &IngestOptions::default(), source);
    assert_eq!((report.num_known_inputs, report.num_ingested_docs), (1, 0));
}
