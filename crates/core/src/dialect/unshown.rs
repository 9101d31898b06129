//! The images of a question, and what it has that no responder can show: recordings, files, and blocks of unknown types,
//! wherever they stand in the request of any dialect. Those of a permission are read where its content is.

use serde_json::Value as Json;

use super::media::{IMAGE, IMAGE_TYPES, Media};
use crate::{
    limits,
    question::{Purpose, Question, command::bare_name},
};

/// The types of blocks that are no text.
const TYPES: [&str; 8] = ["audio", "blob", "document", "file", "image", "resource", "resource_link", "video"];

/// Members of which a block of such a type has at least one. Without them, it is something else of the same name.
const PARTS: [&str; 12] = [
    "blob",
    "data",
    "file",
    "imageUrl",
    "image_url",
    "mime",
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

/// Adds its images, and what no responder can show, to a question. `request` is its own request.
pub fn add(question: &mut Question, request: &[u8]) {
    if question.purpose != Purpose::Question {
        return;
    }
    (question.images, question.unshown) = read(request).finish();
}

/// Returns whether a request is too long to be a question. The data of its images does not count.
pub fn is_too_long(request: &[u8]) -> bool {
    request.len() > limits::QUESTION && request.len() - read(request).data() > limits::QUESTION
}

fn read(request: &[u8]) -> Media {
    let mut media = Media::default();
    if let Ok(json) = serde_json::from_slice(request) {
        value(&json, &mut media, None, DEPTH);
    }
    media
}

/// Reads JSON, which belongs to the option of this label if there is one.
fn value(json: &Json, media: &mut Media, label: Option<&str>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match json {
        Json::Array(items) => items.iter().for_each(|item| value(item, media, label, depth)),
        Json::Object(members) => {
            let kind = json["type"].as_str().unwrap_or_default();
            if is_image(kind) || TYPES.contains(&kind) && PARTS.iter().any(|part| !json[*part].is_null()) {
                return block(kind, json, media, label);
            }
            let label = json["label"].as_str().or(label);
            for (name, json) in members {
                member(&bare_name(name), json, media, label, depth);
            }
        }
        _ => {}
    }
}

/// Returns whether only a block that has an image is of this type.
fn is_image(kind: &str) -> bool {
    IMAGE_TYPES.contains(&kind)
}

fn block(kind: &str, json: &Json, media: &mut Media, label: Option<&str>) {
    let names = ["mimeType", "mime_type", "mime"];
    let declared =
        names.into_iter().find_map(|name| json[name].as_str().or_else(|| json["resource"][name].as_str()));
    let is_image = kind == IMAGE || is_image(kind) || declared.is_some_and(|kind| kind.starts_with("image/"));
    if is_image && kind != "resource_link" {
        return media.add_image(json, label);
    }
    let about = declared.filter(|_| kind != "resource").or_else(|| json["uri"].as_str());
    let about = about.or_else(|| json.pointer("/resource/uri")?.as_str());
    media.add(if kind == "document" { "file" } else { kind }, about);
}

fn member(name: &str, json: &Json, media: &mut Media, label: Option<&str>, depth: usize) {
    let known = MEMBERS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    match (known, json) {
        (Some(kind), Json::String(text)) if !text.is_empty() => thing(kind, json, media, label),
        (Some(kind), Json::Array(items)) => {
            for item in items {
                match item {
                    // The members of a schema have texts in lists as well, but they have other names.
                    Json::Object(_) if item["type"].is_string() => value(item, media, label, depth),
                    _ => thing(kind, item, media, label),
                }
            }
        }
        (Some(kind), Json::Object(_)) if PARTS.iter().any(|part| json[*part].is_string()) => {
            block(kind, json, media, label);
        }
        (None, Json::Array(items)) if BLOCKS.contains(&name) => {
            for item in items {
                match item["type"].as_str() {
                    Some(kind) if !is_image(kind) && !TYPES.contains(&kind) && !SHOWN.contains(&kind) => {
                        media.add(kind, None);
                    }
                    _ => value(item, media, label, depth),
                }
            }
        }
        (_, json) => value(json, media, label, depth),
    }
}

/// Adds what stands in a member that is known to have such a thing.
fn thing(kind: &str, json: &Json, media: &mut Media, label: Option<&str>) {
    match kind {
        IMAGE => media.add_image(json, label),
        _ => media.add(kind, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    #[test]
    fn a_request_is_as_long_as_what_it_has_beside_images() {
        let long = "A".repeat(2 * limits::QUESTION);
        let image = json!({ "prompt": "?", "image": format!("data:image/png;base64,{long}") });
        let block = json!({ "content": [{ "type": "image", "mimeType": "image/svg+xml", "data": long }] });
        let audio = json!({ "content": [{ "type": "audio", "data": long }] });
        for (request, expected) in [
            (image.to_string(), false),
            // It does not matter whether the image is shown.
            (block.to_string(), false),
            (audio.to_string(), true),
            (json!({ "prompt": long, "image": long }).to_string(), true),
            (json!({ "prompt": "?" }).to_string(), false),
            (format!("{{\"image\":\"{long}"), true),
        ] {
            assert_eq!(is_too_long(request.as_bytes()), expected, "{}", &request[..40.min(request.len())]);
        }
    }

    #[test]
    fn what_a_question_cannot_show_is_counted() {
        for (request, expected) in [
            (
                json!({ "prompt": "?", "images": ["data:image/png;base64,AA==", "https://a.example/b.png"] }),
                &[
                    "1 image (https://a.example/b.png) is not shown: only its address was sent",
                    "1 image (image/png) is not shown: data that is no PNG, JPEG, WebP or GIF",
                ][..],
            ),
            (
                json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "AA==" }, { "type": "text", "text": "t" }] }),
                &["1 image (image/png) is not shown: data that is no PNG, JPEG, WebP or GIF"],
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
                &[
                    "1 image (u) is not shown: only its address was sent",
                    "1 image (x) is not shown: only its address was sent",
                ],
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
