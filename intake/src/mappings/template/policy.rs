//! `_ilm/policy`: how long documents are kept, and what an index does without being told.

use serde_json::{Map, Value};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::options::object;

const PHASES: [&str; 5] = ["hot", "warm", "cold", "frozen", "delete"];

/// Actions that change no answer: an index keeps its splits small, merges them, and has one tier and no replicas.
const WITHOUT_EFFECT: [&str; 11] = [
    "allocate",
    "forcemerge",
    "freeze",
    "migrate",
    "rollover",
    "searchable_snapshot",
    "set_priority",
    "shrink",
    "unfollow",
    "wait_for_snapshot",
    "delete",
];

/// Checks that all of a policy is done here, or changes no answer.
///
/// # Errors
/// It is invalid, or has an action that would not be performed.
pub(super) fn check_policy(name: &str, body: &Value) -> Result<()> {
    let what = format!("the lifecycle policy [{name}]");
    let body = object(body, &what)?;
    only(body, &["policy"], &what)?;
    let Some(policy) = body.get("policy") else {
        return Err(MappingError::parse(format!("{what} has no [policy]")));
    };
    let policy = object(policy, "[policy]")?;
    only(policy, &["phases", "_meta", "deprecated"], &what)?;
    let Some(phases) = policy.get("phases") else {
        return Err(MappingError::parse(format!("{what} has no [phases]")));
    };
    let phases = object(phases, "[phases]")?;
    only(phases, &PHASES, &what)?;
    for (phase, body) in phases {
        let body = object(body, &format!("the phase [{phase}]"))?;
        only(
            body,
            &["min_age", "actions"],
            &format!("the phase [{phase}] of {what}"),
        )?;
        let actions = match body.get("actions") {
            None | Some(Value::Null) => continue,
            Some(actions) => object(actions, "[actions]")?,
        };
        if let Some(other) = actions
            .keys()
            .find(|action| !WITHOUT_EFFECT.contains(&action.as_str()))
        {
            return Err(MappingError::illegal(format!(
                "the action [{other}] of {what} is not supported: nothing would perform it. Leave it out"
            )));
        }
        if actions.contains_key("delete") && phase != "delete" {
            return Err(MappingError::illegal(format!(
                "invalid action [delete] in phase [{phase}] of {what}"
            )));
        }
    }
    Ok(())
}

fn only(body: &Map<String, Value>, known: &[&str], what: &str) -> Result<()> {
    match body.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(MappingError::parse(format!(
            "unknown field [{key}] in {what}: there are {}",
            known.join(", ")
        ))),
    }
}

/// Returns the age at which a policy deletes documents, if it does.
pub(super) fn age_of_deletion(body: &Value) -> Option<&str> {
    let phase = body.pointer("/policy/phases/delete")?;
    phase.pointer("/actions/delete")?;
    phase.get("min_age")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_policy_is_checked_action_by_action() {
        let policy = |phases: Value| json!({"policy": {"phases": phases}});
        let of_days = policy(json!({
            "hot": {"actions": {"rollover": {"max_age": "30d"}, "set_priority": {"priority": 100}}},
            "delete": {"min_age": "7d", "actions": {"delete": {}}}}));
        check_policy("p", &of_days).unwrap();
        assert_eq!(age_of_deletion(&of_days), Some("7d"));
        let forever = policy(json!({"hot": {"actions": {"rollover": {"max_size": "50gb"}}}}));
        check_policy("p", &forever).unwrap();
        assert_eq!(age_of_deletion(&forever), None);
        for (body, part) in [
            (
                policy(json!({"warm": {"actions": {"downsample": {"fixed_interval": "1h"}}}})),
                "[downsample]",
            ),
            (
                policy(json!({"warm": {"actions": {"readonly": {}}}})),
                "[readonly]",
            ),
            (
                policy(json!({"hot": {"actions": {"delete": {}}}})),
                "[delete]",
            ),
            (policy(json!({"tepid": {}})), "[tepid]"),
            (json!({"phases": {}}), "[phases]"),
            (json!({"policy": {}}), "[phases]"),
        ] {
            let error = check_policy("p", &body).unwrap_err();
            assert!(error.reason.contains(part), "{body}: {error}");
        }
    }
}
