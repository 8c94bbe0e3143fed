//! Objects in stored documents that aggregations take for documents of their own.
//!
//! ```text
//!   matching documents ──▶ blocks of the doc store, some at a time ──▶ objects of each list ──▶ their columns in memory
//! ```

use canter_aggregations::{ListOf, ObjectList, Objects, ObjectsWriter, WORDS};
use canter_doc_mapper::tokenizers::Normalizer;
use canter_doc_mapper::{DocMapper, ScannedField};
use tantivy::schema::{Field, Schema, TextOptions};
use tantivy::{DocId, TantivyDocument};

use super::scan::{DocReader, Scanner};
use crate::SearchError;
use crate::limits::Limits;
use crate::query::{BuiltQuery, DocTerms, NestedClause, build_nested};
use crate::request::AskedAggregations;

/// One list of objects that is being read.
struct List<'a> {
    list: &'a ObjectList,
    /// Path of the objects within those of the list around them.
    inner_path: &'a str,
    writer: ObjectsWriter,
    /// Filters of the request, by slot, that are on these objects.
    filters: Vec<Option<NestedClause>>,
    /// The field whose words stand for the document, and its terms in one.
    words: Option<(ScannedField, DocTerms)>,
}

/// An object of the current document: its number, and its text.
type Found<'t> = (u32, &'t str);

impl Scanner<'_> {
    /// Reads the objects of the documents that match, for each list of the aggregations.
    ///
    /// # Errors
    /// More documents would have to be read than the limit allows, the objects exceed the limit of memory, or a read
    /// fails.
    pub(in crate::leaf) async fn read_objects(
        &self,
        asked: &AskedAggregations,
        built: &BuiltQuery,
        limits: &Limits,
    ) -> Result<Vec<Objects>, SearchError> {
        let mapper = &self.split.mapper;
        let mut lists = open_lists(asked, mapper, limits)?;
        let within = self.matching(built).await?;
        let live = self.split.live_ranges(self.docs.clone());
        let docs = live.into_iter().flatten();
        let docs: Vec<DocId> = docs.filter(|doc| within.contains(*doc)).collect();
        self.verify_budget.spend(docs.len() as u64)?;
        let mut reader = DocReader::open(self.split).await?;
        for doc in &docs {
            self.interrupt.check()?;
            let document = reader.read(*doc, &docs).await?;
            let text = mapper.text_with_objects(&document).unwrap_or_default();
            add_document(&mut lists, mapper, *doc, text)?;
            add_words(&mut lists, mapper, *doc, &document)?;
        }
        reader.finish();
        let lists = lists.into_iter();
        let objects = lists.map(|list| Ok(list.writer.finish()?));
        objects.collect()
    }
}

fn open_lists<'a>(
    asked: &'a AskedAggregations,
    mapper: &DocMapper,
    limits: &Limits,
) -> Result<Vec<List<'a>>, SearchError> {
    let all = asked.parsed().lists();
    let tokenizers = mapper.fast_field_tokenizers();
    let lists = all.iter().enumerate().map(|(slot, list)| {
        let outer = list.outer.and_then(|outer| all.get(outer));
        let inner = outer.and_then(|outer| list.path.strip_prefix(outer.path.as_str()));
        let inner = inner.and_then(|inner| inner.strip_prefix('.'));
        let filters = asked.queries().map(|(filter, query)| match filter.of_list {
            Some(of) if of == slot => build_nested(query, &list.path, mapper, limits),
            _ => Ok(None),
        });
        let filters = filters.collect::<Result<Vec<_>, _>>()?;
        let words = match list.of {
            ListOf::Objects => None,
            _ if !list.is_read(mapper) => None,
            _ => mapper
                .resolve(&list.path)
                .map(|field| ScannedField::of(&field)),
        };
        let schema = match list.of {
            ListOf::Objects => mapper.schema().clone(),
            ListOf::Words | ListOf::WordsWithoutColumn | ListOf::Patterns => schema_of_words(),
        };
        let writer = ObjectsWriter::new(
            list,
            schema,
            &tokenizers,
            filters.len(),
            limits.max_aggregation_bytes,
        )?;
        Ok(List {
            list,
            inner_path: match (outer, inner) {
                (None, _) => &list.path,
                (Some(_), inner) => inner.unwrap_or_default(),
            },
            writer,
            filters,
            words: words.map(|field| {
                let terms = match list.of {
                    ListOf::Patterns => DocTerms::of(tokenizers.get(Normalizer::Pattern.name())),
                    _ => DocTerms::new(mapper, &field),
                };
                (field, terms)
            }),
        })
    });
    lists.collect()
}

/// Name of the tokenizer that leaves texts as they are.
const RAW: &str = "raw";

/// Returns the schema of documents that have words.
fn schema_of_words() -> Schema {
    let mut schema = Schema::builder();
    schema.add_text_field(WORDS, TextOptions::default().set_fast(RAW));
    schema.build()
}

/// Adds a document to each list of words.
fn add_words(
    lists: &mut [List<'_>],
    mapper: &DocMapper,
    doc: DocId,
    document: &TantivyDocument,
) -> Result<(), SearchError> {
    for list in lists {
        let Some((field, terms)) = &mut list.words else {
            continue;
        };
        let stored = mapper.stored_doc(document, field.is_json());
        terms.read(mapper, field, &stored);
        let mut words: Vec<&str> = terms.words().collect();
        canter_sorting::sort(&mut words);
        words.dedup();
        let mut object = TantivyDocument::new();
        for word in words {
            object.add_text(Field::from_field_id(0), word);
        }
        list.writer.add(&object, doc, (doc, 0), &[])?;
    }
    Ok(())
}

/// Adds the objects of a document to each list.
fn add_document(
    lists: &mut [List<'_>],
    mapper: &DocMapper,
    doc: DocId,
    text: &str,
) -> Result<(), SearchError> {
    let mut found: Vec<Vec<Found<'_>>> = Vec::with_capacity(lists.len());
    for list in lists {
        let around: &[Found<'_>] = match list.list.outer {
            None => &[(doc, text)],
            Some(outer) => found.get(outer).map_or(&[], Vec::as_slice),
        };
        let mut here = Vec::new();
        let mut nth = 0;
        for (parent, text) in around {
            if list.list.of != ListOf::Objects {
                break;
            }
            // Another path than one below that of the outer objects leads to none.
            let objects = match list.inner_path {
                "" => Vec::new(),
                path => mapper.objects_at(text, path),
            };
            for object in objects {
                let Some(parsed) = mapper.nested_object(&list.list.path, object) else {
                    continue;
                };
                let matches = list.filters.iter();
                let matches = matches.map(|filter| {
                    let filter = filter.as_ref();
                    filter.is_some_and(|filter| filter.takes(mapper, object))
                });
                let matches: Vec<bool> = matches.collect();
                let number = list
                    .writer
                    .add(parsed.document(), *parent, (doc, nth), &matches)?;
                here.push((number, object));
                nth += 1;
            }
        }
        found.push(here);
    }
    Ok(())
}
