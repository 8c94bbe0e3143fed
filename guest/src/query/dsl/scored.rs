//! Clauses whose scores come from values of documents: `function_score`, `distance_feature`; and `terms_set`, whose number
//! of terms does.

use canter_aggregations::{check_name, resolve_date};
use canter_geo::{Distance, Unit, read_point};
use serde_json::Value;

use super::Reader;
use super::params::{Params, duration_ns, given_at, wrong};
use crate::SearchError;
use crate::query::tree::{
    BoolNode, BoostMode, End, Factor, Function, FunctionKind, Given, Leaf, Measure, MinShould,
    Modifier, OfValues, QueryNode, Range, Role, ScoreMode, Scored, Shape, Share, SpanRelation,
    TextLeaf,
};

/// Maximum number of terms of a `terms_set`: each number of them is a clause of its own.
const MAX_TERMS_OF_SET: usize = 64;

/// Maximum number of functions of a clause.
const MAX_FUNCTIONS: usize = 64;

const MILLISECOND_NS: i64 = 1_000_000;

impl Reader<'_> {
    /// Parses `function_score`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-function-score-query>.
    pub(super) fn function_score(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let node = match params.get("query") {
            Some(clause) => self.clause(&format!("{}.query", params.path), clause)?,
            None => QueryNode::All,
        };
        let score_mode = params.choice(
            "score_mode",
            &[
                ("multiply", ScoreMode::Multiply),
                ("sum", ScoreMode::Sum),
                ("avg", ScoreMode::Avg),
                ("first", ScoreMode::First),
                ("max", ScoreMode::Max),
                ("min", ScoreMode::Min),
            ],
        )?;
        let boost_mode = params.choice(
            "boost_mode",
            &[
                ("multiply", BoostMode::Multiply),
                ("replace", BoostMode::Replace),
                ("sum", BoostMode::Sum),
                ("avg", BoostMode::Avg),
                ("max", BoostMode::Max),
                ("min", BoostMode::Min),
            ],
        )?;
        let max_boost = params.factor("max_boost")?.unwrap_or(f32::MAX);
        if params.factor("min_score")?.is_some_and(|least| least > 0.0) {
            let what = "hits are left out by their scores only for a whole search: put min_score beside the query";
            return Err(wrong(&format!("{}.min_score", params.path), what));
        }
        let boost = params.boost()?;
        let mut functions = Vec::new();
        match params.get("functions") {
            Some(Value::Array(list)) => {
                for (place, function) in list.iter().enumerate() {
                    let path = format!("{}.functions.{place}", params.path);
                    let mut params = Params::of(&path, function)?;
                    let filter = params.get("filter");
                    let filter =
                        filter.map(|filter| self.clause(&format!("{path}.filter"), filter));
                    functions.push(self.function(filter.transpose()?, &mut params)?);
                    params.finish()?;
                }
            }
            Some(_) => return Err(wrong(&params.path, "functions must be a list")),
            None => functions.push(self.function(None, &mut params)?),
        }
        params.finish()?;
        if functions.len() > MAX_FUNCTIONS {
            let path = format!("{}.functions", "function_score");
            return Err(wrong(
                &path,
                format!("there may be {MAX_FUNCTIONS} functions"),
            ));
        }
        let scored = Scored {
            node,
            functions,
            score_mode: score_mode.unwrap_or(ScoreMode::Multiply),
            boost_mode: boost_mode.unwrap_or(BoostMode::Multiply),
            max_boost: Factor(max_boost),
        };
        Ok(QueryNode::Scored(Box::new(scored)).boosted(boost))
    }

    fn function(
        &self,
        filter: Option<QueryNode>,
        params: &mut Params<'_>,
    ) -> Result<Function, SearchError> {
        let weight = params.factor("weight")?;
        let mut kinds = Vec::new();
        if let Some(value) = params.get("field_value_factor") {
            let path = format!("{}.field_value_factor", params.path);
            kinds.push(of_value(Params::of(&path, value)?)?);
        }
        if let Some(value) = params.get("random_score") {
            let path = format!("{}.random_score", params.path);
            kinds.push(random(Params::of(&path, value)?)?);
        }
        for (name, shape) in [
            ("gauss", Shape::Gauss),
            ("exp", Shape::Exp),
            ("linear", Shape::Linear),
        ] {
            if let Some(value) = params.get(name) {
                let path = format!("{}.{name}", params.path);
                kinds.push(self.decay(shape, Params::of(&path, value)?)?);
            }
        }
        if params.get("script_score").is_some() {
            return Err(wrong(
                &format!("{}.script_score", params.path),
                "scripts are not supported",
            ));
        }
        let kind = match (kinds.pop(), weight, kinds.is_empty()) {
            (Some(kind), _, true) => kind,
            (None, Some(_), _) => FunctionKind::One,
            (None, None, _) => {
                let what = "this needs a weight, or one of field_value_factor, random_score, gauss, exp and linear";
                return Err(wrong(&params.path, what));
            }
            (Some(_), _, false) => {
                return Err(wrong(&params.path, "there is more than one function"));
            }
        };
        Ok(Function {
            filter,
            weight: Factor(weight.unwrap_or(1.0)),
            kind,
        })
    }

    fn decay(&self, shape: Shape, mut params: Params<'_>) -> Result<FunctionKind, SearchError> {
        let values = params.choice(
            "multi_value_mode",
            &[
                ("min", OfValues::Min),
                ("max", OfValues::Max),
                ("avg", OfValues::Avg),
                ("sum", OfValues::Sum),
            ],
        )?;
        let (field, value) = params.only_other()?;
        check_name(&params.path, field)?;
        let mut of_field = Params::of(&format!("{}.{field}", params.path), value)?;
        if let Some(near) = near_place(field, &mut of_field, Some(shape))? {
            if values.is_some_and(|values| values != OfValues::Min) {
                return Err(wrong(&params.path, "of points, the nearest counts: min"));
            }
            of_field.finish()?;
            return Ok(near);
        }
        let scale = of_field.needed("scale")?;
        let scale = distance(&format!("{}.scale", of_field.path), &scale)?;
        let offset = of_field.value("offset")?;
        let offset = offset.map(|offset| distance(&format!("{}.offset", of_field.path), &offset));
        let origin = of_field.value("origin")?;
        let decay = share(&mut of_field)?;
        let is_positive = |measure: Option<f64>| measure.is_none_or(|measure| measure > 0.0);
        if !is_positive(scale.number) || !is_positive(scale.ns) {
            return Err(wrong(&of_field.path, "scale must be more than 0"));
        }
        let path = format!("{}.origin", of_field.path);
        let kind = FunctionKind::Decay {
            field: field.clone(),
            shape,
            origin: self.origin(&path, origin.as_ref())?,
            scale,
            offset: offset.transpose()?.unwrap_or(Measure {
                number: Some(0.0),
                ns: Some(0.0),
            }),
            decay,
            values: values.unwrap_or(OfValues::Min),
        };
        of_field.finish()?;
        Ok(kind)
    }

    /// Parses an origin: a number, or a date; now if it is absent.
    fn origin(&self, path: &str, origin: Option<&Given>) -> Result<Measure, SearchError> {
        let now_ns = self
            .now_ms
            .map(|now_ms| now_ms.saturating_mul(MILLISECOND_NS));
        let text = origin.map_or("now", |origin| origin.text.as_str());
        if now_ns.is_none() && text.starts_with("now") {
            return Err(wrong(
                path,
                "the host does not say what time it is, which now stands for",
            ));
        }
        let ns = resolve_date(text, None, None, now_ns.unwrap_or(0), false).ok();
        #[expect(clippy::cast_precision_loss, reason = "scores are 32 bits wide")]
        let measure = Measure {
            number: text.parse().ok(),
            ns: ns.map(|ns| ns as f64),
        };
        match measure {
            Measure {
                number: None,
                ns: None,
            } => Err(wrong(
                path,
                format!("{text:?} is neither a number nor a date"),
            )),
            measure => Ok(measure),
        }
    }

    /// Parses `distance_feature`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-distance-feature-query>.
    pub(super) fn distance_feature(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let field = params.needed("field")?.text;
        check_name(&params.path, &field)?;
        let kind = match near_place(&field, &mut params, None)? {
            Some(kind) => kind,
            None => {
                let origin = params.needed("origin")?;
                let pivot = params.needed("pivot")?;
                FunctionKind::Nearness {
                    field: field.clone(),
                    origin: self.origin(&format!("{}.origin", params.path), Some(&origin))?,
                    pivot: distance(&format!("{}.pivot", params.path), &pivot)?,
                }
            }
        };
        let boost = params.boost()?;
        params.finish()?;
        let exists = Leaf::Text(TextLeaf::Exists { field });
        let scored = Scored {
            node: QueryNode::Leaf(exists),
            functions: vec![Function {
                filter: None,
                weight: Factor(1.0),
                kind,
            }],
            score_mode: ScoreMode::First,
            boost_mode: BoostMode::Replace,
            max_boost: Factor(f32::MAX),
        };
        Ok(QueryNode::Scored(Box::new(scored)).boosted(boost))
    }

    /// Parses `terms_set`: as many of the terms must match as a field of the document says, at least one. See
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-terms-set-query>.
    pub(super) fn terms_set(&mut self, params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, value) = params.only_other()?;
        check_name(&params.path, field)?;
        let mut params = Params::of(&format!("{}.{field}", params.path), value)?;
        let path = format!("{}.terms", params.path);
        let Some(Value::Array(terms)) = params.get("terms") else {
            return Err(wrong(&path, "this must be a list of terms"));
        };
        if terms.len() > MAX_TERMS_OF_SET {
            return Err(wrong(
                &path,
                format!("there may be {MAX_TERMS_OF_SET} terms"),
            ));
        }
        let terms = terms.iter().map(|term| {
            Ok(QueryNode::Leaf(Leaf::Term {
                field: field.clone(),
                value: given_at(&path, term)?,
                case_insensitive: false,
            }))
        });
        let terms: Vec<QueryNode> = terms.collect::<Result<_, SearchError>>()?;
        let of_field = params.text("minimum_should_match_field")?;
        let fixed = params.count("minimum_should_match")?;
        if params.get("minimum_should_match_script").is_some() {
            return Err(wrong(&params.path, "scripts are not supported"));
        }
        let boost = params.boost()?;
        let path = params.path.clone();
        params.finish()?;
        let num_terms = i64::try_from(terms.len()).unwrap_or(i64::MAX);
        let at_least = |num: i64| {
            let clauses = terms.iter().map(|term| (Role::Should, term.clone()));
            QueryNode::Bool(BoolNode {
                clauses: clauses.collect(),
                min_should: Some(MinShould {
                    rules: vec![(0, Share::Count(num))],
                }),
            })
        };
        let node = match (of_field, fixed) {
            (None, Some(num)) => at_least(i64::from(num).max(1)),
            (Some(name), None) => {
                check_name(&path, &name)?;
                self.count(terms.len().saturating_mul(terms.len()))?;
                let with = |num: i64| {
                    let wanted = number_of(&name, num);
                    QueryNode::all_of([wanted, at_least(num)])
                };
                let alternatives = (1..=num_terms).map(|num| (Role::Should, with(num)));
                let is_one = QueryNode::Bool(BoolNode {
                    clauses: alternatives.collect(),
                    min_should: None,
                });
                let clauses = vec![(Role::Must, at_least(1)), (Role::Filter, is_one)];
                QueryNode::Bool(BoolNode {
                    clauses,
                    min_should: None,
                })
            }
            _ => {
                let what = "this needs minimum_should_match_field or minimum_should_match";
                return Err(wrong(&path, what));
            }
        };
        Ok(node.boosted(boost))
    }
}

/// Returns the documents whose number of required terms is this one; less than one counts as one.
fn number_of(field: &str, num: i64) -> QueryNode {
    let end = || {
        Some(End {
            given: Given {
                text: num.to_string(),
                is_number: true,
            },
            is_included: true,
            from_now_ns: None,
        })
    };
    QueryNode::Leaf(Leaf::Range(Range {
        field: field.to_owned(),
        lower: match num {
            1 => None,
            _ => end(),
        },
        upper: end(),
        format: None,
        time_zone: None,
        relation: SpanRelation::default(),
    }))
}

fn of_value(mut params: Params<'_>) -> Result<FunctionKind, SearchError> {
    let field = params.needed("field")?.text;
    check_name(&params.path, &field)?;
    let modifier = params.choice(
        "modifier",
        &[
            ("none", Modifier::None),
            ("log", Modifier::Log),
            ("log1p", Modifier::Log1p),
            ("log2p", Modifier::Log2p),
            ("ln", Modifier::Ln),
            ("ln1p", Modifier::Ln1p),
            ("ln2p", Modifier::Ln2p),
            ("square", Modifier::Square),
            ("sqrt", Modifier::Sqrt),
            ("reciprocal", Modifier::Reciprocal),
        ],
    )?;
    let kind = FunctionKind::Value {
        field,
        factor: f64::from(params.factor("factor")?.unwrap_or(1.0)),
        modifier: modifier.unwrap_or(Modifier::None),
        missing: params.factor("missing")?.map(f64::from),
    };
    params.finish()?;
    Ok(kind)
}

fn random(mut params: Params<'_>) -> Result<FunctionKind, SearchError> {
    let seed = params.value("seed")?;
    let field = params.text("field")?;
    // Elasticsearch's field of the order of arrival: the document itself decides here.
    let field = field.filter(|field| field != "_seq_no" && field != "_id");
    if let Some(field) = &field {
        check_name(&params.path, field)?;
    }
    params.finish()?;
    let seed = seed.map_or(0, |seed| match seed.text.parse::<i64>() {
        Ok(number) => number.cast_unsigned(),
        Err(_) => hashed(&seed.text),
    });
    Ok(FunctionKind::Random { seed, field })
}

fn hashed(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let bytes = hash.as_bytes().first_chunk::<8>();
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Takes the origin and the pivot of points: an origin that is written as a point only, or a pivot that is a length and no
/// duration.
fn near_place(
    field: &str,
    params: &mut Params<'_>,
    shape: Option<Shape>,
) -> Result<Option<FunctionKind>, SearchError> {
    let name = if shape.is_some() { "scale" } else { "pivot" };
    let (origin, pivot) = (params.get("origin"), params.value(name)?);
    let (Some(origin), Some(pivot)) = (origin, pivot) else {
        return Ok(None);
    };
    let is_point = match origin {
        Value::Array(_) | Value::Object(_) => true,
        Value::String(text) => {
            let is_pair = text.contains(',') || text.starts_with("POINT");
            is_pair || duration_ns(&pivot.text).is_none() && pivot.text.parse::<f64>().is_err()
        }
        _ => false,
    };
    if !is_point {
        return Ok(None);
    }
    let origin = read_point(origin);
    let origin = origin.map_err(|what| wrong(&format!("{}.origin", params.path), what))?;
    let pivot_m = length(params, name, &pivot)?;
    let mut decayed = None;
    if let Some(shape) = shape {
        let offset = params.value("offset")?;
        let offset = offset.map_or(Ok(0.0), |offset| length(params, "offset", &offset));
        decayed = Some((shape, share(params)?, offset?));
    }
    if pivot_m <= 0.0 {
        return Err(wrong(&params.path, format!("{name} must be more than 0")));
    }
    Ok(Some(FunctionKind::NearPlace {
        field: field.to_owned(),
        origin: origin.code(),
        pivot_m,
        decayed,
    }))
}

/// Parses a length, in metres.
fn length(params: &Params<'_>, name: &str, given: &Given) -> Result<f64, SearchError> {
    let length = Distance::parse(&given.text, Unit::METER);
    let length = length.map_err(|what| wrong(&format!("{}.{name}", params.path), what))?;
    Ok(length.0)
}

/// Takes the share that is left at the distance `scale`.
fn share(params: &mut Params<'_>) -> Result<f64, SearchError> {
    let decay = f64::from(params.factor("decay")?.unwrap_or(0.5));
    match decay > 0.0 && decay < 1.0 {
        true => Ok(decay),
        false => Err(wrong(&params.path, "decay must be between 0 and 1")),
    }
}

/// Parses a distance: a number, or a duration such as `7d`.
fn distance(path: &str, given: &Given) -> Result<Measure, SearchError> {
    let text = given.text.as_str();
    let measure = Measure {
        number: text.parse().ok(),
        ns: duration_ns(text),
    };
    match measure {
        Measure {
            number: None,
            ns: None,
        } => Err(wrong(
            path,
            format!("{text:?} is neither a number nor a duration such as 7d"),
        )),
        measure => Ok(measure),
    }
}
