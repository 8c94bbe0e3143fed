//! The warmup: brings everything a query will read, before it runs.

use std::sync::Arc;

use canter_matching::{ColumnKind, check_column};
use futures_util::future::{BoxFuture, FutureExt, try_join_all};
use tantivy::columnar::ColumnType;
use tantivy::{SegmentReader, TantivyError};
use tantivy_fst::Automaton;

use super::lists::{
    all_terms, load_blocks, load_dictionary, load_matching, load_range, load_term, load_values,
};
use crate::query::{Needs, TermAutomaton};
use crate::split::OpenSplit;

/// Loads everything that `needs` names, in one wave.
///
/// # Errors
/// If a range cannot be had.
pub(in crate::leaf) async fn warm_up(split: &OpenSplit, needs: &Needs) -> tantivy::Result<()> {
    let segment = split.segment();
    let mut loads: Vec<BoxFuture<'_, tantivy::Result<()>>> = Vec::new();
    for (term, positions) in &needs.terms {
        loads.push(load_term(split, term, *positions).boxed());
    }
    for range in &needs.term_ranges {
        loads.push(load_range(split, range).boxed());
    }
    for (field, automaton, positions) in &needs.automata {
        loads.push(
            async move {
                match automaton {
                    TermAutomaton::Regex(regex) => {
                        load_matching(split, *field, &Shared(Arc::clone(regex)), *positions).await
                    }
                    TermAutomaton::Near(near) => {
                        load_matching(split, *field, &Shared(Arc::clone(near)), *positions).await
                    }
                    TermAutomaton::OneOf(terms) => {
                        load_matching(split, *field, &Shared(Arc::clone(terms)), *positions).await
                    }
                    TermAutomaton::AtAnyPath(terms) => {
                        load_matching(split, *field, &Shared(Arc::clone(terms)), *positions).await
                    }
                    TermAutomaton::InValues(values) => {
                        load_values(split, *field, values.as_ref()).await
                    }
                }
            }
            .boxed(),
        );
    }
    for name in &needs.fast_fields {
        loads.push(warm_up_column(segment, name).boxed());
    }
    for field in &needs.fieldnorms {
        if let Some(norms) = segment
            .fieldnorms_readers()
            .get_inner_file()
            .open_read(*field)
        {
            loads.push(
                async move {
                    norms.read_bytes_async().await?;
                    Ok(())
                }
                .boxed(),
            );
        }
    }
    try_join_all(loads).await?;
    Ok(())
}

/// Loads the parts of dictionaries that `needs` names, in one wave.
///
/// # Errors
/// If a range cannot be had.
pub(super) async fn warm_up_dictionaries(split: &OpenSplit, needs: &Needs) -> tantivy::Result<()> {
    let mut loads: Vec<BoxFuture<'_, tantivy::Result<()>>> = Vec::new();
    for term in needs.terms.keys() {
        let load = async { split.terms.load(split.segment(), term).await.map(drop) };
        loads.push(load.boxed());
    }
    for range in &needs.term_ranges {
        loads.push(load_blocks(split, range).boxed());
    }
    for (field, automaton, _) in &needs.automata {
        let load = async move {
            match automaton {
                TermAutomaton::Regex(regex) => {
                    load_dictionary(split, *field, &Shared(Arc::clone(regex))).await
                }
                TermAutomaton::Near(near) => {
                    load_dictionary(split, *field, &Shared(Arc::clone(near))).await
                }
                TermAutomaton::OneOf(terms) => {
                    load_dictionary(split, *field, &Shared(Arc::clone(terms))).await
                }
                TermAutomaton::AtAnyPath(terms) => {
                    load_dictionary(split, *field, &Shared(Arc::clone(terms))).await
                }
                TermAutomaton::InValues(_) => load_blocks(split, &all_terms(*field)).await,
            }
        };
        loads.push(load.boxed());
    }
    try_join_all(loads).await?;
    Ok(())
}

/// Loads every column under a fast field's name.
async fn warm_up_column(segment: &SegmentReader, name: &str) -> tantivy::Result<()> {
    let columns = segment.fast_fields();
    let mut handles = match columns.list_dynamic_column_handles(name).await {
        // In a split from before the field was mapped, the field's substitute is not fast.
        Err(TantivyError::InvalidArgument(_)) => return Ok(()),
        handles => handles?,
    };
    handles.extend(columns.list_subpath_dynamic_column_handles(name).await?);
    let loads = handles.iter().map(async |handle| {
        let bytes = handle.file_slice().read_bytes_async().await?;
        let kind = match handle.column_type() {
            ColumnType::Str | ColumnType::Bytes => ColumnKind::Terms,
            ColumnType::IpAddr => ColumnKind::Addresses,
            _ => ColumnKind::Numbers,
        };
        check_column(&bytes, kind, segment.max_doc())
    });
    try_join_all(loads).await?;
    Ok(())
}

/// An automaton that is cheap to clone.
pub(super) struct Shared<A>(pub(super) Arc<A>);

impl<A> Clone for Shared<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: Automaton> Automaton for Shared<A> {
    type State = A::State;

    fn start(&self) -> Self::State {
        self.0.start()
    }

    fn is_match(&self, state: &Self::State) -> bool {
        self.0.is_match(state)
    }

    fn can_match(&self, state: &Self::State) -> bool {
        self.0.can_match(state)
    }

    fn will_always_match(&self, state: &Self::State) -> bool {
        self.0.will_always_match(state)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        self.0.accept(state, byte)
    }
}
