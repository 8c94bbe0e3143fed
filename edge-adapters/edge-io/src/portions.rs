//! Supplies of a demand, delivered all at once, or split by split if the processor time is limited,
//! so that it can be checked in between.

use std::collections::{BTreeMap, VecDeque};

use canter_protocol::{ByteClass, Demand, FetchErrorKind, Supply, SupplyResult};

use crate::search::Search;
use crate::{Cache, Platform};

/// Supplies of one demand.
#[derive(Default)]
pub(crate) struct Portions(VecDeque<Portion>);

#[derive(Default)]
struct Portion {
    supplies: Vec<Supply>,
    /// True if the answer can do without the portion: it can do without splits, but not without
    /// lookups and manifests.
    can_be_left_out: bool,
    is_document: bool,
}

impl Portions {
    /// Answers a demand with `search`.
    pub(crate) fn of<P: Platform, C: Cache>(demand: Demand, search: &mut Search<'_, P, C>) -> Self {
        let mut needed = Portion::default();
        if !search.gate.limits_cpu() {
            needed.supplies = search.answer(demand);
            return Self(VecDeque::from([needed]));
        }
        // The order is that of the guest's reads, which come in the order of their importance.
        let mut portions: Vec<Portion> = Vec::new();
        let mut ords: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        let reads = demand.reads.iter();
        for read in reads.filter(|read| read.class != ByteClass::Manifest) {
            let is_document = read.class == ByteClass::DocStore;
            let ord = ords.entry((&read.object, is_document)).or_insert_with(|| {
                portions.push(Portion {
                    supplies: Vec::new(),
                    can_be_left_out: true,
                    is_document,
                });
                portions.len() - 1
            });
            places.insert(read.id, *ord);
        }
        for supply in search.answer(demand) {
            let place = places.get(&supply.id);
            let portion = place.and_then(|place| portions.get_mut(*place));
            portion.unwrap_or(&mut needed).supplies.push(supply);
        }
        Self([needed].into_iter().chain(portions).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next portion, without its bytes if there is no time left to process them.
    pub(crate) fn next<P: Platform, C: Cache>(
        &mut self,
        search: &mut Search<'_, P, C>,
    ) -> Vec<Supply> {
        let Some(mut portion) = self.0.pop_front() else {
            return Vec::new();
        };
        if portion.can_be_left_out
            && let Err(message) = search.admit_cpu(portion.is_document)
        {
            for supply in &mut portion.supplies {
                supply.outcome = SupplyResult::Failed {
                    kind: FetchErrorKind::Budget,
                    message: message.clone(),
                };
            }
        }
        portion.supplies
    }
}
