//! Changes of aliases over HTTP.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::indexes::{AliasChange, Root, actions_of, put_of};
use crate::managing::answered::{Answered, finish};
use crate::requests::{ChangeRequest, Params, Problem, json_of};

/// Handles `POST /_aliases`.
pub(in crate::managing) async fn update(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    body: &[u8],
) -> Answered {
    finish(params)?;
    carry_out(root, request, actions_of(&json_of(body)?)?).await
}

/// Handles `PUT /<index>/_alias/<name>` and its other forms.
pub(in crate::managing) async fn put(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    (index, name): (Option<&str>, Option<&str>),
    body: &[u8],
) -> Answered {
    finish(params)?;
    carry_out(root, request, vec![put_of(index, name, &json_of(body)?)?]).await
}

/// Handles `DELETE /<index>/_alias/<name>`.
pub(in crate::managing) async fn delete(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    (indexes, names): (&str, &str),
) -> Answered {
    finish(params)?;
    let list = |names: &str| names.split(',').map(str::to_owned).collect();
    let remove = AliasChange::Remove {
        indexes: list(indexes),
        aliases: list(names),
        must_exist: None,
    };
    carry_out(root, request, vec![remove]).await
}

async fn carry_out(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    changes: Vec<AliasChange>,
) -> Answered {
    let deletes = changes
        .iter()
        .any(|change| matches!(change, AliasChange::RemoveIndexes(_)));
    if deletes && !request.may_delete {
        return Err(Problem {
            detail: None,
            status: StatusCode::FORBIDDEN,
            kind: "security_exception",
            reason: "deleting an index needs the right delete".to_owned(),
        });
    }
    let allowed = request.allowed.map(<[String]>::to_vec);
    root.work(move |root| root.change_aliases(&changes, allowed.as_deref()))
        .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true}) as Value))
}
