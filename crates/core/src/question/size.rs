//! The size of a question in memory, and as JSON. The limits are left to the desk.

use serde::{Deserialize, Deserializer};

use super::{Answer, Diff, Field, FieldOption, Image, Kind, Outcome, Provenance, Question, Subject, Value};

/// The most bytes that each part takes as JSON beside its texts: the names of its members, numbers, and punctuation. A
/// test compares each with the largest possible part.
const QUESTION: usize = 534;
const LINK: usize = 20;
const IMAGE: usize = 120;
const SUBJECT: usize = 265;
const DIFF: usize = 66;
const FIELD: usize = 400;
const OPTION: usize = 160;
const ANSWER: usize = 42;
const NUMBER: usize = 30;
const OUTCOME: usize = 40;
const PROVENANCE: usize = 30;

/// Reads a list without unused capacity: a list that grows has room for four elements from the first one on.
pub(super) fn exact<'de, D: Deserializer<'de>, T: Deserialize<'de>>(list: D) -> Result<Vec<T>, D::Error> {
    Vec::deserialize(list).map(|mut items: Vec<T>| {
        items.shrink_to_fit();
        items
    })
}

impl Question {
    /// Frees the unused capacity of its lists. A list that was collected from a longer one may keep all of that
    /// capacity.
    pub fn shrink_to_fit(&mut self) {
        self.fields.shrink_to_fit();
        for field in &mut self.fields {
            if let Kind::Choice { options, .. } | Kind::Choices { options, .. } = &mut field.kind {
                options.shrink_to_fit();
            }
        }
    }

    /// Returns about how many bytes it takes in memory. `json` is its size as JSON, where an option may be as short as
    /// four bytes.
    pub fn weight(&self, json: usize) -> usize {
        let options: usize = self.fields.iter().map(|field| field.kind.options().len()).sum();
        json + self.fields.len() * size_of::<Field>() + options * size_of::<FieldOption>()
    }

    /// Returns a close upper bound of its size as JSON. This is cheaper than serializing it, and a bridge needs it for
    /// each permission that passes.
    pub fn most_json(&self) -> usize {
        let Question { session, agent, project, request, id, title, message, submit, tool_call, .. } = self;
        let reason = &self.risk_reason;
        let fields: usize = self.fields.iter().map(field).sum();
        let subject = self.subject.as_deref().map_or(0, subject);
        let unshown = self.unshown.iter().map(|line| text(line)).sum::<usize>();
        let links = self.links.iter().map(|link| LINK + text(&link.url) + text(&link.host)).sum::<usize>();
        let images = self.images.iter().map(image).sum::<usize>();
        let texts = [id, message]
            .into_iter()
            .chain([session, request, title, submit, tool_call, reason].into_iter().flatten());
        let names = [agent, project].into_iter().flatten().map(|name| text(name));
        // What a program sends as JSON is as it came: serializing it cannot fail.
        let action = self.action.as_ref().and_then(|action| serde_json::to_string(action).ok());
        let schema = self.schema.as_ref().and_then(|schema| serde_json::to_string(schema).ok());
        let json: usize = [action, schema].into_iter().flatten().map(|json| json.len()).sum();
        QUESTION
            + texts.map(|it| text(it)).chain(names).sum::<usize>()
            + fields
            + subject
            + unshown
            + images
            + links
            + json
    }
}

impl Answer {
    /// Returns a close upper bound of its size as JSON.
    pub fn most_json(&self) -> usize {
        let value = |value: &Value| match value {
            Value::Text(given) => text(given),
            Value::Many(texts) => 2 + texts.iter().map(|given| text(given)).sum::<usize>(),
            Value::Flag(_) | Value::Number(_) | Value::Null => NUMBER,
        };
        let values: usize = self.values.iter().map(|(name, given)| 1 + text(name) + value(given)).sum();
        let notes: usize = self.notes.iter().map(|(name, note)| 1 + text(name) + text(note)).sum();
        ANSWER + values + notes + self.images.iter().map(image).sum::<usize>()
    }
}

impl Outcome {
    /// Returns a close upper bound of its size as JSON.
    pub fn most_json(&self) -> usize {
        OUTCOME
            + match self {
                Outcome::Answered(answer) => answer.most_json(),
                Outcome::Rejected(reason) => text(reason.name()),
                Outcome::Failed => 0,
                // The members of another version are unknown, so only serializing them tells their size.
                Outcome::Unknown(members) => serde_json::to_string(members).map_or(0, |json| json.len()),
            }
    }
}

impl Provenance {
    /// Returns a close upper bound of its size as JSON.
    pub fn most_json(&self) -> usize {
        PROVENANCE + text(self.responder.name()) + optional(self.name.as_ref())
    }
}

fn subject(subject: &Subject) -> usize {
    // This pattern has no `..`, so that the compiler names this place when a member is added.
    let Subject {
        kind,
        title,
        description,
        command,
        folder,
        locations,
        diffs,
        patch,
        plan,
        content,
        raw_input,
        unclear,
        input_says_more: _,
        environment,
        grants,
        further,
        plan_file,
    } = subject;
    let texts = [kind, title, description, command, folder, patch, plan, content, raw_input, unclear];
    let texts = texts.into_iter().chain([environment, plan_file]);
    let diff = |diff: &Diff| DIFF + text(&diff.path) + optional(diff.old.as_ref()) + text(&diff.new);
    SUBJECT
        + texts.map(|text| optional(text.as_ref())).sum::<usize>()
        + locations.iter().chain(grants).chain(further).map(|line| text(line)).sum::<usize>()
        + diffs.iter().map(diff).sum::<usize>()
}

fn field(field: &Field) -> usize {
    let Field { name, label, header, help, required_with, kind, .. } = field;
    let beside = [header, help, required_with];
    let texts = text(name) + text(label) + beside.map(|it| optional(it.as_ref())).iter().sum::<usize>();
    let of_kind = match kind {
        Kind::Text { pattern, format, placeholder, default, .. } => {
            [pattern, format, placeholder, default].into_iter().map(|text| optional(text.as_ref())).sum()
        }
        Kind::Choice { options, default, .. } => {
            options.iter().map(option).sum::<usize>() + optional(default.as_ref())
        }
        Kind::Choices { options, default, .. } => {
            options.iter().map(option).sum::<usize>() + default.iter().map(|value| text(value)).sum::<usize>()
        }
        Kind::Texts { pattern, format, default, .. } => {
            let texts = [pattern, format].into_iter().flatten().chain(default);
            texts.map(|it| text(it)).sum()
        }
        Kind::Confirm { yes, no } => text(yes) + text(no),
        // A schema is as it came, and so are the members of another version: serializing them cannot fail.
        Kind::Json { schema } => serde_json::to_string(schema).map_or(0, |json| json.len()),
        Kind::Boolean { .. } | Kind::Number { .. } => 0,
        Kind::Unknown(members) => serde_json::to_string(members).map_or(0, |json| json.len()),
    };
    FIELD + texts + of_kind
}

fn option(option: &FieldOption) -> usize {
    let preview = option.preview.as_deref().map_or(0, |preview| text(&preview.text));
    let grants = option.grants.iter().map(|line| text(line)).sum::<usize>();
    OPTION
        + text(&option.value)
        + text(&option.label)
        + optional(option.description.as_ref())
        + preview
        + grants
}

/// The data of an image is in the JSON of what is asked alone, and the desk counts it on its own.
fn image(image: &Image) -> usize {
    IMAGE + image.format.name().len() + text(&image.digest) + optional(image.description.as_ref())
}

fn optional(optional: Option<&String>) -> usize {
    optional.map_or(0, |it| text(it))
}

/// Returns how many bytes a text takes as JSON, with its quotes and a comma.
pub fn text(text: &str) -> usize {
    let more = |byte: u8| match byte {
        // `\u001f` takes six bytes; a shorter escape such as `\n` only makes the bound less close.
        0..b' ' => 5,
        b'"' | b'\\' => 1,
        _ => 0,
    };
    3 + text.len() + text.bytes().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn held(question: &Question) {
        let json = serde_json::to_string(question).expect("JSON").len();
        let most = question.most_json();
        let parts = question.fields.iter().map(|field| 1 + field.kind.options().len()).sum::<usize>();
        assert!(json <= most, "{json} > {most}");
        assert!(
            most <= json + QUESTION + SUBJECT + IMAGE + DIFF * 2 + FIELD * parts,
            "{most} is far above {json}"
        );
    }

    #[test]
    fn what_it_takes_as_json_is_known_without_writing_it() {
        let role = "a".repeat(39);
        let text = "q\"\\\n\u{1}é";
        let option = json!({ "value": text, "label": text, "description": text, "role": role,
            "preview": { "format": role, "text": text }, "grants": [text, text], "dangerous": true });
        for kind in [
            json!({ "kind": "text", "multiline": false, "minLength": u32::MAX, "maxLength": u32::MAX, "pattern": text,
                "format": text, "placeholder": text, "default": text }),
            json!({ "kind": "choice", "options": [option, option], "other": false, "default": text }),
            json!({ "kind": "choices", "options": [option], "other": false, "min": u32::MAX, "max": u32::MAX,
                "default": [text, text] }),
            json!({ "kind": "boolean", "default": false }),
            json!({ "kind": "number", "integer": false, "min": f64::MIN, "max": f64::MAX,
                "exclusiveMin": f64::MIN, "exclusiveMax": f64::MAX, "step": 1e-300_f64,
                "default": -1.234_567_890_123_456_7e-300_f64 }),
            json!({ "kind": "confirm", "yes": text, "no": text }),
            json!({ "kind": "texts", "min": u32::MAX, "max": u32::MAX, "unique": true, "minLength": u32::MAX,
                "maxLength": u32::MAX, "pattern": text, "format": text, "default": [text, text] }),
            json!({ "kind": "json", "schema": { "type": [text, "array"], "minimum": -1.5e-300_f64 } }),
            json!({ "kind": "drawing", "colours": [text, { "x": text }] }),
        ] {
            let mut field = json!({ "name": text, "label": text, "header": text, "help": text, "required": false, "secret": true,
                "nullable": true, "requiredWith": text });
            field.as_object_mut().expect("an object").extend(kind.as_object().expect("an object").clone());
            let question = json!({
                "sessionId": text, "agent": text, "project": text, "requestId": text, "questionId": text, "title": text,
                "message": text, "fields": [field], "submit": text, "toolCallId": text, "purpose": role,
                "subject": { "kind": text, "title": text, "description": text, "command": text, "folder": text,
                    "locations": [text, text], "diffs": [{ "path": text, "line": u32::MAX, "old": text, "new": text,
                        "replaces": true }],
                    "patch": text, "plan": text, "content": text, "rawInput": text, "environment": text,
                    "grants": [text, text], "further": [text], "planFile": text, "unclear": text, "inputSaysMore": true },
                "images": [{ "type": role, "bytes": u32::MAX, "width": u32::MAX, "height": u32::MAX, "digest": text,
                    "description": text }],
                "takesImages": true, "riskOfKind": true, "unshown": [text], "origin": role, "dangerous": false, "blocking": false, "timeoutMs": u64::MAX / 2, "notes": false,
            });
            held(&serde_json::from_value(question).expect("a question"));
        }
        held(&Question::new(crate::question::Origin::Program, "q", Vec::new()));
    }
}
