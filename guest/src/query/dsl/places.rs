//! Clauses for points: `geo_bounding_box`, `geo_distance`, `geo_polygon`.

use canter_aggregations::check_name;
use canter_geo::{Distance, Point, Region, Unit, read_box, read_point};
use serde_json::Value;

use super::leaf;
use super::params::{Params, wrong};
use crate::SearchError;
use crate::query::tree::{Leaf, QueryNode};

/// Parameters of these clauses beside the field and its region.
struct Shared {
    ignores_unmapped: bool,
    boost: f32,
}

impl Shared {
    fn take(params: &mut Params<'_>) -> Result<Self, SearchError> {
        // Points outside the ranges of latitude and longitude are always refused.
        params.choice(
            "validation_method",
            &[("STRICT", ()), ("IGNORE_MALFORMED", ()), ("COERCE", ())],
        )?;
        Ok(Self {
            ignores_unmapped: params.flag("ignore_unmapped")?.unwrap_or(false),
            boost: params.boost()?,
        })
    }

    fn place(self, field: &str, region: Region) -> QueryNode {
        let place = Leaf::Place {
            field: field.to_owned(),
            region,
            ignores_unmapped: self.ignores_unmapped,
        };
        leaf(place, self.boost)
    }
}

/// Parses `geo_bounding_box`, see
/// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-geo-bounding-box-query>.
pub(super) fn bounding_box(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
    let shared = Shared::take(&mut params)?;
    params.ignore(&["type"]);
    let (name, value) = params.only_other()?;
    check_name(&params.path, name)?;
    let own = read_box(value);
    let own = own.map_err(|problem| wrong(&format!("{}.{name}", params.path), problem))?;
    Ok(shared.place(name, Region::Box(own)))
}

/// Parses `geo_distance`, see
/// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-geo-distance-query>.
pub(super) fn distance(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
    let shared = Shared::take(&mut params)?;
    params.choice("distance_type", &[("arc", ()), ("plane", ())])?;
    let unit = match params.text("unit")? {
        Some(name) => Unit::parse(&name).map_err(|problem| wrong(&params.path, problem))?,
        None => Unit::METER,
    };
    let radius = match params.get("distance") {
        Some(Value::String(text)) => Distance::parse(text, unit),
        Some(value) => match value.as_f64() {
            Some(number) => Distance::of(number, unit),
            None => Err("this must be a number or a text such as 12km".to_owned()),
        },
        None => Err("geo_distance requires 'distance' to be specified".to_owned()),
    };
    let radius = radius.map_err(|problem| wrong(&format!("{}.distance", params.path), problem))?;
    let (name, value) = params.only_other()?;
    check_name(&params.path, name)?;
    let center = point_at(&format!("{}.{name}", params.path), value)?;
    Ok(shared.place(name, Region::Circle(center, radius)))
}

/// Parses `geo_polygon`, see
/// <https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-geo-polygon-query.html>.
pub(super) fn polygon(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
    let shared = Shared::take(&mut params)?;
    let (name, value) = params.only_other()?;
    check_name(&params.path, name)?;
    let path = format!("{}.{name}", params.path);
    let mut inner = Params::of(&path, value)?;
    let Some(Value::Array(items)) = inner.get("points") else {
        return Err(wrong(&path, "points is missing: a list of points"));
    };
    inner.finish()?;
    let points = items.iter().enumerate();
    let points = points.map(|(place, value)| point_at(&format!("{path}.points.{place}"), value));
    let mut points: Vec<Point> = points.collect::<Result<_, _>>()?;
    if points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    if points.len() < 3 {
        return Err(wrong(&path, "too few points defined for geo_polygon query"));
    }
    Ok(shared.place(name, Region::Polygon(points)))
}

fn point_at(path: &str, value: &Value) -> Result<Point, SearchError> {
    read_point(value).map_err(|problem| wrong(path, problem))
}
