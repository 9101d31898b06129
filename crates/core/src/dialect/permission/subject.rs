//! Reads the subject of a permission: from a tool call, or from another subject on the wire, to a [`Subject`]. Agents
//! with a protocol of their own fill in a [`PermissionDescription`], which becomes the same question as a permission
//! over ACP. Reading the requests of such an agent is left to its dialect.
//!
//! Source: `ToolCallUpdate` and `RequestPermissionSubject` of the ACP schema; `rawInput` of the released agents:
//! `command` and `description` (Claude, Qwen, opencode), `command` as a list and `cwd` (Codex), `plan` (Claude).

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::{
    gemini,
    wire::{PermissionSubject, PermissionToolCall},
};
use crate::{
    limits,
    question::{
        Diff, Field, FieldOption, Kind, Origin, Purpose, Question, Subject,
        subject::{self, cut, quoted_words},
    },
};

/// The kind of a tool that changes what the agent may do, such as the end of a plan.
const SWITCH_MODE: &str = "switch_mode";

/// Kinds of tools that look at something, and those that change files.
const LOOKING: [&str; 3] = ["read", "search", "think"];
const EDIT: &str = "edit";
const DELETE: &str = "delete";

/// The kind of a tool that has no other, or not yet.
const OTHER: &str = "other";

/// The type of a subject of version 2 that is a command.
const COMMAND: &str = "command";

/// The parts of a permission's subject.
#[derive(Default)]
pub(super) struct Draft {
    pub tool_call: Option<String>,
    pub subject: Subject,
    /// Whether the agent says that the wrong answer can do harm.
    pub is_marked: bool,
}

/// The known members in the input of tools.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawInput {
    command: Json,
    cmd: Json,
    cwd: Json,
    workdir: Json,
    directory: Json,
    description: Json,
    plan: Json,
}

impl Draft {
    pub(super) fn of_tool_call(tool_call: PermissionToolCall<'_>) -> Self {
        let (locations, are_whole) = locations(&tool_call.locations);
        let unclear = (!are_whole).then(|| "its files have an unknown shape".to_owned());
        let (kind, title) = (tool_call.kind, tool_call.title);
        let mut subject = Subject { kind, title, locations, unclear, ..Subject::default() };
        if let Some(raw) = tool_call.raw_input {
            subject.read_input(raw);
        }
        subject.read_content(&tool_call.content);
        if subject.plan.is_none() && subject.kind.as_deref() == Some(SWITCH_MODE) {
            subject.plan = subject.content.take();
        }
        if let Some(id) = &tool_call.tool_call_id {
            gemini::read_command(id, &mut subject);
        }
        // A description that repeats the title is dropped.
        if subject.content.is_some() && [&subject.plan, &subject.description].contains(&&subject.content) {
            subject.content = None;
        }
        let is_marked = is_marked(&tool_call.meta);
        Draft { tool_call: tool_call.tool_call_id, subject, is_marked }
    }

    /// Reads a subject of version 2. A subject of an unknown type is kept as raw input.
    pub(super) fn of_subject(about: PermissionSubject<'_>, raw: &RawValue) -> Self {
        if let Some(tool_call) = about.tool_call {
            return Draft::of_tool_call(tool_call);
        }
        let is_command = about.kind == COMMAND;
        let mut subject = Subject { kind: Some(about.kind), ..Subject::default() };
        if is_command {
            (subject.command, subject.folder) = (about.command, about.cwd);
        } else {
            subject.raw_input = Some(raw.get().to_owned());
        }
        Draft { tool_call: about.tool_call_id, subject, is_marked: false }
    }

    /// Returns a draft of a subject that a dialect has read itself.
    pub(super) fn of_known(subject: Subject) -> Self {
        Draft { subject, ..Draft::default() }
    }

    /// Returns the heading of the permission, and its subject within the limits.
    pub(super) fn with_heading(
        self,
        title: Option<String>,
        description: Option<String>,
    ) -> (String, Subject) {
        let mut subject = self.subject;
        subject.description = description.or(subject.description.take());
        let heading = match (title, subject.title.take()) {
            (Some(title), of_tool_call) => {
                subject.title = of_tool_call.filter(|other| *other != title);
                title
            }
            (None, Some(title)) => title,
            (None, None) => subject.untitled(),
        };
        subject.fit();
        (heading, subject)
    }
}

/// Completes a permission with the parts that only an earlier update of its tool call has. `update` is the JSON of that
/// update.
pub fn complete(question: &mut Question, update: &[u8]) {
    let Ok(tool_call) = serde_json::from_slice::<PermissionToolCall<'_>>(update) else { return };
    let earlier = Draft::of_tool_call(tool_call);
    question.dangerous |= earlier.is_marked;
    let Subject {
        kind,
        title,
        command,
        folder,
        locations,
        diffs,
        plan,
        content,
        raw_input,
        description,
        patch,
        unclear,
        // `guard` decides this later.
        input_says_more: _,
    } = earlier.subject;
    let subject = question.subject.get_or_insert_default();
    let unclear = subject.unclear.take().or(unclear);
    let unclear = unclear.or_else(|| disagreement(subject, [&command, &folder, &patch]));
    if let (Some(later), Some(earlier)) = (&mut subject.raw_input, &raw_input)
        && !says_the_same(later, earlier)
    {
        // It is not known which input counts, so `guard` must see both.
        *later = format!("[{later},{earlier}]");
    }
    // This comes before the kind is taken, which `untitled` depends on.
    let is_untitled = question.message == subject.untitled();
    let unclear = unclear.or(take_kind(subject, kind).err());
    for (known, earlier) in [
        (&mut subject.command, command),
        (&mut subject.folder, folder),
        (&mut subject.plan, plan),
        (&mut subject.content, content),
        (&mut subject.raw_input, raw_input),
        (&mut subject.description, description),
        (&mut subject.patch, patch),
        (&mut subject.unclear, unclear),
    ] {
        *known = known.take().or(earlier);
    }
    // The later diffs are shown, but the files of all earlier ones must be known.
    let changed = diffs.iter().filter(|diff| subject.diffs.iter().all(|later| later.path != diff.path));
    let changed: Vec<_> = changed.map(|diff| diff.path.clone()).collect();
    if subject.diffs.is_empty() {
        subject.diffs = diffs;
    }
    for place in locations.into_iter().chain(changed) {
        if !subject.locations.contains(&place) {
            subject.locations.push(place);
        }
    }
    match title {
        Some(title) if is_untitled => question.message = cut(&title, limits::TEXT),
        Some(title) if title != question.message => drop(subject.title.get_or_insert(title)),
        None if is_untitled => question.message = cut(&subject.untitled(), limits::TEXT),
        _ => {}
    }
    subject.fit();
    if let Some(field) = question.fields.first_mut() {
        field.label.clone_from(&question.message);
    }
}

/// Returns how an earlier update of a tool call contradicts its permission, in a command, a folder or a patch.
fn disagreement(subject: &Subject, earlier: [&Option<String>; 3]) -> Option<String> {
    let said = [&subject.command, &subject.folder, &subject.patch];
    let names = ["command", "folder", "change"];
    let differs =
        |place: &usize| said[*place].as_ref().zip(earlier[*place].as_ref()).is_some_and(|(a, b)| a != b);
    match (0..names.len()).find(differs) {
        Some(place) => Some(format!("an earlier update of its tool call names another {}", names[place])),
        // The permission's own input may hide another command.
        None if subject.raw_input.is_some() && said[0].is_none() && earlier[0].is_some() => {
            Some("only an earlier update of its tool call names its command".to_owned())
        }
        None => None,
    }
}

/// Takes the kind of tool that an earlier update names, if it says more than that of the permission: Codex' adapter
/// says "read" of a command that looks at a file, and `execute` when it asks for it; Copilot CLI asks to read a file
/// outside of its folders before it changes it; Qwen Code does not know the kind of a tool at first.
///
/// # Errors
/// The two kinds have nothing to do with each other.
pub(super) fn take_kind(subject: &mut Subject, earlier: Option<String>) -> Result<(), String> {
    let (Some(said), Some(other)) = (subject.kind.as_deref(), earlier.as_deref()) else {
        subject.kind = subject.kind.take().or(earlier);
        return Ok(());
    };
    // Of a deletion and an edit, the deletion counts, so that the risk is never shown too low (I12).
    if said == other || other == OTHER || LOOKING.contains(&other) || (said, other) == (DELETE, EDIT) {
        return Ok(());
    }
    if LOOKING.contains(&said) || (said, other) == (EDIT, DELETE) {
        subject.kind = earlier;
        return Ok(());
    }
    Err("an earlier update of its tool call names another kind of tool".to_owned())
}

/// Returns whether two JSON texts have the same value. The lengths must match as well, since a parser drops duplicate
/// members.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let length = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    let value = |text: &str| serde_json::from_str::<Json>(text).ok();
    one == other || (length(one) == length(other) && value(one).is_some_and(|one| Some(one) == value(other)))
}

impl Subject {
    /// Returns a heading for a permission that has none.
    pub(super) fn untitled(&self) -> String {
        let command = self.command.as_deref().map(|command| command.lines().next().unwrap_or(command));
        match (command, &self.kind) {
            (Some(command), _) => command.to_owned(),
            (None, Some(kind)) => format!("Permission to {}", kind.replace('_', " ")),
            (None, None) => "The agent asks for a permission.".to_owned(),
        }
    }

    fn read_input(&mut self, raw: &RawValue) {
        if !matches!(raw.get(), "null" | "{}") {
            self.raw_input = Some(raw.get().to_owned());
        }
        let input: RawInput = serde_json::from_str(raw.get()).unwrap_or_default();
        self.command = command(&input.command).or_else(|| command(&input.cmd));
        self.folder = [&input.cwd, &input.workdir, &input.directory].into_iter().find_map(text);
        self.description = text(&input.description);
        self.plan = text(&input.plan);
    }

    /// Reads the content of a tool call: texts, and diffs of both versions.
    fn read_content(&mut self, content: &Json) {
        let mut texts = Vec::new();
        let mut is_whole = content.is_null() || content.is_array();
        for block in content.as_array().into_iter().flatten() {
            match block.get("type").and_then(Json::as_str) {
                Some("diff") => is_whole &= self.read_diff(block),
                Some("content") => texts.extend(block.pointer("/content/text").and_then(text)),
                // The output of a command.
                Some("terminal") => {}
                _ => is_whole = false,
            }
        }
        if !is_whole {
            self.unclear.get_or_insert_with(|| "its content has an unknown shape".to_owned());
        }
        self.content = (!texts.is_empty()).then(|| texts.join("\n"));
    }

    /// Reads a change of files. Returns whether its kind is known.
    fn read_diff(&mut self, block: &Json) -> bool {
        let member = |name: &str| block.get(name).and_then(Json::as_str);
        let mut is_known = false;
        // Codex' adapter and Gemini CLI say there what happens to the file.
        if block.pointer("/_meta/kind").and_then(Json::as_str) == Some(DELETE) {
            self.kind = Some(DELETE.to_owned());
        }
        if let (Some(path), Some(new)) = (member("path"), member("newText")) {
            self.diffs.push(Diff::new(path, member("oldText"), new));
            is_known = true;
        }
        if let Some(patch) = block.pointer("/patch/text").and_then(text) {
            self.patch = Some(self.patch.take().unwrap_or_default() + &patch);
            is_known = true;
        }
        let changes = block.get("changes").and_then(Json::as_array).into_iter().flatten();
        self.locations.extend(changes.filter_map(|change| text(change.get("path")?)));
        is_known
    }
}

/// Returns whether the agent says that the wrong answer can do harm.
pub(super) fn is_marked(meta: &Json) -> bool {
    let of = |meta: &Json| meta.get("dangerous").and_then(Json::as_bool);
    of(meta).or_else(|| of(meta.get("askbridge")?)).unwrap_or_default()
}

fn text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a command, which is a text or a list of its words.
pub(in crate::dialect) fn command(json: &Json) -> Option<String> {
    match json {
        Json::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(Json::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| quoted_words(&words))
        }
        json => text(json),
    }
}

/// Returns the files that a tool call names, and whether all of it could be read.
fn locations(json: &Json) -> (Vec<String>, bool) {
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

/// The parts of a permission that a dialect has read.
#[derive(Debug, Default)]
pub(in crate::dialect) struct PermissionDescription {
    /// The session that it belongs to.
    pub session: Option<String>,
    /// The tool call that waits for it.
    pub tool_call: Option<String>,
    /// The heading. If there is none, it is made from the subject.
    pub title: Option<String>,
    /// The subject.
    pub subject: Subject,
    /// Whether the agent itself says that a wrong answer can do harm.
    pub is_marked: bool,
    /// The options, with their roles.
    pub options: Vec<FieldOption>,
}

impl PermissionDescription {
    /// Returns the permission as a question. Texts that are too long are cut.
    ///
    /// Returns `None` if there are no options, or two options have the same value: an answer could not name its option.
    pub(in crate::dialect) fn question(self, origin: Origin, fallback_id: &str) -> Option<Question> {
        let PermissionDescription { session, tool_call, title, subject, is_marked, mut options } = self;
        let is_known = |(place, option): (usize, &FieldOption)| {
            options[..place].iter().any(|other| other.value == option.value)
        };
        if options.is_empty() || options.iter().enumerate().any(is_known) {
            return None;
        }
        options.iter_mut().for_each(|option| option.label = subject::cut(&option.label, limits::TEXT));
        let draft = Draft::of_known(subject);
        let (message, subject) = draft.with_heading(title, None);
        let message = subject::cut(&message, limits::TEXT);
        let field = Field::at(0, message.clone(), None, Kind::choice(options, false, false));
        Some(Question {
            session,
            tool_call,
            message,
            purpose: Purpose::Permission,
            subject: (!subject.is_empty()).then(|| Box::new(subject)),
            dangerous: is_marked,
            // Such agents read the chosen option only, and no note.
            notes: false,
            ..Question::new(origin, fallback_id, vec![field])
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    /// Returns the subject of a permission to which an earlier update was added.
    fn completed(permission: &Json, update: &Json) -> Subject {
        let text = permission.to_string();
        let tool_call = serde_json::from_str(&text).expect("a tool call");
        let (message, subject) = Draft::of_tool_call(tool_call).with_heading(None, None);
        let mut question = Question::new(Origin::Permission, "q", Vec::new());
        (question.message, question.subject) = (message, Some(Box::new(subject)));
        complete(&mut question, update.to_string().as_bytes());
        *question.subject.expect("a subject")
    }

    #[test]
    fn the_kind_of_both_is_the_one_that_says_more() {
        for (said, earlier, kind) in [
            ("execute", "read", "execute"),
            ("read", "execute", "execute"),
            ("read", "edit", "edit"),
            ("fetch", "other", "fetch"),
            ("edit", "delete", "delete"),
            ("delete", "edit", "delete"),
            ("other", "search", "other"),
        ] {
            let subject = completed(&json!({ "kind": said }), &json!({ "kind": earlier }));
            assert_eq!((subject.kind.as_deref(), &subject.unclear), (Some(kind), &None), "{said}, {earlier}");
        }
        for (said, earlier) in
            [("edit", "execute"), ("execute", "delete"), ("other", "edit"), ("fetch", "move")]
        {
            let subject = completed(&json!({ "kind": said }), &json!({ "kind": earlier }));
            assert!(subject.unclear.is_some(), "{said}, {earlier}");
        }
    }

    #[test]
    fn a_change_that_removes_a_file_deletes() {
        let mut change = json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/p/a", "oldText": "a", "newText": "" }] });
        let kind = |change: &Json| completed(&json!({ "kind": "edit" }), change).kind;
        assert_eq!(kind(&change).as_deref(), Some("edit"));
        change["content"][0]["_meta"] = json!({ "kind": "delete" });
        assert_eq!(kind(&change).as_deref(), Some("delete"));
    }
}
