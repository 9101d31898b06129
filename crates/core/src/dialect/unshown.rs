//! What a question has and no responder can show: pictures, recordings, files, and blocks of unknown types, wherever they
//! stand in the request of any dialect. Those of a permission are counted where its content is read.

use serde_json::Value as Json;

use super::permission::Unshown;
use crate::question::{Purpose, Question, command::bare_name};

/// The types of blocks that are no text.
const TYPES: [&str; 8] = ["audio", "blob", "document", "file", "image", "resource", "resource_link", "video"];

/// Members of which a block of such a type has at least one. Without them, it is something else of the same name.
const PARTS: [&str; 11] = [
    "blob",
    "data",
    "file",
    "imageUrl",
    "image_url",
    "mimeType",
    "mime_type",
    "resource",
    "source",
    "uri",
    "url",
];

/// Members that have such a thing, by their bare names, with its type.
const MEMBERS: [(&str, &str); 16] = [
    ("attachment", "file"),
    ("attachments", "file"),
    ("audio", "audio"),
    ("image", "image"),
    ("imagedata", "image"),
    ("images", "image"),
    ("imageurl", "image"),
    ("media", "file"),
    ("picture", "image"),
    ("pictures", "image"),
    ("resourcelink", "resource_link"),
    ("screenshot", "image"),
    ("screenshots", "image"),
    ("thumbnail", "image"),
    ("video", "video"),
    ("videos", "video"),
];

/// Members that have blocks, of which text is the only type that is shown.
const BLOCKS: [&str; 3] = ["blocks", "content", "parts"];

/// Types of blocks that are shown, or have others in them.
const SHOWN: [&str; 4] = ["content", "diff", "terminal", "text"];

/// The depth up to which a request is searched.
const DEPTH: usize = 16;

/// Adds what its request has, and no responder can show, to a question.
pub fn add(question: &mut Question, request: &[u8]) {
    if question.purpose != Purpose::Question {
        return;
    }
    let Ok(json) = serde_json::from_slice(request) else { return };
    let mut unshown = Unshown::default();
    value(&json, &mut unshown, DEPTH);
    question.unshown = unshown.sentences();
}

fn value(json: &Json, unshown: &mut Unshown, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match json {
        Json::Array(items) => items.iter().for_each(|item| value(item, unshown, depth)),
        Json::Object(members) => {
            let kind = json["type"].as_str().unwrap_or_default();
            if TYPES.contains(&kind) && PARTS.iter().any(|part| !json[*part].is_null()) {
                return block(kind, json, unshown);
            }
            for (name, json) in members {
                member(&bare_name(name), json, unshown, depth);
            }
        }
        _ => {}
    }
}

fn block(kind: &str, json: &Json, unshown: &mut Unshown) {
    let about = ["mimeType", "mime_type", "uri"].into_iter().find_map(|name| json[name].as_str());
    let about = about.or_else(|| json.pointer("/resource/uri")?.as_str());
    unshown.add(if kind == "document" { "file" } else { kind }, about);
}

fn member(name: &str, json: &Json, unshown: &mut Unshown, depth: usize) {
    let known = MEMBERS.iter().find(|(known, _)| *known == name);
    match (known, json) {
        (Some((_, kind)), Json::String(text)) if !text.is_empty() => unshown.add(kind, None),
        (Some((_, kind)), Json::Array(items)) => {
            for item in items {
                match item {
                    // The members of a schema have texts in lists as well, but they have other names.
                    Json::Object(_) if item["type"].is_string() => value(item, unshown, depth),
                    _ => unshown.add(kind, None),
                }
            }
        }
        (Some((_, kind)), Json::Object(_)) if PARTS.iter().any(|part| json[*part].is_string()) => {
            block(kind, json, unshown);
        }
        (None, Json::Array(items)) if BLOCKS.contains(&name) => {
            for item in items {
                match item["type"].as_str() {
                    Some(kind) if !TYPES.contains(&kind) && !SHOWN.contains(&kind) => unshown.add(kind, None),
                    _ => value(item, unshown, depth),
                }
            }
        }
        (_, json) => value(json, unshown, depth),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    #[test]
    fn what_a_question_cannot_show_is_counted() {
        for (request, expected) in [
            (
                json!({ "prompt": "?", "images": ["data:image/png;base64,AA==", "https://a.example/b.png"] }),
                &["2 images are not shown"][..],
            ),
            (
                json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "AA==" }, { "type": "text", "text": "t" }] }),
                &["1 image (image/png) is not shown"],
            ),
            (
                json!({ "content": [{ "type": "content", "content": { "type": "audio", "data": "AA==" } }] }),
                &["1 audio recording is not shown"],
            ),
            (
                json!({ "content": [{ "type": "chart", "rows": [] }] }),
                &["1 block of an unknown type (chart) is not shown"],
            ),
            (
                json!({ "questions": [{ "options": [{ "label": "A", "image": { "url": "u" } }, { "label": "B", "image": "x" }] }] }),
                &["2 images are not shown"],
            ),
            (
                json!({ "resource": 5, "blocks": [{ "type": "resource", "resource": { "uri": "file:///a", "blob": "AA==" } }] }),
                &["1 resource (file:///a) is not shown"],
            ),
            (
                json!({ "requestedSchema": { "properties": { "image": { "type": "string" }, "images": { "type": "array", "items": { "enum": ["a"] } } } } }),
                &[],
            ),
            (json!({ "message": "image", "type": "image" }), &[]),
        ] {
            let mut question = Question::new(Origin::Program, "q", Vec::new());
            add(&mut question, request.to_string().as_bytes());
            assert_eq!(question.unshown, expected, "{request}");
        }
    }
}
