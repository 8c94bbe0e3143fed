//! The parts before the time.

use std::collections::BTreeMap;

use crate::log_line::element::{Class, after_space, class, element, quoted};
use crate::log_line::naming::{self, Values};
use crate::log_line::step::{Meaning, Shape, Step};

/// The steps over the parts before the time: whatever they are, so many of them.
pub(in crate::log_line) fn before(records: &[&[u8]], num_before: usize) -> Vec<Step> {
    let mut rest: Vec<(&[u8], usize)> = records
        .iter()
        .map(|text| (*text, after_space(text, 0)))
        .collect();
    let mut voted: Vec<(Class, Values)> = Vec::new();
    for _ in 0..num_before {
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        let mut values = Vec::new();
        for (text, place) in &mut rest {
            let Some(element) = element(text, *place).or_else(|| quoted(text, *place)) else {
                continue;
            };
            if let Some(class) = class(text, &element) {
                *counts.entry(class).or_default() += 1;
            }
            values.push(
                text.get(element.inside.clone())
                    .unwrap_or_default()
                    .to_vec(),
            );
            *place = element.next;
        }
        let most = counts.into_iter().max_by_key(|(_, num)| *num);
        let class = most.map_or(Class::Word, |(class, _)| class);
        voted.push((class, Values(values)));
    }
    let parts: Vec<(Shape, Class, &Values)> = voted
        .iter()
        .map(|(class, values)| (Shape::Any, *class, values))
        .collect();
    let meanings = naming::meanings(&parts).into_iter().zip(&voted);
    meanings
        .map(|(meaning, (class, _))| Step {
            shape: Shape::Any,
            meaning: match (class, meaning) {
                (Class::Word | Class::Figure | Class::Column, Meaning::Logger) => Meaning::Nothing,
                // Of a line, not of a process.
                (Class::Number, _) | (_, Meaning::Sign) => Meaning::Nothing,
                (_, meaning) => meaning,
            },
        })
        .collect()
}
