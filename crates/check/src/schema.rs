//! Compares messages with the schema of ACP: `schema/acp.json`, with the definition that names the method.
//! It reads the keywords that this schema has, and no others: a whole validator of JSON Schema would be three times as large
//! as all of this crate. When lines are compared is left to `messages.rs`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value};

/// The schema as text.
pub const TEXT: &str = include_str!("../schema/acp.json");
/// The version of the protocol that the schema is of.
const VERSION: u64 = 1;

static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::read);

/// How a message does not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The definition that it does not fit.
    pub of: &'static str,
    /// The difference, with its path.
    pub what: String,
}

/// The definitions, and which of them a method has.
struct Schema {
    definitions: Map<String, Value>,
    params: BTreeMap<String, String>,
    results: BTreeMap<String, String>,
}

/// Where a value differs from a definition.
#[derive(Debug)]
struct Difference {
    path: Vec<String>,
    what: String,
    /// Whether a member has another value than the one that chooses this definition.
    is_choice: bool,
}

/// Compares a message, and returns how it differs. `requested` returns the method of the open request with an ID. A message of a
/// method or a version that the schema does not have has no difference.
pub fn misfit<'a>(message: &Value, requested: impl FnOnce(&str) -> Option<&'a str>) -> Option<Misfit> {
    let schema = &*SCHEMA;
    let (name, part) = match message["method"].as_str() {
        Some(method) => (schema.params.get(method)?.as_str(), "params"),
        None if message.get("error").is_some() => ("Error", "error"),
        None => (schema.results.get(requested(&message["id"].to_string())?)?.as_str(), "result"),
    };
    let value = &message[part];
    if value["protocolVersion"].as_u64().is_some_and(|version| version != VERSION) {
        return None;
    }
    let mut difference = schema.compare(schema.definitions.get(name)?, value).err()?;
    difference.path.push(part.to_owned());
    difference.path.reverse();
    let path = difference.path.join(".").replace(".[", "[");
    Some(Misfit { of: name, what: format!("`{path}` {}", difference.what) })
}

impl Schema {
    fn read() -> Self {
        let mut document: Value = serde_json::from_str(TEXT).unwrap_or_default();
        let definitions = document["$defs"].as_object_mut().map(std::mem::take).unwrap_or_default();
        let (mut params, mut results) = (BTreeMap::new(), BTreeMap::new());
        for (name, definition) in &definitions {
            let Some(method) = definition["x-method"].as_str() else { continue };
            let of = if name.ends_with("Response") { &mut results } else { &mut params };
            of.insert(method.to_owned(), name.clone());
        }
        Self { definitions, params, results }
    }

    fn compare(&self, schema: &Value, value: &Value) -> Result<(), Difference> {
        let Some(schema) = schema.as_object() else {
            return if *schema == Value::Bool(false) { Err("is not expected".into()) } else { Ok(()) };
        };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let name = name.rsplit('/').next().unwrap_or_default();
            self.compare(self.definitions.get(name).unwrap_or(&Value::Null), value)?;
        }
        compare_value(schema, value)?;
        self.compare_members(schema, value)?;
        for part in list(schema, "allOf") {
            self.compare(part, value)?;
        }
        for choice in ["anyOf", "oneOf"] {
            self.choose(list(schema, choice), value)?;
        }
        match schema.get("not") {
            Some(not) if self.compare(not, value).is_ok() => Err("is not what the protocol allows".into()),
            _ => Ok(()),
        }
    }

    fn compare_members(&self, schema: &Map<String, Value>, value: &Value) -> Result<(), Difference> {
        if let Some(items) = schema.get("items") {
            for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                self.compare(items, item).map_err(|difference| difference.at(format!("[{at}]")))?;
            }
        }
        let Some(members) = value.as_object() else { return Ok(()) };
        if let Some(name) =
            list(schema, "required").iter().filter_map(Value::as_str).find(|it| !members.contains_key(*it))
        {
            return Err(Difference::from("is missing").at(name.to_owned()));
        }
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, value) in members {
            let member =
                known.and_then(|known| known.get(name)).or_else(|| schema.get("additionalProperties"));
            if let Some(member) = member {
                self.compare(member, value).map_err(|difference| difference.at(name.clone()))?;
            }
        }
        Ok(())
    }

    /// Compares a value with each of these schemas. If none fits, returns the difference that lies deepest: it is of the one
    /// that was probably meant.
    fn choose(&self, choices: &[Value], value: &Value) -> Result<(), Difference> {
        let mut nearest: Option<Difference> = None;
        for choice in choices {
            let Err(difference) = self.compare(choice, value) else { return Ok(()) };
            if nearest.as_ref().is_none_or(|nearest| difference.nearness() > nearest.nearness()) {
                nearest = Some(difference);
            }
        }
        nearest.map_or(Ok(()), Err)
    }
}

impl Difference {
    /// Adds where the value stands.
    fn at(mut self, place: String) -> Self {
        self.path.push(place);
        self
    }

    fn nearness(&self) -> (bool, usize) {
        (!self.is_choice, self.path.len())
    }
}

impl From<&str> for Difference {
    fn from(what: &str) -> Self {
        Self { path: Vec::new(), what: what.to_owned(), is_choice: false }
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Compares the value itself, without its members.
fn compare_value(schema: &Map<String, Value>, value: &Value) -> Result<(), Difference> {
    let types: Vec<_> = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name],
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return Err(format!("is not of type {}", types.join(" or ")).as_str().into());
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        return Err(Difference {
            is_choice: true,
            ..Difference::from("has a value that the protocol does not have")
        });
    }
    let number = |keyword| schema.get(keyword).and_then(Value::as_f64);
    let (least, most) = (number("minimum"), number("maximum"));
    if value
        .as_f64()
        .is_some_and(|value| least.is_some_and(|it| value < it) || most.is_some_and(|it| value > it))
    {
        return Err("is out of range".into());
    }
    let length =
        schema.get("minLength").and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    match value.as_str() {
        Some(text) if length.is_some_and(|length| text.chars().count() < length) => {
            Err("is too short".into())
        }
        _ => Ok(()),
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|value| value.fract() == 0.0)
        }
        _ => value.is_number(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{
        case::Case,
        kind::Kind,
        library,
        serve::action::Serve,
        step::{Action, Side},
        talk::action::Talk,
        variables::Variables,
    };

    const LONG: usize = 10_000;
    /// The keywords that are compared, and those that compare nothing.
    const KEYWORDS: [&str; 17] = [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "items",
        "maximum",
        "minLength",
        "minimum",
        "not",
        "oneOf",
        "properties",
        "required",
        "type",
        "unevaluatedProperties",
        "x-method",
        "x-side",
    ];

    fn known(schema: &Value) {
        let Some(members) = schema.as_object() else { return assert_ne!(*schema, Value::Null) };
        for (keyword, value) in members {
            assert!(KEYWORDS.contains(&keyword.as_str()), "`{keyword}` is not compared");
            match value {
                Value::Object(members) if keyword == "properties" => members.values().for_each(known),
                Value::Array(parts) if keyword.ends_with("Of") => parts.iter().for_each(known),
                Value::Object(_) => known(value),
                _ => {}
            }
        }
    }

    #[test]
    fn every_keyword_of_the_schema_is_compared() {
        assert!(SCHEMA.params.len() > 20 && SCHEMA.results.len() > 15);
        SCHEMA.definitions.values().for_each(known);
    }

    #[test]
    fn the_place_of_a_difference_is_named() {
        let what = |line: &str| {
            let message: Value = serde_json::from_str(line).ok()?;
            misfit(&message, |_| Some("session/prompt")).map(|misfit| misfit.what)
        };
        let update = |update: &str| {
            format!(r#"{{"method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#)
        };
        for (line, path) in [
            (
                r#"{"id":1,"result":{"stopReason":"done"}}"#,
                "`result.stopReason` has a value that the protocol does not have",
            ),
            (r#"{"id":1,"result":{}}"#, "`result.stopReason` is missing"),
            (r#"{"id":1,"error":{"code":"x","message":""}}"#, "`error.code` is not of type integer"),
            (
                r#"{"id":1,"method":"initialize","params":{"protocolVersion":-1}}"#,
                "`params.protocolVersion` is out of range",
            ),
            (r#"{"id":1,"method":"initialize"}"#, "`params` is not of type object"),
            (&update(r#"{"sessionUpdate":"agent_message_chunk"}"#), "`params.update.content` is missing"),
            (
                &update(
                    r#"{"sessionUpdate":"plan","entries":[{"content":"","priority":"low","status":"x"}]}"#,
                ),
                "`params.update.entries[0].status` has a value that the protocol does not have",
            ),
            (
                &update(
                    r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"t","content":[{"type":"diff","path":"p"}]}"#,
                ),
                "`params.update.content[0].newText` is missing",
            ),
            (
                &update(r#"{"sessionUpdate":"x"}"#),
                "`params.update.sessionUpdate` has a value that the protocol does not have",
            ),
        ] {
            assert_eq!(what(line).as_deref(), Some(path), "{line}");
        }
        for line in [
            r#"{"id":1,"result":{"stopReason":"end_turn","later":1}}"#,
            r#"{"id":1,"method":"_example.com/ask"}"#,
            r#"{"id":1,"method":"initialize","params":{"protocolVersion":2}}"#,
            "oops",
        ] {
            assert_eq!(what(line), None, "{line}");
        }
    }

    /// Returns the messages that the checker writes in a case, each with the method of the request that it responds to.
    fn written(case: &Case) -> Vec<(Value, String)> {
        let (variables, mut methods, mut written) = (Variables::default(), BTreeMap::new(), Vec::new());
        for step in &case.steps {
            let (writer, text, is_ours) = match &step.action {
                Action::WriteLine(side, text) => (*side, text, true),
                Action::ExpectLine(side, text) | Action::ExpectPart(side, text) => {
                    (side.other(), text, false)
                }
                Action::Talk(Talk::GetsAmong(text)) => (Side::Agent, text, false),
                Action::Serve(Serve::GetsAmong(text)) => (Side::Client, text, false),
                _ => continue,
            };
            // A long line says no more than a short one.
            let message = Some(variables.pattern(text)).filter(|text| text.len() < LONG);
            let Some(Ok(message)) = message.map(|text| serde_json::from_str::<Value>(&text)) else {
                continue;
            };
            let id = message["id"].to_string();
            if let Some(method) = message["method"].as_str() {
                methods.insert((writer.name(Kind::Agent), id.clone()), method.to_owned());
            }
            if is_ours {
                let method = methods.get(&(writer.other().name(Kind::Agent), id)).cloned();
                written.push((message, method.unwrap_or_default()));
            }
        }
        written
    }

    fn all_written() -> Vec<(Case, Value, String)> {
        let cases = [Kind::Agent, Kind::Client, Kind::Bridge].map(|kind| library::cases(kind).unwrap());
        let messages = cases.into_iter().flatten().flat_map(|case| {
            written(&case).into_iter().map(move |(message, method)| (case.clone(), message, method))
        });
        messages.collect()
    }

    #[test]
    fn what_the_checker_writes_fits_the_schema_where_the_case_does_not_say_otherwise() {
        let mut malformed = BTreeMap::new();
        for (case, message, method) in all_written() {
            let misfit = misfit(&message, |_| Some(&method));
            let place = malformed.entry(case.id.clone()).or_insert((case.is_malformed, None));
            place.1 = place.1.take().or(misfit);
        }
        malformed.retain(|_, (says_so, misfit)| *says_so != misfit.is_some());
        assert!(malformed.is_empty(), "`malformed: yes` does not say what is there: {malformed:#?}");
    }

    /// Returns each value that a value becomes if one of its parts is removed or replaced.
    fn changed(value: &Value) -> Vec<Value> {
        let others = [
            Value::Null,
            Value::from(-1),
            Value::from("x"),
            Value::from(1.5),
            json!([]),
            json!({}),
            json!(true),
        ];
        let mut all = others.to_vec();
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let put = |new: Option<Value>| {
                        let mut members = members.clone();
                        members.remove(name);
                        members.extend(new.map(|new| (name.clone(), new)));
                        Value::Object(members)
                    };
                    all.push(put(None));
                    all.extend(changed(member).into_iter().map(|new| put(Some(new))));
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    all.extend(changed(item).into_iter().map(|new| {
                        let mut items = items.clone();
                        items[at] = new;
                        Value::Array(items)
                    }));
                }
            }
            _ => {}
        }
        all
    }

    #[test]
    fn a_whole_validator_says_the_same() {
        let document: Value = serde_json::from_str(TEXT).unwrap();
        let validator = |name: &str| {
            let mut schema = document.clone();
            schema["$ref"] = format!("#/$defs/{name}").into();
            jsonschema::validator_for(&schema).unwrap()
        };
        let mut parts: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (_, message, method) in all_written() {
            let found = match message["method"].as_str() {
                Some(method) => SCHEMA.params.get(method).map(|name| (name, &message["params"])),
                None => SCHEMA.results.get(&method).map(|name| (name, &message["result"])),
            };
            found.map(|(name, part)| parts.entry(name).or_default().insert(part.to_string()));
        }
        assert!(parts.len() > 10, "{:?}", parts.keys());
        for (name, parts) in parts {
            let validator = validator(name);
            for part in parts.iter().take(40) {
                let part: Value = serde_json::from_str(part).unwrap();
                for value in changed(&part).into_iter().chain([part]) {
                    let ours = SCHEMA.compare(&SCHEMA.definitions[name], &value);
                    assert_eq!(ours.is_ok(), validator.is_valid(&value), "{name}: {value} {ours:?}");
                }
            }
        }
    }
}
