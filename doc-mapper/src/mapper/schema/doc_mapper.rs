//! Compilation of a config into a schema and a mapping tree.

use std::collections::BTreeMap;
use std::fmt;

use tantivy::IndexSettings;
use tantivy::schema::{BytesOptions, Field, FieldEntry, Schema};
use tantivy::store::Compressor;
use tantivy::tokenizer::TokenizerManager;

use super::DocstoreSettings;
use super::concatenate::concatenate;
use crate::config::{
    ConfigError, CustomTokenizer, FieldKind, FieldMapping, IndexConfig, Mode, SearchSettings,
    ShownSource,
};
use crate::field_path::{escape_segment, join_path, split_path};
use crate::mapper::DYNAMIC_FIELD;
use crate::mapper::parse::presence::PathHasher;
use crate::mapper::schema::field_aliases::field_aliases;
use crate::mapper::schema::field_options::{
    as_mapping, bytes_options, code_options, date_options, ip_options, json_options,
    numeric_options, span_options, text_options,
};
use crate::mapper::schema::numbering::{Numbering, in_order_of_addition};
use crate::mapper::schema::own_leaves::{
    Constant, constants_of, document_size_leaf, has_verbatim, ignored_of, limits_of_values,
    own_fields, timestamp_of,
};
use crate::mapper::terms::TermBounds;
use crate::mapper::tree::{Child, Leaf, ObjectNode, Values};
use crate::mapper::views::Views;
use crate::tokenizers;

/// Tokenizers of an index, each built once.
pub(in crate::mapper) struct Analyzers(pub(in crate::mapper) TokenizerManager);

impl fmt::Debug for Analyzers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Analyzers")
    }
}

/// Name of the field that no document has. No segment has a column of this name.
const UNMAPPED: &str = "_unmapped";

/// Compiled index config.
#[derive(Debug)]
pub struct DocMapper {
    index_name: String,
    pub(in crate::mapper) schema: Schema,
    pub(in crate::mapper) root: ObjectNode,
    pub(in crate::mapper) mode: Mode,
    /// Field of unmapped values, in dynamic mode.
    pub(in crate::mapper) dynamic: Option<Leaf>,
    /// Stands for a field that neither the mapping nor documents have, where queries may name one: of an index that was
    /// made through Elasticsearch's API.
    pub(in crate::mapper) nothing: Option<Leaf>,
    /// Further names of whole fields, with their paths.
    pub(in crate::mapper) field_aliases: BTreeMap<String, String>,
    pub(in crate::mapper) source: Option<Field>,
    pub(in crate::mapper) presence: Option<Field>,
    pub(in crate::mapper) document_size: Option<Leaf>,
    pub(in crate::mapper) verbatim: Option<Field>,
    /// True if a mapped field is shown verbatim.
    pub(in crate::mapper) has_verbatim_fields: bool,
    timestamp: Option<(Field, String)>,
    /// True if the mapper belongs to one segment rather than to an index.
    is_of_segment: bool,
    /// True if a value that its field does not accept is ignored rather than refusing the document.
    pub(in crate::mapper) ignores_malformed: bool,
    /// Fields with a text that every document has.
    pub(in crate::mapper) constants: Vec<Constant>,
    /// Field with the paths of values that were ignored as malformed.
    pub(in crate::mapper) ignored: Option<Field>,
    /// True if values are converted to the type of their field as in Elasticsearch.
    pub(in crate::mapper) coerces: bool,
    /// Whether texts without a mapping are dates, and numbers.
    pub(in crate::mapper) detects: (bool, bool),
    /// True if documents may have values in `_dynamic` that are mapped now.
    has_former_dynamic: bool,
    id_field: Option<String>,
    tag_fields: Vec<String>,
    search_settings: SearchSettings,
    shown_source: Option<ShownSource>,
    docstore: DocstoreSettings,
    /// Maximum lengths of whole values in fields, distinct.
    limits_of_values: Vec<u32>,
    pub(in crate::mapper) views: Views,
    pub(in crate::mapper) analyzers: Analyzers,
    /// Tokenizers that make several terms of a word.
    with_alternatives: Vec<String>,
    pub(in crate::mapper) term_bounds: TermBounds,
}

impl DocMapper {
    /// Compiles a config.
    ///
    /// # Errors
    /// Never for a config that was read, because reading validates it. One built by hand may lack
    /// its timestamp field.
    pub fn new(config: &IndexConfig) -> Result<DocMapper, ConfigError> {
        let mapper = Self::numbered(config, Numbering::New(Schema::builder()))?;
        let added = &config.doc_mapping.added_fields;
        if added.is_empty() {
            return Ok(mapper);
        }
        let schema = in_order_of_addition(&mapper.schema, added);
        Self::numbered(config, Numbering::Given(&schema, None))
    }

    /// Compiles an index's config for one of its segments with this schema. An earlier version,
    /// with another order of fields, may have built the segment, or it may be from before some
    /// fields were added.
    ///
    /// # Errors
    /// The segment has a field with another type.
    pub fn of_segment(config: &IndexConfig, schema: &Schema) -> Result<DocMapper, ConfigError> {
        let mapper = Self::numbered(config, Numbering::Given(schema, None))?;
        Ok(DocMapper {
            is_of_segment: true,
            ..mapper
        })
    }

    fn numbered(
        config: &IndexConfig,
        mut numbering: Numbering<'_>,
    ) -> Result<DocMapper, ConfigError> {
        let mapping = &config.doc_mapping;
        let timestamp_path = mapping.timestamp_field.as_deref();
        let timestamp_path = timestamp_path.map(|path| join_path(&split_path(path)));
        let dynamic_mapping = mapping
            .dynamic_mapping
            .as_ref()
            .filter(|_| mapping.mode == Mode::Dynamic);
        let own = numbering.own(own_fields(mapping, dynamic_mapping));
        let mut compiler = Compiler {
            numbering: &mut numbering,
            timestamp_path: timestamp_path.as_deref(),
            index_field_presence: mapping.index_field_presence,
            takes_values: mapping.coerce,
            has_no_dates: mapping.dates_as_texts,
            notes_long_values: mapping.coerce && mapping.store_source,
            ignores_malformed: mapping.ignore_malformed,
            custom: &mapping.tokenizers,
        };
        let mut root = compiler.object(String::new(), &mapping.field_mappings, false);
        let mut dynamic = own.dynamic.zip(dynamic_mapping).map(|(field, mapping)| {
            compiler.numbered_leaf(DYNAMIC_FIELD.to_string(), mapping, Some(field))
        });
        concatenate(&mut root, dynamic.as_mut(), &mapping.field_mappings);
        let has_dynamic = dynamic.is_some();
        let may_name_nothing = mapping.elasticsearch_mapping.is_some() && !has_dynamic;
        let nothing = may_name_nothing.then(|| compiler.nothing());
        let timestamp = timestamp_of(&root, mapping)?;
        let schema = numbering.finish()?;
        let limits_of_values = limits_of_values(&root, dynamic.as_ref());
        let limits = config.indexing_settings.term_limits;
        Ok(DocMapper {
            index_name: config.index_id.clone(),
            term_bounds: TermBounds::new(limits, &schema, &mapping.tokenizers),
            schema,
            constants: constants_of(&root),
            ignored: ignored_of(&root),
            root,
            mode: mapping.mode,
            dynamic,
            nothing,
            field_aliases: field_aliases(mapping.elasticsearch_mapping.as_deref()),
            source: own.source,
            presence: own.presence,
            document_size: own.document_size.map(document_size_leaf),
            verbatim: own.verbatim,
            has_verbatim_fields: has_verbatim(&mapping.field_mappings),
            timestamp,
            is_of_segment: false,
            ignores_malformed: mapping.ignore_malformed,
            coerces: mapping.coerce,
            detects: (!mapping.dates_as_texts, mapping.texts_as_numbers),
            has_former_dynamic: has_dynamic && !mapping.added_fields.is_empty(),
            id_field: mapping.id_field.clone(),
            tag_fields: mapping.tag_fields.clone(),
            search_settings: config.search_settings.clone(),
            shown_source: mapping.shown_source.clone(),
            docstore: DocstoreSettings::of(&config.indexing_settings),
            analyzers: Analyzers(tokenizers::tokenizers_with(
                &mapping.tokenizers,
                &limits_of_values,
            )),
            with_alternatives: tokenizers::with_alternatives(&mapping.tokenizers),
            limits_of_values,
            views: Views::default(),
        })
    }

    /// Sets the name of the index, if it differs from that in its config. An empty name is ignored.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        if !name.is_empty() {
            name.clone_into(&mut self.index_name);
        }
        self
    }

    /// Refuses queries that name a field that there is not, as Quickwit's API does.
    #[must_use]
    pub fn without_unmapped(self) -> Self {
        Self {
            nothing: None,
            ..self
        }
    }

    /// Returns the name of the index.
    pub fn index_name(&self) -> &str {
        &self.index_name
    }

    /// Returns the tantivy schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the settings of a tantivy index. tantivy's own doc store stays empty: documents are
    /// stored by [`write_stored`](crate::write_stored).
    pub fn index_settings(&self) -> IndexSettings {
        IndexSettings {
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        }
    }

    /// Returns the block size and compression level of stored documents.
    pub fn docstore_settings(&self) -> DocstoreSettings {
        self.docstore
    }

    /// Returns the tokenizers of text and JSON fields.
    pub fn tokenizers(&self) -> TokenizerManager {
        self.analyzers.0.clone()
    }

    /// Returns whether a tokenizer makes several terms of a word, at its place: a query with it looks for any of them.
    pub fn has_alternatives(&self, tokenizer: &str) -> bool {
        self.with_alternatives.iter().any(|name| name == tokenizer)
    }

    /// Returns the normalizers of text in fast fields.
    pub fn fast_field_tokenizers(&self) -> TokenizerManager {
        tokenizers::fast_field_tokenizers(&self.limits_of_values)
    }

    /// Returns the treatment of unmapped fields.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the timestamp field and its path.
    pub fn timestamp_field(&self) -> Option<(Field, &str)> {
        self.timestamp
            .as_ref()
            .map(|(field, path)| (*field, path.as_str()))
    }

    /// Returns the name of the field that identifies a document, if the index has one.
    pub fn id_field(&self) -> Option<&str> {
        self.id_field.as_deref()
    }

    /// Returns the paths of the tag fields, sorted.
    pub fn tag_fields(&self) -> &[String] {
        &self.tag_fields
    }

    /// Returns the schema names of the fields for which splits keep a filter because of their
    /// mapping.
    pub fn needle_fields(&self) -> Vec<&str> {
        let leaves = self.root.leaves().into_iter();
        let is_id = |name: &str| self.id_field.as_deref() == Some(name);
        leaves
            .filter(|leaf| leaf.is_needle || is_id(&leaf.path))
            .map(|leaf| leaf.path.as_str())
            .collect()
    }

    /// Returns the paths that a query without a field searches.
    pub fn default_search_fields(&self) -> &[String] {
        &self.search_settings.default_search_fields
    }

    /// Returns the settings for queries.
    pub fn search_settings(&self) -> &SearchSettings {
        &self.search_settings
    }

    /// Returns the parts of documents that Elasticsearch's API shows, if not all.
    pub fn shown_source(&self) -> Option<&ShownSource> {
        self.shown_source.as_ref()
    }

    /// Returns whether [`DocMapper::of_segment`] made this mapper.
    pub fn is_of_segment(&self) -> bool {
        self.is_of_segment
    }

    /// Returns whether older segments may have values in `_dynamic` for fields that were mapped
    /// later.
    pub fn has_former_dynamic(&self) -> bool {
        self.has_former_dynamic
    }

    /// Returns the `_source` field, with `store_source`: each line verbatim, as text.
    pub fn source_field(&self) -> Option<Field> {
        self.source
    }

    /// Returns the field with the paths of malformed values, if the mapping has one.
    pub fn ignored_field(&self) -> Option<Field> {
        self.ignored
    }

    /// Returns the `_dynamic` field, in dynamic mode.
    pub fn dynamic_field(&self) -> Option<Field> {
        self.dynamic.as_ref().map(|leaf| leaf.field)
    }

    /// Returns the `_field_presence` field, with `index_field_presence`.
    pub fn field_presence_field(&self) -> Option<Field> {
        self.presence
    }

    /// Returns the `_doc_length` field, with `store_document_size`.
    pub fn document_size_field(&self) -> Option<Field> {
        self.document_size.as_ref().map(|leaf| leaf.field)
    }
}

struct Compiler<'b, 's> {
    numbering: &'b mut Numbering<'s>,
    timestamp_path: Option<&'b str>,
    index_field_presence: bool,
    /// Whether mappings convert values, and whether texts in JSON fields are no dates.
    takes_values: bool,
    has_no_dates: bool,
    /// Whether `_ignored` has the paths of texts that are too long for whole values.
    notes_long_values: bool,
    ignores_malformed: bool,
    custom: &'b [CustomTokenizer],
}

impl Compiler<'_, '_> {
    /// Compiles an object. Inside of objects in a list, a field has the values of all of them.
    fn object(&mut self, path: String, fields: &[FieldMapping], is_in_list: bool) -> ObjectNode {
        let children = fields
            .iter()
            .filter_map(|mapping| {
                let name = escape_segment(&mapping.name);
                let child_path = if path.is_empty() {
                    name
                } else {
                    format!("{path}.{name}")
                };
                let child = match &mapping.kind {
                    FieldKind::Object(fields) => {
                        let is_nested = mapping.is_nested();
                        let mut node = self.object(child_path, fields, is_in_list || is_nested);
                        node.is_nested = is_nested;
                        Child::Object(node)
                    }
                    _ if is_in_list => {
                        let mapping = FieldMapping {
                            multi_valued: true,
                            stored: false,
                            ..mapping.clone()
                        };
                        Child::Leaf(Box::new(self.leaf(child_path, &mapping)?))
                    }
                    _ => Child::Leaf(Box::new(self.leaf(child_path, mapping)?)),
                };
                Some((mapping.name.clone(), child))
            })
            .collect();
        ObjectNode::new(path, children)
    }

    /// Adds a leaf to the schema; returns `None` for an object.
    fn leaf(&mut self, path: String, mapping: &FieldMapping) -> Option<Leaf> {
        let name = path.clone();
        let entry = match &mapping.kind {
            FieldKind::Text(text) => FieldEntry::new_text(name, text_options(mapping, text)),
            FieldKind::Concatenate(_) if mapping.by_values => {
                return Some(self.numbered_leaf(path, mapping, None));
            }
            FieldKind::Concatenate(concatenate) => {
                FieldEntry::new_text(name, text_options(mapping, &concatenate.text))
            }
            FieldKind::I64(_) => FieldEntry::new_i64(name, numeric_options(mapping)),
            FieldKind::U64(_) => FieldEntry::new_u64(name, numeric_options(mapping)),
            FieldKind::F64(_) => FieldEntry::new_f64(name, numeric_options(mapping)),
            FieldKind::Bool => FieldEntry::new_bool(name, numeric_options(mapping)),
            FieldKind::Date(_) => {
                let is_timestamp = self.timestamp_path == Some(path.as_str());
                FieldEntry::new_date(name, date_options(mapping, is_timestamp))
            }
            FieldKind::GeoPoint(_) => FieldEntry::new_u64(name, code_options(mapping)),
            FieldKind::Range(_) => FieldEntry::new_bytes(name, span_options(mapping)),
            // The split has files of its own for them.
            FieldKind::Vector(_) => FieldEntry::new_bytes(name, BytesOptions::default()),
            FieldKind::Ip => FieldEntry::new_ip_addr(name, ip_options(mapping)),
            FieldKind::Bytes(_) => FieldEntry::new_bytes(name, bytes_options(mapping)),
            FieldKind::Json(_) => FieldEntry::new_json(name, json_options(mapping)),
            FieldKind::Object(_) => return None,
        };
        let field = self.numbering.mapped(entry);
        let mut leaf = self.numbered_leaf(path, mapping, field);
        if let FieldKind::Text(text) = &mapping.kind {
            for variant in &text.variants {
                let path = format!("{}.{}", leaf.path, variant.name);
                let variant_leaf = self.leaf(path, &as_mapping(mapping, variant))?;
                if !variant_leaf.is_absent {
                    leaf.copies.push(variant_leaf.as_copy());
                }
                leaf.variants.push((variant.name.clone(), variant_leaf));
            }
        }
        for own in &mapping.sub_fields {
            let path = format!("{}.{}", leaf.path, own.name);
            let own = FieldMapping {
                multi_valued: mapping.multi_valued,
                ..own.clone()
            };
            leaf.subs.push((own.name.clone(), self.leaf(path, &own)?));
        }
        Some(leaf)
    }

    fn nothing(&self) -> Leaf {
        self.numbered_leaf(UNMAPPED.to_owned(), &FieldMapping::default_dynamic(), None)
    }

    fn numbered_leaf(&self, path: String, mapping: &FieldMapping, field: Option<Field>) -> Leaf {
        let name = path.as_str();
        let concatenated = match &mapping.kind {
            FieldKind::Concatenate(concatenate) => Some(&concatenate.text),
            _ => None,
        };
        let tokenizer = match (&mapping.kind, concatenated) {
            (FieldKind::Text(text), _) | (_, Some(text)) => Some(&text.tokenizer),
            (FieldKind::Json(json), None) => Some(&json.tokenizer),
            _ => None,
        };
        let letters = tokenizer.map(|name| tokenizers::letters(name, self.custom));
        let is_whole = tokenizer.is_some_and(|name| tokenizers::is_whole(name));
        // A column that lacks long values cannot tell whether there is one.
        let is_told = mapping.fast.is_some() && (mapping.ignore_above.is_none() || is_whole);
        let is_asked = mapping.indexed || matches!(mapping.kind, FieldKind::Vector(_));
        let has_presence = self.index_field_presence && is_asked && !is_told;
        let mut leaf = Leaf {
            is_absent: field.is_none() && !(mapping.by_values && concatenated.is_some()),
            field: field.unwrap_or(Field::from_field_id(u32::MAX)),
            presence: has_presence.then(|| PathHasher::new(name).finish()),
            is_timestamp: self.timestamp_path == Some(name),
            is_needle: mapping.needle,
            values_of: Values::of(field, name, mapping),
            path,
            kind: concatenated.map_or_else(
                || mapping.kind.clone(),
                |text| FieldKind::Text(text.clone()),
            ),
            multi_valued: mapping.multi_valued || concatenated.is_some(),
            stored: mapping.stored,
            indexed: mapping.indexed,
            scanned: mapping.scanned,
            fast: mapping.fast,
            ignore_above: mapping.ignore_above,
            ignored_names: Vec::new(),
            null_value: mapping.null_value.clone(),
            constant: mapping.constant.clone(),
            ignores_malformed: self.ignores_malformed || mapping.ignore_malformed,
            infers_days: self.takes_values && !self.has_no_dates,
            has_no_dates: self.has_no_dates,
            is_whole,
            letters: letters.unwrap_or_default(),
            is_computed: concatenated.is_some(),
            // As Elasticsearch's targets of `copy_to`, whose mappings convert values.
            takes_values: concatenated.is_none() || (self.takes_values && !mapping.by_values),
            variants: Vec::new(),
            subs: Vec::new(),
            aliases: mapping.aliases.clone(),
            counted_by: mapping.counted_by.clone(),
            copies: Vec::new(),
        };
        if self.notes_long_values {
            leaf.ignored_names = leaf.names_of_whole_values();
        }
        leaf
    }
}
