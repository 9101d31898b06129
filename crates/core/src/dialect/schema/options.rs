//! Options: the values of `enum` and `const`, and alternatives that are such values. Each has a text that stands for it in
//! an answer, and a label for the person.

use serde_json::Value as Json;

use super::node::Node;
use crate::question::{FieldOption, Preview, PreviewFormat};

/// The `_meta` member in which Claude's adapter puts the preview of an option, and where clients look for it.
pub const PREVIEW: &str = "_claude/askUserQuestionOption";

/// The options of a field, each with its value in the answer.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub options: Vec<FieldOption>,
    pub values: Vec<Json>,
}

/// Returns the options of a schema, if it lists its values. Returns `None` for one that does not, or that limits them in a
/// further way.
pub(super) fn of(root: &Json, node: &Node) -> Option<Options> {
    let mut found = Options::default();
    found.add(root, node, false)?;
    found.tell_apart()?;
    Some(found).filter(|found| !found.options.is_empty())
}

impl Options {
    /// Adds the values of a schema. The title of an alternative is that of its option.
    fn add(&mut self, root: &Json, node: &Node, is_alternative: bool) -> Option<()> {
        let by = |keyword: &str| node.members.get(keyword).and_then(Json::as_array);
        let constant = node.members.get("const").map(std::slice::from_ref);
        let listed = by("enum").map(Vec::as_slice).or(constant);
        let others = |known: &[&str]| node.limits().any(|keyword| !known.contains(&keyword));
        if let Some(values) = listed {
            let is_limited =
                others(&["enum", "const", "type"]) || (constant.is_some() && by("enum").is_some());
            return (!is_limited).then(|| self.add_listed(node, values, is_alternative))?;
        }
        let alternatives = by("oneOf").or(by("anyOf"))?;
        if others(&["oneOf", "anyOf", "type"]) || (by("oneOf").is_some() && by("anyOf").is_some()) {
            return None;
        }
        for (place, schema) in alternatives.iter().enumerate() {
            let mut opened = Node::open(root, schema, &[place.to_string()])?;
            // The type may stand beside the alternatives.
            let kind = node.members.get("type").filter(|_| !opened.members.contains_key("type"));
            if let Some(kind) = kind {
                opened.members.insert("type".to_owned(), kind.clone());
            }
            let has_nested = ["oneOf", "anyOf"].iter().any(|it| opened.members.contains_key(*it));
            if opened.nullable || has_nested {
                return None;
            }
            self.add(root, &opened, true)?;
        }
        Some(())
    }

    /// Adds the values of `enum` or `const` that have the type of the schema.
    fn add_listed(&mut self, node: &Node, values: &[Json], is_alternative: bool) -> Option<()> {
        let names = node.members.get("enumNames").and_then(Json::as_array);
        let names = names.filter(|names| names.len() == values.len());
        // What describes one value names its option; what describes several is about all of them.
        let is_one = values.len() == 1;
        let own = |name: &str| node.text(name).filter(|_| is_one && is_alternative).map(str::to_owned);
        for (place, value) in values.iter().enumerate() {
            if value.is_object() || value.is_array() {
                return None;
            }
            if !node.members.get("type").is_none_or(|kind| has_type(value, kind, node.nullable)) {
                continue;
            }
            let name = names.and_then(|names| names[place].as_str()).map(str::to_owned);
            let text = text(value);
            self.options.push(FieldOption {
                label: name
                    .or_else(|| own("title").filter(|_| node.members.contains_key("const")))
                    .unwrap_or_else(|| text.clone()),
                description: own("description"),
                preview: preview(node.members.get("_meta")).map(Box::new),
                value: text,
                ..FieldOption::default()
            });
            self.values.push(value.clone());
        }
        Some(())
    }

    /// Returns which option has this value. A whole number may be written with a fraction.
    pub(super) fn place_of(&self, value: Option<&Json>) -> Option<usize> {
        let value = value?;
        self.values.iter().position(|known| is_same(known, value))
    }

    /// Gives each value a text of its own: the text `1` beside the number 1 is written in quotes.
    fn tell_apart(&mut self) -> Option<()> {
        for place in 0..self.options.len() {
            let is_text = self.values[place].is_string();
            let same =
                |other: usize| other != place && self.options[other].value == self.options[place].value;
            let is_taken =
                (0..self.options.len()).any(|other| same(other) && !self.values[other].is_string());
            if is_text && is_taken {
                let quoted = self.values[place].to_string();
                let option = &mut self.options[place];
                if option.label == option.value {
                    option.label.clone_from(&quoted);
                }
                option.value = quoted;
            }
        }
        // Two options of one value mean the same to the agent.
        let is_apart = |(place, option): (usize, &FieldOption)| {
            let before = self.options[..place].iter().zip(&self.values);
            before
                .into_iter()
                .all(|(other, value)| other.value != option.value || *value == self.values[place])
        };
        self.options.iter().enumerate().all(is_apart).then_some(())
    }
}

/// Returns whether two values are the same to a schema.
pub(super) fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// Returns the text that stands for a value.
fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns whether a value has a type, or one of several.
fn has_type(value: &Json, kind: &Json, nullable: bool) -> bool {
    match kind {
        Json::Array(kinds) => kinds.iter().any(|kind| has_type(value, kind, nullable)),
        Json::String(kind) => match (value, kind.as_str()) {
            (Json::Null, kind) => nullable || kind == "null",
            (Json::Bool(_), "boolean") | (Json::String(_), "string") | (Json::Number(_), "number") => true,
            (Json::Number(number), "integer") => number.as_f64().is_some_and(|it| it.fract() == 0.0),
            _ => false,
        },
        // A member of another shape limits nothing.
        _ => true,
    }
}

fn preview(meta: Option<&Json>) -> Option<Preview> {
    let text = meta?.get(PREVIEW)?.get("preview")?.as_str()?;
    Some(Preview { format: PreviewFormat::Markdown, text: text.to_owned() })
}
