//! Changes one value of a file, and leaves everything else of it as it is: comments, order, spaces.
//! Writing the file is left to `settings_files`.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TomlError, value};

use super::{key::AnyKey, render};

/// Why a text cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not TOML.
    #[error("line {0}: {1}")]
    Syntax(usize, String),
    /// Something else stands where a table is expected.
    #[error("`{0}` is not a table there")]
    NoTable(String),
}

fn syntax(text: &str, error: &TomlError) -> EditError {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    EditError::Syntax(before.matches('\n').count() + 1, error.message().to_owned())
}

/// Returns the text with this value of a setting.
///
/// # Errors
/// The text is not TOML, or has something else in the place of a table.
pub fn set(text: &str, key: &dyn AnyKey, new: &Value) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names: Vec<_> = key.path().split('.').collect();
    let name = names.pop().unwrap_or_default();
    for (depth, section) in (1..).zip(&names) {
        let entry = table.entry(section).or_insert_with(|| {
            let mut table = Table::new();
            // The head of a table that has only tables in it is left out.
            table.set_implicit(depth < names.len());
            Item::Table(table)
        });
        table = entry.as_table_like_mut().ok_or_else(|| EditError::NoTable(names[..depth].join(".")))?;
    }
    let mut new = render::toml(new);
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            // The comment behind a value belongs to it.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            table.insert(name, value(new));
        }
    }
    Ok(document.to_string())
}

/// Returns the text without this setting. `None` if it does not set it.
///
/// # Errors
/// The text is not TOML.
pub fn unset(text: &str, key: &dyn AnyKey) -> Result<Option<String>, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names: Vec<_> = key.path().split('.').collect();
    let name = names.pop().unwrap_or_default();
    for section in names {
        match table.get_mut(section).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(None),
        }
    }
    let removed = table.remove(name);
    Ok(removed.map(|_| document.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::keys;

    #[track_caller]
    fn changed(text: &str, path: &str, new: Value) -> String {
        set(text, keys::find(path).unwrap(), &new).unwrap()
    }

    #[test]
    fn comments_order_and_spaces_stay() {
        let text =
            "# mine\n\n[notify]   # tell me\n  delay   =   '5s' # soon\nquiet = [ '1:00-2:00' ]\n\n# end\n";
        let new = changed(text, "notify.delay", json!("1m"));
        assert_eq!(new, text.replace("'5s'", "\"1m\""));
        let unset = unset(&new, keys::find("notify.delay").unwrap()).unwrap().unwrap();
        assert_eq!(unset, "# mine\n\n[notify]   # tell me\nquiet = [ '1:00-2:00' ]\n\n# end\n");
    }

    #[test]
    fn tables_that_are_missing_are_added() {
        assert_eq!(changed("", "notify.ntfy.topic", json!("t")), "[notify.ntfy]\ntopic = \"t\"\n");
        let text = "[notify.sound]\ncommand = [\"a\"]\n";
        let new = changed(text, "notify.delay", json!("1m"));
        assert_eq!(changed(&new, "notify.delay", json!("2m")).matches("2m").count(), 1);
        assert!(new.contains("[notify]\ndelay = \"1m\"\n") && new.contains(text), "{new}");
        let inline = "notify = { ntfy = { topic = 't' } }\n";
        assert_eq!(changed(inline, "notify.ntfy.topic", json!("u")), inline.replace("'t'", "\"u\""));
        assert_eq!(changed("bridge.grace = '1s'\n", "bridge.grace", json!("2s")), "bridge.grace = \"2s\"\n");
    }

    #[test]
    fn broken_files_are_not_changed() {
        let key = keys::find("notify.delay").unwrap();
        let error = set("[bridge]\ntimeout = \n", key, &json!("1m")).unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
        assert!(
            set("notify = 1", key, &json!("1m")).is_err_and(|error| error.to_string().contains("`notify`"))
        );
        assert!(unset("", key).unwrap().is_none());
    }
}
