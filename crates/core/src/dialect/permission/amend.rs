//! Changes a permission that is open by what comes later: a later update of its tool call, whose members take the place
//! of those that it names. What was asked at first is still known: a later update that contradicts it makes the
//! permission unclear, so that no update lowers its risk (I13). Writes the request that asks a client again.
//!
//! Source: `ToolCallUpdate` and `RequestPermissionRequest` of both versions of the ACP schema.

use serde_json::{Value as Json, json, value::RawValue};

use super::{
    Protocol,
    said::add_lines,
    subject::{Draft, says_the_same, take_kind},
    wire::PermissionToolCall,
};
use crate::{
    dialect::{media::add_images, values},
    limits,
    question::{FieldOption, Question, Subject, subject::cut},
};

/// Changes a permission by a later update of its tool call. `first` is the permission as it was asked, `update` the JSON
/// of the update.
pub fn amend(permission: &mut Question, first: &Question, update: &[u8], protocol: Protocol) {
    let Ok(tool_call) = serde_json::from_slice::<PermissionToolCall<'_>>(update) else {
        return set_unclear(permission, "a later update of its tool call cannot be read");
    };
    let later = Draft::of_update(tool_call, update);
    permission.dangerous |= later.is_marked;
    let asked = first.subject.as_deref().cloned().unwrap_or_default();
    let subject = permission.subject.get_or_insert_default();
    let is_untitled = permission.message == subject.untitled();
    let title = later.subject.title.clone();
    subject.replace(&asked, later.subject);
    match (title, protocol) {
        (Some(title), Protocol::V2) if !is_untitled => {
            subject.title = Some(title).filter(|title| *title != permission.message);
        }
        (Some(title), _) => permission.message = cut(&title, limits::TEXT),
        (None, _) if is_untitled => permission.message = cut(&subject.untitled(), limits::TEXT),
        (None, _) => {}
    }
    subject.fit();
    add_images(permission, later.images);
    add_lines(&mut permission.unshown, later.unshown);
    if let Some(field) = permission.fields.first_mut() {
        field.label.clone_from(&permission.message);
    }
}

/// Records that a later update of its tool call is too long to be shown.
pub fn is_cut(permission: &mut Question) {
    set_unclear(permission, "a later update of its tool call is too long to be shown");
}

fn set_unclear(permission: &mut Question, why: &str) {
    let subject = permission.subject.get_or_insert_default();
    subject.unclear.get_or_insert_with(|| why.to_owned());
}

impl Subject {
    /// Takes what a later update names. `asked` is what the permission itself was about.
    fn replace(&mut self, asked: &Subject, later: Subject) {
        let contradiction = asked.contradiction(&later);
        let kind = Self::later_kind(self.kind.take(), later.kind);
        // What was allowed beside the act at first may still be.
        add_lines(&mut self.grants, later.grants);
        self.add_further(later.further);
        let Subject { command, folder, plan, content, description, patch, raw_input, diffs, .. } = later;
        let (environment, plan_file) = (later.environment, later.plan_file);
        for (known, later) in [
            (&mut self.command, command),
            (&mut self.folder, folder),
            (&mut self.plan, plan),
            (&mut self.content, content),
            (&mut self.description, description),
            (&mut self.patch, patch),
            (&mut self.environment, environment),
            (&mut self.plan_file, plan_file),
            (&mut self.raw_input, raw_input.map(|input| both(input, asked.raw_input.as_deref()))),
        ] {
            *known = later.or(known.take());
        }
        let (kind, other_kind) = kind;
        self.kind = kind;
        let unclear = self.unclear.take().or(later.unclear).or(contradiction);
        self.unclear =
            unclear.or_else(|| other_kind.then(|| "it is for another kind of tool than at first".to_owned()));
        let before = if diffs.is_empty() { Vec::new() } else { std::mem::replace(&mut self.diffs, diffs) };
        // The later changes are shown, but all files must be known.
        let files = before.into_iter().map(|diff| diff.path);
        let files = files.filter(|path| self.diffs.iter().all(|diff| diff.path != *path)).collect::<Vec<_>>();
        for place in later.locations.into_iter().chain(files) {
            if !self.locations.contains(&place) {
                self.locations.push(place);
            }
        }
    }

    /// Returns the kind that counts, and whether the two have nothing to do with each other.
    fn later_kind(before: Option<String>, later: Option<String>) -> (Option<String>, bool) {
        let Some(later) = later else { return (before, false) };
        let mut kinds = Subject { kind: Some(later), ..Subject::default() };
        let differs = take_kind(&mut kinds, before).is_err();
        (kinds.kind, differs)
    }

    /// Returns how a later update contradicts what the permission was about, in a command, a folder or a patch.
    fn contradiction(&self, later: &Subject) -> Option<String> {
        let said = [
            ("command", &self.command, &later.command),
            ("folder", &self.folder, &later.folder),
            ("environment", &self.environment, &later.environment),
        ];
        let other = said.into_iter().find_map(|(name, first, later)| {
            let (first, later) = first.as_deref().zip(later.as_deref())?;
            (first != later).then(|| {
                format!("its {name} has changed, and was at first: {}", cut(first, limits::SUBJECT_LINE))
            })
        });
        let patch = self.patch.as_ref().zip(later.patch.as_ref()).filter(|(first, later)| first != later);
        other.or_else(|| patch.map(|_| "its change of files is another one than at first".to_owned()))
    }
}

/// Returns the later input. It is not known which input counts where the two differ, so that `guard` must see both.
fn both(later: String, asked: Option<&str>) -> String {
    match asked.filter(|asked| !says_the_same(&later, asked)) {
        Some(asked) => format!("[{later},{asked}]"),
        None => later,
    }
}

/// Writes the `params` of a permission request that asks a client again, after what it was asked has changed. The client
/// knows the tool call from its updates, so that the request only names it.
pub fn ask_again(permission: &Question, protocol: Protocol) -> Box<RawValue> {
    let (session, id) = (&permission.session, &permission.tool_call);
    let options = permission.fields.first().map(|field| field.kind.options()).unwrap_or_default();
    let options: Vec<_> = options.iter().map(option).collect();
    let kind = permission.subject.as_ref().and_then(|subject| subject.kind.as_deref());
    values::json(&match protocol {
        Protocol::V1 => json!({
            "sessionId": session,
            "toolCall": { "toolCallId": id, "title": permission.message, "kind": kind, "status": "pending" },
            "options": options,
        }),
        Protocol::V2 => json!({
            "sessionId": session,
            "title": permission.message,
            "subject": { "type": "tool_call", "toolCall": { "toolCallId": id } },
            "options": options,
        }),
    })
}

fn option(option: &FieldOption) -> Json {
    json!({ "optionId": option.value, "name": option.label, "kind": option.role.as_deref() })
}
