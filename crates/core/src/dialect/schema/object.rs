//! The fields of a schema: one for each property, and those of an object in it as a group. What a single schema means is
//! left to `kind.rs`, where an answer goes to `slot.rs`.

use std::{cell::Cell, collections::BTreeSet};

use serde_json::{Map, Value as Json, json, value::RawValue};

use super::{
    kind::{self, Shape},
    node::{Node, is_limit},
    slot::{Group, Slot},
};
use crate::{
    dialect::values::Entries,
    limits,
    question::{Field, Kind},
};

/// A schema as fields.
#[derive(Debug, Default)]
pub struct Form {
    /// The fields, in the order of the schema. None if the schema only wants consent.
    pub properties: Vec<Property>,
    /// The groups, each behind the one around it.
    pub groups: Vec<Group>,
}

/// One field of a schema, with what the words for the person are made of.
#[derive(Debug)]
pub struct Property {
    /// The field, labelled with its key.
    pub field: Field,
    /// Where its value goes.
    pub slot: Slot,
    /// The key of the property.
    pub key: String,
    /// The title of the group around it; empty for a property of the form itself.
    pub group: String,
    /// The title of the property.
    pub title: Option<String>,
    /// The description of the property.
    pub description: Option<String>,
    /// The `_meta` of the property.
    pub meta: Map<String, Json>,
}

/// A form that fields cannot express: it takes JSON as a whole.
struct AsAWhole;

/// Reads a schema as fields.
///
/// # Errors
/// The schema is no object.
pub fn read(schema: &str) -> Result<Form, String> {
    let root: Json = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    if !root.is_object() {
        return Err("a schema must be an object".to_owned());
    }
    let reader = Reader { root: &root, text: schema, visits: Cell::new(0) };
    Ok(reader.form().unwrap_or_else(|AsAWhole| whole(&root)))
}

/// Returns the form that takes JSON as a whole.
pub fn whole(root: &Json) -> Form {
    let mut schema = root.clone();
    if let Some(members) = schema.as_object_mut() {
        // A form is always answered with an object.
        members.entry("type").or_insert_with(|| "object".into());
    }
    let text = |name: &str| root.get(name).and_then(Json::as_str).map(str::to_owned);
    let field = Field {
        secret: has_secret(root),
        ..Field::new("content".to_owned(), "content".to_owned(), true, Kind::Json { schema })
    };
    let property = Property {
        field,
        slot: Slot::default(),
        key: "content".to_owned(),
        group: String::new(),
        title: text("title"),
        description: text("description"),
        meta: Map::new(),
    };
    Form { properties: vec![property], groups: Vec::new() }
}

struct Reader<'a> {
    root: &'a Json,
    text: &'a str,
    /// How many properties have been read. References may repeat a group.
    visits: Cell<usize>,
}

/// The most properties that are read of a form: far more than a question may have.
const VISITS: usize = 8 * limits::FIELDS;

/// An object whose properties are read.
struct Around {
    place: Vec<String>,
    /// The beginning of the names of its fields.
    prefix: String,
    title: String,
    /// The group whose begin makes its required fields required. `None` if they always are.
    optional: Option<String>,
    is_secret: bool,
    /// Where the schemas around it stand: one within itself has no end.
    within: Vec<Vec<String>>,
}

/// Keywords of an object that its fields keep.
const OF_FIELDS: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

impl Reader<'_> {
    fn form(&self) -> Result<Form, AsAWhole> {
        let node = Node::open(self.root, self.root, &[]).ok_or(AsAWhole)?;
        if !is_object(&node) {
            return Err(AsAWhole);
        }
        let mut form = Form::default();
        let around = Around {
            place: Vec::new(),
            prefix: String::new(),
            title: String::new(),
            optional: None,
            is_secret: is_secret(&node),
            within: vec![node.path.clone()],
        };
        self.properties(&node, &around, &mut form)?;
        let distinct: BTreeSet<_> = form.properties.iter().map(|property| &property.field.name).collect();
        if distinct.len() < form.properties.len() { Err(AsAWhole) } else { Ok(form) }
    }

    fn properties(&self, node: &Node, around: &Around, form: &mut Form) -> Result<(), AsAWhole> {
        let none = Map::new();
        let properties = node.members.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let required = node.members.get("required").and_then(Json::as_array);
        let required: BTreeSet<_> = required.into_iter().flatten().filter_map(Json::as_str).collect();
        if required.iter().any(|name| !properties.contains_key(*name)) {
            return Err(AsAWhole);
        }
        let path = [&node.path[..], &["properties".to_owned()]].concat();
        let mut read = BTreeSet::new();
        for key in names(self.text, &path) {
            // Of two properties of one name, the last one counts, as for most parsers.
            if let Some(schema) = properties.get(&key).filter(|_| read.insert(key.clone())) {
                self.property(&key, schema, &path, required.contains(&*key), around, form)?;
            }
        }
        if read.len() < properties.len() { Err(AsAWhole) } else { Ok(()) }
    }

    fn property(
        &self,
        key: &str,
        schema: &Json,
        path: &[String],
        is_required: bool,
        around: &Around,
        form: &mut Form,
    ) -> Result<(), AsAWhole> {
        self.visits.set(self.visits.get() + 1);
        if self.visits.get() >= VISITS {
            return Err(AsAWhole);
        }
        let path = [path, &[key.to_owned()]].concat();
        let name = format!("{}{key}", around.prefix);
        let place = [&around.place[..], &[key.to_owned()]].concat();
        let node = Node::open(self.root, schema, &path);
        let is_new = |node: &&Node| !around.within.contains(&node.path) && place.len() <= limits::GROUPS;
        if let Some(node) = node.as_ref().filter(|node| is_group(node)).filter(is_new) {
            let is_optional = !is_required || node.nullable;
            let prefix = format!("{name}.");
            let optional = if is_optional { Some(prefix.clone()) } else { around.optional.clone() };
            let blank = if node.nullable { Json::Null } else { json!({}) };
            let title = node.text("title").unwrap_or(key);
            let title =
                if around.title.is_empty() { title.to_owned() } else { format!("{}: {title}", around.title) };
            let is_secret = around.is_secret || is_secret(node);
            let within = [&around.within[..], std::slice::from_ref(&node.path)].concat();
            let below = Around { place: place.clone(), prefix, title, optional, is_secret, within };
            let before = (form.properties.len(), form.groups.len());
            form.groups.push(Group { place: place.clone(), blank: is_required.then_some(blank) });
            match self.properties(node, &below, form) {
                // A group that fields cannot express is one field that takes JSON.
                Err(AsAWhole) if self.visits.get() < VISITS => {
                    form.properties.truncate(before.0);
                    form.groups.truncate(before.1);
                }
                read => return read,
            }
        }
        let read = node.and_then(|node| kind::of(self.root, &node).map(|shape| (node, shape)));
        let (node, shape) = match read {
            Some(read) => read,
            None => (self.described(schema), Shape { kind: self.json(schema)?, values: Vec::new() }),
        };
        form.properties.push(property(key, name, place, &node, shape, is_required, around));
        Ok(())
    }

    /// Returns what describes a schema that is not understood.
    fn described(&self, schema: &Json) -> Node {
        let members = schema.as_object().cloned().unwrap_or_default();
        let describes = members.into_iter().filter(|(name, _)| !is_limit(name)).collect();
        let secret = has_secret(schema) || refers_to_secret(self.root, schema);
        let mut node = Node { members: describes, ..Node::default() };
        if secret {
            node.members.insert("writeOnly".to_owned(), true.into());
        }
        node
    }

    /// Returns the kind of a field that takes JSON, with the definitions that its schema refers to.
    fn json(&self, schema: &Json) -> Result<Kind, AsAWhole> {
        // Nothing fits `false`, and anything `true`.
        let mut alone = schema.as_object().cloned().ok_or(AsAWhole)?;
        let mut references = Vec::new();
        collect(schema, &mut references);
        let mut taken = BTreeSet::new();
        while let Some(reference) = references.pop() {
            let mut steps = reference.strip_prefix("#/").ok_or(AsAWhole)?.split('/');
            let (Some(keyword @ ("$defs" | "definitions")), Some(name)) = (steps.next(), steps.next()) else {
                return Err(AsAWhole);
            };
            let known = self.root.get(keyword).and_then(|them| them.get(name)).ok_or(AsAWhole)?;
            if taken.insert((keyword.to_owned(), name.to_owned())) {
                collect(known, &mut references);
                let definitions = alone.entry(keyword).or_insert_with(|| json!({}));
                definitions.as_object_mut().ok_or(AsAWhole)?.insert(name.to_owned(), known.clone());
            }
        }
        if let Some(draft) = self.root.get("$schema") {
            alone.entry("$schema").or_insert_with(|| draft.clone());
        }
        Ok(Kind::Json { schema: alone.into() })
    }
}

fn property(
    key: &str,
    name: String,
    place: Vec<String>,
    node: &Node,
    shape: Shape,
    is_required: bool,
    around: &Around,
) -> Property {
    let options = shape.kind.options().iter().map(|option| option.value.clone());
    let values = options.zip(shape.values).filter(|(text, json)| json.as_str() != Some(text)).collect();
    let secret = around.is_secret || is_secret(node);
    let field = Field {
        secret,
        nullable: node.nullable,
        required_with: around.optional.clone().filter(|_| is_required),
        ..Field::new(name, key.to_owned(), is_required && around.optional.is_none(), shape.kind)
    };
    Property {
        field: if secret { without_default(field) } else { field },
        slot: Slot { place, values },
        key: key.to_owned(),
        group: around.title.clone(),
        title: node.text("title").map(str::to_owned),
        description: node.text("description").map(str::to_owned),
        meta: node.members.get("_meta").and_then(Json::as_object).cloned().unwrap_or_default(),
    }
}

/// Takes the default from a secret: it would be shown and stored. The agent knows it.
fn without_default(mut field: Field) -> Field {
    if let Kind::Text { default, .. } = &mut field.kind {
        *default = None;
    }
    field
}

/// Returns whether fields can express an object: its properties say everything about it.
fn is_object(node: &Node) -> bool {
    let is_typed = node.members.get("type").is_none_or(|kind| kind == "object");
    is_typed
        && node.limits().all(|limit| {
            OF_FIELDS.contains(&limit) || !kind::OF_OBJECT.contains(&limit) && !is_combined(limit)
        })
}

/// Returns whether a schema says that only objects fit it.
pub fn is_typed_object(root: &Json) -> bool {
    let is_object = |node: Node| {
        let kind = node.members.get("type");
        kind.is_some_and(|kind| kind == "object") || kind.is_none() && node.members.contains_key("properties")
    };
    Node::open(root, root, &[]).is_some_and(is_object)
}

fn is_group(node: &Node) -> bool {
    let properties = node.members.get("properties").and_then(Json::as_object);
    is_object(node) && properties.is_some_and(|properties| !properties.is_empty())
}

/// Returns whether a keyword limits values of every type.
fn is_combined(limit: &str) -> bool {
    const ANY: [&str; 11] = [
        "$dynamicRef",
        "$recursiveRef",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "enum",
    ];
    ANY.contains(&limit) || limit == "const"
}

fn is_secret(node: &Node) -> bool {
    node.text("format") == Some("password") || node.members.get("writeOnly") == Some(&Json::Bool(true))
}

/// Returns whether a schema has a secret anywhere in it.
fn has_secret(schema: &Json) -> bool {
    match schema {
        Json::Array(entries) => entries.iter().any(has_secret),
        Json::Object(members) => {
            let is_secret = |(name, value): (&String, &Json)| {
                (name == "format" && value == "password")
                    || (name == "writeOnly" && *value == Json::Bool(true))
            };
            members.iter().any(is_secret) || members.values().any(has_secret)
        }
        _ => false,
    }
}

/// Returns whether a definition has a secret, and a schema refers to definitions.
fn refers_to_secret(root: &Json, schema: &Json) -> bool {
    let mut references = Vec::new();
    collect(schema, &mut references);
    let definitions = ["$defs", "definitions"].into_iter().filter_map(|keyword| root.get(keyword));
    !references.is_empty() && definitions.into_iter().any(has_secret)
}

/// Collects the references in a schema.
fn collect(schema: &Json, references: &mut Vec<String>) {
    match schema {
        Json::Array(entries) => entries.iter().for_each(|entry| collect(entry, references)),
        Json::Object(members) => {
            for (name, value) in members {
                match value {
                    Json::String(reference) if name.ends_with("Ref") || name == "$ref" => {
                        references.push(reference.clone());
                    }
                    value => collect(value, references),
                }
            }
        }
        _ => {}
    }
}

/// Returns the names of the object at this path in a JSON text, in the order in which they were sent: a form shows its fields
/// in that order. Returns nothing if there is no object.
fn names(json: &str, path: &[String]) -> Vec<String> {
    let Some((first, rest)) = path.split_first() else {
        let members = serde_json::from_str::<Entries<&RawValue>>(json).unwrap_or_default();
        return members.0.into_iter().map(|(name, _)| name).collect();
    };
    let below = match json.trim_start().starts_with('[') {
        true => entry(json, first),
        false => serde_json::from_str::<Entries<&RawValue>>(json)
            .ok()
            .and_then(|members| members.get(first).map(|json| json.get())),
    };
    below.map_or(Vec::new(), |below| names(below, rest))
}

fn entry<'a>(json: &'a str, place: &str) -> Option<&'a str> {
    let entries = serde_json::from_str::<Vec<&RawValue>>(json).ok()?;
    entries.get(place.parse::<usize>().ok()?).map(|json| json.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_at_every_path() {
        let json = r#"{"b":{"z":1,"a":{"y":2,"x":[{"d":1,"c":2}]}},"a":5}"#;
        let at = |path: &[&str]| {
            names(json, &path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>()).join(" ")
        };
        assert_eq!(at(&[]), "b a");
        assert_eq!(at(&["b", "a", "x", "0"]), "d c");
        assert_eq!(at(&["a"]), "");
        assert_eq!(at(&["b", "missing"]), "");
        assert_eq!(at(&["b", "a", "x", "7"]), "");
    }
}
