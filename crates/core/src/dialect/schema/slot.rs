//! Where the value of a field goes in the answer of a schema, and as which JSON: the person's texts stand for numbers,
//! flags and null as well. The place of a companion's text is left to the forms.

use serde_json::{Map, Value as Json};

use super::options::is_same;
use crate::{
    dialect::values::Entries,
    question::{Field, Kind, Value, json, naming::value_of, outcome::canonical},
};

/// The place of one field in the answer, and the values that its texts stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The names of the members that lead to the value. Empty for the answer as a whole.
    pub place: Vec<String>,
    /// The JSON of each option that is not its own text.
    pub values: Vec<(String, Json)>,
}

/// A group of fields: an object in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The names of the members that lead to the object.
    pub place: Vec<String>,
    /// What stands there if no field of the group has a value, where the object around it is given.
    pub blank: Option<Json>,
}

impl Slot {
    /// Returns the slot of a field with a member of its own name.
    pub fn named(name: &str) -> Self {
        Slot { place: vec![name.to_owned()], values: Vec::new() }
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let texts = self.place.iter().map(String::len).sum::<usize>();
        let value = |(text, json): &(String, Json)| {
            size_of::<(String, Json)>() + text.len() + json.as_str().map_or(0, str::len)
        };
        size_of::<Self>() + texts + self.values.iter().map(value).sum::<usize>()
    }

    /// Writes a value that fits the field.
    pub fn write(&self, field: &Field, value: &Value) -> Json {
        match (value, &field.kind) {
            (Value::Null, _) => Json::Null,
            (Value::Text(text), Kind::Json { .. }) => {
                json::parse(text).unwrap_or_else(|_| text.clone().into())
            }
            (Value::Text(text), _) => self.of_text(text),
            (Value::Many(texts), _) => texts.iter().map(|text| self.of_text(text)).collect(),
            // A form shows the two words as options with the values `true` and `false`.
            (Value::Flag(flag), Kind::Confirm { .. }) => flag.to_string().into(),
            (Value::Flag(flag), _) => (*flag).into(),
            (Value::Number(number), Kind::Number { integer: true, .. }) => Json::Number(canonical(number)),
            (Value::Number(number), _) => Json::Number(number.clone()),
        }
    }

    fn of_text(&self, text: &str) -> Json {
        let known = self.values.iter().find(|(known, _)| known == text);
        known.map_or_else(|| text.into(), |(_, json)| json.clone())
    }

    /// Reads a value. One of the wrong type is kept as a text, which the check then refuses.
    pub fn read(&self, field: &Field, json: &Json) -> Value {
        let chosen = |json: &Json| self.to_text(field, json);
        match (json, &field.kind) {
            (json, Kind::Json { .. }) => Value::Text(json.to_string()),
            (Json::Null, _) if field.nullable => Value::Null,
            (Json::String(text), Kind::Confirm { .. }) if text == "true" || text == "false" => {
                Value::Flag(text == "true")
            }
            (Json::Array(entries), _) => Value::Many(entries.iter().map(chosen).collect()),
            (json, Kind::Choices { .. } | Kind::Texts { .. }) => Value::Many(vec![chosen(json)]),
            (Json::Bool(_) | Json::Number(_) | Json::Null, Kind::Choice { .. }) => Value::Text(chosen(json)),
            (Json::Bool(flag), _) => Value::Flag(*flag),
            (Json::Number(number), _) => Value::Number(number.clone()),
            (json, _) => Value::Text(chosen(json)),
        }
    }

    fn to_text(&self, field: &Field, json: &Json) -> String {
        if let Some((text, _)) = self.values.iter().find(|(_, known)| is_same(known, json)) {
            return text.clone();
        }
        json.as_str().map_or_else(|| json.to_string(), |text| value_of(field, text).into_owned())
    }
}

/// Puts JSON at its place, with the objects that lead there.
pub fn put(content: &mut Entries<Json>, place: &[String], json: Json) {
    let Some((first, rest)) = place.split_first() else {
        // The answer as a whole.
        if let Json::Object(members) = json {
            content.0.extend(members);
        }
        return;
    };
    match content.0.iter_mut().find(|(name, _)| name == first) {
        Some((_, object)) => put_below(object, rest, json),
        None => {
            let mut object = Json::Object(Map::new());
            put_below(&mut object, rest, json);
            content.0.push((first.clone(), object));
        }
    }
}

fn put_below(object: &mut Json, place: &[String], json: Json) {
    match (place.split_first(), object) {
        (None, object) => *object = json,
        (Some((first, rest)), Json::Object(members)) => {
            put_below(members.entry(first.clone()).or_insert_with(|| Json::Object(Map::new())), rest, json);
        }
        // A group that is null has no members.
        (Some(_), _) => {}
    }
}

/// Returns what stands at a place.
pub fn at<'a>(content: &'a Map<String, Json>, place: &[String]) -> Option<&'a Json> {
    let (first, rest) = place.split_first()?;
    rest.iter().try_fold(content.get(first)?, |json, name| json.get(name))
}

impl Group {
    /// Writes what stands for the group if none of its fields has a value.
    pub fn complete(&self, content: &mut Entries<Json>) {
        let Some(blank) = &self.blank else { return };
        let members: Map<String, Json> = content.0.iter().cloned().collect();
        let around = self.place.split_last().map_or(&[][..], |(_, around)| around);
        let is_around = around.is_empty() || at(&members, around).is_some_and(Json::is_object);
        if is_around && at(&members, &self.place).is_none() {
            put(content, &self.place, blank.clone());
        }
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.place.iter().map(String::len).sum::<usize>()
    }
}
