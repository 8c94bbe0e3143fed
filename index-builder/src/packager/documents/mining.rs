//! Detection of templates: shapes of documents, and texts that only differ in variables.

use std::collections::BTreeMap;

use canter_split_format::{Part, Templates, shape_of, template_of};

use super::parts::parts_of;

/// Minimum number of occurrences of a template in a sample, which has at most 2,048 documents.
const MIN_COUNT: usize = 4;

/// Maximum number of shapes, each of which has separate columns in a block.
const MAX_NUM_SHAPES: usize = 64;

/// Maximum number of text templates, each of which also has separate columns.
const MAX_NUM_TEXTS: usize = 1_024;

/// Returns the templates of the documents that save most, up to a total of `max_num_bytes`.
pub(super) fn mined<'d>(
    documents: impl Iterator<Item = &'d [u8]>,
    max_num_bytes: usize,
) -> Templates {
    let mut shapes: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut texts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for document in documents {
        let parts = parts_of(document);
        if !parts.is_empty() {
            *shapes.entry(shape_of(&parts)).or_default() += 1;
        }
        for part in &parts {
            if let Part::Text(text) = part
                && let Some(template) = template_of(text)
            {
                *texts.entry(template).or_default() += 1;
            }
        }
    }
    let mut left = max_num_bytes;
    Templates {
        shapes: most_saving(shapes, MAX_NUM_SHAPES, &mut left),
        texts: most_saving(texts, MAX_NUM_TEXTS, &mut left),
    }
}

/// Returns the most common templates, ordered by the bytes that they save in total, as far as they
/// fit.
fn most_saving(counts: BTreeMap<Vec<u8>, usize>, max_num: usize, left: &mut usize) -> Vec<Vec<u8>> {
    let common = counts.into_iter().filter(|(_, count)| *count >= MIN_COUNT);
    let mut common: Vec<(Vec<u8>, usize)> = common.collect();
    // They are sorted by template before, and this sort is stable, so the result is deterministic.
    common.sort_by_key(|(template, count)| std::cmp::Reverse(template.len() * count));
    let mut chosen = Vec::new();
    for (template, _) in common {
        if template.len() < *left && chosen.len() < max_num {
            *left -= template.len() + 1;
            chosen.push(template);
        }
    }
    chosen
}
