//! Training: models of rows, learnt from a sample of the documents.
//!
//! ```text
//!   sampled documents ─▶ values of each slot ─▶ form of each slot ─▶ models that several slots share ─▶ writer
//! ```
//!
//! A model is worth its bytes if it saves [`HEAD_BYTE_PRICE`] times as many bytes of documents. All
//! arithmetic is on integers and all order is defined, so that the same sample gives the same models
//! on every machine.

mod letters;
mod numbers;
mod sharing;
mod strings;

use super::super::slots::{Dissector, SlotKind, SlotValue};
use super::super::templates::{Part, Templates};
use super::alphabet::COST_OF_BIT;
use super::models::{MAX_DIGITS, Models, NumberSlot, Relation, SlotModel};
use super::writer::{RowWriter, decimal};
use letters::LetterObservations;
use numbers::{NumberObservations, Observed};
use sharing::{Budget, Observations, shared};
use strings::StringObservations;

/// Number of rows of a group: half of them are decoded to read one.
const GROUP_NUM_ROWS: usize = 32;

/// Number of bytes of documents that a byte of a head must save: every search of the split reads
/// the head.
const HEAD_BYTE_PRICE: u64 = 8;

/// A slot is one of decimals if at least one in `MIN_DECIMALS` values is a decimal.
const MIN_DECIMALS: usize = 2;

/// Values of the slots of sampled documents.
#[derive(Debug)]
pub struct RowTraining {
    dissector: Dissector,
    slots: Vec<Values>,
    /// Bytes of all values.
    bytes: Vec<u8>,
    run: u32,
    num_docs: u64,
}

/// Values of a slot, each with the run of neighbours that it is in.
#[derive(Clone, Debug)]
enum Values {
    Numbers(Vec<(u32, u64)>),
    /// Start and length in the bytes of all values.
    Bytes(Vec<(u32, usize, usize)>),
}

/// Form of a slot, with what it has observed.
struct Plan {
    slot: PlannedSlot,
    numbers: NumberObservations,
    strings: StringObservations,
    letters: LetterObservations,
}

enum PlannedSlot {
    Numbers {
        base: u64,
        relation: Relation,
    },
    Decimals {
        base: u64,
        relation: Relation,
        width: usize,
    },
    Strings {
        is_repeating: bool,
    },
}

impl RowTraining {
    /// Starts a sample of documents with these templates.
    pub fn new(templates: Templates) -> Self {
        let dissector = Dissector::new(templates);
        let values = |kind: &SlotKind| match kind {
            SlotKind::Numbers => Values::Numbers(Vec::new()),
            SlotKind::Bytes | SlotKind::Variables => Values::Bytes(Vec::new()),
        };
        Self {
            slots: dissector.slots().kinds.iter().map(values).collect(),
            dissector,
            bytes: Vec::new(),
            run: 0,
            num_docs: 0,
        }
    }

    /// Notes that the next document does not follow the one before it.
    pub fn start_run(&mut self) {
        self.run += 1;
    }

    /// Adds a document that consists of these parts; without parts if they are unknown.
    pub fn add(&mut self, document: &[u8], parts: &[Part<'_>]) {
        self.num_docs += 1;
        let (slots, all, run) = (&mut self.slots, &mut self.bytes, self.run);
        let mut note = |slot: usize, value: SlotValue<'_>| match (slots.get_mut(slot), value) {
            (Some(Values::Numbers(values)), SlotValue::Number(number)) => {
                values.push((run, number));
            }
            (Some(Values::Bytes(values)), SlotValue::Bytes(bytes)) => {
                values.push((run, all.len(), bytes.len()));
                all.extend_from_slice(bytes);
            }
            _ => {}
        };
        self.dissector.dissect(document, parts, &mut note);
    }

    /// Returns a writer for `num_docs` documents like those of the sample, whose models take about
    /// `max_num_bytes` at most.
    pub fn writer(self, num_docs: usize, max_num_bytes: usize) -> RowWriter {
        let models = self.models(num_docs, max_num_bytes);
        RowWriter::with_models(self.dissector.templates().clone(), models)
    }

    fn models(&self, num_docs: usize, max_num_bytes: usize) -> Models {
        let mut budget = Budget::new(num_docs as u64, self.num_docs, max_num_bytes);
        let plans: Vec<Plan> = self
            .slots
            .iter()
            .map(|values| self.plan(values, &budget))
            .collect();
        let numbers: Vec<&NumberObservations> = plans.iter().map(|plan| &plan.numbers).collect();
        let strings: Vec<&StringObservations> = plans.iter().map(|plan| &plan.strings).collect();
        let (number_models, numbers_of) = shared(&numbers, &mut budget);
        let (string_models, strings_of) = shared(&strings, &mut budget);
        let spelled = plans.iter().enumerate().map(|(slot, plan)| {
            let strings = strings_of
                .get(slot)
                .and_then(|model| string_models.get(*model));
            match (&plan.slot, strings) {
                (PlannedSlot::Strings { .. }, Some(model)) => plan.strings.letters_beside(model),
                _ => plan.letters.clone(),
            }
        });
        let letters: Vec<LetterObservations> = spelled.collect();
        let letters: Vec<&LetterObservations> = letters.iter().collect();
        let (letter_models, letters_of) = shared(&letters, &mut budget);
        let model_of = |models: &[usize], slot: usize| models.get(slot).copied().unwrap_or(0);
        let slots = plans.iter().enumerate().map(|(slot, plan)| {
            let numbers = |base: u64, relation: Relation| NumberSlot {
                model: model_of(&numbers_of, slot),
                base,
                relation,
                last: 0,
            };
            match plan.slot {
                PlannedSlot::Numbers { base, relation } => {
                    SlotModel::Numbers(numbers(base, relation))
                }
                PlannedSlot::Decimals {
                    base,
                    relation,
                    width,
                } => SlotModel::Decimals {
                    numbers: numbers(base, relation),
                    width,
                    letters: model_of(&letters_of, slot),
                },
                PlannedSlot::Strings { is_repeating } => SlotModel::Strings {
                    is_repeating,
                    strings: model_of(&strings_of, slot),
                    letters: model_of(&letters_of, slot),
                },
            }
        });
        Models {
            group_num_rows: GROUP_NUM_ROWS,
            slots: slots.collect(),
            numbers: number_models,
            strings: string_models,
            letters: letter_models,
            num_lasts: 0,
        }
    }

    fn value(&self, start: usize, len: usize) -> &[u8] {
        self.bytes.get(start..start + len).unwrap_or_default()
    }

    /// Chooses the form of a slot.
    fn plan(&self, values: &Values, budget: &Budget) -> Plan {
        let mut plan = Plan {
            slot: PlannedSlot::Strings {
                is_repeating: false,
            },
            numbers: NumberObservations::default(),
            strings: StringObservations::default(),
            letters: LetterObservations::default(),
        };
        match values {
            Values::Numbers(values) => {
                let observed = values.iter().map(|(run, number)| Observed {
                    run: *run,
                    number: Some(*number),
                });
                let (base, relation, numbers) =
                    numbers::best(&observed.collect::<Vec<_>>(), budget);
                plan.slot = PlannedSlot::Numbers { base, relation };
                plan.numbers = numbers;
            }
            Values::Bytes(values) => self.plan_bytes(values, budget, &mut plan),
        }
        plan
    }

    fn plan_bytes(&self, values: &[(u32, usize, usize)], budget: &Budget, plan: &mut Plan) {
        let width = self.width_of(values);
        let number_of = |(run, start, len): &(u32, usize, usize)| Observed {
            run: *run,
            number: decimal(self.value(*start, *len), width),
        };
        let observed: Vec<Observed> = values.iter().map(number_of).collect();
        let num_decimals = observed
            .iter()
            .filter(|value| value.number.is_some())
            .count();
        if num_decimals > 0 && num_decimals * MIN_DECIMALS >= values.len() {
            let (base, relation, numbers) = numbers::best(&observed, budget);
            plan.slot = PlannedSlot::Decimals {
                base,
                relation,
                width,
            };
            plan.numbers = numbers;
            for (value, (_, start, len)) in observed.iter().zip(values) {
                if value.number.is_none() {
                    plan.letters.add(self.value(*start, *len), 1);
                }
            }
            return;
        }
        let (mut plain, mut repeating) =
            (StringObservations::default(), StringObservations::default());
        let mut last = None;
        for (run, start, len) in values {
            let string = self.value(*start, *len);
            plain.add(string);
            match last == Some((*run, string)) {
                true => repeating.add_same(),
                false => repeating.add(string),
            }
            last = Some((*run, string));
        }
        let [of_plain, of_repeating] = [&plain, &repeating].map(|seen| {
            let model = seen.learnt(budget);
            seen.cost(&model, &StringObservations::codes(&model))
        });
        let is_repeating = of_repeating < of_plain;
        plan.slot = PlannedSlot::Strings { is_repeating };
        plan.strings = if is_repeating { repeating } else { plain };
    }

    /// Returns the width with which most of the values are decimals.
    fn width_of(&self, values: &[(u32, usize, usize)]) -> usize {
        let has_zeros = |(_, start, len): &&(u32, usize, usize)| {
            *len > 1 && *len <= MAX_DIGITS && self.value(*start, *len).first() == Some(&b'0')
        };
        let mut counts = [0_usize; MAX_DIGITS + 1];
        for (_, _, len) in values.iter().filter(has_zeros) {
            if let Some(count) = counts.get_mut(*len) {
                *count += 1;
            }
        }
        let widest = (0..).zip(counts).max_by_key(|(_, count)| *count);
        let width = widest
            .filter(|(_, count)| *count > 0)
            .map_or(0, |(width, _)| width);
        let num = |width: usize| {
            let values = values
                .iter()
                .map(|(_, start, len)| self.value(*start, *len));
            values
                .filter(|value| decimal(value, width).is_some())
                .count()
        };
        match num(width) > num(0) {
            true => width,
            false => 0,
        }
    }
}
