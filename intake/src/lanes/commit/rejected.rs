//! Documents of a batch that cannot be published, set aside so that the others can be.

use canter_index_builder::{
    BuildError, DocumentCheck, keep_rejected, keep_unbuildable, remove_spooled,
};

use super::{Committer, may_be_rejects};
use crate::lanes::batch::Part;
use crate::lanes::ids::is_delete;
use crate::refusal::Refusal;

impl Committer {
    /// Moves a part that cannot be published to the folder `rejected`: later, its operations would undo newer ones on documents
    /// with the same ids.
    pub(super) fn set_aside_whole(&mut self, id: &str, lines: Option<&[u8]>, error: &BuildError) {
        let store = &self.shared.store;
        let moved = keep_unbuildable(store, id, lines.unwrap_or_default());
        let moved = moved.and_then(|()| remove_spooled(store, id));
        let (index, moved) = (store.uri(), moved.map_err(|error| error.with_causes()));
        tracing::error!(
            target: "canter::intake", index, spool = id, error = error.with_causes(), ?moved,
            "documents that cannot be published are in the folder `rejected`, under the name of their spooled object and `unbuildable`"
        );
    }

    /// Publishes a part of the spool without the documents that cannot be built, which are written
    /// to the folder `rejected` first. As in [`Committer::set_aside`], everything keeps one id, and
    /// the spooled object stays unchanged until its removal: a process that resumes from any state
    /// finds the same documents.
    pub(super) fn publish_buildable(
        &self,
        part: &mut Part,
        error: BuildError,
    ) -> Result<(), BuildError> {
        let store = &self.shared.store;
        let (Some(id), Some(lines)) = (&part.spooled, &part.lines) else {
            return Err(error);
        };
        let lines: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
        let documents: Vec<&[u8]> = lines.iter().map(|line| line.trim_ascii_end()).collect();
        let places = (self.builder.unbuildable)(store, &documents)?;
        if places.is_empty() {
            return Err(error);
        }
        let bad = places.iter().filter_map(|place| lines.get(*place).copied());
        let bad: Vec<u8> = bad.flatten().copied().collect();
        keep_unbuildable(store, id, &bad)?;
        tracing::error!(
            target: "canter::intake", index = store.uri(), spool = id.as_str(), num_documents = places.len(),
            error = error.with_causes(),
            "documents with which building fails are in the folder `rejected`, under the name of their spooled object and \
             `unbuildable`: this is a mistake in Canter, please report it"
        );
        part.left_out = places.iter().map(|place| *place as u64 + 1).collect();
        match self.publish(std::slice::from_mut(part), places.len() as u64) {
            // A change of the index config may cause other rejects.
            Err(error) if may_be_rejects(&error) => {
                let num_set_aside = self.set_aside(std::slice::from_mut(part))?.ok_or(error)?;
                self.publish(
                    std::slice::from_mut(part),
                    num_set_aside + places.len() as u64,
                )
            }
            outcome => outcome,
        }
    }

    /// Sets aside the documents that the index no longer allows, after its config has changed.
    /// Clients that wait for such documents are told, and nothing of their parts is published.
    /// Durable parts are published without them; the folder `rejected` keeps them for inspection.
    ///
    /// ```text
    ///   spool/<id> has good and bad ──▶ rejected/<id> has the bad ──▶ published: the ledger has <id> ──▶ spool/<id> is removed
    /// ```
    ///
    /// Returns the number of lines of durable parts that publishing will reject, or `None` if the
    /// index allows all documents.
    ///
    /// Everything keeps one id, and the spooled object stays unchanged until its removal: a process
    /// that resumes from any of these states writes the same again, and adds nothing twice. Under
    /// an id of their own, the good documents would be another source, which the ledger does not
    /// know.
    pub(super) fn set_aside(&self, parts: &mut [Part]) -> Result<Option<u64>, BuildError> {
        let store = &self.shared.store;
        let check = DocumentCheck::open(store)?;
        let mut scratch = Vec::new();
        let mut num_set_aside = None;
        for part in parts.iter_mut() {
            let Some(lines) = &part.lines else {
                continue;
            };
            let (mut bad, mut num_bad, mut first_problem) = (Vec::new(), 0, None);
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                let document = line.strip_suffix(b"\n").unwrap_or(line);
                if self.shared.keeps_order() && is_delete(document) {
                    continue;
                }
                if let Some(problem) = check.problem(document, &mut scratch) {
                    first_problem.get_or_insert(problem.message);
                    bad.extend_from_slice(line);
                    num_bad += 1;
                }
            }
            if num_bad == 0 {
                continue;
            }
            let Some(id) = &part.spooled else {
                part.tell(Err(Refusal::Unavailable(
                    "the index config has changed in this moment, and does not allow one of these documents: nothing of \
                     them was taken; send them again to see which"
                        .to_owned(),
                )));
                part.lines = None;
                num_set_aside.get_or_insert(0);
                continue;
            };
            keep_rejected(store, id, &bad)?;
            tracing::error!(
                target: "canter::intake", index = store.uri(), spool = id.as_str(), num_documents = num_bad,
                problem = first_problem.unwrap_or_default(),
                "documents that the index does not allow (any more) are in the folder `rejected`"
            );
            *num_set_aside.get_or_insert(0) += num_bad;
        }
        Ok(num_set_aside)
    }
}
