//! Grids of places: `geohash_grid` and `geotile_grid`.

use canter_geo::{Distance, GeoBox, Grid as Cells, Unit, letters_of, read_box};
use serde_json::Value;

use super::super::body::Body;
use super::super::types::Grid;
use crate::Result;

pub(crate) const GRID: [&str; 6] = [
    "field",
    "precision",
    "bounds",
    "size",
    "shard_size",
    "split_size",
];

const DEFAULT_LETTERS: u64 = 5;
const MAX_LETTERS: u64 = 12;
const DEFAULT_ZOOM: u64 = 7;
const MAX_ZOOM: u64 = 29;
/// Default number of buckets, as in Elasticsearch.
const DEFAULT_SIZE: u64 = 10_000;
/// Maximum number of buckets, which the limit of an answer's buckets bounds further.
const MAX_SIZE: u64 = 1 << 31;

pub(crate) fn geohash_grid(body: &Body<'_>) -> Result<Grid> {
    let letters = match body.get("precision") {
        Some(Value::String(text)) if text.parse::<u64>().is_err() => {
            let size = Distance::parse(text, Unit::METER)
                .map_err(|problem| body.invalid("precision", &problem))?;
            u64::from(letters_of(size))
        }
        _ => body
            .count("precision", 1, MAX_LETTERS)?
            .unwrap_or(DEFAULT_LETTERS),
    };
    if letters > MAX_LETTERS {
        return Err(body.invalid(
            "precision",
            "this is finer than the 12 letters of a geohash",
        ));
    }
    grid(body, Cells::Geohash(u32::try_from(letters).unwrap_or(1)))
}

pub(crate) fn geotile_grid(body: &Body<'_>) -> Result<Grid> {
    let zoom = body
        .count("precision", 0, MAX_ZOOM)?
        .unwrap_or(DEFAULT_ZOOM);
    grid(body, Cells::Tile(u32::try_from(zoom).unwrap_or(0)))
}

fn grid(body: &Body<'_>, cells: Cells) -> Result<Grid> {
    let bounds = match body.get("bounds") {
        None => None,
        Some(value) => {
            let own: std::result::Result<GeoBox, String> = read_box(value);
            Some(own.map_err(|problem| body.invalid("bounds", &problem))?)
        }
    };
    // Counts are exact however many cells a split sends.
    body.count("shard_size", 1, MAX_SIZE)?;
    body.count("split_size", 1, MAX_SIZE)?;
    let size = body.count("size", 1, MAX_SIZE)?.unwrap_or(DEFAULT_SIZE);
    Ok(Grid {
        field: body.field("field")?.to_owned(),
        cells,
        bounds,
        size: usize::try_from(size).unwrap_or(usize::MAX),
    })
}
