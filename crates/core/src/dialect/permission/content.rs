//! The content and the places of a tool call: texts, changes of files, and what no responder can show.
//!
//! Source: `ToolCallContent` and `ContentBlock` of the ACP schema; bare blocks of yycode 0.3.7.

use serde_json::{Map, Value as Json};

use super::{input::text, said::Said};
use crate::{
    dialect::media::{self, IMAGE, IMAGE_TYPES, Media},
    limits,
    question::{Diff, Subject},
};

/// The kind of a tool that removes files, as ACP names it.
pub(super) const DELETE: &str = "delete";

/// The texts of blocks, and what they have beside them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub texts: Vec<String>,
    /// The images, and what no responder can show.
    pub media: Media,
    /// What blocks say beside the standard.
    pub said: Said,
    /// Whether the shape of all of it is known.
    pub is_whole: bool,
}

impl Blocks {
    /// Reads the content of a tool call. Changes of files are added to the subject.
    pub(super) fn read(content: &Json, subject: &mut Subject) -> Self {
        let mut blocks = Blocks { is_whole: content.is_null() || content.is_array(), ..Blocks::default() };
        match content {
            Json::Array(items) => items.iter().for_each(|block| blocks.block(block, subject)),
            // One text or one block stands where a list of them belongs.
            Json::String(text) => blocks.texts.push(text.clone()),
            Json::Object(_) => blocks.block(content, subject),
            _ => {}
        }
        blocks
    }

    fn block(&mut self, block: &Json, subject: &mut Subject) {
        match block["type"].as_str() {
            Some("diff") => {
                self.said.meta(&block["_meta"]);
                self.is_whole &= read_diff(block, subject);
                self.said.unknown(block.to_string().as_bytes(), &OF_DIFF);
            }
            Some("content") => {
                self.said.meta(&block["_meta"]);
                match &block["content"] {
                    Json::Array(blocks) => blocks.iter().for_each(|block| self.part(block)),
                    Json::String(text) => self.texts.push(text.clone()),
                    part => self.part(part),
                }
            }
            _ => self.part(block),
        }
    }

    /// Reads a block of content: a text, or something that cannot be shown.
    fn part(&mut self, block: &Json) {
        let about = |names: [&str; 3]| names.into_iter().find_map(|name| block[name].as_str());
        if block["type"].is_string() {
            self.said.meta(&block["_meta"]);
        }
        match block["type"].as_str() {
            Some("text") => match text(&block["text"]) {
                Some(text) => self.texts.push(text),
                None => self.is_whole &= block["text"].is_string(),
            },
            Some("resource") => self.resource(block),
            Some(kind @ "resource_link") => self.media.add(kind, about(["uri", "title", "name"])),
            Some(kind) if kind == IMAGE || IMAGE_TYPES.contains(&kind) => self.media.add_image(block, None),
            Some(kind) if media::is_known(kind) => {
                self.media.add(kind, about(["mimeType", "mime_type", "uri"]));
            }
            Some(kind) => {
                self.media.add(kind, None);
                self.is_whole = false;
            }
            None => self.is_whole = false,
        }
    }
}

impl Blocks {
    /// Reads a resource that the block has in itself: a text, an image, or another file.
    fn resource(&mut self, block: &Json) {
        let resource = &block["resource"];
        let kind = resource["mimeType"].as_str().unwrap_or_default();
        if !resource["blob"].is_null() && kind.starts_with("image/") {
            self.media.add_image(block, resource["uri"].as_str());
        } else if !resource["blob"].is_null() && resource["text"].is_string() {
            self.media.add("blob", resource["uri"].as_str());
        }
        match (text(&resource["text"]), resource["uri"].as_str()) {
            (Some(text), Some(uri)) => self.texts.push(format!("{uri}:\n{text}")),
            (Some(text), None) => self.texts.push(text),
            (None, _) if kind.starts_with("image/") && resource["blob"].is_string() => {}
            (None, uri) => self.media.add("resource", uri),
        }
    }
}

/// The members of a change of files, in both versions of ACP.
const OF_DIFF: [&str; 7] = ["type", "path", "oldText", "newText", "patch", "changes", "_meta"];

/// Reads a change of files, of both versions of ACP. Returns whether its kind is known.
fn read_diff(block: &Json, subject: &mut Subject) -> bool {
    let member = |name: &str| block.get(name).and_then(Json::as_str);
    let mut is_known = false;
    // Codex' adapter and Gemini CLI say there what happens to the file.
    if block.pointer("/_meta/kind").and_then(Json::as_str) == Some(DELETE) {
        subject.kind = Some(DELETE.to_owned());
    }
    if let (Some(path), Some(new)) = (member("path"), member("newText")) {
        subject.diffs.push(Diff::new(path, member("oldText"), new));
        // What stands there instead of a text is not shown.
        is_known = block["oldText"].is_null() || block["oldText"].is_string();
    }
    if let Some(patch) = block.pointer("/patch/text").and_then(text) {
        subject.patch = Some(subject.patch.take().unwrap_or_default() + &patch);
        is_known = true;
    }
    let changes = block.get("changes").and_then(Json::as_array).into_iter().flatten();
    subject.locations.extend(changes.filter_map(|change| text(change.get("path")?)));
    is_known
}

/// Members of a place in a file.
const OF_LOCATION: [&str; 2] = ["path", "line"];

/// Returns what the places of a tool call say beside the standard.
pub(super) fn of_locations(json: &Json) -> Said {
    let mut said = Said::default();
    let members = |place: &Json| -> Map<String, Json> {
        let members = place.as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| !OF_LOCATION.contains(&name.as_str()));
        members.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    json.as_array().into_iter().flatten().for_each(|place| said.members(&members(place)));
    said
}

/// Returns the files that a tool call names, and whether all of it could be read.
pub(super) fn locations(json: &Json) -> (Vec<String>, bool) {
    let place = |location: &Json| {
        let path = text(location.get("path")?)?;
        Some(match location.get("line").and_then(Json::as_u64) {
            Some(line) => format!("{path}:{line}"),
            None => path,
        })
    };
    let items = json.as_array().map(Vec::as_slice).unwrap_or_default();
    // More places are read than are kept, so that the cut to the limit is noticed.
    let most = 8 * limits::LOCATIONS;
    let places: Vec<_> = items.iter().take(most).filter_map(place).collect();
    let are_whole = (json.is_null() || json.is_array()) && places.len() == items.len();
    (places, are_whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What the content of a tool call says, and what cannot be shown of it.
    #[test]
    fn nothing_of_the_content_is_lost() {
        let of = |block: Json| json!([{ "type": "content", "content": block }]);
        let change = |more: Json| {
            let mut change = json!({ "type": "diff", "path": "a", "oldText": null, "newText": "b" });
            for (name, value) in more.as_object().into_iter().flatten() {
                change[name] = value.clone();
            }
            json!([change])
        };
        for (content, said, unshown, is_whole) in [
            (json!(null), "", "", true),
            (of(json!({ "type": "text", "text": "t" })), "t", "", true),
            (of(json!({ "type": "text", "text": "" })), "", "", true),
            (of(json!({ "type": "text", "text": 5 })), "", "", false),
            (
                of(json!({ "type": "text", "text": "t", "_meta": { "colour": "red" } })),
                "t colour: red",
                "",
                true,
            ),
            (
                json!([{ "type": "content", "content": "t", "_meta": { "colour": "red" } }]),
                "t colour: red",
                "",
                true,
            ),
            (
                of(json!({ "type": "image", "data": "AA==" })),
                "",
                "1 image is not shown: data that is no PNG, JPEG, WebP or GIF",
                true,
            ),
            (
                of(json!({ "type": "resource", "resource": { "uri": "u", "text": "t", "blob": "AA==" } })),
                "u:\nt",
                "1 file (u) is not shown",
                true,
            ),
            (
                of(json!({ "type": "resource", "resource": { "uri": "u", "text": "" } })),
                "",
                "1 resource (u) is not shown",
                true,
            ),
            (json!([{ "type": "terminal", "terminalId": "7" }]), "", "1 terminal is not shown", true),
            (of(json!({ "type": "chart" })), "", "1 block of an unknown type (chart) is not shown", false),
            (of(json!({ "a": 1 })), "", "", false),
            (json!(5), "", "", false),
            (change(json!({})), "a", "", true),
            (change(json!({ "oldText": 5 })), "a", "", false),
            (change(json!({ "chmod": "0777" })), "a chmod: 0777", "", true),
            (change(json!({ "_meta": { "chmod": "4755" } })), "a chmod: 4755", "", true),
        ] {
            let mut subject = Subject::default();
            let blocks = Blocks::read(&content, &mut subject);
            let changed = subject.diffs.iter().map(|diff| diff.path.clone());
            let all: Vec<_> = changed.chain(blocks.texts).chain(blocks.said.further).collect();
            let found = (all.join(" "), blocks.media.finish().1.join(" "), blocks.is_whole);
            assert_eq!(found, (said.to_owned(), unshown.to_owned(), is_whole), "{content}");
        }
    }

    #[test]
    fn nothing_of_the_places_is_lost() {
        let places =
            json!([{ "path": "a", "line": 1, "_meta": { "host": "prod" } }, { "path": "b", "side": "left" }]);
        let said = of_locations(&places);
        let all = [said.grants, said.further].concat().join(" ");
        assert!(all.contains("prod") && all.contains("side: left"), "{all}");
    }
}
