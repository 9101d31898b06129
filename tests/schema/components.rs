//! Rearranges the schemas of the types into the form that client generators handle best. The meaning stays the same:
//! the same values are valid. The schemas themselves come from the types.
//!
//! - The name of a component is its `title`, since generators name a class by it.
//! - Each object of a union is a component of its own, with all of its members, and not an inline schema: generators
//!   would call those `OutcomeType0`, and some lose the members beside a `$ref`.
//! - A closed set of names is one `enum`, and not a union of constants.
//! - An open set of names is `anyOf` an `enum` and any string. With this form, openapi-python-client reads a name of
//!   another version as a `str`, and openapi-typescript as a `string`. A plain `string` would lose the known names in
//!   both.
//! - A member that may be left out has no `default`: openapi-typescript would require it of a program that asks.
//! - A union whose objects have a tag has a `discriminator`. Its last object stands for those of other
//!   versions. The union is `anyOf`, because this last object matches the others as well.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

const PREFIX: &str = "#/components/schemas/";

type Schemas = Map<String, Value>;

/// Rearranges the schemas of a document, and its references to them.
pub(super) fn arrange(document: &mut Value) {
    let Some(Value::Object(schemas)) = document.pointer("/components/schemas") else { return };
    let title = |(name, schema): (&String, &Value)| schema["title"].as_str().unwrap_or(name).to_owned();
    let titles: BTreeMap<_, _> = schemas.iter().map(|entry| (entry.0.clone(), title(entry))).collect();
    // This comes first, because the steps below look components up by the names in the references.
    rename(document, &titles);
    let schemas = document["components"]["schemas"].take();
    let named = schemas.as_object().into_iter().flatten();
    let named: Schemas = named.map(|(name, schema)| (titles[name].clone(), schema.clone())).collect();
    let mut arranged: Schemas =
        named.iter().flat_map(|(name, schema)| components(name, schema, &named)).collect();
    for (name, schema) in &mut arranged {
        // A component that was split off has another title, or none.
        schema["title"] = name.as_str().into();
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        members.into_iter().flatten().for_each(|(_, member)| tell_default(member));
    }
    document["components"]["schemas"] = arranged.into();
}

/// Replaces the names in all references.
fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(PREFIX).and_then(|name| names.get(name))
            {
                *target = format!("{PREFIX}{name}");
            }
            members.values_mut().for_each(|member| rename(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

/// Returns the components that replace a component: the rearranged one, and those that are split off from it.
fn components(name: &str, schema: &Value, all: &Schemas) -> Vec<(String, Value)> {
    let variants = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array());
    let all_are = |kind: &str| variants.is_some_and(|all| all.iter().all(|variant| variant["type"] == kind));
    match variants {
        Some(variants) if all_are("string") => names(name, schema, variants),
        Some(variants) if all_are("object") => union(name, schema, variants, all),
        _ => vec![(name.to_owned(), schema.clone())],
    }
}

/// Returns the components of a set of names. The set is open if one of its variants is not a constant.
fn names(name: &str, schema: &Value, variants: &[Value]) -> Vec<(String, Value)> {
    let known: Vec<_> = variants.iter().filter(|variant| variant.get("const").is_some()).collect();
    let names: Vec<_> = known.iter().map(|variant| variant["const"].clone()).collect();
    let meaning =
        |variant: &&Value| format!("\n- `{}`: {}", text(variant, "const"), text(variant, "description"));
    let meanings: String = known.iter().map(meaning).collect();
    let description = text(schema, "description");
    let closed =
        json!({ "type": "string", "enum": names, "description": format!("{description}\n{meanings}") });
    if known.len() == variants.len() {
        return vec![(name.to_owned(), closed)];
    }
    let known = format!("Known{name}");
    let open = json!({
        "description": format!("{description} Another version of askbridge may use another name."),
        "anyOf": [reference(&known), { "type": "string" }],
    });
    vec![(known, closed), (name.to_owned(), open)]
}

/// Returns a union of objects, and each object as a component of its own.
fn union(name: &str, schema: &Value, variants: &[Value], all: &Schemas) -> Vec<(String, Value)> {
    let tag = variants.iter().find_map(|variant| {
        let mut properties = variant["properties"].as_object()?.iter();
        properties.find(|(_, property)| property.get("const").is_some()).map(|(tag, _)| tag.as_str())
    });
    let (mut components, mut mapping) = (Vec::new(), Schemas::new());
    for variant in variants {
        let mut whole = whole(schema, variant, all);
        let constant = tag.and_then(|tag| whole["properties"][tag]["const"].as_str()).map(str::to_owned);
        let component = match (&constant, tag) {
            (Some(constant), _) => format!("{}{name}", pascal_case(constant)),
            (None, Some(tag)) => {
                let description = "A name that is not one of the known ones.";
                whole["properties"][tag] = json!({ "type": "string", "description": description });
                whole["required"].as_array_mut().into_iter().for_each(|required| required.push(tag.into()));
                format!("Unknown{name}")
            }
            (None, None) => text(variant, "title").to_owned(),
        };
        mapping.extend(constant.map(|constant| (constant, format!("{PREFIX}{component}").into())));
        components.push((component, whole));
    }
    let references: Vec<_> = components.iter().map(|(component, _)| reference(component)).collect();
    let mut union = json!({ "description": text(schema, "description"), "anyOf": references });
    if let Some(tag) = tag {
        union["discriminator"] = json!({ "propertyName": tag, "mapping": mapping });
    }
    components.push((name.to_owned(), union));
    components
}

/// Returns a variant merged with the members beside the union, and with the component that the variant extends.
fn whole(union: &Value, variant: &Value, all: &Schemas) -> Value {
    let extended = variant["$ref"].as_str().and_then(|target| all.get(target.strip_prefix(PREFIX)?));
    let (mut properties, mut required) = (Schemas::new(), Vec::new());
    // The later parts win: the variant itself is the most specific.
    for part in [Some(union), extended, Some(variant)].into_iter().flatten() {
        properties.extend(
            part["properties"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())),
        );
        required.extend(part["required"].as_array().into_iter().flatten().cloned());
    }
    let mut whole = variant.clone();
    whole.as_object_mut().into_iter().for_each(|members| drop(members.remove("$ref")));
    whole["properties"] = properties.into();
    whole["required"] = required.into();
    whole
}

/// Moves the default of a member into its description.
fn tell_default(member: &mut Value) {
    if let Some(default) = member.as_object_mut().and_then(|member| member.remove("default")) {
        member["description"] = format!("{} Default: `{default}`.", text(member, "description")).into();
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{PREFIX}{name}") })
}

fn text<'a>(schema: &'a Value, member: &str) -> &'a str {
    schema[member].as_str().unwrap_or_default()
}

/// Returns a name in snake case as the name of a type.
fn pascal_case(name: &str) -> String {
    let words = name.split('_').map(|word| word.split_at_checked(1).unwrap_or((word, "")));
    words.map(|(first, rest)| first.to_uppercase() + rest).collect()
}
