//! Random schemas, with a validator of JSON Schema as the oracle: what a person could enter fits the schema, and what fits
//! can be entered. `FORMS=100000` tries more than the gate.

use std::collections::BTreeSet;

use askbridge_core::dialect::elicitation::reply;
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
use serde_json::{Map, Value as Json, json};

use crate::forms::reading::Form;

fn config() -> ProptestConfig {
    let cases = std::env::var("FORMS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400);
    let seeds = FileFailurePersistence::WithSource("seeds");
    ProptestConfig { cases, max_global_rejects: u32::MAX, ..ProptestConfig::with_failure_persistence(seeds) }
}

fn optional<S: Strategy<Value = Json> + 'static>(
    name: &'static str,
    value: S,
) -> BoxedStrategy<Vec<(String, Json)>> {
    proptest::option::weighted(0.3, value)
        .prop_map(move |value| value.map(|value| (name.to_owned(), value)).into_iter().collect())
        .boxed()
}

/// A schema with these members, and each of the others now and then.
fn with(base: Json, others: Vec<BoxedStrategy<Vec<(String, Json)>>>) -> BoxedStrategy<Json> {
    others
        .prop_map(move |others| {
            let mut schema = base.clone();
            schema.as_object_mut().expect("an object").extend(others.into_iter().flatten());
            schema
        })
        .boxed()
}

fn scalar() -> BoxedStrategy<Json> {
    let values = [
        json!("a"),
        json!("b"),
        json!("ab"),
        json!("1"),
        json!("true"),
        json!("null"),
        json!("10"),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(10),
        json!(0.5),
        json!(1.5),
        json!(true),
        json!(false),
        json!(null),
    ];
    select(values.to_vec()).boxed()
}

fn texts() -> BoxedStrategy<Json> {
    select(vec![json!("a"), json!("b"), json!("ab"), json!("1"), json!("true")]).boxed()
}

fn distinct(values: BoxedStrategy<Json>, least: usize) -> BoxedStrategy<Vec<Json>> {
    let all = prop::collection::vec(values, least..5);
    let distinct = |values: Vec<Json>| {
        let mut seen = BTreeSet::new();
        values.into_iter().filter(|value| seen.insert(value.to_string())).collect()
    };
    all.prop_map(distinct).boxed()
}

/// Schemas of one value, without alternatives.
fn simple() -> BoxedStrategy<Json> {
    let length = || (0..4u32).prop_map(Json::from);
    let bound = || select(vec![json!(-1), json!(0), json!(1), json!(2.0), json!(0.5), json!(10)]);
    let text = with(
        json!({ "type": "string" }),
        vec![
            optional("minLength", length()),
            optional("maxLength", length()),
            optional("pattern", select(vec![json!("^[a-z]+$"), json!("b"), json!("[0-9]")])),
            optional("title", Just(json!("Title"))),
            optional("minimum", Just(json!(5))),
        ],
    );
    let number = || {
        vec![
            optional("minimum", bound()),
            optional("maximum", bound()),
            optional("exclusiveMinimum", bound()),
            optional("exclusiveMaximum", bound()),
            optional("multipleOf", select(vec![json!(2), json!(0.5)])),
            optional("minLength", Just(json!(5))),
        ]
    };
    let listed = |base: Json| {
        (distinct(scalar(), 1), any::<bool>()).prop_map(move |(values, is_named)| {
            let mut schema = base.clone();
            if is_named {
                schema["enumNames"] = (0..values.len()).map(|place| json!(format!("Name {place}"))).collect();
            }
            schema["enum"] = values.into();
            schema
        })
    };
    let titled = |keyword: &'static str, base: Json| {
        distinct(scalar(), 2).prop_map(move |values| {
            let mut schema = base.clone();
            let option = |value: Json| json!({ "const": value, "title": format!("Title of {value}") });
            schema[keyword] = values.into_iter().map(option).collect();
            schema
        })
    };
    prop_oneof![
        3 => text,
        2 => with(json!({ "type": "integer" }), number()),
        2 => with(json!({ "type": "number" }), number()),
        1 => Just(json!({ "type": ["integer", "number"] })),
        1 => Just(json!({ "type": "boolean" })),
        1 => listed(json!({})),
        1 => listed(json!({ "type": "string" })),
        1 => listed(json!({ "type": ["integer", "null"] })),
        1 => scalar().prop_map(|value| json!({ "const": value })),
        1 => titled("oneOf", json!({})),
        1 => titled("oneOf", json!({ "type": "string" })),
        1 => titled("anyOf", json!({})),
    ]
    .boxed()
}

/// Schemas that fields cannot express.
fn odd() -> BoxedStrategy<Json> {
    select(vec![
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        json!({ "type": ["string", "boolean"], "minLength": 2 }),
        json!({ "type": "string", "not": { "const": "a" } }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        json!({ "type": "array", "prefixItems": [{ "type": "integer" }] }),
        json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2 }),
        json!({ "type": "array", "contains": { "const": "a" } }),
        json!({ "if": { "type": "string" }, "then": { "minLength": 2 } }),
        json!({ "type": "object", "properties": { "p": { "type": "string" } }, "minProperties": 1 }),
        json!({ "type": "object", "properties": { "p": true }, "required": ["q"] }),
        json!({ "minimum": 1 }),
        json!({ "allOf": [{ "type": "integer" }, { "type": "number", "minimum": 1 }] }),
    ])
    .boxed()
}

fn list(items: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    items
        .prop_flat_map(|items| {
            with(
                json!({ "type": "array", "items": items }),
                vec![
                    optional("minItems", (0..3u32).prop_map(Json::from)),
                    optional("maxItems", (1..4u32).prop_map(Json::from)),
                    optional("uniqueItems", any::<bool>().prop_map(Json::from)),
                ],
            )
        })
        .boxed()
}

/// Schemas of one property.
fn property(inner: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    prop_oneof![
        6 => inner.clone(),
        1 => odd(),
        2 => list(inner.clone()),
        2 => inner.clone().prop_map(|schema| json!({ "anyOf": [schema, { "type": "null" }] })),
        1 => inner.clone().prop_map(|schema| json!({ "allOf": [schema], "description": "D" })),
        1 => Just(json!({ "type": ["string", "null"], "minLength": 2 })),
        1 => Just(json!({ "$ref": "#/$defs/D", "title": "Of D" })),
        1 => Just(json!({ "anyOf": [{ "$ref": "#/$defs/D" }, { "type": "null" }] })),
        1 => Just(json!({ "$ref": "#/$defs/Tree" })),
    ]
    .boxed()
}

/// An object with some of these properties.
fn object(properties: BoxedStrategy<Json>, names: &'static [&'static str]) -> BoxedStrategy<Json> {
    let member = move || (select(names), properties.clone(), any::<bool>());
    (prop::collection::vec(member(), 1..=names.len()), any::<bool>())
        .prop_map(|(members, is_closed)| {
            let mut object = json!({ "type": "object", "properties": {} });
            let mut required = BTreeSet::new();
            for (name, schema, is_required) in members {
                object["properties"][name] = schema;
                required.remove(name);
                if is_required {
                    required.insert(name);
                }
            }
            if !required.is_empty() {
                object["required"] = required.into_iter().collect();
            }
            if is_closed {
                object["additionalProperties"] = false.into();
            }
            object
        })
        .boxed()
}

fn forms() -> BoxedStrategy<Json> {
    let group = object(property(simple()), &["p", "q"]);
    let nullable = group.clone().prop_map(|group| json!({ "anyOf": [group, { "type": "null" }] }));
    let inside = prop_oneof![5 => property(simple()), 1 => group, 1 => nullable].boxed();
    let root = object(inside, &["x", "y", "z"]);
    let rest = select(vec![
        json!({}),
        json!({}),
        json!({}),
        json!({ "minProperties": 2 }),
        json!({ "anyOf": [{ "required": ["x"] }, { "required": ["y"] }] }),
        json!({ "dependentRequired": { "x": ["y"] } }),
    ]);
    (root, simple(), rest)
        .prop_map(|(mut root, definition, rest)| {
            root["$defs"] = json!({ "D": definition, "Tree": { "type": "object", "properties": {
                "p": { "type": "integer" }, "q": { "$ref": "#/$defs/Tree" } } } });
            root.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
            root
        })
        .boxed()
}

/// JSON that may fit one of the schemas. Blank texts and lists stand for a field that is left blank, so they are not tried.
fn value() -> BoxedStrategy<Json> {
    let list = prop_oneof![distinct(texts(), 1), distinct(scalar(), 1)].prop_map(Json::from);
    let inner = prop_oneof![4 => scalar(), 1 => list.clone()].boxed();
    let object =
        prop::collection::btree_map(select(vec!["p", "q", "a"]), inner.clone(), 0..3).prop_map(|members| {
            members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
        });
    prop_oneof![6 => scalar(), 3 => list, 2 => object.prop_map(Json::from)].boxed()
}

fn typed() -> impl Strategy<Value = Vec<String>> {
    let texts = "|a|b|ab|1|1.0|2|-1|10|0.5|true|yes|no|null|[1, 2]|[\"a\"]|a, b|1, 2|{\"p\": 1}|{\"p\": \"a\"}|{}|\"a\"|\"ab\"\
        |Name 0|Name 1|Title of 1|Title of \"a\"|{\"x\": \"a\", \"y\": 1}";
    prop::collection::vec(select(texts.split('|').map(str::to_owned).collect::<Vec<_>>()), 6)
}

/// Leaves out empty objects: an optional group whose fields are all blank is left out.
fn without_empty(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let kept = members.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            kept.filter(|(_, value)| *value != json!({})).collect::<Map<_, _>>().into()
        }
        Json::Array(entries) => entries.iter().map(without_empty).collect(),
        // A whole number is written without a fraction.
        Json::Number(number) => number.as_f64().map_or(json.clone(), Json::from),
        json => json.clone(),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_can_be_entered_fits(schema in forms(), all in prop::collection::vec(typed(), 12)) {
        let form = Form::of(&schema);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for texts in all {
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            if let Ok(content) = form.typed(&texts) {
                let error = validator.validate(&content).err().map(|error| error.to_string());
                prop_assert!(error.is_none(), "{texts:?} gives {content}: {error:?}\n{schema}\n{:?}", form.seen());
            }
        }
    }

    #[test]
    fn what_fits_can_be_entered(
        schema in forms(),
        all in prop::collection::vec((proptest::option::of(value()), proptest::option::of(value()), proptest::option::of(value())), 24),
    ) {
        let form = Form::of(&schema);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for (x, y, z) in all {
            let members = [("x", x), ("y", y), ("z", z)].into_iter();
            let content: Map<String, Json> =
                members.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
            // A person only fills in the fields that the schema names.
            if !validator.is_valid(&content.clone().into()) || !names_all(&schema, &schema, &content.clone().into()) {
                continue;
            }
            let answer = reply::read_content(&form.format, &form.question, &content);
            let got = form.answered(&answer);
            let wanted = without_empty(&content.clone().into());
            prop_assert_eq!(got.as_ref().map(without_empty), Ok(wanted), "{:?} {}\n{}", got, schema, json!(form.seen()));
        }
    }
}

/// Returns whether a form names all members of its content, and those of the groups in it. A group without a value is
/// left blank: whether that is null, an empty object or nothing is left to the reader.
fn names_all(root: &Json, schema: &Json, content: &Json) -> bool {
    if let Some(target) = schema["$ref"].as_str().and_then(|to| root.pointer(to.trim_start_matches('#'))) {
        return names_all(root, target, content);
    }
    let inner = ["anyOf", "allOf"].into_iter().map(|keyword| &schema[keyword][0]);
    if let Some(inner) = inner.into_iter().find(|it| it["properties"].is_object() || it["$ref"].is_string()) {
        return names_all(root, inner, content);
    }
    match (schema["properties"].as_object(), content.as_object()) {
        (Some(_), None) => !content.is_null(),
        (Some(properties), Some(members)) => {
            let named = |(name, value): (&String, &Json)| {
                properties.get(name).is_some_and(|schema| names_all(root, schema, value))
            };
            (!members.is_empty() || std::ptr::eq(schema, root)) && members.iter().all(named)
        }
        _ => true,
    }
}
