//! Bodies that change aliases: `POST /_aliases`, `PUT /<index>/_alias/<name>` and the `aliases` of a new index.

use canter_index_builder::Alias;
use canter_intake::{IndexParts, Templated};
use serde_json::{Map, Value};

use super::apply::AliasChange;
use crate::requests::Problem;

/// Reads the body of `POST /_aliases`.
///
/// # Errors
/// If it is invalid.
pub(crate) fn actions_of(body: &Value) -> Result<Vec<AliasChange>, Problem> {
    let actions = body.get("actions").and_then(Value::as_array);
    let actions = actions
        .ok_or_else(|| Problem::parsing("[actions] is a list of add, remove and remove_index"))?;
    if actions.is_empty() {
        return Err(Problem::illegal("No action specified"));
    }
    actions.iter().map(action_of).collect()
}

fn action_of(action: &Value) -> Result<AliasChange, Problem> {
    let mut entries = action.as_object().into_iter().flatten();
    let (Some((verb, options)), None) = (entries.next(), entries.next()) else {
        return Err(Problem::parsing(
            "an action is an object with one of add, remove and remove_index",
        ));
    };
    let mut options = Options::of(options)?;
    let indexes = options.names("index", "indices")?;
    let change = match verb.as_str() {
        "add" => AliasChange::Add {
            indexes,
            aliases: options.names("alias", "aliases")?,
            alias: options.alias()?,
        },
        "remove" => AliasChange::Remove {
            indexes,
            aliases: options.names("alias", "aliases")?,
            must_exist: options.flag("must_exist")?,
        },
        "remove_index" => {
            options.flag("must_exist")?;
            AliasChange::RemoveIndexes(indexes)
        }
        other => {
            return Err(Problem::parsing(format!(
                "unknown action [{other}]: there are add, remove and remove_index"
            )));
        }
    };
    options.finish(verb)?;
    Ok(change)
}

/// Reads the body of `PUT /<index>/_alias/<name>`, which may name both itself.
///
/// # Errors
/// If it is invalid, or a name is missing.
pub(crate) fn put_of(
    index: Option<&str>,
    name: Option<&str>,
    body: &Value,
) -> Result<AliasChange, Problem> {
    let mut options = Options::of(body)?;
    let mut own = |key: &str, of_path: Option<&str>| {
        let of_body = options
            .0
            .remove(key)
            .and_then(|value| value.as_str().map(str::to_owned));
        of_body
            .or(of_path.map(str::to_owned))
            .ok_or_else(|| Problem {
                kind: "action_request_validation_exception",
                ..Problem::illegal(format!(
                    "Validation Failed: 1: [{key}] may not be empty string;"
                ))
            })
    };
    let (index, name) = (own("index", index)?, own("alias", name)?);
    let alias = options.alias()?;
    options.finish("alias")?;
    Ok(AliasChange::Add {
        indexes: index.split(',').map(str::to_owned).collect(),
        aliases: vec![name],
        alias,
    })
}

/// Reads the `aliases` of a new index.
///
/// # Errors
/// If they are invalid.
fn new_aliases(index: &str, aliases: &Map<String, Value>) -> Result<Vec<AliasChange>, Problem> {
    let read = |(name, options): (&String, &Value)| {
        let mut options = Options::of(options)?;
        let alias = options.alias()?;
        options.finish(name)?;
        Ok(AliasChange::Add {
            indexes: vec![index.to_owned()],
            aliases: vec![name.replace("{index}", index)],
            alias,
        })
    };
    aliases.iter().map(read).collect()
}

/// Returns the aliases that templates and a request give a new index.
pub(crate) fn aliases_for(
    name: &str,
    templated: Option<&Templated>,
    own: Option<&IndexParts>,
) -> Result<Vec<AliasChange>, Problem> {
    let of_templates = templated.into_iter().flat_map(Templated::parts);
    let mut changes = Vec::new();
    for part in of_templates.chain(own) {
        changes.extend(new_aliases(name, part.aliases())?);
    }
    Ok(changes)
}

/// Options that are read one after another.
struct Options(Map<String, Value>);

impl Options {
    fn of(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Null => Ok(Self(Map::new())),
            Value::Object(options) => Ok(Self(options.clone())),
            _ => Err(Problem::parsing("the options of an alias are an object")),
        }
    }

    /// Takes names under one of two keys.
    fn names(&mut self, one: &str, several: &str) -> Result<Vec<String>, Problem> {
        let found = [one, several].map(|key| Some((key.to_owned(), self.0.remove(key)?)));
        let ([Some((key, value)), None] | [None, Some((key, value))]) = found else {
            return Err(Problem::parsing(format!(
                "One of [{one}] or [{several}] is required"
            )));
        };
        let names: Option<Vec<String>> = match value {
            Value::String(name) => Some(vec![name]),
            Value::Array(names) => {
                let names = names.into_iter();
                names.map(|name| name.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        match names {
            Some(names) if !names.is_empty() && names.iter().all(|name| !name.is_empty()) => {
                Ok(names)
            }
            _ => Err(Problem::illegal(format!("[{key}] can't be empty"))),
        }
    }

    fn alias(&mut self) -> Result<Alias, Problem> {
        let filter = self.0.remove("filter").filter(|filter| !filter.is_null());
        if filter.as_ref().is_some_and(|filter| !filter.is_object()) {
            return Err(Problem::parsing("[filter] is a query"));
        }
        let routing = self.text("routing")?;
        let own = self.text("index_routing")?;
        Ok(Alias {
            filter,
            index_routing: own.or_else(|| routing.clone()),
            search_routing: self.text("search_routing")?.or(routing),
            is_write_index: self.flag("is_write_index")?,
            is_hidden: self.flag("is_hidden")?,
        })
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(Problem::parsing(format!("[{key}] is text"))),
        }
    }

    fn flag(&mut self, key: &str) -> Result<Option<bool>, Problem> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(Problem::parsing(format!("[{key}] is true or false"))),
        }
    }

    fn finish(self, of: &str) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(Problem::parsing(format!("[{of}] unknown field [{key}]"))),
        }
    }
}
