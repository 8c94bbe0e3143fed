//! Finds what documents have in common: their shapes, and the texts that only variables tell apart.

use std::collections::BTreeMap;

use canter_split_format::{Part, Templates, shape_of, template_of};

use super::parts::parts_of;

/// What fewer documents of a sample have is not common. A sample has at most 2,048.
const MIN_COUNT: usize = 4;

/// Shapes that there are at most: each of them has columns of its own in a block.
const MAX_NUM_SHAPES: usize = 64;

/// Templates of texts, of which each has, too.
const MAX_NUM_TEXTS: usize = 1_024;

/// The templates of some documents, of which those come first that save most, up to so many bytes.
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

/// Those that are common, by what they save in all, as many as fit.
fn most_saving(counts: BTreeMap<Vec<u8>, usize>, max_num: usize, left: &mut usize) -> Vec<Vec<u8>> {
    let common = counts.into_iter().filter(|(_, count)| *count >= MIN_COUNT);
    let mut common: Vec<(Vec<u8>, usize)> = common.collect();
    // In ascending order before, so that equals stay in an order of their own.
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
