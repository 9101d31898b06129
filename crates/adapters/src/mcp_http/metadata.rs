//! The headers of a call that repeat members of its message, as the revision 2026-07-28 demands: the method, the name
//! of the tool, and the arguments that a tool's schema marks by `x-mcp-header`. Every other revision is left alone.

use std::collections::{BTreeMap, BTreeSet};

use askbridge_core::wire::{envelope::Message, scan};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::{Engine, engine::general_purpose::STANDARD};
use memchr::memmem;
use serde_json::{Map, Value};

use crate::limits;

/// The member of a schema that names the header of an argument.
const MARK: &str = "x-mcp-header";
/// The largest integer that a header may have, by the specification.
const SAFE_INTEGER: u64 = (1 << 53) - 1;

/// An argument of a tool that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Marked {
    path: Vec<String>,
    header: HeaderName,
}

/// The tools with marked arguments, from the lists that passed.
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, Vec<Marked>>);

impl Tools {
    /// Reads the tools of a response to `tools/list`.
    ///
    /// The specification has a client leave tools with wrong marks out of the list. Here the list passes unchanged, and
    /// such a tool is called without these headers, so that the server decides.
    pub(super) fn learn(&mut self, response: &[u8]) {
        let marks = memmem::find(response, MARK.as_bytes()).is_some();
        // Nearly no list has marks, and then there are none to forget either.
        if !marks && self.0.is_empty() {
            return;
        }
        let result = Message::read(response).and_then(|message| message.result);
        let listed = result.and_then(|result| scan::member(result, "tools"));
        let listed = listed.filter(|tools| tools.len() <= limits::mcp_http::TOOLS_BYTES);
        let tools: Vec<Value> =
            listed.and_then(|tools| serde_json::from_slice(tools).ok()).unwrap_or_default();
        for tool in tools {
            let Some(name) = tool["name"].as_str() else { continue };
            self.0.remove(name);
            match marked(&tool["inputSchema"]) {
                Ok(marked) if !marked.is_empty() && self.0.len() < limits::mcp_http::TOOLS => {
                    self.0.insert(name.to_owned(), marked);
                }
                Ok(_) => {}
                Err(why) => tracing::warn!(tool = name, "the tool's marks of headers are ignored: {why}"),
            }
        }
    }
}

/// Adds the headers of a request.
pub(super) fn add(headers: &mut HeaderMap, line: &[u8], tools: &Tools) {
    let Some(message) = Message::read(line) else { return };
    let Some(method) = message.method.as_deref() else { return };
    insert(headers, HeaderName::from_static("mcp-method"), method);
    let named_by = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    let Some(name) = message.param(named_by).and_then(scan::text) else { return };
    insert(headers, HeaderName::from_static("mcp-name"), &name);
    let Some(marked) = tools.0.get(&*name).filter(|_| method == "tools/call") else { return };
    for Marked { path, header } in marked {
        let found = path.iter().try_fold(message.param("arguments"), |value, key| {
            Some(scan::member(value?, key)).filter(Option::is_some)
        });
        if let Some(text) = found.flatten().and_then(text_of) {
            insert(headers, header.clone(), &text);
        }
    }
}

/// Returns the text of an argument: a text, an integer, or a truth value.
fn text_of(value: &[u8]) -> Option<String> {
    match serde_json::from_slice(value).ok()? {
        Value::String(text) => Some(text),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            let whole = number.as_i64().filter(|whole| whole.unsigned_abs() <= SAFE_INTEGER);
            let float = number.as_f64().filter(|float| float.fract() == 0.0);
            // A host may write 42.0 for the integer 42.
            whole.map(|whole| whole.to_string()).or_else(|| float.map(|float| format!("{float}")))
        }
        _ => None,
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    // The encoded text has only characters that a header may have.
    if let Ok(value) = HeaderValue::from_str(&encoded(text)) {
        headers.insert(name, value);
    }
}

/// Returns a text as a header may carry it.
fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) && text.trim_matches(' ') == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_plain && !looks_encoded { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

/// Returns the marked arguments of a tool's schema.
///
/// # Errors
/// Fails with the first rule of the specification that a mark breaks.
fn marked(schema: &Value) -> Result<Vec<Marked>, String> {
    let mut found = Vec::new();
    let count = walk(schema, &mut Vec::new(), &mut found)?;
    if count != marks(schema) {
        return Err("a mark is not on a property of the arguments".to_owned());
    }
    let names: BTreeSet<_> = found.iter().map(|marked| marked.header.as_str()).collect();
    if names.len() == found.len() { Ok(found) } else { Err("two marks have the same name".to_owned()) }
}

/// Finds the marks that are reached by properties alone, and returns their number.
fn walk(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Marked>) -> Result<usize, String> {
    let mut count = 0;
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            count += 1;
            let mark = mark.as_str().filter(|mark| !mark.is_empty()).ok_or("a mark is not a name")?;
            let header = HeaderName::from_bytes(format!("mcp-param-{mark}").as_bytes());
            let header = header.map_err(|_| format!("{mark:?} is not the name of a header"))?;
            if !matches!(property["type"].as_str(), Some("string" | "integer" | "boolean")) {
                return Err(format!("`{name}` is not a text, an integer or a truth value"));
            }
            found.push(Marked { path: path.clone(), header });
        }
        count += walk(property, path, found)?;
        path.pop();
    }
    Ok(count)
}

/// Counts the marks of a schema and of all schemas in it. Names of properties, and values, are none.
fn marks(schema: &Value) -> usize {
    let of_all = |schemas: &Map<String, Value>| schemas.values().map(marks).sum::<usize>();
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match (&**name, value) {
                (MARK, _) => 1,
                ("default" | "const" | "enum" | "examples" | "required", _) => 0,
                (
                    "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                    Value::Object(schemas),
                ) => of_all(schemas),
                (_, value) => marks(value),
            })
            .sum(),
        Value::Array(schemas) => schemas.iter().map(marks).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(tools: &Tools, message: &Value) -> Vec<String> {
        let mut headers = HeaderMap::new();
        add(&mut headers, message.to_string().as_bytes(), tools);
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        lines
    }

    fn call(arguments: &Value) -> Value {
        json!({ "id": 1, "method": "tools/call", "params": { "name": "t", "arguments": arguments } })
    }

    fn learned(schema: &Value) -> Tools {
        let mut tools = Tools::default();
        let list = json!({ "id": 1, "result": { "tools": [{ "name": "t", "inputSchema": schema }] } });
        tools.learn(list.to_string().as_bytes());
        tools
    }

    #[test]
    fn a_request_repeats_its_method_and_its_name() {
        for (message, expected) in [
            (json!({ "id": 1, "method": "tools/list" }), &["mcp-method: tools/list"][..]),
            (call(&json!({})), &["mcp-method: tools/call", "mcp-name: t"]),
            (
                json!({ "id": 1, "method": "resources/read", "params": { "uri": "file:///ä" } }),
                &["mcp-method: resources/read", "mcp-name: =?base64?ZmlsZTovLy/DpA==?="],
            ),
            (
                json!({ "id": 1, "method": "tools/call", "params": { "name": 5 } }),
                &["mcp-method: tools/call"],
            ),
            (json!({ "id": 1, "result": {} }), &[]),
        ] {
            assert_eq!(headers(&Tools::default(), &message), expected, "{message}");
        }
    }

    #[test]
    fn texts_are_encoded_as_the_specification_shows() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", ""),
        ] {
            assert_eq!(encoded(text), header);
        }
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "plain": { "type": "string", "description": "x-mcp-header" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "flag": { "type": "boolean", "x-mcp-header": "Flag" },
        }});
        let tools = learned(&schema);
        let sent = |arguments: Value| headers(&tools, &call(&arguments)).split_off(2);
        let all = json!({ "region": "eu\n", "plain": "x", "deep": { "n": -7 }, "flag": true });
        assert_eq!(
            sent(all),
            ["mcp-param-flag: true", "mcp-param-n: -7", "mcp-param-region: =?base64?ZXUK?="]
        );
        assert_eq!(sent(json!({ "deep": { "n": 42.0 } })), ["mcp-param-n: 42"]);
        for none in [json!({}), json!({ "region": null, "deep": 1 }), json!({ "deep": { "n": 1.5 } })] {
            assert_eq!(sent(none.clone()), [""; 0], "{none}");
        }
    }

    #[test]
    fn wrong_marks_are_ignored_with_all_of_their_tool() {
        let right = json!({ "type": "string", "x-mcp-header": "A" });
        for wrong in [
            json!({ "b": { "type": "string", "x-mcp-header": "" } }),
            json!({ "b": { "type": "string", "x-mcp-header": "a" } }),
            json!({ "b": { "type": "string", "x-mcp-header": "b c" } }),
            json!({ "b": { "type": "string", "x-mcp-header": "b\r\nc" } }),
            json!({ "b": { "type": "number", "x-mcp-header": "B" } }),
            json!({ "b": { "type": "string", "x-mcp-header": 1 } }),
            json!({ "b": { "type": "array", "items": { "type": "string", "x-mcp-header": "B" } } }),
            json!({ "b": { "anyOf": [{ "type": "string", "x-mcp-header": "B" }] } }),
        ] {
            let mut properties = wrong.clone();
            properties["a"] = right.clone();
            let tools = learned(&json!({ "type": "object", "properties": properties }));
            assert_eq!(headers(&tools, &call(&json!({ "a": "x", "b": "y" }))).len(), 2, "{wrong}");
        }
        // A list that comes later counts.
        let mut tools = learned(&json!({ "properties": { "a": right } }));
        assert_eq!(headers(&tools, &call(&json!({ "a": "x" }))).len(), 3);
        tools.learn(br#"{"id":2,"result":{"tools":[{"name":"t","inputSchema":{}}]}}"#);
        assert_eq!(headers(&tools, &call(&json!({ "a": "x" }))).len(), 2);
    }
}
