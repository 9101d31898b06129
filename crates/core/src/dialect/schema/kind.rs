//! The kind of field that one schema asks for. Options are left to `options.rs`, groups of fields to `object.rs`.

use serde_json::{Map, Value as Json};

use super::{node::Node, options};
use crate::{limits, question::Kind};

/// The kind of a field, with the value of each option.
#[derive(Debug)]
pub(super) struct Shape {
    pub kind: Kind,
    pub values: Vec<Json>,
}

/// Keywords for each type of a value. One for another type limits nothing.
const OF_TEXT: [&str; 3] = ["minLength", "maxLength", "pattern"];
const OF_NUMBER: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const OF_LIST: [&str; 8] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "uniqueItems",
];
const OF_COUNT: [&str; 2] = ["minItems", "maxItems"];
pub(super) const OF_OBJECT: [&str; 11] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// Returns the shape of the field that a schema asks for. Returns `None` if no kind of field can express it.
pub(super) fn of(root: &Json, node: &Node) -> Option<Shape> {
    if let Some(found) = options::of(root, node) {
        let default = found.place_of(node.members.get("default"));
        let default = default.map(|place| found.options[place].value.clone());
        let kind = Kind::Choice { options: found.options, other: false, default };
        return few_options(Shape { kind, values: found.values });
    }
    let kind = match node.members.get("type") {
        Some(Json::String(kind)) => kind.as_str(),
        Some(Json::Array(_)) => return None,
        _ => untyped(node)?,
    };
    let knows =
        |known: &[&[&str]]| node.limits().all(|limit| limit == "type" || known.concat().contains(&limit));
    let plain = |kind: Kind| Some(Shape { kind, values: Vec::new() });
    match kind {
        "string" if knows(&[&OF_TEXT, &OF_NUMBER, &OF_LIST, &OF_COUNT, &OF_OBJECT]) => plain(text(node)),
        "integer" | "number" if knows(&[&OF_TEXT, &OF_NUMBER, &OF_LIST, &OF_COUNT, &OF_OBJECT]) => {
            plain(number(node, kind == "integer"))
        }
        "boolean" if knows(&[&OF_TEXT, &OF_NUMBER, &OF_LIST, &OF_COUNT, &OF_OBJECT]) => {
            plain(Kind::Boolean { default: node.members.get("default").and_then(Json::as_bool) })
        }
        "array" if knows(&[&OF_TEXT, &OF_NUMBER, &OF_COUNT, &OF_OBJECT, &["items", "uniqueItems"]]) => {
            list(root, node)
        }
        _ => None,
    }
}

/// Returns the type of a schema without one, by its keywords. A schema that says nothing takes a text.
fn untyped(node: &Node) -> Option<&'static str> {
    let has = |keywords: &[&str]| node.limits().any(|limit| keywords.contains(&limit));
    let is_list = node.members.get("items").is_some_and(Json::is_object);
    match node.limits().next() {
        None => Some("string"),
        Some(_) if is_list => Some("array"),
        Some(_) if has(&OF_TEXT) && node.limits().all(|limit| OF_TEXT.contains(&limit)) => Some("string"),
        Some(_) => None,
    }
}

fn few_options(shape: Shape) -> Option<Shape> {
    (shape.kind.options().len() <= limits::OPTIONS).then_some(shape)
}

fn count(node: &Node, name: &str) -> Option<u32> {
    // A whole number may be written with a fraction. One of another shape is ignored, as readers of ACP do.
    let number = node.members.get(name)?.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is whole and in range"
    )]
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
}

fn owned(node: &Node, name: &str) -> Option<String> {
    node.text(name).map(str::to_owned)
}

fn text(node: &Node) -> Kind {
    Kind::Text {
        multiline: false,
        min_length: count(node, "minLength"),
        max_length: count(node, "maxLength"),
        pattern: owned(node, "pattern"),
        format: owned(node, "format"),
        placeholder: None,
        default: owned(node, "default"),
    }
}

fn number(node: &Node, integer: bool) -> Kind {
    let bound = |name: &str| node.members.get(name).and_then(Json::as_f64);
    // In draft 4, a flag makes the bound beside it exclusive.
    let is_flag = |name: &str| node.members.get(name) == Some(&Json::Bool(true));
    let (mut min, mut max) = (bound("minimum"), bound("maximum"));
    let mut exclusive = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    if is_flag("exclusiveMinimum") {
        exclusive.0 = min.take();
    }
    if is_flag("exclusiveMaximum") {
        exclusive.1 = max.take();
    }
    Kind::Number {
        integer,
        min,
        max,
        exclusive_min: exclusive.0,
        exclusive_max: exclusive.1,
        step: bound("multipleOf"),
        default: bound("default"),
    }
}

/// Returns the shape of a list: of options, or of texts.
fn list(root: &Json, node: &Node) -> Option<Shape> {
    let empty = Json::Object(Map::new());
    let items = node.members.get("items").filter(|items| items.is_object()).unwrap_or(&empty);
    let item = Node::open(root, items, &["items".to_owned()])?;
    let (min, max) = (count(node, "minItems"), count(node, "maxItems"));
    let default = node.members.get("default").and_then(Json::as_array);
    if item.nullable {
        return None;
    }
    if let Some(found) = options::of(root, &item) {
        let places = default.map(|values| values.iter().map(|value| found.place_of(Some(value))));
        let places = places.and_then(|places| places.collect::<Option<Vec<_>>>()).unwrap_or_default();
        let default = places.into_iter().map(|place| found.options[place].value.clone()).collect();
        // An option is chosen once.
        if min.is_some_and(|min| min as usize > found.options.len()) {
            return None;
        }
        let kind = Kind::Choices { options: found.options, other: false, min, max, default };
        return few_options(Shape { kind, values: found.values });
    }
    let Kind::Text { min_length, max_length, pattern, format, .. } = of(root, &item)?.kind else {
        return None;
    };
    let texts = |values: &Vec<Json>| values.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let kind = Kind::Texts {
        min,
        max,
        unique: node.members.get("uniqueItems") == Some(&Json::Bool(true)),
        min_length,
        max_length,
        pattern,
        format,
        default: default.and_then(texts).unwrap_or_default(),
    };
    // Items that say nothing may be anything.
    item.members.get("type").is_some().then_some(Shape { kind, values: Vec::new() })
}
