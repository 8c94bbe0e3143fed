//! Requests that fit the documents: most of the values that they look for exist.

use rand::{Rng, RngExt};

use serde_json::Map;

use super::query::{Bound, Leaf, Node, Piece, Sign, can_be_bare, can_be_bound};
use super::request::{Request, SortKey};
use crate::random::aggregations::Filters;
use crate::random::dates::{self, SECOND};
use crate::random::documents::{self, one_of};
use crate::random::schema::{Diet, Field, Kind};
use crate::random::truth::table::{Scalar, Table, literal};

/// Generator of requests for one table.
pub(crate) struct Generator<'t, R> {
    pub(crate) table: &'t Table,
    pub(crate) rng: R,
    /// True if every request asks for aggregations. Otherwise six in ten do.
    pub(crate) always_aggregates: bool,
    /// Number of requests generated so far.
    pub(crate) num_drawn: u64,
}

impl<R: Rng> Generator<'_, R> {
    pub(crate) fn request(&mut self) -> Request {
        let depth = *one_of(&mut self.rng, &[0, 0, 0, 1, 1, 2, 3]);
        let mut request = Request {
            node: self.node(depth),
            max_hits: *one_of(&mut self.rng, &[0, 1, 3, 10, 10, 50, 1_000]),
            start_offset: *one_of(&mut self.rng, &[0, 0, 0, 1, 5, 40, 5_000]),
            sort_by: Vec::new(),
            count_up_to: None,
            start: None,
            end: None,
            aggs: Map::new(),
            filters: Filters::new(),
            search_field: None,
            dsl: None,
        };
        if self.rng.random_bool(0.5) {
            request.sort_by = self.sort_by();
        }
        if self.table.setup.timestamp.is_some() && self.rng.random_bool(0.25) {
            let mut ends = [self.second(), self.second()];
            ends.sort_unstable();
            request.start = self.rng.random_bool(0.7).then_some(ends[0]);
            request.end = self.rng.random_bool(0.7).then_some(ends[1]);
        }
        if self.rng.random_bool(0.6) || self.always_aggregates {
            (request.aggs, request.filters) = self.aggs();
        }
        if self.rng.random_bool(0.05)
            && !self.always_aggregates
            && let Some(field) =
                self.field(|field| matches!(field.kind, Kind::Text { .. }) && field.indexed)
        {
            request.node = Node::Leaf(self.words(vec![field], false));
            request.search_field = Some(field);
            // It is not documented whether `search_field` also applies to filters.
            request.aggs.clear();
        }
        // This is not drawn at random, so that seeds that once revealed a defect still generate the
        // same requests.
        request.count_up_to = match self.num_drawn % 5 {
            0 => Some(0),
            1 => Some(3),
            2 => Some(40),
            _ => None,
        };
        request.dsl = (self.num_drawn % 2 == 1).then_some(self.num_drawn * 7);
        self.num_drawn += 1;
        request
    }

    fn second(&mut self) -> i64 {
        let at = match self
            .table
            .setup
            .timestamp
            .map(|path| self.table.setup.field(path))
        {
            Some(at) => at,
            None => return 0,
        };
        let doc = self.rng.random_range(0..self.table.docs.len());
        let nanos = match self.table.cell(doc, at).values.first() {
            Some(Scalar::Date(nanos)) => *nanos,
            _ => documents::date(&mut self.rng),
        };
        dates::cut(nanos, SECOND) / SECOND + self.rng.random_range(-1..2)
    }

    /// Returns a random field for which `wanted` holds.
    pub(crate) fn field(&mut self, wanted: impl Fn(&Field) -> bool) -> Option<usize> {
        let fields = self.table.setup.fields.iter().enumerate();
        let fitting: Vec<usize> = fields
            .filter(|(_, f)| wanted(f))
            .map(|(nth, _)| nth)
            .collect();
        (!fitting.is_empty()).then(|| *one_of(&mut self.rng, &fitting))
    }

    fn node(&mut self, depth: u32) -> Node {
        if depth == 0 {
            return match self.rng.random_range(0..20) {
                0 => Node::Not(Box::new(Node::Leaf(self.leaf()))),
                1 => Node::Boost(Box::new(Node::Leaf(self.leaf()))),
                2 => self.group(),
                _ => Node::Leaf(self.leaf()),
            };
        }
        let mut num = self.rng.random_range(2..4);
        let kind = self.rng.random_range(0..8);
        if kind == 7 {
            num = 1;
        }
        let mut nodes: Vec<Node> = (0..num).map(|_| self.node(depth - 1)).collect();
        match kind {
            0..2 => Node::And(nodes),
            2..4 => Node::Or(nodes),
            4..7 => {
                let signs = [Sign::None, Sign::None, Sign::Plus, Sign::Minus];
                let signed = nodes
                    .into_iter()
                    .map(|node| (*one_of(&mut self.rng, &signs), node));
                Node::Side(signed.collect())
            }
            _ => Node::Not(Box::new(nodes.remove(0))),
        }
    }

    fn group(&mut self) -> Node {
        let Some(field) = self.field(|field| !matches!(field.kind, Kind::Object) && field.indexed)
        else {
            return Node::Leaf(Leaf::All);
        };
        let values = (0..self.rng.random_range(2..4))
            .map(|_| self.literal(field))
            .collect();
        Node::Group {
            field,
            values,
            all: self.rng.random_bool(0.3),
        }
    }

    pub(crate) fn leaf(&mut self) -> Leaf {
        if self.rng.random_bool(0.04) {
            return Leaf::All;
        }
        let defaults = self.table.setup.default_fields;
        if defaults.is_empty() && self.rng.random_bool(0.06) {
            return self.word_in_all_fields();
        }
        if !defaults.is_empty() && self.rng.random_bool(0.06) {
            let fields = defaults
                .iter()
                .map(|path| self.table.setup.field(path))
                .collect();
            return self.words(fields, false);
        }
        let field = self.rng.random_range(0..self.table.setup.fields.len());
        let Field { kind, diet, .. } = self.table.setup.fields[field];
        let is_text = matches!(kind, Kind::Text { .. })
            || (matches!(kind, Kind::Json { .. }) && matches!(diet, Diet::Texts | Diet::Mixed));
        match (kind, self.rng.random_range(0..20)) {
            (Kind::Object, _) | (_, 0..2) => Leaf::Exists { field },
            (_, 2..4) => {
                let elements = (0..self.rng.random_range(1..4))
                    .map(|_| self.element(field))
                    .collect();
                Leaf::Set { field, elements }
            }
            (_, 4..9) => self.range(field),
            (_, 9..13) if is_text => self.pattern(field),
            _ => self.words(vec![field], true),
        }
    }

    /// Returns a word without a field, in an index without default fields. Whole values are found by their words.
    fn word_in_all_fields(&mut self) -> Leaf {
        let fields = self.table.setup.fields.iter().enumerate();
        let is_searched = |field: &Field| field.kind != Kind::Object && field.source.is_none();
        let fields = fields.filter(|(_, field)| is_searched(field));
        let fields: Vec<usize> = fields.map(|(place, _)| place).collect();
        match self.words(fields, false) {
            Leaf::Words { fields, text, .. } => Leaf::Words {
                fields,
                is_named: false,
                text: match text.split_whitespace().next() {
                    // With a sign or a wildcard, it would be a clause of another kind.
                    Some(word) if word.chars().all(|c| c.is_alphanumeric() || c == '.') => {
                        word.to_owned()
                    }
                    _ => "none".to_owned(),
                },
                quoted: false,
                slop: 0,
                prefix: false,
            },
            other => other,
        }
    }

    /// Returns a value that a document has in the field, or another one of the same kind.
    fn value(&mut self, field: usize) -> Scalar {
        for _ in 0..6 {
            let doc = self.rng.random_range(0..self.table.docs.len());
            let values = &self.table.cell(doc, field).values;
            if !values.is_empty() && self.rng.random_bool(0.9) {
                let value = one_of(&mut self.rng, values).clone();
                match &value {
                    // These exceed the maximum length of a query.
                    Scalar::Text(text) if text.len() > 60_000 => continue,
                    _ => return value,
                }
            }
        }
        let rng = &mut self.rng;
        match self.table.setup.fields[field].kind {
            Kind::I64 => Scalar::Int(documents::i64_value(rng).into()),
            Kind::U64 => Scalar::Int(documents::u64_value(rng).into()),
            Kind::F64 => Scalar::Float(documents::f64_value(rng)),
            Kind::Bool => Scalar::Bool(rng.random_bool(0.5)),
            Kind::Date { .. } => Scalar::Date(documents::date(rng)),
            Kind::Ip => {
                Scalar::Ip(super::super::truth::table::ip(&documents::ip(rng)).unwrap_or_default())
            }
            Kind::Bytes => Scalar::Bytes(vec![0xde, 0xad]),
            _ => Scalar::Text(documents::word(rng)),
        }
    }

    fn literal(&mut self, field: usize) -> String {
        literal(&self.value(field))
    }

    /// Returns an element of a set; elements are not tokenized.
    fn element(&mut self, field: usize) -> String {
        match (self.table.setup.fields[field].kind, self.value(field)) {
            (Kind::Text { tokenizer, .. } | Kind::Json { tokenizer, .. }, Scalar::Text(text)) => {
                let tokens = tokenizer.cut(&text);
                match tokens.is_empty() {
                    true => "none".to_owned(),
                    false => one_of(&mut self.rng, &tokens).1.clone(),
                }
            }
            (_, value) => literal(&value),
        }
    }

    fn words(&mut self, fields: Vec<usize>, is_named: bool) -> Leaf {
        let field = *one_of(&mut self.rng, &fields);
        let kind = self.table.setup.fields[field].kind;
        let value = self.value(field);
        let (mut text, mut slop, mut prefix, mut quoted) = (literal(&value), 0, false, true);
        if let (
            Kind::Text {
                tokenizer,
                positions,
            }
            | Kind::Json {
                tokenizer,
                positions,
            },
            Scalar::Text(_),
        ) = (kind, &value)
        {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            match self.rng.random_range(0..5) {
                0 => {}
                1..3 if !words.is_empty() => text = one_of(&mut self.rng, &words).clone(),
                _ if words.len() > 1 => {
                    let start = self.rng.random_range(0..words.len() - 1);
                    let len = self.rng.random_range(2..4).min(words.len() - start);
                    let mut part = words[start..start + len].to_vec();
                    if positions && self.rng.random_bool(0.3) {
                        slop = self.rng.random_range(1..5);
                    } else if positions && self.rng.random_bool(0.3) {
                        prefix = true;
                        let last = part.pop().unwrap_or_default();
                        let keep = self.rng.random_range(1..=last.chars().count());
                        part.push(last.chars().take(keep).collect());
                    }
                    text = part.join(" ");
                }
                _ => {}
            }
            if tokenizer.lowercases() && self.rng.random_bool(0.3) {
                text = text.to_uppercase();
            }
            // Slop and prefix need at least two words, as the field's tokenizer counts them.
            let num_tokens = tokenizer.cut(&text).len();
            if num_tokens < 2 {
                (slop, prefix) = (0, false);
            }
        }
        if slop == 0 && !prefix && can_be_bare(&text) && self.rng.random_bool(0.5) {
            quoted = false;
        }
        if !is_named && !quoted && (text.starts_with('-') || text.contains(':')) {
            quoted = true;
        }
        Leaf::Words {
            fields,
            is_named,
            text,
            quoted,
            slop,
            prefix,
        }
    }

    fn pattern(&mut self, field: usize) -> Leaf {
        let is_regex = self.rng.random_bool(0.35);
        let token = self.element(field);
        let mut chars: Vec<char> = token.chars().take(24).collect();
        let is_cut = token.chars().count() > chars.len();
        if chars.is_empty() {
            chars = "time".chars().collect();
        }
        let mut pieces: Vec<Piece> = chars.iter().copied().map(Piece::Char).collect();
        for _ in 0..self.rng.random_range(1..3) {
            let at = self.rng.random_range(0..pieces.len());
            match self.rng.random_range(0..4) {
                0 => pieces[at] = Piece::Any,
                1 if is_regex => {
                    let others: Vec<char> = [chars[at.min(chars.len() - 1)], 'a', 'x']
                        .into_iter()
                        .filter(|c| c.is_alphanumeric())
                        .collect();
                    pieces[at] = Piece::Class(others);
                }
                _ => {
                    let len = self.rng.random_range(0..4).min(pieces.len() - at);
                    pieces.splice(at..at + len, [Piece::Rest]);
                }
            }
        }
        if is_cut {
            pieces.push(Piece::Rest);
        }
        // A lone `*` is an existence query, and these characters have another meaning at the start.
        let is_meant = |piece: &Piece| matches!(piece, Piece::Char(c) if "/<>+!~\0".contains(*c));
        let num_chars = pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Char(_)))
            .count();
        if num_chars == 0 || (!is_regex && is_meant(&pieces[0])) {
            pieces = vec![Piece::Char('t'), Piece::Rest];
        }
        if !is_regex
            && !pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Any | Piece::Rest))
        {
            pieces.push(Piece::Rest);
        }
        if !is_regex && self.rng.random_bool(0.2) {
            for piece in &mut pieces {
                if let Piece::Char(c) = piece
                    && c.is_ascii_lowercase()
                {
                    *piece = Piece::Char(c.to_ascii_uppercase());
                }
            }
        }
        Leaf::Pattern {
            field,
            pieces,
            is_regex,
        }
    }

    fn range(&mut self, field: usize) -> Leaf {
        let lower = self.bound(field);
        let upper = match lower {
            Bound::Open => self.bound(field),
            _ if self.rng.random_bool(0.4) => Bound::Open,
            _ => self.bound(field),
        };
        // The documentation does not define ranges with ends of different types in a JSON field.
        let kinds = [&lower, &upper].map(|bound| match bound {
            Bound::Open => None,
            Bound::Included(text) | Bound::Excluded(text) => Some((
                dates::read(text).is_some(),
                super::super::truth::table::number(text).is_some(),
                text.parse::<bool>().is_ok(),
            )),
        });
        let is_json = matches!(self.table.setup.fields[field].kind, Kind::Json { .. });
        if let [Some(left), Some(right)] = kinds
            && is_json
            && left != right
        {
            return Leaf::Range {
                field,
                lower,
                upper: Bound::Open,
            };
        }
        Leaf::Range {
            field,
            lower,
            upper,
        }
    }

    fn bound(&mut self, field: usize) -> Bound {
        if self.rng.random_bool(0.1) {
            return Bound::Open;
        }
        let kind = self.table.setup.fields[field].kind;
        let is_number = matches!(kind, Kind::I64 | Kind::U64 | Kind::F64);
        let strange = [
            "1.5",
            "-1",
            "10000000000000000000",
            "1e300",
            "-0.5",
            "0",
            "-0.0",
            "-1e307",
            "9007199254740993",
        ];
        let value = self.value(field);
        let mut text = match is_number && self.rng.random_bool(0.2) {
            true => (*one_of(&mut self.rng, &strange)).to_owned(),
            false => literal(&value),
        };
        // A bound that parses as another type counts as that type.
        let is_typed =
            super::super::truth::table::number(&text).is_some() || text.parse::<bool>().is_ok();
        if matches!(value, Scalar::Text(_)) && (is_typed || !can_be_bound(&text)) {
            text = (*one_of(&mut self.rng, &["alpha", "time", "X", "Ω", "東", "e"])).to_owned();
        }
        // A value of zero bytes cannot be a bound.
        if text.is_empty() {
            text = "ffff".to_owned();
        }
        match self.rng.random_bool(0.5) {
            true => Bound::Included(text),
            false => Bound::Excluded(text),
        }
    }

    fn sort_by(&mut self) -> Vec<SortKey> {
        let mut keys = Vec::new();
        for _ in 0..self.rng.random_range(1..3) {
            let is_single = |field: &Field| {
                field.fast.is_some()
                    && field.kind != Kind::Object
                    && field.diet != Diet::Mixed
                    && (!field.multi || field.diet != Diet::Own)
            };
            if let Some(field) = self.field(is_single) {
                keys.push(SortKey {
                    field,
                    is_ascending: self.rng.random_bool(0.5),
                });
            }
        }
        if let [first, second] = keys[..]
            && first.field == second.field
        {
            keys.pop();
        }
        keys
    }
}
