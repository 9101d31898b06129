//! The JSON schema of a settings file, for editors. It is generated from the list of settings.

use serde_json::{Map, Value, json};

use super::{
    key::AnyKey,
    keys, machine_tables, mcp_servers,
    render::{of_section, shown},
};
use crate::rule::{
    keys as rule_keys,
    keys::{KeyKind, RuleKey},
};

/// Returns the schema.
pub fn document() -> Value {
    let mut root = object("Settings of askbridge: the file config.toml, and .askbridge.toml of a project");
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "Settings".into();
    for (section, about) in keys::SECTIONS {
        let mut table = object(about);
        for (name, key) in of_section(section) {
            table["properties"][name] = property(key);
        }
        // `SECTIONS` lists each table after its parent, so the parent exists already.
        let pointer: String = section.split('.').map(|name| format!("/properties/{name}")).collect();
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(parent) = root.pointer_mut(parent) {
            parent[name] = table;
        }
    }
    let mut project = object(keys::PROJECTS_ABOUT);
    let properties = keys::of_project().map(|key| (key.path().to_owned(), property(key)));
    project["properties"] = Value::Object(properties.collect::<Map<_, _>>());
    project["required"] = json!([keys::PROJECT_FOLDER.path()]);
    let mut rule = object(keys::RULES_ABOUT);
    for key in rule_keys::KEYS {
        rule["properties"][key.name] = of_rule(key);
    }
    rule["required"] = json!(["name", "then"]);
    root["properties"][keys::MACHINES] = json!({
        "type": "object",
        "description": keys::MACHINES_ABOUT,
        "additionalProperties": machine_tables::schema(),
    });
    let (mcp, servers) = keys::MCP_SERVERS.split_once('.').unwrap_or_default();
    root["properties"][mcp]["properties"][servers] =
        json!({ "type": "array", "items": mcp_servers::schema() });
    root["properties"][keys::RULES] = json!({ "type": "array", "items": rule });
    root["properties"]["notify"]["properties"]["project"] = json!({ "type": "array", "items": project });
    root
}

fn of_rule(key: RuleKey) -> Value {
    let text = || json!({ "type": "string", "minLength": 1 });
    let texts = || json!({ "type": "array", "items": text(), "minItems": 1 });
    let value = || json!({ "anyOf": [{ "type": ["string", "boolean", "number"] }, texts()] });
    let mut schema = match key.takes {
        KeyKind::Text => text(),
        KeyKind::One(names) => json!({ "enum": names }),
        KeyKind::Texts | KeyKind::List | KeyKind::Command => json!({ "anyOf": [text(), texts()] }),
        KeyKind::Flag => json!({ "type": "boolean" }),
        KeyKind::Answer => json!({ "anyOf": [
            { "type": ["string", "boolean", "number"] },
            texts(),
            { "type": "object", "additionalProperties": value(), "minProperties": 1 },
        ] }),
    };
    schema["description"] = key.about.into();
    schema
}

fn object(about: &str) -> Value {
    json!({ "type": "object", "description": about, "properties": {}, "additionalProperties": false })
}

fn property(key: &dyn AnyKey) -> Value {
    let mut schema = key.schema();
    schema["description"] = key.about().into();
    let default = key.default_value();
    if !default.is_null() {
        schema["default"] = shown(key, &default);
    }
    schema
}
