//! Queries for places, compared with a scan that computes in other ways: vectors for distances, winding numbers for
//! polygons.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::CoalesceOptions;
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

use super::calls::{call, named};

fn config(options: &str) -> String {
    format!(
        "
version: 0.9
index_id: places
doc_mapping:
  timestamp_field: t
  field_mappings:
    - {{name: t, type: datetime, fast: true, input_formats: [unix_timestamp]}}
    - {{name: n, type: u64, fast: true}}
    - {{name: at, type: array<geo_point>{options}}}
"
    )
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A latitude and a longitude: in towns mostly, at the poles and the date line sometimes.
    fn place(&mut self) -> (f64, f64) {
        let rounded = |degrees: f64| (degrees * 1e5).round() / 1e5;
        let (lat, lon) = match self.below(10) {
            0 => (self.between(-90.0, 90.0), self.between(-180.0, 180.0)),
            1 => {
                let lat = match self.below(4) {
                    0 => 90.0,
                    1 => -90.0,
                    2 => self.between(89.9, 90.0),
                    _ => self.between(-90.0, -89.0),
                };
                (lat, self.between(-180.0, 180.0))
            }
            2 => {
                let lon = match self.below(4) {
                    0 => 180.0,
                    1 => -180.0,
                    2 => self.between(179.0, 180.0),
                    _ => self.between(-180.0, -179.0),
                };
                (self.between(-60.0, 60.0), lon)
            }
            _ => {
                let mut town = Dice(self.below(60));
                let (lat, lon) = (town.between(-55.0, 70.0), town.between(-175.0, 175.0));
                (lat + self.between(-2.0, 2.0), lon + self.between(-2.0, 2.0))
            }
        };
        (rounded(lat), rounded(lon))
    }
}

type Places = Vec<(f64, f64)>;

fn documents(seed: u64, num_docs: u64) -> (Vec<Places>, Vec<String>) {
    let mut dice = Dice(seed);
    let places: Vec<Places> = (0..num_docs)
        .map(|_| {
            let num_places = [1, 1, 1, 1, 1, 1, 0, 2, 3][dice.below(9) as usize];
            (0..num_places).map(|_| dice.place()).collect()
        })
        .collect();
    let lines = places.iter().enumerate().map(|(n, places)| {
        let written: Vec<Value> = places
            .iter()
            .map(|(lat, lon)| match dice.below(5) {
                0 => json!({"lat": lat, "lon": lon}),
                1 => json!(format!("{lat},{lon}")),
                2 => json!(format!("POINT ({lon} {lat})")),
                3 => json!({"type": "Point", "coordinates": [lon, lat]}),
                _ => json!([lon, lat]),
            })
            .collect();
        let at = match written.as_slice() {
            [] if n % 2 == 0 => Value::Null,
            [only] if n % 3 > 0 => only.clone(),
            list => Value::from(list),
        };
        json!({"t": 1_700_000_000 + dice.below(1_000_000), "n": n, "at": at}).to_string()
    });
    let lines = lines.collect();
    (places, lines)
}

/// Region that is asked for, as a scan sees it.
enum Asked {
    Box([f64; 4]),
    Circle((f64, f64), f64),
    Polygon(Places),
}

/// What a scan says of a point; nothing where rounding decides.
fn scanned(asked: &Asked, (lat, lon): (f64, f64)) -> Option<bool> {
    let is_close = |one: f64, other: f64| (one - other).abs() < 1e-7;
    match asked {
        Asked::Box([top, left, bottom, right]) => {
            if [*top, *bottom].iter().any(|side| is_close(*side, lat))
                || [*left, *right].iter().any(|side| is_close(*side, lon))
            {
                return None;
            }
            let is_lon = match left <= right {
                true => *left <= lon && lon <= *right,
                false => lon >= *left || lon <= *right,
            };
            Some(*bottom <= lat && lat <= *top && is_lon)
        }
        Asked::Circle(center, radius) => {
            let distance = distance(*center, (lat, lon));
            ((distance - radius).abs() > 0.1).then_some(distance <= *radius)
        }
        Asked::Polygon(corners) => {
            let mut winding = 0;
            for (nth, (lat_0, lon_0)) in corners.iter().enumerate() {
                let (lat_1, lon_1) = corners[(nth + 1) % corners.len()];
                let side = (lon_1 - lon_0) * (lat - lat_0) - (lon - lon_0) * (lat_1 - lat_0);
                if side.abs() < 1e-5 {
                    return None;
                }
                match (*lat_0 <= lat, lat_1 <= lat) {
                    (true, false) if side < 0.0 => winding += 1,
                    (false, true) if side > 0.0 => winding -= 1,
                    _ => {}
                }
            }
            Some(winding != 0)
        }
    }
}

fn drawn(dice: &mut Dice) -> (Asked, Value) {
    let (lat, lon) = dice.place();
    let size = 10_f64.powf(dice.between(-1.5, 2.2));
    match dice.below(3) {
        0 => {
            let (top, bottom) = ((lat + size).min(90.0), (lat - size).max(-90.0));
            let wrapped = |lon: f64| match lon {
                lon if lon > 180.0 => lon - 360.0,
                lon if lon < -180.0 => lon + 360.0,
                lon => lon,
            };
            let (left, right) = (wrapped(lon - size), wrapped(lon + size));
            let corners = match dice.below(5) {
                0 => json!({"top_left": [left, top], "bottom_right": [right, bottom]}),
                1 => {
                    json!({"top_right": format!("{top},{right}"), "bottom_left": {"lat": bottom, "lon": left}})
                }
                2 => json!({"wkt": format!("BBOX ({left}, {right}, {top}, {bottom})")}),
                3 => json!({"top": top, "left": left, "bottom": bottom, "right": right}),
                _ => {
                    json!({"top_left": {"lat": top, "lon": left}, "bottom_right": [right, bottom]})
                }
            };
            let query = json!({"geo_bounding_box": {"at": corners}});
            (Asked::Box([top, left, bottom, right]), query)
        }
        1 => {
            let radius = size * 111_000.0;
            let distance = match dice.below(3) {
                0 => json!(format!("{}km", radius / 1_000.0)),
                1 => json!(radius),
                _ => json!(format!("{radius} m")),
            };
            let query = json!({"geo_distance": {"distance": distance, "at": [lon, lat]}});
            (Asked::Circle((lat, lon), radius), query)
        }
        _ => {
            // A star around a point: simple, with dents.
            let num_corners = 3 + dice.below(9);
            let corners: Places = (0..num_corners)
                .map(|nth| {
                    let angle = (nth as f64 + dice.between(0.1, 0.9)) / num_corners as f64;
                    let (sine, cosine) = (angle * std::f64::consts::TAU).sin_cos();
                    let far = size.min(20.0) * dice.between(0.2, 1.0);
                    let (lat, lon) = (lat + far * sine, lon + far * cosine);
                    (lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0))
                })
                .collect();
            let points: Vec<Value> = corners.iter().map(|(lat, lon)| json!([lon, lat])).collect();
            let query = json!({"geo_polygon": {"at": {"points": points}}});
            (Asked::Polygon(corners), query)
        }
    }
}

fn found(index: &TestIndex, query: &Value, seed: u64) -> BTreeSet<usize> {
    let searcher = index
        .searcher(Arc::new(NativeEngine::new()), seed, 1)
        .unwrap();
    let request = json!({"query": query, "max_hits": 5_000, "profile": true});
    let answer = run(&searcher, &request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]), "{query}");
    assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["n"].as_u64().unwrap() as usize)
        .collect()
}

/// Compares an index with a scan of its documents, of which `is_live` says which are left.
fn check(index: &TestIndex, places: &[Places], seed: u64, is_live: impl Fn(usize) -> bool) {
    let mut dice = Dice(seed);
    let mut num_found = 0;
    for nth in 0..40 {
        let (asked, query) = drawn(&mut dice);
        let is_negated = nth % 8 == 0;
        let sent = match is_negated {
            true => json!({"bool": {"must_not": [query]}}),
            false => query,
        };
        let found = found(index, &sent, nth);
        for (n, places) in places.iter().enumerate().filter(|(n, _)| is_live(*n)) {
            let says: Vec<Option<bool>> =
                places.iter().map(|place| scanned(&asked, *place)).collect();
            let is_in = match says.contains(&Some(true)) {
                true => true,
                false if says.contains(&None) => continue,
                false => false,
            };
            assert_eq!(
                found.contains(&n),
                is_in != is_negated,
                "{sent} {n} {places:?}"
            );
        }
        assert!(found.iter().all(|n| is_live(*n)), "{sent}");
        num_found += found.len();
    }
    assert!(num_found > places.len(), "{num_found}");
    let existing = found(index, &json!({"exists": {"field": "at"}}), 0);
    let expected = places.iter().enumerate();
    let expected = expected.filter(|(n, places)| is_live(*n) && !places.is_empty());
    assert_eq!(existing, expected.map(|(n, _)| n).collect());
}

#[test]
fn boxes_circles_and_polygons_find_what_a_scan_finds() {
    let (places, lines) = documents(1, 3_000);
    for (nth, options) in ["", ", indexed: false", ", fast: false", ", stored: false"]
        .into_iter()
        .enumerate()
    {
        let mut config = config(options);
        if options.contains("fast: false") {
            config.push_str("  index_field_presence: true\n");
        }
        let index = TestIndex::build(&config, &lines, 800).unwrap();
        check(&index, &places, 100 + nth as u64, |_| true);
    }
}

#[test]
fn merges_and_deletions_change_no_place() {
    let (places, lines) = documents(2, 2_000);
    let config = config("");
    let index = TestIndex::build(&config, &lines, 300).unwrap();
    let request = json!({"query": {"range": {"n": {"gte": 500, "lt": 900}}}});
    let (left, report) = index.delete(&request).unwrap();
    assert_eq!(report.num_deleted_docs, 400);
    let is_live = |n: usize| !(500..900).contains(&n);
    check(&left, &places, 7, is_live);
    let entries = index.entries().unwrap();
    let merged = index.merge(&config, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(&config, &[merged], &index).unwrap();
    check(&merged, &places, 8, |_| true);
}

#[test]
fn hits_show_a_point_as_it_was_written() {
    let lines = [
        r#"{"t":1700000001,"n":0,"at":{"lat":41.12,"lon":-71.34}}"#,
        r#"{"t":1700000002,"n":1,"at":["drm3btev3e86", [1e0, 2]]}"#,
        r#"{"t":1700000003,"n":2,"at":null}"#,
    ]
    .map(str::to_owned);
    let index = TestIndex::build(&config(""), &lines, 10).unwrap();
    let request = json!({"query": "*", "max_hits": 5, "sort_by": "-n"});
    let answer = index.search(&request).unwrap().json;
    assert_eq!(
        answer["hits"][0]["at"],
        json!({"lat": 41.12, "lon": -71.34})
    );
    assert_eq!(answer["hits"][1]["at"], json!(["drm3btev3e86", [1.0, 2]]));
    assert_eq!(answer["hits"][2].get("at"), None);
}

#[test]
fn what_is_no_point_is_refused_or_ignored() {
    let lines = [
        r#"{"t":1700000001,"n":0,"at":{"lat":91,"lon":0}}"#,
        r#"{"t":1700000002,"n":1,"at":"1,2"}"#,
        r#"{"t":1700000002,"n":2,"at":[[1,2],"a,b"]}"#,
        r#"{"t":1700000002,"n":3,"at":null}"#,
    ]
    .map(str::to_owned);
    let strict = TestIndex::build(&config(""), &lines, 10).unwrap();
    assert_eq!(
        (
            strict.report.num_ingested_docs,
            strict.report.num_rejected_docs
        ),
        (2, 2)
    );
    let lenient = config(", ignore_malformed: true, null_value: \"5,6\"");
    let lenient = TestIndex::build(&lenient, &lines, 10).unwrap();
    assert_eq!(lenient.report.num_ingested_docs, 4);
    let circle =
        |lat: i32, lon: i32| json!({"geo_distance": {"distance": "1km", "at": [lon, lat]}});
    assert_eq!(found(&lenient, &circle(1, 2), 0), BTreeSet::from([1]));
    assert_eq!(found(&lenient, &circle(5, 6), 0), BTreeSet::from([3]));
    let request = json!({"query": {"range": {"n": {"lte": 0}}}, "max_hits": 1});
    let answer = lenient.search(&request).unwrap().json;
    assert_eq!(answer["hits"][0]["at"], json!({"lat": 91, "lon": 0}));
}

#[test]
fn a_query_that_a_field_cannot_answer_is_refused() {
    let (_, lines) = documents(3, 10);
    let index = TestIndex::build(&config(""), &lines, 10).unwrap();
    let fails = |query: Value, part: &str| {
        let error = index
            .search(&json!({"query": query}))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{query}: {error}");
    };
    let near = |field: &str| json!({"geo_distance": {"distance": 1, field: [0, 0]}});
    fails(near("n"), "needs a geo_point");
    fails(near("nowhere"), "failed to find geo field [nowhere]");
    fails(json!({"term": {"at": "1,2"}}), "geo_bounding_box");
    fails(json!({"range": {"at": {"gte": "1,2"}}}), "geo_bounding_box");
    fails(
        json!({"geo_bounding_box": {"at": {"top_left": [0, 0], "bottom_right": [1, 1]}}}),
        "top is below bottom corner",
    );
    fails(
        json!({"geo_distance": {"distance": "1 parsec", "at": [0, 0]}}),
        "parsec",
    );
    fails(json!({"geo_distance": {"at": [0, 0]}}), "distance");
    fails(
        json!({"geo_polygon": {"at": {"points": [[0, 0], [1, 1]]}}}),
        "too few points",
    );
    let ignored =
        json!({"geo_distance": {"distance": 1, "nowhere": [0, 0], "ignore_unmapped": true}});
    assert!(found(&index, &ignored, 0).is_empty());
}

/// As many towns as a list of the world's cities has, in an order that has nothing to do with their places.
static TOWNS: LazyLock<(Vec<Places>, Vec<String>)> = LazyLock::new(|| {
    let mut dice = Dice(5);
    let towns: Vec<Places> = (0..135_233).map(|_| vec![dice.place()]).collect();
    let lines = towns.iter().enumerate().map(|(n, places)| {
        let (lat, lon) = places[0];
        json!({"t": 1_700_000_000 + n, "n": n, "at": [lon, lat]}).to_string()
    });
    let lines = lines.collect();
    (towns, lines)
});

/// Returns the bytes that a count reads beside the manifest, and the count.
fn bytes_of(index: &TestIndex, query: &Value) -> (u64, u64) {
    let cost = |query: &Value| {
        // What is read, and not what is fetched along to save requests.
        let searcher = Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .fetcher(Arc::new(index.fetcher()))
            .coalesce(CoalesceOptions::off())
            .build()
            .unwrap();
        let request = json!({"query": query, "max_hits": 0, "profile": true});
        let response = run(&searcher, &request).unwrap();
        let count = response.json["num_hits"].as_u64().unwrap();
        (response.profile.num_bytes, count)
    };
    let (manifest, _) = cost(&json!({"match_none": {}}));
    let (bytes, count) = cost(query);
    (bytes - manifest, count)
}

#[test]
fn a_box_with_a_hundredth_of_the_points_reads_at_most_a_tenth_of_the_column() {
    let (towns, lines) = &*TOWNS;
    let num_towns = towns.len() as u64;
    let by_terms = TestIndex::build(&config(""), lines, num_towns).unwrap();
    let by_column = TestIndex::build(&config(", indexed: false"), lines, num_towns).unwrap();
    let mut dice = Dice(9);
    let mut sums = (0, 0);
    for _ in 0..8 {
        let (lat, lon) = towns[dice.below(num_towns) as usize][0];
        let in_box = |size: f64| {
            let own = [lat + size, lon - size, lat - size, lon + size];
            let own = Asked::Box(own);
            let inside = towns
                .iter()
                .filter(|places| scanned(&own, places[0]) == Some(true));
            inside.count() as u64
        };
        let size = (1..).map(|nth| f64::from(nth) * 0.02);
        let size = size
            .take_while(|size| in_box(*size) <= num_towns / 100)
            .last();
        let Some(size) = size.filter(|size| lat.abs() + size < 90.0 && lon.abs() + size < 180.0)
        else {
            continue;
        };
        let query = json!({"geo_bounding_box": {"at": {
            "top": lat + size, "bottom": lat - size, "left": lon - size, "right": lon + size,
        }}});
        let (bytes, count) = bytes_of(&by_terms, &query);
        let (all, same) = bytes_of(&by_column, &query);
        println!("{count} points: {bytes} bytes of the dictionary; {all} of the column");
        assert_eq!(count, same);
        sums = (sums.0 + bytes, sums.1 + all);
    }
    assert!(sums.1 > 0 && sums.0 * 10 <= sums.1, "{sums:?}");
}

/// Distance on a sphere, by vectors.
fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    let vector = |(lat, lon): (f64, f64)| {
        let (lat, lon) = (lat.to_radians(), lon.to_radians());
        [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
    };
    let (a, b) = (vector(one), vector(other));
    let cross = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    let sine = cross.iter().map(|side| side * side).sum::<f64>().sqrt();
    let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    sine.atan2(cosine) * 6_371_008.771_4
}

/// Geohash by halving, without codes.
fn geohash((lat, lon): (f64, f64), num_letters: usize) -> String {
    let letters: Vec<char> = "0123456789bcdefghjkmnpqrstuvwxyz".chars().collect();
    let (mut lats, mut lons) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut is_lon = true;
    let letter = |_| {
        let mut number = 0;
        for _ in 0..5 {
            let (range, value) = match is_lon {
                true => (&mut lons, lon),
                false => (&mut lats, lat),
            };
            let middle: f64 = (range.0 + range.1) / 2.0;
            let is_upper = value >= middle;
            *range = match is_upper {
                true => (middle, range.1),
                false => (range.0, middle),
            };
            number = number * 2 + usize::from(is_upper);
            is_lon = !is_lon;
        }
        letters[number]
    };
    (0..num_letters).map(letter).collect()
}

fn tile((lat, lon): (f64, f64), zoom: u32) -> String {
    let num_tiles = f64::from(1_u32 << zoom);
    let x = ((lon + 180.0) / 360.0 * num_tiles).floor();
    let angle = lat
        .clamp(-85.051_128_779_806_59, 85.051_128_779_806_59)
        .to_radians();
    let y = ((1.0 - angle.tan().asinh() / std::f64::consts::PI) / 2.0 * num_tiles).floor();
    let clamped = |tile: f64| tile.clamp(0.0, num_tiles - 1.0) as u64;
    format!("{zoom}/{}/{}", clamped(x), clamped(y))
}

fn aggregated(index: &TestIndex, query: &Value, aggs: &Value) -> Value {
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 3, 1).unwrap();
    let request = json!({"query": query, "max_hits": 0, "aggs": aggs, "profile": true});
    let answer = run(&searcher, &request).unwrap().json;
    assert_eq!(answer["profile"]["warmup_gaps"], 0);
    answer["aggregations"].clone()
}

/// Returns the numbers of documents by key, the most first, and of equal numbers the last key first.
fn counted(places: &[Places], key: impl Fn((f64, f64)) -> String) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for places in places {
        let keys: BTreeSet<String> = places.iter().map(|place| key(*place)).collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

#[test]
fn grids_count_what_a_scan_counts() {
    let (places, lines) = documents(11, 3_000);
    let index = TestIndex::build(&config(""), &lines, 700).unwrap();
    let all = json!({"match_all": {}});
    let check = |kind: &str, precision: u32, key: &dyn Fn((f64, f64)) -> String| {
        let aggs = json!({"g": {kind: {"field": "at", "precision": precision}, "aggs": {
            "m": {"max": {"field": "n"}},
        }}});
        let answer = aggregated(&index, &all, &aggs);
        let buckets = answer["g"]["buckets"].as_array().unwrap();
        let found: BTreeMap<String, u64> = buckets
            .iter()
            .map(|bucket| {
                let key = bucket["key"].as_str().unwrap().to_owned();
                (key, bucket["doc_count"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(found.len(), buckets.len());
        assert_eq!(found, counted(&places, key), "{kind} {precision}");
        let counts = buckets.iter().map(|bucket| bucket["doc_count"].as_u64());
        assert!(counts.is_sorted_by(|left, right| left >= right), "{kind}");
        for bucket in buckets.iter().take(5) {
            let has = |places: &&Places| {
                places
                    .iter()
                    .any(|place| bucket["key"] == key(*place).as_str())
            };
            let last = places.iter().rposition(|places| has(&places)).unwrap();
            assert_eq!(bucket["m"]["value"], last as f64);
        }
    };
    for letters in [1, 2, 4, 7] {
        check("geohash_grid", letters, &|place| {
            geohash(place, letters as usize)
        });
    }
    for zoom in [0, 3, 8, 14] {
        check("geotile_grid", zoom, &|place| tile(place, zoom));
    }
    let aggs = json!({"g": {"geotile_grid": {"field": "at", "precision": 3, "size": 2, "shard_size": 5, "bounds": {
        "top_left": [0.1, 85], "bottom_right": [179.9, -85]}}}});
    let answer = aggregated(&index, &all, &aggs);
    let buckets = answer["g"]["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 2);
    for bucket in buckets {
        let key = bucket["key"].as_str().unwrap();
        let column: u32 = key.split('/').nth(1).unwrap().parse().unwrap();
        assert!(column >= 4, "{key}");
    }
}

#[test]
fn boxes_centers_and_ranges_of_distances_are_those_of_a_scan() {
    let (places, lines) = documents(12, 2_000);
    let index = TestIndex::build(&config(""), &lines, 700).unwrap();
    let query = json!({"range": {"n": {"lt": 1_500}}});
    let origin = (52.52, 13.405);
    let aggs = json!({
        "box": {"geo_bounds": {"field": "at", "wrap_longitude": false}},
        "center": {"geo_centroid": {"field": "at"}},
        "rings": {"geo_distance": {"field": "at", "origin": "52.52, 13.405", "unit": "km", "ranges": [
            {"to": 1_000}, {"from": 1_000, "to": 5_000, "key": "far"}, {"from": 5_000}]}},
        "none": {"filter": {"term": {"n": 99_999}}, "aggs": {
            "box": {"geo_bounds": {"field": "at"}}, "center": {"geo_centroid": {"field": "at"}}}},
        "some": {"value_count": {"field": "at"}},
        "without": {"missing": {"field": "at"}},
    });
    let answer = aggregated(&index, &query, &aggs);
    let inside = &places[..1_500];
    let all: Places = inside.iter().flatten().copied().collect();
    let close = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    };
    let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MIN, f64::max);
    let least = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MAX, f64::min);
    let bounds = &answer["box"]["bounds"];
    close(&bounds["top_left"]["lat"], most(|place| place.0));
    close(&bounds["top_left"]["lon"], least(|place| place.1));
    close(&bounds["bottom_right"]["lat"], least(|place| place.0));
    close(&bounds["bottom_right"]["lon"], most(|place| place.1));
    let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    close(&answer["center"]["location"]["lat"], mean(|place| place.0));
    close(&answer["center"]["location"]["lon"], mean(|place| place.1));
    assert_eq!(answer["center"]["count"], all.len());
    assert_eq!(answer["none"]["box"], json!({}));
    assert_eq!(answer["none"]["center"], json!({"count": 0}));
    assert_eq!(answer["some"]["value"], all.len());
    let without = inside.iter().filter(|places| places.is_empty()).count();
    assert_eq!(answer["without"]["doc_count"], without);
    let rings = answer["rings"]["buckets"].as_array().unwrap();
    for (bucket, (key, from, to)) in rings.iter().zip([
        ("*-1000", 0.0, 1e6),
        ("far", 1e6, 5e6),
        ("5000-*", 5e6, f64::INFINITY),
    ]) {
        let within = |by: f64| {
            let is_in = |place: &(f64, f64)| {
                let distance = distance(origin, *place);
                from - by <= distance && distance < to + by
            };
            let docs = inside.iter().filter(|places| places.iter().any(is_in));
            docs.count() as u64
        };
        let count = bucket["doc_count"].as_u64().unwrap();
        assert!(within(-1.0) <= count && count <= within(1.0), "{bucket}");
        assert_eq!(bucket["key"], key);
        assert_eq!(bucket["from"], from / 1_000.0);
    }
}

#[test]
fn hits_are_sorted_by_distance_page_by_page() {
    let (places, lines) = documents(13, 900);
    let index = TestIndex::build(&config(""), &lines, 250).unwrap();
    let searcher = named(&index, "places");
    let origins = [(10.0, 20.0), (-30.0, 170.0)];
    for (mode, order) in [
        ("min", "asc"),
        ("max", "desc"),
        ("avg", "asc"),
        ("median", "desc"),
    ] {
        let key = json!({"_geo_distance": {
            "at": ["10,20", {"lat": -30, "lon": 170}], "unit": "km", "order": order, "mode": mode,
        }});
        let expected = |n: usize| {
            let mut distances: Vec<f64> = places[n]
                .iter()
                .flat_map(|place| origins.map(|origin| distance(origin, *place) / 1_000.0))
                .collect();
            distances.sort_by(f64::total_cmp);
            let (len, sum) = (distances.len(), distances.iter().sum::<f64>());
            match (len, mode) {
                (0, _) => f64::INFINITY,
                (_, "min") => distances[0],
                (_, "max") => distances[len - 1],
                (_, "avg") => sum / len as f64,
                _ => (distances[(len - 1) / 2] + distances[len / 2]) / 2.0,
            }
        };
        let mut seen = Vec::new();
        let mut after = Value::Null;
        loop {
            let mut body = json!({"size": 200, "sort": [key, {"n": "asc"}], "_source": false, "docvalue_fields": ["n"]});
            if after.is_array() {
                body["search_after"] = after.clone();
            }
            let answer = elastic(&searcher, &body);
            let hits = answer["hits"]["hits"]
                .as_array()
                .unwrap_or_else(|| panic!("{answer}"));
            for hit in hits {
                let n = hit["fields"]["n"][0].as_u64().unwrap() as usize;
                let found = match &hit["sort"][0] {
                    Value::String(text) if text == "Infinity" => f64::INFINITY,
                    found => found.as_f64().unwrap(),
                };
                let scanned = expected(n);
                assert!(
                    found == scanned || (found - scanned).abs() < 0.001,
                    "{n} {found} {scanned}"
                );
                seen.push((found, n));
            }
            match hits.last() {
                Some(last) => after = last["sort"].clone(),
                None => break,
            }
        }
        assert_eq!(seen.len(), places.len(), "{mode}");
        assert!(seen.is_sorted_by(|left, right| match order {
            "asc" => left.0 < right.0 || (left.0 == right.0 && left.1 < right.1),
            _ => left.0 > right.0 || (left.0 == right.0 && left.1 < right.1),
        }));
    }
    for (key, part) in [
        (json!({"at": "asc"}), "_geo_distance"),
        (json!({"_geo_distance": {"n": [0, 0]}}), "geo distance"),
        (
            json!({"_geo_distance": {"at": [0, 0], "mode": "sum"}}),
            "mode",
        ),
        (
            json!({"_geo_distance": {"at": [0, 0], "unit": "ells"}}),
            "ells",
        ),
        (json!({"_geo_distance": {"order": "asc"}}), "missing"),
    ] {
        let answer = elastic(&searcher, &json!({"sort": [key]}));
        assert!(answer["error"].to_string().contains(part), "{answer}");
    }
}

#[test]
fn points_are_shown_as_fields() {
    let lines = [r#"{"t":1700000001,"n":0,"at":[[-71.34,41.12],"1,2"]}"#.to_owned()];
    let index = TestIndex::build(&config(""), &lines, 10).unwrap();
    let searcher = named(&index, "places");
    let check = |body: Value, expected: Value| {
        let answer = elastic(&searcher, &body);
        assert_eq!(
            answer["hits"]["hits"][0]["fields"]["at"], expected,
            "{body}"
        );
    };
    let point = |lon: f64, lat: f64| json!({"type": "Point", "coordinates": [lon, lat]});
    check(
        json!({"fields": ["at"]}),
        json!([point(-71.34, 41.12), point(2.0, 1.0)]),
    );
    check(
        json!({"fields": [{"field": "a*", "format": "wkt"}]}),
        json!(["POINT (-71.34 41.12)", "POINT (2.0 1.0)"]),
    );
    check(
        json!({"docvalue_fields": ["at"]}),
        json!([
            "0.9999999823048711, 1.9999999646097422",
            "41.1199999647215, -71.34000004269183",
        ]),
    );
}

/// Returns the answer of Elasticsearch's API.
fn elastic(searcher: &Searcher, body: &Value) -> Value {
    call(searcher, "POST", "/places/_search", "", body).1
}
