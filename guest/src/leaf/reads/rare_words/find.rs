//! Finding the rare words that a query may mean.

use std::collections::{BTreeMap, BTreeSet};

use canter_matching::{AddedDoc, AddedWord};
use canter_split_format::{ByteClasses, RareWordsIndex};
use futures_util::future::{join, try_join, try_join_all};
use tantivy::Term;
use tantivy::schema::Field;

use super::super::rerun::rerun_on_gaps;
use super::super::scan::ScanBudget;
use super::super::warmup::{warm_up, warm_up_dictionaries};
use super::documents::{Sought, docs_of, find_words, load_few};
use super::reach::Rests;
use super::wanted::{Need, WantedWords};
use crate::SearchError;
use crate::exchange::Interrupt;
use crate::query::Needs;
use crate::split::OpenSplit;

/// Byte that no text has. A stub stands for its word with this behind: after all words that begin with it, before the
/// next stub.
const BEHIND_STUB: u8 = 0xff;

/// What a search for rare words may do.
pub(in crate::leaf) struct RareWordSearch<'a> {
    /// Number of documents that may be read.
    pub(in crate::leaf) budget: &'a ScanBudget,
    pub(in crate::leaf) interrupt: &'a Interrupt,
    /// Whether postings are loaded beside the documents. If not, they come a wave later.
    pub(in crate::leaf) warms_up: bool,
}

/// Adds the rare words that a query with these needs may mean to what tantivy reads of a split.
///
/// # Errors
/// If more documents would have to be read than the limit allows, a read fails, or the split is damaged.
pub(in crate::leaf) async fn add_rare_words(
    split: &mut OpenSplit,
    needs: &Needs,
    search: &RareWordSearch<'_>,
) -> Result<(), SearchError> {
    if !WantedWords::may_be_of(needs) {
        return Ok(());
    }
    let Some(index) = split.rare_words().await? else {
        return Ok(());
    };
    let wanted = WantedWords::of(needs, &index);
    if wanted.is_empty() {
        return Ok(());
    }
    let words = {
        let split = &*split;
        let dictionaries = async {
            let loaded = warm_up_dictionaries(split, needs).await;
            loaded.map_err(|error| split.error(error))
        };
        let (mut sought, ()) = try_join(
            stubs_of(split, &index, &wanted, search.interrupt),
            dictionaries,
        )
        .await?;
        sought.retain(|field, sought| {
            let wanted = wanted.get(field);
            wanted.is_some_and(|wanted| {
                drop_known(split, *field, wanted, sought);
                !sought.words.is_empty() || !sought.documents.is_empty()
            })
        });
        if sought.is_empty() {
            return Ok(());
        }
        let docs = docs_of(sought.values());
        search.budget.spend(docs.len() as u64)?;
        let few = load_few(split, &docs);
        let warmed_up = async {
            match search.warms_up {
                true => warm_up(split, needs)
                    .await
                    .map_err(|error| split.error(error)),
                false => Ok(()),
            }
        };
        let (few, warmed_up) = join(few, warmed_up).await;
        few?;
        warmed_up?;
        let mut fields: Vec<&mut Sought> = sought.values_mut().collect();
        find_words(split, &docs, &mut fields, search.interrupt).await?;
        let fields = sought.into_iter();
        let fields = fields.map(async |(field, sought)| {
            Ok::<_, SearchError>((field, settled(split, field, sought).await?))
        });
        let fields = try_join_all(fields).await?;
        canter_sorting::map_of(fields.into_iter().filter(|(_, words)| !words.is_empty()))
    };
    if words.is_empty() {
        return Ok(());
    }
    let files = rerun_on_gaps(split, search.interrupt, || Ok(split.files_with(&words)?)).await?;
    split.use_files(files)
}

/// Reads the stubs that may be meant, by field.
async fn stubs_of(
    split: &OpenSplit,
    index: &RareWordsIndex,
    wanted: &BTreeMap<u32, WantedWords>,
    interrupt: &Interrupt,
) -> Result<BTreeMap<u32, Sought>, SearchError> {
    let places = wanted.iter().map(|(field, wanted)| {
        let places = wanted.blocks(*field, index);
        (*field, places)
    });
    let places: Vec<(u32, BTreeSet<usize>)> = places.collect();
    let of_field = |(field, places): &(u32, BTreeSet<usize>)| {
        let blocks = index.blocks_of(*field);
        let blocks = places.iter().filter_map(|place| blocks.get(*place));
        blocks.map(|block| block.bytes.clone()).collect::<Vec<_>>()
    };
    split
        .load_rare_words(places.iter().flat_map(of_field).collect())
        .await?;
    let mut all = BTreeMap::new();
    for (field, places) in &places {
        let (Some(wanted), false) = (wanted.get(field), places.is_empty()) else {
            continue;
        };
        let scanned = split.mapper.stored_text(Field::from_field_id(*field));
        let scanned = scanned
            .ok_or_else(|| split.error("it has rare words of a field that stores no texts"))?;
        let mut sought = Sought::new(scanned);
        let mut rests = Rests::new(ByteClasses::default());
        for block in places
            .iter()
            .filter_map(|place| index.blocks_of(*field).get(*place))
        {
            interrupt.check()?;
            let bytes = split.rare_words_block(&block.bytes)?;
            let words = index.open_block(block, &bytes);
            rests.turn_to(block.rests);
            let mut words = words.map_err(|error| split.error(error))?;
            while let Some(word) = words.next().map_err(|error| split.error(error))? {
                let meant_terms = wanted.terms.range(word.stub.to_vec()..);
                let mut begun = meant_terms.take_while(|term| term.starts_with(word.stub));
                let need = match begun.any(|term| word.may_be(term)) {
                    true => Need::Word,
                    false => wanted.need_of(word.stub, word.is_whole, &mut rests),
                };
                let place = sought.stubs.len();
                match need {
                    Need::Nothing => continue,
                    Need::Documents => sought.documents.insert(place),
                    Need::Word => sought.words.insert(place),
                };
                sought
                    .stubs
                    .push(&word)
                    .map_err(|error| split.error(error))?;
            }
        }
        all.insert(*field, sought);
    }
    Ok(all)
}

/// Drops stubs that are sought only for words that the dictionary has.
fn drop_known(split: &OpenSplit, field: u32, wanted: &WantedWords, sought: &mut Sought) {
    let field = Field::from_field_id(field);
    let is_absent = |word: &Vec<u8>| {
        let term = Term::from_field_text(field, std::str::from_utf8(word).unwrap_or_default());
        !matches!(split.terms.get(split.segment(), &term), Ok(Some(_)))
    };
    let absent = wanted
        .terms
        .iter()
        .filter(|word| is_absent(word))
        .filter_map(|word| sought.stubs.find(word));
    let absent = canter_sorting::set_of(absent);
    let Sought {
        stubs,
        words,
        documents,
        ..
    } = sought;
    // Of a stub alone, it is not known how it goes on.
    let mut rests = Rests::new(ByteClasses::ALL);
    words.retain(|place| {
        if absent.contains(place) {
            return true;
        }
        let stub = stubs.stub(*place).unwrap_or_default();
        let need = wanted.need_of(stub, stubs.is_whole(*place), &mut rests);
        if need == Need::Documents {
            documents.insert(*place);
        }
        need == Need::Word
    });
}

/// Returns the words of a field that are added, in order.
async fn settled(
    split: &OpenSplit,
    field: u32,
    sought: Sought,
) -> Result<Vec<AddedWord>, SearchError> {
    let wanted = sought.words.clone();
    let (stubs, documents, candidates) = sought.into_candidates();
    let mut by_stub: BTreeMap<usize, Vec<AddedWord>> = BTreeMap::new();
    for (stub, word) in candidates {
        by_stub.entry(stub).or_default().push(word);
    }
    let mut words: BTreeMap<usize, AddedWord> = BTreeMap::new();
    for stub in wanted {
        let mut found = by_stub.remove(&stub).unwrap_or_default();
        if found.len() > 1 {
            found = without_known(split, field, found).await?;
        }
        let (Some(word), true) = (found.pop(), found.is_empty()) else {
            return Err(split.error("documents lack a rare word that it says they have"));
        };
        words.insert(stub, word);
    }
    for place in documents {
        let mut word = stubs.stub(place).unwrap_or_default().to_vec();
        if !stubs.is_whole(place) {
            word.push(BEHIND_STUB);
        }
        let docs = stubs.docs(place).iter().map(|doc| AddedDoc {
            doc: *doc,
            positions: Vec::new(),
        });
        let docs = docs.collect();
        words.insert(place, AddedWord { word, docs });
    }
    Ok(words.into_values().collect())
}

/// Leaves out words that the dictionary has.
async fn without_known(
    split: &OpenSplit,
    field: u32,
    words: Vec<AddedWord>,
) -> Result<Vec<AddedWord>, SearchError> {
    let mut others = Vec::new();
    for word in words {
        let text = std::str::from_utf8(&word.word).unwrap_or_default();
        let term = Term::from_field_text(Field::from_field_id(field), text);
        let known = split.terms.load(split.segment(), &term).await;
        if known.map_err(|error| split.error(error))?.is_none() {
            others.push(word);
        }
    }
    Ok(others)
}
