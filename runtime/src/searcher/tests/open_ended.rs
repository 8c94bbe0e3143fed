//! Reads to the end of objects that are not manifests.

use super::*;

/// The length of the rest of an object is unknown until it has arrived, so it cannot be divided into
/// parts: it is one request, which no range joins.
#[tokio::test]
async fn the_rest_of_an_object_is_one_request() {
    let digits = "0123456789".repeat(10);
    for has_cache in [false, true] {
        let mut builder = searcher(objects()).max_part_bytes(16);
        if has_cache {
            builder = builder.cache(Arc::new(MemoryCache::new(1 << 20)));
        }
        let searcher = builder.build().unwrap();
        let waves = json!([
            [["a", 90, null, "postings"]],
            [
                ["a", 0, null, "postings"],
                ["a", 0, 5, "postings"],
                ["b", 95, null, "head"]
            ],
            [["a", 7, null, "postings"], ["a", 40, null, "fast_field"]],
        ]);
        let response = search(&searcher, waves).await;
        let arrived = json!([
            [0, &digits[90..]],
            [0, digits],
            [1, "01234"],
            [2, &digits[95..]],
            [0, &digits[7..]],
            [1, &digits[40..]]
        ]);
        assert_eq!(response.json["arrived"], arrived);
        let wave = |ord: usize| {
            let requests = response.json["profile"]["waves"][ord]["requests"].as_array();
            requests.map_or(0, Vec::len)
        };
        if has_cache {
            // The cache widens the range to its blocks.
            continue;
        }
        // Of two reads to the end of one object, the one that begins first brings both.
        assert_eq!([wave(0), wave(1), wave(2)], [1, 3, 1]);
    }
}

/// A read of a range beside it does not end a read of everything.
#[tokio::test]
async fn a_part_is_not_taken_for_the_whole() {
    let searcher = searcher(objects()).build().unwrap();
    let waves = json!([[
        ["manifest", 0, 3, "manifest"],
        ["manifest", 0, null, "manifest"]
    ]]);
    let response = search(&searcher, waves).await;
    let arrived = response.json["arrived"].as_array().unwrap();
    assert!(arrived.contains(&json!([0, "the"])), "{arrived:?}");
    assert!(arrived.contains(&json!([1, "the manifest"])), "{arrived:?}");
}
